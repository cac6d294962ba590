"""Tensors larger than a binding (SEMANTICS.md 17.3): every op that is cut, on a device whose bindings are small, gives the bytes of the
uncut run; what cannot be cut is refused by one code before anything runs.
usage: large.py [few] [SELECTOR]    a device, the mock around the reference without; few: each op, and of its cases a third
       large.py places SELECTOR...  argmax of more than such a device binds"""
import json
import math
import os
import struct
import sys

from harness import Harness, share

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from kernels import buffer, kernel, run_kernel  # noqa: E402
from present import present  # noqa: E402
from rows import op_run, run_many  # noqa: E402

MOST = 1 << 20
WIDTH = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
FEW = sys.argv[1:2] == ["few"]
GIVEN = sys.argv[2 if FEW else 1:]
NARROW = GIVEN[0] if GIVEN else f"mock:wrap=cpu+narrow={MOST}"


def noise(n, seed):
    """n bytes, the same ones for ever: xorshift."""
    words, x = [], seed * 2654435761 % (1 << 64) | 1
    for _ in range((n + 7) // 8):
        x ^= x << 13 & (1 << 64) - 1
        x ^= x >> 7
        x ^= x << 17 & (1 << 64) - 1
        words.append(x)
    return struct.pack(f"<{len(words)}Q", *words)[:n]


def floats(n, seed):
    """f32 of moderate size: the exponent is 120 to 135."""
    return b"".join(struct.pack("<I", w & 0x807fffff | (120 + (w >> 24 & 15)) << 23) for (w,) in struct.iter_unpack("<I", noise(4 * n, seed)))


def indices(n, of, seed):
    return b"".join(struct.pack("<I", w % of) for (w,) in struct.iter_unpack("<I", noise(4 * n, seed)))


X, Y = floats(1000 * 400, 1), floats(1000 * 400, 2)
WIDE = noise(2 * 600001, 3)
INDEX = indices(300000, 300, 4)
KEYS = indices(600001, 5000, 7)  # of which many are equal
# op, inputs (port, bytes, type), outputs, attributes
CASES = [
    # a transposed b by windows of columns: one row, several, other factors and results, blocks, the last window of few columns
    ("tensor.matmul", [("a", floats(320, 11), "f32[1,320]"), ("b", floats(1100 * 320, 12), "f32[1100,320]")], ["y"], ["transpose_b=true"]),
    ("tensor.matmul", [("a", floats(3 * 320, 11), "f32[3,1,320]"), ("b", floats(1100 * 320, 12), "f32[1100,320]")], ["y"], ["transpose_b=true", "out=f16"]),
    ("tensor.matmul", [("a", floats(20 * 64, 13), "f32[20,64]"), ("b", WIDE[:2 * 9001 * 64], "i16[9001,64]")], ["y"], ["transpose_b=true"]),
    ("tensor.matmul", [("a", floats(2 * 32, 13), "f32[2,32]"), ("b", b"\x00\x3c" * 17 * 31001, "q8_0[31001,32]")], ["y"], ["transpose_b=true"]),
    ("tensor.matmul", [("a", INDEX[:5 * 16 * 4], "u32[5,16]"), ("b", KEYS[:4 * 30000 * 16], "u32[30000,16]")], ["y"], ["transpose_b=true"]),
    # by the host: function ops of one shape, stretched, of 16 bits with one left over; views
    ("ieee.add", [("a", X, "f32[1000,400]"), ("b", Y, "f32[1000,400]")], ["y"], []),
    ("ieee.mul", [("a", X, "f32[1000,400]"), ("b", Y[:1600], "f32[400]")], ["y"], []),
    ("ieee.add", [("a", X, "f32[1000,400]"), ("b", Y[:4000], "f32[1000,1]")], ["y"], []),
    ("ieee.add", [("a", X[:800000], "f32[200000,1]"), ("b", Y[:8], "f32[1,2]")], ["y"], []),
    ("ieee.neg", [("x", WIDE, "bf16[600001]")], ["y"], []),
    ("int.popcount", [("x", WIDE[:1200000], "u64[150000]")], ["y"], []),
    ("tensor.transpose", [("x", X, "f32[1000,400]")], ["y"], []),
    ("tensor.transpose", [("x", WIDE[:1200000], "u8[400000,3]")], ["y"], []),
    ("tensor.slice", [("x", X, "f32[1000,400]")], ["y"], ["start=1,3", "step=1,1"]),
    ("tensor.broadcast", [("x", X[:1600], "f32[400]")], ["y"], ["shape=1000,400"]),
    ("tensor.reshape", [("x", WIDE, "f16[600001]")], ["y"], ["shape=1,600001"]),
    # by the host, because the library says along what: products by rows and by batches, reductions, norms, conversions
    ("tensor.matmul", [("a", X, "f32[1000,400]"), ("b", Y[:400 * 3 * 4], "f32[400,3]")], ["y"], []),
    ("tensor.matmul", [("a", X, "f32[100,10,400]"), ("b", Y[:100 * 400 * 2 * 4], "f32[100,400,2]")], ["y"], []),
    ("tensor.sum", [("x", X, "f32[1000,400]")], ["y"], ["axes=1"]),
    ("tensor.max", [("x", X, "f32[10,100,400]")], ["y"], ["axes=2"]),
    ("tensor.argmin", [("x", X, "f32[1000,400]")], ["y"], ["axis=-1"]),
    ("tensor.variance", [("x", X, "f32[1000,400]")], ["y"], ["axes=1"]),
    ("tensor.softmax", [("x", X, "f32[1000,400]")], ["y"], []),
    ("tensor.cumsum", [("x", X, "f32[1000,400]")], ["y"], ["axis=1"]),
    ("tensor.layer_norm", [("x", X, "f32[1000,400]"), ("weight", Y[:1600], "f32[400]"), ("bias", Y[1600:3200], "f32[400]")], ["y"], []),
    ("tensor.rms_norm", [("x", X, "f32[1000,400]"), ("weight", Y[:1600], "f32[400]")], ["y"], []),
    ("tensor.convert", [("x", X, "f32[1000,400]")], ["y"], ["to=bf16"]),
    # by the library itself: one result of more terms than a binding holds
    ("tensor.sum", [("x", X, "f32[400000]")], ["y"], []),
    ("tensor.sum", [("x", X, "f32[1000,400]")], ["y"], ["axes=0,1", "keep=true"]),
    ("tensor.sum", [("x", WIDE, "bf16[600001]")], ["y"], []),
    ("tensor.sum", [("x", X, "u32[4,100000]")], ["y"], []),
    ("tensor.sum", [("x", WIDE[:1200000], "u64[150000]")], ["y"], []),
    ("tensor.mean", [("x", X, "f32[400000]")], ["y"], []),
    ("tensor.max", [("x", X, "f32[1000,400]")], ["y"], ["axes=0,1"]),
    ("tensor.min", [("x", WIDE, "f16[600001]")], ["y"], []),
    ("tensor.prod", [("x", X, "u32[400000]")], ["y"], []),
    # by the library itself: several results, each of terms in several pieces, which begin behind what a binding may begin with
    ("tensor.max", [("x", X, "f32[1000,400]")], ["y"], ["axes=0"]),
    ("tensor.min", [("x", WIDE[:1199999], "i8[1199999,1]")], ["y"], ["axes=0"]),
    ("tensor.prod", [("x", X, "i32[250,4,400]")], ["y"], ["axes=0,2"]),
    ("tensor.max", [("x", X + Y, "f32[2,400000]")], ["y"], ["axes=1"]),
    ("tensor.min", [("x", X + Y, "f16[2,320,5,500]")], ["y"], ["axes=1,3"]),
    ("tensor.any", [("x", bytes(4 * 399999) + b"\x01\0\0\0", "u32[50000,8]")], ["y"], ["axes=0"]),
    # by the library itself: turned, so that rows are the host's to cut, and some rows at a time where it has no cut
    ("tensor.sum", [("x", X, "f32[1000,400]")], ["y"], ["axes=0"]),
    ("tensor.sum", [("x", X, "f32[20,50,400]")], ["y"], ["axes=0,2", "keep=true"]),
    ("tensor.sum", [("x", X, "u32[1000,400]")], ["y"], ["axes=-2"]),
    ("tensor.sum", [("x", X + Y, "f32[2,400000]")], ["y"], ["axes=1"]),
    ("tensor.sum", [("x", X + Y, "f32[400000,2]")], ["y"], ["axes=0"]),
    ("tensor.sum", [("x", WIDE[:1200000], "bf16[200000,3]")], ["y"], ["axes=0"]),
    ("tensor.sum", [("x", WIDE[:1200000], "bf16[3,200000]")], ["y"], ["axes=1"]),
    ("tensor.softmax", [("x", X[:12 * 100001], "f32[3,100001]")], ["y"], []),
    ("tensor.mean", [("x", X, "f32[1000,400]")], ["y"], ["axes=0"]),
    ("tensor.variance", [("x", X, "f32[1000,400]")], ["y"], ["axes=0", "ddof=1"]),
    ("tensor.softmax", [("x", X, "f32[1000,400]")], ["y"], ["axis=0"]),
    ("tensor.log_softmax", [("x", X, "f32[10,100,400]")], ["y"], ["axis=1"]),
    ("tensor.softmax", [("x", X, "f32[40,25,400]")], ["y"], ["axis=0"]),
    ("tensor.logsumexp", [("x", X, "f32[1000,400]")], ["y"], ["axis=0", "keep=true"]),
    ("tensor.cumsum", [("x", X, "f32[1000,400]")], ["y"], ["axis=0", "reverse=true"]),
    ("tensor.sum64", [("x", X, "f64[500,400]")], ["y"], ["axes=0"]),
    # a b that is not transposed is turned first
    ("tensor.matmul", [("a", X[:1600], "f32[1,400]"), ("b", Y, "f32[400,1000]")], ["y"], []),
    ("tensor.matmul", [("a", X, "f32[1000,400]"), ("b", Y, "f32[400,1000]")], ["y"], ["out=f16"]),
    ("tensor.matmul", [("a", KEYS[:40], "u32[2,5]"), ("b", KEYS[:4 * 5 * 80000], "u32[5,80000]")], ["y"], []),
    ("tensor.matmul", [("a", X, "f32[100,4000]"), ("b", Y[:80000], "f32[100,200]")], ["y"], ["transpose_a=true"]),
    ("tensor.matmul", [("a", X, "f32[400,1000]"), ("b", Y, "f32[1000,400]")], ["y"], ["transpose_a=true", "transpose_b=true"]),
    # by windows of columns, which a kernel brings together: the last of few
    ("tensor.matmul", [("a", floats(70 * 64, 13), "f32[70,64]"), ("b", WIDE[:2 * 9001 * 64], "i16[9001,64]")], ["y"], ["transpose_b=true"]),
    # batch by batch, and one of more than a binding
    ("tensor.conv2d", [("x", X, "f32[4,100,1000,1]"), ("w", Y[:2 * 100 * 3 * 4], "f32[2,100,3,1]")], ["y"], ["pad=1,0", "stride=7,1"]),
    ("tensor.conv1d", [("x", WIDE[:1200000], "i16[1,3,200000]"), ("w", WIDE[:30], "i16[1,3,5]")], ["y"], ["stride=5"]),
    ("tensor.conv1d", [("x", WIDE[:1200000], "f16[1,3,200000]"), ("w", WIDE[:30], "f16[1,3,5]")], ["y"], ["stride=1000"]),
    ("tensor.rnn_cell", [("x", X[:1600], "f32[1,400]"), ("h", Y[:4000], "f32[1,1000]"), ("w", Y, "f32[1000,400]"), ("r", (X + Y + X)[:4000000], "f32[1000,1000]"), ("bias", X[:4000], "f32[1000]")], ["y"], []),
    ("tensor.dropout", [("x", X, "f32[1000,400]")], ["y"], ["key=7", "drop=30000"]),
    ("tensor.dropout", [("x", WIDE, "f16[600001]")], ["y"], ["key=7", "drop=30000"]),
    ("tensor.avg_pool", [("x", X, "f32[1,400,1000]")], ["y"], ["window=3"]),
    ("tensor.scatter", [("x", X, "f32[1000,400]"), ("index", indices(400000, 400, 10), "u32[1000,400]"), ("updates", Y, "f32[1000,400]")], ["y"], ["axis=1", "mode=add"]),
    ("tensor.quantize", [("x", X, "f32[1000,400]"), ("scale", Y[:4000], "f32[1000,1]"), ("zero", INDEX[:4000], "i32[1000,1]")], ["y"], ["to=i8"]),
    ("tensor.dequantize", [("x", WIDE[:1200000], "i8[3000,400]"), ("scale", Y[:1600], "f32[1,400]"), ("zero", INDEX[:1600], "i32[1,400]")], ["y"], []),
    ("tensor.histogram", [("x", INDEX, "u32[300000]")], ["y"], ["bins=300"]),
    ("tensor.lookup", [("x", INDEX, "u32[300000]"), ("lookup", X[:1200], "f32[300]")], ["y"], []),
    ("tensor.lookup", [("x", WIDE[:1200000], "u16[600000]"), ("lookup", X[:1200] * 220, "f32[66000]")], ["y"], []),
    # narrower than a byte, where a piece is of several times as many
    ("tensor.transpose", [("x", WIDE[:1200000], "i4[1200,2000]")], ["y"], []),
    ("tensor.slice", [("x", WIDE[:1100000], "binary[1100,8000]")], ["y"], ["start=,1", "step=,1"]),
    ("tensor.gather", [("x", WIDE[:1200000], "u2[1200,4000]"), ("index", indices(1100, 1200, 9), "u32[1100]")], ["y"], ["axis=0"]),
    # by the library itself: orders, in pieces that are merged through several bindings
    ("tensor.sort_pairs", [("keys", KEYS, "u32[600001]"), ("payloads", noise(2400004, 8), "u32[600001]")], ["keys_sorted", "payloads_sorted"], []),
    ("tensor.sort", [("x", X, "f32[400000]")], ["y"], []),
    ("tensor.sort", [("x", X, "f32[4,100000]")], ["y"], ["axis=1", "descending=true"]),
    ("tensor.sort", [("x", WIDE[:1200000], "u64[150000]")], ["y"], []),
    ("tensor.argsort", [("x", KEYS[:1600000], "u32[400000]")], ["index"], []),
    # by the library itself: what reads anywhere
    ("tensor.gather", [("x", X, "f32[1000,400]"), ("index", INDEX[:4 * 777], "u32[777]")], ["y"], ["axis=0"]),
    ("tensor.gather", [("x", X[:1200], "f32[300]"), ("index", INDEX, "u32[300000]")], ["y"], ["axis=0"]),
    ("tensor.embedding", [("table", WIDE[:300 * 1999 * 2], "bf16[300,1999]"), ("index", INDEX[:4 * 501], "u32[501]")], ["y"], []),
    ("tensor.where", [("condition", indices(400000, 2, 6), "u32[1000,400]"), ("a", X, "f32[1000,400]"), ("b", Y, "f32[1000,400]")], ["y"], []),
    ("tensor.pad", [("x", X, "f32[1000,400]")], ["y"], ["before=1,2", "after=3,0", "mode=edge"]),
    ("tensor.flip", [("x", WIDE[:1100001], "u8[1100001]")], ["y"], ["axes=0"]),
    ("tensor.roll", [("x", X, "f32[1000,400]")], ["y"], ["axes=0,1", "shifts=7,-3"]),
    ("tensor.concat", [("xs[0]", X, "f32[1000,400]"), ("xs[1]", Y, "f32[1000,400]")], ["y"], ["axis=1"]),
    ("tensor.one_hot", [("index", INDEX[:4 * 1000], "u32[1000]")], ["y"], ["depth=300", "out=f32"]),
    ("tensor.iota", [], ["y"], ["shape=300000", "out=u32"]),
    ("tensor.crc32", [("x", WIDE[:1200000], "u8[1200,1000]")], ["y"], []),
]
# what nothing cuts
REFUSED = [
    ("tensor.softmax", [("x", X, "f32[400000]")], ["y"], []),
    ("tensor.sort_pairs", [("keys", bytes(4 * 2000000), "u32[2000000]"), ("payloads", bytes(4 * 2000000), "u32[2000000]")], ["keys_sorted", "payloads_sorted"], []),
]


def cases(h):
    calls = share(CASES, 3, 1, lambda case: case[:1]) if FEW else CASES
    for (op, inputs, outputs, attrs), want, got in zip(calls, *(run_many(h, calls, device) for device in ("cpu", NARROW))):
        largest = max([len(d) for _, d, _ in inputs] + [len(o) for o in want or [b""]])
        h.check(f"{op} is larger than a binding", largest > MOST, str(largest))
        if want is not None and got is not None:
            for port, mine, theirs in zip(outputs, got, want):
                h.check_bytes(f"{op} {[t for _, _, t in inputs]} {attrs} {port}", mine, theirs, 1)


NAN, MINUS_NAN, INF, ZERO, MINUS_ZERO = (struct.pack("<I", w) for w in (0x7fc00001, 0xffc00000, 0x7f800000, 0, 0x80000000))


def with_at(data, width, places):
    data = bytearray(data)
    for i, value in places.items():
        data[i * width:(i + 1) * width] = value
    return bytes(data)


# x, its type, the axis: places of a tie in two pieces, of zeros of both signs, of nothing but NaN, of a NaN before and behind the one number
PLACES = [
    (X, "f32[400000]", 0), (with_at(X, 4, {280000: INF, 390001: INF, 3: NAN}), "f32[400000]", 0),
    (with_at(bytes(1600000), 4, {i: MINUS_ZERO for i in range(300000)}), "f32[400000]", 0), (NAN * 300001, "f32[300001]", 0),
    (with_at(MINUS_NAN * 300001, 4, {270000: ZERO}), "f32[300001]", 0), (X + Y[:800000], "f32[2,300000]", 1), (X, "f32[400000,1]", 0),
    (X, "f32[1000,400]", 0), (X, "f32[5,80000]", 1), (X + Y, "f32[2,100003,2]", 1), (X, "f32[133333,3]", 0), (with_at(X, 4, {3 * 130000 + 1: INF, 3 * 130001 + 1: INF}), "f32[133333,3]", 0),
    (WIDE, "f16[600001]", 0), (WIDE, "bf16[600001]", 0), (WIDE[:1200000], "i64[150000]", 0), (WIDE[:1200000], "u64[50000,3]", 0), (WIDE[:1200001], "i8[1200001]", 0),
    (WIDE[:1200000], "u16[60,10000]", 0), (b"\xff" * 1200000, "u32[300000]", 0), (bytes(1200000), "i32[300000]", 0),
]


def numbers(data, dtype):
    if dtype == "bf16":
        data, dtype = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2)), "f32"
    letter = {"f32": "f", "f16": "e", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}[dtype]
    return struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)


