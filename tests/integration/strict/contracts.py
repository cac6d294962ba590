"""Range contracts: a product of matrices by tiles and a chain of elementwise operations, over buffers that fulfil the
contract and over buffers that break it in one element, give the reference's bytes on devices that flush subnormals and on one
that does not; and the program is the one without guards exactly where the contract holds."""
import json
import os
import random
import struct

from harness import Harness

h = Harness()
SIDE = 32
PRODUCT = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read> b : array<f32>;
@group(0) @binding(2) var<storage, read_write> c : array<f32>;
var<workgroup> ta : array<array<f32, 8>, 8>;
var<workgroup> tb : array<array<f32, 8>, 8>;
@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) g : vec3<u32>, @builtin(local_invocation_id) l : vec3<u32>) {
  let row = g.y * 8u + l.y;
  let column = g.x * 8u + l.x;
  var s = 0.0;
  for (var t = 0u; t < 32u; t += 8u) {
    ta[l.y][l.x] = a[row * 32u + t + l.x];
    tb[l.y][l.x] = b[(t + l.y) * 32u + column];
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) { s = s + ta[l.y][k] * tb[k][l.x]; }
    workgroupBarrier();
  }
  c[row * 32u + column] = s;
}
"""
CHAIN = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read> b : array<f32>;
@group(0) @binding(2) var<storage, read_write> c : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  let v = vec2(a[id.x], b[id.x]);
  let w = v * v.yx * 0.5 - v;
  c[id.x] = max(w.x, -w.y) + abs(v.x) * 3.0;
}
"""
# What one element is, and whether the contract holds then.
ODD = {"none": (None, 1), "minus zero": (0x80000000, 1), "least": (0x2b800000, 1), "most": (0xd3800000, 1),
       "subnormal": (0x00012345, 0), "infinite": (0xff800000, 0), "nan": (0x7fc00123, 0), "2^-41": (0x2b000000, 0),
       "above 2^40": (0x53800001, 0)}


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    found = {d["selector"]: d["name"] for d in json.loads(out)["devices"] if d["usable"]}
    chosen = {"mock:wrap=cpu+flush": 1}
    for selector, name in found.items():
        if selector.startswith("vulkan:"):
            chosen[selector] = 1 if "SwiftShader" in name else 0
    return chosen


def shader(name, text):
    return h.write(name + ".wgsl", text.encode())


def buffers(odd):
    random.seed(7)
    words = [[struct.unpack("<I", struct.pack("<f", random.choice((-1, 1)) * random.uniform(1, 2) * 2.0 ** random.randint(-20, 20)))[0]
              for _ in range(SIDE * SIDE)] for _ in range(2)]
    if odd is not None:
        words[1][SIDE * SIDE - 1] = odd  # the last one
    return [h.write(f"in{i}", struct.pack(f"<{SIDE * SIDE}I", *w)) for i, w in enumerate(words)]


def run(device, path, groups, odd, *more):
    a, b = buffers(odd)
    status, out, err = h.run("--json", "shader", "run", path, "--dispatch", groups, "--bind", f"0:0={a}", "--bind", f"0:1={b}",
                             "--bind", f"0:2=zero:{4 * SIDE * SIDE}", "--read", f"0:2={h.path('out')}", "--no-memo", "--backend",
                             device, *more)
    if not h.check(f"{os.path.basename(path)} on {device}", status == 0, err):
        return b"", {}
    return h.read("out"), json.loads(out)["jobs"][0]


KERNELS = ((shader("product", PRODUCT), "4,4"), (shader("chain", CHAIN), "16"))
chosen = devices()
h.check("a device that flushes", any(chosen.values()), str(chosen))
for path, groups in KERNELS:
    name = os.path.basename(path)
    for what, (odd, holds) in ODD.items():
        right, job = run("cpu", path, groups, odd)
        h.check("the reference has one program", job.get("kernels_without_guards") == 0 == job.get("kernels_with_guards"), str(job))
        for device, flushes in chosen.items():
            got, job = run(device, path, groups, odd)
            h.check_bytes(f"{name}, {what}, on {device}", got, right, 4)
            ran = (job.get("kernels_without_guards"), job.get("kernels_with_guards"))
            h.check(f"{name}, {what}, on {device}: the program", ran == ((holds, 1 - holds) if flushes else (0, 0)), str(ran))

# ---- what is looked at once: equal bytes, by their CID; and a value of two jobs
flushing = "mock:wrap=cpu+flush"
x = h.write("x", struct.pack("<64f", *[2.0 ** (i % 30) for i in range(64)]))
h.write("square.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * x[id.x] - 1.0; }
""")
JOB = '{ id = "%s"; shader = "square.wgsl"; dispatch = ( 1 ); in : { x = "%s"; }; out : { y = "f32[64]"; }; %s }'


def pipeline(name, jobs, outputs):
    return h.write(name + ".pipe.cfg", ('pipeline : { name = "%s"; class = "strict"; inputs : { x : { type = "f32[n]"; }; '
                                        'z : { type = "f32[n]"; }; }; jobs = ( %s ); outputs : { %s }; };'
                                        % (name, ", ".join(jobs), outputs)).encode())


def jobs_of(path):
    status, out, err = h.run("--json", "run", path, "--in", f"x={x}", "--in", f"z={x}", "--no-memo", "--backend", flushing,
                             "--verify", "all")
    h.check(os.path.basename(path), status == 0, err)
    return {j["id"]: (j["kernels_without_guards"], j["kernels_with_guards"], j["inputs_looked_at"])
            for j in json.loads(out)["jobs"]} if status == 0 else {}


found = jobs_of(pipeline("shared", [JOB % ("one", "$x", ""), JOB % ("two", "$z", ""), JOB % ("three", "one.y", ""),
                                    JOB % ("four", "one.y", "")], 'a = "two.y"; b = "three.y"; c = "four.y";'))
# 2^(2*29) - 1 is outside: three and four keep their guards, and one look is enough for both
h.check("each value is looked at once", found == {"one": (1, 0, 1), "two": (1, 0, 0), "three": (0, 1, 1), "four": (0, 1, 0)},
        str(found))
found = jobs_of(pipeline("rounds", [JOB % ("loop", "$x", 'repeat : { count = 3; carry : { x = "y"; }; };'), JOB % ("two", "$z", "")],
                         'a = "loop.y"; b = "two.y";'))
h.check("what goes round keeps its guards", found == {"loop": (0, 1, 0), "two": (1, 0, 1)}, str(found))

# ---- a person can see why
status, out, err = h.run("shader", "run", KERNELS[0][0], "--emit", "ir", "--backend", flushing)
h.check("what is proven is said", status == 0 and "from 2^-40 to 2^40, another program runs, in which 2 operations" in err, err)
bad = shader("bad", CHAIN.replace("* 0.5", "* v.yx * v"))
status, out, err = h.run("shader", "run", bad, "--emit", "ir", "--backend", flushing)
h.check("what is not, with its place", status == 0 and "bad.wgsl:7:" in err and
        "mul: an operand or the result may be subnormal" in err, err)
status, out, err = h.run("shader", "run", bad, "--emit", "ir", "--backend", "cpu")
h.check("the reference has nothing to say", status == 0 and "guards" not in err, err)
h.finish()
