"""What is planted from the command line: each function here plants a few faults of the mock, alone in a home of its own, and
demands the gate that must catch them, with op, input and bits named. planted.py runs them and makes the table.
With WRAP=SELECTOR the mock wraps that device instead of the reference. A fault that device's arithmetic makes harmless
gives right bytes there; that, and the reason in the device's own profile, is then what is checked."""
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

from harness import Harness



class Sharing(Harness):
    """What drivers compile is kept by the text of a kernel, and a fault of the mock is in that text: so a mock device has the kernels that its
    wrapped device's driver has made for all tests of this run (harness.py). Its folder has a name of its script's own, which is learnt from a probe
    in another home, ended as soon as that folder is there."""

    def __init__(self):
        super().__init__()
        self.learnt = set()

    def folder_of(self, selector):
        home = tempfile.mkdtemp(dir=self.dir)
        probe = subprocess.Popen([self.pipectl, "device", "probe", "--floats", "--device", selector], env=dict(self.env, PIPECTL_HOME=home),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = []
        while not found and probe.poll() is None:
            time.sleep(0.02)
            found = glob.glob(os.path.join(home, "cache/drivers/mock-*-script-*[0-9a-f]"))
        probe.kill()
        probe.wait()
        return os.path.basename(found[0]) if found else None

    def run(self, *args, **more):
        if os.environ.get("PIPECTL_TEST_KERNELS") == "own":
            return super().run(*args, **more)
        for selector in set(re.findall(r"mock:wrap=(?!cpu)[^,\s]+", " ".join(map(str, args)))) - self.learnt:
            self.learnt.add(selector)
            name = self.folder_of(selector)
            if name is None:
                continue
            driver = re.match(r"mock-(.*)-script-", name)[1]
            own = os.path.join(self.path("home/cache/drivers"), name)
            made = os.path.join(os.environ.get("PIPECTL_TEST_HOME", ""), "cache/drivers", re.search("wrap=(.*?):", selector)[1] + "-" + driver)
            if os.path.isdir(made) and not os.path.lexists(own):
                os.symlink(os.path.realpath(made), own)
                os.symlink(os.path.realpath(made) + ".lock", own + ".lock")
        return super().run(*args, **more)


h = Sharing()
PIPELINES = os.environ["PIPELINES"]
WRAP = os.environ.get("WRAP", "cpu")
MOCK = f"mock:wrap={WRAP}"
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration/limits")
sys.path.insert(0, LIMITS)
import programs  # noqa: E402  (the programs of the tests of limits)

rows = {}
PLANTS = {}
KINDS = {}  # of each function that plants, the names of its plants, the one that stands for it first


def plant(f):
    PLANTS[f.__name__] = f
    KINDS[f.__name__] = [f.__name__]
    return f


def plant_each(prefix, cases):
    """One plant for each case: what they share is the function, not a home or a process."""
    def make(f):
        for case in cases:
            PLANTS[f"{prefix}-{case}"] = lambda case=case: f(case)
        KINDS[prefix] = [f"{prefix}-{case}" for case in cases]
        return f
    return make


def row(fault, where, caught_by, named):
    """The first of several sightings is kept; directories of this run are not part of what is named."""
    named = re.sub(r"(?<![\w.])(?:/[\w.+-]+)+/", "", named)
    rows.setdefault((fault, where, caught_by), named)


def caught(fault, where, caught_by, ok, named, detail=""):
    """A plant of this script: in the table when it was caught, and named; otherwise the test fails."""
    if h.check(f"{fault} in {where}: {caught_by}", bool(ok) and bool(named), f"not caught: {named} {detail}"):
        row(fault, where, caught_by, named)


def match(pattern, text):
    """The whole match without the names of devices, or None."""
    found = re.search(pattern, text)
    return found.group(0) if found else None


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
# The build of a kernel counts, too, and a driver's compiler may take seconds.
LIMIT = h.write("limit.cfg", b'policy : { limits : { time = "%ds"; }; };' % (2 if WRAP == "cpu" else 20))
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3u + 7u; }
""")
JOB = '{ id = "%s"; shader = "add.wgsl"; dispatch = ( 1 ); in : { x = "%s"; }; out : { y = "u32[64]"; }; }'
CHAIN = [h.write("chain.pipe.cfg", ('pipeline : { name = "chain"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };'
                                    ' jobs = ( %s, %s ); outputs : { y = "two.y"; }; };'
                                    % (JOB % ("one", "$x"), JOB % ("two", "one.y"))).encode()), "--in", f"x={FLOATS}"]
LANES = h.write("lanes", struct.pack("<64I", *range(64)))


def strict_shader(device):
    return h.run("shader", "run", h.path("sums.wgsl"), "--dispatch", "1", "--bind", f"0:0={FLOATS}", "--bind",
                 f"0:1={h.write('zero', bytes(256))}", "--read", f"0:1={h.path('sums')}", "--class", "strict", "--backend",
                 device)


def right_sums():
    status, _, err = strict_shader("cpu")
    h.check("the reference runs the shader", status == 0, err)
    right = h.read("sums")
    os.unlink(h.path("sums"))
    return right


# ---- harmless: why
def profile_of(device):
    """The verdicts of a device's profile and the witness of each that is not exact."""
    status, out, err = h.run("device", "probe", "--device", device, "--floats", "--json")
    if not h.check(f"{device} is probed", status == 0, err):
        return {}, {}
    profile = json.loads(out)["profiles"][0]
    with open(profile["file"], encoding="utf-8") as f:
        return profile["native"], dict(re.findall(r'(\w+) = "\w+"; // (.+: x=0x[0-9a-f]+.* gave 0x[0-9a-f]+, not 0x[0-9a-f]+)',
                                                  f.read()))


