"""Judges dtype_codes: what codes mean and which code a number gets, by fractions, from the definitions of core/SEMANTICS.md
section 13 and of GGUF's block formats alone. usage: codes.py PROGRAM"""
import functools
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction as F

from dyadic import Dyadic, of as dyadic

NAN, INF = "nan", "inf"
# name: bits, exponent bits, fraction bits, what an exponent of ones means
FLOATS = {"f64": (64, 11, 52, "ieee"), "f32": (32, 8, 23, "ieee"), "f16": (16, 5, 10, "ieee"), "bf16": (16, 8, 7, "ieee"),
          "f8e5m2": (8, 5, 2, "ieee"), "f8e4m3": (8, 4, 3, "one nan"), "f4": (4, 2, 1, "numbers")}
INTEGERS = {"u64": (64, 0), "u32": (32, 0), "u16": (16, 0), "u8": (8, 0), "u4": (4, 0), "u2": (2, 0),
            "i64": (64, 1), "i32": (32, 1), "i16": (16, 1), "i8": (8, 1), "i4": (4, 1), "i2": (2, 1)}
BLOCKS = {"q4_0": (32, 18), "q4_1": (32, 20), "q5_0": (32, 22), "q5_1": (32, 24), "q8_0": (32, 34), "q2_k": (256, 84),
          "q3_k": (256, 110), "q4_k": (256, 144), "q5_k": (256, 176), "q6_k": (256, 210)}


class Number:
    """sign, and an exact number, INF or NAN; zero has a sign."""

    def __init__(self, size, negative=False):
        self.size, self.negative = size, negative and size != NAN

    def __eq__(self, other):
        return (self.size, self.negative) == (other.size, other.negative)

    def __repr__(self):
        return ("-" if self.negative else "+") + str(self.size)

    def value(self):
        return -self.size if self.negative else self.size

    def text(self):
        if self.size in (NAN, INF):
            return NAN if self.size == NAN else ("-" if self.negative else "+") + INF
        n, e = self.size.numerator, 1 - self.size.denominator.bit_length()
        while n and n % 2 == 0 and n.bit_length() > 60:
            n, e = n // 2, e + 1
        assert F(n) * F(2) ** e == self.size and n < 2 ** 64, self
        return f"{'-' if self.negative else '+'}{n}*2^{e}"


def number(text):
    if text in (NAN, "none"):
        return Number(NAN) if text == NAN else None
    if text[1:] == INF:
        return Number(INF, text[0] == "-")
    m, e = text[1:].split("*2^")
    return Number(F(int(m)) * F(2) ** int(e), text[0] == "-")


def of(value):
    return Number(abs(dyadic(value)), value < 0)


# ---- single elements ----

@functools.lru_cache(1 << 16)
def float_value(name, code):
    bits, ebits, fbits, special = FLOATS[name]
    negative, exponent, fraction = code >> bits - 1, code >> fbits & (1 << ebits) - 1, code & (1 << fbits) - 1
    bias = (1 << ebits - 1) - 1
    if exponent == (1 << ebits) - 1:
        if special == "ieee":
            return Number(NAN) if fraction else Number(INF, bool(negative))
        if special == "one nan" and fraction == (1 << fbits) - 1:
            return Number(NAN)
    if exponent == 0:
        return Number(Dyadic(fraction, 1 - bias - fbits), bool(negative))
    return Number(Dyadic((1 << fbits) + fraction, exponent - bias - fbits), bool(negative))


def read(name, code):
    if name in FLOATS:
        return float_value(name, code)
    if name == "binary":
        return of(1 if code else -1)
    if name == "ternary":
        return {0: of(0), 1: of(1), 3: of(-1)}.get(code)
    if name == "bool":
        return of(code) if code < 2 else None
    bits, signed = INTEGERS[name]
    return of(code - (1 << bits) if signed and code >> bits - 1 else code)


@functools.cache
def largest_and_step(name, top):
    largest = float_value(name, top).size
    return largest, largest - float_value(name, top - 1).size


