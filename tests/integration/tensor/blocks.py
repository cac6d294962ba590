"""tensor.quantize_blocks against fractions (what a block must become: `chosen` of tests/dtype/codes.py) and against the bytes that the host's own encoder
makes (`pipectl tensor convert`); faults in its kernels. usage: blocks.py all|few DEVICE... | planted"""
import os
import random
import struct
import sys

from harness import Harness
from packed import pack

for folder in ("../ops", "../../dtype"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))
import codes  # noqa: E402
from codes import BLOCKS, F, WAYS  # noqa: E402
from kernels import buffer, kernel, run_kernel  # noqa: E402
from present import present  # noqa: E402

# Rounded to what an f16 and a bf16 hold, too, so that every type has the same numbers.
KINDS = ["any", "zeros", "positive", "integers", "above", "below", "tiny", "wide", "ties", "steps"]
MORE = ["beside"]  # what f32 alone holds


def numbers(rng, kind, n):
    scale = F(2) ** rng.randrange(-14, 6)
    if kind == "zeros":
        return [F(0)] * n
    if kind == "integers":
        return [F(rng.randrange(-9, 9)) for _ in range(n)]
    if kind == "tiny":
        return [F(rng.randrange(3), 1 << 24) for _ in range(n)]
    if kind == "wide":
        return [F(rng.randrange(-128, 128), 1 << rng.randrange(20)) for _ in range(n)]
    if kind == "ties":  # multiples of half a step, where the scale is 1
        return [F(rng.randrange(-15, 16), 2) for _ in range(n - 1)] + [F(8)]
    if kind == "steps":  # the same of q5_1 and others without a sign
        return [F(0), F(31), *(F(2 * rng.randrange(31) + 1, 2) for _ in range(n - 2))]
    if kind == "beside":  # just above half of the smallest step, by less than the smallest f16 has places for
        return [F(0), F(31, 1 << 24), *(F(2 * rng.randrange(1, 31) + 1, 1 << 25) * (1 + F(1, 1 << 12)) for _ in range(n - 2))]
    v = [F(rng.randrange(-128, 128), 128) * scale for _ in range(n)]
    return {"positive": [abs(x) for x in v], "above": [abs(x) + scale for x in v], "below": [-abs(x) - scale for x in v]}.get(kind, v)


def run(h, data, kind, to, device, out="y"):
    return h.run("op", "run", "tensor.quantize_blocks", "--in", f"x={h.write('x', data)}:{kind}", "--attr", "to=" + to, "--backend", device, "--out", "y=" + h.path(out))


def cases(h, device, few):
    rng = random.Random(9)
    for to, (n, size) in BLOCKS.items():
        for x_type in ("f32",) if few else ("f32", "f16", "bf16"):
            kinds = KINDS + MORE if x_type == "f32" else KINDS
            rows = [numbers(rng, kind, n) for kind in kinds]
            x = pack(x_type, [codes.write(x_type, codes.of(v), "ieee") for row in rows for v in row])
            shape = f"{x_type}[{len(rows)},{n}]"
            status, _, err = run(h, x, shape, to, device)
            if not h.check(f"{device} {x_type} to {to}", status == 0, err):
                continue
            got = h.read("y")
            status, _, err = h.run("tensor", "convert", h.path("x"), h.path("want"), "--from", shape, "--to", to)
            h.check_bytes(f"{device} {x_type} to {to}, the host's bytes", got, h.read("want") if status == 0 else b"", size)
            for i, (kind, row) in enumerate(zip(kinds, rows)):
                held = [y.value() for y in codes.unpack(to, got[i * size:(i + 1) * size])]
                h.check(f"{device} {x_type} to {to}, {kind}", held == codes.chosen(to, row))


def refused(h, device):
    good = struct.pack("<256f", *range(256))
    for what, word in (("an infinity", 0x7f800000), ("a NaN", 0xffc00001), ("a scale beyond f16", 0x53000000), ("more than any integer", 0x7f7fffff)):
        data = good + good[:400] + struct.pack("<I", word) + good[404:]
        for to in ("q4_0", "q4_1", "q8_0", "q2_k", "q6_k"):
            status, _, err = run(h, data, "f32[2,256]", to, device, "never")
            h.check(f"{what} in {to}", status == 9 and "a block of x has" in err and not os.path.exists(h.path("never")), f"{status} {err}")
    for what, kind, to, code in (("no type of blocks", "f32[256]", "i8", "PC4202"), ("half a block", "f32[8,32]", "q4_k", "PC4201"), ("one number", "f32", "q4_0", "PC4201"),
                                 ("doubles", "f64[128]", "q4_0", "PC4102"), ("integers", "i32[256]", "q4_0", "PC4102")):
        data = good[:4] if kind == "f32" else good
        status, _, err = run(h, data, kind, to, device, "never")
        h.check(what, status == 3 and code in err and not os.path.exists(h.path("never")), f"{status} {err}")
    status, _, err = run(h, b"", "f32[0,256]", "q4_k", device)
    h.check("nothing", status != 0 or h.read("y") == b"", err)


