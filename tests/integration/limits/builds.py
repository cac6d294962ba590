"""A program within the policy's limits that makes a driver's compiler explode: one typed refusal (PC3110) before anything
ran, no strike, no process left. A list of named devices and the policy's order go on with the next device, in the end the
reference; a device that was named alone is refused. usage: builds.py MANIFEST [DEVICE]: of an op library that finds a
size in data; a real device, where doubled functions take seconds"""
import json
import os
import re
import shutil
import struct
import sys
import time

import programs
import shapes
from harness import Harness

h = Harness()
LANES = 8
MOCK = "mock:wrap=cpu+explode=300"
data = h.write("a.bin", struct.pack(f"<{LANES}I", *range(LANES)))
os.makedirs(h.path("home"), exist_ok=True)


def limits(cpu, memory):
    h.write("home/pipectl.cfg", f'workers : {{ build_cpu = "{cpu}"; build_memory = "{memory}"; }};\n'.encode())


def bomb(n, *args):
    return shader(programs.HEAD + programs.START + "  x = x * 3u + d;\n" * n + "  r[i] = x;\n}\n", *args)


def shader(text, *args):
    path = h.write("bomb.wgsl", text.encode())
    binds = ["--bind", f"0:0={data}", "--bind", f"0:1=zero:{4 * LANES}", "--read", f"0:1={h.path('out')}"]
    if "binding(1)" not in text:
        binds = ["--bind", f"0:0={data}", "--read", f"0:0={h.path('out')}"]
    return h.run("shader", "run", path, "--dispatch", "1", *binds, "--no-memo", *args)


def left_behind():
    """Processes of this test's home: workers have it in their environment or command line."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as e, open(f"/proc/{pid}/cmdline", "rb") as c:
                text = e.read() + c.read()
        except OSError:
            continue
        n += h.path("home").encode() in text and b"pipectl-worker" in text
    return n


# A device whose compiler does not come back is not probed to the end: nothing is known of it, and nothing is kept.
limits("1s", "4GiB")
status, _, err = h.run("device", "probe", "--device", "mock:wrap=cpu+explode=1", "--fresh")
h.check("a probe that does not end", status == 1 and "PC4331" in err and "while it built" in err, f"{status} {err}")
for name, cpu, memory, words in (("time", "1s", "4GiB", r"more than 1000 ms of processor time"),
                                 ("memory", "60s", "24MiB", r"bytes of memory, more than 25165824")):
    limits(cpu, memory)
    status, _, err = bomb(4, "--backend", MOCK)
    h.check(f"{name}: a small program is built", status == 0, err)
    status, _, err = bomb(200, "--backend", MOCK)
    h.check(f"{name}: named, it is refused under its own code", status == 5 and err.count("PC3110") == 1, f"{status} {err}")
    h.check(f"{name}: with the limit", re.search(words, err), err)
    h.check(f"{name}: no process is left", left_behind() == 0)
    status, _, err = bomb(4, "--backend", MOCK)
    h.check(f"{name}: no strike: the device is still used", status == 0, err)
    status, _, err = bomb(200, "--backend", MOCK, "--backend", "cpu")
    h.check(f"{name}: the next that was named runs it", status == 0, f"{status} {err}")
    took = h.read("out")
    status, _, err = bomb(200, "--backend", "cpu")
    h.check_bytes(f"{name}: and its bytes are the reference's", took, h.read("out"), 4)
status, out, _ = h.run("plugin", "list")
h.check("nothing is held", b"held" not in out, out)

# A job that is planned when others have run, since a size was found in data, moves like others: what ran before is kept,
# though the worker that holds it is ended, and what follows goes where it went.
limits("1s", "4GiB")
os.makedirs(h.path("plugins"))
shutil.copy(sys.argv[1], h.path("plugins"))
h.write("late.wgsl", (programs.HEAD + programs.START + "  x = x * 3u + d;\n" * 200 + "  r[i] = x;\n}\n").encode())
h.write("late.pipe.cfg", b"""pipeline : { name = "p"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "early"; op = "int.not@1"; in : { x = "$x"; }; },
           { id = "twice"; op = "int.not@1"; in : { x = "early.y"; }; },
           { id = "sized"; op = "stranger.sized@1"; in : { x = "twice.y"; }; },
           { id = "late"; shader = "late.wgsl"; dispatch = ( 1 ); in : { a = "sized.y"; }; out : { r = "u32[8]"; }; },
           { id = "after"; op = "int.add@1"; in : { a = "late.r"; b = "early.y"; }; } );
  outputs : { y = "after.y"; first = "twice.y"; }; };
