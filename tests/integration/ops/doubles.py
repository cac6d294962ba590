"""Ops of f64 against fractions: ieee.add64 .. ge64, tensor.sum64, matmul64, max64, min64, argmax64, argmin64; what else takes f64; faults in their kernels.
usage: doubles.py all|few DEVICE... | planted"""
import math
import struct
import sys
from fractions import Fraction as F

from harness import Harness, Random, share
from kernels import buffer, kernel, run_kernel
from present import present
from rows import op_run, run_many

TOP, INF, NAN = 1 << 63, 0x7FF << 52, 0x7FF8 << 48
EDGES = [0, 1, (1 << 52) - 1, 1 << 52, INF - 1, INF, INF + 1, NAN, 0x3FF << 52, 0x3FE << 52, (0x3FF << 52) - 1, (0x3FF << 52) + 1, 0x433 << 52, 0x434 << 52, 0x4008 << 48, 0x3CA << 52]
FINITE = [c for c in EDGES if c < INF]


def value(c):
    return struct.unpack("<d", struct.pack("<Q", c))[0]


def code(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def rounded(x, negative=False):
    """The f64 nearest to a fraction, ties to even; of zero the sign that is given. Dividing integers is correctly rounded in Python."""
    if x == 0:
        return TOP if negative else 0
    try:
        size = abs(x).numerator / abs(x).denominator
    except OverflowError:
        size = math.inf
    return code(size) | (TOP if x < 0 else 0)


def is_nan(c):
    return c & ~TOP > INF


def number(r):
    kind = r.below(8)
    if kind < 2:
        return EDGES[r.below(len(EDGES))] | r.below(2) << 63
    if kind < 4:
        return r.u64()
    if kind < 6:  # near one another, so that sums cancel and meet ties
        return 0x3FF << 52 | r.below(4) << 50 | r.below(2) << 63 | r.below(3) * r.below(1 << 20)
    return code((r.below(65) - 32) / 4)


def add(a, b):
    if is_nan(a) or is_nan(b) or (a ^ b == TOP and a & ~TOP == INF):
        return NAN
    if INF in (a & ~TOP, b & ~TOP):
        return a if a & ~TOP == INF else b
    return rounded(F(value(a)) + F(value(b)), a == b == TOP)


def sign(a, b):
    return (a ^ b) & TOP


def mul(a, b):
    if is_nan(a) or is_nan(b) or {a & ~TOP, b & ~TOP} == {0, INF}:
        return NAN
    if INF in (a & ~TOP, b & ~TOP):
        return INF | sign(a, b)
    return rounded(F(value(a)) * F(value(b))) | sign(a, b)


def div(a, b):
    x, y = a & ~TOP, b & ~TOP
    if is_nan(a) or is_nan(b) or (x == y and x in (0, INF)):
        return NAN
    if x == INF or y == 0:
        return INF | sign(a, b)
    if y == INF:
        return sign(a, b)
    return rounded(F(value(a)) / F(value(b))) | sign(a, b)


def fma(a, b, c):
    p = {a & ~TOP, b & ~TOP}
    if is_nan(a) or is_nan(b) or is_nan(c) or p == {0, INF}:
        return NAN
    if INF in p:
        return NAN if c == INF | TOP ^ sign(a, b) else INF | sign(a, b)
    if c & ~TOP == INF:
        return c
    x = F(value(a)) * F(value(b))
    return rounded(x + F(value(c)), x == 0 and sign(a, b) == c == TOP)


def sqrt(a):
    if is_nan(a) or (a & TOP and a != TOP):
        return NAN
    if a & ~TOP in (0, INF):
        return a
    x = F(value(a))
    shift = 2 * ((1200 - (x.numerator.bit_length() - x.denominator.bit_length())) // 2)
    n = x.numerator << shift if shift >= 0 else x.numerator
    root = math.isqrt((n // x.denominator) if shift >= 0 else n // (x.denominator << -shift))
    exact = F(root * root) == x * F(2) ** shift
    return rounded(F(2 * root + (0 if exact else 1), 2) / F(2) ** (shift // 2))


def whole(how):
    def of(a):
        if is_nan(a):
            return NAN
        return a if a & ~TOP in (0, INF) else rounded(F(how(F(value(a))))) | a & TOP
    return of


def key(c):
    return ~c & (1 << 64) - 1 if c & TOP else c | TOP


def extreme(side):
    def of(a, b):
        if is_nan(a) or is_nan(b):
            return NAN if is_nan(a) and is_nan(b) else a if is_nan(b) else b
        return (max if side > 0 else min)(a, b, key=key)
    return of


def compare(how):
    return lambda a, b: int(how(value(a), value(b)))


OPS = {"add": (2, add), "sub": (2, lambda a, b: add(a, b ^ TOP if not is_nan(b) else b)), "mul": (2, mul), "div": (2, div), "fma": (3, fma), "sqrt": (1, sqrt),
       "neg": (1, lambda a: a ^ TOP), "abs": (1, lambda a: a & ~TOP), "min": (2, extreme(-1)), "max": (2, extreme(1)),
       "floor": (1, whole(math.floor)), "ceil": (1, whole(math.ceil)), "trunc": (1, whole(math.trunc)), "round": (1, whole(round)),
       "eq": (2, compare(lambda a, b: a == b)), "ne": (2, compare(lambda a, b: a != b)), "lt": (2, compare(lambda a, b: a < b)),
       "gt": (2, compare(lambda a, b: a > b)), "le": (2, compare(lambda a, b: a <= b)), "ge": (2, compare(lambda a, b: a >= b))}
TRUTHS = ("eq", "ne", "lt", "gt", "le", "ge")


def pack(codes):
    return struct.pack(f"<{len(codes)}Q", *codes)


def elementwise(h, device, n):
    r = Random(64)
    x = [[number(r) for _ in range(n)] for _ in range(3)]
    calls = []
    for op, (k, _) in OPS.items():
        calls.append((f"ieee.{op}64", [(p, pack(v), f"f64[{n}]") for p, v in zip("abc" if k > 1 else "x", x[:k])], ["y"], []))
    for (op, (k, of)), got in zip(OPS.items(), run_many(h, calls, device)):
        if got is not None:
            want = [of(*c) for c in zip(*x[:k])]
            h.check_bytes(f"{device} ieee.{op}64", got[0], struct.pack(f"<{n}I", *want) if op in TRUTHS else pack(want), 4 if op in TRUTHS else 8)


# ---- sums and products ----

def total(terms):
    """terms: fractions, infinities with a sign, or None for a NaN."""
    infinite = {t for t in terms if t in (math.inf, -math.inf)}
    if None in terms or len(infinite) == 2:
        return NAN
    return code(infinite.pop()) if infinite else rounded(sum(terms, F(0)))


def term(c):
    return None if is_nan(c) else value(c) if c & ~TOP == INF else F(value(c))


def product(a, b):
    p = mul(a, b)
    if is_nan(p) or INF in (a & ~TOP, b & ~TOP):
        return term(p)
    return F(value(a)) * F(value(b))


def of_kind(r, kind):
    if kind == "finite":
        return FINITE[r.below(len(FINITE))] | r.below(2) << 63
    if kind == "special":
        return [INF, INF | TOP, NAN, 0x3FF << 52][r.below(4)] if r.below(12) == 0 else number(r) & ~(1 << 62)
    if kind == "ties":
        return code([1.0, -1.0, 2.0 ** -53, 2.0 ** -54, -2.0 ** -53, 2.0 ** -106][r.below(6)])
    if kind == "tiny":
        return r.below(1 << 53) | r.below(2) << 63
    c = r.u64()
    return c if c & ~TOP < INF else c ^ 1 << 62


KINDS = ["any", "finite", "ties", "tiny", "special"]


def sums(h, device, few):
    r = Random(65)
    for turn, kind in enumerate(["ties", "special"] if few else KINDS):
        shapes = (((1,), ""), ((4099,), ""), ((5, 7, 3), "1"), ((5, 7, 3), "0,2"), ((70, 2), "0"), ((0,), ""), ((3, 1100, 2), "1"), ((40, 70), "1"))
        for shape, axes in shapes[:3] if few else share(shapes, 3, turn):
            n = math.prod(shape)
            x = [of_kind(r, kind) for _ in range(n)]
            reduced = range(len(shape)) if axes == "" else [int(a) for a in axes.split(",")]
            groups = {}
            for i, c in enumerate(x):
                at, rest = [], i
                for d in reversed(shape):
                    at.insert(0, rest % d)
                    rest //= d
                groups.setdefault(tuple(0 if d in reduced else a for d, a in enumerate(at)), []).append(c)
            rows = [groups[k] for k in sorted(groups)] or [[]]
            if n == 0:
                continue  # what nothing gives is a law's, and no file has no byte
            type_ = f"f64[{','.join(map(str, shape))}]"
            calls = [("tensor.sum64", [("x", pack(x), type_)], ["y"], [f"axes={axes}"]), ("tensor.max64", [("x", pack(x), type_)], ["y"], [f"axes={axes}"]),
                     ("tensor.min64", [("x", pack(x), type_)], ["y"], [f"axes={axes}"])]
            one = axes != "" and "," not in axes or len(shape) == 1
            if one:
                calls += [(f"tensor.arg{m}64", [("x", pack(x), type_)], ["y"], [f"axis={axes or 0}"]) for m in ("max", "min")]
            got = run_many(h, calls, device)
            best = [[max([c for c in row if not is_nan(c)], key=key, default=NAN), min([c for c in row if not is_nan(c)], key=key, default=NAN)] for row in rows]
            wants = [pack([total([term(c) for c in row]) for row in rows]), pack([b[0] for b in best]), pack([b[1] for b in best])]
            wants += [struct.pack(f"<{len(rows)}I", *(row.index(b[k]) if b[k] in row and not is_nan(b[k]) else 0 for row, b in zip(rows, best))) for k in (0, 1)] if one else []
            for call, mine, want in zip(calls, got, wants):
                if mine is not None:
                    h.check_bytes(f"{device} {call[0]} {kind} {type_} {axes}", mine[0], want, 8)
        # From 2,048 terms on f64 sums tell most.
        products = (((3, 37, 4), False), ((2, 130, 3), True), ((1, 1, 1), False), ((7, 97, 8), False), ((3, 700, 2), True))
        for (m, k, n), turned in (products[0], ((9, 64, 5), False)) if few else share(products, 3, turn):
            a, b = [of_kind(r, kind) for _ in range(m * k)], [of_kind(r, kind) for _ in range(k * n)]
            got = op_run(h, "tensor.matmul64", [("a", pack(a), f"f64[{m},{k}]"), ("b", pack(b), f"f64[{n},{k}]" if turned else f"f64[{k},{n}]")], ["y"], device,
                         [f"transpose_b={str(turned).lower()}"])
            want = [total([product(a[i * k + t], b[j * k + t] if turned else b[t * n + j]) for t in range(k)]) for i in range(m) for j in range(n)]
            if got is not None:
                h.check_bytes(f"{device} tensor.matmul64 {kind} {m} {k} {n}", got[0], pack(want), 8)


def others(h):
    """Of f64 the ops of f32 are refused by name; moves take it; a kernel may use the functions."""
    x = h.write("x", pack([code(1.0), code(2.0)]))
    for op, ports in (("ieee.add", "ab"), ("ieee.exp", "x"), ("tensor.sum", "x"), ("tensor.max", "x"), ("tensor.softmax", "x"), ("tensor.matmul", "ab")):
        status, _, err = h.run("op", "run", op, *(w for p in ports for w in ("--in", f"{p}={x}:f64[{'1,2' if op == 'tensor.matmul' else 2}]")), "--out", "y=" + h.path("never"))
        h.check(f"{op} of f64 is refused", status == 3 and "PC4102" in err, f"{status} {err}")
    for op, kind in (("ieee.add64", "ab"), ("tensor.sum64", "x"), ("tensor.max64", "x"), ("tensor.matmul64", "ab")):
        status, _, err = h.run("op", "run", op, *(w for p in kind for w in ("--in", f"{p}={x}:f32[{'2,2' if op == 'tensor.matmul64' else 4}]")), "--out", "y=" + h.path("never"))
        h.check(f"{op} of f32 is refused", status == 3 and "PC4102" in err, f"{status} {err}")
    for shape_a, shape_b, why in (("1,2", "1,2", "PC4201"), ("2", "2", "PC4102")):
        status, _, err = h.run("op", "run", "tensor.matmul64", "--in", f"a={x}:f64[{shape_a}]", "--in", f"b={x}:f64[{shape_b}]", "--out", "y=" + h.path("never"))
        h.check(f"factors {shape_a} and {shape_b}", status == 3 and "PC4" in err, f"{status} {err}")
    got = op_run(h, "tensor.transpose", [("x", pack([1, 2, 3, 4, 5, 6]), "f64[2,3]")], ["y"], "cpu")
    h.check("a transposed f64", got is not None and got[0] == pack([1, 4, 2, 5, 3, 6]))
    text = ("//# use ieee.fma64@1\n@group(0) @binding(0) var<storage, read> x: array<f64>;\n@group(0) @binding(1) var<storage, read_write> y: array<f64>;\n"
            "@compute @workgroup_size(1)\nfn main() {\n\ty[0] = ieee_fma64_f64(x[0], x[1], x[2]);\n}\n")
    v = [code(1 + 2.0 ** -30), code(1 - 2.0 ** -30), code(-1.0)]
    got = run_kernel(h, "cpu", text, None, 1, {0: pack(v), 1: bytes(8)}, (1,), ())
    h.check("a kernel that uses fma64", got[0] == pack([fma(*v)]) == pack([code(-2.0 ** -60)]))


# ---- planted faults ----

DIGITS = "const DIGITS: u32 = 67u;\nconst LEAST: u32 = 0u;\nvar<private> total: array<i64, 67>;\nfn digit(i: u32) -> i64 {\n\treturn total[i];\n}\nfn set_digit(i: u32, v: i64) {\n\ttotal[i] = v;\n}\n"
PRODUCTS = ("const DIGITS: u32 = 133u;\nconst LEAST: u32 = 1074u;\nvar<private> total: array<i64, 133>;\nfn digit(i: u32) -> i64 {\n\treturn total[i];\n}\n"
            "fn set_digit(i: u32, v: i64) {\n\ttotal[i] = v;\n}\n")


UNTOLD = (1 << 64) - 1


def planted(h):
    r = Random(66)
    none = [1, 0, 0, 0]

    def of_sums(rows, n, x, plant):
        params = struct.pack("<36I", rows, n, 1, 1, rows, n, 0, 0, *none * 3, n, 1, 0, 0, *none * 3)
        text = ("const ROWS: u32 = 64u;\nconst EVEN: bool = true;\n" + kernel("reduce_place") + DIGITS + kernel("exact64") + kernel("exact64_round") + buffer("x", 1, element="u64")
                + buffer("y", 2, "read_write", "u64") + "fn take(i: u32) {\n\tsum_term(x[i]);\n}\nfn put(item: u32) {\n\ty[item] = sum_round();\n}\n" + kernel("sum64"))
        return list(struct.unpack(f"<{rows}Q", run_kernel(h, "cpu", text, 64, (rows + 63) // 64, {0: params, 1: pack(x), 2: bytes(8 * rows)}, (2,), plant)[0]))

    def of_products(rows, n, x, plant):
        params = struct.pack("<4I", rows, 0, 0, 0) + struct.pack("<4I", 1, n, 1, 0) + bytes(240)
        text = ("override steps: u32;\n" + kernel("element_params") + "alias T = u64;\n" + buffer("a", 1, element="u64") + buffer("b", 2, element="u64")
                + "".join(f"fn {p}_raw(i: u32) -> u64 {{\n\treturn {p}[i];\n}}\n" for p in "ab") + PRODUCTS + kernel("exact64") + kernel("exact64_round") + kernel("matmul64")
                + buffer("y", 3, "read_write", "u64") + kernel("result_words"))
        return list(struct.unpack(f"<{rows}Q", run_kernel(h, "cpu", text,
                                                          64, (rows + 63) // 64, {0: params, 1: pack(x), 2: pack(b), 3: bytes(8 * rows)}, (3,), plant)[0]))

    def by_products(rows, n, x, plant):
        """The sums that tell, before integers are asked."""
        params = struct.pack("<4I", rows, 0, 0, 0) + struct.pack("<4I", 1, n, 1, 0) + bytes(240)
        text = ("override steps: u32;\n" + kernel("element_params") + "alias T = u64;\n" + buffer("a", 1, element="u64") + buffer("b", 2, element="u64")
                + "".join(f"fn {p}_raw(i: u32) -> u64 {{\n\treturn {p}[i];\n}}\n" for p in "ab") + PRODUCTS + kernel("exact64") + kernel("exact64_round")
                + kernel("matmul64", "exact") + kernel("double_sum") + kernel("matmul64_told") + buffer("y", 3, "read_write", "u64") + kernel("result_words"))
        return list(struct.unpack(f"<{rows}Q", run_kernel(h, "cpu", text, 64, (rows + 63) // 64, {0: params, 1: pack(x), 2: pack(b), 3: bytes(8 * rows)}, (3,), plant)[0]))

    def by_sums(rows, n, x, plant):
        """What they tell, and all ones where they do not."""
        params = struct.pack("<36I", rows, n, 1, 64, rows, n, 0, 0, *none * 3, n, 1, 0, 0, *none * 3)
        text = ("const ROWS: u32 = 1u;\nconst EVEN: bool = true;\n" + kernel("reduce_place") + "alias A = vec4<f64>;\n" + buffer("x", 1, element="f64")
                + buffer("y", 2, "read_write", "u64") + kernel("double_sum") + "fn none() -> A {\n\treturn NO_SUM;\n}\nfn join(a: A, b: A) -> A {\n\treturn sums_join(a, b);\n}\n"
                + "fn take(i: u32, term: u32) -> A {\n\tlet v = x[i];\n\treturn A(v, 0.0lf, abs(v), 0.0lf);\n}\nfn give(a: A) -> u64 {\n\treturn told(a, 256.0lf);\n}\n"
                + kernel("reduce_take") + kernel("reduce_lanes"))
        return list(struct.unpack(f"<{rows}Q", run_kernel(h, "cpu", text, 4, rows, {0: params, 1: pack(x), 2: bytes(8 * rows)}, (2,), plant)[0]))

    rows, n = 40, 33
    # A tie, one with a little more, both infinities; an infinity beside a zero, a product between two subnormals.
    made = [{0: 1.0, 1: 2.0 ** -53}, {0: 1.0, 1: 2.0 ** -53, 2: 2.0 ** -300}, {1: math.inf, 2: -math.inf}, {7: math.inf}, {0: 2.0 ** -600}, {0: -2.0 ** -900},
            # What the product loses is more than what the sum is below a tie.
            {0: 2.0 ** 470 * (1 + 2.0 ** -40), 1: 2.0 ** -53 - 2.0 ** -70}]
    x = [code(row.get(k, 0.0)) for row in made for k in range(n)] + [of_kind(r, KINDS[i % len(KINDS)]) for i in range(len(made), rows) for _ in range(n)]
    sums_ = [total([term(c) for c in x[i * n:(i + 1) * n]]) for i in range(rows)]
    b = [code(2.0 ** -470 * (1 + 2.0 ** -20)), code(1.0)] + [0 if k == 7 else of_kind(r, "ties") for k in range(2, n)]
    products = [total([product(c, d) for c, d in zip(x[i * n:(i + 1) * n], b)]) for i in range(rows)]
    h.check("the kernels of sum64", of_sums(rows, n, x, ()) == sums_)
    h.check("the kernels of matmul64", of_products(rows, n, x, ()) == products)
    h.check("the kernels of matmul64, sums that tell first", by_products(rows, n, x, ()) == products)
    found = by_sums(rows, n, x, ())
    h.check("sums that tell", all(a in (b, UNTOLD) for a, b in zip(found, sums_)), str([(i, hex(a), hex(b)) for i, (a, b) in enumerate(zip(found, sums_)) if a not in (b, UNTOLD)]))
    h.check("some are told", found.count(UNTOLD) < rows - 10, f"{found.count(UNTOLD)} of {rows} are not")
    for fault, run, want, op, old, new in (
            ("halves go up", of_sums, sums_, "tensor.sum64", "(rest || (kept & 1lu) == 1lu)", "true"),
            ("what lies below half a unit is not seen", of_sums, sums_, "tensor.sum64", "rest = rest || (i < next && digit(i) != 0li);", "rest = rest || false;"),
            ("subnormals counted as normal numbers", of_sums, sums_, "tensor.sum64", "max(field, 1u) - 1u", "field - 1u"),
            ("Inf - Inf is an infinity", of_sums, sums_, "tensor.sum64", "|| saw == (SAW_INFINITY | SAW_MINUS_INFINITY)", ""),
            ("carries of middle digits lost", of_products, products, "tensor.matmul64", "(x >> 32u) * y0 + x0 * (y >> 32u)", "(x >> 32u) * y0"),
            ("0 * Inf is an infinity", of_products, products, "tensor.matmul64", "no_number || (a << 1u) == 0lu || (b << 1u) == 0lu", "no_number"),
            ("products that are subnormal keep too many bits", of_products, products, "tensor.matmul64", "max(highest, LEAST + 52u) - 52u", "highest - 52u"),
            ("what a rounding lost is forgotten", by_sums, sums_, "tensor.sum64", "s.y + lost", "s.y"),
            ("what the join of two lanes lost is forgotten", by_sums, sums_, "tensor.sum64", "s.y + b.y", "b.y"),
            ("an f64 sum without its second pass", by_sums, sums_, "tensor.sum64", "low == high && s.z < 0x1p1000lf", "s.z < 0x1p1000lf"),
            ("an f64 sum without its second pass", by_products, products, "tensor.matmul64", "low == high && s.z < 0x1p1000lf", "s.z < 0x1p1000lf"),
            ("rests of products dropped", by_products, products, "tensor.matmul64", "t.y + rest", "t.y"),
            ("products below the subnormals taken for zeros", by_products, products, "tensor.matmul64", "select(abs(rest), 1.0lf, small)", "abs(rest)")):
        got = run(rows, n, x, ((old, new),))
        at = next((i for i in range(rows) if got[i] != want[i] and got[i] != UNTOLD), None)
        if h.check(f"{fault}: caught", at is not None):
            h.planted(fault, op, "sums of f64, by fractions", f"row {at}: {got[at]:#x}, not {want[at]:#x}")


h = Harness()
if sys.argv[1] == "planted":
    planted(h)
    h.finish()
few = sys.argv[1] == "few"
for selector in present(h, sys.argv[2:]):
    elementwise(h, selector, 256 if few else len(share(range(2048))))
    sums(h, selector, few)
if not few:
    others(h)
h.finish()
