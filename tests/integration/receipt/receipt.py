"""Receipts of runs: the same outputs and trace on two backends, every changed byte refused, a replay elsewhere, disputes
that name job, round, step, buffer, element, bits and who is wrong. What is right is computed here."""
import hashlib
import json
import os
import random
import struct

from harness import Harness

N = 300
PIPELINE = """pipeline : {
  name = "doubling"; class = "integer";
  params : { times = 5; };
  inputs : { x : { type = "u32[n]"; }; one : { type = "u32[n]"; }; };
  jobs = ( { id = "twice"; op = "int.add@1"; in : { a = "$x"; b = "$one"; };
             repeat : { count = "$times"; carry : { a = "y"; }; }; },
           { id = "square"; op = "int.mul@1"; in : { a = "twice.y"; b = "twice.y"; }; } );
  outputs : { y = "square.y"; };
};
"""
MASK = 0xFFFFFFFF


def pack(values):
    return struct.pack(f"<{len(values)}I", *values)


def line(job, name, round_, step, values):
    data = pack(values)
    return f"{job} {name} {round_} {step} y={len(data)}:{hashlib.sha256(data).hexdigest()}"


def trace(x, one, times, level):
    """The lines that a receipt of PIPELINE has."""
    lines = []
    for r in range(times):
        x = [(a + b) & MASK for a, b in zip(x, one)]
        lines += [line(0, "twice", r, 1, x)] * (level == "step") + [line(0, "twice", r, "-", x)] * (level != "job")
    lines.append(line(0, "twice", "-", "-", x))
    x = [a * a & MASK for a in x]
    lines += [line(1, "square", 0, 1, x)] * (level == "step") + [line(1, "square", 0, "-", x)] * (level != "job")
    return lines + [line(1, "square", "-", "-", x)]


