"""What a pipeline's text and kernels tell is found before anything runs, and every verb that takes a pipeline says the same:
check, plan, run and job submit give the same codes, places and hints. Each bad file differs from a good one in one place.
(tests/api holds the library to check; tests/unit/test_graph_check.c has the cases of each rule.)"""
import json
import struct

from harness import Harness

KERNEL = b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(1) @binding(0) var<storage, read_write> y : array<vec2<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = vec2(x[id.x], 1u); }
"""
GOOD = """pipeline : {
  name = "t";
  class = "integer";
  params : { s = 64; };
  inputs : { d : { type = "u32[n]"; }; };
  jobs = (
    { id = "a"; shader = "k.wgsl"; dispatch = ("n/64"); in : { x = "$d"; }; out : { y = "u32[n,2]"; }; },
    { id = "b"; shader = "k.wgsl"; dispatch = ("$s"); in : { x = "$d"; }; out : { y = "u32[64,2]"; }; after = ("a"); }
  );
  outputs : { y = "a.y"; z = "b.y"; };
};
"""
# what is wrong, text to replace, replacement, code, line, a part of message or hint
ERRORS = [
    ("a dimension of the dispatch that is not there", '"n/64"', '"m/64"', "PC4131", 7, "available: n, s"),
    ("a parameter of the dispatch that is not there", '"$s"', '"$t"', "PC4011", 8, 'did you mean "s"'),
    ("a dispatch divided by nothing", '"n/64"', '"n/0"', "PC4131", 7, "dim/64"),
    ("a dimension of an output that is not there", '"u32[n,2]"', '"u32[m,2]"', "PC4016", 7, "available: n, s"),
    ("no outputs", 'outputs : { y = "a.y"; z = "b.y"; };', "outputs : {};", "PC4022", 10, "has no outputs"),
    ("an extent of 0", '"u32[n,2]"', '"u32[0,2]"', "PC4021", 7, "u32[n]"),
    ("three components for a vec2", '"u32[n,2]"', '"u32[n,3]"', "PC4106", 7, "u32[..,2]"),
    ("another element type", '"u32[n,2]"', '"f32[n,2]"', "PC4102", 7, "same element type"),
    ("an output of no job", '"b.y"', '"c.y"', "PC4010", 10, "available: a, b"),
    ("an input that is a parameter too", "s = 64", "s = 64; d = 1", "PC4018", 5, "input and a parameter"),
    ("after the same job twice", '("a")', '("a", "a")', "PC4018", 8, "twice"),
]
WARNINGS = [
    ("an input nobody reads", 'type = "u32[n]"; };', 'type = "u32[n]"; }; e : { type = "u32[k]"; file = "d"; };', "PC4140", 5, '"e"'),
    ("a job nobody reads", ' z = "b.y";', "", "PC4141", 8, '"b"'),
    ("an output that is an input", '"b.y"; }', '"b.y"; w = "$d"; }', "PC4142", 10, '"w"'),
    ("a dispatch that leaves a part", '"n/64"', '"n/128"', "PC4143", 7, "with n = 1048576"),
]


PAIRS = """pipeline : { name = "s"; class = "integer";
  inputs : { k : { type = "u32[%s]"; };
             p : { type = "u32[%s]"; }; };
  jobs = ( { id = "sort"; op = "tensor.sort_pairs@1"; in : { keys = "$k"; payloads = "$p"; }; } ); outputs : { y = "sort.keys_sorted"; }; };
"""
SYMBOLS = b"""pipeline : { name = "s"; class = "integer"; params : { features = 3; };
  inputs : { x : { type = "u32[batch,features]"; }; w : { type = "u32[features]"; }; };
  jobs = ( { id = "add"; op = "int.add@1"; in : { a = "$x"; b = "$w"; }; } ); outputs : { y = "add.y"; }; };
