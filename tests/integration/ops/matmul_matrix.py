"""tensor.matmul by matrix units (ops/tensor/kernels/matmul_tile_matrix*.wgsl) against exact rational arithmetic, on devices that need not have any: tiles are ordinary
code there. The kernels run one by one, as ops/tensor/matmul_fast.c joins and orders them; then with faults planted.
usage: matmul_matrix.py all|few|planted BACKEND"""
import array
import json
import struct
import sys

from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, buffer, kernel
from matmul import codes, pack, product, transpose
from matmul_fast import near_ties, special, spread, tiny

HOW, BACKEND = sys.argv[1:3]
CODECS = BITS.format("a") + BITS.format("b")
NORMS = "const NORMS: u32 = 256u;\n"
VECTORS = ("fn vectors() -> u32 {\n\treturn params.count / params.n;\n}\nfn vector(v: u32) -> u32 {\n\treturn place(v * params.n).x;\n}\n"
           "fn stride() -> u32 {\n\treturn params.a_column;\n}\n",
           "fn vectors() -> u32 {\n\treturn params.count / params.m;\n}\nfn vector(v: u32) -> u32 {\n"
           "\treturn place(v / params.n * params.m * params.n + v % params.n).y;\n}\nfn stride() -> u32 {\n\treturn params.b_row;\n}\n")
AT = "const {1}_STEP = vec2<u32>({3});\nfn {0}_at(i: u32) -> vec2<u32> {{\n\treturn vec2<u32>({2});\n}}\n"

h = Harness()


def each(name, n):
    return "".join(kernel(name).replace("$", str(i)) for i in range(n))


def run(text, steps, groups, bindings, read):
    """bindings: bytes by number. The bytes of binding `read` after the dispatch."""
    args = ["shader", "run", h.write("kernel.wgsl", text.encode()), "--override", f"steps={steps}", "--dispatch", str(groups), "--backend", BACKEND,
            "--read", f"0:{read}=" + h.path("out"), "--json"]
    for number, data in bindings.items():
        args += ["--bind", f"0:{number}=" + h.write(f"in{number}", data)]
    status, out, err = h.run(*args)
    if not h.check("a kernel runs", status == 0, err):
        h.finish()
    run.seconds.append(json.loads(out)["jobs"][0]["device_seconds"])
    return h.read("out")


run.seconds = []  # of the device, one dispatch after the other


def up(n, of):
    return (n + of - 1) // of


def tile_text(turned, side):
    words, results = side // 16, (side // 32) ** 2
    fetch, end = each("matmul_tile_matrix_fetch", words), kernel("matmul_tile_matrix_put_end")
    put = each("matmul_tile_matrix_put0", words) + end
    multiply = kernel("matmul_tile_matrix_multiply" + ("" if side == 128 else "_small"))
    return ("//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n" + kernel("matmul_place") + buffer("a", 1) + buffer("b", 2)
            + buffer("temp", 3, "read_write") + "const CHUNK: u32 = 512u;\n" + f"const SIDE: u32 = {side}u;\n" + CODECS + buffer("norms_a", 4, element="vec2<f64>")
            + buffer("norms_b", 5, element="vec2<f64>") + NORMS + NEAREST + kernel("within") + kernel("matmul_bound") + kernel("matmul_matrix")
            + (AT.format("left", "LEFT", "i % SIDE, i / SIDE", "0u, 256u / SIDE") if turned == 1 else AT.format("left", "LEFT", "i / 16u, i % 16u", "16u, 0u"))
            + (AT.format("right", "RIGHT", "i % 16u, i / 16u", "0u, 16u") if turned == 2 else AT.format("right", "RIGHT", "i / SIDE, i % SIDE", "256u / SIDE, 0u"))
            + kernel("matmul_tile_matrix") + each("matmul_tile_matrix_word", words) + each("matmul_tile_matrix_sum", results)
            + fetch + put + kernel("matmul_tile_matrix_turn") + (fetch + multiply.replace("$", "0") + "\tworkgroupBarrier();\n" + put) * 2
            + "\tif (next % LOOK == 0u && next < params.k) {\n\tvar most = 0.0lf;\n" + each("matmul_tile_matrix_look", results)
            + "\tstarts += most;\n\t}\n\t}\n" + each("matmul_tile_matrix_end", results) + "}\n")


