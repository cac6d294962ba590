"""Strict f64 on every device present, against integers and fractions: arithmetic, fused and not, roots, comparisons, rounding, every
conversion, NaN, subnormals; in vectors, matrices, functions, loops, workgroup memory and uniforms.
usage: doubles.py [--plant|--caught] [BACKEND...]: all devices where none is named; --plant: one expectation is that of a sum that was contracted, and
must be found; --caught: the same, as a row of the table of planted faults."""
import json
import math
import struct
import sys
from fractions import Fraction

from harness import Harness, Random

h = Harness()
# bits of the significand, exponent of the least subnormal, the exponent's field of infinity, width
FORMATS = {"f64": (53, -1074, 0x7FF, 64), "f32": (24, -149, 0xFF, 32), "f16": (11, -24, 0x1F, 16), "bf16": (8, -133, 0xFF, 16)}
LANES = 192
# The translator that rusticl stands on asserts on kernels with many kinds of vectors: it is said, and wrong bytes would still fail.
CRASHES = "rusticl"


def nan(kind="f64"):
    p, _, top, _ = FORMATS[kind]
    return top << (p - 1) | 1 << (p - 2)


def value(bits, kind="f64"):
    """A Fraction, "nan", "inf" or "-inf"."""
    p, least, top, width = FORMATS[kind]
    sign, field, low = bits >> (width - 1), bits >> (p - 1) & top, bits & ((1 << (p - 1)) - 1)
    if field == top:
        return "nan" if low else "-inf" if sign else "inf"
    m = Fraction(low if field == 0 else low + (1 << (p - 1))) * Fraction(2) ** (least + max(field, 1) - 1)
    return -m if sign else m


def rounded(x, zero_sign=0, kind="f64"):
    p, least, top, width = FORMATS[kind]
    if isinstance(x, str):
        return nan(kind) if x == "nan" else top << (p - 1) | (x == "-inf") << (width - 1)
    if x == 0:
        return zero_sign << (width - 1)
    sign, x = int(x < 0), abs(x)
    e = max(least, x.numerator.bit_length() - x.denominator.bit_length() - p - 1)
    while x >= Fraction(2) ** (e + p):
        e += 1
    scaled = x / Fraction(2) ** e
    n = scaled.numerator // scaled.denominator
    rest = scaled - n
    n += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2 == 1)
    return min(((e - least) << (p - 1)) + n, top << (p - 1)) | sign << (width - 1)


def negative(bits, kind="f64"):
    return bits >> (FORMATS[kind][3] - 1) & 1


def number(x):
    return -1 if x == "-inf" else 1 if x == "inf" else x


def add_values(x, y, sx, sy):
    """x + y; the signs decide the sign of a zero."""
    if "nan" in (x, y) or {x, y} == {"inf", "-inf"}:
        return nan()
    for z in (x, y):
        if isinstance(z, str):
            return rounded(z)
    return rounded(x + y, sx & sy if x + y == 0 and (x != 0 or sx == sy) and x == 0 else 0)


def times(x, y):
    if "nan" in (x, y):
        return "nan"
    if isinstance(x, str) or isinstance(y, str):
        if 0 in (x, y):
            return "nan"
        return "inf" if (number(x) < 0) == (number(y) < 0) else "-inf"
    return x * y


def add(a, b, _):
    return add_values(value(a), value(b), negative(a), negative(b))


def sub(a, b, _):
    return add(a, b ^ 1 << 63, 0)


def mul(a, b, _):
    return rounded(times(value(a), value(b)), negative(a) ^ negative(b))


def div(a, b, _):
    x, y, sign = value(a), value(b), negative(a) ^ negative(b)
    if "nan" in (x, y) or (isinstance(x, str) and isinstance(y, str)) or (x == 0 and y == 0):
        return nan()
    if isinstance(x, str) or y == 0:
        return rounded("-inf" if sign else "inf")
    return sign << 63 if isinstance(y, str) else rounded(x / y, sign)


def fma(a, b, c):
    p = times(value(a), value(b))
    return add_values(p, value(c), negative(a) ^ negative(b), negative(c))


