"""Function ops on vectors (SEMANTICS.md 14.10; ops/ieee/vector.c) against floats.py: single ops with operands that are stretched, a chain of them
cut at every place and fused, what is refused, and planted faults.
usage: vectors.py all|few BACKEND..."""
import json
import sys

import floats
from floats import F16, F32
from harness import Harness, Random
from ieee import operand, pack
from kernels import run_kernel
from present import present
from rows import op_run

# Hamilton's product with the real part last: a[i] b[k] with its sign, in the order of the sum.
UNITS = [[(3, 0, 1), (0, 3, 1), (1, 2, 1), (2, 1, -1)], [(3, 1, 1), (1, 3, 1), (2, 0, 1), (0, 2, -1)],
         [(3, 2, 1), (2, 3, 1), (0, 1, 1), (1, 0, -1)], [(3, 3, 1), (0, 0, -1), (1, 1, -1), (2, 2, -1)]]


def complex_mul(f, a, b):
    return [floats.fma(f, a[0], b[0], floats.mul(f, a[1], b[1]) ^ f.sign), floats.fma(f, a[0], b[1], floats.mul(f, a[1], b[0]))]


def quaternion_mul(f, a, b):
    y = []
    for terms in UNITS:
        total = None
        for i, k, sign in terms:
            term = floats.mul(f, a[i], b[k])
            total = term if total is None else floats.add(f, total, term) if sign > 0 else floats.sub(f, total, term)
        y.append(total)
    return y


def dot4(f, a, b):
    total = floats.mul(f, a[0], b[0])
    for c in range(1, 4):
        total = floats.add(f, total, floats.mul(f, a[c], b[c]))
    return [total]


def scale4(f, a, b):
    return [floats.mul(f, x, b[0]) for x in a]


OPS = {"complex_mul": (complex_mul, 2, 2, 2), "quaternion_mul": (quaternion_mul, 4, 4, 4), "dot4": (dot4, 4, 4, 1), "scale4": (scale4, 4, 1, 4)}


def values(r, f, n, lanes):
    return [[operand(r, f) for _ in range(lanes)] for _ in range(n)]


def flat(rows):
    return [x for row in rows for x in row]


def shape(f, places, lanes):
    dims = list(places) + ([lanes] if lanes > 1 else [])
    return f"{f.name}[{','.join(map(str, dims))}]" if dims else f.name


