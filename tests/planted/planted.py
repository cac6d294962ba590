"""The table of planted faults: command-line plants made with the mock are run here, and each must be caught by the gate
expected, with op, input and bits named; rows of the C tests that plant faults are taken from where ctest had them
written. Fault, place and what caught it must be those of the committed table; what was named may differ in its words.
usage: planted.py ROWS_DIR TABLE COMMITTED [--bless | --plant]   (--bless writes COMMITTED anew; --plant must fail)
With WRAP=SELECTOR the mock wraps that device instead of the reference, and the faults of devices alone are planted: no
rows of C tests, no table."""
import glob
import json
import os
import random
import re
import struct
import sys

from harness import Harness

h = Harness()
ROWS, TABLE, COMMITTED = sys.argv[1:4]
PIPELINES = os.environ["PIPELINES"]
WRAP = os.environ.get("WRAP", "cpu")
MOCK = f"mock:wrap={WRAP}"
rows = {}


def row(fault, where, caught_by, named):
    """The first of several sightings is kept; directories of this run are not part of what is named."""
    named = re.sub(r"(?<![\w.])(?:/[\w.+-]+)+/", "", named)
    rows.setdefault((fault, where, caught_by), named)


def caught(fault, where, caught_by, ok, named, detail=""):
    """A plant of this script: in the table when it was caught, and named; otherwise the test fails."""
    if h.check(f"{fault} in {where}: {caught_by}", bool(ok) and bool(named), f"not caught: {named} {detail}"):
        row(fault, where, caught_by, named)


def harmless(status, name, right):
    """On a wrapped device a wrong lowering may change nothing: SwiftShader's strict floats are integers, lavapipe's fma is a
    product and a sum. Then the bytes are right, and that is what is checked; on the reference every plant must bite."""
    return WRAP != "cpu" and status == 0 and h.read(name) == right


def match(pattern, text):
    """The whole match without the names of devices, or None."""
    found = re.search(pattern, text)
    return found.group(0) if found else None


def text_of(table):
    lines = ["# Planted faults and what caught them", "",
             f"{len(table)} rows, written by `tests/planted/planted.py`; README.md says how. Do not edit.", "",
             "| fault | where planted | caught by | what it named |", "|---|---|---|---|"]
    for key in sorted(table):
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in (*key, table[key])) + " |")
    return "\n".join(lines) + "\n"


def keys_of(text):
    return {tuple(re.split(r"(?<!\\) \| ", line[2:-2])[:3]) for line in text.splitlines()[6:] if line.startswith("| ")}


def compare(committed, made):
    for key in sorted(committed - made):
        h.check("a committed row was found again", False, " | ".join(key))
    for key in sorted(made - committed):
        h.check("a row is committed (tests/planted/README.md says how)", False, " | ".join(key))


# ---- what the plants run on
random.seed(1)
SHADER = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let i = id.x;
  r[i] = (a[i] + a[i ^ 1u]) + a[i ^ 3u] * 1.7;
}
"""
h.write("sums.wgsl", SHADER.encode())
FLOATS = h.write("a", struct.pack("<64f", *[random.uniform(-3, 3) for _ in range(64)]))
EDGES = h.write("edges", b"".join((i * 7919 % 97).to_bytes(4, "little") for i in range(400)))
RANK = [os.path.join(PIPELINES, "rank.pipe.cfg"), "--in", f"edges={EDGES}", "--set", "iterations=5"]
h.write("sum.pipe.cfg", b"""pipeline : { name = "sum"; class = "strict"; inputs : { x : { type = "f32[n]"; }; };
  jobs = ( { id = "sum"; op = "ieee.reduce_tree@1"; in : { x = "$x"; }; attr : { op = "add"; }; } );
  outputs : { y = "sum.y"; }; };
""")
TERMS = h.write("terms", struct.pack("<1000f", *[random.uniform(-3, 3) for _ in range(1000)]))
TREE = [h.path("sum.pipe.cfg"), "--in", f"x={TERMS}"]
h.write("many.wgsl", b"""@group(0) @binding(0) var<storage, read_write> r : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = id.x * 2654435769u; }
""")
h.write("many.pipe.cfg", b"""pipeline : { name = "many"; class = "integer";
  jobs = ( { id = "make"; shader = "many.wgsl"; dispatch = ( 16384 ); out : { r = "u32[1048576]"; }; } );
  outputs : { r = "make.r"; }; };