"""


def symbols(h):
    # One pipeline for every size, bound by parameters and data; two values are refused with both places
    h.write("sym.pipe.cfg", SYMBOLS)
    for batch, features, more in ((2, 3, []), (5, 3, []), (0, 3, []), (4, 2, ["--set", "features=2"])):
        x, w = list(range(batch * features)), [10 * i for i in range(features)]
        ins = ["--in", "x=" + h.write("sx", struct.pack(f"<{len(x)}I", *x)), "--in", "w=" + h.write("sw", struct.pack(f"<{features}I", *w)), *more]
        status, out, err = h.run("plan", h.path("sym.pipe.cfg"), *ins)
        h.check(f"plan names {batch} x {features}", status == 0 and f"symbols: batch = {batch}, features = {features}\n".encode() in out, f"{out}{err}")
        status, out, err = h.run("plan", "--json", h.path("sym.pipe.cfg"), *ins)
        h.check("and as JSON", status == 0 and json.loads(out)["symbols"] == {"batch": str(batch), "features": str(features)}, f"{out}{err}")
        status, _, err = h.run("run", h.path("sym.pipe.cfg"), *ins, "--backend", "cpu", "--out", "y=" + h.path("sy"))
        h.check(f"runs {batch} x {features}", status == 0 and h.read("sy") == struct.pack(f"<{len(x)}I", *[v + w[i % features] for i, v in enumerate(x)]), err)
    pairs = h.write("pairs.pipe.cfg", (PAIRS % ("3", "4")).encode())
    status, _, err = h.run("check", pairs)
    h.check("both places of a contradiction", status == 3 and "PC4106" in err and 'pairs.pipe.cfg:3:14: note: the 4 stands in input "p"' in err
            and 'pairs.pipe.cfg:2:14: note: the 3 stands in input "k"' in err, err)
    h.write("pairs.pipe.cfg", (PAIRS % ("a", "b")).encode())
    ins = ["--in", "k=" + h.write("sk", bytes(12)), "--in", "p=" + h.write("sp", bytes(16))]
    status, _, err = h.run("plan", pairs, *ins)
    h.check("and where sizes of data contradict", status == 3 and "PC4106" in err
            and 'n is 4 in dimension 0, port "keys" has n = 3 in dimension 0' in err, err)


def said(h, name, verb, args):
    status, out, err = h.run("--json", *verb, *args)
    try:
        document = json.loads(out)
    except ValueError:
        h.check(f"{name}: {verb[0]} answers in JSON", False, f"{status} {out} {err}")
        return status, []
    return status, [(d["code"], d["severity"], d["line"], d["column"], d["message"], d["hint"]) for d in document["diagnostics"]
                    if d["severity"] != "note"]


def main():
    h = Harness()
    h.write("k.wgsl", KERNEL)
    data = h.write("d", struct.pack("<64I", *range(64)))
    for name, old, new, code, line, part in [("the good file", "", "", "", 0, "")] + ERRORS + WARNINGS:
        assert not old or GOOD.count(old) == 1, name
        file = h.write("t.pipe.cfg", (GOOD.replace(old, new) if old else GOOD).encode())
        bad = bool(code) and (name, old, new, code, line, part) in ERRORS
        answers = {" ".join(verb[:2]): said(h, name, verb, args) for verb, args in (
            (["check", file], []), (["plan", file], ["--in", "d=" + data, "--backend", "cpu"]),
            (["run", file], ["--in", "d=" + data, "--backend", "cpu"]),
            (["job", "submit", "--pipeline", file], ["--in", "d=" + data, "--gas-limit", "10000000", "--sender", "ann"]))}
        status, want = next(iter(answers.values()))
        h.check(f"{name}: one answer", len(want) == bool(code), str(want))
        h.check(f"{name}: the exit status", status == (3 if bad else 0), str(status))
        for got_code, severity, got_line, column, message, hint in want:
            h.check(f"{name}: the answer", got_code == code and got_line == line and column > 0 and hint is not None
                    and severity == ("error" if bad else "warning") and part in message + hint, str(want))
        for verb, (got_status, got) in answers.items():
            # What a chain has besides (no such account) is not of the pipeline.
            mine = [d for d in got if d[0].startswith("PC4") or d[0].startswith("PC10")]
            h.check(f"{name}: {verb}", mine == want and (got_status == 3 or not bad), f"{got_status} {got} {want}")
    symbols(h)
    h.finish()


main()
