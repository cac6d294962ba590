"""Random loops that nothing bounds, nested, in functions, left by break, continue and return: who goes over the budget, where first, and
the bytes of who does not are the same on every device. usage: random_turns.py SEED PROGRAMS DEVICE.."""
import random
import re
import struct
import sys

from harness import Harness

seed, n_programs, devices = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
h, rng = Harness(), random.Random(seed)
LANES = 16
HEAD = "@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(0) @binding(1) var<storage, read_write> y : array<u32>;\n"
STATE = ("a", "b", "c", "s")  # what statements change


class Body:
    """Statements over the state and the variables of `for` loops that stand around them."""

    def __init__(self, returns, calls):
        self.returns, self.calls, self.n_loops = returns, calls, 0

    def expression(self, depth, names):
        kind = rng.randrange(8)
        if depth == 0 or kind < 2:
            return rng.choice([*names, f"{rng.randrange(9)}u"])
        if kind == 2:
            return f"x[({self.expression(depth - 1, names)}) & 15u]"
        op = rng.choice(("+", "-", "*", "^", "&", "|", "%", "/", ">>", "<<"))
        left, right = self.expression(depth - 1, names), self.expression(depth - 1, names)
        if op in (">>", "<<"):
            right = f"({right}) & 7u"
        elif op in ("%", "/"):
            right = f"max({right}, 1u)"
        return f"(({left}) {op} ({right}))"

    def condition(self, names):
        return f"({self.expression(2, names)}) {rng.choice(('<', '>', '!=', '==', '<=', '>='))} ({self.expression(1, names)})"

    def loop(self, depth, names):
        kind = rng.randrange(3)
        if kind == 0:
            return f"while ({self.condition(names)}) {{\n{self.block(depth - 1, names, True)}b = b + 1u;\n}}"
        if kind == 1:
            return (f"loop {{\nif ({self.condition(names)}) {{ break; }}\n{self.block(depth - 1, names, True)}"
                    f"continuing {{ c = c + 3u; break if {self.condition(names)}; }}\n}}")
        self.n_loops += 1
        i = f"i{self.n_loops}"
        return (f"for (var {i} = 0u; {i} < ({self.expression(1, names)} & 31u); {i}++) {{\n"
                f"{self.block(depth - 1, [*names, i], True)}}}")

    def statement(self, depth, names, in_loop):
        kind = rng.randrange(12)
        if depth and kind in (4, 5, 6):
            return self.loop(depth, names)
        if depth and kind == 7:
            return (f"if ({self.condition(names)}) {{\n{self.block(depth - 1, names, in_loop)}}} else {{\n"
                    f"{self.block(depth - 1, names, in_loop)}}}")
        if depth and kind == 8:
            way = "continue;" if in_loop and rng.randrange(2) else "break;"
            return (f"switch ({self.expression(1, names)} % 3u) {{\ncase 0u: {{\n{self.block(depth - 1, names, in_loop)}}}\n"
                    f"case 1u: {{ a = a + 1u; {way} }}\ndefault: {{ s = s ^ 5u; }}\n}}")
        if kind == 9 and in_loop:
            return f"if ({self.condition(names)}) {{ {rng.choice(('break;', 'continue;'))} }}"
        if kind == 10 and self.returns:
            return f"if ({self.condition(names)}) {{ return s; }}"
        if kind == 11 and self.calls:
            return f"s = s + f({rng.choice(STATE)}, {rng.choice(STATE)});"
        return f"{rng.choice(STATE)} = {self.expression(2, names)};"

    def block(self, depth, names, in_loop):
        return "".join(self.statement(depth, names, in_loop) + "\n" for _ in range(rng.randrange(1, 4)))


def program():
    inner, outer = Body(True, False).block(2, list(STATE), False), Body(False, True).block(3, list(STATE), False)
    return (f"{HEAD}fn f(p : u32, q : u32) -> u32 {{\nvar a = p; var b = q; var c = 1u; var s = 0u;\n{inner}return s + a;\n}}\n"
            "@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\n"
            f"var a = x[g.x]; var b = g.x; var c = 2u; var s = 0u;\n{outer}y[g.x] = s ^ (a * 3u) ^ (b << 7u) ^ c;\n}}\n")


def outcome(device, text, data, budget):
    """Exit status, bytes, and of what went over the budget the place that is named."""
    out = h.write("out", b"")
    status, _, err = h.run("shader", "run", h.write("p.wgsl", text.encode()), "--dispatch", str(LANES // 8), "--bind",
                           f"0:0={h.write('x', data)}", "--bind", f"0:1=zero:{4 * LANES}", "--read", f"0:1={out}", "--no-memo",
                           "--backend", device, "--max-turns", str(budget))
    place = re.search(r"p\.wgsl:(\d+:\d+): error: PC5226 .*(first invocation .*)", err)
    return (status, h.read("out"), place and place.groups()), err


seen, lied = {"right": 0, "over": 0, "refused": 0}, set()
for number in range(n_programs):
    text, budget = program(), rng.choice((5, 20, 100, 1000))
    data = struct.pack(f"<{LANES}I", *(rng.choice((rng.randrange(20), rng.getrandbits(32))) for _ in range(LANES)))
    want, err = outcome("cpu", text, data, budget)
    seen["right" if want[0] == 0 else "over"] += 1
    h.check(f"{number}: done, or over the budget at a place", want[0] == 0 or want[2] is not None, f"{text}{err}")
    for device in devices:
        got, err = outcome(device, text, data, budget)
        # A driver that ends loops early is not given more turns than it makes.
        if got[0] == 5 and "PC5218" in err:
            seen["refused"] += 1
            continue
        h.check(f"{number} with {budget} turns on {device}", got == want, f"{got} {want}\n{text}{err}")
    # One of each end is run on a device that lies: in a bit of what is right, and about the flag of what is not.
    end = "right" if want[0] == 0 else "over"
    if end not in lied:
        lied.add(end)
        lie = "binding=0.1" if end == "right" else "binding=65536.0:bit=0"
        got, err = outcome(f"mock:wrap=cpu+flip-bit@shader:{lie}", text, data, budget)
        h.check(f"a lie about what is {end} would be seen", got != want, f"{got} {want}\n{text}{err}")
h.check("a device lied about either end", lied == {"right", "over"}, str(lied))
h.check("both ends were seen, and few refusals", min(seen["right"], seen["over"]) > n_programs // 10 and
        seen["refused"] <= n_programs * len(devices) // 5, str(seen))
print(f"seed {seed}: {seen}")
h.finish()
