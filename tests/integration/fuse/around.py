"""Elementwise jobs before and behind products, reductions, softmax and norms, fused with them, against fractions and NumPy-free integers.
usage: around.py cuts|every|faults products|sums|rows|types|all [--few] BACKEND...

cuts: all chains with no intermediate result as an output, two of them (by day one) with each alone and with all; every: all with every subset; --few: of one chain of three, with no more than the first of these. Each chain is p = x * r, q = p + c, m = the op of q,
s = m * k, t = s + z, v = t under another shape; every operation rounded by itself."""
import json
import math
import os
import struct
import sys

from harness import Harness, Random, share
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
import norms  # noqa: E402
from matmul import FLOATS, INTEGERS, bits_of, exact, nan, negative, pack, product, rounded, transpose, value  # noqa: E402
from reduce import one  # noqa: E402
from sum import wanted as sums  # noqa: E402

JOBS = ("p", "q", "m", "s", "t", "v")
FLOATS["f64"] = (53, -1074, 2047)


def infinity(kind, sign=0):
    return FLOATS[kind][2] << (FLOATS[kind][0] - 1) | sign


def mul(kind):
    def of(a, b):
        x, y, sign = value(kind, a), value(kind, b), (a ^ b) & 1 << (bits_of(kind) - 1)
        if "nan" in (x, y) or (isinstance(x, str) and y == 0) or (isinstance(y, str) and x == 0):
            return nan(kind)
        return infinity(kind, sign) if isinstance(x, str) or isinstance(y, str) else rounded(kind, x * y, bool(sign))
    return of


def add(kind):
    def of(a, b):
        x, y = value(kind, a), value(kind, b)
        if isinstance(x, str) or isinstance(y, str):
            return exact(kind, [v for v in (x, y) if isinstance(v, str)])
        return rounded(kind, x + y, bool(negative(kind, a) and negative(kind, b)))
    return of


def steps(kind):
    """The two ops before and behind, and what they are."""
    if kind in INTEGERS:
        return "int.xor", "int.add", lambda a, b: a ^ b, lambda a, b: (a + b) % (1 << INTEGERS[kind])
    more = "64" if kind == "f64" else ""
    return "ieee.mul" + more, "ieee.add" + more, mul(kind), add(kind)


def text(kind, shape):
    return f"{kind}[{','.join(map(str, shape))}]"


def codes(r, n, kind, plain):
    """Bits; of floats numbers near 1, and beside them now and then what has an end of its own."""
    if kind in INTEGERS:
        return [r.u64() >> 64 - INTEGERS[kind] if INTEGERS[kind] > 32 else r.below(1 << INTEGERS[kind]) for _ in range(n)]
    (p, _, top), sign = FLOATS[kind], 1 << (bits_of(kind) - 1)
    special = [0, sign, 1, infinity(kind), infinity(kind, sign), nan(kind), infinity(kind) - 1, 1 << (p - 1)]
    near = lambda: (sign * r.below(2)) | ((top >> 1) - 4 << (p - 1)) + r.below(6 << (p - 1))
    return [special[r.below(8)] if not plain and r.below(97) == 0 else near() for _ in range(n)]


