"""A snapshot that is made beside the blocks has what was state at its moment, although blocks make it expire and `cas gc` runs before it is written: the store is held for as long as
it is being made, by a node behind an engine and by `ledger snapshot write`, and no longer: not by who was killed, nor by who was told to end. gate.c holds up the making; without
the lock (planted) the bytes are gone.
usage: held.py GATE_LIBRARY"""
import json
import os
import signal
import subprocess
import sys
import time

from harness import Harness, patient
from signed import Chain, cid
import abci

h = Harness()
GATE = sys.argv[1]
chain = Chain(h, ["ada"], params={"unbonding_blocks": "1"})
LOST = b"named up to block 2, state up to the end of block 3" * 50


def until(what, ask):
    end = time.monotonic() + patient(60)
    while not ask():
        if time.monotonic() > end:
            return h.check(what, False, "it did not come to be")
        time.sleep(0.005)
    return True


def behind(name, **more):
    """Environment of who is held up where the bytes of a snapshot come next."""
    return dict(h.env, LD_PRELOAD=GATE, GATE=h.path(name), GATE_AT="/blobs", **more)


def gc(home):
    """Everything that nothing names, however young: what it removed, and what it would have."""
    h.write(os.path.join(home, "pipectl.cfg"), b'cache : { gc_grace = "0s"; };\n')
    said = json.loads(chain.run(home, "--json", "cas", "gc", "--all"))
    return int(said["removed"]), int(said["held"])


def has(home, data):
    return h.run("--home", home, "cas", "get", cid(data))[:2] == (0, data)


class Engine:
    """A node that is held up in making the snapshot of block 2, while block 3 makes bytes expire."""

    def __init__(self, name, **more):
        self.name, kept = name, h.env
        home = chain.home(name)
        chain.numbers["ada"] = 0
        h.env = behind(name, **more)
        self.node = abci.Node(h, home, "cpu", options=("--snapshot-blocks", "2"))
        h.env = kept
        self.node.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
        self.decide(1, chain.message("ada", "blob", data=LOST, blocks=1))
        self.decide(2)
        until(f"{name}: a snapshot is begun", lambda: os.path.exists(h.path(name + ".reached")))
        self.decide(3)
        h.check(f"{name}: the bytes are state no more", "absent" in self.proof(), self.proof())

    def decide(self, height, *txs):
        made = self.node.consensus.ask("finalize_block", txs=list(txs), height=height)
        self.node.consensus.ask("commit")
        h.check(f"{self.name}: block {height}", [r["code"] for r in made["tx_results"]] == [0] * len(txs), made)

    def proof(self):
        """Of the row of these bytes, or that there is none."""
        answer = self.node.query.ask("query", path="/row", data=b"blobs\n" + cid(LOST).encode())
        return "there" if answer["value"] else "absent"

    def open(self):
        h.write(self.name + ".open", b"")

    def offered(self):
        return [s["height"] for s in self.node.snapshot.ask("list_snapshots")["snapshots"]]

    def brought(self):
        """The names of the bytes in the snapshot of block 2."""
        snapshot, = [s for s in self.node.snapshot.ask("list_snapshots")["snapshots"] if s["height"] == 2]
        chunks = [self.node.snapshot.ask("load_snapshot_chunk", height=2, format=1, chunk=i)["chunk"] for i in range(snapshot["chunks"])]
        return b"blobs/" + cid(LOST).encode() in b"".join(chunks)


def made():
    e = Engine("made")
    said = gc(e.node.home)
    h.check("nothing is removed meanwhile", said == (0, 1) and has(e.node.home, LOST), said)
    e.open()
    h.check("the snapshot is made, with all that was state", e.offered() == [2] and e.brought(), e.node.words())
    said = gc(e.node.home)
    h.check("and then they go", said == (1, 0) and not has(e.node.home, LOST), said)
    h.check("it ends", e.node.stop(signal.SIGTERM) == 0, e.node.words())


def planted():
    e = Engine("planted", GATE_UNHELD="1")
    said = gc(e.node.home)
    h.check("planted: without the lock they go", said == (1, 0) and not has(e.node.home, LOST), said)
    e.open()
    h.check("planted: and the snapshot is not that of the others", e.offered() != [2] or not e.brought(), e.node.words())
    e.node.stop(signal.SIGTERM)


def ended(name, how):
    e = Engine(name)
    h.check(f"{name}: held", gc(e.node.home) == (0, 1))
    e.node.process.send_signal(how)
    if how == signal.SIGTERM:
        e.open()
    code = e.node.process.wait(patient(60))
    h.check(f"{name}: it ended", code == (0 if how == signal.SIGTERM else -how), (code, e.node.words()))
    said = gc(e.node.home)
    h.check(f"{name}: held no longer", said == (1, 0), said)


def by_hand():
    """`ledger snapshot write`."""
    home = h.path("made")
    junk = b"nobody's"
    chain.run(home, "cas", "put", h.write("junk", junk))
    writer = subprocess.Popen([h.pipectl, "--home", home, "ledger", "snapshot", "write", h.path("files")], env=behind("by-hand"), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until("a snapshot by hand is begun", lambda: os.path.exists(h.path("by-hand.reached")))
    said = gc(home)
    h.check("by hand: held", said == (0, 1) and has(home, junk), said)
    text = chain.run(home, "cas", "gc", "--all")
    h.check("and said to people", "1 more stay while a snapshot of the chain is being made" in text, text)
    h.write("by-hand.open", b"")
    _, err = writer.communicate(timeout=patient(60))
    h.check("by hand: made", writer.returncode == 0, err)
    said = gc(home)
    h.check("by hand: held no longer", said == (1, 0) and not has(home, junk), said)


made()
planted()
ended("killed", signal.SIGKILL)
ended("told", signal.SIGTERM)
by_hand()
h.finish()