def profile_facts(device):
    status, out, _ = h.run("device", "probe", "--device", device, "--floats", "--json")
    return json.loads(out)["profiles"][0]["facts"] if status == 0 else {}


def f32(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def rounded(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def is_product_and_sum(witness):
    """An fma that is none: its answer is the product, rounded, and then the sum, rounded."""
    words = [int(w, 16) for w in re.findall(r"0x[0-9a-f]+", witness)]
    return len(words) == 5 and rounded(rounded(f32(words[0]) * f32(words[1])) + f32(words[2])) == f32(words[3])


def why_harmless(fault):
    """What in the profile of the device itself makes a wrong lowering of the shader's sums and products a right one."""
    native, witness = profile_of(WRAP)
    for op in ("F32_ADD", "F32_MUL"):
        if native.get(op) != "exact":
            return f"{op} is {native.get(op)} and made of integers: {witness.get(op)}" if op in witness else None
    fma = witness.get("F32_FMA", "")
    if "contract" in fault and native.get("F32_FMA") == "wrong" and is_product_and_sum(fma):
        return f"F32_FMA is a product and a sum: {fma}"
    return None


def harmless(fault, text, where, status, name, right):
    """On a wrapped device: the bytes are right, and the device's profile says why; a row says so. On the reference every
    plant must bite."""
    if WRAP == "cpu" or status != 0 or h.read(name) != right:
        return False
    why = why_harmless(fault)
    caught(f"mock {fault}: {text}", where, "harmless: the bytes are right", why is not None, why, "no reason is known")
    return True


# ---- lowered wrongly: the probe
LOWERED = {"contract": ("a product and a sum become one operation", "F32_ADD", "wrong"),
           "flush": ("subnormals become zero", "F32_ADD", "normal"),
           "coefficient": ("a constant's lowest bit", "F32_ADD", "wrong"),
           "tree": ("another order of sums", "F32_ADD", "wrong")}


@plant_each("probe", LOWERED)
def probe(fault):
    text, op, verdict = LOWERED[fault]
    native, witness = profile_of(f"{MOCK}+{fault}")
    own = {} if WRAP == "cpu" else profile_of(WRAP)[0]
    if own and own.get(op) == native.get(op):
        # Of this device another operation shows it, or none does: then every operation is what it is without the fault.
        op = next((name for name in native if native[name] != own.get(name) and name in witness), None)
        verdict = native.get(op)
    if op is None:
        caught(f"mock {fault}: {text}", "probe", "harmless: every verdict is the device's own", native == own,
               f"{len(own)} operations")
    else:
        caught(f"mock {fault}: {text}", op, f"probe: {verdict}", native.get(op) == verdict and verdict != own.get(op),
               witness.get(op))
    # Known to be wrong, an operation is not used: the result is right nevertheless. Where that is not what made it wrong, the first
    # build shows it: a kernel keeps its constants, whatever its operations are made of.
    right = right_sums()
    status, _, err = strict_shader(f"{MOCK}+{fault}")
    if WRAP != "cpu" and status == 6:
        caught(f"mock {fault}: {text}", "sums.wgsl", "first build: PC5216", "PC5216" in err,
               match(r'kernel \S*sums.wgsl gave 0x[0-9a-f]+ at byte \d+ of "r", the reference 0x[0-9a-f]+', err), err)
        h.check(f"{fault}: nothing is given out", not os.path.exists(h.path("sums")))
        return
    h.check(f"{fault}: strict floats do without it", status == 0, err)
    h.check_bytes(f"{fault}: and are right", h.read("sums"), right, 4)


# ---- past the probe: the check of a kernel's first build
PAST = {**{f"late-{f}": t[0] for f, t in LOWERED.items()}, "late-nan": "a NaN's payload leaks", "nan": "a NaN's payload leaks"}


@plant_each("first-build", PAST)
def first_build(fault):
    text = PAST[fault]
    right = right_sums()
    status, _, err = strict_shader(f"{MOCK}+{fault}")
    said = match(r'kernel \S*sums.wgsl gave 0x[0-9a-f]+ at byte \d+ of "r", the reference 0x[0-9a-f]+', err)
    if not harmless(fault, text, "sums.wgsl", status, "sums", right):
        caught(f"mock {fault}: {text}", "sums.wgsl", "first build: PC5216", status == 6 and "PC5216" in err, said,
               f"{status}: {err}")
        h.check(f"{fault}: nothing is given out", not os.path.exists(h.path("sums")))
        status, _, err = strict_shader(f"{MOCK}+{fault}")
        caught(f"mock {fault}: {text}", "sums.wgsl, again", "profile revoked: PC4332", status == 5 and "PC4332" in err,
               match(r"kernel \S*sums.wgsl gave [^\n]+", err), f"{status}: {err}")
        # A revoked profile is lifted by a fresh probe, which finds nothing, as before. A probe of a device that compiles takes
        # its time: there it is lifted where that is needed.
        if WRAP == "cpu" or fault in ("late-tree", "nan"):
            status, _, err = h.run("device", "probe", "--device", f"{MOCK}+{fault}", "--fresh", "--floats")
            h.check(f"{fault}: a fresh probe", status == 0, err)
    if fault == "late-tree":
        late_tree()
    if fault == "nan":
        proof_fails("nan", "mock nan: a NaN's payload leaks", "ieee.add@1", "L1f", 1000, ("parity",))


if WRAP == "cpu":  # the limit is the host's, and nothing of a device is in it
    @plant
    def first_build_time():
        status, _, err = strict_shader(f"{MOCK}+late-waits=1000000")
        caught("mock waits: a fence never passes", "sums.wgsl", "first build: PC5217", status == 9 and "PC5217" in err,
               match(r"kernel \S*sums.wgsl", err), f"{status}: {err}")


def late_tree():
    """A sum in a loop is long enough in the check of the first build for its order to show."""
    status, _, err = h.run("run", *TREE, "--backend", "cpu", "--no-memo", "--out", f"y={h.path('sum')}")
    h.check("the reference runs the sum", status == 0, err)
    right = h.read("sum")
    status, _, err = h.run("run", *TREE, "--backend", f"{MOCK}+late-tree", "--no-memo", "--out", f"y={h.path('sum')}")
    if not harmless("late-tree", LOWERED["tree"][0], "ieee.reduce_tree@1", status, "sum", right):
        caught("mock late-tree: another order of sums", "ieee.reduce_tree@1", "first build: PC5216", status == 6 and
               "PC5216" in err, match(r'kernel ieee/reduce_tree.wgsl gave 0x[0-9a-f]+ at byte \d+ of "y", the reference 0x[0-9a-f]+',
                                      err), f"{status}: {err}")


# ---- past the first build too: what recomputes finds it
# A device that flushes subnormals, and one that besides says of every buffer that it fulfils its range contract.
@plant
def range_contracts():
    flushes = f"{MOCK}+flush"
    shader = h.write("ranges.wgsl", b"""@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  r[id.x] = a[id.x] * a[id.x ^ 1u] + a[id.x ^ 2u];
}
""")
    inside = [0.0 if i % 4 < 2 else 2.0 ** (i % 40) for i in range(64)]
    data = {"inside": struct.pack("<64f", *inside), "outside": struct.pack("<64f", *inside[:62], 1e-40, 1e-40)}

    def run(device, name, *more):
        return h.run("-v", "shader", "run", shader, "--dispatch", "1", "--bind", f"0:0={h.write(name, data[name])}", "--bind",
                     "0:1=zero:256", "--read", f"0:1={h.path(name + '.out')}", "--no-memo", "--backend", device, *more)
    rights = {}
    for name, fast in (("inside", 1), ("outside", 0)):
        run("cpu", name)
        right = rights[name] = h.read(name + ".out")
        status, _, err = run(flushes, name)
        h.check(f"{name} is right, and {fast} kernels ran without guards", status == 0 and h.read(name + ".out") == right
                and f"range contracts: {fast} of 1" in err, err)
    status, _, err = run(f"{flushes}+late-unset", "outside", "--verify", "all")
    caught("mock unset: the check of range contracts always says yes", "ranges.wgsl", "verification: PC5208", status == 6
           and "PC5208" in err, match(r"element \d+: right is 0x[0-9a-f]+", err), f"{status}: {err}")
    status, _, err = run(f"{MOCK}+late-contract+flush", "inside")  # faults strike in this order: a flush stands between
    fused = "a product and a sum fuse where there are no guards"
    if not harmless("late-contract", fused, "ranges.wgsl", status, "inside.out", rights["inside"]):
        caught(f"mock late-contract: {fused}", "ranges.wgsl", "first build: PC5216",
               status == 6 and "PC5216" in err, match(r"gave 0x[0-9a-f]+ at byte \d+", err), f"{status}: {err}")


@plant
def verify_all():
    status, _, err = h.run("run", *TREE, "--backend", f"{MOCK}+flip-bit@sum:bit=3", "--no-memo", "--verify", "all")
    caught("mock flip-bit: one bit of a job's output", "ieee.reduce_tree@1", "run --verify all: PC5208", status == 6 and
           "PC5208" in err, match(r'job "sum" output "y" element 0: right is 0x[0-9a-f]+ [^\n]+ gives 0x[0-9a-f]+', err),
           f"{status}: {err}")


@plant
def deceived_host():
    """What verification compares is the host's own, or was read once."""
    for fault, text, code in (("write-drop", "uploads are lost", "PC5223"), ("read-untouched", "a read writes nothing", "PC5223"),
                              ("read-twice", "a second read differs", "PC5223"), ("no-dispatch", "submits do nothing", "PC5208"),
                              ("write-input", "a read-only binding is written", "PC5223")):
        for _ in range(16):  # where a job lies between zones, they show some of these first (PC5224)
            status, _, err = h.run("run", *CHAIN, "--backend", f"{MOCK}+{fault}", "--no-memo", "--verify", "all")
            if code in err:
                break
        caught(f"mock {fault}: {text}", "chain.pipe.cfg", f"run --verify all: {code}", status == 6 and code in err,
               match(r'job "\w+"[^\n]+ 0x[0-9a-f]+[^\n]+', err), f"{status}: {err}")


@plant
def quorum():
    """A device that k others outvote in a run of its own."""
    # Of the driver that the mock wraps it would be no voice of its own.
    other = "opencl:portable" if WRAP == "vulkan:llvmpipe" else "vulkan:llvmpipe"
    status, _, err = h.run("run", *CHAIN, "--backend", "cpu", "--backend", other, "--backend",
                           f"{MOCK}+flip-bit@two:element=7:bit=3", "--policy",
                           h.write("quorum.cfg", b'policy : { quorum = "2 of 3"; };'))
    caught("mock flip-bit: one bit of a job's output", "chain.pipe.cfg", "run under a quorum: PC5236", status == 0 and
           "PC5236" in err, match(r'job "two" [^\n]+ element 7 is 0x[0-9a-f]+, not 0x[0-9a-f]+', err), f"{status}: {err}")


# ---- proofs
SHAPES = "0123456789abcdef"  # of the proofs here, so that the same unit is the first to fail


def failures(fault, ops, level, cases, wrap=MOCK):
    """Units that failed in a proof of the device: (kind, subject, name, counterexample)."""
    out = h.path("proof")
    status, _, err = h.run("certify", "--backend", f"{wrap}+{fault}", "--level", level, "--ops", ops, "--cases",
                           str(cases), "--shapes", SHAPES, "--out", out)
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


PROOFS = {
    # Of exp with f64 the 12th constant rounds to a whole number; the lowest bit of most others is below what f32 can show.
    "coefficient=12": ("a constant's lowest bit", "ieee.exp@1", "L1f", 1000, ("parity",), "mock:wrap=vulkan:llvmpipe"),
    "lane=1000000": ("one lane of 10^6", "int.neg@1", "L2", 1000000, ("parity", "law")),
    "zero": ("outputs are zero", "int.not@1", "L1", 1000, ("parity",)),
    # Lists serve again where there are several blocks of one size.
    "stale": ("a list answers what it answered first", "int.not@1", "L2", 1000000, ("parity", "law", "determinism")),
    "racy": ("every second submit is wrong", "int.not@1", "L2", 1000, ("parity", "law", "determinism"))}


if WRAP not in ("cpu", "vulkan:llvmpipe"):
    del PROOFS["coefficient=12"]  # is planted on lavapipe, whatever is wrapped


@plant_each("proof", PROOFS)
def proofs(fault):
    text, *how = PROOFS[fault]
    proof_fails(fault, f"mock {fault}: {text}", *how)


ENGINE = {
    # What NVIDIA's OpenCL compiler did in its way: both the unit made of it and the generator of programs find it.
    "element": ("a store at a proven index of an array is lost", ("whole-values", "generated-programs")),
    # What lavapipe did to a -32 that it came to know.
    "shift": ("64 bits are shifted by five bits of what a variable holds", ("known-shifts",))}


@plant_each("engine", ENGINE)
def engine(fault):
    text, units = ENGINE[fault]
    if fault == "shift" and WRAP != "cpu" and profile_facts(WRAP).get("INT64") == "absent":
        # No 64 bits are ever shifted there: they are pairs of words, and every unit is right.
        status, out, err = h.run("certify", "--backend", f"{MOCK}+{fault}", "--level", "L3", "--ops", "int.not@1", "--cases", "1000",
                                 "--shapes", SHAPES, "--out", h.path("proof"))
        said = match(r"programs +\d+ of \d+ generated programs run, 0 failed", (out + b"\n").decode() + err)
        caught(f"mock {fault}: {text}", "engine", "harmless: the device has no integers of 64 bits", "PC5520" in err, said, err)
        return
    status, found = failures(fault, "int.not@1", "L3", 1000)
    for name in units:
        first = next((u[3] for u in found if u[2] == name and u[3]), {"inputs": "", "got": "", "want": "", "law": ""})
        caught(f"mock {fault}: {text}", "engine", f"engine: {name}", status == 6 and first["got"] != first["want"],
               f"{first['law']}, at {first['inputs']}: got {first['got']}, wanted {first['want']}", f"exit status {status}")


BESIDE = {"write-past": "a word behind a written binding", "write-before": "a word before a written binding",
          "write-input": "a read-only binding is written"}


@plant_each("beside", BESIDE)
def beside(fault):
    """The proof fails since bytes changed that no kernel may write, though every result is right: of an op, of a plan of many
    kernels and of the engine."""
    status, found = failures(fault, "int.not@1,rank.step@1", "L3", 1000)
    is_input = fault == "write-input"
    for subject, kind, law in (("int.not@1", "parity", "stay as they are"),
                               ("rank.step@1", "parity", "reads back other bytes" if is_input else "was written"),
                               ("engine", "invariant", "stays" if is_input else "stay")):
        unit = next((u for u in found if u[0] == kind and u[1].startswith(subject) and u[3] and
                     (law in u[3]["law"] or law in u[3]["got"])), None)
        _, where, _, first = unit or (kind, subject, "", {"got": "", "law": ""})
        caught(f"mock {fault}: {BESIDE[fault]}", where, f"certify: {kind}, guard zones", unit and status == 6,
               f"{first['law']}: {first['got']}", f"exit status {status}")


@plant
def beside_runs():
    """What a device writes beside a binding is seen in an ordinary run, too: of its first two jobs one lies between zones."""
    for fault in ("write-past", "write-before"):
        status, _, err = h.run("run", *RANK, "--backend", f"{MOCK}+{fault}", "--no-memo")
        caught(f"mock {fault}: {BESIDE[fault]}", "rank.pipe.cfg", "PC5224 run", status == 6 and "PC5224" in err,
               match(r"byte -?\d+ of buffer \d+ was written", err), err)


SHAPED = {"honest-behind-zones": "right only where bindings are at an offset",
          "honest-when-plain": "right only where bindings are whole buffers"}


@plant_each("shaped", SHAPED)
def shaped(fault):
    """A device that takes one shape of buffers for a proof: runs of both come in every proof, in an order that is drawn."""
    text = f"mock {fault}: {SHAPED[fault]}"
    proof_fails(fault, text, "int.not@1", "L2", 1000, ("parity", "law", "determinism"))
    status, found = failures(fault, "rank.step@1", "L3", 1000)
    for subject, kind in (("rank.step@1", "parity"), ("engine", "invariant")):
        unit = next((u for u in found if u[0] == kind and u[1].startswith(subject) and u[3]), None)
        _, where, _, first = unit or (kind, subject, "", {"got": "", "law": "", "want": "", "inputs": ""})
        caught(text, where, f"certify: {kind}", unit and status == 6 and first["got"] != first["want"],
               f"{first['law']}, at {first['inputs']}: got {first['got']}, wanted {first['want']}", f"exit status {status}")


# ---- audits
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


@plant
def audits():
    outvoted("flip-bit@iterate/3:element=34:bit=8", "mock flip-bit: one bit of one round", RANK)
    outvoted("lane=1000000", "mock lane=1000000: one lane of 10^6", [h.path("many.pipe.cfg")], "many.wgsl")
    outvoted("racy", "mock racy: every second submit is wrong", RANK)
    outvoted("stale", "mock stale: a list answers what it answered first", RANK, to_the_bit=False)


# ---- what a device silently does wrong when a program is too large: the search for its limits finds it
# Conditions alone would be flattened; in loops inside each other they are refused.
@plant_each("limits", ("turns=20000", "nest=60", "array=2048", "table=32768", "long=20000"))
def limits(fault):
    text, make, size = {"turns=20000": ("loops end early", programs.turns, 25000),
                        "nest=60": ("deep conditions are lost", programs.loops, 62),
                        "array=2048": ("the ends of arrays are lost", programs.array, 600),
                        "table=32768": ("the ends of tables are zero", programs.table, 8400),
                        "long=20000": ("long functions go wrong", programs.steps, 3000)}[fault]
    shader = h.write(f"{make.__name__}.wgsl", make(size).encode())
    status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                           "--no-memo", "--backend", f"{MOCK}+{fault}")
    name = f"mock {fault.split('=')[0]}: {text}"
    if fault.startswith("long"):  # one that is shorter as it is lowered would be right, whatever the fault is
        given = h.run("shader", "run", shader, "--emit", "ir", "--backend", f"{MOCK}+{fault}")[1].decode("utf-8", "replace")
        h.check("the fault begins inside the function", status != 0 or given.count("\n") > 20100, f"{given.count(chr(10))} lines")
    if fault.startswith("long") and WRAP != "cpu" and status == 0:
        # A compiler that takes seconds over such a function is not asked how long one may be; what recomputes finds it.
        status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                               "--no-memo", "--backend", f"{MOCK}+{fault}", "--verify", "all")
        caught(name, f"{make.__name__}.wgsl", "verification: PC5208", status == 6 and "PC5208" in err,
               match(r"right is 0x[0-9a-f]+", err), f"{status}: {err}")
        return
    caught(name, f"{make.__name__}.wgsl", "limits: PC5218", status == 5 and "PC5218" in err,
           match(r"needs \d+ \w+", err), f"{status}: {err}")


