"""Jobs are remembered one by one: a change of the second does not run the first again. The rules of records hold for each
job as for a run, what one hands to another is stored within a bound, and a record in another one's place, a damaged one, one
of an unchecked liar or one whose bytes are gone answers nobody. (tests/stranger counts what a device is asked to do.)"""
import glob
import hashlib
import json
import os
import re
import shutil
import struct

from harness import Harness

h = Harness()
N = 64
WGSL = """@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * %du + %du; }
"""
JOB = ('{ id = "%s"; shader = "%s.wgsl"; dispatch = ( 1 ); in : { x = "%s"; }; out : { y = "u32[64]"; };%s }')
BODY = ('pipeline : { name = "p"; class = "%s"; params : { spare = 1; }; inputs : { x : { type = "u32[n]"; }; }; jobs = ( %s ); '
        'outputs : { %s }; };')
count = 0


def shader(name, a, b, before=""):
    h.write(name + ".wgsl", (before + WGSL % (a, b)).encode())


def pipeline(name, *jobs, outputs='y = "three.y";', cls="integer"):
    return h.write(name, (BODY % (cls, ", ".join(jobs), outputs)).encode())


CHAIN = (JOB % ("one", "one", "$x", ""), JOB % ("two", "two", "one.y", ""), JOB % ("three", "three", "two.y", ""))
shader("one", 3, 7)
shader("two", 5, 1)
shader("three", 7, 2)
pipeline("p.pipe.cfg", *CHAIN)


def policy(body):
    global count
    count += 1
    return h.write(f"policy{count}.cfg", f"policy : {{ {body} }};".encode())


CPU = policy('backends : { order = ( "cpu" ); };')


def question():
    global count
    count += 1
    return h.write(f"x{count}", struct.pack(f"<{N}I", *[(i * 2654435761 + count) & 0xffffffff for i in range(N)]))


def right(x, *steps):
    values = struct.unpack(f"<{N}I", open(x, "rb").read())
    for a, b in steps:
        values = [(v * a + b) & 0xffffffff for v in values]
    return struct.pack(f"<{N}I", *values)


def run(x, *more, pipe="p.pipe.cfg"):
    out = h.path("out")
    status, text, err = h.run("--json", "run", h.path(pipe), "--in", f"x={x}", "--out", f"y={out}", *more)
    if not h.check("a run", status == 0, err):
        return {"jobs": [], "memoised": None, "bytes": b""}
    r = json.loads(text)
    r["bytes"] = h.read("out")
    return r


def which(r):
    """The jobs that ran, in their order."""
    return [j["id"] for j in r["jobs"] if not j["remembered"]]


def ran(what, r, want, got=None):
    h.check(what, which(r) == want and (got is None or r["bytes"] == got), f"{which(r)} {r.get('memo_void')}")
    return r


def cid(data):
    return run_cid(h.write("bytes", data))


def run_cid(path):
    return h.run("cas", "put", path)[1].decode().strip()


def records():
    return set(glob.glob(h.path("home/memo/??/*")))


def seal(path, body):
    os.chmod(path, 0o644)
    with open(path, "wb") as f:
        f.write(body + b"sum " + hashlib.sha256(body).hexdigest().encode() + b"\n")


def made(f):
    """What f returns, and the new records by the name of the CID that they give."""
    before = records()
    result = f()
    new = {}
    for path in records() - before:
        text = open(path, encoding="utf-8").read()
        new[re.search(r"^out \S+ (\w+) ", text, re.M).group(1)] = path
    return result, new


