"""Reductions, softmax, norms and prefix sums of rows of f32: the same CID as on `cpu` first (at most 16 rows); then device seconds of one job, the least
of TRIES runs, beside a copy in the same run and beside torch on a GPU. Share: what a copy would take for the bytes that must be read and written,
of what the job takes. usage: reductions.py PIPECTL BACKEND [ROWS COLUMNS [TRIES]]"""
import json
import os
import subprocess
import sys
import tempfile

# op, ports behind x, attributes, whether y has x's shape, the same in torch
OPS = (("max", "", 'axes = "1";', False, "x.amax(1)"), ("sum", "", 'axes = "1";', False, "x.sum(1)"), ("sum", "", 'axes = "0";', False, "x.sum(0)"),
       ("variance", "", 'axes = "1";', False, "x.var(1, correction=0)"), ("argmax", "", "", False, "x.argmax(1)"), ("softmax", "", "", True, "x.softmax(1)"),
       ("log_softmax", "", "", True, "x.log_softmax(1)"), ("layer_norm", 'weight = "$none"; bias = "$none";', "", True, "F.layer_norm(x, x.shape[1:])"),
       ("rms_norm", 'weight = "$none";', "", True, "F.rms_norm(x, x.shape[1:], eps=1e-5)"), ("cumsum", "", "", True, "x.cumsum(1)"))
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
    def __init__(self, pipectl, backend, directory, rows, columns):
        self.pipectl, self.backend, self.directory, self.rows, self.columns = pipectl, backend, directory, rows, columns
        self.x, self.none = self.path("x"), self.path("none")
        # Numbers from 1 to 2, of both signs.
        block = b"".join((0x3F800000 | (i * 2654435761 >> 9 & 0x7FFFFF) | (i % 3 == 0) << 31).to_bytes(4, "little") for i in range(65536))
        size = rows * columns * 4
        for name, n in ((self.x, size), (self.path("few"), 4 * columns * min(rows, 16))):
            with open(name, "wb") as f:
                f.write((block * (n // len(block) + 1))[:n])
        open(self.none, "wb").close()

    def path(self, name):
        return os.path.join(self.directory, name)

    def job(self, op, backend, x, rows):
        name, ports, attrs, _, _ = op
        more = 'none : { type = "f32[k]"; };' if ports else ""
        with open(self.path("one.pipe.cfg"), "w", encoding="utf-8") as f:
            f.write('pipeline : { name = "one"; class = "strict"; gas_limit = "9_000_000_000_000_000_000"; '
                    f'inputs : {{ x : {{ type = "f32[{rows},{self.columns}]"; }}; {more} }};\n'
                    f'jobs = ( {{ id = "j"; op = "tensor.{name}@1"; in : {{ x = "$x"; {ports} }}; attr : {{ {attrs} }}; }} );\n'
                    'outputs : { y = "j.y"; }; };\n')
        command = [self.pipectl, "run", self.path("one.pipe.cfg"), "--backend", backend, "--no-memo", "--json", "--in", "x=" + x]
        return run(command + (["--in", "none=" + self.none] if ports else []) + ["--out", "y=" + self.path("y")])

    def same(self, op):
        """Both devices write the same bytes."""
        data = []
        for backend in ("cpu", self.backend):
            if self.job(op, backend, self.path("few"), min(self.rows, 16)) is None:
                return False
            with open(self.path("y"), "rb") as f:
                data.append(f.read())
        return data[0] == data[1]

    def copy(self, tries):
        """Bytes a second, read and written."""
        n = self.rows * self.columns
        groups = n // 256
        command = [self.pipectl, "shader", "run", COPY, "--backend", self.backend, "--no-memo", "--json", "--dispatch", f"{min(groups, 65535)}", "--bind", "0:0=" + self.x,
                   "--bind", f"0:1=zero:{n * 4}"]
        times = [seconds(r) for r in (run(command) for _ in range(tries)) if r is not None]
        return 2 * min(groups, 65535) * 256 * 4 / min(times) if times else None


def torch_seconds(bench, tries):
    """Milliseconds of each, by its name and attributes; none without torch and a GPU."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
        import torch.nn.functional as F  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    with open(bench.x, "rb") as f:
        x = torch.frombuffer(bytearray(f.read()), dtype=torch.float32).reshape(bench.rows, bench.columns).cuda()
    found = {}
    for name, text in [("copy", "x.clone()")] + [(op[0] + op[2], op[4]) for op in OPS]:
        times = []
        try:
            for _ in range(tries + 2):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                y = eval(text, {"x": x, "F": F})  # pylint: disable=eval-used
                end.record()
                torch.cuda.synchronize()
                times.append(begin.elapsed_time(end) / 1e3)
                del y
        except (AttributeError, RuntimeError) as e:
            print("torch", name, str(e)[:100])
            continue
        found[name] = min(times[2:])
    return found


def main():
    pipectl, backend = sys.argv[1:3]
    rows, columns = (int(n) for n in sys.argv[3:5] or (16384, 4096))
    tries = int((sys.argv[5:] or [3])[0])
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(pipectl, backend, directory, rows, columns)
        same = {op[0] + op[2]: bench.same(op) for op in OPS}
        print("the same bytes as on cpu:", ", ".join(f"{name} {'yes' if ok else 'NO'}" for name, ok in same.items()), flush=True)
        speed = bench.copy(tries)
        if speed is None:
            sys.exit(1)
        peer = torch_seconds(bench, 5)
        # The quicker of both is the floor: copy.wgsl is one cold dispatch of an element an invocation.
        speed = max(speed, 2 * rows * columns * 4 / peer["copy"] if "copy" in peer else 0)
        table = []
        for op in OPS:
            times = [seconds(r) for r in (bench.job(op, backend, bench.x, rows) for _ in range(tries)) if r is not None]
            if not times:
                continue
            floor = rows * columns * 4 * (2 if op[3] else 1) / speed
            other = peer.get(op[0] + op[2])
            table.append((op[0], op[2], min(times), floor, f"{other * 1e3:9.3f}" if other else "        -", f"{other / min(times):6.2f}" if other else "     -"))
        clone = f", torch.clone {2 * rows * columns * 4 / peer['copy'] / 1e9:.0f} GB/s" if "copy" in peer else ""
        print(f"{backend}, {rows} x {columns} f32, floor {speed / 1e9:.0f} GB/s{clone}")
        print("op          attributes            ms  floor ms  share  torch ms  torch/ours")
        for name, attrs, least, floor, other, ratio in table:
            print(f"{name:11s} {attrs:12s} {least * 1e3:11.3f} {floor * 1e3:9.3f} {floor / least:6.3f} {other} {ratio}")
        if not all(same.values()):
            sys.exit(1)


if __name__ == "__main__":
    main()
