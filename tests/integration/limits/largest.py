"""The largest text of each shape that the default policy takes, on one device: it gives the reference's bytes, or it is
refused under a code that another device may take it after (PC3110, PC5218, PC52..), and nothing is held. All of them by hand,
minutes a device; --few: some that compilers explode at, with a compiler that may use little, whose worker's memory is measured
while it builds. usage: largest.py DEVICE [--few | SHAPE..]"""
import glob
import os
import re
import sys
import threading
import time

import shapes
from harness import Harness

h = Harness()
DEVICE, LONGEST = sys.argv[1], 64 << 10
REFUSED = re.compile(r"PC3110|PC5218|PC520\d|PC4311|PC4315|PC2044")
# Nested loops, conditions, switches and calls, values that are copied, memory of each kind, tables.
FEW = ("loops_nested", "ifs_nested", "switch_cases", "calls_looped", "calls_of_arrays", "nested_arrays", "locals_copied",
       "private_value", "workgroup_array", "table")
IS_FEW = sys.argv[2:] == ["--few"]
MEMORY = 512 << 20  # more than before the build: of the few
os.makedirs(h.path("home"), exist_ok=True)
if IS_FEW:
    LONGEST = 8 << 10
    h.write("home/pipectl.cfg", b'workers : { build_cpu = "4s"; build_memory = "512MiB"; first_run = "20s"; };\n')


class Watched:
    """The most that a worker of this test's home has resident, in bytes."""
    def __enter__(self):
        self.most, self.goes = 0, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.goes = False
        self.thread.join()

    def watch(self):
        while self.goes:
            for name in glob.glob("/proc/[0-9]*/environ"):
                try:
                    with open(name, "rb") as e, open(os.path.dirname(name) + "/statm", encoding="ascii") as m:
                        if h.path("home").encode() in e.read():
                            self.most = max(self.most, int(m.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
                except OSError:
                    continue
            time.sleep(0.05)



def accepted(text):
    return h.run("shader", "check", h.write("try.wgsl", text.encode()))[0] == 0


def largest(make, n):
    """By doubling, then by halving the gap."""
    best, top = 0, None
    while n < 1 << 34 and len(make(n)) <= LONGEST:
        if accepted(make(n)):
            best = n
        elif best:
            top = n
            break
        n *= 2
    while top and top - best > max(1, best // 8):
        middle = (best + top) // 2
        if len(make(middle)) <= LONGEST and accepted(make(middle)):
            best = middle
        else:
            top = middle
    return best


def run(text, device):
    path = h.write("shape.wgsl", text.encode())
    slots = [int(x) for x in re.findall(r"@binding\((\d+)\)", text)]
    entries = re.findall(r"fn (main\w*)\(", text)
    args = [a for s in slots for a in ("--bind", f"0:{s}=zero:65536")]
    args += ["--read", f"0:{slots[0]}={h.path(device.split(':')[0])}"] + (["--entry", entries[0]] if len(entries) > 1 else [])
    return h.run("shader", "run", path, "--dispatch", "1", *args, "--no-memo", "--backend", device)


ran = 0
for name in FEW if IS_FEW else sys.argv[2:] or shapes.SHAPES:
    make, first = shapes.SHAPES[name]
    n = largest(make, first)
    if not n:
        continue
    begun = time.monotonic()
    with Watched() as watched:
        status, _, err = run(make(n), DEVICE)
    print(f"{name}({n}), {len(make(n))} bytes: {status} in {time.monotonic() - begun:.1f} s, {watched.most >> 20} MiB {err[:150]!r}",
          flush=True)
    ran += status == 0
    h.check(f"{name}({n}): no worker takes more than it may", not IS_FEW or watched.most < 3 * MEMORY, str(watched.most))
    if status != 0:
        h.check(f"{name}({n}): refused so that another device may take it", REFUSED.search(err), err)
        continue
    got = h.read(DEVICE.split(":")[0])
    status, _, err = run(make(n), "cpu")
    if h.check(f"{name}({n}): the reference runs it", status == 0, err):
        h.check_bytes(f"{name}({n}): the reference's bytes", got, h.read("cpu"), 4)
_, out, _ = h.run("plugin", "list")
h.check("nothing is held", b"held" not in out, out)
h.check("some ran", ran >= 3 or not IS_FEW, str(ran))
h.finish()
