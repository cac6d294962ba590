"""The turn budget of loops that nothing bounds: who goes over it, where first, and that it is the same on every device; a device that
hides the flag or raises it is found out. How many turns a lane needs is counted here, in Python. usage: turns.py [DEVICE..]"""
import random
import re
import struct
import sys

from harness import Harness

h = Harness()
LANES, GROUP = 16, 4
HEAD = ("@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(0) @binding(1) var<storage, read_write> y : array<u32>;\n"
        "var<workgroup> w : array<u32, 4>;\n")
MAIN = ("@compute @workgroup_size(4)\nfn main(@builtin(global_invocation_id) g : vec3<u32>, "
        "@builtin(local_invocation_index) l : u32) {\n  var n = x[g.x]; var s = 0u;\n")


def collatz(n):
    """Turns of `while (n > 1)`, and the steps."""
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps + 1, steps


def nested(n):
    turns = s = 0
    i = n % 7
    while True:
        turns += 1
        if not i:
            return turns, s
        i -= 1
        k = i + n % 5
        while True:
            turns += 1
            if not k:
                break
            k -= 1
            s += 1


def called(n):
    """f(n) + f(n + 3), a loop that is left in three ways."""
    turns = total = 0
    for a in (n, n + 3):
        i = 0
        while True:
            turns += 1
            if a % 11 == i:
                total += i
                break
            if i % 3 == 1:
                i += 1
            i += 1
            if i > 9:
                turns += 1
                total += 100
                break
    return turns, total


STEP = "if ((n & 1u) == 0u) { n = n / 2u; } else { n = 3u * n + 1u; } s++;"
CASES = {
    "while": (HEAD + MAIN + "while (n > 1u) { " + STEP + " }\n  y[g.x] = s;\n}\n", collatz),
    "loop": (HEAD + MAIN + "loop { if (n <= 1u) { break; } " + STEP + " }\n  y[g.x] = s;\n}\n", collatz),
    "break_if": (HEAD + MAIN + "if (n > 1u) { loop { " + STEP + " continuing { let over = n <= 1u; break if over; } } } else "
                 "{ while (n > 7u) { n--; } }\n  y[g.x] = s;\n}\n", collatz),
    "nested": (HEAD + MAIN + "var i = n % 7u;\n  while (i != x[15] - x[15]) { i--; var k = i + n % 5u;\n"
               "    while (k != x[15] - x[15]) { k--; s++; } }\n  y[g.x] = s;\n}\n", nested),
    "called": (HEAD + "fn f(a : u32) -> u32 { var i = 0u;\n  loop {\n    if (a % 11u == i) { return i; }\n"
               "    switch (i % 3u) { case 1u: { i++; continue; } default: { } }\n    continuing { i++; break if i > 9u + x[15] - x[15]; }\n  }\n"
               "  return 100u; }\n" + MAIN + "y[g.x] = f(n) + f(n + 3u);\n}\n", called),
}
devices = ["cpu", *sys.argv[1:]]
random.seed(13)


