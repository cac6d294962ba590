"""Bad input of every kind ends in one precise code and the right exit status, loses nothing and leaves no process."""
import json
import os
import struct

from harness import Harness

GOOD = """pipeline : {
  name = "t"; class = "integer";
  params : { n = 4; };
  inputs : { x : { type = "u32[m]"; }; };
  jobs = ( { id = "a"; op = "int.add@1"; in : { a = "$x"; b = "$x"; }; },
           { id = "b"; op = "int.mul@1"; in : { a = "a.y"; b = "$x"; }; } );
  outputs : { y = "b.y"; };
};
"""

# name, text to replace, replacement, code
FILES = [
    ("unknown key", "name = \"t\";", "name = \"t\"; colour = 3;", "PC1020"),
    ("missing key", "class = \"integer\";", "", "PC1021"),
    ("unknown op", "int.add@1", "int.ad@1", "PC4120"),
    ("unknown version", "int.add@1", "int.add@7", "PC4121"),
    ("op without library", "int.add@1", "add", "PC4004"),
    ("unknown job", "a = \"a.y\"", "a = \"z.y\"", "PC4010"),
    ("unknown output port", "a = \"a.y\"", "a = \"a.w\"", "PC4010"),
    ("unknown input", "b = \"$x\"; }; } );", "b = \"$w\"; }; } );", "PC4010"),
    ("bad reference", "a = \"a.y\"", "a = \"a\"", "PC4003"),
    ("unknown port", "b = \"$x\"; }; } );", "b = \"$x\"; c = \"$x\"; }; } );", "PC4104"),
    ("port unfed", "in : { a = \"a.y\"; b = \"$x\"; }", "in : { a = \"a.y\"; }", "PC4103"),
    ("a cycle", "in : { a = \"$x\"; b = \"$x\"; }", "in : { a = \"b.y\"; b = \"$x\"; }", "PC4101"),
    ("two jobs of one id", "id = \"b\"", "id = \"a\"", "PC4017"),
    ("unknown attribute", "op = \"int.add@1\";", "op = \"int.add@1\"; attr : { k = 1; };", "PC4110"),
    ("edge type", "type = \"u32[m]\"", "type = \"f32[m]\"", "PC4102"),
    ("type syntax", "type = \"u32[m]\"", "type = \"u33[m]\"", "PC4020"),
    ("two kinds of job", "op = \"int.add@1\";", "op = \"int.add@1\"; shader = \"x.wgsl\";", "PC4005"),
    ("repeat carries nothing known", "id = \"b\";", "id = \"b\"; repeat : { count = 2; carry : { a = \"q\"; }; };", "PC4010"),
    ("duplicate key", "params : { n = 4; };", "params : { n = 4; n = 5; };", "PC10"),
    ("damaged number", "params : { n = 4; };", "params : { n = 99999999999; };", "PC10"),
    ("syntax", "pipeline : {", "pipeline : { =", "PC10"),
    ("unknown class", "class = \"integer\"", "class = \"exact\"", "PC10"),
]


def workers():
    return [p for p in os.listdir("/proc") if p.isdigit() and _is_worker(p)]


