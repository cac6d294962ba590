"""What memory promises on every device: atomics and accesses out of bounds.
usage: machine.py atomics|bounds BACKEND...
atomics: every old value is written down, and there must be an order of all operations in which each saw what the one before it
left: operations as edges from the value seen to the value left, an order is a walk over all edges from the first value to the
last. bounds: loads give zero, stores and atomics do nothing, at every level of a type and in every address space."""
import collections
import itertools
import sys

from harness import Harness, Random, share
from present import present

MASK = (1 << 32) - 1
GROUPS, LANES = 6, 64
N = GROUPS * LANES


def signed(x):
    return x - (1 << 32) if x >> 31 else x


def words(values):
    return b"".join((v & MASK).to_bytes(4, "little") for v in values)


def unwords(data):
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


# ---- atomics --------------------------------------------------------------------------------------------------------

# Name, WGSL, what an operation leaves of the old value, the operand and (for the last) the value expected.
STEPS = {
    "add": ("atomicAdd", lambda old, v, e: (old + v) & MASK),
    "sub": ("atomicSub", lambda old, v, e: (old - v) & MASK),
    "and": ("atomicAnd", lambda old, v, e: old & v),
    "or": ("atomicOr", lambda old, v, e: old | v),
    "xor": ("atomicXor", lambda old, v, e: old ^ v),
    "min": ("atomicMin", None),
    "max": ("atomicMax", None),
    "exchange": ("atomicExchange", lambda old, v, e: v),
    "compare_exchange": ("", lambda old, v, e: v if old == e else old),
}


def leaves(op, kind):
    if op == "min":
        return (lambda old, v, e: min(old, v)) if kind == "u32" else (lambda old, v, e: old if signed(old) <= signed(v) else v)
    if op == "max":
        return (lambda old, v, e: max(old, v)) if kind == "u32" else (lambda old, v, e: old if signed(old) >= signed(v) else v)
    return STEPS[op][1]


def call(op, cell):
    if op == "compare_exchange":
        return [f"\tlet r = atomicCompareExchangeWeak(&{cell}, expected[i], operand[i]);", "\told[at] = r.old_value;",
                "\tdone[at] = select(0u, 1u, r.exchanged);"]
    return [f"\told[at] = {STEPS[op][0]}(&{cell}, operand[i]);"]


def atomic_text(op, kind, local):
    """Storage: all of the dispatch on one cell. Workgroup memory: a cell for each workgroup."""
    cas = op == "compare_exchange"
    text = [f"@group(0) @binding(0) var<storage, read_write> last: array<atomic<{kind}>>;",
            f"@group(0) @binding(1) var<storage, read> operand: array<{kind}>;",
            f"@group(0) @binding(2) var<storage, read_write> old: array<{kind}>;"]
    if cas:
        text += [f"@group(0) @binding(3) var<storage, read> expected: array<{kind}>;",
                 "@group(0) @binding(4) var<storage, read_write> done: array<u32>;"]
    if local:
        text.append(f"var<workgroup> cell: atomic<{kind}>;")
    text += [f"@compute @workgroup_size({LANES})",
             "fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>, "
             "@builtin(workgroup_id) wid: vec3<u32>) {", "\tlet at = gid.x;", "\tlet i = gid.x;"]
    if local:
        text += ["\tif (lid.x == 0u) {", "\t\tatomicStore(&cell, atomicLoad(&last[wid.x]));", "\t}", "\tworkgroupBarrier();",
                 *call(op, "cell"), "\tworkgroupBarrier();", "\tif (lid.x == 0u) {",
                 "\t\tatomicStore(&last[wid.x], atomicLoad(&cell));", "\t}"]
    else:
        text += call(op, "last[0]")
    return "\n".join(text + ["}", ""]).encode()


def walk_exists(edges, first, last):
    """An order of all edges (from, to) that goes from first to last: Euler's conditions."""
    balance, joined = collections.Counter(), {}

    def root(v):
        while joined.setdefault(v, v) != v:
            v = joined[v]
        return v

    for a, b in edges:
        balance[a] += 1
        balance[b] -= 1
        joined[root(a)] = root(b)
    balance[first] -= 1
    balance[last] += 1
    if any(balance.values()):
        return "values are seen more or less often than they are left"
    if any(root(a) != root(first) for a, _ in edges):
        return "values are seen that nothing left"
    return None


