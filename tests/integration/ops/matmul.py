"""tensor.matmul against exact rational arithmetic and, for its orders, against f32 steps made of fractions.
usage: matmul.py all|few BACKEND...
all: every pair of types, order and shape on small matrices, adversarial values; few: what a driver that takes long over a kernel shall see."""
import functools
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dtype"))
from dyadic import Dyadic, aligned, dot, nearest, total  # noqa: E402
from harness import Harness, Random  # noqa: E402
from rows import together  # noqa: E402

FLOATS = {"f32": (24, -149, 0xFF), "f16": (11, -24, 0x1F), "bf16": (8, -133, 0xFF)}
INTEGERS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}


def bits_of(kind):
    return INTEGERS.get(kind) or {"f32": 32, "f64": 64}.get(kind, 16)


@functools.lru_cache(1 << 16)
def value(kind, code):
    """An exact number, "nan", "inf", "-inf"."""
    if kind in INTEGERS:
        w = INTEGERS[kind]
        return Dyadic(code - (1 << w) if kind[0] == "i" and code >> (w - 1) else code)
    p, least, top = FLOATS[kind]
    sign, field, low = code >> (bits_of(kind) - 1), code >> (p - 1) & top, code & ((1 << (p - 1)) - 1)
    if field == top:
        return "nan" if low else "-inf" if sign else "inf"
    size = low if field == 0 else low + (1 << (p - 1))
    return Dyadic(-size if sign else size, least + max(field, 1) - 1)


def rounded(kind, x, negative_zero=False):
    """Nearest, ties to even; the sign of a nonzero x is kept."""
    p, least, top = FLOATS[kind]
    sign_bit = 1 << (bits_of(kind) - 1)
    if x == 0:
        return sign_bit if negative_zero else 0
    n, e = nearest(abs(x), p, least)
    return min(((e - least) << (p - 1)) + n, top << (p - 1)) | (sign_bit if x < 0 else 0)


def nan(kind):
    p, _, top = FLOATS[kind]
    return top << (p - 1) | 1 << (p - 2)


def times(a, b):
    if type(a) is Dyadic and type(b) is Dyadic:
        return a * b
    if "nan" in (a, b):
        return "nan"
    infinite = [x for x in (a, b) if isinstance(x, str)]
    if infinite:
        if 0 in (a, b):
            return "nan"
        negative = sum(1 for x in (a, b) if x == "-inf" or (not isinstance(x, str) and x < 0))
        return "-inf" if negative % 2 else "inf"
    return a * b


def products(kind, a, bs):
    """`exact` of the products of a row with each of some rows."""
    quick, out = aligned(a), []
    for b in bs:
        other = aligned(b) if quick else None
        out.append(rounded(kind, dot(quick, other)) if other else exact(kind, [times(x, y) for x, y in zip(a, b)]))
    return out


def exact(kind, terms):
    seen = {t for t in terms if type(t) is str}
    p, _, top = FLOATS[kind]
    if "nan" in seen or len(seen) == 2:
        return nan(kind)
    if seen:
        return top << (p - 1) | (1 << (bits_of(kind) - 1) if "-inf" in seen else 0)
    return rounded(kind, total(terms))


def negative(kind, code):
    return code >> (bits_of(kind) - 1) & 1


def step(a, b, acc, fused, kinds):
    """acc + a * b in f32 from codes to a code: one rounding, or two."""
    x, y, z = value(kinds[0], a), value(kinds[1], b), value("f32", acc)
    product = times(x, y)
    sign = (negative(kinds[0], a) if kinds[0] in FLOATS else x < 0) ^ (negative(kinds[1], b) if kinds[1] in FLOATS else y < 0)
    if not fused and not isinstance(product, str):
        code = rounded("f32", product, bool(sign))
        product = value("f32", code)
    seen = {t for t in (product, z) if isinstance(t, str)}
    if seen:
        return exact("f32", [t for t in (product, z) if isinstance(t, str)])
    total = product + z
    both = bool(sign) and product == 0 and negative("f32", acc) and z == 0
    return rounded("f32", total, both)


def ordered(order, kinds, pairs):
    total, acc = 0, 0
    for i, (a, b) in enumerate(pairs):
        if order == "chunked" and i % 256 == 0 and i:
            total = acc if i == 256 else step(0x3F800000, acc, total, True, ("f32", "f32"))
            acc = 0
        acc = step(a, b, acc, order != "sequential_unfused", kinds)
    if order == "chunked" and len(pairs) > 256:
        acc = step(0x3F800000, acc, total, True, ("f32", "f32"))
    return nan("f32") if value("f32", acc) == "nan" else acc


