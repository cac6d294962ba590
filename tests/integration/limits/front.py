"""Every shape of shapes.py, doubled until its text is 64 KiB, in larger steps from where it is refused: the host says yes, or no under a code, within a second of
processor time and 512 MiB. What some hundred bytes unfold to is counted, not made. usage: front.py [SHAPE..]"""
import os
import re
import sys

import shapes
from harness import Harness, share

h = Harness()
LONGEST, LARGEST = 64 << 10, 1 << 34
# A sanitizer's program is slower and larger; what grows with what a text unfolds to passes any of these.
FACTOR = 8 if "asan" in h.pipectl or "tsan" in h.pipectl else 1
SECONDS, KIB = 4.0 * FACTOR, (512 << 10) * FACTOR


def measured(path):
    """Exit status, processor time, peak memory in KiB and what was said."""
    out = h.path("said")
    pid = os.fork()
    if pid == 0:
        to = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(to, 1)
        os.dup2(to, 2)
        os.execve(h.pipectl, [h.pipectl, "shader", "check", path], h.env)
    _, status, used = os.wait4(pid, 0)
    with open(out, errors="replace") as f:
        return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss, f.read()


taken = refused = 0
names = sys.argv[1:] or share(shapes.SHAPES)
for name in names:
    make, n = shapes.SHAPES[name]
    while n <= LARGEST:
        text = make(n)
        if len(text) > LONGEST:
            break
        status, seconds, kib, said = measured(h.write("shape.wgsl", text.encode()))
        where = f"{name}({n}), {len(text)} bytes"
        h.check(f"{where}: yes, or no under a code", status == 0 or (status in (3, 5, 7) and re.search(r"error: PC\d+", said)),
                f"{status} {said[:400]}")
        h.check(f"{where}: in time", seconds < SECONDS, f"{seconds:.2f} s")
        h.check(f"{where}: in memory", kib < KIB, f"{kib} KiB")
        taken += status == 0
        refused += status != 0
        n *= 2 if status == 0 else 8
print(f"{taken} texts taken, {refused} refused")
h.check("both were seen", len(sys.argv) > 1 or (taken > len(names) and refused > len(names) // 2), f"{taken} {refused} of {len(names)} shapes")
h.finish()
