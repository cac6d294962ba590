"""transformer.sample against its definition (SEMANTICS.md 18.17): rows put in order, exponentials to 60 decimal digits, sums as fractions; and whether what
is drawn is distributed as it says. usage: sampling.py all|few|split BACKEND..., or sampling.py large TOKENS BACKEND..."""
import struct
import sys
from fractions import Fraction

import steps
from harness import Harness, Random, share
from rows import together
from steps import Number, code, div, exp, order, read, signed, sub

PORTS = (("logits", "f32"), ("temperature", "f32"), ("top_k", "u32"), ("top_p", "f32"), ("min_p", "f32"), ("key", "u32"), ("position", "u32"))


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def philox(key, position):
    w, k = [position, 0, 0, 0], list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * w[0], 0xCD9E8D57 * w[2]
        w = [b >> 32 ^ w[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ w[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return Fraction(w[1] << 32 | w[0], 1 << 64)


def greedy(row):
    numbers = [i for i, x in enumerate(row) if x.size != steps.NAN]
    return max(numbers, key=lambda i: (signed(row[i]), -i)) if numbers else 0


def parameter(c):
    """The parameter, or None where it is NaN."""
    x = read("f32", c)
    return None if x.size == steps.NAN else x


def sample(row, temperature, top_k, top_p, min_p, key, position, kept=None):
    row = [read("f32", c) for c in row]
    t = read("f32", temperature)
    if t.size in (steps.NAN, steps.INF, 0) or t.negative or all(x.size == steps.NAN or x.size == steps.INF and x.negative for x in row):
        return greedy(row)
    z = [div("f32", x, t) for x in row]
    some = [i for i, x in enumerate(z) if x.size != steps.NAN and not (x.size == steps.INF and x.negative)]
    m = max((z[i] for i in some), key=signed)
    e = {}
    for i in some:
        same = z[i].size == m.size and (z[i].negative == m.negative or m.size == 0)
        e[i] = Fraction(1) if same else exp("f32", sub("f32", z[i], m)).value()
    some.sort(key=lambda i: (-order(code("f32", z[i])), i))
    if top_k:
        some = some[:top_k]
    p = parameter(top_p)
    if p is not None and signed(p) < (1, True):
        wanted, so_far, n = max(p.value(), 0) * sum(e[i] for i in some), Fraction(0), 0
        while n == 0 or so_far < wanted:
            so_far += e[some[n]]
            n += 1
        some = some[:n]
    floor = parameter(min_p)
    if floor is not None and floor.size != 0 and not floor.negative:
        least = Fraction(1) if floor.size == steps.INF else min(floor.value(), Fraction(1))
        some = [i for i in some if e[i] >= least]
    if kept is not None:
        kept.update({i: e[i] for i in some})
    wanted, so_far = philox(key, position) * sum(e[i] for i in some), Fraction(0)
    for i in some:
        so_far += e[i]
        if so_far > wanted:
            return i
    raise AssertionError("no token")


@together
def run(h, backends, what, rows, params):
    """rows: codes; params: a tuple a row."""
    b, v = len(rows), len(rows[0])
    columns = [[c for row in rows for c in row]] + [[p[i] for p in params] for i in range(6)]
    columns[5] = [w for p in params for w in p[4]]
    want = [sample(row, *p) for row, p in zip(rows, params)]
    ports = []
    for (name, kind), values in zip(PORTS, columns):
        shape = {"logits": f"[{b},{v}]", "key": f"[{b},2]"}.get(name, f"[{b}]")
        ports.append((name, struct.pack(f"<{len(values)}I", *values), kind + shape))
    for backend in backends:
        got = yield "transformer.sample", ports, ["token"], backend
        if got:
            tokens = list(struct.unpack(f"<{b}I", got[0]))
            h.check(f"{what} {backend}", tokens == want, f"{tokens}, wanted {want}")


def logits(r, v, how):
    if how == "few":
        return [(f32(1.5), f32(-2.25), f32(0.0), 1 << 31, f32(3.0))[r.below(5)] for _ in range(v)]
    if how == "edges":
        return [(0x7FC00000, 0xFF800000, 0x7F7FFFFF, 1, 0xFFC00001, f32(2.0), 0x7F800000 if r.below(9) == 0 else f32(-1.0))[r.below(7)] for _ in range(v)]
    wide = {"wide": 60, "flat": 0.01}.get(how, 8)
    return [f32((r.below(1 << 24) / (1 << 24) - 0.5) * wide) for _ in range(v)]


def some(r, values):
    return values[r.below(len(values))]


def drawn(r, v):
    return (some(r, [f32(1.0), f32(0.7), f32(1.3), f32(0.05), f32(1e30), f32(5.0)]), some(r, [0, 0, 1, 2, 40, v, v + 5]),
            some(r, [f32(1.0), f32(0.9), f32(0.5), f32(0.1), 0, f32(1e-30), f32(0.999999), 0x7FC00000, f32(2.0)]),
            some(r, [0, 0, f32(0.1), f32(1e-9), f32(0.5), f32(4.0), f32(-1.0), 0x7FC00000]), (r.below(1 << 32), r.below(1 << 32)), r.below(1 << 32))


@together
def distribution(h, r, backends, n):
    """The same logits in n rows at n positions: chi squared of what is drawn, beside what each token weighs."""
    row = [f32(x) for x in (0.3, -1.0, 2.0, 1.1, 0.3, -3.0, 1.9, 0.0)]
    for what, (t, k, p, m) in share((("all", (f32(1.0), 0, f32(1.0), 0)), ("cut", (f32(0.8), 6, f32(0.9), f32(0.05)))), 2, 1):
        key, kept = (r.below(1 << 32), r.below(1 << 32)), {}
        sample(row, t, k, p, m, key, 0, kept)
        ports = [("logits", struct.pack(f"<{8 * n}I", *(row * n)), f"f32[{n},8]")]
        for name, kind, value in (("temperature", "f32", t), ("top_k", "u32", k), ("top_p", "f32", p), ("min_p", "f32", m)):
            ports.append((name, struct.pack("<I", value) * n, f"{kind}[{n}]"))
        ports += [("key", struct.pack("<2I", *key) * n, f"u32[{n},2]"), ("position", struct.pack(f"<{n}I", *range(n)), f"u32[{n}]")]
        for backend in backends:
            got = yield "transformer.sample", ports, ["token"], backend
            if not got:
                continue
            tokens = struct.unpack(f"<{n}I", got[0])
            everything = sum(kept.values())
            chi = sum((tokens.count(i) - n * float(e / everything)) ** 2 / (n * float(e / everything)) for i, e in kept.items())
            # With 7 degrees of freedom, 40 is passed once in 800,000; the key is the same on every run.
            h.check(f"distribution, {what} {backend}", chi < 40 and set(tokens) <= set(kept), f"chi squared {chi} {sorted(set(tokens))}")
            h.check(f"each is drawn, {what} {backend}", set(tokens) == set(kept), str(kept))


def main():
    h, r, backends = Harness(), Random(5), sys.argv[2:]
    if sys.argv[1] == "large":
        v, backends = int(sys.argv[2]), sys.argv[3:]
        run(h, backends, "large", [logits(r, v, how) for how in ("plain", "flat")],
            [(f32(1.0), 0, f32(1.0), 0, (1, 2), 3), (f32(0.9), min(50000, v // 3), f32(0.9), f32(0.01), (4, 5), 6)])
        h.finish()
    if sys.argv[1] == "split":
        # Rows that several workgroups share, and the longest that one has alone.
        for v, kinds in ((2047, ("plain",)), (2048, ("plain", "few", "edges", "wide", "flat")), (2049, ("few",)), (4097, ("plain",)), (8200, ("few",))):
            for how in kinds:
                n = len(share(range(3), 3)) if v == 2048 else 1
                run(h, backends, f"{v} {how}", [logits(r, v, how) for _ in range(n)], [drawn(r, v) for _ in range(n)])
        # One after the other of equals, through every part.
        ones = [f32(1.0)] * 2048
        run(h, backends, "equals", [ones] * 12, [(f32(1.0), k, f32(1.0), 0, (i, 5), i) for i, k in enumerate((0, 1, 511, 512, 513, 2047, 2048, 2049, 1024, 3, 1500, 0))])
        odd = [0, 1 << 31, f32(-1.0), 0x7FC00000, 0x7F800000]
        run(h, backends, "greedy", [logits(r, 2100, "few") for _ in odd], [(t, 3, f32(0.5), 0, (7, 8), 9) for t in odd])
        run(h, backends, "nothing to draw", [[0xFF800000] * 2048, [0x7FC00000] * 2048, [0xFF800000] * 2047 + [f32(1.0)]], [(f32(1.0), 0, f32(0.9), f32(0.1), (1, i), i) for i in range(3)])
        h.finish()
    sizes = (1, 2, 7, 33, 300, 513) if sys.argv[1] == "all" else (7, 300)
    for v in sizes:
        for how in ("plain", "few", "edges", "wide", "flat"):
            n = 3 if sys.argv[1] == "few" else len(share(range(12)))
            run(h, backends, f"{v} {how}", [logits(r, v, how) for _ in range(n)], [drawn(r, v) for _ in range(n)])
    # Temperatures that draw nothing; rows without a number above -Inf; infinities.
    odd = [0, 1 << 31, f32(-1.0), 0x7FC00000, 0x7F800000]
    run(h, backends, "greedy", [logits(r, 20, "few") for _ in odd], [(t, 3, f32(0.5), 0, (7, 8), 9) for t in odd])
    rows = [[0xFF800000] * 5, [0x7FC00000] * 5, [0x7FC00000, 0xFF800000, 0xFF800000, 0xFFC00000, 0xFF800000], [f32(1.0), 0x7F800000, f32(2.0), 0x7F800000, 0x7FC00000],
            [0xFF800000, 0x7FC00000, f32(-5.0), 0xFFC00001, 0xFF800000]]
    run(h, backends, "nothing to draw", rows, [(f32(1.0), 0, f32(0.9), 0, (1, i), i) for i in range(5)])
    # A row draws the same whoever is beside it.
    row, p = logits(r, 40, "plain"), drawn(r, 40)
    run(h, backends, "alone", [row], [p])
    run(h, backends, "beside others", [logits(r, 40, "few"), row, logits(r, 40, "wide")], [drawn(r, 40), p, drawn(r, 40)])
    if sys.argv[1] == "all":
        # Where bindings are small, so that rows go in parts.
        run(h, ["mock:wrap=cpu+narrow=16384"], "in parts", [logits(r, 600, "plain") for _ in range(9)], [drawn(r, 600) for _ in range(9)])
    distribution(h, r, backends, 400 if sys.argv[1] == "few" else 2 * len(share(range(500))))
    h.finish()


if __name__ == "__main__":
    main()