def merkle(leaves):
    """RFC 6962, section 2.1."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + merkle(leaves[:k]) + merkle(leaves[k:])).digest()


def make(h, name, backend, level, *more):
    status, _, err = h.run("run", h.path("p.cfg"), "--in", "x=" + h.path("x.bin"), "--in", "one=" + h.path("one.bin"), "--backend",
                           backend, "--receipt", h.path(name), "--trace", level, *more)
    h.check(f"{name} on {backend}", status == 0, err)
    return json.loads(h.run("--json", "receipt", "show", h.path(name))[1])


def same_on_devices(h, x, one):
    for level in ("job", "round", "step"):
        want = trace(x, one, 5, level)
        for backend in ("cpu", "vulkan:0"):
            shown = make(h, backend[:3] + "." + level, backend, level)
            h.check(f"the trace of {level}, {backend}", shown["trace"]["leaves"] == want, str(shown["trace"]["leaves"])[:400])
            root = merkle([w.encode() for w in want]).hex()
            h.check(f"the root of {level}, {backend}", shown["trace"]["root"] == root, shown["trace"]["root"])
            status, _, err = h.run("receipt", "verify", h.path(backend[:3] + "." + level), "--store", "--signer", shown["signer"])
            h.check(f"{level}, {backend}: verified", status == 0, err)
        status, _, err = h.run("receipt", "dispute", h.path("cpu." + level), h.path("vul." + level))
        h.check(f"{level}: nothing to dispute", status == 10 and "PC5911" in err, err)
    status, _, err = h.run("receipt", "verify", h.path("cpu.job"), "--signer", "0" * 64)
    h.check("another signer", status == 6 and "PC5906" in err, err)


def changed_bytes(h):
    good = h.read("cpu.step")
    picks = random.Random(7)
    refused = set()
    for _ in range(40):
        at = picks.randrange(len(good))
        bad = bytearray(good)
        bad[at] ^= 1 << picks.randrange(8)
        status, _, err = h.run("receipt", "verify", h.write("bad", bytes(bad)))
        h.check(f"byte {at} changed", status in (3, 6) and "PC" in err, err)
        refused.add(err.split("PC")[1][:4])
    lines = good.split(b"trace : (\n")
    leaves = lines[1].rstrip(b" );\n").split(b",\n")
    for what, changed in (("order", leaves[1:2] + leaves[:1] + leaves[2:]), ("length", leaves[:-1]), ("twice", leaves + leaves[-1:])):
        status, _, err = h.run("receipt", "verify", h.write("bad", lines[0] + b"trace : (\n" + b",\n".join(changed) + b" );\n"))
        h.check(f"another {what} of the trace", status == 6 and "PC5902" in err, err)
    h.check("signature and trace are both held against the text", {"5012", "5902"} <= refused, str(refused))
    status, _, err = h.run("receipt", "show", h.path("p.cfg"))
    h.check("what is no receipt", status == 3 and "PC5012" in err, err)


def replays(h):
    status, out, err = h.run("receipt", "replay", h.path("cpu.step"), "--backend", "vulkan:0", "--receipt", h.path("again"))
    h.check("replayed elsewhere", status == 0 and b"the same" in out, err)
    h.check("its own receipt", h.run("receipt", "verify", h.path("again"))[0] == 0)
    other = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "gas", "cybergraph-0.1.cfg")
    status, _, err = h.run("receipt", "replay", h.path("cpu.step"), "--backend", "cpu", "--gas", other)
    h.check("under another gas schedule it is another question", status == 3 and "PC5907" in err and "schedule" in err, f"{status} {err}")
    # The files are gone, another home has the blobs alone.
    for name in ("p.cfg", "x.bin", "one.bin"):
        os.rename(h.path(name), h.path("hidden-" + name))
    status, _, err = h.run("receipt", "replay", h.path("vul.job"), "--backend", "cpu")
    h.check("replayed from the store", status == 0, err)
    status, _, err = h.run("--home", h.path("empty"), "receipt", "replay", h.path("vul.job"), "--backend", "cpu")
    h.check("without the blobs", status == 8 and "PC5904" in err, err)
    for name in ("p.cfg", "x.bin", "one.bin"):
        os.rename(h.path("hidden-" + name), h.path(name))
    status, _, err = h.run("receipt", "verify", h.path("cpu.job"), "--store")
    h.check("all in the store", status == 0, err)


def dispute(h, a, b, *more):
    status, out, err = h.run("--json", "receipt", "dispute", h.path(a), h.path(b), *more)
    h.check(f"{a} against {b}", status == 6 and "PC5913" in out.decode(), out.decode() + err)
    return json.loads(out)


def disputes(h, x, one):
    flip = "mock:wrap=cpu+flip-bit@twice/2.1:element=7:bit=3"
    want = x[7]
    for level, place in (("job", ("twice", "0", 0)), ("round", ("twice", "2", 0)), ("step", ("twice", "2", 1))):
        make(h, "flip." + level, flip, level)
        for a, b, wrong in (("cpu", "flip", 1), ("flip", "cpu", 0)):
            said = dispute(h, a + "." + level, b + "." + level)
            h.check(f"{level}: where", (said["job"], said["round"], said["step"]) == place, str(said))
            h.check(f"{level}: who", [s["wrong"] for s in said["receipts"]] == [i == wrong for i in (0, 1)], str(said))
            guilty = said["receipts"][wrong]
            rounds = 5 if level == "job" else 3
            right = (want + rounds * one[7]) & MASK
            flipped = (((want + 3 * one[7]) ^ 8) + (rounds - 3) * one[7]) & MASK
            h.check(f"{level}: element and bits", (guilty["element"], int(guilty["got"], 16), int(guilty["want"], 16)) ==
                    ("7", flipped, right), str(guilty))
            report = h.run("cas", "get", said["report"])[1]
            h.check("the report is in the store, signed", b"pipectl.dispute/1" in report and b"signature : {" in report, str(report)[:200])
    said = dispute(h, "cpu.round", "flip.step")
    h.check("different levels meet at the coarser", (said["job"], said["round"], said["level"]) == ("twice", "2", "round"), str(said))
    make(h, "other.step", "mock:wrap=cpu+flip-bit@twice/2.1:element=9:bit=30", "step")
    said = dispute(h, "flip.step", "other.step")
    gas = os.path.join(os.path.dirname(os.path.dirname(h.pipectl)), "conf", "gas", "cybergraph-0.1.cfg")
    status, _, err = h.run("receipt", "dispute", h.path("flip.step"), h.path("other.step"), "--gas", gas)
    h.check("another schedule than the receipts'", status not in (0, 6) and "PC59" in err, f"{status} {err}")
    h.check("both are wrong", all(s["wrong"] for s in said["receipts"]) and said["step"] == 1, str(said))
    h.check("each with its own element", [s["element"] for s in said["receipts"]] == ["7", "9"], str(said))
    make(h, "late.step", "mock:wrap=cpu+flip-bit@twice/2.1:element=7:bit=3+flip-bit@square/0.1:element=1:bit=1", "step")
    said = dispute(h, "flip.step", "late.step", "--backend", "cpu")
    h.check("what both agree on can be wrong too", said["both_agreed"] and all(s["wrong"] for s in said["receipts"]) and
            (said["job"], said["round"]) == ("twice", "2"), str(said))
    status, out, err = h.run("receipt", "dispute", h.path("cpu.step"), h.path("flip.step"), "--backend",
                             "mock:wrap=cpu+flip-bit@twice/1.1:element=0:bit=0")
    h.check("a run-up that is wrong itself", status == 9 and "PC5914" in err, err)
    status, _, err = h.run("receipt", "replay", h.path("flip.step"), "--backend", "cpu")
    h.check("a replay finds it too", status == 6 and "PC5910" in err and "round 2, step 1" in err, err)


def other_questions(h):
    make(h, "six.job", "cpu", "job", "--set", "times=6")
    status, _, err = h.run("receipt", "dispute", h.path("cpu.job"), h.path("six.job"))
    h.check("another question", status == 3 and "PC5912" in err and "times" in err, err)
    text = h.read("p.cfg")
    args = ["run", h.path("p.cfg"), "--in", "x=" + h.path("x.bin"), "--in", "one=" + h.path("one.bin"), "--set", "times=4"]
    h.run(*args, "--backend", "cpu")
    status, _, err = h.run(*args, "--receipt", h.path("memo"))
    shown = json.loads(h.run("--json", "receipt", "show", h.path("memo"))[1])
    h.check("a remembered run says so", status == 0 and shown["memoised"] and shown["trace"]["leaves"] == [], err)
    status, _, err = h.run("receipt", "replay", h.path("memo"), "--backend", "cpu")
    h.check("its outputs can be replayed", status == 0, err)
    make(h, "four.job", "mock:wrap=cpu+flip-bit@twice/2.1:element=7:bit=3", "job", "--set", "times=4")
    status, _, err = h.run("receipt", "dispute", h.path("memo"), h.path("four.job"))
    h.check("but not disputed", status == 10 and "PC5903" in err, err)
    for bad in (["--trace", "job"], ["--receipt", h.path("no"), "--trace", "all"]):
        h.check("usage " + " ".join(bad), h.run(*args, *bad)[0] == 2)
    h.check("the pipeline was left alone", h.read("p.cfg") == text)


def main():
    h = Harness()
    values = random.Random(5)
    x = [values.randrange(1 << 32) for _ in range(N)]
    one = [values.randrange(1 << 32) for _ in range(N)]
    h.write("p.cfg", PIPELINE.encode())
    h.write("x.bin", pack(x))
    h.write("one.bin", pack(one))
    same_on_devices(h, x, one)
    changed_bytes(h)
    replays(h)
    disputes(h, x, one)
    other_questions(h)
    h.finish()


main()
