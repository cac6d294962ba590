"""An end that nobody ordered is never a success: a plugin that calls exit(0) inside pipectl ends it with status 70 and a
word, one that does so in a worker is a device that failed.
usage: exits.py LIBRARY (tests/fakes/exit_devices.c)"""
import os
import sys

from harness import Harness

h = Harness()
os.makedirs(h.path("plugins"))
h.write("plugins/quitter.plugin.cfg", f"""plugin : {{
  id = "fake"; kind = "backend"; library = "{sys.argv[1]}"; abi : {{ min = "1.0"; }};
  interfaces = [ "pctl.backend/1" ]; isolation = "worker"; in_process = true;
}};
""".encode())
h.write("x.wgsl", b"@group(0) @binding(0) var<storage, read_write> a : array<u32>;\n"
        b"@compute @workgroup_size(1) fn main() { a[0] = 1u; }\n")
RUN = ["--plugin-dir", h.path("plugins"), "shader", "run", h.path("x.wgsl"), "--dispatch", "1", "--bind", "0:0=zero:4",
       "--read", "0:0=" + h.path("out"), "--backend", "fake"]
status, out, err = h.run(*RUN, "--in-process")
h.check("exit(0) in the host is no success", status == 70 and "called exit" in err, f"{status} {out} {err}")
status, out, err = h.run(*RUN)
h.check("in a worker it is a device that failed", status not in (0, 70) and "exited with status 0" in err, f"{status} {out} {err}")
h.finish()
