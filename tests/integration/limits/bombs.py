"""Some hundred bytes of text that unfold to more than a driver's compiler finishes: refused in milliseconds, with what was
found, what is allowed and where, before any driver sees them. Each key of the policy's `limits.program` refuses once."""
import re
import time

import programs
import shapes
from harness import Harness, patient

h = Harness()
DEVICE = "vulkan:llvmpipe"  # of which a compiler has little to do
FRAME = "@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n"
MAIN = "@compute @workgroup_size(1)\nfn main() {\n"


def run(name, text, *args):
    path = h.write(f"{name}.wgsl", text.encode())
    begun = time.monotonic()
    status, _, err = h.run("shader", "run", path, "--dispatch", "1", "--bind", "0:0=zero:1024", "--no-memo", "--backend", DEVICE, *args)
    return status, err, time.monotonic() - begun


def refused(name, text, key, *args):
    status, err, seconds = run(name, text, *args)
    h.check(f"{name}: refused at once", status == 5 and "PC4318" in err and seconds < patient(5), f"{status} {seconds:.2f} s {err}")
    h.check(f"{name}: by {key}, with numbers", re.search(rf"needs (at least )?\d+ \w+, the policy allows \d+ "
                                                        rf"\(limits.program.{key}, ", err), err)
    h.check(f"{name}: with a place", re.search(rf"{name}.wgsl:\d+:\d+: ", err), err)


BOMBS = {
    "doubled": (programs.doubled(20), "instructions"),
    "doubled_often": (programs.doubled(200), "instructions"),
    "long_array": (FRAME + MAIN + "var p : array<u32, 8192>; p[r[0] % 8192u] = 1u; r[1] = p[r[2] % 8192u];\n}\n", "array"),
    # Structs alone: PoCL's compiler took 1.8 GB and more than 20 seconds of processor time for these 625 bytes.
    "structs": (shapes.nested_structs(14), "array"),
    "values": (FRAME + "alias A = array<array<u32, 128>, 16>;\n" + MAIN + "var a = A(); "
               + "var b = a; " + "a = b; b = a; " * 18 + "r[0] = b[r[1] & 15u][r[2] & 127u];\n}\n", "values"),
}
for name, (text, key) in BOMBS.items():
    refused(name, text, key)
h.check("297 bytes are enough", len(programs.doubled(3)) < 400 and len(programs.doubled(20)) < 1300,
        f"{len(programs.doubled(3))} {len(programs.doubled(20))}")

# Each key, with a limit one below what a small program needs, and the same program at the limit.
SMALL = (FRAME + "var<private> p : array<u32, 4>;\nvar<workgroup> w : array<u32, 4>;\n"
         "const t = array<u32, 3>(7u, 8u, 9u);\n"
         "fn f(x : u32) -> u32 { var a : array<u32, 8>; a[x & 7u] = x; return a[(x + 1u) & 7u]; }\n" + MAIN
         + "for (var i = 0u; i < 3u; i++) { if (r[i] != 9u) { p[i] = f(r[i]) + f(i) + t[r[i] % 3u]; } }\n"
         "w[0] = p[r[5] & 3u]; workgroupBarrier(); r[6] = w[0];\nvar c = array<u32, 8>(); r[7] = c[r[7] & 7u];\n}\n")
KEYS = re.findall(r"^PCTL_EXTENT\(\w+, (\w+),", open(programs.TABLE).read(), re.M)
h.check("the table of keys was read", len(KEYS) >= 10, str(KEYS))
for key in KEYS:
    policy = h.write("one.cfg", f"policy : {{ limits : {{ program : {{ {key} = 1; }}; }}; }};\n".encode())
    _, err, _ = run("small", SMALL, "--policy", policy)
    found = re.search(r"needs (\d+) \w+, the policy allows 1 ", err)
    if not h.check(f"{key} = 1 refuses", found and "PC4318" in err, err):
        continue
    need = int(found.group(1))
    policy = h.write("at.cfg", f"policy : {{ limits : {{ program : {{ {key} = {need}; }}; }}; }};\n".encode())
    status, err, _ = run("small", SMALL, "--policy", policy)
    h.check(f"{key} = {need} allows", status == 0, err)
h.finish()
