"""What a machine of the GPU VM gives, from the definitions of SEMANTICS.md section 9: rational numbers, rounded by integers; none of it
is the product's."""
import struct
from fractions import Fraction

INF, NAN = 0x7f800000, 0x7fc00000


def is_nan(b):
    return b & 0x7fffffff > INF


def value(b):
    """A finite f32 of these bits, as a rational."""
    e, m = b >> 23 & 255, b & 0x7fffff
    x = Fraction(m | (1 << 23 if e else 0)) * Fraction(2) ** (max(e, 1) - 150)
    return -x if b >> 31 else x


def nearest(x, zero=0):
    """The bits of the nearest f32, ties to even; an exact zero has the sign of `zero`."""
    if x == 0:
        return zero
    sign, x = (1 << 31, -x) if x < 0 else (0, x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e -= x < Fraction(2) ** e
    unit = Fraction(2) ** max(e - 23, -149)
    q, rest = divmod(x, unit)
    q = int(q) + (rest > unit / 2 or (rest == unit / 2 and int(q) % 2))
    if max(e - 23, -149) == -149:
        return sign | q  # subnormal, or the first normal ones
    return sign | min(q + (max(e - 23, -149) + 149 << 23), INF)


def root(b):
    """sqrt of what is not negative."""
    if is_nan(b):
        return NAN
    if b == INF or b == 0:
        return b
    x = value(b)
    # To 80 bits below the result, sticky, and rounded once: no root of an f32 lies on a tie.
    scale = 4 ** 240
    n = x * scale
    r = int(n)
    s = 1 << (r.bit_length() + 1) // 2
    while True:
        t = (s + r // s) // 2
        if t >= s:
            break
        s = t
    exact = s * s == n
    return nearest(Fraction(2 * s + (0 if exact else 1), 2 * 2 ** 240))


def add(a, b):
    return nearest(value(a) + value(b), a & b & 1 << 31)


def sub(a, b):
    return add(a, b ^ 1 << 31)


def mul(a, b):
    return nearest(value(a) * value(b), (a ^ b) & 1 << 31)


def div(a, b):
    return nearest(value(a) / value(b), (a ^ b) & 1 << 31)


def fma(a, b, c):
    return nearest(value(a) * value(b) + value(c), (a ^ b) & c & 1 << 31)


def bits(f):
    return struct.unpack("<I", struct.pack("<f", f))[0]


ONE = bits(1.0)


def norm_of(words):
    """The norm of a vector and its largest magnitude."""
    magnitudes = [w & 0x7fffffff for w in words if not is_nan(w)]
    largest = max(magnitudes, default=0)
    if any(is_nan(w) for w in words):
        return NAN, largest
    if INF in magnitudes:
        return INF, largest
    return root(nearest(sum((value(w) ** 2 for w in words), Fraction(0)))), largest


class Machine:
    """Registers as lists of bits, and everything that the host puts between the instances."""
    def __init__(self, instances, width, n_embd, acts=False, epsilon=0, target=0, skipping=False, advance=0):
        self.n, self.width, self.n_embd = instances, width, n_embd
        self.acts, self.epsilon, self.skipping, self.advance = acts, epsilon, skipping, advance
        self.r = [[[0] * width for _ in range(32)] for _ in range(instances)]
        self.metrics = [[0] * 6 for _ in range(instances)]
        self.control = [[ONE, 0, 0, ONE] for _ in range(instances)]
        self.statistics = [[target, 0, 0, 0] for _ in range(instances)]
        self.position = 0

    def regulate(self, i):
        norm, largest = norm_of(self.r[i][30][:self.n_embd])
        target, mean, count, drift = self.statistics[i]
        goal = target if target & 1 << 31 == 0 and target else mean if count else 0
        if goal & 1 << 31 or goal == 0:
            goal = 0
        scale, anomaly = ONE, 0
        twice = mul(bits(2.0), goal) if goal else 0
        if norm >= INF:
            anomaly = 1
        elif goal and twice < INF and value(norm) > value(twice):
            anomaly, scale = 1, div(goal, norm)
        elif value(norm) < value(self.epsilon):
            anomaly = 1
            if goal and norm:
                scale = min(div(goal, norm), bits(65536.0))
        else:
            count = min(add(count, ONE), bits(16777216.0))
            mean = add(mean, div(sub(norm, mean), count))
            drift = sub(mean, target) if target else 0
            self.statistics[i] = [target, mean, count, drift]
        flag = ONE if anomaly else 0
        self.metrics[i] = [norm, largest, 0, 0, bits(float(i)), flag]
        self.r[i][30][self.n_embd:self.n_embd + 4] = [norm, largest, 0, flag]
        if i + 1 < self.n:
            self.control[i + 1][0] = scale if self.acts else ONE

    def turn(self, program):
        """program(machine, instance) does what the kernels of an instance do."""
        for i in range(self.n):
            n = self.n_embd + 4
            if self.skipping and self.control[i][3] & 0x7fffffff == 0:
                self.r[i][30][:n] = self.r[i][31 if i else 0][:n]
            else:
                program(self, i)
                self.regulate(i)
            if i + 1 < self.n:
                self.r[i + 1][31][:n] = self.r[i][30][:n]
        self.position += self.advance
