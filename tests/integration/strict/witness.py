"""The contraction witness on every device: a = b = 1 + 2^-12, c = -1. Strictly a*b+c rounds twice and is 2^-11, while
fma(a, b, c) rounds once and is 2^-11 + 2^-24; a compiler that contracts, or a fma that is a product and a sum, shows.
In straight code, loops, functions, workgroup memory, vectors, matrices, with constants, and under other operations.
The expected bits are worked out below with exact fractions.
usage: witness.py [--plant] [SELECTOR...]   all devices where none is named; --plant: the straight case is written as a compiler that contracts reads it, which must be found."""
import json
import struct
import sys
from fractions import Fraction

from harness import Harness

h = Harness()
LANES = 64


def rounded(x):
    """The f32 nearest to a fraction (a normal one), ties to even, as bits."""
    if x == 0:
        return 0
    sign, x, e = (0x80000000, -x, 0) if x < 0 else (0, x, 0)
    while x >= 2 ** 24:
        x, e = x / 2, e + 1
    while x < 2 ** 23:
        x, e = x * 2, e - 1
    n = x.numerator // x.denominator
    rest = x - n
    n += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2 == 1)
    return sign | (n - 2 ** 23) + ((e + 23 + 127) << 23)


def value(bits):
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


A, C = 0x3F800800, 0xBF800000
TWICE = rounded(value(rounded(value(A) * value(A))) + value(C))
ONCE = rounded(value(A) * value(A) + value(C))
# 2 * 2 roundings of a sum of products; both differ from what one or two contractions give.
DOT = rounded(value(rounded(value(A) * value(A))) + value(rounded(value(C) * value(0x3F800000))))
h.check("the witness tells them apart", (TWICE, ONCE, DOT) == (0x3A000000, 0x3A000400, 0x3A000000),
        f"{TWICE:08x} {ONCE:08x} {DOT:08x}")

