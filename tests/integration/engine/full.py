"""Disks that are really full: etcd and a node on small file systems of their own, with not a byte left. etcd stops or refuses, the node says so, keeps nothing half written and waits;
with room both go on, and nothing that was ordered is lost or done twice.
usage: full.py, or full.py can: the exit status says whether file systems can be mounted here"""
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import etcd
etcd.apart("-rnm", "mount -t tmpfs tmpfs /mnt")
if sys.argv[1:] == ["can"]:
    sys.exit(os.environ["ENGINE_APART"] != "1")

from harness import Harness, patient
from signed import Chain

h = Harness()
chain = Chain(h, ["ada"])
ETCD_ROOM, NODE_ROOM = 200 << 20, 8 << 20  # etcd's log takes 64 MiB beforehand, twice


def mounted(path, room):
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", path], check=True)
    return path


def fill(folder):
    """Not a byte is left."""
    with open(os.path.join(folder, "junk"), "wb", buffering=0) as f:
        for size in (1 << 20, 4096, 1):
            try:
                while f.write(bytes(size)):
                    pass
            except OSError:
                pass
    left = os.statvfs(folder)
    return h.check(f"{os.path.basename(folder)} is full", left.f_bavail == 0, left)


def empty(folder):
    os.remove(os.path.join(folder, "junk"))


def until(what, ask, seconds=60):
    print(what, flush=True)
    end = time.monotonic() + patient(seconds)
    while not ask():
        if time.monotonic() > end:
            return h.check(what, False, "it did not come to be")
        time.sleep(0.1)
    return h.check(what, True)


def main():
    if os.environ["ENGINE_APART"] != "1":
        h.check("file systems can be mounted", False, "no user and mount namespaces here: nothing was tried")
        return h.finish()
    home = chain.home("one")
    disk = mounted(h.path("etcd-m0"), ETCD_ROOM)
    os.chmod(disk, 0o700)
    room = os.path.join(home, "chain")
    kept = h.path("kept")
    os.rename(room, kept)
    mounted(room, NODE_ROOM)
    subprocess.run(["cp", "-a", kept + "/.", room], check=True)
    cluster = etcd.Cluster(h, 1)
    member, prefix = cluster.members[0], f"pipectl-{chain.id.hex()[:40]}/"
    log = open(h.path("one.log"), "ab")
    node = subprocess.Popen([h.pipectl, "-q", "--home", home, "node", "--order", cluster.url, "--backend", "cpu", "--block-ms", "20"], env=h.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    etcd.atexit.register(lambda: node.poll() is None and node.kill())

    def words():
        return open(h.path("one.log"), encoding="utf-8").read()

    def submit(message):
        return h.run("ledger", "apply", h.write("message", message), "--order", cluster.url)[0] == 0

    def has():
        """What eve was given in blocks that are final."""
        shown = json.loads(chain.run(home, "--json", "ledger", "show"))
        return next((int(a["balance"]) for a in shown["accounts"] if a["account"] == "eve"), 0)

    def transfer(n):
        return chain.transfer("ada", "eve", n)

    h.check("a message", submit(transfer(1)))
    until("is in a block", lambda: has() == 1)
    # ---- the node's disk
    fill(room)
    waiting = [transfer(10), transfer(100)]
    h.check("messages are ordered meanwhile", all(submit(m) for m in waiting))
    until("a node without room says so", lambda: any(c in words() for c in ("PC5701", "PC0003", "PC0023", "PC5751")))
    h.check("and waits", node.poll() is None, words()[-500:])
    empty(room)
    until("with room it goes on, and takes each once", lambda: has() == 111)
    # ---- etcd's disk
    fill(disk)
    late = transfer(1000)
    sent, end = 0, time.monotonic() + patient(60)
    blobs = iter(range(10 ** 6))
    while member.process.poll() is None and time.monotonic() < end and sent < 200:
        try:
            cluster.put(f"junk/{next(blobs) % 4}", os.urandom(1 << 20))
            sent += 1
        except OSError:
            break
    refused = not submit(late)
    h.check("a full etcd takes nothing", refused or member.process.poll() is not None, sent)
    until("the node says that it has no service, or no room", lambda: "PC6181" in words() or "PC6188" in words())
    h.check("and waits", node.poll() is None, words()[-500:])
    if member.process.poll() is None:
        member.kill()
    else:
        member.log.close()
    empty(disk)
    member.start(cluster.names)
    cluster.wait()
    for _ in range(3):  # put again it is the same message
        submit(late)
        time.sleep(0.2)
    until("with room it is ordered, once", lambda: has() == 1111)
    h.check("a message behind it", submit(transfer(10000)))
    until("as if nothing had been", lambda: has() == 11111)
    node.send_signal(signal.SIGTERM)
    h.check("it stops when asked", node.wait(patient(120)) == 0, words()[-500:])
    code, _, err = h.run("--home", home, "ledger", "verify")
    h.check("every row of it", code == 0, err)
    h.finish()


main()
