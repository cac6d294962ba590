"""Programs whose price does not fit in 64 bits: refused by their code wherever a price is asked for, by the loops or by the dispatch, under both versions of the rules and outside of a chain; nothing of them runs, and a
chain has a refusal and no more. Beside it, what a shader's uploader may say against it."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

from harness import Harness
from world import World

h = Harness()
HEAD = "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
LOOPS = (HEAD + "@group(1) @binding(0) var<storage, read_write> r : array<u32>;\n@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\n  var x = a[g.x];\n  "
         + " ".join(f"for (var {i} = 0u; {i} < 65535u; {i}++) {{" for i in "ijkl") + " x = x * 5u + l; " + "}" * 4 + "\n  r[g.x] = x;\n}\n").encode()
COUNT = (HEAD + "@group(1) @binding(0) var<storage, read_write> r : array<atomic<u32>>;\n@compute @workgroup_size(256)\nfn main() { " + "atomicAdd(&r[0], a[0]); " * 16 + "}\n").encode()
ALL = "65535,65535,65535"
loops, count = h.write("loops.wgsl", LOOPS), h.write("count.wgsl", COUNT)
bound = ("--bind", "0:0=zero:256", "--bind", "1:0=zero:256")
schedule = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "gas", "consensus-2.cfg")
PIPE = """pipeline : {
  name = "large"; about = "more than a number"; class = "integer"; gas_limit = "1_000_000";
  inputs : { data : { type = "u32[m]"; }; };
  jobs = ( { id = "turn"; shader = "loops.wgsl"; dispatch = ["m/64"]; in : { a = "$data"; }; out : { r = "u32[m]"; }; } );
  outputs : { r = "turn.r"; };
};
"""


def refused(what, run, code, status, *args, word=""):
    got, out, err = run(*args)
    h.check(f"{what}: {code}", got == status and code in err and word in err, (got, err))


def outside():
    refused("check", h.run, "PC2602", 7, "shader", "check", loops, word="loops.wgsl:6:3")
    for limit in ((), ("--gas-limit", "1000000"), ("--gas", schedule)):
        refused(f"run {limit}", h.run, "PC2602", 7, "shader", "run", loops, "--dispatch", "1", *bound, *limit)
    refused("run of a dispatch", h.run, "PC2602", 7, "shader", "run", count, "--dispatch", ALL, *bound, "--gas", schedule, "--gas-limit", "1000")
    data = h.write("data", bytes(256))
    refused("a pipeline", h.run, "PC2602", 7, "run", h.write("large.pipe.cfg", PIPE.encode()), "--in", "data=" + data, "--gas-limit", "1000")


def chain(rules, by_loops):
    """by_loops: the code of a program that no dispatch would make cheaper; under version 2 it has more turns than devices do right, which is asked first."""
    w = World(h, f"rules-{rules}")
    os.makedirs(os.path.join(w.home, "chain"))
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        h.write(f"rules-{rules}/chain/params.cfg", re.sub(r'(\n *rules = )"1"', rf'\1"{rules}"', f.read()).encode())
    if rules == 2:
        key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
        h.write("rules-2/chain/genesis.cfg", f'genesis : {{ version = 1; accounts : ( {{ name = "alice"; balance = "1000000000000"; keys = [ "{key}" ]; roles = [ "block" ]; }} ); }};\n'.encode())
    else:
        w.text("ledger", "credit", "alice", "1000000000000")
    given = w.put("given", bytes(256))
    for verb in (("shader", "check", "--consensus", loops), ("shader", "upload", loops, "--sender", "alice")):
        refused(f"rules {rules}: {verb[1]}", w.run, *by_loops, *verb, word=":6:3")
    refused(f"rules {rules}: check of a dispatch", w.run, "PC2602", 7, "shader", "check", "--consensus", count, "--dispatch", ALL)
    shader = w.text("shader", "upload", count, "--sender", "alice").split()[0]
    submit = ("job", "submit", "--shader", shader, "--input", given, "--gas-limit", "1000000000", "--output-bytes", "256", "--sender", "alice", "--dispatch")
    refused(f"rules {rules}: submit", w.run, "PC2602", 7, *submit, ALL)
    block = w.answer("block", "end", "--backend", "cpu")
    h.check(f"rules {rules}: a block with the refusal", block["complete"] == "0" and block["failed"] == ("1" if rules == 2 else "0"), block)
    w.text("block", "verify", "1..1", "--backend", "cpu")
    # What its uploader withdrew: refused under version 1, a warning from 2 on.
    h.check(f"rules {rules}: nobody advises against it", "PC5805" not in w.run(*submit, "1")[2])
    w.text("shader", "deprecate", shader, "--sender", "alice")
    status, _, err = w.run(*submit, "1")
    h.check(f"rules {rules}: a deprecated shader, PC5805", (status, "PC5805" in err) == (3 if rules == 1 else 0, True), (status, err))


outside()
chain(1, ("PC2602", 7))
chain(2, ("PC5829", 5))
h.finish()
