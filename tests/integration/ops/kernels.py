"""Kernels of the libraries tensor and transformer run one by one, as its plans join them, for tests that plant faults in them."""
import json
import os
import re
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../ops")
KERNELS = [os.path.join(ROOT, part, "kernels") for part in ("common", "tensor", "transformer")]
# What sums are rounded to, as exact_sum.wgsl and within.wgsl want it.
FORMAT = ("const PRECISION: u32 = 24u;\nconst LEAST: u32 = 149u;\nconst INFINITY: u32 = 0x7f800000u;\nconst NAN: u32 = 0x7fc00000u;\n"
          "const SIGN: u32 = 0x80000000u;\nfn sum_scale() -> bool {\n\treturn false;\n}\n")
BITS = "fn {0}_bits(i: u32) -> u32 {{\n\treturn {0}[i];\n}}\n"
NEAREST = "fn nearest(x: f64) -> u32 {\n\treturn bitcast<u32>(f32(x));\n}\n"


# What stands for the dollar where nothing is fused behind a kernel.
WRITTEN = {"reduce_tree": "give(ping[lid])", "reduce_lanes": "give(ping[lid])", "matmul_gather": "temp[slot_of(e.x, e.y, e.z)]", "matmul_settle_main": "word"}


def kernel(name, called="product"):
    path = next(p for p in (os.path.join(folder, name + ".wgsl") for folder in KERNELS) if os.path.exists(p))
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = text.replace("pack4($", "pack4(").replace("params.runs$)", "params.runs)").replace("fn $(i: u32)", f"fn {called}(i: u32)")
    return text.replace("= $;", f"= {WRITTEN[name]};") if name in WRITTEN else text


def buffer(name, binding, access="read", element="u32"):
    return f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;\n"


STEP = "fn step(a: vec4<f64>, b: vec4<f64>, s: vec4<f64>) -> vec4<f64> {\n\treturn fma(a, b, s);\n}\n"


class Tile:
    """The texts of ops/common/tensors/tile.c; by matrix units, which are ordinary code where there are none."""

    def __init__(self, rows, units):
        self.rows, self.units = rows, units
        self.begin = "//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n" if units else ""
        self.head = f"const TILE_ROWS: u32 = {rows}u;\n" + ("" if units else STEP) + self.text("")
        self.sums, self.stages = self.each("_sum"), self.each("_stage")
        self.multiply = self.text("_open") + self.each("_multiply") + "\t}\n"

    def text(self, part):
        return kernel(("tile_units" if self.units else "tile_f64") + part)

    def each(self, part):
        return "".join(self.text(part).replace("$", str(i)) for i in range(self.rows // 16))


class Plan:
    """What a library plans for a device (plan.c): said, its text; params, bytes by buffer; temps, sizes by buffer; kernels: name, workgroups, steps, buffers by binding; texts."""

    def __init__(self, h, ops_plan, library, *args):
        self.said = subprocess.run([ops_plan, library, *args, "--", h.dir], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
        self.params = {int(x): bytes.fromhex(y) for x, y in re.findall(r"^params (\d+) ([0-9a-f]+)$", self.said, re.M)}
        self.temps = {int(x): int(y) for x, y in re.findall(r"^temp (\d+) (\d+)$", self.said, re.M)}
        self.kernels = [(name, groups, steps, [int(x.split(":")[1]) for x in bound.split()])
                        for name, groups, steps, bound in re.findall(r"^kernel \d+ (\S+) (\S+) steps=(\d+) (.*)$", self.said, re.M)]
        self.texts = [h.read(f"{i}.wgsl").decode() for i in range(len(self.kernels))]

    def run(self, h, backend, held, written, plant=(), seconds=None):
        """held: bytes by buffer, which go on from kernel to kernel; written: the binding that a kernel writes, by its name without the folder; plant: what is put in place of what, by kernel."""
        held.update(self.params)
        held.update({i: bytes(size) for i, size in self.temps.items()})
        for i, (name, groups, steps, buffers) in enumerate(self.kernels):
            at = written[name[name.index("/") + 1:-len(".wgsl")]]
            held[buffers[at]] = run_kernel(h, backend, self.texts[i], steps, groups, {j: held[x] for j, x in enumerate(buffers)}, (at,), plant[i] if i < len(plant) else (), seconds)[0]


def run_kernel(h, backend, text, steps, groups, bindings, read, plant, seconds=None):
    """steps: None where a kernel takes none. bindings: bytes by number; plant: what is put in place of what; seconds: a list that takes the device's. The bytes of each binding of `read` after the dispatch."""
    for old, new in plant:
        h.check("a fault has a place", old in text, old)
        text = text.replace(old, new)
    args = ["shader", "run", h.write("kernel.wgsl", text.encode()), *(["--override", f"steps={steps}"] if steps else []), "--dispatch", str(groups), "--backend", backend, "--json"]
    for number in read:
        args += ["--read", f"0:{number}=" + h.path(f"out{number}")]
    for number, data in bindings.items():
        args += ["--bind", f"0:{number}=" + h.write(f"in{number}", data)]
    status, out, err = h.run(*args)
    if not h.check("a kernel runs", status == 0, err):
        h.finish()
    if seconds is not None:
        seconds.append(json.loads(out)["jobs"][0]["device_seconds"])
    return [h.read(f"out{number}") for number in read]
