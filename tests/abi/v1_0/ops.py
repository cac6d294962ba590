"""A pipeline of ops from a library of version 1.0, through the whole host: checked, planned, run, verified."""
import struct
import sys

from harness import Harness

MANIFESTS, PIPELINE = sys.argv[1:3]

h = Harness()
values = [(i * 2654435761) & 0xFFFFFFFF for i in range(1000)] + [0, 0xFFFFFFFF]
want = struct.pack(f"<{len(values)}I", *(((v + 1) & 0xFFFFFFFF) ^ 0x5A5A5A5A for v in values))
data = h.write("x.bin", struct.pack(f"<{len(values)}I", *values))
for backend in ("cpu", "vulkan:llvmpipe", "opencl:portable"):
    status, _, err = h.run("--plugin-dir", MANIFESTS, "run", PIPELINE, "--backend", backend, "--verify", "all",
                           "--in", "x=" + data, "--out", "y=" + h.path("y"))
    if h.check("run on " + backend, status == 0, err):
        h.check_bytes("the bytes of " + backend, h.read("y"), want, 4)
h.finish()