# ---- one by one
x = question()
STEPS = [(3, 7), (5, 1), (7, 2)]
first = ran("the first time all run", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
h.check("what one hands to another is kept", first["kept_bytes"] == str(2 * 4 * N), first["kept_bytes"])
again = ran("then none does", run(x, "--policy", CPU), [], right(x, *STEPS))
h.check("and the run says so", again["memoised"] and again["remembered_jobs"] == 3 and again["gas"] == first["gas"] == again["saved_gas"] and
        [j["gas"] for j in again["jobs"]] == [j["gas"] for j in first["jobs"]] and all(j["device"] is None for j in again["jobs"]) and
        all(j["saved_seconds"] > 0 for j in again["jobs"]), str(again))
for name, at, rest in (("three", 2, ["three"]), ("two", 1, ["two", "three"]), ("one", 0, ["one", "two", "three"])):
    shader(name, 11, 13)
    steps = list(STEPS)
    steps[at] = (11, 13)
    r = ran(f"a change of {name}", run(x, "--policy", CPU), rest, right(x, *steps))
    h.check("gas is the same, remembered or not", r["gas"] == first["gas"] and r["saved_gas"] == str(int(first["gas"]) // 3 * (3 - len(rest))),
            f"{r['gas']} {r['saved_gas']}")
    shader(name, *STEPS[at])
    ran(f"{name} as it was", run(x, "--policy", CPU), [], right(x, *STEPS))
shader("two", 5, 1, before="// said otherwise\n\n")
ran("another text of one program is the same program", run(x, "--policy", CPU), [], right(x, *STEPS))
ran("a parameter that no job asks for", run(x, "--policy", CPU, "--set", "spare=2"), [])
pipeline("names.pipe.cfg", *[j.replace('"one', '"a').replace('"two', '"b').replace('"a";  shader = "a', '"a"; shader = "one')
                             .replace('shader = "a.', 'shader = "one.').replace('shader = "b.', 'shader = "two.') for j in CHAIN])
ran("jobs of other names", run(x, "--policy", CPU, pipe="names.pipe.cfg"), [], right(x, *STEPS))
pipeline("part.pipe.cfg", *CHAIN[:2], outputs='y = "two.y";')
ran("a part of it", run(x, "--policy", CPU, pipe="part.pipe.cfg"), [], right(x, *STEPS[:2]))
pipeline("class.pipe.cfg", *CHAIN, cls="strict")
ran("another class may need more", run(x, "--policy", CPU, pipe="class.pipe.cfg"), ["one", "two", "three"])
status, _, err = h.run("-v", "run", h.path("p.pipe.cfg"), "--in", f"x={x}", "--policy", CPU)
h.check("the terminal names each", status == 0 and ", remembered" in err and all(f"  {j} {j}.wgsl remembered, verified" in err for j in
        ("one", "two", "three")), err)
shader("three", 8, 8)
status, _, err = h.run("run", h.path("p.pipe.cfg"), "--in", f"x={x}", "--policy", CPU)
h.check("and counts them", status == 0 and "2 of 3 jobs remembered" in err, err)
shader("three", *STEPS[2])
status, _, err = h.run("run", h.path("p.pipe.cfg"), "--in", f"x={x}", "--policy", CPU, "--gas-limit", "100")
h.check("a limit of gas holds for what is remembered", status == 7 and "PC5211" in err, err)

# ---- who does not read
for what, more in (("a named backend", ["--backend", "cpu"]), ("--verify", ["--verify", "all", "--policy", CPU]), ("--no-memo", ["--no-memo", "--policy", CPU])):
    ran(f"{what} asks nobody", run(x, *more), ["one", "two", "three"])
pipeline("placed.pipe.cfg", CHAIN[0], JOB % ("two", "two", "one.y", ' placement = "cpu";'), CHAIN[2])
ran("a job that names its place runs, the one before it does not", run(x, "--policy", CPU, pipe="placed.pipe.cfg"), ["two", "three"])

# ---- what is stored, and its bound
x = question()
small = policy('memo_bytes = 256; backends : { order = ( "cpu" ); };')
h.check("one of two fits", run(x, "--policy", small)["kept_bytes"] == "256")
ran("those behind run again", run(x, "--policy", small), ["two", "three"])
x = question()
ANY = policy('memo = "any"; backends : { order = ( "vulkan:llvmpipe" ); };')
UNCHECKED = policy('backends : { order = ( "vulkan:llvmpipe" ); };')
r = run(x, "--policy", UNCHECKED)
h.check("nothing is read or stored of what the policy would not take", r["kept_bytes"] == "0" and r["evidence"] == "not verified", str(r))
ran("and nothing of it answers", run(x, "--policy", ANY), ["one", "two", "three"])
ran("but where anything is taken", run(x, "--policy", ANY), [])
r = ran("and nowhere else", run(x, "--policy", UNCHECKED), ["one", "two", "three"])
h.check("with words", "not verified" in r["memo_void"] and "not verified" in r["jobs"][0]["memo_void"], str(r))
r = ran("a checked first job", run(x, "--policy", CPU), ["one", "two", "three"])
r = ran("stands better", run(x, "--policy", UNCHECKED), [])
h.check("than before", r["evidence"] == "verified", str(r))

# ---- the weakest along the provenance
x = question()
shader("two", 6, 6)
run(x, "--policy", ANY)
shader("three", 6, 5)
r = ran("the last job on the reference, after unchecked ones", run(x, "--policy", policy('memo = "any"; backends : { order = ( "cpu" ); };')), ["three"])
h.check("is not verified", r["evidence"] == "not verified" and [j["evidence"] for j in r["jobs"]] == ["not verified"] * 3, str(r["jobs"]))
ran("and does not answer", run(x, "--policy", CPU), ["one", "two", "three"])
shader("two", *STEPS[1])
shader("three", *STEPS[2])

# ---- poison
x = question()
r, new = made(lambda: run(x, "--policy", CPU))
mid = cid(right(x, *STEPS[:1]))
other = cid(right(x, *STEPS[:2]))
h.check("the records name what was given", set(new) == {mid, other, r["outputs"][0]["cid"]}, str(new))
text = open(new[mid], "rb").read()
with open(new[mid], "wb") as f:
    f.write(text.replace(mid.encode(), other.encode()))
ran("a record of other bytes without its sum", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
h.planted("a remembered job whose record was changed", "core/runtime/cas/memo.c", "the job runs again", "one, two, three ran")
r, new = made(lambda: run(question(), "--policy", CPU))
theirs = [p for c, p in new.items() if c == r["outputs"][0]["cid"]]
ours = next(p for p in records() if mid in open(p, encoding="utf-8").read())
shutil.copy(theirs[0], ours)
ran("a whole record of another job in its place", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
h.planted("a remembered job's record in the place of another's", "core/runtime/cas/memo.c", "the job runs again", "one, two, three ran")
ours = next(p for p in records() if mid in open(p, encoding="utf-8").read())
seal(ours, open(ours, "rb").read().split(b"sum ")[0].replace(b"device cpu\t", b"device cpu\t0")[:-1])
ran("a record that is none", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
body = open(ours, "rb").read().split(b"sum ")[0]
sha = re.search(rb"device cpu\t(\w+)\t", body).group(1)
seal(ours, body.replace(sha, b"3" * 64))
r = ran("another file of the plugin since", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
h.check("of the first job", "cpu is another file now" in r["jobs"][0]["memo_void"] and r["jobs"][1].get("memo_void") is None, str(r["jobs"]))
h.planted("a plugin that is another file since its job was remembered", "core/runtime/exec/run_evidence.c", "the job runs again", r["memo_void"])

# ---- an unchecked device that lied in one job, and whoever asks for proof
def lied(x):
    """What a device that nobody checks leaves behind when it is wrong in its first job."""
    wrong = right(x, *STEPS[:1])[:-1] + b"\x01"
    name = cid(wrong)
    _, new = made(lambda: run(x, "--policy", ANY))
    at = new[cid(right(x, *STEPS[:1]))]
    seal(at, open(at, "rb").read().split(b"sum ")[0].replace(cid(right(x, *STEPS[:1])).encode(), name.encode()))
    return struct.pack("<I", (struct.unpack("<I", wrong[-4:])[0] * 35 + 9) & 0xffffffff)


x = question()
last = lied(x)
LAX = policy('memo = "any"; backends : { order = ( "cpu" ); };')
r = ran("who takes anything gets the lie", run(x, "--policy", LAX), ["two", "three"], right(x, *STEPS)[:-4] + last)
h.check("but not for more than it is", r["evidence"] == "not verified" and r["jobs"][2]["evidence"] == "not verified", str(r["jobs"]))
r = ran("who does not, does not", run(x, "--policy", CPU), ["one", "two", "three"], right(x, *STEPS))
h.planted("a lying device's job, remembered and offered to who wants it verified", "core/runtime/exec/run_evidence.c", "the job runs again", r["memo_void"])
x = question()
lied(x)
ran("a verifying run asks the device, not the memo", run(x, "--backend", "vulkan:llvmpipe", "--verify", "all", "--policy", LAX), ["one", "two", "three"],
    right(x, *STEPS))
ran("and its answers stand for themselves from then on", run(x, "--policy", CPU), [], right(x, *STEPS))

# ---- bytes that are gone or damaged
def blob(name):
    return next(p for p in glob.glob(h.path("home/cas/blobs/??/*")) if os.path.basename(p).endswith(name[7:]) or name in p)


for what in ("gone", "damaged"):
    x = question()
    run(x, "--policy", CPU)
    at = blob(cid(right(x, *STEPS[:2])))
    os.chmod(at, 0o644)
    if what == "gone":
        os.unlink(at)
    else:
        with open(at, "r+b") as f:
            f.write(b"\0\1\2\3")
    shader("three", 5, 5)
    ran(f"{what}: the job that gave them runs again", run(x, "--policy", CPU), ["two", "three"], right(x, (3, 7), (5, 1), (5, 5)))
    shader("three", *STEPS[2])

# ---- a receipt has a whole trace or none
x = question()
run(x, "--policy", CPU)
shader("three", 4, 4)
r = ran("with a receipt all run", run(x, "--policy", CPU, "--receipt", h.path("receipt")), ["one", "two", "three"])
shown = json.loads(h.run("--json", "receipt", "show", h.path("receipt"))[1])
h.check("and all stand in its trace", not shown["memoised"] and len(shown["trace"]["leaves"]) == 3, str(shown["trace"]))
h.check("which is replayed", h.run("receipt", "replay", h.path("receipt"), "--backend", "cpu")[0] == 0)
r = ran("or none", run(x, "--policy", CPU, "--receipt", h.path("receipt")), [])
shown = json.loads(h.run("--json", "receipt", "show", h.path("receipt"))[1])
h.check("and it says so", shown["memoised"] and shown["trace"]["leaves"] == [] and all(j["evidence"] == "verified" for j in shown["jobs"]), str(shown))

# ---- what a collection keeps
h.check("gc keeps what is remembered", h.run("cas", "gc", "--config", h.write("now.cfg", b"cache : { gc_grace = 0; };\n"))[0] == 0)
shader("three", 2, 2)
ran("so it answers afterwards", run(x, "--policy", CPU), ["three"])
h.finish()
