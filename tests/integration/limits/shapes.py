"""Shapes of text that grow where a compiler looks: each is a function of n whose text stays small and whose work, somewhere
between the first byte read and the driver's last pass, may not. One binding r, one entry point main unless the shape is of
those. SHAPES: name, function, first n."""
RW = "@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n"
MAIN = "@compute @workgroup_size(1)\nfn main() {\n"


def main(body, before=""):
    return RW + before + MAIN + body + "}\n"


def lines(n, make):
    return "".join(make(k) + "\n" for k in range(n))


def chained(n, first, make, last):
    """n functions, each made of the one before."""
    return first + lines(n, make) + last


# ---- what unfolds ---------------------------------------------------------------------------------

def calls(n):
    return main(f"r[0] = f{n}(r[0]);\n", "fn f0(x : u32) -> u32 { return x * x; }\n"
                + lines(n, lambda k: f"fn f{k + 1}(x : u32) -> u32 {{ return f{k}(f{k}(x)); }}"))


def calls_looped(n):
    return main(f"r[0] = f{n}(r[0]);\n", "fn f0(x : u32) -> u32 { return x * x + 1u; }\n"
                + lines(n, lambda k: f"fn f{k + 1}(y : u32) -> u32 {{ var x = y; for (var i = 0u; i < 8u; i++) "
                                     f"{{ x = f{k}(x) + i; }} return x; }}"))


def calls_of_arrays(n):
    """The doubled function takes and gives whole arrays."""
    return main(f"var a : A; a[r[0] & 255u] = 1u; r[1] = f{n}(a)[r[2] & 255u];\n", "alias A = array<u32, 256>;\n"
                "fn f0(x : A) -> A { var y = x; y[x[0] & 255u] += 1u; return y; }\n"
                + lines(n, lambda k: f"fn f{k + 1}(x : A) -> A {{ return f{k}(f{k}(x)); }}"))


def nested_arrays(n):
    """array<array<..>> of n levels, two of each, as a value that is copied."""
    return main("var a = T(); var b = a; a = b; r[0] = b" + "[r[1] & 1u]" * n + ";\n", "alias T = " + "array<" * n + "u32"
                + ", 2>" * n + ";\n")


def wide_arrays(n):
    """14 levels of n."""
    return main("var a = T(); var b = a; a = b; r[0] = b" + "[r[1]]" * 14 + ";\n", "alias T = " + "array<" * 14 + "u32"
                + f", {n}>" * 14 + ";\n")


def nested_structs(n):
    return main(f"var a = S{n}(); var b = a; r[0] = b" + ".a" * n + "[r[1] & 1u];\n",
                "alias S0 = array<u32, 2>;\n" + lines(n, lambda k: f"struct S{k + 1} {{ a : S{k}, b : S{k} }}"))


def const_doubled(n):
    """A constant of 2^n scalars, written as its halves."""
    levels = "".join("alias T%d = array<%s, 2>;\nconst c%d = T%d(%s);\n"
                     % (k, f"T{k - 1}" if k else "u32", k, k, f"c{k - 1}, c{k - 1}" if k else "1u, 2u")
                     for k in range(min(n, 14)))
    return main(f"r[0] = c{min(n, 14) - 1}" + "[r[1] & 1u]" * min(n, 14) + ";\n", levels)


def const_array(n):
    return main("r[0] = c[r[1] & 1u];\n", f"const c = array<u32, {n}>();\n")


def const_zero_values(n):
    """n constants of 64 KiB each."""
    return main("r[0] = " + " + ".join(f"c{k}[r[1] & 1u]" for k in range(n)) + ";\n",
                lines(n, lambda k: f"const c{k} = array<u32, 16384>();"))


def const_struct_copies(n):
    return main("r[0] = c%d.a[r[1] & 1u];\n" % n, "struct S { a : array<u32, 16384> }\nconst c0 = S();\n"
                + lines(n, lambda k: f"const c{k + 1} = c{k};"))


def const_chain(n):
    return main(f"r[0] = c{n};\n", "const c0 = 1u;\n" + lines(n, lambda k: f"const c{k + 1} = (c{k} ^ (c{k} >> 1u)) & 255u;"))


def const_array_steps(n):
    """Constant expressions, each over an array of 16384."""
    return main(f"r[0] = c{n}[0];\n", "const c0 = array<u32, 16384>();\n"
                + lines(n, lambda k: f"const c{k + 1} = array<array<u32, 16384>, 2>(c{k}, c{k})[1];"))


