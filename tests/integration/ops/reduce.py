"""tensor.max, min, any, all, prod, argmax, argmin and variance against fractions and Python's integers.
usage: reduce.py all|few BACKEND..."""
import itertools
import sys
from fractions import Fraction

from harness import Harness, Random, share
from matmul import FLOATS, INTEGERS, bits_of, codes, exact, nan, negative, pack, rounded, times, value
from rows import together


def kind_of(kind):
    return "u32" if kind == "bool" else kind


def rank_of(kind, code):
    """What orders codes that are no NaN: -0 below +0."""
    v = value(kind, code)
    size = {"inf": (1, 0), "-inf": (-1, 0)}.get(v, (0, v)) if isinstance(v, str) else (0, v)
    return (*size, 0 if kind in INTEGERS else -negative(kind, code))


def extreme(op, kind, row):
    """Index of the least or greatest, or None where nothing but NaN is there."""
    numbers = [i for i, code in enumerate(row) if value(kind, code) != "nan"]
    best = None
    for i in numbers:
        if best is None or (rank_of(kind, row[i]) > rank_of(kind, row[best]) if "max" in op else rank_of(kind, row[i]) < rank_of(kind, row[best])):
            best = i
    return best


def nothing(op, kind):
    if op == "tensor.prod":
        return 1 if kind in INTEGERS else rounded(kind, Fraction(1))
    low, w = op == "tensor.max", bits_of(kind)
    if kind in FLOATS:
        p, _, top = FLOATS[kind]
        return top << (p - 1) | (1 << (w - 1) if low else 0)
    if kind[0] == "i":
        return 1 << (w - 1) if low else (1 << (w - 1)) - 1
    return 0 if low else (1 << w) - 1


def product(kind, row):
    if kind in INTEGERS:
        p = 1
        for code in row:
            p = p * code % (1 << INTEGERS[kind])
        return p
    acc = 0x3F800000
    for code in row:
        v = times(value("f32", acc), value(kind, code))
        sign = negative("f32", acc) ^ negative(kind, code)
        acc = exact("f32", [v]) if isinstance(v, str) else rounded("f32", v, bool(sign))
    v = value("f32", acc)
    return exact(kind, [v]) if isinstance(v, str) else rounded(kind, v, bool(negative("f32", acc)))


def variance(kind, row, ddof):
    values, n = [value(kind, code) for code in row], len(row)
    if n <= ddof or any(isinstance(v, str) for v in values):
        return nan(kind)
    mean = sum(values, Fraction(0)) / n
    return rounded(kind, sum((v - mean) ** 2 for v in values) / (n - ddof))


def one(op, kind, row, ddof):
    if op in ("tensor.any", "tensor.all"):
        truths = [value(kind_of(kind), code) != 0 for code in row]
        return int(any(truths) if op == "tensor.any" else all(truths))
    if op == "tensor.variance":
        return variance(kind, row, ddof)
    if op == "tensor.prod":
        return product(kind, row) if row else nothing(op, kind)
    if not row:
        return nothing(op, kind)
    at = extreme(op, kind, row)
    if op in ("tensor.argmax", "tensor.argmin"):
        return at or 0
    return nan(kind) if at is None else row[at]


def wanted(op, kind, shape, axes, x, ddof=0):
    kept = [d for d in range(len(shape)) if d not in axes]
    rows = {at: [] for at in itertools.product(*(range(shape[d]) for d in kept))}
    for at, code in zip(itertools.product(*(range(n) for n in shape)), x):
        rows[tuple(at[d] for d in kept)].append(code)
    return [one(op, kind, row, ddof) for row in rows.values()]


