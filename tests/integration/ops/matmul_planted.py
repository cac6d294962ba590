"""Faults planted into the kernels of tensor.matmul, each found by the sums of matmul_fast.py (or by a plain chunked product): the kernels run one
by one, as ops/tensor/matmul_fast.c joins and orders them, right ones first.
usage: matmul_planted.py BACKEND"""
import struct
import sys

from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, buffer, kernel, run_kernel
from matmul import codes, pack, product
from matmul_fast import near_ties

BACKEND = sys.argv[1]
NORMS = "const NORMS: u32 = 256u;\n"
VALUE = "fn value(bits: u32) -> Acc {\n\treturn Acc(bitcast<f32>(bits));\n}\n"
STEP = "fn step(a: {0}, b: {0}, acc: {0}) -> {0} {{\n\treturn {1};\n}}\n"
VECTORS = ("fn vectors() -> u32 {\n\treturn params.count / params.n;\n}\nfn vector(v: u32) -> u32 {\n\treturn place(v * params.n).x;\n}\n"
           "fn stride() -> u32 {\n\treturn params.a_column;\n}\n",
           "fn vectors() -> u32 {\n\treturn params.count / params.m;\n}\nfn vector(v: u32) -> u32 {\n"
           "\treturn place(v / params.n * params.m * params.n + v % params.n).y;\n}\nfn stride() -> u32 {\n\treturn params.b_row;\n}\n")
M, K, N = 67, 17, 35

h = Harness()


def run(text, steps, groups, bindings, read, plant):
    return run_kernel(h, BACKEND, text, steps, groups, bindings, (read,), plant)[0]


def params():
    batch = [1, 0, 0, 0] * 6
    return struct.pack("<32I", M, N, K, M * N, K, 1, N, 1, *batch)


def up(n, of):
    return (n + of - 1) // of


def fast(a, b, plant):
    """The exact product by the tiles of GPUs."""
    head, codec = kernel("matmul_place"), BITS.format("a") + BITS.format("b")
    norms = []
    for i, (data, vectors) in enumerate(((a, M), (b, N))):
        text = head + buffer("a", 1) + buffer("norms", 2, "read_write", "vec2<f64>") + BITS.format("a") + NORMS + VECTORS[i] + kernel("matmul_norms")
        groups = up(vectors, 8)
        norms.append(run(text, 16, groups, {0: params(), 1: data, 2: bytes(groups * 4096)}, 2, ()))
    factors = buffer("a", 1) + buffer("b", 2) + buffer("temp", 3, "read_write")
    tiles = up(M, 64) * up(N, 64)
    bound = (buffer("norms_a", 4, element="vec2<f64>") + buffer("norms_b", 5, element="vec2<f64>") + NORMS + NEAREST + kernel("within") + kernel("matmul_bound") + kernel("matmul_bound_norms"))
    text = (head + factors + "const CHUNK: u32 = 512u;\n" + codec + "alias Acc = f64;\n" + VALUE + STEP.format("vec4<f64>", "acc + a * b") + bound + kernel("matmul_corner") + kernel("matmul_gpu")
            + kernel("matmul_tile_gpu"))
    temp = run(text, 16, tiles, {0: params(), 1: a, 2: b, 3: bytes(tiles * 16384), 4: norms[0], 5: norms[1]}, 3, plant)
    text = (head + buffer("a", 1) + buffer("b", 2) + buffer("temp", 3) + buffer("y", 6, "read_write") + "const SHARE: u32 = 4u;\nconst PER: u32 = 1u;\n"
            + "const CHUNK: u32 = 512u;\n" + codec + FORMAT + kernel("exact_sum") + kernel("matmul_corner") + kernel("matmul_gpu") + bound + kernel("matmul_factors") + kernel("matmul_settle")
            + kernel("matmul_settle_rows") + kernel("matmul_settle_main"))
    return run(text, 16, up(M * N, 256), {0: params(), 1: a, 2: b, 3: temp, 4: norms[0], 5: norms[1], 6: bytes(M * N * 4)}, 6, ())


def chunked(a, b, k, plant):
    text = (kernel("matmul_place") + buffer("a", 1) + buffer("b", 2) + buffer("y", 3, "read_write") + BITS.format("a") + BITS.format("b")
            + STEP.format("f32", "fma(a, b, acc)") + "const CHUNK: u32 = 256u;\n" + kernel("matmul_ordered") + kernel("result_words"))
    block = struct.pack("<32I", 2, 2, k, 4, k, 1, 2, 1, *[1, 0, 0, 0] * 6)
    return run(text, 1024, 1, {0: block, 1: a, 2: b, 3: bytes(16)}, 3, plant)


