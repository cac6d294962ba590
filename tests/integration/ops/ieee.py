"""Function ops and reductions of the ieee library against floats.py.
usage: ieee.py reference LIBRARY TOOL | ops BACKEND... | fused|few|one|tiny COUNT TYPES BACKEND... | convert COUNT BACKEND... |
       reduce SIZES TYPES BACKEND...
reference: the library's own references, by the tool of reference.c. ops: each function by `pipectl op run`. fused: many
functions side by side in a few shaders, TYPES as f32,f16,bf16, so that a driver which takes a second a kernel compiles a dozen
and not hundreds; few: with four elementary functions, one: with one, tiny: with none, for drivers that take minutes. convert: the conversions,
as functions in a shader and in every mode. reduce: SIZES as 0,1,5000."""
import sys

import floats
from floats import BF16, F16, F32, FORMATS
from harness import Harness, Random, share
from present import present
from rows import compare, together

INTEGERS = {"i32": (-(1 << 31), (1 << 31) - 1, 2), "u32": (0, (1 << 32) - 1, 3)}
MODES = ("trunc", "nearest", "floor", "ceil")


def width(name):
    return FORMATS[name].bits // 8 if name in FORMATS else 4


def pack(values, name):
    w = width(name)
    return b"".join((v & ((1 << 8 * w) - 1)).to_bytes(w, "little") for v in values)


def unpack(data, name):
    w = width(name)
    return [int.from_bytes(data[i:i + w], "little") for i in range(0, len(data), w)]


def edges(f):
    one, half, low = f.one, f.one - (1 << f.fraction), f.fraction
    sizes = [0, 1, 2, (1 << low) - 1, 1 << low, (1 << low) + 1, half - 1, half, half + 1, one - 1, one, one + 1,
             one + (1 << low - 1), one + (1 << low), one + (3 << low - 1), f.round(floats.Fraction(5, 2)), f.infinity - 1,
             f.infinity, f.infinity + 1, f.nan, f.nan + 1, f.sign - 1, f.round(floats.Fraction(1 << low)),
             f.round(floats.Fraction(1 << low) - floats.Fraction(1, 2)), f.round(floats.Fraction(355, 113))]
    return sizes + [x | f.sign for x in sizes]


