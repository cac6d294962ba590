"""tensor.matmul of few rows with a transposed b, and of any with packed blocks (ops/tensor/matmul_thin.c), against exact rational arithmetic: what blocks mean is
tests/dtype/codes.py's, sums are Python's. usage: matmul_thin.py all|few BACKEND..."""
import os
import sys

from harness import Harness, Random
from matmul import codes, pack
from matmul_fast import near_ties, run, special, spread
from present import present
from rows import together

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tensor"))
import packed  # noqa: E402
from packed import BLOCKS, dot, some_blocks  # noqa: E402

# A block of elements that are 1: q4_k's are 2 - 1, so that each is two terms.
ONES = {
    "q8_0": b"\x00\x3c" + b"\x01" * 32,
    "q4_0": b"\x00\x3c" + b"\x99" * 16,
    "q4_1": b"\x00\x3c\x00\x00" + b"\x11" * 16,
    "q4_k": b"\x00\x3c\x00\x3c" + b"\x02" * 4 + b"\x01" * 4 + b"\x12" * 4 + b"\x11" * 128,
}


@together
def blocks(h, backends, name, kind, a, rows, m, n, k):
    """rows: the blocks of each row of b; a: codes of f32, m rows of k."""
    weights = [[v for b in row for v in packed.codes.unpack(kind, b)] for row in rows]
    left = [[packed.codes.read("f32", c) for c in a[i * k:i * k + k]] for i in range(m)]
    want = pack("f32", [dot(x, w, "f32") for x in left for w in weights])
    ports = [("a", pack("f32", a), f"f32[{m},1,{k}]"), ("b", b"".join(b for row in rows for b in row), f"{kind}[{n},{k}]")]
    for backend in backends:
        got = yield "tensor.matmul", ports, ["y"], backend, ["transpose_b=true"]
        if got is not None:
            h.check_bytes(f"{name} {kind} {m} {n} {k} {backend}", got[0], want, 4)


def main():
    h, r = Harness(), Random(43)
    how, backends = sys.argv[1], present(h, sys.argv[2:])
    for m, k, n in ((11, 64, 13), (3, 96, 40)):
        a, b = near_ties(r, m, k, n)
        run(h, backends, "near ties", a, b, (m, 1, 1, k, n), turned=2)
        a, b = spread(r, m, k, n)
        run(h, backends, "spread", a, b, (1, 1, m, k, n), turned=2)
    a, b = special(r, 9, 64, 17)
    run(h, backends, "special", a, b, (1, 1, 9, 64, 17), turned=2)
    for kinds, out in ((("f32", "f16"), "f32"), (("f32", "bf16"), "f16"), (("f16", "i8"), "bf16")):
        a, b = codes(r, kinds[0], 5 * 64, "ties"), codes(r, kinds[1], 64 * 30, "ties")
        run(h, backends, "ties", a, b, (5, 1, 1, 64, 30), kinds, out, turned=2)
    for kind in ONES if how == "few" else BLOCKS:
        size = BLOCKS[kind][0]
        k, n = (512, 3) if size == 256 else (96, 15)
        if kind in ONES:
            a, _ = near_ties(r, 44, k, 1)
            blocks(h, backends, "near ties", kind, a, [[ONES[kind]] * (k // size)] * 2, 44, 2, k)
        for finite in (True, False):
            rows = [some_blocks(kind, k // size, special=not finite) for _ in range(n)]
            blocks(h, backends, "any", kind, codes(r, "f32", 6 * k, "cancel" if finite else "any"), rows, 6, n, k)
    # Whole pairs of blocks, which processors take by words: near ties, scales of every kind (the last block of a row may be an infinity or a NaN), rows by one, two and four, columns that fill no group.
    for m, k, n in ((1, 64, 131), (2, 128, 37), (44, 192, 2)):
        a, _ = near_ties(r, m, k, 1)
        blocks(h, backends, "pairs near ties", "q8_0", a, [[ONES["q8_0"]] * (k // 32)] * n, m, n, k)
    for m, k, n in ((1, 128, 75), (2, 64, 65), (6, 192, 9)):
        for finite in (True, False):
            rows = [some_blocks("q8_0", k // 32, special=not finite) for _ in range(n)]
            blocks(h, backends, "pairs", "q8_0", codes(r, "f32", m * k, "cancel" if finite else "any"), rows, m, n, k)
    # However work is cut: few lanes a column make many turns.
    for kind, k, n, m in (("f32", 2048, 40, 1), ("i8", 1024, 33, 3), ("bf16", 4096, 20, 2), ("q8_0", 1024, 20, 1), ("q4_k", 1024, 12, 2), ("q4_k", 512, 20, 16), ("f32", 512, 20, 16)):
        b = b"".join(x for _ in range(n) for x in some_blocks(kind, k // BLOCKS[kind][0], False)) if kind in BLOCKS else bytes(r.below(120) for _ in range(n * k * (4 if kind == "f32" else 2 if kind == "bf16" else 1)))
        a = pack("f32", codes(r, "f32", m * k, "cancel"))
        for backend in backends:
            made = []
            for profile in ("sc", "mc"):
                status, _, err = h.run("op", "run", "tensor.matmul", "--backend", backend, "--no-memo", "--profile", profile, "--attr", "transpose_b=true", "--in", f"a={h.write('a', a)}:f32[{m},{k}]",
                                       "--in", f"b={h.write('b', b)}:{kind}[{n},{k}]", "--out", "y=" + h.path("y"))
                made.append(h.read("y") if h.check(f"profile {profile} {kind} {backend}", status == 0, err) else None)
            h.check(f"profiles agree {kind} {m} {n} {k} {backend}", made[0] == made[1])
    if how == "all":
        # More rows than are summed together.
        blocks(h, backends, "rows", "q8_0", codes(r, "f32", 37 * 32, "cancel"), [some_blocks("q8_0", 1, False) for _ in range(21)], 37, 21, 32)
    h.finish()


if __name__ == "__main__":
    main()