def fast(a, b, shape, turned=0, plant=(), side=128):
    """The exact product; how many elements were marked stands in fast.marked."""
    batch_a, batch_b, m, k, n = shape
    batches = max(batch_a, batch_b)
    strides = (1, m) if turned == 1 else (k, 1), (1, k) if turned == 2 else (n, 1)
    words = [m, n, k, batches * m * n, *strides[0], *strides[1], batches, m * k * (batch_a > 1), k * n * (batch_b > 1), 0] + [1, 0, 0, 0] * 5
    params, steps = struct.pack("<32I", *words), 16
    while steps < k:
        steps *= 2
    head, norms = kernel("matmul_place"), []
    for i, (data, vectors) in enumerate(((a, m), (b, n))):
        text = head + buffer("a", 1) + buffer("norms", 2, "read_write", "vec2<f64>") + CODECS[:CODECS.index("fn b")] + NORMS + VECTORS[i] + kernel("matmul_norms")
        groups = up(batches * vectors, 8)
        norms.append(run(text, 16, groups, {0: params, 1: data, 2: bytes(groups * 4096)}, 2))
    text, tiles = tile_text(turned, side), up(m, side) * up(n, side) * batches
    for old, new in plant:
        if not h.check("there is what the fault changes", old in text, old):
            h.finish()
        text = text.replace(old, new)
    temp = run(text, max(16, steps // 32), tiles, {0: params, 1: a, 2: b, 3: bytes(tiles * side * side * 4), 4: norms[0], 5: norms[1]}, 3)
    fast.marked = array.array("I", temp).count(0xFFFFFFFF)
    if fast.marked:
        text = (head + buffer("a", 1) + buffer("b", 2) + buffer("temp", 3, "read_write") + buffer("norms_a", 4, element="vec2<f64>") + buffer("norms_b", 5, element="vec2<f64>")
            + "const SHARE: u32 = 4u;\nconst CHUNK: u32 = 512u;\n" + CODECS
                + FORMAT + kernel("exact_sum") + f"const SIDE: u32 = {side}u;\n" + kernel("matmul_matrix") + NORMS + NEAREST + kernel("within") + kernel("matmul_bound") + kernel("matmul_settle"))
        temp = run(text, max(16, steps // 64), tiles * side * side // 256, {0: params, 1: a, 2: b, 3: temp, 4: norms[0], 5: norms[1]}, 3)
    text = head + buffer("temp", 1) + buffer("y", 2, "read_write") + f"const SIDE: u32 = {side}u;\n" + kernel("matmul_matrix") + kernel("matmul_gather") + kernel("result_words")
    count = batches * m * n
    return run(text, 16, up(count, 64), {0: params, 1: temp, 2: bytes(count * 4)}, 2)


def check(name, a, b, shape, turned=0):
    _, _, m, k, n = shape
    want = pack("f32", product(("f32", "f32"), "exact", "f32", shape, a, b))
    a, b = (transpose(a, m, k) if turned == 1 else a), (transpose(b, k, n) if turned == 2 else b)
    for side in (64, 128):
        h.check_bytes(f"{name} {shape} {turned} {side} {BACKEND}", fast(pack("f32", a), pack("f32", b), shape, turned, (), side), want, 4)


FAULTS = (
    ("sums of matrix units without a second pass", (("select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)"),)),
    ("a bound of the error of matrix units too small by 2^10", (("0x1p-53lf", "0x1p-63lf"),)),
    ("sums of matrix units not looked at", (("terms * (most + starts)", "0.0lf"),)),
    ("a block of terms multiplied before it is there", (("next += 16u", "next += 15u"),)),
)


def planted():
    r, shape = Random(41), (1, 1, 67, 17, 35)
    _, _, m, k, n = shape
    a, b = near_ties(r, m, k, n)
    want = pack("f32", product(("f32", "f32"), "exact", "f32", shape, a, b))
    a, b = pack("f32", a), pack("f32", b)
    h.check_bytes("as it is", fast(a, b, shape), want, 4)
    for fault, plant in FAULTS:
        got = fast(a, b, shape, 0, plant)
        at = next((i for i in range(m * n) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.matmul", "exact fractions", f"y[{at // n}, {at % n}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")


def main():
    r = Random(43)
    if HOW == "planted":
        planted()
        h.finish()
    m, k, n = 35, 17, 33
    for name, (a, b) in (("near ties", near_ties(r, m, k, n)), ("spread", spread(r, m, k, n)), ("special", special(r, m, k, n)),
                         ("tiny", tiny(r, m * k, k * n))):
        check(name, a, b, (1, 1, m, k, n))
    if HOW == "all":
        for m, k, n in ((1, 1, 1), (63, 65, 64), (129, 3, 127), (2, 129, 128), (5, 257, 3), (255, 1, 2), (3, 1030, 3)):
            check("borders", codes(r, "f32", m * k, "cancel"), codes(r, "f32", k * n, "cancel"), (1, 1, m, k, n))
        for turned in (0, 1, 2):
            shape = (3, 1, 12, 17, 14) if turned != 2 else (1, 3, 12, 17, 14)
            a, b = codes(r, "f32", shape[0] * 204, "ties"), codes(r, "f32", shape[1] * 238, "ties")
            check("batches", a, b, shape, turned)
    h.finish()


if __name__ == "__main__":
    main()