""")
LIMIT = h.write("limit.cfg", b'policy : { limits : { time = "2s"; }; };')


def strict_shader(device):
    return h.run("shader", "run", h.path("sums.wgsl"), "--dispatch", "1", "--bind", f"0:0={FLOATS}", "--bind",
                 f"0:1={h.write('zero', bytes(256))}", "--read", f"0:1={h.path('sums')}", "--class", "strict", "--backend",
                 device)


def failures(fault, ops, level, cases, wrap=MOCK):
    """Units that failed in a proof of the device: (kind, subject, name, counterexample)."""
    out = h.path("proof")
    status, _, err = h.run("certify", "--backend", f"{wrap}+{fault}", "--level", level, "--ops", ops, "--cases",
                           str(cases), "--out", out)
    shown, text, _ = h.run("certs", "show", os.path.join(out, "certificate.cfg"), "--json")
    for name in glob.glob(os.path.join(out, "*")):
        os.unlink(name)
    kept = h.path("home/regressions.tsv")
    if os.path.exists(kept):
        os.unlink(kept)
    if not h.check(f"{fault}: a proof of {ops}", shown == 0, err):
        return status, []
    certificate = json.loads(text)["certificates"][0]
    h.check(f"{fault}: {level} of {ops} is not granted", certificate["granted"] != level, certificate["granted"])
    return status, [(u["kind"], u["subject"], u["name"], u["failed"]) for u in certificate["proved"] if u["failures"] != "0"]


def proof_fails(fault, text, ops, level, cases, kinds, wrap=MOCK):
    """The proof fails (exit status 6), and among its failed units is one of each kind that names input and bits."""
    status, found = failures(fault, ops, level, cases, wrap)
    for kind in kinds:
        unit = next((u for u in found if u[0] == kind and u[3] and u[3]["got"] != u[3]["want"]), None)
        _, subject, name, first = unit or (kind, ops, "", {"inputs": "", "got": "", "want": "", "law": ""})
        said = f"{first['law']}, at {first['inputs']}: got {first['got']}, wanted {first['want']}"
        caught(text, subject, f"certify: {kind}, {name}" if name else f"certify: {kind}", unit and status == 6 and
               first["inputs"].startswith("0x") and first["got"].startswith("0x"), said, f"exit status {status}")


def proof_beside(fault, text, ops, level, kind, law):
    """The proof fails since bytes changed that no kernel may write, though every result is right."""
    status, found = failures(fault, ops, level, 1000)
    unit = next((u for u in found if u[0] == kind and u[3] and (law in u[3]["law"] or law in u[3]["got"])), None)
    _, subject, _, first = unit or (kind, ops, "", {"got": "", "law": "", "want": ""})
    caught(text, subject, f"certify: {kind}, guard zones", unit and status == 6, f"{first['law']}: {first['got']}",
           f"exit status {status}")


def outvoted(fault, text, pipeline, kernel=None, to_the_bit=True, word="differs"):
    """The audit blames the device (word: for what); origin: and finds where the first difference began."""
    status, out, err = h.run("audit", *pipeline, "--backends", f"cpu,{MOCK},{MOCK}+{fault}", "--no-quarantine", "--json")
    document = json.loads(out) if out else {"devices": [{}, {}, {}], "divergences": []}
    device = document["devices"][2]
    where = (document["divergences"] or [{}])[0].get("origin")
    said = device.get("cause") or ""
    if where:
        said += f"; begins in round {where['round']}, step {where['step']}, {where['kernel']}, {where['buffer']}, element " \
                f"{where['element']}: got {where['got']}, wanted {where['want']}"
    h.check(f"{fault}: found where it begins", bool(where) or not to_the_bit, err)
    h.check(f"{fault}: in {kernel}", kernel is None or (where and where["kernel"] == kernel), str(where))
    caught(text, os.path.basename(pipeline[0]), "audit: outvoted" if word == "differs" else f"audit: {word}", status == 6 and
           device.get("outcome") == word and "is 0x" in said, said, err)


def run_fails(fault, text, want, code, pattern, *more):
    """The run ends with a typed error."""
    status, _, err = h.run("run", *RANK, "--backend", f"{MOCK}+{fault}", "--no-memo", *more)
    caught(text, "rank.pipe.cfg", f"run: {code}", status == want and code in err, match(pattern, err), f"{status}: {err}")


# ---- --plant: faults that never strike, and a table with a row too many and one too few, must be found out
if "--plant" in sys.argv:
    outvoted("flip-bit@nobody", "a fault of no job", RANK)
    run_fails("crash@nobody", "a crash of no job", 9, "PC3103", "SIGABRT")
    compare({("kept", "", ""), ("lost", "", "")}, {("kept", "", ""), ("new", "", "")})
    h.finish()

# ---- lowered wrongly: the probe
status, _, err = strict_shader("cpu")
h.check("the reference runs the shader", status == 0, err)
RIGHT = h.read("sums")
LOWERED = {"contract": ("a product and a sum become one operation", "F32_ADD", "wrong"),
           "flush": ("subnormals become zero", "F32_ADD", "normal"),
           "coefficient": ("a constant's lowest bit", "F32_ADD", "wrong"),
           "tree": ("another order of sums", "F32_ADD", "wrong")}
WITNESS = r'%s = "%s"; // (.+: x=0x[0-9a-f]+.* gave 0x[0-9a-f]+, not 0x[0-9a-f]+)'
for fault, (text, op, verdict) in LOWERED.items():
    status, out, err = h.run("device", "probe", "--device", f"{MOCK}+{fault}", "--json")
    profile = json.loads(out)["profiles"][0] if status == 0 else {"file": os.devnull, "native": {}}
    with open(profile["file"], encoding="utf-8") as f:
        witness = re.search(WITNESS % (op, verdict), f.read())
    if WRAP == "cpu" or profile["native"].get(op) == verdict:
        caught(f"mock {fault}: {text}", op, f"probe: {verdict}", profile["native"].get(op) == verdict,
               witness and witness.group(1), err)
    # Known to be wrong, an operation is not used: the result is right nevertheless.
    status, _, err = strict_shader(f"{MOCK}+{fault}")
    h.check(f"{fault}: strict floats do without it", status == 0, err)
    h.check_bytes(f"{fault}: and are right", h.read("sums"), RIGHT, 4)

# ---- past the probe: the check of a kernel's first build
for fault, text in list((f"late-{f}", t[0]) for f, t in LOWERED.items()) + [("late-nan", "a NaN's payload leaks"),
                                                                            ("nan", "a NaN's payload leaks")]:
    if os.path.exists(h.path("sums")):
        os.unlink(h.path("sums"))
    status, _, err = strict_shader(f"{MOCK}+{fault}")
    said = match(r'kernel \S*sums.wgsl gave 0x[0-9a-f]+ at byte \d+ of "r", the reference 0x[0-9a-f]+', err)
    if harmless(status, "sums", RIGHT):
        continue
    caught(f"mock {fault}: {text}", "sums.wgsl", "first build: PC5216", status == 6 and "PC5216" in err, said, f"{status}: {err}")
    h.check(f"{fault}: nothing is given out", not os.path.exists(h.path("sums")))
    status, _, err = strict_shader(f"{MOCK}+{fault}")
    caught(f"mock {fault}: {text}", "sums.wgsl, again", "profile revoked: PC4332", status == 5 and "PC4332" in err,
           match(r"kernel \S*sums.wgsl gave [^\n]+", err), f"{status}: {err}")

    # A revoked profile is lifted by a fresh probe, which finds nothing, as before.
    status, _, err = h.run("device", "probe", "--device", f"{MOCK}+{fault}", "--fresh")
    h.check(f"{fault}: a fresh probe", status == 0, err)

# ---- past the probe: a sum in a loop is long enough in the check of the first build for its order to show
status, _, err = h.run("run", *TREE, "--backend", "cpu", "--no-memo", "--out", f"y={h.path('sum')}")
h.check("the reference runs the sum", status == 0, err)
SUM = h.read("sum")
status, _, err = h.run("run", *TREE, "--backend", f"{MOCK}+late-tree", "--no-memo", "--out", f"y={h.path('sum')}")
if not harmless(status, "sum", SUM):
    caught("mock late-tree: another order of sums", "ieee.reduce_tree@1", "first build: PC5216", status == 6 and "PC5216" in err,
           match(r'kernel ieee/reduce_tree.wgsl gave 0x[0-9a-f]+ at byte \d+ of "y", the reference 0x[0-9a-f]+', err), f"{status}: {err}")
# ---- past the first build too: what recomputes finds it
status, _, err = h.run("run", *TREE, "--backend", f"{MOCK}+flip-bit@sum:bit=3", "--no-memo", "--verify", "all")
caught("mock flip-bit: one bit of a job's output", "ieee.reduce_tree@1", "run --verify all: PC5208", status == 6 and "PC5208" in err,
       match(r'job "sum" output "y" element 0: right is 0x[0-9a-f]+ [^\n]+ gives 0x[0-9a-f]+', err), f"{status}: {err}")
# A host that is deceived: what verification compares is the host's own, or was read once.
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3u + 7u; }
""")
JOB = '{ id = "%s"; shader = "add.wgsl"; dispatch = ( 1 ); in : { x = "%s"; }; out : { y = "u32[64]"; }; }'
h.write("chain.pipe.cfg", ('pipeline : { name = "chain"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; jobs = ( %s, %s );'
                           ' outputs : { y = "two.y"; }; };' % (JOB % ("one", "$x"), JOB % ("two", "one.y"))).encode())
