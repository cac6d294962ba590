"""tensor.matmul of bytes by the device's products of packed bytes (ops/tensor/matmul_bytes.c) or its matrix units (matmul_byte_tiles.c), against sums of integers: on a device that says it has them, on one that has none, on given ones.
usage: matmul_bytes.py all|planted BACKEND..."""
import json
import operator
import struct
import sys

from harness import Harness, Random, share

PACKED = "mock:wrap=cpu+packed"
UNITS = "mock:wrap=cpu+gpu+tiles"
# One factor has 65,536 elements or more, from which on a device is asked: batches, m, k, n; whether a, or b, lies turned.
SHAPES = (((1, 1, 1028, 64), 0), ((1, 43, 964, 68), 0), ((1, 5, 1030, 67), 0), ((1, 6, 1028, 65), 2), ((1, 81, 812, 33), 1), ((3, 7, 1028, 64), 0), ((2, 41, 801, 30), 0))
PIPELINE = """pipeline : {{ name = "bytes"; class = "strict"; inputs : {{ a : {{ type = "{kind}[{a}]"; }}; b : {{ type = "{kind}[{b}]"; }}; c : {{ type = "{out}[{c}]"; }}; }};
  jobs = ( {{ id = "p"; op = "tensor.matmul@1"; in : {{ a = "$a"; b = "$b"; }}; attr : {{ transpose_a = {turned_a}; transpose_b = {turned_b}; }}; }},
           {{ id = "s"; op = "int.add@1"; in : {{ a = "p.y"; b = "$c"; }}; }} );
  outputs : {{ y = "s.y"; }}; }};
"""

h = Harness()


def turned(values, rows, columns):
    size = rows * columns
    return [values[z * size + i * columns + j] for z in range(len(values) // size) for j in range(columns) for i in range(rows)]


def factors(r, kind, shape):
    """Ends of the type in some rows and columns, so that sums are as large as they can be."""
    batches, m, k, n = shape
    least = -128 if kind == "i8" else 0
    a, b = ([least + r.below(256) for _ in range(count)] for count in (batches * m * k, k * n))
    end = least or 255
    a[:k], b[::n] = [end] * k, [end] * k
    b[n - 1::n] = [least + 255] * k
    return a, b


def product(shape, a, b):
    batches, m, k, n = shape
    columns = [b[j::n] for j in range(n)]
    return [sum(map(operator.mul, a[i * k:(i + 1) * k], columns[j])) & 0xFFFFFFFF for i in range(batches * m) for j in range(n)]


def run(kind, shape, turn, data, backend, *more):
    """Status, bytes, jobs, words."""
    batches, m, k, n = shape
    a, b, c = data
    a, b = (turned(a, m, k) if turn == 1 else a), (turned(b, k, n) if turn == 2 else b)
    batch = [batches] if batches > 1 else []
    text = PIPELINE.format(kind=kind, out="i32" if kind == "i8" else "u32", a=",".join(map(str, batch + ([k, m] if turn == 1 else [m, k]))),
                           b=f"{n},{k}" if turn == 2 else f"{k},{n}", c=",".join(map(str, batch + [m, n])), turned_a=str(turn == 1).lower(), turned_b=str(turn == 2).lower())
    code = "b" if kind == "i8" else "B"
    status, out, err = h.run("--json", "run", h.write("bytes.pipe.cfg", text.encode()), "--backend", backend, "--no-memo", "--in", "a=" + h.write("a", struct.pack(f"<{len(a)}{code}", *a)),
                             "--in", "b=" + h.write("b", struct.pack(f"<{len(b)}{code}", *b)), "--in", "c=" + h.write("c", struct.pack(f"<{len(c)}I", *c)), "--out", "y=" + h.path("y"), *more)
    return status, h.read("y") if status == 0 else b"", json.loads(out)["jobs"] if status == 0 else [], err


def made(r, kind, shape):
    a, b = factors(r, kind, shape)
    c = [r.below(1 << 32) for _ in range(shape[0] * shape[1] * shape[3])]
    want = struct.pack(f"<{len(c)}I", *(x + y & 0xFFFFFFFF for x, y in zip(product(shape, a, b), c)))
    return (a, b, c), want


def planted(r):
    """A device whose products of packed bytes go wrong after its probe: its products are held against the reference's."""
    shape = SHAPES[1][0]
    data, _ = made(r, "i8", shape)
    status, _, _, err = run("i8", shape, 0, data, "mock:wrap=cpu+late-dot4", "--verify", "all")
    fault = "products of packed bytes lose a bit in a product of matrices"
    if h.check(f"{fault}: caught", status == 6 and "PC52" in err, f"{status}: {err}"):
        h.planted(fault, "tensor.matmul", "--verify all: the reference", err)
    data, want = made(r, "i8", shape)
    status, y, _, err = run("i8", shape, 0, data, "mock:wrap=cpu+dot4")
    h.check("one whose products the probe finds wrong multiplies otherwise", status == 0 and y == want, err)


def main():
    r = Random(59)
    if sys.argv[1] == "planted":
        planted(r)
        h.finish()
    for i, (shape, turn) in enumerate(SHAPES):
        for kind in share(("i8", "u8"), 2, i):
            data, want = made(r, kind, shape)
            # By day the first on all, the second and the fifth by matrix units.
            for backend in share(sys.argv[2:], 3, i + 1) if i else sys.argv[2:]:
                status, y, jobs, err = run(kind, shape, turn, data, backend, "--no-fuse")
                name = f"{kind} {shape} {turn} {backend}"
                if not h.check(name, status == 0, err):
                    continue
                h.check_bytes(f"{name}: y", y, want, 4)
                if backend == PACKED:
                    n = [int(j["dispatches"]) - int(j["inputs_looked_at"]) for j in jobs]
                    h.check(f"{name}: both factors packed, and multiplied", n == [3, 1], f"{n} dispatches")
                if backend == UNITS and shape[3] >= 32 and (shape[1] >= 32 or (turn != 1 and shape[0] * shape[1] >= 32)):
                    n = [int(j["dispatches"]) - int(j["inputs_looked_at"]) for j in jobs]
                    h.check(f"{name}: the same by matrix units", n == [3, 1], f"{n} dispatches")
    h.finish()


main()
