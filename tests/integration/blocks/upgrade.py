"""Blocks of every version of the rules, and the way from one to the next: a history of version 1 that is kept in the repository is replayed under its own rules, and goes on under
version 2 from the height of its vote; votes that fail change nothing; a node that does not follow the new version stops before its first block, says so, and goes on as if
nothing had been when it does; across a snapshot, and across restarts behind an engine; and a version that nobody here knows stops everybody at one height."""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engine"))

from harness import Harness
from signed import Chain
from world import World
import abci

h = Harness()
KEPT = os.path.join(HERE, "..", "..", "golden", "chain", "rules-1")
AT = 4  # the first block of version 2


def log(w):
    return os.path.join(w.home, "chain", "blocks.git")


def commits(w):
    return [b["commit"] for b in w.blocks()]


def follows(w, rules):
    """The newest version that this home's node follows."""
    with open(os.path.join(w.home, "pipectl.cfg"), "w", encoding="utf-8") as f:
        f.write(f"chain : {{ rules_known = {rules}; }};\n")


def vote(w, change, at, yes=("bob",), no=()):
    w.text("ledger", "params", "propose", change, "--from", yes[0], "--at", str(at))
    w.proposals = getattr(w, "proposals", 0) + 1
    number = str(w.proposals)
    for who, word in [(n, "yes") for n in yes] + [(n, "no") for n in no]:
        w.text("ledger", "params", "vote", number, word, "--from", who)
    return number


def first_version(name, ends=AT - 1):
    """Three blocks of version 1, in the last of which it was voted for version 2: by who has nine tenths of the bonds, after somebody with a tenth tried."""
    w = World(h, name)
    for who, bond in (("ada", 1000), ("bob", 9000)):
        w.text("ledger", "credit", who, str(10 * bond))
        w.text("ledger", "bond", who, str(bond))
    w.begin(1)
    w.end("cpu")
    alone = vote(w, "rules=2", AT, yes=("ada",))
    w.refused("too few weights", "PC5727", 3, "ledger", "params", "apply", alone)
    failed = vote(w, "quorum_ppm=1000", AT, yes=("ada",), no=("bob",))
    w.refused("voted down", "PC5727", 3, "ledger", "params", "apply", failed)
    w.refused("two versions at once", "PC6154", 3, "ledger", "params", "propose", "rules=3", "--from", "bob", "--at", str(AT))
    w.end("cpu")
    w.text("ledger", "params", "apply", vote(w, "rules=2", AT))
    w.refused("never down", "PC5893", 3, "ledger", "params", "propose", "rules=1", "--from", "bob", "--at", "99")
    for _ in range(2, ends):
        w.end("cpu")
    return w


def keep(w):
    """What the repository has of version 1: once, by a person who knows that it is right."""
    os.makedirs(os.path.join(KEPT, "blobs"))
    git = ["git", "--git-dir", log(w)]
    subprocess.run(git + ["bundle", "create", os.path.join(KEPT, "blocks.bundle"), "--all", "HEAD"], check=True, capture_output=True)
    with open(os.path.join(KEPT, "commits"), "w", encoding="utf-8") as f:
        f.write("\n".join(commits(w)) + "\n")
    for name in ("s.wgsl", "n0", "n1"):
        shutil.copy(h.path(name), os.path.join(KEPT, "blobs", name))


def replayed(name, want):
    """The kept blocks, run again from the repository's files alone."""
    empty = World(h, name + "-log")
    empty.text("ledger", "show")  # makes a log without blocks, which git fills
    clone = log(empty)
    subprocess.run(["git", "--git-dir", clone, "fetch", "-q", os.path.join(KEPT, "blocks.bundle"), "refs/heads/blocks:refs/heads/blocks"], check=True, capture_output=True)
    to = World(h, name)
    for blob in sorted(os.listdir(os.path.join(KEPT, "blobs"))):
        to.text("cas", "put", os.path.join(KEPT, "blobs", blob))
    to.text("block", "replay", "--from", clone, "--backend", "cpu")
    h.check(f"{name}: blocks of version 1 under their own rules", commits(to) == want, commits(to))
    return to


def heads(w):
    return [subprocess.run(["git", "--git-dir", log(w), "show", c + ":header"], capture_output=True, check=True).stdout for c in commits(w)]


