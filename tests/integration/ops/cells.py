"""Recurrent cells: gates' sums as fractions, exponentials and hyperbolic tangents to 80 decimal digits, every step rounded to f32.
usage: cells.py all|few BACKEND..."""
import decimal
import sys
from fractions import Fraction

from harness import Harness, Random
from matmul import codes, exact, negative, pack, rounded, times, value
from moves import Tensor
from rows import together

ONE = 0x3F800000


def number(code):
    return value("f32", code)


def decimal_of(code):
    v = number(code)
    return decimal.Decimal(v.numerator) / decimal.Decimal(v.denominator)


def add(a, b):
    return rounded("f32", number(a) + number(b), bool(negative("f32", a) and negative("f32", b)))


def mul(a, b):
    return rounded("f32", number(a) * number(b), bool(negative("f32", a) ^ negative("f32", b)))


def minus(a):
    return a ^ 1 << 31


def sigmoid(a):
    e = rounded("f32", Fraction(decimal_of(minus(a)).exp()))
    return 0 if number(e) == "inf" else rounded("f32", 1 / number(add(ONE, e)))


def tanh(a):
    if number(a) == 0:
        return a
    e = (2 * decimal_of(a)).exp()
    return rounded("f32", Fraction((e - 1) / (e + 1)))


def rows(t, kind):
    width = t.shape[-1]
    return [[value(kind, code) for code in t.codes[i * width:(i + 1) * width]] for i in range(t.shape[0])]


@together
def run(h, r, backends, op, kind, b, n, m):
    gates = {"rnn_cell": 1, "lstm_cell": 4, "gru_cell": 3}[op]
    t = {name: Tensor(of, shape, codes(r, of, shape[0] * shape[-1], "ties")) for name, of, shape in (
        ("x", kind, (b, n)), ("h", "f32", (b, m)), ("w", kind, (gates * m, n)), ("r", kind, (gates * m, m)),
        ("bias", kind, (2, gates * m) if op == "gru_cell" else (1, gates * m)), ("c", "f32", (b, m)))}
    x, state, w, rec, bias = (rows(t[name], t[name].kind) for name in ("x", "h", "w", "r", "bias"))
    if op != "gru_cell":
        t["bias"].shape = (gates * m,)

    def summed(i, g, parts):
        terms = [times(p, q) for p, q in zip(x[i], w[g])] if parts & 1 else []
        terms += [times(p, q) for p, q in zip(state[i], rec[g])] if parts & 2 else []
        return exact("f32", terms + [row[g] for k, row in enumerate(bias) if op != "gru_cell" or parts >> k & 1])

    y, kept = [], []
    for i in range(b):
        for j in range(m):
            def gate(g, parts=3):
                return summed(i, g * m + j, parts)

            if op == "rnn_cell":
                y.append(tanh(gate(0)))
            elif op == "lstm_cell":
                kept.append(add(mul(sigmoid(gate(1)), t["c"].codes[i * m + j]), mul(sigmoid(gate(0)), tanh(gate(2)))))
                y.append(mul(sigmoid(gate(3)), tanh(kept[-1])))
            else:
                z = sigmoid(gate(1))
                fresh = tanh(add(gate(2, 1), mul(sigmoid(gate(0)), gate(2, 2))))
                y.append(add(mul(add(ONE, minus(z)), fresh), mul(z, t["h"].codes[i * m + j])))
    names = ["x", "h", "w", "r", "bias"] + ["c"] * (op == "lstm_cell")
    for backend in backends:
        got = yield "tensor." + op, [t[name].port(name) for name in names], ["y"] + ["c_next"] * (op == "lstm_cell"), backend
        for data, want in zip(got or [], [y, kept]):
            h.check_bytes(f"{op} {kind} {b} {n} {m} {backend}", data, pack("f32", want), 4)


def main():
    decimal.getcontext().prec = 80
    h, r = Harness(), Random(18)
    how, backends = sys.argv[1], sys.argv[2:]
    for op in ("rnn_cell", "lstm_cell", "gru_cell"):
        run(h, r, backends, op, "f32", 2, 5, 3)
        if how == "all":
            for kind in ("f32", "f16", "bf16"):
                for sizes in ((1, 1, 1), (3, 17, 8), (2, 0, 2)):
                    run(h, r, backends, op, kind, *sizes)
            h.write("x", bytes(4))
            port = [a for name in ("x", "h", "w", "r", *(["c"] * (op == "lstm_cell"))) for a in ("--in", f"{name}={h.path('x')}:f32[1,1]")]
            status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", *port, "--in",
                                   f"bias={h.path('x')}:{'f32[1,1]' if op == 'gru_cell' else 'f32[1]'}", "--out", "y=" + h.path("y"))
            h.check(f"{op} of wrong sizes", (status == 0) == (op == "rnn_cell") and (status == 0 or "PC4" in err), err)
    h.finish()


if __name__ == "__main__":
    main()
