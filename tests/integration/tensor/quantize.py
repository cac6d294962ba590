"""tensor.quantize, tensor.dequantize and tensor.quantize_scale against fractions: what codes mean and which code a number gets is
tests/dtype/codes.py's; quotients, products and scales are Python's. usage: quantize.py [DEVICE]"""
import math
import os
import random
import struct
import sys

from harness import Harness, share
from packed import BITS, pack

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dtype"))
import codes  # noqa: E402
from codes import FLOATS, INF, INTEGERS, NAN, F, Number  # noqa: E402

TYPES = ["i8", "u8", "i4", "u4", "i2", "u2", "ternary", "binary", "f8e4m3", "f8e5m2", "f4"]
RANGE = {**{t: (-(1 << INTEGERS[t][0] - 1) if INTEGERS[t][1] else 0, (1 << INTEGERS[t][0] - INTEGERS[t][1]) - 1)
            for t in TYPES if t in INTEGERS}, "ternary": (-1, 1)}
RNG = random.Random(11)
# x's shape, and the scales'
SHAPES = [((40,), (1,)), ((4, 12), (4, 1)), ((4, 12), (1, 12)), ((4, 12), (2, 3)), ((2, 3, 8), (1, 3, 2))]


def f32(v):
    return struct.unpack("<I", struct.pack("<f", v))[0]


def group(shape, scales, i):
    at, step = 0, 1
    for n, s in reversed(list(zip(shape, scales))):
        at, step, i = at + i % n // (n // s) * step, step * s, i // n
    return at


def quotient(x, s):
    if NAN in (x.size, s.size) or x.size == s.size == INF:
        return Number(NAN)
    negative = x.negative != s.negative
    if s.size == 0:
        return Number(F(0))
    if INF in (x.size, s.size):
        return Number(INF if x.size == INF else F(0), negative)
    return Number(x.size / s.size, negative)


def product(x, s):
    if NAN in (x.size, s.size) or {x.size, s.size} == {F(0), INF}:
        return Number(NAN)
    return Number(INF if INF in (x.size, s.size) else x.size * s.size, x.negative != s.negative)


def quantized(to, x, s, zero, mode):
    q = quotient(x, s)
    if to not in RANGE:
        return codes.write(to, q, mode)
    low, high = RANGE[to]
    n = 0 if q.size == NAN else 10 ** 9 if q.size == INF else round(q.size)  # ties to even
    v = min(max((-n if q.negative else n) + min(max(zero, low), high), low), high)
    return v & (1 << BITS[to]) - 1


def dequantized(to, code, s, zero, out):
    v = codes.read(to, code)
    if to in RANGE and zero is not None:
        low, high = RANGE[to]
        v = codes.of(v.value() - min(max(zero, low), high))
    return codes.write(out, product(v, s), "ieee")


