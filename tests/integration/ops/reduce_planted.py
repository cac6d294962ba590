"""Faults planted into the kernels by which rows are reduced, each found by the rows of reduce_fast.py: the kernels run one by one, as
ops/tensor/quick_sums.c, extreme.c, softmax_rows.c, norm_rows.c and cumsum_rows.c join them, right ones first.
usage: reduce_planted.py BACKEND"""
import struct
import sys
from fractions import Fraction

from harness import Harness, Random
from kernels import BITS, FORMAT, NEAREST, buffer, kernel, run_kernel
from matmul import pack
from norms import norm, softmax
from reduce_fast import F, KINDS, f32, matrix, moment, near_softmax, prefixes

BACKEND = sys.argv[1]
MARK = 0xFFFFFFFF
SETTLED = "select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf)"
QUADS = ("fn load4(q: u32) -> vec4<u32> {\n\treturn x[q];\n}\nfn load1(q: u32, c: u32) -> u32 {\n\treturn x[q][c];\n}\n"
         "fn pack4(v: vec4<u32>) -> vec4<u32> {\n\treturn v;\n}\nfn narrowed(x: f32) -> u32 {\n\treturn to_f32(x);\n}\n")

h = Harness()


def words(data):
    return struct.unpack(f"<{len(data) // 4}I", data)


