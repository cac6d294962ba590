"""`pipectl block end` that dies or is refused: killed at calls that write, each such call refused once with a full disk,
and SIGKILL at random instants. Afterwards the home has the block or has it not; done again it has the same commit."""
import os
import signal
import subprocess
import sys
import time

from harness import Harness, Random
from world import World

h = Harness()
strike = os.path.abspath(sys.argv[1])
seed = 20261122
rng = Random(seed)
print(f"seed {seed}")
END = ("--in-process", "block", "end", "--backend", "cpu", "--executor", "node")
POINTS = 24


def start(w, fault=None):
    env = dict(h.env)
    if fault is not None:
        env.update(LD_PRELOAD=strike, GITLOG_FAULT=fault)
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return subprocess.Popen([h.pipectl, "--home", w.home, *END], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def after(name, w, must=None):
    """The old state or the new one, and in the end the new one."""
    there = w.blocks()
    h.check(f"{name}: old or new", [b["commit"] for b in there] in ([], [want["commit"]]), there)
    if must is not None:
        h.check(f"{name}: what was answered", len(there) == must, there)
    if not there:
        h.check(f"{name}: again", w.end("cpu")["commit"] == want["commit"])
    w.answer("block", "verify", "1", "--backend", "cpu")
    return len(there)


base = World(h, "base").begin(1)
want = base.copy("undisturbed").end("cpu")

p = start(base.copy("counted"), "count")
calls = int(p.communicate()[1].decode().rsplit("calls ", 1)[1].split()[0])
h.check("calls that write", calls > POINTS, calls)
print(f"{calls} calls that write")

seen = {0: 0, 1: 0}
for kind in ("kill", "fail"):
    for i in range(POINTS):
        at = 1 + i * calls // POINTS + rng.below(max(1, calls // POINTS))
        w = base.copy("struck")
        p = start(w, f"{kind}:{at}")
        err = p.communicate()[1].decode()
        if kind == "kill":
            h.check(f"killed at {at}", p.returncode == -signal.SIGKILL or at > calls, f"{p.returncode} {err}")
        seen[after(f"{kind} at {at}", w, 1 if p.returncode == 0 else None)] += 1
h.check("both states were seen", seen[0] > 0 and seen[1] > 0, seen)

begun = time.monotonic()
base.copy("timed").end("cpu")
whole = time.monotonic() - begun
for i in range(8):
    w = base.copy("struck")
    p = start(w)
    time.sleep(whole * rng.below(1000) / 1000)
    p.kill()
    p.communicate()
    after(f"random kill {i}", w, 1 if p.returncode == 0 else None)
h.finish()
