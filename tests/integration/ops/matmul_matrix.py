"""tensor.matmul by matrix units (ops/tensor/kernels/matmul_tile_matrix*.wgsl) against exact rational arithmetic, on devices that need not have any: tiles are ordinary
code there. The kernels run one by one, as ops/tensor/matmul_fast.c joins and orders them; then with faults planted.
usage: matmul_matrix.py all|few|planted BACKEND"""
import array
import json
import struct
import sys
from fractions import Fraction

from harness import Harness, Random
from kernels import FORMAT, NEAREST, buffer, kernel
from matmul import codes, pack, product, rounded, transpose, value
from matmul_fast import f32, near_ties, special, spread, tiny

HOW, BACKEND = sys.argv[1:3]
CODECS = "".join(f"fn {x}_bits(i: u32) -> u32 {{\n\treturn {x}[i];\n}}\n" for x in "ab")
SIDE = 64
LOOK = "const LOOK: u32 = 1024u;\n"
FUNCTION = "fn {0}() -> u32 {{\n\treturn {1};\n}}\n"
SIDES = (
    (FUNCTION.format("groups", "groups_a()") + FUNCTION.format("vectors", "params.m") + FUNCTION.format("vector_step", "params.a_row")
     + FUNCTION.format("term_step", "params.a_column") + "fn of_four(i: u32) -> vec2<u32> {\n\treturn vec2<u32>(i / 4u, i % 4u * 4u);\n}\n"
     "const NEXT = vec3<u32>(0u, 0u, 1u);\nconst OUTSIDE: u32 = 0u;\n",
     "fn sharer(v: u32, i: u32) -> u32 {\n\treturn i / 16u * 128u + v * 16u + i % 16u;\n}\n"),
    (FUNCTION.format("groups", "groups_b()") + FUNCTION.format("vectors", "params.n") + FUNCTION.format("vector_step", "params.b_column")
     + FUNCTION.format("term_step", "params.b_row") + "fn of_four(i: u32) -> vec2<u32> {\n\treturn vec2<u32>(i % 2u * 4u, i / 2u);\n}\n"
     "const NEXT = vec3<u32>(0u, 1u, 0u);\nconst OUTSIDE: u32 = 0x80000000u;\n",
     "fn sharer(v: u32, i: u32) -> u32 {\n\treturn i * 8u + v;\n}\n"))

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


def bound(look):
    return (buffer("norms_a", 4, element="vec2<f64>") + buffer("norms_b", 5, element="vec2<f64>") + NEAREST + kernel("within") + kernel("matmul_bound") + look
            + kernel("matmul_packed") + kernel("matmul_bound_matrix"))


def tile_text(look=LOOK):
    words, results = 2, 8
    fetch = kernel("matmul_tile_matrix_next") + each("matmul_tile_matrix_fetch", words)
    put = [each(f"matmul_tile_matrix_put{i}", words) for i in range(2)]
    multiply = kernel("matmul_tile_matrix_multiply")
    return ("//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n" + kernel("matmul_place") + buffer("a", 1, element="vec4<u32>")
            + buffer("b", 2, element="vec4<u32>") + buffer("temp", 3, "read_write") + "const CHUNK: u32 = 512u;\n" + f"const SIDE: u32 = {SIDE}u;\n" + bound(look)
            + kernel("matmul_corner") + kernel("matmul_matrix") + kernel("matmul_tile_matrix") + each("matmul_tile_matrix_word", words) + each("matmul_tile_matrix_sum", results)
            + put[0] + kernel("matmul_tile_matrix_segment")
            + "".join(fetch + multiply.replace("$", str(i)) + put[1 - i] + "\tworkgroupBarrier();\n" for i in range(2))
            + "\t}\n\tif ((start + LOOK / 32u) * 32u < terms) {\n\tvar most = 0.0lf;\n" + each("matmul_tile_matrix_look", results)
            + "\tstarts += most;\n\t}\n\t}\n" + each("matmul_tile_matrix_end", results) + "}\n")


