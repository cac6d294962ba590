"""Versions of the rules: a history that the release made is made again, commit by commit, under version 1, also by a
program that knows version 2; version 2 begins at genesis or by a proposal, at its height and not before; and what
checking, uploading and submitting say of a shader is one answer; and a refusal costs what its validation does, from version
2 on."""
import json
import os
import re
import sqlite3
import struct

from harness import Harness
from world import World

h = Harness()

HEAD = """//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
"""
# Shaders that the release took, with what it makes of them.
TAKEN = {
    "plain": (HEAD + "  b[g.x] = a[g.x] * 3u;\n}\n", lambda x: x * 3),
    # The release takes `break if` outside `continuing` and drops it.
    "break_if": (HEAD + "  var s = 0u;\n  for (var i = 0u; i < 4u; i++) { s += a[g.x]; break if i == 1u; }\n"
                 "  b[g.x] = s;\n}\n", lambda x: x * 4),
    # It multiplies by 2^32 - 1 turns where the start is no constant to it.
    "folded": (HEAD + "  let h = 2;\n  var s = 0u;\n  for (var k = -h; k <= h; k++) { s += a[g.x] + u32(k); }\n"
               "  b[g.x] = s;\n}\n", lambda x: x * 5),
}
# The commits that the release made of the history below, before there were versions.
COMMITS = ["1d4d7081f7b44d513b29c45d746eb7254fcc57b6", "b46f288da0be345649792c0c716ca87fd3ee4aa7",
           "1ac114a65c6b4a9bbcd5c26e3102b34ed8119454"]
GAS = ["113", "754", "377957123331"]


def params(w, **changes):
    """The parameters that a home begins with: the shipped ones, changed; messages are free."""
    changes = dict(changes, **({"fee_ppm": "0"} if changes.get("rules") == "2" else {}))
    path = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg")
    with open(path) as f:
        lines = f.read().splitlines()
    lines = [next((f'    {k} = "{v}";' for k, v in changes.items() if line.strip().startswith(k + " =")), line)
             for line in lines]
    os.makedirs(os.path.join(w.home, "chain"), exist_ok=True)
    with open(os.path.join(w.home, "chain", "params.cfg"), "w") as f:
        f.write("\n".join(lines) + "\n")


def keys(w, *names):
    """The chain begins with these accounts, under keys of this home and with the right to make gas."""
    lines = []
    for name in names:
        key = w.answer("key", "new", name, "--no-passphrase")["keys"][0]["key"]
        lines.append(f'{{ name = "{name}"; keys = [ "{key}" ]; roles = [ "credit", "block" ]; }}')
    with open(os.path.join(w.home, "chain", "genesis.cfg"), "w") as f:
        f.write("genesis : { version = 1; accounts : ( " + ", ".join(lines) + " ); };\n")


def submit(w, name, words, n=4):
    cid = w.put("in", struct.pack(f"<{len(words)}I", *words))
    return w.answer("job", "submit", "--sender", "alice", "--shader", w.shaders[name], "--input", cid, "--dispatch",
                    str(n), "--output-bytes", str(4 * n), "--gas-limit", "100000000000000")["job"]


def made(w, job, want):
    shown = w.answer("job", "show", job)
    status, got, _ = w.run("cas", "get", shown.get("output", ""))
    h.check_bytes("output", got, struct.pack(f"<{len(want)}I", *(x % 2 ** 32 for x in want)), 4)


def history(name):
    """Three blocks of jobs under the released rules."""
    w = World(h, name)
    w.shaders = {}
    params(w, throughput="1000000000000")
    w.text("ledger", "credit", "alice", "10000000000000000")
    ends = []
    for i, (shader, (text, result)) in enumerate(TAKEN.items()):
        w.shaders[shader] = w.text("shader", "upload", "--sender", "alice", h.write(shader, text.encode()))
        jobs = [(submit(w, s, [i + 7, 2 ** 31, 5, 9]), TAKEN[s][1]) for s in w.shaders]
        ends.append(w.end("cpu"))
        for job, f in jobs:
            made(w, job, [f(x) for x in (i + 7, 2 ** 31, 5, 9)])
    return w, ends


def rules(w):
    return next(p["value"] for p in w.answer("ledger", "params", "list")["params"] if p["name"] == "rules")


def says(w, name, code, *args):
    """A verb accepts (code "") or refuses with the code and an exit status of bad input."""
    status, _, err = w.run(*args)
    return h.check(name, (status, code) == (0, "") or status in (3, 5) and code != "" and f"error: {code} " in err,
                   f"exit status {status}, wanted {code or 'acceptance'}\n{err}")


