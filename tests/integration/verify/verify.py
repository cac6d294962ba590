"""What `run --verify all` compares is what is hashed, stored and handed out, and the reference works on the host's own
bytes. Each way to deceive the host is seen to give wrong bytes without verification, or is harmless for a reason that is
said here, and is refused with it: exit status 6, no output written, nothing stored."""
import json
import os
import shutil
import struct
import sys
import time

from harness import Harness

h = Harness()
MOCK = "mock:wrap=cpu"
N = 256
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3u + x[id.x ^ 1u] + 7u; }
""")
JOB = '{ id = "%s"; shader = "add.wgsl"; dispatch = ( %d ); in : { x = "%s"; }; out : { y = "u32[%d]"; }; }'
h.write("chain.pipe.cfg", ('pipeline : { name = "chain"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; jobs = ( %s, %s );'
                           ' outputs : { first = "one.y"; y = "two.y"; }; };\n'
                           % (JOB % ("one", N // 64, "$x", N), JOB % ("two", N // 64, "one.y", N))).encode())
WORDS = [(i * 2654435761 + 12345) & 0xffffffff for i in range(N)]
X = h.write("x", struct.pack(f"<{N}I", *WORDS))


def step(words):
    return [(words[i] * 3 + words[i ^ 1] + 7) & 0xffffffff for i in range(N)]


FIRST = struct.pack(f"<{N}I", *step(WORDS))
RIGHT = struct.pack(f"<{N}I", *step(step(WORDS)))


def stored():
    found = []
    for at, _, files in os.walk(h.path("home/store")):
        found += [os.path.join(at, f) for f in files if os.path.getsize(os.path.join(at, f)) == 4 * N]
    return sorted(found)


def run(device, *more):
    """Exit status, the two outputs or None, standard output and error."""
    for name in ("first", "y"):
        if os.path.exists(h.path(name)):
            os.unlink(h.path(name))
    status, out, err = h.run("run", h.path("chain.pipe.cfg"), "--in", f"x={X}", "--backend", device, "--no-memo", "--json",
                             "--out", f"first={h.path('first')}", "--out", f"y={h.path('y')}", *more)
    got = [h.read(n) if os.path.exists(h.path(n)) else None for n in ("first", "y")]
    return status, got, out, err


TRIES = 16  # half of all jobs lie between zones, drawn anew for each run, where some of these faults show first


def found_out(fault, code, *words):
    """With verification it is refused, with this code sooner or later, and nothing of it stays."""
    before, err = stored(), ""
    for _ in range(TRIES):
        status, got, _, err = run(f"{MOCK}+{fault}", "--verify", "all")
        h.check(f"{fault}: refused", status == 6 and any(c in err for c in (code, "PC5224", "PC5223")), f"exit status {status}\n{err}")
        h.check(f"{fault}: no output is written", got == [None, None])
        if code in err and all(w in err for w in words):
            break
    else:
        h.check(f"{fault}: {code}", False, err)
    h.check(f"{fault}: nothing is stored", stored() == before, str(set(stored()) - set(before)))


def bites(fault, tries=1):
    for _ in range(tries):
        status, got, _, err = run(f"{MOCK}+{fault}")
        if got != [FIRST, RIGHT]:
            break
    h.check(f"{fault}: wrong bytes without verification", status == 0 and got != [FIRST, RIGHT], f"exit status {status}\n{err}")


def seen_beside(fault):
    """Of two jobs one lies between zones, which are not as they were written: seen without verification."""
    status, got, _, err = run(f"{MOCK}+{fault}")
    h.check(f"{fault}: seen without verification", status == 6 and "PC5224" in err and got == [None, None], f"exit status {status}\n{err}")


for device in ("cpu", MOCK):
    status, got, out, err = run(device, "--verify", "all")
    h.check(f"{device} is right", status == 0 and got == [FIRST, RIGHT], err)
h.check("and verified", [j["verified"] for j in json.loads(out)["jobs"]] == [True, True], out.decode())

# Uploads that are lost: host and reference keep their own bytes, the device computes on zeros.
seen_beside("write-drop")
found_out("write-drop", "PC5223", "group 0 binding 0", "add.wgsl", "0x00")
# Reads that say OK and write nothing: the destination holds no right answer by chance.
seen_beside("read-untouched")
found_out("read-untouched", "PC5223", "0xa5")
# A second read that differs. Each output is read once, so it does not matter without verification; with it, the second
# look at an input of the next job shows it, or of the first one where that lay between zones and was read with them.
status, got, _, err = run(f"{MOCK}+read-twice")
for _ in range(TRIES):
    if "PC5224" not in err:
        break
    status, got, _, err = run(f"{MOCK}+read-twice")
h.check("read-twice: every output is read once", status == 0 and got == [FIRST, RIGHT], err)
found_out("read-twice", "PC5223", "reads back other bytes than it was given")
# A write into a read-only input: what the first job gave is spoiled by the second, before it is read for the store; where the first lay
# between zones it was read with them, sooner.
bites("write-input", TRIES)
found_out("write-input", "PC5223", 'job "one"', "group 0 binding 0")
# Submits that do nothing, and lists that answer what they answered first.
bites("no-dispatch")
found_out("no-dispatch", "PC5208", 'job "one" output "y" element 0: right is', f"{struct.unpack_from('<I', FIRST)[0]:#010x} (cpu:0")
bites("zero")
found_out("zero", "PC5208")
bites("flip-bit@two:element=5:bit=9")
found_out("flip-bit@two:element=5:bit=9", "PC5208", 'job "two" output "y" element 5',
          f"right is {struct.unpack_from('<I', RIGHT, 20)[0]:#010x}", f"gives {struct.unpack_from('<I', RIGHT, 20)[0] ^ 512:#010x}")
# A bit of an intermediate value flips after its job: the reference takes the bytes that the host read, so job one shows it.
bites("flip-bit@one:element=0:bit=0")
found_out("flip-bit@one:element=0:bit=0", "PC5208", 'job "one"')

# A size found in data is an answer of the device too: rank with `nodes` left open asks it for the largest id.
EDGES = h.write("edges", b"".join((i * 7919 % 97).to_bytes(4, "little") for i in range(400)))
RANK = ["run", os.path.join(os.environ["PIPELINES"], "rank.pipe.cfg"), "--in", f"edges={EDGES}", "--set", "iterations=2", "--no-memo",
        "--json", "--backend"]
status, right, err = h.run(*RANK, MOCK, "--verify", "all")
h.check("rank on an honest device", status == 0, err)
for submit in range(1, 4):
    status, out, err = h.run(*RANK, f"{MOCK}+flip-bit@{submit}:bit=7")
    wrong = status == 0 and json.loads(out)["outputs"] != json.loads(right)["outputs"]
    if not wrong:
        continue
    status, _, err = h.run(*RANK, f"{MOCK}+flip-bit@{submit}:bit=7", "--verify", "all")
    h.check("a wrong size found in data is refused", status == 6 and "PC5208" in err, f"{status} {err}")
    if "a size found in its data" in err:
        break
else:
    h.check("the measuring submit was found", False, err)

# One that fails on one of the two: the words are those of a job, and no size is made up for what has none.
os.makedirs(h.path("plugins"))
shutil.copy(sys.argv[1], h.path("plugins"))
h.write("sized.pipe.cfg", b"""pipeline : { name = "p"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "j"; op = "stranger.sized@1"; in : { x = "$x"; }; } ); outputs : { y = "j.y"; }; };
""")


def sized(first, device, *more):
    x = h.write("sized", struct.pack("<8I", first, *range(7)))
    return h.run("--plugin-dir", h.path("plugins"), "run", h.path("sized.pipe.cfg"), "--in", f"x={x}", "--backend", device, "--no-memo",
                 "--out", f"y={h.path('sized.y')}", *more)


status, _, err = sized(5, MOCK, "--verify", "all")
h.check("a size that fits", status == 0 and h.read("sized.y") == struct.pack("<8I", 6, *range(1, 8)), f"{status} {err}")
status, _, err = sized(1000, MOCK, "--verify", "all")
h.check("one that does not fails alike", status == 9 and "PC5205" in err and "PC5208" not in err, f"{status} {err}")
before = stored()
status, _, err = sized(1000, f"{MOCK}+write-drop", "--verify", "all")
h.check("the reference fails a size that the device finds", status == 6 and "PC5208" in err and "right is 0" not in err
        and 'job "j": a size found in its data: the reference fails it, which is right' in err and "gives a result" in err, f"{status} {err}")
h.planted("a size of data that have none", f"{MOCK}+write-drop", "PC5208 mismatch", err)
status, _, err = sized(5, f"{MOCK}+read-untouched", "--verify", "all")
h.check("the device fails a size that the reference finds", status == 6 and "PC5208" in err
        and "a size found in its data: mock" in err and "fails it, the reference gives a result, which is right" in err, f"{status} {err}")
h.planted("no size of data that have one", f"{MOCK}+read-untouched", "PC5208 mismatch", err)
h.check("and nothing of either is stored", stored() == before)

# A job whose freedom from races is not proven is run once on the reference: that run looks for races and gives the bytes.
h.write("apart.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let i = id.x & 63u;
  var v = x[i];
  for (var k = 0u; k < 20000u; k++) { v = v * 3u + k; }
  y[((i * (i + 1u)) >> 1u) & 63u] = v;
}
""")
h.write("apart.pipe.cfg", b"""pipeline : { name = "apart"; class = "integer"; inputs : { x : { type = "u32[64]"; }; };
  jobs = ( { id = "a"; shader = "apart.wgsl"; dispatch = ( 1 ); in : { x = "$x"; }; out : { y = "u32[64]"; };
             repeat : { count = "20"; carry : { x = "y"; }; }; } ); outputs : { y = "a.y"; }; };
""")
A = h.write("apart.x", struct.pack("<64I", *range(64)))


