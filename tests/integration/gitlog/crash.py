"""A log whose writer dies or whose disk refuses: at every call that writes, at random instants, with a full disk, without
permission. Afterwards the log is whole, and block N has the id it has in an undisturbed run."""
import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from harness import Harness, Random
from repo import Log

h = Harness()
tool = sys.argv[1]
rng = Random(11)
BLOCKS, JOBS = 60, 20


def final_of(log):
    """Height and id that stand for what SQLite names."""
    try:
        with open(log.dir + ".final") as f:
            height, oid = f.read().split()
            return int(height), oid
    except FileNotFoundError:
        return 0, None


def chain(log, to, **how):
    return log.call("chain", log.dir + ".final", to, JOBS, **how)


def undisturbed():
    log = Log(h, tool, "undisturbed")
    status, out, _, said = chain(log, BLOCKS)
    h.check("undisturbed", status == 0, said)
    return [line.split()[1].decode() for line in out.splitlines()]


def copy(log, name):
    to = Log(h, tool, name)
    shutil.rmtree(to.dir, ignore_errors=True)
    if os.path.exists(to.dir + ".final"):
        os.remove(to.dir + ".final")
    if log is not None:
        shutil.copytree(log.dir, to.dir)
        shutil.copy(log.dir + ".final", to.dir + ".final")
    return to


def whole(name, log, want, fsck=True):
    """Before repair and after: what is named is there, and the ref is at it or one block behind."""
    height, oid = final_of(log)
    ok = height == 0 or (want[height - 1] == oid and log.call("verify", oid)[1] == b"%d\n" % height)
    h.check(f"{name}: what is named is whole", ok, (height, oid))
    try:
        with open(log.dir + "/refs/heads/blocks") as f:
            at = f.read().strip()
        h.check(f"{name}: the ref", at in want[max(0, height - 2):height], (height, at))
    except FileNotFoundError:
        h.check(f"{name}: no ref", height <= 1, height)
    h.check(f"{name}: repair", log.call("repair", oid or "none")[0] == 0)
    h.check(f"{name}: nothing left", os.listdir(log.dir + "/tmp") == [])
    if fsck and height:
        status, said = log.git("fsck", "--strict", "--full", check=False)
        h.check(f"{name}: fsck", status == 0 and "error" not in said, said)
        h.check(f"{name}: repaired ref", log.git("rev-parse", "HEAD").decode().strip() == oid)


def every_call(start, want, to, what):
    """`what` at the N-th call that writes, for every N until the run ends before it."""
    n, struck = 0, 0
    while True:
        n += 1
        log = copy(start, "every")
        status, _, codes, said = chain(log, to, env={"GITLOG_FAULT": f"{what}:{n}"})
        ended = re.search(r"calls (\d+)", said)
        if status == 0 and ended and int(ended[1]) < n:
            break
        name = f"{what} at call {n}"
        if what == "kill":
            h.check(f"{name}: killed", status == -signal.SIGKILL, status)
        else:
            h.check(f"{name}: refused", codes in (["PC5751"], ["PC0003"], ["PC0023"]) and status != 0, said)
        if status != 0:
            struck += 1
        whole(name, log, want, fsck=n % 4 == 0)
        done, _, _, said = chain(log, to)
        h.check(f"{name}: goes on", done == 0 and final_of(log) == (to, want[to - 1]), said)
    h.check(f"{what}: many calls", struck > 15, struck)
    print(f"{what}: {struck} calls struck", flush=True)


def order(start):
    """What is named was synced before: pack and index, then their names, then the directory of these, then the ref."""
    height, tip = final_of(start)
    log = copy(start, "order")
    _, out, _, said = log.call("write", tip, 1000, "m", stdin=b"a 1\nx\n", env={"GITLOG_FAULT": "trace"})
    said = [re.sub(r"-[0-9a-f]{40}", "", line) for line in said.splitlines()]
    said = [re.sub(r"\S*/", "", line) for line in said if line.startswith(("fsync", "rename"))]
    h.check("order of a block", said[-5:] == ["fsync pack.pack", "fsync pack.idx", "renameat pack.pack", "renameat pack.idx",
                                              "fsync pack"], said)
    _, _, _, said = log.call("point", out.decode().strip(), env={"GITLOG_FAULT": "trace"})
    said = [re.sub(r"\S*/|-[0-9]+", "", line) for line in said.splitlines() if line.startswith(("fsync", "rename"))]
    h.check("order of a ref", said == ["fsync f", "renameat blocks", "fsync heads"], said)


