"""Reductions of rows and columns by way of f64 (ops/tensor/quick_sums.c, rows.c) against exact rational arithmetic: shapes at which that way is
taken, sums that lie on and beside a rounding boundary, cancel, overflow, underflow or are not finite.
usage: reduce_fast.py all|few BACKEND..."""
import math
import sys
from fractions import Fraction

from harness import Harness, Random
from matmul import FLOATS, bits_of, codes, exact, pack, rounded, value
from present import present
from reduce import variance
from rows import op_run

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


def run_sums(h, r, backends, op, kind, rows, n, columns):
    """columns: x is transposed, and reduced along axis 0."""
    x = matrix(r, kind, rows, n)
    want = pack(kind, [moment(op, kind, x[i * n:i * n + n]) for i in range(rows)])
    if columns:
        x = [x[i * n + t] for t in range(n) for i in range(rows)]
    shape = f"{kind}[{n},{rows}]" if columns else f"{kind}[{rows},{n}]"
    for backend in backends:
        got = op_run(h, op, [("x", pack(kind, x), shape)], ["y"], backend, ["axes=0" if columns else "axes=1"])
        if got is not None:
            h.check_bytes(f"{op} {shape} {backend}", got[0], want, bits_of(kind) // 8)


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
        got = op_run(h, "tensor.argmax", [("x", pack(F, x), f"f32[{rows},{n}]")], ["y"], backend)
        if got is not None:
            h.check_bytes(f"argmax {rows} {n} {backend}", got[0], b"".join(i.to_bytes(4, "little") for i in want), 4)


def main():
    h, r = Harness(), Random(43)
    how, backends = sys.argv[1], present(h, sys.argv[2:])
    run_sums(h, r, backends, "tensor.sum", F, 16, 160, False)
    run_sums(h, r, backends, "tensor.sum", F, 16, 131, True)
    run_sums(h, r, backends, "tensor.variance", F, 16, 132, False)
    run_argmax(h, r, backends, 5, 700)
    if how == "all":
        for kind in FLOATS:
            for op in ("tensor.sum", "tensor.mean", "tensor.variance"):
                for rows, n, columns in ((17, 128, False), (33, 65, True), (1, 9001, False), (70, 37, True)):
                    run_sums(h, r, backends, op, kind, rows, n, columns)
    h.finish()


if __name__ == "__main__":
    main()
