#!/usr/bin/env python3
"""Turns form files (core/compiler/legalize/softfloat/*.wgsl, native mode) into one C file, so that what is run over every
input is the text that ships. Covers what forms use, no more: what it does not know, the C compiler refuses.
usage: forms2c.py [-o OUT] [FUNCTION...] [FROM=TO...] FILE.wgsl... (all, or f32_, f16_, bf16_FUNCTION and what they call; calls of FROM
become calls of TO, as the aliases of softfloat.def have it), then gcc -std=gnu11 -O2 -ffp-contract=off"""

import re
import sys

PRELUDE = """/* made by forms2c.py; compile with -std=gnu11 -ffp-contract=off, for a machine without x87 excess precision */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
typedef uint32_t u32;
typedef int32_t i32;
typedef float f32;
typedef double f64;
#define VECTOR(T, N) typedef T vec##N##_##T __attribute__((vector_size(N * sizeof(T))))
VECTOR(u32, 2);
VECTOR(u32, 4);
VECTOR(i32, 2);
VECTOR(f64, 2);
#define wgsl_select(no, yes, when) ((when) ? (yes) : (no))
#define wgsl_bitcast(T, e)                                       \\
	({                                                       \\
		__auto_type from_ = (e);                         \\
		T to_;                                           \\
		_Static_assert(sizeof(from_) == sizeof(to_), ""); \\
		memcpy(&to_, &from_, sizeof(to_));               \\
		to_;                                             \\
	})
static inline u32 wgsl_clz(u32 x) { return x ? (u32)__builtin_clz(x) : 32u; }
static inline u32 wgsl_ctz(u32 x) { return x ? (u32)__builtin_ctz(x) : 32u; }
static inline u32 wgsl_mulhigh(u32 a, u32 b) { return (u32)(((uint64_t)a * b) >> 32); }
#define wgsl_sqrt(a) _Generic((a), f32: sqrtf, default: sqrt)(a)
#define wgsl_min(a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); a_ < b_ ? a_ : b_; })
#define wgsl_max(a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); a_ > b_ ? a_ : b_; })
#define wgsl_clamp(v, a, b) wgsl_min(wgsl_max(v, a), b)
#define wgsl_abs(a) ({ __auto_type a_ = (a); a_ < 0 ? -a_ : a_; })
"""

BUILTINS = {
    "select": "wgsl_select", "countLeadingZeros": "wgsl_clz", "countTrailingZeros": "wgsl_ctz", "sqrt": "wgsl_sqrt",
    "mulHigh": "wgsl_mulhigh", "min": "wgsl_min", "max": "wgsl_max", "abs": "wgsl_abs",
    "clamp": "wgsl_clamp", "fma": "fma",
}
IDENT = r"[A-Za-z_]\w*"
TYPE = r"(?:vec[24]<\w+>|\w+)"


def c_type(t):
    return re.sub(r"vec([24])<(\w+)>", r"vec\1_\2", t.strip())


def matching(text, i):
    """The position after the bracket that closes the one at i."""
    depth = 0
    for j in range(i, len(text)):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[j], 0)
        if depth == 0:
            return j + 1
    raise SystemExit("unbalanced brackets")


def calls(text, pattern, make):
    """Replaces each `pattern(...)` by make(match, inner text)."""
    out, at = "", 0
    for m in iter(lambda: re.compile(pattern + r"\(").search(text, at), None):
        end = matching(text, m.end() - 1)
        out += text[at:m.start()] + make(m, calls(text[m.end():end - 1], pattern, make))
        at = end
    return out + text[at:]


