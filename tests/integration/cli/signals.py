"""SIGINT and SIGTERM end every verb that takes long: exit status 130 (0: a node that was told by SIGTERM), soon, no file under a name that was asked for, no process
left, and a store that verifies. A second signal ends it at once. What a verb is doing is made long by a device that is slow,
by a lock that this test holds, or by much data; whoever ends before the signal comes is an error of the test."""
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from harness import Harness, patient, was_taken

KERNEL = b"""@group(0) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(1) fn main() { y[0] = 1u; }
"""

PIPELINE = b"""pipeline : { name = "not"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "turn"; op = "int.not@1"; in : { x = "$x"; }; } ); outputs : { y = "turn.y"; }; };
"""

CHAINED = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = ~a[g.x]; }
"""

SLOW = "mock:wrap=cpu+slow=120000"


def processes(mark):
    """Those whose environment has the mark."""
    left = []
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark in f.read() and int(pid) != os.getpid():
                    left.append(pid)
        except (OSError, ValueError):
            pass
    return left


class Signals(Harness):
    def __init__(self):
        super().__init__()
        self.mark = b"signals-%d" % os.getpid()
        self.env["PIPECTL_TEST_MARK"] = self.mark.decode()
        self.place = self.path("place")
        os.mkdir(self.place)

    def ends(self, name, args, ready, signals=(signal.SIGINT,), home=None, files=(), stdin=subprocess.DEVNULL, tries=1, status=130):
        """Start; send when `ready` says that it is at its work (a number: after so many seconds); all that is promised. What is at its work
        for a moment only may be done before the signal comes, on a busy machine: then once more, `tries` times."""
        env = dict(self.env, PIPECTL_HOME=home) if home else self.env
        for left in range(tries - 1, -1, -1):
            p = subprocess.Popen([self.pipectl, *args], env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until = time.monotonic() + patient(60)
            if isinstance(ready, (int, float)):
                time.sleep(ready)
            else:
                while not ready(p.pid) and p.poll() is None and time.monotonic() < until:
                    time.sleep(0.01 if tries > 1 else 0.02)
            running = p.poll() is None
            begun = time.monotonic()
            for one in signals:
                if p.poll() is None:
                    p.send_signal(one)
                was_taken(p.pid, one)
            try:
                out, err = p.communicate(timeout=patient(30))
            except subprocess.TimeoutExpired:
                p.kill()
                out, err = p.communicate()
            took = time.monotonic() - begun
            if p.returncode != 0 or left == 0:
                break
            for file in (*files, *([home] if home else ())):
                shutil.rmtree(file) if os.path.isdir(file) else os.path.exists(file) and os.unlink(file)
        self.check(f"{name}: was at its work", running, err.decode())
        self.check(f"{name}: exit status {status}", p.returncode == status, f"{p.returncode} {err.decode()}")
        self.check(f"{name}: soon", took < patient(15), f"{took:.1f} s")
        if "--json" in args:
            self.check(f"{name}: a whole document", json.loads(out)["status"] == "cancelled", out.decode())
        deadline = time.monotonic() + patient(5)
        while processes(self.mark) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.check(f"{name}: no process is left", not processes(self.mark), str(processes(self.mark)))
        for file in files:
            self.check(f"{name}: nothing at {os.path.basename(file)}", not os.path.exists(file))
        self.check(f"{name}: nothing beside", os.listdir(self.place) == [], str(os.listdir(self.place)))
        return out, err.decode()

    def whole(self, name):
        status, out, err = self.run("cas", "verify")
        self.check(f"{name}: the store is whole", status == 0 and b" 0 damaged" in out, out.decode() + err)


def worker_of(pid):
    """A worker is there: the device is open, or about to be."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return f.read().split() != []
    except OSError:
        return False


