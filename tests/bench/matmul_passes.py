"""Device seconds of each pass of tensor.matmul by matrix units, n x n f32, one dispatch each, and how many elements the first sum left in doubt.
PYTHONPATH has tests/integration and tests/integration/ops, PIPECTL the program.
usage: matmul_passes.py N BACKEND"""
import sys

import numpy

sys.path.pop(0)  # beside this file lies another matmul.py
import matmul_matrix  # noqa: E402


def main():
    n = int(sys.argv[1])
    random = numpy.random.default_rng(n)
    a, b = (random.standard_normal((n, n), dtype=numpy.float32).tobytes() for _ in range(2))
    matmul_matrix.fast(a, b, (1, 1, n, n, n))
    names = ["packing a", "norms of a", "packing b", "norms of b", "tiles", "settling"]
    seconds = matmul_matrix.run.seconds
    print(f"{n} {sys.argv[2]}: " + ", ".join(f"{name} {1e6 * s:.0f} us" for name, s in zip(names, seconds))
          + f"; {matmul_matrix.fast.marked} of {n * n} in doubt; tiles {2e-12 * n**3 / seconds[4]:.1f}, all {2e-12 * n**3 / sum(seconds):.1f} TFLOP/s")


main()
