"""A device that no table knows and that stops its loops early, or loses deep conditions, without a word: the search finds
where, what is beyond is refused by name or cut into more dispatches, and no wrong byte comes out with status 0."""
import struct

import programs
from harness import Harness

h = Harness()
LANES = 64
data = h.write("a.bin", struct.pack(f"<{LANES}I", *range(LANES)))


def shader(name, text, *args):
    path = h.write(f"{name}.wgsl", text.encode())
    return h.run("shader", "run", path, "--dispatch", f"{LANES // 8}", "--bind", f"0:0={data}", "--bind",
                 f"0:1=zero:{4 * LANES}", "--read", f"0:1={h.path('out')}", "--no-memo", *args)


def message(err):
    return next((line for line in err.splitlines() if "PC5218" in line), "")


for fault, make, right, wrong in (("turns=20000", programs.turns, 19000, 25000), ("nest=60", programs.ifs, 50, 62)):
    device = f"mock:wrap=cpu+{fault}"
    status, _, err = shader("right", make(right), "--backend", device, "--verify", "all")
    h.check(f"{fault}: {right} is right", status == 0, err)
    status, _, err = shader("wrong", make(wrong), "--backend", device)
    h.check(f"{fault}: {wrong} is refused", status == 5 and message(err), f"{status} {err}")
    # What the device would have given: the fault is real.
    status, _, err = shader("late", make(wrong), "--backend", f"mock:wrap=cpu+late-{fault}", "--verify", "all")
    h.check(f"{fault}: and would have been wrong", status == 6 and "PC5208" in err, f"{status} {err}")

h.write("sum.pipe.cfg", b"""pipeline : { name = "sum"; class = "strict"; inputs : { x : { type = "f32[n]"; }; };
  jobs = ( { id = "sum"; op = "ieee.reduce_strict@1"; in : { x = "$x"; }; attr : { op = "add"; }; } );
  outputs : { y = "sum.y"; }; };
""")
N = 30000
terms = h.write("terms", struct.pack(f"<{N}f", *[((i * 7919) % 1000 - 499.5) / 7 for i in range(N)]))
results = []
for device in ("mock:wrap=cpu+turns=20000", "cpu"):
    status, _, err = h.run("run", h.path("sum.pipe.cfg"), "--in", f"x={terms}", "--out", f"y={h.path('y')}", "--backend",
                           device, "--no-memo")
    h.check(f"a strict sum of {N} on {device}", status == 0, err)
    results.append(h.read("y"))
h.check_bytes("cut into more dispatches, the same bits", results[0], results[1], 4)
h.finish()
