"""transformer.embed, swiglu, geglu, geglu_erf, lora, moe_route, moe_linear, moe_combine and penalty against their definitions (SEMANTICS.md 18.10 to 18.16) on
fractions. usage: experts.py all|few|tiles BACKEND..."""
import struct
import sys
from fractions import Fraction

import steps
from harness import Harness, Random, share
from rows import together
from steps import Number, ONE, add, aligned, code, div, dot, exp, mul, neg, pack, read, rounded, sub, times, total

EDGES = {"f32": [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC00000, 0x7F7FFFFF, 1], "f16": [0, 0x8000, 0x7C00, 0xFC00, 0x7E01, 0x7BFF, 1],
         "bf16": [0, 0x8000, 0x7F80, 0xFF80, 0x7FC1, 0x7F7F, 1]}
NAN32 = 0x7FC00000


def drawn(r, kind, n, edges=False):
    """Codes near 1; some are what arithmetic goes wrong at."""
    p, bias = {"f32": (23, 127), "f16": (10, 15), "bf16": (7, 127)}[kind]
    out = []
    for _ in range(n):
        c = r.below(2) << steps.BITS[kind] - 1 | bias - 4 + r.below(8) << p | r.below(1 << p)
        out.append(EDGES[kind][r.below(len(EDGES[kind]))] if edges and r.below(6) == 0 else c)
    return out


def port(name, kind, shape, values):
    return (name, pack(kind, values), f"{kind}[{','.join(map(str, shape))}]")


def numbers(kind, values, width):
    all_of = [read(kind, c) for c in values]
    return [all_of[i:i + width] for i in range(0, len(all_of), width)] if width else []


