"""Late joiners that come in by a snapshot which the engine offers (ABCI's state sync), beside four validators that make them: what is offered is the
same everywhere and as the document has it; wrong offers, wrong chunks, liars that are consistent with themselves, endless retries and another
chain's snapshot are refused by their results and codes; killed at any moment a joiner has nothing or all of it, and goes on or begins anew."""
import hashlib
import os
import random
import signal
import struct
import sys
import time

from harness import Harness
from signed import Chain, HERE, cid
import abci
import wire

h, rng = Harness(), random.Random(20261128)
ACCEPT, ABORT, RETRY, REJECT, REJECT_FORMAT, REJECT_SNAPSHOT = 1, 2, 3, 3, 4, 5
SOURCE = open(os.path.join(HERE, "..", "nodes", "shaders", "mix.wgsl"), "rb").read()
INPUT = b"".join(struct.pack("<I", rng.getrandbits(32)) for _ in range(64))
LARGE = rng.randbytes(900 << 10)
PEOPLE = ["ada", "bob", "cay"]
chain = Chain(h, PEOPLE)


class Engine:
    """What was decided, with the hash of each height."""

    def __init__(self, nodes):
        self.nodes, self.blocks, self.hashes, self.results = nodes, [], [b""], []

    def decide(self, txs):
        height = len(self.blocks) + 1
        made = [(m["app_hash"], m["tx_results"]) for m in (n.consensus.ask("finalize_block", txs=txs, height=height) for n in self.nodes)]
        h.check(f"block {height}: one hash, the same results", all(m == made[0] for m in made))
        h.check(f"block {height}: all of it is taken in", [r["code"] for r in made[0][1]] == [0] * len(txs), made[0][1])
        for n in self.nodes:
            n.consensus.ask("commit")
        self.blocks.append(txs)
        self.hashes.append(made[0][0])
        self.results.append(made[0])

    def some(self, n=3):
        self.decide([chain.execute(p, cid(SOURCE), cid(INPUT), 4 * rng.randrange(1, 60)) if rng.random() < 0.6 else chain.transfer(p, "eve", 1)
                     for p in (rng.choice(PEOPLE) for _ in range(n))])

    def catch_up(self, node, at):
        for height in range(at + 1, len(self.blocks) + 1):
            made = node.consensus.ask("finalize_block", txs=self.blocks[height - 1], height=height)
            h.check(f"{node.name}: block {height} behind its snapshot", (made["app_hash"], made["tx_results"]) == self.results[height - 1])
            node.consensus.ask("commit")


# ---- the document's bytes ----------------------------------------------------------------------


def lines(text):
    return [line.split(" ", 1) for line in text.decode().splitlines()]


def parts(parcel):
    assert parcel.startswith(b"pipectl parcel 1\n\0")
    at, out = 18, []
    while at < len(parcel):
        name = parcel[at + 1:at + 1 + parcel[at]].decode()
        at += 1 + parcel[at]
        begin, whole, n = struct.unpack(">QQI", parcel[at:at + 20])
        out.append([name, begin, whole, parcel[at + 20:at + 20 + n]])
        at += 20 + n
    return out


def packed(some):
    return b"pipectl parcel 1\n\0" + b"".join(bytes([len(n)]) + n.encode() + struct.pack(">QQI", at, whole, len(data)) + data for n, at, whole, data in some)


def offer_of(snapshot, parcels):
    """The offer with these parcels in place of its own."""
    head = b"".join(b"%s %s\n" % (k.encode(), v.encode()) for k, v in lines(snapshot["metadata"]) if k != "parcel")
    text = head + b"".join(b"parcel %s\n" % hashlib.sha256(p).hexdigest().encode() for p in parcels)
    return dict(snapshot, chunks=len(parcels), metadata=text, hash=hashlib.sha256(text).digest())


# ---- an engine that syncs ----------------------------------------------------------------------


def load(node, snapshot, number):
    return node.snapshot.ask("load_snapshot_chunk", height=snapshot["height"], format=snapshot["format"], chunk=number)["chunk"]


def offer(node, snapshot, trusted):
    return node.snapshot.ask("offer_snapshot", snapshot=snapshot, app_hash=trusted)["result"]


def apply(node, number, chunk, sender="peer"):
    return node.snapshot.ask("apply_snapshot_chunk", index=number, chunk=chunk, sender=sender)


def height(node):
    return node.query.ask("info")["last_block_height"]


def sync(node, snapshot, trusted, parcels):
    """All of it; the last answer."""
    h.check(f"{node.name}: an offer is accepted", offer(node, snapshot, trusted) == ACCEPT, node.words())
    for i, p in enumerate(parcels):
        answer = apply(node, i, p)
        if answer["result"] != ACCEPT:
            break
    return answer