def const_floats(n):
    return main(f"r[0] = bitcast<u32>(c{n});\n", "const c0 = 0.5f;\n"
                + lines(n, lambda k: f"const c{k + 1} = fract(sin(c{k}) * cos(c{k}) + exp(c{k}));"))


def const_pow(n):
    return main("r[0] = bitcast<u32>(" + " + ".join(f"pow({k}.25, 1.5)" for k in range(n)) + ");\n")


def const_assert(n):
    return main("r[0] = 1u;\n", lines(n, lambda k: f"const_assert {k}u * {k}u == {k * k}u;"))


# ---- memory ---------------------------------------------------------------------------------------

def private_array(n):
    return main(f"p[r[0] % {n}u] = 1u; r[1] = p[r[2] % {n}u];\n", f"var<private> p : array<u32, {n}>;\n")


def private_value(n):
    return main(f"p[r[0] % {n}u] = 1u; var q = p; q[r[2] % {n}u] = 3u; p = q; r[1] = p[r[2] % {n}u];\n",
                f"var<private> p : array<u32, {n}>;\n")


def private_initial(n):
    return main(f"p[r[0] % {n}u] = 1u; r[1] = p[r[2] % {n}u];\n",
                f"var<private> p : array<u32, {n}> = array<u32, {n}>({', '.join(str(k) + 'u' for k in range(n))});\n")


def local_array(n):
    return main(f"var p : array<u32, {n}>; p[r[0] % {n}u] = 1u; r[1] = p[r[2] % {n}u];\n")


def local_value(n):
    return main(f"var p = array<u32, {n}>(); p[r[0] % {n}u] = 1u; let q = p; r[1] = q[r[2] % {n}u];\n")


def local_vectors(n):
    return main(f"var p : array<vec4<u32>, {n}>; p[r[0] % {n}u] = vec4(r[1]); let q = p; r[1] = q[r[2] % {n}u][r[3] & 3u];\n")


def locals_many(n):
    return main(lines(n, lambda k: f"var a{k} : array<u32, 16>; a{k}[r[{k}] & 15u] = r[{k}];")
                + lines(n, lambda k: f"r[{k}] = a{k}[r[{k}] & 7u];"))


def locals_copied(n):
    return main("var a : array<u32, 64>; a[r[0] & 63u] = 1u;\n" + lines(n, lambda k: f"let b{k} = a; a[b{k}[r[{k}] & 63u] & 63u] = 1u;")
                + "r[0] = a[r[1] & 63u];\n")


def copies_in_loop(n):
    return main(f"var a : array<u32, {n}>; var b = a;\nfor (var i = 0u; i < 100u; i++) {{ a[i % {n}u] = r[i]; b = a; a = b; }}\n"
                f"r[0] = b[r[1] % {n}u];\n")


def compares_in_loop(n):
    return main(f"var a : array<u32, {n}>; var b = a; var x = 0u;\nfor (var i = 0u; i < 100u; i++) {{ a[r[i] % {n}u] = i; b = a;\n"
                + "".join(f"if (a[{k % n}] == b[{(k + 1) % n}]) {{ x += {k}u; }}\n" for k in range(32)) + "}\nr[0] = x;\n")


def struct_values(n):
    return main(f"var a : S; a.m[r[0] % {n}u].x = 1u; var b = a; b.m[r[1] % {n}u].y[r[2] & 7u] = 2u; a = b;\n"
                f"r[0] = a.m[r[1] % {n}u].x;\n",
                f"struct E {{ x : u32, y : array<u32, 8> }}\nstruct S {{ m : array<E, {n}> }}\n")


def matrices(n):
    return main(f"var m : array<mat4x4<f32>, {n}>; m[r[0] % {n}u] = mat4x4<f32>(m[1][0], m[1][1], m[0][2], m[0][3]) * f32(r[1]);\n"
                f"let q = m; r[0] = u32(q[r[2] % {n}u][r[3] & 3u][r[4] & 3u]);\n")


def matrix_products(n):
    return main("var m = mat4x4<f32>(); m[0][0] = f32(r[0]);\n" + "m = m * m;\n" * n + "r[0] = bitcast<u32>(m[0][0]);\n")


def workgroup_array(n):
    return main(f"w[r[0] % {n}u] = 1u; workgroupBarrier(); r[1] = w[r[2] % {n}u];\n", f"var<workgroup> w : array<u32, {n}>;\n")


def workgroup_override(n):
    return main("w[r[0] % N] = 1u; workgroupBarrier(); r[1] = w[r[2] % N];\n",
                f"override N : u32 = {n}u;\nvar<workgroup> w : array<u32, N>;\n")


