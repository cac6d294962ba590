"""An engine of four validators, each a `pipectl node --engine abci` on a device of its own, played from the documents alone: honest
rounds, a proposer that means harm, a node killed while a block is made, between its halves and while it is committed, one that joins
late and replays all blocks, and an engine that forgot what it decided."""
import os
import random
import signal
import struct
import sys
import time

from harness import Harness
from signed import Chain, HERE, cid
import abci
import rowproof
import wire

DEVICES = sys.argv[1:]
h, rng = Harness(), random.Random(20261127)
SHADERS = os.path.join(HERE, "..", "nodes", "shaders")
SOURCE = {n: open(os.path.join(SHADERS, n + ".wgsl"), "rb").read() for n in ("mix", "fold", "divide")}
INPUTS = [b"".join(struct.pack("<I", rng.getrandbits(32)) for _ in range(16 * (i + 1))) for i in range(4)]
PEOPLE = ["ada", "bob", "cay", "dan"]
# A small budget, so that a block can be over it.
chain = Chain(h, PEOPLE, params={"throughput": "5000", "block_time_ms": "1000", "utilisation_ppm": "500000"})
BUDGET = 5000 * 1000 // 2


class Engine:
    def __init__(self, nodes):
        self.nodes, self.height, self.hash, self.blocks, self.results, self.app_hashes = nodes, 0, b"", [], [], [b""]

    def shake(self, node):
        """What an engine does when it finds its node: Info, InitChain, and the blocks that are missing there."""
        info = node.query.ask("info", version="0.38.0")
        at = info["last_block_height"]
        h.check(f"{node.name}: height {at} and its hash", info["last_block_app_hash"] == self.app_hashes[at], info)
        if at == 0:
            begun = node.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
            h.check(f"{node.name}: the hash to begin with", begun["app_hash"] == chain.id, begun)
        for height in range(at + 1, self.height + 1):
            made = self.finalize(node, height, self.blocks[height - 1])
            h.check(f"{node.name}: block {height} again", made == self.results[height - 1])
            node.consensus.ask("commit")
        return at

    @staticmethod
    def finalize(node, height, txs):
        made = node.consensus.ask("finalize_block", txs=txs, height=height)
        return made["app_hash"], [(r["code"], r["data"], r["gas_wanted"], r["gas_used"], r["codespace"]) for r in made["tx_results"]]

    def votes(self, txs):
        return [n.consensus.ask("process_proposal", txs=txs, height=self.height + 1)["status"] for n in self.nodes]

    def decide(self, txs, crash=None):
        """Finalize and commit at all nodes. crash: (node, how) of one that dies on the way."""
        self.height += 1
        made = []
        for n in self.nodes:
            if crash and n is crash[0]:
                made.append(None)
                continue
            made.append(self.finalize(n, self.height, txs))
        first = next(m for m in made if m)
        h.check(f"block {self.height}: one hash, the same results", all(m == first for m in made if m), made)
        self.blocks.append(txs)
        self.results.append(first)
        self.app_hashes.append(first[0])
        for n in self.nodes:
            if not (crash and n is crash[0]):
                n.consensus.ask("commit")
        if crash:
            self.crash(*crash, txs)
        return first[1]

    def crash(self, node, how, txs):
        node.consensus.send("finalize_block", txs=txs, height=self.height)
        node.consensus.send("flush")
        if how == "between" or how == "committing":
            node.consensus.hear("finalize_block")
        if how == "committing":
            node.consensus.send("commit")
            node.consensus.send("flush")
        if how == "during" or how == "committing":
            time.sleep(rng.random() * 0.05)
        node.stop(signal.SIGKILL)
        node.start()
        at = self.shake(node)
        h.check(f"{node.name}: whole or absent", at == self.height if how == "committed" else at in (self.height - 1, self.height), at)
        if how == "between":
            h.check(f"{node.name}: not before its commit", at == self.height - 1, at)

    def round(self, pool, proposer, crash=None):
        txs = self.nodes[proposer].consensus.ask("prepare_proposal", txs=pool, max_tx_bytes=1 << 20, height=self.height + 1)["txs"]
        h.check(f"block {self.height + 1}: what an honest proposer proposes is accepted", self.votes(txs) == [1] * len(self.nodes))
        h.check("nothing of its own", all(t in pool for t in txs))
        return txs, self.decide(txs, crash)


def job(sender, name="mix", **how):
    return chain.execute(sender, cid(SOURCE[name]), cid(rng.choice(INPUTS)), 4 * rng.randrange(1, 9), **how)


