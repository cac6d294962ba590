"""tensor.convert from every type to every type, and tensor.matmul with factors of every packed type, against fractions: what codes mean and
which code a number gets is tests/dtype/codes.py's, sums are Python's; convolutions and cells with such weights. usage: packed.py convert|pairs|matmul|layers [DEVICE]"""
import os
import random
import struct
import sys

from harness import Harness

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dtype"))
import codes  # noqa: E402
from codes import BLOCKS, FLOATS, INF, INTEGERS, NAN, Number  # noqa: E402

BITS = {**{k: v[0] for k, v in FLOATS.items()}, **{k: v[0] for k, v in INTEGERS.items()}, "ternary": 2, "binary": 1, "bool": 32}
RNG = random.Random(7)


def pack(name, values):
    """Codes as the bytes of a tensor."""
    whole = sum(c << i * BITS[name] for i, c in enumerate(values))
    return whole.to_bytes((len(values) * BITS[name] + 7) // 8, "little")


def some_codes(name, n):
    """All codes of narrow types, random and special ones of others, each a number."""
    bits = BITS[name]
    if name == "bool":
        return [RNG.randrange(2) for _ in range(n)]
    if bits <= 8:
        return [c for c in range(1 << bits) if codes.read(name, c) is not None] * (1 if bits > 2 else 9)
    out = [0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, (1 << bits - 1) + 1]
    if name in FLOATS:
        fraction = FLOATS[name][2]
        bias = (1 << FLOATS[name][1] - 1) - 1
        for e in (*range(bias - 12, bias + 20), bias + 62, bias + 63, bias + 64, bias - 27, bias - 14):  # ties of narrower types, large integers
            if 0 < e < 2 * bias + 1:
                out += [e << fraction | m | s << bits - 1 for m in (0, 1 << fraction - 1, 3 << fraction - 2 if fraction > 1 else 0, 1)
                        for s in (0, 1)]
        out += [((1 << FLOATS[name][1]) - 1) << fraction | m | s << bits - 1 for m in (0, 1, 1 << fraction - 1) for s in (0, 1)]
    while len(out) < n:
        out.append(RNG.getrandbits(bits) >> (RNG.randrange(bits) if name in INTEGERS else 0))
    return out


def some_blocks(name, n, special=True):
    elements, size = BLOCKS[name]
    out = []
    for k in range(n):
        b = bytearray(RNG.randbytes(size))
        for at in {"q2_k": (80, 82), "q3_k": (108,), "q6_k": (208,), "q4_0": (0,), "q5_0": (0,), "q8_0": (0,)}.get(name, (0, 2)):
            h = RNG.choice((0, 0x8000, 1, 0x3c00, 0xbbff, 0x7bff)) if k % 2 else RNG.getrandbits(16)
            if special and k == n - 1:
                h = RNG.choice((0x7c00, 0xfc00, 0x7e00))
            elif h >> 10 & 31 == 31:
                h &= 0xbfff
            b[at:at + 2] = struct.pack("<H", h)
        out.append(bytes(b))
    return out


def job(name, op, ins, attrs):
    text = " ".join(f'{k} = "{v}";' for k, v in attrs.items())
    return f'{{ id = "{name}"; op = "{op}"; in : {{ {ins} }}; attr : {{ {text} }}; }}'


def run(h, what, pipeline, data, outputs, device):
    args = [w for k, v in data.items() for w in ("--in", f"{k}=" + h.write(k, v))]
    args += [w for o in outputs for w in ("--out", f"{o}=" + h.path("out." + o))]
    status, _, err = h.run("run", h.write("p.cfg", pipeline.encode()), *args, "--backend", device, "--no-memo")
    h.check(what, status == 0, err[:800])
    return {o: h.read("out." + o) for o in outputs} if status == 0 else None


def convert(h, device, every=False):
    for name in [*BITS, *BLOCKS]:
        # Every type from some and to all; all pairs are the slow test.
        chosen = list(BITS) if every or name in ("f64", "i64", "q4_k", "ternary") else RNG.sample(list(BITS), 6)
        if name in BLOCKS:
            blocks = some_blocks(name, 6)
            values = [v for b in blocks for v in codes.unpack(name, b)]
            data = b"".join(blocks)
        else:
            raw = some_codes(name, 160)
            values, data = [codes.read(name, c) for c in raw], pack(name, raw)
        # f4 has no NaN: of what remains.
        ways = [(to, mode) for to in chosen if to != name for mode in (("ieee", "saturate") if to in FLOATS and name in ("f64", "i64", "q4_k") else ("ieee",))
                if not (to == "f4" and any(v.size == NAN for v in values))]
        jobs = ", ".join(job(f"{to}_{mode}", "tensor.convert@1", 'x = "$x";', {"to": to, "saturate": str(mode == "saturate").lower()})
                         for to, mode in ways)
        outs = " ".join(f'{to}_{mode} = "{to}_{mode}.y";' for to, mode in ways)
        got = run(h, name, f'pipeline : {{ name = "c"; class = "integer"; inputs : {{ x : {{ type = "{name}[{len(values)}]"; }}; }}; '
                           f"jobs = ( {jobs} ); outputs : {{ {outs} }}; }};", {"x": data}, [f"{to}_{mode}" for to, mode in ways], device)
        for to, mode in ways if got else ():
            want = pack(to, [codes.write(to, v, mode) for v in values])
            ok = got[f"{to}_{mode}"] == want
            at = next((i for i in range(len(values)) if int.from_bytes(got[f"{to}_{mode}"], "little") >> i * BITS[to] & (1 << BITS[to]) - 1 !=
                       codes.write(to, values[i], mode)), None) if not ok else None
            h.check(f"{name} to {to}, {mode}", ok, f"element {at}: {values[at] if at is not None else ''}")
    nan = h.write("nan", struct.pack("<3f", 1, float("nan"), 2))
    status, _, err = h.run("op", "run", "tensor.convert", "--in", f"x={nan}:f32[3]", "--attr", "to=f4", "--out", "y=" + h.path("never"), "--backend", device)
    h.check("a NaN has no f4", status == 9 and "f4" in err and not os.path.exists(h.path("never")), f"{status} {err}")
    for to, code in (("f5", "PC4202"), ("q4_0", "PC4202"), ("bytes", "PC4202")):
        status, _, err = h.run("op", "run", "tensor.convert", "--in", f"x={nan}:f32[3]", "--attr", "to=" + to, "--backend", device)
        h.check("no " + to, status == 3 and code in err, err)


def dot(a, b, to):
    """The exact sum of the exact products, rounded once."""
    total, infinite = codes.F(0), set()
    for x, y in zip(a, b):
        sizes = (x.size, y.size)
        if NAN in sizes or (INF in sizes and 0 in sizes):
            return codes.write(to, Number(NAN), "ieee")
        if INF in sizes:
            infinite.add(x.negative != y.negative)
        else:
            total += x.value() * y.value()
    if infinite:
        return codes.write(to, Number(NAN) if len(infinite) == 2 else Number(INF, infinite.pop()), "ieee")
    return codes.write(to, codes.of(total), "ieee")


def matmul(h, device):
    m, k = 2, 5
    cases = []
    for b in ["f8e4m3", "f8e5m2", "f4", *BLOCKS]:
        cases += [(a, b, out) for a, out in (("f32", "f32"), ("f16", "f16"), ("i8", "f32"))]
    cases += [("f32", b, "f32") for b in ("i4", "u2", "ternary", "binary")]
    cases += [(a, b, {"i": "i32", "u": "u32"}[a[0]]) for a, bs in (("i8", ("i4", "i2", "ternary", "binary")), ("u16", ("u4", "u2"))) for b in bs]
    for a, b, out in cases:
        n = BLOCKS[b][0] if b in BLOCKS else 21
        for special in (False, True):
            if b in BLOCKS:
                blocks = some_blocks(b, k, special)
                right, data = [codes.unpack(b, x) for x in blocks], b"".join(blocks)
            else:
                raw = [RNG.choice([c for c in range(1 << BITS[b]) if codes.read(b, c) is not None and
                                   (special or codes.read(b, c).size not in (NAN, INF))]) for _ in range(k * n)]
                right = [[codes.read(b, c) for c in raw[i * n:i * n + n]] for i in range(k)]
                data = pack(b, raw)
            rows = []
            for _ in range(m * k):
                c = RNG.getrandbits(BITS[a])
                while a in FLOATS and codes.read(a, c).size in (NAN, INF) and not (special and RNG.random() < 0.3):
                    c = RNG.getrandbits(BITS[a])
                rows.append(c)
            if special and a in FLOATS:
                rows[-1] = ((1 << FLOATS[a][1]) - 1) << FLOATS[a][2]  # an infinity
            left = [[codes.read(a, c) for c in rows[i * k:i * k + k]] for i in range(m)]
            attr = {} if out in ("f32", "i32", "u32") else {"out": out}
            text = ('pipeline : { name = "m"; class = "strict"; inputs : { a : { type = "%s[%d,%d]"; }; b : { type = "%s[%d,%d]"; }; }; '
                    'jobs = ( %s ); outputs : { y = "m.y"; }; };') % (a, m, k, b, k, n, job("m", "tensor.matmul@1", 'a = "$a"; b = "$b";', attr))
            got = run(h, f"{a} x {b}", text, {"a": pack(a, rows), "b": data}, ["y"], device)
            if got is None:
                continue
            if out in FLOATS:
                want = [dot(left[i], [right[x][j] for x in range(k)], out) for i in range(m) for j in range(n)]
            else:
                want = [int(sum(left[i][x].value() * right[x][j].value() for x in range(k))) % 2 ** 32 for i in range(m) for j in range(n)]
            h.check_bytes(f"{a} x {b} -> {out}{', special' if special else ''}", got["y"], pack(out, want), BITS[out] // 8)
    status, _, err = h.run("op", "run", "tensor.matmul", "--in", "a=zero:8:f32[1,2]", "--in", "b=zero:288:q4_k[2,256]", "--attr", "order=sequential", "--backend", device)
    h.check("no order but exact with minima", status == 3 and "PC4202" in err, err)
    status, _, err = h.run("op", "run", "tensor.matmul", "--in", "a=zero:8:f32[1,2]", "--in", "b=zero:36:q4_0[2,16]", "--backend", device)
    h.check("rows are whole blocks", status == 3, err)


def convolved(h, device, x_type, w_type, out, sizes):
    """conv1d over x [1, c, n] with w [o, c, t] and a place of padding on each side, which is no term."""
    c, n, o, t = sizes
    numbers = lambda name, count: [RNG.choice([k for k in range(1 << BITS[name]) if codes.read(name, k) is not None]) if BITS[name] <= 8 else
                                   RNG.getrandbits(BITS[name]) for _ in range(count)]
    x, w = numbers(x_type, c * n), numbers(w_type, o * c * t)
    left, right = [codes.read(x_type, k) for k in x], [codes.read(w_type, k) for k in w]
    want = []
    for j in range(o):
        for q in range(n + 3 - t):
            pairs = [(left[i * n + q - 1 + s], right[(j * c + i) * t + s]) for i in range(c) for s in range(t) if 0 <= q - 1 + s < n]
            want.append(dot([a for a, _ in pairs], [b for _, b in pairs], out) if out in FLOATS else int(sum(a.value() * b.value() for a, b in pairs)) % 2 ** 32)
    text = ('pipeline : { name = "c"; class = "strict"; inputs : { x : { type = "%s[1,%d,%d]"; }; w : { type = "%s[%d,%d,%d]"; }; }; '
            'jobs = ( %s ); outputs : { y = "c.y"; }; };') % (x_type, c, n, w_type, o, c, t, job("c", "tensor.conv1d@1", 'x = "$x"; w = "$w";', {"pad": "1"}))
    got = run(h, f"conv of {x_type} and {w_type}", text, {"x": pack(x_type, x), "w": pack(w_type, w)}, ["y"], device)
    if got is not None:
        h.check_bytes(f"conv1d of {x_type} and {w_type} {sizes} {device}", got["y"], pack(out, want), BITS[out] // 8)


def celled(h, device, op, gates, name):
    """The state that a cell gives, with w and r of a type, is that with the same weights as f32."""
    n, m, rng = BLOCKS[name][0] if name in BLOCKS else 5, 3, RNG
    rows = gates * m
    if name in BLOCKS:
        blocks = some_blocks(name, rows, False)
        w, data = [v for b in blocks for v in codes.unpack(name, b)], b"".join(blocks)
    else:
        raw = [rng.choice([k for k in range(1 << min(BITS[name], 8)) if codes.read(name, k) is not None and codes.read(name, k).size not in (NAN, INF)])
               for _ in range(rows * n)]
        w, data = [codes.read(name, k) for k in raw], pack(name, raw)
    plain = b"".join(struct.pack("<I", codes.write("f32", v, "ieee")) for v in w)
    some = lambda count: b"".join(struct.pack("<I", rng.getrandbits(1) << 31 | 0x3C000000 + rng.getrandbits(25)) for _ in range(count))
    types = {"x": f"f32[2,{n}]", "h": f"f32[2,{m}]", "w": f"{name}[{rows},{n}]", "plain": f"f32[{rows},{n}]", "r": f"f32[{rows},{m}]",
             "b": f"f32[2,{rows}]" if op == "gru" else f"f32[{rows}]", "c": f"f32[2,{m}]"}
    if op != "lstm":
        del types["c"]
    feeds = lambda weights: f'x = "$x"; h = "$h"; w = "${weights}"; r = "$r"; bias = "$b";' + (' c = "$c";' if op == "lstm" else "")
    text = ('pipeline : { name = "c"; class = "strict"; inputs : { %s }; jobs = ( %s, %s ); outputs : { y = "m.y"; e = "e.y"; }; };') % (
        " ".join(f'{k} : {{ type = "{v}"; }};' for k, v in types.items()), job("m", f"tensor.{op}_cell@1", feeds("w"), {}), job("e", f"tensor.{op}_cell@1", feeds("plain"), {}))
    inputs = {"x": some(2 * n), "h": some(2 * m), "w": data, "plain": plain, "r": some(rows * m), "b": some(2 * rows if op == "gru" else rows), "c": some(2 * m)}
    got = run(h, f"{op} of {name}", text, {k: inputs[k] for k in types}, ["y", "e"], device)
    if got is not None:
        h.check_bytes(f"{op}_cell with weights of {name} {device}", got["y"], got["e"], 4)


def layers(h, device):
    for name in ("f8e4m3", "f8e5m2", "f4", "i4", "u4", "i2", "u2", "ternary", "binary"):
        convolved(h, device, "f32" if name[0] == "f" else "bf16", name, "f32", (2, 7, 3, 3))
    for x, name, out in (("i8", "i4", "i32"), ("i16", "binary", "i32"), ("i32", "ternary", "i32"), ("u8", "u4", "u32"), ("u16", "u2", "u32")):
        convolved(h, device, x, name, out, (2, 7, 3, 3))
    # So many products that w is widened for a product of matrices.
    for x, name, out in (("f16", "f8e4m3", "f32"), ("i8", "binary", "i32"), ("u8", "u4", "u32")):
        convolved(h, device, x, name, out, (16, 23, 16, 3))
    for i, name in enumerate(("f8e4m3", "f8e5m2", "f4", "i4", "u4", "i2", "u2", "ternary", "binary", "i8", "u16", "q4_0", "q5_0", "q8_0", "q3_k", "q6_k")):
        celled(h, device, *(("rnn", 1), ("lstm", 4), ("gru", 3))[i % 3], name)
    status, _, err = h.run("op", "run", "tensor.conv1d", "--in", "x=zero:16:i8[1,2,8]", "--in", "w=zero:3:u4[1,2,3]", "--out", "y=" + h.path("y"), "--backend", device)
    h.check("signs of integers", status == 3 and "PC4201" in err, err)
    status, _, err = h.run("op", "run", "tensor.rnn_cell", "--in", "x=zero:128:f32[1,32]", "--in", "h=zero:12:f32[1,3]", "--in", "w=zero:60:q4_1[3,32]", "--in", "r=zero:36:f32[3,3]",
                           "--in", "bias=zero:12:f32[3]", "--out", "y=" + h.path("y"), "--backend", device)
    h.check("no weights with a minimum", status == 3 and "PC4102" in err, err)


def main():
    h = Harness()
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    {"convert": convert, "matmul": matmul, "layers": layers, "pairs": lambda h, d: convert(h, d, True)}[sys.argv[1]](h, device)
    return h.finish()


if __name__ == "__main__":
    sys.exit(main())