def elements(r, kind, n, how):
    if kind == "bool":
        return [r.below(2) for _ in range(n)]
    if how == "ties":
        pool = [rounded(kind, Fraction(v), v == 0 and z) for v, z in ((0, False), (0, True), (1, False), (-1, False))] + [nan(kind) + 1, nan(kind)] \
            if kind in FLOATS else [0, 1, (1 << bits_of(kind)) - 1]
        return [pool[r.below(len(pool))] for _ in range(n)]
    if how == "near":
        p, _, top = FLOATS[kind]
        return [r.below(2) << (bits_of(kind) - 1) | (top // 2 + r.below(2)) << (p - 1) | r.below(1 << (p - 1)) for _ in range(n)]
    if how == "nan":
        return [nan(kind) | r.below(2) << (bits_of(kind) - 1) | r.below(2) for _ in range(n)]
    return codes(r, kind, n, "any")


@together
def run(h, r, backends, op, kind, shape, axes, how, keep=False, ddof=0):
    n = 1
    for d in shape:
        n *= d
    x = elements(r, kind, n, how)
    out = "u32" if op in ("tensor.any", "tensor.all", "tensor.argmax", "tensor.argmin") else kind
    want = pack(out, wanted(op, kind, shape, [a % len(shape) for a in axes] if axes else range(len(shape)), x, ddof))
    attrs = ["keep=true"] * keep + [f"ddof={ddof}"] * (ddof > 0)
    if axes:
        attrs.append(("axis=" if "arg" in op else "axes=") + ",".join(map(str, axes)))
    for backend in backends:
        got = yield op, [("x", pack(kind_of(kind), x), f"{kind}{list(shape)}".replace(" ", ""))], ["y"], backend, attrs
        if got is not None:
            h.check_bytes(f"{op} {kind} {shape} {axes} {how} {backend}", got[0], want, bits_of(out) // 8)


def refusals(h):
    h.write("x", bytes(24))
    h.write("none", b"")
    for op, kind, attr, words in (("max", "f32[2,3]", "axes=2", "PC4202"), ("argmax", "f32[2,3]", "axis=2", "PC4202"),
                                  ("argmax", "f32[2,3]", "axis=-3", "PC4202"), ("argmin", "f32[3,0]", "axis=1", "PC4201"),
                                  ("max", "bool[6]", "", "PC4102"), ("argmax", "f32[2,3]", "axis=9", "PC4"), ("prod", "bool[6]", "", "PC4102"),
                                  ("variance", "i32[6]", "", "PC4102")):
        status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", "--in",
                               f"x={h.path('none' if ',0' in kind else 'x')}:{kind}", "--out", "y=" + h.path("y"),
                               *(["--attr", attr] if attr else []))
        h.check(f"refused {op} {kind} {attr}", status != 0 and words in err, err)


SHAPES = (((0,), ()), ((1,), ()), ((17, 5), (0,)), ((17, 5), (-1,)), ((3, 2, 0), (2,)), ((2, 3, 2, 3, 2), (0, 2, 4)))


def main():
    h, r = Harness(), Random(16)
    how, backends = sys.argv[1], sys.argv[2:]
    run(h, r, backends, "tensor.max", "f32", (3, 5, 67), (2,), "any")
    run(h, r, backends, "tensor.min", "f16", (67, 5), (0,), "ties")
    run(h, r, backends, "tensor.min", "i8", (1025,), (), "any")
    run(h, r, backends, "tensor.argmax", "f32", (2, 1500), (1,), "ties")
    run(h, r, backends, "tensor.argmin", "i64", (70, 3), (0,), "any")
    run(h, r, backends, "tensor.prod", "f32", (7, 33), (1,), "near")
    run(h, r, backends, "tensor.all", "bf16", (3, 5), (1,), "any")
    run(h, r, backends, "tensor.variance", "f32", (3, 65), (1,), "near")
    if how == "all":
        refusals(h)
        for kind in FLOATS:
            for (shape, axes), ddof in share(itertools.product(SHAPES, (0, 1, 5)), 5):
                run(h, r, backends, "tensor.variance", kind, shape, axes, "any" if len(shape) > 2 else "near", len(shape) == 3, ddof)
            run(h, r, backends, "tensor.variance", kind, (3, 7), (1,), "ties")
        run(h, r, backends, "tensor.variance", "f32", (2053,), (), "near")
        # Each shape with each op, and each type with nearly all of either.
        for kind, op, (shape, axes) in share(itertools.product((*FLOATS, *INTEGERS), ("max", "min", "any", "all", "prod"), SHAPES), 7):
            run(h, r, backends, "tensor." + op, kind, shape, axes, "ties" if shape[0] == 17 else "any", len(shape) == 3)
        for kind, op, (shape, axis) in share(itertools.product((*FLOATS, *INTEGERS), ("argmax", "argmin"), (((1,), 0), ((1, 65), 1), ((65, 3), 0), ((3, 5, 2), -2))), 3):
            run(h, r, backends, "tensor." + op, kind, shape, (axis,), "ties" if shape[0] == 65 else "any")
        for kind in FLOATS:
            run(h, r, backends, "tensor.max", kind, (3, 9), (1,), "nan")
            run(h, r, backends, "tensor.argmin", kind, (3, 9), (1,), "nan")
            run(h, r, backends, "tensor.prod", kind, (3, 40), (1,), "near")
        for op in ("any", "all"):
            run(h, r, backends, "tensor." + op, "bool", (70, 3), (1,), "any")
        # Three rounds, and a product over the terms of one dispatch.
        run(h, r, backends, "tensor.max", "f32", (400003,), (), "any")
        run(h, r, backends, "tensor.argmin", "i16", (2, 100003), (1,), "any")
        run(h, r, backends, "tensor.prod", "f32", (16387, 2), (0,), "near")
        run(h, r, backends, "tensor.prod", "bf16", (1, 16385), (1,), "near")
    h.finish()


if __name__ == "__main__":
    main()
