"""Faults planted into the kernel that tensor.matmul has for few rows on a GPU (ops/tensor/matmul_gemv.c), each found by exact rational sums. The text
is the library's own, as its plan has it for a discrete device (plan.c), a right one first.
usage: gemv_planted.py BACKEND OPS_PLAN LIBRARY"""
import re
import subprocess
import sys

from harness import Harness, Random
from kernels import run_kernel
from matmul import pack, product, transpose
from matmul_fast import near_ties

BACKEND, OPS_PLAN, LIBRARY = sys.argv[1:4]
DISCRETE, PROVEN_F64, PROVEN_F32 = 4, 1 | 2, 64
F32 = 7
# rows, terms and columns of a product, and what is proven: several rows; one, where magnitudes are added up in f64, in f32, and of many columns
SEVERAL, ALONE, ALONE_F32, MANY = (11, 100, 40, PROVEN_F64), (1, 480, 40, PROVEN_F64), (1, 480, 40, PROVEN_F64 | PROVEN_F32), (1, 36, 8192, PROVEN_F64 | PROVEN_F32)

# a product; fault; what is put in place of what
FAULTS = (
    (SEVERAL, "few rows on a GPU: a loop that ends a turn early", "if (k0 >= K) {", "if (k0 + SPLIT * TERMS >= K) {"),
    (SEVERAL, "few rows on a GPU: elements in doubt are not settled", "settle_all(first, lane);", "if (steps == 0u) {\n\t\t\tsettle_all(first, lane);\n\t\t}"),
    (SEVERAL, "few rows on a GPU: no element is in doubt", "return within(x, f64(DEPTH) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);", "return nearest(x);"),
    (SEVERAL, "few rows on a GPU: magnitudes of a row are left out", "f32(n0 * SCALE) * bitcast<f32>(h8)", "0.0f"),
    (SEVERAL, "few rows on a GPU: magnitudes of a column are left out", "n0 += m_0;", ""),
    (SEVERAL, "few rows on a GPU: a part of a sum is not joined", "few[at + 1u]", "0.0lf"),
    (ALONE, "a row on a GPU: terms behind the last are read again", "j1 < K)", "true)"),
    (ALONE, "a row on a GPU: bounds are not joined", "few_bounds[lane] = part_bound(at);", ""),
    (ALONE, "a row on a GPU: a read too few", "b[(b1 + k1) >> 2u]", "b[(b1 + k0) >> 2u]"),
    (ALONE_F32, "a row on a GPU: magnitudes in f32 are left out", "n0 += m_0;", ""),
    (ALONE_F32, "a row on a GPU: what becomes of a word's sign", "& 0x8fffffffu));\n}", "& 0x0fffffffu));\n}"),
    (MANY, "a row by many columns on a GPU: one sum of two is not joined", "s2_0_0 + s2_0_1", "s2_0_0"),
    (MANY, "a row by many columns on a GPU: what lanes' sums lose together is not kept", "s = plus(s, sums[begin + i].x);", "s.x += sums[begin + i].x;"),
    (MANY, "a row by many columns on a GPU: lanes behind the fourth are not settled", "closer_next(32u, 4u)", "closer_next(32u, 1u)"),
)


def plan_of(h, m, k, n, proven):
    """The one dispatch: its text, steps, workgroups and which buffer is bound where; the bytes of the parameters."""
    said = subprocess.run([OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(proven), "transpose_b=true", "--", f"{F32}:{m},{k}", f"{F32}:{n},{k}", "--", h.dir],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    found = re.fullmatch(r"params 3 [0-9a-f]+\nparams 4 ([0-9a-f]+)\nkernel 0 tensor/matmul_gemv\.wgsl (\d+),1,1 steps=(\d+) 0:4:0:0 1:0:0:0 2:1:0:0 3:2:0:0\n", said)
    if not h.check("the plan is one dispatch of few rows", found, said):
        h.finish()
    return h.read("0.wgsl").decode(), int(found[3]), int(found[2]), bytes.fromhex(found[1])


def some(r, m, k, n):
    """Factors near ties, of a row alone the other way round, and columns with what is no number."""
    if m != 1:
        return near_ties(r, m, k, n)
    b, a = near_ties(r, n, k, 1)
    b = transpose(b, n, k)
    for column, numbers in enumerate(((0x7F800000,), (0x7FC00001,), (0x7F800000, 0xFF800000), (0xFF800000,))):
        for i, x in enumerate(numbers):
            b[(5 + i) * n + n - 1 - column] = x
    return a, b


def main():
    h, r = Harness(), Random(47)
    for product_of in (SEVERAL, ALONE, ALONE_F32, MANY):
        m, k, n, proven = product_of
        text, steps, groups, params = plan_of(h, m, k, n, proven)
        a, b = some(r, m, k, n)
        want = pack("f32", product(("f32", "f32"), "exact", "f32", (1, 1, m, k, n), a, b))
        bindings = {0: params, 1: pack("f32", a), 2: pack("f32", transpose(b, k, n)), 3: bytes(4 * m * n)}
        h.check_bytes(f"{product_of} as it is", run_kernel(h, BACKEND, text, steps, groups, bindings, (3,), ())[0], want, 4)
        for which, fault, old, new in FAULTS:
            if which != product_of:
                continue
            got = run_kernel(h, BACKEND, text, steps, groups, bindings, (3,), ((old, new),))[0]
            at = next((i for i in range(m * n) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
            if h.check(f"{fault}: caught", at is not None):
                h.planted(fault, "tensor.matmul", "exact fractions",
                          f"y[{at // n}, {at % n}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")
    h.finish()


main()
