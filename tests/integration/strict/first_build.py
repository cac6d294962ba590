"""The check of a strict kernel's first build: a device (tests/fakes/lying.c) whose single operations are right and whose
probe says so, but which changes a bit of one whole kernel's result. The run is refused with PC5216, nothing is stored,
the profile is revoked and stays so (PC4332) until a fresh probe; the same kernel under another name runs.
usage: first_build.py LIBRARY"""
import json
import os
import struct
import sys

from harness import Harness

h = Harness()
os.makedirs(h.path("plugins"))
h.write("plugins/lying.plugin.cfg", f"""plugin : {{
  id = "lying"; about = "lies about one kernel"; kind = "backend"; library = "{sys.argv[1]}"; abi : {{ min = "1.0"; }};
  interfaces = [ "pctl.backend/1" ]; isolation = "worker"; in_process = true;
  readable = [ "{os.path.dirname(os.path.dirname(sys.argv[1]))}/plugins" ];
}};
""".encode())
TEXT = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> NAME : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { NAME[id.x] = a[id.x] * 3.0 + 1.0; }
"""
DATA = h.write("a.bin", struct.pack("<64f", *range(64)))


def run(name):
    shader = h.write(name + ".wgsl", TEXT.replace("NAME", name).encode())
    return h.run("--plugin-dir", h.path("plugins"), "--json", "shader", "run", shader, "--dispatch", "1", "--bind",
                 "0:0=" + DATA, "--bind", "0:1=zero:256", "--read", "0:1=" + h.path("out"), "--backend", "lying", "--class",
                 "strict")


status, out, err = h.run("--plugin-dir", h.path("plugins"), "device", "probe", "--device", "lying", "--floats", "--json")
if h.check("the probe finds nothing", status == 0, err):
    p = json.loads(out)["profiles"][0]
    h.check("its facts", p["facts"]["INT32"] == "exact" and p["facts"]["BARRIERS"] == "exact", str(p["facts"]))
status, _, err = run("honest")
if h.check("another kernel runs", status == 0, err):
    h.check_bytes("and is right", h.read("out"), struct.pack("<64f", *[3.0 * i + 1.0 for i in range(64)]), 4)
os.unlink(h.path("out"))
status, _, err = run("planted_lie")
h.check("the lie is found", status == 6 and "PC5216" in err and "planted_lie" in err, f"exit status {status}\n{err}")
h.check("nothing is given out", not os.path.exists(h.path("out")))
status, _, err = run("honest")
h.check("the profile is revoked for every strict kernel", status == 5 and "PC4332" in err, f"exit status {status}\n{err}")
status, out, err = h.run("--plugin-dir", h.path("plugins"), "device", "probe", "--device", "lying", "--fresh", "--floats", "--json")
h.check("a fresh probe lifts it", status == 0, err)
status, _, err = run("honest")
h.check("and honest kernels run again", status == 0, f"exit status {status}\n{err}")
h.finish()
