"""Ids of blocks against the git program, packs, replication, refusals, and what verify finds. No argument but the tool."""
import os
import shutil
import stat
import subprocess
import sys

from harness import Harness, Random
from repo import Log

h = Harness()
tool = sys.argv[1]
plant = "--plant" in sys.argv  # other times than the blocks'
rng = Random(5)


def other(name):
    """A bare repository of the git program alone."""
    log = Log(h, tool, name)
    os.makedirs(log.dir)
    log.git("init", "-q", "--bare", ".")
    return log


def noise(n):
    return b"".join(rng.u64().to_bytes(8, "little") for _ in range((n + 7) // 8))[:n]


SORTS = ["a", "a-b", "a.b", "a0", "aa", "A", "b/x", "b-x", "b.x", "b0", "c/a", "c/a-", "c/a.b", "c/a0", "c.d/e", "c-d/e", "c0/e", "_", "0"]
SETS = {
    "one": [("results", b"x")],
    "sorts": [(p, p.encode()) for p in SORTS],
    "empty files": [("a", b""), ("b/c", b""), ("b/d", b"\n")],
    "binary": [("a", bytes(range(256)) * 40), ("b", b"\r\n\r\n\0\r\n"), ("c/d", noise(70001))],
    "long names": [("n" * 255, b"1"), ("f" * 255 + "/" + "g" * 255, b"2")],
    "many": [(f"d{i % 7}/f{i}" if i % 3 else f"f{i}", b"%d" % (i // 2)) for i in range(10000)],
}
CLOCKS = [0, 1, 86400, 2**31, 2**32 + 5, 2**40, 2**62]


def ids():
    ours, again, git = Log(h, tool, "ours"), Log(h, tool, "again"), other("git")
    hostile = h.path("hostile")
    os.makedirs(hostile)
    h.write("hostile/.gitconfig", b"[core]\n\tautocrlf = true\n\teol = crlf\n[user]\n\tname = X\n[commit]\n\tgpgsign = true\n"
                                  b"[extensions]\n\tobjectformat = sha256\n[init]\n\ttemplateDir = /nonexistent\n")
    env = {"HOME": hostile, "XDG_CONFIG_HOME": hostile, "GIT_CONFIG_GLOBAL": hostile + "/.gitconfig", "GIT_DIR": "/nonexistent",
           "GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_AUTHOR_NAME": "X", "GIT_AUTHOR_DATE": "5 +0100", "TZ": "Asia/Tokyo",
           "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nonexistent", "LC_ALL": "tr_TR.UTF-8"}
    want = {}
    for name, files in SETS.items():
        want[name] = git.commit(git.tree(files), clock=8 if plant else 7, message=f"{name}\n")
        h.check(f"id {name}", ours.write(files, clock=7, message=name) == want[name])
    if plant:
        h.finish()
    for name, files in reversed(SETS.items()):  # another order of blocks, of files, another environment
        mixed = sorted(files, key=lambda f: f[0][::-1])
        h.check(f"id again {name}", again.write(mixed, clock=7, message=name + "\n", env=env) == want[name])
    parent = None
    for clock in CLOCKS:
        files = [("clock_to_jobs", b"%d" % clock), ("receipts/r", b"same")]
        expected = git.commit(git.tree(files), [parent] if parent else [], clock, f"block {clock}\n\nmore\n")
        got = ours.write(files, parent, clock, f"block {clock}\n\nmore\n")
        h.check(f"id at clock {clock}", got == expected, f"{got}, wanted {expected}")
        again.write(files, parent, clock, f"block {clock}\n\nmore\n", env=env)
        parent = expected
    for log in (ours, again):
        log.call("point", parent)
        status, said = log.git("fsck", "--strict", "--full", check=False)
        h.check("fsck", status == 0 and "error" not in said and "warning" not in said, said)
        h.check("tip", log.git("rev-parse", "HEAD", "refs/heads/blocks").decode().split() == [parent, parent])
        h.check("verify", log.call("verify", parent)[1] == b"%d\n" % len(CLOCKS), log.call("verify", parent))
    walked = [int(line.split()[0]) for line in ours.call("walk", parent)[1].splitlines()]
    h.check("walk", walked == CLOCKS[::-1], walked)
    for name, files in SETS.items():
        for path, data in files[:20]:
            h.check_bytes(f"read {name}:{path}", ours.call("cat", want[name], path)[1], data, 1)
    return ours, parent


def packs(log, parent):
    names = lambda: sorted(os.listdir(log.dir + "/objects/pack"))
    before = names()
    files = [("edges", noise(5000)), ("receipts/r", b"same"), ("balances", b"b")]
    oid = log.write(files, parent, 2**62)
    new = sorted(set(names()) - set(before))
    h.check("one pack and its index", [n.split(".")[1] for n in new] == ["idx", "pack"], new)
    listed = log.git("verify-pack", "-v", "objects/pack/" + new[0]).decode().splitlines()
    kinds = sorted(line.split()[1] for line in listed if len(line.split()) > 3 and line.split()[1] in ("blob", "tree", "commit"))
    # The folder and its file are there from the blocks before.
    h.check("only what is new", kinds == ["blob", "blob", "commit", "tree"], kinds)
    h.check("the same block again", log.write(files, parent, 2**62) == oid and names() == sorted(before + new))
    h.check("the ref stays", log.git("rev-parse", "refs/heads/blocks").decode().strip() == parent)
    h.check("nothing left", os.listdir(log.dir + "/tmp") == [])
    h.check("no loose object", sorted(os.listdir(log.dir + "/objects")) == ["info", "pack"])
    return oid


def replication(log, oid):
    log.call("point", oid)
    run = lambda *a: subprocess.run(a, cwd=h.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=h.env).returncode
    h.check("clone", run("git", "clone", "-q", "--mirror", log.dir, "clone.git") == 0)
    copy = Log(h, tool, "copy")
    copy.call("repair", "none")
    copy.git("fetch", "-q", "file://" + log.dir, "refs/heads/blocks:refs/heads/blocks")
    h.check("a fetched log verifies", copy.call("verify", oid)[0] == 0)
    for far, near in ((log, copy), (copy, log)):
        oid = far.write([("results", noise(100))], oid, 2**62)
        far.call("point", oid)
        near.git("fetch", "-q", "file://" + far.dir, "refs/heads/blocks:refs/heads/blocks")
        h.check("fetch", near.call("verify", oid)[0] == 0 and near.call("point", oid)[0] == 0)
    log.git("gc", "-q")
    h.check("after gc", log.call("verify", oid)[0] == 0)
    h.check("after gc, write", isinstance(log.write([("a", b"1")], oid, 2**62), str))


def refusals(log, parent):
    bad = ["", ".", "..", ".git", "a/.git", "a/../b", "a//b", "/a", "a/", "a/b/c", "-a", "a b", "a\\b", "x" * 256, "\u00fc", "a:b"]
    for path in bad[1:]:
        if " " not in path:
            h.check(f"path {path!r}", log.write([("ok", b"1"), (path, b"x")]) == ["PC5750"])
    for files in ([("a", b"1"), ("a", b"1")], [("a", b"1"), ("a-", b"2"), ("a/b", b"3")], [("a/b", b"1"), ("a/b", b"2")], []):
        h.check(f"files {files}", log.write(files) == ["PC5750"])
    for message in ("", "a\tb", "\u00fc", "\x7f"):
        h.check(f"message {message!r}", log.write([("a", b"1")], message=message) == ["PC5750"])
    h.check("clock too large", log.write([("a", b"1")], clock=2**63) == ["PC5750"])
    h.check("largest clock", isinstance(log.write([("a", b"1")], clock=2**63 - 1), str))
    h.check("clock back", log.write([("a", b"1")], parent, 5) == ["PC5756"])
    tree = log.git("rev-parse", parent + "^{tree}").decode().strip()
    for missing in ("12" * 20, tree):
        h.check("parent missing", log.write([("a", b"1")], missing) == ["PC5753"])
        h.check("point at none", log.call("point", missing)[2] == ["PC5753"])
        h.check("repair to none", log.call("repair", missing)[2] == ["PC5753"])
    for path in ("nothing", "receipts", "receipts/none", "clock_to_jobs/x"):
        h.check(f"no file {path}", log.call("cat", parent, path)[2] == ["PC5758"], log.call("cat", parent, path))
    for name, make in {"foreign": lambda d: open(d + "/x", "w").close(), "repository": lambda d: Log(h, tool, "repository").git("init", "-q", "--bare", ".")}.items():
        where = Log(h, tool, name)
        os.makedirs(where.dir)
        make(where.dir)
        h.check(f"{name} directory", where.call("repair", "none")[2] == ["PC5752"])
    h.write("file", b"")
    h.check("a file", Log(h, tool, "file").call("repair", "none")[2] == ["PC0003"])


def verify_finds(log, parent):
    """Commits made by hand: each fault by its code, naming the commit."""
    tree = log.tree([("a", b"1"), ("b/c", b"2")])
    blob = log.blob(b"1")
    sub = log.git("mktree", stdin=f"100644 blob {blob}\tx\n".encode()).decode().strip()
    deep = log.git("mktree", stdin=f"040000 tree {sub}\td\n".encode()).decode().strip()
    entry = lambda mode, name, oid: mode + b" " + name + b"\0" + bytes.fromhex(oid)
    top = 2**62
    good = log.commit(tree, [parent], top)
    h.check("good by hand", log.call("verify", good)[0] == 0, log.call("verify", good))
    raw = log.git("cat-file", "commit", good)
    faults = {
        "author": (log.commit(tree, [parent], top, who={"GIT_AUTHOR_NAME": "eve"}), "PC5755"),
        "committer": (log.commit(tree, [parent], top, who={"GIT_COMMITTER_EMAIL": "e@x"}), "PC5755"),
        "author's time": (log.commit(tree, [parent], top, env={"GIT_AUTHOR_DATE": "@5 +0000"}), "PC5755"),
        "offset": (log.commit(tree, [parent], top, env={"GIT_COMMITTER_DATE": f"@{top} +0100"}), "PC5755"),
        "message": (log.commit(tree, [parent], top, "caf\u00e9\n"), "PC5755"),
        "header": (log.raw("commit", raw.replace(b"\n\n", b"\nencoding x\n\n", 1)), "PC5755"),
        "no newline": (log.raw("commit", raw[:-1]), "PC5755"),
        "no author": (log.raw("commit", raw.replace(b"author", b"writer", 1)), "PC5755"),
        "merge": (log.commit(tree, [parent, log.commit(tree, [], 1)], top), "PC5759"),
        "empty tree": (log.commit(log.git("mktree").decode().strip(), [parent], top), "PC5757"),
        "deep": (log.commit(log.git("mktree", stdin=f"040000 tree {deep}\te\n".encode()).decode().strip(), [parent], top), "PC5757"),
        "script": (log.commit(log.git("mktree", stdin=f"100755 blob {blob}\tx\n".encode()).decode().strip(), [parent], top), "PC5757"),
        "link": (log.commit(log.git("mktree", stdin=f"120000 blob {blob}\tx\n".encode()).decode().strip(), [parent], top), "PC5757"),
        "name": (log.commit(log.git("mktree", stdin=f"100644 blob {blob}\t.x\n".encode()).decode().strip(), [parent], top), "PC5757"),
        "old mode": (log.commit(log.raw("tree", entry(b"100664", b"x", blob)), [parent], top), "PC5757"),
        "unsorted": (log.commit(log.raw("tree", entry(b"100644", b"x", blob) + entry(b"100644", b"a", blob)), [parent], top), "PC5757"),
        "twice": (log.commit(log.raw("tree", entry(b"100644", b"x", blob) * 2), [parent], top), "PC5757"),
        "no file": (log.commit(log.raw("tree", entry(b"100644", b"x", "34" * 20)), [parent], top), "PC5753"),
        "file is a tree": (log.commit(log.raw("tree", entry(b"100644", b"x", sub)), [parent], top), "PC5753"),
        "no parent": (log.raw("commit", raw.replace(parent.encode(), b"56" * 20)), "PC5753"),
        "clock": (log.commit(tree, [good], 3), "PC5756"),
    }
    for name, (oid, code) in faults.items():
        above = log.commit(tree, [oid], top)  # a good commit on top changes nothing
        for tip in (oid, above):
            _, _, codes, said = log.call("verify", tip)
            named = oid if name != "no parent" else "56" * 20
            h.check(f"verify finds {name}", codes == [code] and named in said, said)


def damage():
    """Every byte of a pack matters: changed, cut, gone."""
    whole = Log(h, tool, "whole")
    first = whole.write([("a", noise(300)), ("b/c", b"2")], clock=1)
    second = whole.write([("a", noise(300)), ("b/c", b"2")], first, 2)
    h.check("whole", whole.call("verify", second)[1] == b"2\n")
    pack = whole.git("verify-pack", "-v", *["objects/pack/" + n for n in os.listdir(whole.dir + "/objects/pack") if n.endswith("idx")]).decode()
    name = next(line.split(":")[0] for line in pack.split(first)[1].splitlines() if line.endswith(": ok"))
    hurt = Log(h, tool, "hurt")
    size = os.path.getsize(f"{whole.dir}/{name}")
    for at in [*range(12, size - 20, 7), "cut", "gone"]:
        shutil.rmtree(hurt.dir, ignore_errors=True)
        shutil.copytree(whole.dir, hurt.dir)
        path = f"{hurt.dir}/{name}"
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
        with open(path, "rb") as f:
            data = bytearray(f.read())
        if at == "gone":
            os.remove(path)
            os.remove(path.replace(".pack", ".idx"))
        else:
            if at == "cut":
                data = data[:size // 2]
            else:
                data[at] ^= 0x10
            with open(path, "wb") as f:
                f.write(data)
        status, out, codes, said = hurt.call("verify", second)
        h.check(f"damage at {at}", status == 8 and codes == (["PC5753"] if at == "gone" else codes) and codes[0] in ("PC5753", "PC5754") and (first in said or second in said), said)


log, tip = ids()
tip = packs(log, tip)
refusals(log, tip)
replication(log, tip)
verify_finds(log, tip)
damage()
h.finish()