def neighbours(name, top, size):
    """The last of the codes, which stand in the order of their magnitudes, whose number is not above, with that number and the next one's. It is
    found by its exponent and held to what both codes mean; a search would take 18 times as long."""
    _, ebits, fbits, _ = FLOATS[name]
    bias = (1 << ebits - 1) - 1
    n, d = size.numerator, size.denominator
    e = n.bit_length() - d.bit_length()
    e = max(e - ((n < d << e) if e >= 0 else (n << -e < d)), 1 - bias)
    s = fbits - e
    low = min(((n << s) // d if s >= 0 else n // (d << -s)) + (e + bias - 1 << fbits), top) if n else 0
    below, above = float_value(name, low).size, float_value(name, low + 1).size if low < top else None
    assert below <= size and (low == top or size < above), (name, size, low)
    return low, below, above


def float_code(name, v, mode):
    """By the two neighbours of the number among the codes."""
    bits, ebits, fbits, special = FLOATS[name]
    top = {"ieee": (((1 << ebits) - 1) << fbits) - 1, "one nan": (1 << bits - 1) - 2, "numbers": (1 << bits - 1) - 1}[special]
    quiet = {"ieee": ((1 << ebits) - 1) << fbits | 1 << fbits - 1 if fbits else None, "one nan": (1 << bits - 1) - 1, "numbers": None}[special]
    sign = int(v.negative) << bits - 1
    if v.size == NAN:
        return quiet
    largest, step = largest_and_step(name, top)
    # Half a step above the largest begins what is beyond; the tie itself goes to the even one of the two.
    if v.size == INF or v.size > largest + step / 2 or (v.size == largest + step / 2 and top % 2 == 1):
        if mode == "saturate" or special == "numbers":
            return top | sign
        return quiet if special == "one nan" else top + 1 | sign
    low, below, above = neighbours(name, top, v.size)
    if low < top and below != v.size:
        middle = (below + above) / 2
        low += v.size > middle or (v.size == middle and low % 2 == 1)
    return low | sign


def write(name, v, mode):
    if name in FLOATS:
        return float_code(name, v, mode)
    if name == "binary":
        return 0 if v.size != NAN and (v.size == INF or v.size > 0) and v.negative else 1
    if name == "bool":
        return int(v.size in (NAN, INF) or v.size != 0)
    bits, signed = (2, 1) if name == "ternary" else INTEGERS[name]
    low, high = (-1, 1) if name == "ternary" else (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if v.size == NAN:
        return 0
    if v.size == INF:
        return (low if v.negative else high) & (1 << bits) - 1
    return min(max(round(v.value()), low), high) & (1 << bits) - 1


# ---- blocks, from the C structures of the formats: fields in their order, then the loops of dequantize ----

def half(b):
    return float_value("f16", b[0] | b[1] << 8)


def product(a, n):
    if a.size == NAN or (a.size == INF and n == 0):
        return Number(NAN)
    negative = a.negative != (n < 0)
    return Number(INF, negative) if a.size == INF else Number(a.size * abs(n), negative)


def plus(a, b):
    if NAN in (a.size, b.size) or (a.size == b.size == INF and a.negative != b.negative):
        return Number(NAN)
    if INF in (a.size, b.size):
        return a if a.size == INF else b
    s = a.value() + b.value()
    return Number(Dyadic(0), a.negative and b.negative) if s == 0 and a.size == b.size == 0 else of(s)


def minus(a, b):
    return plus(a, Number(b.size, not b.negative))


def k4_scale(j, q):
    if j < 4:
        return q[j] & 63, q[j + 4] & 63
    return (q[j + 4] & 0xF) | ((q[j - 4] >> 6) << 4), (q[j + 4] >> 4) | ((q[j] >> 6) << 4)


def signed8(x):
    return x - 256 if x > 127 else x


def unpack(name, b):
    y = [None] * BLOCKS[name][0]
    if name in ("q4_0", "q4_1", "q5_0", "q5_1"):
        d, at = half(b), 2
        if name[-1] == "1":
            m, at = half(b[2:]), 4
        qh = 0
        if name[1] == "5":
            qh, at = struct.unpack_from("<I", b, at)[0], at + 4
        for j in range(16):
            x0, x1 = b[at + j] & 0xF, b[at + j] >> 4
            if name[1] == "5":
                x0, x1 = x0 | (qh >> j & 1) << 4, x1 | (qh >> j + 16 & 1) << 4
            zero = {"q4_0": 8, "q5_0": 16}.get(name, 0)
            y[j], y[j + 16] = product(d, x0 - zero), product(d, x1 - zero)
            if name[-1] == "1":
                y[j], y[j + 16] = plus(y[j], m), plus(y[j + 16], m)
    elif name == "q8_0":
        y = [product(half(b), signed8(x)) for x in b[2:]]
    elif name == "q2_k":
        scales, qs, d, dmin, n, i = b[:16], b[16:80], half(b[80:]), half(b[82:]), 0, 0
        for base in (0, 32):
            for shift in (0, 2, 4, 6):
                for part in (0, 16):
                    s = scales[i]
                    i += 1
                    for l in range(16):
                        y[n] = minus(product(product(d, s & 15), qs[base + part + l] >> shift & 3), product(dmin, s >> 4))
                        n += 1
    elif name == "q3_k":
        hmask, qs, raw, d = b[:32], b[32:96], b[96:108], half(b[108:])
        aux = list(struct.unpack("<3I", raw)) + [0]
        t = aux[2]
        aux[2] = (aux[0] >> 4 & 0x0f0f0f0f) | (t >> 4 & 0x03030303) << 4
        aux[3] = (aux[1] >> 4 & 0x0f0f0f0f) | (t >> 6 & 0x03030303) << 4
        aux[0] = (aux[0] & 0x0f0f0f0f) | (t & 0x03030303) << 4
        aux[1] = (aux[1] & 0x0f0f0f0f) | (t >> 2 & 0x03030303) << 4
        scales, n, i, m = struct.pack("<4I", *aux), 0, 0, 1
        for base in (0, 32):
            for shift in (0, 2, 4, 6):
                for part in (0, 16):
                    for l in range(16):
                        q = (qs[base + part + l] >> shift & 3) - (0 if hmask[part + l] & m else 4)
                        y[n] = product(product(d, scales[i] - 32), q)
                        n += 1
                    i += 1
                m <<= 1
    elif name in ("q4_k", "q5_k"):
        d, dmin, scales, n, i = half(b), half(b[2:]), b[4:16], 0, 0
        qh, qs = (b[16:48], b[48:]) if name == "q5_k" else (bytes(32), b[16:])
        for base in range(0, 128, 32):
            for upper in (0, 1):
                s, m = k4_scale(i, scales)
                for l in range(32):
                    q = (qs[base + l] >> 4 if upper else qs[base + l] & 0xF) + (16 if qh[l] >> i & 1 else 0)
                    y[n] = minus(product(product(d, s), q), product(dmin, m))
                    n += 1
                i += 1
    else:
        d = half(b[208:])
        for n in (0, 1):
            ql, qh, sc = b[64 * n:], b[128 + 32 * n:], b[192 + 8 * n:]
            for l in range(32):
                i = l // 16
                for k, q in enumerate(((ql[l] & 0xF) | (qh[l] & 3) << 4, (ql[l + 32] & 0xF) | (qh[l] >> 2 & 3) << 4,
                                       (ql[l] >> 4) | (qh[l] >> 4 & 3) << 4, (ql[l + 32] >> 4) | (qh[l] >> 6 & 3) << 4)):
                    y[128 * n + 32 * k + l] = product(product(d, signed8(sc[i + 2 * k])), q - 32)
    return y


# ---- what a block of numbers must become: the choices of section 13 by fractions and linear search ----

HALVES = [float_value("f16", c).size for c in range(0x7c00)]
# part, largest scale, largest minimum (None: symmetric; 0: one that is added), lowest q, highest q, signed scales
WAYS = {"q4_0": (32, 1, None, -8, 7, True), "q4_1": (32, 1, 0, 0, 15, False), "q5_0": (32, 1, None, -16, 15, True),
        "q5_1": (32, 1, 0, 0, 31, False), "q8_0": (32, 1, None, -127, 127, False), "q2_k": (16, 15, 15, 0, 3, False),
        "q3_k": (16, 31, None, -4, 3, True), "q4_k": (32, 63, 63, 0, 15, False), "q5_k": (32, 63, 63, 0, 31, False),
        "q6_k": (16, 127, None, -32, 31, True)}


def least_half(least):
    import bisect
    i = bisect.bisect_left(HALVES, least)
    return HALVES[i] if i < len(HALVES) else None


def ceil(x):
    return -(-x.numerator // x.denominator)


def chosen(name, v):
    """The numbers that the block must hold, or None where no block can."""
    part, scales, minima, low, high, signs = WAYS[name]
    parts = [v[i:i + part] for i in range(0, len(v), part)]
    out = []
    if minima is None:
        d = least_half(max(abs(x) for x in v) / (scales * -low))
        if d is None:
            return None
        for p in parts:
            far = max(p, key=abs)
            k = 1 if scales == 1 else min(ceil(abs(far) / (-low * d)), scales) if d else 0
            s = -k * d if signs and far > 0 else k * d
            out += [min(max(round(x / s), low), high) * s if s else F(0) for x in p]
        return out
    if minima == 0:
        least, most = min(v), max(v)
        if least >= 0:
            m = max(h for h in HALVES if h <= least)
        else:
            m = least_half(-least)
            m = None if m is None else -m
        d = None if m is None else least_half((most - m) / high)
        return None if d is None else [min(max(round((x - m) / d), 0), high) * d + m if d else m for x in v]
    dmin = least_half(max(max(-x for x in v), F(0)) / minima)
    if dmin is None:
        return None
    lows = [min(ceil(max(-min(p), F(0)) / dmin), minima) * dmin if dmin else F(0) for p in parts]
    ds = [least_half(max(max(p) + m, F(0)) / (scales * high)) for p, m in zip(parts, lows)]
    if None in ds:
        return None
    d = max(ds)
    for p, m in zip(parts, lows):
        k = min(ceil(max(max(p) + m, F(0)) / (high * d)), scales) if d else 0
        out += [min(max(round((x + m) / (k * d)), 0), high) * k * d - m if k * d else -m for x in p]
    return out


# ---- questions ----

def numbers(rng, name):
    """Chosen numbers and random ones: codes, the middles between neighbours and what lies just beside them, both ends."""
    small = F(1, 1 << 60)
    out = [Number(NAN), Number(INF), Number(INF, True), Number(F(0)), Number(F(0), True)]
    bits = FLOATS[name][0] if name in FLOATS else None
    if bits:
        codes = range(1 << bits - 1) if bits <= 8 else [rng.randrange(1 << bits - 1) for _ in range(400)] + list(range(12))
        for c in codes:
            a, b = float_value(name, c), float_value(name, c + 1) if c + 1 < 1 << bits - 1 else Number(NAN)
            if NAN in (a.size, b.size) or INF in (a.size, b.size):
                continue
            middle = (a.size + b.size) / 2
            out += [Number(x, rng.random() < 0.5) for x in (a.size, middle)]
            if bits < 64:
                out += [Number(x, rng.random() < 0.5) for x in (middle * (1 - F(1, 1 << 30)), middle * (1 + F(1, 1 << 30)))]
        top = max(c for c in ([(1 << bits - 1) - 1, (1 << bits - 1) - 2] + [((1 << FLOATS[name][1]) - 1 << FLOATS[name][2]) - 1])
                  if float_value(name, c).size not in (NAN, INF))
        largest, before = float_value(name, top).size, float_value(name, top - 1).size
        edge = largest + (largest - before) / 2
        out += [Number(x, s) for x in (edge, largest, edge + (largest - before) / 8, edge - (largest - before) / 8, 2 * largest)
                for s in (False, True)]
    for _ in range(300):
        out.append(Number(F(rng.randrange(1 << rng.randrange(1, 54))) * F(2) ** rng.randrange(-60, 12), rng.random() < 0.5))
    for k in range(0, 66):
        for e in (F(0), F(1, 2), F(-1, 2), F(1, 4)):
            x = F(2) ** min(k, 60) + e
            out.append(Number(abs(x), rng.random() < 0.5))
    return [n for n in out if n.size in (NAN, INF) or fits(n.size)]


def fits(x):
    n = x.numerator
    while n and n % 2 == 0:
        n //= 2
    return n < 2 ** 64


def code_bytes(name, code):
    bits = FLOATS[name][0] if name in FLOATS else {"binary": 1, "ternary": 2, "bool": 32}.get(name) or INTEGERS[name][0]
    return code.to_bytes(max(bits // 8, 1), "little").hex(), bits


def questions(rng):
    asked = []
    for name in [*FLOATS, *INTEGERS, "ternary", "binary", "bool"]:
        bits = code_bytes(name, 0)[1]
        codes = range(1 << bits) if bits <= 16 else [rng.randrange(1 << bits) for _ in range(2000)] + list(range(4)) + [(1 << bits) - 1, 1 << bits - 1]
        for c in codes:
            asked.append((f"read {name} {code_bytes(name, c)[0]} 0", ("number", read(name, c))))
        if bits < 8:  # packed: element i of three bytes
            for _ in range(200):
                raw = rng.randbytes(3)
                for i in range(24 // bits):
                    asked.append((f"read {name} {raw.hex()} {i}",
                                  ("number", read(name, int.from_bytes(raw, "little") >> i * bits & (1 << bits) - 1))))
        for v in numbers(rng, name):
            for mode in ("ieee", "saturate"):
                c = write(name, v, mode)
                asked.append((f"write {name} {mode} {v.text()}", ("bytes", None if c is None else code_bytes(name, c)[0])))
    for name, (n, size) in BLOCKS.items():
        for k in range(40):
            raw = bytearray(rng.randbytes(size))
            for i, y in enumerate(unpack(name, bytes(raw))):
                asked.append((f"read {name} {raw.hex()} {i}", ("number", y)))
        for k in range(24):
            scale = F(2) ** rng.randrange(-30, 14)
            v = [of(F(rng.randrange(-(1 << 20), 1 << 20), 1 << 20) * scale) for _ in range(n)]
            if k == 0:
                v = [of(0)] * n
            elif k == 1:
                v = [of(abs(x.value())) for x in v]
            elif k == 2:
                v = [of(F(rng.randrange(-9, 9))) for _ in range(n)]
            elif k == 3:
                v[n // 2] = of(F(2) ** 40)
            elif k == 4:
                v = [of(abs(x.value()) + scale) for x in v]
            elif k == 5:
                v = [of(-abs(x.value()) - scale) for x in v]
            elif k == 6:
                v[1] = Number(INF)
            elif k == 7:
                v = [of(F(rng.randrange(3)) * F(2) ** -150) for _ in range(n)]
            want = None if k == 6 else chosen(name, [x.value() for x in v])
            asked.append((f"block {name} {' '.join(x.text() for x in v)}", ("block", name, want)))
    return asked


def wrong(answer, want):
    if want[0] == "number":
        got = number(answer)
        return None if (got is None) == (want[1] is None) and (got is None or got == want[1]) else f"got {got}, not {want[1]}"
    if want[0] == "bytes":
        return None if answer == (want[1] or "none") else f"got {answer}, not {want[1]}"
    if want[2] is None or answer == "none":
        return None if (want[2] is None) == (answer == "none") else f"got {answer}"
    got = [y.value() for y in unpack(want[1], bytes.fromhex(answer))]
    return None if got == want[2] else f"element {[a == b for a, b in zip(got, want[2])].index(False)} differs"


def main(program):
    rng = random.Random(1)
    asked = questions(rng)
    out = subprocess.run([program], input="".join(q + "\n" for q, _ in asked), capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    if len(out) != len(asked) or len(asked) < 100000:
        sys.exit(f"{len(asked)} questions, {len(out)} answers")
    bad = [(q, w) for (q, want), a in zip(asked, out) for w in [wrong(a, want)] if w]
    for q, w in bad[:10]:
        print(f"{q[:200]}: {w}")
    # It must be able to see a wrong table: one row of f8e4m3, the rounding of one tie, one bit of a block.
    rows = []
    for what, mark, spoil in (("an f8e4m3 table with one wrong row", "read f8e4m3 5a ", lambda a: "+1" + a[1:]),
                              ("a tie that goes away from the even f16", "write f16 ", lambda a: f"{int(a[:2], 16) ^ 1:02x}" + a[2:]),
                              ("a scale of q4_k with one wrong bit", "read q4_k ", lambda a: "+1*2^0")):
        seen = [w for (q, want), a in zip(asked, out) if q.startswith(mark) and a not in ("nan", "none") for w in [wrong(spoil(a), want)] if w]
        if not seen:
            sys.exit(f"planted, not seen: {what}")
        rows.append((what, "dtype_codes", "the exact number by fractions", seen[0]))
    if "PIPECTL_PLANTED" in os.environ:
        with open(os.environ["PIPECTL_PLANTED"], "w") as f:
            f.writelines("\t".join(row) + "\n" for row in rows)
    print(f"{len(asked)} questions, {len(bad)} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
