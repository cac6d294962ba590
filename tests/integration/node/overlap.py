"""Blocks that run while the next are collected: the same messages in one go and one by one give the same commits; queries of others are answered while a block runs, from what was
before it, its jobs EXECUTING; what a client sent behind the end of a block stays behind it; a node killed inside a block has what it answered for, and nothing else."""
import hashlib
import os
import signal
import struct
import sys
import time

from harness import Harness, patient
import wire

h = Harness()
SLOW = b"""@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  var x = a[0];
  for (var i = 0u; i < 600u; i++) { x = x * 1664525u + i; }
  if (g.x < arrayLength(&b)) { b[g.x] = x + g.x; }
}
"""
WORDS = struct.pack("<4I", 1, 2, 3, 4)
JOBS, PENDING, EXECUTING, COMPLETE = 8, 0, 1, 2


def cid(data):
    import base64
    return "b" + base64.b32encode(b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()).decode().lower().rstrip("=")


def job(i):
    return "execute", dict(sender="ada", shader_cid=cid(SLOW), input_cid=cid(WORDS), dispatch={"x": 16, "y": 1, "z": 1},
                           gas_limit=40_000_000 + i, output_bytes=4096)


PREPARED = [("put", dict(data=WORDS)), ("upload", dict(sender="ada", wgsl_source=SLOW, description="", tags=[], implements="")),
            ("ledger", dict(sender="ada", op=1, to="ada", amount=10**15))]
BLOCKS = [[job(10 * k + i) for i in range(JOBS)] + [("block_end", dict(height=k))] for k in (1, 2, 3)]


def start(home):
    h.env["PIPECTL_HOME"] = h.path(home)
    return wire.Node(h, name=home + ".socket")


def commits(answers):
    return [fields["commit"] for kind, fields in answers if kind == "block_end"]


def one_by_one():
    node = start("serial")
    c = node.client()
    answers = [c.ask(kind, **values) for kind, values in PREPARED + sum(BLOCKS, [])]
    h.check("one by one: nothing was refused", all(kind != "error" for kind, _ in answers), str([a for a in answers if a[0] == "error"][:2]))
    c.close()
    node.stop(signal.SIGTERM)
    return answers


def ready(c):
    import select
    return bool(select.select([c.socket], [], [], 0)[0])


def to_workers(node, number):
    """A signal to the children of any of its threads."""
    for thread in os.listdir(f"/proc/{node.process.pid}/task"):
        try:
            with open(f"/proc/{node.process.pid}/task/{thread}/children", encoding="ascii") as f:
                for pid in f.read().split():
                    os.kill(int(pid), number)
        except OSError:
            pass  # one that has ended


def in_one_go(want, home="overlap", tries=10):
    node = start(home)
    c, other = node.client(), node.client()
    for kind, values in PREPARED:
        c.ask(kind, **values)
    for kind, values in sum(BLOCKS, []):
        c.send(kind, **values)
    ids = [c.hear()[1]["job_id"] for _ in range(JOBS)]  # durable: their block has begun, or does now
    seen, during, waits = [], 0, []
    while not ready(c):
        began = time.monotonic()
        kind, answer = other.ask("query", job_id=ids[-1])
        bytes_ = other.ask("get", cid=cid(WORDS))
        block = other.ask("block_query", height=0)
        waits.append(time.monotonic() - began)
        if not ready(c):
            seen.append((kind, answer.get("status")))
            # Its jobs wait for their device while the rest is asked, however long that takes here.
            to_workers(node, signal.SIGSTOP if EXECUTING in (s for _, s in seen) and len(seen) < 5 else signal.SIGCONT)
            during += bytes_ == ("get", {"data": WORDS}) and block[0] == "error" and block[1]["code"] == 5852
    if (len(seen) < 4 or during < 4 or ("query", EXECUTING) not in seen) and tries:
        # This process was not run while the block ran: another one.
        node.process.kill()
        node.process.wait()
        return in_one_go(want, home + "-", tries - 1)
    h.check("queries are answered while a block runs", len(seen) > 3 and during > 3, f"{seen[:5]} {during}")
    h.check("a job of it is EXECUTING", ("query", EXECUTING) in seen and [s for _, s in seen] == sorted(s for _, s in seen), str(seen))
    kind, first = c.hear()
    h.check("then it ends", kind == "block_end" and first["jobs_total"] == JOBS, str((kind, first)))
    answers = [(kind, first)] + [c.hear() for _ in range(2 * JOBS + 2)]
    kinds = [kind for kind, _ in answers]
    h.check("answers come in the order of the requests", kinds == ["block_end"] + (["execute"] * JOBS + ["block_end"]) * 2, str(kinds))
    h.check("the same commits as one by one", commits(answers) == want, f"{commits(answers)} {want}")
    kind, last = other.ask("query", job_id=ids[-1])
    h.check("afterwards it is complete", last.get("status") == COMPLETE, str(last))
    print(f"{len(waits)} rounds of three queries while block 1 ran, the longest {1000 * max(waits):.0f} ms")
    # On one connection a question stands behind what was asked before.
    kind, mine = c.ask("execute", **dict(job(99)[1]))
    c.send("block_end", height=4)
    c.send("query", job_id=mine["job_id"])
    h.check("the end comes first", c.hear()[0] == "block_end")
    h.check("and the question behind it sees it", c.hear()[1].get("status") == COMPLETE)
    c.close()
    h.check("the node ends well", node.stop(signal.SIGTERM) == 0)