# ---- version 1 ------------------------------------------------------------------------------------------------------

released, ends = history("released")
h.check("the release's commits", [e["commit"] for e in ends] == COMMITS, [e["commit"] for e in ends])
h.check("the release's gas", [e["gas"] for e in ends] == GAS, [e["gas"] for e in ends])
h.check("a chain begins with version 1", rules(released) == "1", rules(released))
report = released.answer("block", "verify", "1..3", "--backend", "cpu")
h.check("verify", report.get("blocks") == "3" and report.get("executed") == "6", report)
again = World(h, "again")
log, store = os.path.join(released.home, "chain", "blocks.git"), os.path.join(released.home, "cas")
again.text("block", "replay", "--from", log, "--fetch", store, "--backend", "cpu")
h.check("replay", [b["commit"] for b in again.blocks()] == COMMITS, again.blocks())

# ---- version 2 by proposal, and from genesis ------------------------------------------------------------------------

w = released
w.text("ledger", "credit", "node", "1000")
w.text("ledger", "bond", "node", "1000")
says(w, "no version 3", "PC6154", "ledger", "params", "propose", "rules=3", "--from", "node", "--at", "6")
w.text("ledger", "params", "propose", "rules=2", "--from", "node", "--at", "6")
w.text("ledger", "params", "vote", "1", "yes", "--from", "node")
w.text("ledger", "params", "apply", "1", "--from", "node")
for height in (4, 5):
    h.check(f"version 1 at height {height}", rules(w) == "1")
    w.end("cpu")