def round_of(rows, n, head, read, y, rest, judge, x, steps, plant):
    """One round of 8 lanes a row, that is the last."""
    params = struct.pack("<36I", rows, n, 1, 8, rows, n, 0, 0, *[1, 0, 0, 0] * 3, n, 1, 0, 0, *[1, 0, 0, 0] * 3)
    text = "const ROWS: u32 = 8u;\nconst EVEN: bool = true;\n" + kernel("reduce_place") + head + buffer("x", 1) + buffer("y", 2, "read_write", y) + BITS.format("x") + read
    bindings = {0: params, 1: x, 2: bytes(4 * rows)}
    if judge:
        bindings[3] = judge
    return words(run_kernel(h, BACKEND, text + rest + kernel("reduce_lanes"), steps, (rows + 7) // 8, bindings, (2,), plant)[0])


def sums(op, rows, n, x, plant):
    squares = op == "variance"
    head = f"alias A = vec4<f64>;\nconst SQUARES: bool = {str(squares).lower()};\n"
    read = (kernel("moments_add") + "fn none() -> A {\n\treturn A(0.0lf, 0.0lf, 0.0lf, NOTHING);\n}\nfn join(a: A, b: A) -> A {\n\treturn sums_join(a, b);\n}\n"
            + kernel("moments_take"))
    rest = ("@group(0) @binding(3) var<uniform> judge: vec4<u32>;\n" + NEAREST + kernel("within") + kernel("moments_judge")
            + f"fn give(a: A) -> u32 {{\n\treturn {op}_judged(a, judge);\n}}\n")
    judge = struct.pack("<2Id", n, (n + 7) // 8 + 8, 1 / (n * n if squares else n))
    return round_of(rows, n, head, read, "u32", rest, judge, x, 64, plant)


def argmax(rows, n, x, plant):
    head = "alias A = vec2<u32>;\n"
    read = (kernel("extreme_key") + "fn none() -> A {\n\treturn A(0u, 0xffffffffu);\n}\nfn join(a: A, b: A) -> A {\n"
            "\tif (a.x > b.x || (a.x == b.x && a.y <= b.y)) {\n\t\treturn a;\n\t}\n\treturn b;\n}\n"
            "fn take(i: u32, term: u32) -> A {\n\treturn A(float_key(x_bits(i)), term);\n}\n" + kernel("reduce_take"))
    return round_of(rows, n, head, read, "u32", "fn give(a: A) -> u32 {\n\treturn a.y;\n}\n", None, x, 64, plant)


def place(quads):
    """64 lanes a row, a row a workgroup."""
    return ("const LANES: u32 = 64u;\nconst ROWS: u32 = 1u;\nconst LOCAL: u32 = 64u;\nconst FEW: u32 = 4u;\nconst KEPT: u32 = 4096u;\nconst QUADS_MOST: u32 = "
            f"{quads}u;\n" + kernel("rows_place") + buffer("x", 1, element="vec4<u32>") + buffer("y", 2, "read_write", "vec4<u32>") + kernel("narrow_floats") + QUADS)


def rows_of(text, rows, n, depth, x, more, read, plant):
    params = struct.pack("<4I", rows, n, n // 4, depth)
    return run_kernel(h, BACKEND, text, 16, rows, {0: params, 1: x, 2: bytes(len(x)), **more}, read, plant)


def soft(n, x, plant):
    text = (kernel("extreme_key") + "const LOGARITHM: bool = false;\n" + place(1024) + "const ABSENT: u32 = 0x7fc00000u;\nvar<private> most: u32;\n"
            "fn look(quad: vec4<u32>) {\n\tmost = max(most, max(max(float_key(quad.x), float_key(quad.y)), max(float_key(quad.z), float_key(quad.w))));\n}\n"
            + kernel("rows_kept") + kernel("rows_load")
            + "alias greatest_T = u32;\nfn greatest_join(a: u32, b: u32) -> u32 {\n\treturn max(a, b);\n}\nalias added_T = f64;\n"
            "fn added_join(a: f64, b: f64) -> f64 {\n\treturn a + b;\n}\nvar<workgroup> tops: array<u32, ROWS>;\n"
            + kernel("rows_tree").replace("$", "greatest") + kernel("rows_tree").replace("$", "added") + NEAREST + kernel("within") + FORMAT + kernel("exact_sum")
            + kernel("sum_window") + kernel("rows_settle")
            + "var<private> divisor: f32;\nfn finish_begin(m: u32, s: u32) {\n\tdivisor = bitcast<f32>(s);\n}\n"
            "fn finish4(first: u32, lane: u32, at: u32, j: u32) -> vec4<u32> {\n\tvar four = vec4<u32>();\n\tfor (var c = 0u; c < 4u; c++) {\n"
            "\t\tfour[c] = narrowed(bitcast<f32>(kept_bits(first, lane, at, 4u * j + c)) / divisor);\n\t}\n\treturn four;\n}\n" + kernel("rows_softmax"))
    return words(rows_of(text, 1, n, 4 * 16 + 40, x, {}, (2,), plant)[0])


def rms(rows, n, x, plant):
    text = ("const SQUARES: bool = true;\n" + kernel("moments_add") + place(1024) + "const ABSENT: u32 = 0u;\nfn look(quad: vec4<u32>) {\n"
            "\tsums_add(quad.x);\n\tsums_add(quad.y);\n\tsums_add(quad.z);\n\tsums_add(quad.w);\n}\n" + kernel("rows_kept") + kernel("rows_load")
            + "alias found_T = vec4<f64>;\nfn found_join(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {\n\treturn sums_join(a, b);\n}\n"
            + kernel("rows_tree").replace("$", "found") + NEAREST + kernel("within") + kernel("moments_judge") + "const MEANS: bool = false;\n"
            f"fn judged(s: vec4<f64>) -> vec2<u32> {{\n\treturn vec2<u32>(0u, squares_judged(s, vec4<u32>({n}u, params.depth, 0u, 0u)));\n}}\n"
            + FORMAT + kernel("exact_sum") + kernel("sum_window") + kernel("rows_settle")
            + "var<workgroup> results: array<u32, 2>;\nvar<private> settled: u32;\nfn settled_keep(at: u32, which: u32) {\n\tsettled = sum_round();\n}\n"
            "fn settled_bits(at: u32) -> u32 {\n\treturn settled;\n}\n"
            f"fn root_of(q: f32) -> f32 {{\n\treturn 1.0 / sqrt(q / {n}.0 + 0.0);\n}}\nfn channel_of(row: u32, t: u32) -> vec4<u32> {{\n\treturn vec4<u32>();\n}}\n"
            "fn value(x: f32, a: f32, r: f32, c: u32) -> f32 {\n\treturn x * r;\n}\n" + kernel("rows_norm"))
    return words(rows_of(text, rows, n, 4 * 16 + 40, x, {}, (2,), plant)[0])


def cumsum(rows, n, x, plant):
    """Prefixes by f64, and which rows are marked."""
    text = (place(1024) + "const EXCLUSIVE: bool = false;\nfn turned(q: u32, quads: u32) -> u32 {\n\treturn q;\n}\nfn turned4(v: vec4<u32>) -> vec4<u32> {\n\treturn v;\n}\n"
            "fn quad_of(first: u32, q: u32) -> vec4<u32> {\n\treturn load4(first + q);\n}\n" + buffer("marks", 3, "read_write") + NEAREST + kernel("within")
            + kernel("rows_cumsum"))
    y, marks = rows_of(text, rows, n, 16 + 40, x, {3: bytes(4 * rows)}, (2, 3), plant)
    return [w if words(marks)[i // n] == 0 else MARK for i, w in enumerate(words(y))]


def settle(rows, n, x, plant):
    """All rows, as if all were marked."""
    text = (place(1024) + "const EXCLUSIVE: bool = false;\nfn turned(q: u32, quads: u32) -> u32 {\n\treturn q;\n}\nfn turned4(v: vec4<u32>) -> vec4<u32> {\n\treturn v;\n}\n"
            "fn quad_of(first: u32, q: u32) -> vec4<u32> {\n\treturn load4(first + q);\n}\n" + buffer("marks", 3) + FORMAT + kernel("exact_sum") + kernel("sum_window")
            + kernel("rows_cumsum_settle"))
    return words(rows_of(text, rows, n, 0, x, {3: b"\1\0\0\0" * rows}, (2,), plant)[0])


def groups_of(marked, count, runs, items, plant):
    """How many workgroups the two kernels give for a round of so many runs, with so many items a workgroup."""
    marks = struct.pack(f"<{count}I", *(MARK if i in marked else 7 * i for i in range(count)))
    first, second = ([p for p in plant if p[0] in kernel(name)] for name in ("marks_last", "marks_groups"))
    last = run_kernel(h, BACKEND, "override steps: u32;\n" + kernel("marks_last"), 1, (count + 63) // 64, {0: marks, 1: bytes(4)}, (1,), first)[0]
    text = "override steps: u32;\n" + kernel("marks_groups")
    return words(run_kernel(h, BACKEND, text, 1, 1, {0: struct.pack("<4I", count, runs, items, 0), 1: last, 2: bytes(12)}, (2,), second)[0])


def settled(marked, count, runs, items, plant):
    """Each marked result has all its items, one for each run, in a workgroup that there is; and without marks there is none."""
    x, y, z = groups_of(marked, count, runs, items, plant)
    groups = x * y * z
    needed = {(run * count + i) // items for run in range(runs) for i in marked}
    return all(g < groups for g in needed) and groups <= max(needed, default=-1) + 1 + (65535 if y > 1 else 0), groups


def counted():
    """Workgroups of the second pass of sums."""
    cases = [(set(), 100, 1, 8), ({0}, 100, 1, 8), ({7}, 100, 1, 8), ({8, 3}, 100, 3, 8), ({99}, 100, 2, 64), ({16}, 17, 70000, 16)]
    for case in cases:
        right, groups = settled(*case, ())
        h.check(f"workgroups of marked sums {case}", right, str(groups))
    for fault, old, new in (("the last result that is marked not counted", "i + 1u", "i"), ("an unfilled workgroup of marked results dropped", " + u32(items % round.z != 0u)", ""),
                            ("the runs of a marked result not counted", "round.x * (round.y - 1u) + ", ""), ("more workgroups of marks than a dimension has", "min(groups, 65535u)", "groups")):
        bad = [(case, settled(*case, ((old, new),))) for case in cases]
        at = next(((case, groups) for case, (right, groups) in bad if not right), None)
        if h.check(f"tensor.sum: {fault}: caught", at is not None):
            h.planted(fault, "tensor.sum", "the items of marked results", f"{sorted(at[0][0])} of {at[0][1]} in {at[0][2]} runs: {at[1]} workgroups")


def judged(op, how, want, kernel_of, faults, some_marked):
    """kernel_of(plant) gives words, of which those that are MARK say nothing."""
    got = kernel_of(())
    h.check(f"{op} as it is", all(g in (w, MARK) for g, w in zip(got, want)), str([(i, g, w) for i, (g, w) in enumerate(zip(got, want)) if g not in (w, MARK)][:3]))
    h.check(f"{op}, {how}: some are marked", (MARK in got) == some_marked and any(g != MARK for g in got))
    for fault, old, new in faults:
        got = kernel_of(((old, new),))
        at = next((i for i, (g, w) in enumerate(zip(got, want)) if g not in (w, MARK)), None)
        if h.check(f"{op}: {fault}: caught", at is not None):
            h.planted(fault, op, how, f"y[{at}] is {got[at]:08x}, not {want[at]:08x}")


def main():
    r = Random(47)
    rows, n = 2 * KINDS, 131
    x = matrix(r, F, rows, n)
    data = pack(F, x)
    for op, faults in (("sum", (("sums by f64 without their second pass", SETTLED, "nearest(x)"), ("a bound of sums too small by 2^20", "ULP: f64 = 0x1p-53lf", "ULP: f64 = 0x1p-73lf"),
                                ("sums taken for exact that are not", "i32(s.w) - 150", "i32(s.w) - 120"),
                                ("the tail of a row dropped", "term < params.terms);", "term + 5u < params.terms);"))),
                       ("variance", (("variances by f64 without their second pass", SETTLED, "nearest(x)"),
                                     ("squares taken for exact that are not", "2 * i32(s.w) - 300", "2 * i32(s.w) - 240")))):
        want = [moment("tensor." + op, F, x[i * n:i * n + n]) for i in range(rows)]
        judged("tensor." + op, "exact fractions", want, lambda plant, op=op: sums(op, rows, n, data, plant), faults, True)
    ties = [f32(Fraction(r.below(3) - 2)) for _ in range(rows * n)]
    want = [(lambda row: row.index(min(row)))(ties[i * n:i * n + n]) for i in range(rows)]
    judged("tensor.argmax", "the first of those that are equal", want, lambda plant: argmax(rows, n, pack(F, ties), plant),
           (("the tie rule broken by the tree", "a.y <= b.y", "a.y > b.y"),), False)
    row = near_softmax()
    judged("tensor.softmax", "steps of fractions", softmax("tensor.softmax", F, row), lambda plant: soft(len(row), pack(F, row), plant),
           (("a sum of exponentials without its second pass", SETTLED, "nearest(x)"), ("the last exponentials dropped", "steps * LANES * 4u / SETTLERS", "steps * LANES / SETTLERS")), False)
    # Squares that are half way but for one that f64 loses; the other elements show it.
    n, x = 256, []
    for i in range(8):
        x += [f32(1 + Fraction(i, 64))] * 2 + [f32(Fraction(1, 1 << 12)), f32(Fraction(1, 1 << 40))] + [f32(Fraction(1, 1 + k)) if k & (k + 1) == 0 else 0 for k in range(252)]
    flat = {"x": x, "weight": [f32(Fraction(1))] * n, "bias": []}
    x += matrix(r, F, KINDS, n)
    rows = 8 + KINDS
    want = norm("rms_norm", F, (rows, n), 1, 0, flat)
    judged("tensor.rms_norm", "steps of fractions", want, lambda plant: rms(rows, n, pack(F, x), plant),
           (("squares in doubt settled without the last terms", "steps * LANES * 4u / SETTLERS", "1u"),), False)
    rows, n = KINDS, 1028
    x = matrix(r, F, rows, n)
    want = [c for i in range(rows) for c in prefixes(F, x[i * n:i * n + n], False, False)]
    judged("tensor.cumsum", "exact fractions", want, lambda plant: cumsum(rows, n, pack(F, x), plant),
           (("prefixes by f64 without their second pass", SETTLED, "nearest(x)"), ("a tile's carry dropped", "before += tile;", "before = vec2<f64>(tile.x, before.y + tile.y);"),
            ("the last quad of a row dropped", "q < quads;", "q + 1u < quads;")), True)
    judged("tensor.cumsum", "exact fractions, rows in doubt", want, lambda plant: settle(rows, n, pack(F, x), plant),
           (("the digits in front of a part dropped", "fronts[lane][k] = run;", "fronts[lane][k] = 0lu;"),), False)
    counted()
    h.finish()


main()