def single(h, r, backends, op, f):
    """Places of one shape, and of shapes that are stretched to each other."""
    fn, la, lb, ly = OPS[op]
    for a_places, b_places in (((67,), (67,)), ((5, 1), (3,)), ((4, 3), ()), ((1,), (1,)), ((2, 2, 3), (2, 1, 3))):
        count = [1, 1]
        for k, places in enumerate((a_places, b_places)):
            for d in places:
                count[k] *= d
        a, b = values(r, f, count[0], la), values(r, f, count[1], lb)
        rank = max(len(a_places), len(b_places))
        pa, pb = ((1,) * (rank - len(p)) + tuple(p) for p in (a_places, b_places))
        want, total = [], 1
        for d in range(rank):
            total *= max(pa[d], pb[d])
        for i in range(total):
            ia = ib = 0
            scale_a = scale_b = 1
            rest = i
            for d in reversed(range(rank)):
                x = rest % max(pa[d], pb[d])
                rest //= max(pa[d], pb[d])
                ia, ib = ia + (x if pa[d] != 1 else 0) * scale_a, ib + (x if pb[d] != 1 else 0) * scale_b
                scale_a, scale_b = scale_a * pa[d], scale_b * pb[d]
            want += fn(f, a[ia], b[ib])
        for backend in backends:
            got = op_run(h, "ieee." + op, [("a", pack(flat(a), f.name), shape(f, a_places, la)), ("b", pack(flat(b), f.name), shape(f, b_places, lb))], ["y"], backend)
            if got is not None:
                h.check_bytes(f"{op} {f.name} {a_places} {b_places} {backend}", got[0], pack(want, f.name), f.bits // 8)


JOBS = [("turn", "ieee.quaternion_mul", "$x", "$u"), ("grow", "ieee.scale4", "turn.y", "$s"), ("back", "ieee.quaternion_mul", "grow.y", "$x"),
        ("part", "ieee.dot4", "back.y", "$u"), ("more", "ieee.add", "part.y", "$s"), ("last", "ieee.scale4", "$x", "more.y")]


def chain(h, r, backends):
    """Vectors made and read within a kernel, numbers made of them and vectors again: cut at every place, with the same bytes and gas."""
    n, f = 37, F32
    x, u, s = values(r, f, n, 4), values(r, f, 1, 4), values(r, f, n, 1)
    data = {"x": pack(flat(x), "f32"), "u": pack(flat(u), "f32"), "s": pack(flat(s), "f32")}
    want, made = {}, {"$x": x, "$u": u * n, "$s": s}
    for name, op, a, b in JOBS:
        fn = OPS[op[5:]][0] if op[5:] in OPS else (lambda f, a, b: [floats.add(f, a[0], b[0])])
        made[name + ".y"] = [fn(f, p, q) for p, q in zip(made[a], made[b])]
        want[name] = pack(flat(made[name + ".y"]), "f32")
    jobs = ", ".join(f'{{ id = "{name}"; op = "{op}@1"; in : {{ a = "{a}"; b = "{b}"; }}; }}' for name, op, a, b in JOBS)
    feeds = [part for name, content in data.items() for part in ("--in", f"{name}={h.write('in-' + name, content)}")]
    gas = set()
    for backend in backends:
        for cut in [0, 31] + [1 << i for i in range(5)]:
            names = [j[0] for i, j in enumerate(JOBS[:-1]) if cut >> i & 1] + ["last"]
            outputs = " ".join(f'{name} = "{name}.y";' for name in names)
            pipe = h.write("chain.pipe.cfg", (f'pipeline : {{ name = "c"; class = "strict"; inputs : {{ x : {{ type = "f32[n,4]"; }}; u : {{ type = "f32[4]"; }}; '
                                              f's : {{ type = "f32[n]"; }}; }}; jobs = ( {jobs} ); outputs : {{ {outputs} }}; }};').encode())
            for more in ([], ["--no-fuse"]) if cut == 0 else ([],):
                args = [part for name in names for part in ("--out", f"{name}={h.path('out-' + name)}")]
                status, out, err = h.run("--json", "run", pipe, *feeds, *args, "--backend", backend, "--no-memo", *more)
                if not h.check(f"chain {cut:b} {more} {backend}", status == 0, err):
                    continue
                result = json.loads(out)
                kernels = sum(int(j["dispatches"]) - int(j["inputs_looked_at"]) for j in result["jobs"])
                fused = not more and not backend.startswith("cpu")
                h.check(f"kernels of {cut:b} {more} {backend}", kernels == (len(names) if fused else len(JOBS)), f"{kernels}")
                gas.add(result["gas"])
                for name in names:
                    h.check_bytes(f"chain {cut:b} {name} {backend}", h.read("out-" + name), want[name], 4)
    h.check("one price", len(gas) == 1, str(gas))


def refusals(h):
    h.write("a", bytes(96))
    for a, b, code in (("f32[8,3]", "f32[4]", "PC4106"), ("f32[24]", "f32[4]", "PC4106"), ("f32[6,4]", "f32[2,4]", "PC4107"), ("u32[6,4]", "f32[4]", "PC4102")):
        pipe = h.write("bad.pipe.cfg", (f'pipeline : {{ name = "b"; class = "strict"; inputs : {{ a : {{ type = "{a}"; }}; b : {{ type = "{b}"; }}; }}; '
                                        'jobs = ( { id = "m"; op = "ieee.quaternion_mul@1"; in : { a = "$a"; b = "$b"; }; } ); outputs : { y = "m.y"; }; };').encode())
        status, _, err = h.run("check", pipe)
        h.check(f"{a} and {b}", status == 3 and code in err, err)
    # What the data alone tell, a run finds.
    pipe = h.write("open.pipe.cfg", b'pipeline : { name = "o"; class = "strict"; inputs : { a : { type = "f32[n]"; }; }; jobs = ( { id = "m"; op = "ieee.dot4@1"; '
                                    b'in : { a = "$a"; b = "$a"; }; } ); outputs : { y = "m.y"; }; };')
    status, _, err = h.run("run", pipe, "--in", "a=" + h.path("a"), "--backend", "cpu")
    h.check("24 elements are no vector of 4", status == 3 and "PC4106" in err, err)
    # A pipeline's own types are of elements.
    pipe = h.write("vec.pipe.cfg", b'pipeline : { name = "v"; class = "strict"; inputs : { a : { type = "vec4<f32>[...]"; }; }; jobs = ( { id = "m"; op = "ieee.dot4@1"; '
                                   b'in : { a = "$a"; b = "$a"; }; } ); outputs : { y = "m.y"; }; };')
    status, _, err = h.run("check", pipe)
    h.check("an input of vectors", status == 3 and "PC4020" in err, err)
    status, out, _ = h.run("op", "show", "ieee.scale4")
    h.check("a port of vectors is shown", status == 0 and b"vec4<f32>|vec4<f16>[...]" in out, out)


def planted(h, r, backend):
    """The functions as kernels use them, and wrong ones in their place."""
    n, f = 256, F32
    a, b = values(r, f, n, 4), values(r, f, n, 4)
    head = ("override steps: u32;\n@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;\n@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;\n"
            "@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;\n@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
            "\tlet i = id.x;\n\tif (i < arrayLength(&y)) {\n\t\ty[i] = ieee_quaternion_mul_f32(a[i], b[i]);\n\t}\n}\n")
    want = pack(flat([quaternion_mul(f, p, q) for p, q in zip(a, b)]), "f32")
    bindings = {0: pack(flat(a), "f32"), 1: pack(flat(b), "f32"), 2: bytes(16 * n)}
    got = run_kernel(h, backend, "//# use ieee.quaternion_mul@1\n" + head, 1, n // 64, bindings, (2,), ())[0]
    h.check_bytes("a kernel that uses it", got, want, 4)
    text = ("fn ieee_quaternion_mul_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {\n\treturn vec4<f32>(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,\n"
            "\t\ta.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,\n\t\ta.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,\n\t\ta.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);\n}\n")
    for fault, old, new in (("a product of quaternions that contracts", "a.w * b.x + a.x * b.w", "fma(a.w, b.x, a.x * b.w)"),
                            ("quaternions multiplied in the other order", "a.x * b.y - a.y * b.x", "a.y * b.x - a.x * b.y"),
                            ("a sum of a vector's products from the right", "a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z", "a.w * b.w - (a.x * b.x + (a.y * b.y + a.z * b.z))")):
        got = run_kernel(h, backend, text + head, 1, n // 64, bindings, (2,), ((old, new),))[0]
        at = next((i for i in range(0, len(want), 4) if got[i:i + 4] != want[i:i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "ieee.quaternion_mul", "exact fractions", f"y[{at // 4}] is {got[at:at + 4][::-1].hex()}, not {want[at:at + 4][::-1].hex()}")


def main():
    h, r = Harness(), Random(61)
    how, backends = sys.argv[1], present(h, sys.argv[2:])
    for op in OPS if how == "all" else ("complex_mul", "scale4"):
        for f in (F32, F16) if how == "all" else (F32,):
            single(h, r, backends, op, f)
    chain(h, r, backends)
    if how == "all":
        refusals(h)
        planted(h, r, backends[0])
    h.finish()


main()