def honest(engine):
    """Some rounds, each with another proposer."""
    uploads = [chain.message("ada", "upload", wgsl_source=s, description=n) for n, s in SOURCE.items()] + chain.bring("ada", *INPUTS)
    for m in uploads:
        checks = [n.mempool.ask("check_tx", tx=m) for n in engine.nodes]
        h.check("an upload is checked", all(c == checks[0] and c["code"] == 0 for c in checks), checks)
    again = engine.nodes[0].mempool.ask("check_tx", tx=uploads[0])
    h.check("and not twice: PC5842", again["code"] == 5842 and again["codespace"] == "pipectl", again)
    h.check("what was only checked is in no store", not any(os.path.exists(p) for n in engine.nodes for p in stored(n, SOURCE["mix"])))
    txs, results = engine.round(uploads[::-1], 0)
    h.check("a sender's messages in their order", txs == uploads)
    h.check("all of it was taken in", [r[0] for r in results] == [0] * len(uploads), results)
    pool = [job(p) for p in PEOPLE for _ in range(3)] + [chain.transfer("bob", "eve", 7)]
    rng.shuffle(pool)
    limits = {t: engine.nodes[1].mempool.ask("check_tx", tx=t)["gas_wanted"] for p in PEOPLE for t in sorted(pool, key=number_of) if sender_of(t) == p}
    txs, results = engine.round(pool + [b"\xff\xff", chain.transfer("bob", "eve", 7, number=99)], 1)
    h.check("what cannot be taken in is not proposed", sorted(txs) == sorted(pool))
    wanted = {t: r[2] for t, r in zip(txs, results)}
    h.check("gas within what was checked, and used", all(r[2] <= limits[t] and (r[3] > 0) == (r[2] > 0) == (limits[t] > 0) for t, r in zip(txs, results)), results)
    rest, best = dict(), []
    for t in sorted(pool, key=number_of):
        rest.setdefault(sender_of(t), []).append(t)
    while any(rest.values()):
        best.append(max((q[0] for q in rest.values() if q), key=lambda t: (wanted[t] / len(t), -pool.index(t))))
        rest[sender_of(best[-1])].pop(0)
    h.check("ordered by gas a byte, and the numbers of each sender", txs == best)
    return txs, results


def stored(node, data):
    name = cid(data)
    for folder, _, files in os.walk(os.path.join(node.home, "cas")):
        for f in files:
            if name in f or name[-20:] in f:
                yield os.path.join(folder, f)


def parsed(tx):
    request = wire.decode("Request", tx)
    (kind, values), = [(k, v) for k, v in request.items() if v is not None and k != "auth"]
    return values["sender"], request["auth"]["nonce"]


def turned(tx):
    """The same message, its fields in the other order."""
    auth = wire.encode("Request", {"auth": wire.decode("Request", tx)["auth"]})
    assert tx.endswith(auth)
    return auth + tx[:-len(auth)]


def sender_of(tx):
    return parsed(tx)[0]


def number_of(tx):
    return parsed(tx)[1]