def operands(r, op):
    """Operands, and values expected: few different ones, so that operations meet."""
    if op in ("add", "sub"):
        return [r.below(1 << 32) if r.below(2) else 1 for _ in range(N)], [0] * N
    if op == "compare_exchange":
        return [r.below(12) for _ in range(N)], [r.below(12) for _ in range(N)]
    if op == "or":
        return [1 << r.below(32) for _ in range(N)], [0] * N
    if op == "and":
        return [MASK ^ 1 << r.below(32) for _ in range(N)], [0] * N
    return [r.below(1 << 32) for _ in range(N)], [0] * N


def run_atomic(h, label, op, kind, local, first, values, expected, backend):
    """The old values, the flags and the last values, or None."""
    h.write("atomic.wgsl", atomic_text(op, kind, local))
    cells = GROUPS if local else 1
    args = ["--bind", "0:0=" + h.write("first", words([first] * cells)), "--read", "0:0=" + h.path("last"),
            "--bind", "0:1=" + h.write("operand", words(values)),
            "--bind", f"0:2=zero:{4 * N}", "--read", "0:2=" + h.path("old")]
    if op == "compare_exchange":
        args += ["--bind", "0:3=" + h.write("expected", words(expected)), "--bind", f"0:4=zero:{4 * N}",
                 "--read", "0:4=" + h.path("done")]
    status, _, err = h.run("shader", "run", h.path("atomic.wgsl"), "--dispatch", str(GROUPS), *args, "--backend", backend,
                           "--class", "approximate", "--policy", h.approximate)
    if not h.check(label + ": runs", status == 0, f"exit status {status}\n{err}"):
        return None
    done = unwords(h.read("done")) if op == "compare_exchange" else None
    return unwords(h.read("old")), done, unwords(h.read("last"))


def run_atomics(h, backends):
    r = Random(21)
    for backend in backends:
        for op, kind, local in share(itertools.product(STEPS, ("u32", "i32"), (False, True)), 3):
            first = {"and": MASK, "or": 0, "compare_exchange": 0, "min": signed(MASK) if kind == "i32" else MASK}.get(
                op, r.below(1 << 32)) & MASK
            values, expected = operands(r, op)
            label = f"atomic {op} {kind} {'workgroup' if local else 'storage'} {backend}"
            got = run_atomic(h, label, op, kind, local, first, values, expected, backend)
            if got is None:
                continue
            old, done, last = got
            step = leaves(op, kind)
            for cell, final in enumerate(last):
                mine = range(cell * LANES, (cell + 1) * LANES) if local else range(N)
                edges = [(old[i], step(old[i], values[i], expected[i])) for i in mine]
                why = walk_exists(edges, first, final)
                if not h.check(f"{label}, cell {cell}: there is an order", why is None, why):
                    break
            if done is not None:
                h.check(label + ": exchanged exactly where the value was expected",
                        done == [int(o == e) for o, e in zip(old, expected)])
        one_at_a_time(h, backend)


def one_at_a_time(h, backend):
    """The properties in their plainest form."""
    label = f"atomic add of ones {backend}"
    got = run_atomic(h, label, "add", "u32", False, 5, [1] * N, [0] * N, backend)
    if got:
        h.check(label + ": old values are a permutation", sorted(got[0]) == list(range(5, 5 + N)) and got[2] == [5 + N])
    label = f"atomic compare exchange of one value {backend}"
    got = run_atomic(h, label, "compare_exchange", "u32", False, 7, [100 + i for i in range(N)], [7] * N, backend)
    if got:
        old, done, last = got
        h.check(label + ": one succeeds", sum(done) == 1 and last[0] == 100 + done.index(1)
                and old[done.index(1)] == 7 and set(old) <= {7, last[0]})


# ---- bounds ---------------------------------------------------------------------------------------------------------