def listening(pid):
    """It has said what to do with a SIGINT, and had a moment since."""
    with open(f"/proc/{pid}/status") as f:
        caught = int(re.search(r"SigCgt:\s*([0-9a-f]+)", f.read()).group(1), 16)
    if caught >> (signal.SIGINT - 1) & 1:
        time.sleep(0.05)
        return True
    return False


def working(seconds):
    """A worker is there, and has been for a while."""
    seen = []

    def ready(pid):
        if worker_of(pid):
            seen.append(time.monotonic())
        return bool(seen) and time.monotonic() - seen[0] > seconds
    return ready


def devices(h):
    pipeline, kernel, x = h.write("not.pipe.cfg", PIPELINE), h.write("one.wgsl", KERNEL), h.write("x", bytes(64))
    y = os.path.join(h.place, "y")
    verbs = {
        "run": ["run", pipeline, "--in", "x=" + x, "--backend", SLOW, "--no-memo", "--out", "y=" + y],
        "run --json": ["run", pipeline, "--in", "x=" + x, "--backend", SLOW, "--no-memo", "--out", "y=" + y, "--json"],
        "audit": ["audit", pipeline, "--in", "x=" + x, "--backends", f"cpu,{SLOW}", "--report", os.path.join(h.place, "report")],
        "shader run": ["shader", "run", kernel, "--dispatch", "1", "--bind", "0:0=zero:4", "--read", "0:0=" + y, "--backend", SLOW],
        "shader tune": ["shader", "tune", kernel, "--dispatch", "1", "--bind", "0:0=zero:4", "--counts", "none", "--backend", SLOW],
        "op run": ["op", "run", "int.not", "--in", f"x={x}:u32[16]", "--out", "y=" + y, "--backend", SLOW, "--no-memo"],
        "certify": ["certify", "--backend", SLOW, "--ops", "int.not@1", "--level", "L1"],
    }
    for name, args in verbs.items():
        for sent in (signal.SIGINT, signal.SIGTERM):
            more = ["--resume"] if name == "certify" and sent == signal.SIGTERM else []
            h.ends(f"{name}, {sent.name}", args + more, working(1.5), (sent,), files=[y])
    h.ends("run, SIGHUP", verbs["run"], working(1.5), (signal.SIGHUP,), files=[y])
    h.whole("devices")
    # What was proved before stays, and is gone on from.
    args = ["certify", "--backend", "cpu", "--ops", "int.mul@1", "--level", "L1", "--cases", str(1 << 24), "--out", h.path("resumed")]
    h.ends("certify, at many blocks", args, working(2))
    h.ends("certify --resume", args + ["--resume"], working(1))
    # A second signal does not wait for what hangs and obeys nobody, for as long as the host lets it.
    long = ["--config", h.write("grace.cfg", b'workers : { grace = "1h"; };\n')]
    h.ends("two signals", [*long, *verbs["run"][:-2], "--out", "y=" + y], working(1.5), (signal.SIGINT, signal.SIGTERM), files=[y])


def stores(h):
    big = h.path("big")
    with open(big, "wb") as f:
        f.truncate(3 << 30)
    car = os.path.join(h.place, "a.car")
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"cas put, {sent.name}", ["cas", "put", big], listening, (sent,), tries=50)
    read, write = os.pipe()
    h.ends("cas put -, which waits for more", ["cas", "put", "-"], 0.5, stdin=read)
    os.close(read)
    os.close(write)
    os.unlink(big)
    h.whole("cas put")
    cid = h.run("cas", "put", h.write("some", os.urandom(1 << 28)))[1].decode().strip()
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"cas verify, {sent.name}", ["cas", "verify"], listening, (sent,), tries=50)
        h.ends(f"cas get, {sent.name}", ["cas", "get", cid, "--out", os.path.join(h.place, "got")], listening, (sent,),
               files=[os.path.join(h.place, "got")], tries=50)
        h.ends(f"cas export, {sent.name}", ["cas", "export", cid, "--car", car], listening, (sent,), files=[car], tries=50)
    whole = h.path("whole.car")
    h.run("cas", "export", cid, "--car", whole)
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"cas import, {sent.name}", ["cas", "import", "--car", whole], listening, (sent,), home=h.path("other"), tries=50)
    status, out, _ = h.run("--home", h.path("other"), "cas", "ls")
    h.check("cas import: nothing of it is there", status == 0 and out == b"", out.decode())
    # gc waits for who renews the age of a blob.
    host = ["--config", h.write("host.cfg", b"cache : { gc_grace = 0; };\n")]
    with_lock = os.open(os.path.join(h.env["PIPECTL_HOME"], "cas", "blobs"), os.O_RDONLY)
    fcntl.flock(with_lock, fcntl.LOCK_EX)
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"cas gc, {sent.name}", ["cas", "gc", "--all", *host], 0.5, (sent,))
    os.close(with_lock)
    h.check("cas gc: nothing went", cid in h.run("cas", "ls")[1].decode())
    h.whole("cas gc")