def fetched(engine, snapshot):
    """Its chunks, each from another peer."""
    return [load(engine.nodes[i % len(engine.nodes)], snapshot, i) for i in range(snapshot["chunks"])]


def offers(engine):
    lists = [n.snapshot.ask("list_snapshots")["snapshots"] for n in engine.nodes]
    h.check("all nodes offer the same", lists[0] and all(one == lists[0] for one in lists), engine.nodes[0].words())
    h.check("the last two of every two blocks", [s["height"] for s in lists[0]] == [6, 4], lists[0])
    for s in lists[0]:
        rows = lines(s["metadata"])
        chunks = fetched(engine, s)
        h.check("its hash", s["format"] == 1 and s["hash"] == hashlib.sha256(s["metadata"]).digest())
        h.check("its chunks", [v for k, v in rows if k == "parcel"] == [hashlib.sha256(c).hexdigest() for c in chunks] and len(chunks) == s["chunks"] > 3)
        header = bytes.fromhex(dict(rows)["header"])
        h.check("its record", header.endswith(b"state_root " + engine.hashes[s["height"]].hex().encode() + b"\n"))
        h.check("bounded chunks", all(len(c) < (1 << 20) + 4096 for c in chunks), [len(c) for c in chunks])
    newest = lists[0][0]
    for what, how in (("height", dict(newest, height=5)), ("format", dict(newest, format=2)), ("number", newest)):
        h.check(f"no chunk of another {what}", load(engine.nodes[0], how, newest["chunks"] if what == "number" else 0) == b"")
    n = engine.nodes[0]
    h.check("a node with blocks takes none", offer(n, newest, engine.hashes[6]) == ABORT and "PC6184" in n.words(), n.words())
    return lists[0]


def refusals(node, snapshot, old, trusted, parcels):
    """Everything wrong that one joiner can be told, and in the end it comes in."""
    text = snapshot["metadata"]
    for what, result, how, hash_ in (
            ("another hash than the engine's", REJECT, snapshot, bytes(32)), ("the hash of another block", REJECT, old, trusted),
            ("no hash", REJECT, snapshot, b""), ("another format", REJECT_FORMAT, dict(snapshot, format=2), trusted),
            ("a description that was changed", REJECT, dict(snapshot, metadata=text.replace(b"height", b"heighT", 1)), trusted),
            ("one that is changed with its hash", REJECT, dict(snapshot, metadata=text + b"x", hash=hashlib.sha256(text + b"x").digest()), trusted),
            ("another height", REJECT, dict(snapshot, height=4), trusted), ("another number of chunks", REJECT, dict(snapshot, chunks=1), trusted),
            ("nothing", REJECT_FORMAT, {}, trusted)):
        h.check(f"refused: {what}", offer(node, how, hash_) == result)
    h.check("with its code", node.words().count("PC6184") >= 8, node.words())
    late = abci.Connection(node.address)
    late.send("apply_snapshot_chunk", index=0, chunk=parcels[0], sender="peer")
    try:
        late.hear("apply_snapshot_chunk")
        h.check("a chunk of nothing", False)
    except abci.Exception_ as e:
        h.check("a chunk of nothing: PC6170", "PC6170" in str(e), e)
    h.check("an offer is accepted", offer(node, snapshot, trusted) == ACCEPT)
    h.check("one that comes too early", apply(node, 2, parcels[2])["result"] == ABORT)
    h.check("one out of range", apply(node, snapshot["chunks"], parcels[0])["result"] == ABORT and "PC6185" in node.words())
    for i, p in enumerate(parcels):
        bad = apply(node, i, p[:-1] + bytes([p[-1] ^ 1]), "evil")
        h.check(f"chunk {i} corrupted", bad == {"result": RETRY, "refetch_chunks": [i], "reject_senders": ["evil"]}, bad)
        if i:
            h.check("what is taken may come again", apply(node, i - 1, parcels[i - 1])["result"] == ACCEPT)
        if i == len(parcels) - 1:
            h.check("nothing of it is there before the last", height(node) == 0)
        h.check(f"chunk {i} from another", apply(node, i, p) == {"result": ACCEPT, "refetch_chunks": [], "reject_senders": []})
    info = node.query.ask("info")
    h.check("the chain is there", info["last_block_height"] == snapshot["height"] and info["last_block_app_hash"] == trusted, info)


