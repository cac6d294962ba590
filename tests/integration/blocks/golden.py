"""Kept chains of version 2 of the rules (chains.py): made again they are the same; run again from the repository's files alone they have the ids that they had, from the first block and from a
kept snapshot; they have every kind of message that changes state; and a pipectl whose rules are another by one digit is seen.
usage: golden.py CHAIN...; with PIPECTL_BLESS set what the repository has of them is made anew."""
import os
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "node"))

import wire
from chains import GOLDEN, MADE, SNAPSHOTS, commits, keep, taken_from
from harness import Harness
from world import World

h = Harness()
ASKING = {"query", "block_query", "put", "get", "view", "graph", "block_end"}  # no part of a record


def kept(name):
    with open(os.path.join(GOLDEN, name, "commits"), encoding="utf-8") as f:
        return f.read().split()


def records(log, ids, file):
    return [subprocess.run(["git", "--git-dir", log, "show", f"{i}:{file}"], capture_output=True, check=True, text=True).stdout for i in ids]


def replayed(name, log):
    w = World(h, name + "-replayed")
    for blob in blobs(name):
        w.text("cas", "put", blob)
    w.text("block", "replay", "--from", log, "--backend", "cpu")
    h.check(f"{name}: run again from the first block", commits(w) == kept(name), commits(w))
    status, _, err = w.run("ledger", "verify")
    h.check(f"{name}: every row is in the tree", status == 0, err)


def blobs(name):
    """What version 1 has no messages for."""
    folder = os.path.join(GOLDEN, "rules-1", "blobs")
    return [os.path.join(folder, b) for b in sorted(os.listdir(folder))] if name.startswith("rules-1") else []


def restored(name, log):
    want, at = kept(name), SNAPSHOTS[name]
    with tarfile.open(os.path.join(GOLDEN, name, "snapshot.tar.xz")) as tar:
        tar.extractall(h.path(name + "-kept"))
    folder = h.path(name + "-kept/snapshot")
    late = World(h, name + "-restored")
    late.text("ledger", "snapshot", "restore", folder, "--trust", want[at - 1])
    late.text("block", "replay", "--from", log, "--backend", "cpu")
    h.check(f"{name}: run again from the snapshot of block {at}", commits(late) == want, (commits(late), want))
    h.check(f"{name}: a snapshot made again has the same bytes", tree(folder) == tree(h.path(name) + "-snapshot"))


def tree(folder):
    out = {}
    for base, _, files in os.walk(folder):
        for f in files:
            with open(os.path.join(base, f), "rb") as data:
                out[os.path.relpath(os.path.join(base, f), folder)] = data.read()
    return out


def kinds(name, log):
    """(origin, kind) of every message of the record."""
    return {tuple(line.split()[:2]) for text in records(log, kept(name), "messages") for line in text.splitlines()}


def changed(digit_of):
    """A pipectl with one digit of one price another, in what it carries inside of the schedule: everything else is the file that is tested."""
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(h.pipectl)))
    to = h.path("changed")
    os.makedirs(os.path.join(to, "bin"))
    for entry in os.listdir(prefix):
        if entry != "bin":
            os.symlink(os.path.join(prefix, entry), os.path.join(to, entry))
    for entry in os.listdir(os.path.join(prefix, "bin")):
        if entry != "pipectl":
            os.symlink(os.path.join(prefix, "bin", entry), os.path.join(to, "bin", entry))
    with open(os.path.realpath(h.pipectl), "rb") as f:
        data = f.read()
    found = list(re.finditer(digit_of, data))
    h.check(f"{digit_of}: one place", len(found) == 1, len(found))
    at = found[0].end(1) - 1
    data = data[:at] + bytes([ord("0") + (data[at] - ord("0") + 1) % 10]) + data[at + 1:]
    path = os.path.join(to, "bin", "pipectl")
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o755)
    return path


def planted(name, log):
    own, h.pipectl = h.pipectl, changed(rb"\brefusal ?= ?\"?(\d+)")
    w = World(h, name + "-planted")
    status, _, err = w.run("block", "replay", "--from", log, "--backend", "cpu")
    h.pipectl = own
    h.check(f"{name}: another price of a refusal is seen, with the place", status == 6 and "PC5856" in err and "file balances" in err, (status, err))
    h.planted("rules: the price of a refusal is another by one", "tests/integration/blocks/golden.py", "PC5856 block replay of a kept chain", err)


def main():
    seen = set()
    for name in sys.argv[1:]:
        home = MADE[name](h, name)
        if os.environ.get("PIPECTL_BLESS"):
            keep(h, name, home)
        w = World(h, name)
        h.check(f"{name}: made again it is the same", commits(w) == kept(name), commits(w))
        log = taken_from(h, name + "-log", name)
        seen |= kinds(name, log)
        replayed(name, log)
        restored(name, log)
    if "rules-2" in sys.argv:
        every = {k for k, (_, kind, _) in wire.PROTO["Request"].items() if kind != "Auth"} - ASKING
        h.check("every kind of message", every <= {kind for _, kind in seen}, every - {kind for _, kind in seen})
        h.check("from everybody", {origin for origin, _ in seen} == {"message", "epoch", "genesis"}, seen)
        planted("rules-2", h.path("rules-2-log/chain/blocks.git"))
    h.finish()


main()
