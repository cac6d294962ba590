"""Shaders of the chain that grow in one size at a time: a function of n for each row of core/chain/registry/accept.def. Lane i
takes its own way at depth a[i] where a way is to be taken, and every step shows in r[i]."""

HEAD = """@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> r : array<u32>;
"""
MAIN = "@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\nlet i = g.x; let d = a[i]; var x = d;\n"
END = "r[i] = x;\n}\n"


def kernel(body, before=""):
    return HEAD + before + MAIN + body + END


def loop(name, n, body):
    return f"for (var {name} = 0u; {name} < {n}u; {name}++) {{ {body} }}\n"


def step(k):
    return f"x = (x * 3u + {k}u) ^ (x >> 7u);\n"


def steps(n):
    return "".join(step(k) for k in range(n))


def function(name, body):
    return f"fn {name}(y : u32) -> u32 {{ var x = y;\n{body}return x; }}\n"


def instructions(n):
    """Three functions, so that none is the largest allowed."""
    return kernel("x = f(x);\nx = h(x);\n" + steps(n - 2 * (n // 3)), function("f", steps(n // 3)) + function("h", steps(n // 3)))


def largest(n):
    return kernel(steps(n))


def calls(n):
    return kernel("x = f(x);\n" * n, "fn f(y : u32) -> u32 { return y * 3u + 1u; }\n")


def depth(n):
    """n functions open at once, main among them."""
    return kernel(f"x = f{n - 2}(x);\n", "fn f0(y : u32) -> u32 { return y * 3u + 1u; }\n"
                  + "".join(f"fn f{k}(y : u32) -> u32 {{ return f{k - 1}(y ^ {k}u) * 5u; }}\n" for k in range(1, n - 1)))


def nesting(n):
    return kernel("".join(f"if (d != {k}u) {{ x = x * 3u + {k}u;\n" for k in range(n))
                  + "".join(f"x = x * 5u + {k}u; }}\n" for k in range(n)))


def nesting_called(n):
    """The same through functions of 12 levels each."""
    inner = "fn f0(x : u32) -> u32 { return x + 1u; }\n"
    for k in range(1, n // 12 + 1):
        inner += (f"fn f{k}(x : u32) -> u32 {{ var y = x;\n" + "".join(f"if (x != {j}u) {{ " for j in range(12))
                  + f"y = f{k - 1}(x - 1u) * 5u; " + "y += 2u; }" * 12 + "\nreturn y; }\n")
    return kernel(f"x = f{n // 12}(x);\n", inner)


def turns(n):
    return kernel(loop("k", n, "x = x * 3u + k;"))


def turns_called(n):
    return kernel(loop("k", 16, "x = f(x) + f(x + 1u);"), function("f", loop("j", n // 32, "x = x * 3u + j;")))


def arrays(n, what, word):
    """n words in arrays of at most 128, all written and all read in two loops, since the chain's gas multiplies what all loops
    may make."""
    sizes = [128] * (n // 128) + ([n % 128] if n % 128 else [])
    return ("".join(f"{what} {word}{k} : array<u32, {s}>;\n" for k, s in enumerate(sizes)),
            loop("k", 128, "".join(f"{word}{j}[k % {s}u] = d * (2u * k + 3u) + {j}u;\n" for j, s in enumerate(sizes)))
            + loop("k", 128, "".join(f"x = (x * 3u) ^ {word}{j}[(k + d) % {s}u];\n" for j, s in enumerate(sizes))))


def private(n):
    before, body = arrays(n, "var<private>", "p")
    return kernel(body, before)


def function_memory(n):
    before, body = arrays(n, "var", "v")
    return kernel(before + body)


def array(n):
    return kernel(f"var t : array<u32, {n}>;\n" + loop("k", n, "t[k] = d * (2u * k + 3u) + k;")
                  + loop("k", n, f"x = (x * 3u) ^ t[(k + d) % {n}u];"))


def values(n):
    """n copies of an array of 32 words between two arrays."""
    return kernel("var t : array<u32, 32>; var v : array<u32, 32>;\n" + loop("k", 32, "t[k] = d * (2u * k + 3u) + k;")
                  + "".join(("v = t; t" if k % 2 else "t = v; v") + f"[(d + {k}u) & 31u] += x; x = x * 3u + t[(x + {k}u) & 31u];\n"
                            for k in range(n)))


def expression(n):
    return kernel("x = d" + "".join(f" + {k % 97 + 1}u * d" if k % 2 else f" + {k}u" for k in range(n)) + ";\n")


def workgroup(n):
    return (HEAD + f"var<workgroup> t : array<u32, {n}>;\n"
            "@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) g : vec3<u32>, "
            "@builtin(local_invocation_index) l : u32) {\nlet i = g.x; let d = a[i]; var x = d;\n"
            + loop("k", n // 8, "t[k * 8u + l] = d * (2u * k + 3u) + k;")
            + "workgroupBarrier();\n" + loop("k", n // 8, "x = (x * 3u) ^ t[k * 8u + (l + 1u) % 8u];") + END)


def tables(n):
    return kernel(loop("k", min(n, 4096), f"x = (x * 3u) ^ t[(k * 7u + d) % {n}u];"),
                  "const t = array(" + ", ".join(f"{(k * 2654435761 + 7) % 2**32}u" for k in range(n)) + ");\n")


# By the row's name in lower case: the function, and an n that is too large for any row.
ROWS = {"instructions": (instructions, 4096), "largest": (largest, 2048), "calls": (calls, 4096), "depth": (depth, 100),
        "nesting": (nesting, 190), "turns": (turns, 1 << 20), "private": (private, 16384), "function_memory": (function_memory, 16384),
        "array": (array, 8192), "values": (values, 4096), "expression": (expression, 950), "workgroup": (workgroup, 8192)}