def place_of(values, sign):
    """The lowest place of the greatest (sign 1) or the least: -0 below +0, NaN below or above all."""
    keys = [(-math.inf, -2) if v != v else (sign * v, sign * math.copysign(1, v) if v == 0 and isinstance(v, float) else 0) for v in values]
    return keys.index(max(keys))


def places(h):
    """argmax and argmin, against places found in Python."""
    for data, kind, axis in PLACES[::3] if FEW else PLACES:
        dtype, shape = kind[:-1].split("[")
        shape = [int(n) for n in shape.split(",")]
        inner = math.prod(shape[axis + 1:])
        n, each = shape[axis], numbers(data[:math.prod(shape) * WIDTH[dtype]], dtype)
        for op, sign in (("tensor.argmax", 1), ("tensor.argmin", -1)):
            want = [place_of(each[o * n * inner + i:(o + 1) * n * inner:inner], sign) for o in range(math.prod(shape[:axis])) for i in range(inner)]
            got = op_run(h, op, [("x", data[:math.prod(shape) * WIDTH[dtype]], kind)], ["y"], NARROW, [f"axis={axis}"])
            if got is not None:
                h.check_bytes(f"{op} {kind} axis {axis}", got[0], struct.pack(f"<{len(want)}I", *want), 4)


def device(h, selector):
    """A row of more than the 128 MiB that lavapipe binds, and columns: the greatest twice, in two pieces."""
    n = 36000000
    data = bytearray(4 * n)
    for i, value in ((35000000, 2.5), (35999999, 2.5), (7, -1.0), (35999990, -1.0)):
        struct.pack_into("<f", data, 4 * i, value)
    x = h.write("much", bytes(data))
    for op, kind, want in (("argmax", f"f32[{n}]", [35000000]), ("argmin", f"f32[{n}]", [7]), ("argmax", f"f32[{n // 2},2]", [17500000, 17999999])):
        status, _, err = h.run("op", "run", f"tensor.{op}", "--backend", selector, "--in", f"x={x}:{kind}", "--out", "y=" + h.path("place"), "--attr", "axis=0")
        if h.check(f"{op} {kind}, {selector}", status == 0, err):
            h.check_bytes(f"{op} {kind}", h.read("place"), struct.pack(f"<{len(want)}I", *want), 4)


