"""Function ops of the int library and plans of the tensor library, against Python.
usage: run.py int|fused|tensor BACKEND... | reference LIBRARY TOOL
reference: the int library's own references, by the tool of reference.c. int: each function by `pipectl op run`. fused: all functions of a type used by one shader, so that a driver which takes
a second a kernel compiles four kernels and not a hundred. tensor: plans by `pipectl op run`."""
import sys

import oracle
from harness import Harness, Random
from rows import compare, together

EDGES = [0, 1, 2, 31, 32, 33, 63, 64, 127, 128, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]


def operand(r, w):
    """A value of w bits: words that are random or at an edge, and often a short value."""
    v = 0
    for k in range(w // 32):
        v |= (EDGES[r.below(len(EDGES))] if r.below(2) else r.below(1 << 32)) << (32 * k)
    return v & 0xFFFFFFFF if r.below(4) == 0 else v


def pack(values, w):
    return b"".join((v & ((1 << w) - 1)).to_bytes(w // 8, "little") for v in values)


N = 1000


def operands(r, w, is_signed):
    """Two columns of operands: as bits, and as Python sees them."""
    raw = [[operand(r, w) for _ in range(N)] for _ in range(2)]
    raw[1] = [a if r.below(8) == 0 else b for a, b in zip(*raw)]
    return raw, [[v - (1 << w) if is_signed and v >> (w - 1) else v for v in x] for x in raw]


def expected(op, seen, w):
    if op in oracle.BINARY:
        return [int(oracle.BINARY[op](a, b, w)) for a, b in zip(*seen)]
    return [int(oracle.UNARY[op](x, w)) for x in seen[0]]


def run_int(h, backends):
    r = Random(1)
    for op in [*oracle.BINARY, *oracle.UNARY]:
        for kind, (w, is_signed) in oracle.TYPES.items():
            raw, seen = operands(r, w, is_signed)
            ports = ["a", "b"] if op in oracle.BINARY else ["x"]
            inputs = [(port, pack(x, w), f"{kind}[{N}]") for port, x in zip(ports, raw)]
            w_out = 32 if op in oracle.TRUTH else w
            compare(h, backends, f"int.{op} {kind}", f"int.{op}", inputs, pack(expected(op, seen, w), w_out), w_out // 8)


DTYPES = {"u32": 3, "i32": 2, "u64": 5, "i64": 4, "u128": 32}  # numbers of program.h and oplib.h


def run_reference(h, args):
    r = Random(4)
    library, tool = args
    for op in [*oracle.BINARY, *oracle.UNARY]:
        for kind, (w, is_signed) in oracle.TYPES.items():
            raw, seen = operands(r, w, is_signed)
            ports = 2 if op in oracle.BINARY else 1
            inputs = [f"{DTYPES[kind]}:{h.write(f'in{k}', pack(x, w))}" for k, x in enumerate(raw[:ports])]
            w_out = 32 if op in oracle.TRUTH else w
            status, _, err = h.run(library, f"int.{op}", str(N), "--", *inputs, "--", h.path("out"), executable=tool)
            if h.check(f"reference of int.{op} {kind}", status == 0, err):
                h.check_bytes(f"reference of int.{op} {kind}", h.read("out"), pack(expected(op, seen, w), w_out), w_out // 8)


def fused_shader(kind, truth):
    """All functions of a type, or all of its truths, side by side: result k of element i is y[i * n_ops + k]."""
    ops = [op for op in [*oracle.BINARY, *oracle.UNARY] if (op in oracle.TRUTH) == truth]
    wgsl = "vec4<u32>" if kind == "u128" else kind
    suffix = "" if kind == "u32" else "_" + kind
    text = [f"//# use int.{op}@1" for op in ops]
    text += [f"@group(0) @binding(0) var<storage, read> a: array<{wgsl}>;",
             f"@group(0) @binding(1) var<storage, read> b: array<{wgsl}>;",
             f"@group(1) @binding(0) var<storage, read_write> y: array<{'u32' if truth else wgsl}>;",
             "@compute @workgroup_size(64)",
             "fn main(@builtin(global_invocation_id) gid: vec3<u32>) {",
             "\tlet i = gid.x;", "\tif (i < arrayLength(&a)) {"]
    for k, op in enumerate(ops):
        args = "a[i], b[i]" if op in oracle.BINARY else "a[i]"
        text.append(f"\t\ty[i * {len(ops)}u + {k}u] = int_{op}{suffix}({args});")
    return ops, "\n".join(text + ["\t}", "}", ""]).encode()


def run_fused(h, backends):
    r = Random(3)
    for kind, (w, is_signed) in oracle.TYPES.items():
        raw, seen = operands(r, w, is_signed)
        for truth in (False, True):
            ops, text = fused_shader(kind, truth)
            w_out = 32 if truth else w
            columns = [expected(op, seen, w) for op in ops]
            want = pack((column[i] for i in range(N) for column in columns), w_out)
            h.write("fused.wgsl", text)
            for name, column in zip("ab", raw):
                h.write(name, pack(column, w))
            for backend in backends:
                label = f"{'truths' if truth else 'functions'} of {kind}, {backend}"
                status, _, err = h.run("shader", "run", h.path("fused.wgsl"), "--dispatch", str((N + 63) // 64),
                                       "--bind", "0:0=" + h.path("a"), "--bind", "0:1=" + h.path("b"),
                                       "--bind", f"1:0=zero:{len(want)}", "--read", "1:0=" + h.path("y"),
                                       "--backend", backend)
                if h.check(label, status == 0, f"exit status {status}\n{err}"):
                    h.check_bytes(label, h.read("y"), want, w_out // 8)


@together
def sorted_pairs(h, backend, n, keys, x, order):
    got = yield ("tensor.sort_pairs", [("keys", pack(x, 32), f"u32[{n}]"), ("payloads", pack(range(n), 32), f"u32[{n}]")],
                 ["keys_sorted", "payloads_sorted"], backend)
    if got is not None:
        label = f"tensor.sort_pairs {n} {keys} {backend}"
        h.check_bytes(label + " keys", got[0], pack([x[i] for i in order], 32), 4)
        h.check_bytes(label + " payloads", got[1], pack(order, 32), 4)


def run_tensor(h, backends):
    r = Random(2)
    for backend in backends:
        for n in (0, 1, 31, 32, 33, 8192, 8193, 30000):
            for kind, w in (("u32", 32), ("u64", 64)):
                x = [operand(r, w) for _ in range(n)]
                port = [("x", pack(x, w), f"{kind}[{n}]")]
                sums, total = [], 0
                for v in x:
                    total += v
                    sums.append(total)
                for exclusive in (False, True):
                    want = [0, *sums][:n] if exclusive else sums
                    compare(h, [backend], f"tensor.scan {kind} {n}", "tensor.scan", port, pack(want, w), w // 8, [f"exclusive={str(exclusive).lower()}"])
                compare(h, [backend], f"tensor.reduce_max {kind} {n}", "tensor.reduce_max", port, pack([max(x, default=0)], w), w // 8)
        for n in (0, 1, 16, 17, 31, 33, 64, 1000, 20000):
            for keys in (3, 1000, 1 << 32):
                x = [r.below(keys) for _ in range(n)]
                order = sorted(range(n), key=lambda i: x[i])
                sorted_pairs(h, backend, n, keys, x, order)


def main():
    h = Harness()
    {"int": run_int, "fused": run_fused, "tensor": run_tensor, "reference": run_reference}[sys.argv[1]](h, sys.argv[2:])
    h.finish()


main()
