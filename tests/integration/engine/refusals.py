"""What a node behind an engine refuses: addresses, homes, frames that are none, requests that are none, connections that are too
many, too slow or gone."""
import os
import signal
import socket
import time

from harness import Harness, patient
from signed import Chain
import abci
import wire

h = Harness()
chain = Chain(h, ["ada", "bob", "cay"])


def refused(what, code, status, *args, home=None):
    got, _, err = h.run("--home", home or chain.h.path("one"), "node", "--backend", "cpu", *args)
    h.check(f"{what}: {code}", got == status and code in err, (got, err))


def free_port():
    """One that the system gives to no connection, and that another run of this looks at last."""
    for i in range(15000):
        port = 10240 + (os.getpid() * 7 + i) % 15000
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port is free")


def starting():
    for address in ("here", "udp:127.0.0.1:1", "tcp:127.0.0.1", "tcp:127.0.0.1:0", "tcp:127.0.0.1:65536", "tcp:8.8.8.8:1", "tcp:0.0.0.0:1", "tcp:[::]:1", "tcp:example.org:1", "tcp::1"):
        refused(f"--listen {address}", "PC6161", 3, "--engine", "abci", "--listen", address)
    refused("no address", "PC0010", 2, "--engine", "abci")
    status, _, err = h.run("--home", chain.h.path("one"), "node", "--backend", "cpu", "--engine", "abci", "--listen", "unix:/tmp/x", "--snapshot-blocks", "some")
    h.check("no number of blocks: PC0010", status == 2 and "PC0010" in err, (status, err))
    refused("another engine", "PC0010", 2, "--engine", "raft", "--listen", "unix:/tmp/x")
    refused("no engine", "PC0010", 2, "--listen", "unix:/tmp/x")
    refused("both", "PC0010", 2, "--engine", "abci", "--listen", "unix:/tmp/x", "--socket", "/tmp/y")
    refused("a file in the way", "PC6160", 1, "--engine", "abci", "--listen", "unix:" + h.write("file", b""))
    refused("version 1 of the rules", "PC6164", 3, "--engine", "abci", "--listen", "unix:" + h.path("s"), home=h.path("released"))
    home = chain.home("spoilt")
    chain.run(home, "ledger", "apply", h.write("message", chain.transfer("ada", "bob", 1, number=0)))
    refused("messages that no engine decided", "PC6165", 3, "--engine", "abci", "--listen", "unix:" + h.path("s"), home=home)


def contracts():
    """A chain that takes contracts, or will: who cannot run them says so at once, in whatever way it would be reached."""
    takes = Chain(h, ["ada", "bob"], params={"contracts": "1"})
    home = takes.home("takes")
    h.env["PIPECTL_WASMTIME"] = h.path("nothing.so")
    for way in (["--engine", "abci", "--listen", "unix:" + h.path("s")], ["--socket", h.path("s")], ["--order", "etcd://127.0.0.1:1"]):
        refused(f"no Wasmtime, {way[0]}", "PC6114", 5, *way, home=home)
    status, _, err = h.run("--home", home, "node", "--backend", "cpu", "--socket", h.path("s"))
    h.check("what to do stands there", "tools/packaging/install-wasm" in err and "nothing.so" in err, err)
    node = abci.Node(h, chain.path, "cpu")
    code = node.mempool.ask("check_tx", tx=chain.message("ada", "contract", number=0, code=b"\0asm\1\0\0\0"))["code"]
    h.check("a chain that takes none needs no Wasmtime, and refuses them: PC6115", code == 6115, code)
    node.consensus.ask("init_chain", chain_id=chain.name)
    made = node.consensus.ask("finalize_block", txs=[chain.message("ada", "contract", number=0, code=b"\0asm\1\0\0\0"), chain.message("ada", "call", number=0, contract="bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
                                                                                                                                       function="f", fuel=1)], height=1)
    h.check("in its block, too: nobody is stopped by a message", [r["code"] for r in made["tx_results"]] == [6115, 6115], made)
    h.check("stops", node.stop(signal.SIGTERM) == 0, node.words())
    del h.env["PIPECTL_WASMTIME"]


