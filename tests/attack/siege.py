"""Four nodes on devices of their own behind three members of etcd, under everything at once: random honest load, messages of people
who mean harm (hostile.py), nodes and their workers and members killed with -9, nodes that sleep, members cut off. One commit id a
height, no halt, nothing honest lost or taken in twice, bounded memory and disk, no process left.
usage: siege.py SECONDS DEVICE...; SEED=N repeats one; BREAK="worker sleep .." breaks these alone."""
import collections
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "node", "engine"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

import etcd  # noqa: E402
etcd.apart()

from harness import Harness, patient  # noqa: E402
import contracts  # noqa: E402  (tests/integration/node)
from hostile import Hostile, digest  # noqa: E402
from signed import Chain, cid  # noqa: E402

SECONDS, DEVICES = float(sys.argv[1]), sys.argv[2:]
SEED = int(os.environ.get("SEED", random.SystemRandom().getrandbits(32)))
h = Harness()
SOURCE = open(os.path.join(HERE, "..", "integration", "nodes", "shaders", "mix.wgsl"), "rb").read()
HONEST, HOSTILE = ["ada", "bob", "cay"], ["mallory", "mo", "max"]
# Messages cost what they cost a user, and where Wasmtime is there the chain takes contracts.
CONTRACTS = bool(os.environ.get("PIPECTL_WASMTIME"))
chain = Chain(h, HONEST + HOSTILE, params={"fee_ppm": "1_000_000", "contracts": str(int(CONTRACTS))})
FRIENDLY = ("honest job", "transfer", "honest", "honest call")  # no kind of hostile.py
MODULE = contracts.contract() if CONTRACTS else b"\0asm\1\0\0\0"
ending = threading.Event()
MIB = 1 << 20
# What the half of an hour's peaks may be above the other half's says something where both have had all of it; else a node has this much, which ten times the hour's load did not take.
LONG, MOST = 600, 512 * MIB
HOSTILE_SENT, BROKEN = SECONDS / 4, SECONDS / 15  # at least, however slow the machine is: it goes on until then


class Node:
    def __init__(self, name, device, url):
        self.name, self.device, self.url = name, device, url
        self.home, self.starts, self.struck_at = chain.home(name), 0, 0
        self.start()

    def start(self):
        self.starts += 1
        with open(h.path(self.name + ".log"), "ab") as log:
            self.process = subprocess.Popen([h.pipectl, "--home", self.home, "-q", "node", "--order", self.url, "--backend", self.device, "--block-ms", "200"],
                                            env=h.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        etcd.atexit.register(lambda p=self.process: p.poll() is None and p.kill())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def words(self):
        return open(h.path(self.name + ".log"), encoding="utf-8", errors="replace").read()

    def children(self):
        try:
            return [int(p) for p in open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()]
        except OSError:
            return []

    def resident(self, pids):
        """Bytes of some of its processes."""
        total = 0
        for pid in pids:
            try:
                total += int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) << 10
            except (OSError, TypeError):
                pass
        return total

    def commits(self):
        return [b["commit"] for b in json.loads(chain.run(self.home, "--json", "block", "list"))["blocks"]]

    def height(self):
        """Blocks that it has; 0 where it cannot be asked now."""
        try:
            return len(self.commits())
        except (AssertionError, ValueError, KeyError):
            return 0

    def sequence(self, account):
        return int(json.loads(chain.run(self.home, "--json", "ledger", "show", account))["sequence"])


def disk(path):
    """Of a folder that changes meanwhile."""
    said = subprocess.run(["du", "-sk", path], capture_output=True, text=True).stdout.split()
    return int(said[0]) << 10 if said else 0


def born(pid):
    """When a process that runs began, in ticks; None where there is none, or what is left of it waits for whoever inherited it. Its number may be another one's soon."""
    try:
        fields = open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace").read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] in "ZX" else fields[19]


