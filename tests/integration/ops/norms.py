"""softmax, log_softmax, logsumexp, the norms and cumsum of the tensor library against steps made of fractions: exact sums, one rounding a
step, exp and log by `decimal` with 60 digits.
usage: norms.py all|few BACKEND..."""
import itertools
import math
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

from harness import Harness, Random, share
from matmul import FLOATS, INTEGERS, bits_of, codes, exact, nan, negative, pack, rounded, value
from reduce import variance
from rows import together

getcontext().prec = 60
F = "f32"
INF, NAN, ONE = 0x7F800000, 0x7FC00000, 0x3F800000


def narrow(kind, code):
    v = value(F, code)
    return exact(kind, [v]) if isinstance(v, str) else rounded(kind, v, bool(negative(F, code)))


def widen(kind, code):
    v = value(kind, code)
    return exact(F, [v]) if isinstance(v, str) else rounded(F, v, bool(negative(kind, code)))


def add(a, b):
    x, y = value(F, a), value(F, b)
    if isinstance(x, str) or isinstance(y, str):
        return exact(F, [v for v in (x, y) if isinstance(v, str)])
    return rounded(F, x + y, bool(negative(F, a) and negative(F, b)))


def sub(a, b):
    return NAN if value(F, b) == "nan" else add(a, b ^ 0x80000000)


def mul(a, b):
    x, y, sign = value(F, a), value(F, b), (a ^ b) & 0x80000000
    if "nan" in (x, y) or (isinstance(x, str) and y == 0) or (isinstance(y, str) and x == 0):
        return NAN
    if isinstance(x, str) or isinstance(y, str):
        return INF | sign
    return rounded(F, x * y, bool(sign))


def div(a, b):
    x, y, sign = value(F, a), value(F, b), (a ^ b) & 0x80000000
    if "nan" in (x, y) or (x == 0 and y == 0) or (isinstance(x, str) and isinstance(y, str)):
        return NAN
    if isinstance(x, str) or y == 0:
        return INF | sign
    return sign if isinstance(y, str) else rounded(F, x / y, bool(sign))


