"""Device seconds of each pass of tensor.matmul, n x n of f32 or i8, one dispatch each, as the library plans it for a GPU whose f64, f64 fma and matrix tiles are proven; of f32 how many
elements the first sum left in doubt. PYTHONPATH has tests/integration and tests/integration/ops, PIPECTL the program; OPS_PLAN is tests/integration/ops/plan.c built.
usage: matmul_passes.py f32|i8 N BACKEND OPS_PLAN LIBRARY"""
import os
import sys

import numpy

sys.path.pop(0)  # beside this file lies another matmul.py
from harness import Harness  # noqa: E402
from kernels import Plan  # noqa: E402

KIND, N, BACKEND, OPS_PLAN, LIBRARY = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
DISCRETE, PROVEN = 4, 1 | 2 | 4 | 16 | 32
TRIES = int(os.environ.get("TRIES", "3"))
WRITTEN = {"matmul_pack": 2, "matmul_pack_norms": 2, "matmul_tile": 3, "matmul_tile_bytes": 3, "matmul_settle": 6, "matmul_gather": 2}


def main():
    h, random, tries = Harness(), numpy.random.default_rng(N), []
    number = {"f32": 7, "i8": 10}[KIND]
    p = Plan(h, OPS_PLAN, LIBRARY, "tensor.matmul", str(DISCRETE), str(PROVEN), "--", f"{number}:{N},{N}", f"{number}:{N},{N}")
    a, b = ((random.standard_normal((N, N), dtype=numpy.float32) if KIND == "f32" else random.integers(-128, 128, (N, N), dtype=numpy.int8)).tobytes() for _ in range(2))
    for _ in range(TRIES):
        held, seconds = {0: a, 1: b, 2: bytes(4 * N * N)}, []
        p.run(h, BACKEND, held, WRITTEN, (), seconds)
        tries.append(seconds)
    least = [min(x) for x in zip(*tries)]
    names = [name[name.index("/") + 1:-len(".wgsl")] for name, *_ in p.kernels]
    tiles = next(i for i, name in enumerate(names) if name.startswith("matmul_tile"))
    said = f"{KIND} {N} {BACKEND}: " + ", ".join(f"{name} {1e6 * s:.0f} us" for name, s in zip(names, least))
    if KIND == "f32":
        temp = held[p.kernels[tiles][3][WRITTEN[names[tiles]]]]
        said += f"; {int((numpy.frombuffer(temp, numpy.uint32) == 0xFFFFFFFF).sum())} of {N * N} in doubt"
    print(said + f"; tiles {2e-12 * N**3 / least[tiles]:.1f}, all {2e-12 * N**3 / sum(least):.1f} T/s")


main()