def mad(a, b, c):
    return add(mul(a, b, 0), c, 0)


def sqrt(a, *_):
    x = value(a)
    if x == 0 or x == "inf":
        return a
    if isinstance(x, str) or x < 0:
        return nan()
    # 4^s * x is an integer of at least 120 bits; a root that is not exact gets a sticky bit.
    s = 1200
    n = x * Fraction(4) ** s
    assert n.denominator == 1
    root = math.isqrt(n.numerator)
    return rounded(Fraction(2 * root + (root * root != n.numerator), 2) / Fraction(2) ** s)


def pick(least):
    def of(a, b, _):
        x, y = value(a), value(b)
        if "nan" in (x, y):
            return nan() if x == y else a if y == "nan" else b
        key = [(-math.inf if z == "-inf" else math.inf if z == "inf" else z, -negative(w)) for z, w in ((x, a), (y, b))]
        return a if (key[0] <= key[1]) == least else b
    return of


def compare(a, b, _):
    x, y = value(a), value(b)
    if "nan" in (x, y):
        return 32
    x, y = (-math.inf if z == "-inf" else math.inf if z == "inf" else z for z in (x, y))
    return (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y)


def whole(how):
    def of(a, *_):
        x = value(a)
        if isinstance(x, str):
            return rounded(x)
        return rounded(Fraction(how(x)), negative(a))
    return of


def to_integer(low, high, bits):
    def of(a, *_):
        x = value(a)
        if isinstance(x, str):
            return {"nan": 0, "inf": high, "-inf": low}[x] % (1 << bits)
        return min(max(math.trunc(x), low), high) % (1 << bits)
    return of


def narrow(kind):
    return lambda a, *_: rounded(value(a), negative(a), kind)


def widen(kind):
    width = FORMATS[kind][3]
    return lambda a, *_: rounded(value(a % (1 << width), kind), negative(a % (1 << width), kind))


def signed(n, bits):
    return n - (1 << bits) if n >> (bits - 1) else n


def f32_of(a):
    return widen("f32")(narrow("f32")(a))


