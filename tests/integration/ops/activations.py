"""Activations of the ieee library against the steps of SEMANTICS.md 15.11, by floats.py: of every step all results that can be right.
usage: activations.py COUNT TYPES BACKEND..."""
import sys
from fractions import Fraction

import floats
from floats import FORMATS
from harness import Harness, Random
from ieee import check, columns, pack, unpack
from rows import together


def steps(fn, *sets):
    """All that fn, which gives one result or a set of them, can make of these."""
    out = {()}
    for s in sets:
        out = {(*o, x) for o in out for x in (s if isinstance(s, set) else {s})}
    results = set()
    for args in out:
        y = fn(*args)
        results |= y if isinstance(y, set) else {y}
    return results


def wanted(op, f, a, b):
    """The possible results of one element."""
    one, low = f.one, f.infinity | f.sign
    nan, positive = f.is_nan(a), not f.is_nan(a) and 0 < a < f.sign
    size = a & ~f.sign
    exp = lambda x: steps(lambda v: floats.possible(f, "exp", v), x)
    add, mul, div = (lambda x, y, fn=fn: steps(lambda v, w: fn(f, v, w), x, y) for fn in (floats.add, floats.mul, floats.div))
    if op in ("silu", "mish", "hardswish", "gelu", "gelu_tanh") and a == low:
        return {f.sign}
    if op == "relu":
        return {f.nan if nan else a if positive else 0}
    if op == "leaky_relu":
        return {a} if positive else mul(a, b)
    if op == "elu":
        return {a} if positive else mul(b, add(exp(a), one | f.sign))
    if op == "silu":
        return div(a, add(one, exp(a ^ f.sign)))
    if op == "hardswish":
        six = f.round(Fraction(6))
        cut = steps(lambda v: floats.smaller(f, floats.larger(f, v, 0), six), add(a, f.round(Fraction(3))))
        return mul(a, div(cut, six))
    if op == "gelu":
        erf = steps(lambda v: floats.possible(f, "erf", v), mul(f.round(Fraction(0.7071067811865476)), a))
        return mul(mul(f.round(Fraction(1, 2)), a), add(one, erf))
    if op == "gelu_tanh":
        c, d = f.round(Fraction(0.7978845608028654)), f.round(Fraction(0.044715))
        u = mul(c, add(a, mul(d, mul(mul(a, a), a))))
        tanh = steps(lambda v: floats.possible(f, "tanh", v), u)
        return mul(mul(f.round(Fraction(1, 2)), a), add(one, tanh))
    e = exp(size | f.sign)
    if op == "sigmoid":
        # The same e above and below.
        return {y for x in e for y in div(one if positive or size == 0 else x, add(one, x))}
    softplus = add(floats.larger(f, a, 0), steps(lambda v: floats.possible(f, "log", v), add(one, e)))
    return softplus if op == "softplus" else mul(a, steps(lambda v: floats.possible(f, "tanh", v), softplus))


OPS = {"relu": 1, "leaky_relu": 2, "elu": 2, "sigmoid": 1, "silu": 1, "softplus": 1, "mish": 1, "hardswish": 1, "gelu": 1, "gelu_tanh": 1}


@together
def held(h, backends, op, name, inputs, want, operands):
    for backend in backends:
        got = yield "ieee." + op, inputs, ["y"], backend
        if got is not None:
            check(h, f"ieee.{op} {name} {backend}", unpack(got[0], name), want, operands)


def main():
    h, r = Harness(), Random(18)
    count, types, backends = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    for name in types:
        f = FORMATS[name]
        c = columns(r, f, count)
        for op, n in OPS.items():
            inputs = [("a" if n == 2 and i == 0 else "b" if i else "x", pack(c[i], name), f"{name}[{count}]") for i in range(n)]
            want = [wanted(op, f, a, b) for a, b in zip(c[0], c[1])]
            held(h, backends, op, name, inputs, want, list(zip(*c[:n])))
    h.finish()


if __name__ == "__main__":
    main()
