"""The mock as a user has it: a device of its own with a profile, pipelines with the bytes of the reference, and faults
that a probe, a verification or an exit status shows."""
import json
import os

from harness import Harness

h = Harness()
PIPELINES = os.environ["PIPELINES"]
SUM = """@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = a[id.x] * 3.0 + 1.0; }
"""


def run_json(name, *args, want=0):
    status, out, err = h.run(*args, "--json")
    h.check(name, status == want, f"exit {status}: {err}")
    return json.loads(out) if status == 0 and out else {}


def outputs(name, pipeline, device, *more):
    status, out, err = h.run("run", os.path.join(PIPELINES, pipeline), "--backend", device, "--no-memo", "--json", *more)
    h.check(f"{name} on {device}", status == 0, err)
    # What was looked at on the way differs between devices; the bytes must not.
    return [{k: v for k, v in o.items() if k != "evidence"} for o in json.loads(out)["outputs"]] if status == 0 else device


# ---- listed nowhere but where plugins are
status, out, _ = h.run("device", "list")
h.check("no device of the list is a mock", status == 0 and b"mock" not in out, out)
status, out, _ = h.run("plugin", "list")
h.check("the plugin is", status == 0 and b"mock" in out, out)

# ---- a device with a profile of its own
probed = run_json("probe", "device", "probe", "--device", "mock:wrap=cpu", "--floats")
profile = probed["profiles"][0] if probed.get("profiles") else {}
h.check("native sums are exact", profile.get("native", {}).get("F32_ADD") == "exact", str(profile.get("native")))
h.check("nothing is wrong", "wrong" not in str(profile.get("native")), str(profile.get("native")))

# ---- the bytes of the reference
graph = h.write("edges", b"".join((i * 7919 % 97).to_bytes(4, "little") for i in range(400)))
for pipeline, more in (("monte-carlo.pipe.cfg", ("--set", "paths=4096")),
                       ("rank.pipe.cfg", ("--in", f"edges={graph}", "--set", "iterations=5"))):
    want = outputs(pipeline, pipeline, "cpu", *more)
    h.check(f"{pipeline} gives the same bytes", outputs(pipeline, pipeline, "mock:wrap=cpu", *more) == want, str(want))

# ---- a bit of one round of one job, through host and worker
rank = ("--in", f"edges={graph}", "--set", "iterations=5")
want = outputs("rank", "rank.pipe.cfg", "cpu", *rank)
flipped = outputs("flip", "rank.pipe.cfg", "mock:wrap=cpu+flip-bit@iterate/3:element=34:bit=8", *rank)
h.check("a flipped bit changes the result", flipped != want, str(flipped))
h.check("every time to the same", outputs("flip", "rank.pipe.cfg", "mock:wrap=cpu,flip-bit@iterate/3:element=34:bit=8",
                                          *rank) == flipped, str(flipped))
for place in ("iterate/5", "iterat/3", "iterate/3.999"):
    h.check(f"nothing happens at {place}", outputs("flip", "rank.pipe.cfg", f"mock:wrap=cpu+flip-bit@{place}", *rank) == want)

# ---- what goes wrong from the start is found by a probe, or by the plan's own checks
status, _, err = h.run("device", "probe", "--device", "mock:wrap=cpu+zero")
h.check("the probe finds a device of zeros", status == 5 and "PC5214" in err, f"{status}: {err}")
status, _, err = h.run("run", os.path.join(PIPELINES, "rank.pipe.cfg"), "--in", f"edges={graph}", "--backend",
                       "mock:wrap=cpu+zero", "--no-memo")
h.check("and a plan's check does", status == 9 and "PC5205" in err, f"{status}: {err}")

# ---- what is lowered wrongly is found
for fault, native in (("contract", "F32_ADD"), ("flush", "F32_ADD")):
    probed = run_json(f"probe with {fault}", "device", "probe", "--device", f"mock:wrap=cpu+{fault}", "--floats")
    verdict = probed["profiles"][0]["native"][native] if probed.get("profiles") else "?"
    h.check(f"the probe finds {fault}", verdict in ("wrong", "normal"), verdict)

# ---- scripts that cannot be read, devices that cannot be had
for selector, code in (("mock:wrap=cpu+flipbit@x", "PC3280"), ("mock:wrap=mock", "PC3281"), ("mock:wrap=nobody", "PC3230")):
    status, _, err = h.run("device", "probe", "--device", selector)
    h.check(f"{selector} is refused", status != 0 and code in err, err)

# ---- a crash is a refused run, and no result
status, _, err = h.run("run", os.path.join(PIPELINES, "rank.pipe.cfg"), "--in", f"edges={graph}", "--backend",
                       "mock:wrap=cpu+crash", "--no-memo")
h.check("a crash fails the run", status in (5, 9) and "SIGABRT" in err, f"{status}: {err}")
h.finish()
