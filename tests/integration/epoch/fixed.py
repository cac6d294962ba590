"""conf/wgsl/fixed.wgsl against Python's integers: sum, difference, product and quotient of numbers at and around every
border, for several scales. And what is uploaded with the helpers has the chain's scale. usage: fixed.py BACKEND..."""
import json
import os
import struct
import sys

from harness import Harness, Random

TYPES = {"i32": (32, True, "i"), "u32": (32, False, "I"), "i64": (64, True, "q"), "u64": (64, False, "Q")}
SHADER = """//# max dispatch = 1024,1,1
@group(0) @binding(0) var<storage, read> a: array<TYPE>;
@group(0) @binding(2) var<storage, read> b: array<TYPE>;
@group(1) @binding(0) var<storage, read_write> results: array<TYPE>;

// Sum, difference, product, quotient, and which of them did not fit.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let at = gid.x;
	if (at < arrayLength(&a)) {
		let x = a[at];
		let y = b[at];
		var failed = 0u;
		results[at * 5u] = fixed_add_TYPE(x, y);
		failed |= select(0u, 1u, fixed_failed);
		fixed_failed = false;
		results[at * 5u + 1u] = fixed_sub_TYPE(x, y);
		failed |= select(0u, 2u, fixed_failed);
		fixed_failed = false;
		results[at * 5u + 2u] = fixed_mul_TYPE(x, y);
		failed |= select(0u, 4u, fixed_failed);
		fixed_failed = false;
		results[at * 5u + 3u] = fixed_div_TYPE(x, y);
		failed |= select(0u, 8u, fixed_failed);
		results[at * 5u + 4u] = TYPE(failed);
	}
}
"""


def limits(bits, is_signed):
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)