for fault, text, code in (("write-drop", "uploads are lost", "PC5223"), ("read-untouched", "a read writes nothing", "PC5223"),
                          ("read-twice", "a second read differs", "PC5223"), ("no-dispatch", "submits do nothing", "PC5208"),
                          ("write-input", "a read-only binding is written", "PC5223")):
    status, _, err = h.run("run", h.path("chain.pipe.cfg"), "--in", f"x={FLOATS}", "--backend", f"{MOCK}+{fault}", "--no-memo",
                           "--verify", "all")
    caught(f"mock {fault}: {text}", "chain.pipe.cfg", f"run --verify all: {code}", status == 6 and code in err,
           match(r'job "\w+"[^\n]+ 0x[0-9a-f]+[^\n]+', err), f"{status}: {err}")

# A device that k others outvote in a run of its own.
status, _, err = h.run("run", h.path("chain.pipe.cfg"), "--in", f"x={FLOATS}", "--backend", "cpu", "--backend", "vulkan:llvmpipe", "--backend",
                       f"{MOCK}+flip-bit@two:element=7:bit=3", "--policy", h.write("quorum.cfg", b'policy : { quorum = "2 of 3"; };'))
caught("mock flip-bit: one bit of a job's output", "chain.pipe.cfg", "run under a quorum: PC5236", status == 0 and "PC5236" in err,
       match(r'job "two" [^\n]+ element 7 is 0x[0-9a-f]+, not 0x[0-9a-f]+', err), f"{status}: {err}")
