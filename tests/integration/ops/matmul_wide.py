"""tensor.matmul in the order of terms by tiles of packed factors, as GPUs take it (ops/tensor/kernels/matmul_tile_wide*.wgsl), on devices that plan otherwise, against
fractions, step by step: the kernels run one by one, as ops/tensor/matmul_packed.c joins and orders them; then with faults planted.
usage: matmul_wide.py all|planted BACKEND"""
import struct
import sys

from matmul import codes, pack, product, transpose
from matmul_fast import tiny
from matmul_matrix import BACKEND, CODECS, HOW, Random, buffer, each, h, kernel, run, up

FUNCTION = "fn {0}() -> u32 {{\n\treturn {1};\n}}\n"
SIDES = (FUNCTION.format("vectors", "params.m") + FUNCTION.format("vector_step", "params.a_row") + FUNCTION.format("term_step", "params.a_column")
         + "const OUTSIDE: u32 = 0u;\n",
         FUNCTION.format("vectors", "params.n") + FUNCTION.format("vector_step", "params.b_column") + FUNCTION.format("term_step", "params.b_row")
         + "const OUTSIDE: u32 = 0x80000000u;\n")
TERMS = FUNCTION.format("terms", "params.k")
DOT = "acc + V(u32({0}(a.x, b.x)), u32({0}(a.y, b.y)), u32({0}(a.z, b.z)), u32({0}(a.w, b.w)))"
INTEGERS = {"i8": DOT.format("dot4I8Packed"), "u8": DOT.format("dot4U8Packed"), "i16": "acc + a * b"}
WORDS = {"i8": "fn a_word(i: u32) -> u32 {\n\treturn bitcast<u32>(bitcast<i32>(a[i / 4u] << (24u - i % 4u * 8u)) >> 24u);\n}\n",
         "u8": "fn a_word(i: u32) -> u32 {\n\treturn (a[i / 4u] >> (i % 4u * 8u)) & 255u;\n}\n",
         "i16": "fn a_word(i: u32) -> u32 {\n\treturn bitcast<u32>(bitcast<i32>(a[i / 2u] << (16u - i % 2u * 16u)) >> 16u);\n}\n"}
STEPS = {"sequential": "fma(a, b, acc)", "sequential_unfused": "acc + a * b", "chunked": "fma(a, b, acc)"}


def terms(order):
    return FUNCTION.format("terms", "(params.k + 3u) / 4u") if order in ("i8", "u8") else TERMS


def tile_text(order):
    is_cut = order == "chunked"
    text = (kernel("matmul_place") + buffer("a", 1, element="vec4<u32>") + buffer("b", 2, element="vec4<u32>") + buffer("temp", 3, "read_write")
            + ("const CHUNK: u32 = 256u;\n" if is_cut else "") + f"alias V = vec4<{'u32' if order in INTEGERS else 'f32'}>;\n"
            + "fn step(a: V, b: V, acc: V) -> V {\n\treturn " + ({**STEPS, **INTEGERS})[order] + ";\n}\n" + terms(order) + kernel("matmul_corner") + kernel("matmul_wide") + kernel("matmul_packed_wide") + kernel("matmul_tile_wide") + each("matmul_tile_wide_sum", 8)
            + each("matmul_tile_wide_total", 8 * is_cut) + kernel("matmul_tile_wide_turn"))
    for i in range(2):
        text += (kernel("matmul_tile_wide_fetch") + "".join(kernel("matmul_tile_wide_term").replace("$", str(8 * i + t)) for t in range(8))
                 + kernel(f"matmul_tile_wide_put{1 - i}"))
    if is_cut:
        text += ("\t\tif ((block + 1u) * 16u % CHUNK == 0u || block + 1u == n_blocks) {\n\t\t\tlet is_first = block * 16u < CHUNK;\n"
                 + each("matmul_tile_wide_chunk", 8) + "\t\t}\n")
    return text + "\t}\n" + each("matmul_tile_wide_end" + ("_chunks" if is_cut else ""), 8) + "}\n"


