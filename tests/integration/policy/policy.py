"""What the policy says of a run: an approximate op, native forms and atomics whose order shows need class approximate in
policy and pipeline; a device needs the certificate level that the policy asks for an op. Each refusal has a twin that
is allowed."""
import json
import os
import struct
import sys

from harness import Harness

h = Harness()
FLOATS = h.write("floats.bin", struct.pack("<64f", *[0.1 * i for i in range(64)]))
ORDERED = b"""@group(0) @binding(0) var<storage, read_write> cell : atomic<u32>;
@group(0) @binding(1) var<storage, read_write> seen : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  seen[id.x] = atomicAdd(&cell, 1u);
}
"""
COMMUTING = ORDERED.replace(b"seen[id.x] = atomicAdd(&cell, 1u);", b"seen[id.x] = id.x;\n  atomicAdd(&cell, 1u);")
FLOAT_ATOMIC = """@group(0) @binding(0) var<storage, read_write> cells : array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> seen : array<f32>;
fn add(p : ptr<storage, atomic<u32>, read_write>, v : f32) {
  var old = 0u;
  for (var turn = 0u; turn < 1000u; turn++) {
    let r = atomicCompareExchangeWeak(p, old, bitcast<u32>(bitcast<f32>(old) + v));
    if r.exchanged { break; }
    old = r.old_value;
  }
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  add(&cells[id.x % 2u], seen[id.x]);
}
"""
PIPELINE = """pipeline : { name = "t"; class = "%s"; inputs : { x : { type = "f32[n]"; }; };
  jobs = ( { id = "r"; op = "ieee.reduce_approx@1"; in : { x = "$x"; }; attr : { op = "add"; }; } );
  outputs : { y = "r.y"; }; };
"""
STRICT = PIPELINE.replace("reduce_approx", "reduce_tree")


def write(name, text):
    return h.write(name, text.encode() if isinstance(text, str) else text)


def refused(name, args, code, *words):
    status, _, err = h.run(*args)
    h.check(name, status == 3 and code in err and all(w in err for w in words), f"exit status {status}\n{err}")


def allowed(name, args):
    status, out, err = h.run(*args)
    h.check(name, status == 0, f"exit status {status}\n{err}")
    return out


# ---- an approximate op: its kernels are strict one by one, its class is what it says
reduce = ["op", "run", "ieee.reduce_approx", "--in", f"x={FLOATS}:f32[64]", "--attr", "op=add", "--out", "y=" + h.path("y"),
          "--backend", "cpu"]
refused("op run of an approximate op", reduce, "PC4310", "approximate", "strict")
allowed("op run under the shipped policy", reduce + ["--policy", h.approximate])
approximate = write("approximate.pipe.cfg", PIPELINE % "approximate")
run = ["run", approximate, "--in", f"x={FLOATS}", "--backend", "cpu"]
refused("run of an approximate op", run, "PC4310", "strict")
refused("plan of an approximate op", ["plan", approximate, "--in", f"x={FLOATS}"], "PC4310")
refused("check --device of an approximate op", ["check", approximate, "--in", f"x={FLOATS}", "--device", "cpu"], "PC4310")
out = allowed("run under the shipped policy", run + ["--policy", h.approximate, "--json"])
if out:
    h.check("its class is shown", json.loads(out)["jobs"][0]["class"] == "approximate", out.decode())
refused("a strict pipeline does not take it", ["run", write("s.pipe.cfg", PIPELINE % "strict"), "--in", f"x={FLOATS}",
                                               "--backend", "cpu", "--policy", h.approximate], "PC4114")

# ---- atomics whose order shows
ordered, commuting = write("ordered.wgsl", ORDERED), write("commuting.wgsl", COMMUTING)
shader = ["shader", "run", ordered, "--dispatch", "2", "--bind", "0:0=zero:4", "--bind", "0:1=zero:512", "--read",
          "0:1=" + h.path("seen"), "--backend", "cpu"]
refused("order-dependent atomics", shader, "PC4315", "ordered.wgsl:5")
for kind in ("integer", "strict"):
    refused(f"class {kind} refuses them", shader + ["--class", kind, "--policy", h.approximate], "PC4315", "ordered.wgsl:5")
    refused(f"shader check --class {kind}", ["shader", "check", ordered, "--class", kind], "PC4315", "ordered.wgsl:5")
# A float atomic made of compare-exchange, by a pointer, says so and what to write; integers have another hint.
floats = write("floats.wgsl", FLOAT_ATOMIC)
swap = write("swap.wgsl", FLOAT_ATOMIC.replace("bitcast<u32>(bitcast<f32>(old) + v)", "old + u32(v)"))
for kind in ("integer", "strict"):
    refused(f"a float atomic of class {kind}", ["shader", "check", floats, "--class", kind], "PC4315", "floats.wgsl:6",
            "rounded at each step", "fixed scale")
