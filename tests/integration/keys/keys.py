"""Every key of a policy and of the host's configuration refuses or changes something once; see README.md."""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from harness import Harness, share

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


# What somebody does against a policy, and the key that refuses it: rows of the table of planted faults.
AGAINST = {
    "a backend that is not": ("a backend that the policy does not list", "plugins.allowed"),
    "an op library that is not": ("an op library that the policy does not list", "plugins.allowed"),
    "another file of a backend": ("another file of a backend than the policy pins", "plugins.sha256"),
    "another file of an op library": ("another file of an op library than the policy pins", "plugins.sha256"),
    "inside": ("a backend in the host under a policy of workers", "isolation"),
    "an unconfined one": ("a worker that is not confined under a policy that wants it", "confine"),
    "more than there are": ("fewer devices than a quorum needs", "quorum"),
    "time": ("a job of more time than the policy gives", "limits.time"),
}


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
        if name in AGAINST and status not in (0, 70):
            fault, key = AGAINST[name]
            self.planted(fault, "a policy", f"{code} {key}" if code.startswith("PC") else f"policy: {key}", err)
        return self.check(name, status not in (0, 70) and code in err, f"{status} {err} {out[:500]}")

    def goes(self, name, *args):
        status, out, err = self.run(*args)
        self.check(name, status == 0, f"{status} {err}")
        return out

    def document(self, *args):
        status, out, err = self.run("--json", *args)
        self.check("json of " + " ".join(args)[-60:], status == 0, f"{status} {err} {out[-900:]}")
        return json.loads(out)


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


@policy("plugins.namespaces")
def namespaces(h):
    required = h.with_policy('plugins : { namespaces = "required"; };')
    doctor = h.document("doctor")["confinement"]
    if doctor["namespaces_missing"] is None:
        h.goes("namespaces of its own", *h.on_cpu, *required)
    else:
        h.refused("which this kernel does not give", "PC3036", *h.on_cpu, *required)
    bare = h.with_host('workers : { unconfined = ( "cpu" ); };')
    h.refused("those of the host", "PC3036", *h.on_cpu, *required, *bare)
    h.goes("those of the host, where nobody minds", *h.on_cpu, *bare)


@policy("limits.worker.memory", "limits.worker.memory_share", "limits.worker.tasks", "limits.worker.processes", "limits.worker.file",
        "limits.worker.files", "limits.worker.folder", "limits.worker.folder_files")