def inside(home, blocks):
    """A node that is inside its first block: the jobs of that, the node, and who asked for it. Where this process was not run while the block ran,
    another node."""
    for tries in range(20):
        node = start(f"{home}-{tries}")
        c, other = node.client(), node.client()
        for kind, values in PREPARED:
            c.ask(kind, **values)
        for kind, values in blocks:
            c.send(kind, **values)
        ids = [c.hear()[1]["job_id"] for _ in range(JOBS)]
        while other.ask("query", job_id=ids[0])[1].get("status") != EXECUTING and not ready(c):
            time.sleep(0.01)
        yield f"{home}-{tries}", ids, node, c
        node.process.kill()
        node.process.wait()


def killed(want):
    for home, ids, node, c in inside("killed", BLOCKS[0] + BLOCKS[1]):
        node.process.send_signal(signal.SIGSTOP)  # what is seen now stays
        if was := not ready(c):
            break
    h.check("it is killed inside the block", was)
    node.process.kill()
    node.process.wait()
    node = start(home)
    c = node.client()
    status = [c.ask("query", job_id=i)[1].get("status") for i in ids]
    h.check("all that was answered is there, and waits", status == [PENDING] * JOBS, str(status))
    h.check("nothing that was not answered is", c.ask("block_query", height=0)[0] == "error")
    kind, block = c.ask("block_end", height=1)
    h.check("the block is the same", kind == "block_end" and block["commit"] == want[0] and block["jobs_total"] == JOBS, str(block)[:200])
    rest = [c.ask(kind, **values) for kind, values in BLOCKS[1] + BLOCKS[2]]
    h.check("and those after it", commits(rest) == want[1:], str(commits(rest)))
    c.close()
    node.stop(signal.SIGTERM)


def stopped():
    """SIGTERM inside a block: it is given up, its jobs wait, what was collected is refused in its turn."""
    for home, ids, node, c in inside("stopped", BLOCKS[0] + BLOCKS[1][:2]):
        node.process.send_signal(signal.SIGSTOP)
        node.process.send_signal(signal.SIGTERM)
        was = not ready(c)
        node.process.send_signal(signal.SIGCONT)
        if was:
            break
    answers = [c.hear() for _ in range(3)]
    h.check("all are told", [f.get("code") for _, f in answers] == [6113] * 3, str(answers))
    h.check("it stops", node.process.wait(patient(60)) == 0)
    node = start(home)
    c = node.client()
    h.check("its jobs wait", [c.ask("query", job_id=i)[1].get("status") for i in ids] == [PENDING] * JOBS)
    node.stop(signal.SIGTERM)


want = commits(one_by_one())
h.check("three blocks", len(want) == 3, str(want))
in_one_go(want)
killed(want)
stopped()
h.finish()
