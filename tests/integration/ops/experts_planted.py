"""Faults planted into the kernels of transformer.moe_route, moe_linear and sample, each found by what fractions say: the kernels run one by one, as ops/transformer
joins them, right ones first. usage: experts_planted.py BACKEND"""
import struct
import sys

from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, kernel, run_kernel
from sampling import f32, sample
from steps import code, div, exp, order, read, sub, times, total

BACKEND = sys.argv[1]
h = Harness()


def words(values):
    return struct.pack(f"<{len(values)}I", *values)


def route(scores, rows, experts, k, plant):
    text = f"const SOFTMAX: bool = false;\nconst NORM: bool = true;\nconst CHOSEN: u32 = {k}u;\n" + kernel("unit_sum") + kernel("moe_route")
    got = run_kernel(h, BACKEND, text, 2, rows, {0: words([rows, experts, 0, 0]), 1: words(scores), 2: bytes(4 * rows * k), 3: bytes(4 * rows * k)},
                     (2, 3), plant)
    return got[0] + got[1]


def routed(scores, experts, k):
    which, weights = [], []
    for at in range(0, len(scores), experts):
        row = scores[at:at + experts]
        best = sorted(range(experts), key=lambda e: -order(row[e]))[:k]
        s = total("f32", [read("f32", row[e]) for e in best])
        which += best
        weights += [code("f32", div("f32", read("f32", row[e]), s)) for e in best]
    return words(which + weights)


