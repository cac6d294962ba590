"""transformer.attention against its definition: dots and sums as fractions, exponentials and hyperbolic tangents to 80 decimal digits, every step rounded to f32; and prompts cut into
chunks, in batches and pages.
usage: attention.py all|few|tiles|chunks BACKEND..."""
import decimal
import random
import struct
import sys
from fractions import Fraction

from cells import tanh
from harness import Harness, Random, share
from matmul import FLOATS, bits_of, codes, exact, nan, pack, products, rounded, value
from moves import Tensor
from rows import compare, op_run
from transformer import add_terms, fails, mul, narrow, u32
from matmul import negative

MINUS_INF = 0xFF800000


def divide(a, b):
    x, y = value("f32", a), value("f32", b)
    if "nan" in (x, y) or (isinstance(x, str) and isinstance(y, str)):
        return nan("f32")
    sign = (a ^ b) & 1 << 31
    if isinstance(x, str):
        return 0x7F800000 | sign
    return sign if isinstance(y, str) else rounded("f32", x / y, bool(sign))


def minus(a, b):
    y = value("f32", b)
    negated = {"inf": "-inf", "-inf": "inf"}.get(y, y) if isinstance(y, str) else -y
    return add_terms([(value("f32", a), negative("f32", a)), (negated, 1 - negative("f32", b))])


def exp(code):
    v = value("f32", code)
    if v == "nan":
        return nan("f32")
    if v == "-inf" or v < -110:
        return 0
    return rounded("f32", Fraction((decimal.Decimal(v.numerator) / decimal.Decimal(v.denominator)).exp()))


def capped(code, cap):
    s = divide(code, cap)
    v = value("f32", s)
    if v == "nan":
        return nan("f32")
    if isinstance(v, str) or abs(v) > 20:
        s = 0x3F800000 | (s & 1 << 31)
    else:
        s = tanh(s)
    return mul(cap, s)


def one_head(q, keys, values, scale, cap, kind):
    """Exact values; of no keys, zeros."""
    scores = [mul(s, scale) for s in products("f32", q, keys)]
    if cap:
        scores = [capped(s, cap) for s in scores]
    numbers = [s for s in scores if value("f32", s) != "nan"]
    def order(s):
        v = value("f32", s)
        return {"inf": (1, 0, 0), "-inf": (-1, 0, 0)}.get(v, (0, v, 0)) if isinstance(v, str) else (0, v, 1 - negative("f32", s))
    m = max(numbers, key=order) if numbers else nan("f32")
    e = [0 if s == MINUS_INF else exp(minus(s, m)) for s in scores]
    s = exact("f32", [value("f32", x) for x in e])
    if s == 0:
        return [0] * len(values[0] if values else []) or None
    return [narrow(kind, divide(y, s)) for y in products("f32", [value("f32", w) for w in e], list(zip(*values)))]