class Cases:
    def __init__(self, h, r, backends):
        self.h, self.r, self.backends = h, r, backends

    @together
    def run(self, what, op, inputs, wanted, attrs=(), outputs=("y",)):
        for backend in self.backends:
            got = yield "transformer." + op, inputs, list(outputs), backend, attrs
            for data, (kind, want) in zip(got or [], wanted):
                self.h.check_bytes(f"{op} {what} {backend}", data, pack(kind, want), steps.BITS[kind] // 8)

    # ---- embed ----

    def table(self, kind, v, n):
        """Its bytes and its numbers."""
        if kind in steps.codes.BLOCKS:
            each, size = steps.codes.BLOCKS[kind]
            data = bytearray(self.r.below(256) for _ in range(v * n // each * size))
            for at in range(0, len(data), size):
                for half in {"q2_k": (80, 82), "q3_k": (108,), "q6_k": (208,), "q4_0": (0,), "q5_0": (0,), "q8_0": (0,)}.get(kind, (0, 2)):
                    data[at + half:at + half + 2] = struct.pack("<H", (self.r.below(2) << 15 | (8 + self.r.below(12)) << 10 | self.r.below(1024)))
            flat = [x for at in range(0, len(data), size) for x in steps.codes.unpack(kind, bytes(data[at:at + size]))]
            return bytes(data), flat
        if kind == "i8":
            values = [self.r.below(256) for _ in range(v * n)]
            return bytes(values), [read("i8", c) for c in values]
        values = drawn(self.r, kind, v * n, True)
        return pack(kind, values), [read(kind, c) for c in values]

    def embed(self, kind, n, scale, v=5, tokens=(3, 0, 4, 3)):
        data, flat = self.table(kind, v, n)
        s = rounded("f32", Number(abs(Fraction(scale)), scale[0] == "-"))
        want = [code("f32", mul("f32", rounded("f32", flat[t * n + j]), s)) for t in tokens for j in range(n)]
        self.run(f"{kind} {n} {scale}", "embed", [port("tokens", "u32", (2, len(tokens) // 2), tokens), ("table", data, f"{kind}[{v},{n}]")], [("f32", want)],
                 [] if scale == "1" else ["scale=" + scale])

    def strangers(self):
        for backend in self.backends:
            status, _, err = self.h.run("op", "run", "transformer.embed", "--backend", backend, "--in",
                                        "tokens=" + self.h.write("t", struct.pack("<3I", 1, 7, 9)) + ":u32[3]", "--in", "table=zero:80:f32[5,4]")
            self.h.check(f"a token that is no row, {backend}", status == 9 and "[1] is 7, out of range of 5" in err, f"{status} {err}")
        for what, types, attr in (("rows of no whole bytes", ("u32[1]", "i4[2,3]"), "1"), ("no matrix", ("u32[1]", "f32[4]"), "1"),
                                  ("a scale that is none", ("u32[1]", "f32[2,2]"), "x"), ("tokens of another type", ("i32[1]", "f32[2,2]"), "1")):
            size = {"i4[2,3]": 3, "f32[4]": 16, "f32[2,2]": 16}[types[1]]
            status, _, err = self.h.run("op", "run", "transformer.embed", "--backend", "cpu", "--in", "tokens=zero:4:" + types[0], "--in",
                                        f"table=zero:{size}:{types[1]}", "--attr", "scale=" + attr)
            self.h.check(what, status == 3 and "PC4" in err, f"{status} {err}")

    # ---- gated ----

    def gated(self, kind):
        n = 24
        a, b = (EDGES[kind] + drawn(self.r, kind, n))[:n], drawn(self.r, kind, n, True)
        c = {k: rounded(kind, Number(Fraction(struct.unpack("<d", struct.pack("<d", v))[0])))
             for k, v in (("pi", 0.79788456080286535588), ("d", 0.044715), ("half", 0.5), ("root", 0.70710678118654752440))}

        def silu(x):
            return div(kind, x, add(kind, ONE, exp(kind, neg(x))))

        def gelu_tanh(x):
            cube = mul(kind, mul(kind, x, x), x)
            t = steps.tanh(kind, mul(kind, c["pi"], add(kind, x, mul(kind, c["d"], cube))))
            return mul(kind, mul(kind, c["half"], x), add(kind, ONE, t))

        def gelu(x):
            return mul(kind, mul(kind, c["half"], x), add(kind, ONE, steps.erf(kind, mul(kind, c["root"], x))))

        for op, f in (("swiglu", silu), ("geglu", gelu_tanh), ("geglu_erf", gelu)):
            want = []
            for x, y in zip(a, b):
                x, y = read(kind, x), read(kind, y)
                low = x.size == steps.INF and x.negative
                want.append(code(kind, mul(kind, Number(Fraction(0), True) if low else f(x), y)))
            self.run(kind, op, [port("a", kind, (n,), a), port("b", kind, (n,), b)], [(kind, want)])

    # ---- lora ----

    def lora(self, x_kind, w_kind, rows, n, rank, m, scale, edges=False):
        y0, x = drawn(self.r, "f32", rows * m), drawn(self.r, x_kind, rows * n, edges)
        a, b = drawn(self.r, w_kind, rank * n), drawn(self.r, w_kind, m * rank)
        s = rounded("f32", Number(abs(Fraction(scale)), scale[0] == "-"))
        base, mat_a, mat_b, want = numbers("f32", y0, m), numbers(w_kind, a, n), numbers(w_kind, b, rank), []
        for i, row in enumerate(numbers(x_kind, x, n)):
            t = [total("f32", [times(p, q) for p, q in zip(row, other)]) for other in mat_a]
            for j in range(m):
                d = total("f32", [times(p, q) for p, q in zip(t, mat_b[j])])
                want.append(code("f32", add("f32", base[i][j], mul("f32", s, d))))
        self.run(f"{x_kind} {w_kind} {rows} {n} {rank} {m}", "lora", [port("y0", "f32", (1, rows, m), y0), port("x", x_kind, (1, rows, n), x),
                 port("a", w_kind, (rank, n), a), port("b", w_kind, (m, rank), b)], [("f32", want)], ["scale=" + scale])

    # ---- experts ----

    def route(self, rows, experts, k, mode, norm, how):
        if how == "few":  # many are equal
            logits = [(0x3F800000, 0xBF800000, 0x40000000, 0)[self.r.below(4)] for _ in range(rows * experts)]
        else:
            logits = drawn(self.r, "f32", rows * experts, how == "edges")
        which, weights = [], []
        for at in range(0, len(logits), experts):
            row = logits[at:at + experts]
            if mode == "softmax_topk":
                row = [code("f32", p) for p in steps.softmax("f32", [read("f32", c) for c in row])]
            best = sorted(range(experts), key=lambda e: -steps.order(row[e]))[:k]
            w = [read("f32", row[e]) for e in best]
            if mode == "topk_softmax":
                w = steps.softmax("f32", w)
            elif norm:
                s = total("f32", w)
                w = [div("f32", x, s) for x in w]
            which += best
            weights += [code("f32", x) for x in w]
        self.run(f"{rows} {experts} {k} {mode} {norm} {how}", "moe_route", [port("logits", "f32", (rows, experts), logits)],
                 [("u32", which), ("f32", weights)], [f"k={k}", "mode=" + mode] + ["norm=true"] * norm, ("experts", "weights"))

    def linear(self, x_kind, w_kind, n, each, biased, edges=False):
        rows, k, m, experts = 2, 3, 3, 4
        which = [1, 3, 1, 0, 4 if edges else 2, 3]
        x = drawn(self.r, x_kind, rows * (k if each else 1) * n, edges)
        data, flat = self.table(w_kind, experts * m, n)
        bias = drawn(self.r, "bf16", experts * m) if biased else []
        left, want = numbers(x_kind, x, n), []
        for i, e in enumerate(which):
            for j in range(m):
                if e >= experts:
                    want.append(NAN32)
                    continue
                right = flat[(e * m + j) * n:(e * m + j + 1) * n]
                y = total("f32", [times(p, q) for p, q in zip(left[i if each else i // k], right)])
                want.append(code("f32", add("f32", y, read("bf16", bias[e * m + j])) if biased else y))
        shape = (rows, k, n) if each else (rows, n)
        self.run(f"{x_kind} {w_kind} {n} {each} {biased}", "moe_linear", [port("x", x_kind, shape, x), ("w", data, f"{w_kind}[{experts},{m},{n}]"),
                 port("experts", "u32", (rows, k), which), port("bias", "bf16", (experts if biased else 0, m), bias)], [("f32", want)])

    def many(self, x_kind, w_kind, n, m, counts, k=1, each=False, biased=False, edges=False, strangers=0):
        """Places enough for tiles: so many of each expert, in any order, and some of experts that w has not."""
        experts = len(counts)
        which = [e for e, c in enumerate(counts) for _ in range(c)] + [experts + i for i in range(strangers)]
        for i in range(len(which) - 1, 0, -1):
            j = self.r.below(i + 1)
            which[i], which[j] = which[j], which[i]
        rows = len(which) // k
        self.h.check("places are whole rows", rows * k == len(which) and len(which) >= 32)
        x = drawn(self.r, x_kind, rows * (k if each else 1) * n, edges)
        data, flat = self.table(w_kind, experts * m, n)
        bias = drawn(self.r, "f32", experts * m) if biased else []
        left, want = numbers(x_kind, x, n), []
        quick, right = [aligned(row) for row in left], [aligned(flat[at:at + n]) for at in range(0, len(flat), n)]
        for i, e in enumerate(which):
            for j in range(m):
                if e >= experts:
                    want.append(NAN32)
                    continue
                at, row = e * m + j, i if each else i // k
                if quick[row] and right[at]:
                    y = dot("f32", quick[row], right[at])
                else:
                    y = total("f32", [times(p, q) for p, q in zip(left[row], flat[at * n:(at + 1) * n])])
                want.append(code("f32", add("f32", y, read("f32", bias[e * m + j])) if biased else y))
        shape = (rows, k, n) if each else (rows, n)
        self.run(f"of many places {x_kind} {w_kind} {n} {m} {counts} {each} {biased}", "moe_linear",
                 [port("x", x_kind, shape, x), ("w", data, f"{w_kind}[{experts},{m},{n}]"), port("experts", "u32", (rows, k), which),
                  port("bias", "f32", (experts if biased else 0, m), bias)], [("f32", want)])

    def tiles(self):
        """Borders of tiles: 16 and 64 rows, 64 columns, 16 terms, and one to both sides of each."""
        self.many("f32", "f32", 17, 3, (0, 1, 15, 16, 17, 31), strangers=3, edges=True)
        self.many("f32", "bf16", 16, 64, (33,))
        self.many("bf16", "f16", 15, 65, (63, 1), k=2, each=True, biased=True)
        self.many("f32", "f32", 1, 63, (64, 0, 65, 0), k=3)
        self.many("f32", "i8", 33, 2, (130, 0), k=2, edges=True)
        self.many("f32", "f32", 48, 1, (1,) * 16 + (20,))
        self.many_ties()

    def many_ties(self):
        one, small, n = 0x3F800000, 0x33800000, 40
        rows = [[one, small], [one, small, 1], [one, small, 1 << 31 | 1], [one, one ^ 1 << 31, 1], [0x7F7FFFFF, 0x7F7FFFFF, 0xFF7FFFFF], [0x5F800000, one, 0xDF800000], [0x7F800000], [one, 0xFF800000]]
        rows = [row + [0] * (n - len(row)) for row in rows]
        want = [code("f32", total("f32", [read("f32", c) for c in row])) for row in rows]
        self.run("ties of many places", "moe_linear", [port("x", "f32", (33, n), [one] * n * 33), port("w", "f32", (1, len(rows), n), [c for row in rows for c in row]),
                 port("experts", "u32", (33, 1), [0] * 33), port("bias", "f32", (0, len(rows)), [])], [("f32", want * 33)])

    def ties(self):
        """Sums that lie between two f32 but for their last bit, or cancel: what f64 does not tell."""
        one, small, n = 0x3F800000, 0x33800000, 40  # 1 and 2^-24: half of 1's last place
        x = [one] * n
        rows = [[one, small] + [0] * 38, [one, small, 1] + [0] * 37, [one, small, 1 << 31 | 1] + [0] * 37, [one, one ^ 1 << 31, 1] + [0] * 37,
                [0x7F7FFFFF, 0x7F7FFFFF, 0xFF7FFFFF] + [0] * 37, [0x5F800000, one, 0xDF800000] + [0] * 37]
        want = [code("f32", total("f32", [read("f32", c) for c in row])) for row in rows]
        flat = [c for row in rows for c in row]
        self.run("ties", "moe_linear", [port("x", "f32", (1, n), x), port("w", "f32", (1, len(rows), n), flat), port("experts", "u32", (1, 1), [0]),
                 port("bias", "f32", (0, len(rows)), [])], [("f32", want)])

    def combine(self, rows, k, m, edges=False):
        y, w = drawn(self.r, "f32", rows * k * m, edges), drawn(self.r, "f32", rows * k, edges)
        a, b = numbers("f32", y, m), [read("f32", c) for c in w]
        want = [code("f32", total("f32", [times(b[i * k + e], a[i * k + e][j]) for e in range(k)])) for i in range(rows) for j in range(m)]
        self.run(f"{rows} {k} {m}", "moe_combine", [port("y", "f32", (rows, k, m), y), port("weights", "f32", (rows, k), w)], [("f32", want)],
                 outputs=("z",))

    # ---- penalty ----

    def penalty(self, v, n, edges=False, b=3):
        logits = drawn(self.r, "f32", b * v, edges)
        history = [self.r.below(v + 2) for _ in range(b * n)]
        count = ([n, n // 2, n + 9] * b)[:b]
        params = [drawn(self.r, "f32", b) for _ in range(3)]
        want = []
        for i, c in enumerate(logits):
            row, seen = i // v, history[i // v * n:i // v * n + n][:count[i // v]].count(i % v)
            r, presence, frequency = (read("f32", p[row]) for p in params)
            x = read("f32", c)
            if seen:
                above = x.size != steps.NAN and x.size != 0 and not x.negative
                x = div("f32", x, r) if above else mul("f32", x, r)
                x = sub("f32", x, mul("f32", Number(Fraction(seen)), frequency))
                want.append(code("f32", sub("f32", x, presence)))
            else:
                want.append(c)
        self.run(f"{v} {n}", "penalty", [port("logits", "f32", (b, v), logits), port("history", "u32", (b, n), history), port("count", "u32", (b,), count)] +
                 [port(name, "f32", (b,), p) for name, p in zip(("repetition", "presence", "frequency"), params)], [("f32", want)])


def main():
    h = Harness()
    c = Cases(h, Random(27), sys.argv[2:])
    if sys.argv[1] == "tiles":
        c.tiles()
        for kind, block in share(steps.codes.BLOCKS.items(), 3):
            c.many("f32", kind, block[0], 3, (2, 1, 30, 0))
        # Matrices of all experts that are larger than a binding, of few places and of many.
        c.backends = ["mock:wrap=cpu+narrow=16384"]
        c.linear("f32", "f32", 500, False, False)
        c.linear("f32", "q8_0", 1600, False, False)
        c.backends = ["mock:wrap=cpu+narrow=65536"]
        for arguments, strangers in share(((("f32", "i8", 40, 600, (10, 0, 21, 3)), 2), (("f32", "f32", 80, 64, (10, 0, 19, 3)), 0), (("f32", "q4_k", 256, 160, (10, 0, 19, 3)), 0)), 3, 1):
            c.many(*arguments, strangers=strangers)
        h.finish()
    if sys.argv[1] == "few":
        c.embed("bf16", 6, "1.5")
        c.embed("q4_k", 256, "1")
        c.lora("f32", "bf16", 2, 9, 3, 4, "0.3")
        c.route(2, 12, 3, "softmax_topk", True, "few")
        c.route(1, 12, 3, "topk_softmax", False, "edges")
        c.linear("f32", "bf16", 33, False, True)
        c.linear("f32", "q4_k", 256, True, False)
        c.ties()
        c.combine(2, 3, 5)
        c.penalty(20, 9)
        h.finish()
    for kind in ("f32", "f16", "bf16", "i8", *steps.codes.BLOCKS):
        c.embed(kind, steps.codes.BLOCKS[kind][0] if kind in steps.codes.BLOCKS else 6, "-39.19183" if kind == "bf16" else "1")
    c.embed("f32", 3, "1e-30")
    c.strangers()
    for kind in ("f32", "f16", "bf16"):
        c.gated(kind)
    c.lora("f32", "f32", 3, 17, 4, 9, "2")
    c.lora("bf16", "bf16", 1, 40, 8, 5, "-0.7")
    c.lora("f16", "f32", 2, 6, 1, 3, "0.1", True)
    for mode, norm in (("softmax_topk", False), ("softmax_topk", True), ("topk_softmax", False)):
        for rows, experts, k, how in ((2, 8, 2, "plain"), (3, 60, 4, "few"), (2, 70, 8, "edges"), (1, 5, 5, "few"), (1, 130, 8, "plain")):
            c.route(rows, experts, k, mode, norm, how)
    for x_kind, w_kind, n in (("f32", "f32", 40), ("bf16", "bf16", 33), ("f16", "f16", 7), ("f32", "i8", 6),
                              *(("f32", k, b[0]) for k, b in steps.codes.BLOCKS.items())):
        c.linear(x_kind, w_kind, n, w_kind[-1] == "k", w_kind[0] != "q", w_kind in ("f32", "q4_k"))
    c.ties()
    c.combine(1, 1, 1)
    c.combine(3, 8, 7, True)
    c.penalty(33, 20)
    c.penalty(7, 30, True)
    # Where bindings are small: a table read through several, rows in parts.
    c.backends = ["mock:wrap=cpu+narrow=16384"]
    c.embed("f32", 64, "0.5", 100, [c.r.below(100) for _ in range(80)])
    c.embed("q8_0", 64, "1", 300, [c.r.below(300) for _ in range(70)])
    c.lora("f32", "f32", 90, 50, 2, 60, "2")
    c.route(250, 20, 3, "softmax_topk", True, "few")
    c.combine(60, 4, 20)
    c.penalty(600, 30, b=12)
    h.finish()


if __name__ == "__main__":
    main()
