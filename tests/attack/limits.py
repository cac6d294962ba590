"""Walks core/chain/registry/accept.def: each row refuses the first shader above it with its name, what the shader needs and a place,
and takes the one just below, which gives the reference's bytes on every device. usage: limits.py DEVICE... [--rows ROW,ROW]"""
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

import sizes  # noqa: E402
from harness import Harness, Random, share  # noqa: E402

h, rng = Harness(), Random(3)
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../core/chain/registry/accept.def")
with open(TABLE, encoding="utf-8") as f:
    text = f.read()
ROWS = [(name.lower(), int(most)) for name, most in re.findall(r"^CHAIN_EXTENT\((\w+), (\d+), \"", text, re.M)]
ROWS += [("depth", int(most)) for most in re.findall(r"^CHAIN_DEPTH\((\d+), \"", text, re.M)]
args = sys.argv[1:]
only = args[args.index("--rows") + 1].split(",") if "--rows" in args else None
devices = [a for a in (args[:args.index("--rows")] if only else args)]
h.check("every row has shaders, and none is left over", sorted(n for n, _ in ROWS) == sorted(sizes.ROWS), str(ROWS))
LANES = 64
data = h.write("a.bin", struct.pack(f"<{LANES}I", *(rng.u64() % 200 for _ in range(LANES))))


def judge(name, n):
    path = h.write(f"{name}.wgsl", sizes.ROWS[name][0](n).encode())
    status, _, err = h.run("shader", "check", "--consensus", "--rules", "2", path)
    return status == 0, err


def run(name, device):
    out = h.path(f"{name}.out")
    begun = time.monotonic()
    status, _, err = h.run("shader", "run", h.path(f"{name}.wgsl"), "--dispatch", str(LANES // 8), "--bind", f"0:0={data}",
                           "--bind", f"1:0=zero:{4 * LANES}", "--read", f"1:0={out}", "--no-memo", "--backend", device)
    return status, h.read(f"{name}.out") if status == 0 else err, time.monotonic() - begun


for name, most in ROWS if only else share(ROWS, 3):
    if only and name not in only:
        continue
    # The smallest n that is refused.
    low, high = 2, sizes.ROWS[name][1]
    h.check(f"{name}: a little is taken", judge(name, low)[0], judge(name, low)[1])
    step = 8 if name == "workgroup" else 1
    while high - low > step:
        mid = (low + high) // 2 // step * step
        low, high = (mid, high) if judge(name, mid)[0] else (low, mid)
    ok, err = judge(name, high)
    found = re.search(rf"error: PC5829 .*?{name}: (\d+) \w+, at most {most} \(", err)
    h.check(f"{name}: one above is refused by its row, with what it needs", not ok and found and int(found[1]) > most, f"{high}: {err[:500]}")
    h.check(f"{name}: with a place", re.search(rf"{name}\.wgsl:\d+:\d+: ", err), err[:300])
    if found:
        h.check(f"{name}: and is just above", int(found[1]) <= most * 1.05 + 64, f"{found[1]} of {most}")
    ok, err = judge(name, low)
    h.check(f"{name}: one below is taken", ok, err[:300])
    want = None
    for device in ["cpu", *devices]:
        status, got, seconds = run(name, device)
        want = got if want is None else want
        h.check(f"{name} just below on {device}: the reference's bytes", status == 0 and got == want, f"{status} {got[:500]}")
        print(f"{name:16} n = {low:6} on {device:20} {seconds:7.2f} s", flush=True)
h.finish()