def sqrt(a):
    x = value(F, a)
    if isinstance(x, str):
        return NAN if x != "inf" else INF
    if x <= 0:
        return a if x == 0 else NAN
    # The root to far more bits than count, and whether it ends there.
    scaled = x * Fraction(4) ** 200
    root = math.isqrt(scaled.numerator // scaled.denominator)
    return rounded(F, (Fraction(root) + (0 if root * root == scaled else Fraction(1, 2))) / Fraction(2) ** 200)


def real(f, v):
    """Of a value that no rounding boundary is near to: 60 digits decide."""
    return rounded(F, Fraction(f(Decimal(v.numerator) / Decimal(v.denominator))))


def exp(a):
    x = value(F, a)
    if isinstance(x, str):
        return {"nan": NAN, "inf": INF, "-inf": 0}[x]
    if x == 0:
        return ONE
    if abs(x) > 200:
        return INF if x > 0 else 0
    return real(Decimal.exp, x)


def log(a):
    x = value(F, a)
    if isinstance(x, str):
        return {"nan": NAN, "inf": INF, "-inf": NAN}[x]
    if x <= 0:
        return INF | 0x80000000 if x == 0 else NAN
    return 0 if x == 1 else real(Decimal.ln, x)


def above(a, b):
    return value(F, b) == "nan" or (value(F, a) != "nan" and order(a) > order(b))


def order(a):
    return -(a & 0x7FFFFFFF) - 1 if a >> 31 else a


def summed(terms):
    return exact(F, [value(F, t) for t in terms])


def softmax(op, kind, row):
    row = [widen(kind, code) for code in row]
    m = INF | 0x80000000 if not row else NAN
    for x in row:
        m = x if above(x, m) else m
    if op == "tensor.logsumexp":
        e = [ONE if value(F, x) != "nan" and value(F, x) == value(F, m) else exp(sub(x, m)) for x in row]
        return [narrow(kind, add(m, log(summed(e))))]
    e = [0 if x == INF | 0x80000000 else exp(sub(x, m)) for x in row]
    s = summed(e)
    if op == "tensor.softmax":
        y = [0 if s == 0 else div(x, s) for x in e]
    else:
        y = [INF | 0x80000000 if s == 0 else sub(sub(x, m), log(s)) for x in row]
    return [narrow(kind, code) for code in y]


def affine(t, channel, ports):
    for port, step in (("weight", mul), ("bias", add)):
        if ports[port]:
            t = step(t, ports[port][channel])
    return t


def root_of(v, eps):
    return div(ONE, sqrt(add(v, eps)))


def norm(op, kind, shape, number, eps, ports):
    """ports: lists of codes of `kind`; number: axes or groups."""
    ports = {name: [widen(kind, code) for code in values] for name, values in ports.items()}
    x, total = ports["x"], math.prod(shape)
    if op in ("layer_norm", "rms_norm"):
        n, rest = math.prod(shape[len(shape) - number:]), 1
        channels = n
    else:
        channels, rest = shape[1], math.prod(shape[2:])
        n = rest if op == "batch_norm" else channels // number * rest
    out = []
    for first in range(0, total, n or 1):
        row = x[first:first + n]
        if op == "batch_norm":
            c = first // rest % channels
            a, r = ports["mean"][c], root_of(ports["variance"][c], eps)
        elif op == "rms_norm":
            values = [value(F, t) for t in row]
            q = exact(F, ["nan" if v == "nan" else "inf" if isinstance(v, str) else v * v for v in values])
            a, r = None, root_of(div(q, rounded(F, Fraction(n))), eps)
        else:
            values = [value(F, t) for t in row]
            a = exact(F, [v if isinstance(v, str) else v / n for v in values])
            r = root_of(variance(F, row, 0), eps)
        for i, t in enumerate(row):
            t = mul(t if a is None else sub(t, a), r)
            out.append(narrow(kind, affine(t, (first + i) // rest % channels, ports)))
    return out


def elements(r, kind, n, how):
    if how != "near":
        return codes(r, kind, n, how)
    return [rounded(kind, Fraction(r.below(1 << 24) - (1 << 23), 1 << 20)) for _ in range(n)]


def text_of(kind, shape):
    return f"{kind}{list(shape)}".replace(" ", "")


@together
def run_rows(h, r, backends, op, kind, shape, axis, how, special=()):
    n = math.prod(shape)
    x = elements(r, kind, n, how)
    for i, code in enumerate(special):
        x[i] = code
    inner = math.prod(shape[axis + 1:])
    length, rows = shape[axis], math.prod(shape[:axis]) * inner
    want = [0] * (rows if op == "tensor.logsumexp" else n)
    for row in range(rows):
        first = row // inner * length * inner + row % inner
        y = softmax(op, kind, [x[first + t * inner] for t in range(length)])
        for t, code in enumerate(y):
            want[row if op == "tensor.logsumexp" else first + t * inner] = code
    for backend in backends:
        got = yield op, [("x", pack(kind, x), text_of(kind, shape))], ["y"], backend, [f"axis={axis}"]
        if got is not None:
            h.check_bytes(f"{op} {kind} {shape} {axis} {how} {backend}", got[0], pack(kind, want), bits_of(kind) // 8)


@together
def run_norm(h, r, backends, op, kind, shape, number, how, eps="1e-5", weight=True, bias=True):
    channels = math.prod(shape[len(shape) - number:]) if op in ("layer_norm", "rms_norm") else shape[1]
    ports = {"x": elements(r, kind, math.prod(shape), how)}
    if op == "batch_norm":
        ports["mean"] = elements(r, kind, channels, "near")
        ports["variance"] = [code & ~(1 << (bits_of(kind) - 1)) for code in elements(r, kind, channels, "near")]
    ports["weight"] = elements(r, kind, channels if weight else 0, "near")
    if op != "rms_norm":
        ports["bias"] = elements(r, kind, channels if bias else 0, "near")
    full = dict(ports, bias=ports.get("bias", []))
    want = pack(kind, norm(op, kind, shape, number, rounded(F, Fraction(Decimal(eps))), full))
    attrs = ["eps=" + eps] + ([] if op == "batch_norm" else [("groups=" if op == "group_norm" else "axes=") + str(number)])
    inputs = [(name, pack(kind, values), text_of(kind, shape if name == "x" else (len(values),))) for name, values in ports.items()]
    for backend in backends:
        got = yield "tensor." + op, inputs, ["y"], backend, attrs
        if got is not None:
            h.check_bytes(f"{op} {kind} {shape} {number} {how} {eps} {weight} {bias} {backend}", got[0], want, bits_of(kind) // 8)


@together
def run_cumsum(h, r, backends, kind, shape, axis, how, exclusive=False, reverse=False):
    n, inner = math.prod(shape), math.prod(shape[axis + 1:])
    x = elements(r, kind, n, how) if kind in FLOATS else codes(r, kind, n, "any")
    length, want = shape[axis], [0] * n
    for row in range(n // length if n else 0):
        first = row // inner * length * inner + row % inner
        places = [first + t * inner for t in range(length)]
        terms = []
        for at in reversed(places) if reverse else places:
            before = list(terms)
            terms.append(value(kind, x[at]))
            taken = before if exclusive else terms
            want[at] = exact(kind, taken) if kind in FLOATS else int(sum(taken)) % (1 << INTEGERS[kind])
    attrs = [f"axis={axis}"] + ["exclusive=true"] * exclusive + ["reverse=true"] * reverse
    for backend in backends:
        got = yield "tensor.cumsum", [("x", pack(kind, x), text_of(kind, shape))], ["y"], backend, attrs
        if got is not None:
            h.check_bytes(f"cumsum {kind} {shape} {axis} {how} {exclusive} {reverse} {backend}", got[0], pack(kind, want), bits_of(kind) // 8)


def refusals(h):
    h.write("x", bytes(24))
    h.write("w", bytes(12))
    h.write("none", b"")
    for op, x, w, attr, words in (("layer_norm", "f32[2,3]", "f32[3]", "eps=x", "PC4202"), ("layer_norm", "f32[2,3]", "f32[3]", "eps=-1", "PC4202"),
                                  ("layer_norm", "f32[2,3]", "f32[3]", "axes=3", "PC4202"), ("layer_norm", "f32[3,2]", "f32[3]", "", "PC4201"),
                                  ("layer_norm", "f32[2,3]", "i32[3]", "", "PC4102"), ("layer_norm", "f32[2,3]", "bf16[6]", "", "x's type"),
                                  ("group_norm", "f32[6]", "f32[3]", "groups=1", "PC4201"), ("group_norm", "f32[2,3]", "f32[3]", "groups=2", "PC4202"),
                                  ("batch_norm", "f32[2,3]", "f32[3]", "", "PC4201")):
        ports = {"layer_norm": ("weight", "bias"), "group_norm": ("weight", "bias"), "batch_norm": ("variance", "mean", "weight", "bias")}[op]
        args = ["--in", f"x={h.path('x')}:{x}", "--in", f"{ports[0]}={h.path('w')}:{w}"]
        for port in ports[1:]:
            args += ["--in", f"{port}={h.path('none')}:f32[0]"]
        status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", *args, "--out", "y=" + h.path("y"),
                               *(["--attr", attr] if attr else []))
        h.check(f"refused {op} {x} {w} {attr}", status != 0 and words in err, err)
    status, _, err = h.run("op", "run", "tensor.softmax", "--backend", "cpu", "--in", f"x={h.path('x')}:f32[2,3]", "--out", "y=" + h.path("y"),
                           "--attr", "axis=2")
    h.check("refused softmax", status != 0 and "PC4202" in err, err)


def specials(kind):
    p, _, top = FLOATS[kind]
    high, sign = top << (p - 1), 1 << (bits_of(kind) - 1)
    return [high | sign] * 7 + [high, nan(kind), sign, 0, high | sign]


def main():
    h, r = Harness(), Random(17)
    how, backends = sys.argv[1], sys.argv[2:]
    run_rows(h, r, backends, "tensor.softmax", "f32", (5, 7), 1, "near", specials("f32"))
    run_rows(h, r, backends, "tensor.log_softmax", "f16", (3, 5), 0, "near")
    run_rows(h, r, backends, "tensor.logsumexp", "f32", (2, 35), 1, "near")
    run_norm(h, r, backends, "layer_norm", "f32", (3, 37), 1, "near")
    run_norm(h, r, backends, "rms_norm", "bf16", (3, 5), 1, "near")
    run_norm(h, r, backends, "group_norm", "f32", (2, 4, 3), 2, "near")
    run_norm(h, r, backends, "batch_norm", "f16", (2, 3, 3), 0, "near")
    run_cumsum(h, r, backends, "f32", (2, 35), 1, "cancel")
    run_cumsum(h, r, backends, "i64", (33, 2), 0, "any", True, True)
    if how == "all":
        refusals(h)
        for kind, (shape, axis), (exclusive, reverse) in share(itertools.product(
                (*FLOATS, "i32", "u32", "i64", "u64"), (((1,), 0), ((0,), 0), ((2, 0), 1), ((3, 33), 1), ((65, 3), 0), ((2, 5, 3), 1)),
                ((False, False), (True, False), (False, True), (True, True))), 5):
            run_cumsum(h, r, backends, kind, shape, axis, "any" if len(shape) > 2 else "cancel", exclusive, reverse)
        run_cumsum(h, r, backends, "f32", (1100,), 0, "cancel")
        for kind in FLOATS:
            for op in ("tensor.softmax", "tensor.log_softmax", "tensor.logsumexp"):
                for shape, axis in (((1,), 0), ((0,), 0), ((2, 0), 1), ((7, 7), 1), ((3, 5, 2), 1)):
                    run_rows(h, r, backends, op, kind, shape, axis, "any" if len(shape) > 2 else "near", specials(kind) if shape == (7, 7) else ())
                run_rows(h, r, backends, op, kind, (6, 3), 0, "cancel")
            for op, shape, number in (("layer_norm", (2, 3, 5), 2), ("layer_norm", (4, 1), 1), ("layer_norm", (3, 0), 1), ("rms_norm", (2, 3, 5), 1),
                                      ("group_norm", (2, 6), 3), ("group_norm", (1, 4, 2, 3), 1), ("batch_norm", (3, 2), 0), ("batch_norm", (2, 3, 2, 2), 0)):
                for pattern in share(("any", "near", "cancel"), 3, len(kind) + len(shape)):
                    run_norm(h, r, backends, op, kind, shape, number, pattern, "1e-5" if pattern == "near" else "0.1")
                run_norm(h, r, backends, op, kind, shape, number, "near", "0", False, op != "rms_norm")
                run_norm(h, r, backends, op, kind, shape, number, "near", "1", True, False)
        run_rows(h, r, backends, "tensor.softmax", "f32", (2, 1500), 1, "near")
        run_norm(h, r, backends, "layer_norm", "f32", (2, 1500), 1, "near")
        run_norm(h, r, backends, "rms_norm", "f32", (2, 1500), 1, "cancel")
    h.finish()


if __name__ == "__main__":
    main()
