"""Faults planted into the kernels of transformer.moe_route, moe_linear and sample, each found by what fractions say: the kernels run one by one, as ops/transformer
joins them, right ones first. usage: experts_planted.py BACKEND [few|right|registers]: one fault of each kernel; the right ones alone; without
matrix units"""
import struct
import sys

from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, Tile, buffer, kernel, run_kernel
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


def moe_place(to, more=""):
    """The beginning of each kernel of moe_linear."""
    return (FORMAT.split("fn sum_scale")[0] + kernel("moe_place") + "".join(buffer(name, i + 1) for i, name in enumerate(("x", "w", "experts", "bias"))) + buffer(to, 5, "read_write") + more
            + "".join(BITS.format(name) for name in ("x", "bias", "w")))


SUM = "fn sum_scale" + FORMAT.split("fn sum_scale")[1] + kernel("exact_sum") + kernel("moe_term")


def linear(x, w, which, m, n, plant):
    text = (moe_place("y") + SUM
            + "const LANES: u32 = 16u;\nconst ROWS: u32 = 4u;\nconst LOCAL: u32 = 64u;\nconst FEW: u32 = 4u;\nalias found_T = vec2<f64>;\n"
            "fn found_join(a: found_T, b: found_T) -> found_T {\n\treturn a + b;\n}\nvar<private> sums: vec2<f64>;\n"
            + kernel("rows_tree").replace("$", "found") + NEAREST + kernel("within") + kernel("sum_window") + kernel("rows_settle") + kernel("moe_quick")
            + kernel("moe_linear"))
    count = len(which) * m
    params = words([count, m, n, len(which), len(w) // (m * n), 0, 8 + 32, 0])
    return run_kernel(h, BACKEND, text, 1, (count + 3) // 4, {0: params, 1: words(x), 2: words(w), 3: words(which), 4: bytes(4), 5: bytes(4 * count)}, (5,), plant)[0]


def up(n, of):
    return (n + of - 1) // of


def many(x, w, which, m, n, tile, plants):
    """A row of x for each place. plants: what is put in place of what, of count, group, tile, settle."""
    experts, places = len(w) // (m * n), len(which)
    tiles, across = places // tile.rows + min(experts, places), up(m, 64)
    sizes, rows = words([places, experts, 0, 0]), f"const TILE_ROWS: u32 = {tile.rows}u;\n"
    counts = run_kernel(h, BACKEND, kernel("moe_count"), 16, experts, {0: sizes, 1: words(which), 2: bytes(4 * experts)}, (2,), plants.get("count", ()))[0]
    listed, slots = run_kernel(h, BACKEND, rows + kernel("moe_group"), 16, experts, {0: sizes, 1: words(which), 2: counts, 3: bytes(4 * tiles * tile.rows), 4: bytes(4 * places)},
                               (3, 4), plants.get("group", ()))
    data = {0: words([places * m, m, n, 1, experts, 0, n + 4, 0]), 1: words(x), 2: words(w), 3: words(which), 4: bytes(4)}
    text = (tile.begin + moe_place("temp", buffer("list", 6)) + NEAREST + kernel("within") + kernel("root_above") + tile.head + kernel("tile_norms") + kernel("moe_tile_term") + kernel("moe_tile")
            + tile.sums + kernel("moe_tile_loop") + tile.multiply + kernel("moe_tile_end") + tile.stages + kernel("moe_tile_give"))
    size = tiles * tile.rows * across * 64
    temp = run_kernel(h, BACKEND, text, 16, tiles * across, {**{i: d for i, d in data.items() if i != 4}, 5: bytes(4 * size), 6: listed}, (5,), plants.get("tile", ()))[0]
    text = (moe_place("y", buffer("temp", 6) + buffer("slots", 7)) + SUM + "const ROWS: u32 = 1u;\n" + rows + kernel("sum_lanes") + NEAREST + kernel("within") + kernel("moe_settle"))
    return run_kernel(h, BACKEND, text, 16, up(places * m, 64), {**data, 5: bytes(4 * places * m), 6: temp, 7: slots}, (5,), plants.get("settle", ()))[0]


def multiplied(x, w, which, m, n):
    out = []
    for i, e in enumerate(which):
        for j in range(m):
            at = (e * m + j) * n
            out.append(0x7FC00000 if at >= len(w) else code("f32", total("f32", [times(read("f32", a), read("f32", b)) for a, b in zip(x[i * n:] if len(x) > n else x, w[at:at + n])])))
    return words(out)


def weighed(rows, params):
    """What sample_keys.wgsl finds, and the greatest of each row."""
    keys, weights, greatest = [], [], []
    for row, (t, *_) in zip(rows, params):
        z = [div("f32", read("f32", c), read("f32", t)) for c in row]
        greatest.append(max(row, key=order))
        m = div("f32", read("f32", greatest[-1]), read("f32", t))
        low = [c == 0xFF800000 for c in row]
        keys += [0 if none else order(code("f32", x)) for x, none in zip(z, low)]
        weights += [0 if none else code("f32", exp("f32", sub("f32", x, m))) for x, none in zip(z, low)]
    return keys, weights, greatest


NUMBERS = (kernel("wide") + kernel("sample_weight") + kernel("sample_stages") + "struct Philox {\n\tv: array<vec4<u32>, 2>,\n}\nvar<private> params: Philox;\n" + kernel("philox"))


def bound(name, own, first):
    """A kernel with the bindings that it shares, as sample.c joins them."""
    parts = kernel("sample_bound").split("\n", 1)[1].replace("$", own).split("#")
    return kernel(name).replace("$", parts[0] + "".join(f"{first + i}{part}" for i, part in enumerate(parts[1:])))


def draw_split(rows, params, plant):
    """A row by four workgroups, turn by turn until all are done."""
    parts, v = 4, len(rows[0])
    keys, weights, greatest = weighed(rows, params)
    text = f"const PARTS: u32 = {parts}u;\nconst SUMS: u32 = 208u;\n" + NUMBERS + bound("sample_split", "", 4) + kernel("sample_split_decide") + kernel("sample_split_main")
    columns = [[p[i] for p in params] for i in range(6)]
    data = [[len(rows), v, 0, 0], keys, weights, greatest, columns[0], columns[1], columns[2], columns[3], [w for p in params for w in p[4]], columns[5]]
    bindings = {i: words(d) for i, d in enumerate(data)}
    state, sums = bytes(len(rows) * parts * 128), bytes(len(rows) * parts * 832)
    for _ in range(32):
        state, sums = run_kernel(h, BACKEND, text, 1, len(rows) * parts, {**bindings, 10: state, 11: sums, 12: bytes(len(state)), 13: bytes(len(sums))}, (12, 13), plant)
        if all(stage == 6 for stage in struct.unpack(f"<{len(state) // 4}I", state)[1::32]):
            break
    return words(struct.unpack(f"<{len(state) // 4}I", state)[7::32 * parts])


def draw(rows, params, plant):
    v = len(rows[0])
    keys, weights, greatest = weighed(rows, params)
    text = ("const LANES: u32 = 256u;\n" + kernel("unit_sum") + NUMBERS + bound("sample_place", "@group(0) @binding(4) var<storage, read> greedy: array<u32>;\n", 5) + kernel("sample_gather") + kernel("sample"))
    columns = [[p[i] for p in params] for i in range(6)]
    data = [[len(rows), v, 0, 0], keys, weights, greatest, [0] * len(rows), columns[0], columns[1], columns[2], columns[3], [w for p in params for w in p[4]],
            columns[5], [0] * len(rows)]
    return run_kernel(h, BACKEND, text, 1, len(rows), {i: words(d) for i, d in enumerate(data)}, (11,), plant)[0]


def plant(where, right, run, faults, oracle):
    h.check_bytes(f"{where} as it is", run(()), right, 4)
    for fault, *changes in faults if len(sys.argv) < 3 else faults[:1] if sys.argv[2] == "few" else ():
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
    planted_tiles(r, w)
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
    plant("transformer.sample by several workgroups", want, lambda p: draw_split(rows, params, p), (
        ("the last part of a row not joined", ("p < PARTS; p++", "p < PARTS - 1u; p++")),
        ("the upper halves of sums of parts lost", ("(totals[bin * WORDS + 2u * d + 1u] << 16u)", "0lu")),
        ("the last token of a part lost", ("n * 256u + lane >= each", "n * 256u + lane + 1u >= each")),
        ("a bin passed in which the goal is reached", ("n >= s.rank", "n > s.rank")),
        ("weights above a bin forgotten", ("s.above = all;", "s.above = bin_sum(bin);")),
        ("four bits of a threshold lost", ("s.x |= bin << (28u - 4u * s.step);", "s.x = bin << (28u - 4u * s.step);")),
    ), "the order, exact fractions")
    h.finish()


def planted_tiles(r, ties):
    """Two experts of 33 places each and one of one, their rows 1 or near it; ties of matrices are those above."""
    m, n, one = 4, 40, 0x3F800000
    which = [(0, 2, 7, 2)[i % 4] if i % 3 else 0 for i in range(66)] + [1]
    x = [one if i % 2 else one ^ r.below(1 << 23) for i in range(len(which)) for _ in range(n)]
    w = (ties + [one ^ r.below(1 << 23) for _ in range(3 * m * n - len(ties))])[:3 * m * n]
    want = multiplied(x, w, which, m, n)
    for tile in (Tile(16, False), Tile(64, False), Tile(64, True))[:2 if "registers" in sys.argv else 3]:
        way = f"tiles of {tile.rows} rows{' by matrix units' if tile.units else ''}"
        plant(f"transformer.moe_linear in {way}", want, lambda changes: many(x, w, which, m, n, tile, dict(changes)), tuple((fault, (part, ((old, new),))) for fault, part, old, new in (
            (f"an expert's last tile given to the next, {way}", "group", "(counts[e] + TILE_ROWS - 1u) / TILE_ROWS", "counts[e] / TILE_ROWS"),
            (f"a group out of order, {way}", "group", "atomicAdd(&slots[i], at + 1u);", "atomicAdd(&slots[i], (at ^ 1u) + 1u);"),
            (f"places of a lane put over its neighbour's, {way}", "group", "k < lane)", "k + 1u < lane)"),
            (f"the matrix of the next expert in {way}", "tile", "let expert = experts[place - 1u];", "let expert = experts[place - 1u] ^ 1u;"),
            (f"the last term lost in {way}", "tile", "let inside = k < params.n", "let inside = k + 1u < params.n"),
            (f"an f64 sum without its second pass in {way}", "tile", "select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)", "nearest(x)"),
            (f"a bound of {way} too small by 2^40", "tile", "0x1.00001p0lf) * 0x1p-53lf", "0x1.00001p0lf) * 0x1p-93lf"),
            (f"another element settled, {way}", "settle", "settle(base + i, lane);", "settle(base + (i ^ 1u), lane);"))), "exact fractions")


def second_of(row, key):
    """What is drawn of the last row above, whose second candidate is kept by an exact comparison alone."""
    return sample(row, f32(1.0), 0, f32(0.5), 0, key, 4)


if __name__ == "__main__":
    main()
