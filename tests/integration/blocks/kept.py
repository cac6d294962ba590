"""`cas gc` and a chain: what its state refers to stays in the store, under both versions of the rules and whatever else is removed; afterwards waiting jobs run, blocks verify and outputs can
be read. What nobody names goes."""
import os
import re

from harness import Harness
from world import World

h = Harness()


def gc(w):
    """Everything that nothing names, however young."""
    h.write(os.path.join(w.home, "pipectl.cfg"), b'cache : { gc_grace = "0s"; };\n')
    return w.answer("cas", "gc", "--all")


def begin(name, rules):
    w = World(h, name)
    os.makedirs(os.path.join(w.home, "chain"))
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        h.write(f"{name}/chain/params.cfg", re.sub(r'(\n *fee_ppm = )"\w+"', r'\1"0"', re.sub(r'(\n *rules = )"1"', rf'\1"{rules}"', f.read())).encode())
    if rules == "2":
        key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
        h.write(f"{name}/chain/genesis.cfg", f'genesis : {{ version = 1; accounts : ( {{ name = "alice"; balance = "5000"; keys = [ "{key}" ]; threshold = 1; roles = [ "credit", "block" ]; }} ); }};\n'.encode())
    return w.begin(1)


def stored(w):
    return {blob["cid"] for blob in w.answer("cas", "ls")["blobs"]}


def main():
    for rules in ("1", "2"):
        w = begin("rules-" + rules, rules)
        before = stored(w)
        lost = w.put("lost", b"nobody's " + rules.encode())
        removed = gc(w)
        h.check("what nobody names goes", w.run("cas", "get", lost)[0] != 0 and int(removed["removed"]) == 1, removed)
        h.check("what jobs wait for stays", stored(w) == before, before ^ stored(w))
        end = w.end("cpu")
        h.check("and they run", int(end["complete"]) == len(w.outputs) - len(w.failed), end)
        gc(w)
        w.text("block", "verify", "1..1", "--backend", "cpu")
        for job, output in w.outputs.items():
            if job in w.failed:
                continue
            status, got, _ = w.run("cas", "get", w.answer("job", "show", job)["output"])
            h.check("an output is there", status == 0 and got == output, status)
        if rules == "2":
            name = w.answer("job", "list")["jobs"][0]["job"]
            w.text("ledger", "snapshot", "write", h.path("snapshot"))
            late = World(h, "late")
            late.text("ledger", "snapshot", "restore", h.path("snapshot"), "--trust", end["commit"])
            gc(late)
            h.check("a chain that came in by a snapshot keeps its own", late.answer("job", "show", name)["job"] == name and stored(late) <= stored(w) and len(stored(late)) > 3, len(stored(late)))
    empty = World(h, "empty")
    lost = empty.put("lost", b"nobody's")
    gc(empty)
    h.check("where there is no chain none is made", not os.path.exists(os.path.join(empty.home, "chain")))
    h.finish()


main()
