"""Faults planted into the kernels that tensor.matmul has for few rows with blocks of q8_0 on a processor (ops/tensor/matmul_thin_words.c), each found by exact rational sums: of what the
kernels tell nothing may be wrong, the rest is marked and settled elsewhere. Texts are the library's own, as its plan has them for a processor (plan.c), right ones first.
usage: thin_planted.py BACKEND OPS_PLAN LIBRARY"""
import os
import re
import struct
import subprocess
import sys

from harness import Harness, Random
from kernels import run_kernel
from matmul import pack
from matmul_fast import near_ties

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tensor"))
import packed  # noqa: E402
from packed import dot, some_blocks  # noqa: E402

BACKEND, OPS_PLAN, LIBRARY = sys.argv[1:4]
CPU, PROVEN_F64 = 2, 1 | 2
F32, Q8_0 = 7, 72
M, K, N = 3, 128, 23
MARK = b"\xff\xff\xff\xff"

# fault; the number of the kernel, what is put in place of what
FAULTS = (
    ("words of q8_0: what 1.5 adds to a sum stays in it", 0, "-1.5lf *", "-1.25lf *"),
    ("words of q8_0: a sign bit that is not turned", 1, "^ 0x3ff8000000000000lu", "^ 0x3ff0000000000000lu"),
    ("words of q8_0: a byte of the next element", 1, "(r << 36u)", "(r << 28u)"),
    ("words of q8_0: no element is in doubt", 1, "return within(x, f64(depth) * all * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, all);", "return nearest(x);"),
    ("words of q8_0: an infinite scale is a number", 1, "squares >= 0x1p48lf", "squares >= 0x1p900lf"),
)


def plan_of(h):
    """The first two dispatches (rows laid out, sums): text, steps, workgroups and the number of the buffer of each binding; bytes of buffers that the plan makes."""
    said = subprocess.run([OPS_PLAN, LIBRARY, "tensor.matmul", str(CPU), str(PROVEN_F64), "transpose_b=true", "--", f"{F32}:{M},{K}", f"{Q8_0}:{N},{K}", "--", h.dir],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    buffers = {int(number): bytes(int(size)) for number, size in re.findall(r"^temp (\d+) (\d+)$", said, re.M)}
    buffers.update((int(number), bytes.fromhex(data)) for number, data in re.findall(r"^params (\d+) ([0-9a-f]+)$", said, re.M))
    found = re.findall(r"^kernel (\d+) tensor/matmul_thin_(?:rows|words)\.wgsl (\d+),1,1 steps=(\d+) (.*)$", said, re.M)
    if not h.check("the plan lays rows out and sums by words", len(found) == 2, said):
        h.finish()
    return buffers, [(h.read(f"{number}.wgsl").decode(), int(groups), int(steps), {int(b): int(n) for b, n in re.findall(r"(\d+):(\d+):\d+:\d+", where)}) for number, groups, steps, where in found]


def main():
    h, r = Harness(), Random(53)
    made, kernels = plan_of(h)
    # Two rows beside a tie by less than f64 resolves, and one of numbers that nothing is known of.
    a = near_ties(r, M, K, 1)[0][K:] + [struct.unpack("<I", struct.pack("<f", (r.below(1 << 24) - (1 << 23)) / (1 << 20)))[0] for _ in range(K)]
    rows = [[b"\x00\x3c" + b"\x01" * 32] * (K // 32)] * 5 + [some_blocks("q8_0", K // 32, special=i % 4 == 0) for i in range(N - 5)]
    left = [[packed.codes.read("f32", c) for c in a[i * K:i * K + K]] for i in range(M)]
    want = pack("f32", [dot(x, [v for b in row for v in packed.codes.unpack("q8_0", b)], "f32") for x in left for row in rows])
    temp, each = kernels[1][3][3], 8 // 4  # rows are taken by four, so a workgroup has two columns of them

    def told(plant):
        """The results that are told, by row and column."""
        data = {**made, 0: pack("f32", a), 1: b"".join(b for row in rows for b in row)}
        for i, (text, groups, steps, where) in enumerate(kernels):
            written = [b for b in where if f"@binding({b}) var<storage, read_write>" in text]
            got = run_kernel(h, BACKEND, text, steps, groups, {b: data[n] for b, n in where.items()}, written, plant.get(i, ()))
            data.update((where[b], g) for b, g in zip(written, got))
        out = {(i, j): data[temp][4 * s:4 * s + 4] for i in range(M) for j in range(N) for s in [j // each * 8 + j % each * 4 + i]}
        return {at: word for at, word in out.items() if word != MARK}

    def run_with(fault, plant):
        found = told(plant)
        wrong = next((at for at, word in found.items() if word != want[4 * (at[0] * N + at[1]):][:4]), None)
        if not plant:
            h.check("some are told, near ties not", len(found) > N // 3 and not any(i < 2 and j < 5 for i, j in found), f"{len(found)} of {M * N}")
        if h.check(f"what is told is right{fault and ': ' + fault + ': caught'}", (wrong is None) == (not plant)) and plant:
            h.planted(fault, "tensor.matmul", "exact fractions", f"y[{wrong[0]}, {wrong[1]}] is {found[wrong][::-1].hex()}, not {want[4 * (wrong[0] * N + wrong[1]):][:4][::-1].hex()}")

    run_with("", {})
    for fault, number, old, new in FAULTS:
        run_with(fault, {number: ((old, new),)})
    h.finish()


main()