def workgroup_override_squared(n):
    return main("w[r[0] % N][0] = 1u; workgroupBarrier(); r[1] = w[r[2] % N][1];\n",
                f"override N : u32 = {n}u * {n}u;\nvar<workgroup> w : array<array<u32, {n}>, N>;\n")


def table(n):
    return main(f"r[0] = t[r[1] % {n}u];\n", f"const t = array<u32, {n}>({', '.join(str(k * 77) + 'u' for k in range(n))});\n")


def tables_many(n):
    return main(lines(n, lambda k: f"r[{k}] = array<u32, 16>({', '.join(str(k + j) + 'u' for j in range(16))})[r[{k}] & 15u];"))


def tables_called(n):
    return main(f"r[0] = f{n}(r[0]);\n", "const t = array<u32, 64>(" + ", ".join(f"{k * 3}u" for k in range(64)) + ");\n"
                "fn f0(x : u32) -> u32 { return t[x & 63u]; }\n"
                + lines(n, lambda k: f"fn f{k + 1}(x : u32) -> u32 {{ return f{k}(f{k}(x)); }}"))


# ---- control --------------------------------------------------------------------------------------

def switch_cases(n):
    return main("var x = 0u;\nswitch (r[0]) {\n" + lines(n, lambda k: f"case {k}u: {{ x = {k * 7 + 1}u; }}") + "default: {}\n}\nr[1] = x;\n")


def switch_selectors(n):
    return main("var x = 0u;\nswitch (r[0]) {\ncase " + ", ".join(f"{k}u" for k in range(n)) + ": { x = 7u; }\ndefault: {}\n}\nr[1] = x;\n")


def straight(n):
    return main("var x = r[0]; let d = r[1];\n" + "x = x * 3u + d;\n" * n + "r[0] = x;\n")


def straight_memory(n):
    return main(lines(n, lambda k: f"r[{k}] = r[{k} + 1] * 3u + r[r[{k}] & 15u];"))


def ifs_in_sequence(n):
    return main("var x = r[0];\n" + lines(n, lambda k: f"if (x == {k}u) {{ x = x * 3u + r[{k}]; }} else {{ x += r[x & 7u]; }}") + "r[0] = x;\n")


def ifs_nested(n):
    return main("var x = r[0];\n" + lines(n, lambda k: f"if (x != {k}u) {{ x = x * 3u;") + "}" * n + "\nr[0] = x;\n")


def else_ifs(n):
    return main("var x = r[0];\n" + " else ".join(f"if (x == {k}u) {{ x = {k * 3}u; }}" for k in range(n)) + "\nr[0] = x;\n")


def loops_constant(n):
    return main("var x = r[0];\n" + f"for (var i = 0u; i < {n}u; i++) {{ x = x * 3u + i; }}\n" + "r[0] = x;\n")


def loops_in_sequence(n):
    return main("var x = r[0];\n" + lines(n, lambda k: "for (var i = 0u; i < 16u; i++) { x = x * 3u + i; }") + "r[0] = x;\n")


def loops_nested(n):
    return main("var x = r[0];\n" + lines(n, lambda k: f"for (var i{k} = 0u; i{k} < 2u; i{k}++) {{ x = x * 3u + i{k};") + "}" * n + "\nr[0] = x;\n")


def loops_over_array(n):
    """Constant bounds over a local array: what drivers unroll."""
    return main(f"var a : array<u32, {n}>;\nfor (var i = 0u; i < {n}u; i++) {{ a[i] = r[i]; }}\n"
                f"for (var i = 0u; i < {n}u; i++) {{ for (var j = 0u; j < {n}u; j++) {{ a[i] += a[j] * 3u; }} }}\nr[0] = a[r[1] % {n}u];\n")


def returns(n):
    return main("r[0] = f(r[0]);\n", "fn f(y : u32) -> u32 { var x = y;\n"
                + lines(n, lambda k: f"if (x == {k}u) {{ return x + {k}u; }} x = x * 3u + {k}u;") + "return x; }\n")


def short_circuits(n):
    return main("var x = 0u;\nif (" + " && ".join(f"r[{k}] != {k}u" for k in range(n)) + ") { x = 1u; }\nr[0] = x;\n")


def short_circuits_mixed(n):
    return main("var x = 0u;\nif (" + " || ".join(f"(r[{2 * k}] != {k}u && r[{2 * k + 1}] < 9u)" for k in range(n))
                + ") { x = 1u; }\nr[0] = x;\n")


def blocks(n):
    return main("{" * n + "r[0] = 1u;" + "}" * n + "\n")