def out_of_range(h):
    """An index that is out of range is named by its place in the whole, however the work is cut."""
    bad = INDEX[:4 * 280001] + struct.pack("<I", 4711) + INDEX[4 * 280002:]
    said = []
    for backend in ("cpu", NARROW):
        status, _, err = h.run("op", "run", "tensor.gather", "--backend", backend, "--in", f"x={h.write('x', X[:1200])}:f32[300]",
                               "--in", f"index={h.write('i', bad)}:u32[300000]", "--attr", "axis=0", "--out", "y=" + h.path("y"))
        said.append((status, "index[280001] is 4711, out of range of 300" in err))
    h.check("the place of an index out of range", said[0] == said[1] and said[0][1] and said[0][0] != 0, str(said))
    # Of a lookup the host looks, piece by piece: the lowest of two, each in a piece of its own.
    bad = bad[:4 * 299000] + struct.pack("<I", 9) + bad[4 * 299001:]
    for wrong, at in ((bad, 280001), (INDEX[:4 * 7] + struct.pack("<I", 4711) + bad[32:], 7)):
        status, _, err = h.run("op", "run", "tensor.lookup", "--backend", NARROW, "--in", f"x={h.write('i', wrong)}:u32[300000]",
                               "--in", f"lookup={h.write('x', X[:1200])}:f32[300]", "--out", "y=" + h.path("y"))
        h.check(f"the place of a wrong index of a lookup, {at}", status == 9 and f"x[{at}] is 4711, out of range of 300" in err, f"{status} {err}")


