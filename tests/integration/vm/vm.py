"""Machines of the GPU VM on devices, against an oracle from the definitions (oracle.py).
usage: vm.py programs|ops|asserts|regulator|refusals|roads BACKEND...

programs: those shipped in pipelines/vm. ops: a machine of ops gives what the same ops give in a pipeline, by CID. asserts: what its ops assert holds
or fails the job, of every turn and of no instance that is skipped. regulator: norms of
special and random values, running means, targets, skipping. refusals: one code each. roads: check, plan, verify, audit, receipts, show."""
import json
import os
import random
import struct
import sys

from harness import Harness
import oracle
from oracle import Machine, bits

VM = os.path.join(os.environ["PIPELINES"], "vm")
rng = random.Random(15)
h = Harness()
h.default = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "policy", "default.cfg")


def pack(words):
    return struct.pack(f"<{len(words)}I", *words)


def unpack(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def floats(n, scale=1.0):
    return [bits(rng.gauss(0, scale)) for _ in range(n)]


def run(backend, *args, outs):
    """`run` or `vm run` with outputs as lists of words, NAME or NAME:TYPE each."""
    words = []
    for out in outs:
        name, _, kind = out.partition(":")
        words += ["--out", f"{name}={h.path(name)}" + (f":{kind}" if kind else "")]
    status, _, err = h.run(*args, *words, "--backend", backend, "--no-memo")
    if not h.check(f"{args[0]} {os.path.basename(args[1])} on {backend}", status == 0, err):
        return None
    return {out.partition(":")[0]: unpack(h.read(out.partition(":")[0])) for out in outs}


def same(what, got, want):
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
    h.check(what, len(got) == len(want) and at is None,
            f"{len(got)} words, {len(want)} wanted" if at is None else f"word {at}: {got[at]:08x}, wanted {want[at]:08x}")


# ---- the programs that are shipped

def product(row, x):
    acc = 0
    for a, b in zip(row, x):
        acc = oracle.fma(a, b, acc)
    return acc


def matvec(backends):
    w, x = floats(4096), floats(64)
    want = [product(w[64 * i:64 * i + 64], x) for i in range(64)]
    for b in backends:
        got = run(b, "run", f"{VM}/matvec.pipe.cfg", "--in", "w=" + h.write("w", pack(w)), "--in", "x=" + h.write("x", pack(x)), outs=["y"])
        if got:
            same(f"matvec {b}", got["y"], want)


def chain_oracle(w, x, order=range(3), source=30):
    m = Machine(3, 128, 64, advance=1)
    m.r[0][0][:64] = x

    def layer(m, i):
        came = m.r[i][0 if i == 0 else 31][:64]
        rows = w[4096 * order[i]:4096 * order[i] + 4096]
        for k in range(64):
            acc = product(rows[64 * k:64 * k + 64], came)
            m.r[i][30][k] = oracle.add(oracle.mul(acc, m.control[i][0]), came[k])
    m.turn(layer)
    return m


def chain(backends):
    w, x = floats(3 * 4096, 0.125), floats(64)
    m = chain_oracle(w, x)
    for b in backends:
        got = run(b, "run", f"{VM}/chain.pipe.cfg", "--in", "w=" + h.write("w", pack(w)), "--in", "x=" + h.write("x", pack(x)),
                  outs=["message", "metrics", "globals", "control"])
        if got:
            same(f"chain {b}: message", got["message"], m.r[2][30][:68])
            same(f"chain {b}: metrics", got["metrics"], sum(m.metrics, []))
            same(f"chain {b}: control", got["control"], sum(m.control, []))
            same(f"chain {b}: globals", got["globals"][:16], [1, 0, 0, 0] + sum(m.statistics, []))
            h.check(f"chain {b}: throughput words are 0", got["globals"][16:19] == [0, 0, 0])


def image(backends):
    pixels = [rng.randrange(256) for _ in range(4096)]

    def at(a, x, y):
        return a[min(max(y, 0), 63) * 64 + min(max(x, 0), 63)]
    blur = [sum(at(pixels, i % 64 + dx, i // 64 + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) // 9 for i in range(4096)]
    edge = [abs(at(blur, i % 64 + 1, i // 64) - at(blur, i % 64 - 1, i // 64)) +
            abs(at(blur, i % 64, i // 64 + 1) - at(blur, i % 64, i // 64 - 1)) for i in range(4096)]
    want = [255 if e >= 24 else 0 for e in edge]
    for b in backends:
        got = run(b, "run", f"{VM}/image.pipe.cfg", "--in", "image=" + h.write("image", pack(pixels)), outs=["edges"])
        if got:
            same(f"image {b}", got["edges"], want)


def agent(backends):
    for first in (6, 9, 1):
        n, steps, top = first, 0, first
        for _ in range(24):
            if n > 1:
                n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
            top = max(top, n)
        for b in backends:
            got = run(b, "run", f"{VM}/agent.pipe.cfg", "--in", "state=" + h.write("state", pack([first, 0, 0, 0])),
                      outs=["state", "position"])
            if got:
                same(f"agent from {first} {b}", got["state"], [n, steps, 24, top])
                h.check(f"agent {b}: position", got["position"][0] == 24, str(got["position"]))


def stable_oracle(x, acts=True):
    m = Machine(6, 128, 64, acts=acts, epsilon=bits(0.001), target=bits(8.0))
    m.r[0][0][:64] = x

    def layer(m, i):
        came = m.r[i][0 if i == 0 else 31][:64]
        m.r[i][30][:64] = [oracle.mul(oracle.mul(bits(4.0), a), m.control[i][0]) for a in came]
    m.turn(layer)
    return m


def stable(backends):
    for scale in (1.0, 30.0, 1e-7):
        x = floats(64, scale)
        m = stable_oracle(x)
        for b in backends:
            got = run(b, "run", f"{VM}/stable.pipe.cfg", "--in", "x=" + h.write("x", pack(x)),
                      outs=["message", "metrics", "control", "statistics"])
            if got:
                same(f"stable {scale} {b}: message", got["message"], m.r[5][30][:68])
                same(f"stable {scale} {b}: metrics", got["metrics"], sum(m.metrics, []))
                same(f"stable {scale} {b}: control", got["control"], sum(m.control, []))
                same(f"stable {scale} {b}: statistics", got["statistics"][4:], sum(m.statistics, []))
    plain = stable_oracle(floats(64, 30.0), acts=False)
    h.check("without the regulator they explode", oracle.value(plain.metrics[5][0]) > 10 ** 5 > oracle.value(m.metrics[5][0]))


# ---- ops

def ops(backends):
    norm, w, x = floats(128), floats(2 * 4096, 0.125), floats(64)
    for b in backends:
        got = run(b, "vm", "run", f"{VM}/block.vm.cfg", "--in", "norm=" + h.write("norm", pack(norm)), "--in", "w=" + h.write("w", pack(w)),
                  "--in", "r0=" + h.write("x", pack(x)), outs=["r30:f32[64]", "r30_0:f32[64]"])
        # A policy's word on ops holds within a machine too.
        policy = h.write("certified.cfg", b'policy : { inherits = "' + os.path.abspath(h.default).encode() +
                         b'"; certificate = ( { ops = "tensor.matmul"; level = "L4"; } ); };')
        status, _, err = h.run("vm", "run", f"{VM}/block.vm.cfg", "--in", "norm=" + h.path("norm"), "--in", "w=" + h.path("w"),
                               "--in", "r0=" + h.path("x"), "--out", "r30=" + h.path("r30x"), "--backend", b, "--no-memo", "--policy", policy)
        h.check(f"a certificate of an op in a machine is asked for on {b}", (status == 0) == (b == "cpu") and (status == 0 or "PC4316" in err), f"{status} {err}")
        here = x
        for i in range(2):
            a = ["--in", "x=" + h.write("a", pack(here)) + ":f32[1,64]", "--in", "weight=" + h.write("g", pack(norm[64 * i:64 * i + 64])) + ":f32[64]"]
            status, _, err = h.run("op", "run", "tensor.rms_norm", *a, "--out", "y=" + h.path("n"), "--backend", b, "--no-memo")
            h.check("rms_norm alone", status == 0, err)
            a = ["--in", "a=" + h.path("n") + ":f32[1,64]", "--in", "b=" + h.write("b", pack(w[4096 * i:4096 * i + 4096])) + ":f32[64,64]"]
            status, _, err = h.run("op", "run", "tensor.matmul", *a, "--out", "y=" + h.path("y"), "--backend", b, "--no-memo")
            h.check("matmul alone", status == 0, err)
            here = unpack(h.read("y"))
            if got:
                same(f"a layer of ops is what they are alone: {i} on {b}", got["r30_0" if i == 0 else "r30"], here)


# ---- what ops assert

ROWS = 5
BEHIND = """@group(0) @binding(0) var<storage, read_write> registers: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	registers[30u * 128u + id.x] = registers[128u + id.x];
	if (id.x == 0u) { registers[256u] = registers[256u] + 1u; }
}
"""


def rows_of(turns, skipping):
    """A pipeline of a machine that takes row r2 + t of a table in turn t, in two instances."""
    h.write("behind.wgsl", BEHIND.encode())
    h.write("rows.vm.cfg", (f'vm = {{ name = "rows"; instances = 2; width = 128; n_embd = 64; turns = {turns}; skipping = {str(skipping).lower()};\n'
                            f'heap = {{ table = {{ bytes = {256 * ROWS}; }}; }};\nprogram = (\n'
                            f'{{ op = "tensor.embedding"; in = ( {{ at = "table"; type = "f32[{ROWS},64]"; }}, {{ at = "r2"; type = "u32[1]"; }} );'
                            ' out = ( { at = "r1"; type = "f32[1,64]"; } ); },\n{ kernel = "behind.wgsl"; } ); };').encode())
    return h.write("rows.pipe.cfg", (f'pipeline = {{ name = "rows"; class = "strict"; inputs = {{ table = {{ type = "f32[{ROWS},64]"; }}; first = {{ type = "u32[1]"; }};'
                                     ' second = { type = "u32[1]"; }; control = { type = "u32[8]"; }; };\njobs = ( { id = "rows"; vm = "rows.vm.cfg"; in = { table = "$table";'
                                     ' r2_0 = "$first"; r2_1 = "$second"; control = "$control"; }; out = { r30_0 = "f32[64]"; r30_1 = "f32[64]"; r2_0 = "u32[1]"; }; } );\n'
                                     'outputs = { one = "rows.r30_0"; two = "rows.r30_1"; position = "rows.r2_0"; }; };').encode())


def asserts(backends):
    table = floats(64 * ROWS)
    one = bits(1.0)

    def take(b, turns, first, second, active=(1, 1), skipping=False, more=(), precision=(0, 0)):
        control = [w for a, p in zip(active, precision) for w in (one, 0, p, a)]
        args = [w for k, v in (("table", table), ("first", [first]), ("second", [second]), ("control", control)) for w in ("--in", f"{k}=" + h.write(k, pack(v)))]
        outs = [w for k in ("one", "two", "position") for w in ("--out", f"{k}=" + h.path("rows." + k))]
        for k in ("one", "two", "position"):
            if os.path.exists(h.path("rows." + k)):
                os.unlink(h.path("rows." + k))
        return h.run("run", rows_of(turns, skipping), *args, *outs, "--backend", b, "--no-memo", *more)

    def row(i):
        return table[64 * i:64 * i + 64]

    for b in backends:
        for turns, first, second in ((1, 0, 4), (3, 2, 1)):
            status, _, err = take(b, turns, first, second)
            if h.check(f"all holds on {b}: {turns} turns", status == 0, err):
                same(f"instance 0 on {b}", unpack(h.read("rows.one")), row(first + turns - 1))
                same(f"instance 1 on {b}", unpack(h.read("rows.two")), row(second + turns - 1))
        for what, turns, first, second, instance, number in (("the only turn", 1, ROWS, 0, 0, ROWS), ("the second instance", 1, 0, 9, 1, 9), ("the last turn", 3, 3, 0, 0, 5),
                                                             ("a turn behind which others hold", 2, 0xffffffff, 0, 0, 0xffffffff)):
            for skipping in (False, True):
                status, _, err = take(b, turns, first, second, skipping=skipping)
                h.check(f"{what} fails on {b}, {'with' if skipping else 'without'} gates",
                        status == 9 and "PC5205" in err and f"tensor.embedding of instance {instance}" in err and f"is {number}" in err and not os.path.exists(h.path("rows.one")), f"{status} {err}")
        # Who is skipped asserts nothing, whatever stands in its registers, and who is not does.
        status, _, err = take(b, 2, 77, 1, active=(0, 1), skipping=True)
        if h.check(f"an instance that is skipped fails nothing on {b}", status == 0, err):
            h.check(f"and does nothing on {b}", unpack(h.read("rows.position")) == [77], str(unpack(h.read("rows.position"))))
            same(f"the other works on {b}", unpack(h.read("rows.two")), row(2))
        status, _, err = take(b, 2, 77, 4, active=(0, 1), skipping=True)
        h.check(f"the other one's failure is seen on {b}", status == 9 and "of instance 1" in err and "is 5" in err, f"{status} {err}")
        # Control words that come with a job are held to what the host may write itself.
        for what, more, said in (("a precision_mode", dict(precision=(0, one)), f"precision_mode of instance 1 has the bits {one}"), ("the least precision_mode", dict(precision=(1, 0), skipping=True), "precision_mode of instance 0 has the bits 1"),
                                 ("active = 0 that nobody looks at", dict(active=(1, 0)), "active of instance 1 is 0"), ("active = -0", dict(active=(0x80000000, 1)), "active of instance 0 is 0")):
            status, _, err = take(b, 1, 0, 1, **more)
            h.check(f"refused: {what} on {b}", status == 9 and "PC5205" in err and said in err and not os.path.exists(h.path("rows.one")), f"{status} {err}")
        status, _, err = take(b, 1, 0, 1, precision=(0x80000000, 0), active=(0x7fc00000, 1))
        h.check(f"a precision_mode of -0 and an active that is none run on {b}", status == 0, err)
        status, _, err = take(b, 3, 2, 1, more=["--verify", "all"])
        h.check(f"verified on {b}", status == 0, err)


# ---- the regulator

COPY = """@group(0) @binding(0) var<storage, read_write> registers: array<u32>;
@group(0) @binding(3) var<storage, read> globals: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < 60u) { registers[30u * 64u + id.x] = registers[(globals[0] & 15u) * 64u + id.x]; }
}
"""


def copies(turns, **keys):
    """A machine that gives the register named by the position in every turn."""
    h.write("copy.wgsl", COPY.encode())
    more = "".join(f"{k} = {v}; " for k, v in keys.items())
    text = f'vm = {{ name = "copies"; instances = 2; width = 64; n_embd = 60; advance = 1; turns = {turns}; {more}' \
           'program = ( { kernel = "copy.wgsl"; instances = [ 0 ]; }, { kernel = "pass.wgsl"; instances = [ 1 ]; } ); };'
    h.write("pass.wgsl", COPY.replace("(globals[0] & 15u)", "31u").replace("@group(0) @binding(3) var<storage, read> globals: array<u32>;\n", "").encode())
    return h.write("copies.vm.cfg", text.encode())


def special():
    big, tiny = 0x7f7fffff, 1
    yield [0] * 60
    yield [0x80000000] * 60
    yield [tiny] * 60
    yield [0x80000001] + [0] * 59
    yield [0x007fffff] * 60
    yield [0x00800000, 0x80800000] * 30
    yield [big] + [0] * 59
    yield [0x5f7fffff] * 60  # the sum overflows by little
    yield [0x5f7fffff] + [0] * 59
    yield [oracle.INF] + [bits(1.0)] * 59
    yield [0xff800000] * 60
    yield [0x7fc00000] + [bits(2.0)] * 59
    yield [0x7f800001, 0xff800000] * 30
    yield [bits(3.0), bits(4.0)] + [0] * 58
    yield [rng.getrandbits(32) for _ in range(60)]
    yield [rng.getrandbits(31) % oracle.INF for _ in range(60)]


def regulator(backends):
    cases = list(special())
    for group in range(0, len(cases), 8):
        vectors = cases[group:group + 8]
        check_copies(backends, vectors, {}, f"special values {group}")
    for n in range(6):
        vectors = [[bits(rng.gauss(0, 1)) if n < 3 else rng.getrandbits(32) & 0x3fffffff | rng.getrandbits(1) << 31 for _ in range(60)]
                   for _ in range(8)]
        check_copies(backends[:1], vectors, {"epsilon": "1e-3", "regulator": '"act"'}, f"random {n}")
    grown = [[bits(rng.gauss(0, 1) * s) for _ in range(60)] for s in (1, 1.1, 0.9, 5, 1, 1e-6, 0.5, 1e4)]
    check_copies(backends, grown, {"epsilon": "1e-3", "regulator": '"act"'}, "running mean")
    check_copies(backends, grown, {"epsilon": "1e-3", "regulator": '"act"', "target": "4.0"}, "target")
    check_copies(backends, grown, {"epsilon": "1e-3", "target": "4.0"}, "observes")


def check_copies(backends, vectors, keys, what):
    m = Machine(2, 64, 60, acts="regulator" in keys, epsilon=bits(float(keys.get("epsilon", "0.0"))), target=bits(float(keys.get("target", "0.0"))),
                advance=1)
    for k, v in enumerate(vectors):
        m.r[0][k][:60] = v

    def program(m, i):
        m.r[i][30][:60] = m.r[i][m.position if i == 0 else 31][:60]
    for _ in vectors:
        m.turn(program)
    machine = copies(len(vectors), **keys)
    ins = []
    for k, v in enumerate(vectors):
        ins += ["--in", f"r{k}=" + h.write(f"v{k}", pack(v))]
    for b in backends:
        got = run(b, "vm", "run", machine, *ins, outs=["r30:f32[64]", "metrics", "control", "globals:u32[12]"])
        if got:
            same(f"{what} {b}: message", got["r30"], m.r[1][30])
            same(f"{what} {b}: metrics", got["metrics"], sum(m.metrics, []))
            same(f"{what} {b}: control", got["control"], sum(m.control, []))
            same(f"{what} {b}: statistics", got["globals"], [m.position, 0, 0, 0] + sum(m.statistics, []))


# ---- refusals

def refuse(name, text, code, *args):
    path = h.write("bad.vm.cfg", text.encode())
    status, _, err = h.run("vm", "show" if not args else "run", path, *args)
    codes = {line.split("error: ")[1][:6] for line in err.splitlines() if "error: " in line}
    h.check(name, status != 0 and codes == {code}, f"{status} {codes}: {err}")
    h.check(name + ": a place", "bad.vm.cfg:" in err or args, err)


def refusals(_):
    h.write("k.wgsl", b"@group(0) @binding(0) var<storage, read_write> r: array<f32>;\n@compute @workgroup_size(1) fn main() { r[0] = 1.0; }\n")
    h.write("heap.wgsl", b"@group(0) @binding(0) var<storage, read_write> r: array<f32>;\n@group(0) @binding(2) var<storage, read> w: array<f32>;\n"
                         b"@compute @workgroup_size(1) fn main() { r[0] = w[0]; }\n")

    def vm(keys="", step='{ kernel = "k.wgsl"; }'):
        return f'vm = {{\n  name = "m"; {keys}\n  program = ( {step} );\n}};\n'
    status, _, err = h.run("vm", "show", h.write("good.vm.cfg", vm().encode()))
    h.check("the good twin", status == 0, err)
    w = 'heap = { w = { bytes = 1024; }; }; '
    refuse("a message wider than a register", vm("width = 64; n_embd = 61;"), "PC4401")
    refuse("no message", vm("n_embd = 0;"), "PC4401")
    refuse("a width that is no multiple of 64", vm("width = 100;"), "PC4402")
    refuse("too wide", vm("width = 65600; n_embd = 4;"), "PC4402")
    refuse("no instances", vm("instances = 0;"), "PC4402")
    refuse("too many turns", vm("turns = 257;"), "PC4402")
    refuse("the heap overflows", vm('heap_bytes = 1280; heap = { a = { bytes = 1024; }; b = { bytes = 260; }; };'), "PC4403")
    refuse("an empty part", vm('heap = { a = { bytes = 0; }; };'), "PC4403")
    refuse("a window past the end", vm(w, '{ kernel = "heap.wgsl"; heap = { at = "w"; bytes = 1028; }; }'), "PC4404")
    refuse("a window past the end in a later instance",
           vm(w + "instances = 5;", '{ kernel = "heap.wgsl"; heap = { at = "w"; bytes = 256; stride = 256; }; }'), "PC4404")
    refuse("a window that begins where none can", vm(w, '{ kernel = "heap.wgsl"; heap = { at = "w"; offset = 4; bytes = 256; }; }'), "PC4404")
    refuse("a heap without a window", vm(w, '{ kernel = "heap.wgsl"; }'), "PC4404")
    refuse("a window of nothing that is there", vm(w, '{ kernel = "heap.wgsl"; heap = { at = "v"; }; }'), "PC4405")
    refuse("no such register", vm("", '{ op = "tensor.softmax"; in = ( { at = "r32"; type = "f32[4]"; } ); out = ( { at = "r1"; type = "f32[4]"; } ); }'), "PC4405")
    refuse("a port that leaves its register", vm("width = 64;", '{ op = "ieee.neg"; in = ( { at = "r0"; type = "f32[65]"; } ); out = ( { at = "r1"; type = "f32[65]"; } ); }'),
           "PC4405")
    refuse("an output in the heap", vm(w, '{ op = "ieee.neg"; in = ( { at = "r0"; type = "f32[4]"; } ); out = ( { at = "w"; type = "f32[4]"; } ); }'), "PC4405")
    refuse("a part with the name of a register", vm('globals = { r7 = 16; };'), "PC4405")
    refuse("a part with a name that is taken", vm('heap = { metrics = { bytes = 16; }; };'), "PC4405")
    refuse("one name twice", vm('heap = { a = { bytes = 16; }; }; globals = { a = 16; };'), "PC4405")
    refuse("two things in a step", vm("", '{ kernel = "k.wgsl"; op = "ieee.neg"; }'), "PC4406")
    refuse("an instance that is not there", vm("", '{ kernel = "k.wgsl"; instances = [ 1 ]; }'), "PC4406")
    refuse("a type that the op does not give", vm("", '{ op = "ieee.neg"; in = ( { at = "r0"; type = "f32[4]"; } ); out = ( { at = "r1"; type = "f32[5]"; } ); }'), "PC4406")
    refuse("an unknown kernel", vm("", '{ kernel = "nowhere.wgsl"; }'), "PC4019")
    refuse("an unknown op", vm("", '{ op = "tensor.nothing"; in = (); out = (); }'), "PC4120")
    refuse("an unknown key", vm("widht = 64;"), "PC1020")
    one = h.write("one", bytes(4))
    refuse("a part that is fed by nothing", vm(w, '{ kernel = "heap.wgsl"; heap = { at = "w"; }; }'), "PC4103", "--in", f"r0={one}")
    refuse("a part that is fed other bytes", vm(w, '{ kernel = "heap.wgsl"; heap = { at = "w"; }; }'), "PC4403", "--in", f"w={one}")
    refuse("a place that is not there", vm(), "PC4405", "--in", f"r99={one}")
    refuse("metrics are no input", vm(), "PC4405", "--in", f"metrics={one}")
    refuse("more than a register", vm("width = 64;"), "PC4405", "--in", "r0=" + h.write("long", bytes(260)))


# ---- everything else that a job has

def roads(backends):
    w, x = "w=" + h.write("w", pack(floats(3 * 4096, 0.125))), "x=" + h.write("x", pack(floats(64)))
    chain = [f"{VM}/chain.pipe.cfg", "--in", w, "--in", x]
    for name in sorted(os.listdir(VM)):
        if name.endswith(".pipe.cfg"):
            status, _, err = h.run("check", os.path.join(VM, name))
            h.check(f"check {name}", status == 0, err)
    status, out, err = h.run("--json", "plan", *chain)
    job = json.loads(out)["jobs"][0] if status == 0 else {}
    h.check("plan", status == 0 and job.get("race") == "proven" and job.get("class") == "strict", f"{err} {job}")
    status, out, err = h.run("--json", "vm", "show", f"{VM}/chain.vm.cfg")
    shown = json.loads(out) if status == 0 else {}
    h.check("vm show: what an execution is", (shown.get("submissions"), shown.get("dispatches"), shown.get("instances")) == (1, 3 * 3 + 2 + 1, 3),
            f"{err} {shown}")
    h.check("vm show: memory", {"space": "heap", "name": "w", "at": "0", "bytes": "49152"} in shown.get("memory", []), str(shown.get("memory")))
    cids = set()
    for b in backends:
        status, out, err = h.run("--json", "run", *chain, "--backend", b, "--verify", "all", "--no-memo")
        doc = json.loads(out) if status == 0 else {}
        h.check(f"verified on {b}", status == 0, err)
        cids.add(tuple(o["cid"] for o in doc.get("outputs", [])))
    h.check("one CID", len(cids) == 1, str(cids))
    status, out, err = h.run("--json", "audit", *chain, "--backends", ",".join(backends), "--no-quarantine")
    h.check("audit", status == 0, err)
    # Every option of a run.
    pixels = [rng.randrange(256) for _ in range(4096)]
    gas = os.path.join(VM, "../../conf/gas/structured-3.cfg")
    edge_run = ["vm", "run", f"{VM}/image.vm.cfg", "--in", "r0=" + h.write("pixels", pack(pixels)), "--out", "r30=" + h.path("edges"),
             "--backend", "cpu", "--no-memo", "--gas", gas]
    made = []
    for run_flags in (["--verify", "all"], ["--sanitize"], ["--subgroup", "32", "--max-turns", "9"], ["--gas-limit", "100000000"]):
        status, _, err = h.run(*edge_run, *run_flags)
        h.check(f"vm run {run_flags[0]}", status == 0, err)
        made.append(h.read("edges"))
    h.check("the same edges", len(set(made)) == 1 and len(made[0]) == 4 * 8192, str([len(m) for m in made]))
    status, _, err = h.run(*edge_run, "--gas-limit", "10")
    h.check("vm run --gas-limit refuses", status == 7, f"{status} {err}")
    status, _, err = h.run(*edge_run, "--forms", "native")
    h.check("a machine has no native floats", status != 0 and "PC5215" in err, f"{status} {err}")
    # What was done once is remembered, and what a machine's file or kernel says belongs to the question.
    for name in ("chain.pipe.cfg", "chain.vm.cfg", "chain.wgsl"):
        with open(os.path.join(VM, name), "rb") as f:
            h.write(name, f.read())
    # On a named device: one that is chosen may be PoCL, whose floats would be probed.
    mine = [h.path("chain.pipe.cfg"), "--in", w, "--in", x, "--verify", "all", "--backend", backends[-1]]
    remembered = []
    for step in range(3):
        if step == 2:
            h.write("chain.wgsl", h.read("chain.wgsl").replace(b"+ came(id.x)", b"- came(id.x)"))
        status, out, err = h.run("--json", "run", *mine)
        doc = json.loads(out) if status == 0 else {}
        h.check(f"run {step}", status == 0, err)
        remembered.append([o["cid"] for o in doc.get("outputs", [])])
    h.check("a changed kernel is another question", remembered[0] == remembered[1] != remembered[2], str(remembered))


MODES = {"ops": ops, "asserts": asserts, "regulator": regulator, "refusals": refusals, "roads": roads}
if sys.argv[1] == "programs":
    for part in (matvec, chain, image, agent, stable):
        part(sys.argv[2:])
else:
    MODES[sys.argv[1]](sys.argv[2:])
h.finish()
