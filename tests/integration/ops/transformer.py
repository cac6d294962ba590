"""The transformer library's rotary positions and caches against their definitions: cosines and sines by integers of 300 binary places, powers by decimals, rotations as
fractions, caches as dictionaries.
usage: transformer.py table|rope|kv all|few BACKEND..."""
import decimal
import math
import struct
import sys
from fractions import Fraction

from harness import Harness, Random
from matmul import FLOATS, bits_of, codes, nan, negative, pack, rounded, times, value
from moves import Tensor
from rows import compare, op_run

PLACES = 300
UNIT = 1 << PLACES


def arctan_inverse(n):
    total, term, k = 0, UNIT // n, 0
    while term:
        total += (term if k % 2 == 0 else -term) // (2 * k + 1)
        term //= n * n
        k += 1
    return total


PI = 16 * arctan_inverse(5) - 4 * arctan_inverse(239)


def circle(x):
    """Cosine and sine of a fraction."""
    r = int(x * UNIT) % (2 * PI)
    if r > PI:
        r -= 2 * PI
    c, s, even, odd, n = 0, 0, UNIT, r, 0
    while even or odd:
        c, s = c + even, s + odd
        even = -(even * r * r >> 2 * PLACES) // ((n + 1) * (n + 2))
        odd = -(odd * r * r >> 2 * PLACES) // ((n + 2) * (n + 3))
        n += 2
    return Fraction(c, UNIT), Fraction(s, UNIT)


def f32(x):
    return value("f32", rounded("f32", Fraction(x)))


def power(base, e):
    if e == 0:
        return Fraction(1)
    d = decimal.Decimal
    y = (d(e.numerator) / d(e.denominator) * (d(base.numerator) / d(base.denominator)).ln()).exp()
    return f32(Fraction(y))


def log(x):
    d = decimal.Decimal
    return f32(Fraction((d(x.numerator) / d(x.denominator)).ln()))


def yarn(i, dims, base, factor, original, fast, slow, f):
    """Steps as SEMANTICS.md 18.2 has them, on fractions."""
    def pair(turns):
        return f32(f32(dims * log(f32(original / f32(f32(Fraction(turns)) * value("f32", 0x40C90FDB))))) / f32(2 * log(base)))
    low, high = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), dims - 1)
    s = f32(f32(Fraction(i - low)) / max(f32(Fraction(high - low)), f32(Fraction(1, 1000))))
    s = min(max(s, 0), 1)
    return f32(f32(f32(s * f) / factor) + f32(f32(1 - s) * f))


def frequency(i, dims, base, scaling, factor, low, high, original, fast="32", slow="1", factors=()):
    if scaling == "longrope":
        return f32(1 / f32(f32(Fraction(factors[i])) * power(f32(base), f32(Fraction(2 * i, dims)))))
    f = f32(1 / power(f32(base), f32(Fraction(2 * i, dims))))
    factor, low, high, original = (f32(Fraction(x)) for x in (factor, low, high, original))
    if scaling == "linear":
        return f32(f / factor)
    if scaling == "yarn":
        return yarn(i, dims, f32(base), factor, original, fast, slow, f)
    if scaling == "llama3":
        w = f32(value("f32", 0x40C90FDB) / f)
        if w > f32(original / low):
            return f32(f / factor)
        if not w < f32(original / high):
            s = f32(f32(f32(original / w) - low) / f32(high - low))
            return f32(f32(f32(f32(1 - s) * f) / factor) + f32(s * f))
    return f


