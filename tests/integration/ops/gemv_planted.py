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
M, K, N = 11, 96, 40

# fault; what is put in place of what
FAULTS = (
    ("few rows on a GPU: a loop that ends a turn early", "if (k >= params.k) {", "if (k + SPLIT * TERMS >= params.k) {"),
    ("few rows on a GPU: elements in doubt are not settled", "settle_all(first, lane);", ""),
    ("few rows on a GPU: no element is in doubt", "return within(x, f64(depth) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);", "return nearest(x);"),
    ("few rows on a GPU: norms of rows are left out", "row_lengths[of_row(r)]", "0.0lf"),
    ("few rows on a GPU: norms of columns are left out", "lengths[of_column(c)])", "0.0lf)"),
    ("few rows on a GPU: squares of a row are not summed", "if (group_of == 8u) {", "if (group_of == LANES) {"),
)


def plan_of(h):
    """The one dispatch: its text, steps, workgroups and which buffer is bound where; the bytes of the parameters."""
    said = subprocess.run([OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(PROVEN_F64), "transpose_b=true", "--", f"{F32}:{M},{K}", f"{F32}:{N},{K}", "--", h.dir],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    found = re.fullmatch(r"params 3 [0-9a-f]+\nparams 4 ([0-9a-f]+)\nkernel 0 tensor/matmul_gemv\.wgsl (\d+),1,1 steps=(\d+) 0:4:0:0 1:0:0:0 2:1:0:0 3:2:0:0\n", said)
    if not h.check("the plan is one dispatch of few rows", found, said):
        h.finish()
    return h.read("0.wgsl").decode(), int(found[3]), int(found[2]), bytes.fromhex(found[1])


def main():
    h, r = Harness(), Random(47)
    text, steps, groups, params = plan_of(h)
    a, b = near_ties(r, M, K, N)
    want = pack("f32", product(("f32", "f32"), "exact", "f32", (1, 1, M, K, N), a, b))
    bindings = {0: params, 1: pack("f32", a), 2: pack("f32", transpose(b, K, N)), 3: bytes(4 * M * N)}

    def run(plant):
        return run_kernel(h, BACKEND, text, steps, groups, bindings, (3,), plant)[0]
    h.check_bytes("as it is", run(()), want, 4)
    for fault, old, new in FAULTS:
        got = run(((old, new),))
        at = next((i for i in range(M * N) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.matmul", "exact fractions",
                      f"y[{at // N}, {at % N}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")
    h.finish()


main()