h.run("plugin", "release", "mock")

# ---- proofs
proof_fails("nan", "mock nan: a NaN's payload leaks", "ieee.add@1", "L1f", 1000, ("parity",))
# Of exp with f64 the 12th constant rounds to a whole number; the lowest bit of most others is below what f32 can show.
proof_fails("coefficient=12", "mock coefficient=12: a constant's lowest bit", "ieee.exp@1", "L1f", 1000, ("parity",),
            "mock:wrap=vulkan:llvmpipe")
proof_fails("lane=1000000", "mock lane=1000000: one lane of 10^6", "int.neg@1", "L2", 1000000, ("parity", "law"))
proof_fails("zero", "mock zero: outputs are zero", "int.not@1", "L1", 1000, ("parity",))
proof_fails("stale", "mock stale: a list answers what it answered first", "int.not@1", "L2", 1000,
            ("parity", "law", "determinism"))
proof_fails("racy", "mock racy: every second submit is wrong", "int.not@1", "L2", 1000, ("parity", "law", "determinism"))

# What NVIDIA's OpenCL compiler did in its way: both the unit made of it and the generator of programs find it.
status, found = failures("element", "int.not@1", "L3", 1000)
for name in ("whole-values", "generated-programs"):
    first = next((u[3] for u in found if u[2] == name and u[3]), {"inputs": "", "got": "", "want": "", "law": ""})
    caught("mock element: a store at a proven index of an array is lost", "engine", f"engine: {name}",
           status == 6 and first["got"] != first["want"],
           f"{first['law']}, at {first['inputs']}: got {first['got']}, wanted {first['want']}", f"exit status {status}")
