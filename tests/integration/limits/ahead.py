"""Kernels that a run will want, on a device that compiles on processors, are compiled by several processes: what comes of it is what comes of one
process, also where all but the first are killed; what was kept serves the next run, which asks nobody for help. usage: ahead.py DEVICE"""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

os.environ["PIPECTL_TEST_KERNELS"] = "own"  # nothing that another test compiled
from harness import Harness  # noqa: E402

h = Harness()
device = sys.argv[1]
N = 5000
data = h.write("x.u32", struct.pack(f"<{N}I", *(i * 2654435761 % 2 ** 32 for i in range(N))))
pipe = h.write("many.pipe.cfg", b"""pipeline : { name = "many"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "sorted"; op = "tensor.sort@1"; in : { x = "$x"; }; },
           { id = "ordered"; op = "tensor.argsort@1"; in : { x = "$x"; }; },
           { id = "counts"; op = "int.popcount@1"; in : { x = "sorted.y"; }; },
           { id = "low"; op = "int.clz@1"; in : { x = "counts.y"; }; } );
  outputs : { a = "sorted.y"; b = "ordered.index"; c = "low.y"; }; };
""")


def workers(pid):
    """Workers that this process has started, the oldest first."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as g, open(f"/proc/{p}/stat", "rb") as s:
                line, stat = g.read(), s.read().rsplit(b") ", 1)[1].split()
        except OSError:
            continue
        if b"pipectl-worker" in line.split(b"\0")[0] and int(stat[1]) == pid:
            found.append((int(stat[19]), int(p)))
    return [p for _, p in sorted(found)]


def run(what, home, kills=False, processors=None):
    """CIDs, the most workers at once, and how many were killed."""
    limit = (lambda: os.sched_setaffinity(0, processors)) if processors else None
    p = subprocess.Popen([h.pipectl, "run", pipe, "--in", f"x={data}", "--no-memo", "--backend", device, "--json"], env=dict(h.env, PIPECTL_HOME=home),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
    most, killed, done = 0, 0, []
    reader = threading.Thread(target=lambda: done.append(p.communicate()))
    reader.start()
    while reader.is_alive():
        now = workers(p.pid)
        most = max(most, len(now))
        for late in now[1:] if kills else ():
            try:
                os.kill(late, signal.SIGKILL)
                killed += 1
            except OSError:
                pass
        time.sleep(0.02)
    out, err = done[0]
    h.check(f"{what}: it runs", p.returncode == 0, err.decode()[-1500:])
    return [(o["name"], o["cid"]) for o in json.loads(out)["outputs"]] if p.returncode == 0 else None, most, killed


def fresh(name):
    """A home that knows the device, and has no kernel of it."""
    home = h.path(name)
    shutil.copytree(h.path("known"), home, symlinks=True)
    return home


# What the device is, without a kernel.
known = h.path("known")
shutil.copytree(h.path("home"), known, symlinks=True) if os.path.isdir(h.path("home")) else os.makedirs(known)
h.env["PIPECTL_HOME"] = known
status, _, err = h.run("device", "list")
h.check("devices", status == 0, err)
want = [(o["name"], o["cid"]) for o in json.loads(h.run("run", pipe, "--in", f"x={data}", "--no-memo", "--backend", "cpu", "--json")[1])["outputs"]]
cpus = sorted(os.sched_getaffinity(0))
one = run("one processor", fresh("one"), processors=cpus[:1])
# They may be there between two looks, on a busy machine: then once more.
for i in range(20):
    several = run("several", fresh(f"several-{i}"))
    if len(cpus) == 1 or several[1] > one[1]:
        break
again = run("once more", h.path(f"several-{i}"))
h.check("the reference's bytes, by one process", one[0] == want, (want, one[0]))
h.check("and by several", several[0] == want, (want, several[0]))
h.check("and by what was kept", again[0] == want, (want, again[0]))
h.check("there were several, where there are processors", len(cpus) == 1 or several[1] > one[1], (one[1], several[1]))
h.check("what was kept needs nobody else", again[1] == one[1], (one[1], again[1]))
if len(cpus) > 1:
    for i in range(20):
        lost = run("all others are killed", fresh(f"lost-{i}"), kills=True)
        if lost[2] > 0:
            break
    h.check("the same bytes where all others are killed", lost[0] == want and lost[2] > 0, (want, lost))
    h.env["PIPECTL_HOME"] = h.path(f"lost-{i}")
    status, out, _ = h.run("plugin", "list")
    h.check("and nothing is held against the backend", b"held" not in out, out)
h.finish()
