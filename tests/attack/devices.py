"""Device trouble enters no record: a node whose device refuses, crashes, hangs, is lost or lies on one job ends the blocks that a healthy
node ends, says on which device the jobs ran, and goes on with its device for the rest. The same jobs to all."""
import os
import re
import signal
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sizes  # noqa: E402
from attack import World  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness()
ADD = sizes.kernel("x = x * 3u + 1u;\n")
LONG = sizes.kernel(sizes.steps(40))
# A device by its fault, and what its node says of it.
DEVICES = {
    "explode": ("mock:wrap=cpu+explode=100", r"PC5833.* \d of 4 jobs ran on another device: .*PC3110"),
    "crash": ("mock:wrap=cpu+crash@1", r"PC5833.*could not run job"),
    "lost": ("mock:wrap=cpu+lost@1", r"PC5833.*PC3282"),
    "absent": ("vulkan:no-such-device", r"PC5833.* 4 of 4 jobs .*PC3231"),
}
VERIFIED = {
    "flip": ("mock:wrap=cpu+flip-bit@2", r"PC5833.*PC5208"),
    "write-past": ("mock:wrap=cpu+late-write-past", r"PC5833.*PC5224"),
    "idle": ("mock:wrap=cpu+late-no-dispatch", r"PC5833.*PC5208"),
}


def blocks(w, data):
    """Two blocks of some jobs, the second of two shaders."""
    shaders = [w.upload(text)[0]["shader_cid"] for text in (ADD, LONG)]
    given = [w.bring(d) for d in data]
    for height in range(2):
        for k, g in enumerate(given):
            answers = w.all("execute", w.job(shaders[k % 2 if height else 0], g, groups=(2, 1, 1), output=64, sender="ada"))
            h.check(f"{w.name}: a job is taken in everywhere", not answers[0].code and all(a == answers[0] for a in answers),
                    " / ".join(map(str, answers)))
        ends = w.end()
        h.check(f"{w.name}: block {height + 1} is everybody's", not ends[0].code and all(a == ends[0] for a in ends),
                " / ".join(f"{n.name} {a}" for n, a in zip(w.nodes, ends)))


data = [struct.pack("<16I", *(k * 31 + i for i in range(16))) for k in range(4)]
for verify, devices in ((False, DEVICES), (True, VERIFIED)):
    w = World(h, "verified" if verify else "plain", 2, ["cpu", *(d for d, _ in devices.values())])
    for n in w.nodes[1:]:
        n.stop()
        with open(os.path.join(n.home, "pipectl.cfg"), "w", encoding="utf-8") as f:
            f.write('workers : { build_cpu = "1s"; };\n')
        n.start(*(("--verify", "all") if verify else ()))
    blocks(w, data)
    for n, (name, (device, said)) in zip(w.nodes[1:], devices.items()):
        h.check(f"{name}: its node says what happened", re.search(said, n.said(), re.S), n.said()[-600:])
    h.check("a healthy node says nothing", "PC5833" not in w.nodes[0].said(), w.nodes[0].said())
    w.stop()


def ended_by_somebody(rounds=5):
    """A worker that waits is killed before each block, as a machine without memory does: it is started again, and never held."""
    w = World(h, "killed", 2, ["cpu"])
    n, shader = w.nodes[0], w.upload(ADD)[0]["shader_cid"]
    given, killed = w.bring(data[0]), 0
    for k in range(rounds):
        w.all("execute", w.job(shader, given, groups=(2, 1, 1), output=64, sender="ada"))
        with open(f"/proc/{n.process.pid}/task/{n.process.pid}/children", encoding="ascii") as f:
            for worker in f.read().split():
                os.kill(int(worker), signal.SIGKILL)
                killed += 1
        end = w.end()[0]
        h.check(f"a block behind a killed worker, {k}", not end.code, end)
    status, out, err = n.run("plugin", "list")
    h.check("workers were killed", killed >= rounds - 1, killed)
    h.check("nothing is held", status == 0 and "held" not in out, out + err)
    w.stop()


ended_by_somebody()
h.finish()
