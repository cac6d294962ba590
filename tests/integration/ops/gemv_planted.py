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
DISCRETE, PROVEN_F64 = 4, 1 | 2
F32 = 7
N = 40
SEVERAL, ALONE = (11, 100), (1, 480)  # rows and terms of a product

# a product; fault; what is put in place of what
FAULTS = (
    (SEVERAL, "few rows on a GPU: a loop that ends a turn early", "if (k0 >= K) {", "if (k0 + SPLIT * TERMS >= K) {"),
    (SEVERAL, "few rows on a GPU: elements in doubt are not settled", "settle_all(first, lane);", "if (steps == 0u) {\n\t\t\tsettle_all(first, lane);\n\t\t}"),
    (SEVERAL, "few rows on a GPU: no element is in doubt", "return within(x, f64(DEPTH) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);", "return nearest(x);"),
    (SEVERAL, "few rows on a GPU: magnitudes of a row are left out", "n0 * bitcast<f32>(h8)", "0.0f"),
    (SEVERAL, "few rows on a GPU: magnitudes of a column are left out", "n0 += m_0;", ""),
    (SEVERAL, "few rows on a GPU: a part of a sum is not joined", "few[at + 1u]", "0.0lf"),
    (ALONE, "a row on a GPU: terms behind the last are read again", "j1 < K)", "true)"),
    (ALONE, "a row on a GPU: bounds are not joined", "few_bounds[lane] = part_bound(at);", ""),
    (ALONE, "a row on a GPU: a read too few", "b[(b1 + k1) >> 2u]", "b[(b1 + k0) >> 2u]"),
)


def plan_of(h, m, k):
    """The one dispatch: its text, steps, workgroups and which buffer is bound where; the bytes of the parameters."""
    said = subprocess.run([OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(PROVEN_F64), "transpose_b=true", "--", f"{F32}:{m},{k}", f"{F32}:{N},{k}", "--", h.dir],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    found = re.fullmatch(r"params 3 [0-9a-f]+\nparams 4 ([0-9a-f]+)\nkernel 0 tensor/matmul_gemv\.wgsl (\d+),1,1 steps=(\d+) 0:4:0:0 1:0:0:0 2:1:0:0 3:2:0:0\n", said)
    if not h.check("the plan is one dispatch of few rows", found, said):
        h.finish()
    return h.read("0.wgsl").decode(), int(found[3]), int(found[2]), bytes.fromhex(found[1])


def main():
    h, r = Harness(), Random(47)
    for product_of in (SEVERAL, ALONE):
        m, k = product_of
        text, steps, groups, params = plan_of(h, m, k)
        # What is near a tie is of a row: of one alone the other way round.
        a, b = near_ties(r, N if m == 1 else m, k, 1 if m == 1 else N)
        shape = (1, 1, N, k, 1) if m == 1 else (1, 1, m, k, N)
        want = pack("f32", product(("f32", "f32"), "exact", "f32", shape, a, b))
        left, right = (b, a) if m == 1 else (a, transpose(b, k, N))
        bindings = {0: params, 1: pack("f32", left), 2: pack("f32", right), 3: bytes(4 * m * N)}
        h.check_bytes(f"{m} as it is", run_kernel(h, BACKEND, text, steps, groups, bindings, (3,), ())[0], want, 4)
        for which, fault, old, new in FAULTS:
            if which != product_of:
                continue
            got = run_kernel(h, BACKEND, text, steps, groups, bindings, (3,), ((old, new),))[0]
            at = next((i for i in range(m * N) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
            if h.check(f"{fault}: caught", at is not None):
                h.planted(fault, "tensor.matmul", "exact fractions",
                          f"y[{at // N}, {at % N}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")
    h.finish()


main()
