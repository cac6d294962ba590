"""tensor.matmul of n x n f32, everything counted, beside torch.matmul (TF32 off) on a GPU and NumPy's BLAS on a processor, in one run; or of i8 (ORDER is
int8), beside torch._int_mm. A sample of our elements is checked first, of order exact with fractions, of integers all rows that torch has; then it is counted
how many of the peer's elements differ: of order exact, those that are not correctly rounded.
usage: matmul.py PIPECTL BACKEND ORDER [N...]"""
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

TRIES = 5
TURNS = 2
PIPELINE = """pipeline : {
  name = "matmul"; class = "strict"; gas_limit = "9_000_000_000_000_000_000";
  params : { count = 1; };
  inputs : { a : { type = "TYPE[SIZE,SIZE]"; }; b : { type = "TYPE[SIZE,SIZE]"; }; };
  jobs = ( { id = "product"; op = "tensor.matmul@1"; in : { a = "$a"; b = "$b"; }; attr : { order = "ORDER"; };  REPEAT} );
  outputs : { y = "product.y"; };
};
"""


def rounded(x):
    """The f32 nearest to a fraction of ordinary size."""
    y = numpy.float32(float(x))  # within two units; the nearest of five
    near = [y]
    for end in (numpy.float32(-numpy.inf), numpy.float32(numpy.inf)):
        z = y
        for _ in range(2):
            z = numpy.nextafter(z, end)
            near.append(z)
    return min(near, key=lambda z: (abs(Fraction(float(z)) - x), int(z.view(numpy.uint32)) & 1))


CHAIN = 'repeat : { count = "$count"; carry : { a = "y"; }; }; '


def text_of(n, order, count):
    """The pipeline: a chain, or of integers as many products side by side."""
    if order != "int8":
        return PIPELINE.replace("ORDER", order).replace("SIZE", str(n)).replace("TYPE", "f32").replace("REPEAT", CHAIN)
    begin, _, end = PIPELINE.partition("jobs = (")
    job, _, end = end.partition(" );")
    jobs = ",".join(job.replace('"product"', f'"product{i}"' if i else '"product"').replace("REPEAT", "") for i in range(count))
    outputs = " ".join(f'y{i} = "product{i}.y";' for i in range(1, count))
    return (begin.replace("params : { count = 1; };", "") + "jobs = (" + jobs + " );" + end.replace('y = "product.y";', f'y = "product.y"; {outputs}')).replace(
        "ORDER", "exact").replace("SIZE", str(n)).replace("TYPE", "i8")


