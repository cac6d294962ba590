"""Four nodes on devices of their own behind three members of etcd, under everything at once: random honest load, messages of people
who mean harm (hostile.py), nodes and their workers and members killed with -9, nodes that sleep, members cut off. One commit id a
height, no halt, nothing honest lost or taken in twice, bounded memory and disk, no process left.
usage: siege.py SECONDS DEVICE...; SEED=N repeats one; BREAK="worker sleep .." breaks these alone."""
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
from hostile import Hostile, digest  # noqa: E402
from signed import Chain, cid  # noqa: E402

SECONDS, DEVICES = float(sys.argv[1]), sys.argv[2:]
SEED = int(os.environ.get("SEED", random.SystemRandom().getrandbits(32)))
h = Harness()
SOURCE = open(os.path.join(HERE, "..", "integration", "nodes", "shaders", "mix.wgsl"), "rb").read()
HONEST, HOSTILE = ["ada", "bob", "cay"], ["mallory", "mo", "max"]
chain = Chain(h, HONEST + HOSTILE)
ending = threading.Event()
MIB = 1 << 20


class Node:
    def __init__(self, name, device, url):
        self.name, self.device, self.url = name, device, url
        self.home, self.starts = chain.home(name), 0
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
            found = [int(p) for p in open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()]
        except OSError:
            return []
        return found

    def resident(self):
        """Bytes of it and its workers."""
        total = 0
        for pid in [self.process.pid, *self.children()]:
            try:
                total += int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) << 10
            except (OSError, TypeError):
                pass
        return total

    def commits(self):
        return [b["commit"] for b in json.loads(chain.run(self.home, "--json", "block", "list"))["blocks"]]

    def sequence(self, account):
        return int(json.loads(chain.run(self.home, "--json", "ledger", "show", account))["sequence"])


def disk(path):
    return int(subprocess.run(["du", "-sk", path], capture_output=True, text=True).stdout.split()[0]) << 10


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


def honest(load, rng, nodes):
    """Uploads, bytes, jobs, some with results of others, transfers."""
    for m in (chain.message("ada", "upload", wgsl_source=SOURCE, description="mix"), *(chain.message("ada", "blob", data=data, blocks=1 << 17) for data in INPUTS)):
        load.put(m, "honest")
    while not ending.is_set():
        for _ in range(rng.randrange(1, 6)):
            person, dice = rng.choice(HONEST), rng.random()
            if dice < 0.6:
                load.put(chain.execute(person, cid(SOURCE), cid(rng.choice(INPUTS)), 4 * rng.randrange(1, 60)), "job")
            elif dice < 0.65:
                load.put(chain.message(person, "link", source=cid(rng.choice(INPUTS)), target=cid(rng.choice(INPUTS) + rng.randbytes(3))), "honest")
            else:
                load.put(chain.transfer(person, "eve", 1), "transfer")
        while load.waiting() > 60 and not ending.is_set():
            ending.wait(0.2)
        ending.wait(rng.uniform(0, 0.4))


def harm(load, rng, nodes):
    """One attacker at a time, who knows its own numbers: what was refused for nothing used none up."""
    hostile = Hostile(chain, rng, HOSTILE, HONEST)
    while not ending.is_set():
        for person in HOSTILE:
            try:
                chain.numbers[person] = max(n.sequence(person) for n in nodes if n.process.poll() is None)
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
    began, peaks, disks, height, moved, longest = time.monotonic(), {}, [], 0, time.monotonic(), 0.0
    while not ending.wait(2):
        now = time.monotonic()
        at = int(8 * (now - began) / SECONDS)  # peaks by eighths of the time
        for n in nodes:
            peaks.setdefault(at, {})[n.name] = max(peaks.get(at, {}).get(n.name, 0), n.resident())
        try:
            seen = max(len(n.commits()) for n in nodes)
        except AssertionError:
            seen = height
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
        if now - began > SECONDS:
            ending.set()
    for t in threads:
        t.join()
    for n in nodes:
        if n.process.poll() is not None:
            n.start()
    h.check("nothing went wrong on the way", not failures, "\n".join(failures))
    settled(load, nodes)
    judge(load, nodes, peaks, disks, done, longest)
    for n in nodes:
        workers = n.children()
        n.process.send_signal(signal.SIGTERM)
        h.check(f"{n.name} ends in good order", n.process.wait(patient(60)) in (0, 130), n.words()[-2000:])
        end = time.monotonic() + patient(10)  # who is gone has to be reaped by whoever inherits it
        while any(os.path.exists(f"/proc/{p}") for p in workers) and time.monotonic() < end:
            time.sleep(0.1)
        h.check(f"{n.name} leaves no process", not any(os.path.exists(f"/proc/{p}") for p in workers), workers)
    for m in cluster.members:
        m.kill()
    h.finish()


def settled(load, nodes):
    """Nothing waits, and all nodes have all blocks."""
    end, last = time.monotonic() + patient(300), None
    while time.monotonic() < end:
        heights = [len(n.commits()) for n in nodes]
        if load.waiting() == 0 and len(set(heights)) == 1 and heights == last:
            return
        last = heights
        time.sleep(1)
    h.check("all nodes come to the same height", False, (heights, load.waiting(), [n.words()[-500:] for n in nodes]))


def judge(load, nodes, peaks, disks, done, longest):
    commits = [n.commits() for n in nodes]
    h.check("one commit id a height", all(c == commits[0] for c in commits), [len(c) for c in commits])
    taken = [line.split()[-1] for c in commits[0] for line in subprocess.run(
        ["git", "--git-dir", os.path.join(nodes[0].home, "chain/blocks.git"), "show", c + ":messages"], capture_output=True, check=True).stdout.decode().splitlines() if line.startswith("message ")]
    kinds = {}
    for what in load.sent.values():
        kinds[what] = kinds.get(what, 0) + 1
    for n in nodes:
        shown = json.loads(chain.run(n.home, "--json", "ledger", "show", "eve"))
        h.check(f"{n.name}: every transfer arrived once", int(shown["balance"]) >= kinds.get("transfer", 0), shown)
        for person in HONEST:
            h.check(f"{n.name}: all of {person} was taken in", n.sequence(person) == chain.numbers[person], (n.sequence(person), chain.numbers[person]))
    jobs = {}
    for j in json.loads(chain.run(nodes[0].home, "--json", "job", "list"))["jobs"]:
        if j.get("sender") in HONEST:
            jobs[j["state"]] = jobs.get(j["state"], 0) + 1
    h.check("honest jobs are complete", set(jobs) == {"complete"}, jobs)
    h.check("hostile messages were sent", sum(n for w, n in kinds.items() if w not in ("job", "transfer", "honest")) > SECONDS / 4, kinds)
    h.check("things broke", sum(done.values()) > SECONDS / 15, done)
    half = [max(max(p.values()) for at, p in peaks.items() if (at < 4) == first) for first in (True, False) if any((at < 4) == first for at in peaks)]
    h.check("memory is bounded", len(half) < 2 or half[1] <= half[0] * 1.25 + 64 * MIB, [x // MIB for x in half])
    print(f"{len(commits[0])} blocks, {len(load.sent)} messages of which {len(taken)} in blocks, {sum(kinds.get(k, 0) for k in ('job', 'transfer', 'honest'))} honest; honest jobs {jobs}; "
          f"broken {done}; longest wait for a block {longest:.1f} s; peaks MiB {[x // MIB for x in half]}; disk MiB {[d // MIB for d in disks[-1][1]]}")


main()