# ---- expressions and text -------------------------------------------------------------------------

def sum_long(n):
    return main("r[0] = " + " + ".join(f"r[{k}]" for k in range(n)) + ";\n")


def expression_squared(n):
    """let chain that doubles when written as a tree."""
    return main("let x0 = r[0];\n" + lines(n, lambda k: f"let x{k + 1} = x{k} * x{k} + x{k};") + f"r[0] = x{n};\n")


def parentheses(n):
    return main("r[0] = " + "(" * n + "r[1]" + ")" * n + ";\n")


def minuses(n):
    return main("r[0] = u32(" + "- " * n + "i32(r[1]));\n")


def indices(n):
    return main("r[0] = " + "r[" * n + "0u" + "]" * n + ";\n")


def selects(n):
    return main("r[0] = " + "select(r[1], " * n + "0u" + ", r[2] == 1u)" * n + ";\n")


def swizzles(n):
    return main("r[0] = vec4(r[0])" + ".wzyx" * n + ".x;\n")


def type_nesting(n):
    return main("r[0] = 1u;\n", "alias T = " + "array<" * n + "u32" + ", 1>" * n + ";\n")


def templates(n):
    return main("r[0] = " + "vec2<u32>(" * n + "1u" + ")" * n + ".x;\n")


def comments_nested(n):
    return "/*" * n + "*/" * n + main("r[0] = 1u;\n")


def comments_open(n):
    return "/*" * n + main("r[0] = 1u;\n")


def attributes(n):
    return main("r[0] = 1u;\n", "@must_use " * n + "fn f() -> u32 { return 1u; }\n")


def diagnostics(n):
    return "".join(f"diagnostic(off, a{k}.b);\n" for k in range(n)) + main("r[0] = 1u;\n")


def identifiers_long(n):
    return main("let " + "a" * n + " = 1u; r[0] = " + "a" * n + ";\n")


def identifiers_many(n):
    return main("r[0] = 1u;\n", lines(n, lambda k: f"const v{k} = {k};"))


def unknown_names(n):
    """n errors, each with a search for what was meant."""
    return main(lines(n, lambda k: f"r[0] = vak{k};"), lines(n, lambda k: f"const val{k} = {k};"))


def shadowed(n):
    return main("let x = r[0];\n" + "{ let x = x + 1u;\n" * n + "r[0] = x;\n" + "}" * n)


def aliases(n):
    return main("var a : T%d; r[0] = a;\n" % n, "alias T0 = u32;\n" + lines(n, lambda k: f"alias T{k + 1} = T{k};"))


def aliases_backward(n):
    return main("var a : T%d; r[0] = a;\n" % n, lines(n, lambda k: f"alias T{n - k} = T{n - k - 1};") + "alias T0 = u32;\n")


def functions_backward(n):
    return main(f"r[0] = f{n}(r[0]);\n", lines(n, lambda k: f"fn f{n - k}(x : u32) -> u32 {{ return f{n - k - 1}(x) + 1u; }}")
                + "fn f0(x : u32) -> u32 { return x; }\n")


def functions_unused(n):
    return main("r[0] = 1u;\n", lines(n, lambda k: f"fn f{k}(x : u32) -> u32 {{ return x * {k}u; }}"))


def parameters(n):
    return main("r[0] = f(" + ", ".join(f"r[{k}]" for k in range(n)) + ");\n",
                "fn f(" + ", ".join(f"a{k} : u32" for k in range(n)) + ") -> u32 { return a0; }\n")


def members(n):
    return main("var s : S; s.m0 = r[0]; let t = s; r[0] = t.m0;\n",
                "struct S { " + ", ".join(f"m{k} : u32" for k in range(n)) + " }\n")


def entries(n):
    return RW + lines(n, lambda k: f"@compute @workgroup_size(1) fn main{k}() {{ r[{k}] = f(r[0]); }}") + "fn f(x : u32) -> u32 { return x; }\n"


def entries_of_calls(n):
    """Each entry point reaches the whole chain."""
    return (RW + "fn f0(x : u32) -> u32 { return x; }\n" + lines(n, lambda k: f"fn f{k + 1}(x : u32) -> u32 {{ return f{k}(x) + 1u; }}")
            + lines(n, lambda k: f"@compute @workgroup_size(1) fn main{k}() {{ r[0] = f{n}(r[0]); }}"))


def bindings(n):
    return (lines(n, lambda k: f"@group(0) @binding({k}) var<storage, read_write> b{k} : array<u32>;") + MAIN
            + lines(n, lambda k: f"b{k}[0] = 1u;") + "}\n")