def arguments(text):
    """How many arguments stand in the text between brackets."""
    depth = [sum({"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(c, 0) for c in text[:i])
             for i, c in enumerate(text) if c == ","]
    return 1 + depth.count(0)


def vector(m, inner):
    if m[1] == "vec4" and arguments(inner) == 2:
        return f"__builtin_shufflevector({inner}, 0, 1, 2, 3)"
    return f"(({m[1]}_{m[2]}){{{inner}}})"


def swizzles(text):
    """`e.zw` of an identifier or a call becomes a shuffle."""
    for m in iter(lambda: re.search(r"(?<=[\w)])\.([xyzw]{2})\b", text), None):
        start, depth = m.start(), 0
        while start and (depth or re.match(r"[\w)]", text[start - 1])):
            start -= 1
            depth += {")": 1, "(": -1}.get(text[start], 0)
        parts = ", ".join(str("xyzw".index(c)) for c in m[1])
        e = text[start:m.start()]
        text = f"{text[:start]}__builtin_shufflevector({e}, {e}, {parts}){text[m.end():]}"
    return text


def body(text):
    text = re.sub(r"(0x[0-9a-fA-F.]+p[+-]?\d+|\d+\.\d*(?:e[+-]?\d+)?|\d+)lf\b", r"\1", text)
    text = calls(text, r"bitcast<(" + TYPE + ")>", lambda m, a: f"wgsl_bitcast({c_type(m[1])}, {a})")
    text = calls(text, r"\b(vec[24])<(\w+)>", vector)
    text = calls(text, r"\b([ui]32|f32|f64)", lambda m, a: f"(({m[1]})({a}))")
    text = re.sub(r"\b(" + "|".join(BUILTINS) + r")\(", lambda m: BUILTINS[m[1]] + "(", text)
    text = swizzles(text)
    text = re.sub(r"(?<=[\w)\]])\.([xyzw])\b", lambda m: f"[{'xyzw'.index(m[1])}]", text)
    text = re.sub(rf"\b(?:let|var)\s+({IDENT})\s*:\s*({TYPE})\s*(?==|;)", lambda m: f"{c_type(m[2])} {m[1]} ", text)
    return re.sub(rf"\b(?:let|var)\s+({IDENT})\s*=", r"__auto_type \1 =", text)


def constants(text):
    for m in re.finditer(rf"\bconst\s+({IDENT})\s*(?::\s*{TYPE}\s*)?=\s*([^;]*);", text):
        a = re.fullmatch(r"array<(\w+),\s*(\d+)>\((.*)\)", m[2].strip(), re.S)
        if a:
            yield f"static const {a[1]} {m[1]}[{a[2]}] = {{{body(a[3])}}};"
        else:
            yield f"#define {m[1]} ({body(m[2])})"


def functions(text):
    for m in re.finditer(rf"((?:@[\w()\s]+)?)\bfn\s+({IDENT})\s*\(([^)]*)\)\s*(?:->\s*({TYPE})\s*)?{{", text):
        if "@" in m[1]:
            continue
        params = ", ".join(f"{c_type(t)} {n}" for n, t in re.findall(rf"({IDENT})\s*:\s*({TYPE})", m[3]))
        head = f"static {c_type(m[4] or 'void')} {m[2]}({params or 'void'})"
        yield head, body(text[m.end() - 1:matching(text, m.end() - 1)])


def reached(made, roots):
    """The functions that those named `roots` need, in their old order."""
    text = {re.search(rf"({IDENT})\(", head)[1]: (head, inner) for head, inner in made}
    todo, seen = list(roots), set()
    while todo:
        name = todo.pop()
        if name in text and name not in seen:
            seen.add(name)
            todo += re.findall(rf"\b({IDENT})\(", text[name][1])
    return [text[n] for n in text if n in seen]


def main(args):
    if args[:1] == ["-o"]:
        sys.stdout = open(args[1], "w", encoding="utf-8")
        args = args[2:]
    paths = [a for a in args if a.endswith(".wgsl")]
    aliases = dict(a.split("=") for a in args if "=" in a)
    roots = [f"{t}_{a}" for a in args if not a.endswith(".wgsl") and "=" not in a for t in ("f32", "f16", "bf16")]
    text = "\n".join(re.sub(r"//[^\n]*", "", open(p, encoding="utf-8").read()) for p in paths)
    made = [(head, re.sub(rf"\b({IDENT})\(", lambda m: aliases.get(m[1], m[1]) + "(", inner)) for head, inner in functions(text)]
    if roots:
        made = reached(made, roots)
    print(PRELUDE)
    print("\n".join(constants(re.sub(r"\bfn\b.*?{(.|\n)*?\n}", "", text))))
    print("\n".join(f"__attribute__((unused)) {head};" for head, _ in made))
    print("\n".join(f"{head}\n{inner}\n" for head, inner in made))


main(sys.argv[1:])
