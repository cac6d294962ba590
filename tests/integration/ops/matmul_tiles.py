"""tensor.matmul by matrix units as the library plans it for a GPU (plan.c), its own texts and what they are bound to, on a device that need not have any: tiles are ordinary code there. Bytes
(ops/tensor/matmul_byte_tiles.c) against sums of integers, f32 against fractions; then with faults planted.
usage: matmul_tiles.py all|few|planted BACKEND OPS_PLAN LIBRARY"""
import operator
import struct
import sys

from harness import Harness, Random, share
from kernels import Plan
from matmul import pack
from matmul import product as exact_product
from matmul_fast import near_ties

HOW, BACKEND, OPS_PLAN, LIBRARY = sys.argv[1:5]
DISCRETE, PROVEN = 4, 1 | 2 | 1 << 2 | 1 << 4 | 1 << 5
NUMBERS, F32 = {"i8": 10, "u8": 11}, 7
PASSES = ["tensor/matmul_pack.wgsl", "tensor/matmul_pack_norms.wgsl"] * 2 + ["tensor/matmul_tile.wgsl", "tensor/matmul_settle.wgsl"]
NAMES = ["tensor/matmul_pack.wgsl"] * 2 + ["tensor/matmul_tile_bytes.wgsl"]
# Matrices of a, matrices of b, m, k, n; which factor is transposed: edges of tiles, blocks of 64 terms, one and many.
SHAPES = (((1, 1, 32, 16, 32), 0), ((1, 1, 129, 65, 34), 0), ((1, 1, 33, 63, 260), 0), ((1, 1, 36, 132, 36), 0), ((1, 1, 36, 192, 64), 1), ((1, 1, 35, 130, 33), 1),
          ((1, 1, 64, 68, 130), 2), ((1, 1, 35, 257, 36), 2), ((3, 1, 45, 20, 32), 0), ((3, 1, 36, 17, 33), 1), ((2, 2, 33, 70, 36), 0), ((1, 2, 40, 64, 35), 2))

FEW = (SHAPES[1], SHAPES[5], SHAPES[8], SHAPES[10], SHAPES[11])

h = Harness()