def processors():
    """Seconds of processors of all that ran below this process."""
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def ours(pipectl, backend, order, directory, n):
    """Seconds a product, of the device and of processors, by chains of products of two lengths. Integers make no chain, for a product has another type: the least of three,
    and of processors that of a run of three such jobs less that of one."""
    is_int = order == "int8"
    file = os.path.join(directory, "matmul.pipe.cfg")
    times, spent, peak = {}, {}, 0
    few, many = (1, 4) if is_int else (2, 4) if backend.startswith("cpu") else (2, 10)
    for count in (few, many) * TURNS + (1,):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text_of(n, order, count))
        command = [pipectl, "run", file, "--backend", backend, "--no-memo", "--json"] + ([] if is_int else ["--set", f"count={count}"])
        for port in ("a", "b"):
            command += ["--in", f"{port}={os.path.join(directory, port)}"]
        begin = processors()
        done = subprocess.run(command + ["--out", "y=" + os.path.join(directory, "y")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(done.stderr.decode())
        spent[count] = min(spent.get(count, 1e9), processors() - begin)
        result = json.loads(done.stdout)
        job, peak = result["jobs"][0], int(result["peak_bytes"])
        seconds = job.get("device_seconds") or job.get("seconds") or 0
        times[count] = min(times.get(count, 1e9), seconds)
    y = numpy.fromfile(os.path.join(directory, "y"), dtype=numpy.int32 if is_int else numpy.float32).reshape(n, n)
    seconds = min(times.values()) if is_int else (times[many] - times[few]) / (many - few)
    return seconds, (spent[many] - spent[few]) / (many - few), peak, y


def native_peer(a, b):
    """The same of OpenBLAS, or of oneDNN for integers, where the system has them, or OPENBLAS or ONEDNN names one; as many threads as processors are the process's."""
    is_int, n = a.dtype == numpy.int8, a.shape[0]
    name = os.environ.get("ONEDNN" if is_int else "OPENBLAS") or ctypes.util.find_library("dnnl" if is_int else "openblas")
    if not name:
        return None
    library, times, spent = ctypes.CDLL(name), [], []
    z = numpy.zeros((n, n), dtype=numpy.int32 if is_int else numpy.float32)
    x, y, out = (ctypes.c_void_p(t.ctypes.data) for t in (a, b, z))
    one, zero, side, char = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int64(n), ctypes.c_char
    none = (ctypes.c_int32 * 1)(0)
    if not is_int:
        library.openblas_set_num_threads(len(os.sched_getaffinity(0)))
    for _ in range(TRIES):
        begin, own = time.perf_counter(), time.process_time()
        if is_int:
            library.dnnl_gemm_s8s8s32(char(b"N"), char(b"N"), char(b"F"), side, side, side, one, x, side, ctypes.c_int8(0), y, side, ctypes.c_int8(0), zero, out, side, none)
        else:
            library.cblas_sgemm(101, 111, 111, n, n, n, one, x, n, y, n, zero, out, n)
        times.append(time.perf_counter() - begin)
        spent.append(time.process_time() - own)
    return "oneDNN int8" if is_int else "OpenBLAS f32", sorted(times)[TRIES // 2], min(spent), z


def peer_of(backend, a, b):
    """Name, seconds, those of processors or None, result."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
        has_gpu = torch.cuda.is_available() and "pocl" not in backend
    except ImportError:
        has_gpu = False
    times = []
    if has_gpu:
        torch.backends.cuda.matmul.allow_tf32 = False
        x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
        if a.dtype == numpy.int8:
            y = y.t().contiguous().t()  # as _int_mm likes it best
        for _ in range(TRIES + 2):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            z = torch._int_mm(x, y) if a.dtype == numpy.int8 else torch.matmul(x, y)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
        return f"torch {a.dtype}", sorted(times[2:])[TRIES // 2], None, z.cpu().numpy()
    native = native_peer(a, b)
    if native:
        return native
    for _ in range(TRIES):
        begin = time.perf_counter()
        z = a.astype(numpy.int32) @ b.astype(numpy.int32) if a.dtype == numpy.int8 else a @ b
        times.append(time.perf_counter() - begin)
    return f"numpy {a.dtype}", sorted(times)[TRIES // 2], None, z


def main():
    pipectl, backend, order = sys.argv[1:4]
    for n in [int(x) for x in sys.argv[4:]] or [1024, 2048, 4096, 8192]:
        random = numpy.random.default_rng(n)
        if order == "int8":
            a, b = (random.integers(-128, 128, (n, n), dtype=numpy.int8) for _ in range(2))
        else:
            a, b = (random.standard_normal((n, n), dtype=numpy.float32) for _ in range(2))
            b = (b / numpy.sqrt(n)).astype(numpy.float32)  # chains stay within the range
        with tempfile.TemporaryDirectory() as directory:
            a.tofile(os.path.join(directory, "a"))
            b.tofile(os.path.join(directory, "b"))
            seconds, own, peak, y = ours(pipectl, backend, order, directory, n)
        wrong = 0
        for _ in range(64 if order == "exact" else 0):
            i, j = (int(v) for v in random.integers(0, n, 2))
            total = sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a[i], b[:, j])), Fraction(0))
            wrong += rounded(total) != y[i, j]
        name, peer, spent, z = peer_of(backend, a, b)
        differ = float((z.view(numpy.uint32) != y.view(numpy.uint32)).mean())
        flops = 2e-12 * n ** 3
        if order == "int8":
            rows = random.integers(0, n, 4)
            wrong = int((a[rows].astype(numpy.int64) @ b.astype(numpy.int64) != y[rows]).sum())
        by_processors = f", by processor time {1e3 * flops / own:.1f} beside {1e3 * flops / spent:.1f} GFLOP/s: {spent / own:.3f}" if spent else ""
        print(f"{order} {n} {backend}: {flops / seconds:.3f} TFLOP/s, {name} {flops / peer:.3f}, ratio {peer / seconds:.3f}{by_processors}; peak {peak >> 20} MiB; "
              f"of those checked {wrong} wrong; {100 * differ:.2f} % of {name}'s differ", flush=True)


if __name__ == "__main__":
    main()