THIN = """@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let row = group.x / params.n;
	let column = group.x % params.n;
	var s = vec3<f64>();
	for (var i = 0u; i < steps; i++) {
		let k = i * 8u + lane;
		if (k >= params.k) {
			break;
		}
		let x = f64(bitcast<f32>(a[row * params.k + k]));
		let w = f64(bitcast<f32>(b[k * params.n + column]));
		s += vec3<f64>(x * w, x * x, w * w);
	}
	parts[lane] = s.x;
	parts[8u + lane] = s.y;
	parts[16u + lane] = s.z;
	workgroupBarrier();
	if (lane == 0u) {
		y[group.x] = judged(together(0u, 0u), sqrt(together(1u, 0u)), sqrt(together(2u, 0u)));
	}
}
"""


def thin(a, b, plant):
    """What the lanes of an element say of it: the result, or that it is in doubt."""
    numbers = "".join(f"const {name}: u32 = {v}u;\n" for name, v in (("LANES", 8), ("SPLIT", 8), ("EACH", 1), ("TERMS", 1), ("GROUPS", 1), ("COLUMNS", 1), ("ROWS", 1)))
    text = (kernel("matmul_place") + buffer("a", 1) + buffer("b", 2) + buffer("y", 3, "read_write") + numbers + NEAREST + kernel("within") + kernel("matmul_thin") + THIN)
    return run(text, 16, M * N, {0: params(), 1: a, 2: b, 3: bytes(M * N * 4)}, 3, plant)


FAULTS = (
    ("an f64 sum without its second pass", "select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)"),
    ("factors cut to eleven bits, as TF32 has", "Acc(bitcast<f32>(bits))", "Acc(bitcast<f32>(bits & 0xffffe000u))"),
    ("a bound of the error too small by 2^10", "0x1p-53lf", "0x1p-63lf"),
    ("bits that depend on the tile", "finish(t2.z, n2, m2)", "finish(t2.z, n2, m2) + u32(c.y)"),
)


def main():
    r = Random(41)
    a, b = near_ties(r, M, K, N)
    want = pack("f32", product(("f32", "f32"), "exact", "f32", (1, 1, M, K, N), a, b))
    a, b = pack("f32", a), pack("f32", b)
    h.check_bytes("as it is", fast(a, b, ()), want, 4)
    for fault, old, new in FAULTS:
        got = fast(a, b, ((old, new),))
        at = next((i for i in range(M * N) if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.matmul", "exact fractions", f"y[{at // N}, {at % N}] is {got[4 * at:4 * at + 4][::-1].hex()}, not {want[4 * at:4 * at + 4][::-1].hex()}")
    for fault, plant in (("", ()), ("lanes that share an element: no bound of their error", (("f64(depth) * most", "0.0lf * most"),))):
        got = thin(a, b, plant)
        told = [i for i in range(M * N) if got[4 * i:4 * i + 4] != b"\xff\xff\xff\xff"]
        wrong = next((i for i in told if got[4 * i:4 * i + 4] != want[4 * i:4 * i + 4]), None)
        h.check(f"some are told {fault}", len(told) > 50, f"{len(told)} of {M * N}")
        if h.check(f"what is told is right{fault and ': caught'}", (wrong is None) == (not fault)) and fault:
            h.planted(fault, "tensor.matmul", "exact fractions", f"y[{wrong // N}, {wrong % N}] is {got[4 * wrong:4 * wrong + 4][::-1].hex()}, not {want[4 * wrong:4 * wrong + 4][::-1].hex()}")
    k = 700
    a, b = codes(r, "f32", 2 * k, "cancel"), codes(r, "f32", 2 * k, "cancel")
    want = pack("f32", product(("f32", "f32"), "chunked", "f32", (1, 1, 2, k, 2), a, b))
    a, b = pack("f32", a), pack("f32", b)
    h.check_bytes("chunked as it is", chunked(a, b, k, ()), want, 4)
    fault = "chunks of 128 terms"
    got = chunked(a, b, k, (("CHUNK: u32 = 256u", "CHUNK: u32 = 128u"),))
    if h.check(f"{fault}: caught", got != want):
        h.planted(fault, "tensor.matmul", "fractions, step by step", f"y is {got.hex()}, not {want.hex()}")
    # Products that round to -0, and steps of 0 * 0 behind them, as padding by 0 instead of -0 would be.
    tiny = [0x0D800000] * 6, [0x8D800000] * 6
    want = pack("f32", product(("f32", "f32"), "sequential", "f32", (1, 1, 2, 3, 2), *tiny))
    a, b = (pack("f32", t) for t in tiny)
    whole = ("CHUNK: u32 = 256u", "CHUNK: u32 = 0xffffffffu")
    h.check("there is a -0", want[:4] == b"\0\0\0\x80", want.hex())
    h.check_bytes("sequential as it is", chunked(a, b, 3, (whole,)), want, 4)
    fault = "a padded -0 in sequential"
    got = chunked(a, b, 3, (whole, ("return fma(a, b, acc);", "return fma(0f, 0f, fma(a, b, acc));")))
    if h.check(f"{fault}: caught", got != want):
        h.planted(fault, "tensor.matmul", "fractions, step by step", f"y is {got.hex()}, not {want.hex()}")
    h.finish()


main()