class Case:
    """pages: None, or pages of each sequence; then positions are those of a page."""

    def __init__(self, r, kinds, b, t, h, kv, d, dv, positions, start, count, how="normal", pages=None, causal=True, window=0, softcap=None, scale=None):
        self.__dict__.update(kinds=kinds, b=b, t=t, h=h, kv=kv, d=d, dv=dv, positions=positions, start=start, count=count, pages=pages, causal=causal, window=window, softcap=softcap,
                             scale=scale, how=how)
        pool = 1 + max(x for line in pages for x in line) if pages else b
        def drawn(kind, shape):
            n = shape[0] * shape[1] * shape[2] * shape[3]
            if how == "normal":
                return Tensor(kind, shape, [rounded(kind, Fraction(r.below(1 << 26) - (1 << 25), 1 << 24)) for _ in range(n)])
            return Tensor(kind, shape, codes(r, kind, n, how))
        self.q = drawn(kinds[0], (b, t, h, d))
        self.k = drawn(kinds[1], (pool, positions, kv, d))
        self.v = drawn(kinds[1], (pool, positions, kv, dv))

    def brings(self):
        return self.kinds, self.pages is None, self.causal, self.window == 0, self.softcap is None, self.how

    def ports(self):
        flat = [x for line in self.pages or [] for x in line]
        return [self.q.port("q"), self.k.port("k"), self.v.port("v"), u32("start", *self.start), u32("count", *self.count),
                ("pages", struct.pack(f"<{len(flat)}I", *flat), f"u32[{self.b},{len(flat) // self.b}]")]

    def attrs(self):
        out = [] if self.causal else ["causal=false"]
        out += [f"window={self.window}"] if self.window else []
        out += [f"softcap={self.softcap}"] if self.softcap else []
        return out + ([f"scale={self.scale}"] if self.scale is not None else [])

    def want(self):
        kq, kc = self.kinds
        scale = rounded("f32", Fraction(self.scale)) if self.scale is not None else rounded("f32", Fraction(1 / decimal.Decimal(self.d).sqrt()))
        cap = rounded("f32", Fraction(self.softcap)) if self.softcap else 0
        y = []
        for b in range(self.b):
            for i in range(self.t):
                for g in range(self.h):
                    at, j = self.start[b] + i, g // (self.h // self.kv)
                    end = at + 1 if self.causal else self.start[b] + self.count[b]
                    seen = [p for p in range(end) if not self.window or p > at - self.window] if i < self.count[b] else []
                    rows = [(self.pages[b][p // self.positions] * self.positions + p % self.positions if self.pages else b * self.positions + p) * self.kv + j for p in seen]
                    q = [value(kq, c) for c in self.q.codes[((b * self.t + i) * self.h + g) * self.d:][:self.d]]
                    keys = [[value(kc, c) for c in self.k.codes[row * self.d:][:self.d]] for row in rows]
                    values = [[value(kc, c) for c in self.v.codes[row * self.dv:][:self.dv]] for row in rows]
                    y += one_head(q, keys, values, scale, cap, kq) or [0] * self.dv
        return pack(kq, y)


def cases(r, how):
    yield Case(r, ("f32", "f32"), 1, 2, 4, 2, 64, 64, 70, [66], [2])
    yield Case(r, ("f32", "f16"), 2, 2, 2, 1, 16, 80, 4, [5, 0], [1, 2], pages=[[3, 0], [1, 4]], window=4)
    yield Case(r, ("f32", "bf16"), 2, 1, 6, 2, 8, 64, 9, [8, 2], [1, 0])
    if how != "all":
        return
    for d in (80, 96, 128, 256):
        yield Case(r, ("f32", "f32"), 1, 1, 2, 1, d, d, 6, [4], [1])
    yield Case(r, ("f32", "bf16"), 2, 3, 6, 2, 8, 8, 12, [3, 0], [3, 1], causal=False)
    yield Case(r, ("bf16", "bf16"), 1, 2, 8, 1, 8, 12, 130, [127], [2], softcap="5", scale="0.25")
    yield Case(r, ("f16", "f16"), 1, 9, 2, 2, 4, 4, 9, [0], [9], window=3)
    yield Case(r, ("f32", "f32"), 3, 1, 3, 3, 5, 3, 2, [1, 0, 5], [1, 0, 1], pages=[[5, 1, 2], [0, 0, 0], [3, 4, 6]], causal=False, softcap="0.5")
    for kind in FLOATS:  # infinities, NaNs, zeros, the smallest and the largest
        for seed in range(3):
            yield Case(r, (kind, kind), 2, 2, 2, 1, 3, 5, 7, [4, 0], [2, 1], how="any")
    for seed in range(3):  # products that cancel, scores that are alike
        yield Case(r, ("f32", "f32"), 1, 2, 2, 2, 24, 8, 40, [36], [2], how="cancel")
        yield Case(r, ("f32", "f32"), 1, 3, 2, 1, 4, 4, 70, [60], [3], how="ties")
    yield Case(r, ("f32", "f32"), 1, 2, 2, 1, 4, 4, 5, [0], [2], scale="0")


def tiles(r):
    """48 lines and more that share keys, which go by tiles of 64 lines, 64 keys and 16 elements: each border, and one to both sides of it."""
    both = ("f32", "f32")
    for t in (47, 48, 63, 64, 65):
        yield Case(r, both, 1, t, 1, 1, 4, 3, t + 1, [0], [t], window=t % 8)
    for keys, window in ((63, 0), (64, 9), (65, 0), (128, 70), (129, 9)):  # the last line sees the last of them
        yield Case(r, both, 1, 2, 24, 1, 15, 2, keys, [keys - 2], [2], causal=keys != 65, window=window)
    for d, dv in ((1, 1), (16, 63), (17, 64), (31, 65), (64, 64), (80, 80), (96, 129), (128, 128), (256, 256)):
        yield Case(r, both, 1, 2, 24, 1, d, dv, 5, [3], [2])
    for kinds in (("f16", "f16"), ("bf16", "bf16"), ("f32", "bf16"), ("f16", "f32")):
        yield Case(r, kinds, 1, 7, 8, 1, 20, 12, 70, [60], [7], window=12, softcap="3", scale="0.25")
    yield Case(r, both, 2, 50, 2, 2, 8, 8, 120, [65, 3], [50, 17], window=20)
    yield Case(r, both, 1, 70, 1, 1, 4, 4, 200, [129], [70], window=33)
    yield Case(r, ("f32", "f16"), 2, 25, 4, 2, 8, 8, 16, [40, 0], [24, 25], pages=[[3, 0, 7, 5, 8], [1, 4, 2, 6, 9]], window=19)
    yield Case(r, ("f32", "f32"), 2, 25, 4, 2, 8, 8, 7, [10, 0], [25, 25], pages=[[3, 0, 7, 5, 8], [1, 4, 2, 6, 9]], causal=False, window=9)
    for how in ("cancel", "ties", "any"):
        yield Case(r, both, 1, 25, 2, 1, 24, 5, 70, [45], [24], how=how)


def special(h, backends):
    """Rows of -Inf, and infinities and NaNs that nothing sees."""
    inf, none = 0x7F800000, MINUS_INF
    one = rounded("f32", Fraction(1))
    for name, q, k, v, start, want in (
            ("all scores are -Inf", [one], [none, none, one], [nan("f32"), one, inf], 1, [0]), ("a NaN beside -Inf", [one], [none, nan("f32"), one], [one, one, one], 1, [nan("f32")]),
            ("an infinite score", [one], [inf, one, one], [one, one, one], 1, [nan("f32")]), ("unseen NaN and Inf", [one], [one, one, nan("f32")], [one, one, inf], 1, [one]),
            ("-Inf beside a number", [one], [none, one, one], [one, 0x40000000, one], 1, [0x40000000]), ("a weight of zero times Inf", [one], [none, one, one], [inf, one, one], 1, [nan("f32")]),
            ("a value of -0", [one], [one, one, one], [1 << 31, one, one], 0, [0]), ("an infinite value", [one], [one, one, one], [inf, one, one], 1, [inf])):
        ports = [("q", pack("f32", q), "f32[1,1,1,1]"), ("k", pack("f32", k), "f32[1,3,1,1]"), ("v", pack("f32", v), "f32[1,3,1,1]"), u32("start", start), u32("count", 1),
                 ("pages", b"", "u32[1,0]")]
        compare(h, backends, name, "transformer.attention", ports, pack("f32", want), 4)


def refusals(h, backends):
    def ports(start, count, pages=(), q="f32[1,2,2,3]"):
        shape = "f32[2,2,1,3]" if pages else "f32[1,4,1,3]"
        n = 1
        for part in q[4:-1].split(","):
            n *= int(part)
        return [("q", bytes(4 * n), q), ("k", bytes(48), shape), ("v", bytes(48), shape), u32("start", start), u32("count", count), ("pages", struct.pack(f"<{len(pages)}I", *pages),
                f"u32[1,{len(pages)}]")]
    fails(h, "transformer.attention", ports(3, 2), backends, "position 4 of sequence 0 is out of range of 4")
    fails(h, "transformer.attention", ports(0, 3), backends, "count[0] is 3, out of range of 3")
    fails(h, "transformer.attention", ports(1, 2, (1, 2)), backends, "pages[1] is out of range")
    fails(h, "transformer.attention", ports(0, 2, (1, 2)), backends, "")
    fails(h, "transformer.attention", ports(0, 1, q="f32[1,2,2,4]"), ["cpu"], "PC4106")
    for attr in ("softcap=-1", "scale=inf", "scale=x"):
        args = [x for port, data, kind in ports(0, 1) for x in ("--in", f"{port}={h.write('in-' + port, data)}:{kind}")]
        status, _, err = h.run("op", "run", "transformer.attention", "--backend", "cpu", *args, "--out", "y=" + h.path("y"), "--attr", attr)
        h.check(f"attention refuses {attr}", status != 0 and "PC4202" in err, err)


class Prompt:
    """A prompt of n tokens, its heads; what a model does with them, but for what makes them."""

    def __init__(self, seed, n, h, kv, d):
        draw = random.Random(seed)
        self.n, self.h, self.kv, self.d = n, h, kv, d
        self.q, self.k, self.v = ([[draw.gauss(0, 1) for _ in range(heads * d)] for _ in range(n)] for heads in (h, kv, kv))


def floats(*rows):
    flat = [x for row in rows for x in row]
    return struct.pack(f"<{len(flat)}f", *flat)


def generate(h, backend, prompts, chunk, capacity, page=0):
    """Outputs of all tokens of each prompt, chunk by chunk in one batch; a prompt that has come to its end goes on as padding."""
    b, (heads, kv, d) = len(prompts), (prompts[0].h, prompts[0].kv, prompts[0].d)
    n_pages = capacity // page if page else 0
    shape = f"f32[{b * n_pages},{page},{kv},{d}]" if page else f"f32[{b},{capacity},{kv},{d}]"
    # A stale cache is no reason to see anything of it.
    caches = {name: struct.pack("<I", 0x7F800001) * (b * capacity * kv * d) for name in "kv"}
    order = [(i * n_pages + 7 * j) % (b * n_pages) for i in range(b) for j in range(n_pages)] if page else []
    if page:
        order = list(range(b * n_pages))
        random.Random(3).shuffle(order)
    pages = ("pages", struct.pack(f"<{len(order)}I", *order), f"u32[{b},{n_pages}]")
    out, steps, token = [b""] * b, [], 4 * heads * d
    for first in range(0, max(p.n for p in prompts), chunk):
        counts = [max(0, min(chunk, p.n - first)) for p in prompts]
        starts = [first if c else 0 for c in counts]
        def rows(of, width):
            return floats(*[(getattr(p, of)[first + i] if first + i < p.n else [float("inf")] * width) for p in prompts for i in range(chunk)])
        steps.append((counts, [u32("start", *starts), u32("count", *counts)] + [(name, rows(name, n * d), f"f32[{b},{chunk},{n},{d}]") for name, n in (("k", kv), ("v", kv), ("q", heads))]))
    while steps:
        some, steps = steps[:STEPS], steps[STEPS:]
        for (counts, _), got in zip(some, one_after_another(h, backend, [ports for _, ports in some], pages, caches, shape)):
            for i in range(b):
                part = got[i * chunk * token:(i + 1) * chunk * token]
                h.check("padding gives +0", part[counts[i] * token:] == bytes((chunk - counts[i]) * token))
                out[i] += part[:counts[i] * token]
    return out


STEPS = 20  # of a pipeline, three jobs each


def one_after_another(h, backend, steps, pages, caches, shape):
    """What attention gives in each step, and the caches behind the last: steps are jobs of one pipeline, each of which has the caches of the one before."""
    given = {"pages": pages[1:], **{name: (caches[name], shape) for name in "kv"}}
    jobs, at = "", {name: "$" + name for name in "kv"}
    for i, ports in enumerate(steps):
        given.update({f"{port}{i}": (data, kind) for port, data, kind in ports})
        common = f'start = "$start{i}"; count = "$count{i}"; pages = "$pages";'
        for name in "kv":
            jobs += f'{{ id = "{name}{i}"; op = "transformer.kv_write@1"; in : {{ cache = "{at[name]}"; x = "${name}{i}"; {common} }}; }},\n'
            at[name] = f"{name}{i}.y"
        jobs += f'{{ id = "y{i}"; op = "transformer.attention@1"; in : {{ q = "$q{i}"; k = "{at["k"]}"; v = "{at["v"]}"; {common} }}; }},\n'
    named = {**{f"y{i}": f"y{i}.y" for i in range(len(steps))}, **{"last_" + name: at[name] for name in "kv"}}
    given = {name: (data, kind.replace(",0]", ",none]")) for name, (data, kind) in given.items()}
    text = ('pipeline : { name = "steps"; class = "strict"; inputs : { ' + " ".join(f'{name} : {{ type = "{kind}"; }};' for name, (_, kind) in given.items()) + " };\njobs = (\n"
            + jobs.rstrip(",\n") + "\n);\noutputs : { " + " ".join(f'{name} = "{of}";' for name, of in named.items()) + " };\n};\n")
    args = ["run", h.write("steps.pipe.cfg", text.encode()), "--backend", backend, "--no-fuse", "--no-memo"]
    args += [a for name, (data, _) in given.items() for a in ("--in", f"{name}={h.write(name, data)}")]
    status, _, err = h.run(*args, *(a for name in named for a in ("--out", f"{name}={h.path(name)}")))
    if not h.check(f"{len(steps)} steps, {backend}", status == 0, f"exit status {status}\n{err}"):
        return []
    caches.update({name: h.read("last_" + name) for name in "kv"})
    return [h.read(f"y{i}") for i in range(len(steps))]


def chunks(h, backends):
    prompts = [Prompt(1, 70, 4, 2, 16), Prompt(2, 9, 4, 2, 16), Prompt(3, 33, 4, 2, 16)]
    want = [generate(h, "cpu", [p], p.n, 128)[0] for p in prompts]
    for backend in backends:
        quick = backend == "cpu"
        for chunk in (1, 7, 64, 70) if quick else (33,):
            for page in (0, 8) if chunk != 1 else (0,):
                got = generate(h, backend, prompts, chunk, 80, page)
                for i, (g, w) in enumerate(zip(got, want)):
                    h.check_bytes(f"prompt {i} in a batch of 3, chunks of {chunk}, pages of {page} {backend}", g, w, 4)
    got = generate(h, backends[0], [prompts[0]] + [Prompt(10 + i, 2 + i, 4, 2, 16) for i in range(15)], 70, 72)
    h.check_bytes("a prompt in a batch of 16", got[0], want[0], 4)


def main():
    decimal.getcontext().prec = 80
    h, r = Harness(), Random(21)
    how, backends = sys.argv[1], sys.argv[2:]
    if how == "chunks":
        chunks(h, backends)
        h.finish()
    for case in share(tiles(r), 5, 0, Case.brings) if how == "tiles" else cases(r, how):
        compare(h, backends, f"attention {case.kinds} {(case.b, case.t, case.h, case.kv, case.d, case.dv, case.positions)} {case.attrs()}", "transformer.attention", case.ports(),
                case.want(), bits_of(case.kinds[0]) // 8, case.attrs())
    if how == "all":
        # A device with small bindings, so that tokens go in passes.
        case = Case(r, ("bf16", "f32"), 1, 20, 4, 1, 4, 4, 70, [45], [18])
        for backend in ("cpu", "mock:wrap=cpu+narrow=16384"):
            got = op_run(h, "transformer.attention", case.ports(), ["y"], backend)
            h.check_bytes(f"attention in passes {backend}", got[0] if got else b"", case.want(), 2)
        special(h, backends)
        refusals(h, backends)
    h.finish()


if __name__ == "__main__":
    main()
