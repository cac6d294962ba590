"""Four nodes on devices of their own behind three members of etcd: the leader's member killed, one and two members down and back, one
cut off, a leading node killed and one stopped beyond its lease. Nothing is ordered twice, nothing is lost, one commit id a height.
Then what is refused: addresses, prefixes, the log of another chain, a log that says what did not come out."""
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import etcd
etcd.apart()

from harness import Harness, patient
from signed import Chain, HERE, cid
import wire

DEVICES = sys.argv[1:]
h, rng = Harness(), random.Random(20261127)
SOURCE = open(os.path.join(HERE, "..", "nodes", "shaders", "mix.wgsl"), "rb").read()
INPUT = b"".join(struct.pack("<I", rng.getrandbits(32)) for _ in range(64))
PEOPLE = ["ada", "bob", "cay"]
chain = Chain(h, PEOPLE)


class Node:
    def __init__(self, name, device, url, *more):
        self.name, self.device, self.url, self.more = name, device, url, more
        self.home = chain.home(name, [INPUT])
        self.start()

    def start(self):
        self.log = open(h.path(self.name + ".log"), "ab")
        self.process = subprocess.Popen([h.pipectl, "--home", self.home, "node", "--order", self.url, "--backend", self.device, "--block-ms", "100", *self.more],
                                        env=h.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        etcd.atexit.register(lambda p=self.process: p.poll() is None and p.kill())

    def stop(self, how):
        self.process.send_signal(how)
        self.log.close()
        return self.process.wait(patient(120))

    def words(self):
        return open(h.path(self.name + ".log"), encoding="utf-8").read()

    def commits(self):
        return [b["commit"] for b in json.loads(chain.run(self.home, "--json", "block", "list"))["blocks"]]


def until(what, ask, seconds=60):
    """Whether it came to be, within a time for a machine that does other things too."""
    end = time.monotonic() + patient(seconds)
    while not ask():
        if time.monotonic() > end:
            return h.check(what, False, "it did not come to be")
        time.sleep(0.1)
    return h.check(what, True)


def taken_in(node, commits):
    """Messages of the blocks of a home, but for those of genesis."""
    return sum(line.startswith("message ") for c in commits for line in subprocess.run(
        ["git", "--git-dir", os.path.join(node.home, "chain/blocks.git"), "show", c + ":messages"], capture_output=True, check=True).stdout.decode().splitlines())


def main():
    if subprocess.run(["sh", "-c", "command -v etcd"], capture_output=True).returncode:
        h.check("etcd is installed", False, "tools/packaging/install test")
        h.finish()
    cluster = etcd.Cluster(h)
    print("members in namespaces of their own" if cluster.is_apart else "no namespaces here: who is cut off is stopped", flush=True)
    nodes = [Node(f"n{i}", d, cluster.url) for i, d in enumerate(DEVICES)]
    prefix = f"pipectl-{chain.id.hex()[:40]}/"
    sent = []

    def submit(message):
        """By a transaction as the document has it; again until it is known to be there."""
        digest = hashlib.sha256(message).hexdigest()
        key = prefix + "message/" + digest
        question = {"compare": [{"key": etcd.b64(key), "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
                    "success": [{"requestPut": {"key": etcd.b64(key), "value": etcd.b64(message)}},
                                {"requestPut": {"key": etcd.b64(prefix + "waiting/" + digest), "value": etcd.b64(str(len(message)))}}]}
        end = time.monotonic() + patient(60)
        while True:
            try:
                cluster.ask("/v3/kv/txn", question)
                sent.append(digest)
                return
            except OSError:
                assert time.monotonic() < end, "nobody takes a message"

    def some(n=4):
        for _ in range(n):
            person = rng.choice(PEOPLE)
            submit(chain.execute(person, cid(SOURCE), cid(INPUT), 4 * rng.randrange(1, 60)) if rng.random() < 0.7 else chain.transfer(person, "eve", 1))

    def ordered():
        return [line for text in cluster.rows(prefix + "block/").values() for line in text.decode().split()]

    def all_done(who=None):
        """Everything sent is in a block, and the nodes have all blocks."""
        try:
            blocks = cluster.rows(prefix + "block/")
            lines = [line for t in blocks.values() for line in t.decode().split()]
            if len(set(lines)) != len(lines):
                sys.exit(f"FAILED nothing is ordered twice: {len(lines)} messages in blocks, {len(set(lines))} of them different")
            return len(lines) == len(sent) and all(len(n.commits()) >= len(blocks) for n in who or nodes)
        except OSError:
            return False

    def leading():
        """The name under which a node leads: of a process, until its lease runs out. On a busy machine that may be now, and then somebody leads next."""
        end = time.monotonic() + patient(60)
        while True:
            name = cluster.rows(prefix + "leader").get("")
            if name or time.monotonic() > end:
                return name
            time.sleep(0.05)

    file = h.write("upload", chain.message("ada", "upload", wgsl_source=SOURCE, description="mix"))
    for _ in range(2):
        code, _, err = h.run("ledger", "apply", file, "--order", cluster.url)
        h.check("put into the order, and again", code == 0, err)
    sent.append(hashlib.sha256(h.read("upload")).hexdigest())
    for m in chain.bring("ada", INPUT):
        submit(m)
    until("the first block", all_done)
    some(8)
    until("more of them", all_done)
    for i in range(4):
        submit(chain.message("bob", "upload", wgsl_source=SOURCE + b"//" + bytes([97 + i]) * (900 << 10), description=""))
    until("large messages, more than a block has of them", all_done)
    h.check("nothing waits", cluster.rows(prefix + "waiting/") == {})
    # ---- the cluster's leader dies, then comes back
    m = cluster.leader()
    m.kill()
    some()
    until("without the member that led", all_done)
    m.start(cluster.names)
    # ---- two of three
    cluster.wait()
    down = cluster.members[1:]
    down[0].kill()
    some()
    until("with one member down", all_done)
    down[1].kill()
    before = [len(n.commits()) for n in nodes]
    late = chain.transfer("ada", "eve", 2)
    code, _, err = h.run("ledger", "apply", h.write("late-message", late), "--order", cluster.url)
    h.check("nobody to order: PC6181", code == 1 and "PC6181" in err, (code, err))
    time.sleep(3)
    h.check("no progress without a majority", [len(n.commits()) for n in nodes] == before)
    until("all say so", lambda: all("PC6181" in n.words() for n in nodes))
    for m in down:
        m.start(cluster.names)
    cluster.wait()
    submit(late)
    some()
    until("progress with them back", all_done)
    until("and say so", lambda: all("it goes on again" in n.words() for n in nodes))
    # ---- one cut off
    m = cluster.leader() or cluster.members[0]
    m.cut()
    some()
    until("with one cut off", all_done)
    m.join()
    some()
    until("and joined again", all_done)
    # ---- nodes: one after the other killed with -9, among them who leads
    terms = {leading()}
    for n in nodes:
        some(2)
        n.stop(signal.SIGKILL)
        some(2)
        until(f"without {n.name}", lambda: all_done([o for o in nodes if o is not n]))
        terms.add(leading())
        n.start()
    until("with all of them", all_done)
    # ---- who leads sleeps beyond its lease, and wakes up
    for n in nodes:
        n.process.send_signal(signal.SIGSTOP)
        some(2)
        until(f"while {n.name} sleeps", lambda: all_done([o for o in nodes if o is not n]))
        terms.add(leading())
        n.process.send_signal(signal.SIGCONT)
        some(1)
    until("with all awake", all_done)
    h.check("several led", len(terms - {None}) >= 3, terms)
    # ---- what came of it
    commits = [n.commits() for n in nodes]
    h.check("one commit id a height", all(c == commits[0] for c in commits), commits)
    h.check("nothing twice, nothing lost", sorted(ordered()) == sorted(sent) and len(set(sent)) == len(sent), (len(ordered()), len(sent)))
    h.check("the blocks are in a row", list(cluster.rows(prefix + "block/")) == [f"{i + 1:020}" for i in range(len(commits[0]))])
    h.check("all of it was taken in", taken_in(nodes[1], commits[0]) == len(sent), (taken_in(nodes[1], commits[0]), len(sent)))
    late_node = Node("late", "cpu", cluster.url)
    until("a late joiner follows the log", lambda: late_node.commits() == nodes[0].commits())
    nodes.append(late_node)
    refusals(cluster, prefix)
    # ---- a root that did not come out here: nobody goes on
    cluster.put(f"{prefix}root/{len(commits[0]) + 1:020}", "ab" * 32)
    some(1)
    for n in nodes:
        until(f"{n.name} stops at another's root", lambda: n.process.poll() is not None)
        h.check("PC6182", n.process.wait() not in (0, 130) and "PC6182" in n.words(), n.words())
        h.check("before its block is final", n.commits() == commits[0])
    print(f"{len(commits[0])} blocks, {len(sent)} messages on {DEVICES}, {len(terms)} terms seen")
    for m in cluster.members:
        m.kill()
    h.finish()


def refusals(cluster, prefix):
    def refused(what, code, status, *args, home="n0"):
        got, _, err = h.run("--home", h.path(home), *args)
        h.check(f"{what}: {code}", got == status and code in err, (got, err))

    for url in ("etcd", "http://127.0.0.1:1", "etcd://", "etcd://host", "etcd://host:0", "etcd://host:1,", "etcd://a b:1", "etcd://" + ",".join(["h:1"] * 17)):
        refused(f"--order {url[:30]}", "PC6180", 3, "ledger", "apply", h.path("upload"), "--order", url)
    refused("no prefix", "PC0010", 2, "ledger", "apply", h.path("upload"), "--order", cluster.url, "--prefix", "without-its-end")
    refused("a prefix alone", "PC0010", 2, "ledger", "apply", h.path("upload"), "--prefix", "x/")
    refused("unsigned", "PC5840", 3, "ledger", "apply", h.write("unsigned", wire.encode("Request", {"ledger": dict(sender="ada", op=2, to="bob", amount=1)})), "--order", cluster.url)
    big = chain.message("ada", "upload", number=10**6, wgsl_source=b"/" * ((1 << 20) - 100), description="")
    refused("too long", "PC6171", 5, "ledger", "apply", h.write("big", big), "--order", cluster.url)
    other = Chain(h, ["zoe"])
    home = other.home("other")
    refused("another chain's log", "PC6183", 3, "node", "--order", cluster.url, "--prefix", prefix, "--backend", "cpu", home="other")
    refused("a time that is none", "PC0010", 2, "node", "--order", cluster.url, "--block-ms", "0", "--backend", "cpu", home="other")
    refused("two ways", "PC0010", 2, "node", "--order", cluster.url, "--engine", "abci", "--listen", "unix:/tmp/x", home="other")
    cluster.put("odd/chain", other.id.hex())
    cluster.put("odd/block/" + "0" * 19 + "1", "ab" * 32 + "\n")
    refused("a block of messages that are not there", "PC6182", 8, "node", "--order", cluster.url, "--prefix", "odd/", "--backend", "cpu", home="other")
    cluster.put("odd/block/" + "0" * 19 + "1", "no list")
    refused("a block that is no list", "PC6182", 8, "node", "--order", cluster.url, "--prefix", "odd/", "--backend", "cpu", home="other")
    cluster.put("odd/block/" + "0" * 19 + "1", "ab" * 32 + "\n")
    cluster.put("odd/message/" + "ab" * 32, "other bytes")
    refused("a message of other bytes", "PC6182", 8, "node", "--order", cluster.url, "--prefix", "odd/", "--backend", "cpu", home="other")
    cluster.put("gap/block/" + "0" * 19 + "2", "")
    refused("a block that is missing", "PC6182", 8, "node", "--order", cluster.url, "--prefix", "gap/", "--backend", "cpu", home="other")
    cluster.put("wait/waiting/zz", "1")
    refused("what waits is no message", "PC6182", 8, "node", "--order", cluster.url, "--prefix", "wait/", "--backend", "cpu", home="other")
    assert home


main()
