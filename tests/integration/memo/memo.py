"""Which remembered results answer. Each rule is seen both ways: the same record answers where the policy in force takes
it, and does not where the policy, the plugin files, the quarantine or a profile say otherwise. Evidence is the weakest
along the provenance, and stands in the result, the receipt and on the terminal."""
import glob
import hashlib
import json
import os
import struct

from harness import Harness

h = Harness()
N = 64
DEVICE = "vulkan:llvmpipe"
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3u + 7u; }
""")
PIPE = ('pipeline : { name = "p"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; jobs = ( { id = "one"; shader = "add.wgsl"; '
        'dispatch = ( 1 ); in : { x = "$x"; }; out : { y = "u32[64]"; };%s } ); outputs : { y = "one.y"; }; };')
h.write("p.pipe.cfg", (PIPE % "").encode())
h.write("placed.pipe.cfg", (PIPE % ' placement = "cpu";').encode())
OPS = ('pipeline : { name = "q"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; jobs = ( { id = "one"; op = "int.not@1"; '
       'in : { x = "$x"; }; } ); outputs : { y = "one.y"; }; };')
h.write("op.pipe.cfg", OPS.encode())
count = 0


def policy(body):
    global count
    count += 1
    return h.write(f"policy{count}.cfg", f"policy : {{ {body} }};".encode())


DEFAULT = policy(f'backends : {{ order = ( "{DEVICE}" ); }};')
ANY = policy(f'memo = "any"; backends : {{ order = ( "{DEVICE}" ); }};')


def question():
    """A fresh input, so that nothing is remembered of it."""
    global count
    count += 1
    return h.write(f"x{count}", struct.pack(f"<{N}I", *[(i * 2654435761 + count) & 0xffffffff for i in range(N)]))


def run(x, *more, pipe="p.pipe.cfg"):
    status, out, err = h.run("--json", "run", h.path(pipe), "--in", f"x={x}", *more)
    if not h.check("a run", status == 0, err):
        return {"memoised": None, "evidence": None, "outputs": [{"cid": "", "evidence": None}], "jobs": [{"evidence": None}]}
    return json.loads(out)


def answers(what, x, want, *more, why=None, pipe="p.pipe.cfg"):
    r = run(x, *more, pipe=pipe)
    h.check(what, r["memoised"] == want and (why is None or why in r.get("memo_void", "")), f"{r['memoised']} {r.get('memo_void')}")
    return r


# ---- evidence of a run, and what of it is taken by default
x = question()
r = run(x, "--policy", DEFAULT)
h.check("nobody checked it", r["evidence"] == "not verified" and r["outputs"][0]["evidence"] == "not verified" and
        r["jobs"][0]["evidence"] == "not verified", str(r))
_, _, err = h.run("run", h.path("p.pipe.cfg"), "--in", f"x={x}", "--policy", DEFAULT)
h.check("and the terminal says so", ", not verified" in err, err)
answers("nothing unverified answers by default", x, False, "--policy", DEFAULT, why="not verified")
answers("unless the policy says any", x, True, "--policy", ANY)
answers("a quorum wants more", x, False, "--policy", policy('memo = "any"; verify = "sample=0.000001";'))
r = run(x, "--policy", DEFAULT, "--verify", "all", "--backend", DEVICE)
h.check("verified", r["evidence"] == "verified", str(r))
r = answers("what was verified answers", x, True, "--policy", DEFAULT)
h.check("with its evidence", r["evidence"] == "verified" and r["outputs"][0]["evidence"] == "verified", str(r))
run(x, "--policy", DEFAULT, "--backend", DEVICE)
answers("a weaker run does not replace it", x, True, "--policy", DEFAULT)
x = question()
h.check("the reference is verified by being it", run(x, "--backend", "cpu")["evidence"] == "verified")
answers("and answers", x, True)
answers("a named backend asks nobody else", x, False, "--backend", "cpu")
answers("nor does --verify", x, False, "--verify", "all")
answers("nor --no-memo", x, False, "--no-memo")
answers("memo = off", x, False, "--policy", policy('memo = "off";'))
run(x, pipe="placed.pipe.cfg")
answers("a job that names its place is like a named backend", x, False, pipe="placed.pipe.cfg")

# ---- what voids a record
def checked():
    """A question whose answer is remembered, made on the device and verified."""
    x = question()
    run(x, "--backend", DEVICE, "--verify", "all")
    return x


answers("it answers", checked(), True)
for what, body, why in (("a pin that is another file's", f'plugins : {{ sha256 : {{ vulkan = "{"0" * 64}"; }}; }};', "plugin vulkan"),
                        ("a forbidden device", 'backends : { forbidden = ( "vulkan:llvmpipe" ); };', "does not allow"),
                        ("a smaller memory", 'limits : { memory = 100; };', None)):
    x = checked()
    status, out, err = h.run("--json", "run", h.path("p.pipe.cfg"), "--in", f"x={x}", "--policy", policy(body))
    r = json.loads(out) if status == 0 else {}
    h.check(what, not r.get("memoised") and (status != 0 or why in r.get("memo_void", "")), f"{status} {r.get('memo_void')} {err}")
x = checked()
h.check("quarantine", h.run("plugin", "quarantine", "vulkan", "--cause", "a test")[0] == 0 or h.run("plugin", "quarantine", "vulkan")[0] == 0)
answers("a plugin in quarantine", x, False, why="vulkan")
h.check("release", h.run("plugin", "release", "vulkan")[0] == 0)

def rewrite(old, new):
    """The newest record with a change, sealed again as whoever can write the home can do."""
    path = max(glob.glob(h.path("home/memo/??/*")), key=os.path.getmtime)
    with open(path, "rb") as f:
        text = f.read()
    body = text[:text.rindex(b"sum ")].replace(old, new)
    h.check(f"the record has {old}", body != text[:text.rindex(b"sum ")], text.decode())
    os.chmod(path, 0o644)
    with open(path, "wb") as f:
        f.write(body + b"sum " + hashlib.sha256(body).hexdigest().encode() + b"\n")


def record():
    with open(max(glob.glob(h.path("home/memo/??/*")), key=os.path.getmtime), encoding="utf-8") as f:
        return f.read()


x = checked()
text = record()
h.check("all files that took part are named", all(f"\n{kind} {name}\t" in text for kind, name in (
    ("device", "vulkan"), ("device", "cpu"), ("library", "int"))) and "\nhost " in text and "\nevidence verified\n" in text, text)
answers("the record answers", x, True)
vulkan = next(line for line in text.splitlines() if line.startswith("device vulkan")).split("\t")[1]
rewrite(vulkan.encode(), b"0" * 64)
answers("a backend that is another file", x, False, why="vulkan is another file now")
for line, why in (("device cpu", "cpu is another file now"), ("library int", "int is another file now")):
    x = checked()
    digest = next(k for k in record().splitlines() if k.startswith(line)).split("\t")[1]
    rewrite(digest.encode(), b"1" * 64)
    answers(f"another file: {line}", x, False, why=why)
x = checked()
host = next(k for k in record().splitlines() if k.startswith("host ")).split(" ")[1]
rewrite(host.encode(), b"2" * 64)
answers("another build of the host", x, False, why="another build")
x = checked()
rewrite(b"evidence verified", b"evidence not verified")
answers("evidence as the record has it", x, False, why="not verified")

# ---- a profile that is revoked: strict floats
h.write("f.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3.0 + 7.0; }
""")
h.write("f.pipe.cfg", (PIPE % "").replace("u32", "f32").replace('"integer"', '"strict"').replace("add.wgsl", "f.wgsl").encode())
x = h.write("floats", struct.pack(f"<{N}f", *[i * 0.37 for i in range(N)]))
run(x, "--backend", DEVICE, "--verify", "all", pipe="f.pipe.cfg")
answers("a strict run answers", x, True, pipe="f.pipe.cfg")
profile = next(k for k in record().splitlines() if k.startswith("device vulkan")).split("\t")[4]
h.check("its profile is named", profile.startswith("bafkrei"), record())
h.write(f"home/profiles/{profile}.revoked", b"a test\n")
answers("a revoked profile voids its results", x, False, "--policy", policy('backends : { order = ( "cpu" ); };'), why="revoked",
        pipe="f.pipe.cfg")