def expected(x, y, low, high, scale):
    exact = [x + y, x - y, x * y // scale]
    exact.append(x * scale // y if y else high + 1 if x > 0 else low - 1 if x < 0 and low < 0 else None)
    failed = sum(1 << i for i, v in enumerate(exact) if v is None or not low <= v <= high)
    return [0 if v is None else min(max(v, low), high) for v in exact] + [failed]


def values(bits, is_signed, scale):
    low, high = limits(bits, is_signed)
    r = Random(bits + scale)
    edges = {low, low + 1, -scale - 1, -scale, -scale + 1, -2, -1, 0, 1, 2, 3, scale - 1, scale, scale + 1, high // scale,
             high // scale + 1, high // 2, high // 2 + 1, high - 1, high, low // scale, low // scale - 1, 1 << (bits // 2)}
    edges = sorted(v for v in edges if low <= v <= high)
    pairs = [(x, y) for x in edges for y in edges]
    for _ in range(600):
        x, y = (low + (r.u64() >> r.below(64)) % (high - low + 1) for _ in range(2))
        pairs.append((x, y))
        near = x * scale // y if y else 0  # quotients that are just exact, and products around the border
        pairs.append((y, max(low, min(high, near))))
    return pairs


def compare_widened(h, backend):
    """Comparisons of 32-bit numbers widened to 64 with constants: lavapipe found no i64(x) below 0."""
    constants = (-2147483649, -2147483648, -5, -1, 0, 1, 5, 2147483647, 2147483648, 4294967295, 4294967296)
    marks = ("<", "<=", ">", ">=", "==", "!=")
    cases = [(t, m, k) for t in ("i", "u") for m in marks for k in constants if t == "i" or k >= 0]
    lines = "".join(f"\tr[at * {len(cases)}u + {n}u] = select(0u, 1u, {'i64(bitcast<i32>(x))' if t == 'i' else 'u64(x)'} {m} "
                    f"{f'{k}li' if t == 'i' else f'{k}lu'});\n" for n, (t, m, k) in enumerate(cases))
    shader = h.write("widened.wgsl", ("@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
                                      "@group(1) @binding(0) var<storage, read_write> r: array<u32>;\n"
                                      "@compute @workgroup_size(1)\nfn main(@builtin(global_invocation_id) gid: vec3<u32>) {\n"
                                      "\tlet at = gid.x;\n\tlet x = a[at];\n" + lines + "}\n").encode())
    numbers = (-2147483648, -6, -5, -4, -1, 0, 1, 4, 5, 6, 2147483647)
    tests = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__}
    want = [int(tests[m](x if t == "i" else x % 2 ** 32, k)) for x in numbers for t, m, k in cases]
    a = h.write("a", struct.pack(f"<{len(numbers)}i", *numbers))
    status, _, err = h.run("shader", "run", shader, "--dispatch", str(len(numbers)), "--bind", "0:0=" + a, "--bind",
                           f"1:0=zero:{4 * len(want)}", "--read", "1:0=" + h.path("out"), "--backend", backend)
    if h.check(f"widened numbers compared, {backend}", status == 0, err):
        h.check_bytes(f"widened numbers compared, {backend}", h.read("out"), struct.pack(f"<{len(want)}I", *want), 4)


def on_chain(h, backend):
    """A chain whose scale is 7: a job computes by it, without asking, and cannot ask for another."""
    home = h.path("chain-home")
    os.makedirs(os.path.join(home, "chain"))
    text = open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg")).read()
    with open(os.path.join(home, "chain", "params.cfg"), "w") as f:
        f.write(text.replace('scale = "1_000_000"', 'scale = "7"'))
    bits, is_signed, code = TYPES["i64"]
    low, high = limits(bits, is_signed)
    pairs = [(-20, 3), (9, -4), (high, 8), (5, 0), (-1, 6)]

    def ok(*args):
        status, out, err = h.run("--home", home, *args)
        h.check(" ".join(args), status == 0, err)
        return out.decode().strip()

    ok("ledger", "credit", "ann", "100000000")
    shader = ok("shader", "upload", h.path("i64.wgsl"), "--with", "fixed", "--sender", "ann").split()[0]
    a, b = (ok("cas", "put", h.write(f"side{i}", struct.pack("<5q", *(p[i] for p in pairs)))) for i in range(2))
    submit = ["job", "submit", "--sender", "ann", "--shader", shader, "--input", a, "--bind", f"0:2={b}", "--dispatch", "1",
              "--gas-limit", "10000000", "--output-bytes", "200"]
    status, _, err = h.run("--home", home, *submit, "--override", "canonical_scale=8")
    h.check("a job does not choose the scale", status == 3 and "PC5820" in err, err)
    job = json.loads(ok("--json", *submit))
    ok("block", "end", "--backend", backend)
    shown = json.loads(ok("--json", "job", "show", job.get("job", job.get("job_id", ""))))
    ok("cas", "get", shown.get("output", shown.get("output_cid", "")), "--out", h.path("out"))
    want = [v for x, y in pairs for v in expected(x, y, low, high, 7)]
    h.check_bytes("the chain's scale", h.read("out"), struct.pack("<25q", *want), 8)


def main():
    h = Harness()
    for name, (bits, is_signed, code) in TYPES.items():
        shader = h.write(f"{name}.wgsl", SHADER.replace("TYPE", name).encode())
        status, out, err = h.run("shader", "check", "--consensus", "--with", "fixed", shader)
        h.check(f"{name}: taken by the consensus VM", status == 0 and b"proven free of races" in out, err)
        low, high = limits(bits, is_signed)
        for scale in (1, 7, 10 ** 6, 10 ** 9, 2 ** 32 - 1):
            pairs = values(bits, is_signed, scale)
            a = h.write("a", struct.pack(f"<{len(pairs)}{code}", *(p[0] for p in pairs)))
            b = h.write("b", struct.pack(f"<{len(pairs)}{code}", *(p[1] for p in pairs)))
            want = [v for x, y in pairs for v in expected(x, y, low, high, scale)]
            override = [] if scale == 10 ** 6 else ["--override", f"canonical_scale={scale}"]
            for backend in sys.argv[1:]:
                out = h.path("out")
                if os.path.exists(out):
                    os.remove(out)
                status, _, err = h.run("shader", "run", shader, "--with", "fixed", "--dispatch",
                                       str((len(pairs) + 63) // 64), "--bind", "0:0=" + a, "--bind", "0:2=" + b,
                                       "--bind", f"1:0=zero:{len(want) * bits // 8}", "--read", "1:0=" + out, *override,
                                       "--backend", backend)
                label = f"{name}, scale {scale}, {backend}"
                if h.check(label, status == 0, err):
                    h.check_bytes(label, h.read("out"), struct.pack(f"<{len(want)}{code}", *want), bits // 8)
    status, _, err = h.run("shader", "check", "--with", "fixd", shader)
    h.check("an unknown helper names those there are", status == 3 and "PC6104" in err and "fixed" in err, err)
    status, _, err = h.run("shader", "check", shader)
    h.check("without the helper its names are unknown", status == 3 and "fixed_add_u64" in err, err)
    on_chain(h, sys.argv[1])
    for backend in sys.argv[1:]:
        compare_widened(h, backend)
    # The oracle is shown to see a fault: floor is not truncation.
    h.check("floor", expected(-1, 1, -8, 7, 10)[2] == -1 and expected(1, -3, -99, 99, 10)[3] == -4, "")
    h.finish()


main()