def apart(device, *more):
    at = time.monotonic()
    status, out, err = h.run("run", h.path("apart.pipe.cfg"), "--in", f"x={A}", "--backend", device, "--no-memo", "--json",
                             "--out", f"y={h.path('apart.y')}", *more)
    return status, time.monotonic() - at, json.loads(out) if out else {}, err


status, once, r, err = apart(MOCK)
h.check("an unproven job", status == 0 and r["evidence"] == "not verified", f"{status} {err}")
status, both, r, err = apart(MOCK, "--verify", "all")
h.check("is verified", status == 0 and r["evidence"] == "verified" and r["jobs"][0]["verified"], f"{status} {err}")
print(f"checked {once:.2f} s, checked and verified {both:.2f} s", file=sys.stderr)
status, _, _, err = apart(f"{MOCK}+flip-bit@a:element=7:bit=3", "--verify", "all")
h.check("and a lie in it is seen by the run that looked for races", status == 6 and "PC5208" in err and "element 7" in err
        and "(cpu:0" in err, f"{status} {err}")

# A failure that the device makes up is told from one of the data.
status, _, err = h.run(*RANK, f"{MOCK}+zero")
h.check("zero outputs end as a failure of the data", status == 9 and "PC5205" in err, err)
status, _, err = h.run(*RANK, f"{MOCK}+zero", "--verify", "all")
h.check("and are shown to be the device's with --verify", status == 6 and ("PC5208" in err or "PC5223" in err), f"{status} {err}")
h.finish()
