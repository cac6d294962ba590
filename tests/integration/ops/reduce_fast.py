"""Reductions of rows and columns by way of f64 (ops/tensor/quick_sums.c, rows.c) against exact rational arithmetic: shapes at which that way is
taken, sums that lie on and beside a rounding boundary, cancel, overflow, underflow or are not finite.
usage: reduce_fast.py all|few BACKEND..."""
import math
import sys
from fractions import Fraction

from harness import Harness, Random
from matmul import FLOATS, bits_of, codes, exact, pack, rounded, value
from norms import exp, norm, softmax
from present import present
from reduce import variance
from rows import together

F = "f32"


def f32(x):
    """The code of a number that f32 holds."""
    code = rounded(F, Fraction(x), False)
    assert value(F, code) == x
    return code


def row_of(r, kind, n):
    """n codes of f32: a sum half way between two f32, or beside that by what f64 keeps, loses or cannot tell from its error; or one of the rest."""
    row = [Fraction(0)] * n
    at = [r.below(n // 4) + i * (n // 4) for i in range(4)]
    row[at[0]] = Fraction(1)
    if kind in (0, 1, 2):  # half way, and beside it by less than f64 has places for
        row[at[1]] = Fraction(1, 1 << 24)
        row[at[2]] = (0, 1, -1)[kind] * Fraction(1, 1 << 70)
    if kind in (3, 4):  # what is lost beside large numbers that cancel
        row[at[1]] = Fraction(1, 1 << 23) - Fraction(1, 1 << 40)
        row[at[2]], row[at[3]] = Fraction(1 << 30), Fraction(-1 << 30)
        if kind == 4:
            row = [-x for x in row]
    if kind == 5:  # nothing is left but the smallest
        row[at[1]], row[at[2]] = Fraction(-1), Fraction(-1, 1 << 149)
    if kind == 6:  # nothing at all
        row[at[1]], row[at[2]], row[at[3]] = Fraction(-1), Fraction(3), Fraction(-3)
    if kind == 7:
        return [0x80000000] * n
    if kind in (8, 9, 10):
        row = [f32(x) for x in row]
        row[at[1]] = (0x7F800000, 0xFF800000, 0x7FC12345)[kind - 8]
        row[at[2]] = (0x7F800000, 0x7F800000, 0x3F800000)[kind - 8]
        return row
    if kind == 11:  # over the largest
        return [0x7F7FFFFF] * n
    if kind == 12:  # subnormals
        return [r.below(2) << 31 | r.below(1 << 10) for _ in range(n)]
    if kind == 13:  # numbers of one size, far from zero: variances cancel
        return [f32(1000 + Fraction(r.below(1 << 13), 1 << 13)) for _ in range(n)]
    if kind == 14:
        return [f32(Fraction(7, 2))] * n
    if kind == 15:
        return codes(r, F, n, "any")
    return [f32(x) for x in row]


KINDS = 16


def matrix(r, kind, rows, n):
    """Codes of rows of every kind, in that type."""
    x = []
    for i in range(rows):
        x += row_of(r, i % KINDS, n)
    if kind == F:
        return x
    return [exact(kind, [value(F, c)]) if isinstance(value(F, c), str) else rounded(kind, value(F, c), c >> 31 == 1) for c in x]


def moment(op, kind, row):
    values = [value(kind, c) for c in row]
    if op == "tensor.variance":
        return variance(kind, row, 0)
    if op == "tensor.mean":
        values = [v if isinstance(v, str) else v / len(row) for v in values]
    return exact(kind, values)


@together
def run_sums(h, r, backends, op, kind, rows, n, columns):
    """columns: x is transposed, and reduced along axis 0."""
    x = matrix(r, kind, rows, n)
    want = pack(kind, [moment(op, kind, x[i * n:i * n + n]) for i in range(rows)])
    if columns:
        x = [x[i * n + t] for t in range(n) for i in range(rows)]
    shape = f"{kind}[{n},{rows}]" if columns else f"{kind}[{rows},{n}]"
    for backend in backends:
        got = yield op, [("x", pack(kind, x), shape)], ["y"], backend, ["axes=0" if columns else "axes=1"]
        if got is not None:
            h.check_bytes(f"{op} {shape} {backend}", got[0], want, bits_of(kind) // 8)


@together
def run_argmax(h, r, backends, rows, n):
    """Ties far apart: the first counts."""
    x, want = [], []
    for i in range(rows):
        row = [f32(Fraction(r.below(9) - 4)) for _ in range(n)]
        if i % 3 == 0:
            row[n - 1] = row[n // 2 + 1] = f32(5)
        x += row
        want.append(row.index(max(row, key=lambda c: value(F, c))))
    for backend in backends:
        got = yield "tensor.argmax", [("x", pack(F, x), f"f32[{rows},{n}]")], ["y"], backend
        if got is not None:
            h.check_bytes(f"argmax {rows} {n} {backend}", got[0], b"".join(i.to_bytes(4, "little") for i in want), 4)


def near_softmax():
    """A row of which the sum of exponentials is half way between two f32 but for one that f64 loses: 2048 ones, two that add up to 2^-13, and e^-42."""
    start, made = f32(Fraction(-9)) + 738262 - 2000, {}
    for code in range(start, start + 4000):
        e = value(F, exp(code))
        if Fraction(1, 1 << 13) - e in made:
            return [0] * 2048 + [code, made[Fraction(1, 1 << 13) - e], f32(-42)] + [0xFF800000] * 253
        made[e] = code
    raise ValueError("no such pair")


@together
def run_softmax(h, backends, op, kind, rows):
    n = len(rows[0])
    x = [c for row in rows for c in row]
    want = pack(kind, [c for row in rows for c in softmax(op, kind, row)])
    for backend in backends:
        got = yield op, [("x", pack(kind, x), f"{kind}[{len(rows)},{n}]")], ["y"], backend
        if got is not None:
            h.check_bytes(f"{op} {kind} {len(rows)} {n} {backend}", got[0], want, bits_of(kind) // 8)


@together
def run_norms(h, r, backends, op, kind, shape, number, eps="0"):
    """Rows of every kind: of the last dimension, or of group_norm of all behind the groups."""
    rows = math.prod(shape[:-1]) if op != "group_norm" else shape[0] * number
    x = matrix(r, kind, rows, math.prod(shape) // rows)
    channels = shape[-1] if op != "group_norm" else shape[1]
    ports = {"x": x, "weight": codes(r, kind, channels, "cancel")}
    if op != "rms_norm":
        ports["bias"] = codes(r, kind, channels, "cancel")
    want = pack(kind, norm(op, kind, shape, number, rounded(F, Fraction(eps)), dict(ports, bias=ports.get("bias", []))))
    shapes = {"x": list(shape), "weight": [channels], "bias": [channels]}
    inputs = [(name, pack(kind, values), f"{kind}{shapes[name]}".replace(" ", "")) for name, values in ports.items()]
    for backend in backends:
        got = yield "tensor." + op, inputs, ["y"], backend, ["eps=" + eps, ("groups=" if op == "group_norm" else "axes=") + str(number)]
        if got is not None:
            h.check_bytes(f"{op} {kind} {shape} {number} {eps} {backend}", got[0], want, bits_of(kind) // 8)


def prefixes(kind, row, exclusive, reverse):
    row = row[::-1] if reverse else row
    values = [value(kind, c) for c in row]
    out, finite, seen = [], Fraction(0), []
    for i in range(len(row)):
        if exclusive:
            out.append(exact(kind, seen + [finite]))
        if isinstance(values[i], str):
            seen.append(values[i])
        else:
            finite += values[i]
        if not exclusive:
            out.append(exact(kind, seen + [finite]))
    return out[::-1] if reverse else out


@together
def run_cumsum(h, r, backends, kind, rows, n, exclusive, reverse):
    x = matrix(r, kind, rows, n)
    want = pack(kind, [c for i in range(rows) for c in prefixes(kind, x[i * n:i * n + n], exclusive, reverse)])
    attrs = ["exclusive=true"] * exclusive + ["reverse=true"] * reverse
    for backend in backends:
        got = yield "tensor.cumsum", [("x", pack(kind, x), f"{kind}[{rows},{n}]")], ["y"], backend, attrs
        if got is not None:
            h.check_bytes(f"cumsum {kind} {rows} {n} {exclusive} {reverse} {backend}", got[0], want, bits_of(kind) // 8)


def main():
    h, r = Harness(), Random(43)
    how, backends = sys.argv[1], present(h, sys.argv[2:])
    run_sums(h, r, backends, "tensor.sum", F, 16, 160, False)
    run_sums(h, r, backends, "tensor.sum", F, 16, 131, True)
    run_sums(h, r, backends, "tensor.variance", F, 16, 132, False)
    run_argmax(h, r, backends, 5, 700)
    run_softmax(h, backends, "tensor.softmax", F, [near_softmax()])
    run_norms(h, r, backends, "layer_norm", F, (16, 132), 1)
    run_norms(h, r, backends, "rms_norm", F, (16, 132), 1)
    run_cumsum(h, r, backends, F, 16, 4100, False, False)
    if how == "all":
        for kind in FLOATS:
            for exclusive, reverse in ((True, False), (False, True), (True, True)):
                run_cumsum(h, r, backends, kind, 16, 1028 if exclusive else 4100, exclusive, reverse)
            for op in ("tensor.softmax", "tensor.log_softmax"):
                run_softmax(h, backends, op, kind, [matrix(r, kind, i + 1, 132)[-132:] for i in range(16)])
            run_norms(h, r, backends, "layer_norm", kind, (2, 16, 68), 1, "0.5")
            run_norms(h, r, backends, "rms_norm", kind, (16, 600), 1)
            run_norms(h, r, backends, "group_norm", kind, (5, 8, 17, 2), 2)
        for op in ("tensor.softmax", "tensor.log_softmax"):
            run_softmax(h, backends, op, F, [near_softmax()])
        # Rows that workgroup memory does not hold.
        run_softmax(h, backends, "tensor.softmax", F, [[f32(Fraction(i * 37 % 101, 8)) for i in range(9000)]])
        run_norms(h, r, backends, "layer_norm", F, (3, 9000), 1)
        for kind in FLOATS:
            for op in ("tensor.sum", "tensor.mean", "tensor.variance"):
                for rows, n, columns in ((17, 128, False), (33, 65, True), (1, 9001, False), (70, 37, True)):
                    run_sums(h, r, backends, op, kind, rows, n, columns)
    h.finish()


if __name__ == "__main__":
    main()
