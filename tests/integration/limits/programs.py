"""Programs at, below and beyond what drivers do right: loops by turns, constructs by depth. Lane i takes its own way at
depth a[i], so that a condition that is lost shows."""
import os

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../core/compiler/analysis/extents.def")
HEAD = """@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(1) var<storage, read_write> r : array<u32>;
"""
MAIN = "@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\n"
START = MAIN + "  let i = g.x; let d = a[i]; var x = d;\n"


def loop(name, n, body):
    return f"for (var {name} = 0u; {name} < {n}u; {name}++) {{ {body} }}\n"


def turns(n):
    """One loop of n rounds."""
    return HEAD + START + loop("k", n, "x = x * 3u + k;") + "r[i] = x; }\n"


def turns_in_sequence(n):
    return HEAD + START + loop("k", n // 2, "x = x * 3u + k;") + loop("l", n - n // 2, "x = x * 5u + l;") + "r[i] = x; }\n"


def turns_nested(n):
    return HEAD + START + loop("k", 16, loop("j", n // 16, "x = x * 3u + k + j;")) + "r[i] = x; }\n"


def turns_called(n):
    return (HEAD + "fn f(y : u32) -> u32 { var x = y; " + loop("j", n // 32, "x = x * 3u + j;") + "return x; }\n"
            + START + loop("k", 16, "x = f(x) + f(x + 1u);") + "r[i] = x; }\n")


def ifs(n):
    return (HEAD + START + "".join(f"if (d != {k}u) {{ x = x * 3u + {k}u;\n" for k in range(n))
            + "".join(f"x = x * 5u + {k}u; }}\n" for k in range(n)) + "r[i] = x; }\n")


def switches(n):
    return (HEAD + START + "".join(f"switch (d) {{ case {k}u: {{ x = x * 7u + {k}u; }} default: {{ x = x * 3u + {k}u;\n"
                                   for k in range(n))
            + "".join(f"x = x * 5u + {k}u; }} }}\n" for k in range(n)) + "r[i] = x; }\n")


def loops(n):
    return (HEAD + START + "".join(f"for (var k{k} = 0u; k{k} < 1u; k{k}++) {{ if (d == {k}u) {{ break; }} x = x * 3u + {k}u;\n"
                                   for k in range(n))
            + "".join(f"x = x * 5u + {k}u; }}\n" for k in range(n)) + "r[i] = x; }\n")


def called_ifs(n):
    """n functions with one `if` each, each calling the one before."""
    functions = "fn f0(x : u32) -> u32 { return x + 1u; }\n"
    for k in range(1, n + 1):
        functions += (f"fn f{k}(x : u32) -> u32 {{ var y = x; if (x != 0u) {{ y = f{k - 1}(x - 1u) * 5u; y += 2u; }} "
                      "return y; }\n")
    return HEAD + functions + MAIN + f"  r[g.x] = f{n}(a[g.x]);\n}}\n"


def returns(n):
    """n conditional returns in sequence: what follows stands under all of them."""
    return (HEAD + "fn f(y : u32) -> u32 { var x = y;\n"
            + "".join(f"if (y == {k}u) {{ return x + {k}u; }} x = x * 3u + {k}u;\n" for k in range(n))
            + "return x; }\n" + MAIN + "  r[g.x] = f(a[g.x]);\n}\n")


def array(n):
    """An array of n elements in a function, all written and all read."""
    return (HEAD + START + f"var t : array<u32, {n}>;\n" + loop("k", n, "t[k] = d * (2u * k + 3u) + k;")
            + loop("l", n, f"x = (x * 3u) ^ t[(l + d) % {n}u];") + "r[i] = x; }\n")


def workgroup(n):
    """n elements of workgroup memory, each written by one invocation and read by another."""
    return (HEAD + f"var<workgroup> t : array<u32, {n}>;\n@compute @workgroup_size(8)\n"
            "fn main(@builtin(global_invocation_id) g : vec3<u32>, @builtin(local_invocation_index) i : u32) {\n"
            "let d = a[g.x]; var x = d;\n" + loop("k", n // 8, "t[k * 8u + i] = d * (2u * k + 3u) + k;")
            + "workgroupBarrier();\n" + loop("l", n // 8, "x = (x * 3u) ^ t[l * 8u + (i + 1u) % 8u];") + "r[g.x] = x; }\n")


def table(n):
    """A constant table of n elements, all read."""
    return (HEAD + "const t = array(" + ", ".join(f"{(k * 2654435761 + 7) % 2**32}u" for k in range(n)) + ");\n"
            + START + loop("k", n, f"x = (x * 3u) ^ t[(k + d) % {n}u];") + "r[i] = x; }\n")


def steps(n):
    """n statements in sequence, none of which a compiler can fold into the next."""
    return HEAD + START + "".join(f"x = (x * 3u + {k}u) ^ (x >> 7u);\n" for k in range(n)) + "r[i] = x; }\n"


MIXED = HEAD + "@group(0) @binding(2) var<storage, read_write> t : array<atomic<u32>, 8>;\n"


def opened(k, n, effect, leave):
    """Level k of a nest of n: an if, a switch or, a few times, a loop, with accesses outside of arrays, quotients and
    effects that a false condition hides; and what closes it, with code behind what stands inside."""
    begin = f"x = x * 3u + a[(x >> 3u) % 90u] + {k}u; let v{k} = x ^ {k}u;\n"
    end = f"x = x * 5u + v{k};\n" + (f"if (x % 97u == {k % 97}u) {{ {leave}; }}\n" if k % 9 == 4 else "")
    if k and k % (n // 3) == 0:
        return (begin + f"for (var k{k} = 0u; k{k} < 2u; k{k}++) {{ if ((x ^ k{k}) % 13u == 5u) {{ continue; }}\n",
                end + f"if (x % 31u == 3u) {{ break; }} x += k{k}; }}\n")
    if k % 4 == 1:
        return (begin + f"switch ((x ^ d) & 15u) {{ case {k % 16}u: {{ x += 77u / (x & 1u); {effect}; }}\n"
                "default: {\n", end + "} }\n")
    return (begin + f"if (d != {k}u) {{\n", end + f"}} else {{ {effect}; x += a[1000000u + x] + v{k}; }}\n")


def deep(n):
    """Of everything, written inside each other."""
    levels = [opened(k, n, f"atomicAdd(&t[(x + {k}u) & 7u], x)", "r[i] = x; return") for k in range(n)]
    return MIXED + START + "".join(b for b, _ in levels) + "".join(e for _, e in reversed(levels)) + "r[i] = x; }\n"


def deep_called(n):
    """The same through functions, one level in each."""
    functions = "var<private> p : u32;\nfn f0(x : u32, d : u32) -> u32 { return x * 9u + d; }\n"
    for k in range(1, n + 1):
        begin, end = opened(k, n, "p = p * 3u + x", "return x")
        functions += (f"fn f{k}(y : u32, d : u32) -> u32 {{ var x = y;\n" + begin + f"x = f{k - 1}(x, d) + 1u;\n" + end
                      + "return x; }\n")
    return HEAD + functions + START + f"r[i] = f{n}(x, d) ^ p; }}\n"


def doubled(n):
    """Each function calls the one before twice: 2^n copies of the first."""
    functions = "fn a(x:u32)->u32{return x*x;}\n"
    last = "a"
    for k in range(n):
        name = f"f{k}"
        functions += f"fn {name}(x:u32)->u32{{return {last}({last}(x));}}\n"
        last = name
    return ("@group(0) @binding(0) var<storage,read_write> r:array<u32>;\n" + functions
            + f"@compute @workgroup_size(1) fn main(){{r[0]={last}(r[0]);}}\n")
