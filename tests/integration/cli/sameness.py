"""A worker cannot tell what it is asked for: run, audit and certify start it with one command line and one
environment. A program in the place of pipectl-worker writes down both."""
import os
import stat

from harness import Harness

h = Harness()
REAL = os.path.join(os.path.dirname(os.environ["PIPECTL"]), "pipectl-worker")
SPY = h.write("worker", f"""#!/bin/sh
{{ tr '\\0' '\\n' < /proc/$$/environ | sort; printf '%s\\n' "$@"; }} > {h.path('seen')}/$$
exec {REAL} "$@"
""".encode())
os.chmod(SPY, 0o755)
WGSL = h.write("x.wgsl", b"@group(0) @binding(0) var<storage, read_write> a : array<u32>;\n"
               b"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i : vec3<u32>) { a[i.x] = i.x; }\n")
STARTS = h.write("starts", b"".join(i.to_bytes(4, "little") for i in range(1, 65)))
JOB = [os.path.join(os.environ["PIPELINES"], "collatz.pipe.cfg"), "--in", "starts=" + STARTS]
VERBS = {
    "shader run": ["shader", "run", WGSL, "--dispatch", "1", "--bind", "0:0=zero:256", "--read", "0:0=" + h.path("out"),
                   "--backend", "cpu"],
    "shader tune": ["shader", "tune", WGSL, "--dispatch", "1", "--bind", "0:0=zero:256", "--backend", "cpu"],
    "run": ["run", *JOB, "--backend", "cpu", "--out", "steps=" + h.path("out")],
    "run --verify": ["run", *JOB, "--backend", "cpu", "--verify", "all", "--out", "steps=" + h.path("out")],
    "device list": ["device", "list", "--fresh"],
    "certify": ["certify", "--backend", "cpu", "--level", "L1", "--ops", "int.add", "--cases", "1000", "--programs", "1",
                "--out", h.path("certs")],
    "audit": ["audit", *JOB, "--backends", "cpu,mock:wrap=cpu"],
}
h.env["PIPECTL_WORKER"] = SPY
seen = {}
for name, verb in VERBS.items():
    os.makedirs(h.path("seen"), exist_ok=True)
    status, out, err = h.run(*verb)
    texts = set()
    for file in os.listdir(h.path("seen")):
        text = h.read("seen/" + file).decode()
        if "--serve" in text and "\ncpu\n" in text:
            texts.add(text)
        os.unlink(h.path("seen/" + file))
    h.check(f"{name} starts a worker of cpu", len(texts) == 1, f"{status} {len(texts)} {out} {err}")
    seen[name] = texts
first = next(iter(seen.values()))
for name, texts in seen.items():
    h.check(f"{name} looks like {next(iter(seen))}", texts == first, f"{texts}\n{first}")
h.finish()
