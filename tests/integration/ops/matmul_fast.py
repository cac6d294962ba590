"""tensor.matmul, in tiles (ops/tensor/matmul_fast.c) against exact rational arithmetic: products of a size at which that way is
taken, with sums that lie on and one unit of f64 beside a rounding boundary, cancel, overflow, underflow or are not finite.
usage: matmul_fast.py all|few BACKEND..."""
import struct
import sys
from fractions import Fraction

from harness import Harness, Random
from matmul import bits_of, codes, pack, product, rounded, transpose, value
from present import present
from rows import op_run


def f32(x):
    """The code of a number that f32 holds."""
    code = rounded("f32", Fraction(x), False)
    assert value("f32", code) == x
    return code


def near_ties(r, m, k, n):
    """Row i of a times column j of b is, by its first terms, half way between two f32, or beside that by an amount that an f64 sum keeps, loses,
    or cannot tell from its own error; the other terms cancel in pairs that are far larger, or are as small as f32 goes."""
    a, b = [0] * (m * k), [0] * (k * n)
    for i in range(m):
        row = [Fraction(1), Fraction(1, 1 << 24)] + [Fraction(0)] * (k - 2)
        kind = i % 11
        if kind in (1, 2):  # beside the tie by less than f64 resolves
            row[2] = Fraction(1, 1 << 70) * (1 if kind == 1 else -1)
        if kind in (3, 4):  # by one unit of f64
            row[2] = Fraction(1, 1 << 52) * (1 if kind == 3 else -1)
        if kind == 5:  # the tie to odd
            row[1] = Fraction(3, 1 << 24)
        if kind in (6, 7):  # far larger ones that cancel
            big = Fraction(1 << 60) * (1 + r.below(1 << 20))
            big = value("f32", rounded("f32", big, False))
            at = 3 + r.below(k - 5)
            row[at], row[at + 1] = big, -big
            row[2] = Fraction(1, 1 << 60) * (1 if kind == 6 else -1)
        if kind in (8, 9):  # what an f64 sum loses beside 2^30, and bits of the result hang on; its error bound is 2^10 times what is lost or less
            row[1] = Fraction(1, 1 << 23) - Fraction(1, 1 << 40)
            row[5], row[9] = Fraction(1 << 30), Fraction(-1 << 30)
            if kind == 9:
                row = [-x for x in row]
        if kind == 10:  # all bits in use
            row = [Fraction(r.below(1 << 24) - (1 << 23), 1 << 23) for _ in range(k)]
        for t, x in enumerate(row):
            a[i * k + t] = f32(x)
    for j in range(n):
        scale = Fraction(2) ** (r.below(9) - 4) * (1 if r.below(2) else -1)
        for t in range(k):
            b[t * n + j] = f32(scale)
    return a, b


def spread(r, m, k, n):
    """Exponents from end to end: overflow, subnormal results, sums whose small terms decide."""
    def one():
        return r.below(2) << 31 | [1 + r.below(60), 100 + r.below(54), 190 + r.below(64)][r.below(3)] << 23 | r.below(1 << 23)
    return [one() for _ in range(m * k)], [one() for _ in range(k * n)]


def tiny(r, n_a, n_b):
    """Products that underflow to -0 and to 0: what padding could change."""
    return [0x80000001 + r.below(2) for _ in range(n_a)], [1 + r.below(3) for _ in range(n_b)]


def special(r, m, k, n):
    """Small numbers; a row of infinities, one of zeros, a column with a NaN, one with both infinities."""
    a = [f32(r.below(9) - 4) for _ in range(m * k)]
    b = [f32(Fraction(r.below(9) - 4, 8)) for _ in range(k * n)]
    for t in range(k):
        a[0 * k + t] = 0x7F800000
        a[1 * k + t] = 0x80000000
    b[3 * n + 1] = 0x7FC12345
    b[2 * n + 2], b[4 * n + 2] = 0x7F800000, 0xFF800000
    a[5 * k + 7] = 0xFF800000
    return a, b


