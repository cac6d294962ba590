"""Ed25519 from RFC 8032 alone, for tests; shares nothing with OpenSSL. Points are on -x^2 + y^2 = 1 + d x^2 y^2, as (X, Y, Z, T) with x = X / Z,
y = Y / Z, x y = T / Z (5.1.4), so that a sum of points has no division."""
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
NOTHING = (0, 1, 1, 0)


def add(a, b):
    m = (a[1] - a[0]) * (b[1] - b[0]) % P
    n = (a[1] + a[0]) * (b[1] + b[0]) % P
    c = 2 * D * a[3] * b[3] % P
    z = 2 * a[2] * b[2]
    e, f, g, h = n - m, z - c, z + c, n + m
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def root(y, odd):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x % 2 != odd else x


Y = 4 * pow(5, P - 2, P) % P
BASE = (root(Y, 0), Y, 1, root(Y, 0) * Y % P)


def multiples(a):
    """Of a point: n * 16^k times it, for k below 64 and n below 16."""
    rows = []
    for _ in range(64):
        row = [NOTHING]
        for _ in range(15):
            row.append(add(row[-1], a))
        rows.append(row)
        a = add(row[-1], a)
    return rows


MULTIPLES = multiples(BASE)


def times(n):
    """The base point n times, n below 16^64: a sum of 64 points that are at hand."""
    out = NOTHING
    for row in MULTIPLES:
        out = add(out, row[n & 15])
        n >>= 4
    return out


def spelled(a):
    by = pow(a[2], P - 2, P)
    x, y = a[0] * by % P, a[1] * by % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Key:
    """A key from 32 bytes of seed."""

    def __init__(self, seed):
        both = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(both[:32], "little") & (2**254 - 8) | 2**254
        self.prefix = both[32:]
        self.public = spelled(times(self.scalar))

    def sign(self, message):
        r = number(self.prefix, message) % ORDER
        point = spelled(times(r))
        s = (r + number(point, self.public, message) * self.scalar) % ORDER
        return point + s.to_bytes(32, "little")