def linear(x, w, which, m, n, plant):
    text = (FORMAT.split("fn sum_scale")[0] + kernel("moe_place") + "".join(BITS.format(name) for name in ("x", "bias", "w"))
            + "fn sum_scale" + FORMAT.split("fn sum_scale")[1] + kernel("exact_sum") + kernel("moe_term")
            + "const LANES: u32 = 16u;\nconst ROWS: u32 = 4u;\nconst LOCAL: u32 = 64u;\nconst FEW: u32 = 4u;\nalias found_T = vec2<f64>;\n"
            "fn found_join(a: found_T, b: found_T) -> found_T {\n\treturn a + b;\n}\nvar<private> sums: vec2<f64>;\n"
            + kernel("rows_tree").replace("$", "found") + NEAREST + kernel("within") + kernel("sum_window") + kernel("rows_settle") + kernel("moe_quick")
            + kernel("moe_linear"))
    count = len(which) * m
    params = words([count, m, n, len(which), len(w) // (m * n), 0, 8 + 32, 0])
    return run_kernel(h, BACKEND, text, 1, (count + 3) // 4, {0: params, 1: words(x), 2: words(w), 3: words(which), 4: bytes(4), 5: bytes(4 * count)}, (5,), plant)[0]


def multiplied(x, w, which, m, n):
    out = []
    for e in which:
        for j in range(m):
            at = (e * m + j) * n
            out.append(0x7FC00000 if at >= len(w) else code("f32", total("f32", [times(read("f32", a), read("f32", b)) for a, b in zip(x, w[at:at + n])])))
    return words(out)


def draw(rows, params, plant):
    v = len(rows[0])
    keys, weights, greatest = [], [], []
    for row, (t, *_) in zip(rows, params):
        z = [div("f32", read("f32", c), read("f32", t)) for c in row]
        greatest.append(max(row, key=order))
        m = div("f32", read("f32", greatest[-1]), read("f32", t))
        low = [c == 0xFF800000 for c in row]
        keys += [0 if none else order(code("f32", x)) for x, none in zip(z, low)]
        weights += [0 if none else code("f32", exp("f32", sub("f32", x, m))) for x, none in zip(z, low)]
    text = ("const LANES: u32 = 256u;\n" + kernel("unit_sum") + kernel("wide") + kernel("sample_weight") + "struct Philox {\n\tv: array<vec4<u32>, 2>,\n}\nvar<private> params: Philox;\n"
            + kernel("philox") + kernel("sample_place") + kernel("sample_gather") + kernel("sample"))
    columns = [[p[i] for p in params] for i in range(6)]
    data = [[len(rows), v, 0, 0], keys, weights, greatest, [0] * len(rows), columns[0], columns[1], columns[2], columns[3], [w for p in params for w in p[4]],
            columns[5], [0] * len(rows)]
    return run_kernel(h, BACKEND, text, 1, len(rows), {i: words(d) for i, d in enumerate(data)}, (11,), plant)[0]


def plant(where, right, run, faults, oracle):
    h.check_bytes(f"{where} as it is", run(()), right, 4)
    for fault, *changes in faults:
        got = run(tuple(changes))
        at = next((i for i in range(0, len(right), 4) if got[i:i + 4] != right[i:i + 4]), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, where, oracle, f"word {at // 4} is {got[at:at + 4][::-1].hex()}, not {right[at:at + 4][::-1].hex()}")


def main():
    r = Random(3)
    scores = [(0x3E2AAAAB, 0x3D4CCCCD, 0x3D800001, 0x33000001)[r.below(4)] for _ in range(4 * 70)]
    plant("transformer.moe_route", routed(scores, 70, 7), lambda p: route(scores, 4, 70, 7, p), (
        ("a later expert first of equals", ("b.y < a.y", "b.y > a.y")),
        ("the least bits of a sum lost", ("+= part >> 32u", "+= 0lu")),
        ("a sum cut off, not rounded", ("kept + select(0u, 1u, up)", "kept")),
        ("an expert twice", ("e > before.y", "e >= before.y")),
    ), "exact fractions")
    one, half = 0x3F800000, 0x33800000  # 1, and half of its last place
    rows = [[one, half], [one, half, 1], [one, half, 1 << 31 | 1], [one, one ^ 1 << 31, 1], [0x5F800000, one, 0xDF800000]]
    rows += [[one ^ r.below(1 << 23) for _ in range(40)] for _ in range(3)]
    w = [c for row in rows for c in row + [0] * (40 - len(row))]
    x, which = [one] * 40, [1, 0, 2]
    plant("transformer.moe_linear", multiplied(x, w, which, 4, 40), lambda p: linear(x, w, which, 4, 40, p), (
        ("an f64 sum without its second pass", ("select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)")),
        ("a bound of the error too small by 2^40", ("0x1.00001p-53lf", "0x1.00001p-93lf")),
        ("the matrix of the next expert", ("(expert * params.m", "((expert ^ 1u) * params.m")),
        ("an expert that is not there gives zero", ("select(0x7fc00000u, all, at.expert < params.experts)", "all")),
        ("a row's last term lost", ("l < left);", "l + 1u < left);")),
    ), "exact fractions")
    few = [f32(1.0), f32(1.0), f32(0.5), f32(1.0), f32(0.5), f32(-102.0), f32(0.25), f32(0.5)]
    plain = [f32(r.below(1000) / 200) for _ in few]
    all_of = (f32(1.0), 0, f32(1.0), 0)
    rows, params = [], []
    for i in range(6):
        rows += [few, plain, few, few, plain, few]
        params += [(*all_of, (i, 77), i), (*all_of, (i, 78), i), (f32(1.0), 2, f32(1.0), 0, (i, 79), i), (f32(1.0), 5, f32(0.7), 0, (i, 80), i),
                   (f32(0.5), 0, f32(0.8), f32(0.3), (i, 81), i), (f32(1.0), 0, f32(1.0), f32(3.0), (i, 82), i)]
    # Half of two ones and of the least number there is: one candidate is not enough.
    rows.append([f32(0.0), f32(0.0)] + [f32(-103.0)] + [f32(-200.0)] * 5)
    params.append((f32(1.0), 0, f32(0.5), 0, next((k, 9) for k in range(50) if second_of(rows[-1], (k, 9)) == 1), 4))
    rows.append([0xFF800000, 0xFF800000, f32(-5.0)] + [0xFF800000] * 5)
    params.append((*all_of, (8, 8), 8))
    want = words([sample(row, *p) for row, p in zip(rows, params)])
    plant("transformer.sample", want, lambda p: draw(rows, params, p), (
        ("a share cut down to an integer", ("if (rest) {\n\t\tr", "if (false) {\n\t\tr")),
        ("the words of a draw exchanged", ("select(u.x, u.y, word == 1u)", "select(u.x, u.y, word == 0u)")),
        ("the equal before the drawn one", ("rank = short + 1u", "rank = max(short, 1u)")),
        ("the equal behind the drawn one", ("if (number < rank)", "if (number <= rank)")),
        ("all equals kept where top_k cuts them", ("wide_times(each, short + 1u)", "wide_times(each, number)")),
        ("min_p above 1 keeps nothing", ("bitcast<u32>(min(floor, 1.0f))", "bitcast<u32>(floor)")),
        ("top_p after no top_k", ("wanted == 0u || wanted >= candidates", "true")),
        ("what is no candidate is drawn", ("searching), x, equals), 1u);", "searching), x, equals), 0u);")),
        ("one left is not the one", ("step + 1u, EQUALS, inside == 1u", "step + 1u, EQUALS, inside <= 2u")),
        ("the upper halves of sums lost", ("(u64(high_half - seen[2u * d + 1u]) << 16u)", "0lu")),
    ), "the order, exact fractions")
    h.finish()


def second_of(row, key):
    """What is drawn of the last row above, whose second candidate is kept by an exact comparison alone."""
    return sample(row, f32(1.0), 0, f32(0.5), 0, key, 4)


if __name__ == "__main__":
    main()