def voted():
    """A chain that votes for contracts while a node runs that cannot run them: it goes on to the last block without them, and says so in place of the next one; stopped in between it
    does not begin again."""
    votes = Chain(h, ["ada", "bob"], params={"stake_floor": "1"})
    home = votes.home("votes")
    txs = [[votes.message("ada", "ledger", op=3, amount=1000)], [votes.message("ada", "params", op=1, height=6, changes=[dict(name="contracts", value="1")])],
           [votes.message("ada", "params", op=2, proposal=1, yes=1)], [votes.message("ada", "params", op=3, proposal=1)], []]
    h.env["PIPECTL_WASMTIME"] = h.path("nothing.so")
    for name, last in (("votes", 4), ("goes on", 5)):
        home = votes.home(name) if name != "votes" else home
        node = abci.Node(h, home, "cpu")
        node.consensus.ask("init_chain", chain_id=votes.name)
        codes = []
        for height in range(1, last + 1):
            made = node.consensus.ask("finalize_block", txs=txs[height - 1], height=height)
            codes += [r["code"] for r in made["tx_results"]]
            node.consensus.ask("commit")
        h.check(f"a vote for contracts, {name}", codes == [0] * 4, codes)
        if last == 5:
            try:
                made = node.consensus.ask("finalize_block", txs=[], height=6)
                h.check("no block with contracts", False, made)
            except (abci.Exception_, wire.Closed, ConnectionError) as e:
                h.check("no block with contracts: PC6114", "6114" in str(e) + node.words(), str(e) + node.words())
        node.stop(signal.SIGTERM)
        refused(f"a chain that will take contracts, {name}", "PC6114", 5, "--engine", "abci", "--listen", "unix:" + h.path("s"), home=home)
    del h.env["PIPECTL_WASMTIME"]


def tcp(home):
    port = free_port()
    for address in (f"tcp:127.0.0.1:{port}", f"tcp:localhost:{port}"):
        node = abci.Node(h, home, "cpu", address=address)
        h.check(f"over {address}", node.query.ask("info")["data"] == "pipectl")
        refused("an address that is taken", "PC6111", 3, "--engine", "abci", "--listen", address)
        h.check("stops", node.stop(signal.SIGINT) == 130, node.words())


def exception(what, node, data, code):
    c = abci.Connection(node.address)
    c.socket.sendall(data)
    try:
        kind, fields = c.hear_any()
        h.check(f"{what}: PC{code}", kind == "exception" and f"PC{code}" in fields["error"], (kind, fields))
        c.exactly(1)
        h.check(f"{what} closes", False)
    except wire.Closed:
        h.check(f"{what} closes", True)


def frame(body):
    return wire.varint(len(body)) + body


def frames(node):
    # Who never sent a whole request gives way to one too many, and below there are.
    h.check("every place is somebody's", all(c.ask("echo", message="x")["message"] == "x" for c in (node.consensus, node.mempool, node.query, node.snapshot)))
    exception("a length of 2^24 + 1", node, wire.varint((1 << 24) + 1), 6162)
    exception("a length that never ends", node, b"\xff" * 5, 6162)
    exception("a length with a byte too many", node, b"\x81\x00", 6162)
    exception("an empty frame", node, b"\x00", 6163)
    exception("no request", node, frame(b"\xff\xff\xff"), 6163)
    exception("a kind of ABCI 1", node, frame(b"\x3a\x00"), 6163)
    exception("more memory than a request has", node, frame(wire.varint(20 << 3 | 2) + wire.varint(12 << 20) + b"\x0a\x00" * (6 << 20)), 6163)
    for what, values in (("another chain", dict(chain_id="other")), ("another first height", dict(chain_id=chain.name, initial_height=5)),
                         ("a state to begin with", dict(chain_id=chain.name, app_state_bytes=b'{"a":1}'))):
        exception(what, node, frame(wire.encode("AbciRequest", {"init_chain": values})), 6169)
    c = abci.Connection(node.address)
    for state in (b"", b"{}", b'""'):
        h.check("an empty state", c.ask("init_chain", chain_id=chain.name, app_state_bytes=state)["app_hash"] == chain.id)
    # Fields that are not named here are passed over.
    c.socket.sendall(frame(wire.varint(3 << 3 | 2) + wire.varint(8) + b"\x10\x0b\x18\x08\x22\x02\x32\x2e"))
    h.check("fields that decide nothing", c.hear("info")["last_block_height"] == 0)
    body = wire.encode("AbciRequest", {"echo": {"message": "in pieces"}})
    for b in frame(body):
        c.socket.sendall(bytes([b]))
        time.sleep(0.002)
    h.check("a frame in pieces", c.hear("echo")["message"] == "in pieces")
    for i in range(500):
        c.send("echo", message=str(i))
    h.check("many at once, in their order", [c.hear("echo")["message"] for _ in range(500)] == [str(i) for i in range(500)])
    c.send("echo", message="last")
    c.socket.shutdown(socket.SHUT_WR)
    h.check("who closed still hears", c.hear("echo")["message"] == "last")
    rng = __import__("random").Random(20261127)
    for i in range(200):
        c = abci.Connection(node.address)
        try:
            c.socket.sendall(rng.randbytes(rng.randrange(1, 300)))
            if i % 2:
                c.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one connection too many is closed at once
        c.close()
    h.check("noise stops nobody", node.query.ask("info")["data"] == "pipectl")