def byzantine(engine, old):
    """One proposer of four means harm: the others reject, and the next one goes on."""
    at = dict(chain.numbers)
    good = [job("ada"), job("ada"), chain.transfer("bob", "cay", 5)]
    big = [chain.execute("dan", cid(SOURCE["mix"]), cid(INPUTS[0]), 1 << 10, groups=4, number=at["dan"] + i) for i in range(16)]
    checks = [engine.nodes[0].mempool.ask("check_tx", tx=t) for t in big]
    h.check("large jobs of the test are admitted, with their limits", all(c["code"] == 0 and c["gas_wanted"] == 10**6 for c in checks), checks)
    eve = Chain(h, ["ada"])
    eve.id = bytes(32)
    cases = {
        "a message of a block before": [old], "one twice": [good[0], good[0]], "wrong order": [good[1], good[0]], "bytes that are no message": good + [b"\xff\xff"],
        "nothing": [b""], "a gap": [good[1]], "another chain's": [eve.transfer("ada", "bob", 5, number=at["ada"])],
        "unsigned": [wire.encode("Request", {"ledger": dict(sender="ada", op=2, to="bob", amount=5)})],
        "another's key": [chain.transfer("ada", "bob", 5, number=at["ada"], key=chain.keys["bob"])],
        "changed behind the signature": [good[2].replace(b"cay", b"dan", 1)], "passed its height": [chain.transfer("bob", "cay", 5, number=at["bob"], expiry=1)],
        "an unknown field": [good[2] + b"\xa2\x06\x00"], "not canonical": [turned(good[2])], "a query": [wire.encode("Request", {"query": {"job_id": "ab" * 32}})],
        "an end of a block": [wire.encode("Request", {"block_end": {"height": engine.height + 1}})],
        "more than there is": [chain.transfer("bob", "cay", 10**18, number=at["bob"])],
        "over the budget": big, "too many": [b"x"] * 8193, "too long": [b"x" * (1 << 20)] * 5,
    }
    for name, txs in cases.items():
        h.check(f"rejected: {name}", engine.votes(txs) == [2] * 4)
    h.check("accepted: nothing at all", engine.votes([]) == [1] * 4)
    h.check("accepted: what is left of it", engine.votes(good) == [1] * 4)
    for n in engine.nodes:
        h.check("rejected for another height", n.consensus.ask("process_proposal", txs=good, height=engine.height + 2)["status"] == 2)
        h.check("votes carry nothing", n.consensus.ask("extend_vote") == {} and n.consensus.ask("verify_vote_extension")["status"] == 1
                and n.consensus.ask("verify_vote_extension", vote_extension=b"x")["status"] == 2)
        h.check("why is told", all(f"PC{c}" in n.words() for c in (5842, 5841, 5840, 5844, 5845, 5843, 5782, 5783, 5781, 5826, 5713, 6171, 6166)), n.words()[-2000:])
    txs, results = engine.round(good + big, 2)
    h.check("an honest proposer stays within the budget", BUDGET - max(r[2] for r in results) < sum(r[2] for r in results) <= BUDGET, results)
    rest, _ = engine.round([t for t in good + big if t not in txs], 3)
    h.check("and what did not fit comes next", len(rest) + len(txs) == len(good + big) and rest)
    chain.numbers["dan"] += len(big)
    # If all four were wrong it would be decided all the same: the outcome is one and the same everywhere, and nobody halts.
    results = engine.decide([b"\xff", old, job("ada"), chain.transfer("bob", "cay", 10**18, number=chain.numbers["bob"])])
    h.check("what was decided wrongly has codes", [r[0] for r in results[:2]] == [5781, 5842] and results[2][0] == 0 and results[3][0] == 5713, results)


def crashes(engine):
    for i, how in enumerate(("during", "between", "committing", "during", "committing", "during", "between")):
        node = engine.nodes[i % 4]
        pool = [job(rng.choice(PEOPLE)) for _ in range(3)]
        engine.round(pool, (i + 1) % 4, (node, how))


def forgetful(engine):
    """An engine that asks again for what is done, or decides it otherwise."""
    n = engine.nodes[0]
    last = engine.height
    h.check("asked again for a block that is done", engine.finalize(n, last, engine.blocks[-1]) == engine.results[-1])
    for what, height, txs, code in (("decided otherwise", last, [], 6167), ("not the next", last + 2, [], 6166), ("no height", 0, [], 6166)):
        try:
            engine.finalize(n, height, txs)
            h.check(what, False, "was answered")
        except abci.Exception_ as e:
            h.check(f"{what}: PC{code}", f"PC{code}" in str(e), e)
        n.consensus.close()
        n.consensus = abci.Connection(n.address)
    for what, ask, code in (("a commit of nothing", ("commit", {}), 6170), ("a chain that has begun", ("init_chain", dict(chain_id=chain.name)), 6170)):
        try:
            n.consensus.ask(ask[0], **ask[1])
            h.check(what, False, "was answered")
        except abci.Exception_ as e:
            h.check(f"{what}: PC{code}", f"PC{code}" in str(e), e)
        n.consensus.close()
        n.consensus = abci.Connection(n.address)
    # An engine that died between the halves, its node alive: the block is not there, and is made again.
    pool = [job("cay")]
    first = engine.finalize(n, last + 1, pool)
    h.check("before its commit it is not there", n.query.ask("info")["last_block_height"] == last)
    h.check("asked again before the commit", engine.finalize(n, last + 1, pool) == first)
    h.check("and messages are checked on top of what is final", n.mempool.ask("check_tx", tx=pool[0])["code"] == 0)
    other = engine.finalize(n, last + 1, [])
    h.check("decided otherwise before the commit", other != first)
    engine.decide(pool)
    h.check("as it was the first time", engine.results[-1] == first)