def wide(a, b, shape, order, turned=0, plant=()):
    """plant: texts of the kernels, by others."""
    batch_a, batch_b, m, k, n = shape
    batches = max(batch_a, batch_b)
    strides = (1, m) if turned == 1 else (k, 1), (1, k) if turned == 2 else (n, 1)
    words = [m, n, k, batches * m * n, *strides[0], *strides[1], batches, m * k * (batch_a > 1), k * n * (batch_b > 1), 0] + [1, 0, 0, 0] * 5
    params, packed, blocks = struct.pack("<32I", *words), [], up(up(k, 4) if order in ("i8", "u8") else k, 16)
    texts = [kernel("matmul_place") + buffer("a", 1) + buffer("packed", 2, "read_write", "vec4<u32>") + (WORDS.get(order) or CODECS[:CODECS.index("fn b")]) + side
             + kernel("matmul_pack_" + ("bytes" if order in ("i8", "u8") else "words" if order in INTEGERS else "bits")) + terms(order) + kernel("matmul_packed_wide")
             + "const NEXT = vec3<u32>(0u, 1u, 0u);\n" + kernel("matmul_pack_wide") + kernel("matmul_pack") for side in SIDES] + [tile_text(order)]
    for old, new in plant:
        h.check("there is what the fault changes", any(old in text for text in texts), old)
        texts = [text.replace(old, new) for text in texts]
    for i, (data, vectors, count) in enumerate(((a, m, batch_a), (b, n, batch_b))):
        groups = count * up(vectors, 128) * blocks * 2
        packed.append(run(texts[i], 16, groups, {0: params, 1: data, 2: bytes(groups * 4096)}, 2))
    tiles = up(m, 128) * up(n, 128) * batches
    temp = run(texts[2], max(16, 1 << (blocks - 1).bit_length()), tiles, {0: params, 1: packed[0], 2: packed[1], 3: bytes(tiles * 65536)}, 3)
    text = kernel("matmul_place") + buffer("temp", 1) + buffer("y", 2, "read_write") + kernel("matmul_corner") + kernel("matmul_wide") + kernel("matmul_gather")
    count = batches * m * n
    return run(text, 16, up(count, 256), {0: params, 1: temp, 2: bytes(count * 4)}, 2)


def integers(r, kind, shape):
    _, _, m, k, n = shape
    bits = 16 if kind == "i16" else 8
    least = -(1 << bits - 1) if kind[0] == "i" else 0
    a, b = ([least + r.below(1 << bits) for _ in range(count)] for count in (m * k, k * n))
    a[:k], b[::n] = [least] * k, [least] * k
    want = struct.pack(f"<{m * n}I", *(sum(a[i * k + t] * b[t * n + j] for t in range(k)) & 0xFFFFFFFF for i in range(m) for j in range(n)))
    data = (struct.pack(f"<{len(x)}{'bBh'[('i8', 'u8', 'i16').index(kind)]}", *x) for x in (a, b))
    a, b = (x + bytes(-len(x) % 4) for x in data)
    h.check_bytes(f"integers {kind} {shape} {BACKEND}", wide(a, b, shape, kind), want, 4)


def check(name, a, b, shape, order, turned=0):
    _, _, m, k, n = shape
    want = pack("f32", product(("f32", "f32"), order, "f32", shape, a, b))
    a, b = (transpose(a, m, k) if turned == 1 else a), (transpose(b, k, n) if turned == 2 else b)
    h.check_bytes(f"{name} {shape} {order} {turned} {BACKEND}", wide(pack("f32", a), pack("f32", b), shape, order, turned), want, 4)


FAULTS = (
    ("factors filled up by 0 instead of -0", "sequential", (("OUTSIDE: u32 = 0x80000000u", "OUTSIDE: u32 = 0u"),)),
    ("terms of a packed block in another order", "sequential", (("% eights * 8u + lane / 32u", "% eights * 8u + 7u - lane / 32u"),)),
    ("the first chunk added to +0", "chunked", (("let is_first = block * 16u < CHUNK;", "let is_first = false;"),)),
)


def main():
    r = Random(47)
    if HOW == "planted":
        shape = (1, 1, 5, 19, 7)
        a, b = tiny(r, 95, 133)
        a, b = [x | 1 << 31 for x in a], [x & 0x7FFFFFFF for x in b]
        a[:19] = codes(r, "f32", 19, "cancel")
        b[:133:7] = codes(r, "f32", 19, "cancel")
        for fault, order, plant in FAULTS:
            want = pack("f32", product(("f32", "f32"), order, "f32", shape, a, b))
            got = wide(pack("f32", a), pack("f32", b), shape, order, 0, plant)
            at = next((i for i in range(35) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
            if h.check(f"{fault}: caught", at is not None):
                h.planted(fault, "tensor.matmul", "fractions, step by step",
                          f"y[{at // 7}, {at % 7}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")
        h.finish()
    for order in STEPS:
        check("any", codes(r, "f32", 131 * 3, "any"), codes(r, "f32", 3 * 2, "any"), (1, 1, 131, 3, 2), order)
        check("tiny", *tiny(r, 3 * 17, 17 * 70), (1, 1, 3, 17, 70), order)
    for k in (255, 257):
        check("chunks", codes(r, "f32", k, "cancel"), codes(r, "f32", k * 2, "cancel"), (1, 1, 1, k, 2), "chunked")
    for kind in ("i8", "u8", "i16"):
        integers(r, kind, (1, 1, 130, 37, 3))
        integers(r, kind, (1, 1, 2, 64, 129))
    for turned in (1, 2):
        shape = (2, 1, 5, 18, 6) if turned == 1 else (1, 2, 5, 18, 6)
        check("batches", codes(r, "f32", shape[0] * 90, "cancel"), codes(r, "f32", shape[1] * 108, "cancel"), shape, "sequential", turned)
    h.finish()


if __name__ == "__main__":
    main()
