"""The int library's operations on Python's integers: w bits, values as Python sees them (negative when signed)."""


def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def unsigned(x, w):
    return x & ((1 << w) - 1)


def clz(x, w):
    return w - unsigned(x, w).bit_length()


def ctz(x, w):
    x = unsigned(x, w)
    return (x & -x).bit_length() - 1 if x else w


BINARY = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "div": lambda a, b, w: quotient(a, b) if b else 0,
    "mod": lambda a, b, w: a - b * quotient(a, b) if b else 0,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "shl": lambda a, b, w: a << (b % w),
    "shr": lambda a, b, w: a >> (b % w),
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "lt": lambda a, b, w: a < b,
    "gt": lambda a, b, w: a > b,
    "le": lambda a, b, w: a <= b,
    "ge": lambda a, b, w: a >= b,
    "land": lambda a, b, w: a != 0 and b != 0,
    "lor": lambda a, b, w: a != 0 or b != 0,
}
UNARY = {
    "neg": lambda x, w: -x,
    "not": lambda x, w: ~x,
    "lnot": lambda x, w: x == 0,
    "popcount": lambda x, w: bin(unsigned(x, w)).count("1"),
    "clz": clz,
    "ctz": ctz,
    "reverse": lambda x, w: int(format(unsigned(x, w), f"0{w}b")[::-1], 2),
}
TRUTH = {"eq", "ne", "lt", "gt", "le", "ge", "land", "lor", "lnot"}
TYPES = {"u32": (32, False), "i32": (32, True), "u64": (64, False), "i64": (64, True), "u128": (128, False)}
