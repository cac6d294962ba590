"""What a host process does in an execution of a machine of 28 instances, by its system calls: it sends a submit and a wait to its worker,
and waits; of a language model it then reads, once, what its ops assert. usage: vm_trace.py VM_TRACE DEVICE [llm]"""
import re
import shutil
import sys

from harness import Harness

h = Harness()
log = h.path("trace")
model = []
if len(sys.argv) > 3:
    model = [h.path("model.gguf")]
    status, _, err = h.run("model", "synth", "--shape", "qwen2.5-0.5b", "--layers", "28", "--set", "n_embd=32", "--set", "n_heads=2", "--set", "n_kv_heads=1", "--set", "head_dim=16",
                           "--set", "n_ff=64", "--vocab", "280", "--context", "64", "--out", model[0])
    h.check("a model", status == 0, err)
# The calls of this thread alone: workers have processes of their own. Those of time are made without the kernel.
status, out, err = h.run("-o", log, sys.argv[1], h.path("home"), sys.argv[2], *model, executable=shutil.which("strace") or "/usr/bin/strace")
h.check("it executes", status == 0 and out == b"executed\n", f"{status} {out} {err}")
calls = [m.group(1) for m in re.finditer(r"^(\w+)\(", h.read("trace").decode("utf-8", "replace"), re.M)]
marks = [i for i, c in enumerate(calls) if c == "getppid"]
between = calls[marks[-2] + 1:marks[-1]] if len(marks) >= 2 else ["?"]
sent = [c for c in between if c in ("sendmsg", "write", "sendto")]
rest = {c for c in between if c not in ("sendmsg", "write", "sendto", "recvmsg", "recvfrom", "read", "poll", "ppoll", "clock_gettime", "futex")}
# A device that is slow is asked again every tenth of a second.
least = 3 if model else 2
h.check("a submit and a wait" + (", and a read" if model else ""), least <= len(sent) <= least + 50, f"{sent} of {between}")
h.check("and nothing else", not rest, f"{rest} of {between}")
print(" ".join(between))
h.finish()
