"""What the checks of lengths in a loop cost: a matrix product that has them before its loops (core/compiler/legalize/lengths.c), beside the same with counters
of i32, whose loops are left as they are. Device milliseconds of each, the least and the median of `shader tune`, for each of TRIES, in turn; at the end the
ratio of the leasts. usage: lengths.py PIPECTL BACKEND [N [TRIES]]"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

HOME = ["--home", os.environ["PIPECTL_HOME"]] if "PIPECTL_HOME" in os.environ else []
TEXT = """//# max u.m = 8192
//# max u.n = 8192
//# max u.k = 8192
struct U { m: u32, n: u32, k: u32 }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) g: vec3u) {
  if (g.x >= u.n || g.y >= u.m) { return; }
  var sum = 0.0;
  for (var i = ZERO; i < END; i++) { sum = fma(a[g.y * u.k + INDEX], b[INDEX * u.n + g.x], sum); }
  c[g.y * u.n + g.x] = sum;
}
"""
FORMS = (("before the loop", {"ZERO": "0u", "END": "u.k", "INDEX": "i"}), ("in the loop", {"ZERO": "0", "END": "i32(u.k)", "INDEX": "u32(i)"}))


def main():
    pipectl, backend = sys.argv[1:3]
    n = int((sys.argv[3:] or [512])[0])
    tries = int((sys.argv[4:] or [3])[0])
    least = {}
    with tempfile.TemporaryDirectory() as directory:
        size, matrix = os.path.join(directory, "u"), os.path.join(directory, "a")
        with open(size, "wb") as f:
            f.write(struct.pack("<3I", n, n, n))
        with open(matrix, "wb") as f:
            f.write(struct.pack(f"<{n * n}f", *(random.uniform(-1, 1) for _ in range(n * n))))
        for turn in range(tries):
            for name, words in FORMS:
                text, path = TEXT, os.path.join(directory, "product.wgsl")
                for word, by in words.items():
                    text = text.replace(word, by)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                command = [pipectl, *HOME, "--json", "shader", "tune", path, "--bind", f"u={size}", "--bind", f"a={matrix}", "--bind", f"b={matrix}",
                           "--bind", f"c=zero:{4 * n * n}", "--dispatch", f"{(n + 7) // 8},{(n + 7) // 8},1", "--backend", backend]
                done = subprocess.run(command, capture_output=True, check=False)
                if done.returncode:
                    sys.exit(done.stderr.decode()[-500:])
                time = {key: int(json.loads(done.stdout)["time"][key + "_ns"]) / 1e6 for key in ("least", "median")}
                least[name] = min(least.get(name, time["least"]), time["least"])
                print(json.dumps({"bench": "lengths", "device": backend, "n": n, "checks": name, "turn": turn, **time}), flush=True)
    print(f"{backend}, n {n}: {least['before the loop']:.2f} ms with checks before the loop, {least['in the loop']:.2f} ms in it, "
          f"ratio {least['in the loop'] / least['before the loop']:.2f}")


if __name__ == "__main__":
    main()
