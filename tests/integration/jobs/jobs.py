"""`pipectl shader upload|list|show|alias|deprecate`, `job submit|show|list|cancel` and `link` through the command line.
Gas is worked out here a second time; CIDs too; every refusal has its code and exit status and changes no row."""
import base64
import hashlib
import json
import os
import sqlite3
import struct

from harness import Harness

h = Harness()

SHADER = b"""struct U { @size(4) n: u32, @size(4) k: i32, }
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<uniform> u: U;
@group(1) @binding(0) var<storage, read_write> o: array<u32>;
override add: u32 = 1u;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  o[id.x] = a[id.x] + u.n + add;
}
"""
NEXT = b"""@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(1) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  o[id.x] = a[id.x] * b[id.x];
}
"""
RACE = NEXT.replace(b"o[id.x] =", b"o[0] =")
NEXT_JOB = """{ id = "multiply"; shader = "next.wgsl"; dispatch = ["m/4"]; in : { a = "add.o"; b = "$data"; };
      out : { o = "u32[m]"; }; }"""
PIPE = """pipeline : {
  name = "twice"; about = "adds and multiplies"; class = "integer"; gas_limit = "1_000_000";
  params : { more = 5; };
  inputs : { data : { type = "u32[m]"; }; block : { type = "bytes[8]"; }; };
  jobs = (
    { id = "add"; shader = "add.wgsl"; dispatch = ["m/4"]; in : { a = "$data"; u = "$block"; };
      out : { o = "u32[m]"; }; override : { add = "$more"; }; },
    NEXT_JOB
  );
  outputs : { o = "multiply.o"; };
};
"""
PIPE = PIPE.replace("NEXT_JOB", NEXT_JOB)
NO_CID = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"


def cid(data):
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


def rows():
    path = os.path.join(h.path("home"), "chain", "state.sqlite")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {n: db.execute(f"SELECT * FROM {n}").fetchall() for n in names}
    db.close()
    return found


def answer(name, *args):
    status, out, err = h.run("--json", *args)
    if not h.check(name, status == 0, f"exit status {status}\n{err}"):
        return {}
    return json.loads(out)


def refused(name, code, want, *args):
    before = rows()
    status, _, err = h.run(*args)
    h.check(name, status == want and code in err, f"exit status {status}\n{err}")
    h.check(name + " changes nothing", rows() == before)


def registry():
    h.write("add.wgsl", SHADER)
    h.write("next.wgsl", NEXT)
    h.write("race.wgsl", RACE)
    answer("credit", "ledger", "credit", "ann", "10_000_000")
    up = answer("upload", "shader", "upload", h.path("add.wgsl"), "--sender", "ann", "--description", "adds",
                "--tag", "sum", "--tag", "demo", "--implements", NO_CID)
    h.check("its CID", up.get("shader") == cid(SHADER), up)
    again = answer("again", "shader", "upload", h.path("add.wgsl"), "--sender", "bob")
    h.check("the same answer", {k: v for k, v in again.items() if k != "warnings"} ==
            {k: v for k, v in up.items() if k != "warnings"}, again)
    status, out, _ = h.run("shader", "upload", h.path("next.wgsl"), "--sender", "ann", "--tag", "demo")
    h.check("the CID alone", status == 0 and out.decode().strip() == cid(NEXT), out)
    refused("no sender", "PC0010", 2, "shader", "upload", h.path("next.wgsl"))
    refused("a race", "PC5808", 3, "shader", "upload", h.path("race.wgsl"), "--sender", "ann")
    status, _, err = h.run("shader", "upload", h.path("race.wgsl"), "--sender", "ann")
    h.check("its place", ":6:" in err and "o[0]" in err, err)
    listed = answer("list", "shader", "list", "--tag", "demo")["shaders"]
    h.check("by CID", [s["shader"] for s in listed] == sorted([cid(SHADER), cid(NEXT)]), listed)
    one = answer("one tag", "shader", "list", "--tag", "sum")["shaders"]
    h.check("tags", [s["tags"] for s in one] == [["demo", "sum"]] and one[0]["sender"] == "ann", one)
    refused("alias of nothing", "PC5804", 3, "shader", "alias", "add", NO_CID, "--sender", "ann")
    answer("alias", "shader", "alias", "add", cid(SHADER), "--sender", "ann")
    refused("not the owner", "PC5821", 3, "shader", "alias", "add", cid(NEXT), "--sender", "bob")
    shown = answer("show", "shader", "show", "add")
    h.check("shown", shown["shader"] == cid(SHADER) and len(shown["ticks"]) == 1, shown)
    lines = {x["line"]: x for x in shown["lines"]}
    h.check("a line", 8 in lines and lines[8]["storage_writes_bytes"] == "4" and
            lines[8]["text"].strip().startswith("o[id.x]"), lines)
    h.check("its cost", shown["cost_per_workgroup"] == shown["cost_per_workgroup_at_upload"], shown)
    refused("no alias", "PC5822", 3, "shader", "show", "absent")
    status, out, _ = h.run("shader", "show", "add")
    h.check("as text", status == 0 and b"o[id.x] = a[id.x]" in out, out)
    return int(shown["cost_per_workgroup"])