def planted(h):
    """The kernels of a format with two levels, of one with signed scales and of one with a minimum that is added, one by one."""
    rng = random.Random(3)

    def words(text, count, per, bindings, n_bytes, plant):
        head = "".join(f"const {k}: {t} = {v};\n" for k, t, v in consts)
        text = kernel("element_params") + "alias T = u32;\n" + head + text + kernel("result_words" if per == 1 else "result_quarters")
        return run_kernel(h, "cpu", text, None, (count // per + 63) // 64, {**({} if per == 1 else {0: struct.pack("<4I", count, 0, 0, 0) + bytes(256)}), **bindings, len(bindings) + 1: bytes(n_bytes)},
                          (len(bindings) + 1,), plant)[0]

    found = {}
    for to in ("q4_k", "q6_k", "q5_1"):
        part, scales, minima, low, high, turns = WAYS[to]
        n, size = BLOCKS[to]
        consts = [("SUB", "u32", f"{part}u"), ("PARTS", "u32", f"{n // part}u"), ("SCALES", "u32", f"{scales}u"), ("MINIMA", "u32", f"{1 if minima == 0 else minima or 0}u"),
                  ("LOW", "i64", f"{-low}li"), ("HIGH", "i64", f"{high}li"), ("BYTES", "u32", f"{size}u"), ("TWO_LEVELS", "bool", str(bool(minima)).lower()),
                  ("SHIFTED", "bool", str(minima == 0).lower()), ("TURNS", "bool", str(turns).lower()), ("EIGHT_BITS", "bool", "false"), ("FIFTHS", "bool", str(high - low == 31).lower())]
        rows = [numbers(rng, kind, n) for kind in KINDS + MORE]
        x = pack("f32", [codes.write("f32", codes.of(v), "ieee") for row in rows for v in row])
        read = buffer("x", 1) + "fn x_bits(i: u32) -> u32 {\n\treturn x[i];\n}\n" + kernel("blocks_number")
        layout = {"q4_k": "blocks_pairs", "q6_k": "blocks_q6_k", "q5_1": "blocks_small"}[to]

        def encoded(plant):
            mine = lambda *texts: tuple(p for p in plant if any(p[0] in t for t in texts))  # noqa: E731
            n_blocks = len(rows)
            text = read + buffer("y", 2, "read_write") + kernel("blocks_scale")
            blocks = words(text, n_blocks, 1, {1: x}, 4 * n_blocks, mine(text))
            text = read + buffer("blocks", 2) + buffer("y", 3, "read_write") + kernel("blocks_part")
            parts = words(text, n_blocks * n // part, 1, {1: x, 2: blocks}, 4 * (n_blocks * n // part), mine(text))
            text = read + buffer("blocks", 2) + buffer("parts", 3) + buffer("y", 4, "read_write") + kernel("blocks_code")
            made = words(text, n_blocks * n, 4, {1: x, 2: blocks, 3: parts}, n_blocks * n, mine(text))
            text = (buffer("blocks", 1) + buffer("parts", 2) + buffer("codes", 3) + buffer("y", 4, "read_write")
                    + "fn codes_raw(i: u32) -> u32 {\n\treturn (codes[i >> 2u] >> ((i & 3u) * 8u)) & 0xffu;\n}\n" + kernel("blocks_layout") + kernel(layout))
            got = words(text, n_blocks * size, 4, {1: blocks, 2: parts, 3: made}, (n_blocks * size + 3) // 4 * 4, mine(text))
            return [codes.unpack(to, got[i * size:(i + 1) * size]) for i in range(n_blocks)]

        want = [codes.chosen(to, row) for row in rows]
        h.check(f"the kernels of {to}", [[y.value() for y in row] for row in encoded(())] == want)
        for fault, old, new in (("halves of a step go up", "place == edge && (k & 1u) == 0u", "place == edge"),
                                ("what lies between two multiples is cut off", "select(0u, 1u, (whole << down) != mantissa)", "0u"),
                                ("a scale that does not quite reach", "+ 2li * offset >= least", "+ 2li * offset > least"),
                                ("of elements as far from zero the later one turns the scale", "(bits & 0x7fffffffu) > (far & 0x7fffffffu)", "(bits & 0x7fffffffu) >= (far & 0x7fffffffu)"),
                                ("upper bits of scales lost", "(s(b, k + 4u) >> 4u) << 6u", "0u"),
                                ("a minimum above the least element", "4li * half_units(next) <= lowest", "2li * half_units(next) <= lowest")):
            try:
                got = [[y.value() for y in row] for row in encoded(((old, new),))]
            except (AttributeError, TypeError):  # what is no number
                got = None
            at = next(((KINDS + MORE)[i] for i in range(len(rows)) if got is None or got[i] != want[i]), None)
            if at is not None:
                found.setdefault(fault, f"{to}, numbers: {at}")
        faults = ("halves of a step go up", "what lies between two multiples is cut off", "a scale that does not quite reach",
                  "of elements as far from zero the later one turns the scale", "upper bits of scales lost", "a minimum above the least element")
    for fault in faults:
        if h.check(f"{fault}: caught", fault in found):
            h.planted(fault, "tensor.quantize_blocks", "blocks, by fractions", found[fault])


h = Harness()
if sys.argv[1] == "planted":
    planted(h)
    h.finish()
for selector in present(h, sys.argv[2:]):
    cases(h, selector, sys.argv[1] == "few")
    if sys.argv[1] == "all":
        refused(h, selector)
h.finish()