def transposed(values, rows, columns):
    size = rows * columns
    return [values[z * size + i * columns + j] for z in range(len(values) // size) for j in range(columns) for i in range(rows)]


def product(shape, a, b):
    of_a, of_b, m, k, n = shape
    y = []
    for z in range(max(of_a, of_b)):
        rows, matrix = a[z % of_a * m * k:], b[z % of_b * k * n:(z % of_b + 1) * k * n]
        columns = [matrix[j::n] for j in range(n)]
        y += [sum(map(operator.mul, rows[i * k:(i + 1) * k], columns[j])) & 0xFFFFFFFF for i in range(m) for j in range(n)]
    return struct.pack(f"<{len(y)}I", *y)


def factors(r, kind, shape):
    """Ends of the type in some rows and columns, so that sums are as large as they can be."""
    of_a, of_b, m, k, n = shape
    least = -128 if kind == "i8" else 0
    a, b = ([least + r.below(256) for _ in range(count)] for count in (of_a * m * k, of_b * k * n))
    a[:k], b[n - 1:k * n:n] = [least or 255] * k, [least or 255] * k
    return a, b


WRITTEN = {"matmul_pack": 2, "matmul_pack_norms": 2, "matmul_tile": 3, "matmul_tile_bytes": 3, "matmul_settle": 6, "matmul_gather": 2}


def multiply(kind, shape, turned, a, b, plant=()):
    """plant: what is put in place of what, by kernel."""
    of_a, of_b, m, k, n = shape
    dims = (([m, k], [k, n]), ([k, m], [k, n]), ([m, k], [n, k]))[turned]
    types = [f"{NUMBERS[kind]}:" + ",".join(map(str, ([count] if count > 1 else []) + x)) for count, x in zip((of_a, of_b), dims)]
    p = Plan(h, OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(PROVEN), f"transpose_a={str(turned == 1).lower()}", f"transpose_b={str(turned == 2).lower()}", "--", *types)
    is_one = max(of_a, of_b) == 1 or (turned != 1 and of_b == 1)
    h.check(f"{kind} {shape} {turned}: packed, and multiplied", [name for name, *_ in p.kernels] == NAMES + ([] if is_one else ["tensor/matmul_gather.wgsl"]), p.said[:2000])
    a, b = (transposed(a, m, k) if turned == 1 else a), (transposed(b, k, n) if turned == 2 else b)
    held = {i: struct.pack(f"<{len(x)}{'b' if kind == 'i8' else 'B'}", *x) + bytes(-len(x) % 4) for i, x in enumerate((a, b))}
    held[2] = bytes(4 * max(of_a, of_b) * m * n)
    p.run(h, BACKEND, held, WRITTEN, plant)
    return held[2]


def exact(shape, a, b, plant=()):
    """Of f32: factors packed four words at a time, or one by one; elements settled by columns of workgroups."""
    _, _, m, k, n = shape
    p = Plan(h, OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(PROVEN), "--", f"{F32}:{m},{k}", f"{F32}:{k},{n}")
    h.check(f"f32 {shape}: six passes", [name for name, *_ in p.kernels] == PASSES, p.said[:2000])
    held = {0: pack("f32", a), 1: pack("f32", b), 2: bytes(4 * m * n)}
    p.run(h, BACKEND, held, WRITTEN, plant)
    return held[2]


EXACT_FAULTS = (
    ("matrix units: an element settled by its neighbour's terms", 5, "let marked = element(base + s);", "let marked = element(base + (s ^ 1u));"),
    ("matrix units: the last words of a row left out where four are packed at once", 0, "p.z < params.k", "p.z + 4u < params.k"),
    ("matrix units: the last columns left out where four are packed at once", 2, "p.y < vectors()", "p.y + 4u < vectors()"),
    ("matrix units: half of a block multiplied by the other half's terms", 4, "top * 20u + 8u", "top * 20u + 0u"),
)
FAULTS = (
    ("bytes by matrix units: a turn that ends a block early", 2, "if (block + 1u >= n_blocks)", "if (block + 2u >= n_blocks)"),
    ("bytes by matrix units: results of a subgroup go to each other's places", 2, "result / 4u * 16u", "(3u - result / 4u) * 16u"),
    ("bytes by matrix units: the second half of a block is taken from the first", 2, "top * 80u + 32u, 80u", "top * 80u + 0u, 80u"),
    ("bytes by matrix units: a packed factor without its last terms", 0, "k < params.k", "k + 4u < params.k"),
    ("bytes by matrix units: columns of a block turned the wrong way", 1, "w0.y, w1.y, w2.y, w3.y", "w3.y, w2.y, w1.y, w0.y"),
)


def judge(fault, got, want, n, oracle):
    at = next((i for i in range(len(want) // 4) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
    if h.check(f"{fault}: caught", at is not None):
        h.planted(fault, "tensor.matmul", oracle, f"y[{at // n}, {at % n}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")


def planted(r):
    # A row of tiles with an edge, a column of two, four blocks of terms.
    shape = (1, 1, 33, 225, 136)
    a, b = factors(r, "i8", shape)
    want = product(shape, a, b)
    h.check_bytes("as it is", multiply("i8", shape, 0, a, b), want, 4)
    for fault, at, old, new in share(FAULTS, 3):
        judge(fault, multiply("i8", shape, 0, a, b, tuple(((old, new),) if i == at else () for i in range(3))), want, 136, "sums of integers")
    shape = (1, 1, 33, 20, 300)
    a, b = near_ties(r, *shape[2:])
    want = pack("f32", exact_product(("f32", "f32"), "exact", "f32", shape, a, b))
    h.check_bytes("as it is", exact(shape, a, b), want, 4)
    for fault, at, old, new in share(EXACT_FAULTS, 3):
        judge(fault, exact(shape, a, b, tuple(((old, new),) if i == at else () for i in range(6))), want, 300, "exact fractions")


def main():
    r = Random(61)
    if HOW == "planted":
        planted(r)
        h.finish()
    for m, k, n in ((33, 20, 300), (70, 17, 35)):
        a, b = near_ties(r, m, k, n)
        shape = (1, 1, m, k, n)
        h.check_bytes(f"f32 {shape} {BACKEND}", exact(shape, a, b), pack("f32", exact_product(("f32", "f32"), "exact", "f32", shape, a, b)), 4)
    for i, (shape, turned) in enumerate(FEW if HOW == "few" else SHAPES):
        for kind in (("i8", "u8")[i % 2],) if HOW == "few" or shape[2] > 128 else ("i8", "u8"):
            a, b = factors(r, kind, shape)
            h.check_bytes(f"{kind} {shape} {turned} {BACKEND}", multiply(kind, shape, turned, a, b), product(shape, a, b), 4)
    h.finish()


main()
