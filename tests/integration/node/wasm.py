"""Contracts over a chain of one home, through the verbs: a module becomes state, a call submits a job, the block ends, and the next call reads the result; rows that are proven, outcomes that
are paid for, views, the history made again, a snapshot, and a node that has no Wasmtime."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

import contracts
from harness import Harness
import rowproof
from world import World

h = Harness()
w = World(h, "contracts")
os.makedirs(os.path.join(w.home, "chain"))
with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
    text = re.sub(r'(\n *rules = )"1"', r'\1"2"', f.read())
text = re.sub(r'(\n *fee_ppm = )"\w+"', r'\1"0"', text)  # what messages cost is tests/unit/test_chain_fees.c's
text = re.sub(r'(\n *contracts = )"0"', r'\1"1"', text)
with open(os.path.join(w.home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
    f.write(text)
key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
with open(os.path.join(w.home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
    f.write('genesis : { version = 1; accounts : ( { name = "alice"; balance = "1000000000000"; keys = [ "' + key
            + '" ]; roles = [ "credit", "block" ]; } ); };\n')
wat = os.path.join(contracts.here, "contract.wat")
runtime = os.environ["PIPECTL_WASMTIME"]


def argument(data):
    return ("--arg", h.write("argument", data)) if data is not None else ()


def call(function, data=None, *more):
    """The answer of a call that is complete."""
    return w.answer("contract", "call", MAIN, "--sender", "alice", "--call", function, *argument(data), *more)


def fails(what, status, code, *args):
    got, out, err = w.run(*args)
    h.check(what, got == status and code in err, (got, out, err))
    return out.decode()


def end(executor=()):
    return w.answer("block", "end", "--backend", "cpu", *executor)


# A module, by its text.
MAIN = contracts.cid(contracts.contract())
h.check("the account is the module's CID", w.text("contract", "account", wat, "--runtime", runtime) == MAIN, MAIN)
fails("no contract yet", 3, "PC6130", "contract", "show", MAIN)
answer = w.answer("contract", "upload", wat, "--sender", "alice", "--runtime", runtime)
h.check("uploaded", answer["account"] == MAIN and int(answer["gas"]) > 0, answer)
fails("no runtime", 5, "PC6120", "contract", "upload", wat, "--sender", "alice", "--runtime", "/nowhere/libwasmtime.so")
fails("no module", 3, "PC6121", "contract", "upload", h.write("bad.wat", b"(module"), "--sender", "alice", "--runtime", runtime)
fails("twice", 3, "PC6131", "contract", "upload", wat, "--sender", "alice")
fails("no sender", 2, "PC0010", "contract", "call", MAIN)

# A job that a call submits is of the contract's account, in the block of the call; its result is there for the next block.
shader = w.text("shader", "upload", "--sender", "alice", os.path.join(contracts.here, "double.wgsl"))
words = w.put("words", contracts.words)
first = w.answer("job", "submit", "--sender", "alice", "--shader", shader, "--input", words, "--dispatch", "1", "--output-bytes", "16", "--gas-limit", "300000")
h.check("the input is state", "job" in first, first)
answer = call("submit", contracts.message(), "--pay", "1000000")
job = answer["jobs"][0]
h.check("a job is submitted", bytes.fromhex(answer["log"][0]).decode() == job and int(answer["gas"]) == -(-int(answer["fuel"]) // 1000) * 2500, answer)
submitted = answer["call"]
fails("it is pending in its own block", 9, "it returned 100", "contract", "call", MAIN, "--sender", "alice", "--call", "read", *argument(job.encode()))
block = end()
h.check("the job ran in the block of the call", w.answer("job", "show", job)["state"] == "complete", w.answer("job", "show", job))
h.check("it is the contract's", w.answer("job", "show", job)["sender"] == MAIN, job)
answer = call("read", job.encode())
h.check("complete in the next block", [bytes.fromhex(t) for t in answer["log"]] == [contracts.cid(contracts.OUTPUT).encode(), contracts.OUTPUT], answer)
fails("bytes that are not state", 9, "it returned 6125", "contract", "call", MAIN, "--sender", "alice", "--call", "bytes", *argument(contracts.cid(b"no").encode()))

# Rows, gas and who calls.
call("put", b"key1one value")
answer = call("take", b"key1")
h.check("a row", bytes.fromhex(answer["log"][0]) == b"one value", answer)
fails("no row", 9, "it returned 6134", "contract", "call", MAIN, "--sender", "alice", "--call", "take", *argument(b"key2"))
call("put", b"key2")
call("drop", b"key2")
fails("a row that was dropped", 9, "it returned 6134", "contract", "call", MAIN, "--sender", "alice", "--call", "drop", *argument(b"key2"))
answer = w.answer("contract", "call", MAIN, "--sender", "alice", "--call", "who", "--pay", "9", "--fuel", "20000000")
h.check("who called, what was paid and when", bytes.fromhex(answer["log"][0]) == b"alice" + (9).to_bytes(8, "little") + (2).to_bytes(8, "little"), answer)
call("give", b"bob")
h.check("gas of the contract's", w.answer("ledger", "show", "bob")["balance"] == "7", "bob")
call("down", bytes(5000))

# Outcomes that are no success are in the block and paid for; what is refused is not.
end()
before = int(w.answer("ledger", "show", "alice")["balance"])
fails("a trap", 9, "PC6122", "contract", "call", MAIN, "--sender", "alice", "--call", "deep")
out = fails("out of fuel", 7, "PC6123", "contract", "call", MAIN, "--sender", "alice", "--call", "spin", "--fuel", "20000000")
failed = re.search(r"^call ([0-9a-f]{64})$", out, re.M)[1]
fails("no such function", 3, "PC6121", "contract", "call", MAIN, "--sender", "alice", "--call", "nothing")
fails("more fuel than a block", 5, "PC6132", "contract", "call", MAIN, "--sender", "alice", "--fuel", "10000000000000")
block = end()
paid = sum(int(c["gas"]) for c in w.answer("contract", "show", MAIN)["calls"] if c["height"] == block["height"])
after = int(w.answer("ledger", "show", "alice")["balance"])
h.check("all fuel is paid, and no more", before - after == paid > 20_000 * 2500, (before, after, paid))
answer = w.answer("contract", "show", failed)["calls"][0]
h.check("the call is shown", answer["status"] == "failed" and answer["code"] == "PC6123" and answer["fuel"] == "20000000" and answer["gas"] == "50000000", answer)
answer = w.answer("contract", "list")["contracts"]
h.check("the contract is listed", len(answer) == 1 and answer[0]["contract"] == MAIN and answer[0]["rows"] == "1", answer)
h.check("with its calls", len(w.answer("contract", "show", MAIN)["calls"]) == int(answer[0]["calls"]), answer)
fails("a call that there is not", 3, "PC6130", "contract", "show", "ab" * 32)

# What a contract keeps, and how a call went, is proven like every row.
for table, words_of in (("contract_rows", (MAIN, b"key1".hex())), ("calls", (submitted,)), ("calls", (failed,)), ("contracts", (MAIN,))):
    path = h.path("row.proof")
    w.text("ledger", "prove", table, *words_of, "--out", path)
    with open(path, encoding="utf-8") as f:
        got = rowproof.verify(f.read(), block["commit"])
    h.check(f"proven: {table}", got["row"] is not None and (table != "contract_rows" or b"one value" in got["row"]), got)
w.text("ledger", "prove", "contract_rows", MAIN, b"key2".hex(), "--out", h.path("absent.proof"))
with open(h.path("absent.proof"), encoding="utf-8") as f:
    h.check("a row that is not there is proven, too", rowproof.verify(f.read(), block["commit"])["row"] is None)

# Views: the state as it is, at the height that is asked for, and nothing of it changes.
root = w.answer("block", "list")
answer = w.answer("contract", "view", MAIN, "--call", "take", *argument(b"key1"), "--height", block["height"])
h.check("a view", bytes.fromhex(answer["log"][0]) == b"one value" and answer["height"] == block["height"] and answer["gas"] == "0", answer)
fails("a view of another height", 3, "PC6133", "contract", "view", MAIN, "--height", "1")
fails("a view of more fuel", 3, "PC6133", "contract", "view", MAIN, "--fuel", "10000001")
fails("a view that would write", 9, "it returned 6133", "contract", "view", MAIN, "--call", "put", *argument(b"key3x"))

# The history, made again here and in another home; a snapshot; and a home that has no Wasmtime.
h.check("verified", w.run("block", "verify", f"1..{block['height']}", "--backend", "cpu")[0] == 0)
h.check("every row is in the tree", w.run("ledger", "verify")[0] == 0)
log = os.path.join(w.home, "chain", "blocks.git")
other = World(h, "other")
shutil.copytree(os.path.join(w.home, "cas"), os.path.join(other.home, "cas"))
status, out, err = other.run("block", "replay", "--from", log, "--backend", "cpu")
h.check("replayed elsewhere", status == 0 and other.answer("block", "list") == root, (status, out, err))
w.text("ledger", "snapshot", "write", h.path("snapshot"))
third = World(h, "third")
status, out, err = third.run("ledger", "snapshot", "restore", h.path("snapshot"), "--trust", block["commit"])
h.check("restored", status == 0, (status, out, err))
answer = third.answer("contract", "view", MAIN, "--call", "take", *argument(b"key1"))
h.check("the contract and its rows came with the snapshot", bytes.fromhex(answer["log"][0]) == b"one value", answer)
h.env["PIPECTL_WASMTIME"] = "/nowhere/libwasmtime.so"
before = w.answer("ledger", "show", "alice")
fails("a node without Wasmtime: its own trouble", 8, "PC6128", "contract", "call", MAIN, "--sender", "alice", "--call", "grow")
h.check("nothing was kept", w.answer("ledger", "show", "alice") == before, before)
fourth = World(h, "fourth")
shutil.copytree(os.path.join(w.home, "cas"), os.path.join(fourth.home, "cas"))
status, out, err = fourth.run("block", "replay", "--from", log, "--backend", "cpu")
h.check("and it replays no block that needs one", status == 8 and "PC6128" in err, (status, out, err))
h.env["PIPECTL_WASMTIME"] = runtime
status, out, err = fourth.run("block", "replay", "--from", log, "--backend", "cpu")
h.check("with Wasmtime it goes on where it stopped", status == 0 and fourth.answer("block", "list") == root, (status, out, err))
h.finish()