def blocks(r, n):
    """n elements of q8_0: its bytes (a scale in f16 and 32 integers a block), and the elements as f32, which they are exactly."""
    raw, values = b"", []
    for _ in range(n // 32):
        d = r.below(2) << 15 | 0x2C00 + r.below(0x800)
        q = [r.below(256) for _ in range(32)]
        raw += struct.pack("<H", d) + bytes(q)
        values += [norms.rounded("f32", value("f16", d) * (x - 256 if x > 127 else x), d >> 15 == 1) for x in q]
    return raw, values


class Chain:
    """reads, writes: the library takes what is before, or behind, into its kernels; "gpu": on what says that it is a GPU. again: ports that are fed with what feeds another, as a kernel has
    seven inputs at most."""

    wanted = None  # names; of the others nothing is worked out

    def __init__(self, name, op, shape, out, f, attrs=None, more=None, kind="f32", out_kind=None, reads=True, writes=True, plain=False, again=None, packed=False):
        self.name, self.op, self.attrs, self.reads, self.writes, self.on = name, op, attrs or {}, reads, writes, "other"
        if Chain.wanted is not None and name not in Chain.wanted:
            return
        r, n, m = Random(len(name) * 7919 + sum(map(ord, name))), math.prod(shape), math.prod(out)
        out_kind = out_kind or kind
        made = {"x": (kind, shape, codes(r, n, kind, plain)), "r": (kind, shape[-1:], codes(r, shape[-1], kind, True)),
                "c": (kind, shape, codes(r, n, kind, plain)), "k": (out_kind, out[-1:], codes(r, (out[-1:] or (1,))[0], out_kind, True)),
                "z": (out_kind, out, codes(r, m, out_kind, plain))}
        self.ports = {}
        for port, at in (more or {}).items():
            made["w" + port] = (kind, at, codes(r, math.prod(at), kind, True))
            self.ports[port] = made["w" + port][2]
        if packed:
            raw, self.ports["b"] = blocks(r, math.prod(more["b"]))
        again = again or {}
        self.ports.update({port: self.ports[of] for port, of in again.items()})
        self.inputs = {f"{name}_{key}": (text(of, at), pack(of, data)) for key, (of, at, data) in made.items()}
        if packed:
            self.inputs[f"{name}_wb"] = (text("q8_0", more["b"]), raw)
        before, then, times, plus = steps(kind)
        behind, last, times2, plus2 = steps(out_kind)
        p = [times(a, made["r"][2][i % shape[-1]]) for i, a in enumerate(made["x"][2])]
        q = [plus(a, b) for a, b in zip(p, made["c"][2])]
        y = f(q, self.ports)
        s = [times2(a, made["k"][2][i % (out[-1] if out else 1)]) for i, a in enumerate(y)]
        t = [plus2(a, b) for a, b in zip(s, made["z"][2])]
        self.want = dict(zip(JOBS, (pack(of, v) for of, v in ((kind, p), (kind, q), (out_kind, y), (out_kind, s), (out_kind, t), (out_kind, t)))))
        i = lambda key: f"${name}_{key}"
        j = lambda key: f"{name}_{key}.y"
        first = {"tensor.matmul": "a", "tensor.matmul64": "a"}.get(op, "x")
        self.jobs = [("p", before, {"a": i("x"), "b": i("r")}, {}), ("q", then, {"a": j("p"), "b": i("c")}, {}),
                     ("m", op, {first: j("q"), **{port: i("w" + again.get(port, port)) for port in self.ports}}, self.attrs),
                     ("s", behind, {"a": j("m"), "b": i("k")}, {}), ("t", last, {"a": j("s"), "b": i("z")}, {}),
                     ("v", "tensor.reshape", {"x": j("t")}, {"shape": "-1"})]

    def groups(self, cut, fuses=True):
        """The job into which each goes; None: alone."""
        ends = [c for i, c in enumerate(JOBS) if c == "v" or cut >> i & 1]
        into, parts = {}, []
        for i, c in enumerate(JOBS):
            new = not parts or JOBS[i - 1] in ends or (c == "m" and not (self.reads is True or self.reads == self.on)) or (c == "s" and not self.writes)
            parts = parts + [[c]] if new else parts[:-1] + [parts[-1] + [c]]
        for part in parts:
            for c in part:
                into[c] = f"{self.name}_{part[-1]}" if len(part) > 1 and fuses else None
        return into


def matmul(m, k, n, order="exact", turned=False, kind="f32"):
    def f(q, ports):
        b = transpose(ports["b"], n, k) if turned else ports["b"]
        return product((kind, kind), order, kind, (1, 1, m, k, n), q, b)
    return f


def words(k, n):
    def f(q, ports):
        columns = [ports["b"][j::n] for j in range(n)]
        return [sum(x * y for x, y in zip(q[first:first + k], column)) % (1 << 32) for first in range(0, len(q), k) for column in columns]
    return f


def rows(n, f):
    return lambda q, ports: [y for first in range(0, len(q), n) for y in f(q[first:first + n])]


def norm(op, shape, number, kind="f32"):
    return lambda q, ports: norms.norm(op, kind, shape, number, norms.rounded("f32", norms.Fraction("1e-5")), {"x": q, **{"weight": [], "bias": [], **ports}})


def all_chains(rows_fit=True):
    """rows_fit: the device has f64, and rows of 64 lie in a kernel."""
    wide = (32, 64)
    full = {"reads": rows_fit}
    yield Chain("thin", "tensor.matmul", (2, 256), (2, 40), matmul(2, 256, 40, turned=True), {"transpose_b": "true"}, {"b": (40, 256)}, reads=False, plain=True)
    yield Chain("rows", "tensor.matmul", (19, 64), (19, 24), matmul(19, 64, 24, turned=True), {"transpose_b": "true"}, {"b": (24, 64)}, reads=False)
    # Of more rows than a dispatch has, in two: the second begins in the middle of the result.
    n = len(share(range(64), 8))
    yield Chain("blocks", "tensor.matmul", (18, 64), (18, n), matmul(18, 64, n, turned=True), {"transpose_b": "true"}, {"b": (n, 64)}, reads=False,
                packed=True)
    yield Chain("small", "tensor.matmul", (3, 20), (3, 7), matmul(3, 20, 7), {}, {"b": (20, 7)}, reads=False)
    yield Chain("tiles", "tensor.matmul", (24, 32), (24, 20), matmul(24, 32, 20), {}, {"b": (32, 20)}, reads=False)
    yield Chain("ordered", "tensor.matmul", (24, 32), (24, 20), matmul(24, 32, 20, "sequential"), {"order": "sequential"}, {"b": (32, 20)}, reads=False)
    yield Chain("words", "tensor.matmul", (9, 11), (9, 5), lambda q, p: product(("u32", "u32"), "", "u32", (1, 1, 9, 11, 5), q, p["b"]), {}, {"b": (11, 5)},
                kind="u32", reads=False)
    # Factors are packed for tiles by matrix units, and for large ones: that reads each element once, through what is before.
    yield Chain("packed", "tensor.matmul", (40, 32), (40, 36), matmul(40, 32, 36), {}, {"b": (32, 36)}, reads="gpu")
    yield Chain("packedwide", "tensor.matmul", (768, 16), (768, 1000), words(16, 1000), {}, {"b": (16, 1000)}, kind="u32", reads="gpu")
    yield Chain("sum", "tensor.sum", wide, (32,), lambda q, p: sums("tensor.sum", "f32", wide, [1], q), {"axes": "1"})
    yield Chain("sumplain", "tensor.sum", wide, (32,), lambda q, p: sums("tensor.sum", "f32", wide, [1], q), {"axes": "1"}, plain=True)
    yield Chain("columns", "tensor.sum", (64, 32), (32,), lambda q, p: sums("tensor.sum", "f32", (64, 32), [0], q), {"axes": "0"})
    yield Chain("few", "tensor.sum", (5, 7), (5,), lambda q, p: sums("tensor.sum", "f32", (5, 7), [1], q), {"axes": "1"})
    yield Chain("sumwords", "tensor.sum", (5, 70), (5,), lambda q, p: sums("tensor.sum", "u32", (5, 70), [1], q), {"axes": "1"}, kind="u32")
    yield Chain("mean", "tensor.mean", wide, (32,), lambda q, p: sums("tensor.mean", "f32", wide, [1], q), {"axes": "1"}, plain=True)
    for op, out_kind in (("max", "f32"), ("min", "f32"), ("argmax", "u32"), ("all", "u32")):
        axis = {"axis": "1"} if op == "argmax" else {"axes": "1"}
        yield Chain(op, "tensor." + op, (6, 33), (6,), rows(33, lambda row, op=op: [one("tensor." + op, "f32", row, 0)]), axis, out_kind=out_kind)
    yield Chain("long", "tensor.max", (1, 3000), (1,), rows(3000, lambda row: [one("tensor.max", "f32", row, 0)]), {"axes": "1"})
    yield Chain("rms", "tensor.rms_norm", wide, wide, norm("rms_norm", wide, 1), {}, {"weight": (64,)}, **full)
    yield Chain("rmsfew", "tensor.rms_norm", (3, 10), (3, 10), norm("rms_norm", (3, 10), 1), {}, {"weight": (10,)}, reads=False)
    yield Chain("layer", "tensor.layer_norm", wide, wide, norm("layer_norm", wide, 1), {}, {"weight": (64,), "bias": (64,)}, plain=True, **full)
    yield Chain("group", "tensor.group_norm", (2, 8, 128), (2, 8, 128), norm("group_norm", (2, 8, 128), 2), {"groups": 2}, {"weight": (8,), "bias": (8,)},
                plain=True, **full)
    yield Chain("batch", "tensor.batch_norm", (3, 4, 5), (3, 4, 5), norm("batch_norm", (3, 4, 5), 0), {},
                {"mean": (4,), "variance": (4,)}, again={"weight": "mean", "bias": "variance"})
    yield Chain("softmax", "tensor.softmax", wide, wide, rows(64, lambda row: norms.softmax("tensor.softmax", "f32", row)), {}, **full)
    yield Chain("logsoftmax", "tensor.log_softmax", wide, wide, rows(64, lambda row: norms.softmax("tensor.log_softmax", "f32", row)), {}, plain=True, **full)
    yield Chain("softfew", "tensor.softmax", (4, 6), (4, 6), rows(6, lambda row: norms.softmax("tensor.softmax", "f32", row)), {}, reads=False)
    yield Chain("logsum", "tensor.logsumexp", (4, 6), (4,), rows(6, lambda row: norms.softmax("tensor.logsumexp", "f32", row)), {}, reads=False)


def typed_chains(rows_fit=True):
    """The same of elements that are half a word, or two: each way in which a kernel writes, or reads, such an element."""
    wide, full = (32, 64), {"reads": rows_fit}
    half = {"kind": "f16"}
    yield Chain("halfsmall", "tensor.matmul", (3, 21), (3, 7), matmul(3, 21, 7, kind="f16"), {"out": "f16"}, {"b": (21, 7)}, reads=False, **half)
    yield Chain("halfthin", "tensor.matmul", (2, 256), (2, 40), matmul(2, 256, 40, turned=True, kind="f16"), {"out": "f16", "transpose_b": "true"}, {"b": (40, 256)},
                reads=False, plain=True, **half)
    yield Chain("halftiles", "tensor.matmul", (40, 32), (40, 36), matmul(40, 32, 36, kind="bf16"), {"out": "bf16"}, {"b": (32, 36)}, reads="gpu", kind="bf16")
    yield Chain("longwords", "tensor.matmul", (9, 11), (9, 5), lambda q, p: product(("u64", "u64"), "", "u64", (1, 1, 9, 11, 5), q, p["b"]), {}, {"b": (11, 5)},
                kind="u64", reads=False)
    yield Chain("doubles", "tensor.matmul64", (9, 11), (9, 5), lambda q, p: product(("f64", "f64"), "exact", "f64", (1, 1, 9, 11, 5), q, p["b"]), {}, {"b": (11, 5)},
                kind="f64", reads=False)
    yield Chain("halfsum", "tensor.sum", (33, 64), (33,), lambda q, p: sums("tensor.sum", "bf16", (33, 64), [1], q), {"axes": "1"}, kind="bf16", plain=True)
    yield Chain("halfmean", "tensor.mean", (5, 7), (5,), lambda q, p: sums("tensor.mean", "f16", (5, 7), [1], q), {"axes": "1"}, **half)
    yield Chain("longsum", "tensor.sum", (5, 70), (5,), lambda q, p: sums("tensor.sum", "i64", (5, 70), [1], q), {"axes": "1"}, kind="i64")
    yield Chain("doublesum", "tensor.sum64", (32, 65), (32,), lambda q, p: sums("tensor.sum", "f64", (32, 65), [1], q), {"axes": "1"}, kind="f64", reads=False, plain=True)
    for op, kind in (("max", "f16"), ("min", "i64"), ("max64", "f64")):
        name = op.removesuffix("64")
        yield Chain(kind + name, "tensor." + op, (7, 33), (7,), rows(33, lambda row, name=name, kind=kind: [one("tensor." + name, kind, row, 0)]), {"axes": "1"}, kind=kind)
    yield Chain("halfrms", "tensor.rms_norm", wide, wide, norm("rms_norm", wide, 1, "bf16"), {}, {"weight": (64,)}, kind="bf16", **full)
    yield Chain("halfbatch", "tensor.batch_norm", (3, 3, 5), (3, 3, 5), norm("batch_norm", (3, 3, 5), 0, "f16"), {},
                {"mean": (3,), "variance": (3,)}, again={"weight": "mean", "bias": "variance"}, **half)
    yield Chain("halfsoftmax", "tensor.softmax", wide, wide, rows(64, lambda row: norms.softmax("tensor.softmax", "f16", row)), {}, **half, **full)
    yield Chain("halfsoftfew", "tensor.softmax", (3, 7), (3, 7), rows(7, lambda row: norms.softmax("tensor.softmax", "bf16", row)), {}, kind="bf16", reads=False)
    yield Chain("halflogsum", "tensor.logsumexp", (3, 7), (3,), rows(7, lambda row: norms.softmax("tensor.logsumexp", "f16", row)), {}, reads=False, **half)


def written(h, chains, cut):
    """One pipeline of all chains with the intermediate results of the cut as outputs."""
    inputs, jobs, outputs = [], [], []
    for c in chains:
        inputs += [f'{name} : {{ type = "{kind}"; }};' for name, (kind, _) in c.inputs.items()]
        for key, op, feeds, attrs in c.jobs:
            feed = " ".join(f'{port} = "{of}";' for port, of in feeds.items())
            attr = " ".join(f"{k} = {v if v == 'true' or isinstance(v, int) else chr(34) + v + chr(34)};" for k, v in attrs.items())
            jobs.append(f'{{ id = "{c.name}_{key}"; op = "{op}@1"; in : {{ {feed} }};' + (f" attr : {{ {attr} }};" if attr else "") + " }")
        outputs += [f'{c.name}_{key} = "{c.name}_{key}.y";' for i, key in enumerate(JOBS) if key == "v" or cut >> i & 1]
    body = f'pipeline : {{ name = "around"; class = "strict"; inputs : {{ {" ".join(inputs)} }}; jobs : ( {", ".join(jobs)} ); outputs : {{ {" ".join(outputs)} }}; }};'
    return h.write("around.pipe.cfg", body.encode())


def ran(h, what, chains, cut, backend, *more):
    args = ["--json", "run", written(h, chains, cut), "--backend", backend, "--no-memo", *more]
    names = [f"{c.name}_{key}" for c in chains for i, key in enumerate(JOBS) if key == "v" or cut >> i & 1]
    for c in chains:
        for name, (_, data) in c.inputs.items():
            args += ["--in", f"{name}=" + h.write("in-" + name, data)]
    for name in names:
        args += ["--out", f"{name}=" + h.path("out-" + name)]
    status, out, err = h.run(*args)
    if not h.check(what, status == 0, err[-2000:]):
        return None
    r = json.loads(out)
    r["bytes"] = {name: h.read("out-" + name) for name in names}
    return r


def gas(r):
    return r["gas"], [(j["id"], j["what"], j["gas"], j["class"], j["race"], j["buffer_bytes"]) for j in r["jobs"]]


def looked_at(h, r, cut, backend, chains):
    """The bytes of what a run wrote, and which jobs went into one kernel."""
    into = {j["id"]: j["fused_into"] for j in r["jobs"]}
    for c in chains:
        for i, key in enumerate(JOBS):
            if key == "v" or cut >> i & 1:
                h.check_bytes(f"cut {cut:b} {c.name} {key} {backend}", r["bytes"][f"{c.name}_{key}"], c.want[key], 4)
        found = {key: into[f"{c.name}_{key}"] for key in JOBS}
        h.check(f"groups of cut {cut:b} {c.name} {backend}", found == c.groups(cut), f"{found}, not {c.groups(cut)}")


def whole(h, backend, chains):
    """All chains fused, each job verified, and one by one: the same bytes, gas, class and sizes, fewer dispatches."""
    apart = ran(h, f"one by one on {backend}", chains, 0, backend, "--no-fuse")
    held = ran(h, f"verified on {backend}", chains, 0, backend, "--verify", "all")
    if apart is None or held is None:
        return
    looked_at(h, held, 0, backend, chains)
    h.check(f"the same bytes {backend}", apart["bytes"] == held["bytes"])
    h.check(f"one price {backend}", gas(apart) == gas(held))
    n = [sum(int(j["dispatches"]) - int(j["inputs_looked_at"]) for j in r["jobs"]) for r in (apart, held)]
    h.check(f"fewer dispatches {backend}", n[1] <= n[0] - 3 * len(chains), f"{n[0]} one by one, {n[1]} fused")
    h.check(f"all verified {backend}", all(j["verified"] for j in held["jobs"]))
    h.check(f"none fused {backend}", all(j["fused_into"] is None for j in apart["jobs"]))


def cuts(h, backend, chains, which):
    for cut in which:
        r = ran(h, f"cut {cut:b} on {backend}", chains, cut, backend)
        if r is not None:
            looked_at(h, r, cut, backend, chains)


def bare(h, backend):
    """Rows under another shape before a product are the product's own; what is no more than a part of them, or wanted besides, is made."""
    r = Random(5)
    x, b = codes(r, 512, "f32", True), codes(r, 2560, "f32", True)
    want = pack("f32", matmul(2, 256, 10, turned=True)(x, {"b": b}))
    for what, op, attr, shape, outputs, into in (
            ("a shape", "tensor.reshape", 'shape = "2,256";', "512", "", "m"), ("a shape of a shape", "tensor.reshape", 'shape = "2,256";', "1,512", "", "m"),
            ("a part", "tensor.slice", 'stop = "2";', "3,256", "", None), ("a shape that is wanted", "tensor.reshape", 'shape = "2,256";', "512", 'u = "u.y";', None)):
        pipe = h.write("bare.pipe.cfg", (f'pipeline : {{ name = "bare"; class = "strict"; inputs : {{ x : {{ type = "f32[{shape}]"; }}; b : {{ type = "f32[10,256]"; }}; }};'
                       f'jobs : ( {{ id = "u"; op = "{op}@1"; in : {{ x = "$x"; }}; attr : {{ {attr} }}; }}, {{ id = "m"; op = "tensor.matmul@1"; in : {{ a = "u.y"; b = "$b"; }};'
                       f'attr : {{ transpose_b = true; }}; }} ); outputs : {{ y = "m.y"; {outputs} }}; }};').encode())
        more = ["--out", "u=" + h.path("u")] if outputs else []
        status, out, err = h.run("--json", "run", pipe, "--backend", backend, "--no-memo", "--in", "x=" + h.write("bx", pack("f32", x) + bytes(1024 if op == "tensor.slice" else 0)),
                                 "--in", "b=" + h.write("bb", pack("f32", b)), "--out", "y=" + h.path("y"), *more)
        if h.check(f"{what} {backend}", status == 0, err):
            found = [j["fused_into"] for j in json.loads(out)["jobs"]]
            h.check(f"{what} before a product {backend}", found == [into, into], str(found))
            h.check_bytes(f"{what} {backend}: bytes", h.read("y"), want, 4)


def parts(h, backend):
    """Integers that are parts of a word, of which kernels have no values: views alone stand before them and behind."""
    for kind in ("u8", "i16"):
        r, moved = Random(bits_of(kind)), 1 << (bits_of(kind) - 1) if kind[0] == "i" else 0
        x = codes(r, 5 * 7 * 3, kind, True)
        turned = [x[(a * 7 + b) * 3 + c] for c in range(3) for a in range(5) for b in range(7)]
        want = pack(kind, [max(turned[first:first + 7], key=lambda v: v ^ moved) for first in range(0, len(turned), 7)])
        pipe = h.write("parts.pipe.cfg", (f'pipeline : {{ name = "parts"; class = "strict"; inputs : {{ x : {{ type = "{kind}[5,7,3]"; }}; }};'
                       'jobs : ( { id = "u"; op = "tensor.transpose@1"; in : { x = "$x"; }; attr : { axes = "2,0,1"; }; }, { id = "m"; op = "tensor.max@1"; in : { x = "u.y"; };'
                       'attr : { axes = "2"; }; }, { id = "v"; op = "tensor.reshape@1"; in : { x = "m.y"; }; attr : { shape = "-1"; }; } ); outputs : { y = "v.y"; }; };').encode())
        status, out, err = h.run("--json", "run", pipe, "--backend", backend, "--no-memo", "--verify", "all", "--in", "x=" + h.write("px", pack(kind, x)), "--out", "y=" + h.path("y"))
        if h.check(f"parts of words {kind} {backend}", status == 0, err):
            found = [j["fused_into"] for j in json.loads(out)["jobs"]]
            h.check(f"views around {kind} {backend}", found == ["v"] * 3, str(found))
            h.check_bytes(f"parts of words {kind} {backend}: bytes", h.read("y"), want, 1)


def faults(h):
    """A product and a sum behind a matrix product, made one operation: alone the jobs are right."""
    chain = next(all_chains())  # "thin"
    device = "mock:wrap=cpu+late-contract"
    r = ran(h, "a device that contracts, one by one", [chain], 0, device, "--no-fuse", "--verify", "all")
    h.check("one by one it is right", r is not None and r["bytes"]["thin_v"] == chain.want["v"])
    args = ["run", written(h, [chain], 0), "--backend", device, "--no-memo", "--verify", "all", "--out", "thin_v=" + h.path("y")]
    for name, (_, data) in chain.inputs.items():
        args += ["--in", f"{name}=" + h.write("in-" + name, data)]
    status, _, err = h.run(*args)
    h.check("an end of a matrix product that contracts is caught", status != 0 and "PC52" in err, err)
    h.planted("an end of a matrix product that contracts", "core/runtime/graph/jobplan_through.c", "PC5216", err)


PRODUCTS = ("thin", "rows", "blocks", "small", "tiles", "ordered", "words", "packed", "packedwide")
SUMS = ("sum", "sumplain", "columns", "few", "sumwords", "mean", "max", "min", "argmax", "all", "long")
ROWS = ("rms", "rmsfew", "layer", "group", "batch", "softmax", "logsoftmax", "softfew", "logsum")


def main():
    few = "--few" in sys.argv
    what, kind, backends = sys.argv[1], sys.argv[2], [a for a in sys.argv[3:] if a != "--few"]
    h = Harness()
    if what == "faults":
        faults(h)
        return h.finish()
    Chain.wanted = {"products": PRODUCTS, "sums": SUMS, "rows": ROWS}.get(kind)
    chains = list(typed_chains() if kind == "types" else all_chains())
    if kind != "types":
        h.check("each chain is of a kind", sorted(c.name for c in chains) == sorted(PRODUCTS + SUMS + ROWS), str([c.name for c in chains]))
        chains = [c for c in chains if kind == "all" or c.name in Chain.wanted]
    every = chains[::3] if few else chains
    for backend in backends:
        chains = [c for c in every if c.name != "packedwide" or backend.endswith("+gpu")]
        for c in chains:
            c.on = "gpu" if backend.endswith("+gpu") else "other"
        whole(h, backend, chains)
        if kind in ("products", "all"):
            bare(h, backend)
        if kind == "types":
            parts(h, backend)
        if what == "every":
            cuts(h, backend, chains, range(1, 32))
        else:
            cuts(h, backend, share([chains[0], chains[-1]], 2), [31] + [1 << i for i in range(0 if few else 5)])
    h.finish()


main()