HEAD = """struct In { a : f32, b : f32, c : f32, one : f32, v : vec4<f32>, w : vec4<f32> }
@group(0) @binding(0) var<storage, read> q : In;
@group(0) @binding(1) var<storage, read_write> r : array<u32>;
"""
MAIN = """@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i : u32) {
%s}
"""
STORE = "  r[2u * i] = bitcast<u32>(%s);\n  r[2u * i + 1u] = bitcast<u32>(%s);\n"
CASES = {
    "straight": ("", STORE % ("q.a * q.b + q.c", "fma(q.a, q.b, q.c)")),
    "subtracted": ("", STORE % ("q.a * q.b - q.one", "fma(q.a, q.b, -q.one)")),
    "subtracted from": ("", STORE % ("-(q.one - q.a * q.b)", "-fma(-q.a, q.b, q.one)")),
    "through variables": ("", "  let p = q.a * q.b;\n  var s = q.c;\n  s += p;\n  var t = q.a;\n  t = fma(t, t, q.c);\n"
                          + STORE % ("s", "t")),
    "constants": ("const a = 0x1.001p0f;\n", STORE % ("a * q.b + (-1.0)", "fma(q.a, a, -1.0)")),
    "constant folded": ("const a = 0x1.001p0f;\n", STORE % ("a * a + (-1.0) * q.one", "fma(a, a, -1.0 * q.one)")),
    "all constant": ("const a = 0x1.001p0f;\nconst x = a * a + (-1.0f);\nconst y = fma(a, a, -1.0f);\n",
                     STORE % ("x * q.one", "y * q.one")),
    "square": ("", "  let a = q.a;\n" + STORE % ("a * a + q.c", "fma(a, a, q.c)")),
    "loop": ("", "  var s = 0.0;\n  var t = 0.0;\n  for (var k = 0u; k < 5u; k++) {\n    s = q.a * q.b + q.c + s * 0.0;\n"
             "    t = fma(q.a, q.b, q.c) + t * 0.0;\n  }\n" + STORE % ("s", "t")),
    "accumulator": ("", "  var s = q.c;\n  var t = q.c;\n  for (var k = 0u; k < 3u; k++) {\n"
                    "    s = s + select(0.0, q.a, k == 1u) * q.b;\n    t = fma(select(0.0, q.a, k == 1u), q.b, t);\n  }\n"
                    + STORE % ("s", "t")),
    "loop to run time": ("", "  let n = u32(q.one) * 4u;\n  var s = 0.0;\n  var t = 0.0;\n  for (var k = 0u; k < min(n, 9u); k++) {\n"
                         "    s = q.v[k] * q.w[k] + q.c;\n    t = fma(q.v[k], q.w[k], q.c);\n  }\n" + STORE % ("s", "t")),
    "functions": ("fn times(x : f32, y : f32) -> f32 { return x * y; }\nfn plus(x : f32, y : f32) -> f32 { return x + y; }\n"
                  "fn fused(x : f32, y : f32, z : f32) -> f32 { return fma(x, y, z); }\n",
                  STORE % ("plus(times(q.a, q.b), q.c)", "fused(q.a, q.b, q.c)")),
    "branch": ("", "  var s = q.a * q.b;\n  var t = 0.0;\n  if (i % 2u == 0u) {\n    s = s + q.c;\n    t = fma(q.a, q.b, q.c);\n"
               "  } else {\n    s = q.c + s;\n    t = fma(q.b, q.a, q.c);\n  }\n" + STORE % ("s", "t")),
    "workgroup": ("var<workgroup> g : array<f32, 64>;\nvar<workgroup> f : array<f32, 64>;\n",
                  "  g[i] = q.a;\n  f[i] = q.b;\n  workgroupBarrier();\n  let k = (i + 17u) % 64u;\n  let p = g[k] * f[k];\n"
                  "  let t = fma(g[k], f[k], q.c);\n  workgroupBarrier();\n  g[i] = p;\n  f[i] = t;\n  workgroupBarrier();\n"
                  + STORE % ("g[k] + q.c", "f[k]")),
    "workgroup sum": ("var<workgroup> g : array<f32, 64>;\n",
                      "  g[i] = select(0.0, select(q.a, q.c, i == 63u), i >= 62u);\n  workgroupBarrier();\n  var s = 0.0;\n"
                      "  var t = q.c;\n  for (var k = 0u; k < 63u; k++) { s = s + g[k] * q.b; }\n  s = s + g[63] * q.one;\n"
                      "  for (var k = 0u; k < 63u; k++) { t = fma(g[k], q.b, t); }\n" + STORE % ("s", "t")),
    "vectors": ("", "  let p = q.v * q.w + vec4<f32>(q.c);\n  let t = fma(q.v, q.w, vec4<f32>(q.c));\n"
                + STORE % ("p[i % 4u]", "t[(i + 1u) % 4u]")),
    "vector by scalar": ("", "  let p = q.v * q.b + q.c;\n  let t = fma(q.v, vec4<f32>(q.b), vec4<f32>(q.c));\n"
                         + STORE % ("p[i % 4u]", "t.w")),
    "dot": ("", STORE % ("dot(vec2<f32>(q.a, q.c), vec2<f32>(q.b, q.one))", "fma(q.a, q.b, q.c)")),
    "matrix": ("", "  let m = mat2x2<f32>(q.a, q.a, q.c, q.c);\n" + STORE % ("(m * vec2<f32>(q.b, q.one)).y", "fma(q.a, q.b, q.c)")),
    "private": ("var<private> g : f32;\n", "  g = q.a * q.b;\n  g += q.c;\n  let s = g;\n  g = fma(q.a, q.b, q.c);\n" + STORE % ("s", "g")),
    "storage between": ("@group(0) @binding(2) var<storage, read_write> m : array<f32>;\n",
                        "  m[i] = q.a * q.b;\n  let s = m[i] + q.c;\n  m[i] = fma(q.a, q.b, q.c);\n" + STORE % ("s", "m[i]")),
    "array": ("", "  var l = array<f32, 3>(q.a, q.b, q.c);\n  let k = i % 2u;\n"
              + STORE % ("l[k] * l[1u - k] + l[2u]", "fma(l[k], l[1u - k], l[2])")),
}
INPUT = struct.pack("<12I", A, A, C, 0x3F800000, *[A] * 8)


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    return [d["selector"] for d in json.loads(out)["devices"] if d["usable"] and not d["selector"].startswith("null")
            and (not named or d["selector"] in named)]


def witness(selector, name, module, body):
    shader = h.write("witness.wgsl", (HEAD + module + MAIN % body).encode())
    args = ["shader", "run", shader, "--dispatch", "1", "--bind", "0:0=" + h.write("in.bin", INPUT), "--bind",
            "0:1=" + h.write("zero.bin", bytes(8 * LANES)), "--read", "0:1=" + h.path("out.bin"), "--backend", selector]
    if "binding(2)" in module:
        args += ["--bind", "0:2=" + h.write("more.bin", bytes(4 * LANES))]
    status, _, err = h.run(*args)
    if h.check(f"{name} on {selector}", status == 0, err):
        h.check_bytes(f"{name} on {selector}", h.read("out.bin"), struct.pack("<2I", TWICE, ONCE) * LANES, 4)


found = devices()
h.check("devices", len(found) > 1, str(found))
if "--plant" in sys.argv:
    witness(found[0], "straight", "", STORE % ("fma(q.a, q.b, q.c)", "fma(q.a, q.b, q.c)"))
    h.finish()
for selector in found:
    for name, (module, body) in CASES.items():
        witness(selector, name, module, body)
h.finish()