# What lies beside a result, and what is only read: nothing of it shows in a result.
for fault, text in (("write-past", "a word behind a written binding"), ("write-before", "a word before a written binding"),
                    ("write-input", "a read-only binding is written")):
    proof_beside(fault, f"mock {fault}: {text}", "int.not@1", "L1", "parity", "stay as they are")
    proof_beside(fault, f"mock {fault}: {text}", "rank.step@1", "L3", "parity", "was written" if fault != "write-input" else
                 "does not hold what it was given")
    proof_beside(fault, f"mock {fault}: {text}", "int.not@1", "L3", "invariant", "stay" if fault != "write-input" else "stays")

# ---- audits
outvoted("flip-bit@iterate/3:element=34:bit=8", "mock flip-bit: one bit of one round", RANK)
outvoted("lane=1000000", "mock lane=1000000: one lane of 10^6", [h.path("many.pipe.cfg")], "many.wgsl")
outvoted("racy", "mock racy: every second submit is wrong", RANK)
outvoted("stale", "mock stale: a list answers what it answered first", RANK, to_the_bit=False)

# ---- what a device silently does wrong when a program is too large: the search for its limits finds it
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration/limits")
sys.path.insert(0, LIMITS)
import programs  # noqa: E402  (the programs of the tests of limits)

LANES = h.write("lanes", struct.pack("<64I", *range(64)))
for fault, text, make, size in (("turns=20000", "loops end early", programs.turns, 25000),
                                ("nest=60", "deep conditions are lost", programs.ifs, 62)):
    shader = h.write(f"{make.__name__}.wgsl", make(size).encode())
    status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                           "--no-memo", "--backend", f"{MOCK}+{fault}")
    caught(f"mock {fault.split('=')[0]}: {text}", f"{make.__name__}.wgsl", "limits: PC5218", status == 5 and "PC5218" in err,
           match(r"needs \d+ \w+", err), f"{status}: {err}")

# ---- a compiler that explodes is ended at the limits of a build, and nobody is blamed
h.write("home/pipectl.cfg", b'workers : { build_cpu = "1s"; };\n')
shader = h.write("long.wgsl", (programs.HEAD + programs.START + "  x = x * 3u + d;\n" * 200 + "  r[i] = x;\n}\n").encode())
status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                       "--no-memo", "--backend", f"{MOCK}+explode=300")
os.unlink(h.path("home/pipectl.cfg"))
caught("mock explode: a compiler does not end", "long.wgsl", "workers.build_cpu: PC3110", status == 5 and "PC3110" in err,
       match(r"more than \d+ ms of processor time", err), f"{status}: {err}")

# ---- typed errors
run_fails("crash@iterate/2", "mock crash: the driver dies", 9, "PC3103", r'worker of plugin "mock": it was killed by SIGABRT')
run_fails("lost@iterate/2", "mock lost: the device is lost", 9, "PC3282", r'the script "[^"]+" loses the device here')
run_fails("hang@iterate/2", "mock hang: a submit never ends", 9, "PC5206", r'job "iterate" ran longer than 2000 ms',
          "--policy", LIMIT)
run_fails("waits=1000000@iterate/1", "mock waits: a fence never passes", 9, "PC5206", r'job "iterate" ran longer than 2000 ms',
          "--policy", LIMIT)