""")


def late(*devices):
    named = [w for d in devices for w in ("--backend", d)]
    status, out, err = h.run("--plugin-dir", h.path("plugins"), "run", h.path("late.pipe.cfg"), "--in", f"x={data}", "--no-memo", "--json", *named)
    r = json.loads(out) if out else {}
    return status, [o["cid"] for o in r.get("outputs", [])], {j["id"]: j["device"] for j in r.get("jobs", [])}, err


status, right, _, err = late("cpu")
h.check("late: the reference", status == 0 and len(right) == 2, err)
status, got, ran, err = late(MOCK, "cpu")
h.check("late: it goes to the next that was named", status == 0 and got == right and ran["early"].startswith("mock")
        and ran["sized"].startswith("mock") and ran["late"] == ran["after"] == "cpu:0", f"{status} {ran} {err}")
status, got, _, err = late(MOCK)
h.check("late: named alone it is refused", status == 5 and got == [] and err.count("PC3110") == 1, f"{status} {err}")
h.check("late: no process is left", left_behind() == 0)

# A compiler that works at the first run of a program, or a device that never ends it, has the first run's limit.
h.write("home/pipectl.cfg", b'workers : { first_run = "2s"; };\n')
status, _, err = bomb(4, "--backend", "mock:wrap=cpu+hang")
h.check("a first run without an end is refused", status == 5 and err.count("PC3110") == 1 and "workers.first_run" in err, f"{status} {err}")
h.check("first run: no process is left", left_behind() == 0)
# Where other devices may be taken, one is, and the whole is done again, though it shows when jobs have run.
status, out, err = bomb(4, "--backend", "mock:wrap=cpu+hang", "--backend", "cpu", "--json")
tried = json.loads(out)["devices_tried"] if status == 0 else [{"why": ""}]
h.check("the next that was named runs it", status == 0 and "workers.first_run" in tried[0]["why"] and tried[-1]["taken"], f"{status} {tried} {err}")
took = h.read("out")
bomb(4, "--backend", "cpu")
h.check_bytes("first run: and its bytes are the reference's", took, h.read("out"), 4)
status, got, ran, err = late("mock:wrap=cpu+hang@late", "cpu")
h.check("late: a first run that does not end moves all", status == 0 and got == right and set(ran.values()) == {"cpu:0"}, f"{status} {ran} {err}")
h.check("late: without a word of it", "PC3110" not in err, err)
status, got, ran, err = late("mock:wrap=cpu+hang@late", "mock:wrap=cpu+hang@after")
h.check("and is refused where none is left", status == 5 and got == [] and err.count("PC3110") == 2, f"{status} {ran} {err}")
h.check("late: no process is left", left_behind() == 0)
status, _, err = bomb(4, "--backend", "mock:wrap=cpu+slow=500")
h.check("one within the limit is none", status == 0, err)
h.check("first run: nothing is held", b"held" not in h.run("plugin", "list")[1])

# Drivers whose compilers work at the first dispatch: a build is over only when they are. 456 bytes, minutes of llvmpipe.
for device, text in (("vulkan:llvmpipe", shapes.calls_of_arrays(5)), ("opencl:rusticl", shapes.locals_copied(100)),
                     ("opencl:portable", shapes.locals_copied(400))):
    if device not in sys.argv[2:]:
        continue
    limits("2s", "4GiB")
    path = h.write("late.wgsl", text.encode())
    begun = time.monotonic()
    status, _, err = h.run("shader", "run", path, "--dispatch", "1", "--bind", "0:0=zero:65536", "--read", f"0:0={h.path('out')}",
                           "--no-memo", "--backend", device, "--backend", "cpu")
    h.check(f"{device}: its compiler ends in the build, and the reference runs it", status == 0, f"{status} {err}")
    took = h.read("out")
    h.run("shader", "run", path, "--dispatch", "1", "--bind", "0:0=zero:65536", "--read", f"0:0={h.path('out')}", "--no-memo",
          "--backend", "cpu")
    h.check_bytes(f"{device}: the reference's bytes", took, h.read("out"), 4)
    status, _, err = h.run("shader", "run", path, "--dispatch", "1", "--bind", "0:0=zero:65536", "--no-memo", "--backend", device)
    h.check(f"{device}: named alone it is refused, by the build's limit", status == 5 and err.count("PC3110") == 1
            and "the build of a program" in err, f"{status} {err}")
    print(f"{device}: {time.monotonic() - begun:.1f} s")

# The order of a policy, with a driver that really is slow.
for device in set(sys.argv[2:]) & {"vulkan:SwiftShader"}:
    policy = h.write("order.cfg", f'policy : {{ backends : {{ order = ( "{device}", "cpu" ); }}; }};\n'.encode())
    limits("300ms", "4GiB")
    status, out, err = shader(programs.doubled(13), "--policy", policy, "--json")
    tried = {d["device"].split(":")[0]: d for d in json.loads(out)["devices_tried"]}
    h.check(f"{device} explodes, and the reference runs it", status == 0 and tried["cpu"]["taken"]
            and "processor time" in next(iter(tried.values()))["why"], f"{status} {out} {err}")
    took = h.read("out")
    status, _, err = shader(programs.doubled(13), "--backend", "cpu")
    h.check_bytes(f"{device}: the reference's bytes", took, h.read("out"), 4)
    status, _, err = shader(programs.doubled(13), "--backend", device)
    h.check(f"{device}: named, it is refused", status == 5 and err.count("PC3110") == 1, f"{status} {err}")
h.finish()