def _is_worker(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return MARK in f.read()
    except OSError:
        return False


MARK = b"PIPECTL_TEST_MARK=" + str(os.getpid()).encode()


def refused(h, name, args, code, status):
    got, out, err = h.run(*args)
    h.check(name, got == status and code in err, f"exit status {got}, wanted {status} and {code}\n{err}")
    h.check(name + ": nothing on standard output", b"bafkrei" not in out, out.decode("utf-8", "replace"))
    h.check(name + ": no process left", not workers(), str(workers()))


def files(h):
    good = h.write("good.cfg", GOOD.encode())
    status, _, err = h.run("check", good)
    h.check("the good twin", status == 0, err)
    for name, old, new, code in FILES:
        assert GOOD.count(old) >= 1, name
        path = h.write("bad.cfg", GOOD.replace(old, new, 1).encode())
        refused(h, name, ["check", path], code, 3)
    two = GOOD.replace("int.add@1", "int.ad@1").replace("a = \"a.y\"", "a = \"a\"")
    h.write("bad.cfg", two.encode())
    _, _, err = h.run("check", h.path("bad.cfg"))
    h.check("all errors at once", "PC4003" in err or "PC4120" in err, err)
    h.write("bad.cfg", GOOD.replace("int.add@1", "int.ad@1").replace('b = "$x"; }; }, ', 'b = "$w"; }; }, ').replace('"a.y"', '"z.y"').replace('"b.y"', '"$v"').encode())
    _, _, err = h.run("check", h.path("bad.cfg"))
    h.check("what is not there, beside an op that is not", err.count("PC4120") == 1 and err.count("PC4010") == 2 and 'no job "z"' in err and 'no input of the pipeline "v"' in err, err)
    h.write("bad.cfg", GOOD.replace('b = "$x"; }; } );', 'b = "$w"; }; } );').encode())
    _, _, err = h.run("check", h.path("bad.cfg"))
    h.check("once", err.count("PC4010") == 1, err)
    status, out, _ = h.run("--json", "check", h.path("bad.cfg"))
    document = json.loads(out)
    h.check("json", document["schema"] == "pipectl.check/1" and document["diagnostics"][0]["line"] > 0 and status == 3, str(document))


def runs(h):
    good = h.write("good.cfg", GOOD.encode())
    x = h.write("x.bin", struct.pack("<8I", *range(8)))
    short = h.write("short.bin", b"\x01\x02\x03\x04\x05")
    run = ["run", good, "--backend", "cpu"]
    refused(h, "--in without a file", run + ["--in", "x="], "PC0010 [usage]: --in wants NAME=VALUE, and \"x=\" has no value", 2)
    refused(h, "a directory is no blob", ["cas", "put", h.dir], f"cannot read {h.dir}: Is a directory", 1)
    refused(h, "an argument where none is taken", ["cas", "ls", "x"], "usage: pipectl cas ls [OPTION]...\n", 2)
    refused(h, "a file without anything", ["check", h.write("empty.cfg", b"")], "a pipeline file needs a key \"pipeline\"\n", 3)
    refused(h, "no amount", ["ledger", "credit", "ada", "0"], "\"0\" is no amount of gas\n   hint: a whole number from 1", 3)
    refused(h, "a number of more than 64 bits", run + ["--in", "x=" + x, "--set", "n=99999999999999999999"], "give one from 0 to 18446744073709551615", 3)
    refused(h, "truncated input", run + ["--in", "x=" + short], "PC4015 [input-size]: input \"x\" wants u32[m], and none such has the 5 bytes of ", 3)
    refused(h, "input missing", run, "PC4014", 3)
    refused(h, "input that is not there", run + ["--in", "x=" + h.path("nowhere")], "PC0003", 1)
    refused(h, "unknown input", run + ["--in", "w=" + x], "PC4013", 3)
    refused(h, "unknown output", run + ["--in", "x=" + x, "--out", "w=" + h.path("w")], "PC4013", 3)
    refused(h, "unknown parameter", run + ["--in", "x=" + x, "--set", "k=3"], "PC4011", 3)
    refused(h, "parameter of the wrong kind", run + ["--in", "x=" + x, "--set", "n=abc"], "PC4012", 3)
    refused(h, "gas limit", run + ["--in", "x=" + x, "--gas-limit", "10"], "PC5211", 7)
    refused(h, "unknown backend", ["run", good, "--in", "x=" + x, "--backend", "metal"], "PC3230", 5)
    refused(h, "unknown device", ["run", good, "--in", "x=" + x, "--backend", "cpu:9"], "PC3231", 5)
    refused(h, "usage", ["run"], "PC0010", 2)
    refused(h, "unknown verb", ["rnu", good], "PC0010", 2)
    refused(h, "a sub-verb of a verb that has none", ["help", "run", "it"], "`pipectl run` has no sub-verbs\n   hint: `pipectl help run` says all of it", 2)
    refused(h, "a sub-verb of no verb", ["help", "rnu", "it"], "no verb \"rnu\"\n   hint: did you mean run?", 2)
    refused(h, "unknown sub-verb", ["device", "show"], "no sub-verb \"show\"\n   hint: `pipectl help device` lists what there is", 2)
    refused(h, "an op without its library", ["op", "show", "sub"], "hint: did you mean ieee.sub or int.sub?", 3)
    refused(h, "no op of any library", ["op", "show", "nothing"], "hint: write library.op@version; `pipectl op list` shows all ops", 3)
    refused(h, "no element type", ["tensor", "convert", x, h.path("y.npy"), "--from", "u32[8]", "--to", "q9"], "hint: there are ", 2)
    refused(h, "no type of weights", ["model", "convert", x, h.path("y.gguf"), "--type", "q3"], "hint: there are f16, ", 2)
    refused(h, "a model for a tokenizer", ["tokenizer", "show", h.write("m.gguf", b"GGUF\x03\x00\x00\x00")], "hint: this is a GGUF file, ", 3)
    refused(h, "a range backwards", ["block", "verify", "3..1"], "\"3..1\" ends before it begins", 2)
    refused(h, "unknown option", ["run", good, "--bakend", "cpu"], "PC0010", 2)
    refused(h, "unknown code", ["explain", "PC9999"], "PC0010", 2)
    for word in ("--log-file", "--log-file=x", "--logs"):
        refused(h, word, ["run", good, word, "x"], f"no option \"{word.split('=')[0]}\"\n   hint: did you mean --log?", 2)
    h.write("open.cfg", b"pipeline : {\n  name = \"t\";\n")
    for verb in ("fmt", "check"):
        refused(h, verb + " of an unclosed file", [verb, h.path("open.cfg")], "open.cfg:3:1: error: PC1001", 3)


def shaders(h):
    kernel = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n" \
             "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {\n" \
             "  if (g.x < arrayLength(&a)) { a[g.x] += 1u; }\n}\n"
    good = h.write("good.wgsl", kernel.encode())
    floats = h.write("float.wgsl", kernel.replace("1u", "u32(f32(g.x))").encode())
    broken = h.write("broken.wgsl", kernel.replace("a[g.x] +=", "b[g.x] += c +").encode())
    refused(h, "a float shader among integers", ["shader", "check", "--class", "integer", floats], "PC", 3)
    refused(h, "a float shader in the consensus VM", ["shader", "check", "--consensus", floats], "PC5806", 3)
    refused(h, "a broken shader", ["shader", "check", broken], "PC2", 3)
    _, _, err = h.run("shader", "check", broken)
    h.check("both names reported", err.count("error:") >= 2, err)
    refused(h, "2 GiB on a device of 128 MiB",
            ["shader", "run", good, "--dispatch", "64", "--bind", "0:0=zero:2GiB", "--backend", "vulkan:llvmpipe"], "PC5203", 5)
    refused(h, "unbound", ["shader", "run", good, "--dispatch", "1", "--backend", "cpu"], "or with --bind", 3)
    refused(h, "an op without its ports", ["op", "run", "int.add"], "int.add: error: PC4103", 3)
    refused(h, "no letter in common", ["op", "support", "--type", "x"], "hint: `pipectl help op support` lists what there is", 2)
    refused(h, "no such binding", ["shader", "run", good, "--dispatch", "1", "--bind", "3:0=zero:4"], "PC4123", 3)
    refused(h, "zeros of no size", ["shader", "run", good, "--dispatch", "1", "--bind", "0:0=zero:x", "--backend", "cpu"],
            "PC1025 [conf-quantity]: \"zero:x\" says no number of bytes", 3)
    refused(h, "too many workgroups", ["shader", "run", good, "--dispatch", "99999999999", "--bind", "0:0=zero:4"], "each at most 4294967295, not", 2)
    refused(h, "a job of no workgroups", ["job", "submit", "--shader", "x", "--input", "y", "--gas-limit", "1", "--sender", "ada"], "--dispatch is missing", 2)
    refused(h, "dispatch syntax", ["shader", "run", good, "--dispatch", "x", "--bind", "0:0=zero:4"], "PC0010", 2)


def store(h):
    x = h.write("x.bin", b"some bytes")
    status, out, _ = h.run("cas", "put", x)
    cid = out.decode().strip()
    h.check("put prints the CID alone", status == 0 and cid.startswith("bafkrei") and len(cid) == 59, cid)
    damaged = 0
    for folder, _, names in os.walk(h.path("home")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                if f.read() == b"some bytes":
                    os.chmod(path, 0o644)
                    with open(path, "r+b") as g:
                        g.write(b"S")
                    damaged += 1
    h.check("a blob was damaged", damaged == 1, str(damaged))
    status, out, err = h.run("cas", "get", cid)
    h.check("a damaged blob is refused", status == 8 and "PC5001" in err and out == b"", err)
    status, _, err = h.run("cas", "get", "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku")
    h.check("an absent blob", status in (3, 8) and "PC5004" in err, f"{status} {err}")


def plugins(h):
    os.makedirs(h.path("plugins"), exist_ok=True)
    library = h.write("plugins/text.so", b"this is no library\n")
    h.write("plugins/text.plugin.cfg",
            ('plugin : { id = "text"; kind = "backend"; library = "' + library + '"; abi : { min = "1.0"; }; '
             'interfaces = [ "pctl.backend/1" ]; };\n').encode())
    status, out, err = h.run("--plugin-dir", h.path("plugins"), "plugin", "list")
    text = out.decode() + err
    h.check("a plugin that is a text file", status == 0 and "text" in text and "refused" in text and "PC30" in text, text)


KERNEL = """//# max u.n = 9
struct U { n : u32 }
@group(0) @binding(0) var<storage, read_write> r : array<u32>;
@group(0) @binding(1) var<uniform> u : U;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { r[g.x] = u.n; }
"""
FILLS = """pipeline : { name = "fills"; class = "integer";
  jobs = ( { id = "a"; shader = "%s"; dispatch = ( 1 ); out : { r = "%s"; }; } );
  outputs : { r = "a.r"; }; };
"""


def limits(h):
    """More than a device or a number has, and what a shader declares of itself."""
    def shader(name, text, n, *more):
        return h.run("shader", "run", h.write(name, text.encode()), "--dispatch", "1", "--bind", "0:0=zero:256", "--bind",
                     "0:1=" + h.write("u", struct.pack("<I", n)), "--read", "0:0=" + h.path("r"), "--backend", "cpu", *more)

    def says(name, result, want, code):
        h.check(name, result[0] == want and f"{code} " in result[2], f"{result[0]} {result[2]}")

    says("a uniform at its maximum", (shader("max.wgsl", KERNEL, 9)[0], 0, "PC0 "), 0, "PC0")
    says("a uniform above its maximum", shader("max.wgsl", KERNEL, 10), 3, "PC4135")
    says("a workgroup too large", shader("big.wgsl", KERNEL.replace("64", "1024, 2"), 1), 5, "PC5202")
    says("out of bounds, watched", shader("oob.wgsl", KERNEL.replace("r[g.x]", "r[g.x + 8u]"), 1, "--sanitize"), 0, "PC5222")
    h.write("fill.wgsl", b"@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n@compute @workgroup_size(64)\n"
            b"fn main(@builtin(global_invocation_id) g : vec3<u32>) { r[g.x] = g.x; }\n")
    h.write("wide.wgsl", b"@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n@compute "
            b"@workgroup_size(1024, 2)\nfn main(@builtin(local_invocation_index) i : u32) { r[i] = i; }\n")
    for name, kernel, of, args, want, code in (
            ("beyond 64 bits", "fill", "u32[4294967296,4294967296,4]", ("--backend", "cpu"), 3, "PC4133"),
            ("beyond the memory", "fill", "u32[100000000000]", ("--backend", "cpu"), 5, "PC5204"),
            ("no device qualifies", "wide", "u32[2048]", (), 5, "PC5207")):
        pipe = h.write("fills.pipe.cfg", (FILLS % (kernel + ".wgsl", of)).encode())
        says(name, h.run("run", pipe, *args), want, code)


def overrides(h):
    """An override that is not there, or whose value does not fit, is shown in the file that gives it."""
    h.write("number.wgsl", b"override k : u32 = 1u;\n@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n"
            b"@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) { r[g.x] = k; }\n")
    for name, override, code in (("is not there", "n = 3", "PC2041"), ("does not fit", 'k = "4294967296"', "PC2043"), ("of a parameter", 'k = "$big"', "PC2043")):
        pipe = h.write("over.pipe.cfg", (FILLS.replace("class =", 'params : { big = "5000000000"; }; class =') % ("number.wgsl", "u32[64]"))
                       .replace("dispatch =", "\n    override : { " + override + "; };\n    dispatch =").encode())
        refused(h, "an override " + name, ["check", pipe], f"over.pipe.cfg:3:18: error: {code} ", 3)


def sizes(h):
    """More elements than an op counts, before there is any of them."""
    h.write("many.pipe.cfg", b'pipeline : { name = "many"; class = "integer"; jobs = ('
            b'{ id = "f"; shader = "fill.wgsl"; dispatch = ( 1 ); out : { r = "u32[2147483649]"; }; },'
            b'{ id = "n"; op = "int.neg@1"; in : { x = "f.r"; }; } ); outputs : { y = "n.y"; }; };')
    refused(h, "2^31 + 1 elements", ["check", h.path("many.pipe.cfg")], "PC4204", 5)


def openssl(h):
    """An OpenSSL of this machine that has no SHA-256."""
    h.env["OPENSSL_CONF"] = h.write("none.cnf", b"openssl_conf = i\n[i]\nproviders = p\n[p]\nnull = n\n[n]\nactivate = 1\n")
    refused(h, "no SHA-256", ["cas", "put", h.write("x.bin", b"some bytes")], "PC5007", 70)
    del h.env["OPENSSL_CONF"]


def keys(h):
    """A signing key that is none is refused, and not replaced."""
    pipe = h.write("keys.pipe.cfg", (FILLS % ("fill.wgsl", "u32[64]")).encode())
    home = h.path("no key")
    os.makedirs(os.path.join(home, "keys"))
    with open(os.path.join(home, "keys", "signing.pem"), "w") as f:
        f.write("no key\n")
    status, _, err = h.run("--home", home, "run", pipe, "--backend", "cpu", "--receipt", h.path("receipt"))
    with open(os.path.join(home, "keys", "signing.pem")) as f:
        h.check("a key that is none", status != 0 and "PC5011 " in err and f.read() == "no key\n", f"{status} {err}")


def main():
    h = Harness()
    h.env["PIPECTL_TEST_MARK"] = str(os.getpid())
    MARKED = h.env["PIPECTL_TEST_MARK"]
    assert MARKED
    files(h)
    runs(h)
    shaders(h)
    store(h)
    plugins(h)
    limits(h)
    overrides(h)
    sizes(h)
    openssl(h)
    keys(h)
    h.finish()


main()
