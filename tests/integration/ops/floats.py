"""IEEE 754 arithmetic for tests, on Python's integers and fractions: exact results rounded once. Elementary functions are
doubles of the C library with a margin of four units in the last place on both sides; where the two sides round to different
floats, both are taken for possible. Shares nothing with pipectl; standard library only."""
import math
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dtype"))
from dyadic import Dyadic, nearest  # noqa: E402

NAN, INF = "nan", "inf"


class Format:
    def __init__(self, name, bits, fraction, dtype):
        self.name, self.bits, self.fraction, self.dtype = name, bits, fraction, dtype
        self.sign = 1 << (bits - 1)
        self.infinity = self.sign - (1 << fraction)
        self.nan = self.infinity | 1 << (fraction - 1)
        self.bias = (1 << (bits - fraction - 2)) - 1
        self.smallest = 1 - self.bias  # exponent of the smallest normal number
        self.one = self.bias << fraction

    def is_nan(self, x):
        return (x & ~self.sign) > self.infinity

    def is_inf(self, x):
        return (x & ~self.sign) == self.infinity

    def negative(self, x):
        return bool(x & self.sign)

    def value(self, x):
        """The exact value of a finite number."""
        size = x & ~self.sign
        field, m = size >> self.fraction, size & ((1 << self.fraction) - 1)
        if field:
            m |= 1 << self.fraction
        else:
            field = 1
        return Dyadic(-m if self.negative(x) else m, field + self.smallest - 1 - self.fraction)

    def round(self, v, zero_sign=0):
        """The float nearest to a number, ties to even; an exact zero gets the sign bit zero_sign."""
        if v == 0:
            return zero_sign
        m, e = nearest(abs(v), self.fraction + 1, self.smallest - self.fraction)
        bits = ((e - self.smallest + self.fraction) << self.fraction) + m
        return (self.sign if v < 0 else 0) | min(bits, self.infinity)

    def to_double(self, x):
        if self.is_nan(x):
            return math.nan
        if self.is_inf(x):
            return -math.inf if self.negative(x) else math.inf
        if x & ~self.sign == 0:
            return -0.0 if self.negative(x) else 0.0
        return float(self.value(x))

    def of_double(self, y):
        if math.isnan(y):
            return self.nan
        if math.isinf(y):
            return self.infinity | (self.sign if y < 0 else 0)
        return self.round(Fraction(y), self.sign if math.copysign(1, y) < 0 else 0)


F32, F16, BF16 = Format("f32", 32, 23, 7), Format("f16", 16, 10, 6), Format("bf16", 16, 7, 8)
FORMATS = {"f32": F32, "f16": F16, "bf16": BF16}


# ---- arithmetic: bits to bits ---------------------------------------------------------------------------------------


def add(f, a, b):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if f.is_inf(a) and f.is_inf(b) and a != b:
            return f.nan
        return a if f.is_inf(a) else b
    return f.round(f.value(a) + f.value(b), a & b & f.sign)


def sub(f, a, b):
    return add(f, a, b if f.is_nan(b) else b ^ f.sign)


def mul(f, a, b):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        return f.nan if not (a & ~f.sign and b & ~f.sign) else sign | f.infinity
    return f.round(f.value(a) * f.value(b), sign)


def div(f, a, b):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or (f.is_inf(a) and f.is_inf(b)):
        return f.nan
    if f.is_inf(a):
        return sign | f.infinity
    if f.is_inf(b):
        return sign
    if b & ~f.sign == 0:
        return f.nan if a & ~f.sign == 0 else sign | f.infinity
    return f.round(f.value(a) / f.value(b), sign)


def fma(f, a, b, c):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if not (a & ~f.sign and b & ~f.sign) or (f.is_inf(c) and (c & f.sign) != sign):
            return f.nan
        return sign | f.infinity
    if f.is_inf(c):
        return c
    return f.round(f.value(a) * f.value(b) + f.value(c), sign & c)


