"""tensor.sum and tensor.mean against fractions and Python's integers.
usage: sum.py all|few BACKEND..."""
import itertools
import sys
from fractions import Fraction

from harness import Harness, Random, share
from matmul import FLOATS, INTEGERS, bits_of, codes, exact, nan, pack, value
from rows import together


def wanted(op, kind, shape, axes, x):
    """Results in the order of the kept axes."""
    kept = [d for d in range(len(shape)) if d not in axes]
    terms = {at: [] for at in itertools.product(*(range(shape[d]) for d in kept))}
    for at, code in zip(itertools.product(*(range(n) for n in shape)), x):
        terms[tuple(at[d] for d in kept)].append(code)
    out = []
    for row in terms.values():
        values = [value(kind, code) for code in row]
        if kind in INTEGERS:
            out.append(int(sum(values)) % (1 << INTEGERS[kind]))
        elif op == "tensor.sum":
            out.append(exact(kind, values))
        elif not row:
            out.append(nan(kind))
        else:
            out.append(exact(kind, [v if isinstance(v, str) else v / len(row) for v in values]))
    return out


@together
def run(h, r, backends, op, kind, shape, axes, how, keep=False):
    n = 1
    for d in shape:
        n *= d
    x = codes(r, kind, n, how)
    want = pack(kind, wanted(op, kind, shape, [a % len(shape) for a in axes] if axes else range(len(shape)), x))
    attrs = ["axes=" + ",".join(map(str, axes))] if axes else []
    for backend in backends:
        got = yield op, [("x", pack(kind, x), f"{kind}{list(shape)}".replace(" ", ""))], ["y"], backend, attrs + ["keep=true"] * keep
        if got is not None:
            h.check_bytes(f"{op} {kind} {shape} {axes} {how} {backend}", got[0], want, bits_of(kind) // 8)


def refusals(h):
    h.write("x", bytes(24))
    for kind, axes, words in (("f32[2,3]", "2", "PC4202"), ("f32[2,3]", "0,-2", "twice"), ("f32[2,3]", "0,", "PC4202"),
                              ("f32[2,3]", "x", "PC4202"), ("i8[24]", "", "PC4102")):
        status, _, err = h.run("op", "run", "tensor.sum", "--backend", "cpu", "--in", f"x={h.path('x')}:{kind}", "--out",
                               "y=" + h.path("y"), *(["--attr", "axes=" + axes] if axes else []))
        h.check(f"refused {kind} {axes}", status != 0 and words in err, err)
    h.write("none", b"")
    status, _, err = h.run("op", "run", "tensor.sum", "--backend", "cpu", "--in", f"x={h.path('none')}:f32[4294967297,0]", "--out",
                           "y=" + h.path("y"), "--attr", "axes=1")
    h.check("more results than an index counts", status != 0 and "PC4204" in err, err)
    status, _, err = h.run("op", "run", "tensor.mean", "--backend", "cpu", "--in", f"x={h.path('x')}:i32[6]", "--out", "y=" + h.path("y"))
    h.check("no mean of integers", status != 0 and "PC4102" in err, err)


SHAPES = (((1,), ()), ((0,), ()), ((2, 3), (0, 1)), ((17, 5), (0,)), ((17, 5), (-1,)), ((2, 0, 3), (1,)), ((2, 3, 2, 3, 2), (0, 2, 4)), ((3, 2, 2, 3, 2, 1), (1, 4)))


def main():
    h, r = Harness(), Random(15)
    how, backends = sys.argv[1], sys.argv[2:]
    run(h, r, backends, "tensor.sum", "f32", (3, 5, 7), (1,), "cancel")
    run(h, r, backends, "tensor.sum", "f32", (2500,), (), "cancel")
    run(h, r, backends, "tensor.mean", "f16", (3, 11), (0,), "ties")
    run(h, r, backends, "tensor.mean", "f32", (2, 1027), (-1,), "ties")
    run(h, r, backends, "tensor.sum", "i32", (3, 1030), (1,), "any")
    if how == "all":
        refusals(h)
        for kind in ("f32", "f16", "bf16", "i32", "u32", "i64", "u64"):
            for op, (shape, axes) in share(itertools.product(("tensor.sum", "tensor.mean") if kind in FLOATS else ("tensor.sum",), SHAPES), 3):
                run(h, r, backends, op, kind, shape, axes, "any" if len(shape) > 2 else "cancel", len(shape) == 3)
        # Over the turns that llvmpipe makes, three rounds.
        run(h, r, backends, "tensor.sum", "f32", (1100000,), (), "ties")
    h.finish()


if __name__ == "__main__":
    main()