def codes(r, kind, n, how):
    w = bits_of(kind)
    if kind in INTEGERS:
        return [r.below(1 << w) if r.below(4) else [0, 1, (1 << w) - 1, 1 << (w - 1)][r.below(4)] for _ in range(n)]
    p, _, top = FLOATS[kind]
    out = []
    for i in range(n):
        sign = r.below(2) << (w - 1)
        if how == "any" and r.below(6) == 0:
            out.append(sign | [0, 1, top << (p - 1), (1 << (p - 1)) - 1, 1 << (p - 1), (top << (p - 1)) - 1,
                               top << (p - 1) | 1][r.below(7)])
        elif how == "any":
            out.append(r.below(1 << w))
        elif how == "cancel":
            field = top // 2 + r.below(5) * (top // 16)
            out.append(sign | field << (p - 1) | r.below(2) * r.below(1 << (p - 1)))
        else:
            out.append(sign | (top // 2 + r.below(3)) << (p - 1) | (r.below(4) << (p - 3)))
    return out


def product(kinds, order, out, shape, a, b):
    """shape: batches of a, of b, m, k, n."""
    batch_a, batch_b, m, k, n = shape
    result = []
    for z in range(max(batch_a, batch_b)):
        za, zb = (z if batch_a > 1 else 0), (z if batch_b > 1 else 0)
        rows = columns = []
        if out in INTEGERS or order == "exact":  # None: there is an infinity, or no number
            rows = [aligned(value(kinds[0], x) for x in a[(za * m + i) * k:(za * m + i + 1) * k]) for i in range(m)]
            columns = [aligned(value(kinds[1], x) for x in b[zb * k * n + j:(zb + 1) * k * n:n]) for j in range(n)]
        for i in range(m):
            for j in range(n):
                if rows and columns and rows[i] and columns[j]:
                    s = dot(rows[i], columns[j])
                    result.append(int(s) % (1 << INTEGERS[out]) if out in INTEGERS else rounded(out, s))
                    continue
                pairs = [(a[(za * m + i) * k + t], b[(zb * k + t) * n + j]) for t in range(k)]
                if out in INTEGERS:
                    result.append(int(total(value(kinds[0], x) * value(kinds[1], y) for x, y in pairs)) % (1 << INTEGERS[out]))
                elif order == "exact":
                    result.append(exact(out, [times(value(kinds[0], x), value(kinds[1], y)) for x, y in pairs]))
                else:
                    result.append(ordered(order, kinds, pairs))
    return result


def pack(kind, values):
    return b"".join(struct.pack({8: "<B", 16: "<H", 32: "<I", 64: "<Q"}[bits_of(kind)], v) for v in values)


def transpose(values, rows, columns):
    size = rows * columns
    return [values[z * size + i * columns + j] for z in range(len(values) // size) for j in range(columns) for i in range(rows)]


@together
def run(h, r, backends, kinds, order, out, shape, how, turned=0):
    batch_a, batch_b, m, k, n = shape
    a, b = codes(r, kinds[0], batch_a * m * k, how), codes(r, kinds[1], batch_b * k * n, how)
    want = pack(out, product(kinds, order, out, shape, a, b))
    attrs = [f"order={order}"] + ([f"out={out}"] if out in ("f16", "bf16") else [])
    attrs += ["transpose_a=true"] * (turned == 1) + ["transpose_b=true"] * (turned == 2)
    shape_a, shape_b = ([k, m] if turned == 1 else [m, k]), ([n, k] if turned == 2 else [k, n])
    a, b = (transpose(a, m, k) if turned == 1 else a), (transpose(b, k, n) if turned == 2 else b)
    shape_a, shape_b = ([batch_a] if batch_a > 1 else []) + shape_a, ([batch_b] if batch_b > 1 else []) + shape_b
    ports = [("a", pack(kinds[0], a), f"{kinds[0]}{shape_a}".replace(" ", "")),
             ("b", pack(kinds[1], b), f"{kinds[1]}{shape_b}".replace(" ", ""))]
    for backend in backends:
        got = yield "tensor.matmul", ports, ["y"], backend, attrs
        if got is not None:
            h.check_bytes(f"{kinds} {order} {out} {shape} {how} {turned} {backend}", got[0], want, bits_of(out) // 8)


def refusals(h):
    two = h.write("two", bytes(16))
    for types, attrs, words in ((("f32[2,2]", "f32[2]"), [], "PC4201"), (("f32[2,2]", "f32[4,1]"), [], "2 columns"),
                                (("i32[2,2]", "u32[2,2]"), [], "sign of a"), (("f32[2,2]", "i32[2,2]"), [], "exact in f32"),
                                (("f32[2,2]", "f32[2,2]"), ["order=any"], "PC4202"), (("f32[2,2]", "f32[2,2]"), ["out=i32"], "PC4202"),
                                (("f32[2,2]", "f32[2,2]"), ["out=f16", "order=chunked"], "PC4202"),
                                (("i32[2,2]", "i32[2,2]"), ["order=chunked"], "PC4202"), (("i32[2,2]", "i32[2,2]"), ["out=i64"], "PC4202")):
        args = [x for attr in attrs for x in ("--attr", attr)]
        n = {"f32[2]": 8}
        h.write("short", bytes(8))
        status, _, err = h.run("op", "run", "tensor.matmul", "--backend", "cpu", "--in", f"a={two}:{types[0]}", "--in",
                               f"b={h.path('short') if types[1] in n else two}:{types[1]}", "--out", "y=" + h.path("y"), *args)
        h.check(f"refused {types} {attrs}", status != 0 and words in err, err)

    h.write("three", bytes(12))
    h.write("none", b"")
    for a, b, words in ((("two", "f32[2,2,1]"), ("three", "f32[3,1,1]"), "2 and 3 matrices"),
                        (("none", "f32[0,1073741824]"), ("none", "f32[1073741824,0]"), "PC4204"),
                        (("none", "f32[65536,0]"), ("none", "f32[0,65536]"), "PC4204")):
        status, _, err = h.run("op", "run", "tensor.matmul", "--backend", "cpu", "--in", f"a={h.path(a[0])}:{a[1]}", "--in",
                               f"b={h.path(b[0])}:{b[1]}", "--out", "y=" + h.path("y"))
        h.check(f"refused {a} {b}", status != 0 and words in err, err)


def main():
    h, r = Harness(), Random(14)
    how, backends = sys.argv[1], sys.argv[2:]
    for out in FLOATS:
        run(h, r, backends, ("f32", "f32"), "exact", out, (1, 1, 3, 5, 3), "any")
    run(h, r, backends, ("f32", "f32"), "exact", "f32", (1, 1, 2, 257, 3), "cancel")
    run(h, r, backends, ("f16", "i8"), "exact", "f32", (1, 1, 3, 17, 5), "ties")
    run(h, r, backends, ("f32", "f32"), "chunked", "f32", (1, 1, 2, 513, 2), "cancel")
    run(h, r, backends, ("i8", "i8"), "exact", "i32", (1, 1, 3, 5, 3), "any")
    if how == "all":
        refusals(h)
        for kinds in (("f16", "f16"), ("bf16", "bf16"), ("f32", "u8"), ("i16", "f32"), ("bf16", "u16")):
            run(h, r, backends, kinds, "exact", "f32", (1, 1, 3, 19, 3), "any")
            run(h, r, backends, kinds, "exact", "bf16", (1, 1, 2, 33, 2), "ties")
        for kinds, out in ((("u8", "u16"), "u32"), (("i32", "i8"), "i32"), (("u32", "u32"), "u32"), (("i64", "i64"), "i64"), (("u64", "u64"), "u64")):
            run(h, r, backends, kinds, "exact", out, (1, 1, 3, 7, 4), "any")
        for order in ("exact", "sequential", "sequential_unfused", "chunked"):
            for k in (0, 1, 255, 256, 257):
                run(h, r, backends, ("f32", "f32"), order, "f32", (1, 1, 1, k, 2), "cancel")
            run(h, r, backends, ("f32", "f16"), order, "f32", (1, 1, 4, 9, 4), "any")
        run(h, r, backends, ("f32", "f32"), "exact", "f32", (1, 1, 1, 4096, 1), "cancel")
        for shape in ((3, 3, 2, 4, 3), (3, 1, 2, 4, 3), (1, 4, 2, 4, 3), (1, 1, 0, 3, 2), (1, 1, 2, 3, 0)):
            for turned in (0, 1, 2) if 0 not in shape else (0,):
                run(h, r, backends, ("f32", "f32"), "exact", "f32", shape, "ties", turned)
    h.finish()


if __name__ == "__main__":
    main()
