"""Faults planted into the kernels of transformer.attention, each found by sums of fractions: the kernels run one by one, as ops/transformer/attention_plan.c joins and orders them, right ones first.
usage: attention_planted.py BACKEND [few|right|registers]: one fault of each kernel, and no matrix units; the right ones alone; without matrix units,
which as ordinary code take more workgroup memory than every device has"""
import struct
import sys
from fractions import Fraction

from attention import divide, exp, minus
from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, Tile, buffer, kernel, run_kernel
from matmul import exact, pack, rounded, times, value
from reduce_fast import near_softmax

BACKEND = sys.argv[1]
TILES = [Tile(64, units) for units in (False, True)[:1 if {"few", "registers"} & set(sys.argv) else 2]]
TILE = 64
SETTLED = "select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)"
h = Harness()


def f32(x):
    return rounded("f32", Fraction(x))

ONE = f32(1)


class Shape:
    """One sequence of one token over all `keys`, one head; lines are heads that share it. tile: how many lines go, or None."""

    def __init__(self, lines, keys, d, dv, splits=1, tile=None, few=False):
        self.lines, self.keys, self.d, self.dv, self.tile, self.few = lines, keys, d, dv, tile, few
        self.tiles = (keys + TILE - 1) // TILE
        self.block = 64 if tile else min(lines, 8) if few else 4 if lines > 2 else lines
        self.blocks = (lines + self.block - 1) // self.block
        self.split_tiles = (self.tiles + splits - 1) // splits
        self.splits = (self.tiles + self.split_tiles - 1) // self.split_tiles
        self.chunks = (dv + 63) // 64

    def params(self):
        rows = [(1, self.lines, self.d, self.lines), (1, 1, self.dv, 0), (self.keys, self.keys, 0, 1), (0, self.lines, self.blocks, 0), (ONE, 0, self.tiles, self.splits),
                (self.split_tiles, self.split_tiles * TILE + self.splits, self.chunks, self.chunks * TILE)]
        return struct.pack("<4I", 0, 0, 0, 0) + b"".join(struct.pack("<4I", *row) for row in rows) + bytes(160)

    def head(self):
        return (kernel("element_params") + f"const CAUSAL: bool = true;\nconst LINES: u32 = {self.block}u;\n" + buffer("start", 1) + buffer("count", 2)
                + "fn tokens(b: u32, t: u32) -> u32 {\n\treturn min(count[b], t);\n}\nconst KV_NOWHERE: u32 = 0xffffffffu;\nfn kv_place(b: u32, p: u32) -> u32 {\n\treturn b * params.v[2].x + p;\n}\n"
                + kernel("attention_place") + kernel("attention_few_score_place" if self.few else "attention_score_place"))

    def bindings(self, more):
        return {0: self.params(), 1: struct.pack("<I", self.keys - 1), 2: struct.pack("<I", 1), **more}

    def words(self):
        return self.blocks * self.block * self.tiles * TILE

    def place(self, line, key):
        if self.few:
            return ((line // self.block * 2 * self.tiles + key // 32) * self.block + line % self.block) * 32 + key % 32
        return ((line // self.block * self.tiles + key // TILE) * self.block + line % self.block) * TILE + key % TILE

    def tiled(self, scores):
        out = [0xFFFFFFFF] * self.words()
        for line, row in enumerate(scores):
            for key, s in enumerate(row):
                out[self.place(line, key)] = s
        return pack("f32", out)

MORE = "fn more(a: f64, b: f64, s: f64) -> f64 {\n\treturn fma(a, b, s);\n}\n"
JOINED = FORMAT + kernel("exact_sum") + "const ROWS: u32 = 1u;\n" + kernel("sum_lanes")


def greatest(line):
    return max((c for c in line if value("f32", c) != "-inf"), key=lambda c: value("f32", c))


def weight(c, m):
    return 0 if value("f32", c) == "-inf" else exp(minus(c, m))


def words(data):
    return struct.unpack(f"<{len(data) // 4}I", data)


def scores(s, q, k, plant, exactly=False):
    head = s.head() + "const CAPPED: bool = false;\n" + kernel("attention_score") + "fn lost(b: u32, p: u32) {\n}\n"
    reads = buffer("q", 3) + buffer("k", 4) + BITS.format("q") + BITS.format("k") + buffer("scores" if not exactly else "y", 5, "read_write") + FORMAT + kernel("exact_sum")
    if s.tile:
        text = (s.tile.begin + head + reads + NEAREST + kernel("within") + kernel("root_above") + kernel("attention_exactly") + s.tile.head + kernel("tile_norms") + kernel("attention_scores_tile") + s.tile.sums
                + kernel("attention_scores_tile_loop") + s.tile.multiply + kernel("attention_scores_tile_end") + s.tile.stages + kernel("attention_scores_tile_give"))
        groups = s.blocks * s.tiles
    elif exactly:
        text = "override steps: u32;\nalias T = u32;\n" + head + reads + kernel("attention_scores_exact") + kernel("result_words")
        groups = (s.words() + 63) // 64
    else:
        text = head + reads + NEAREST + kernel("within") + MORE + kernel("root_above") + kernel("attention_exactly")
        text += "const D: u32 = 64u;\n" + kernel("attention_few_place") + kernel("attention_scores_few") if s.few else kernel("attention_scores")
        groups = s.blocks * s.tiles * (2 if s.few else 1)
    bindings = s.bindings({3: pack("f32", [x for line in q for x in line]), 4: pack("f32", [x for row in k for x in row]), 5: b"\xff" * (4 * s.words())})
    got = words(run_kernel(h, BACKEND, text, 64, groups, bindings, (5,), plant)[0])
    return [got[s.place(line, key)] for line in range(s.lines) for key in range(s.keys)]


def rows(s, given, plant, quick):
    text = (s.head() + "fn look(i: u32) {\n}\n" + JOINED + kernel("sum_window") + kernel("extreme_key") + kernel("attention_weight") + buffer("scores", 3)
            + buffer("rows", 4, "read_write", "vec2<u32>") + kernel("attention_rows"))
    text += (NEAREST + kernel("within") + kernel("attention_quick") if quick else "const MARK: u32 = 0xffffffffu;\nfn quick(lane: u32, shared_by: u32, r: u32, see: vec2<u32>, greatest: u32) "
             "{\n\tif (lane == 0u) {\n\t\tsaid = MARK;\n\t}\n}\n")
    return words(run_kernel(h, BACKEND, text, 64, s.lines, s.bindings({3: s.tiled(given), 4: bytes(8 * s.lines)}), (4,), plant)[0])


def out(s, given, sums, v, parts_plant, join_plant):
    data = s.bindings({3: pack("f32", [x for row in v for x in row]), 4: s.tiled(given), 5: pack("f32", sums)})
    head = s.head() + buffer("v", 3) + BITS.format("v") + buffer("scores", 4) + buffer("rows", 5, element="vec2<u32>") + f"const CHUNKS: u32 = {s.chunks}u;\n"
    n = s.blocks * s.splits * s.block * s.chunks * 64 * 16
    if s.tile:
        return tiled_out(s, given, sums, data, head, n, parts_plant, join_plant)
    parts = run_kernel(h, BACKEND, head + buffer("parts", 6, "read_write", "vec2<f64>") + MORE + kernel("attention_weight") + kernel("attention_parts"), 16, s.blocks * s.splits,
                       {**data, 6: bytes(n)}, (6,), parts_plant)[0]
    text = (head + buffer("parts", 6, element="vec2<f64>") + buffer("out", 7, "read_write") + JOINED + NEAREST + kernel("within") + kernel("attention_weight")
            + "fn weight_at(shared_by: u32, r: u32, key: u32) -> u32 {\n\treturn weight_of(scores[score_place(shared_by, r, key)], rows[shared_by * params.v[3].y + r].x);\n}\n"
            + kernel("attention_divided") + kernel("attention_settle") + kernel("attention_join"))
    return joined(s, text, data, parts, join_plant)


def joined(s, text, data, parts, plant):
    got = words(run_kernel(h, BACKEND, text, 16, s.lines * s.chunks, {**data, 6: parts, 7: bytes(4 * s.lines * s.chunks * 64)}, (7,), plant)[0])
    return [got[line * s.chunks * 64 + e] for line in range(s.lines) for e in range(s.dv)]


def whole_lines(s, given, v, per, plant):
    """All that follows the scores in one dispatch."""
    pieces = (s.dv + per - 1) // per
    adds = (s.keys + 256 // per - 1) // (256 // per) + 2 * (256 // per)
    params = bytearray(s.params())
    struct.pack_into("<4I", params, 96, s.split_tiles, adds, pieces, pieces * per)
    text = (s.head() + "fn look(i: u32) {\n}\n" + FORMAT + kernel("exact_sum") + NEAREST + kernel("within") + MORE + buffer("v", 3) + BITS.format("v") + buffer("scores", 4) + buffer("out", 5, "read_write")
            + f"const PER: u32 = {per}u;\n" + kernel("extreme_key") + kernel("attention_weight") + kernel("attention_divided") + kernel("attention_line_sums") + kernel("attention_line"))
    data = s.bindings({3: pack("f32", [x for row in v for x in row]), 4: s.tiled(given), 5: bytes(4 * s.lines * pieces * per)})
    got = words(run_kernel(h, BACKEND, text, 64, s.lines * pieces, {**data, 0: bytes(params)}, (5,), plant)[0])
    return [got[line * pieces * per + e] for line in range(s.lines) for e in range(s.dv)]


def tiled_out(s, given, sums, data, head, n, plant, weigh_plant):
    """Weights where scores were, their tiles by values, then what is left of it for each line."""
    text = s.head() + buffer("scores", 3, "read_write") + buffer("rows", 4, element="vec2<u32>") + kernel("attention_weight") + kernel("attention_weigh")
    weights = run_kernel(h, BACKEND, text, None, s.blocks * s.tiles, s.bindings({3: s.tiled(given), 4: pack("f32", sums)}), (3,), weigh_plant)[0]
    data = {**data, 4: weights}
    reads = s.head() + buffer("v", 3) + BITS.format("v") + buffer("scores", 4) + f"const CHUNKS: u32 = {s.chunks}u;\n"
    text = (s.tile.begin + reads + buffer("parts", 5, "read_write", "vec2<f64>") + s.tile.head + kernel("attention_parts_tile") + s.tile.sums + kernel("attention_parts_tile_loop")
            + s.tile.multiply + kernel("attention_parts_tile_end") + s.tile.stages + kernel("attention_parts_tile_give"))
    parts = run_kernel(h, BACKEND, text, 16, s.blocks * s.splits * s.chunks, {**{i: x for i, x in data.items() if i < 5}, 5: bytes(n)}, (5,), plant)[0]
    text = (head + buffer("parts", 6, element="vec2<f64>") + buffer("out", 7, "read_write") + JOINED + NEAREST + kernel("within") + kernel("attention_weight")
            + "fn weight_at(shared_by: u32, r: u32, key: u32) -> u32 {\n\treturn scores[score_place(shared_by, r, key)];\n}\n" + kernel("attention_divided") + kernel("attention_settle") + kernel("attention_join"))
    return joined(s, text, data, parts, ())


def judged(what, want, kernel_of, faults):
    got = kernel_of(())
    h.check(f"{what} as they are", list(got) == list(want), str([(i, hex(g), hex(w)) for i, (g, w) in enumerate(zip(got, want)) if g != w][:3]))
    for fault, old, new in faults if len(sys.argv) < 3 else faults[:1] if sys.argv[2] == "few" else ():
        got = kernel_of(((old, new),))
        at = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), None)
        if h.check(f"{what}: {fault}: caught", at is not None):
            h.planted(fault, "transformer.attention", f"{what}, as fractions", f"element {at} is {got[at]:08x}, not {want[at]:08x}")


def near_tie(n, i):
    """Terms whose sum is half way but for what f64 loses: 1, half of its last place, and something with a sign, as fractions."""
    terms = [Fraction(1), Fraction(1, 1 << 24), Fraction((-1) ** i, 1 << (60 + i % 5))]
    return terms + [Fraction(0)] * (n - 3)


def main():
    r = Random(22)
    drawn = lambda n: [f32(Fraction(r.below(1 << 26) - (1 << 25), 1 << 24)) for _ in range(n)]
    s = Shape(5, 70, 40, 3)
    q = [[ONE] * s.d if i < 2 else drawn(s.d) for i in range(s.lines)]
    k = [[f32(x) for x in near_tie(s.d, i)] if i % 3 else drawn(s.d) for i in range(s.keys)]
    want = [exact("f32", [times(value("f32", a), value("f32", b)) for a, b in zip(line, row)]) for line in q for row in k]
    judged("scores", want, lambda plant: scores(s, q, k, plant), (
        ("scores by f64 without their second pass", SETTLED, "nearest(x)"), ("a bound of scores too small by 2^20", "f64(d + 1u) * most * 0x1p-53lf", "f64(d + 1u) * most * 0x1p-73lf"),
        ("the norm of a key's last element alone", "kk += x * x;", "kk = x * x;"), ("the second slice of a head dropped", "if (c * SLICE >= d) {", "if (c * SLICE >= 32u) {"),
        ("lines of a block taken for others", "sums[q] = more(queries[q * SLICE + e]", "sums[q] = more(queries[(q ^ 1u) % LINES * SLICE + e]")))
    for lines in (5, 11):
        sf = Shape(lines, s.keys, s.d, 3, few=True)
        more = (q * 3)[:lines]
        judged(f"scores of {lines} lines by shares of keys", [exact("f32", [times(value("f32", a), value("f32", b)) for a, b in zip(line, row)]) for line in more for row in k], lambda plant: scores(sf, more, k, plant), (
            ("shared scores without their second pass", SETTLED, "nearest(x)"), ("a bound of shared scores too small by 2^20", "f64(d + 1u) * most * 0x1p-53lf", "f64(d + 1u) * most * 0x1p-73lf"),
            ("squares of keys too small by 2^80", "fn add_squares(x: vec4<f64>, sum: f64) -> f64 {\n\treturn", "fn add_squares(x: vec4<f64>, sum: f64) -> f64 {\n\treturn 0x1p-80lf *"), ("a share of a key too few", "k < SHARES; k++) {\n\t\t\t\t\tall", "k + 1u < SHARES; k++) {\n\t\t\t\t\tall"),
            ("squares of queries too small by 2^40", "norms[lane] = all;", "norms[lane] = all * 0x1p-40lf;"), ("the second half of a tile of keys taken for the first", "group % pieces * KEYS;", "group % pieces / 2u * 2u * KEYS;"),
            ("a block's second lines those of the first", "let r = block * LINES + at / D;", "let r = at / D;"))[:7 if lines > 8 else 6])
    for tile in TILES:
        way = "tiles by matrix units" if tile.units else "tiles"
        st = Shape(s.lines, s.keys, s.d, 3, tile=tile)
        judged(f"scores in {way}", want, lambda plant: scores(st, q, k, plant), (
            (f"scores of {way} without their second pass", SETTLED, "nearest(x)"), (f"a bound of scores in {way} too small by 2^20", "0x1.00001p0lf) * 0x1p-53lf", "0x1.00001p0lf) * 0x1p-73lf"),
            (f"an element of a key too few in {way}", "if (e < params.v[0].z && keys", "if (e + 1u < params.v[0].z && keys"),
            (f"the norm of a tile's last elements alone, {way}", "squares_right[i] += square(k);", "squares_right[i] = square(k);"),
            (f"the key before in {way}", "put_right(own, row, k);", "put_right(own, row ^ 1u, k);"),
            (f"columns of finished {way} exchanged", "staged(i * 256u + lane)", "staged((i * 256u + lane) ^ 1u)")))
    judged("exact scores", want, lambda plant: scores(s, q, k, plant, True), (("the last element of a head dropped", "if (e >= params.v[0].z) {", "if (e + 1u >= params.v[0].z) {"),))
    row = near_softmax()
    s = Shape(2, len(row), 1, 1)
    given = [row, drawn(len(row))]
    want = []
    for line in given:
        m = greatest(line)
        want += [m, exact("f32", [value("f32", weight(c, m)) for c in line])]

    judged("sums of weights", want, lambda plant: rows(s, given, plant, True), (
        ("a sum of weights without its second pass", SETTLED, "nearest(x)"), ("the greatest score of the first tile alone", "most = max(most, float_key(", "most = max(most, select(0u, 1u, k == 0u) * float_key("),
        ("a tile of weights counted twice", "sum += f64(", "sum += f64(1u + u32(k == 1u)) * f64(")))
    judged("exact sums of weights", want, lambda plant: rows(s, given, plant, False), (
        ("weights of the first tile alone", "sum_term(weight_of(", "sum_term(select(0u, 1u, k == 0u) * weight_of("),))

    s = Shape(3, 200, 1, 66, 3)
    given = [[ONE] * s.keys, drawn(s.keys), [ONE] * s.keys]
    v = [[f32(near_tie(s.keys, e)[key]) if e % 3 else x for e, x in enumerate(drawn(s.dv))] for key in range(s.keys)]
    want, sums = [], []
    for line in given:
        m = greatest(line)
        e = [weight(c, m) for c in line]
        total = exact("f32", [value("f32", x) for x in e])
        sums += [m, total]
        want += [divide(exact("f32", [times(value("f32", w), value("f32", x[j])) for w, x in zip(e, v)]), total) for j in range(s.dv)]
    judged("weights times values", want, lambda plant: out(s, given, sums, v, (), plant), (
        ("values by f64 without their second pass", SETTLED, "nearest(x)"), ("a bound of values too small by 2^20", "f64(params.v[5].y) * most * 0x1p-53lf", "f64(params.v[5].y) * most * 0x1p-73lf"),
        ("the last split dropped", "if (i >= params.v[4].w) {", "if (i + 1u >= params.v[4].w) {"), ("what is in doubt settled for another element", "settle(shared_by, r, group % CHUNKS * 64u + i, lane);",
                                                                                                      "settle(shared_by, r, group % CHUNKS * 64u + (i ^ 1u), lane);")))
    for per in (16, 64):
        judged(f"lines by pieces of {per}", want, lambda plant: whole_lines(s, given, v, per, plant), (
            (f"values of pieces of {per} without their second pass", SETTLED, "nearest(x)"),
            (f"a bound of pieces of {per} too small by 2^20", "f64(params.v[5].y) * bound * 0x1p-53lf", "f64(params.v[5].y) * bound * 0x1p-73lf"),
            (f"what is in doubt settled for another element of {per}", "* PER + i, params.v[1].z - 1u), lane);", "* PER + (i ^ 1u), params.v[1].z - 1u), lane);"),
            (f"the last key unseen, pieces of {per}", "if (first + at < see.y) {", "if (first + at + 1u < see.y) {"),
            (f"a share of the keys forgotten, pieces of {per}", "k < SHARES; k++", "k + 1u < SHARES; k++"),
            (f"the largest value forgotten, pieces of {per}", "l = select(l, part.y, part.y > l);", "l = 0.0lf;")))
    long = Shape(1, 2100, 1, 2, 1)
    scored = [drawn(long.keys)]
    scored[0][1234] = f32(3)
    values = [drawn(long.dv) for _ in range(long.keys)]
    m = greatest(scored[0])
    e = [weight(c, m) for c in scored[0]]
    total = exact("f32", [value("f32", x) for x in e])
    judged("a long line", [divide(exact("f32", [times(value("f32", w), value("f32", x[j])) for w, x in zip(e, values)]), total) for j in range(long.dv)],
           lambda plant: whole_lines(long, scored, values, 16, plant), (
        ("the first 1,024 keys alone", "let first = see.x + pass_of * KEYS;", "let first = see.x;\n\t\tif (pass_of != 0u) {\n\t\t\tbreak;\n\t\t}"),
        ("the greatest of the first 256 scores", "let key = see.x + i * LANES + lane;", "let key = see.x + lane;"),
        ("a weights' sum of one lane in sixteen", "for (var k = 1u; k < 16u; k++) {\n\t\t\tall = max", "for (var k = 1u; k < 8u; k++) {\n\t\t\tall = max")))
    row = near_softmax()
    tie = Shape(1, len(row), 1, 1)
    weights = [weight(c, greatest(row)) for c in row]
    judged("a line whose weights' sum is near a tie", [divide(exact("f32", [value("f32", w) for w in weights]), exact("f32", [value("f32", w) for w in weights]))],
           lambda plant: whole_lines(tie, [row], [[ONE]] * tie.keys, 16, plant), ())
    for tile in TILES:
        way = "tiles by matrix units" if tile.units else "tiles"
        st = Shape(s.lines, s.keys, 1, s.dv, 3, tile=tile)
        judged(f"values in {way}", want, lambda plant: out(st, given, sums, v, plant, ()), (
            (f"a key too few in {way}", "key < all.y) {", "key + 1u < all.y) {"),
            (f"a weight too few in {way}", "key < sights[row].y) {", "key + 1u < sights[row].y) {"),
            (f"the last tile of keys dropped, {way}", "number * TILE >= all.y", "(number + 1u) * TILE > all.y"),
            (f"values of the slice before in {way}", "places[slice * TILE_TERMS", "places[(slice ^ 1u) * TILE_TERMS"),
            (f"the largest value forgotten in {way}", "largest = select(largest, size, size > largest);\n\t\t\t\t}", "largest = 0.0lf;\n\t\t\t\t}")))
        judged(f"weights for {way}", want, lambda plant: out(st, given, sums, v, (), plant), (
            (f"weights of the greatest of another line, {way}", "greatest[at / TILE]);", "greatest[(at / TILE) ^ 1u]);"),))
    judged("parts of values", want, lambda plant: out(s, given, sums, v, plant, ()), (
        ("the last key of a tile dropped", "for (var k = 0u; k < TILE; k++) {", "for (var k = 0u; k < TILE - 1u; k++) {"),
        ("a second tile of a split dropped", "if (i >= params.v[5].x ||", "if (i >= 1u ||"), ("weights of another line", "more(weights[q * TILE + k]", "more(weights[(q ^ 1u) % LINES * TILE + k]")))
    h.finish()


main()