GROUPS = {
    "arithmetic": [("bitcast<u64>(a + b)", add), ("bitcast<u64>(a - b)", sub), ("bitcast<u64>(a * b)", mul), ("bitcast<u64>(a / b)", div)],
    "fused": [("bitcast<u64>(fma(a, b, c))", fma), ("bitcast<u64>(a * b + c)", mad),
              ("bitcast<u64>(fma(f64(f32(a)), f64(f32(b)), c))", lambda a, b, c: fma(f32_of(a), f32_of(b), c))],
    "root": [("bitcast<u64>(sqrt(a))", sqrt), ("bitcast<u64>(min(a, b))", pick(True)), ("bitcast<u64>(max(a, b))", pick(False))],
    "compared": [("u64(a < b) + 2lu * u64(a <= b) + 4lu * u64(a > b) + 8lu * u64(a >= b) + 16lu * u64(a == b) + 32lu * u64(a != b)", compare)],
    "moved": [("bitcast<u64>(-a)", lambda a, b, c: a ^ 1 << 63), ("bitcast<u64>(abs(a))", lambda a, b, c: a & (1 << 63) - 1),
              ("bitcast<u64>(select(a, b, c == c))", lambda a, b, c: a if value(c) == "nan" else b),
              ("bitcast<u64>(bitcast<f64>(bitcast<vec2<u32>>(a).yx))", lambda a, b, c: a >> 32 | a << 32 & (1 << 64) - 1)],
    "whole": [("bitcast<u64>(floor(a))", whole(math.floor)), ("bitcast<u64>(ceil(a))", whole(math.ceil)),
              ("bitcast<u64>(trunc(a))", whole(math.trunc)), ("bitcast<u64>(round(a))", whole(round))],
    "to integers": [("u64(bitcast<u32>(i32(a)))", to_integer(-1 << 31, (1 << 31) - 1, 32)), ("u64(u32(a))", to_integer(0, (1 << 32) - 1, 32)),
                    ("bitcast<u64>(i64(a))", to_integer(-1 << 63, (1 << 63) - 1, 64)), ("u64(a)", to_integer(0, (1 << 64) - 1, 64))],
    "from integers": [("bitcast<u64>(f64(i32(u32(bitcast<u64>(a)))))", lambda a, b, c: rounded(Fraction(signed(a % (1 << 32), 32)))),
                      ("bitcast<u64>(f64(u32(bitcast<u64>(a))))", lambda a, b, c: rounded(Fraction(a % (1 << 32)))),
                      ("bitcast<u64>(f64(bitcast<i64>(a)))", lambda a, b, c: rounded(Fraction(signed(a, 64)))),
                      ("bitcast<u64>(f64(bitcast<u64>(a)))", lambda a, b, c: rounded(Fraction(a)))],
    "to floats": [("u64(bitcast<u32>(f32(a)))", narrow("f32")), ("u64(bitcast<u32>(vec2(f16(a), 0.0h)))", narrow("f16")),
                  ("u64(bitcast<u32>(vec2<bf16>(bf16(a), bf16(0.0f))))", narrow("bf16"))],
    "from floats": [("bitcast<u64>(f64(bitcast<f32>(u32(bitcast<u64>(a)))))", widen("f32")),
                    ("bitcast<u64>(f64(bitcast<vec2<f16>>(u32(bitcast<u64>(a))).x))", widen("f16")),
                    ("bitcast<u64>(f64(bitcast<vec2<bf16>>(u32(bitcast<u64>(a))).x))", widen("bf16"))],
    "in places": [("bitcast<u64>(placed(a, b, c, i))", lambda a, b, c: mul(add(mul(a, b, 0), c, 0), a, 0)),
                  ("bitcast<u64>((vec3<f64>(a, b, c) * vec3<f64>(b, c, a) + vec3<f64>(c)).x)", mad),
                  ("bitcast<u64>((mat2x2<f64>(a, b, c, a) * vec2<f64>(b, c)).x)", lambda a, b, c: add(mul(a, b, 0), mul(c, c, 0), 0)),
                  ("bitcast<u64>(u.k * a + 0.1lf)", lambda a, b, c: add(mul(struct.unpack("<Q", struct.pack("<d", 1.5))[0], a, 0),
                                                                        struct.unpack("<Q", struct.pack("<d", 0.1))[0], 0))],
}
TEXT = """enable f16;
struct U {{ n: u32, k: f64 }}
@group(0) @binding(0) var<storage, read> x: array<f64>;
@group(0) @binding(1) var<storage, read_write> y: array<u64>;
@group(0) @binding(2) var<uniform> u: U;
var<workgroup> w: array<f64, 64>;
var<private> kept: vec2<f64>;
fn placed(a: f64, b: f64, c: f64, i: u32) -> f64 {{
  var s: array<f64, 3>;
  kept = vec2<f64>(a, b);
  for (var k = 0u; k < 3u; k++) {{
    s[k] = kept.x * kept.y;
  }}
  var t = s[i % 3u];
  if (u.n > 0u) {{ t += c; }}
  return t * kept.x;
}}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {{
  let i = id.x;
  w[63u - l] = x[3u * i];
  workgroupBarrier();
  let a = w[63u - l];
  let b = x[3u * i + 1u];
  let c = x[3u * i + 2u];
{}}}
"""