# ---- provenance: the weakest along it
x = question()
first = run(x, "--policy", DEFAULT, "--out", f"y={h.path('mid')}")
cid = first["outputs"][0]["cid"]
for name, source in (("a CID", cid), ("its bytes in a file", h.path("mid"))):
    r = run(source, "--backend", "cpu", pipe="op.pipe.cfg")
    h.check(f"{name}: the reference on unverified bytes is not verified", r["evidence"] == "not verified", str(r))
    answers(f"{name}: and does not answer", source, False, "--policy", policy('backends : { order = ( "cpu" ); };'), why="not verified",
            pipe="op.pipe.cfg")
run(x, "--backend", DEVICE, "--verify", "all")
r = run(cid, "--backend", "cpu", pipe="op.pipe.cfg")
h.check("once they are verified, so is what follows", r["evidence"] == "verified", str(r))
answers("and answers", cid, True, pipe="op.pipe.cfg")

# Where the host remembers nothing, it still notes what nobody checked, and heeds such notes: other processes share the home.
OFF = ["--config", h.write("off.cfg", b'memo = "off";')]
x = question()
first = run(x, *OFF, "--backend", DEVICE)
for name, more in (("by another process", []), ("by one alike", OFF)):
    r = run(first["outputs"][0]["cid"], *more, "--backend", "cpu", "--no-memo", pipe="op.pipe.cfg")
    h.check(f"memo off: unverified bytes stay so, {name}", r["evidence"] == "not verified", str(r))
h.planted("unverified bytes, stored where the memo is off", DEVICE, "evidence: not verified", r["evidence"])

# ---- the receipt says it
x = question()
for more, want in ((["--backend", DEVICE], "not verified"), (["--backend", DEVICE, "--verify", "all"], "verified")):
    run(x, *more, "--receipt", h.path("receipt"))
    status, out, err = h.run("--json", "receipt", "show", h.path("receipt"))
    shown = json.loads(out) if status == 0 else {}
    h.check(f"the receipt says {want}", shown.get("evidence") == want and shown["jobs"][0]["evidence"] == want, f"{out} {err}")
    status, out, err = h.run("receipt", "show", h.path("receipt"))
    h.check(f"as text: {want}", f"\n{want}\n" in out.decode() and f", {want}\n" in out.decode(), out.decode())
h.finish()
