"""Numbers n * 2^e for oracles: what floats are, and their sums and products. Exact, as fractions are, and ten times as fast, since no common divisor
is looked for; with anything else (a quotient by another number than a power of two) they become fractions. usage, to hold them against
fractions: dyadic.py"""
import math
import numbers
import operator
import random
import sys
from fractions import Fraction


def power_of(d):
    """The exponent of a power of two, -1 for another positive number."""
    return d.bit_length() - 1 if d & (d - 1) == 0 else -1


class Dyadic:
    __slots__ = ("n", "e")

    def __init__(self, n, e=0):
        self.n, self.e = n, e

    def reduced(self):
        """n odd, or 0 and e 0."""
        if self.n == 0:
            return 0, 0
        zeros = (self.n & -self.n).bit_length() - 1
        return self.n >> zeros, self.e + zeros

    @property
    def numerator(self):
        n, e = self.reduced()
        return n << e if e > 0 else n

    @property
    def denominator(self):
        e = self.reduced()[1]
        return 1 << -e if e < 0 else 1

    def fraction(self):
        return Fraction(self.n << self.e) if self.e >= 0 else Fraction(self.n, 1 << -self.e)

    def __mul__(self, o):
        if type(o) is Dyadic:
            return Dyadic(self.n * o.n, self.e + o.e)
        o = of(o)
        return o if o is NotImplemented else Dyadic(self.n * o.n, self.e + o.e) if type(o) is Dyadic else self.fraction() * o

    __rmul__ = __mul__

    def __add__(self, o):
        if type(o) is not Dyadic:
            o = of(o)
            if type(o) is not Dyadic:
                return o if o is NotImplemented else self.fraction() + o
        d = self.e - o.e
        return Dyadic((self.n << d) + o.n, o.e) if d >= 0 else Dyadic(self.n + (o.n << -d), self.e)

    __radd__ = __add__

    def __neg__(self):
        return Dyadic(-self.n, self.e)

    def __pos__(self):
        return self

    def __abs__(self):
        return Dyadic(-self.n, self.e) if self.n < 0 else self

    def __sub__(self, o):
        o = of(o)
        return o if o is NotImplemented else self + -o

    def __rsub__(self, o):
        o = of(o)
        return o if o is NotImplemented else o + -self

    def __truediv__(self, o):
        o = of(o)
        if type(o) is Dyadic and o.n != 0 and power_of(abs(o.n)) >= 0:
            return Dyadic(self.n if o.n > 0 else -self.n, self.e - o.e - power_of(abs(o.n)))
        return o if o is NotImplemented else self.fraction() / (o.fraction() if type(o) is Dyadic else o)

    def __rtruediv__(self, o):
        o = of(o)
        return o if o is NotImplemented else of(Fraction(o) / self.fraction())

    def order(self, o):
        """Below 0, 0 or above 0, as this is below, equal to or above a number."""
        if type(o) is int and o == 0:
            return self.n
        o = of(o)
        if type(o) is not Dyadic:
            return o if o is NotImplemented else (self.fraction() > o) - (self.fraction() < o)
        d = self.e - o.e
        return (self.n << d) - o.n if d >= 0 else self.n - (o.n << -d)

    def __eq__(self, o):
        if type(o) is str:
            return False
        c = self.order(o)
        return c if c is NotImplemented else c == 0

    def __lt__(self, o):
        c = self.order(o)
        return c if c is NotImplemented else c < 0

    def __le__(self, o):
        c = self.order(o)
        return c if c is NotImplemented else c <= 0

    def __gt__(self, o):
        c = self.order(o)
        return c if c is NotImplemented else c > 0

    def __ge__(self, o):
        c = self.order(o)
        return c if c is NotImplemented else c >= 0

    def __bool__(self):
        return self.n != 0

    def __hash__(self):
        return hash(self.fraction())

    def __float__(self):
        return float(self.fraction())

    def __floor__(self):
        return self.n << self.e if self.e >= 0 else self.n >> -self.e

    def __ceil__(self):
        return -math.floor(-self)

    def __trunc__(self):
        return math.floor(self) if self.n >= 0 else -math.floor(-self)

    __int__ = __trunc__

    def __round__(self, digits=None):
        return round(self.fraction(), digits)

    def __pow__(self, n):
        return of(self.fraction() ** n)

    def __floordiv__(self, o):
        return self.fraction() // o

    def __mod__(self, o):
        return self.fraction() % o

    def __str__(self):
        return str(self.fraction())

    __repr__ = __str__


numbers.Rational.register(Dyadic)
ZERO = Dyadic(0)


def of(x):
    """A number as one of these, or as the fraction that it is; NotImplemented for what is no exact number."""
    if type(x) is Dyadic:
        return x
    if type(x) is int or type(x) is bool:
        return Dyadic(int(x))
    if type(x) is not Fraction:
        return NotImplemented
    e = power_of(x.denominator)
    return x if e < 0 else Dyadic(x.numerator, -e)


def total(terms):
    """The sum of numbers."""
    n = e = 0
    rest = None
    for t in terms:
        if type(t) is not Dyadic:
            t = of(t)
            if type(t) is not Dyadic:
                rest = t if rest is None else rest + t
                continue
        if t.n:
            d = t.e - e
            if d >= 0:
                n += t.n << d
            else:
                n, e = (n << -d) + t.n, t.e
    return Dyadic(n, e) if rest is None else rest + Dyadic(n, e)