def put(name, data):
    h.write(name, data)
    status, out, err = h.run("cas", "put", h.path(name))
    h.check(f"put {name}", status == 0 and out.decode().strip() == cid(data), err)
    return cid(data)


def jobs(cost):
    data = put("data", struct.pack("<8I", *range(8)))
    document = b"\xa2\x61k\x20\x61n\x03"  # {"k": -1, "n": 3}
    put("u.cbor", document)
    base = ("job", "submit", "--shader", "add", "--input", data, "--dispatch", "2", "--gas-limit", "100000",
            "--uniform", h.path("u.cbor"), "--output-bytes", "32", "--sender", "ann")
    refused("no such entry point", "PC2040", 3, *base[:2], "--entry", "none", *base[2:])
    first = answer("submit", *base)
    want = 2 * cost + -(-(32 + 32 + 8) // 32)
    h.check("gas", first["gas"] == str(want) and first["logical_clock"] == "1", (first, want))
    j = first["job"]
    multiply = ("job", "submit", "--shader", cid(NEXT), "--input", f"job:{j}", "--bind", f"0:2={data}", "--dispatch",
                "2", "--gas-limit", "100000", "--output-bytes", "32", "--sender", "ann")
    second = answer("a child", *multiply)
    h.check("its clock", second["logical_clock"] == "2", second)
    third = answer("order alone", *multiply, "--after", j, "--parent", second["job"], "--parent-clock", "2")
    plain = int(second["gas"]) - 500
    h.check("hops", (third["logical_clock"], int(third["gas"])) == ("3", plain + 3 * 500), third)
    negative = answer("override", *base, "--override", "add=7")
    h.check("another job", negative["job"] not in (j, second["job"]), negative)
    shown = answer("show", "job", "show", second["job"])
    h.check("shown", (shown["state"], shown["sender"], shown["input"], shown["output_bytes"]) ==
            ("pending", "ann", f"job:{j}", "32"), shown)
    listed = answer("list", "job", "list", "--sender", "ann", "--status", "pending")["jobs"]
    h.check("newest first", [x["job"] for x in listed] == [x["job"] for x in (negative, third, second, first)], listed)
    h.check("none failed", answer("failed", "job", "list", "--status", "failed")["jobs"] == [])

    def without(option, *more):
        i = base.index(option)
        return (*base[:i], *base[i + 2:], *more)
    refused("no shader", "PC0010", 2, *without("--shader"))
    refused("unknown shader", "PC5804", 3, *without("--shader", "--shader", NO_CID))
    refused("no input", "PC5816", 3, *without("--input", "--input", NO_CID))
    refused("no uniforms", "PC5813", 3, *without("--uniform"))
    refused("odd output", "PC5793", 3, *without("--output-bytes", "--output-bytes", "30"))
    refused("gas", "PC5818", 7, *without("--gas-limit", "--gas-limit", "10"))
    refused("funds", "PC5713", 7, *without("--gas-limit", "--gas-limit", "10_000_001"))
    refused("unknown slot", "PC5811", 3, *base, "--bind", f"0:3={data}")
    refused("unknown override", "PC2041", 3, *base, "--override", "sub=1")
    refused("unfit override", "PC2043", 3, *base, "--override", "add=-1")
    refused("unknown parent", "PC5801", 3, *base, "--parent", "1" * 64)
    refused("unknown clock", "PC5817", 3, *base, "--parent-clock", "99")
    refused("no id", "PC5801", 3, "job", "show", "abc")
    refused("not mine", "PC5824", 3, "job", "cancel", third["job"], "--sender", "bob")
    answer("cancel", "job", "cancel", third["job"], "--sender", "ann")
    refused("cancelled", "PC5802", 3, "job", "cancel", third["job"], "--sender", "ann")
    shown = answer("show it", "job", "show", third["job"])
    h.check("failed", (shown["state"], shown["error"]) == ("failed", "cancelled by its sender"), shown)
    answer("link", "link", data, cid(SHADER), "--sender", "ann")
    refused("link to nothing", "PC5786", 3, "link", data, "x", "--sender", "ann")
    answer("deprecate", "shader", "deprecate", cid(SHADER), "--sender", "ann")
    refused("deprecated", "PC5805", 3, *base)


def pipeline():
    h.write("block", struct.pack("<Ii", 3, -1))
    for name, old, new in (("pipe.cfg", "", ""), ("op.cfg", NEXT_JOB, '{ id = "multiply"; op = "int.mul@1"; in : { a = "add.o"; b = "$data"; }; }'),
                           ("unknown.cfg", 'out : { o = "u32[m]"; }; }', 'out : { o = "u32[k]"; }; }')):
        text = PIPE.replace(old, new) if old else PIPE
        h.write(name, (text.replace("multiply.o", "multiply.y") if name == "op.cfg" else text).encode())
    h.write("add.wgsl", SHADER + b"// again\n")
    args = ("--in", "data=" + h.path("data"), "--in", "block=" + h.path("block"), "--gas-limit", "100000", "--sender",
            "ann")
    refused("an op", "PC5827", 3, "job", "submit", "--pipeline", h.path("op.cfg"), *args)
    refused("an unknown size", "PC4016", 3, "job", "submit", "--pipeline", h.path("unknown.cfg"), *args)
    refused("no such parameter", "PC4011", 3, "job", "submit", "--pipeline", h.path("pipe.cfg"), "--set", "none=1", *args)
    refused("no data", "PC5827", 3, "job", "submit", "--pipeline", h.path("pipe.cfg"), *args[2:])
    # What the policy does not admit is no more admitted as jobs of the chain than it is run.
    h.write("signed.cfg", b'policy : { signed = "required"; signers = ( "' + b"0" * 64 + b'" ); };')
    refused("unsigned", "PC6011", 3, "job", "submit", "--pipeline", h.path("pipe.cfg"), "--policy", h.path("signed.cfg"), *args)
    h.write("clean.cfg", b'policy : { dirty = "refuse"; };')
    refused("uncommitted", "PC6010", 3, "job", "submit", "--pipeline", h.path("pipe.cfg"), "--policy", h.path("clean.cfg"), *args)
    done = answer("pipeline", "job", "submit", "--pipeline", h.path("pipe.cfg"), *args)["jobs"]
    h.check("two jobs", [x["name"] for x in done] == ["add", "multiply"], done)
    shown = answer("its second", "job", "show", done[1]["job"])
    h.check("an edge", shown["input"] == "job:" + done[0]["job"], shown)
    h.check("uploaded", answer("show it", "shader", "show", cid(SHADER + b"// again\n"))["sender"] == "ann")


def verdicts():
    for name, amount in (("v1", "500"), ("v2", "400"), ("cheat", "1000")):
        answer("credit " + name, "ledger", "credit", name, amount)
        answer("bond " + name, "ledger", "bond", name, amount)
    args = ("--accused", "cheat", "--evidence", NO_CID)
    refused("no bond", "PC5825", 3, "ledger", "verdict", "--sender", "ann", *args)
    one = answer("one vote", "ledger", "verdict", "--sender", "v1", *args)
    h.check("not enough", one["accounts"][0]["bond"] == "1000", one)
    refused("again", "PC5825", 3, "ledger", "verdict", "--sender", "v1", *args)
    two = answer("two votes", "ledger", "verdict", "--sender", "v2", *args)
    h.check("slashed", two["accounts"][0]["bond"] == "900", two)


jobs(registry())
pipeline()
verdicts()
h.finish()
