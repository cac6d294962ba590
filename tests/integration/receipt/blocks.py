"""Receipts of blocks: two nodes take in the same jobs, one of them runs on a device that flips a bit in one job. Their
receipts are verified, one job's is taken out, and a dispute names the job and the node that is wrong."""
import hashlib
import json
import struct

from harness import Harness

SHADER = b"""//# max dispatch = 16,1,1
@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(1) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 3u + 1u; }
}
"""


def say(h, home, *args):
    status, out, err = h.run("--home", h.path(home), "-q", *args)
    h.check(f"{home}: {' '.join(args)[:60]}", status == 0, err)
    return out.decode().split()[0] if out.split() else ""


def node(h, home, n_jobs):
    x = say(h, home, "cas", "put", h.path("in.bin"))
    shader = say(h, home, "shader", "upload", h.path("s.wgsl"), "--sender", "alice")
    say(h, home, "ledger", "credit", "alice", "100000000")
    jobs = []
    for i in range(n_jobs):
        source = x if i == 0 else "job:" + jobs[-1]
        jobs.append(say(h, home, "job", "submit", "--sender", "alice", "--shader", shader, "--input", source, "--dispatch", "1",
                        "--gas-limit", "100000", "--output-bytes", "64"))
    return jobs


def main():
    h = Harness()
    values = list(range(7, 23))
    h.write("in.bin", struct.pack("<16I", *values))
    h.write("s.wgsl", SHADER)
    jobs = node(h, "a", 3)
    h.check("ids are the same on both", node(h, "b", 3) == jobs, str(jobs))
    say(h, "a", "block", "end", "--backend", "cpu")
    say(h, "b", "block", "end", "--backend", f"mock:wrap=cpu+flip-bit@{jobs[1]}:element=3:bit=5")
    a, b = (h.path(f"{n}/chain/receipts/1.receipt") for n in "ab")
    status, out, err = h.run("--home", h.path("a"), "receipt", "verify", a, "--store")
    h.check("a block's receipt", status == 0, err)
    shown = json.loads(h.run("--json", "receipt", "show", a)[1])
    want = values
    for i, said in enumerate(shown["jobs"]):
        want = [v * 3 + 1 for v in want]
        status, out, _ = h.run("--home", h.path("a"), "cas", "get", said["output"])
        h.check_bytes(f"output of job {i}", out, struct.pack("<16I", *want), 4)
    # How each output stands is the word of the node that ran it, and no part of the block: the same state, another word.
    h.check("ids are the same on a third", node(h, "c", 3) == jobs)
    say(h, "c", "block", "end", "--backend", "mock:wrap=cpu", "--verify", "all")
    h.check("and on a fourth", node(h, "d", 3) == jobs)
    say(h, "d", "block", "end", "--backend", "mock:wrap=cpu")
    said = {n: json.loads(h.run("--json", "receipt", "show", h.path(f"{n}/chain/receipts/1.receipt"))[1]) for n in "abcd"}
    for home, word in (("a", "verified"), ("b", "not verified"), ("c", "verified"), ("d", "not verified")):
        h.check(f"{home}: how its outputs stand", [j["evidence"] for j in said[home]["jobs"]] == [word] * 3, str(said[home]["jobs"]))
    h.check("the block is the same", len({(said[n]["root"], said[n]["state"]) for n in "acd"}) == 1)
    status, out, err = h.run("receipt", "show", h.path("d/chain/receipts/1.receipt"))
    h.check("in words", status == 0 and out.count(b", not verified") == 3, out.decode())
    # A run on what a block made stands no better than that, nor does a later block's job.
    h.write("not.pipe.cfg", b"""pipeline : { name = "n"; class = "integer"; inputs : { x : { type = "u32[16]"; }; };
  jobs = ( { id = "n"; op = "int.not@1"; in : { x = "$x"; }; } ); outputs : { y = "n.y"; }; };
""")
    for home, word in (("c", "verified"), ("d", "not verified")):
        status, out, err = h.run("--home", h.path(home), "--json", "run", h.path("not.pipe.cfg"), "--in", f"x={said[home]['jobs'][2]['output']}",
                                 "--backend", "cpu")
        if home == "d":
            h.planted("a run takes what an unverified block made", "mock:wrap=cpu", "evidence: not verified", json.loads(out)["evidence"])
        h.check(f"{home}: a run on it", status == 0 and json.loads(out)["evidence"] == word, f"{out} {err}")
        shader = say(h, home, "shader", "upload", h.path("s.wgsl"), "--sender", "bob")
        say(h, home, "ledger", "credit", "bob", "100000000")
        say(h, home, "job", "submit", "--sender", "bob", "--shader", shader, "--input", "job:" + jobs[2], "--dispatch", "1",
            "--gas-limit", "100000", "--output-bytes", "64")
        say(h, home, "block", "end", "--backend", "cpu")
        later = json.loads(h.run("--json", "receipt", "show", h.path(f"{home}/chain/receipts/2.receipt"))[1])
        h.check(f"{home}: a later block on it", [j["evidence"] for j in later["jobs"]] == [word], str(later["jobs"]))
    say(h, "d", "receipt", "export", jobs[2], "--out", h.path("one-d"))
    shown_one = json.loads(h.run("--json", "receipt", "show", h.path("one-d"))[1])
    h.check("one job's receipt says it", [j["evidence"] for j in shown_one["jobs"]] == ["not verified"], str(shown_one))
    text = h.read("one-d")
    status, _, err = h.run("receipt", "verify", h.write("bad", text.replace(b'"not verified"', b'"verified"')))
    h.check("and nobody else says better", status == 3 and "PC5012" in err and b'"not verified"' in text, f"{status} {err}")
    for home in "ab":
        say(h, home, "receipt", "export", jobs[1], "--out", h.path("one-" + home))
    status, _, err = h.run("receipt", "verify", h.path("one-a"), h.path("one-b"))
    h.check("one job's receipt", status == 0, err)
    # The job's receipt holds what it takes to the root: its line, and one hash a level.
    one = h.read("one-a")
    h.check("the root is that of the block", shown["root"].encode() in one)
    line = next(l for l in one.decode().split('"') if l.startswith(jobs[1]))
    h.check("the statement is a leaf", len(hashlib.sha256(b"\0" + line.encode()).hexdigest()) == 64 and " complete " in line, line)
    bad = one.replace(b"gas 5", b"gas 6") if b"gas 5" in one else one.replace(b"gas ", b"gas 1")
    status, _, err = h.run("receipt", "verify", h.write("bad", bad))
    h.check("another statement", status == 6 and "PC5902" in err, err)
    for home, first, second, wrong in (("a", a, b, 1), ("b", a, b, 1), ("a", b, a, 0), ("b", h.path("one-a"), h.path("one-b"), 1),
                                       ("a", h.path("one-a"), b, 1)):
        status, out, err = h.run("--home", h.path(home), "--json", "receipt", "dispute", first, second)
        said = json.loads(out)
        h.check("the job", status == 6 and said["job"] == jobs[1], out.decode() + err)
        h.check("who", [r["wrong"] for r in said["receipts"]] == [i == wrong for i in (0, 1)], out.decode())
        if home == "b":
            right, got = (values[3] * 3 + 1) * 3 + 1, ((values[3] * 3 + 1) * 3 + 1) ^ 32
            h.check("the byte", f"byte 12 of its output is 0x{got & 255:02x}, not 0x{right & 255:02x}" in
                    said["receipts"][wrong]["detail"], out.decode())
    status, _, err = h.run("--home", h.path("a"), "receipt", "dispute", a, h.path("one-a"))
    h.check("nothing to dispute", status == 10 and "PC5911" in err, err)
    say(h, "a", "block", "end", "--backend", "cpu")
    status, _, err = h.run("--home", h.path("a"), "receipt", "dispute", a, h.path("a/chain/receipts/2.receipt"))
    h.check("two blocks", status == 3 and "PC5912" in err, err)
    status, _, err = h.run("--home", h.path("a"), "receipt", "dispute", a, h.path("in.bin"))
    h.check("what is no receipt", status == 3 and "PC5012" in err, err)
    status, _, err = h.run("--home", h.path("a"), "receipt", "export", "0" * 64)
    h.check("no such job", status == 3, err)
    h.finish()


main()
