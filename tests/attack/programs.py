"""Shaders that are more than devices do right, build in reasonable time, or hold: taken in by version 1, refused by version 2 where they
are uploaded, by the row of core/chain/registry/accept.def that they are over."""
import struct

import sizes
from attack import Outcome, attack

EXTENT = 5829


def admitted(name, tries, text):
    attack(name, tries, EXTENT)(lambda w: w.admits(text))


admitted("deep nesting", "150 ifs in each other: llvmpipe keeps the masks of 80 and is silently wrong beyond", sizes.nesting(150))
admitted("deep nesting through calls", "96 levels, twelve in each function", sizes.nesting_called(96))
admitted("a loop bomb", "a million turns: llvmpipe ends every loop after 65,535 without a word", sizes.turns(1 << 20))
admitted("a loop bomb through calls", "the same in 32 calls", sizes.turns_called(1 << 20))
admitted("a call bomb", "12 functions that each call the one before twice: 8,000 instructions for every byte of text",
         sizes.kernel("x = f12(x);\n", "fn f0(y : u32) -> u32 { return (y * 3u + 1u) ^ (y >> 7u); }\n"
                      + "".join(f"fn f{k}(y : u32) -> u32 {{ return f{k - 1}(f{k - 1}(y)); }}\n" for k in range(1, 13))))
admitted("a long program", "16,000 steps that no compiler can fold", sizes.largest(16000))
admitted("many calls", "4,096 calls in one function", sizes.calls(4096))
admitted("many private arrays", "256 KiB of private memory in small arrays, of each invocation", sizes.private(65536))
admitted("many local arrays", "128 KiB of function memory in small arrays", sizes.function_memory(32768))
admitted("an array in registers", "32 KiB in one local array, which lavapipe makes trees of comparisons of", sizes.array(8192))
admitted("arrays copied as values", "500 copies of an array of 32 words", sizes.values(500))
admitted("a long expression", "900 operations that each need the one before", sizes.expression(900))
admitted("a large constant table", "16 KiB of constants, of which every invocation gets a copy", sizes.tables(4096))

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


@attack("loops in loops", "twelve of two turns each: every one of them doubles what the analysis looks at, and a message that is refused then pays next to nothing", 5808)
def loops(w):
    return w.admits(sizes.kernel("".join(f"for (var i{k} = 0u; i{k} < 2u; i{k}++) {{ " for k in range(12)) + "x = x * 3u + i0; " + "}" * 12))


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