def overrides(n):
    return main("r[0] = o%d;\n" % n, "override o0 : u32 = 1u;\n" + lines(n, lambda k: f"override o{k + 1} : u32 = o{k} * 3u % 1000u + o{k} / 2u;"))


def overrides_floats(n):
    return main("r[0] = u32(o%d);\n" % n, "override o0 : f32 = 0.5;\n" + lines(n, lambda k: f"override o{k + 1} : f32 = sqrt(abs(sin(o{k})) + 0.25);"))


def overrides_in_body(n):
    return main(lines(n, lambda k: f"r[{k}] = (o0 + {k}u) * 3u / (o0 + 1u);"), "override o0 : u32 = 1u;\n")


def pointers(n):
    return main("var x = r[0]; let p0 = &x;\n" + lines(n, lambda k: f"let p{k + 1} = &*p{k};") + f"r[0] = *p{n};\n")


def accesses(n):
    """Accesses that a proof compares pairwise."""
    return (RW + "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\n"
            + lines(n, lambda k: f"r[g.x * {n}u + {k}u] = r[g.x * {n}u + {(k + 1) % n}u] + 1u;") + "}\n")


def conditions(n):
    """Facts that a proof carries."""
    return (RW + "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\nvar x = g.x;\n"
            + lines(n, lambda k: f"if (x > {k}u && x < g.x * {k + 2}u) {{ x += r[x + {k}u]; }}") + "r[g.x] = x;\n}\n")


def barriers(n):
    return (RW + "var<workgroup> w : array<u32, 64>;\n@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) l : u32) {\n"
            + lines(n, lambda k: f"w[(l + {k}u) & 63u] = w[l] + {k}u; workgroupBarrier();") + "r[l] = w[l];\n}\n")


def floats(n):
    return main("var x = f32(r[0]);\n" + "x = x * 1.5 + x / 3.0;\n" * n + "r[0] = bitcast<u32>(x);\n")


def float_builtins(n):
    return main("var x = f32(r[0]);\n" + "x = sin(x) + pow(x, 1.5) + atan2(x, 2.0);\n" * n + "r[0] = bitcast<u32>(x);\n")


def wide_integers(n):
    return main("var x = u64(r[0]) + 77lu;\n" + "x = x / (x % 1000003lu + 3lu) * 6364136223846793005lu;\n" * n + "r[0] = u32(x);\n")


SHAPES = {f.__name__: (f, first) for f, first in (
    (calls, 2), (calls_looped, 1), (calls_of_arrays, 1), (nested_arrays, 1), (wide_arrays, 1), (nested_structs, 1),
    (const_doubled, 1), (const_array, 64), (const_zero_values, 1), (const_struct_copies, 1), (const_chain, 4),
    (const_array_steps, 1), (const_floats, 4), (const_pow, 4), (const_assert, 4),
    (private_array, 64), (private_value, 64), (private_initial, 16), (local_array, 64), (local_value, 64), (local_vectors, 16),
    (locals_many, 4), (locals_copied, 4), (copies_in_loop, 64), (compares_in_loop, 64), (struct_values, 4), (matrices, 4),
    (matrix_products, 4), (workgroup_array, 64), (workgroup_override, 64), (workgroup_override_squared, 16), (table, 16),
    (tables_many, 4), (tables_called, 2), (switch_cases, 16), (switch_selectors, 16), (straight, 64), (straight_memory, 16),
    (ifs_in_sequence, 16), (ifs_nested, 8), (else_ifs, 16), (loops_constant, 64), (loops_in_sequence, 8), (loops_nested, 2),
    (loops_over_array, 16), (returns, 8), (short_circuits, 16), (short_circuits_mixed, 8), (blocks, 16), (sum_long, 16),
    (expression_squared, 8), (parentheses, 16), (minuses, 16), (indices, 8), (selects, 8), (swizzles, 16), (type_nesting, 4),
    (templates, 16), (comments_nested, 16), (comments_open, 16), (attributes, 8), (diagnostics, 16), (identifiers_long, 16),
    (identifiers_many, 64), (unknown_names, 16), (shadowed, 16), (aliases, 16), (aliases_backward, 16), (functions_backward, 16),
    (functions_unused, 16), (parameters, 16), (members, 64), (entries, 4), (entries_of_calls, 4), (bindings, 4), (overrides, 8),
    (overrides_floats, 4), (overrides_in_body, 16), (pointers, 8), (accesses, 8), (conditions, 8), (barriers, 8), (floats, 16),
    (float_builtins, 4), (wide_integers, 8))}