def first_to_second():
    w = first_version("made")
    if os.environ.get("PIPECTL_BLESS") and not os.path.exists(KEPT):
        keep(w)
    with open(os.path.join(KEPT, "commits"), encoding="utf-8") as f:
        want = f.read().split()
    h.check("the same history is made again", commits(w) == want, commits(w))
    other, old = replayed("replayed", want), replayed("old", want)
    follows(old, 1)
    for what, args in (("a block", ("block", "end", "--backend", "cpu")), ("a message", ("ledger", "credit", "ada", "5"))):
        status, out, err = old.run(*args)
        h.check(f"who does not follow stops before {what} of version 2", status not in (0, 3) and not out and "PC6153" in err and f"block {AT} is under version 2" in err, (status, err))
    h.check("and has what it had", commits(old) == want)
    blocks = [[x.end("cpu")["commit"] for _ in range(2)] for x in (w, other)]
    h.check("version 2 from its height on, the same everywhere", blocks[0] == blocks[1] and [b"tree_root" in x for x in heads(w)] == [False] * (AT - 1) + [True, True], blocks)
    follows(old, 2)
    h.check("who follows now goes on as if nothing had been", [old.end("cpu")["commit"] for _ in range(2)] == blocks[0])
    w.text("block", "verify", f"1..{AT + 1}", "--backend", "cpu")
    # ---- across a snapshot
    w.text("ledger", "snapshot", "write", h.path("snapshot"))
    late = World(h, "late")
    late.text("ledger", "snapshot", "restore", h.path("snapshot"), "--trust", blocks[0][-1])
    h.check("a snapshot behind the change", late.end("cpu")["commit"] == w.end("cpu")["commit"])


# ---- a version that nobody here knows, behind an engine ----------------------------------------------------------------


def second_to_third():
    chain = Chain(h, ["ada", "bob"], params={"stake_floor": "1000000"})
    nodes = [abci.Node(h, chain.home(f"v{i}"), "cpu", options=("--snapshot-blocks", "3")) for i in range(2)]
    hashes = [b""]

    def decide(*txs, codes=None):
        made = [n.consensus.ask("finalize_block", txs=txs, height=len(hashes)) for n in nodes]
        h.check(f"block {len(hashes)}: one hash", len({m["app_hash"] for m in made}) == 1)
        h.check(f"block {len(hashes)}: outcomes", [r["code"] for r in made[0]["tx_results"]] == (codes or [0] * len(txs)), made[0]["tx_results"])
        for n in nodes:
            n.consensus.ask("commit")
        hashes.append(made[0]["app_hash"])

    def propose(who, value, at):
        return chain.message(who, "params", op=1, height=at, changes=[{"name": "rules", "value": value}])

    for n in nodes:
        n.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
    decide(chain.message("ada", "ledger", op=3, amount=9 * 10**6), chain.message("bob", "ledger", op=3, amount=10**6))
    step = propose("ada", "4", 6)
    chain.numbers["ada"] -= 1
    decide(step, codes=[6154])
    decide(propose("ada", "3", 6), chain.message("bob", "params", op=2, proposal=1, yes=True))
    # A tenth of the weights is none; with nine tenths it is.
    few = chain.message("bob", "params", op=3, proposal=1)
    chain.numbers["bob"] -= 1
    decide(few, codes=[5727])
    snapshot = nodes[0].snapshot.ask("list_snapshots")["snapshots"][0]
    decide(chain.message("ada", "params", op=2, proposal=1, yes=True), chain.message("ada", "params", op=3, proposal=1))
    late = abci.Node(h, chain.home("late-there"), "cpu")
    h.check("a late joiner before the change", late.snapshot.ask("offer_snapshot", snapshot=snapshot, app_hash=hashes[3])["result"] == 1)
    for i in range(snapshot["chunks"]):
        chunk = nodes[0].snapshot.ask("load_snapshot_chunk", height=3, format=1, chunk=i)["chunk"]
        h.check("comes in", late.snapshot.ask("apply_snapshot_chunk", index=i, chunk=chunk, sender="p")["result"] == 1)
    for height, txs in ((4, [few]), (5, None)):
        if txs is None:
            break
        made = late.consensus.ask("finalize_block", txs=txs, height=height)
        late.consensus.ask("commit")
        h.check("and follows", made["app_hash"] == hashes[height])
    for n in nodes:
        try:
            n.consensus.ask("finalize_block", txs=[], height=6)
            h.check("nobody goes on", False)
        except abci.Exception_ as e:
            h.check("everybody stops before the block, saying so", "PC6153" in str(e) and "block 6 is under version 3" in str(e), e)
        info = n.query.ask("info")
        h.check("and has what it had", info["last_block_height"] == 5 and info["last_block_app_hash"] == hashes[5], info)
        n.stop(signal.SIGKILL)
    code, _, err = h.run("--home", nodes[0].home, "node", "--engine", "abci", "--listen", "unix:" + h.path("again.sock"), "--backend", "cpu")
    h.check("a restart says so, too", code not in (0, 3) and "PC6153" in err, (code, err))
    code, out, err = h.run("--home", nodes[0].home, "ledger", "verify")
    h.check("what there is can be read", code == 0, err)
    late.stop(signal.SIGTERM)


def beginning():
    w = World(h, "unknown")
    os.makedirs(os.path.join(w.home, "chain"))
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        h.write("unknown/chain/params.cfg", re.sub(r'(\n *rules = )"1"', r'\1"3"', f.read()).encode())
    w.refused("no chain begins under rules that nobody knows", "PC5721", 3, "ledger", "show")


first_to_second()
second_to_third()
beginning()
h.finish()
