"""Steps of strict floats on numbers of tests/dtype/codes.py (a sign with a fraction, an infinity or NaN), each rounded once; exponentials and their like to 60
decimal digits."""
import decimal
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dtype"))
import codes  # noqa: E402
from codes import INF, NAN, Number  # noqa: E402
import dyadic  # noqa: E402
from dyadic import total as sum_of  # noqa: E402

decimal.getcontext().prec = 60
decimal.getcontext().Emax = 10 ** 9
decimal.getcontext().Emin = -10 ** 9
BITS = {"f32": 32, "f16": 16, "bf16": 16, "u32": 32}
ONE = Number(Fraction(1))


def pack(kind, values):
    return b"".join(c.to_bytes(BITS[kind] // 8, "little") for c in values)


def read(kind, code):
    return codes.read(kind, code)


def code(kind, x):
    return codes.write(kind, x, "ieee")


def rounded(kind, x):
    return read(kind, code(kind, x))


def neg(a):
    return Number(a.size, not a.negative)


def times(a, b):
    """Nothing rounded."""
    if NAN in (a.size, b.size) or (INF in (a.size, b.size) and 0 in (a.size, b.size)):
        return Number(NAN)
    return Number(INF if INF in (a.size, b.size) else a.size * b.size, a.negative != b.negative)


def mul(kind, a, b):
    return rounded(kind, times(a, b))


def add(kind, a, b):
    return rounded(kind, codes.plus(a, b))


def sub(kind, a, b):
    return rounded(kind, codes.minus(a, b))


def div(kind, a, b):
    if NAN in (a.size, b.size) or a.size == b.size and a.size in (0, INF):
        return Number(NAN)
    size = 0 if b.size == INF else INF if a.size == INF or b.size == 0 else a.size / b.size
    return rounded(kind, Number(size, a.negative != b.negative))


def total(kind, terms):
    """4.4: the exact sum, rounded once."""
    if any(t.size == NAN for t in terms) or len({t.negative for t in terms if t.size == INF}) == 2:
        return Number(NAN)
    for t in terms:
        if t.size == INF:
            return t
    return rounded(kind, codes.of(sum_of(t.value() for t in terms)))


def aligned(row):
    """A row as `dot` takes it; None where it has an infinity or no number."""
    return None if any(x.size in (INF, NAN) for x in row) else dyadic.aligned(codes.dyadic(x.value()) for x in row)


def dot(kind, a, b):
    """`total` of the products of two rows."""
    return rounded(kind, codes.of(dyadic.dot(a, b)))


def exact(x):
    return decimal.Decimal(x.value().numerator) / decimal.Decimal(x.value().denominator)


def exp(kind, a):
    if a.size == NAN:
        return a
    if a.size == INF:
        return Number(Fraction(0)) if a.negative else a
    if abs(a.value()) > 10000:
        return Number(Fraction(0)) if a.negative else Number(INF)
    return rounded(kind, Number(Fraction(exact(a).exp())))


def tanh(kind, a):
    if a.size in (NAN, 0):
        return a
    if a.size == INF or a.size > 100:
        return Number(Fraction(1), a.negative)
    if a.size < Fraction(1, 2 ** 40):
        return rounded(kind, Number(a.size * (1 - Fraction(1, 2 ** 100)), a.negative))
    e = (2 * exact(a)).exp()
    return rounded(kind, Number(abs(Fraction((e - 1) / (e + 1))), a.negative))


def erf(kind, a):
    if a.size in (NAN, 0):
        return a
    if a.size == INF or a.size > 12:
        return Number(Fraction(1), a.negative)
    # 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!, all of one sign.
    x = abs(exact(a))
    term = s = x
    n = 0
    while term > s * decimal.Decimal(10) ** -58:
        n += 1
        term = term * 2 * x * x / (2 * n + 1)
        s += term
    pi = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
    return rounded(kind, Number(Fraction(2 / pi.sqrt() * (-x * x).exp() * s), a.negative))


def softmax(kind, row):
    """15.8 in f32."""
    numbers = [x for x in row if x.size != NAN]
    m = max(numbers, key=signed) if numbers else Number(NAN)
    e = [Number(Fraction(0)) if x.size == INF and x.negative else exp(kind, sub(kind, x, m)) for x in row]
    s = total(kind, e)
    return [Number(Fraction(0)) if s.size == 0 else div(kind, x, s) for x in e]


def signed(x):
    """Where a number stands, with -0 below +0."""
    big = Fraction(2) ** 2000
    size = big if x.size == INF else x.size
    return (-size if x.negative else size, not x.negative)


def order(c):
    """16.6: a code of f32 as what ascends."""
    return ~c & 0xFFFFFFFF if c >> 31 else c | 1 << 31