def refused(h):
    for op, inputs, outputs, attrs in REFUSED:
        args = ["op", "run", op, "--backend", NARROW]
        for port, data, kind in inputs:
            args += ["--in", f"{port}={h.write('in-' + port, data)}:{kind}"]
        status, _, err = h.run(*args, *(f"--out={p}={h.path('none-' + p)}" for p in outputs), *(f"--attr={a}" for a in attrs))
        h.check(f"{op} {inputs[-1][2]} is refused", status != 0 and "PC5203" in err and not os.path.exists(h.path("none-" + outputs[0])), f"{status} {err}")


def fused(h):
    """Jobs that run as one kernel, in several dispatches of it."""
    pipe = h.write("chain.pipe.cfg", b"""pipeline : { name = "p"; class = "strict"; inputs : { x : { type = "f32[1000,400]"; }; r : { type = "f32[400]"; }; };
jobs = ( { id = "a"; op = "ieee.mul"; in : { a = "$x"; b = "$r"; }; }, { id = "t"; op = "tensor.transpose"; in : { x = "a.y"; }; },
{ id = "n"; op = "ieee.neg"; in : { x = "t.y"; }; } ); outputs : { y = "n.y"; }; };
""")
    args = ["--json", "run", pipe, "--in", "x=" + h.write("x", X), "--in", "r=" + h.write("r", Y[:1600])]
    ran = {}
    for name, more in (("uncut", ["--backend", "cpu"]), ("cut", ["--backend", NARROW]), ("apart", ["--backend", NARROW, "--no-fuse"])):
        status, out, err = h.run(*args, *more)
        if h.check(f"a chain, {name}", status == 0, err):
            ran[name] = json.loads(out)
    cids = {name: r["outputs"][0]["cid"] for name, r in ran.items()}
    h.check("one CID", len(cids) == 3 and len(set(cids.values())) == 1, str(cids))
    h.check("one price", len({r["gas"] for r in ran.values()}) == 1)
    h.check("one kernel, several times", [j["fused_into"] for j in ran["cut"]["jobs"]] == ["n", "n", "n"], str(ran["cut"]["jobs"]))


