"""--subgroup N: a kernel of others that enables subgroups and declares no size, by every verb that runs kernels."""
import json
import struct

from harness import Harness

h = Harness()
BODY = ("enable subgroups;\n@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(16)\n"
        "fn main(@builtin(local_invocation_index) l : u32) { y[l] = subgroupAdd(l) * 100u + subgroup_size_of(); }\n"
        "fn subgroup_size_of() -> u32 { return countOneBits(subgroupBallot(true).x); }\n").encode()
TEXT = h.write("sums.wgsl", BODY)
PIPE = h.write("sums.pipe.cfg", b'pipeline : { name = "t"; class = "integer"; jobs = ( { id = "make"; shader = "sums.wgsl"; dispatch = ( 1 ); '
               b'out : { y = "u32[16]"; }; } ); outputs : { y = "make.y"; }; };\n')
RUN = ["shader", "run", TEXT, "--dispatch", "1", "--bind", "0:0=zero:64", "--read", f"0:0={h.path('y')}", "--backend", "cpu", "--no-memo"]


def sums(size):
    return struct.pack("<16I", *(100 * sum(range(i // size * size, i // size * size + size)) + size for i in range(16)))


status, _, err = h.run(*RUN)
h.check("without a size it is refused", status != 0 and "PC2222" in err and "--subgroup" in err, f"{status} {err}")
for size in (4, 8, 16):
    status, _, err = h.run(*RUN, "--subgroup", str(size))
    h.check(f"shader run --subgroup {size}", status == 0 and h.read("y") == sums(size), f"{status} {err} {h.read('y')}")
for wrong in ("0", "3", "256", "eight", "-8"):
    status, _, err = h.run(*RUN, "--subgroup", wrong)
    h.check(f"--subgroup {wrong} is none", status == 2 and "PC0010" in err, f"{status} {err}")
# What the text declares stays what it means, and what is asked for is the same program as if it were declared.
declared = h.write("declared.wgsl", b"//# subgroup = 4\n" + BODY)
programs = []
for path, size in ((TEXT, "4"), (declared, "4"), (declared, "16"), (TEXT, "16")):
    status, out, err = h.run("--json", "shader", "check", path, "--subgroup", size)
    programs += [json.loads(out)["shaders"][0]["program"] if status == 0 else f"{status} {err}"]
h.check("one program, however its size is said", programs[0] == programs[1] == programs[2] != programs[3], str(programs))
right, other = h.path("right.receipt"), h.path("other.receipt")
status, _, err = h.run("run", PIPE, "--backend", "cpu", "--no-memo", "--subgroup", "8", "--receipt", right)
h.check("run --subgroup", status == 0, f"{status} {err}")
status, _, err = h.run("run", PIPE, "--backend", "cpu", "--no-memo")
h.check("run without it", status != 0 and "PC2222" in err, f"{status} {err}")
status, _, err = h.run("plan", PIPE, "--subgroup", "8")
h.check("plan --subgroup", status == 0, f"{status} {err}")
status, _, err = h.run("audit", PIPE, "--backends", "cpu,mock:wrap=cpu", "--no-quarantine", "--subgroup", "8")
h.check("audit --subgroup", status == 0, f"{status} {err}")
status, _, err = h.run("receipt", "replay", right, "--backend", "cpu", "--subgroup", "8")
h.check("receipt replay --subgroup", status == 0, f"{status} {err}")
status, _, err = h.run("receipt", "replay", right, "--backend", "cpu", "--subgroup", "4")
h.check("a replay with subgroups of another size differs", status not in (0, 70), f"{status} {err}")
status, _, err = h.run("run", PIPE, "--backend", "mock:wrap=cpu+flip-bit@make:binding=0.0:element=3:bit=2", "--no-memo", "--subgroup", "8",
                       "--receipt", other)
h.check("a receipt of a lie", status == 0, f"{status} {err}")
status, out, err = h.run("receipt", "dispute", right, other, "--subgroup", "8")
h.check("receipt dispute --subgroup", b"element 3" in out or "element 3" in err, f"{status} {out} {err}")
OP = ["op", "run", "int.not", "--in", f"x={h.write('x64', bytes(256))}:u32[64]", "--out", f"y={h.path('y64')}", "--no-memo"]
status, _, err = h.run(*OP, "--subgroup", "8")
h.check("op run --subgroup", status == 0 and h.read("y64") == b"\xff" * 256, f"{status} {err}")
h.finish()
