"""Broadcasting, views and fusion against NumPy.
usage: fuse.py shapes|rules|cuts|few|every BACKEND...

cuts: a chain of mixed ops with each intermediate result alone, all of them and none as an output; every: with every subset."""
import json
import os
import sys

import numpy as np

from harness import Harness
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from rows import op_run  # noqa: E402

np.seterr(all="ignore")


def text(kind, shape):
    return f"{kind}[{','.join(map(str, shape))}]" if shape else kind


def bf16(x):
    """f32 to bf16 and back: to nearest, ties to even; of numbers."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32)).view(np.float32)


def raw(kind, a):
    a = np.ascontiguousarray(a)
    if kind == "bf16":
        return (a.astype(np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    return a.astype({"f32": "<f4", "f16": "<f2", "u32": "<u4", "i32": "<i4", "u64": "<u8"}[kind]).tobytes()


# ---- shapes ---------------------------------------------------------------------------------

SHAPES = [((4, 3), (3,)), ((4, 1), (1, 5)), ((2, 1, 3), (4, 1)), ((5,), ()), ((), (3, 2)), ((1,), (7,)), ((2, 3, 4), (2, 3, 4)),
          ((257, 1), (1, 3)), ((3, 1, 1, 2), (5, 1, 2))]


def broadcast(h, backends):
    rng = np.random.default_rng(7)
    for number, (a_shape, b_shape) in enumerate(SHAPES):
        ops = [("int.sub", "u32", "u32", lambda a, b: a - b), ("ieee.sub", "f32", "f32", lambda a, b: a - b),
               ("ieee.lt", "f16", "u32", lambda a, b: (a < b).astype(np.uint32))]
        op, kind, out, f = ops[number % 3]
        if kind == "u32":
            a, b = (rng.integers(0, 1 << 32, s, dtype=np.uint32) for s in (a_shape, b_shape))
        else:
            a, b = (np.asarray(rng.standard_normal(s)).astype({"f32": np.float32, "f16": np.float16}[kind]) for s in (a_shape, b_shape))
        for backend in backends:
            got = op_run(h, op, [("a", raw(kind, a), text(kind, a_shape)), ("b", raw(kind, b), text(kind, b_shape))], ["y"], backend)
            if got is not None:
                h.check_bytes(f"{op} {a_shape} {b_shape} {backend}", got[0], raw(out, np.asarray(f(a, b))), 4)
    # 0 stays 0, and an extent of 1 beside it becomes 0.
    for a_shape, b_shape in (("u32[0]", "u32[1]"), ("u32[0,3]", "u32[3]")):
        got = op_run(h, "int.add", [("a", b"", a_shape), ("b", bytes(4 if "1" in b_shape else 12), b_shape)], ["y"], backends[0])
        h.check(f"{a_shape} and {b_shape}", got == [b""], str(got))


def views(h, backends):
    """Elements of every width on the first backend; on others a shape of two axes, and bytes and words."""
    rng = np.random.default_rng(8)
    for kind, width in (("u8", 1), ("bf16", 2), ("i32", 4), ("u64", 8), ("u128", 16)):
        for shape in ((5,), (3, 5), (2, 3, 7)) if width < 8 else ((3, 5),):
            n = int(np.prod(shape))
            x = rng.integers(0, 256, (n, width), dtype=np.uint8)
            at = np.arange(n).reshape(shape)
            turned = [(d + 1) % len(shape) for d in range(len(shape))]
            rows = [("tensor.reshape", ["shape=-1," + str(shape[-1])], at.reshape(-1, shape[-1])),
                    ("tensor.transpose", [], at.T),
                    ("tensor.transpose", ["axes=" + ",".join(map(str, turned))], at.transpose(turned)),
                    ("tensor.slice", ["start=1", "step=2"], at[1::2]),
                    ("tensor.slice", ["stop=" + "," * (len(shape) - 1) + "-1"], at[..., :-1]),
                    ("tensor.broadcast", ["shape=2," + ",".join(map(str, shape))], np.broadcast_to(at, (2,) + shape))]
            for op, attrs, want in rows:
                for backend in backends if len(shape) == 2 and width in (1, 4) else backends[:1]:
                    got = op_run(h, op, [("x", x.tobytes(), text(kind, shape))], ["y"], backend, attrs)
                    if got is not None:
                        h.check_bytes(f"{op} {attrs} {kind}{shape} {backend}", got[0], x[want.reshape(-1)].tobytes(), width)


# ---- pipelines ------------------------------------------------------------------------------

def pipeline(h, name, inputs, jobs, outputs):
    """inputs: name -> type; jobs: (id, op, port -> source, attributes); outputs: name -> source."""
    lines = []
    for job, op, feeds, attrs in jobs:
        attr = " attr : { " + " ".join(f'{k} = "{v}";' for k, v in attrs.items()) + " };" if attrs else ""
        lines.append(f'{{ id = "{job}"; op = "{op}"; in : {{ ' + " ".join(f'{p} = "{s}";' for p, s in feeds.items()) + " };" + attr + " }")
    body = ('pipeline : { name = "p"; class = "strict"; inputs : { ' + " ".join(f'{k} : {{ type = "{v}"; }};' for k, v in inputs.items()) +
            " }; jobs = ( " + ",\n".join(lines) + " ); outputs : { " + " ".join(f'{k} = "{v}";' for k, v in outputs.items()) + " }; };")
    return h.write(name, body.encode())


def ran(h, what, pipe, data, outputs, *more):
    args = ["--json", "run", pipe]
    for name, content in data.items():
        args += ["--in", f"{name}={h.write('in-' + name, content)}"]
    for name in outputs:
        args += ["--out", f"{name}={h.path('out-' + name)}"]
    status, out, err = h.run(*args, *more)
    if not h.check(what, status == 0, err):
        return None
    r = json.loads(out)
    r["bytes"] = {name: h.read("out-" + name) for name in outputs}
    return r


def dispatches(r):
    """Kernels of jobs; those that look at inputs for range contracts are not."""
    return sum(int(j["dispatches"]) - int(j["inputs_looked_at"]) for j in r["jobs"])


def gas(r):
    return [(j["id"], j["what"], j["gas"], j["class"], j["race"], j["buffer_bytes"]) for j in r["jobs"]]


class Chain:
    """Fourteen ops over u32, f32, f16 and bf16 with operands that are stretched, views and conversions; without 16 bits: nine."""

    def __init__(self, halves, seed=3):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((4, 8)).astype(np.float32) * 100
        r, c = rng.standard_normal(8).astype(np.float32), rng.standard_normal((4, 1)).astype(np.float32) * 9
        k, q = rng.integers(0, 1 << 32, 4, dtype=np.uint32), rng.integers(0, 1 << 32, 8, dtype=np.uint32)
        self.inputs = {"x": "f32[4,8]", "r": "f32[8]", "c": "f32[4,1]", "k": "u32[4]", "q": "u32[8]"}
        self.data = {"x": raw("f32", x), "r": raw("f32", r), "c": raw("f32", c), "k": raw("u32", k), "q": raw("u32", q)}
        self.jobs, self.want = [], {}

        def job(op, value, kind, attrs=None, **feeds):
            name = f"j{len(self.jobs)}"
            self.jobs.append((name, op, feeds, attrs or {}))
            self.want[name] = raw(kind, value)
            return name + ".y", value

        m, v = job("ieee.mul", x * r, "f32", a="$x", b="$r")
        m, v = job("ieee.add", v + c, "f32", a=m, b="$c")
        m, v = job("tensor.transpose", v.T, "f32", x=m)
        if halves:
            m, v = job("ieee.to_f16", v.astype(np.float16), "f16", x=m)
            m, v = job("ieee.add", v + v, "f16", a=m, b=m)
            m, v = job("ieee.to_f32", v.astype(np.float32), "f32", x=m)
        m, v = job("tensor.slice", v[1::2], "f32", {"start": "1", "step": "2"}, x=m)
        if halves:
            m, v = job("ieee.to_bf16", bf16(v), "bf16", x=m)
            m, v = job("ieee.mul", bf16(v * v), "bf16", a=m, b=m)
            m, v = job("ieee.to_f32", v, "f32", x=m)
        m, v = job("ieee.to_u32", np.clip(np.trunc(v.astype(np.float64)), 0, (1 << 32) - 1).astype(np.uint32), "u32", x=m)
        m, v = job("int.xor", v ^ k, "u32", a=m, b="$k")
        m, v = job("tensor.reshape", v.reshape(2, 8), "u32", {"shape": "2,-1"}, x=m)
        job("int.add", v + q, "u32", a=m, b="$q")

    def go(self, h, cut, backend, *more):
        last = self.jobs[-1][0]
        names = [j[0] for i, j in enumerate(self.jobs[:-1]) if cut >> i & 1] + [last]
        pipe = pipeline(h, "chain.pipe.cfg", self.inputs, self.jobs, {n: n + ".y" for n in names})
        return names, ran(h, f"cut {cut:b} on {backend}", pipe, self.data, names, "--backend", backend, "--no-memo", *more)


def cut_everywhere(h, backends, halves, cuts):
    chain = Chain(halves)
    n = len(chain.jobs)
    unfused = None
    for backend in backends:
        for cut in cuts(n):
            names, r = chain.go(h, cut, backend)
            if r is None:
                continue
            for name in names:
                h.check_bytes(f"cut {cut:b} {name} {backend}", r["bytes"][name], chain.want[name], 4)
            # Each output begins a kernel of its own.
            h.check(f"kernels of cut {cut:b} {backend}", dispatches(r) == len(names), f"{dispatches(r)} for {len(names)} outputs")
        _, r = chain.go(h, 0, backend, "--no-fuse")
        _, fused = chain.go(h, 0, backend, "--verify", "all")
        if r is None or fused is None:
            continue
        h.check(f"one by one {backend}", dispatches(r) == n and r["bytes"] == fused["bytes"], f"{dispatches(r)}")
        h.check(f"fused {backend}: priced as declared", gas(r) == gas(fused) and r["gas"] == fused["gas"], f"{gas(r)} {gas(fused)}")
        h.check(f"fused {backend}: every job is verified", all(j["verified"] for j in fused["jobs"]))
        h.check(f"fused {backend}: the kernel is named", all(j["fused_into"] == chain.jobs[-1][0] for j in fused["jobs"]))
        unfused = unfused or gas(r)
        h.check(f"gas of {backend}", gas(r) == unfused)


def one_each(n):
    return [0, (1 << (n - 1)) - 1] + [1 << i for i in range(n - 1)]


# ---- rules ----------------------------------------------------------------------------------

def line(h, name, n, op="int.add", outputs=None, inputs=1):
    """A chain of n ops, each of what came before and one of the inputs in turn."""
    jobs = [(f"j{i}", op, {"a": "$x0" if i == 0 else f"j{i - 1}.y", "b": f"$x{i % inputs}"}, {}) for i in range(n)]
    return pipeline(h, name, {f"x{i}": "u32[64]" for i in range(inputs)}, jobs, outputs or {"y": f"j{n - 1}.y"})


def counts(h, backend):
    data = {"x0": np.arange(64, dtype="<u4").tobytes()}
    r = ran(h, "twenty", line(h, "twenty.pipe.cfg", 20), data, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("twenty ops are one shader", dispatches(r) == 1 and len(r["jobs"]) == 20, f"{dispatches(r)}")
        h.check_bytes("twenty ops", r["bytes"]["y"], (np.arange(64, dtype=np.uint32) * 21).astype("<u4").tobytes(), 4)
    status, out, err = h.run("--json", "plan", h.path("twenty.pipe.cfg"), "--in", f"x0={h.path('in-x0')}", "--backend", backend)
    h.check("plan names the group", status == 0 and {j["fused_into"] for j in json.loads(out)["jobs"]} == {"j19"}, err)
    feed = "x0=" + h.path("in-x0")
    status, out, err = h.run("plan", "--no-fuse", "--json", h.path("twenty.pipe.cfg"), "--in", feed, "--backend", backend)
    h.check("plan --no-fuse has no group", status == 0 and {j["fused_into"] for j in json.loads(out)["jobs"]} == {None}, err)
    status, out, err = h.run("run", "--no-fuse", "--json", h.path("twenty.pipe.cfg"), "--in", feed, "--backend", backend, "--no-memo")
    h.check("run --no-fuse has twenty kernels", status == 0 and dispatches(json.loads(out)) == 20, err)
    r = ran(h, "hundred", line(h, "hundred.pipe.cfg", 100), data, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("a group of too many jobs is cut", dispatches(r) == 2, f"{dispatches(r)}")
        h.check_bytes("a hundred ops", r["bytes"]["y"], (np.arange(64, dtype=np.uint32) * 101).astype("<u4").tobytes(), 4)
    many = {f"x{i}": (np.arange(64, dtype=np.uint32) * (i + 1)).astype("<u4").tobytes() for i in range(12)}
    r = ran(h, "inputs", line(h, "inputs.pipe.cfg", 12, inputs=12), many, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("a group with too many inputs is cut", dispatches(r) == 2, f"{dispatches(r)}")
        h.check_bytes("many inputs", r["bytes"]["y"], (np.arange(64, dtype=np.uint32) * 79).astype("<u4").tobytes(), 4)
    # Computed once for each row, not for each element of the result.
    pipe = pipeline(h, "rows.pipe.cfg", {"a": "u32[64,1]", "b": "u32[3]"}, [
        ("p", "int.popcount", {"x": "$a"}, {}), ("s", "int.add", {"a": "p.y", "b": "$b"}, {})], {"y": "s.y"})
    r = ran(h, "rows", pipe, {"a": data["x0"], "b": bytes(12)}, ["y"], "--backend", backend, "--no-memo")
    h.check("what would be computed again and again stays out", r is not None and dispatches(r) == 2)
    # Under two indices a function would be computed twice; an input is read twice.
    twice = [("n", "int.not", {"x": "$a"}, {}), ("t", "tensor.transpose", {"x": "n.y"}, {}), ("s", "int.add", {"a": "n.y", "b": "t.y"}, {})]
    a = np.arange(64, dtype=np.uint32).reshape(8, 8)
    r = ran(h, "twice", pipeline(h, "twice.pipe.cfg", {"a": "u32[8,8]"}, twice, {"y": "s.y"}), {"a": a.tobytes()}, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("a function under two indices stays out", dispatches(r) == 2, f"{dispatches(r)}")
        h.check_bytes("a function under two indices", r["bytes"]["y"], (~a + ~a.T).tobytes(), 4)
    # What feeds a sum is read by it; a view that feeds a scan is copied, once.
    pipe = pipeline(h, "sum.pipe.cfg", {"a": "u32[8,8]"}, [
        ("n", "int.not", {"x": "$a"}, {}), ("t", "tensor.transpose", {"x": "n.y"}, {}), ("s", "tensor.sum", {"x": "t.y"}, {"axes": "0"})],
        {"y": "s.y"})
    r = ran(h, "sum", pipe, {"a": a.tobytes()}, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("a view before a sum is read by it", [j["fused_into"] for j in r["jobs"]] == ["s", "s", "s"], str([j["fused_into"] for j in r["jobs"]]))
        h.check_bytes("a sum of a view", r["bytes"]["y"], (~a).T.sum(0, dtype=np.uint32).tobytes(), 4)
    pipe = pipeline(h, "scan.pipe.cfg", {"a": "u32[64]"}, [
        ("n", "int.not", {"x": "$a"}, {}), ("t", "tensor.slice", {"x": "n.y"}, {"step": "3"}), ("s", "tensor.scan", {"x": "t.y"}, {})], {"y": "s.y"})
    r = ran(h, "scan", pipe, {"a": a.tobytes()}, ["y"], "--backend", backend, "--no-memo")
    if r:
        h.check("a view before a scan is made", [j["fused_into"] for j in r["jobs"]] == ["t", "t", None], str([j["fused_into"] for j in r["jobs"]]))


def memo(h, backend):
    policy = h.write("policy.cfg", f'policy : {{ backends : {{ order = ( "{backend}" ); }}; memo : {{ evidence = "any"; }}; }};'.encode())
    status, _, err = h.run("policy", "check", policy)
    args = ["--policy", policy] if status == 0 else []
    data = {"x0": np.arange(5, 69, dtype="<u4").tobytes()}
    pipe = line(h, "memo.pipe.cfg", 10)
    first = ran(h, "memo: first", pipe, data, ["y"], "--verify", "all", *args)
    again = ran(h, "memo: again", pipe, data, ["y"], *args)
    if first is None or again is None:
        return
    h.check("a fused result is remembered, and nothing runs", bool(again["memoised"]) and again["bytes"] == first["bytes"] and
            again["gas"] == first["gas"], str(again)[:600])
    cut = ran(h, "memo: cut", line(h, "cut.pipe.cfg", 10, outputs={"y": "j9.y", "m": "j4.y"}), data, ["y", "m"], *args)
    h.check("what was not written is computed", cut is not None and not cut["memoised"] and
            cut["bytes"]["m"] == (np.arange(5, 69, dtype=np.uint32) * 6).tobytes() and cut["bytes"]["y"] == first["bytes"]["y"])


def refusals(h):
    h.write("a", bytes(48))
    for a, b, shown in (("f32[4,3]", "f32[4]", "f32[4,3]"), ("f32[2,3]", "f32[3,2]", "f32[3,2]")):
        pipe = pipeline(h, "bad.pipe.cfg", {"a": a, "b": b}, [("m", "ieee.mul", {"a": "$a", "b": "$b"}, {})], {"y": "m.y"})
        status, _, err = h.run("check", pipe)
        h.check(f"{a} and {b}", status == 3 and "PC4107" in err and shown in err and "bad.pipe.cfg:1:" in err and "hint" in err, err)
    # The shape that is inferred is known to what comes after.
    pipe = pipeline(h, "after.pipe.cfg", {"a": "f32[4,1]", "b": "f32[3]", "c": "f32[5]"}, [
        ("m", "ieee.mul", {"a": "$a", "b": "$b"}, {}), ("s", "ieee.add", {"a": "m.y", "b": "$c"}, {})], {"y": "s.y"})
    status, _, err = h.run("check", pipe)
    h.check("the inferred shape", status == 3 and "PC4107" in err and "f32[4,3]" in err, err)
    # Extents that only the data tell are compared when they are known.
    pipe = pipeline(h, "open.pipe.cfg", {"a": "f32[n]", "b": "f32[m]"}, [("m", "ieee.mul", {"a": "$a", "b": "$b"}, {})], {"y": "m.y"})
    status, _, err = h.run("check", pipe)
    h.check("open extents pass", status == 0, err)
    h.write("b", bytes(20))
    status, _, err = h.run("run", pipe, "--in", "a=" + h.path("a"), "--in", "b=" + h.path("b"), "--backend", "cpu")
    h.check("open extents at a run", status == 3 and "PC4107" in err and "f32[12]" in err and "f32[5]" in err, err)
    for op, attrs, words in (("reshape", ["shape=5,-1"], "PC4202"), ("reshape", ["shape=-1,-1"], "twice"), ("reshape", ["shape=7"], "PC4202"),
                             ("transpose", ["axes=0,0"], "PC4202"), ("transpose", ["axes=0"], "PC4202"), ("slice", ["step=0"], "PC4202"),
                             ("slice", ["start=0,0,0"], "PC4202"), ("broadcast", ["shape=3"], "PC4202"), ("broadcast", ["shape=4,4"], "PC4202"),
                             ("reshape", ["shape=x"], "PC4202")):
        status, _, err = h.run("op", "run", "tensor." + op, "--backend", "cpu", "--in", f"x={h.path('a')}:f32[4,3]", "--out", "y=" + h.path("y"),
                               *[a for attr in attrs for a in ("--attr", attr)])
        h.check(f"refused {op} {attrs}", status == 3 and words in err, err)


def planted(h):
    """A device that makes one operation of a product and a sum: alone the jobs are right, fused they are not."""
    x = np.frombuffer(np.random.default_rng(1).integers(0x3f000000, 0x40000000, 64, dtype=np.uint32).tobytes(), dtype=np.float32)
    pipe = pipeline(h, "fma.pipe.cfg", {"x": "f32[64]", "z": "f32[64]"}, [
        ("product", "ieee.mul", {"a": "$x", "b": "$x"}, {}), ("total", "ieee.add", {"a": "product.y", "b": "$z"}, {})], {"y": "total.y"})
    files = ["--in", "x=" + h.write("fx", x.tobytes()), "--in", "z=" + h.write("fz", (-x * x).tobytes()), "--out", "y=" + h.path("y")]
    device = "mock:wrap=cpu+late-contract"
    status, _, err = h.run("run", pipe, *files, "--backend", device, "--no-memo", "--no-fuse", "--verify", "all")
    h.check("a device that contracts, one by one", status == 0, err)
    status, _, err = h.run("run", pipe, *files, "--backend", device, "--no-memo", "--verify", "all")
    h.check("a fused chain that contracts is caught", status != 0 and "total" in err, err)
    h.planted("a fused chain that contracts", "core/runtime/exec/run_fuse.c", "PC5216", err)
    status, _, err = h.run("run", pipe, *files, "--backend", "mock:wrap=cpu+flip-bit@total", "--no-memo", "--verify", "all")
    h.check("a wrong bit of a fused kernel is named with the jobs in it", status != 0 and "(fused with product)" in err, err)
    h.planted("a wrong bit of a fused kernel", "core/runtime/exec/run_check.c", "PC5208", err)


def main():
    what, backends = sys.argv[1], sys.argv[2:]
    h = Harness()
    if what == "shapes":
        broadcast(h, backends)
        views(h, backends)
    elif what == "rules":
        refusals(h)
        for backend in backends:
            counts(h, backend)
            memo(h, backend)
        planted(h)
    elif what == "cuts":
        cut_everywhere(h, backends, True, one_each)
    elif what == "few":
        cut_everywhere(h, backends, False, lambda n: [0, 1 << n // 2])
    elif what == "every":
        cut_everywhere(h, backends, True, lambda n: range(1 << (n - 1)))
    h.finish()


main()