BOUNDS = """
struct Inner { a: array<u32, 3>, b: u32 }
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read> plain: array<u32>;
@group(0) @binding(2) var<storage, read> nested: array<Inner>;
@group(0) @binding(3) var<storage, read_write> got: array<u32>;
@group(0) @binding(4) var<storage, read_write> written: array<u32>;
@group(0) @binding(5) var<storage, read_write> rows: array<Inner>;
@group(0) @binding(6) var<storage, read_write> counted: array<atomic<u32>>;
var<workgroup> tile: array<u32, 5>;
var<private> own: array<u32, 5>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_id) lid: vec3<u32>) {
	if (lid.x == 0u) {
		var v = vec3<u32>(11u, 12u, 13u);
		var m = array<u32, 5>(21u, 22u, 23u, 24u, 25u);
		for (var i = 0u; i < 5u; i++) { tile[i] = 31u + i; own[i] = 41u + i; }
		for (var k = 0u; k < 16u; k++) {
			let i = at[k];
			let s = bitcast<i32>(i);
			got[k * 12u] = plain[i];
			got[k * 12u + 1u] = plain[s];
			got[k * 12u + 2u] = nested[i].b;
			got[k * 12u + 3u] = nested[0].a[i];
			got[k * 12u + 4u] = v[i];
			got[k * 12u + 5u] = m[i];
			got[k * 12u + 6u] = tile[i];
			got[k * 12u + 7u] = own[s];
			got[k * 12u + 8u] = atomicAdd(&counted[i], 1u);
			got[k * 12u + 9u] = atomicExchange(&counted[s], 9u);
			got[k * 12u + 10u] = atomicLoad(&counted[i]);
			got[k * 12u + 11u] = atomicCompareExchangeWeak(&counted[i], 0u, 8u).old_value;
			written[i] = 100u + k;
			rows[i].b = 200u + k;
			rows[1].a[i] = 300u + k;
			m[i] = 400u + k;
			tile[i] = 500u + k;
			own[s] = 600u + k;
			v[i] = 700u + k;
			atomicStore(&counted[i], 800u + k);
		}
	}
}
"""
AT = [0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 0x3FFFFFFF, 0x40000001, 0x7FFFFFFF, 0x80000000, MASK - 1, MASK]


class Array(list):
    """A list with the bounds rule."""

    def load(self, i):
        return self[i] if i < len(self) else 0

    def store(self, i, v):
        if i < len(self):
            self[i] = v


def bounds_wanted(plain, nested):
    got, written, rows, counted = [], Array([0] * 4), [Array([0] * 4) for _ in range(3)], Array([0] * 4)
    v, m, tile, own = Array([11, 12, 13]), Array(range(21, 26)), Array(range(31, 36)), Array(range(41, 46))
    for k, i in enumerate(AT):
        b = Array(row[3] for row in nested)
        got += [plain.load(i), plain.load(i), b.load(i), Array(nested[0][:3]).load(i), v.load(i), m.load(i), tile.load(i),
                own.load(i)]
        got.append(counted.load(i))
        counted.store(i, counted.load(i) + 1)
        got.append(counted.load(i))
        counted.store(i, 9)
        got += [counted.load(i), counted.load(i)]
        written.store(i, 100 + k)
        if i < 3:
            rows[i][3] = 200 + k
            rows[1][i] = 300 + k
        for memory, value in ((m, 400), (tile, 500), (own, 600), (v, 700), (counted, 800)):
            memory.store(i, value + k)
    return got, written, [x for row in rows for x in row], counted


def run_bounds(h, backends):
    r = Random(22)
    plain = Array(1 + r.below(1 << 31) for _ in range(7))
    nested = [[1 + r.below(1 << 31) for _ in range(4)] for _ in range(5)]
    want = bounds_wanted(plain, nested)
    h.write("bounds.wgsl", BOUNDS.encode())
    for backend in backends:
        args = ["--bind", "0:0=" + h.write("at", words(AT)), "--bind", "0:1=" + h.write("plain", words(plain)),
                "--bind", "0:2=" + h.write("nested", words(x for row in nested for x in row))]
        for slot, values in zip((3, 4, 5, 6), want):
            args += ["--bind", f"0:{slot}=zero:{4 * len(values)}", "--read", f"0:{slot}={h.path(f'out{slot}')}"]
        status, _, err = h.run("shader", "run", h.path("bounds.wgsl"), "--dispatch", "1", *args, "--backend", backend,
                               "--class", "approximate", "--policy", h.approximate)
        if h.check(f"bounds {backend}", status == 0, f"exit status {status}\n{err}"):
            for slot, name, values in zip((3, 4, 5, 6), ("loads", "stores", "stores of members", "atomics"), want):
                h.check_bytes(f"{name} out of bounds {backend}", h.read(f"out{slot}"), words(values), 4)


def main():
    h = Harness()
    {"atomics": run_atomics, "bounds": run_bounds}[sys.argv[1]](h, present(h, sys.argv[2:]))
    h.finish()


main()
