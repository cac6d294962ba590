"""tensor.conv2d of f32, everything counted, beside oneDNN's convolution in layouts of its choice (which it is handed), in one run: seconds by the clock and of processors. A sample of elements
is checked with fractions. Libraries that the system has not by name are named by ONEDNN (version 2).
usage: conv.py PIPECTL BACKEND [CHANNELS,SIDE,CHANNELS-OUT,TAPS,GROUPS...]"""
import ctypes
import ctypes.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

import numpy

from matmul import rounded

TRIES = 3
SHAPES = ("64,56,64,3,1", "128,28,128,3,1", "256,14,256,3,1", "256,14,1024,1,1", "96,56,96,3,96")
PIPELINE = """pipeline : {
  name = "conv"; class = "strict"; gas_limit = "9_000_000_000_000_000_000"; params : { count = 1; };
  inputs : { x : { type = "f32[1,C,N,N]"; }; w : { type = "f32[O,I,T,T]"; }; };
  jobs = ( JOBS );
  outputs : { y = "c0.y"; LAST };
};
"""


def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def ours(pipectl, backend, directory, shape):
    """Seconds by the device, and of processors, of a convolution: of runs of one and of five."""
    c, n, o, t, g = shape
    least = {}
    for count in (1, 5) * TRIES:
        jobs = ", ".join(f'{{ id = "c{i}"; op = "tensor.conv2d@1"; in : {{ x = "$x"; w = "$w"; }}; attr : {{ pad = "{t // 2}"; groups = {g}; }}; }}' for i in range(count))
        last = " ".join(f'y{i} = "c{i}.y";' for i in range(1, count))
        file = os.path.join(directory, "conv.pipe.cfg")
        with open(file, "w", encoding="utf-8") as f:
            f.write(PIPELINE.replace("JOBS", jobs).replace("LAST", last).replace("[1,C,N,N]", f"[1,{c},{n},{n}]").replace("[O,I,T,T]", f"[{o},{c // g},{t},{t}]"))
        begin = cpu()
        done = subprocess.run([pipectl, "run", file, "--backend", backend, "--no-memo", "--json", "--in", "x=" + os.path.join(directory, "x"), "--in",
                               "w=" + os.path.join(directory, "w"), "--out", "y=" + os.path.join(directory, "y")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(done.stderr.decode())
        r = json.loads(done.stdout)
        for key, v in ((("clock", count), sum(j.get("device_seconds") or j.get("seconds") or 0 for j in r["jobs"])), (("cpu", count), cpu() - begin)):
            least[key] = min(least.get(key, 1e9), v)
        peak = r["peak_bytes"]
    y = numpy.fromfile(os.path.join(directory, "y"), dtype=numpy.float32).reshape(o, n, n)
    return [(least[k, 5] - least[k, 1]) / 4 for k in ("clock", "cpu")], y, int(peak)


def peer(x, w, groups):
    """oneDNN's, in its own layouts: what lies so already is not counted."""
    name = os.environ.get("ONEDNN") or ctypes.util.find_library("dnnl")
    if not name:
        return None
    d = ctypes.CDLL(name)
    d.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
    d.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    pointer = ctypes.c_void_p

    def must(status):
        if status:
            sys.exit(f"oneDNN: {status}")

    def made(f, *args):
        p = pointer()
        must(f(ctypes.byref(p), *args))
        return p

    def md(shape, tag):
        m, dims = ctypes.create_string_buffer(1024), (ctypes.c_int64 * 12)(*shape)
        must(d.dnnl_memory_desc_init_by_tag(m, len(shape), dims, 3, tag))
        return m

    def run(primitive, *args):
        class Arg(ctypes.Structure):
            _fields_ = [("arg", ctypes.c_int), ("memory", pointer)]
        must(d.dnnl_primitive_execute(primitive, stream, len(args), (Arg * len(args))(*args)))
        must(d.dnnl_stream_wait(stream))

    c, n = x.shape[1], x.shape[2]
    o, t = w.shape[0], w.shape[2]
    w_shape = w.shape if groups == 1 else (groups, o // groups, c // groups, t, t)
    plain_tag, w_tag = TAGS["abcd"], TAGS["abcd" if groups == 1 else "abcde"]
    engine = made(d.dnnl_engine_create, 1, ctypes.c_size_t(0))
    stream = made(d.dnnl_stream_create, engine, 1)
    shapes = (x.shape, w_shape, (1, o, n, n))
    any_ = [md(s, TAGS["any"]) for s in shapes]
    op, two = ctypes.create_string_buffer(8192), lambda v: (ctypes.c_int64 * 12)(v, v)
    must(d.dnnl_convolution_forward_desc_init(op, 96, TAGS["auto"], any_[0], any_[1], None, any_[2], two(1), two(t // 2), two(t // 2)))
    pd = made(d.dnnl_primitive_desc_create, op, None, engine, None)
    conv = made(d.dnnl_primitive_create, pd)
    memories = []
    for what, data, shape, tag in ((129, x, shapes[0], plain_tag), (131, w, shapes[1], w_tag), (133, None, shapes[2], plain_tag)):
        own = pointer(d.dnnl_primitive_desc_query_md(pd, what, 0))
        to = made(d.dnnl_memory_create, own, engine, pointer(-1 & (1 << 64) - 1))
        memories.append((to, own))
        if data is not None:
            plain = md(shape, tag)
            source = made(d.dnnl_memory_create, plain, engine, pointer(data.ctypes.data))
            run(made(d.dnnl_primitive_create, made(d.dnnl_reorder_primitive_desc_create, plain, engine, own, engine, None)), (1, source), (17, to))
    args = ((1, memories[0][0]), (33, memories[1][0]), (17, memories[2][0]))
    run(conv, *args)
    best = [1e9, 1e9]
    for _ in range(TRIES):
        begin = time.perf_counter(), time.process_time()
        for _ in range(10):
            run(conv, *args)
        best = [min(best[0], (time.perf_counter() - begin[0]) / 10), min(best[1], (time.process_time() - begin[1]) / 10)]
    y = numpy.zeros((1, o, n, n), dtype=numpy.float32)
    plain = md(y.shape, plain_tag)
    target = made(d.dnnl_memory_create, plain, engine, pointer(y.ctypes.data))
    run(made(d.dnnl_primitive_create, made(d.dnnl_reorder_primitive_desc_create, memories[2][1], engine, plain, engine, None)), (1, memories[2][0]), (17, target))
    return best, y[0]


def main():
    pipectl, backend = sys.argv[1:3]
    for text in sys.argv[3:] or SHAPES:
        c, n, o, t, g = shape = [int(v) for v in text.split(",")]
        random = numpy.random.default_rng(c * n + o)
        x = random.standard_normal((1, c, n, n), dtype=numpy.float32)
        w = random.standard_normal((o, c // g, t, t), dtype=numpy.float32)
        with tempfile.TemporaryDirectory() as directory:
            x.tofile(os.path.join(directory, "x"))
            w.tofile(os.path.join(directory, "w"))
            (clock, processors), y, peak = ours(pipectl, backend, directory, shape)
        wrong, padded = 0, numpy.pad(x[0], ((0, 0), (t // 2, t // 2), (t // 2, t // 2)))
        for _ in range(32):
            i, a, b = int(random.integers(0, o)), *(int(v) for v in random.integers(0, n, 2))
            first = i // (o // g) * (c // g)
            terms = zip(padded[first:first + c // g, a:a + t, b:b + t].ravel(), w[i].ravel())
            wrong += rounded(sum((Fraction(float(p)) * Fraction(float(q)) for p, q in terms), Fraction(0))) != y[i, a, b]
        flops = 2e-9 * o * n * n * (c // g) * t * t
        said = f"conv2d {text} {backend}: {flops / clock:.2f} GFLOP/s, {flops / processors:.2f} a processor second, peak {peak >> 20} MiB of {x.nbytes + w.nbytes + y.nbytes >> 20} that go in and out, {wrong} of 32 wrong"
        theirs = peer(x, w, g)
        if theirs:
            (their_clock, their_cpu), z = theirs
            said += (f"; oneDNN {flops / their_clock:.2f} and {flops / their_cpu:.2f}, ratio {their_clock / clock:.3f}, by processor time {their_cpu / processors:.3f}; "
                     f"{100 * float((z.view(numpy.uint32) != y.view(numpy.uint32)).mean()):.1f} % of its elements differ")
        print(said, flush=True)


# Of oneDNN 2's enumerations.
TAGS = {"any": 1, "abcd": 5, "abcde": 7, "auto": 3}

if __name__ == "__main__":
    main()
