"""Flags that no other test gives, each seen to change or refuse something: of check, plan, run, op, shader, cas, audit, device,
plugin, certs. flags.py says which there are."""
import glob
import json
import os
import struct
import subprocess
from xml.etree import ElementTree

from harness import Harness

PIPELINE = b"""pipeline : { name = "sum"; class = "integer"; params : { times = 1; };
  inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "s"; op = "int.add@1"; in : { a = "$x"; b = "$x"; }; repeat : { count = "$times"; carry : { a = "y"; }; }; } );
  outputs : { y = "s.y"; }; };
"""
TWO = b"""override n = 3u;
@group(0) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn one(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = n; }
@compute @workgroup_size(64) fn two(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = n + g.x; }
"""
FOREIGN = b"""override wg : u32;
@id(7) override scale : f32 = 1.5;
override twice = wg * 2u;
override plain = -3;
struct Item { at : vec3<f32>, n : u32 }
@group(3) @binding(9) var<storage, read_write> items : array<Item>;
@group(5) @binding(0) var<uniform> first : vec4<f32>;
@group(0) @binding(1) var<uniform> second : u32;
@group(0) @binding(2) var image : texture_2d<f32>;
@fragment fn fs() -> @location(0) vec4<f32> { return textureLoad(image, vec2<i32>(0, 0), 0); }
@compute @workgroup_size(wg) fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  items[g.x].at = first.xyz * scale;
  items[g.x].n = second + twice + u32(plain + 3) + g.x;
}
"""
FLOATS = b"""@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = exp(x[g.x]); }
"""

SORT = b"""pipeline : { name = "sort"; class = "integer"; inputs : { x : { type = "u32[5000]"; }; };
jobs = ( { id = "s"; op = "tensor.sort"; in : { x = "$x"; }; }, { id = "t"; op = "tensor.topk"; in : { x = "s.y"; }; attr : { k = "10"; }; } );
outputs : { y = "t.y"; }; };
"""


class Work(Harness):
    def ok(self, *args):
        status, out, err = self.run(*args)
        self.check(" ".join(os.path.basename(a) for a in args)[:90], status == 0, f"{status} {err}")
        return out.decode("utf-8", "replace"), err

    def refused(self, want, code, *args):
        status, _, err = self.run(*args)
        self.check(" ".join(os.path.basename(a) for a in args)[:90], status == want and code in err, f"{status} {err}")


