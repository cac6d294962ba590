"""What a driver silently does wrong when a program is too large is a fact about the device: within its limits it gives
the reference's bytes; conditions nested deeper are flattened and give them, too, for the same gas; what is left is refused
by name (PC5218) before it sees the program, and a run that named no device goes on with another.
usage: run.py DEVICE NAME [--few]"""
import json
import os
import struct
import sys

import programs
from harness import Harness

h = Harness()
DEVICE, KNOWN = sys.argv[1], sys.argv[2]
LANES = 64
data = h.write("a.bin", struct.pack(f"<{LANES}I", *[2 * i if i < 60 else 1000 * i for i in range(LANES)]))


def shader(name, text, *args):
    path = h.write(f"{name}.wgsl", text.encode())
    sums = ["--bind", "0:2=zero:32", "--read", f"0:2={h.path('sums')}"] if "binding(2)" in text else []
    return h.run("shader", "run", path, "--dispatch", f"{LANES // 8}", "--bind", f"0:0={data}", "--bind",
                 f"0:1=zero:{4 * LANES}", "--read", f"0:1={h.path('out')}", *sums, "--no-memo", "--json", *args)


# name, sizes that the device does right, and those that it must refuse: the smallest, and one that is wrong there when it
# is run. What is nested deeper than 72 levels is flattened before the device sees it: unflattened, 85 were wrong. Loops
# inside each other stay what they are.
CASES = [
    (programs.turns, [65535], [65536, 65537]),
    (programs.turns_in_sequence, [65534], [65536, 80000]),
    (programs.turns_nested, [16 * 4090], [16 * 4095, 16 * 5000]),
    (programs.turns_called, [32 * 2040], [32 * 2048, 32 * 2600]),
    (programs.ifs, [70, 85, 195], []),
    (programs.switches, [70, 85, 97], []),
    (programs.loops, [30], [85, 90]),
    (programs.called_ifs, [70, 85, 200], []),
    (programs.returns, [70, 90, 200], []),
    (programs.deep, [60, 85, 150], []),
    (programs.deep_called, [60, 85, 200], []),
    (programs.array, [256], [257, 300]),
]

FEW = "--few" in sys.argv
if FEW:  # a driver that compiles slowly
    CASES = [(programs.turns, [65535], [65536]), (programs.array, [256], [257]), (programs.loops, [30], [85]),
             (programs.ifs, [85, 195], []), (programs.switches, [85], []), (programs.called_ifs, [85], []),
             (programs.deep, [85], []), (programs.deep_called, [85], [])]

for make, right, beyond in CASES:
    name = make.__name__
    for n in right:
        said = []
        for device in (DEVICE, "cpu"):
            status, out, err = shader(name, make(n), "--backend", device, *(["--verify", "all"] if device != "cpu" else []))
            h.check(f"{name} {n} on {device} is right", status == 0, err)
            out = json.loads(out) if status == 0 else {"outputs": [{"cid": device}], "gas": 0}
            said.append(([o["cid"] for o in out["outputs"]], out["gas"]))
        h.check(f"{name} {n}: {DEVICE} gives the reference's CIDs for the same gas", said[0] == said[1], str(said))
    for n in beyond:
        status, _, err = shader(name, make(n), "--backend", DEVICE)
        h.check(f"{name} {n} is refused on {DEVICE}", status == 5 and "PC5218" in err, f"{status} {err}")
        h.check(f"{name} {n}: the message has the limit", "the device is known to be right up to" in err, err)

# What it does right up to what it claims, or to the policy's bound; more workgroup memory than it claims is refused by name.
for make, right in ((programs.workgroup, 8192), (programs.table, 16384), (programs.steps, 500)):
    name = make.__name__
    status, _, err = shader(name, make(right), "--backend", DEVICE, "--verify", "all")
    h.check(f"{name} {right} on {DEVICE} is the reference's", status == 0, err)
status, _, err = shader("workgroup", programs.workgroup(8200), "--backend", DEVICE)
h.check(f"workgroup 8200 is refused on {DEVICE}", status == 5 and "workgroup" in err, f"{status} {err}")
status, _, err = shader("workgroup", programs.workgroup(8200), "--backend", DEVICE, "--backend", "cpu")
h.check("workgroup 8200: the next one named runs it", status == 0, err)

# Named devices in order: the first that can.
status, _, err = shader("turns", programs.turns(65537), "--backend", DEVICE, "--backend", "cpu")
h.check("the next one named runs it", status == 0, err)
with open(h.path("out"), "rb") as f:
    got = f.read()
x = list(struct.unpack(f"<{LANES}I", open(data, "rb").read()))
for k in range(65537):
    x = [(v * 3 + k) & 0xffffffff for v in x]
h.check_bytes("and its bytes are right", got, struct.pack(f"<{LANES}I", *x), 4)
# Nobody named: whoever is chosen is right.
for make, n in [(make, beyond[0]) for make, _, beyond in CASES if beyond]:
    status, _, err = shader(make.__name__, make(n))
    with open(h.path("out"), "rb") as f:
        free = f.read()
    status2, _, err2 = shader(make.__name__, make(n), "--backend", "cpu")
    h.check(f"{make.__name__} {n} runs somewhere", status == 0 and status2 == 0, err + err2)
    h.check_bytes(f"{make.__name__} {n}: the same bytes", free, h.read("out"), 4)

# A reduction longer than the device counts is cut into more dispatches, for the same bits.
h.write("sum.pipe.cfg", b"""pipeline : { name = "sum"; class = "strict"; inputs : { x : { type = "f32[n]"; }; };
  jobs = ( { id = "sum"; op = "ieee.reduce_strict@1"; in : { x = "$x"; }; attr : { op = "add"; }; } );
  outputs : { y = "sum.y"; }; };
""")
N = 65537
terms = h.write("terms", struct.pack(f"<{N}f", *[((i * 7919) % 1000 - 499.5) / 7 for i in range(N)]))
results = []
for device in (DEVICE, "cpu"):
    status, _, err = h.run("run", h.path("sum.pipe.cfg"), "--in", f"x={terms}", "--out", f"y={h.path('y')}", "--backend",
                           device, "--no-memo")
    h.check(f"a strict sum of {N} on {device}", status == 0, err)
    results.append(h.read("y"))
h.check_bytes("the strict sum is the reference's", results[0], results[1], 4)
# No profile is revoked for what the host can name.
status, _, err = shader("again", programs.turns(100), "--backend", DEVICE, "--verify", "all")
h.check(f"{DEVICE} ({KNOWN}) is still used", status == 0, err)
# The probe rechecks what is known, and says so.
status, out, err = h.run("device", "probe", "--device", DEVICE, "--json")
limits = json.loads(out)["profiles"][0]["limits"] if status == 0 else {}
h.check("the probe shows the limits, rechecked", limits.get("searched") is False and limits["most"]["turns"] == "65536"
        and os.path.exists(limits["file"]), f"{status} {limits} {err}")
h.finish()
