"""Shaders that are more than devices do right, build in reasonable time, or hold: taken in by version 1, refused by version 2 where they
are uploaded, by the row of core/chain/registry/accept.def that they are over."""
import struct

import sizes
from attack import Outcome, attack

EXTENT = 5829


def admitted(name, tries, text):
    attack(name, tries, EXTENT)(lambda w: w.admits(text))


admitted("deep nesting", "200 ifs in each other: llvmpipe keeps the masks of 80 and is silently wrong beyond", sizes.nesting(200))
admitted("deep nesting through calls", "200 levels, two in each function", sizes.nesting_called(200))
admitted("a loop bomb", "a million turns: llvmpipe ends every loop after 65,535 without a word", sizes.turns(1 << 20))
admitted("a loop bomb through calls", "the same in 32 calls", sizes.turns_called(1 << 20))
admitted("a call bomb", "12 functions that each call the one before twice: 8,000 instructions for every byte of text",
         sizes.kernel("x = f12(x);\n", "fn f0(y : u32) -> u32 { return (y * 3u + 1u) ^ (y >> 7u); }\n"
                      + "".join(f"fn f{k}(y : u32) -> u32 {{ return f{k - 1}(f{k - 1}(y)); }}\n" for k in range(1, 13))))
admitted("a long program", "16,000 steps that no compiler can fold", sizes.largest(16000))
admitted("many calls", "4,096 calls in one function", sizes.calls(4096))
admitted("a tower of calls", "250 functions open at once", sizes.depth(250))
admitted("many private arrays", "256 KiB of private memory in small arrays, of each invocation", sizes.private(65536))
admitted("many local arrays", "128 KiB of function memory in small arrays", sizes.function_memory(32768))
admitted("an array in registers", "32 KiB in one local array, which lavapipe makes trees of comparisons of", sizes.array(8192))
admitted("arrays copied as values", "2,000 copies of an array of 32 words", sizes.values(2000))
admitted("a long expression", "10,000 values that each need the one before", sizes.expression(5000))
admitted("a large constant table", "256 KiB of constants, which Oclgrind has no room for", sizes.tables(65536))

GIANT = sizes.kernel("p[d & 1u] = d; x = p[(d + 1u) & 4194303u];\n", "var<private> p : array<u32, 4194304>;\n")


@attack("a giant private variable", "16 MiB of private memory for each of 256 invocations, paid for as nothing: no block ends any more",
        EXTENT, alone=True)
def giant(w):
    text = GIANT.replace("size(8)", "size(256)")
    answers = w.upload(text)
    if answers[0].code:
        return Outcome(w.goes_on(), answers[0].code, answers[0])
    data = w.bring(bytes(1024))
    jobs = w.all("execute", w.job(answers[0]["shader_cid"], data, output=1024))
    tries = [w.goes_on() for _ in range(3)]
    return Outcome(not jobs[0].code and all(tries), tries[0], f"{jobs[0]} {tries}")


# What a driver may do wrong without a word, by the mock's faults that are those of real ones (plugins/mock). Nothing of it shows in a
# probe, so that the node believes its device.
def split_by(name, tries, device, text):
    @attack(name, tries, EXTENT, nodes=("cpu", f"mock:wrap=cpu+{device}"))
    def run(w):
        answers = w.upload(text)
        if answers[0].code:
            return Outcome(w.goes_on() or w.is_split(), answers[0].code, answers[0])
        data = w.bring(struct.pack("<64I", *(7 * k + 3 for k in range(64))))
        jobs = w.all("execute", w.job(answers[0]["shader_cid"], data, groups=(8, 1, 1), output=256))
        w.end()
        return Outcome(not jobs[0].code and w.is_split(), 0, f"{jobs[0]} {w.nodes[1].said()[-300:]}")


split_by("a split by conditions that a driver loses", "an if below 80 others is always taken by one node's device", "late-nest=80", sizes.nesting(100))
split_by("a split by loops that a driver ends", "one node's device ends a loop after 65,535 turns", "late-turns=65535", sizes.turns(70000))
split_by("a split by an array that a driver cuts", "one node's device has 4 KiB of an array, and no more", "late-array=4096", sizes.array(2048))
split_by("a split by a table that a driver cuts", "one node's device has 64 KiB of a table, and no more", "late-table=65536", sizes.tables(32768))


# What version 1 took and dropped or left open, which another front end need not read so.
@attack("a condition that is read and dropped", "`break if` outside of `continuing`: the text says one thing and runs another", 2418)
def dropped(w):
    return w.admits(sizes.kernel("for (var k = 0u; k < 4u; k++) { x += k; break if k == 1u; }\n"))


@attack("a block that is read and dropped", "`continuing` in a `for`", 2418)
def dropped_block(w):
    return w.admits(sizes.kernel("for (var k = 0u; k < 4u; k++) { x += k; continuing { } }\n"))


@attack("an override that divides by nothing", "a division whose divisor is an override of 0", 2045)
def divides(w):
    return w.admits(sizes.kernel("x = d / n;\n", "override n = 0u;\n"))
