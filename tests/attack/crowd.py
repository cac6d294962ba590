"""A crowd at a node's door: as many connections as the system lets one process have, up to 10,000 in the slow form: silent ones, half open ones, writers and readers of a byte a
second, frames that break off, answers that nobody takes, and who comes back at once when it is turned away. An honest client's submits and queries are answered all
the while within a bound, the node's memory is bounded, and who has no place is told so. The same beside an engine's connections. `crowd.py N SECONDS`."""
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("node", "engine"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

from harness import Harness, patient
from signed import Chain
import abci
import wire

MOST, SECONDS = int(sys.argv[1]), float(sys.argv[2])
h, rng = Harness(), random.Random(20261129)


def files():
    """How many connections this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + 200
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(hard, wanted), hard))
    return min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)


class Crowd(threading.Thread):
    """Connections of every rude kind, in turns, for as long as it is wanted."""

    def __init__(self, path, n, frame, ask):
        super().__init__(daemon=True)
        self.path, self.n, self.frame, self.ask = path, n, frame, ask
        self.kinds, self.made, self.refused, self.wanted = [], 0, 0, True
        self.held, self.peak = [], 0

    def join_in(self, kind):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(10)
        try:
            s.connect(self.path)
        except OSError:
            s.close()
            return
        s.setblocking(False)
        self.made += 1
        try:
            if kind == 1:
                s.send(self.frame[:3])  # half open: it never goes on
            if kind == 2:
                s.send(self.frame[:5])
            if kind == 3:  # answers that nobody takes
                for _ in range(64):
                    s.send(self.ask * 16)
            if kind == 4:  # a reset inside a frame
                s.send(self.frame[:len(self.frame) // 2])
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()
                return
        except OSError:
            pass
        self.held.append((s, kind))

    def run(self):
        turn = 0
        while self.wanted:
            while len(self.held) < self.n and self.wanted and turn % 512 != 511:
                self.join_in(turn % 5)
                turn += 1
            turn += 1
            self.peak = max(self.peak, len(self.held))
            began = time.monotonic()
            kept = []
            for s, kind in self.held:
                try:
                    if kind in (1, 2):
                        s.send(b"\0")
                    if kind == 3 or kind == 0:
                        got = s.recv(1)
                        if not got:
                            raise ConnectionError
                        if kind == 0:  # it asked nothing: this is a refusal
                            self.refused += 1
                    kept.append((s, kind))
                except BlockingIOError:
                    kept.append((s, kind))
                except OSError:
                    s.close()
            self.held = kept
            time.sleep(max(0, 0.2 - (time.monotonic() - began)))
        for s, _ in self.held:
            s.close()


def memory(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1]) >> 10


def crowded(what, process, path, crowd, ask):
    """An honest client beside the crowd: each time a connection of its own, again where it is turned away, as the document has it."""
    before, worst, turns, away, most = memory(process), 0, 0, 0, 0
    crowd.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or turns < 5:
        began = time.monotonic()
        while not ask():
            away += 1
            time.sleep(0.02)
            if time.monotonic() - began > patient(20):
                break
        worst = max(worst, time.monotonic() - began)
        turns += 1
        most = max(most, memory(process))
        time.sleep(0.05)
    crowd.wanted = False
    crowd.join()
    print(f"{what}: {crowd.peak} connections at once, {crowd.made} in all; {turns} honest turns, the slowest {worst:.2f} s, turned away {away} times; "
          f"{before} to {most} MiB", flush=True)
    h.check(f"{what}: the crowd was there", crowd.peak >= min(crowd.n, 256) * 3 // 4, crowd.peak)
    h.check(f"{what}: an honest client is answered", turns >= 5 and worst < patient(5), worst)
    h.check(f"{what}: memory is bounded", most - before < 400, (before, most))


def at_the_socket(n):
    chain = Chain(h, ["ada"])
    home = chain.home("socket")
    path = h.path("node.sock")
    log = open(h.path("node.log"), "wb")
    process = wire.subprocess.Popen([h.pipectl, "-q", "--home", home, "node", "--socket", path, "--backend", "cpu"], env=h.env, stdin=wire.subprocess.DEVNULL, stdout=log, stderr=log)
    end = time.monotonic() + patient(60)
    while time.monotonic() < end and process.poll() is None:
        try:
            wire.Client(path).close()
            break
        except OSError:
            time.sleep(0.05)

    def ask():
        c = None
        try:
            c = wire.Client(path, timeout=patient(20))
            c.socket.sendall(struct.pack("<I", len(m := chain.transfer("ada", "bob", 1))) + m)
            kind, answer = c.hear()
            if kind == "error" and answer["code"] == 6112:
                chain.numbers["ada"] -= 1
                return False
            h.check("a submit is taken in", kind == "ledger", (kind, answer))
            kind, answer = c.ask("query", job_id="ab" * 32)
            h.check("a query is answered", kind == "error" and answer["code"] == 5801, (kind, answer))
            return True
        except (OSError, wire.Closed):
            chain.numbers["ada"] -= 1
            return False
        finally:
            if c is not None:
                c.close()

    body = wire.encode("Request", {"get": {"cid": "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"}})
    frame = struct.pack("<I", 1 << 20) + b"\0" * (256 << 10)
    crowded("socket", process, path, Crowd(path, n, frame, struct.pack("<I", len(body)) + body), ask)
    c = wire.Client(path)
    h.check("and afterwards", c.ask("query", job_id="ab" * 32)[1]["code"] == 5801)
    c.close()
    process.send_signal(signal.SIGTERM)
    h.check("it stops when asked", process.wait(patient(60)) == 0, open(h.path("node.log"), encoding="utf-8").read()[-500:])


def at_the_engine(n):
    chain = Chain(h, ["ada"])
    node = abci.Node(h, chain.home("engine"), "cpu")
    for c in (node.consensus, node.mempool, node.query, node.snapshot):
        c.ask("echo", message="here")
    node.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
    height = 0

    def ask():
        nonlocal height
        m = chain.transfer("ada", "bob", 1)
        h.check("a message is checked", node.mempool.ask("check_tx", tx=m)["code"] == 0)
        height += 1
        made = node.consensus.ask("finalize_block", txs=[m], height=height)
        node.consensus.ask("commit")
        h.check("a block is made", [r["code"] for r in made["tx_results"]] == [0])
        return node.query.ask("info")["last_block_height"] == height

    body = wire.encode("AbciRequest", {"info": {"version": "x"}})
    frame = wire.varint(1 << 20) + b"\0" * (256 << 10)
    crowded("engine", node.process, node.address[5:], Crowd(node.address[5:], n, frame, wire.varint(len(body)) + body), ask)
    # An engine that starts again finds its places: who never asked anything has had its second.
    for c in (node.consensus, node.mempool, node.query, node.snapshot):
        c.close()
    idle = [abci.Connection(node.address) for _ in range(16)]
    end, last = time.monotonic() + patient(20), None
    while last != height and time.monotonic() < end:
        time.sleep(1.5)  # a second from when the node took them in, which may be late on a busy machine
        again = abci.Connection(node.address)
        try:
            last = again.ask("info")["last_block_height"]
        except Exception as e:
            last = repr(e)
    h.check("a place for an engine that comes back", last == height, last)
    for c in idle:
        c.close()
    again.close()
    node.process.send_signal(signal.SIGTERM)
    h.check("it stops when asked, too", node.process.wait(patient(60)) == 0, node.words())


def starved():
    """A node that the system gives few files says so, and has as many places as it can."""
    chain = Chain(h, ["ada"])
    home, path = chain.home("starved"), h.path("few.sock")
    log = open(h.path("few.log"), "wb")
    process = wire.subprocess.Popen([h.pipectl, "--home", home, "node", "--socket", path, "--backend", "cpu"], env=h.env, stdin=wire.subprocess.DEVNULL, stdout=log, stderr=log,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)))
    end = time.monotonic() + patient(60)
    clients = []
    while time.monotonic() < end and process.poll() is None and not clients:
        try:
            clients.append(wire.Client(path))
        except OSError:
            time.sleep(0.05)
    clients += [wire.Client(path) for _ in range(350)]
    answers = [c.ask("query", job_id="ab" * 32) for c in clients[:272]]
    h.check("as many as it can", all(a[1]["code"] == 5801 for a in answers))
    kind, error = clients[-1].hear()
    h.check("and then PC6112", kind == "error" and error["code"] == 6112, (kind, error))
    for c in clients:
        c.close()
    process.send_signal(signal.SIGTERM)
    h.check("it stops, starved", process.wait(patient(60)) == 0)
    words = open(h.path("few.log"), encoding="utf-8").read()
    h.check("it says so: PC6112", "PC6112" in words and "at most 272 clients" in words, words)


def main():
    n = files()
    if n < MOST:
        print(f"the system lets this process have {n} connections, not {MOST}", flush=True)
    at_the_socket(n)
    at_the_engine(min(n, 1000))
    starved()
    h.finish()


main()
