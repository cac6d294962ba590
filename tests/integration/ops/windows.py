"""Convolutions and pools against fractions, and Philox against its published answers and a second way through decimal logarithms.
usage: windows.py all|few BACKEND... | planted"""
import decimal
import struct
import sys
from fractions import Fraction

from harness import Harness, Random, share
from kernels import BITS, FORMAT, NEAREST, buffer, kernel, run_kernel
from matmul import FLOATS, INTEGERS, bits_of, codes, exact, nan, negative, pack, rounded, times, value
from moves import Cases, Tensor, made, places, size

INFINITY = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}


def inside(q, t, x, i, stride, pad, dilation, spread):
    """Where tap t of place q lies in dimensions of x, or None."""
    out = []
    for d, n in enumerate(x.shape[2:]):
        s = q[d] + pad - t[d] * dilation if spread else q[d] * stride - pad + t[d] * dilation
        if spread and s % stride:
            return None
        s = s // stride if spread else s
        if not 0 <= s < n:
            return None
        out.append(s)
    return tuple(out)


def convolution(c, r, kind, out, shape, w_shape, stride, pad, dilation, groups, how, spread=False):
    x = Tensor(kind, shape, codes(r, kind, size(shape), how))
    w = Tensor(kind, w_shape, codes(r, kind, size(w_shape), how))
    batch, channels, taps = shape[0], shape[1], w_shape[2:]
    per = w_shape[1] if spread else w_shape[0] // groups
    dims = tuple((n - 1) * stride - 2 * pad + dilation * (t - 1) + 1 if spread else max(0, (n + 2 * pad - dilation * (t - 1) - 1) // stride + 1)
                 for n, t in zip(shape[2:], taps))

    def term(p, i, t):
        g, s = p[1] // per, inside(p[2:], t, x, i, stride, pad, dilation, spread)
        if s is None:
            return None
        at = (g * (channels // groups) + i, p[1] % per) if spread else (p[1], i)
        return times(value(kind, x.at[(p[0], g * (channels // groups) + i) + s]), value(kind, w.at[at + t]))

    def element(p):
        terms = [term(p, i, t) for i in range(channels // groups) for t in places(taps)]
        terms = [t for t in terms if t is not None]
        return int(sum(terms)) % (1 << bits_of(out)) if out in INTEGERS else exact(out, terms)

    y = made(out, (batch, groups * per) + dims, element)
    attrs = [f"stride={stride}", f"pad={pad}", f"dilation={dilation}", f"groups={groups}"] + ([f"out={out}"] if out in ("f16", "bf16") else [])
    c.run("tensor.conv_transpose2d" if spread else f"tensor.conv{len(taps)}d", [("x", x), ("w", w)], attrs, y)
    if not spread and len(set(taps)) == 1:
        rows = list(places(dims))

        def part(p):
            i, t = divmod(p[2], size(taps))
            s = inside(rows[p[1]], list(places(taps))[t], x, i, stride, pad, dilation, False)
            return 0 if s is None else x.at[(p[0], i) + s]

        c.run("tensor.im2col", [("x", x)], [f"stride={stride}", f"pad={pad}", f"dilation={dilation}", f"window={taps[0]}"],
              made(kind, (batch, len(rows), channels * size(taps)), part))


def fast(c, r):
    """Enough products that matrices are multiplied, or f64 sums tell: with infinities and NaNs beside places outside x, ties, terms that cancel."""
    for how in ("any", "ties", "cancel"):
        convolution(c, r, "f32", "f32", (2, 4, 7, 6), (8, 4, 3, 3), 1, 1, 1, 1, how)
        convolution(c, r, "f32", "bf16", (1, 16, 11), (32, 4, 9), 1, 4, 1, 4, how)
        convolution(c, r, "f32", "f32", (1, 4, 5, 5), (4, 8, 3, 3), 2, 1, 1, 1, how, True)
        convolution(c, r, "f32", "f32", (1, 12, 9, 12), (12, 1, 4, 4), 1, 1, 1, 12, how)  # a channel a group
        convolution(c, r, "f32", "f16", (1, 12, 9, 12), (12, 1, 4, 4), 1, 1, 1, 12, how)
    convolution(c, r, "f32", "f16", (1, 8, 40), (64, 8, 1), 1, 0, 1, 1, "any")  # x is the matrix
    convolution(c, r, "bf16", "f32", (1, 8, 4, 4, 4), (4, 4, 3, 3, 3), 1, 1, 1, 2, "any")
    convolution(c, r, "f16", "f16", (1, 12, 9, 12), (12, 1, 4, 4), 1, 1, 1, 12, "any")
    convolution(c, r, "f32", "f32", (1100, 1, 3), (4, 1, 2), 1, 1, 1, 1, "any")  # in rounds
    convolution(c, r, "f32", "f32", (1100, 1, 4), (4, 1, 1), 1, 0, 1, 1, "cancel")
    for kind, out in (("i8", "i32"), ("u16", "u32"), ("i32", "i32"), ("u64", "u64")):
        convolution(c, r, kind, out, (1, 4, 9, 9), (8, 4, 3, 3), 1, 1, 1, 1, "any")
        convolution(c, r, kind, out, (1, 4, 5, 5), (4, 8, 3, 3), 2, 1, 1, 1, "any", True)


def pooling(c, r, kind, shape, window, stride, pad, how):
    x, taps = Tensor(kind, shape, codes(r, kind, size(shape), how)), (window,) * (len(shape) - 2)
    dims = tuple(max(0, (n + 2 * pad - window) // stride + 1) for n in shape[2:])

    def seen(p):
        found = [inside(p[2:], t, x, 0, stride, pad, 1, False) for t in places(taps)]
        return [x.at[p[:2] + s] for s in found if s is not None]

    def largest(p):
        found = seen(p)
        if kind in INTEGERS:
            return max(found, key=lambda v: value(kind, v), default=1 << (bits_of(kind) - 1) if kind[0] == "i" else 0)
        numbers = [v for v in found if value(kind, v) != "nan"]
        if found and not numbers:
            return nan(kind)
        sign = 1 << (bits_of(kind) - 1)
        return max(numbers, key=lambda v: -(v & (sign - 1)) - 1 if v & sign else v, default=INFINITY[kind] | sign)

    def mean(p, all_places):
        values = [value(kind, v) for v in seen(p)]
        n = size(taps) if all_places else len(values)
        return exact(kind, [v if isinstance(v, str) else v / n for v in values]) if values else nan(kind)

    attrs = [f"window={window}", f"stride={stride}", f"pad={pad}"]
    c.run("tensor.max_pool", [("x", x)], attrs, made(kind, shape[:2] + dims, largest))
    for all_places in (False, True) if kind in FLOATS else ():
        c.run("tensor.avg_pool", [("x", x)], attrs + [f"count_pad={str(all_places).lower()}"],
              made(kind, shape[:2] + dims, lambda p: mean(p, all_places)))


# ---- random numbers ----

# Known answers of philox4x32 with 10 rounds: counter, key, words.
KNOWN = (((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
         ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
         ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)))


def philox(counter, stream, key):
    w = [counter % (1 << 32), counter >> 32 & 0xFFFFFFFF, stream % (1 << 32), stream >> 32]
    k = [key % (1 << 32), key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * w[0], 0xCD9E8D57 * w[2]
        w = [b >> 32 ^ w[1] ^ k[0], b % (1 << 32), a >> 32 ^ w[3] ^ k[1], a % (1 << 32)]
        k = [(k[0] + 0x9E3779B9) % (1 << 32), (k[1] + 0xBB67AE85) % (1 << 32)]
    return w


def cosine(x):
    """To 60 digits, by its series; x is below 7."""
    term = total = decimal.Decimal(1)
    n = 0
    while abs(term) > decimal.Decimal(10) ** -70:
        n += 2
        term = -term * x * x / (n * (n - 1))
        total += term
    return total


def single(x):
    return rounded("f32", Fraction(x))


def normal(w):
    decimal.getcontext().prec = 80

    def dec(code):
        v = value("f32", code)
        return decimal.Decimal(v.numerator) / decimal.Decimal(v.denominator)

    u, v = Fraction((w[0] >> 8) + 1, 1 << 24), Fraction(w[1] >> 8, 1 << 24)
    log = single((decimal.Decimal(u.numerator) / decimal.Decimal(u.denominator)).ln())
    root = single((-2 * dec(log)).sqrt()) if log else 0x80000000
    angle = single(value("f32", 0x40C90FDB) * v)
    cos = single(cosine(dec(angle)))
    return rounded("f32", value("f32", root) * value("f32", cos), bool(negative("f32", root) ^ negative("f32", cos)))


def narrow(kind, code):
    v = value("f32", code)
    if v == "nan":
        return nan(kind)
    if isinstance(v, str):
        return INFINITY[kind] | (1 << 15 if v == "-inf" else 0)
    return rounded(kind, v, bool(negative("f32", code)))


def random(c, r, n, key, counter, stream, kinds):
    words = [philox((counter + i) % (1 << 64), stream, key) for i in range(n)]
    at = [f"key={key}", f"counter={counter}", f"stream={stream}"]
    shape = [f"shape={n}"]
    c.run("tensor.random_bits", [], at + shape, Tensor("u32", (n,), [w[0] for w in words]))
    c.run("tensor.random_bits", [], at + shape + ["out=u64"], Tensor("u64", (n,), [w[0] | w[1] << 32 for w in words]))
    for kind in kinds:
        p = FLOATS[kind][0]
        c.run("tensor.random_uniform", [], at + shape + [f"out={kind}"],
              Tensor(kind, (n,), [rounded(kind, Fraction(w[0] >> (32 - p), 1 << p)) for w in words]))
        c.run("tensor.random_normal", [], at + shape + [f"out={kind}"],
              Tensor(kind, (n,), [normal(w) if kind == "f32" else narrow(kind, normal(w)) for w in words]))
        x = Tensor(kind, (n,), codes(r, kind, n, "any"))
        for drop in (0, 6554, 60000) if len(kinds) > 1 else (6554,):
            kept = Fraction(65536 - drop, 65536)

            def scaled(code):
                v = value(kind, code)
                wide = nan("f32") if v == "nan" else INFINITY["f32"] | (v == "-inf") << 31 if isinstance(v, str) else \
                    rounded("f32", v / kept, bool(negative(kind, code)))
                return wide if kind == "f32" else narrow(kind, wide)

            c.run("tensor.dropout", [("x", x)], at + [f"drop={drop}"],
                  Tensor(kind, (n,), [0 if w[0] >> 16 < drop else scaled(code) for w, code in zip(words, x.codes)]))


def known_answers(h, backends):
    for counter, key, words in KNOWN:
        for backend in backends:
            status, _, err = h.run("op", "run", "tensor.random_bits", "--backend", backend, "--attr", f"key={key[0] | key[1] << 32}", "--attr",
                                   f"counter={counter[0] | counter[1] << 32}", "--attr", f"stream={counter[2] | counter[3] << 32}", "--attr", "shape=1",
                                   "--attr", "out=u128", "--out", "y=" + h.path("y"))
            if h.check(f"philox {counter} {backend}", status == 0, err):
                h.check_bytes(f"philox {counter} {backend}", h.read("y"), pack("u32", words), 4)


def refusals(h):
    h.write("x", bytes(96))
    for op, ports, attrs, words in (
            ("conv1d", ["x=f32[1,2,12]", "w=f32[1,3,8]"], [], "PC4201"), ("conv1d", ["x=f32[1,2,12]", "w=f32[3,1,8]"], ["groups=2"], "groups"),
            ("conv1d", ["x=f32[1,2,12]", "w=f32[1,2,12]"], ["stride=0"], "PC4202"), ("conv2d", ["x=f32[1,2,12]", "w=f32[1,2,12]"], [], "PC4102"),
            ("conv1d", ["x=i32[1,2,12]", "w=u32[1,2,12]"], [], "PC4201"), ("conv_transpose2d", ["x=f32[1,2,3,4]", "w=f32[2,3,2,2]"], ["extra=1"], "extra"),
            ("max_pool", ["x=f32[24]"], ["window=2"], "PC4201"), ("avg_pool", ["x=i32[1,2,12]"], ["window=2"], "PC4102"),
            ("max_pool", ["x=f32[1,2,12]"], ["window=2,2"], "PC4202"), ("im2col", ["x=f32[1,2,12]"], [], "PC4111"),
            ("random_bits", [], ["key=1", "shape=4", "out=f32"], "PC4202"), ("dropout", ["x=f32[24]"], ["key=1", "drop=65536"], "PC4112")):
        args = [a for port in ports for a in ("--in", port.replace("=", f"={h.path('x')}:"))] + [a for attr in attrs for a in ("--attr", attr)]
        status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", *args, "--out", "y=" + h.path("y"))
        h.check(f"refused {op} {ports} {attrs}", status != 0 and words in err, err)


# ---- planted faults ----

def planted(h):
    """Faults in what tells a convolution sooner; two channels of 5 x 4 about which a place is outside, three of the result."""
    r = Random(19)
    shape, w_shape, count = (1, 2, 5, 4), (3, 2, 3, 3), 60
    window = "fn window_step(place: i32, dim: vec4<u32>) -> i32 {\n\treturn place;\n}\nconst SPREAD: i32 = 1;\n" + kernel("window").replace("$", "3")
    terms = "fn clear() {\n\tsum_clear();\n}\nfn term(a: u32, b: u32) {\n\tsum_product(x_bits(a), w_bits(b));\n}\nfn result() -> T {\n\treturn sum_round();\n}\n"
    numbers = [[20, 9, 20, 3], [2, 3, 2, 0], [9, 18, 54, 0], [4, 1, 1, 1], [5, 1, 1, 1], [1, 1, 0, 1], [3, 3, 1, 0], [4, 5, 1, 0]] + [[0] * 4] * 8
    params = struct.pack("<4I", count, 0, 0, 0) + b"".join(struct.pack("<4I", *v) for v in numbers)

    half = ("const PRECISION: u32 = 11u;\nconst LEAST: u32 = 274u;\nconst INFINITY: u32 = 0x7c00u;\nconst NAN: u32 = 0x7e00u;\nconst SIGN: u32 = 0x8000u;\nfn sum_scale() -> bool {\n\treturn false;\n}\n",
            "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(vec2<f16>(f16(x), 0.0h));\n}\n")

    def run(x, w, made, plant, out="f32"):
        form, nearest = half if out == "f16" else (FORMAT, NEAREST)
        front = (("enable f16;\n" if out == "f16" else "") + "override steps: u32;\n" + kernel("element_params") + "alias T = u32;\n" + buffer("x", 1) + buffer("w", 2) + BITS.format("x") + BITS.format("w") + window + form
                 + kernel("exact_sum") + terms + kernel("conv", "direct"))
        if made is None:
            text, more = front + nearest + kernel("within") + kernel("conv_judged"), {}
        else:
            text, more = front + buffer("made", 3) + "fn made_raw(i: u32) -> u32 {\n\treturn made[i];\n}\n" + kernel("conv_mended"), {3: pack("f32", made)}
        at = 3 + len(more)
        data = {0: params, 1: pack("f32", x), 2: pack("f32", w), **more, at: bytes(4 * count)}
        if out == "f16":
            data[at] = bytes(2 * count)
        written = kernel("result_halves" if out == "f16" else "result_words")
        return list(struct.unpack(f"<{count}{'H' if out == 'f16' else 'I'}",
                                  run_kernel(h, "cpu", text + buffer("y", at, "read_write", "T") + written, 32, 1, data, (at,), plant)[0]))

    def wanted(x, w, outside, out="f32"):
        """outside: places outside x are zeros."""
        at, of = Tensor("f32", shape, x), Tensor("f32", w_shape, w)

        def element(p):
            places_of = [(i, t, inside(p[2:], t, at, i, 1, 1, 1, False)) for i in range(2) for t in places((3, 3))]
            return exact(out, [times(value("f32", 0 if s is None else at.at[(0, i) + s]), value("f32", of.at[(p[1], i) + t])) for i, t, s in places_of if s is not None or outside])
        return made(out, (1, 3, 5, 4), element).codes

    x, w = codes(r, "f32", 40, "ties"), codes(r, "f32", 54, "ties")
    x[0], w[0:18] = 0x3F800000, [0x3F800000, 0x33800000] + [0x21800000] * 16  # 1, 2^-24 and what is far below, beside one another
    x[1:] = [0x3F800000] * 39
    want = wanted(x, w, False)
    h.check("sums that tell", run(x, w, None, ()) == want)
    # 1 + 2^-11 + 2^-30: above the middle of two f16, which it is as f32.
    above = [0x3F800000, 0x3A000000, 0x30800000] + [0] * 51
    halves = wanted(x, above, False, "f16")
    h.check("sums that tell halves", run(x, above, None, (), "f16") == halves)
    infinite = w[:]
    infinite[18] = 0x7F800000
    mended = wanted(x, infinite, False)
    made_of = wanted(x, infinite, True)
    h.check("zeros beside an infinity show", made_of != mended)
    h.check("what is mended", run(x, infinite, made_of, ()) == mended)
    for fault, got, to in (
            ("an f64 sum without its second pass", run(x, w, None, (("select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)"),)), want),
            ("a bound of the error too small by 2^40", run(x, w, None, (("most * 0x1p-53lf", "most * 0x1p-93lf"),)), want),
            ("a sum rounded to f32 before f16", run(x, above, None, (("f16(x), 0.0h", "f16(f32(x)), 0.0h"),), "f16"), halves),
            ("a NaN of zeros outside beside an infinity", run(x, infinite, made_of, (("found != NAN", "true"),)), mended)):
        at = next((i for i in range(count) if got[i] != to[i]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, "tensor.conv2d", "exact fractions", f"y[{at}] is {got[at]:08x}, not {to[at]:08x}")


def main():
    h, r = Harness(), Random(17)
    how, backends = sys.argv[1], sys.argv[2:]
    if how == "planted":
        planted(h)
        return h.finish()
    c = Cases(h, backends)
    known_answers(h, backends)
    convolution(c, r, "f32", "f32", (1, 4, 5, 4), (2, 2, 2, 2), 2, 1, 1, 2, "cancel")
    convolution(c, r, "f16", "f32", (1, 2, 3, 3), (2, 3, 2, 3), 2, 1, 2, 1, "any", True)
    convolution(c, r, "f32", "f32", (1, 4, 9, 9), (8, 4, 3, 3), 1, 1, 1, 1, "any")
    convolution(c, r, "f16", "f16", (1, 12, 9, 12), (12, 1, 4, 4), 1, 1, 1, 12, "ties")
    pooling(c, r, "f32", (1, 2, 5, 4), 2, 1, 1, "any")
    random(c, r, 9, 0x0123456789ABCDEF, (1 << 64) - 4, 5, ["f32"])
    if how == "all":
        refusals(h)
        for i, (kind, out) in enumerate((("f32", "f32"), ("bf16", "f16"), ("i8", "i32"), ("u16", "u32"), ("i64", "i64"))):
            for arguments in share((((2, 1, 9), (3, 1, 4), 1, 0, 1, 1), ((1, 6, 8), (4, 3, 3), 3, 2, 2, 2), ((1, 2, 4, 5), (3, 2, 3, 3), 1, 1, 1, 1),
                                    ((1, 3, 6, 5), (3, 1, 2, 3), 2, 1, 1, 3), ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), 1, 1, 1, 1), ((1, 1, 2), (1, 1, 5), 1, 0, 1, 1)), 3, i):
                convolution(c, r, kind, out, *arguments, "ties" if len(arguments[0]) == 4 else "any")
            convolution(c, r, kind, out, (2, 4, 3, 2), (4, 2, 3, 2), 2, 0, 1, 2, "cancel", True)
        for i, kind in enumerate(("f32", "f16", "bf16", "i8", "u16", "i64")):
            for arguments in share((((2, 2, 7), 3, 2, 1), ((1, 2, 4, 5), 2, 2, 0), ((1, 1, 3, 4, 3), 2, 1, 1), ((1, 1, 2), 5, 1, 0), ((1, 1, 3), 2, 1, 4)), 3, i):
                pooling(c, r, kind, *arguments, "any")
        convolution(c, r, "f16", "bf16", (1, 2, 3, 3), (2, 3, 2, 3), 2, 1, 2, 1, "any", True)
        fast(c, r)
        pooling(c, r, "f16", (1, 2, 5, 4), 2, 1, 1, "any")
        random(c, r, 300, 1, (1 << 32) - 7, (1 << 64) - 1, list(FLOATS))
    h.finish()


if __name__ == "__main__":
    main()