refused("an integer one", ["shader", "check", swap, "--class", "integer"], "PC4315", "swap.wgsl:6", "shows who came first")
allowed("class approximate has it", ["shader", "check", floats, "--class", "approximate"])
allowed("class approximate takes them", shader + ["--class", "approximate", "--policy", h.approximate])
allowed("commuting ones are integer", [commuting if a == ordered else a for a in shader] + ["--class", "integer"])
jobs = """pipeline : { name = "t"; class = "%s";
  jobs = ( { id = "count"; shader = "%s"; dispatch = ( 2 ); out : { cell = "u32"; seen = "u32[128]"; }; } );
  outputs : { seen = "count.seen"; }; };
"""
refused("in a pipeline", ["run", write("o.pipe.cfg", jobs % ("integer", "ordered.wgsl")), "--backend", "cpu"], "PC4315",
        "ordered.wgsl:5", "count")
refused("and when planned", ["plan", h.path("o.pipe.cfg")], "PC4315")
allowed("commuting in a pipeline", ["run", write("c.pipe.cfg", jobs % ("integer", "commuting.wgsl")), "--backend", "cpu"])
PIPE, ADMITTED = h.path("o.pipe.cfg"), write("a.pipe.cfg", jobs % ("approximate", "ordered.wgsl"))
refused("and when checked", ["check", PIPE], "PC4315", "ordered.wgsl:5", "count", "integer")
refused("whatever the pipeline says", ["check", ADMITTED], "PC4315", "ordered.wgsl:5", "the policy allows strict")
allowed("checked under a policy that takes them", ["check", ADMITTED, "--policy", h.approximate])
TICKET = ["--plugin-dir", sys.argv[1], "op", "run", "test.ticket", "--in", f"x={FLOATS}:u32[64]", "--out", "seen=" + h.path("t"),
          "--backend", "cpu"]
refused("in the kernel of an op that says integer", TICKET, "PC4315", "ticket.wgsl:7")
with open(os.path.join(sys.argv[1], "ticket.plugin.cfg")) as f:
    promised = f.read().replace("../plugins/", os.path.dirname(sys.argv[1]) + "/plugins/")
write("promise.plugin.cfg", promised.replace("test.ticket@1", "test.ticket@1\", \"test.absent@1"))
status, out, err = h.run("--plugin-dir", h.path("."), "plugin", "list")
h.check("a library that lacks what its manifest promises", "PC3023 " in out.decode() + err, out.decode() + err)
# An audit asks the same, and blames nobody for an order that shows.
AUDIT = ["audit", ADMITTED, "--backends", "cpu,mock:wrap=cpu,mock:wrap=cpu+flip-bit@count:element=3:bit=2", "--json"]
refused("in an audit", ["audit", PIPE] + AUDIT[2:], "PC4315", "ordered.wgsl:5")
refused("whatever its pipeline says", AUDIT, "PC4315", "the policy allows strict")
status, out, err = h.run(*AUDIT, "--policy", h.approximate)
document = json.loads(out) if status == 6 else {}
h.check("an audit whose order shows", status == 6 and "PC5612" in err and "the order of its atomics shows" in err and
        document.get("quarantined") == 0 and {d["outcome"] for d in document.get("devices", [])} <=
        {"agrees", "undecided"}, f"{status} {err} {document.get('devices')}")

# ---- certificates: nothing is certified in this home
level = write("level.cfg", 'policy : { inherits = "%s"; certificate = ( { ops = "ieee.*"; level = "L1"; } ); };\n'
              % os.path.join(os.path.dirname(h.approximate), "default.cfg"))
strict = write("strict.pipe.cfg", STRICT % "strict")
_, out, _ = h.run("device", "list", "--json")
found = [d["selector"] for d in json.loads(out)["devices"] if d["usable"] and d["backend"] not in ("cpu", "null")]
found.sort(key=lambda selector: not selector.startswith("vulkan"))  # whose profiles are made before all tests
h.check("a device besides the reference", len(found) > 0, str(found))
for selector in found[:1]:
    args = ["run", strict, "--in", f"x={FLOATS}", "--backend", selector, "--policy", level]
    status, _, err = h.run(*args)
    h.check("a device without the level", status == 5 and "PC4316" in err and "level.cfg:1" in err, f"{status}: {err}")
    status, _, err = h.run("check", strict, "--in", f"x={FLOATS}", "--device", selector, "--policy", level)
    h.check("check --device says so too", status == 5 and "PC4316" in err, f"{status}: {err}")
    status, out, err = h.run("run", strict, "--in", f"x={FLOATS}", "--policy", level, "--json")
    h.check("another is chosen: the reference needs none",
            status == 0 and json.loads(out)["jobs"][0]["device"] == "cpu:0", f"{status}: {err}")
    allowed("without a level it runs", args[:-2])
h.finish()