def queries(engine, ids):
    n = engine.nodes[1]
    account = wire.decode("EngineAccount", n.query.ask("query", path="/account", data=b"ada")["value"])
    h.check("an account", account["name"] == "ada" and account["sequence"] == chain.numbers["ada"] and account["balance"] > 0, account)
    got = n.query.ask("query", path="/job", data=ids[0].encode())
    found = wire.decode("Response", got["value"])["query"]
    h.check("a job", got["height"] == engine.height and found["status"] == 2 and found["output_cid"].startswith("bafkrei"), found)
    data = wire.decode("Response", n.query.ask("query", path="/message", data=wire.encode("Request", {"get": {"cid": found["output_cid"]}}))["value"])["get"]
    h.check("its bytes", cid(data["data"]) == found["output_cid"])
    block = wire.decode("Response", n.query.ask("query", path="/block")["value"])["block_query"]
    h.check("the last block", block["height"] == engine.height and bytes.fromhex(block["state_root"]) == engine.app_hashes[-1], block)
    commits = {wire.decode("Response", m.query.ask("query", path="/block", data=b"2")["value"])["block_query"]["commit"] for m in engine.nodes}
    h.check("one commit id", len(commits) == 1, commits)
    h.check("the chain", n.query.ask("query", path="/chain")["value"] == chain.id)
    for what, how, code in (("no path", dict(path="/x"), 6172), ("a proof of a block", dict(path="/block", prove=True), 6172), ("a row without its proof", dict(path="/row", data=b"roles\n1\nada"), 6172),
                            ("a row of no table", dict(path="/row", data=b"nothing\nx", prove=True), 6142), ("a row of no key", dict(path="/row", data=b"accounts", prove=True), 6142),
                            ("a row of too many words", dict(path="/row", data=b"a\n" * 12, prove=True), 6172), ("an old height", dict(path="/chain", height=1), 6172),
                            ("no job", dict(path="/job", data=b"ab"), 6172), ("no height", dict(path="/block", data=b"-1"), 6172), ("no account", dict(path="/account", data=b"A b"), 5714),
                            ("an unknown job", dict(path="/job", data=b"ab" * 32), 5801), ("a put", dict(path="/message", data=wire.encode("Request", {"put": {"data": b"x"}})), 6172),
                            ("no message", dict(path="/message", data=b"\xff"), 6172), ("too long", dict(path="/job", data=b"a" * 5000), 6172)):
        answer = n.query.ask("query", **how)
        h.check(f"query of {what}: PC{code}", answer["code"] == code and answer["codespace"] == "pipectl", answer)
    for path, data, table, there in (("/account", b"ada", "accounts", True), ("/account", b"nobody", "accounts", False), ("/job", ids[0].encode(), "jobs", True),
                                     ("/job", b"ab" * 32, "jobs", False), ("/chain", b"", "identity", True), ("/row", b"roles\n2\nada", "roles", True), ("/row", b"shaders\nx", "shaders", False)):
        answer = n.query.ask("query", path=path, data=data, prove=True)
        op, = answer["proof_ops"]["ops"]
        got = rowproof.verify(op["data"].decode(), engine.app_hashes[answer["height"]].hex())
        h.check(f"{path} {data}: proved by the engine's hash", (got["row"] is not None) == there and got["table"] == table and op["type"] == "pipectl:row"
                and op["key"].startswith(table.encode() + b"\n"), (answer["code"], got))
        if path == "/row":
            h.check("the row is the value", (answer["value"] != b"") == there and answer["value"].hex() in op["data"].decode())
        try:
            rowproof.verify(op["data"].decode(), engine.app_hashes[1].hex())
            h.check("and by no other", False)
        except rowproof.Wrong:
            h.check("and by no other", True)
    h.check("no snapshots of a few blocks, and none for who has blocks (joins.py has the others)", n.snapshot.ask("list_snapshots") == {"snapshots": []}
            and n.snapshot.ask("offer_snapshot")["result"] == 2 and n.snapshot.ask("load_snapshot_chunk") == {"chunk": b""})
    h.check("echo", n.query.ask("echo", message="hé")["message"] == "hé")


def main():
    nodes = [abci.Node(h, chain.home(f"v{i}", INPUTS), d) for i, d in enumerate(DEVICES)]
    engine = Engine(nodes)
    for n in nodes:
        engine.shake(n)
    txs, results = honest(engine)
    ids = [wire.decode("Response", r[1])["execute"]["job_id"] for r in results if r[2]]
    byzantine(engine, txs[0])
    crashes(engine)
    forgetful(engine)
    queries(engine, ids)
    late = abci.Node(h, chain.home("late", INPUTS), "cpu")
    h.check("a late joiner begins at the beginning", engine.shake(late) == 0)
    engine.nodes.append(late)
    engine.round([job("dan")], 4)
    for n in engine.nodes:
        h.check(f"{n.name} stops when asked", n.stop(signal.SIGTERM) == 0, n.words())
        h.check(f"{n.name} leaves no socket", not os.path.exists(n.address[5:]))
    # The history is one like any other.
    code, _, err = h.run("--home", nodes[0].home, "block", "verify", f"1..{engine.height}", "--backend", "cpu")
    h.check("its blocks verify", code == 0, err)
    print(f"{engine.height} blocks, {sum(len(b) for b in engine.blocks)} messages on {DEVICES}")
    h.finish()


main()