h.check("version 2 at height 6", rules(w) == "2")
# From here on everybody signs; who sent before takes keys, which sign for themselves.
says(w, "no keys", "PC5844", "ledger", "transfer", "alice", "node", "1")
key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
says(w, "keys for who never sent", "PC5844", "ledger", "keys", "bob", key)
says(w, "a key that this home has not", "PC5844", "ledger", "keys", "alice", "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
w.text("ledger", "keys", "alice", key)
job = submit(w, "plain", [1, 2, 3, 4])
w.end("cpu")
made(w, job, [3, 6, 9, 12])
report = w.answer("block", "verify", "1..6", "--backend", "cpu")
h.check("verify across the change", report.get("blocks") == "6", report)

draft = World(h, "draft")
draft.shaders = {}
params(draft, rules="2")
keys(draft, "alice", "bob")
h.check("a chain that begins with version 2", rules(draft) == "2")
draft.text("ledger", "credit", "alice", "10000000000000000")
draft.shaders["plain"] = draft.text("shader", "upload", "--sender", "alice",
                                    h.write("plain", TAKEN["plain"][0].encode()))
job = submit(draft, "plain", [1, 2, 3, 4])
ended = draft.end("cpu")
made(draft, job, [3, 6, 9, 12])
again = World(h, "draft again")
again.text("block", "replay", "--from", os.path.join(draft.home, "chain", "blocks.git"), "--fetch",
           os.path.join(draft.home, "cas"), "--backend", "cpu")
h.check("replay of version 2", [b["commit"] for b in again.blocks()] == [ended["commit"]] and rules(again) == "2")

# ---- what a refusal costs: nothing under version 1, the validation under version 2 ----------------------------------


def refuse(w, limit):
    cid = w.put("in", struct.pack("<4I", 1, 2, 3, 4))
    return w.run("job", "submit", "--sender", "alice", "--shader", w.shaders["plain"], "--input", cid, "--dispatch", "4",
                 "--output-bytes", "16", "--gas-limit", str(limit))


def balance(w):
    return next(int(a["balance"]) for a in w.answer("ledger", "show")["accounts"] if a["account"] == "alice")


for name, version in (("free", "1"), ("charged", "2")):
    w = World(h, name)
    w.shaders = {}
    params(w, rules=version, weight_storage_read="1000")
    if version == "2":
        keys(w, "alice")
    w.text("ledger", "credit", "alice", "1000000")
    text = TAKEN["plain"][0]
    w.shaders["plain"] = w.text("shader", "upload", "--sender", "alice", h.write("plain", text.encode()))
    had = balance(w)
    status, _, err = refuse(w, len(text) + 50)
    cost = len(text) if version == "2" else 0
    brought = 16 + 16 if version == "2" else 0  # the 16 bytes of the input, and their rent
    told = f"the refusal costs {cost} gas, job " in err
    h.check(f"{name}: refused for gas", status == 7 and "error: PC5818 " in err and told == (version == "2"),
            f"{status}\n{err}")
    h.check(f"{name}: set aside", had - balance(w) == cost + brought, (had, balance(w)))
    jobs = w.answer("job", "list")["jobs"]
    h.check(f"{name}: jobs", len(jobs) == (version == "2"), jobs)
    ended = w.end("cpu")
    h.check(f"{name}: the end", had - balance(w) == cost + brought, (had, balance(w)))
    for shown in (w.answer("job", "show", j["job"]) for j in jobs):
        h.check("the refused job", (shown["state"], shown["gas_used"], shown["error"]) ==
                ("failed", str(cost), "refused: PC5818"), shown)
    w.text("block", "verify", "1", "--backend", "cpu")
    for j in jobs:
        w.text("provenance", "job:" + j["job"])
        # Another charge in the rows of this node is found.
        with sqlite3.connect(os.path.join(w.home, "chain", "state.sqlite")) as db:
            was = db.execute("SELECT gas_used FROM jobs").fetchone()[0]
            db.execute("UPDATE jobs SET gas_used = x'0000000000000007'")
        status, _, err = w.run("block", "verify", "1", "--backend", "cpu")
        h.check("another charge", status == 8 and "PC6140" in err, f"{status}\n{err}")
        db.execute("UPDATE jobs SET gas_used = ?", (was,))
        db.commit()
        db.close()
    again = World(h, name + " again")
    again.text("block", "replay", "--from", os.path.join(w.home, "chain", "blocks.git"), "--fetch",
               os.path.join(w.home, "cas"), "--backend", "cpu")
    h.check(f"{name}: replayed", [b["commit"] for b in again.blocks()] == [ended["commit"]])

# ---- one answer -----------------------------------------------------------------------------------------------------

INPUT = "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
OUTPUT = "@group(1) @binding(0) var<storage, read_write> b : array<u32>;\n"
ATOMIC = "@group(1) @binding(0) var<storage, read_write> b : array<atomic<u32>>;\n"
MAIN = "@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) g : vec3<u32>) { "
CASES = [
    ("accepted", "", INPUT + OUTPUT + MAIN + "b[g.x] = a[g.x]; }"),
    ("a scatter", "PC5808", INPUT + OUTPUT + MAIN + "b[a[g.x]] = g.x; }"),
    ("a race", "PC5808", INPUT + OUTPUT + MAIN + "b[0] = a[g.x]; }"),
    ("atomics whose order shows", "PC5808", INPUT + ATOMIC + MAIN + "if (atomicAdd(&b[0], 1u) < a[0]) "
     "{ atomicStore(&b[1], g.x); } }"),
    ("atomics that commute", "", INPUT + ATOMIC + MAIN + "atomicAdd(&b[a[g.x] & 3u], 1u); }"),
    ("other bindings", "PC5807", "@group(0) @binding(0) var<storage, read_write> b : array<u32>;\n" + MAIN +
     "b[g.x] = 1u; }"),
    ("no input", "PC5807", OUTPUT + MAIN + "b[g.x] = 1u; }"),
    ("floats", "PC5806", INPUT + OUTPUT + MAIN + "b[g.x] = u32(f32(a[g.x]) * 2.0); }"),
    ("a large workgroup", "PC5809", (INPUT + OUTPUT + MAIN + "b[g.x] = a[g.x]; }").replace("size(1)", "size(257)")),
    ("the second entry point", "PC5808", INPUT + OUTPUT + MAIN + "b[g.x] = a[g.x]; }\n" +
     MAIN.replace("main", "next") + "b[0] = a[g.x]; }"),
]
for name, code, text in CASES:
    path = h.write(name + ".wgsl", text.encode())
    for v, w in (("1", World(h, "fresh")), ("2", draft)):
        says(w, f"{name}: check, rules {v}", code, "shader", "check", "--consensus", "--rules", v, path)
        says(w, f"{name}: upload, rules {v}", code, "shader", "upload", "--sender", "bob", path)
# What is too large for a driver: version 1 takes it, for ever; the draft refuses it.
path = h.write("large.wgsl", (INPUT + OUTPUT + MAIN + "var p : array<u32, 8192>; p[a[g.x] % 8192u] = 1u; "
                              "b[g.x] = p[g.x % 8192u]; }").encode())
for v, w, code in (("1", World(h, "fresh and large"), ""), ("2", draft, "PC5829")):
    says(w, f"a large array: check, rules {v}", code, "shader", "check", "--consensus", "--rules", v, path)
    says(w, f"a large array: upload, rules {v}", code, "shader", "upload", "--sender", "bob", path)
# Mistakes of the front end that version 1 took and dropped; and what it refused though it is valid.
FRONT_END = [
    ("break if in a for", "", "PC2418", INPUT + OUTPUT + MAIN +
     "for (var i = 0u; i < 4u; i++) { b[g.x] = a[g.x]; break if i == 1u; } }"),
    ("continuing in a for", "", "PC2418", INPUT + OUTPUT + MAIN +
     "for (var i = 0u; i < 4u; i++) { b[g.x] = a[g.x]; continuing { } } }"),
    ("an override of 0 that divides", "", "PC2045", "override n = 0u;\n" + INPUT + OUTPUT + MAIN +
     "b[g.x] = a[g.x] / n; }"),
    ("a uniform load of one's own", "", "PC2053", "var<workgroup> w : array<u32, 1>;\n" + INPUT + OUTPUT + MAIN +
     "b[g.x] = a[g.x] + workgroupUniformLoad(&w[a[g.x]]) + workgroupUniformLoad(&w[b[g.x]]); }"),
    ("a concrete constant that wraps", "PC2407", "", INPUT + OUTPUT + MAIN + "b[g.x] = a[g.x] + (4294967295u + 2u); }"),
]
fresh = World(h, "fresh front end")
for name, first, second, text in FRONT_END:
    path = h.write(name.replace(" ", "-") + ".wgsl", text.encode())
    for v, w, code in (("1", fresh, first), ("2", draft, second)):
        says(w, f"{name}: check, rules {v}", code, "shader", "check", "--consensus", "--rules", v, path)
        says(w, f"{name}: upload, rules {v}", code, "shader", "upload", "--sender", "bob", path)
says(draft, "check goes by the chain's own version", "", "shader", "check", "--consensus", h.path("accepted.wgsl"))
# The answer says which version gave it, and whence that is; in a fresh home it is what an upload into the chain that begins
# there is told.
for w, args, want in ((draft, [], ("2", "this home's chain is under it")), (fresh, [], ("1", "this home's chain is under it")),
                      (World(h, "untouched"), [], ("1", "this home has no chain yet")),
                      (fresh, ["--rules", "2"], ("2", "--rules asks for it"))):
    status, out, _ = w.run("shader", "check", "--consensus", *args, h.path("accepted.wgsl"))
    h.check(f"check says its version {want}", status == 0 and re.match(rb"rules " + want[0].encode() + rb"[^\n]*: "
                                                                       + want[1].encode(), out), out)
    status, out, _ = w.run("shader", "check", "--consensus", "--json", *args, h.path("accepted.wgsl"))
    h.check("as JSON, too", status == 0 and json.loads(out)["rules"] == int(want[0]) and json.loads(out)["rules_from"], out)
# What a job costs is said before it is sent, all of it: with that limit it is taken in, with less it is not.
status, out, _ = draft.run("shader", "check", "--consensus", "--json", "--dispatch", "64", h.path("accepted.wgsl"))
price = {k: int(v) for k, v in json.loads(out)["shaders"][0]["price"].items()}
h.check("the job's own part is in the price", price["gas"] == price["dispatch"] + price["job"] and price["job"] > 0, price)
status, out, _ = draft.run("shader", "check", "--consensus", "--dispatch", "64", h.path("accepted.wgsl"))
h.check("and in the words", f"a job of 64x1x1 workgroups: {price['gas']} gas".encode() in out, out)
accepted = draft.text("cas", "put", h.path("accepted.wgsl")).strip()
data = draft.put("kib", bytes(1024))
whole = price["gas"] + price["input_kib"] + price["output_kib"]
for less, want in ((2, 7), (0, 0)):
    status, _, err = draft.run("job", "submit", "--sender", "alice", "--shader", accepted, "--input", data, "--dispatch", "64", "--output-bytes", "1024", "--gas-limit", str(whole - less))
    h.check(f"a limit {less} below it", status == want and ("PC5818" in err) == (want == 7), (status, err))
status, out, _ = draft.run("--json", "shader", "show", accepted)
shown = json.loads(out)["price"]
h.check("a shader that is shown says it, too", status == 0 and int(shown["job"]) == price["job"] and int(shown["gas"]) < price["gas"], shown)
says(draft, "a version that is not", "PC5721", "shader", "check", "--consensus", "--rules", "7",
     h.path("accepted.wgsl"))
h.finish()
