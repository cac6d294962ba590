"""`shader run --emit`: a kernel as its device gets it; nothing is run, and what is shown is what the drivers' compilers take."""
import json
import subprocess

from harness import Harness

SHADER = b"""@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
override scale: f32 = 2.0;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) { o[g.x] = fma(a[g.x], scale, 1.0); }
"""

# Integers for OpenCL: the first float on PoCL waits for its probe, which takes a minute of the processor.
WORDS = b"""@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
override scale: u32 = 74565u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) { o[g.x] = a[g.x] * scale + 1u; }
"""

LOOP = b"""@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
struct U { n: u32 }
@group(0) @binding(2) var<uniform> u: U;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  var sum = 0u;
  for (var i = 0u; i < min(u.n, 4096u); i++) { sum += a[g.x * u.n + i]; }
  o[g.x] = sum;
}
"""


def emit(h, path, language, *args):
    return h.run("shader", "run", path, "--emit", language, *args)


def main():
    h = Harness()
    path = h.write("fma.wgsl", SHADER)
    status, written, err = emit(h, path, "ir", "--backend", "cpu")
    h.check("the reference gets the program as written", status == 0 and b"FFMA" in written and "ir for cpu:0" in err, err)
    status, legal, err = emit(h, path, "ir", "--backend", "vulkan")
    h.check("a device gets it legalised", status == 0 and b"FFMA" not in legal and (b"NFMA" in legal or b"f32_fma" in legal), err + legal.decode())
    words = h.write("words.wgsl", WORDS)
    status, clc, err = emit(h, words, "opencl")
    h.check("opencl", status == 0 and b"pctl_main" in clc and "opencl for opencl:" in err, err)
    h.check("the override's value is in it", b"74565u" in clc, clc.decode())
    status, other, _ = emit(h, words, "opencl", "--override", "scale=74566")
    h.check("another value, another text", status == 0 and other != clc and b"74566u" in other and b"74565u" not in other)
    status, spirv, err = emit(h, words, "spirv")
    h.check("spirv", status == 0 and b"OpEntryPoint GLCompute" in spirv and "spirv for vulkan:" in err, err)
    status, spirv, err = emit(h, path, "spirv", "--backend", "vulkan")
    h.check("spirv of floats", status == 0 and b"OpEntryPoint GLCompute" in spirv, err)
    binary = h.path("fma.spv")
    done = subprocess.run(["spirv-as", "--target-env", "vulkan1.1", "-o", binary, "-"], input=spirv, stderr=subprocess.PIPE)
    h.check("spirv-as takes it", done.returncode == 0, done.stderr.decode())
    done = subprocess.run(["spirv-val", "--target-env", "vulkan1.1", binary], stderr=subprocess.PIPE)
    h.check("spirv-val passes it", done.returncode == 0, done.stderr.decode())
    done = subprocess.run(["spirv-as", "-o", binary, "-"], input=spirv.replace(b"OpReturn", b"OpRetarn"), stderr=subprocess.PIPE)
    h.check("a spoiled text is seen", done.returncode != 0)
    status, out, _ = h.run("--json", "shader", "run", path, "--emit", "spirv", "--backend", "vulkan")
    document = json.loads(out)
    h.check("--json", status == 0 and document["text"].encode() == spirv and document["language"] == "spirv", out.decode())
    status, native, err = emit(h, path, "spirv", "--backend", "vulkan", "--forms", "native", "--class", "approximate")
    h.check("--forms native", status == 0 and native != spirv, err)
    loop = h.write("loop.wgsl", LOOP)
    written = emit(h, loop, "ir", "--backend", "cpu")[1]
    legal = emit(h, loop, "ir", "--backend", "opencl")[1]
    lines = [line.strip() for line in legal.split(b"\n")]
    h.check("a length is checked before a loop, which is there twice", lines.count(b"LOOP") == 2 and written.count(b"LOOP_TEST") == 1 and
            sum(b"a[" in line and b"proven" in line for line in lines) == 1 and sum(b"a[" in line for line in lines) == 2, legal.decode())
    signed = h.write("signed.wgsl", LOOP.replace(b"var i = 0u; i < min(u.n, 4096u)", b"var i = 0; i < 9").replace(b"+ i]", b"+ u32(i)]"))
    legal = emit(h, signed, "ir", "--backend", "opencl")[1]
    h.check("not where the loop counts in signed numbers", [line.strip() for line in legal.split(b"\n")].count(b"LOOP") == 1, legal.decode())
    for name, code, args in (("another language than the device's", "PC3218", ["opencl", "--backend", "vulkan"]),
                             ("the reference compiles nothing", "PC3218", ["spirv", "--backend", "cpu"]),
                             ("no such language", "PC3218", ["msl"]),
                             ("an option of a run", "PC0010", ["ir", "--read", "0:1=x"]),
                             ("a device that is not there", "PC3231", ["ir", "--backend", "opencl:77"])):
        status, out, err = emit(h, words, *args)
        h.check(name, status != 0 and not out and code in err, f"{status} {out} {err}")
    h.finish()


main()