def operand(r, f):
    """Bits: at an edge, anything at all, or of a size at which most functions do something."""
    pick = r.below(8)
    if pick < 2:
        e = edges(f)
        return e[r.below(len(e))]
    if pick < 4:
        return r.below(1 << f.bits)
    spread = min(12, f.bias // 2)
    return f.one + (r.below(2 * spread) - spread << f.fraction) + r.below(1 << f.fraction) | f.sign * r.below(2)


def columns(r, f, n):
    c = [[operand(r, f) for _ in range(n)] for _ in range(3)]
    e = edges(f)
    c[0][:len(e)] = e[:n]
    # Equal and opposite operands, neighbours, and products that a third operand cancels.
    for i in range(n):
        if r.below(8) == 0:
            c[1][i] = c[0][i] ^ f.sign * r.below(2) ^ r.below(2)
        if r.below(4) == 0:
            c[2][i] = floats.mul(f, c[0][i], c[1][i]) ^ f.sign ^ r.below(2)
    return c


def ports(op):
    return floats.PORTS.get(op, 2 if op in floats.EXACT or op in floats.TRUTHS or op in floats.ELEMENTARY2 else 1)


def wanted(op, f, c):
    """For every element the set of results that can be right."""
    args = list(zip(*c[:ports(op)]))
    if op in floats.EXACT:
        return [{floats.EXACT[op](f, *x)} for x in args]
    if op in floats.TRUTHS:
        return [{floats.TRUTHS[op](f, *x)} for x in args]
    return [floats.possible(f, op, *x) for x in args]


OPS = [*floats.EXACT, *floats.TRUTHS, *floats.ELEMENTARY, *floats.ELEMENTARY2]


def check(h, label, got, want, inputs):
    """Each of `got` is one of the possible; most are certain."""
    doubtful = sum(len(w) > 1 for w in want)
    h.check(label + ": results that can be told", doubtful * 8 <= len(want), f"{doubtful} of {len(want)} cannot")
    for i, (g, w) in enumerate(zip(got, want)):
        if g not in w:
            return h.check(label, False, f"element {i}, {' '.join(format(x, '#x') for x in inputs[i])}: {g:#x}, "
                                         f"wanted {' or '.join(format(x, '#x') for x in w)}")
    return h.check(label, len(got) == len(want), f"{len(got)} results, {len(want)} wanted")


# ---- the library's references ---------------------------------------------------------------------------------------


def refer(h, op, n, inputs, attrs=()):
    """inputs: (type's name, values). The reference's output as bytes."""
    args = []
    for i, (name, values) in enumerate(inputs):
        dtype = FORMATS[name].dtype if name in FORMATS else INTEGERS[name][2]
        args.append(f"{dtype}:{h.write(f'ref{i}', pack(values, name))}")
    status, _, err = h.run(sys.argv[2], op, str(n), *attrs, "--", *args, "--", h.path("ref-out"), executable=sys.argv[3])
    return h.read("ref-out") if h.check(f"reference of {op}", status == 0, err) else None


def run_reference(h):
    r = Random(11)
    n = len(share(range(1500)))
    for f in FORMATS.values():
        c = columns(r, f, n)
        for op in OPS:
            got = refer(h, f"ieee.{op}", n, [(f.name, x) for x in c[:ports(op)]])
            if got is not None:
                out = "u32" if op in floats.TRUTHS else f.name
                check(h, f"reference of ieee.{op} {f.name}", unpack(got, out), wanted(op, f, c), list(zip(*c[:ports(op)])))
    for op, name, to, values, want in conversions(r, n):
        for mode in modes(op):
            got = refer(h, f"ieee.{op}", n, [(name, values)], [f"mode={mode}"] if mode else [])
            if got is not None:
                h.check_bytes(f"reference of ieee.{op} {name} {mode}", got, pack(want(mode), to), width(to))
    for name, how, values, want in reductions(r, [0, 1, 2, 3, 7, 64, 1000]):
        for shape in ("strict", "tree"):
            got = refer(h, f"ieee.reduce_{shape}", len(values), [(name, values)], [f"op={how}"])
            if got is not None:
                h.check_bytes(f"reference of reduce_{shape} {how} {name} {len(values)}", got, pack([want(shape)], name),
                              width(name))
        got = refer(h, "ieee.reduce_approx", len(values), [(name, values)], [f"op={how}", "ulps=0"])
        if got is not None:
            approximate(h, f"reference of reduce_approx {how} {name} {len(values)}", unpack(got, name)[0], name, how, values)


# ---- conversions ----------------------------------------------------------------------------------------------------


def modes(op):
    return MODES if op in ("to_i32", "to_u32") else (None,)


def conversions(r, n):
    """Rows of (op, type from, type to, values, results by mode)."""
    sources = {f.name: columns(r, f, n)[0] for f in FORMATS.values()}
    numbers = [r.u64() >> 32 >> r.below(32) for _ in range(n - 8)] + [0, 1, (1 << 24) + 1, (1 << 24) + 3, 1 << 31,
                                                                       (1 << 31) - 1, (1 << 32) - 1, (1 << 32) - 128]
    sources["u32"] = numbers
    sources["i32"] = [v - (1 << 32) if v >> 31 else -v if r.below(2) else v for v in numbers]
    for f in FORMATS.values():
        for name, values in sources.items():
            if name == f.name:
                continue
            if name in FORMATS:
                yield (f"to_{f.name}", name, f.name, values,
                       lambda mode, f=f, name=name, values=values: [floats.to_format(FORMATS[name], x, f) for x in values])
            else:
                yield (f"to_{f.name}", name, f.name, values,
                       lambda mode, f=f, values=values: [f.round(floats.Fraction(x)) for x in values])
        for to, (low, high, _) in INTEGERS.items():
            yield (f"to_{to}", f.name, to, sources[f.name],
                   lambda mode, f=f, low=low, high=high: [floats.to_integer(f, x, mode or "trunc", low, high)
                                                          for x in sources[f.name]])


def run_convert(h, n, backends):
    r = Random(12)
    rows = list(conversions(r, n))
    for backend in backends:
        for target in ("f32", "f16", "bf16", "i32", "u32"):
            mine = [row for row in rows if row[2] == target]
            text = ["enable f16;"] if "f16" in [target] + [row[1] for row in mine] else []
            text = [f"//# use ieee.to_{target}@1"] + text
            binds = []
            for k, (op, name, _, values, _) in enumerate(mine):
                text.append(f"@group(0) @binding({k}) var<storage, read> x{k}: array<{name}>;")
                binds += ["--bind", f"0:{k}=" + h.write(f"x{k}", pack(values, name))]
            text += [f"@group(1) @binding(0) var<storage, read_write> y: array<{target}>;", "@compute @workgroup_size(64)",
                     "fn main(@builtin(global_invocation_id) gid: vec3<u32>) {", f"\tif (gid.x < {n}u) {{"]
            for k, (op, name, _, _, _) in enumerate(mine):
                suffix = "" if name == "u32" else "_" + name
                text.append(f"\t\ty[gid.x * {len(mine)}u + {k}u] = ieee_{op}{suffix}(x{k}[gid.x]);")
            lists = [row[4](None) for row in mine]
            want = pack([c[i] for i in range(n) for c in lists], target)
            shader(h, f"conversions to {target}, {backend}", text, binds, [("1:0", "y", want, target)], n, backend)
        for op, name, to, values, want in rows:
            for mode in modes(op)[1:]:
                compare(h, [backend], f"ieee.{op} {name} {mode}", f"ieee.{op}", [("x", pack(values, name), f"{name}[{n}]")], pack(want(mode), to), 4,
                        [f"mode={mode}"])


# ---- functions on devices -------------------------------------------------------------------------------------------


def shader(h, label, text, binds, outputs, n, backend):
    """Runs a shader; outputs: (slot, file, wanted bytes or None, type). The bytes of the outputs."""
    h.write("kernel.wgsl", ("\n".join(text) + "\n\t}\n}\n").encode())
    args = []
    for slot, name, want, kind in outputs:
        size = want if isinstance(want, int) else len(want)
        args += ["--bind", f"{slot}=zero:{size + 3 & ~3}", "--read", f"{slot}={h.path(name)}"]
    status, _, err = h.run("shader", "run", h.path("kernel.wgsl"), "--dispatch", str((n + 63) // 64), *binds, *args,
                           "--backend", backend, "--class", "strict")
    if not h.check(label, status == 0, f"exit status {status}\n{err}"):
        return None
    got = [h.read(name) for _, name, _, _ in outputs]
    for data, (_, _, want, kind) in zip(got, outputs):
        if not isinstance(want, int):
            h.check_bytes(label, data[:len(want)], want, width(kind))
    return got


def fused(h, ops, f, n, backend, c):
    """All of ops on one type in one shader; result k of element i is y[i * n_ops + k]."""
    truth = ops[0] in floats.TRUTHS
    c = c[:max(map(ports, ops))]
    out = "u32" if truth else f.name
    text = [f"//# use ieee.{op}@1" for op in ops] + (["enable f16;"] if f is F16 else [])
    text += [f"@group(0) @binding({k}) var<storage, read> {p}: array<{f.name}>;" for k, p in enumerate("abc"[:len(c)])]
    text += [f"@group(1) @binding(0) var<storage, read_write> y: array<{out}>;", "@compute @workgroup_size(64)",
             "fn main(@builtin(global_invocation_id) gid: vec3<u32>) {", "\tlet i = gid.x;", f"\tif (i < {n}u) {{"]
    for k, op in enumerate(ops):
        args = ", ".join(f"{p}[i]" for p in "abc"[:ports(op)])
        text.append(f"\t\ty[i * {len(ops)}u + {k}u] = ieee_{op}_{f.name}({args});")
    binds = []
    for k, values in enumerate(c):
        binds += ["--bind", f"0:{k}=" + h.write("abc"[k], pack(values, f.name))]
    label = f"{ops[0]} .. {ops[-1]} {f.name} {backend}"
    got = shader(h, label, text, binds, [("1:0", "y", n * len(ops) * width(out), out)], n, backend)
    if got is not None:
        y = unpack(got[0], out)
        for k, op in enumerate(ops):
            check(h, f"ieee.{op} {f.name} {backend}", y[k:n * len(ops):len(ops)], wanted(op, f, c),
                  list(zip(*c[:ports(op)])))


def groups(most):
    exact = list(floats.EXACT)
    elementary = [*floats.ELEMENTARY, *floats.ELEMENTARY2]
    return [exact, list(floats.TRUTHS)] + [elementary[i:i + most] for i in range(0, len(elementary), most)]


# Elementary functions by what is asked for; None is all.
FEW = {"fused": None, "few": [["sin", "exp", "log"], ["pow"]], "one": [["exp"]], "tiny": []}


def run_fused(h, n, types, backends, few):
    r = Random(13)
    for name in types:
        c = columns(r, FORMATS[name], n)
        for backend in backends:
            for ops in groups(6) if few is None else groups(6)[:2] + few:
                fused(h, ops, FORMATS[name], n, backend, c)


@together
def held(h, backends, op, f, inputs, c):
    for backend in backends:
        got = yield f"ieee.{op}", inputs, ["y"], backend
        if got is not None:
            out = "u32" if op in floats.TRUTHS else f.name
            check(h, f"ieee.{op} {f.name} {backend}", unpack(got[0], out), wanted(op, f, c), list(zip(*c[:ports(op)])))


def run_ops(h, backends):
    r = Random(14)
    n = 501  # odd: the last half of a word stays untouched
    for f in FORMATS.values():
        c = columns(r, f, n)
        for op in OPS:
            names = ["x"] if ports(op) == 1 else "abc"[:ports(op)]
            inputs = [(p, pack(x, f.name), f"{f.name}[{n}]") for p, x in zip(names, c)]
            held(h, backends, op, f, inputs, c)


# ---- reductions -----------------------------------------------------------------------------------------------------

COMBINE = {"add": floats.add, "mul": floats.mul, "min": floats.smaller, "max": floats.larger}


def identity(f, how):
    return {"add": 0, "mul": f.one, "min": f.infinity, "max": f.sign | f.infinity}[how]


def in_a_row(f, how, v):
    total = v[0]
    for x in v[1:]:
        total = COMBINE[how](f, total, x)
    return total


def in_a_tree(f, how, v):
    while len(v) > 1:
        v = [COMBINE[how](f, *v[i:i + 2]) if i + 1 < len(v) else v[i] for i in range(0, len(v), 2)]
    return v[0]


def reductions(r, sizes):
    """Rows of (type, operation, values, result by shape): numbers of both signs, few zeros and specials."""
    for f in FORMATS.values():
        for how in COMBINE:
            for n in sizes:
                near = lambda: f.one - (1 << f.fraction) + r.below(2 << f.fraction) | f.sign * r.below(2)
                values = [near() for _ in range(n)]
                if n == 1:
                    values = [f.nan + 1]  # comes back as it is
                elif n in (2, 3):
                    values = [f.sign] * n  # a run filled up with +0 would lose the sign
                elif n % 2:
                    values[r.below(n)] = [0, f.sign, 1, f.infinity, f.nan + 1, f.nan | f.sign][r.below(6)]
                yield f.name, how, values, lambda shape, f=f, how=how, values=values: (
                    identity(f, how) if not values else in_a_row(f, how, values) if shape == "strict"
                    else in_a_tree(f, how, values))


def approximate(h, label, got, name, how, values):
    """Within the promised tolerance of the exact result; exact where there are special values or the order cannot tell."""
    f = FORMATS[name]
    tree = in_a_tree(f, how, values) if values else identity(f, how)
    normal = range(1 << f.fraction, f.infinity)
    if how == "mul" and (len(values) > 8 or any((x & ~f.sign) not in normal for x in values)):
        return True  # may leave the range of normal numbers on the way: nothing is promised then
    if how in ("min", "max") or len(values) < 2 or f.is_nan(tree) or f.is_inf(tree):
        return h.check(label, got == tree, f"{got:#x}, wanted {tree:#x}")
    exact, scale = floats.Fraction(how == "mul"), floats.Fraction(0)
    for x in values:
        exact = exact * f.value(x) if how == "mul" else exact + f.value(x)
        scale += abs(f.value(x))
    bits = f.round(scale if how == "add" else abs(exact))
    ulp = f.value(bits) - f.value(bits - 1)
    steps = 2 * (len(values) - 1) if how == "mul" else 78
    error = abs(f.value(got) - exact) / ulp
    return h.check(label, error <= steps, f"{got:#x} is {float(error):.1f} units away, {steps} promised")


@together
def near(h, backend, label, port, name, how, values):
    got = yield "ieee.reduce_approx", port, ["y"], backend, [f"op={how}"]
    if got is not None:
        approximate(h, label, unpack(got[0], name)[0], name, how, values)


def run_reduce(h, sizes, types, backends):
    r = Random(15)
    for name, how, values, want in reductions(r, sizes):
        if name not in types:
            continue
        port = [("x", pack(values, name), f"{name}[{len(values)}]")]
        for backend in backends:
            for shape in ("strict", "tree", "approx"):
                label = f"reduce_{shape} {how} {name} {len(values)}"
                if shape == "approx":
                    near(h, backend, f"{label} {backend}", port, name, how, values)
                else:
                    compare(h, [backend], label, f"ieee.reduce_{shape}", port, pack([want(shape)], name), width(name), [f"op={how}"])


def main():
    h = Harness()
    kind, args = sys.argv[1], sys.argv[2:]
    if kind == "reference":
        run_reference(h)
    elif kind == "ops":
        run_ops(h, present(h, args))
    elif kind in FEW:
        run_fused(h, int(args[0]), args[1].split(","), present(h, args[2:]), FEW[kind])
    elif kind == "convert":
        run_convert(h, int(args[0]), present(h, args[1:]))
    else:
        run_reduce(h, [int(n) for n in args[0].split(",")], args[1].split(","), present(h, args[2:]))
    h.finish()


if __name__ == "__main__":
    main()