def lies(node, snapshot, trusted, parcels):
    """Offers that hold together, made by somebody who knows how: the engine's hash gives each away, and all of it is rejected."""
    is_rows = [i for i, p in enumerate(parcels) if parts(p)[0][0].startswith("rows-")]
    first = is_rows[0]
    rows, blobs = parts(parcels[first])[0], [i for i, p in enumerate(parcels) if parts(p)[0][0].startswith("blobs/")]
    changed = bytearray(rows[3])
    changed[-1] ^= 1
    record = parts(parcels[0])
    name = "blobs/" + cid(b"more")

    def with_(i, *some):
        return parcels[:i] + [packed(s) for s in some] + parcels[i + 1:]

    def index(data):
        return with_(0, [[n, at, len(data), data] if n == "snapshot" else [n, at, whole, d] for n, at, whole, d in record])

    text = next(d for n, _, _, d in record if n == "snapshot")
    twice = text + text.splitlines(True)[-1].replace(b"rows-000000", b"rows-000001")
    cases = {
        "a row that was changed": with_(first, [[rows[0], 0, rows[2], bytes(changed)]]),
        "rows that are left out": index(text[:text.index(b"chunk ")])[:first] + parcels[first + len(is_rows):],
        "the same rows twice": index(twice)[:first + len(is_rows)] + [packed([["rows-000001", 0, rows[2], rows[3]]])] + parcels[first + len(is_rows):],
        "rows of another name": with_(first, [["rows-000009", *rows[1:]]]),
        "a file outside": with_(first, [["../../../../tmp/out", 0, 1, b"x"]]),
        "a link's name": with_(first, [["blobs/..", 0, 1, b"x"]]),
        "bytes that nothing asks for": parcels + [packed([[name, 0, 4, b"more"]])],
        "bytes with another CID": with_(blobs[0], [[n, at, whole, d[:-1] + bytes([d[-1] ^ 1])] for n, at, whole, d in parts(parcels[blobs[0]])]),
        "bytes that are left out": parcels[:blobs[0]],
        "a part without those before": with_(blobs[0], [[parts(parcels[blobs[0]])[0][0], 5, 9, b"part"]]),
        "a part longer than its file": with_(first, [[rows[0], 0, 4, rows[3]]]),
        "no rows": parcels[:1],
        "a record that was changed": with_(0, [[n, at, whole, d.replace(b"transfer", b"transfeR") if n == "record-receipts" else d + b"x" if n == "record-results" else d] if n != "record-results" else
                                               [n, at, whole + 1, d + b"x"] for n, at, whole, d in record]),
        "no parcel": [b"pipectl parcel 2\n\0"] + parcels[1:],
        "half a part": [parcels[0][:-3]] + parcels[1:],
    }
    for what, some in cases.items():
        lie = offer_of(snapshot, some)
        answer = sync(node, lie, trusted, some)
        h.check(f"a liar: {what}", answer == {"result": REJECT_SNAPSHOT, "refetch_chunks": [], "reject_senders": ["peer"]}, (answer, node.words()[-300:]))
        h.check("is not taken again", offer(node, lie, trusted) == REJECT)
        h.check("and leaves nothing", height(node) == 0 and not os.path.exists(os.path.join(node.home, "chain/incoming")))
    h.check("an offer is accepted", offer(node, snapshot, trusted) == ACCEPT)
    apply(node, 0, parcels[0])
    answers = [apply(node, 1, b"junk", f"p{i}")["result"] for i in range(9)]
    h.check("no endless retries", answers == [RETRY] * 8 + [REJECT_SNAPSHOT] and offer(node, snapshot, trusted) == REJECT, answers)


def killed(engine, snapshot, later, parcels, trusted):
    node = abci.Node(h, chain.home("killed"), "cpu")
    stopped = 0
    for i in range(12):
        if i == 4:  # another one than was begun
            h.check("another snapshot begins anew", offer(node, later, engine.hashes[later["height"]]) == ACCEPT)
            apply(node, 0, load(engine.nodes[0], later, 0))
        h.check("goes on, or begins", offer(node, snapshot, trusted) == ACCEPT, node.words())
        n = min(1 + i, len(parcels) - 1)
        for k in range(n):
            h.check(f"chunk {k}", apply(node, k, parcels[k])["result"] == ACCEPT)
        if n == len(parcels) - 1:
            node.snapshot.send("apply_snapshot_chunk", index=n, chunk=parcels[n], sender="peer")
            node.snapshot.send("flush")
            time.sleep(rng.random() * 0.04)
        node.stop(signal.SIGKILL)
        stopped += 1
        shown = chain.run(node.home, "--json", "ledger", "show")
        h.check("the home is one all the while", chain.id.hex() in shown)
        node.start()
        at = height(node)
        h.check("nothing or all of it", at in (0, snapshot["height"]), at)
        if at:
            break
    if not height(node):
        sync(node, snapshot, trusted, parcels)
    info = node.query.ask("info")
    h.check(f"killed {stopped} times, and in", info["last_block_app_hash"] == trusted, info)
    return node