def chains(h):
    run = lambda *args: h.run("--home", h.path("chain"), *args)
    run("ledger", "credit", "alice", "1000000000")
    shader = json.loads(run("--json", "shader", "upload", "--sender", "alice", h.write("not.wgsl", CHAINED))[1])["shader"]
    a = run("cas", "put", h.write("a", struct.pack("<16I", *range(16))))[1].decode().strip()
    status, out, err = run("--json", "job", "submit", "--sender", "alice", "--shader", shader, "--input", a, "--dispatch", "8",
                           "--output-bytes", "32", "--gas-limit", "1000000")
    h.check("a job is submitted", status == 0, err)
    job = json.loads(out)["job"]
    slow = ["--backend", SLOW, "--executor", "node"]
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"block end, {sent.name}", ["block", "end", *slow], working(1.5), (sent,), home=h.path("chain"))
        h.check("the job still waits", json.loads(run("--json", "job", "show", job)[1])["state"] == "pending")
    status, _, err = run("block", "end", "--backend", "cpu", "--executor", "node")
    h.check("block end afterwards", status == 0, err)
    blocks, store = h.path("chain/chain/blocks.git"), h.path("chain/cas")
    for sent in (signal.SIGINT, signal.SIGTERM):
        h.ends(f"block verify, {sent.name}", ["block", "verify", "1", "--backend", SLOW], working(1.5), (sent,), home=h.path("chain"))
        other = h.path("replayed-" + sent.name)
        h.ends(f"block replay, {sent.name}", ["block", "replay", "--from", blocks, "--fetch", store, "--backend", SLOW], working(1.5), (sent,),
               home=other)
        status, out, err = h.run("--home", other, "--json", "block", "list")
        h.check("block replay: no block is there", status == 0 and json.loads(out)["blocks"] == [], out.decode() + err)
        status, _, err = h.run("--home", other, "block", "replay", "--from", blocks, "--fetch", store, "--backend", "cpu")
        h.check("block replay goes afterwards", status == 0, err)
        path = os.path.join(h.place, "s")
        log = h.path(f"node-{sent.name}.log")
        h.ends(f"node, {sent.name}", ["node", "--socket", path, "--backend", "cpu", "--log", log, "--log-format", "json"],
               lambda pid: os.path.exists(path), (sent,), home=h.path("chain"), files=[path], status=0 if sent == signal.SIGTERM else 130)
        with open(log, encoding="utf-8") as f:
            said = [json.loads(line) for line in f]
        h.check("the log of a node", [(e["component"], e["message"]) for e in said if e["level"] == "info"] ==
                [("pipectl", "begins"), ("node", "listens"), ("node", "served"), ("pipectl", "ends")], str(said))
    status, _, err = run("block", "verify", "1", "--backend", "cpu")
    h.check("the chain verifies", status == 0, err)


def main():
    h = Signals()
    devices(h)
    stores(h)
    chains(h)
    h.finish()


if __name__ == "__main__":
    main()
