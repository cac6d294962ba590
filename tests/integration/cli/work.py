"""Flags that no other test gives, each seen to change or refuse something: of check, plan, run, op, shader, cas, audit, device,
plugin, certs. flags.py says which there are."""
import json
import os
import struct

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
FLOATS = b"""@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g : vec3<u32>) { y[g.x] = exp(x[g.x]); }
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
    for part in (pipelines, ops, shaders, store, plugins):
        part(h)
    h.finish()


main()
