"""EXECUTING, as another process sees it: while a block runs its jobs; never after a kill, which leaves them pending and
the block to be ended again; and the walk over all states of a job, each seen to occur."""
import os
import signal
import subprocess
import time

from harness import Harness
from world import World

h = Harness()
w = World(h, "home").begin(jobs=1)
seen = {}


def states():
    """The state of every job, as `job show` of this other process says it, and `job list --status` too."""
    found = {j: w.answer("job", "show", j)["state"] for j in w.outputs}
    for state in set(found.values()):
        listed = {j["job"] for j in w.answer("job", "list", "--status", state)["jobs"]}
        h.check(f"listed as {state}", listed >= {j for j, s in found.items() if s == state}, (listed, found))
        seen.setdefault(state, found)
    return found


def running():
    """A process that ends the block on a device that takes ten minutes for each submit, seen at its work."""
    p = subprocess.Popen([h.pipectl, "--home", w.home, "block", "end", "--backend", "mock:wrap=cpu+slow=600000",
                          "--executor", "node"], env=h.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waiting = [j for j in w.outputs if j not in w.failed]
    while p.poll() is None and w.answer("job", "show", waiting[0])["state"] != "executing":
        time.sleep(0.1)
    return p, waiting


before = states()
h.check("pending at first", set(before.values()) == {"pending", "failed"}, before)
p, waiting = running()
now = states()
h.check("executing while it runs", p.poll() is None and all(now[j] == "executing" for j in waiting), now)
h.check("one that was cancelled is not", all(now[j] == before[j] for j in w.failed if before[j] == "failed"), now)
p.send_signal(signal.SIGKILL)
p.wait()
h.check("pending after a kill", states() == before, states())
h.check("what it left behind", os.path.exists(os.path.join(w.home, "chain", "executing")))
os.unlink(os.path.join(w.home, "chain", "executing"))
os.mkdir(os.path.join(w.home, "chain", "executing"))
status, out, err = w.run("block", "end", "--backend", "cpu", "--executor", "node")
h.check("a file that cannot be written ends no block", status == 0 and "PC5865" in err, f"{status} {err}")
after = states()
h.check("complete and failed in the end", all(after[j] == ("failed" if j in w.failed else "complete") for j in w.outputs), after)
h.check("every state occurs", set(seen) == {"pending", "executing", "complete", "failed"}, sorted(seen))
h.check("the block is as any other", w.answer("block", "verify", "1", "--backend", "cpu").get("blocks") == "1")
h.finish()