def operands(r):
    special = [0, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x0010000000000001, 0x3FF0000000000000, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF,
               0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0x7FF8000000000123, 0x3FE0000000000000,
               0x3FF8000000000000, 0x4004000000000000, 0x43E0000000000000, 0x43DFFFFFFFFFFFFF, 0x43F0000000000000, 0x43EFFFFFFFFFFFFF,
               0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000, 0x4330000000000000, 0x4330000000000001,
               0x432FFFFFFFFFFFFF, 0x3FF0000010000000, 0x3FF0000030000000, 0x3FF0000010000001, 0x36A0000000000000, 0x3690000000000000,
               0x3690000000000001, 0x380FFFFFF0000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x7F800001, 0x7FC00000, 0x00000001, 0x7C01,
               0x40EFFC0000000000, 0x40EFFDFFFFFFFFFF, 0x40EFFE0000000000, 0x1E60000000000000, 0x2000000000000000, 0x20000000, 0x3E60000000000000]
    out = []
    for i in range(3 * LANES):
        k = r.below(5)
        sign = r.below(2) << 63
        if i < 3 * len(special) and i % 3 == 0:
            out.append(special[i // 3])
        elif k == 0:
            out.append(special[r.below(len(special))] ^ sign)
        elif k == 1:
            out.append(r.u64())
        elif k == 2:
            out.append(sign | (1023 - 3 + r.below(6)) << 52 | r.below(1 << 52) & ~((1 << r.below(50)) - 1))
        elif k == 3:  # few bits, near the ends
            out.append(sign | [r.below(60), 2046 - r.below(60), 1023 - 511 + r.below(3), 1023 + 511 - r.below(3)][r.below(4)] << 52 | r.below(1 << 52))
        else:
            out.append(sign | (1023 - 30 + r.below(90)) << 52 | r.below(1 << 52))
    # A product that the third nearly cancels: what fusing and contracting differ in.
    for i in range(0, 3 * LANES, 12):
        p = mul(out[i], out[i + 1], 0)
        out[i + 2] = p ^ 1 << 63
    return out


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    return {d["selector"]: d["driver"] + " " + d["name"] for d in json.loads(out)["devices"] if d["usable"] and not d["selector"].startswith("null")}


def group(names, selector, name, x, wrong):
    cases = GROUPS[name]
    body = "".join(f"  y[{len(cases)}u * i + {k}u] = {text};\n" for k, (text, _) in enumerate(cases))
    shader = h.write("doubles.wgsl", TEXT.format(body).encode())
    n = LANES * len(cases)
    args = ["shader", "run", shader, "--dispatch", str(LANES // 64), "--bind", "0:0=" + h.write("in.bin", struct.pack(f"<{len(x)}Q", *x)), "--bind",
            "0:1=" + h.write("zero.bin", bytes(8 * n)), "--read", "0:1=" + h.path("out.bin"), "--backend", selector]
    if name == "in places":
        args += ["--bind", "0:2=" + h.write("u.bin", struct.pack("<IId", 1, 0, 1.5))]
    status, _, err = h.run(*args)
    if status != 0 and "PC3103" in err and CRASHES in names.get(selector, ""):
        print(f"{name}: the compiler of {selector} ({names[selector]}) crashed", flush=True)
        return
    if not h.check(f"{name} on {selector}", status == 0, err):
        return
    got = struct.unpack(f"<{n}Q", h.read("out.bin"))
    for k, (text, oracle) in enumerate(cases):
        if wrong and text == "bitcast<u64>(a * b + c)":
            oracle = fma
        bad = [i for i in range(LANES) if got[len(cases) * i + k] != oracle(*x[3 * i:3 * i + 3])]
        detail = ""
        if bad:
            a = x[3 * bad[0]:3 * bad[0] + 3]
            detail = f"{len(bad)} of {LANES}; {[f'{v:016x}' for v in a]}: {got[len(cases) * bad[0] + k]:016x}, wanted {oracle(*a):016x}"
        h.check(f"{text} on {selector}", not bad, detail)
        if "--caught" in sys.argv and text == "bitcast<u64>(a * b + c)":
            i = next((i for i in range(LANES) if got[len(cases) * i + k] != fma(*x[3 * i:3 * i + 3])), None)
            if h.check("a contracted sum is caught", i is not None):
                h.planted("an f64 sum that is contracted", "strict f64", "exact fractions",
                          f"{fma(*x[3 * i:3 * i + 3]):016x}, wanted {oracle(*x[3 * i:3 * i + 3]):016x}")


def main():
    plant = "--plant" in sys.argv
    found = devices()
    x = operands(Random(64))
    for selector in [a for a in sys.argv[1:] if not a.startswith("--")] or found:
        for name in ["fused"] if plant or "--caught" in sys.argv else GROUPS:
            group(found, selector, name, x, plant)
    h.finish()


main()