def sqrt(f, x):
    if f.is_nan(x) or (x & f.sign and x & ~f.sign):
        return f.nan
    if x & ~f.sign == 0 or f.is_inf(x):
        return x
    v = f.value(x)
    shift = 2 * (80 + v.denominator.bit_length())
    n = v * (1 << shift)  # an integer, since denominators are powers of two
    root = math.isqrt(n.numerator)
    # What the root cut off is told by one more bit.
    return f.round(Fraction(2 * root + (root * root != n), 2 << (shift // 2)))


def key(f, x):
    return -(x & ~f.sign) - 1 if f.negative(x) else x


def smaller(f, a, b):
    if f.is_nan(a):
        return f.nan if f.is_nan(b) else b
    return a if f.is_nan(b) or key(f, a) <= key(f, b) else b


def larger(f, a, b):
    if f.is_nan(a):
        return f.nan if f.is_nan(b) else b
    return a if f.is_nan(b) or key(f, a) >= key(f, b) else b


def compare(test):
    def answer(f, a, b):
        return int(test(f.to_double(a), f.to_double(b)))
    return answer


def whole(f, x, mode):
    """A finite number as an integer."""
    v = f.value(x)
    return {"trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "nearest": round}[mode](v)


def integral(mode):
    def answer(f, x):
        if f.is_nan(x):
            return f.nan
        return x if f.is_inf(x) else f.round(Fraction(whole(f, x, mode)), x & f.sign)
    return answer


def to_integer(f, x, mode, low, high):
    if f.is_nan(x):
        return 0
    if f.is_inf(x):
        return low if f.negative(x) else high
    return min(max(whole(f, x, mode), low), high)


def to_format(source, x, f):
    if source.is_nan(x):
        return f.nan
    sign = f.sign if source.negative(x) else 0
    return sign | f.infinity if source.is_inf(x) else f.round(source.value(x), sign)


EXACT = {
    "add": add, "sub": sub, "mul": mul, "div": div, "fma": fma, "sqrt": sqrt,
    "neg": lambda f, x: x ^ f.sign, "abs": lambda f, x: x & ~f.sign, "min": smaller, "max": larger,
    "floor": integral("floor"), "ceil": integral("ceil"), "round": integral("nearest"), "trunc": integral("trunc"),
}
TRUTHS = {
    "eq": compare(lambda a, b: a == b), "ne": compare(lambda a, b: a != b), "lt": compare(lambda a, b: a < b),
    "gt": compare(lambda a, b: a > b), "le": compare(lambda a, b: a <= b), "ge": compare(lambda a, b: a >= b),
    "isnan": lambda f, x: int(f.is_nan(x)), "isinf": lambda f, x: int(f.is_inf(x)),
}
PORTS = {"sqrt": 1, "neg": 1, "abs": 1, "floor": 1, "ceil": 1, "round": 1, "trunc": 1, "isnan": 1, "isinf": 1, "fma": 3}


# ---- elementary functions: bits to one or two possible bits ---------------------------------------------------------


def guarded(fn):
    """With infinities and NaN where Python raises."""
    def answer(*x):
        try:
            return fn(*x)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan
    return answer


def pow_double(x, y):
    if x == 0 and y < 0:
        odd = y == math.floor(y) and math.fmod(y, 2) != 0 and not math.isinf(y)
        return math.copysign(math.inf, x) if odd else math.inf
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and math.fmod(y, 2) != 0 else math.inf
    except ValueError:
        return math.nan


def log_double(fn):
    return lambda x: -math.inf if x == 0 else fn(x)


def log1p_double(x):
    return -math.inf if x == -1 else math.log1p(x)


def atanh_double(x):
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x)


def sinh_double(x):
    return math.copysign(math.inf, x) if abs(x) > 700 else math.sinh(x)


def rsqrt_double(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / math.sqrt(x)


ELEMENTARY = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": sinh_double, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh,
    "atanh": atanh_double, "exp": math.exp, "exp2": lambda x: math.pow(2.0, x), "exp10": lambda x: math.pow(10.0, x),
    "log": log_double(math.log), "log2": log_double(math.log2), "log10": log_double(math.log10),
    "rsqrt": rsqrt_double, "cbrt": math.cbrt, "erf": math.erf, "erfc": math.erfc, "log1p": log1p_double, "expm1": math.expm1,
}
ELEMENTARY2 = {"atan2": math.atan2, "pow": pow_double}


def possible(f, op, *bits):
    """The floats that may be the correctly rounded result: one, or two where a double cannot tell."""
    fn = guarded({**ELEMENTARY, **ELEMENTARY2}[op])
    y = fn(*(f.to_double(x) for x in bits))
    if math.isnan(y) or math.isinf(y) or y == 0:
        return {f.of_double(y)}
    doubt = (8 if op == "erfc" else 4) * math.ulp(y)
    return {f.of_double(y - doubt), f.of_double(y + doubt)}