def worker_limits(h):
    h.refused("more memory than it may", "PC3112", "--home", h.path("l1"), *slow(h),
              *h.with_policy('limits : { worker : { memory = "64KiB"; }; };'))
    # A worker has two to begin with, and is not let have the second: that strikes while devices are listed.
    h.refused("more threads than it may", "PC3112", "--home", h.path("l2"), *slow(h),
              *h.with_policy('limits : { worker : { tasks = 1; }; };'))
    h.refused("no file may be open: no plugin can be examined", "PC", "--home", h.path("l3"), *h.on_cpu,
              *h.with_policy('limits : { worker : { files = 3; }; };'))
    # A worker has folders of its own to begin with, which take a block each where the disk has blocks.
    h.refused("more files in its own folder than it may", "PC3112", "--home", h.path("l5"), *slow(h),
              *h.with_policy('limits : { worker : { folder_files = 3; }; };'))
    home = h.path("l6")
    h.goes("a folder of its own", "--home", home, *slow(h), *h.with_policy('limits : { worker : { folder = "1MiB"; }; };'))
    own = next(os.path.join(home, "cache", "drivers", d) for d in sorted(os.listdir(os.path.join(home, "cache", "drivers")))
               if os.path.isdir(os.path.join(home, "cache", "drivers", d)) and d.startswith("cpu"))
    with open(os.path.join(own, "tmp", "left"), "wb") as f:
        f.truncate(2 << 20)
    h.refused("more bytes in its own folder than it may", "PC3112", "--home", home, *slow(h), "--no-memo",
              *h.with_policy('limits : { worker : { folder = "1MiB"; }; };'))
    h.check("which is emptied", not os.path.exists(os.path.join(own, "tmp", "left")), own)
    h.goes("and goes on", "--home", home, *slow(h), "--no-memo", *h.with_policy('limits : { worker : { folder = "1MiB"; }; };'))
    # What reaches a worker: bytes of memory, bytes of a file, tasks, processes, files, files and bytes of its folder.
    doctor, seen = h.document("doctor"), h.path("seen")
    spy = h.write("spy.sh", f'#!/bin/sh\necho "$@" >> {seen}\nexec {doctor["worker"]} "$@"\n'.encode())
    os.chmod(spy, 0o755)
    with open("/proc/meminfo") as f:
        machine = 1024 * int(f.readline().split()[1])
    for name, text, want in (
            ("all of them", 'memory = "3GiB"; memory_share = 0; file = "5MiB"; tasks = 77; processes = 66; files = 555; folder_files = 44; folder = "7MiB";',
             lambda v: v == [3 << 30, 5 << 20, 77, 66, 555, 44, 7 << 20]),
            ("a share of the machine", "memory_share = 50; tasks = 77;", lambda v: abs(v[0] - machine // 2) < machine // 50),
            ("the smaller one", 'memory = "1GiB"; memory_share = 100; tasks = 77;', lambda v: v[0] == 1 << 30),
            ("no limit", "memory_share = 0; file = 0; tasks = 0; processes = 0; files = 0; folder_files = 0; folder = 0;", lambda v: v == [0] * 7)):
        h.goes(name, "--home", h.path("l4"), *h.on_cpu, "--no-memo", *h.with_host(f'workers : {{ path = "{spy}"; }};'),
               *h.with_policy(f"limits : {{ worker : {{ {text} }}; }};"))
        with open(seen) as f:
            last = f.read().split("--limits ")[-1].split()[0]
        h.check(name + " reaches the worker", want([int(n) for n in last.split(",")]), last)


@policy("about")
def about(h):
    shown = h.document("plan", *h.sum[1:], *h.with_policy('about = "for a test";'))["policy"]
    h.check("what it is for is shown", shown["about"] == "for a test", str(shown))


@policy("class")
def classes(h):
    floats = h.write("f.bin", struct.pack("<8f", *range(8)))
    op = ["op", "run", "ieee.reduce_tree", "--in", f"x={floats}:f32[8]", "--attr", "op=add", "--out", "y=" + h.path("y"), "--backend",
          "cpu"]
    h.goes("strict", *op)
    h.refused("integer only", "PC4310", *op, *h.with_policy('class = "integer";'))


@policy("certificate")
def certificate(h):
    rule = h.with_policy('certificate = ( { ops = "int.*"; level = "L4"; } );')
    h.refused("a level that the device does not hold", "PC4316", *h.sum, "--backend", "opencl:portable", *rule)
    h.goes("none asked", *h.sum, "--backend", "opencl:portable")


RACY = """@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[x[id.x] % 4096u] = id.x; }
"""


@policy("race")
def race(h):
    shader = ["shader", "run", h.write("racy.wgsl", RACY.encode()), "--dispatch", "16", "--bind", "0:0=" + h.x, "--bind", "0:1=zero:16384",
              "--read", "0:1=" + h.path("y"), "--backend", "cpu"]
    h.refused("what is not proven", "PC4311", *shader, *h.with_policy('race = "proven";'))
    h.goes("trusted", *shader, *h.with_policy('race = "trusted";'))


@policy("race_cost")
def race_cost(h):
    shader = ["shader", "run", h.path("racy.wgsl"), "--dispatch", "16", "--bind", "0:0=" + h.x, "--bind", "0:1=zero:16384",
              "--read", "0:1=" + h.path("y"), "--backend", "cpu"]
    h.refused("a check that costs too much", "PC4311", *shader, *h.with_policy('race = "checked"; race_cost = 1;'))
    h.goes("one that does not", *shader, *h.with_policy('race = "checked"; race_cost = 0;'))


TURNING = """@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(1) fn main() { var n = 0u; while (n != 6u + min(x[0], 1u)) { n++; } y[0] = n; }
"""


@policy("deprecated")
def deprecated(h):
    os.makedirs(h.path("strangers"))
    shutil.copy(sys.argv[1], h.path("strangers"))
    old = ["op", "run", "stranger.old", "--in", f"x={h.x}:u32[1024]", "--backend", "cpu", "--plugin-dir", h.path("strangers")]
    h.refused("an op that is superseded", "PC4319", *old, *h.with_policy('deprecated = "refuse";'))
    h.goes("one that is told", *old, *h.with_policy('deprecated = "warn";'))


@policy("max_turns")
def max_turns(h):
    shader = ["shader", "run", h.write("turning.wgsl", TURNING.encode()), "--dispatch", "1", "--bind", "0:0=" + h.x, "--bind", "0:1=zero:4",
              "--read", "0:1=" + h.path("y"), "--backend", "cpu"]
    h.refused("no budget", "PC2050", *shader, *h.with_policy("max_turns = 0;"))
    h.refused("one that is too small", "PC5226", *shader, *h.with_policy("max_turns = 6;"))
    h.goes("one that is not", *shader, *h.with_policy("max_turns = 8;"))


# A little of everything that a program can be too large in; tests/integration/limits goes to each limit exactly.
SMALL = """@group(0) @binding(0) var<storage, read_write> r : array<u32>;
var<private> p : array<u32, 4>;
var<workgroup> w : array<u32, 4>;
const t = array<u32, 3>(7u, 8u, 9u);
fn f(x : u32) -> u32 { var a : array<u32, 8>; a[x & 7u] = x; return a[(x + 1u) & 7u]; }
@compute @workgroup_size(1) fn main() {
  for (var i = 0u; i < 3u; i++) { if (r[i] != 9u) { p[i] = f(r[i]) + f(i) + t[r[i] % 3u]; } }
  w[0] = p[r[5] & 3u]; workgroupBarrier(); r[6] = w[0];
  var c = array<u32, 8>(); r[7] = c[r[7] & 7u];
}
"""
with open(os.path.join(os.environ["PIPELINES"], "..", "core", "compiler", "analysis", "extents.def"), encoding="utf-8") as table_of_extents:
    EXTENTS = re.findall(r"^PCTL_EXTENT\(\w+, (\w+),", table_of_extents.read(), re.M)


@policy(*("limits.program." + key for key in EXTENTS))
def extents(h):
    shader = ["shader", "run", h.write("small.wgsl", SMALL.encode()), "--dispatch", "1", "--bind", "0:0=zero:32", "--read",
              "0:0=" + h.path("y"), "--backend", "cpu"]
    h.goes("a small program", *shader)
    for key in EXTENTS:
        h.refused(f"limits.program.{key} = 1", "PC4318", *shader, *h.with_policy(f"limits : {{ program : {{ {key} = 1; }}; }};"))


@policy("verify")
def verify(h):
    for text, want in (("none", False), ("all", True)):
        done = h.document(*h.sum, "--backend", "opencl:portable", "--no-memo", *h.with_policy(f'verify = "{text}";'))
        h.check(f"verify = {text}", done["jobs"][0]["verified"] is want, str(done["jobs"]))


@policy("quorum")
def quorum(h):
    done = h.document(*h.sum, "--backend", "cpu", *h.with_policy('quorum = "1 of 1";'))
    h.check("one asks for nothing", len(done["jobs"]) == 1, str(done))
    h.refused("more than there are", "quorum", *h.sum, "--backend", "cpu", *h.with_policy('quorum = "64 of 64";'))


@policy("backends.order", "backends.allowed", "backends.forbidden")
def backends(h):
    def taken(text):
        return h.document(*h.sum, "--no-memo", *h.with_policy(text))["jobs"][0]["device"]

    h.check("the order chooses", taken('backends : { order = ( "cpu" ); };').startswith("cpu") and
            taken('backends : { order = ( "opencl", "cpu" ); };').startswith("opencl"))
    h.refused("who is not allowed", "PC4312", *h.on_cpu, *h.with_policy('backends : { allowed = ( "opencl" ); };'))
    h.refused("who is forbidden", "PC4312", *h.on_cpu, *h.with_policy('backends : { forbidden = ( "cpu" ); };'))
    h.goes("who is neither", *h.on_cpu, *h.with_policy('backends : { allowed = ( "cpu" ); forbidden = ( "opencl" ); };'))


# 10^9 turns of a loop: seconds on any device, so that a limit of a millisecond strikes.
SLOW = """@group(0) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  var a = id.x;
  for (var i = 0u; i < 300000u; i++) { a = a * 1664525u + i; }
  y[id.x] = a;
}
"""


def slow(h):
    return ["shader", "run", h.write("slow.wgsl", SLOW.encode()), "--dispatch", "64", "--bind", "0:0=zero:16384", "--read",
            "0:0=" + h.path("y"), "--backend", "cpu"]


@policy("limits.memory", "limits.time")
def limits(h):
    h.refused("memory", "PC4314", *h.on_cpu, *h.with_policy('limits : { memory = 4096; };'))
    h.goes("enough memory", *h.on_cpu, *h.with_policy('limits : { memory = "1M"; };'))
    h.refused("time", "PC5206", *slow(h), *h.with_policy('limits : { time = 1; };'))


@host("limits.memory", "limits.time")
def host_limits(h):
    h.refused("memory, by the host", "PC4314", *h.on_cpu, *h.with_host("limits : { memory = 4096; };"))
    h.refused("the smaller one counts", "PC4314", *h.on_cpu, *h.with_host("limits : { memory = 4096; };"),
              *h.with_policy('limits : { memory = "1M"; };'))
    h.goes("enough memory, by the host", *h.on_cpu, *h.with_host('limits : { memory = "1M"; };'))
    h.refused("time, by the host", "PC5206", *slow(h), *h.with_host("limits : { time = 1; };"))


def remembered(h, *more):
    """Is a verified result taken by who asks again."""
    h.document(*h.sum, "--verify", "all", *more)
    return h.document(*h.sum, *more)["memoised"]


@policy("memo")
def memo(h):
    h.check("memo = verified", remembered(h, *h.with_policy('memo = "verified"; backends : { order = ( "opencl" ); };')))
    h.check("memo = off", not remembered(h, *h.with_policy('memo = "off"; backends : { order = ( "opencl" ); };')))


@policy("memo_bytes")
def memo_bytes(h):
    twice = h.write("twice.cfg", b'pipeline : { name = "twice"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; outputs : { y = "t.y"; };'
                    b'  jobs = ( { id = "s"; op = "int.not@1"; in : { x = "$x"; }; }, { id = "t"; op = "int.not@1"; in : { x = "s.y"; }; } ); };')
    for most, kept, again in (("4095", "0", [False, False]), ("4096", "4096", [True, True]), ("0", "4096", [True, True])):
        x = h.write("kept.bin", struct.pack("<1024I", *[7 * i + int(most) for i in range(1024)]))
        asked = ["run", twice, "--in", "x=" + x, *h.with_policy(f'memo_bytes = "{most}"; backends : {{ order = ( "cpu" ); }};')]
        h.check(f"memo_bytes = {most}", h.document(*asked)["kept_bytes"] == kept)
        h.check(f"memo_bytes = {most}: the next run", [j["remembered"] for j in h.document(*asked)["jobs"]] == again)


@host("memo")
def host_memo(h):
    opencl = h.with_policy('backends : { order = ( "opencl" ); };')
    h.check("memo = on, by the host", remembered(h, *opencl, *h.with_host('memo = "on";')))
    h.check("memo = off, by the host", not remembered(h, *opencl, *h.with_host('memo = "off";')))


@policy("dirty", "signed", "signers")
def origin(h):
    h.refused("a file that no commit has", "PC6010", *h.on_cpu, *h.with_policy('dirty = "refuse";'))
    key = hashlib.sha256(b"nobody").hexdigest()
    required = h.with_policy(f'signed = "required"; signers = ( "{key}" );')
    h.refused("a file that nobody signed", "PC6011", *h.on_cpu, *required)
    _, out, err = h.run("sign", h.pipeline)
    mine = re.search(rb"[0-9a-f]{64}", out)
    if h.check("it is signed", mine is not None, err):
        h.refused("signed by another", "PC6012", *h.on_cpu, *required)
        h.goes("signed by one of the signers", *h.on_cpu,
               *h.with_policy(f'signed = "required"; signers = ( "{mine.group().decode()}" );'))
        os.unlink(h.pipeline + ".sig")


@policy("telemetry")
def telemetry(h):
    for word, there in (("local", True), ("off", False)):
        receipt = h.path("receipt-" + word)
        done = h.document(*h.sum, "--backend", "opencl:portable", "--no-memo", "--receipt", receipt, *h.with_policy(f'telemetry = "{word}";'))
        text = h.read("receipt-" + word).decode()
        names = [d.get("name") for d in done["devices_tried"]]
        h.check(f"telemetry = {word}: the document", ("seconds" in done, "seconds" in done["jobs"][0], "device_identity" in done,
                                                      any(names)) == (there,) * 4, str(done))
        h.check(f"telemetry = {word}: the receipt", ("driver" in text) == there, text[-900:])
        h.goes(f"telemetry = {word}: it can be verified", "receipt", "verify", receipt)


# ---- the host ---------------------------------------------------------------------------------------

@host("directories.cas", "directories.memo", "directories.cache")
def directories(h):
    names = {part: h.path("dir-" + part) for part in ("cas", "memo", "cache")}
    text = "directories : { " + "".join(f'{part} = "{path}"; ' for part, path in names.items()) + "};"
    for _ in range(2):
        h.goes("with directories of its own", *h.sum, "--verify", "all", "--backend", "opencl:portable", *h.with_host(text))
    h.check("blobs lie there", os.path.isdir(os.path.join(names["cas"], "blobs")))
    h.check("the cache lies there", os.path.isdir(names["cache"]) and len(os.listdir(names["cache"])) > 0)
    h.goes("a run that may be remembered", *h.sum, "--verify", "all", *h.with_host(text),
           *h.with_policy('backends : { order = ( "opencl" ); };'))
    h.check("results lie there", os.path.isdir(names["memo"]), str(os.listdir(h.dir)))


@host("plugins.dirs", "plugins.disabled")
def host_plugins(h):
    where = h.path("more.d")
    os.mkdir(where)
    h.write("more.d/more.plugin.cfg", b'plugin : { id = "more"; kind = "backend"; library = "gone.so"; abi : { min = "1.0"; };\n'
            b'interfaces = [ "pctl.backend/1" ]; };\n')
    found = {p["id"] for p in h.document("plugin", "list", *h.with_host(f'plugins : {{ dirs = ( "{where}" ); }};'))["plugins"]}
    h.check("a further directory", "more" in found and "more" not in {p["id"] for p in h.document("plugin", "list")["plugins"]})
    h.refused("a plugin that is switched off", "PC3004", *h.on_cpu, *h.with_host('plugins : { disabled = ( "cpu" ); };'))


# What their limits do to a worker that hangs, dies or bursts: tests/fakes.
@host("workers.path", "workers.probe", "workers.start", "workers.call", "workers.grace", "workers.strikes", "workers.in_process",
      "workers.unconfined", "workers.readable", "workers.build_cpu", "workers.build_memory", "workers.first_run")
def workers(h):
    h.refused("a worker that is not there", "PC3101", "--home", h.path("w1"), *slow(h), *h.with_host('workers : { path = "/gone"; };'))
    doctor = h.document("doctor", *h.with_host('workers : { probe = "11s"; start = "31s"; call = "121s"; grace = "9s"; strikes = 4; '
                                              'build_cpu = "119s"; build_memory = "3GiB"; first_run = "29min"; readable = ( "/opt" ); };'))
    want = {"probe": "11s", "start": "31s", "call": "121s", "grace": "9s", "strikes": "4", "build_cpu": "119s",
            "build_memory": "3GiB", "first_run": "29min", "readable": "/opt"}
    h.check("their values are in force", all(doctor["settings"]["workers." + k] == v for k, v in want.items()), str(doctor["settings"]))
    h.goes("inside, as --in-process", *h.on_cpu, *h.with_host("workers : { in_process = true; };"))
    h.refused("which the policy can refuse", "PC4317", *h.on_cpu, *h.with_host("workers : { in_process = true; };"),
              *h.with_policy('plugins : { isolation = "worker"; };'))


@host("chain.gas_per_ms", "chain.abstain")
def pace(h):
    def says(gas, abstain="false"):
        return h.document("doctor", *h.with_host(f"chain : {{ gas_per_ms = {gas}; abstain = {abstain}; }};"))

    os.makedirs(h.path("chain"), exist_ok=True)  # beside the host's configuration
    shutil.copy(os.path.join(os.environ["PIPELINES"], "..", "conf", "chain", "params.cfg"), h.path("chain"))
    slow, fast = says(10), says(100000)
    h.check("one that is too slow for a full block", slow["pace"] == {"gas_per_ms": "10", "full_block_ms": "25000000", "jobs_ms": "2500",
                                                                    "keeps_up": False}, str(slow.get("pace")))
    h.check("one that keeps up", fast["pace"]["keeps_up"] and fast["pace"]["full_block_ms"] == "2500", str(fast.get("pace")))
    h.check("nobody measured it", "pace" not in h.document("doctor"))
    # What they do to a block: tests/attack/pace.py.
    h.check("abstaining is in force", says(10, "true")["settings"]["chain.abstain"] == "true", str(slow["settings"]))


@host("chain.rules_known")
def rules(h):
    os.makedirs(h.path("chain"), exist_ok=True)
    shutil.copy(os.path.join(os.environ["PIPELINES"], "..", "conf", "chain", "params.cfg"), h.path("chain"))
    h.check("in force", h.document("doctor", *h.with_host("chain : { rules_known = 1; };"))["settings"]["chain.rules_known"] == "1")
    # What it does to a block: tests/integration/blocks/upgrade.py.
    h.check("all that are known", h.document("doctor")["settings"]["chain.rules_known"] == "0")


@host("cache.kernels")
def kernels(h):
    def size():
        total = 0
        for base, dirs, files in os.walk(h.path("kernels-cache")):
            inside = os.path.relpath(base, h.path("kernels-cache")).split(os.sep)
            total += sum(os.path.getsize(os.path.join(base, f)) for f in files
                         if f.startswith("bafk") or (inside[0] == "drivers" and len(inside) > 2))
        return total

    text = f'directories : {{ cache = "{h.path("kernels-cache")}"; }}; '
    args = [*h.sum, "--backend", "opencl:portable", "--no-memo"]
    h.goes("with room for kernels", *args, *h.with_host(text + 'cache : { kernels = "1GiB"; };'))
    full = size()
    h.check("compiled kernels are kept", full > 2048, str(full))
    h.goes("with room for few", *args, *h.with_host(text + 'cache : { kernels = 2048; };'))
    h.check("what is over the bound goes", size() <= 2048, f"{size()} of {full}")
    h.goes("with none", *args, *h.with_host(text + 'cache : { kernels = 0; };'))
    h.check("nothing is kept", size() == 0, str(size()))


@host("cache.gc_grace")
def gc_grace(h):
    cid = h.goes("a blob", "cas", "put", h.write("blob", os.urandom(100))).decode().strip()
    h.goes("gc with grace", "cas", "gc")
    h.goes("a young blob stays", "cas", "get", cid, "--out", h.path("got"))
    time.sleep(1.1)
    h.goes("gc without", "cas", "gc", *h.with_host("cache : { gc_grace = 0; };"))
    h.refused("then it goes", "PC5004", "cas", "get", cid, "--out", h.path("got"))


@host("output.colour", "output.progress")
def output(h):
    wrong = ["cas", "get", "nonsense"]
    for word, there in (("always", True), ("never", False)):
        _, _, err = h.run(*wrong, *h.with_host(f'output : {{ colour = "{word}"; }};'))
        h.check(f"colour = {word}", ("\x1b[" in err) == there, repr(err))
    h.check("colour = never on a terminal", b"\x1b[" not in h.terminal(*wrong, *h.with_host('output : { colour = "never"; };'))[1])
    h.check("a terminal", b"\x1b[" in h.terminal(*wrong)[1])
    h.env["NO_COLOR"] = "1"
    h.check("NO_COLOR", b"\x1b[" not in h.terminal(*wrong)[1])
    h.check("NO_COLOR, and asked for", b"\x1b[" in h.terminal(*wrong, "--color", "always")[1])
    del h.env["NO_COLOR"]
    _, _, err = h.run(*wrong, "--color", "never", *h.with_host('output : { colour = "always"; };'))
    h.check("the command line comes first", "\x1b[" not in err, repr(err))
    for word, there in (("always", True), ("never", False)):
        _, _, err = h.run(*slow(h), *h.with_host(f'output : {{ progress = "{word}"; }};'))
        h.check(f"progress = {word}", ("\r\x1b[K" in err) == there, repr(err))
    _, _, err = h.run(*slow(h), *h.with_host('output : { progress = "plain"; };'))
    h.check("progress = plain draws no line", "\r" not in err, repr(err))
    _, _, err = h.run(*slow(h), "--progress", "never", *h.with_host('output : { progress = "always"; };'))
    h.check("--progress comes first", "\r" not in err, repr(err))


STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@host("log.file", "log.level", "log.format")
def log(h):
    wrong, at = ["cas", "get", "nonsense"], os.path.join(h.env["PIPECTL_HOME"], "some.log")

    def text(name, *args, file=at):
        if os.path.exists(file):
            os.unlink(file)
        status, out, err = h.run(*args)
        h.check(f"{name}: as without a log", status == 3 and out == b"" and "PC5005" in err, f"{status} {err}")
        return h.read(os.path.relpath(file, h.dir)).decode() if os.path.exists(file) else err
    host = h.with_host('log : { file = "some.log"; };')
    said = text("text", *wrong, *host)
    h.check("a line an entry: time, level, component, message, fields", re.fullmatch(
        rf'{STAMP} info pipectl: begins verb="cas get" pid=\d+ version=\S+\n'
        rf'{STAMP} error pipectl: [^\n]* code=PC5005 name=cas-cid\n'
        rf'{STAMP} info pipectl: ends verb="cas get" status=\S+ exit=3 seconds=[0-9.]+\n', said), said)
    h.run(*wrong, *host)
    h.check("a second run adds to it", h.read("home/some.log").decode().count("begins") == 2)
    said = text("level", *wrong, *h.with_host('log : { file = "some.log"; level = "error"; };'))
    h.check("level = error", said.count("\n") == 1 and " error " in said, said)
    as_json = h.with_host('log : { file = "some.log"; format = "json"; };')
    entries = [json.loads(line) for line in text("json", *wrong, *as_json).splitlines()]
    h.check("format = json", [e["message"] for e in entries][::2] == ["begins", "ends"] and entries[1]["fields"]["code"] == "PC5005" and
            all(list(e) == ["time", "level", "component", "message", "fields"] and re.fullmatch(STAMP, e["time"]) for e in entries), str(entries))
    said = text("standard error", *wrong, *h.with_host('log : { file = "-"; };'), file=h.path("none"))
    h.check("file = -", "info pipectl: begins" in said, said)
    os.unlink(at)
    # The environment comes before the key, the command line before both.
    try:
        h.env.update(PIPECTL_LOG=h.path("of-env.log"), PIPECTL_LOG_LEVEL="error", PIPECTL_LOG_FORMAT="text")
        said = text("environment", *wrong, *as_json, file=h.path("of-env.log"))
        h.check("environment", re.fullmatch(rf"{STAMP} error pipectl: [^\n]*\n", said) and not os.path.exists(at), said)
        said = text("options", *wrong, *as_json, "--log", h.path("of-option.log"), "--log-level", "info", "--log-format", "json",
                    file=h.path("of-option.log"))
        h.check("options", said.startswith('{"time"') and said.count("\n") == 3, said)
        h.env["PIPECTL_LOG_LEVEL"] = "chatty"
        h.refused("a level that is none", "PC0010", *wrong)
    finally:
        for name in ("PIPECTL_LOG", "PIPECTL_LOG_LEVEL", "PIPECTL_LOG_FORMAT"):
            h.env.pop(name, None)
    h.refused("another level", "PC1023", *wrong, *h.with_host('log : { level = "chatty"; };'))
    h.refused("a file that cannot be", "PC0003", *wrong, *h.with_host('log : { file = "no/such/folder"; };'))
    # Workers: their lines under the plugin's id, their beginning and end.
    crash = ["shader", "run", h.write("k.wgsl", SLOW.encode()), "--dispatch", "1", "--bind", "0:0=zero:256", "--read", "0:0=" + h.path("y"),
             "--backend", "mock:wrap=cpu+crash"]
    _, _, err = h.run(*crash, "--log", h.path("w.log"), "--log-level", "debug")
    said = h.read("w.log").decode()
    h.check("workers", re.search(rf"{STAMP} debug mock: a worker began pid=\d+\n", said) and re.search(
        rf"{STAMP} warning mock: [^\n]*SIGABRT[^\n]* pid=\d+\n", said) and "error pipectl" in said, said)


@host("defaults.policy", "defaults.gas")
def defaults(h):
    path = h.with_policy('class = "integer"; backends : { forbidden = ( "cpu" ); };')[1]
    h.refused("a policy of one's own", "PC4312", *h.on_cpu, *h.with_host(f'defaults : {{ policy = "{path}"; }};'))
    h.refused("a gas schedule that is not there", "PC4322", *h.on_cpu, *h.with_host('defaults : { gas = "none.cfg"; };'))


# ---- all of them ----------------------------------------------------------------------------------

def table(h):
    """Every key has a case, and every case a key."""
    keys = set(h.document("plan", *h.sum[1:])["policy"])
    h.check("keys of the policy", keys == set(POLICY), str(keys ^ set(POLICY)))
    doctor = h.document("doctor")
    h.check("the policy as doctor has it", set(doctor["policy"]) == keys, str(set(doctor["policy"]) ^ keys))
    keys = set(doctor["settings"])
    h.check("keys of the host", keys == set(HOST), str(keys ^ set(HOST)))


def main():
    h = Keys()
    table(h)
    for f in share(dict.fromkeys([*POLICY.values(), *HOST.values()]), 3):
        print(f.__name__, flush=True)
        f(h)
    h.finish()


if __name__ == "__main__":
    main()
