"""Every key of a policy and of the host's configuration refuses or changes something once."""
import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import time

from harness import Harness

PIPELINE = b"""pipeline : { name = "sum"; class = "%s"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "s"; op = "int.add@1"; in : { a = "$x"; b = "$x"; };
             repeat : { count = 1; carry : { a = "y"; }; }; } );
  outputs : { y = "s.y"; }; };
"""
POLICY, HOST = {}, {}


def policy(*keys):
    def mark(f):
        POLICY.update({key: f for key in keys})
        return f
    return mark


def host(*keys):
    def mark(f):
        HOST.update({key: f for key in keys})
        return f
    return mark


class Keys(Harness):
    def __init__(self):
        super().__init__()
        self.x = self.write("x.bin", struct.pack("<1024I", *range(1024)))
        self.pipeline = self.write("sum.cfg", PIPELINE % b"integer")
        self.sum = ["run", self.pipeline, "--in", "x=" + self.x]
        self.on_cpu = [*self.sum, "--backend", "cpu"]
        self.n = 0

    def with_policy(self, text):
        self.n += 1
        return ["--policy", self.write(f"policy{self.n}.cfg", b"policy : { " + text.encode() + b" };\n")]

    def with_host(self, text):
        self.n += 1
        return ["--config", self.write(f"host{self.n}.cfg", text.encode() + b"\n")]

    def refused(self, name, code, *args):
        status, out, err = self.run(*args)
        return self.check(name, status not in (0, 70) and code in err, f"{status} {err} {out[:500]}")

    def goes(self, name, *args):
        status, out, err = self.run(*args)
        self.check(name, status == 0, f"{status} {err}")
        return out

    def document(self, *args):
        status, out, err = self.run("--json", *args)
        self.check("json of " + " ".join(args)[-60:], status == 0, f"{status} {err} {out[-900:]}")
        return json.loads(out)

    def terminal(self, *args):
        """Standard error as a terminal sees it."""
        master, slave = os.openpty()
        done = subprocess.Popen([self.pipectl, *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        text = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            text += more
        done.wait()
        os.close(master)
        return text


# ---- the policy -----------------------------------------------------------------------------------

@policy("inherits")
def inherits(h):
    weaker = h.with_policy('inherits = "default.cfg"; class = "approximate";')
    h.refused("a policy of the installation is found by its name, and holds", "PC4301", *h.on_cpu, *weaker)
    h.goes("a stricter one", *h.on_cpu, *h.with_policy('inherits = "default.cfg"; class = "integer";'))
    h.write("default.cfg", b'policy : { class = "approximate"; };')
    h.goes("one beside the file comes first", *h.on_cpu, *weaker)
    os.unlink(h.path("default.cfg"))
    h.refused("one that is nowhere", "PC4302", *h.on_cpu, *h.with_policy('inherits = "none.cfg";'))


@policy("plugins.allowed")
def plugins_allowed(h):
    shader = ["shader", "run", h.write("s.wgsl", b"@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n"
                                       b"@compute @workgroup_size(1) fn main() { y[0] = 1u; }\n"),
              "--dispatch", "1", "--bind", "0:0=zero:4", "--read", "0:0=" + h.path("y")]
    some = h.with_policy('plugins : { allowed = ( "cpu", "int" ); };')
    h.goes("those that are listed", *h.on_cpu, *some)
    h.refused("a backend that is not", "PC4313", *shader, "--backend", "mock:wrap=cpu", *some)
    h.refused("an op library that is not", "PC4120", "op", "run", "ieee.neg", "--in", f"x={h.x}:f32[4]", "--backend", "cpu", *some)
    h.refused("the reference, when it is not", "PC4313", *h.on_cpu, *h.with_policy('plugins : { allowed = ( "int" ); };'))
    for verb in (["device", "probe", "--device", "opencl:portable"], ["certify", "--backend", "opencl:portable", "--ops", "int.not@1"],
                 ["audit", h.pipeline, "--in", "x=" + h.x, "--backends", "cpu,opencl:portable"]):
        h.refused("whatever the verb: " + verb[0], "PC4313", *verb, *some)
    found = {p["id"]: p for p in h.document("plugin", "list", *some)["plugins"]}
    h.check("the list says why", found["opencl"]["state"] == "refused" and found["cpu"]["state"] == "usable", str(found["opencl"]))


@policy("plugins.sha256")
def plugins_sha256(h):
    shown = {p["id"]: p for p in h.document("plugin", "list")["plugins"]}
    with open(shown["cpu"]["library"], "rb") as f:
        right = hashlib.sha256(f.read()).hexdigest()
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    h.goes("the pinned file", *h.on_cpu, *h.with_policy('plugins : { sha256 : { cpu = "%s"; }; };' % right))
    h.refused("another file of a backend", "PC4313", *h.on_cpu, *h.with_policy('plugins : { sha256 : { cpu = "%s"; }; };' % wrong))
    h.refused("another file of an op library", "PC4120", *h.on_cpu, *h.with_policy('plugins : { sha256 : { int = "%s"; }; };' % wrong))
    # A file that is exchanged while the pin stays, in an installation of its own.
    own = h.path("own")
    build = os.path.dirname(os.path.dirname(os.path.realpath(h.pipectl)))
    for part in ("plugins.d", "plugins", "ops", "conf"):
        shutil.copytree(os.path.join(build, part), os.path.join(own, part), ignore=shutil.ignore_patterns("CMakeFiles", "*.cmake"))
    os.mkdir(os.path.join(own, "bin"))
    for program in ("pipectl", "pipectl-worker"):
        shutil.copy(os.path.join(build, "bin", program), os.path.join(own, "bin", program))
    pinned = h.with_policy('plugins : { sha256 : { cpu = "%s"; }; };' % right)
    for name, ok in (("as it was", True), ("with a byte more", False)):
        status, _, err = h.run(*h.on_cpu, *pinned, executable=os.path.join(own, "bin", "pipectl"))
        h.check("the pinned file " + name, status == 0 if ok else status == 4 and "PC4313" in err, f"{status} {err}")
        with open(os.path.join(own, "plugins", "cpu.so"), "ab") as f:
            f.write(b"\0")
    status, _, err = h.run(*h.on_cpu, executable=os.path.join(own, "bin", "pipectl"))
    h.check("without a pin that file is used", status == 0, err)


@policy("plugins.isolation")
def isolation(h):
    worker = h.with_policy('plugins : { isolation = "worker"; };')
    h.goes("in a worker", *h.on_cpu, *worker)
    h.goes("inside, where the policy lets it", *h.on_cpu, "--in-process")
    h.refused("inside", "PC4317", *h.on_cpu, "--in-process", *worker)
    h.refused("inside, by the host's configuration", "PC4317", *h.on_cpu, *worker, *h.with_host("workers : { in_process = true; };"))
    for verb in (["device", "probe", "--device", "opencl:portable", "--fresh"], ["certify", "--backend", "cpu", "--ops", "int.not@1", "--out", h.path("no")],
                 ["audit", h.pipeline, "--in", "x=" + h.x, "--backends", "cpu,opencl:portable"]):
        h.refused("whatever the verb: " + verb[0], "PC4317", *verb, "--in-process", *worker)


@policy("plugins.confinement")
def confinement(h):
    required = h.with_policy('plugins : { confinement = "required"; };')
    bare = h.with_host('workers : { unconfined = ( "cpu" ); };')
    h.goes("a confined worker", *h.on_cpu, *required)
    h.goes("an unconfined one, where nobody minds", *h.on_cpu, *bare)
    h.refused("an unconfined one", "PC3036", *h.on_cpu, *required, *bare)
    h.refused("none is confined", "PC3036", *h.on_cpu, *required, *h.with_host('workers : { unconfined = ( "*" ); };'))


# ---- all of them ----------------------------------------------------------------------------------

def main():
    h = Keys()
    for f in dict.fromkeys([*POLICY.values(), *HOST.values()]):
        print(f.__name__, flush=True)
        f(h)
    h.finish()


main()