def place(node):
    """A connection that has a place: those of the noise before are free when the node has seen that their clients are gone."""
    until = time.monotonic() + patient(20)
    while True:
        c = abci.Connection(node.address)
        try:
            h.check("a place", c.ask("echo", message="x")["message"] == "x")
            return c
        except (abci.Exception_, wire.Closed):
            c.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def crowded(node):
    extra = [place(node) for _ in range(12)]
    late = abci.Connection(node.address)
    kind, fields = late.hear_any()
    h.check("a seventeenth connection: PC6186", kind == "exception" and "PC6186" in fields["error"], fields)
    try:
        late.exactly(1)
        h.check("and it is closed", False)
    except wire.Closed:
        h.check("and it is closed", True)
    for c in extra:
        c.close()
    # The places of these have to be seen to be free, first.
    deaf, half = place(node), place(node)
    half.socket.sendall(wire.varint(1 << 20))
    big = "x" * (1 << 20)
    try:
        deaf.socket.settimeout(1)
        for _ in range(100):
            deaf.send("echo", message=big)
    except (TimeoutError, OSError):
        pass
    h.check("the slow stop nobody", node.query.ask("info")["data"] == "pipectl")
    with open(f"/proc/{node.process.pid}/status", encoding="utf-8") as f:
        rss = int(next(line for line in f if line.startswith("VmRSS")).split()[1])
    h.check("and take bounded memory", rss < 600_000, rss)
    half.close()
    deaf.close()


def stuck():
    """With messages for free a refused one is in no block: it leaves its engine when it is asked about again, and what may yet be taken in does not."""
    node = abci.Node(h, chain.home("stuck"), "cpu")
    node.consensus.ask("init_chain", chain_id=chain.name)
    hopeless = chain.message("ada", "cancel", number=0, job_id="ab" * 32)
    behind = chain.transfer("ada", "bob", 1, number=1)
    early = chain.transfer("bob", "dan", 10**13 + 5, number=0)  # more than he has
    gift = chain.transfer("cay", "bob", 100, number=0)
    pool, recheck, height = [early, hopeless, behind], {}, 0

    def block(extra=()):
        nonlocal height
        height += 1
        txs = node.consensus.ask("prepare_proposal", txs=pool, max_tx_bytes=1 << 20, height=height)["txs"] + list(extra)
        made = node.consensus.ask("finalize_block", txs=txs, height=height)
        h.check(f"block {height} takes in what was chosen", all(r["code"] == 0 for r in made["tx_results"]), made)
        node.consensus.ask("commit")
        pool[:] = [t for t in pool if t not in txs]
        recheck.update({t: node.mempool.ask("check_tx", tx=t, type=1) for t in pool})
        return txs

    h.check("neither is anything for a block", block([gift]) == [gift])
    h.check("nor given up after one", [recheck[t]["code"] for t in (early, hopeless, behind)] == [0, 0, 0], recheck)
    h.check("what waited for another's message is taken in", block() == [early])
    h.check("what is refused alone, too, is refused by its name: PC5801", recheck[hopeless]["code"] == 5801 and "ab" * 32 in recheck[hopeless]["log"], recheck[hopeless])
    h.check("and what its sender sent behind it by its number: PC5842", recheck[behind]["code"] == 5842, recheck[behind])
    h.check("sent anew it is looked at anew", node.mempool.ask("check_tx", tx=hopeless)["code"] == 0)
    block()
    h.check("and waits again", recheck[hopeless]["code"] == 0, recheck[hopeless])
    pool[:] = [behind, chain.transfer("ada", "bob", 2, number=0)]
    h.check("without it its sender goes on", len(block()) == 2)
    h.check("stops", node.stop(signal.SIGTERM) == 0, node.words())


def main():
    home = chain.path = chain.home("one")
    starting()
    contracts()
    voted()
    tcp(home)
    node = abci.Node(h, home, "cpu")
    frames(node)
    crowded(node)
    stuck()
    h.check("stops", node.stop(signal.SIGTERM) == 0, node.words())
    node = abci.Node(h, home, "cpu")
    # A home that another writes to beside its engine.
    chain.run(home, "ledger", "apply", h.write("message", chain.transfer("ada", "bob", 1, number=0)))
    exception("messages beside the engine's", node, frame(wire.encode("AbciRequest", {"finalize_block": {"height": 1}})), 6165)
    h.check("is still there to be asked", node.query.ask("info")["last_block_height"] == 0)
    h.check("stops again", node.stop(signal.SIGTERM) == 0)
    h.finish()


main()
