"""What moves and indexes elements, in plain Python: coordinates, lists and dictionaries; sums of floats as fractions.
usage: moves.py all|few BACKEND..."""
import itertools
import sys

import matmul
from harness import Harness, Random, share
from matmul import FLOATS, INTEGERS, exact, value
from rows import together

KINDS = ["f32", "f16", "bf16", *INTEGERS]
NARROW = {"f8e4m3": 8, "f8e5m2": 8, "f4": 4, "i4": 4, "u4": 4, "i2": 2, "u2": 2, "ternary": 2, "binary": 1}


def bits_of(kind):
    return NARROW.get(kind) or matmul.bits_of(kind)


def pack(kind, codes):
    """Element i of b bits is bits i * b and on, the least significant of the first byte being bit 0."""
    if kind not in NARROW:
        return matmul.pack(kind, codes)
    w, number = NARROW[kind], 0
    for i, code in enumerate(codes):
        number |= code << i * w
    return number.to_bytes((len(codes) * w + 7) // 8, "little")


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def places(shape):
    return itertools.product(*(range(d) for d in shape))


class Tensor:
    def __init__(self, kind, shape, codes):
        self.kind, self.shape, self.codes = kind, tuple(shape), list(codes)
        self.at = dict(zip(places(self.shape), self.codes))

    def port(self, name):
        return (name, pack(self.kind, self.codes), f"{self.kind}[{','.join(map(str, self.shape))}]")

    def number(self, place):
        return int(value(self.kind, self.at[place]))


def drawn(r, kind, shape, most=None):
    w = bits_of(kind)
    if kind in NARROW:
        return Tensor(kind, shape, [(0, 1, 3)[r.below(3)] if kind == "ternary" else r.below(1 << w) for _ in range(size(shape))])
    return Tensor(kind, shape, [r.below(most) if most else r.below(1 << w) for _ in range(size(shape))])


def made(kind, shape, f):
    return Tensor(kind, shape, [f(p) for p in places(shape)])


class Cases:
    def __init__(self, h, backends):
        self.h, self.backends = h, backends

    @together
    def run(self, op, inputs, attrs, wanted):
        wanted = wanted if isinstance(wanted, list) else [wanted]
        outputs = {"tensor.argsort": ["index"], "tensor.topk": ["y", "index"]}.get(op, ["y"])
        for backend in self.backends:
            got = yield op, [t.port(name) for name, t in inputs], outputs, backend, attrs
            for data, want in zip(got or [], wanted):
                self.h.check_bytes(f"{op} {[t.shape for _, t in inputs]} {inputs[0][1].kind if inputs else want.kind} {attrs} {backend}", data,
                                   pack(want.kind, want.codes), max(1, bits_of(want.kind) // 8))


def turned(p, axis, to):
    return p[:axis] + (to,) + p[axis + 1:]


def gathering(c, r, kind, index_kind, shape, axis, index_shape):
    x = drawn(r, kind, shape)
    index = drawn(r, index_kind, index_shape, shape[axis])
    a, k = axis, len(index_shape)
    c.run("tensor.gather", [("x", x), ("index", index)], [f"axis={axis}"],
          made(kind, shape[:a] + index_shape + shape[a + 1:], lambda p: x.at[p[:a] + (index.number(p[a:a + k]),) + p[a + k:]]))
    along = drawn(r, index_kind, turned(shape, axis, 3), shape[axis])
    c.run("tensor.take_along", [("x", x), ("index", along)], [f"axis={axis}"],
          made(kind, along.shape, lambda p: x.at[turned(p, axis, along.number(p))]))
    if len(shape) == 2 and axis == 0:
        c.run("tensor.embedding", [("table", x), ("index", index)], [],
              made(kind, index_shape + shape[1:], lambda p: x.at[(index.number(p[:k]), p[k])]))
    c.run("tensor.one_hot", [("index", index)], [f"depth={shape[axis]}", "out=u8"],
          made("u8", index_shape + (shape[axis],), lambda p: int(index.number(p[:-1]) == p[-1])))
    c.run("tensor.histogram", [("x", index)], [f"bins={shape[axis]}"],
          made("u32", (shape[axis],), lambda p: sum(index.number(q) == p[0] for q in places(index_shape))))


def signed_of(kind, code):
    w = bits_of(kind)
    return code - (1 << w) if kind in ("i4", "i2", "ternary") and code >> (w - 1) else code


def scattering(c, r, kind, shape, axis, m, mode):
    x, index = drawn(r, kind, shape), drawn(r, "u32", turned(shape, axis, m), shape[axis])
    u = drawn(r, kind, index.shape)
    hits = {}
    for p in places(index.shape):
        hits.setdefault(turned(p, axis, index.number(p)), []).append(u.at[p])
    signed = {"min": min, "max": max}

    def joined(p):
        y = x.at[p]
        for v in hits.get(p, []):
            if mode in signed:
                y = signed[mode](y, v, key=lambda code: signed_of(kind, code) if kind in NARROW else value(kind, code))
            else:
                y = {"set": v, "add": y + v, "and": y & v, "or": y | v, "xor": y ^ v}[mode] % (1 << bits_of(kind))
        if mode == "add" and kind in FLOATS and p in hits:
            return exact(kind, [value(kind, code) for code in [x.at[p], *hits[p]]])
        return y

    c.run("tensor.scatter", [("x", x), ("index", index), ("updates", u)], [f"axis={axis}", f"mode={mode}"], made(kind, shape, joined))


def ordering(c, r, kind, shape, axis, k):
    w, few = bits_of(kind), r.below(2)
    x = drawn(r, kind, shape, 3 if few else None)

    def key(code):
        if kind in NARROW and kind[0] != "f":
            return signed_of(kind, code)
        if kind not in FLOATS and kind not in NARROW:
            return value(kind, code)
        return -(code - (1 << (w - 1))) - 1 if code >> (w - 1) else code

    lines = {}
    for p in places(turned(shape, axis, 1)):
        lines[p] = [x.at[turned(p, axis, j)] for j in range(shape[axis])]
    for down in (False, True):
        # Python's sort is stable, reversed too.
        order = {p: sorted(range(len(v)), key=lambda j: key(v[j]), reverse=down) for p, v in lines.items()}
        where = made("u32", shape, lambda p: order[turned(p, axis, 0)][p[axis]])
        y = made(kind, shape, lambda p: x.at[turned(p, axis, where.at[p])])
        c.run("tensor.sort", [("x", x)], [f"axis={axis}", f"descending={str(down).lower()}"], y)
        c.run("tensor.argsort", [("x", x)], [f"axis={axis}", f"descending={str(down).lower()}"], where)
        short = turned(shape, axis, k)
        c.run("tensor.topk", [("x", x)], [f"axis={axis}", f"k={k}", f"largest={str(down).lower()}"],
              [made(kind, short, lambda p: y.at[p]), made("u32", short, lambda p: where.at[p])])


def padding(c, r, kind, shape, before, after, mode):
    x = drawn(r, kind, shape)

    def source(i, n):
        if mode == "edge":
            return min(max(i, 0), n - 1)
        if mode == "reflect":
            i = abs(i)
            return 2 * (n - 1) - i if i >= n else i
        return i

    c.run("tensor.pad", [("x", x)], ["before=" + ",".join(map(str, before)), "after=" + ",".join(map(str, after)), "mode=" + mode],
          made(kind, tuple(n + a + b for n, a, b in zip(shape, before, after)),
               lambda p: x.at.get(tuple(source(i - b, n) for i, b, n in zip(p, before, shape)), 0)))


def moving(c, r, kind, shape, axis, shift):
    x, n = drawn(r, kind, shape), shape[axis]
    c.run("tensor.flip", [("x", x)], [f"axes={axis}"], made(kind, shape, lambda p: x.at[turned(p, axis, n - 1 - p[axis])]))
    c.run("tensor.roll", [("x", x)], [f"axes={axis}", f"shifts={shift}"], made(kind, shape, lambda p: x.at[turned(p, axis, (p[axis] - shift) % n)]))
    if len(shape) > 1 and kind != "binary":
        c.run("tensor.tril", [("x", x)], [f"diagonal={shift}"], made(kind, shape, lambda p: x.at[p] if p[-1] - p[-2] <= shift else 0))
        c.run("tensor.triu", [("x", x)], [f"diagonal={shift}"], made(kind, shape, lambda p: x.at[p] if p[-1] - p[-2] >= shift else 0))
    a, b = drawn(r, kind, shape), drawn(r, kind, (1,) * len(shape))
    chosen = drawn(r, "u8", shape[-1:], 2)
    c.run("tensor.where", [("condition", chosen), ("a", a), ("b", b)], [],
          made(kind, shape, lambda p: a.at[p] if chosen.at[p[-1:]] else b.codes[0]))


def joining(c, r, kind, shapes, axis):
    xs = [drawn(r, kind, shape) for shape in shapes]
    n = sum(shape[axis] for shape in shapes)
    every = [(t, j) for t in xs for j in range(t.shape[axis])]
    c.run("tensor.concat", [(f"xs[{i}]", t) for i, t in enumerate(xs)], [f"axis={axis}"],
          made(kind, turned(shapes[0], axis, n), lambda p: every[p[axis]][0].at[turned(p, axis, every[p[axis]][1])]))
    xs = [drawn(r, kind, shapes[0]) for _ in shapes]
    c.run("tensor.stack", [(f"xs[{i}]", t) for i, t in enumerate(xs)], [f"axis={axis}"],
          made(kind, shapes[0][:axis] + (len(xs),) + shapes[0][axis:], lambda p: xs[p[axis]].at[p[:axis] + p[axis + 1:]]))


def looking(c, r, kind, index_kind, n, shape):
    table = drawn(r, kind, (n,))
    x = drawn(r, index_kind, shape, min(n, 1 << bits_of(index_kind)))
    c.run("tensor.lookup", [("x", x), ("lookup", table)], [], made(kind, shape, lambda p: table.codes[x.number(p)]))


def viewing(c, r, kind, shape):
    """A view of more than one dimension: shape backwards, axes turned, every second element from the second on, a new axis in front."""
    x = drawn(r, kind, shape)
    back = shape[::-1]
    c.run("tensor.reshape", [("x", x)], ["shape=" + ",".join(map(str, back))], Tensor(kind, back, x.codes))
    c.run("tensor.transpose", [("x", x)], [], made(kind, back, lambda p: x.at[p[::-1]]))
    starts, cut = tuple(min(1, n - 1) for n in shape), tuple((n - min(1, n - 1) + 1) // 2 for n in shape)
    c.run("tensor.slice", [("x", x)], ["start=" + ",".join(map(str, starts)), "step=" + ",".join("2" for _ in shape)],
          made(kind, cut, lambda p: x.at[tuple(a + 2 * i for a, i in zip(starts, p))]))
    c.run("tensor.broadcast", [("x", x)], ["shape=3," + ",".join(map(str, shape))], made(kind, (3, *shape), lambda p: x.at[p[1:]]))


def spread(c, r, kind, shape, window):
    """Terms of a convolution over one dimension."""
    b, ch, n = shape
    x = drawn(r, kind, shape)
    pad = 0 if kind == "binary" else 1
    places = n + 2 * pad - window + 1
    c.run("tensor.im2col", [("x", x)], [f"window={window}", f"pad={pad}"],
          made(kind, (b, places, ch * window), lambda p: x.at.get((p[0], p[2] // window, p[1] - pad + p[2] % window), 0)))


def narrow(c, r, kind, i):
    """What is narrower than a byte shares one, and a result ends within one."""
    shape = ((7,), (5, 3), (2, 3, 7), (3, 11))[i % 4]
    axis = i % len(shape)
    gathering(c, r, kind, ("i32", "u32", "i64", "u64")[i % 4], shape, axis, ((3,), (2, 3), (1,))[i % 3])
    gathering(c, r, kind, "u32", (6, 5), 0, (5,))
    looking(c, r, kind, ("u8", "u16", "u32", "u64")[i % 4], (1, 7, 33)[i % 3], (3, 5))
    for mode in ("set", "add", "min", "max", "and", "or", "xor") if kind in ("i4", "u4", "i2", "u2") else ("set",):
        scattering(c, r, kind, shape, axis, 5, mode)
    ordering(c, r, kind, shape, axis, 2)
    ordering(c, r, kind, (67,), 0, 5)
    for mode, before, after in (("constant", (2, 0), (1, 3)), ("edge", (4, 1), (1, 1)), ("reflect", (2, 3), (1, 0))):
        if kind != "binary" or mode != "constant":
            padding(c, r, kind, (3, 4), before, after, mode)
    moving(c, r, kind, shape, axis, 2)
    joining(c, r, kind, [(2, 3, 1), (2, 2, 1), (2, 1, 1), (2, 5, 1)][:2 + i % 3], 1)
    viewing(c, r, kind, shape)
    spread(c, r, kind, (2, 3, 5), 2)


CHAIN = """pipeline : {{ name = "chain"; class = "strict"; inputs : {{ x : {{ type = "{kind}[5,6]"; }}; a : {{ type = "f32[4,6]"; }}; }};
  jobs = ( {{ id = "turned"; op = "tensor.transpose@1"; in : {{ x = "$x"; }}; }},
           {{ id = "some"; op = "tensor.slice@1"; in : {{ x = "turned.y"; }}; attr : {{ start = ",1"; step = ",2"; }}; }},
           {{ id = "all"; op = "tensor.matmul@1"; in : {{ a = "$a"; b = "some.y"; }}; }} );
  outputs : {{ some = "some.y"; y = "all.y"; }}; }};
"""


def chained(h, r, backends):
    """Views of narrow types one behind the other, and before a product that could be asked to read through them: fused and not."""
    for kind in NARROW:
        x = drawn(r, kind, (5, 6))
        want = made(kind, (6, 2), lambda p: x.at[1 + 2 * p[1], p[0]])
        h.write("chain.pipe.cfg", CHAIN.format(kind=kind).encode())
        for backend in backends:
            ys = []
            for how in ([], ["--no-fuse"]):
                status, _, err = h.run("run", h.path("chain.pipe.cfg"), "--backend", backend, "--in", "x=" + h.write("x", pack(kind, x.codes)), "--in",
                                       "a=" + h.write("a", matmul.pack("f32", [0x3F800000 + 7 * i for i in range(24)])), "--out", "some=" + h.path("some"),
                                       "--out", "y=" + h.path("y"), "--no-memo", *how)
                if h.check(f"views of {kind} in a chain {how} {backend}", status == 0, err):
                    h.check_bytes(f"views of {kind} in a chain {how} {backend}", h.read("some"), pack(kind, want.codes), 1)
                    ys.append(h.read("y"))
            h.check(f"a product of views of {kind} {backend}", len(ys) == 2 and ys[0] == ys[1])


def making(c, kind, shape, axis, start, step):
    c.run("tensor.iota", [], ["shape=" + ",".join(map(str, shape)), f"out={kind}", f"axis={axis}", f"start={start}", f"step={step}"],
          made(kind, shape, lambda p: (start + step * p[axis]) % (1 << bits_of(kind))))
    for out, text, code in (("f32", "0.1", 0x3DCCCCCD), ("f16", "-0.000000059604644775390625", 0x8001), ("bf16", "Inf", 0x7F80), ("i16", "-2", 0xFFFE)):
        c.run("tensor.full", [], ["shape=" + ",".join(map(str, shape)), f"out={out}", f"value={text}"], made(out, shape, lambda p: code))


def out_of_range(h, backends):
    """On every device the lowest position and the number there, one code, and nothing stored; a planted clamp would give bytes."""
    x = h.write("x", pack("f32", range(10)))
    for kind, codes, bad, number, attrs in (("i32", [0, 4, 5, 7], 2, "5", []), ("i32", [0, 1, (1 << 32) - 1, 9], 2, "-1", []),
                                           ("i64", [4, (1 << 64) - 6, 0, 9], 1, "-6", ["--attr", "negative=true"]),
                                           ("u64", [(1 << 64) - 1, 0, 0, 0], 0, "18446744073709551615", []), ("u32", [0, 0, 0, 1 << 31], 3, "2147483648", [])):
        index = h.write("index", pack(kind, codes))
        for backend in backends:
            out = h.path(f"none-{kind}-{bad}-{number}-{backend.replace(':', '-')}")
            status, _, err = h.run("op", "run", "tensor.gather", "--backend", backend, "--in", f"x={x}:f32[5,2]", "--in", f"index={index}:{kind}[4]",
                                   "--out", "y=" + out, *attrs)
            said = f"index[{bad}] is {number}, out of range of 5"
            h.check(f"gather of {kind} {codes} {backend}", status == 9 and "PC5205" in err and said in err, f"exit status {status}\n{err}")
            try:
                stored = len(h.read(out.rsplit("/", 1)[-1])) > 0
            except FileNotFoundError:
                stored = False
            h.check(f"nothing stored {kind} {backend}", not stored)
    # A lookup port: the op's plan looks at nothing, the host does. Where no number of the type is out of range there is nothing to find.
    for kind, codes, n, bad, number in (("u8", [0, 9, 3], 9, 1, 9), ("u16", [8, 8, 65535], 9, 2, 65535), ("u32", [1 << 31, 0, 9], 9, 0, 1 << 31),
                                        ("u64", [0, 1 << 63, 1], 9, 1, 1 << 63), ("u16", [256], 256, 0, 256), ("u8", [0], 0, 0, 0)):
        index, table = h.write("index", pack(kind, codes)), h.write("table", bytes(4 * n))
        for backend in backends:
            status, _, err = h.run("op", "run", "tensor.lookup", "--backend", backend, "--in", f"x={index}:{kind}[{len(codes)}]", "--in",
                                   f"lookup={table}:f32[{n}]", "--out", "y=" + h.path("looked"))
            h.check(f"lookup of {kind} {codes} {backend}", status == 9 and f"x[{bad}] is {number}, out of range of {n}" in err, f"exit status {status}\n{err}")
    index = h.write("index", pack("u32", [1, 3, 2]))
    for op, port, attrs in (("tensor.one_hot", "index", ["depth=3"]), ("tensor.histogram", "x", ["bins=3"])):
        for backend in backends:
            status, _, err = h.run("op", "run", op, "--backend", backend, "--in", f"{port}={index}:u32[3]", "--out", "y=" + h.path("y"), "--attr", *attrs)
            h.check(f"{op} {backend}", status == 9 and f"{port}[1] is 3, out of range of 3" in err, f"exit status {status}\n{err}")


def refusals(h):
    h.write("x", bytes(24))
    for op, ports, attrs, words in (
            ("gather", ["x=f32[2,3]", "index=u32[6]"], ["axis=2"], "PC4202"), ("take_along", ["x=f32[2,3]", "index=u32[6]"], [], "PC4201"),
            ("embedding", ["table=f32[2,3]", "index=f32[6]"], [], "PC4102"), ("one_hot", ["index=u32[6]"], ["depth=2", "out=q"], "PC4202"),
            ("histogram", ["x=u32[6]"], ["bins=0"], "PC4112"), ("scatter", ["x=f32[6]", "index=u32[6]", "updates=f32[6]"], ["mode=max"], "PC4202"),
            ("scatter", ["x=f32[6]", "index=u32[6]", "updates=u32[6]"], [], "PC4201"), ("pad", ["x=f32[6]"], ["before=6", "mode=reflect"], "PC4202"),
            ("pad", ["x=f32[6]"], ["before=-1"], "PC4202"), ("flip", ["x=f32[2,3]"], ["axes=0,0"], "twice"), ("roll", ["x=f32[6]"], ["axes=0"], "PC4202"),
            ("tril", ["x=f32[6]"], [], "PC4201"), ("where", ["condition=u32[6]", "a=f32[6]", "b=f32[2,3]"], [], "PC4201"),
            ("topk", ["x=f32[6]"], ["k=7"], "PC4202"), ("concat", ["xs[0]=f32[6]", "xs[1]=f32[2,3]"], [], "PC4201"),
            ("concat", ["xs[1]=f32[6]"], [], "xs[0] is next"), ("flip", ["x[0]=f32[6]", "x[1]=f32[6]"], [], "PC4108"),
            ("pad", ["x=binary[192]"], ["before=1"], "no binary is one"), ("im2col", ["x=binary[2,3,32]"], ["window=2", "pad=1"], "no binary is one"),
            ("tril", ["x=binary[12,16]"], [], "PC4102"), ("transpose", ["x=q4_0[1,32]"], [], "PC4102"), ("sort", ["x=bytes[24]"], [], "PC4102"),
            ("scatter", ["x=f8e4m3[24]", "index=u32[6]", "updates=f8e4m3[24]"], ["mode=add"], "set where elements are f8"),
            ("stack", [f"xs[{i}]=f32[6]" for i in range(17)], [], "PC4137"), ("full", [], ["shape=2", "out=f16", "value=0.1"], "not exact"),
            ("full", [], ["shape=2", "out=u8", "value=256"], "PC4202"), ("full", [], ["shape=2", "out=bool", "value=0x2"], "PC4202"),
            ("full", [], ["shape=2", "out=f32", "value=-nan(5)"], "PC4202"), ("full", [], ["shape=2", "out=f32", "value=-infinity"], "PC4202"), ("iota", [], ["shape=2", "out=f32"], "PC4202")):
        args = [a for port in ports for a in ("--in", port.replace("=", f"={h.path('x')}:"))] + [a for attr in attrs for a in ("--attr", attr)]
        status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", *args, "--out", "y=" + h.path("y"))
        h.check(f"refused {op} {ports} {attrs}", status != 0 and words in err, err)


def lists(h):
    """A list in a pipeline file: an array feeds it, inputs and jobs mixed; elsewhere it is refused at its place."""
    text = """pipeline : {{ name = "lists"; class = "integer"; inputs : {{ a : {{ type = "u32[n]"; }}; b : {{ type = "u32[m]"; }}; }};
      jobs = ( {{ id = "turn"; op = "tensor.flip@1"; in : {{ x = {0}; }}; attr : {{ axes = "0"; }}; }},
               {{ id = "all"; op = "tensor.concat@1"; in : {{ xs = {1}; }}; }} );
      outputs : {{ y = "all.y"; t = "turn.y"; }}; }};\n"""
    h.write("a", pack("u32", [1, 2]))
    h.write("b", pack("u32", [3]))
    for turn, all_of, words in (('"$a"', '[ "$b", "turn.y", "$b" ]', None), ('[ "$a" ]', '"$b"', None), ('[ "$a", "$b" ]', '"$b"', "PC4108"),
                                ('"$a"', "[ ]", "PC4108"), ('"$a"', '[ "$c" ]', "PC4010"), ('"$a"', "[ 1, 2 ]", "PC4003")):
        h.write("lists.pipe.cfg", text.format(turn, all_of).encode())
        status, _, err = h.run("run", h.path("lists.pipe.cfg"), "--backend", "cpu", "--in", "a=" + h.path("a"), "--in", "b=" + h.path("b"), "--out", "y=" + h.path("y"))
        if words:
            h.check(f"list {turn} {all_of}", status != 0 and words in err, err)
        elif h.check(f"list {turn} {all_of}", status == 0, err):
            h.check_bytes(f"list {turn} {all_of}", h.read("y"), pack("u32", [3, 2, 1, 3] if "turn" in all_of else [3]), 4)


def main():
    h, r = Harness(), Random(16)
    how, backends = sys.argv[1], sys.argv[2:]
    c = Cases(h, backends)
    out_of_range(h, backends)
    gathering(c, r, "f32", "i64", (5, 3), 0, (2, 2))
    looking(c, r, "f32", "u8", 256, (3, 5))
    looking(c, r, "u8", "u16", 65536, (1000,))
    looking(c, r, "bf16", "u32", 7, (2, 3, 3))
    for kind, mode in (("f32", "add"), ("f16", "set"), ("i32", "max")):
        scattering(c, r, kind, (4, 3), 0, 7, mode)
    ordering(c, r, "f16", (3, 17), 1, 2)
    padding(c, r, "u8", (3, 5), (1, 2), (2, 0), "reflect")
    moving(c, r, "u16", (3, 5), 1, 2)
    joining(c, r, "u8", [(2, 3), (2, 1), (2, 4)], 1)
    gathering(c, r, "i4", "u32", (5, 3), 0, (2, 2))
    scattering(c, r, "u2", (9,), 0, 5, "add")
    ordering(c, r, "f4", (3, 11), 1, 2)
    padding(c, r, "ternary", (3, 5), (1, 2), (2, 0), "edge")
    viewing(c, r, "binary", (5, 7))
    making(c, "u8", (3, 5), 1, -3, 100)
    if how == "all":
        refusals(h)
        lists(h)
        chained(h, r, backends)
        for i, kind in enumerate(NARROW):
            narrow(c, r, kind, i)
        for i, kind in enumerate(KINDS):
            gathering(c, r, kind, ("i32", "u32", "i64", "u64")[i % 4], ((7,), (4, 5), (2, 3, 4))[i % 3], i % 3, ((3,), (2, 3), (1,))[i % 3])
            looking(c, r, kind, ("u8", "u16", "u32", "u64")[i % 4], (1, 7, 256, 300)[i // 4], ((9,), (3, 4), (2, 3, 2))[i % 3])
            for mode in share(("set", "add") if kind in FLOATS else ("set", "add", "min", "max", "and", "or", "xor"), 3, i):
                scattering(c, r, kind, ((9,), (3, 4), (2, 3, 2))[i % 3], i % 3, 5, mode)
            ordering(c, r, kind, ((33,), (4, 5), (2, 31, 2))[i % 3], (0, 1, 1)[i % 3], 3)
            for mode, before, after in share((("constant", (2, 0), (1, 3)), ("edge", (4, 1), (1, 1)), ("reflect", (2, 3), (1, 0))), 3, i):
                padding(c, r, kind, (3, 4), before, after, mode)
            moving(c, r, kind, ((7,), (5, 4), (2, 3, 5))[i % 3], i % 3, -3 + i)
            joining(c, r, kind, [(2, 3, 1), (2, 2, 1), (2, 1, 1), (2, 5, 1)][:1 + i % 4], 1)
            if kind in INTEGERS:
                making(c, kind, (3, 4), i % 2, -7, 1 << (i * 5))
    h.finish()


if __name__ == "__main__":
    main()
