"""What an ordering service keeps, and what it has no room for: old blocks leave etcd, which is compacted; a node that needs one of them says so and comes in by a snapshot; etcd
without room and a node without room say so, lose nothing, leave nothing half written, and go on when there is some."""
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time

import etcd
etcd.apart()

from harness import Harness, patient
from signed import Chain

h = Harness()
chain = Chain(h, ["ada"])
RETAIN = 8
QUOTA = 12 << 20


class Node:
    def __init__(self, name, url):
        self.name, self.url, self.home = name, url, chain.home(name)
        self.start()

    def start(self):
        self.log = open(h.path(self.name + ".log"), "ab")
        # Who writes beyond a limit is told so, and not killed.
        self.process = subprocess.Popen([h.pipectl, "-q", "--home", self.home, "node", "--order", self.url, "--backend", "cpu", "--block-ms", "20", "--retain", str(RETAIN)],
                                        env=h.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        etcd.atexit.register(lambda p=self.process: p.poll() is None and p.kill())

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(patient(120))

    def words(self):
        return open(h.path(self.name + ".log"), encoding="utf-8").read()

    def commits(self):
        return [b["commit"] for b in json.loads(chain.run(self.home, "--json", "block", "list"))["blocks"]]


def until(what, ask, seconds=60):
    print(what, flush=True)
    end = time.monotonic() + patient(seconds)
    while not ask():
        if time.monotonic() > end:
            return h.check(what, False, "it did not come to be")
        time.sleep(0.1)
    return h.check(what, True)


def main():
    if subprocess.run(["sh", "-c", "command -v etcd"], capture_output=True).returncode:
        h.check("etcd is installed", False, "tools/packaging/install test")
        h.finish()
    cluster = etcd.Cluster(h, 1, ["--quota-backend-bytes", str(QUOTA)])
    prefix = f"pipectl-{chain.id.hex()[:40]}/" if chain.id else None
    one, two = Node("one", cluster.url), Node("two", cluster.url)
    prefix = f"pipectl-{chain.id.hex()[:40]}/"

    def submit(message):
        digest = hashlib.sha256(message).hexdigest()
        key = prefix + "message/" + digest
        cluster.ask("/v3/kv/txn", {"compare": [{"key": etcd.b64(key), "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
                                   "success": [{"requestPut": {"key": etcd.b64(key), "value": etcd.b64(message)}},
                                               {"requestPut": {"key": etcd.b64(prefix + "waiting/" + digest), "value": etcd.b64(str(len(message)))}}]})
        return message

    def blocks():
        return sorted(int(k) for k in cluster.rows(prefix + "block/"))

    def done():
        """The last block that a node has finished."""
        return max((int(k) for k in cluster.rows(prefix + "root/")), default=0)

    def one_by_one(n):
        """So many blocks, each of one message."""
        for _ in range(n):
            before = done()
            last = submit(chain.transfer("ada", "eve", 1))
            end = time.monotonic() + patient(30)
            while done() == before:
                if time.monotonic() > end:
                    sys.exit("FAILED a message is ordered: " + one.words()[-500:])
                time.sleep(0.02)
        return last

    first = one_by_one(1)
    until("both have it", lambda: len(two.commits()) == 1)
    two.stop()
    behind = two.commits()
    one_by_one(RETAIN + 18)
    until("old blocks go", lambda: cluster.rows(prefix + "first").get("") is not None)
    height = len(one.commits())
    until("as declared", lambda: RETAIN <= len(blocks()) < RETAIN + 16 and blocks()[-1] == done())
    until("the oldest is named", lambda: int(cluster.rows(prefix + "first")[""]) == blocks()[0] > 2)
    until("their messages and roots went with them", lambda: len(cluster.rows(prefix + "message/")) == len(cluster.rows(prefix + "root/")) == len(blocks()))
    # ---- who is behind
    two.start()
    code = two.process.wait(patient(60))
    h.check("who is behind says so: PC6187", code not in (0, 130) and "PC6187" in two.words() and "comes next here, and the log begins with" in two.words(), (code, two.words()))
    h.check("and has what it had", two.commits() == behind)
    chain.run(one.home, "ledger", "snapshot", "write", h.path("snapshot"))
    os.rename(two.home, two.home + "-old")
    late = h.path("two")
    code, out, err = h.run("--home", late, "ledger", "snapshot", "restore", h.path("snapshot"), "--trust", one.commits()[-1])
    h.check("it comes in by a snapshot", code == 0, err)
    two.start()
    one_by_one(2)
    until("and follows", lambda: two.commits() == one.commits()[-len(two.commits()):] and len(two.commits()) > 2)
    # ---- a message that was removed, put again: ordered again, and refused
    before = json.loads(chain.run(one.home, "--json", "ledger", "show"))
    n = len(one.commits())
    submit(first)
    until("a message of before is ordered again", lambda: done() == n + 1)
    until("everywhere", lambda: two.commits()[-1] == one.commits()[-1])
    after = json.loads(chain.run(one.home, "--json", "ledger", "show"))
    h.check("and changes nothing", [a for a in after["accounts"]] == [a for a in before["accounts"]], (before, after))
    # ---- no room at etcd
    junk, full = 0, False
    while not full and junk < 40:
        try:
            cluster.put(f"junk/{junk}", os.urandom(1 << 20))
            junk += 1
        except OSError:
            full = True
    code, _, err = h.run("ledger", "apply", h.write("late", chain.transfer("ada", "eve", 1)), "--order", cluster.url)
    h.check("nothing can be put: PC6188", code == 1 and "PC6188" in err, (code, err))
    height = done()
    h.check("etcd was filled", full, junk)
    for _ in range(3):
        time.sleep(0.3)
        h.check("both are there", one.process.poll() is None and two.process.poll() is None, one.words()[-500:])
    cluster.ask("/v3/kv/deleterange", {"key": etcd.b64("junk/"), "range_end": etcd.b64("junk0")})
    revision = cluster.wait()["header"]["revision"]
    for path, question in (("/v3/kv/compaction", {"revision": revision, "physical": True}), ("/v3/maintenance/defragment", {})):
        try:
            cluster.ask(path, question, timeout=30)
        except OSError:
            pass  # compacted already
    for alarm in cluster.ask("/v3/maintenance/alarm", {"action": "GET"}).get("alarms", []):
        cluster.ask("/v3/maintenance/alarm", dict(alarm, action="DEACTIVATE"))
    end = time.monotonic() + patient(60)
    while h.run("ledger", "apply", h.path("late"), "--order", cluster.url)[0] and time.monotonic() < end:
        time.sleep(0.2)
    until("with room it goes on", lambda: done() > height and two.commits()[-1] == one.commits()[-1])
    # ---- no room at a node
    pid = one.process.pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    height = len(two.commits())
    for _ in range(3):
        submit(chain.transfer("ada", "eve", 1))
        time.sleep(0.2)
    until("a node without room says so", lambda: any(c in one.words() for c in ("PC5701", "PC0003", "PC0023", "PC5751")))
    until("the other goes on", lambda: done() > height)
    h.check("it waits for room", one.process.poll() is None, one.words()[-500:])
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    until("and goes on when there is some", lambda: one.commits()[-1] == two.commits()[-1] and "it goes on again" in one.words())
    one.stop(signal.SIGKILL)
    one.start()
    submit(chain.transfer("ada", "eve", 1))
    until("as if nothing had been", lambda: one.commits()[-1] == two.commits()[-1] and len(two.commits()) > height + 1)
    for n in (one, two):
        h.check(f"{n.name} stops when asked", n.stop() == 0, n.words()[-500:])
        code, _, err = h.run("--home", n.home, "ledger", "verify")
        h.check(f"{n.name}: every row of it", code == 0, err)
    print(f"{len(one.commits())} blocks, {len(blocks())} in etcd")
    h.finish()


main()