def run(text, data, budget, *args):
    path = h.write("t.wgsl", f"//# max turns = {budget}\n{text}".encode())
    data = h.write("x.bin", struct.pack(f"<{LANES}I", *data))
    status, _, err = h.run("shader", "run", path, "--dispatch", str(LANES // GROUP), "--bind", f"0:0={data}", "--bind",
                           f"0:1=zero:{4 * LANES}", "--read", f"0:1={h.path('out')}", "--no-memo", *args)
    return status, err


def first(err):
    found = re.search(r"PC5226 .*first invocation (\d+), in workgroup (\d+), behind (\d+) barriers", err)
    return tuple(map(int, found.groups())) if found else None


exceeded = 0
for name, (text, model) in CASES.items():
    data = [random.randrange(1, 60) for _ in range(LANES)]
    need = [model(n)[0] for n in data]
    for budget in (max(need), max(need) - 1, sorted(need)[LANES // 2]):
        over = [i for i in range(LANES) if need[i] > budget]
        exceeded += bool(over)
        for device in devices:
            status, err = run(text, data, budget, "--backend", device)
            if over:
                h.check(f"{name} of {budget} turns on {device}: goes over", status not in (0, 70) and "PC5226" in err, f"{status} {err}")
                h.check(f"{name} of {budget} turns on {device}: where first", first(err) == (over[0], over[0] // GROUP, 0),
                        f"{over} {err}")
            else:
                h.check(f"{name} of {budget} turns on {device}: does not", status == 0, f"{status} {err}")
                want = struct.pack(f"<{LANES}I", *(model(n)[1] for n in data))
                h.check(f"{name} of {budget} turns on {device}: the right bytes", status == 0 and h.read("out") == want, name)
h.check("some went over", exceeded > len(CASES), str(exceeded))

# One count for a workgroup: all leave at the same turn, behind as many barriers as there were.
TOGETHER = (HEAD + MAIN + "w[l] = n;\n  var k = workgroupUniformLoad(&w[3]);\n  while (k > 0u) { let v = w[(l + 1u) & 3u]; "
            "workgroupBarrier(); w[l] = v; workgroupBarrier(); k--; s += v; }\n  y[g.x] = s;\n}\n")
data = [3] * 8 + [9] * 8
for device in devices:
    status, err = run(TOGETHER, data, 10, "--backend", device)
    h.check(f"barriers on {device}: within the budget", status == 0, f"{status} {err}")
    status, err = run(TOGETHER, data, 9, "--backend", device)
    h.check(f"barriers on {device}: where first", "PC5226" in err and first(err) is not None and first(err)[:2] == (8, 2)
            and first(err)[2] >= 18, f"{status} {err}")

# Who asks for a budget is heard before what the kernel declares, but not against a policy without any.
status, err = run(CASES["while"][0], [27] * LANES, 5, "--backend", "cpu", "--max-turns", "112")
h.check("--max-turns", status == 0, f"{status} {err}")
status, err = run(CASES["while"][0], [27] * LANES, 500, "--backend", "cpu", "--max-turns", "111")
h.check("--max-turns, one too few", "PC5226" in err, f"{status} {err}")
status, err = run(CASES["while"][0], [27] * LANES, 500, "--backend", "cpu", "--max-turns", "0")
h.check("--max-turns of none is no number", status == 2 and "PC0010" in err, f"{status} {err}")
status, err = run(CASES["while"][0], [27] * LANES, 500, "--backend", "cpu", "--max-turns", "500", "--policy",
                  h.write("none.cfg", b"policy : { max_turns = 0; };\n"))
h.check("--max-turns under a policy without budgets", "PC2050" in err, f"{status} {err}")

# A device that says nothing of it, and one that says so of nothing.
text, model = CASES["while"]
data = [5] * LANES
FLIP = "mock:wrap=cpu+flip-bit@shader:binding=65536.0:bit=0"
status, err = run(text, data, 3, "--backend", FLIP)
h.check("a flag that is hidden: nobody sees it without verification", status == 0, f"{status} {err}")
status, err = run(text, data, 3, "--backend", FLIP, "--verify", "all")
h.check("a flag that is hidden is found out", status == 6 and "PC5208" in err, f"{status} {err}")
h.planted("a device that hides that a turn budget was exceeded", "mock:wrap=cpu", "PC5208 verification", err)
status, err = run(text, data, 50, "--backend", FLIP)
h.check("a flag that is raised for nothing is found out", status == 6 and "PC5208" in err, f"{status} {err}")
h.planted("a device that says a turn budget was exceeded which was not", "mock:wrap=cpu", "PC5208 the reference", err)
# A device that ends loops early of its own does not get a budget above that.
for device in (d for d in devices if "llvmpipe" in d):
    status, err = run(text, data, 60000, "--backend", device)
    h.check("a budget below what the device makes", status == 0, f"{status} {err}")
    status, err = run(text, data, 70000, "--backend", device)
    h.check("one above is refused there", status == 5 and "PC5218" in err, f"{status} {err}")

# Every verb that runs kernels asks for a budget alike; what it costs is what was asked for.
h.write("made.wgsl", ("@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(4)\n"
                      "fn main(@builtin(global_invocation_id) g : vec3<u32>) {\n  var n = g.x + 3u; var s = 0u;\n"
                      "  while (n > 1u) { " + STEP + " }\n  if (g.x < arrayLength(&y)) { y[g.x] = s; }\n}\n").encode())
PIPE = h.write("made.pipe.cfg", b'pipeline : { name = "t"; class = "integer"; jobs = ( { id = "make"; shader = "made.wgsl"; dispatch = ( 4 ); '
               b'out : { y = "u32[16]"; }; } ); outputs : { y = "make.y"; }; };\n')
NEED = max(collatz(n)[0] for n in range(3, 19))
right, wrong = h.path("right.receipt"), h.path("wrong.receipt")
status, _, err = h.run("run", PIPE, "--backend", "cpu", "--no-memo", "--max-turns", str(NEED), "--receipt", right)
h.check("run --max-turns", status == 0, f"{status} {err}")
status, _, err = h.run("run", PIPE, "--backend", "cpu", "--no-memo", "--max-turns", str(NEED - 1))
h.check("run --max-turns, one too few", status == 9 and "PC5226" in err, f"{status} {err}")
MADE = h.path("made.wgsl")
for verb in ("plan", "check"):
    gas = []
    for budget in ("100", "1000"):
        status, out, err = (h.run("plan", PIPE, "--max-turns", budget) if verb == "plan" else
                            h.run("shader", "check", MADE, "--max-turns", budget))
        gas += [int(n) for n in re.findall(rb"gas (\d+)", out)[:1]]
    h.check(f"{verb}: ten times the budget is about ten times the price", len(gas) == 2 and 9 * gas[0] < gas[1] < 10 * gas[0],
            f"{gas} {out} {err}")
status, _, err = h.run("shader", "run", MADE, "--dispatch", "4", "--bind", "0:0=zero:64", "--backend", "cpu", "--no-memo", "--max-turns", str(NEED))
h.check("shader run --max-turns", status == 0, f"{status} {err}")
for device in devices[1:]:
    status, _, err = h.run("audit", PIPE, "--backends", f"cpu,{device}", "--no-quarantine", "--max-turns", str(NEED))
    h.check(f"audit --max-turns with {device}", status == 0, f"{status} {err}")
    status, _, err = h.run("audit", PIPE, "--backends", f"cpu,{device}", "--no-quarantine", "--max-turns", str(NEED - 1))
    h.check(f"audit --max-turns with {device}, one too few", status != 0 and "PC5226" in err, f"{status} {err}")
status, _, err = h.run("run", PIPE, "--backend", "mock:wrap=cpu+flip-bit@make:binding=0.0:element=3:bit=2", "--no-memo", "--max-turns", str(NEED), "--receipt", wrong)
h.check("a receipt of a lie", status == 0, f"{status} {err}")
for turns, good in ((NEED, True), (NEED - 1, False)):
    status, _, err = h.run("receipt", "replay", right, "--backend", "cpu", "--max-turns", str(turns))
    h.check(f"receipt replay --max-turns {turns}", (status == 0) if good else (status != 0 and "PC5226" in err), f"{status} {err}")
    status, out, err = h.run("receipt", "dispute", right, wrong, "--max-turns", str(turns))
    h.check(f"receipt dispute --max-turns {turns}", (b"element 3" in out or "element 3" in err) if good else (status != 0 and "PC5226" in err),
            f"{status} {out} {err}")
# Inside a repeat each round counts anew, what is carried decides how far, and one round that goes over ends the job.
h.write("grow.wgsl", b"@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(4)\n"
        b"fn main(@builtin(global_invocation_id) g : vec3<u32>) {\n  var s = 0u; let n = y[g.x];\n  while (s < n) { s += 1u; }\n"
        b"  y[g.x] = s + g.x + 1u;\n}\n")
h.write("zeros", bytes(64))
GROW = h.write("grow.pipe.cfg", b'pipeline : { name = "t"; class = "integer"; inputs : { y0 = { type = "u32[16]"; file = "zeros"; }; }; '
               b'params : { rounds = 5; };\njobs = ( { id = "grow"; shader = "grow.wgsl"; dispatch = ( 4 ); in : { y = "$y0"; }; '
               b'out : { y = "u32[16]"; }; repeat : { count = "$rounds"; carry : { y = "y"; }; }; } ); outputs : { y = "grow.y"; }; };\n')


def grown(rounds, budget):
    """The first invocation of the first round that makes more turns than the budget, None: all end."""
    for r in range(rounds):
        for i in range(16):
            if r * (i + 1) + 1 > budget:
                return i
    return None


for device in devices:
    for rounds, budget in ((5, 65), (5, 64), (6, 65), (40, 625), (40, 624), (5, 20), (3, 1)):
        status, _, err = h.run("run", GROW, "--backend", device, "--no-memo", "--set", f"rounds={rounds}", "--max-turns", str(budget), "--out",
                               f"y={h.path('grown')}")
        lane = grown(rounds, budget)
        if lane is None:
            h.check(f"{rounds} rounds of {budget} turns on {device}", status == 0 and
                    h.read("grown") == struct.pack("<16I", *(rounds * (i + 1) for i in range(16))), f"{status} {err}")
        else:
            h.check(f"{rounds} rounds of {budget} turns on {device}: where first", "PC5226" in err and first(err) == (lane, lane // 4, 0),
                    f"{lane} {status} {err}")
OP = ["op", "run", "int.not", "--in", f"x={h.write('x64', bytes(256))}:u32[64]", "--out", f"y={h.path('y64')}", "--no-memo"]
status, _, err = h.run(*OP, "--max-turns", "7")
h.check("op run --max-turns", status == 0 and h.read("y64") == b"\xff" * 256, f"{status} {err}")
h.finish()