run_fails("zero", "mock zero: outputs are zero", 9, "PC5205", r'job "prepare" failed: edge 0 [^\n]+')

# ---- slow: nothing changes but the time, and that is seen
status, out, err = h.run("audit", *RANK, "--backends", f"cpu,{MOCK},{MOCK}+slow=150", "--no-quarantine", "--json")
timed = {d["selector"]: d for d in json.loads(out)["devices"]} if status == 0 else {}
fast, slow = (int(timed.get(d, {}).get("wall_ns", 0)) // 1000000 for d in (MOCK, f"{MOCK}+slow=150"))
caught("mock slow: every submit takes 150 ms longer", "rank.pipe.cfg", "audit: agrees, and its time is shown",
       status == 0 and slow >= 600, "the same bytes, four and more times 150 ms", f"{fast} and {slow} ms {err}")

# ---- every fault of the mock has a row
status, _, err = h.run("run", *RANK, "--backend", f"{MOCK}+nosuch")
kinds = set(re.findall(r"(?:^|, )([a-z-]+)(?=[@\[, ;]|$)", (match(r"flip-bit@JOB.*", err) or "").split("; late-")[0])) - {"or"}
h.check("the mock says what it can", kinds >= {"contract", "flush", "coefficient", "tree", "nan", "lane", "racy", "zero"}, err)
LOSSY = {*LOWERED, "nan"}
for kind in sorted(kinds | {f"late-{f}" for f in LOSSY} if WRAP == "cpu" else kinds - LOSSY):
    h.check(f"mock {kind} was caught", any(re.match(rf"mock {kind}[:=]", r[0]) for r in rows), str(kinds))

if WRAP != "cpu":
    h.check("faults were caught", len(rows) >= 25, str(len(rows)))
    h.finish()

# ---- the rows of the C tests
files = sorted(glob.glob(os.path.join(ROWS, "*.tsv")))
h.check("the C tests wrote their rows", len(files) >= 12, str(files))
for path in files:
    with open(path, encoding="utf-8") as f:
        for line in f:
            cells = line.rstrip("\n").split("\t")
            if h.check(f"a row of {os.path.basename(path)}", len(cells) == 4 and all(cells), line):
                row(*cells)

LAWS = ("commutative", "associative", "identity", "self-inverse", "idempotent", "absorbing", "distributive", "involution",
        "monotone", "bounded", "De Morgan", "complement", "custom")
GATES = ("category", "signature", "zero overhead", "deterministic reference", "observable reference", "rules",
         "independent law", "independent alternate", "independent oracle", "collision", "laws are equations")
by = [r[2] for r in rows]
for law in LAWS:
    h.check(f"law {law}", any(b.startswith(f"law: {law}") for b in by))
for gate in GATES:
    h.check(f"gate {gate}", f"gate: {gate}" in by)
status, out, err = h.run("certify", "--backend", "cpu", "--level", "L3", "--ops", "int.not@1", "--list", "--json")
engine = [u["name"] for u in json.loads(out)["units"] if u["subject"] == "engine"] if status == 0 else []
h.check("the engine's units", len(engine) >= 25 and sum(e.startswith("barrier-") for e in engine) >= 4, str(engine))
for name in engine:
    h.check(f"engine {name}", f"engine: {name}" in by)
h.check("theorems", sum(b.startswith("theorem: ") for b in by) >= 19, "")
h.check("classes and boundaries", sum(r[2] == "parity: examples" for r in rows) >= 2, "")
for word in ("level rule: ", "determinism: ", "regression: ", "tolerance: ", "audit: undecided", "audit: failed", "quarantine"):
    h.check(f"something was caught by {word}", any(b.startswith(word) for b in by))


# ---- the table
made = text_of(rows)
with open(TABLE, "w", encoding="utf-8") as f:
    f.write(made)
if "--bless" in sys.argv:
    with open(COMMITTED, "w", encoding="utf-8") as f:
        f.write(made)
with open(COMMITTED, encoding="utf-8") as f:
    committed = f.read()
compare(keys_of(committed), keys_of(made))
h.check("the table has rows", len(keys_of(made)) == len(rows) > 150, str(len(rows)))
h.finish()