def pipelines(h):
    file, x = h.write("sum.pipe.cfg", PIPELINE), h.write("x", struct.pack("<64I", *range(64)))
    run_sum = ["run", file, "--in", "x=" + x, "--backend", "cpu"]
    plan_sum = ["plan", file, "--in", "x=" + x]
    h.refused(3, "PC4011", "check", file, "--set", "tims=2")
    h.ok("check", file, "--set", "times=2")
    once, thrice = (json.loads(h.ok("--json", *plan_sum, "--set", f"times={n}")[0]) for n in (1, 3))
    h.check("plan --set", once["gas"] != thrice["gas"], f"{once} {thrice}")
    h.check("plan --dot", "digraph" in h.ok(*plan_sum, "--dot")[0])
    h.ok(*plan_sum, "--svg", h.path("plan.svg"))
    drawn = h.read("plan.svg").decode()
    texts = [t.text for t in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    plan = json.loads(h.ok("--json", *plan_sum)[0])
    h.check("plan --svg has shapes, gas, bytes and devices", all(f"gas {j['gas']}" in texts and f"{j['peak_bytes']} bytes" in texts and
            f"on {j['device']}" in texts and j["id"] in texts for j in plan["jobs"]) and any(t.startswith("y u32[") for t in texts), drawn)
    # Temporaries that are never alive together share memory; limits go by what is alive, not by the sum.
    h.write("sort.pipe.cfg", SORT)
    numbers = struct.pack("<5000I", *(i * 2654435761 % (1 << 32) for i in range(5000)))
    sort = [h.path("sort.pipe.cfg"), "--in", "x=" + h.write("numbers", numbers)]
    plan = json.loads(h.ok("--json", "plan", *sort)[0])
    peaks = [int(j["peak_bytes"]) for j in plan["jobs"]]
    h.check("peak and sum of each job", all(0 < p < int(j["buffer_bytes"]) for p, j in zip(peaks, plan["jobs"])), str(plan["jobs"]))
    h.check("peak of the pipeline", max(peaks) <= int(plan["peak_bytes"]) < sum(int(j["buffer_bytes"]) for j in plan["jobs"]), str(plan))
    for most, fits in ((max(peaks), True), (max(peaks) - 4, False)):
        policy = h.write("small.cfg", b'policy : { about = "small"; inherits = "default.cfg"; limits : { memory = %d; }; };' % most)
        status, _, err = h.run("run", *sort, "--backend", "cpu", "--policy", policy)
        h.check(f"a limit of {most} bytes", status == 0 if fits else "PC4314" in err, f"{status} {err}")
    ran = json.loads(h.ok("--json", "run", *sort, "--backend", "cpu")[0])
    h.check("a run takes what its plan said", ran["peak_bytes"] == plan["peak_bytes"], f"{ran['peak_bytes']} {plan['peak_bytes']}")
    # No number stands for what could not be priced: the first job of this one finds a size in its data.
    rank = ["plan", os.path.join(os.environ["PIPELINES"], "rank.pipe.cfg"), "--in", "edges=" + h.write("edges", struct.pack("<4I", 0, 1, 1, 0))]
    late, known = (json.loads(h.ok("--json", *rank, *more)[0]) for more in ((), ("--set", "nodes=2")))
    h.check("gas that hangs on data is none", late["gas"] is None and late["stopped_at"] == "prepare" and late["gas_so_far"] == "0" and
            late["jobs"] == [], str(late))
    h.check("where the size is known, so is gas", int(known["gas"]) > 0 and known["gas"] == known["gas_so_far"] and known["stopped_at"] is None and
            all(int(j["gas"]) > 0 for j in known["jobs"]), str(known))
    text = h.ok(*rank)[0]
    h.check("in words", "gas not known, schedule" in text and "gas 0" not in text, text)
    h.ok(*rank, "--svg", h.path("late.svg"))
    h.check("and in the picture", h.read("late.svg").count(b"sizes and gas hang on data") >= 2 and b"gas 0" not in h.read("late.svg"))
    h.check("plan --svg -", h.ok(*plan_sum, "--svg", "-")[0] == drawn)
    h.refused(2, "PC0010", *plan_sum, "--svg", h.path("plan.svg"), "--dot")
    h.refused(2, "PC0010", "--json", *plan_sum, "--svg", "-")
    for golden in glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden/svg/*.svg")):
        h.check(golden, ElementTree.parse(golden).getroot().tag == "{http://www.w3.org/2000/svg}svg")
    h.refused(7, "PC5211", *plan_sum, "--gas-limit", "10")
    h.refused(1, "PC0003", *plan_sum, "--gas", h.path("none.cfg"))
    h.refused(2, "PC0010", *plan_sum, "--verify", "some")
    h.refused(2, "PC0010", *plan_sum, "--forms", "other")
    h.ok(*plan_sum, "--sanitize")
    h.refused(1, "PC0003", *run_sum, "--gas", h.path("none.cfg"))
    h.refused(2, "PC0010", *run_sum, "--verify", "some")
    h.refused(2, "PC0010", *run_sum, "--forms", "other")
    h.ok(*run_sum, "--sanitize")
    audit = ["audit", file, "--in", "x=" + x, "--backends", "cpu,mock:wrap=cpu", "--no-quarantine"]
    h.refused(7, "PC5211", *audit, "--gas-limit", "10")
    h.refused(1, "PC0003", *audit, "--gas", h.path("none.cfg"))
    h.ok(*audit, "--gas-limit", "1000000")
    h.check("--help", "--set" in h.ok("run", "--help")[0])
    _, err = h.ok("--debug", "--no-progress", *run_sum)
    h.check("--no-progress", "\r" not in err, repr(err))


def ops(h):
    x = h.path("x")
    op = ["op", "run", "int.neg", "--in", f"x={x}:u32[64]", "--out", "y=" + h.path("y"), "--backend", "mock:wrap=cpu"]
    done = json.loads(h.ok("--json", *op, "--no-memo", "--verify", "all")[0])
    h.check("op run --verify", "verified" in json.dumps(done), str(done))
    h.check_bytes("op run", h.read("y"), struct.pack("<64I", *(-i & 0xffffffff for i in range(64))), 4)
    h.refused(7, "PC5211", *op, "--gas-limit", "1")
    h.refused(1, "PC0003", *op, "--gas", h.path("none.cfg"))
    h.refused(2, "PC0010", *op, "--forms", "other")
    h.ok(*op[:-1], "cpu", "--sanitize")


def shaders(h):
    two = h.write("two.wgsl", TWO)
    run = ["shader", "run", two, "--dispatch", "1", "--bind", "0:0=zero:256", "--read", "0:0=" + h.path("y"), "--backend", "mock:wrap=cpu"]
    for more, want in ((("--entry", "one"), [3] * 64), (("--entry", "two"), list(range(3, 67))),
                       (("--entry", "one", "--override", "n=9"), [9] * 64)):
        h.ok(*run, *more)
        h.check_bytes(" ".join(more), h.read("y"), struct.pack("<64I", *want), 4)
    h.refused(7, "PC5211", *run, "--entry", "one", "--gas-limit", "1")
    h.refused(1, "PC0003", *run, "--entry", "one", "--gas", h.path("none.cfg"))
    h.refused(2, "PC0010", *run, "--entry", "one", "--forms", "other")
    # The backend is told which job it works for, and goes wrong in that one alone.
    flip = [*run[:-1], "mock:wrap=cpu+flip-bit@j:element=5:bit=0", "--entry", "one", "--no-memo"]
    for trace, fifth in (("k", 3), ("j", 2)):
        h.ok(*flip, "--trace", trace)
        h.check(f"--trace {trace}", struct.unpack_from("<I", h.read("y"), 20)[0] == fifth)
    check = ["shader", "check", two]
    h.check("--print", "two" in h.ok(*check, "--entry", "two", "--print")[0])
    _, out, err = h.run("shader", "check", two, "--entry", "two", "--dispatch", "0,x")
    h.check("shader check --dispatch", b"PC0010" in out or "PC0010" in err, err)
    h.ok("shader", "check", two, "--entry", "two", "--dispatch", "4")
    h.refused(3, "PC", *check, "--entry", "three")
    h.refused(3, "PC", *check, "--entry", "one", "--override", "m=1")
    h.refused(1, "PC0003", *check, "--entry", "one", "--gas", h.path("none.cfg"))


def foreign(h):
    """A shader as it stands elsewhere: any groups, several uniforms, another stage beside it, overrides without a value."""
    file = h.write("foreign.wgsl", FOREIGN)
    text = h.ok("shader", "check", file, "--override", "wg=8")[0]
    for line in ("  0:1  uniform     second: u32, 4 bytes\n", "  5:0  uniform     first: vec4<f32>, 16 bytes\n",
                 "  3:9  read_write  items: array<{ at: vec3<f32>, n: u32 }>, 16 bytes an element\n",
                 "  override wg: u32, which must be given\n", "  override scale: f32, @id(7) = 1.5\n",
                 "  override twice: u32, computed of others\n", "  override plain: i32 = -3\n"):
        h.check("shader check lists" + line.rstrip(), line in text, text)
    found = json.loads(h.ok("--json", "shader", "check", file, "--override", "wg=8")[0])["shaders"][0]
    h.check("workgroup size", found["workgroup_size"] == [8, 1, 1], found)
    h.check("bindings", [(b["group"], b["binding"], b["name"], b["access"], b["bytes"], b["element_bytes"]) for b in found["bindings"]] ==
            [(0, 1, "second", "uniform", 4, 0), (3, 9, "items", "read_write", 0, 16), (5, 0, "first", "uniform", 16, 0)], found)
    h.check("overrides", [(o["name"], o["type"], o.get("id"), o["required"], o.get("default")) for o in found["overrides"]] ==
            [("wg", "u32", None, True, None), ("scale", "f32", 7, False, "1.5"), ("twice", "u32", None, False, None),
             ("plain", "i32", None, False, "-3")], found)
    status, _, err = h.run("shader", "check", file)
    h.check("an override without a value", status == 3 and "PC2042" in err and "overrides: wg, scale, twice, plain" in err and f"{file}:1:10: error: PC2042" in err, err)
    first, second = h.write("first", struct.pack("<4f", 1, -2, 0.5, 9)), h.write("second", struct.pack("<I", 100))
    run = ["shader", "run", file, "--override", "wg=8", "--backend", "cpu", "--bind", "first=" + first]
    want = b"".join(struct.pack("<3fI", 1.5, -3, 0.75, 116 + i) for i in range(8))
    for more in (("--bind", "items=zero:128", "--bind", "second=" + second, "--read", "items=" + h.path("y")),
                 ("--bind", "3:9=zero:128", "--bind", "0:1=" + second, "--read", "items=" + h.path("y")),
                 ("--bind", "items=zero:128", "--bind", "second=" + second, "--read", "3:9=" + h.path("y"))):
        h.ok(*run, *more)
        h.check_bytes(" ".join(more), h.read("y"), want, 4)
    status, _, err = h.run(*run, "--bind", "itms=zero:128")
    h.check("a name that is none", status == 3 and "PC4123" in err and 'did you mean "items"? it uses second, items, first' in err, err)
    h.refused(3, "PC4123", *run, "--bind", "image=zero:128")
    h.refused(3, "PC4123", *run, "--bind", "3:8=zero:128")
    h.refused(2, "PC0010", *run, "--bind", "items=zero:128", "--bind", "3:9=zero:128")
    h.refused(2, "PC0010", *run, "--bind", "3:x=zero:128")
    h.refused(3, "PC4123", *run, "--bind", "items=zero:128", "--bind", "second=" + second, "--read", "itms=" + h.path("y"))


def store(h):
    pinned, loose = (h.ok("cas", "put", h.write(n, n.encode()), *more)[0].strip()
                     for n, more in (("pinned", ("--pin",)), ("loose", ())))
    pins = h.ok("cas", "ls", "--pins")[0]
    h.check("cas ls --pins", pinned in pins and loose not in pins, pins)
    now = ["--config", h.write("now.cfg", b"cache : { gc_grace = 0; };\n")]
    output = json.loads(h.ok("--json", "run", h.path("sum.pipe.cfg"), "--in", "x=" + h.path("x"), "--verify", "all", "--policy",
                             h.write("p.cfg", b'policy : { backends : { order = ( "opencl" ); }; };'))[0])["outputs"][0]["cid"]
    h.ok("cas", "gc", *now)
    listed = h.ok("cas", "ls")[0]
    h.check("gc keeps what is pinned and remembered", pinned in listed and output in listed and loose not in listed, listed)
    h.ok("cas", "gc", "--all", *now)
    listed = h.ok("cas", "ls")[0]
    h.check("cas gc --all", pinned in listed and output not in listed, listed)
    h.refused(3, "PC5883", "cas", "export", pinned, "--car", h.path("b.car"), "--provenance")
    h.ok("cas", "export", pinned, "--car", h.path("a.car"))
    h.ok("cas", "import", "--car", h.path("a.car"), "--home", h.path("other"))
    h.check("what was exported is there", pinned in h.ok("cas", "ls", "--home", h.path("other"))[0])


def plugins(h):
    forms = h.ok("device", "probe", "--device", "vulkan:llvmpipe", "--forms")[0]
    h.check("device probe --forms", "F32_FMA" in forms.upper() or "fma" in forms, forms[:300])
    # A home that is named from where the program stands gives the drivers their folders too (PoCL has no device without).
    seen = json.loads(subprocess.run([h.pipectl, "--home", "beside", "device", "list", "--json"], cwd=h.dir, env=h.env, check=True,
                                     stdout=subprocess.PIPE).stdout)["devices"]
    h.check("a relative home", [d["name"] for d in seen] == [d["name"] for d in json.loads(h.ok("device", "list", "--json")[0])["devices"]],
            str(seen))
    # Limits of this one were never looked for here (profiles.py), and are not now: those of a mock are searched, which takes seconds.
    bare = h.ok("device", "probe", "--device", "mock:wrap=cpu+packed", "--floats")[0]
    h.check("device probe --floats", "exact:" in bare and "limits (" not in bare, bare[:300])
    h.check("device probe --floats keeps no limits", len(glob.glob(os.path.join(h.env["PIPECTL_HOME"], "profiles", "*.limits.cfg"))) ==
            len(glob.glob(os.path.join(os.environ["PIPECTL_TEST_HOME"], "profiles", "*.limits.cfg"))), "")
    h.ok("plugin", "quarantine", "opencl", "--driver", "pocl", "--cause", "for a test")
    x = h.path("x")
    op = ["op", "run", "int.neg", "--in", f"x={x}:u32[64]", "--backend"]
    status, _, err = h.run(*op, "opencl:portable")
    h.check("that driver is held", status != 0 and "for a test" in err, f"{status} {err}")
    h.ok(*op, "opencl:rusticl")
    h.ok("plugin", "release", "opencl", "--driver", "pocl")
    h.ok(*op, "opencl:portable")
    empty = h.path("nothing")
    os.mkdir(empty)
    h.refused(2, "PC0010", "plugin", "release", "opencl", "--cause", "is for a quarantine")
    h.check("certs list --dir", "h200" not in h.ok("certs", "list", "--dir", empty)[0])


def main():
    h = Work()
    for part in (pipelines, ops, shaders, foreign, store, plugins):
        part(h)
    h.finish()


main()