def least_scale(values, to):
    """By trying numbers of 16 bits upwards from one that is too small."""
    largest = max(abs(codes.read(to, c).value()) for c in range(1 << BITS[to]) if codes.read(to, c) and codes.read(to, c).size not in (NAN, INF))
    if to in RANGE:
        largest = RANGE[to][1]
    sizes = [v.size for v in values if v.size != NAN]
    if INF in sizes:
        return f32(math.inf)
    want = max([F(0), *sizes]) / largest
    if want == 0:
        return 0
    e = -149
    while F(2) ** (e + 16) < want:
        e += 1
    s = -(-want // F(2) ** e) * F(2) ** e
    return codes.write("f32", codes.of(s), "ieee")


def element(name, special):
    """A code: near a tie of some scale, or anything."""
    if RNG.random() < 0.6:
        v = RNG.randrange(-600, 600) / 2 * RNG.choice((1, 1, 0.1, 3))
        return codes.write(name, codes.of(F(struct.unpack("<f", struct.pack("<f", v))[0])), "ieee")
    while True:
        c = RNG.getrandbits(BITS[name])
        if special or codes.read(name, c).size not in (NAN, INF):
            return c


def op(h, what, name, ins, attrs, out, device):
    words = [w for k, (data, shape) in ins.items() for w in ("--in", f"{k}={h.write(k, data)}:{shape}" if data else f"{k}=zero:0:{shape}")]
    status, _, err = h.run("op", "run", name, *words, *(w for k, v in attrs.items() for w in ("--attr", f"{k}={v}")),
                           "--out", f"{out}=" + h.path("out"), "--backend", device)
    h.check(what + " runs", status == 0, err[:600])
    return h.read("out") if status == 0 else b""


def main():
    h = Harness()
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    for to in TYPES:
        shape, scales = SHAPES[TYPES.index(to) % len(SHAPES)]
        n, groups = math.prod(shape), math.prod(scales)
        dims, groups_dims = ",".join(map(str, shape)), ",".join(map(str, scales))
        for x_type in share(("f32", "f16", "bf16"), 3, TYPES.index(to)):
            special = to != "f4" and x_type != "f16"
            s = [f32(RNG.choice((1, 0.5, 0.1, 3, -2, 1e-40, *((0, math.inf, math.nan) if special else ())))) for _ in range(groups)]
            zeros = [RNG.randrange(-200, 200) for _ in range(groups)] if to in RANGE and x_type != "bf16" else None
            x = [element(x_type, special) for _ in range(n)]
            xs, ss = [codes.read(x_type, c) for c in x], [codes.read("f32", c) for c in s]
            at = [group(shape, scales, i) for i in range(n)]
            ins = {"x": (pack(x_type, x), f"{x_type}[{dims}]"), "scale": (pack("f32", s), f"f32[{groups_dims}]"),
                   "zero": (struct.pack(f"<{groups}i", *zeros), f"i32[{groups_dims}]") if zeros else (b"", "i32[0]")}
            mode = "saturate" if x_type == "f16" else "ieee"
            got = op(h, f"{x_type} to {to}", "tensor.quantize", ins, {"to": to, "saturate": str(mode == "saturate").lower()}, "y", device)
            want = [quantized(to, xs[i], ss[at[i]], zeros[at[i]] if zeros else 0, mode) for i in range(n)]
            bad = [i for i in range(n) if int.from_bytes(got, "little") >> i * BITS[to] & (1 << BITS[to]) - 1 != want[i]]
            h.check(f"{x_type} to {to}, {mode}", got == pack(to, want), "" if not bad else f"element {bad[0]}: {xs[bad[0]]} over {ss[at[bad[0]]]}: {want[bad[0]]}")
            ins["x"] = (pack(to, want), f"{to}[{dims}]")
            got = op(h, f"{to} to {x_type}", "tensor.dequantize", ins, {"out": x_type}, "y", device)
            want = [dequantized(to, c, ss[at[i]], zeros[at[i]] if zeros else None, x_type) for i, c in enumerate(want)]
            h.check_bytes(f"{to} times scales, {x_type}", got, pack(x_type, want), BITS[x_type] // 8)
            got = op(h, f"scales for {to}", "tensor.quantize_scale", {"x": (pack(x_type, x), f"{x_type}[{dims}]")},
                     {"to": to, "scales": groups_dims}, "scale", device)
            want = [least_scale([xs[i] for i in range(n) if at[i] == g], to) for g in range(groups)]
            h.check_bytes(f"scales of {x_type} for {to}", got, pack("f32", want), 4)
    x, s = h.write("x", struct.pack("<2f", 1, math.nan)), h.write("s", struct.pack("<f", 1))
    common = ("op", "run", "tensor.quantize", "--in", f"x={x}:f32[2]", "--in", f"scale={s}:f32[1]")
    status, _, err = h.run(*common, "--in", "zero=zero:0:i32[0]", "--attr", "to=f4", "--out", "y=" + h.path("never"), "--backend", device)
    h.check("a NaN has no f4", status == 9 and "f4" in err and not os.path.exists(h.path("never")), f"{status} {err}")
    for what, more, code in (("no such type", ("--in", "zero=zero:0:i32[0]", "--attr", "to=i16"), "PC4202"),
                             ("a zero point of a float", ("--in", "zero=zero:4:i32[1]", "--attr", "to=f8e4m3"), "PC4201"),
                             ("zero points of another shape", ("--in", "zero=zero:8:i32[2]", "--attr", "to=i8"), "PC4201")):
        status, _, err = h.run(*common, *more, "--backend", device)
        h.check(what, status == 3 and code in err, f"{status} {err}")
    status, _, err = h.run("op", "run", "tensor.quantize", "--in", f"x={x}:f32[2]", "--in", "scale=zero:12:f32[3]", "--in", "zero=zero:0:i32[0]",
                           "--attr", "to=i8", "--backend", device)
    h.check("scales that divide nothing", status == 3 and "PC4201" in err, f"{status} {err}")
    for scales in ("3", "1,1", "x", "1,", "0"):
        status, _, err = h.run("op", "run", "tensor.quantize_scale", "--in", f"x={x}:f32[2]", "--attr", "to=i8", "--attr", "scales=" + scales, "--backend", device)
        h.check(f"no scales {scales}", status == 3 and "PC4202" in err, f"{status} {err}")
    h.finish()


if __name__ == "__main__":
    main()
