"""A node that is too slow for a block says so before it runs one: a warning, or with chain.abstain no block of its own; a healthy node's
block stands."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sizes  # noqa: E402
from attack import World  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness()
w = World(h, "pace", 2, ["cpu", "cpu", "cpu"])
for n, text in zip(w.nodes[1:], ("gas_per_ms = 1;", "gas_per_ms = 1; abstain = true;")):
    n.stop()
    with open(os.path.join(n.home, "pipectl.cfg"), "w", encoding="utf-8") as f:
        f.write(f"chain : {{ {text} }};\n")
    n.start()
s = w.upload(sizes.kernel("x = x + 1u;\n"))[0]["shader_cid"]
given = w.bring(struct.pack("<8I", *range(8)))
w.end()
h.check("an empty block is everybody's", not w.is_split())
for _ in range(10):
    w.all("execute", w.job(s, given, sender="ada"))
fast, slow, abstains = w.end()
h.check("who warns ends it", not slow.code and slow == fast, f"{fast} / {slow}")
h.check("and says why", "PC5868" in w.nodes[1].said() and "jobs have 2500 ms" in w.nodes[1].said(), w.nodes[1].said())
h.check("who abstains does not, with the numbers", abstains.code == 5868 and "jobs have 2500 ms" in abstains["message"], str(abstains))
w.nodes[2].stop()
os.remove(os.path.join(w.nodes[2].home, "pipectl.cfg"))
w.nodes[2].start()
h.check("nothing of it was kept: later it is the same block", w.end(w.nodes[2])[0] == fast, "")
w.stop()
h.finish()