@plant
def drift():
    """A device that is another one in every process: what a second one found out is nothing to the first."""
    shader = h.write("turns.wgsl", programs.turns(25000).encode())
    status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                           "--no-memo", "--backend", f"{MOCK}+drift")
    caught("mock drift: another device in every process", "turns.wgsl", "search for limits: PC4331", status != 0 and "PC4331" in err,
           match(r"opened once more it is another device: mock", err), f"{status}: {err}")


@plant
def narrow():
    """A kernel written by a user is never cut: what it binds must fit. With an op, the work is cut and the bytes are the same."""
    many = h.write("many", struct.pack("<300000I", *range(300000)))
    shader = h.write("copy.wgsl", b"""@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) { r[g.x] = ~a[g.x]; }
""")
    status, _, err = h.run("shader", "run", shader, "--dispatch", "4688", "--bind", f"0:0={many}", "--bind", "0:1=zero:1200128", "--no-memo",
                           "--read", "0:1=" + h.path("copied"), "--backend", f"{MOCK}+narrow=1048576")
    caught("mock narrow=1048576: bindings of at most 1 MiB", "a kernel that binds 1.2 MB", "limit of a binding: PC5203",
           status != 0 and "PC5203" in err and not os.path.exists(h.path("copied")), match(r"PC5203 \[binding-size\]", err), err)
    status, _, err = h.run("op", "run", "int.not", "--backend", f"{MOCK}+narrow=1048576", "--in", f"x={many}:u32[300000]", "--out",
                           "y=" + h.path("turned"))
    h.check("what is cut", status == 0 and h.read("turned") == struct.pack("<300000I", *(i ^ 0xffffffff for i in range(300000))), err)


