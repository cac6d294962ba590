"""A device that no table knows and that is wrong without a word where a program is too large: it stops its loops early, loses
deep conditions, the ends of arrays, workgroup memory, tables or functions. The search finds where, what is beyond is refused by
name, flattened or cut into more dispatches, and no wrong byte comes out with status 0."""
import glob
import re
import struct

import programs
from harness import Harness, share

h = Harness()
LANES = 64
data = h.write("a.bin", struct.pack(f"<{LANES}I", *range(LANES)))


def shader(name, text, *args):
    path = h.write(f"{name}.wgsl", text.encode())
    return h.run("shader", "run", path, "--dispatch", f"{LANES // 8}", "--bind", f"0:0={data}", "--bind",
                 f"0:1=zero:{4 * LANES}", "--read", f"0:1={h.path('out')}", "--no-memo", *args)


def message(err):
    return next((line for line in err.splitlines() if "PC5218" in line), "")


def limits(text):
    """What a record allows: not how long it took to see, and not its signature."""
    return text[text.index("most :"):text.index("signature :")]


# Conditions that the fault strikes are flattened; loops inside each other are refused in their place.
REFUSED = {"nest=60": programs.loops(62)}
FAULTS = (("turns=20000", programs.turns, "turns", 19000, 25000), ("nest=60", programs.ifs, "nesting", 50, 62),
          ("array=2048", programs.array, "array", 400, 600), ("table=32768", programs.table, "tables", 6000, 8400),
          ("long=20000", programs.steps, "instructions", 2500, 3600), ("array=20480", programs.workgroup, "workgroup", 4800, 5600))
# A search takes two seconds of a processor: one device has all the faults but the last, which is of the same word as another one.
BOTH = ("+".join(f[0] for f in FAULTS[:-1]), "+".join(f"late-{f[0]}" for f in FAULTS[:-1])), (FAULTS[-1][0], f"late-{FAULTS[-1][0]}")
searched = {}
for fault, make, key, right, wrong in share(FAULTS[:-1], 3) + [FAULTS[-1]]:
    device, late = (f"mock:wrap=cpu+{words}" for words in BOTH[fault == FAULTS[-1][0]])
    before = set(glob.glob(h.path("home/profiles/*.limits.cfg")))
    status, _, err = shader("right", make(right), "--backend", device, "--verify", "all")
    h.check(f"{fault}: {right} is right", status == 0, err)
    kept = list(set(glob.glob(h.path("home/profiles/*.limits.cfg"))) - before)
    if device in searched:
        h.check(f"{fault}: nothing is searched again", "probing" not in err and not kept, f"{err} {kept}")
    else:
        h.check(f"{fault}: searched once, and kept", "probing" in err and len(kept) == 1, f"{err} {kept}")
        searched[device] = kept[0]
    if fault in REFUSED:
        status, _, err = shader("flattened", make(wrong), "--backend", device, "--verify", "all")
        h.check(f"{fault}: {wrong} is flattened, and right", status == 0, f"{status} {err}")
    refused = REFUSED.get(fault, make(wrong))
    status, _, err = shader("wrong", refused, "--backend", device)
    h.check(f"{fault}: {wrong} is refused, without another search", status == 5 and message(err) and "probing" not in err,
            f"{status} {err}")
    with open(searched[device], encoding="utf-8") as f:
        most = int(re.search(rf' {key} = "(\d+)"', f.read())[1])
    h.check(f"{fault}: for it is over the limit that was found", re.search(rf"\b{most}\b", message(err)), f"{most} {err}")
    # What the device would have given: the fault is real.
    status, _, err = shader("late", make(wrong), "--backend", late, "--verify", "all")
    h.check(f"{fault}: and would have been wrong", status == 6 and "PC5208" in err, f"{status} {err}")
# A record that allows more and is not signed for it is none.
device, path = next(iter(searched.items()))
with open(path, encoding="utf-8") as f:
    text = f.read()
with open(path, "w", encoding="utf-8") as f:
    f.write(re.sub(r'( (?:turns|instructions) = ")\d', r"\g<1>9", text))
for n, (fault, make, key, _, wrong) in enumerate(f for f in FAULTS if f[2] in ("turns", "instructions")):
    status, _, err = shader("wrong", make(wrong), "--backend", device)
    h.check(f"{fault}: a changed record is searched anew", status == 5 and message(err) and ("probing" in err) == (n == 0), f"{status} {err}")
with open(path, encoding="utf-8") as f:
    again = f.read()
h.check("and written as it was", limits(again) == limits(text), again)

# A compiler that explodes in the search takes the search's own worker with it: the job runs, what was seen before is kept, and it is
# not lost again.
h.write("home/pipectl.cfg", b'workers : { build_cpu = "1s"; };\n')
DEVICE = "mock:wrap=cpu+explode=600"
status, _, err = shader("deep", programs.ifs(30), "--backend", DEVICE, "--verify", "all")
h.check("explode: the search's loss costs no job", status == 0 and "probing" in err, f"{status} {err}")
status, _, err = shader("deep", programs.ifs(30), "--backend", DEVICE, "--verify", "all")
h.check("explode: the next run is within what was seen", status == 0 and "probing" not in err, f"{status} {err}")
status, _, err = shader("deeper", programs.loops(75), "--backend", DEVICE)
h.check("explode: what would explode is refused by name", status == 5 and message(err), f"{status} {err}")

h.write("sum.pipe.cfg", b"""pipeline : { name = "sum"; class = "strict"; inputs : { x : { type = "f32[n]"; }; };
  jobs = ( { id = "sum"; op = "ieee.reduce_strict@1"; in : { x = "$x"; }; attr : { op = "add"; }; } );
  outputs : { y = "sum.y"; }; };
""")
N = 30000
terms = h.write("terms", struct.pack(f"<{N}f", *[((i * 7919) % 1000 - 499.5) / 7 for i in range(N)]))
results = []
for device in (next(iter(searched)), "cpu"):
    status, _, err = h.run("run", h.path("sum.pipe.cfg"), "--in", f"x={terms}", "--out", f"y={h.path('y')}", "--backend",
                           device, "--no-memo")
    h.check(f"a strict sum of {N} on {device}", status == 0, err)
    results.append(h.read("y"))
h.check_bytes("cut into more dispatches, the same bits", results[0], results[1], 4)
h.finish()
