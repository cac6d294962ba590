"""Blocks through the command line: one commit on every backend, outputs that Python works out too, verification, replay
into another home, and faults planted in store, state and history."""
import base64
import glob
import json
import os
import shutil
import sqlite3
import subprocess

from harness import Harness
from world import World

h = Harness()


def right(name, w, block):
    """The block's jobs: statuses, outputs and gas."""
    shown = w.answer("block", "show", block["height"])
    jobs = {j["job"]: j for j in shown["jobs"]}
    h.check(f"{name}: all jobs", set(jobs) == set(w.outputs), sorted(jobs))
    for job, want in w.outputs.items():
        row = jobs.get(job, {})
        if job in w.failed:
            h.check(f"{name}: failed", row.get("status") == "failed" and row["gas_used"] == "0"
                    and "cancelled by its sender" in row["error"], row)
            continue
        if h.check(f"{name}: complete", row.get("status") == "complete", row):
            status, got, err = w.run("cas", "get", row["output"])
            h.check_bytes(f"{name}: output of {job[:8]}", got, want, 4)
    h.check(f"{name}: gas", sum(int(j["gas_used"]) for j in shown["jobs"]) == int(shown["gas"]) > 0, shown)
    split = sum(int(shown[k]) for k in ("to_executors", "to_treasury", "burned"))
    h.check(f"{name}: split", split == int(shown["gas"]), shown)


def git(home, *args):
    return subprocess.run(["git", "--git-dir", os.path.join(home, "chain", "blocks.git"), *args], capture_output=True,
                          check=True).stdout.decode()


def history(name, w, block):
    """What the git program shows is what the block says."""
    h.check(f"{name}: ref", git(w.home, "rev-parse", "blocks").strip() == block["commit"])
    header = dict(line.split(" ", 1) for line in git(w.home, "show", "blocks:header").splitlines())
    h.check(f"{name}: header", header["state_root"] == block["state_root"] and header["height"] == block["height"]
            and header["gas"] == block["gas"], header)
    results = git(w.home, "show", "blocks:results").splitlines()
    h.check(f"{name}: results", sorted(r.split(" ")[0] for r in results) == sorted(w.outputs), results)


def differ(name, w, code, plant, *args):
    """With a planted fault the command ends with exit status 6 or 8 and the code; without it, well."""
    other = w.copy("planted")
    plant(other)
    status, _, err = other.run(*args)
    h.check(name, status in (6, 8) and code in err, f"exit status {status}\n{err}")


def change_row(w):
    with sqlite3.connect(os.path.join(w.home, "chain", "state.sqlite")) as db:
        db.execute("UPDATE accounts SET balance = x'0000000000000007' WHERE name = 'node'")
    db.close()


def change_edge(w):
    with sqlite3.connect(os.path.join(w.home, "chain", "state.sqlite")) as db:
        db.execute("DELETE FROM edges WHERE id = (SELECT max(id) FROM edges)")
    db.close()


def change_blob(w):
    job = next(j for j in w.outputs if j not in w.failed)
    cid = next(j for j in w.answer("block", "show", "1")["jobs"] if j["job"] == job)["output"]
    digest = base64.b32decode(cid[1:].upper() + "=" * (-len(cid[1:]) % 8))[4:]  # outputs of blocks are small, and lie in one file
    with sqlite3.connect(glob.glob(os.path.join(w.home, "*", "small.sqlite"))[0]) as db:
        before, = db.execute("SELECT bytes FROM blobs WHERE cid = ?", (digest,)).fetchone()
        db.execute("UPDATE blobs SET bytes = ? WHERE cid = ?", (bytes([before[0] ^ 1]) + before[1:], digest))
    db.close()


def change_pack(w):
    path = sorted(glob.glob(os.path.join(w.home, "chain/blocks.git/objects/pack/*.pack")), key=os.path.getsize)[-1]
    os.chmod(path, 0o644)
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, 1)
        f.write(bytes([byte[0] ^ 1]))


first = World(h, "first").begin()
twin = first.copy("twin")
on_cpu = first.end("cpu")
on_vulkan = twin.end("vulkan:0", "--height", "1")
h.check("one block on both", on_cpu == on_vulkan, (on_cpu, on_vulkan))
h.check("counts", (on_cpu["complete"], on_cpu["failed"], on_cpu["deferred"], on_cpu["final_clock"])
        == ("9", "2", "0", "3"), on_cpu)
right("cpu", first, on_cpu)
right("vulkan", twin, on_vulkan)
history("cpu", first, on_cpu)
first.refused("a block that is not open", "PC5851", 3, "block", "end", "--backend", "cpu", "--height", "1")
first.refused("a block that is not there", "PC5852", 3, "block", "show", "2")
first.refused("no block", "PC0010", 2, "block", "show", "x")
empty = first.end("cpu")
h.check("an empty block", (empty["height"], empty["complete"], empty["gas"]) == ("2", "0", "0"), empty)
h.check("list", [b["height"] for b in first.blocks()] == ["1", "2"] and first.answer("block", "list", "--last", "1")
        ["blocks"][0]["commit"] == empty["commit"], first.blocks())

report = first.answer("block", "verify", "1..2", "--backend", "vulkan:0")
h.check("verify", (report.get("blocks"), report.get("executed")) == ("2", "9"), report)
differ("a changed row", first, "PC5857", change_row, "block", "verify", "2", "--backend", "cpu")
differ("a changed edge", first, "PC5857", change_edge, "block", "verify", "2", "--backend", "cpu")
differ("a changed blob", first, "PC5001", change_blob, "block", "verify", "1", "--backend", "cpu")
differ("a changed pack", first, "PC575", change_pack, "block", "verify", "2", "--backend", "cpu")

log, store = os.path.join(first.home, "chain", "blocks.git"), os.path.join(first.home, "cas")
if not os.path.isdir(store):
    store = os.path.join(first.home, "store")
for name, how in (("recorded", ("--recorded",)), ("run again", ("--backend", "vulkan:0"))):
    again = World(h, "again " + name)
    report = again.answer("block", "replay", "--from", log, "--fetch", store, *how)
    h.check(f"replay, {name}", (report.get("commit"), report.get("state_root")) == (empty["commit"], empty["state_root"]),
            report)
    h.check(f"replay, {name}: accounts", again.answer("ledger", "show") == first.answer("ledger", "show"))
    again.outputs, again.failed = first.outputs, first.failed
    right(f"replay, {name}", again, on_cpu)
    again.answer("block", "verify", "2", "--backend", "cpu")
    h.check(f"replay, {name}: once more", again.answer("block", "replay", "--from", log, "--recorded")["blocks"] == "0")
stranger = World(h, "stranger")
stranger.text("ledger", "credit", "eve", "5")
stranger.refused("replay into an open block", "PC5858", 3, "block", "replay", "--from", log, "--recorded")
stranger.end("cpu")
stranger.refused("replay into another chain", "PC5858", 3, "block", "replay", "--from", log, "--recorded")
World(h, "nowhere").refused("replay without bytes", "PC5862", 6, "block", "replay", "--from", log, "--recorded")
World(h, "nobody").refused("replay of nothing", "PC5752", 8, "block", "replay", "--from", h.path("none"), "--recorded")
shutil.rmtree(first.home)
h.finish()
