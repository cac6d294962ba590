"""`-` and pipes for inputs and outputs, byte for byte; standard output carries nothing else then. The beginnings of CIDs are
taken wherever a CID is, while one blob begins so."""
import base64
import fcntl
import hashlib
import json
import os
import struct
import subprocess
import time

from harness import Harness, Random

PIPELINE = b"""pipeline : { name = "sum"; class = "integer";
  inputs : { a : { type = "u32[n]"; }; b : { type = "u32[n]"; }; };
  jobs = ( { id = "s"; op = "int.add@1"; in : { a = "$a"; b = "$b"; }; }, { id = "n"; op = "int.not@1"; in : { x = "$a"; }; } );
  outputs : { y = "s.y"; z = "n.y"; }; };
"""


def cid_of(data):
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


# Two texts whose CIDs begin with the same 15 characters: the first such numbers from 0 on, found in 923,794 steps.
TWINS = b'161193', b'923793'


def streams(h):
    r = Random(11)
    # Every byte, line ends and escapes of terminals among them; as many as a pipe does not hold at once.
    a = struct.pack("<40000I", *(r.u64() & 0xffffffff for _ in range(40000)))
    b = bytes(range(256)) * 625
    want = struct.pack("<40000I", *((x + y) & 0xffffffff for x, y in zip(struct.unpack("<40000I", a), struct.unpack("<40000I", b))))
    pipeline, file = h.write("sum.pipe.cfg", PIPELINE), h.write("b", b)
    run = ["run", pipeline, "--backend", "cpu", "--in", "b=" + file]
    for name in ("-", "/dev/stdout", "/dev/fd/1"):
        status, out, err = h.run(*run, "--in", "a=-", "--out", "y=" + name, stdin=a)
        h.check("run - to " + name, status == 0 and "y " + cid_of(want) in err, err)
        h.check_bytes("run - to " + name, out, want, 4)
    status, out, err = h.run(*run, "-q", "--in", "a=" + file, "--out", "z=-")
    h.check_bytes("-q and z", out, bytes(255 - x for x in b), 4)
    # A pipe by its name, as of <( ).
    read, write = os.pipe()
    feeder = subprocess.Popen(["cat", h.write("a", a)], stdout=write)
    os.close(write)
    done = subprocess.run([h.pipectl, *run, "--in", f"a=/dev/fd/{read}", "--out", "y=-"], env=h.env, pass_fds=[read],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(read)
    feeder.wait()
    h.check("a pipe by its name", done.returncode == 0, done.stderr.decode())
    h.check_bytes("a pipe by its name", done.stdout, want, 4)
    status, out, err = h.run("op", "run", "int.not", "--in", "x=-:u32[40000]", "--out", "y=-", "--backend", "cpu", stdin=a)
    h.check("op run", status == 0, err)
    h.check_bytes("op run", out, bytes(255 - x for x in a), 4)
    shader = h.write("k.wgsl", b"""@group(0) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = y[g.x] + 1u; }""")
    status, out, err = h.run("shader", "run", shader, "--dispatch", "625", "--bind", "0:0=-", "--read", "0:0=-", "--backend", "cpu", stdin=a)
    h.check("shader run", status == 0, err)
    h.check_bytes("shader run", out, struct.pack("<40000I", *((x + 1) & 0xffffffff for x in struct.unpack("<40000I", a))), 4)
    for args, said in ((["--in", "a=-", "--in", "b=-"], "standard input can be read once"),
                       (["--in", "a=-", "--in", "b=" + file, "--out", "y=-", "--out", "z=-"], "can carry one output"),
                       (["--in", "a=-", "--in", "b=" + file, "--out", "y=-", "--receipt", "-"], "can carry one output"),
                       (["--json", "--in", "a=-", "--in", "b=" + file, "--out", "y=-"], "the document of --json")):
        status, out, err = h.run("run", pipeline, "--backend", "cpu", *args, stdin=a)
        h.check(said, status == 2 and (said in err or said in out.decode()), f"{status} {err}")


def leaves(h):
    """A reader of standard output that is gone has what it wanted: nothing is said and the status is the verb's own. What a full disk does
    not take is lost, and said, whatever printed it."""
    big = h.write("big", bytes(200000))
    cid = h.run("cas", "put", big)[1].decode().strip()
    add = ["run", h.path("sum.pipe.cfg"), "--backend", "cpu", "--in", "a=" + big, "--in", "b=" + big, "--out", "y=-"]
    for args in (["op", "list"], ["help"], ["--json", "op", "list"], ["cas", "get", cid], add, ["-q", *add], ["plan", h.path("sum.pipe.cfg"), "--in", "a=" + big, "--in", "b=" + big],
                 ["completion", "bash"]):
        read, write = os.pipe()
        os.close(read)
        usual = h.run(*args)
        done = subprocess.run([h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        said = done.stderr.decode()
        h.check(f"nobody reads {args[:3]}", done.returncode == usual[0] and "PC0023" not in said, f"{usual} {done}")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE)
        said = done.stderr.decode()
        if usual[0] == 0:
            h.check(f"a full disk under {args[:3]}", done.returncode == 1 and "PC0023" in said and "standard output" in said, str(done))
        # A stream that is closed from the beginning is no file that is opened later, such as the store's.
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = done.stderr.decode()
        if usual[0] == 0:
            h.check(f"closed output under {args[:3]}", done.returncode == 1 and ("PC0023" in said or "PC0021" in said) and "standard output" in said, str(done))
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" 2>&- <&-', h.pipectl, *args], env=h.env, stdout=subprocess.PIPE)
        h.check(f"nothing else is open under {args[:3]}", (done.returncode, done.stdout) == usual[:2], f"{done.returncode}, {len(done.stdout)} bytes, {done.stdout[:200]}; usually {usual[0]}, {len(usual[1])}")
    status, _, err = h.run("check", "/nowhere.pipe.cfg")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([h.pipectl, "check", "/nowhere.pipe.cfg"], env=h.env, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    h.check("what fails fails the same, unread", status != 0 and (done.returncode, done.stderr.decode()) == (status, err), f"{status} {err} {done}")


def impatient(h):
    """A pipe that does not wait is waited for: a document is whole, whatever its reader set, and however late it reads."""
    for args in (["--json", "op", "list"], ["run", h.path("sum.pipe.cfg"), "--backend", "cpu", "--in", "a=" + h.path("big"), "--in", "b=" + h.path("big"), "--out", "y=-"]):
        usual = h.run(*args)
        read, write = os.pipe()
        fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ: a page
        os.set_blocking(write, False)
        done = subprocess.Popen([h.pipectl, *args], env=h.env, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        time.sleep(1)
        got = b""
        while piece := os.read(read, 1 << 16):
            got += piece
        os.close(read)
        said = done.communicate()[1].decode()
        h.check(f"an impatient pipe under {args[:3]}", usual[0] == 0 and len(got) > 4096 and (done.returncode, got) == usual[:2], f"{done.returncode}, {len(got)} of {len(usual[1])} bytes: {said}")


def short(h):
    one, other = TWINS
    cids = {}
    for name, data in (("one", one), ("other", other), ("alone", b"alone"), ("a", struct.pack("<4I", 1, 2, 3, 4))):
        cids[name] = h.run("cas", "put", h.write(name, data))[1].decode().strip()
    h.check("the twins are twins", cids["one"][:15] == cids["other"][:15] and cids["one"] != cids["other"], str(cids))
    alone, begun = cids["alone"], cids["alone"][:15]
    h.check_bytes("cas get", h.run("cas", "get", begun)[1], b"alone", 1)
    h.check_bytes("cas get, whole", h.run("cas", "get", alone)[1], b"alone", 1)
    status, _, err = h.run("cas", "get", cids["one"][:15])
    if h.check("two begin so", status == 3 and "PC5013" in err and cids["one"] in err and cids["other"] in err, f"{status} {err}"):
        h.planted("two blobs whose CIDs begin with the same 15 characters", "cas get CID, of 15 characters", "PC5013", err)
    longer = next(n for n in range(15, 60) if cids["one"][:n] != cids["other"][:n])
    h.check_bytes("one character more", h.run("cas", "get", cids["one"][:longer])[1], one, 1)
    h.check("nothing begins so", "PC5004" in h.run("cas", "get", "bafkreiaaaaaaaaaa")[2])
    status, _, err = h.run("cas", "get", alone[:14])
    h.check("fourteen are too few", status == 3 and "PC5005" in err, err)
    h.run("cas", "pin", begun)
    h.check("cas pin", alone in h.run("cas", "ls", "--pins")[1].decode())
    h.run("cas", "unpin", begun)
    h.check("cas unpin", alone not in h.run("cas", "ls", "--pins")[1].decode())
    status, out, err = h.run("--json", "cas", "export", begun, "--car", h.path("x.car"))
    h.check("cas export", status == 0 and os.path.getsize(h.path("x.car")) > 5, err)
    pipeline = h.write("sum.pipe.cfg", PIPELINE)
    status, out, err = h.run("--json", "run", pipeline, "--in", "a=" + cids["a"][:20], "--in", "b=" + h.path("a"), "--backend", "cpu")
    h.check("run --in", status == 0 and json.loads(out)["outputs"][0]["cid"] == cid_of(struct.pack("<4I", 2, 4, 6, 8)), err)
    file = h.write(cids["a"][:20], struct.pack("<4I", 9, 9, 9, 9))
    done = subprocess.run([h.pipectl, "--json", "run", pipeline, "--in", "a=" + os.path.basename(file), "--in", "b=a", "--backend", "cpu"],
                          env=h.env, cwd=h.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    h.check("a file of that name is meant", cid_of(struct.pack("<4I", 10, 11, 12, 13)) in done.stdout.decode(), str(done))
    # A chain keeps whole CIDs: what was written short is whole in its records.
    h.run("ledger", "credit", "ada", "1000000000")
    kernel = b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(1) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = x[g.x] * 3u; }"""
    status, out, err = h.run("--json", "shader", "upload", h.write("k3.wgsl", kernel), "--sender", "ada")
    h.check("shader upload", status == 0, err + out.decode())
    shader = cid_of(kernel)
    for args in (["shader", "show", shader[:16]], ["shader", "alias", "triple", shader[:16], "--sender", "ada"],
                 ["link", shader[:16], cids["a"][:16], "--sender", "ada"], ["provenance", shader[:16]]):
        status, out, err = h.run(*args)
        h.check(" ".join(args[:2]), status == 0, f"{status} {err}")
    h.check("the link holds whole CIDs", cids["a"].encode() in h.run("link", shader[:16], cids["a"][:16], "--sender", "ada")[1])
    status, out, err = h.run("--json", "job", "submit", "--shader", shader[:16], "--input", cids["a"][:16], "--dispatch", "1",
                             "--gas-limit", "100000", "--output-bytes", "16", "--sender", "ada")
    h.check("job submit", status == 0 and b'"status": "ok"' in out, err + out.decode())
    status, out, err = h.run("block", "end", "--backend", "cpu")
    h.check("block end", status == 0, err)
    status, out, err = h.run("provenance", cid_of(struct.pack("<4I", 3, 6, 9, 12))[:18])
    h.check("provenance", status == 0 and shader.encode() in out or shader[:12].encode() in out, f"{out} {err}")


def nothing(h):
    """/dev/null is an input without elements, where its shape allows that."""
    text = """pipeline : { name = "e"; class = "integer"; inputs : { x : { type = "u32[%s]"; }; };
  jobs = ( { id = "turn"; op = "int.not@1"; in : { x = "$x"; }; } ); outputs : { y = "turn.y"; }; };"""
    run = lambda n: h.run("run", h.write(f"e{n}.pipe.cfg", (text % n).encode()), "--in", "x=/dev/null", "--backend", "cpu")
    status, out, err = run("n")
    h.check("no elements", status == 0 and out.decode().split() == ["y", cid_of(b"")], f"{status} {out} {err}")
    status, _, err = run("4")
    h.check("where four are asked for", status == 3 and "PC4015" in err and "0 bytes" in err, f"{status} {err}")


def main():
    h = Harness()
    streams(h)
    leaves(h)
    impatient(h)
    nothing(h)
    short(h)
    h.finish()


main()