def run(h, backends, name, a, b, shape, kinds=("f32", "f32"), out="f32", turned=0, order="exact"):
    batch_a, batch_b, m, k, n = shape
    want = pack(out, product(kinds, order, out, shape, a, b))
    attrs = [f"order={order}"] + ([f"out={out}"] if out != "f32" else []) + ["transpose_a=true"] * (turned == 1) + ["transpose_b=true"] * (turned == 2)
    shape_a, shape_b = ([k, m] if turned == 1 else [m, k]), ([n, k] if turned == 2 else [k, n])
    a, b = (transpose(a, m, k) if turned == 1 else a), (transpose(b, k, n) if turned == 2 else b)
    shape_a, shape_b = ([batch_a] if batch_a > 1 else []) + shape_a, ([batch_b] if batch_b > 1 else []) + shape_b
    ports = [("a", pack(kinds[0], a), f"{kinds[0]}{shape_a}".replace(" ", "")), ("b", pack(kinds[1], b), f"{kinds[1]}{shape_b}".replace(" ", ""))]
    for backend in backends:
        got = op_run(h, "tensor.matmul", ports, ["y"], backend, attrs)
        if got is not None:
            h.check_bytes(f"{name} {kinds} {order} {out} {shape} {turned} {backend}", got[0], want, bits_of(out) // 8)


def main():
    h, r = Harness(), Random(41)
    how, backends = sys.argv[1], present(h, sys.argv[2:])
    m, k, n = 35, 17, 33
    a, b = near_ties(r, m, k, n)
    run(h, backends, "near ties", a, b, (1, 1, m, k, n))
    a, b = spread(r, m, k, n)
    run(h, backends, "spread", a, b, (1, 1, m, k, n))
    a, b = special(r, m, k, n)
    run(h, backends, "special", a, b, (1, 1, m, k, n))
    a, b = codes(r, "f32", 3 * 515, "cancel"), codes(r, "f32", 515 * 6, "cancel")
    run(h, backends, "parts", a, b, (1, 1, 3, 515, 6), order="chunked")
    # A part that padding fills up.
    for k, columns, order in ((250, 12, "chunked"), (505, 6, "exact")):
        a, b = codes(r, "f32", 3 * k, "cancel"), codes(r, "f32", k * columns, "cancel")
        run(h, backends, "full", a, b, (1, 1, 3, k, columns), order=order)
    for kinds, out in ((("i8", "i8"), "i32"), (("u16", "u32"), "u32")):
        a, b = codes(r, kinds[0], 35 * 17, "any"), codes(r, kinds[1], 17 * 33, "any")
        run(h, backends, "integers", a, b, (1, 1, 35, 17, 33), kinds, out)
    # As many products of bytes as f32 adds up exactly, and one more, all the largest.
    for kind, code, out, k in (("i8", 0x80, "i32", 1025), ("u8", 0xFF, "u32", 257), ("i8", 0x80, "i32", 2100)):
        run(h, backends, "largest bytes", [code] * 9 * k, [code] * 5 * k, (1, 1, 9, k, 5), (kind, kind), out)
    a, b = codes(r, "i8", 9 * 1030, "any"), codes(r, "i8", 1030 * 5, "any")
    run(h, backends, "bytes", a, b, (1, 1, 9, 1030, 5), ("i8", "i8"), "i32")
    if how == "all":
        for order in ("sequential", "sequential_unfused", "chunked"):
            a, b = codes(r, "f32", 31 * 9, "any"), codes(r, "f16", 9 * 37, "any")
            run(h, backends, "any", a, b, (1, 1, 31, 9, 37), ("f32", "f16"), order=order)
        a, b = tiny(r, 40 * 7, 7 * 40)
        run(h, backends, "tiny", a, b, (1, 1, 40, 7, 40), order="sequential")
        a, b = special(r, m, k, n)
        run(h, backends, "special", a, b, (1, 1, m, k, n), out="f16")
        for how_made in ("any", "cancel", "ties"):
            for kinds, out in ((("f32", "f32"), "f32"), (("f16", "i8"), "f16"), (("bf16", "f32"), "bf16")):
                shape = (1, 1, 21, 20, 22)
                a, b = codes(r, kinds[0], 21 * 20, how_made), codes(r, kinds[1], 20 * 22, how_made)
                run(h, backends, how_made, a, b, shape, kinds, out)
        # Parts of 512 terms, one of them short; batches, broadcast and transposed.
        a, b = codes(r, "f32", 3 * 1030, "cancel"), codes(r, "f32", 1030 * 3, "cancel")
        run(h, backends, "parts", a, b, (1, 1, 3, 1030, 3))
        for turned in (0, 1, 2):
            shape = (3, 1, 12, 17, 14) if turned != 2 else (1, 3, 12, 17, 14)
            a, b = codes(r, "f32", shape[0] * 204, "ties"), codes(r, "f32", shape[1] * 238, "ties")
            run(h, backends, "batches", a, b, shape, turned=turned)
    h.finish()


if __name__ == "__main__":
    main()
