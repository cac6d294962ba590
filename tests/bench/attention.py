"""transformer.attention of one sequence: a token over 512 to 8192 cached keys (decode) and chunks of a prompt (prefill); the same CID as on `cpu` first, of fewer keys; then device seconds of
one job, the least of TRIES runs, beside what a copy takes for the keys and values that must be read (and beside PyTorch's scaled_dot_product_attention in f32 and bf16 on a GPU in the same run).
GFLOP/s counts products that are asked for: what a token does not see is none. usage: attention.py PIPECTL BACKEND [decode|prefill] [TRIES [d]]"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

# tokens, heads, heads of the cache, keys (the tokens are the last of them), type of the caches
DECODE = [(1, h, kv, keys, kind) for h, kv in ((16, 2), (16, 8), (32, 8)) for keys in (512, 2048, 8192) for kind in ("f32", "bf16")]
PREFILL = [(t, 16, kv, keys, "f32") for t, kv, keys in ((64, 8, 512), (512, 8, 512), (512, 2, 2048), (2048, 8, 2048))] + [(512, 12, 2, keys, "f32") for keys in (512, 2560, 8192)]
COPY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "copy.wgsl")


def run(command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        print(" ".join(command[1:4]), done.stderr.decode()[-400:], flush=True)
        return None
    return json.loads(done.stdout)


def seconds(report):
    job = report["jobs"][0]
    return job.get("device_seconds") or job.get("seconds")


class Bench:
    def __init__(self, pipectl, directory, d):
        self.pipectl, self.directory, self.d = pipectl, directory, d
        draw = random.Random(1)
        block = [draw.gauss(0, 1) for _ in range(1 << 16)]
        bits = struct.pack("<65536f", *block)
        self.blocks = {"f32": bits, "bf16": b"".join(bits[4 * i + 2:4 * i + 4] for i in range(1 << 16))}
        open(self.path("none"), "wb").close()

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, kind, n):
        size = n * (4 if kind == "f32" else 2)
        with open(self.path(name), "wb") as f:
            f.write((self.blocks[kind] * (size // len(self.blocks[kind]) + 1))[:size])

    def job(self, shape, backend):
        t, h, kv, keys, kind = shape
        self.write("q", "f32", t * h * self.d)
        for name in "kv":
            self.write(name, kind, keys * kv * self.d)
        for name, word in (("start", keys - t), ("count", t)):
            with open(self.path(name), "wb") as f:
                f.write(struct.pack("<I", word))
        with open(self.path("one.pipe.cfg"), "w", encoding="utf-8") as f:
            f.write('pipeline : { name = "one"; class = "strict"; gas_limit = "9_000_000_000_000_000_000"; '
                    f'inputs : {{ q : {{ type = "f32[1,{t},{h},{self.d}]"; }}; k : {{ type = "{kind}[1,{keys},{kv},{self.d}]"; }}; v : {{ type = "{kind}[1,{keys},{kv},{self.d}]"; }}; '
                    'start : { type = "u32[1]"; }; count : { type = "u32[1]"; }; pages : { type = "u32[1,n]"; }; };\n'
                    'jobs = ( { id = "j"; op = "transformer.attention@1"; in : { q = "$q"; k = "$k"; v = "$v"; start = "$start"; count = "$count"; pages = "$pages"; }; } );\n'
                    'outputs : { y = "j.y"; }; };\n')
        ports = [x for name in ("q", "k", "v", "start", "count") for x in ("--in", f"{name}={self.path(name)}")] + ["--in", "pages=" + self.path("none")]
        return run([self.pipectl, "run", self.path("one.pipe.cfg"), "--backend", backend, "--no-memo", "--json", *ports, "--out", "y=" + self.path("y")])

    def same(self, shape, backend):
        data = []
        for one in ("cpu", backend):
            if self.job(shape, one) is None:
                return False
            with open(self.path("y"), "rb") as f:
                data.append(f.read())
        return data[0] == data[1]

    def copy(self, backend, tries):
        """Bytes a second, read and written."""
        n = 65535 * 256
        self.write("x", "f32", n)
        command = [self.pipectl, "shader", "run", COPY, "--backend", backend, "--no-memo", "--json", "--dispatch", "65535", "--bind", "0:0=" + self.path("x"), "--bind", f"0:1=zero:{n * 4}"]
        times = [seconds(r) for r in (run(command) for _ in range(tries)) if r is not None]
        return 8 * n / min(times) if times else None


def torch_seconds(shapes, d, tries):
    """By shape: seconds in the caches' type; none without torch and a GPU."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
        import torch.nn.functional as F  # pylint: disable=import-outside-toplevel
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    found = {}
    for shape in shapes:
        t, h, kv, keys, kind = shape
        of = torch.float32 if kind == "f32" else torch.bfloat16
        q = torch.randn(1, h, t, d, device="cuda", dtype=of)
        k, v = (torch.randn(1, kv, keys, d, device="cuda", dtype=of) for _ in "kv")
        mask = None if t == 1 else torch.ones(t, keys, device="cuda", dtype=torch.bool).tril(keys - t)
        times = []
        for _ in range(tries + 3):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            F.scaled_dot_product_attention(q, k.repeat_interleave(h // kv, 1), v.repeat_interleave(h // kv, 1), attn_mask=mask)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / 1e3)
        found[shape] = min(times[3:])
    return found


def main():
    pipectl, backend, *rest = sys.argv[1:]
    part = rest.pop(0) if rest and rest[0] in ("decode", "prefill") else None
    tries, d = int((rest or [3])[0]), int((rest[1:] or [128])[0])
    shapes = {"decode": DECODE, "prefill": PREFILL, None: DECODE + PREFILL}[part]
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(pipectl, directory, d)
        small = [(1, 4, 2, 300, "f32"), (1, 4, 2, 300, "bf16"), (20, 4, 2, 90, "f32"), (70, 4, 2, 150, "f32")]
        same = [bench.same(shape, backend) for shape in small]
        print("the same bytes as on cpu:", ", ".join(f"{s} {'yes' if ok else 'NO'}" for s, ok in zip(small, same)), flush=True)
        speed = bench.copy(backend, tries)
        if speed is None:
            sys.exit(1)
        peer = torch_seconds(shapes, d, tries)
        print(f"{backend}, d {d}, a copy {speed / 1e9:.0f} GB/s")
        print("tokens heads cached  keys caches       ms  floor ms  share  GFLOP/s  torch ms  torch/ours")
        for shape in shapes:
            t, h, kv, keys, kind = shape
            times = [seconds(r) for r in (bench.job(shape, backend) for _ in range(tries)) if r is not None]
            if not times:
                continue
            floor = 2 * keys * kv * d * (4 if kind == "f32" else 2) / speed
            work = 4 * d * h * sum(keys - t + i + 1 for i in range(t))
            other = peer.get(shape)
            print(f"{t:6d} {h:5d} {kv:6d} {keys:5d} {kind:6s} {min(times) * 1e3:9.3f} {floor * 1e3:9.3f} {floor / min(times):6.3f} {work / min(times) / 1e9:8.0f} "
                  + (f"{other * 1e3:9.3f} {other / min(times):7.2f}" if other else "        -       -"), flush=True)
        if not all(same):
            sys.exit(1)


if __name__ == "__main__":
    main()
