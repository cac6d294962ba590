"""Op libraries in workers, from the command line. The shipped ones give the same results and gas there as in the host; one
that ends its process with status 0, or hangs, costs `pipectl run` neither its exit status nor its time, and gives no output."""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

from harness import Harness, patient

manifest, pipelines = sys.argv[1], os.environ["PIPELINES"]
h = Harness()
random.seed(11)
edges = h.write("edges", b"".join(struct.pack("<2I", random.randrange(300), random.randrange(300)) for _ in range(2000)))
words = h.write("words", struct.pack("<64I", *[random.getrandbits(32) for _ in range(64)]))
h.write("mixed.pipe.cfg", b"""pipeline : { name = "mixed"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
jobs = ( { id = "pop"; op = "int.popcount@1"; in : { x = "$x"; }; },
         { id = "add"; op = "int.add@1"; in : { a = "$x"; b = "pop.y"; }; },
         { id = "scan"; op = "tensor.scan@1"; in : { x = "add.y"; }; attr : { exclusive = true; }; },
         { id = "all"; op = "tensor.concat@1"; in : { xs = [ "scan.y", "$x", "pop.y" ]; }; } );
outputs : { y = "all.y"; }; };
""")
h.write("index.pipe.cfg", b"""pipeline : { name = "index"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
jobs = ( { id = "take"; op = "tensor.gather@1"; in : { x = "$x"; index = "$x"; }; } ); outputs : { y = "take.y"; }; };
""")

# The same program where its own directory of manifests is not: what shipped with it is then a stranger's.
root = os.path.join(os.path.dirname(h.pipectl), "..")
os.makedirs(h.path("else/bin"))
for name in ("pipectl", "pipectl-worker"):
    shutil.copy(os.path.join(root, "bin", name), h.path("else/bin"))
os.symlink(os.path.realpath(os.path.join(root, "conf")), h.path("else/conf"))
ELSEWHERE = {"executable": h.path("else/bin/pipectl")}
DIRS = ["--plugin-dir", os.path.realpath(os.path.join(root, "plugins.d"))]


def results(pipe, data, more, **how):
    status, out, err = h.run("run", pipe, "--backend", "cpu", "--in", data, "--no-memo", "--json", *more, **how)
    if not h.check(f"{os.path.basename(pipe)} runs", status == 0, err):
        return None
    doc = json.loads(out)
    return [(o["name"], o["cid"]) for o in doc["outputs"]], doc["gas"], [(j["id"], j["gas"]) for j in doc["jobs"]]


for pipe, data in ((os.path.join(pipelines, "rank.pipe.cfg"), f"edges={edges}"), (h.path("mixed.pipe.cfg"), f"x={words}")):
    here, there = results(pipe, data, []), results(pipe, data, DIRS, **ELSEWHERE)
    h.check("results and gas are the same in workers", here is not None and here == there, f"{here}\n{there}")

# What an assertion tells crosses over, too.
said = [h.run("run", h.path("index.pipe.cfg"), "--backend", "cpu", "--in", f"x={words}", *more, **how) for more, how in (([], {}), (DIRS, ELSEWHERE))]
first = struct.unpack("<I", h.read("words")[:4])[0]
h.check("an index out of range is told from a worker", all(status == 9 and f"index[0] is {first}, out of range of 64" in err for status, _, err in said), str(said))

os.makedirs(h.path("plugins"))
shutil.copy(manifest, h.path("plugins"))
STRANGER = ["--plugin-dir", h.path("plugins")]


def pipe_of(op):
    return h.write(f"{op}.pipe.cfg", ('pipeline : { name = "p"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; '
                                      'jobs = ( { id = "j"; op = "stranger.%s@1"; in : { x = "$x"; }; } ); '
                                      'outputs : { y = "j.y"; }; };\n' % op).encode())


def arguments(op):
    out = h.path("out")
    if os.path.exists(out):
        os.unlink(out)
    return ["run", pipe_of(op), "--backend", "cpu", "--in", f"x={words}", "--no-memo", "--out", f"y={out}", *STRANGER]


status, _, err = h.run(*arguments("good"))
h.check("a stranger's op works", status == 0 and os.path.exists(h.path("out")), err)
# ---- an op that is superseded: told everywhere where it is named, refused where a policy says so, and the same bytes
OLD = arguments("old")
status, _, err = h.run(*OLD)
h.check("a superseded op runs and is told", status == 0 and "warning: PC4144" in err and "use stranger.good@1" in err and "old.pipe.cfg:1" in err, err)
old = h.read("out")
h.run(*arguments("good"))
h.check("its bytes are what they were", old == h.read("out"))
status, _, err = h.run("check", pipe_of("old"), *STRANGER)
h.check("check tells", status == 0 and "PC4144" in err and 'job "j": op stranger.old@1 is superseded' in err, err)
status, _, err = h.run("check", pipe_of("good"), *STRANGER)
h.check("and of no other op", status == 0 and "PC4144" not in err, err)
out = h.run("op", "list", *STRANGER)[1].decode()
h.check("op list tells", "superseded: use stranger.good@1" in out and out.count("superseded: ") == 1, out)
rows = [r for r in json.loads(h.run("op", "list", "--json", *STRANGER)[1])["ops"] if "deprecated" in r]
h.check("op list --json tells", [(r["name"], r["deprecated"]) for r in rows] == [("stranger.old", "use stranger.good@1")], str(rows))
out = h.run("op", "show", "stranger.old", *STRANGER)[1].decode()
h.check("op show tells", "  superseded: use stranger.good@1\n" in out, out)
h.check("op show --json tells", json.loads(h.run("op", "show", "stranger.old", "--json", *STRANGER)[1])["deprecated"] == "use stranger.good@1")
REFUSE = ["--policy", h.write("refuse.cfg", b'policy : { deprecated = "refuse"; };')]
for name, args in (("run", OLD), ("plan", ["plan", pipe_of("old"), "--in", f"x={words}", *STRANGER])):
    status, _, err = h.run(*args, *REFUSE)
    h.check(f"a policy refuses it: {name}", status == 3 and "PC4319" in err and "refuse.cfg:1" in err and "use stranger.good@1" in err, f"{status} {err}")
status, _, err = h.run(*arguments("good"), *REFUSE)
h.check("and no other op", status == 0, err)

for op, what in (("exit_infer", "infer"), ("quit_plan", "plan")):
    status, _, err = h.run(*arguments(op))
    h.check(f"{op} is refused", status == 4 and "PC3111" in err and '"stranger"' in err and what in err, f"{status}\n{err}")
    h.check(f"{op} gives nothing", not os.path.exists(h.path("out")))
h.run("plugin", "release", "stranger", *STRANGER)

# Ctrl-C: the signal goes to pipectl alone.
p = subprocess.Popen([h.pipectl, *arguments("hang_infer")], env=h.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
time.sleep(2)
h.check("a hang in infer hangs", p.poll() is None)
p.send_signal(signal.SIGINT)
began = time.monotonic()
_, err = p.communicate(timeout=patient(60))
took = time.monotonic() - began
h.check("and answers an interrupt", p.returncode == 130 and took < patient(4), f"{p.returncode} after {took} s\n{err.decode()}")
h.check("and gives nothing", not os.path.exists(h.path("out")))
status, out, err = h.run("plugin", "list", *STRANGER)
h.check("who was interrupted is not held", status == 0 and b"stranger" in out, err)
h.finish()
