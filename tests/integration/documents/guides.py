"""The guides say what holds: pipelines in pipelines/GUIDE.md check and run, its table of shader and pipeline types is what check takes, the
metadata and the refusals of core/compiler/wgsl/GUIDE.md are the front end's, and every verb, option, op and code that either names
exists. usage: guides.py SOURCE"""
import json
import os
import re
import struct
import sys

from harness import Harness

SOURCE = sys.argv[1]
PIPELINES, KERNELS = "pipelines/GUIDE.md", "core/compiler/wgsl/GUIDE.md"


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def blocks(text):
    return re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)


def inline(text):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def smallest(h, whole):
    file, data = h.write("smallest.pipe.cfg", whole.encode()), h.write("data", struct.pack("<100Q", *range(100)))
    status, _, err = h.run("check", file)
    h.check("the smallest pipeline checks", status == 0 and not err, err)
    status, _, err = h.run("run", file, "--in", "values=" + data, "--out", "sums=" + h.path("sums"), "--backend", "cpu")
    h.check("and runs", status == 0, err)
    h.check_bytes("to the sums", h.read("sums"), struct.pack("<100Q", *(i * (i + 1) // 2 for i in range(100))), 8)


def jobs(h, text):
    """The shader job that stands in a block, and the op job that stands in a line, each in a pipeline around it."""
    os.symlink(os.path.join(SOURCE, "pipelines/shaders"), h.path("shaders"))
    shader = blocks(text)[1]
    op = next(s for s in inline(text) if s.startswith("{ id = "))
    for name, job, inputs, outputs in (
            ("the shader job", shader, 'starts : { type = "u32[n]"; };', 'steps = "walk.steps";'),
            ("the op job", op.replace("simulate.payoffs", "$payoffs"), 'payoffs : { type = "f32[n]"; };', 'y = "sum.y";')):
        file = h.write("job.pipe.cfg", ('pipeline : { name = "t"; class = "strict"; inputs : { %s };\n jobs = ( %s );\n outputs : { %s }; };\n'
                                        % (inputs, job.strip(), outputs)).encode())
        status, _, err = h.run("check", file)
        h.check(name, status == 0 and not err, err)


def types(h, text):
    """The rows of the table: a variable in the shader, types that it may have, and one with an extent more than its last."""
    rows = re.findall(r"^\| `(array<[^`]*)` \| (.*) \|$", text, re.M)
    h.check("the table of types", len(rows) >= 4, str(rows))
    for element, cell in rows:
        for kind in re.findall(r"`((?:u|f)\d+\[[^`]*)`", cell):
            for shape, good in ((kind, True), (re.sub(r"\d+\]$", lambda m: f"{int(m.group()[:-1]) + 1}]", kind), False)):
                if not good and (shape == kind or element == "array<u32>"):
                    continue
                h.write("k.wgsl", (f"@group(0) @binding(0) var<storage, read> x : {element};\n@group(0) @binding(1) var<storage, read_write> y : {element};\n"
                                   "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) "
                                   "{ y[id.x] = x[id.x]; }\n").encode())
                file = h.write("k.pipe.cfg", ('pipeline : { name = "t"; class = "strict"; inputs : { d : { type = "%s"; }; }; jobs = ( { id = "j"; shader = "k.wgsl"; '
                                              'dispatch = ("n"); in : { x = "$d"; }; out : { y = "%s"; }; } ); outputs : { y = "j.y"; }; };\n' % (shape, shape)).encode())
                status, _, err = h.run("check", file)
                h.check(f"{element} as {shape}", (status == 0) if good else (status == 3 and "PC4106" in err), f"{status} {err}")


def kernels(h, text):
    metadata = [re.sub(r"\s{2,}.*$", "", line) for line in blocks(text)[0].splitlines()]
    h.check("metadata", len(metadata) == 6 and all(m.startswith("//# ") for m in metadata), str(metadata))
    module = ("\n".join(metadata) + "\nstruct U { count : u32 }\n@group(0) @binding(0) var<uniform> uniforms : U;\n"
              "@group(0) @binding(1) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(64)\n"
              "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n  var sum = 0u;\n  for (var i = 0u; i < uniforms.count; i++) { sum += int_popcount(i); }\n"
              "  y[id.x] = sum;\n}\n")
    status, _, err = h.run("shader", "check", h.write("metadata.wgsl", module.encode()))
    h.check("a module with the metadata", status == 0, err)
    status, _, err = h.run("shader", "check", h.write("bare.wgsl", "\n".join(line for line in module.split("\n") if "max uniforms" not in line).encode()))
    h.check("whose loop runs on the budget without it", status == 0, err)
    for body in ("loop { if (id.x > 3u) { break; } }", "var k = 3u; while (k > 0u) { k -= 1u; }", "for (var i = 0u; i < y[0]; i++) { y[1] = i; }",
                 "for (var i = 0u; i < 9u; i *= y[0]) { }"):
        file = h.write("turns.wgsl", ("@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(1)\n"
                                      "fn main(@builtin(global_invocation_id) id : vec3<u32>) { %s }\n" % body).encode())
        status, _, err = h.run("shader", "check", file)
        h.check(f"{body}: runs on a budget", status == 0, f"{status} {err}")
    refusals = (("loop { y[0] = 1u; }", "PC2208"), ("for (;;) { y[0] = 1u; }", "PC2210"), ("var d = sin(f64(1.0));", "PC2224"))
    for body, code in refusals:
        file = h.write("bad.wgsl", ("@group(0) @binding(0) var<storage, read_write> y : array<u32>;\n@compute @workgroup_size(1)\n"
                                    "fn main(@builtin(global_invocation_id) id : vec3<u32>) { %s }\n" % body).encode())
        status, _, err = h.run("shader", "check", file)
        h.check(f"{body}: {code}", status == 3 and code in err and code in text, f"{status} {err}")


def names(h, path, verbs, ops):
    """Verbs, options, ops and codes in the text are there."""
    seen = 0
    for words in (s.split() for s in inline(read(path))):
        if words[0] == "pipectl" or words[0] in {v.split()[0] for v in verbs} and len(words) > 1:
            words = words[1:] if words[0] == "pipectl" else words
            verb = " ".join(words[:2]) if " ".join(words[:2]) in verbs else words[0]
            h.check(f"{path}: {verb}", verb in verbs, str(words))
            for option in (w.split("=")[0] for w in words if w.startswith("--")):
                seen += 1
                h.check(f"{path}: {verb} {option}", option in verbs.get(verb, ()), str(words))
        for op in re.findall(r"\b([a-z]+\.[a-z_0-9]+)@\d", " ".join(words)):
            seen += 1
            h.check(f"{path}: op {op}", op in ops)
    for code in sorted(set(re.findall(r"PC\d{4}", read(path)))):
        seen += 1
        h.check(f"{path}: {code}", h.run("explain", code)[0] == 0)
    h.check(f"{path}: names were found", seen > 5, str(seen))


def main():
    h = Harness()
    document = json.loads(h.run("--json", "help")[1])
    everywhere = {o["name"] for o in document["global_options"]}
    verbs = {f"{v['verb']} {v['sub'] or ''}".strip(): {o["name"] for o in v["options"]} | everywhere for v in document["verbs"]}
    ops = set(re.findall(r"[a-z]+\.[a-z_0-9]+", h.run("op", "list")[1].decode()))
    text = read(PIPELINES)
    smallest(h, blocks(text)[0])
    jobs(h, text)
    types(h, text)
    kernels(h, read(KERNELS))
    names(h, PIPELINES, verbs, ops)
    names(h, KERNELS, verbs, ops)
    h.finish()


main()