def ended_whole(snapshot, parcels, trusted):
    """Ended when the last row was in and the home had not turned to it yet: something lies where the mark of that turn goes."""
    node = abci.Node(h, chain.home("whole"), "cpu")
    h.check("an offer is accepted", offer(node, snapshot, trusted) == ACCEPT, node.words())
    for k, parcel in enumerate(parcels[:-1]):
        h.check(f"chunk {k}", apply(node, k, parcel)["result"] == ACCEPT)
    mark = os.path.join(node.home, "chain/incoming/whole")
    os.mkdir(mark)
    try:
        answer = apply(node, len(parcels) - 1, parcels[-1])
    except (abci.Exception_, wire.Closed) as e:
        answer = e
    h.check("the turn fails", not isinstance(answer, dict), answer)
    node.stop(signal.SIGKILL)
    os.rmdir(mark)
    node.start()
    h.check("nothing of it yet", height(node) == 0)
    answer = sync(node, snapshot, trusted, parcels)
    h.check("the same offer again, and in", answer["result"] == ACCEPT and node.query.ask("info")["last_block_app_hash"] == trusted, (answer, node.words()[-500:]))
    return node


def another(snapshot_of, parcels, trusted, engine):
    """A whole chain of somebody else: with this engine's hash it is none, and where the engine itself is wrong the home still knows its own."""
    node = abci.Node(h, chain.home("stranger"), "cpu")
    h.check("another chain's snapshot", offer(node, snapshot_of, engine.hashes[6]) == REJECT)
    answer = sync(node, snapshot_of, trusted, parcels)
    h.check("another chain, and an engine that is wrong", answer["result"] == REJECT_SNAPSHOT and "another chain than this home" in node.words(), answer)
    node.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
    engine.catch_up(node, 0)
    h.check("it comes by blocks instead", height(node) == len(engine.blocks))
    return node


def main():
    nodes = [abci.Node(h, chain.home(f"v{i}"), "cpu", options=("--snapshot-blocks", "2")) for i in range(4)]
    engine = Engine(nodes)
    for n in nodes:
        n.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
    engine.decide([chain.message("ada", "upload", wgsl_source=SOURCE, description="mix"), *chain.bring("ada", INPUT, LARGE)])
    h.check("no snapshot yet", nodes[0].snapshot.ask("list_snapshots")["snapshots"] == [])
    # A shader as large as one may be, so that blobs take more than one parcel.
    engine.decide([chain.message("bob", "upload", wgsl_source=SOURCE + b"//" + b"x" * (900 << 10), description=""),
                   chain.message("bob", "upload", wgsl_source=SOURCE + b"//" + b"y" * (700 << 10), description="")])
    for _ in range(4):
        engine.some()
    newest, old = offers(engine)
    parcels, trusted = fetched(engine, newest), engine.hashes[6]
    joiner = abci.Node(h, chain.home("joiner"), "cpu", options=("--snapshot-blocks", "2"))
    refusals(joiner, newest, old, trusted, parcels)
    engine.nodes.append(joiner)
    engine.some()
    engine.some()
    h.check("a joiner offers what the others do", joiner.snapshot.ask("list_snapshots")["snapshots"][0] == nodes[0].snapshot.ask("list_snapshots")["snapshots"][0])
    liars = abci.Node(h, chain.home("lied-to"), "cpu")
    lies(liars, newest, trusted, parcels)
    again = sync(liars, old, engine.hashes[4], fetched(engine, old) if load(nodes[0], old, 0) else [b""])
    h.check("an old one is gone by now", again["result"] == RETRY)
    end = killed(engine, newest, nodes[0].snapshot.ask("list_snapshots")["snapshots"][0], parcels, trusted)
    whole = ended_whole(newest, parcels, trusted)
    engine.catch_up(end, 6)
    engine.nodes.append(end)
    engine.some()
    other = Chain(h, PEOPLE, balance=10**12)
    foreign = abci.Node(h, other.home("other"), "cpu", options=("--snapshot-blocks", "1"))
    foreign.consensus.ask("init_chain", chain_id=other.name, initial_height=1)
    there = foreign.consensus.ask("finalize_block", txs=[other.message("ada", "upload", wgsl_source=SOURCE, description="mix")], height=1)
    foreign.consensus.ask("commit")
    their = foreign.snapshot.ask("list_snapshots")["snapshots"][0]
    engine.nodes.append(another(their, [load(foreign, their, i) for i in range(their["chunks"])], there["app_hash"], engine))
    engine.some()
    for n in engine.nodes + [liars, foreign, whole]:
        h.check(f"{n.name} stops when asked", n.stop(signal.SIGTERM) == 0, n.words())
    for n in (joiner, end):
        code, out, err = h.run("--home", n.home, "ledger", "verify")
        h.check(f"{n.name}: every row of it", code == 0, err)
    print(f"{len(engine.blocks)} blocks, {len(parcels)} chunks of {sum(map(len, parcels))} bytes")
    h.finish()


sys.exit(main())