def packed(i, data, shape, params, look):
    """Factor i for matrix units, and its norms."""
    batches, _, m, k, n = shape if i == 0 else (shape[1], 0, *shape[2:])
    groups, parts = batches * up(n if i else m, SIDE) * (SIDE // 8), up(k, 128)
    layout = f"const SIDE: u32 = {SIDE}u;\n" + kernel("matmul_packed")
    text = (kernel("matmul_place") + buffer("a", 1) + buffer("packed", 2, "read_write", "vec4<u32>") + CODECS[:CODECS.index("fn b")] + layout + SIDES[i][0]
            + kernel("matmul_pack_eight") + kernel("matmul_pack_bits") + kernel("matmul_pack"))
    words = run(text, 16, groups * parts, {0: params, 1: data, 2: bytes(groups * parts * 4096)}, 2)
    text = (kernel("matmul_place") + buffer("packed", 1, element="vec4<u32>") + buffer("norms", 2, "read_write", "vec2<f64>") + look + layout + SIDES[i][1]
            + kernel("matmul_pack_norms"))
    return words, run(text, max(16, 1 << (parts - 1).bit_length()), groups, {0: params, 1: words, 2: bytes(groups * 4096)}, 2)


def fast(a, b, shape, turned=0, plant=(), look=LOOK):
    """The exact product; how many elements were marked stands in fast.marked."""
    batch_a, batch_b, m, k, n = shape
    batches = max(batch_a, batch_b)
    strides = (1, m) if turned == 1 else (k, 1), (1, k) if turned == 2 else (n, 1)
    words = [m, n, k, batches * m * n, *strides[0], *strides[1], batches, m * k * (batch_a > 1), k * n * (batch_b > 1), 0] + [1, 0, 0, 0] * 5
    params, steps = struct.pack("<32I", *words), 16
    while steps < k:
        steps *= 2
    (left, norms_a), (right, norms_b) = (packed(i, data, shape, params, look) for i, data in enumerate((a, b)))
    text, tiles = tile_text(look), up(m, SIDE) * up(n, SIDE) * batches
    for old, new in plant:
        if not h.check("there is what the fault changes", old in text, old):
            h.finish()
        text = text.replace(old, new)
    temp = run(text, max(16, steps // 32), tiles, {0: params, 1: left, 2: right, 3: bytes(tiles * SIDE * SIDE * 4), 4: norms_a, 5: norms_b}, 3)
    fast.marked = array.array("I", temp).count(0xFFFFFFFF)
    text = (kernel("matmul_place") + buffer("a", 1) + buffer("b", 2) + buffer("temp", 3) + buffer("y", 6, "read_write") + "const SHARE: u32 = 4u;\nconst PER: u32 = 1u;\n"
            + FORMAT + kernel("exact_sum") + f"const SIDE: u32 = {SIDE}u;\n" + kernel("matmul_corner") + kernel("matmul_matrix") + "const CHUNK: u32 = 512u;\n" + bound(look)
            + kernel("matmul_packed_factors") + kernel("matmul_settle") + kernel("matmul_settle_rows") + kernel("matmul_settle_main"))
    count = batches * m * n
    return run(text, max(16, steps // 64), up(count, 256), {0: params, 1: left, 2: right, 3: temp, 4: norms_a, 5: norms_b, 6: bytes(count * 4)}, 6)


def check(name, a, b, shape, turned=0):
    _, _, m, k, n = shape
    want = pack("f32", product(("f32", "f32"), "exact", "f32", shape, a, b))
    a, b = (transpose(a, m, k) if turned == 1 else a), (transpose(b, k, n) if turned == 2 else b)
    h.check_bytes(f"{name} {shape} {turned} {BACKEND}", fast(pack("f32", a), pack("f32", b), shape, turned), want, 4)


FAULTS = (
    ("sums of matrix units without a second pass", (("select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)"),)),
    ("a bound of the error of matrix units too small by 2^10", (("0x1p-53lf", "0x1p-63lf"),)),
    ("a block of terms multiplied twice", (("a_at += 32u", "a_at += 0u"),)),
)


def lost_between_looks():
    """A sum that loses 0.4 units of 2^30 each term, and ends 300 of them above a rounding boundary; without what it was at its looks the bound of its error is 128 of them."""
    k, one = 1500, Fraction(1, 1 << 22)
    a, b = [Fraction(2, 5) * one * 1024] * k, [Fraction(1, 1024)] * k
    a = [value("f32", rounded("f32", x, False)) for x in a]
    for at, x in ((0, 1 << 30), (k - 3, -1 << 30), (k - 2, 1 << 12), (k - 1, 1024 * one + 300 * one - 600 * one)):
        a[at], b[at] = Fraction(x), Fraction(1)
    return [f32(x) for x in a], [f32(x) for x in b], k


def planted_looks():
    a, b, k = lost_between_looks()
    shape, look = (1, 1, 1, k, 1), "const LOOK: u32 = 256u;\n"
    want = pack("f32", product(("f32", "f32"), "exact", "f32", shape, a, b))
    a, b = pack("f32", a), pack("f32", b)
    h.check_bytes("looked at", fast(a, b, shape, 0, (), look), want, 4)
    fault = "sums of matrix units not looked at"
    got = fast(a, b, shape, 0, (("f64(LOOK) * starts", "0.0lf * starts"),), look)
    if h.check(f"{fault}: caught", got != want):
        h.planted(fault, "tensor.matmul", "exact fractions", f"y is {got[::-1].hex()}, not {want[::-1].hex()}")


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
        planted_looks()
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
