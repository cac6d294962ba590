"""Memory of a node under uploads: thousands of different shaders, taken in and refused, and as many refused jobs; what it needs more than after the first of
them is SQLite's cache, which is bounded (core/chain/state/state.c), and little else. usage: memory.py [--uploads N]"""
import os
import re
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

from harness import Harness
import wire
from world import World

h = Harness()
w = World(h, "memory")
UPLOADS = int(sys.argv[sys.argv.index("--uploads") + 1]) if "--uploads" in sys.argv else 3000
TURN = 250
MOST = (64 + 24) << 20  # bytes that uploads may add: the cache of SQLite, what is kept of shaders, and the fragments of the heap

SHADER = """//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  var x = a[g.x];
"""


def text(i):
    """Each another; every tenth races, and is refused after all has been made of it."""
    lines = "".join(f"  x = x * {3 + i % 1000}u + {k + i}u;\n" for k in range(40))
    return (SHADER + lines + f"  b[{'0u' if i % 10 == 9 else 'g.x'}] = x;\n}}\n// {i}\n").encode()


def resident(node):
    with open(f"/proc/{node.process.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) << 10


def main():
    h.env["PIPECTL_HOME"] = w.home
    node = wire.Node(h)
    c, taken, refused, at = node.client(), 0, 0, {}
    for first in range(0, UPLOADS, TURN):
        several = range(first, min(first + TURN, UPLOADS))
        frames = [wire.encode("Request", {"upload": dict(sender="ada", wgsl_source=text(i), description="", tags=[], implements="")}) for i in several]
        c.socket.sendall(b"".join(struct.pack("<I", len(f)) + f for f in frames))
        for i in several:
            kind, fields = c.hear()
            taken += kind == "upload"
            refused += kind == "error" and fields["code"] == 5808
        at[first + len(several)] = resident(node)
    half = at[max(n for n in at if n <= UPLOADS // 2)]
    h.check("all were taken in but for the tenths", (taken, refused) == (UPLOADS - UPLOADS // 10, UPLOADS // 10), f"{taken} {refused}")
    print(f"{UPLOADS} uploads: {at[TURN] >> 20} MiB after {TURN}, {half >> 20} MiB after half, {at[UPLOADS] >> 20} MiB at the end")
    h.check("memory is bounded", at[UPLOADS] - at[TURN] < MOST, str({n: v >> 20 for n, v in at.items()}))
    node.stop(signal.SIGTERM)
    h.finish()


main()