def table(positions, dims, base=10000, scaling="none", factor="1", low="1", high="4", original=8192, fast="32", slow="1", magnitude="1", factors=()):
    fs = [frequency(i, dims, Fraction(base), scaling, factor, low, high, original, fast, slow, factors) for i in range(dims // 2)]
    return [rounded("f32", f32(v) * f32(Fraction(magnitude))) for p in range(positions) for f in fs for v in circle(p * f)]


def run_table(h, how, backends):
    cases = [(5, 128, "500000", "llama3", "8", "1", "4", 8192), (40, 6, "10000", "none", "1", "1", "4", 8192)]
    if how == "all":
        cases += [(300, 16, "1000000", "linear", "4", "1", "4", 8192), (33, 64, "123.456", "llama3", "32", "1", "4", 64), (3, 80, "1", "none", "1", "1", "4", 8192),
                  (9, 256, "1073741824", "llama3", "3.5", "0.5", "7", 100), (0, 4, "10000", "none", "1", "1", "4", 8192)]
    for positions, dims, base, scaling, factor, low, high, original in cases:
        want = table(positions, dims, base, scaling, factor, low, high, original)
        attrs = [f"dims={dims}", f"positions={positions}", f"base={base}", f"scaling={scaling}", f"factor={factor}", f"low_freq_factor={low}", f"high_freq_factor={high}",
                 f"original_positions={original}"]
        compare(h, backends, f"rope_table {positions} {dims} {scaling}", "transformer.rope_table", [], pack("f32", want), 4, attrs)
    # Version 2: what version 1 gives, by its attributes; yarn's scaling, and a planted change of each of its numbers.
    for number, (positions, dims, base, factor, original, fast, slow, magnitude) in enumerate(
            [(7, 64, "1000000", "4", 32768, "32", "1", "1.1386294")] + ([(5, 128, "10000", "40", 4096, "32", "1", "0.7"), (9, 32, "150000", "32", 64, "3.5", "0.25", "1"),
             (4, 16, "1.0000002", "2", 7, "2", "1", "1"), (3, 6, "500000", "8", 1, "32", "1", "1")] if how == "all" else [])):
        attrs = [f"dims={dims}", f"positions={positions}", f"base={base}", "scaling=yarn", f"factor={factor}", f"original_positions={original}", f"beta_fast={fast}",
                 f"beta_slow={slow}", f"magnitude={magnitude}"]
        want = table(positions, dims, base, "yarn", factor, "1", "4", original, fast, slow, magnitude)
        for backend in backends:
            got = op_run(h, "transformer.rope_table@2", [], ["y"], backend, attrs)
            h.check_bytes(f"rope_table@2 {positions} {dims} yarn {backend}", got[0] if got else b"", pack("f32", want), 4)
        for k in range(4, 9) if number == 0 else ():
            name, told = attrs[k].split("=")
            got = op_run(h, "transformer.rope_table@2", [], ["y"], backends[0], [f"{name}={float(told) * 0.75:g}" if i == k and name != "original_positions" else
                                                                             f"{name}={int(told) // 2}" if i == k else a for i, a in enumerate(attrs)])
            h.check(f"another {name} is another table", got is not None and got[0] != pack("f32", want))
    # Version 3: longrope, a factor a pair; a planted change of the first and the last.
    for positions, dims, base, magnitude in [(6, 96, "10000", "1.1902381")] + ([(4, 128, "250000", "1"), (9, 6, "10000", "0.5")] if how == "all" else []):
        factors = [["1.0", "1.0499999523162842", "64.43000030517578", "0.0625", "4096", "0.9"][i % 6] for i in range(dims // 2)]
        attrs = [f"dims={dims}", f"positions={positions}", f"base={base}", "scaling=longrope", f"magnitude={magnitude}"]
        want = table(positions, dims, base, "longrope", magnitude=magnitude, factors=factors)
        for backend in backends:
            got = op_run(h, "transformer.rope_table@3", [], ["y"], backend, [*attrs, "factors=" + ",".join(factors)])
            h.check_bytes(f"rope_table@3 {positions} {dims} longrope {backend}", got[0] if got else b"", pack("f32", want), 4)
        for k in (0, dims // 2 - 1):
            got = op_run(h, "transformer.rope_table@3", [], ["y"], backends[0], [*attrs, "factors=" + ",".join("2" if i == k else x for i, x in enumerate(factors))])
            h.check(f"another factor of pair {k} is another table", got is not None and got[0] != pack("f32", want))
    plain = ["dims=64", "positions=5", "scaling=llama3", "factor=8"]
    one, *others = (op_run(h, f"transformer.rope_table@{v}", [], ["y"], backends[0], plain) for v in (1, 2, 3))
    h.check("versions 2 and 3 give what version 1 gives", one is not None and all(x is not None and one[0] == x[0] for x in others))
    long = ["dims=4", "positions=1", "scaling=longrope"]
    for attrs, code in ((long, "PC4202"), ([*long, "factors=1"], "PC4202"), ([*long, "factors=1,"], "PC4202"), ([*long, "factors=1,2,3"], "PC4202"), ([*long, "factors=1;2"], "PC4202"),
                        ([*long, "factors=1,0.06"], "PC4202"), ([*long, "factors=1,4097"], "PC4202"), ([*long, "factors=nan,1"], "PC4202"), (["dims=4", "positions=1", "factors=1,1"], "PC4202"),
                        (["dims=4", "positions=1", "scaling=su"], "PC4202")):
        status, _, err = h.run("op", "run", "transformer.rope_table@3", "--backend", "cpu", "--out", "y=" + h.path("y"), *[x for a in attrs for x in ("--attr", a)])
        h.check(f"rope_table@3 refuses {attrs}", status != 0 and code in err, err)
    for attrs, code in ((["dims=4", "positions=1", "scaling=yarn", "base=1"], "PC4202"), (["dims=4", "positions=1", "scaling=yarn", "beta_fast=1"], "PC4202"),
                        (["dims=4", "positions=1", "magnitude=0"], "PC4202"), (["dims=4", "positions=1", "scaling=dynamic"], "PC4202")):
        status, _, err = h.run("op", "run", "transformer.rope_table@2", "--backend", "cpu", "--out", "y=" + h.path("y"), *[x for a in attrs for x in ("--attr", a)])
        h.check(f"rope_table@2 refuses {attrs}", status != 0 and code in err, err)
    if how == "all":
        # The last positions of a long one, whose angles have many turns.
        got = op_run(h, "transformer.rope_table", [], ["y"], backends[0], ["dims=32", "positions=262144", "base=500000"])
        fs = [frequency(i, 32, Fraction(500000), "none", 1, 1, 4, 8192) for i in range(16)]
        want = [rounded("f32", v) for p in range(262140, 262144) for f in fs for v in circle(p * f)]
        h.check_bytes("rope_table of 262144", got[0][-4 * len(want):] if got else b"", pack("f32", want), 4)
    for attrs, code in ((["dims=3", "positions=1"], "PC4202"), (["dims=4", "positions=1", "scaling=yarn"], "PC4202"), (["dims=4", "positions=1", "base=0.5"], "PC4202"),
                        (["dims=4", "positions=1", "factor=nan"], "PC4202"), (["dims=1024", "positions=1048576"], "PC4204"),
                        (["dims=4", "positions=1", "scaling=llama3", "low_freq_factor=4"], "PC4202"), (["dims=4", "positions=1", "high_freq_factor=-1"], "PC4202")):
        status, _, err = h.run("op", "run", "transformer.rope_table@1", "--backend", "cpu", "--out", "y=" + h.path("y"), *[x for a in attrs for x in ("--attr", a)])
        h.check(f"rope_table refuses {attrs}", status != 0 and code in err, err)


# ---- steps of f32 on codes ----

def mul(a, b):
    v = times(value("f32", a), value("f32", b))
    if isinstance(v, str):
        return {"nan": nan("f32"), "inf": 0x7F800000, "-inf": 0xFF800000}[v]
    return rounded("f32", v, bool(negative("f32", a) ^ negative("f32", b)))


def add_terms(pairs):
    """The sum of exact values with their signs, rounded once: (value, sign)."""
    seen = {v for v, _ in pairs if isinstance(v, str)}
    if "nan" in seen or len(seen) == 2:
        return nan("f32")
    if seen:
        return 0xFF800000 if "-inf" in seen else 0x7F800000
    return rounded("f32", sum(v for v, _ in pairs), all(s and v == 0 for v, s in pairs))


def fma(a, b, c):
    return add_terms([(times(value("f32", a), value("f32", b)), negative("f32", a) ^ negative("f32", b)), (value("f32", c), negative("f32", c))])


def wide(kind, code):
    """The code as f32."""
    v = value(kind, code)
    if isinstance(v, str):
        return {"nan": nan("f32"), "inf": 0x7F800000, "-inf": 0xFF800000}[v]
    return rounded("f32", v, bool(negative(kind, code)))


def narrow(kind, code):
    v = value("f32", code)
    p, _, top = FLOATS[kind]
    if isinstance(v, str):
        return nan(kind) if v == "nan" else top << (p - 1) | (1 << (bits_of(kind) - 1) if v == "-inf" else 0)
    return rounded(kind, v, bool(negative("f32", code)))


def u32(name, *words):
    return (name, struct.pack(f"<{len(words)}I", *words), f"u32[{len(words)}]")


def run_rope(h, r, how, backends):
    cases = [("f32", "halves", (2, 3, 2, 8), 3, 9, [5, 0], None), ("f16", "neighbours", (2, 2, 1, 5), 2, 4, [2, 1], [1, 2])]
    if how == "all":
        cases += [("bf16", "halves", (1, 2, 3, 80), 40, 70, [68], None), ("f32", "neighbours", (3, 1, 2, 64), 32, 3, [2, 0, 1], [1, 0, 1]),
                  ("f32", "halves", (1, 4, 1, 96), 24, 5, [0], [4]), ("f16", "halves", (1, 1, 2, 256), 128, 2, [1], None)]
    for kind, pairing, shape, pairs, positions, start, count in cases:
        b, t, heads, d = shape
        x, turns = Tensor(kind, shape, codes(r, kind, b * t * heads * d, "any")), table(positions, 2 * pairs)
        want = []
        for i in range(b):
            for k in range(t):
                for g in range(heads):
                    line = x.codes[((i * t + k) * heads + g) * d:][:d]
                    if count and k >= count[i]:
                        want += [0] * d
                        continue
                    y = list(line)
                    for e in range(pairs):
                        at = (e, e + pairs) if pairing == "halves" else (2 * e, 2 * e + 1)
                        c, s = turns[2 * ((start[i] + k) * pairs + e):][:2]
                        x0, x1 = (wide(kind, line[n]) for n in at)
                        product = mul(x1, s)
                        y[at[0]] = narrow(kind, fma(x0, c, product if value("f32", product) == "nan" else product ^ 1 << 31))
                        y[at[1]] = narrow(kind, fma(x0, s, mul(x1, c)))
                    want += y
        ports = [x.port("x"), ("table", pack("f32", turns), f"f32[{positions},{pairs},2]"), u32("start[0]", *start)]
        ports += [u32("start[1]", *count)] if count else []
        compare(h, backends, f"rope {kind} {pairing} {shape}", "transformer.rope", ports, pack(kind, want), bits_of(kind) // 8, [f"pairing={pairing}"])
    for start, count, said in (((1, 3), None, "position 4 of sequence 1 is out of range of 4"), ((4294967295, 0), None, "position 4294967295 of sequence 0 is out of range of 4"),
                               ((0, 0), (2, 3), "count[1] is 3, out of range of 3"), ((4, 0), (0, 2), "")):
        ports = [("x", bytes(16), "f32[2,2,1,1]"), ("table", bytes(32), "f32[4,1,2]"), u32("start[0]", *start)] + ([u32("start[1]", *count)] if count else [])
        ports[0] = ("x", bytes(32), "f32[2,2,1,2]")
        fails(h, "transformer.rope", ports, backends, said)


def fails(h, op, ports, backends, said):
    """The op fails on every device with those words, or where there are none does not."""
    for backend in backends:
        args = [x for port, data, kind in ports for x in ("--in", f"{port}={h.write('in-' + port, data)}:{kind}")]
        status, _, err = h.run("op", "run", op, "--backend", backend, *args, "--out", "y=" + h.path("y"))
        h.check(f"{op} fails: {said or 'not'} {backend}", (status == 0) == (not said) and said in err, err)


def run_kv(h, r, how, backends):
    # kind of the cache and of x, b, t, heads, d, positions of a sequence or page, pages, start, count
    cases = [("f32", "f32", 2, 3, 2, 4, 8, None, [5, 0], [3, 2]), ("f16", "f32", 2, 2, 1, 3, 4, [[4, 1], [0, 3]], [3, 6], [2, 1]),
             ("f32", "f32", 3, 1, 2, 4, 8, None, [5, 0, 7], [1, 0, 1]), ("bf16", "f32", 2, 1, 1, 602, 4, None, [3, 0], [1, 1]),
             ("f32", "f32", 1, 1, 2, 4, 4, [[4, 1]], [5], [1]), ("f16", "f32", 1, 1, 3, 102, 2, [[3, 0, 5]], [4], [1])]
    if how == "all":
        cases += [("bf16", "f16", 1, 4, 2, 8, 9, None, [5], [4]), ("f32", "bf16", 3, 1, 1, 5, 2, [[0], [1], [2]], [0, 1, 0], [1, 0, 1]), ("f16", "f16", 1, 5, 1, 1, 7, None, [1], [5]),
                  ("bf16", "bf16", 2, 4, 1, 3, 2, [[5, 0, 2], [1, 4, 3]], [1, 2], [4, 3])]
    for kind, of, b, t, heads, d, positions, pages, start, count in cases:
        pool, row = (6 if pages else b), heads * d
        cache = Tensor(kind, (pool, positions, heads, d), codes(r, kind, pool * positions * row, "any"))
        x = Tensor(of, (b, t, heads, d), codes(r, of, b * t * row, "any"))
        want = list(cache.codes)
        for i in range(b):
            for k in range(count[i]):
                p = start[i] + k
                place = pages[i][p // positions] * positions + p % positions if pages else i * positions + p
                line = x.codes[(i * t + k) * row:][:row]
                want[place * row:(place + 1) * row] = line if kind == of else [narrow(kind, wide(of, code)) for code in line]
        flat = [page for line in pages or [] for page in line]
        ports = [cache.port("cache"), x.port("x"), u32("start", *start), u32("count", *count),
                 ("pages", struct.pack(f"<{len(flat)}I", *flat), f"u32[{b},{len(flat) // b}]")]
        compare(h, backends, f"kv_write {kind} {of} {b} {t} {positions} {pages}", "transformer.kv_write", ports, pack(kind, want), bits_of(kind) // 8)
    def ports(start, count, pages):
        flat = [page for line in pages for page in line]
        shape = f"f32[{4 if flat else 2},{2 if flat else 4},1,1]"
        return [("cache", bytes(32), shape), ("x", bytes(16), "f32[2,2,1,1]"), u32("start", *start), u32("count", *count),
                ("pages", struct.pack(f"<{len(flat)}I", *flat), f"u32[2,{len(flat) // 2}]")]
    for start, count, pages, said in (((0, 3), (2, 2), [], "position 4 of sequence 1 is out of range of 4"), ((0, 0), (1, 3), [], "count[1] is 3, out of range of 3"),
                                      ((0, 4294967295), (2, 2), [], "position 4294967295 of sequence 1 is out of range of 4"), ((4, 0), (0, 2), [], ""),
                                      ((0, 2), (2, 2), [[0, 9], [9, 4]], "pages[3] is out of range"), ((0, 1), (2, 1), [[2, 9], [2, 9]], "pages[0] is out of range, or a page that another"),
                                      ((0, 2), (2, 2), [[0, 9], [0, 1]], "")):
        fails(h, "transformer.kv_write", ports(start, count, pages), backends, said)
    for start, count, said in (((0, 4), (1, 1), "position 4 of sequence 1 is out of range of 4"), ((0, 1), (2, 0), "count[0] is 2, out of range of 2"), ((4, 4294967295), (0, 0), "")):
        token = [("cache", bytes(32), "f32[2,4,1,1]"), ("x", bytes(8), "f32[2,1,1,1]"), u32("start", *start), u32("count", *count), ("pages", b"", "u32[2,0]")]
        fails(h, "transformer.kv_write", token, backends, said)
    for start, count, page, said in ((5, 1, 7, "pages[1] is out of range"), (5, 0, 7, ""), (1, 1, 7, ""), (8, 1, 1, "position 8 of sequence 0 is out of range of 8")):
        token = [("cache", bytes(32), "f32[2,4,1,1]"), ("x", bytes(4), "f32[1,1,1,1]"), u32("start", start), u32("count", count), ("pages", struct.pack("<2I", 0, page), "u32[1,2]")]
        fails(h, "transformer.kv_write", token, backends, said)


def main():
    decimal.getcontext().prec = 80
    h, r = Harness(), Random(20)
    what, how, backends = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "table":
        run_table(h, how, backends)
    elif what == "rope":
        run_rope(h, r, how, backends)
    else:
        run_kv(h, r, how, backends)
    h.finish()


if __name__ == "__main__":
    main()
