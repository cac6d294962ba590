"""Ed25519 from RFC 8032 alone, for tests: slow, and shares nothing with OpenSSL. Points are (x, y) on -x^2 + y^2 = 1 + d x^2 y^2."""
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    t = D * a[0] * b[0] * a[1] * b[1] % P
    return ((a[0] * b[1] + b[0] * a[1]) * pow(1 + t, P - 2, P) % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - t, P - 2, P) % P)


def times(n, a):
    out = (0, 1)
    while n:
        if n & 1:
            out = add(out, a)
        a = add(a, a)
        n >>= 1
    return out


def root(y, odd):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x % 2 != odd else x


BASE = (root(4 * pow(5, P - 2, P) % P, 0), 4 * pow(5, P - 2, P) % P)


def spelled(a):
    return (a[1] | (a[0] & 1) << 255).to_bytes(32, "little")


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Key:
    """A key from 32 bytes of seed."""

    def __init__(self, seed):
        both = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(both[:32], "little") & (2**254 - 8) | 2**254
        self.prefix = both[32:]
        self.public = spelled(times(self.scalar, BASE))

    def sign(self, message):
        r = number(self.prefix, message) % ORDER
        point = spelled(times(r, BASE))
        s = (r + number(point, self.public, message) * self.scalar) % ORDER
        return point + s.to_bytes(32, "little")