@plant
def explode():
    """A compiler that explodes is ended at the limits of a build, and nobody is blamed."""
    h.write("home/pipectl.cfg", b'workers : { build_cpu = "1s"; };\n')
    shader = h.write("long.wgsl", (programs.HEAD + programs.START + "  x = x * 3u + d;\n" * 200 + "  r[i] = x;\n}\n").encode())
    status, _, err = h.run("shader", "run", shader, "--dispatch", "8", "--bind", f"0:0={LANES}", "--bind", "0:1=zero:256",
                           "--no-memo", "--backend", f"{MOCK}+explode=300")
    caught("mock explode: a compiler does not end", "long.wgsl", "workers.build_cpu: PC3110", status == 5 and "PC3110" in err,
           match(r"more than \d+ ms of processor time", err), f"{status}: {err}")


# ---- typed errors
def run_fails(fault, text, want, code, pattern, *more):
    """The run ends with a typed error."""
    status, _, err = h.run("run", *RANK, "--backend", f"{MOCK}+{fault}", "--no-memo", *more)
    caught(text, "rank.pipe.cfg", f"run: {code}", status == want and code in err, match(pattern, err), f"{status}: {err}")


@plant
def typed_errors():
    run_fails("crash@iterate/2", "mock crash: the driver dies", 9, "PC3103", r'worker of plugin "mock": it was killed by SIGABRT')
    run_fails("lost@iterate/2", "mock lost: the device is lost", 9, "PC3282", r'the script "[^"]+" loses the device here')
    run_fails("hang@iterate/2", "mock hang: a submit never ends", 9, "PC5206", r'job "iterate" ran longer than \d+ ms',
              "--policy", LIMIT)
    run_fails("waits=1000000@iterate/1", "mock waits: a fence never passes", 9, "PC5206", r'job "iterate" ran longer than \d+ ms',
              "--policy", LIMIT)
    run_fails("zero", "mock zero: outputs are zero", 9, "PC5205", r'job "prepare" failed: edge 0 [^\n]+')


@plant
def slow():
    """Nothing changes but the time, and that is seen."""
    status, out, err = h.run("audit", *RANK, "--backends", f"cpu,{MOCK},{MOCK}+slow=150", "--no-quarantine", "--json")
    timed = {d["selector"]: d for d in json.loads(out)["devices"]} if status == 0 else {}
    fast, taken = (int(timed.get(d, {}).get("wall_ns", 0)) // 1000000 for d in (MOCK, f"{MOCK}+slow=150"))
    caught("mock slow: every submit takes 150 ms longer", "rank.pipe.cfg", "audit: agrees, and its time is shown",
           status == 0 and taken >= 600, "the same bytes, four and more times 150 ms", f"{fast} and {taken} ms {err}")