def at_random(want, block_s):
    log = copy(None, "random")
    kills = 0
    for run in range(150):
        p = subprocess.Popen([tool, "chain", log.dir, log.dir + ".final", str(BLOCKS), str(JOBS)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=h.env)
        # Two of three runs finish a block at least, so that a slow machine gets on, too.
        first = p.stdout.readline() if run % 3 else b""
        time.sleep(rng.below(10000) / 1e4 * (block_s if first else 0.02))
        p.kill()
        out, _ = p.communicate()
        for line in (first + out).decode().splitlines():
            height, oid = line.split()
            if len(oid) == 40:  # the last line may be torn
                h.check("random: the same id", want[int(height) - 1] == oid, line)
        kills += p.returncode == -signal.SIGKILL
        if os.path.isdir(log.dir + "/tmp") and kills % 5 == 0:
            whole(f"random kill {kills}", log, want, fsck=kills % 20 == 0)
        if final_of(log)[0] == BLOCKS:
            break
    h.check("random: many kills", kills >= 20, kills)
    h.check("random: goes on", chain(log, BLOCKS)[0] == 0 and final_of(log) == (BLOCKS, want[-1]), final_of(log))
    h.check("random: all of it", log.call("verify", want[-1])[1] == b"%d\n" % BLOCKS)
    print(f"random: {kills} kills", flush=True)


def full_disk(start):
    """A disk that is full after so many bytes of a file."""
    height, tip = final_of(start)
    big = [("results", bytes(rng.below(256) for _ in range(60000))), ("edges", b"x" * 1000)]
    want = copy(start, "full").write(big, tip, 1000)
    refused = 0
    for limit in (0, 1, 100, 1000, 4095, 4096, 4097, 8192, 20000, 50000, 60000, 60500, 70000, 1 << 20):
        log = copy(start, "full")
        got = log.write(big, tip, 1000, env={"GITLOG_FILE_LIMIT": str(limit)})
        if got == want:
            h.check(f"limit {limit}: enough", limit > 60000)
            continue
        refused += 1
        h.check(f"limit {limit}: refused", got == ["PC5751"], got)
        h.check(f"limit {limit}: nothing left", os.listdir(log.dir + "/tmp") == []
                and sorted(os.listdir(log.dir + "/objects/pack")) == sorted(os.listdir(start.dir + "/objects/pack")))
        h.check(f"limit {limit}: goes on", log.write(big, tip, 1000) == want)
    h.check("limits refuse and allow", 8 <= refused < 14, refused)


def without_rights():
    """Root passes permissions by; without that capability it is as anybody."""
    ctypes.CDLL(None, use_errno=True).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


def read_only(start):
    height, tip = final_of(start)
    log = copy(start, "fixed")
    folders = [log.dir, *(os.path.join(r, d) for r, ds, _ in os.walk(log.dir) for d in ds)]
    for folder in folders:
        os.chmod(folder, 0o555)
    how = {"preexec": without_rights}
    h.check("read-only: refused", log.write([("a", b"new")], tip, 1000, **how) == ["PC5751"])
    h.check("read-only: read", log.call("verify", tip, **how)[1] == b"%d\n" % height, log.call("verify", tip, **how))
    h.check("read-only: ref as it is", log.call("point", tip, **how)[0] == 0)
    parent = log.call("walk", tip, **how)[1].split()[3].decode()
    h.check("read-only: ref refused", log.call("point", parent, **how)[2] == ["PC5751"])
    h.check("read-only: ref unmoved", log.git("rev-parse", "HEAD").decode().strip() == tip)
    h.check("read-only: not made", Log(h, tool, "fixed/objects/x").call("repair", "none", **how)[2] == ["PC0003"])
    for folder in folders:
        os.chmod(folder, 0o755)
    h.check("then written", isinstance(log.write([("a", b"new")], tip, 1000), str))


def two_writers(want):
    """Writers at once do not tear each other's files away; repair leaves those of one that lives."""
    log = copy(None, "two")
    log.call("repair", "none")
    ps = [subprocess.Popen([tool, "chain", log.dir, f"{log.dir}.{i}", "15", str(JOBS)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=h.env) for i in range(3)]
    while any(p.poll() is None for p in ps):
        log.call("repair", "none")
    for p in ps:
        out, said = p.communicate()
        h.check("two writers", p.returncode == 0 and out.decode().split()[-1] == want[14], said)
    h.check("two writers: whole", log.call("verify", want[14])[1] == b"15\n")


def many_packs():
    """One pack a block, more than a process may have open."""
    log = Log(h, tool, "packs")
    log.call("bench", 600, 1, env={"GITLOG_FAULT": "nosync"})
    tip = log.git("rev-parse", "HEAD").decode().strip()
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (150, 150))
    h.check("600 packs", log.call("verify", tip, preexec=limit)[1] == b"600\n", log.call("verify", tip, preexec=limit))


began = time.monotonic()
want = undisturbed()
block_s = (time.monotonic() - began) / BLOCKS
start = copy(None, "start")
chain(start, 2)
if "--plant" in sys.argv:  # the ref is moved before the commit is named
    h.env["GITLOG_PLANT"] = "1"
    every_call(start, want, 3, "kill")
    h.finish()
every_call(None, want, 1, "kill")  # from the making of the directory on
every_call(start, want, 3, "kill")
every_call(None, want, 1, "fail")
every_call(start, want, 3, "fail")
order(start)
at_random(want, block_s)
full_disk(start)
read_only(start)
two_writers(want)
many_packs()
h.finish()