class Load:
    """Puts messages into the order; what it put."""

    def __init__(self, cluster, prefix):
        self.cluster, self.prefix, self.sent, self.lock = cluster, prefix, {}, threading.Lock()

    def put(self, data, what):
        key = digest(data)
        at = self.prefix + "message/" + key
        b64 = etcd.b64
        question = {"compare": [{"key": b64(at), "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
                    "success": [{"requestPut": {"key": b64(at), "value": b64(data)}}, {"requestPut": {"key": b64(self.prefix + "waiting/" + key), "value": b64(str(len(data)))}}]}
        end = time.monotonic() + patient(60)
        while True:
            try:
                self.cluster.ask("/v3/kv/txn", question)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        with self.lock:
            self.sent[key] = what

    def waiting(self):
        try:
            return len(self.cluster.rows(self.prefix + "waiting/"))
        except OSError:
            return 1

    def ordered(self):
        """The height of the last block that was decided, whoever has run it."""
        try:
            return int(self.cluster.last(self.prefix + "block/") or 0)
        except OSError:
            return -1

    def kinds(self):
        with self.lock:
            return collections.Counter(self.sent.values())


def honest(load, rng, nodes):
    """Uploads, bytes, jobs, some with results of others, transfers, calls that submit, write and pay."""
    begin = [chain.message("ada", "upload", wgsl_source=SOURCE, description="mix"), *(chain.message("ada", "blob", data=data, blocks=1 << 17) for data in INPUTS)]
    if CONTRACTS:
        begin += [chain.message("ada", "contract", code=MODULE), chain.message("ada", "upload", wgsl_source=contracts.source, description="doubles"),
                  chain.message("ada", "blob", data=contracts.words, blocks=1 << 17)]
    for m in begin:
        load.put(m, "honest")
    while not ending.is_set():
        for _ in range(rng.randrange(1, 6)):
            person, dice = rng.choice(HONEST), rng.random()
            if dice < 0.6:
                load.put(chain.execute(person, cid(SOURCE), cid(rng.choice(INPUTS)), 4 * rng.randrange(1, 60)), "honest job")
            elif dice < 0.65:
                load.put(chain.message(person, "link", source=cid(rng.choice(INPUTS)), target=cid(rng.choice(INPUTS) + rng.randbytes(3))), "honest")
            elif CONTRACTS and dice < 0.75:
                load.put(chain.message(person, "call", contract=cid(MODULE), fuel=2 * 10**7, **called(rng)), "honest call")
            else:
                load.put(chain.transfer(person, "eve", 1), "transfer")
        while load.waiting() > 60 and not ending.is_set():
            ending.wait(0.2)
        ending.wait(rng.uniform(0, 0.4))


def called(rng):
    """An honest call: a job of the contract's own, a row, a payment."""
    function = rng.choice(("submit", "put", "give"))
    return dict(function=function, argument=contracts.message() if function == "submit" else b"key%d" % rng.randrange(5) + rng.randbytes(20) if function == "put" else b"eve", pay=10**6)


def harm(load, rng, nodes):
    """One attacker at a time, who knows its own numbers: what was refused for nothing used none up."""
    hostile = Hostile(chain, rng, HOSTILE, HONEST, MODULE)
    while not ending.is_set():
        for person in HOSTILE:
            try:
                # Two of them, since each is a program to start, and on a busy machine little else would come of it.
                chain.numbers[person] = max(n.sequence(person) for n in rng.sample(nodes, 2) if n.process.poll() is None)
            except (AssertionError, ValueError, KeyError):
                pass  # a node that was just killed
        for _ in range(rng.randrange(1, 8)):
            data, what = hostile.message()
            if len(data) < MIB - 1024:
                load.put(data, what)
        while load.waiting() > 60 and not ending.is_set():
            ending.wait(0.2)
        ending.wait(rng.uniform(0, 0.6))


def breaking(cluster, rng, nodes, done):
    """One thing after the other breaks and comes back; a majority of etcd is there most of the time."""
    while not ending.wait(rng.uniform(0.5, 4)):
        what, n, m = rng.choice(os.environ.get("BREAK", "node node worker worker sleep member cut all").split()), rng.choice(nodes), rng.choice(cluster.members)
        if what == "node":
            n.kill()
            ending.wait(rng.uniform(0, 1))
            n.start()
        elif what == "all":
            for other in nodes:
                other.kill()
            for other in nodes:
                other.start()
        elif what == "worker":
            # Once between two blocks: three deaths on end hold a plugin, as they should, and on a slow machine the second and the third would come before the first was got over.
            at = n.height()
            if at <= n.struck_at:
                continue
            n.struck_at = at
            for pid in n.children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
        elif what == "sleep":
            n.process.send_signal(signal.SIGSTOP)
            ending.wait(rng.uniform(0.5, 7))
            n.process.send_signal(signal.SIGCONT)
        elif what == "member":
            m.kill()
            ending.wait(rng.uniform(0, 3))
            m.start(cluster.names)
            cluster.wait()
        else:
            m.cut()
            ending.wait(rng.uniform(0.5, 4))
            m.join()
        done[what] = done.get(what, 0) + 1


def guarded(name, failures, run, *args):
    try:
        run(*args)
    except BaseException as e:  # a thread that ends silently would be an hour of nothing
        failures.append(f"{name}: {type(e).__name__}: {e}")
        ending.set()


def main():
    rng = random.Random(SEED)
    global INPUTS
    INPUTS = [b"".join(struct.pack("<I", rng.getrandbits(32)) for _ in range(64)) for _ in range(6)]
    print(f"SEED={SEED}", flush=True)
    cluster = etcd.Cluster(h)
    nodes = [Node(f"n{i}", d, cluster.url) for i, d in enumerate(DEVICES)]
    load, done, failures = Load(cluster, f"pipectl-{chain.id.hex()[:40]}/"), {}, []
    threads = [threading.Thread(target=guarded, args=(run.__name__, failures, run, *args)) for run, *args in (
        (honest, load, random.Random(rng.random()), nodes), (harm, load, random.Random(rng.random()), nodes), (breaking, cluster, random.Random(rng.random()), nodes, done))]
    for t in threads:
        t.start()
    began, peaks, own, disks, height, moved, longest = time.monotonic(), {}, {}, [], 0, time.monotonic(), 0.0
    while not ending.wait(2):
        now = time.monotonic()
        at = int(8 * (now - began) / SECONDS)  # peaks by eighths of the time
        for n in nodes:
            peaks.setdefault(at, {})[n.name] = max(peaks.get(at, {}).get(n.name, 0), n.resident([n.process.pid, *n.children()]))
            own[n.name] = max(own.get(n.name, 0), n.resident([n.process.pid]))
        seen = max(height, *(n.height() for n in nodes))
        if seen > height:
            longest, height, moved = max(longest, now - moved), seen, now
        if now - moved > patient(120):
            failures.append(f"no block for {now - moved:.0f} s at height {height}")
            ending.set()
        for n in nodes:
            # A node that was not killed ends by itself only when something is wrong.
            if n.process.poll() not in (None, -signal.SIGKILL):
                failures.append(f"{n.name} ended with {n.process.poll()}: {n.words()[-2000:]}")
                ending.set()
        if len(disks) < at + 1:
            disks.append((height, [disk(n.home) for n in nodes]))
            print(f"{now - began:6.0f} s, height {height}, {len(load.sent)} messages, {sum(done.values())} broken, MiB " +
                  " ".join(f"{p // MIB}" for p in peaks[at].values()) + ", disk " + " ".join(str(d // MIB) for d in disks[-1][1]), flush=True)
        if now - began > SECONDS and enough(load, done):
            ending.set()
    for t in threads:
        t.join()
    for n in nodes:
        if n.process.poll() is not None:
            n.start()
    h.check("nothing went wrong on the way", not failures, "\n".join(failures))
    if not settled(load, nodes):
        h.finish()
    judge(load, nodes, peaks, own, disks, done, longest)
    for n in nodes:
        workers = {p: born(p) for p in n.children()}
        n.process.send_signal(signal.SIGTERM)
        h.check(f"{n.name} ends in good order", n.process.wait(patient(60)) in (0, 130), n.words()[-2000:])
        end = time.monotonic() + patient(10)
        while (left := [p for p, began in workers.items() if began and born(p) == began]) and time.monotonic() < end:
            time.sleep(0.1)
        h.check(f"{n.name} leaves no process", not left, left)
    for m in cluster.members:
        m.kill()
    h.finish()


def enough(load, done):
    return sum(n for w, n in load.kinds().items() if w not in FRIENDLY) > HOSTILE_SENT and sum(done.values()) > BROKEN


def settled(load, nodes):
    """No message waits to be ordered and no honest job to be run, and all nodes have all blocks that were ordered: a block that is decided and runs for a while is in no home yet. Nodes that
    do something are waited for; 1 where it came to be."""
    last, moved = None, time.monotonic()
    while True:
        is_open, ordered, heights = load.waiting(), load.ordered(), [n.height() for n in nodes]
        if is_open == 0 and set(heights) == {ordered} and load.ordered() == ordered and "pending" not in honest_jobs(nodes[0]):
            return h.check("all nodes come to the same height", True)
        if (is_open, ordered, heights) != last:
            last, moved = (is_open, ordered, heights), time.monotonic()
        if time.monotonic() - moved > patient(300):
            return h.check("all nodes come to the same height", False, (last, honest_jobs(nodes[0]), [n.words()[-500:] for n in nodes]))
        time.sleep(1)


def honest_jobs(node):
    """How many there are by their state."""
    try:
        jobs = json.loads(chain.run(node.home, "--json", "job", "list"))["jobs"]
    except (AssertionError, ValueError, KeyError):
        return {"pending": -1}
    return collections.Counter(j["state"] for j in jobs if j.get("sender") in HONEST)


def calls(node):
    """Of honest senders, by their state."""
    made = json.loads(chain.run(node.home, "--json", "contract", "show", cid(MODULE)))["calls"]
    return collections.Counter(c["status"] for c in made if c["sender"] in HONEST)


def judge(load, nodes, peaks, own, disks, done, longest):
    commits = [n.commits() for n in nodes]
    h.check("one commit id a height", all(c == commits[0] for c in commits), [len(c) for c in commits])
    taken = [line.split()[-1] for c in commits[0] for line in subprocess.run(
        ["git", "--git-dir", os.path.join(nodes[0].home, "chain/blocks.git"), "show", c + ":messages"], capture_output=True, check=True).stdout.decode().splitlines() if line.startswith("message ")]
    kinds = load.kinds()
    for n in nodes:
        shown = json.loads(chain.run(n.home, "--json", "ledger", "show", "eve"))
        h.check(f"{n.name}: every transfer arrived once", int(shown["balance"]) >= kinds.get("transfer", 0), shown)
        for person in HONEST:
            h.check(f"{n.name}: all of {person} was taken in", n.sequence(person) == chain.numbers[person], (n.sequence(person), chain.numbers[person]))
    jobs = honest_jobs(nodes[0])
    # A message that is refused would pay and count as sent.
    h.check("honest jobs are complete, all of them", jobs == {"complete": kinds["honest job"]}, (jobs, kinds["honest job"]))
    made = calls(nodes[0]) if CONTRACTS else {}
    h.check("honest calls are complete, all of them", made == ({"complete": kinds["honest call"]} if CONTRACTS else {}), (made, kinds["honest call"]))
    paid = int(json.loads(chain.run(nodes[0].home, "--json", "ledger", "show"))["burned"])
    h.check("messages were paid for", paid > 0, paid)
    h.check("hostile messages were sent", sum(n for w, n in kinds.items() if w not in FRIENDLY) > HOSTILE_SENT, kinds)
    h.check("things broke", sum(done.values()) > BROKEN, done)
    half = [max(max(p.values()) for at, p in peaks.items() if (at < 4) == first) for first in (True, False) if any((at < 4) == first for at in peaks)]
    # Drivers in workers have their memory when they are first used, which on a slow machine may be late.
    h.check("memory does not grow", SECONDS < LONG or len(half) < 2 or half[1] <= half[0] * 1.25 + 64 * MIB, [x // MIB for x in half])
    h.check("memory is bounded", max(own.values()) < MOST, {n: b // MIB for n, b in own.items()})
    print(f"{len(commits[0])} blocks, {len(load.sent)} messages of which {len(taken)} in blocks, {sum(kinds[k] for k in FRIENDLY)} honest; honest jobs {dict(jobs)}; "
          f"broken {done}; longest wait for a block {longest:.1f} s; peaks MiB {[x // MIB for x in half]}, of nodes alone {max(own.values()) // MIB}; disk MiB {[d // MIB for d in disks[-1][1]]}")


main()