def aligned(values):
    """Numbers n * 2^e of one e: the integers, and e. None where one is something else."""
    values = list(values)
    if any(type(v) is not Dyadic for v in values):
        return None
    e = min((v.e for v in values if v.n), default=0)
    return [v.n << v.e - e if v.n else 0 for v in values], e


def dot(a, b):
    """The sum of products of what `aligned` gave: one sum of integers, ten times as quick as one of numbers."""
    return Dyadic(sum(map(operator.mul, a[0], b[0])), a[1] + b[1])


def nearest(x, digits, least):
    """n and e >= least with n * 2^e nearest to a positive number among those with n up to 2^digits, ties to even."""
    if type(x) is not Dyadic:
        x = of(x)
    if type(x) is Dyadic:
        e = max(least, x.e + x.n.bit_length() - digits)
        cut = e - x.e
        if cut <= 0:
            return x.n << -cut, e
        n, rest, half = x.n >> cut, x.n & ((1 << cut) - 1), 1 << (cut - 1)
        return n + (rest > half or (rest == half and n & 1)), e
    a, b = x.numerator, x.denominator
    e = a.bit_length() - b.bit_length() - digits
    e += a << max(-e - digits, 0) >= b << max(e + digits, 0)
    e = max(least, e)
    b, a = b << max(e, 0), a << max(-e, 0)
    n, rest = divmod(a, b)
    return n + (2 * rest > b or (2 * rest == b and n & 1)), e


def main():
    """Each operation on random numbers of both kinds against the same one on fractions; then what must be seen to be wrong."""
    r = random.Random(7)
    tried = 0

    def check(ok, what):
        nonlocal tried
        tried += 1
        if not ok:
            sys.exit(f"FAILED {what}")

    def by_definition(f, digits, least):
        """All that could be nearest, by their distance."""
        e = next(e for e in range(least, 400) if f < Fraction(2) ** (e + digits))
        low = math.floor(f / Fraction(2) ** e)
        best = min((low, low + 1), key=lambda n: (abs(n * Fraction(2) ** e - f), n % 2))
        return best * Fraction(2) ** e

    def agree(round_to):
        for _ in range(400):
            f = Fraction(r.randrange(1, 1 << r.randrange(1, 60))) * Fraction(2) ** r.randrange(-170, 120) / r.choice((1, 1, 3, 7))
            digits, least = r.choice(((24, -149), (11, -24), (8, -133), (3, -5)))
            n, e = round_to(f, digits, least)
            if n * Fraction(2) ** e != by_definition(f, digits, least) or n > 1 << digits or e < least:
                return f, digits, least
        return None

    def drawn():
        n, e = r.choice((0, 1, -1, r.randrange(-1 << 30, 1 << 30), r.randrange(-9, 9) << r.randrange(20))), r.randrange(-80, 80)
        return Dyadic(n, e), Fraction(n) * Fraction(2) ** e

    for _ in range(1000):
        (a, x), (b, y) = drawn(), drawn()
        third = Fraction(r.randrange(-20, 20), r.choice((1, 2, 3, 16)))
        for name in ("add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge"):
            op = getattr(operator, name)
            if name == "truediv" and 0 in (x, y, third):
                continue
            for got, want in ((op(a, b), op(x, y)), (op(a, third), op(x, third)), (op(third, a), op(third, x)), (op(a, 5), op(x, 5)), (op(5, a), op(5, x))):
                check(got == want and (isinstance(want, bool) or (got.numerator, got.denominator, hash(got)) == (want.numerator, want.denominator, hash(want))),
                      f"{name} {x} {y} {third}: {got}, not {want}")
        for f in (abs, operator.neg, math.floor, math.ceil, math.trunc, int, round, bool, float, str, hash, lambda v: v // 3, lambda v: v % 3, lambda v: v ** 2):
            check(f(a) == f(x), f"{f} {x}")
        check(total([a, third, b, ZERO, 7]) == x + third + y + 7, f"a sum of {x}, {third}, {y}")
        check(a != "nan" and Fraction(a) == x, str(x))
        left, right = [[drawn() for _ in range(4)] for _ in range(2)]
        product = sum(x * y for (_, x), (_, y) in zip(left, right))
        check(dot(*(aligned(p for p, _ in side) for side in (left, right))) == product and aligned([a, third]) is None and aligned([a, "inf"]) is None,
              f"a sum of products {left} {right}")
    check(agree(nearest) is None, f"nearest {agree(nearest)}")
    for what, wrong in (("ties away from even", lambda f, d, l: (lambda n, e: (n + (n * Fraction(2) ** e == f - Fraction(2) ** (e - 1)), e))(math.floor(f / Fraction(2) ** nearest(f, d, l)[1]), nearest(f, d, l)[1])),
                        ("one digit too few", lambda f, d, l: nearest(f, d - 1, l)), ("no least exponent", lambda f, d, l: nearest(f, d, l - 9))):
        check(agree(wrong) is not None, f"planted, not seen: {what}")
    print(f"{tried} passed, 0 failed")


if __name__ == "__main__":
    main()
