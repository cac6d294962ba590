"""What a device may be used for: the probe and its records, refusals that name operation, device and reason at
`check --device` time, native forms for class approximate only.
usage: device.py [--few]     --few: without PoCL and a simulator, whose probes take half a minute of the processor each"""
import glob
import json
import os
import sys

from harness import Harness

h = Harness()
STRICT = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = a[id.x] * 3.0 + exp(a[id.x]) / 7.0; }
"""
HALF = """enable f16;
@group(0) @binding(0) var<storage, read> a : array<f16>;
@group(0) @binding(1) var<storage, read_write> r : array<f16>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = a[id.x] * a[id.x]; }
"""
PIPELINE = """pipeline : { name = "t"; class = "%s";
  inputs : { a : { type = "%s[n]"; }; };
  jobs = ( { id = "j"; shader = "%s"; dispatch = ( "n/64" ); in : { a = "$a"; }; out : { r = "%s[n]"; }; } );
  outputs : { r = "j.r"; }; };
"""


def pipeline(name, text, kind, scalar):
    h.write(f"{name}.wgsl", text.encode())
    return h.write(f"{name}-{kind}.pipe.cfg", (PIPELINE % (kind, scalar, f"{name}.wgsl", scalar)).encode())


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    slow = ("Portable Computing Language", "Oclgrind") if "--few" in sys.argv else ()
    return {d["selector"]: d["driver"] for d in json.loads(out)["devices"] if d["usable"] and not d["driver"].startswith(slow)}


found = devices()
profiled = [s for s in found if not s.startswith(("cpu", "null"))]
h.check("devices to probe", len(profiled) > 0, str(found))

# ---- the probe's records
for selector in profiled:
    status, out, err = h.run("device", "probe", "--device", selector, "--json")
    if not h.check(f"probe of {selector}", status == 0, err):
        continue
    p = json.loads(out)["profiles"][0]
    h.check(f"{selector}: integers", p["facts"]["INT32"] == "exact" and p["facts"]["BARRIERS"] == "exact", str(p["facts"]))
    h.check(f"{selector}: the profile is kept", os.path.exists(p["file"]), p["file"])
    h.check(f"{selector}: something was asked", int(p["cases"]) > 100000, p["cases"])
    forms = {(f["op"], f["type"]): f["form"] for f in p["forms"]}
    h.check(f"{selector}: every operation has a form", len(forms) >= 110 and "none" not in forms.values(), str(forms))

files = sorted(glob.glob(h.path("home/profiles/*.profile.cfg")))
h.check("profiles are kept", len(files) >= 1, str(files))
# What follows is the host's, and of no device in particular: SwiftShader is probed in a second.
selector = next((s for s in profiled if "SwiftShader" in found[s]), profiled[0])
status, out, _ = h.run("device", "probe", "--device", selector, "--fresh", "--json")
path = json.loads(out)["profiles"][0]["file"]
with open(path, "rb") as f:
    good = f.read()
# A changed byte: the file is no profile any more, and the device is asked again.
with open(path, "wb") as f:
    f.write(good.replace(b'= "wrong"', b'= "exact"', 1) if b'= "wrong"' in good else good.replace(b"exact", b"wrong", 1))
status, out, err = h.run("device", "probe", "--device", selector, "--json")
another = status == 0 and json.loads(out)["profiles"][0]["file"] != path
h.check("a forged profile is not believed", status == 0 and (another or "probing" in err), err)
status, out, err = h.run("device", "probe", "--device", selector, "--out", h.path("shown"))
h.check("a valid one is", status == 0 and "probing" not in err, err)
h.check("and written where asked", len(glob.glob(h.path("shown/*.profile.cfg"))) == 1)
status, _, err = h.run("device", "probe", "--device", "cpu:0")
h.check("the reference is not probed", status == 5, err)

# ---- strict programs
data = h.write("a.bin", os.urandom(4 * 256))
strict = pipeline("strict", STRICT, "strict", "f32")
approximate = pipeline("strict", STRICT, "approximate", "f32")
integer = pipeline("strict", STRICT, "integer", "f32")
status, _, err = h.run("check", integer, "--in", f"a={data}")
h.check("class integer refuses floats", status == 3 and "strict" in err, err)
status, _, err = h.run("run", strict, "--in", f"a={data}", "--forms", "native")
h.check("native forms need class approximate", status == 3 and "PC5215" in err, err)
cids = {}
for selector in found:
    if selector.startswith("null"):
        continue
    status, _, err = h.run("check", strict, "--in", f"a={data}", "--device", selector)
    h.check(f"check on {selector}", status == 0, err)
    status, out, err = h.run("run", strict, "--in", f"a={data}", "--backend", selector, "--json")
    if h.check(f"run on {selector}", status == 0, err):
        cids[selector] = json.loads(out)["outputs"][0]["cid"]
h.check("one CID", len(set(cids.values())) == 1, str(cids))
status, out, err = h.run("run", approximate, "--in", f"a={data}", "--backend", profiled[0], "--forms", "native", "--json")
h.check("the default policy allows strict, native forms are not", status == 3 and "PC4310" in err, err)
status, out, err = h.run("run", approximate, "--in", f"a={data}", "--backend", profiled[0], "--forms", "native", "--json",
                         "--policy", h.approximate)
h.check("class approximate may", status == 0, err)

# ---- a device that cannot: 16-bit elements where there is no 16-bit memory
half = pipeline("half", HALF, "strict", "f16")
data = h.write("h.bin", os.urandom(2 * 256))
refused = 0
cids = {}
for selector in found:
    if selector.startswith("null"):
        continue
    status, out, err = h.run("check", half, "--in", f"a={data}", "--device", selector)
    if status == 0:
        status, out, err = h.run("run", half, "--in", f"a={data}", "--backend", selector, "--json")
        if h.check(f"f16 on {selector}", status == 0, err):
            cids[selector] = json.loads(out)["outputs"][0]["cid"]
        continue
    refused += 1
    h.check(f"refusal on {selector}", status == 5 and "16" in err and selector in err, f"{status}: {err}")
h.check("one CID of f16", len(cids) > 1 and len(set(cids.values())) == 1, str(cids))
if any("SwiftShader" in driver for driver in found.values()):
    h.check("a device without 16-bit memory refuses", refused > 0)
h.finish()