def parted(name, first, cut):
    """A variable of two bindings and what looks through them, as ops/common/tensors/elements.c writes it."""
    return "".join(f"@group(0) @binding({first + i}) var<storage, read> {name}_{i}: array<u32>;\n" for i in (0, 1)) + \
        f"fn {name}_word(i: u32) -> u32 {{\n\tif (i < {cut}u) {{\n\t\treturn {name}_0[i - 0u];\n\t}}\n\treturn {name}_1[i - {cut}u];\n}}\n"


def planted(h):
    """Two runs of pairs over two bindings, merged by the kernel that sorts in pieces, right and with faults."""
    n, run, cut, begin, count = 224, 128, 160, 64, 128
    keys = [w % 9 for (w,) in struct.iter_unpack("<I", noise(4 * n, 9))]
    keys = sorted(keys[:run]) + sorted(keys[run:])
    pairs = sorted(((k, i) for i, k in enumerate(keys)))[begin:begin + count]
    pack = lambda v: struct.pack(f"<{len(v)}I", *v)  # noqa: E731
    want = pack([k for k, _ in pairs]) + pack([i for _, i in pairs])
    bindings = {0: pack([n, run, 12, begin]), 1: bytes(4 * count), 2: bytes(4 * count)}
    for first, values in ((3, keys), (5, list(range(n)))):
        bindings[first], bindings[first + 1] = pack(values[:cut]), pack(values[cut:])
    text = "override steps: u32;\n" + parted("keys", 3, cut) + parted("payloads", 5, cut) + kernel("sort_merge_parts")
    merged = lambda plant: b"".join(run_kernel(h, "cpu", text, 1, 1, bindings, (1, 2), plant))  # noqa: E731
    h.check_bytes("runs merged over two bindings", merged(()), want, 4)
    for fault, old, new in (("equal keys of two bindings exchanged", "(a_key <= b_key)", "(a_key < b_key)"),
                            ("a binding of keys read from its second word", f"keys_1[i - {cut}u]", f"keys_1[i - {cut - 1}u]"),
                            ("pairs of another piece written", "let first = params.begin + at", "let first = at")):
        got = merged(((old, new),))
        at = next((i for i in range(0, len(want), 4) if got[i:i + 4] != want[i:i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.sort_pairs", "pairs in order, by Python", f"word {at // 4} is {got[at:at + 4][::-1].hex()}, not {want[at:at + 4][::-1].hex()}")


def planted_places(h):
    """The piece of three columns that begins 5 elements behind its binding and 1,000 terms behind the column, by the kernel of ops/tensor/extreme.c."""
    n, columns, skip, before = 40, 3, 5, 1000
    values = [w % 7 for (w,) in struct.iter_unpack("<I", noise(4 * (skip + n * columns), 10))]
    pack = lambda v: struct.pack(f"<{len(v)}I", *v)  # noqa: E731
    want = [before + place_of(values[skip + c::columns], 1) for c in range(columns)]
    none = [1, 0, 0, 0]
    params = pack([columns, n, 1, 8, columns, 1, 0, 0, *none * 3, n, columns, 0, 0, *none * 3])
    text = ("const ROWS: u32 = 8u;\nconst EVEN: bool = true;\n" + kernel("reduce_place") + "alias A = vec2<u32>;\n" + buffer("x", 1) + buffer("y", 2, "read_write")
            + "fn none() -> A {\n\treturn A(0u, 0xffffffffu);\n}\nfn join(a: A, b: A) -> A {\n\tif (a.x > b.x || (a.x == b.x && a.y <= b.y)) {\n\t\treturn a;\n\t}\n"
            "\treturn b;\n}\nstruct Piece {\n\t@size(4) skip: u32,\n\t@size(4) before: u32,\n}\n@group(0) @binding(3) var<uniform> piece: Piece;\n"
            "fn take(i: u32, term: u32) -> A {\n\treturn A(x[piece.skip + i], piece.before + term);\n}\nfn give(a: A) -> u32 {\n\treturn a.y;\n}\n" + kernel("reduce_tree"))
    bindings = {0: params, 1: pack(values), 2: bytes(4 * columns), 3: pack([skip, before])}
    places = lambda plant: struct.unpack(f"<{columns}I", run_kernel(h, "cpu", text, 8, 1, bindings, (2,), plant)[0])  # noqa: E731
    h.check("places in a piece", list(places(())) == want)
    for fault, old, new in (("terms counted from a piece's begin", "piece.before + term", "term"), ("a piece read from its binding's begin", "x[piece.skip + i]", "x[i]"),
                            ("of equal elements of two lanes the later", "a.y <= b.y", "a.y > b.y")):
        got = places(((old, new),))
        at = next((c for c in range(columns) if got[c] != want[c]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.argmax", "places in a piece, by Python", f"column {at}: {got[at]}, not {want[at]}")


h = Harness()
if GIVEN[:1] == ["places"]:
    for selector in present(h, GIVEN[1:]):
        device(h, selector)
    h.finish()
if not GIVEN:
    planted(h)
    planted_places(h)
cases(h)
places(h)
out_of_range(h)
refused(h)
fused(h)
h.finish()
