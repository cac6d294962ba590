"""The largest text of each shape that the default policy takes, on one device: it gives the reference's bytes, or it is
refused under a code that another device may take it after (PC3110, PC5218, PC52..), and nothing is held. By hand, minutes a
device. usage: largest.py DEVICE [SHAPE..]"""
import re
import sys
import time

import shapes
from harness import Harness

h = Harness()
DEVICE, LONGEST = sys.argv[1], 64 << 10
REFUSED = re.compile(r"PC3110|PC5218|PC520\d|PC4311|PC4315|PC2044")


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


for name in sys.argv[2:] or shapes.SHAPES:
    make, first = shapes.SHAPES[name]
    n = largest(make, first)
    if not n:
        continue
    begun = time.monotonic()
    status, _, err = run(make(n), DEVICE)
    print(f"{name}({n}), {len(make(n))} bytes: {status} in {time.monotonic() - begun:.1f} s {err[:150]!r}", flush=True)
    if status != 0:
        h.check(f"{name}({n}): refused so that another device may take it", REFUSED.search(err), err)
        continue
    got = h.read(DEVICE.split(":")[0])
    status, _, err = run(make(n), "cpu")
    if h.check(f"{name}({n}): the reference runs it", status == 0, err):
        h.check_bytes(f"{name}({n}): the reference's bytes", got, h.read("cpu"), 4)
_, out, _ = h.run("plugin", "list")
h.check("nothing is held", b"held" not in out, out)
h.finish()
