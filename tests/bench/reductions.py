"""Reductions, softmax and norms of rows of f32: device seconds of one job, the least of five runs or TRIES, beside the floor of the bytes that
must be read and written at GBPS. usage: reductions.py PIPECTL BACKEND GBPS [ROWS COLUMNS [TRIES]]"""
import json
import os
import subprocess
import sys
import tempfile

# op, ports behind x, attributes, whether y has x's shape
OPS = (("max", "", 'axes = "1";', False), ("sum", "", 'axes = "1";', False), ("sum", "", 'axes = "0";', False), ("variance", "", 'axes = "1";', False),
       ("argmax", "", "", False), ("softmax", "", "", True), ("layer_norm", 'weight = "$none"; bias = "$none";', "", True),
       ("rms_norm", 'weight = "$none";', "", True), ("cumsum", "", "", True))


def main():
    pipectl, backend, gbps = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rows, columns = (int(n) for n in sys.argv[4:6] or (16384, 4096))
    tries = int((sys.argv[6:] or [5])[0])
    with tempfile.TemporaryDirectory() as directory:
        x, none = os.path.join(directory, "x"), os.path.join(directory, "none")
        # Numbers from 1 to 2, of both signs.
        block = b"".join((0x3F800000 | (i * 2654435761 >> 9 & 0x7FFFFF) | (i % 3 == 0) << 31).to_bytes(4, "little") for i in range(65536))
        with open(x, "wb") as f:
            f.write((block * (rows * columns // 65536 + 1))[:rows * columns * 4])
        open(none, "wb").close()
        for op, ports, attrs, whole in OPS:
            file = os.path.join(directory, "one.pipe.cfg")
            more = 'none : { type = "f32[k]"; };' if ports else ""
            with open(file, "w", encoding="utf-8") as f:
                f.write(f'pipeline : {{ name = "one"; class = "strict"; gas_limit = "9_000_000_000_000_000_000"; '
                        f'inputs : {{ x : {{ type = "f32[{rows},{columns}]"; }}; {more} }};\n'
                        f'jobs = ( {{ id = "j"; op = "tensor.{op}@1"; in : {{ x = "$x"; {ports} }}; attr : {{ {attrs} }}; }} );\n'
                        'outputs : { y = "j.y"; }; };\n')
            least = None
            for _ in range(tries):
                command = [pipectl, "run", file, "--backend", backend, "--no-memo", "--json", "--in", "x=" + x]
                command += ["--in", "none=" + none] if ports else []
                done = subprocess.run(command + ["--out", "y=" + os.path.join(directory, "y")], capture_output=True, check=False)
                if done.returncode:
                    print(op, done.stderr.decode()[-300:])
                    break
                job = json.loads(done.stdout)["jobs"][0]
                seconds = job.get("device_seconds") or job.get("seconds") or 0
                least = seconds if least is None else min(least, seconds)
            if least:
                floor = rows * columns * 4 * (2 if whole else 1) / gbps / 1e9
                print(f"{op:11s} {attrs:12s} {rows} x {columns}: {least * 1e3:9.3f} ms, floor {floor * 1e3:7.3f} ms, share {floor / least:5.3f}", flush=True)


if __name__ == "__main__":
    main()
