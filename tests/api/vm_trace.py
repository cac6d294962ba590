"""What a host process does in an execution of a machine of 28 instances, by its system calls: it sends a submit and a wait to its worker,
and waits. usage: vm_trace.py VM_TRACE DEVICE"""
import re
import shutil
import sys

from harness import Harness

h = Harness()
log = h.path("trace")
# The calls of this thread alone: workers have processes of their own. Those of time are made without the kernel.
status, out, err = h.run("-o", log, sys.argv[1], h.path("home"), sys.argv[2], executable=shutil.which("strace") or "/usr/bin/strace")
h.check("it executes", status == 0 and out == b"executed\n", f"{status} {out} {err}")
calls = [m.group(1) for m in re.finditer(r"^(\w+)\(", h.read("trace").decode("utf-8", "replace"), re.M)]
marks = [i for i, c in enumerate(calls) if c == "getppid"]
between = calls[marks[-2] + 1:marks[-1]] if len(marks) >= 2 else ["?"]
sent = [c for c in between if c in ("sendmsg", "write", "sendto")]
rest = {c for c in between if c not in ("sendmsg", "write", "sendto", "recvmsg", "recvfrom", "read", "poll", "ppoll", "clock_gettime", "futex")}
# A device that is slow is asked again every tenth of a second.
h.check("a submit and a wait", 2 <= len(sent) <= 2 + 50, f"{sent} of {between}")
h.check("and nothing else", not rest, f"{rest} of {between}")
print(" ".join(between))
h.finish()
