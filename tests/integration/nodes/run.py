"""Nodes on different hardware fed the same random messages: refusals, failures, deferrals, chains of jobs, crashes. Every
answer is the same byte for byte, every block has one commit id, and a node that lies in one bit is found and named.
usage: run.py SEED MESSAGES BACKEND... (one node a backend)"""
import collections
import glob
import os
import re
import signal
import struct
import subprocess
import sys
import time

import wire
from harness import Harness, Random, patient

seed, n_messages, backends = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
h, rng = Harness(), Random(seed)
HERE = os.path.dirname(os.path.abspath(__file__))
SHADERS = {os.path.basename(p)[:-5]: open(p, "rb").read() for p in sorted(glob.glob(os.path.join(HERE, "shaders/*.wgsl")))}
PER_BLOCK = 40


def below(n):
    return rng.u64() % n


def pick(items):
    return items[below(len(items))]


def cbor(n):
    if n < 24:
        return bytes([n])
    for head, width in ((24, 1), (25, 2), (26, 4)):
        if n < 1 << 8 * width:
            return bytes([head]) + n.to_bytes(width, "big")
    raise ValueError(n)


def uniform(a, b, rounds):
    """A document for affine.wgsl."""
    return b"\xa3" + b"\x61a" + cbor(a) + b"\x61b" + cbor(b) + b"\x66rounds" + cbor(rounds)


class Node:
    def __init__(self, name, backend):
        self.name, self.backend = name, backend
        self.home, self.path = h.path(f"home-{name}"), h.path(f"{name}.sock")
        os.makedirs(self.home)
        self.kills = 0
        self.start()

    def start(self):
        env = dict(h.env, PIPECTL_HOME=self.home)
        self.log = open(h.path(f"{self.name}.log"), "ab")
        self.process = subprocess.Popen([h.pipectl, "node", "--socket", self.path, "--backend", self.backend], env=env,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.client = wire.Client(self.path, alive=lambda: self.process.poll() is None)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.client.close()
        self.kills += 1
        self.start()

    def ask(self, data):
        return self.client.ask(data)

    def end_block(self, height, crash):
        """End a block, perhaps killed on the way: at any instant the block is there or it is not."""
        data = wire.request(wire.BLOCK_END, wire.message(height, "worker"))
        if crash:
            self.client.send(data)
            time.sleep(crash)
            self.kill()
        answer = self.ask(data)
        if crash and answer.kind == wire.ERROR:
            answer = self.ask(wire.request(wire.BLOCK_QUERY, wire.message(height)))
        return answer

    def stop(self):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(patient(60))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode

    def run(self, *args):
        done = subprocess.run([h.pipectl, "--home", self.home, *args], env=h.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


nodes = [Node(f"n{i}", b) for i, b in enumerate(backends)]
try:
    liar = Node("liar", "mock:wrap=cpu+flip-bit@" + os.environ.get("LIE", "6"))
    PEOPLE = ["ada", "bob", "cay", "dan", "eve"]
    seen = collections.Counter()
    bytes_of, shaders, jobs, clocks = {}, {}, [], [1]
    height, budget_low = 1, False

    def everyone(data, what):
        """The same message to all; the answers must be the same bytes. The liar's may differ once it lied."""
        answers = [n.ask(data) for n in nodes]
        liar.ask(data)
        same = all(a.data == answers[0].data for a in answers)
        h.check(f"answers to {what}", same, " / ".join(f"{n.name}: {a}" for n, a in zip(nodes, answers)))
        seen["refused" if answers[0].kind == wire.ERROR else what] += 1
        if answers[0].kind == wire.ERROR:
            seen[f"PC{answers[0].code}"] += 1
            if os.environ.get("SHOW") == str(answers[0].code):
                print(answers[0])
        return answers[0]

    def put(data):
        answer = everyone(wire.request(wire.PUT, always_data(data)), "put")
        if len(data) % 4 == 0:
            bytes_of[answer.text(1)] = data
        return answer.text(1)

    def always_data(data):
        return wire.always(1, data)

    def random_input():
        if bytes_of and below(3):
            return pick(sorted(bytes_of))
        return put(b"".join(struct.pack("<I", rng.u64() & 0xffffffff) for _ in range(1 + below(200))))

    def given():
        return "job:" + pick(jobs[-30:]) if jobs and below(3) == 0 else random_input()

    def submit():
        name = pick(sorted(shaders))
        groups = (1 + below(6), 1, 1)
        output = {"mix": 4 * (1 + below(300)), "count": 64, "affine": 4 * (1 + below(200)), "fold": 4 * groups[0],
                  "divide": 8 * (1 + below(40))}[name]
        options = {"output": output}
        if name == "affine":
            options["bindings"] = [(0, 2, given())]
            options["uniform"] = put(uniform(below(1 << 32), below(1 << 20), below(12)))
        if name == "fold" and below(2):
            options["overrides"] = [("factor", below(1000))]
        if jobs and below(4) == 0:
            options["parents"] = sorted({pick(jobs[-20:]) for _ in range(1 + below(3))})
        if jobs and below(6) == 0:
            options["after"] = sorted({pick(jobs[-20:]) for _ in range(1 + below(2))} - set(options.get("parents", ())))
        if below(8) == 0:
            options["parent_clock"] = pick(clocks)
        sender, limit, shader, source = pick(PEOPLE), 1000000 + below(4000000), shaders[name], given()
        wrong = below(32)
        if wrong == 0:
            limit = 1 + below(500)                      # below the estimate
        elif wrong == 1:
            sender = "nobody"                           # no account
        elif wrong == 2:
            source = "bafkrei" + "a" * 52               # no such bytes
        elif wrong == 3:
            options["parent_clock"] = 10 ** 9           # no such clock
        elif wrong == 4:
            groups = (70000, 1, 1)                      # above the limits
        elif wrong == 5:
            options["output"] = 1 << 40                 # above the cap
        elif wrong == 6:
            options["parents"] = ["0" * 64]             # no such job
        elif wrong == 7 and name != "affine":
            options["uniform"] = put(uniform(1, 2, 3))  # the shader has none
        answer = everyone(wire.execute(sender, shader, source, groups, limit, **options), "execute")
        if answer.kind == wire.EXECUTE:
            jobs.append(answer.text(1))
            clocks.append(answer.get(2))

    def other():
        kind = below(10)
        if kind < 3:
            everyone(wire.request(wire.LEDGER, wire.message(pick(PEOPLE), wire.TRANSFER, pick(PEOPLE), below(1 << 20))), "transfer")
        elif kind == 3:
            everyone(wire.request(wire.LEDGER, wire.message("ada", wire.CREDIT, pick(PEOPLE), 1 + below(10 ** 9))), "credit")
        elif kind == 4:
            everyone(wire.request(wire.LEDGER, wire.message(pick(PEOPLE), wire.BOND, "", 1 + below(1000))), "bond")
        elif kind == 5 and len(bytes_of) > 1:
            everyone(wire.request(wire.LINK, wire.message(pick(PEOPLE), pick(sorted(bytes_of)), pick(sorted(bytes_of)))), "link")
        elif kind == 6 and jobs:
            everyone(wire.request(wire.CANCEL, wire.message(pick(PEOPLE), pick(jobs[-10:]))), "cancel")
        elif kind == 7:
            everyone(wire.request(wire.NAME, wire.message(pick(PEOPLE), 1, "best", shaders[pick(sorted(shaders))])), "alias")
        elif kind == 8:
            everyone(wire.upload("eve", b"@compute @workgroup_size(1) fn main() { loop { } }", "no bound"), "upload")
        else:
            everyone(wire.request(wire.LEDGER, wire.message(pick(PEOPLE), wire.UNBOND, "", 1 + below(2000))), "unbond")

    def end_block():
        global height
        answers = []
        for n in nodes:
            crash = (1 + below(120)) / 1000 if below(8) == 0 else 0
            answers.append(n.end_block(height, crash))
        lied = liar.end_block(height, 0)
        first = answers[0]
        same = all(a.kind == wire.BLOCK_END or a.kind == wire.BLOCK_QUERY for a in answers)
        # Which jobs were deferred is told when a block ends, and is only a number later.
        same = same and len({str(sorted((k, v) for k, v in a.fields.items() if k != 6)) for a in answers}) == 1
        h.check(f"block {height}: one commit id", same, " / ".join(f"{n.name}: {a}" for n, a in zip(nodes, answers)))
        if first.kind in (wire.BLOCK_END, wire.BLOCK_QUERY):
            seen["blocks"] += 1
            seen["deferred"] += first.get(12)
            if lied.text(4) != first.text(4):
                seen["blocks that the liar has otherwise"] += 1
        height += 1

    # ---- accounts, shaders
    for person in PEOPLE:
        everyone(wire.request(wire.LEDGER, wire.message("ada", wire.CREDIT, person, 10 ** 12)), "credit")
    for name, source in SHADERS.items():
        answer = everyone(wire.upload(pick(PEOPLE), source, f"{name} of the test", ["test"]), "upload")
        h.check(f"{name} is taken", answer.kind == wire.UPLOAD, str(answer))
        shaders[name] = answer.text(1)
    everyone(wire.request(wire.LEDGER, wire.message("ada", wire.BOND, "", 10 ** 9)), "bond")
    # ---- the messages
    while sum(v for k, v in seen.items() if not k.startswith("PC") and k not in ("blocks", "deferred")) < n_messages:
        submit() if below(4) else other()
        if below(60) == 0:
            pick(nodes).kill()
        if below(PER_BLOCK) == 0:
            end_block()
        if seen["blocks"] == 4 and not budget_low:
            # Less gas a block from height + 2 on: jobs are deferred, some no longer fit at all.
            budget_low = True
            answer = everyone(wire.params("ada", 1, height=height + 2, changes=[("throughput", "24")]), "propose")
            proposal = answer.get(2)
            everyone(wire.params("ada", 2, proposal=proposal, yes=True), "vote")
            everyone(wire.params("ada", 3, proposal=proposal), "apply")
        if seen["blocks"] == 9 and budget_low is True:
            budget_low = 2
            answer = everyone(wire.params("ada", 1, height=height + 1, changes=[("throughput", "100000")]), "propose")
            proposal = answer.get(2)
            everyone(wire.params("ada", 2, proposal=proposal, yes=True), "vote")
            everyone(wire.params("ada", 3, proposal=proposal), "apply")
    for _ in range(3):
        end_block()
    # ---- how all jobs ended
    ends, errors = collections.Counter(), collections.Counter()
    for job in jobs:
        answers = [n.ask(wire.request(wire.QUERY, wire.message(job))) for n in nodes]
        if not all(a.data == answers[0].data for a in answers):
            h.check(f"job {job}", False, " / ".join(map(str, answers)))
        status = answers[0].get(1)
        ends[status] += 1
        if status == wire.FAILED:
            errors[answers[0].text(5).split(":")[0]] += 1
    h.check("jobs ran", ends[wire.COMPLETE] > n_messages // 4, str(ends))
    h.check("jobs failed of dependencies, by their senders and by the budget", len(errors) >= 2 and "dependency failed" in errors, str(errors))
    h.check("jobs were deferred", seen["deferred"] > 0, str(seen))
    h.check("messages were refused", seen["refused"] > n_messages // 20, str(seen))
    h.check("nodes were killed", sum(n.kills for n in nodes) >= 3, str([n.kills for n in nodes]))
    h.check("the liar lied", seen["blocks that the liar has otherwise"] > 0, str(seen))
    print(f"seed {seed}: {dict(seen)}; ended {dict(ends)}, errors {dict(errors)}, kills {[n.kills for n in nodes]}")
    for n in nodes + [liar]:
        h.check(f"{n.name} stops when asked", n.stop() in (0, 130), str(n.process.returncode))

    # ---- another backend runs the first node's blocks again
    last = height - 1
    status, out, err = nodes[0].run("block", "verify", f"1..{last}", "--backend", os.environ.get("VERIFY", "vulkan:llvmpipe"))
    h.check("verify of an honest node", status == 0, err[-600:])
    # ---- the liar: found by verify and by dispute
    status, out, err = liar.run("block", "verify", f"1..{last}", "--backend", "cpu")
    named = re.findall(r"\b[0-9a-f]{64}\b", out + err)
    h.check("verify finds the liar and names a job", status == 6 and any(j in jobs for j in named), (out + err)[-600:])
    wrong = next((i for i in range(1, height)
                  if nodes[0].run("block", "show", str(i), "--json")[1] != liar.run("block", "show", str(i), "--json")[1]), 0)
    h.check("a block of the liar differs", wrong > 0, "")
    status, out, err = nodes[0].run("receipt", "dispute", os.path.join(nodes[0].home, f"chain/receipts/{wrong}.receipt"),
                                    os.path.join(liar.home, f"chain/receipts/{wrong}.receipt"))
    named = re.findall(r"\b[0-9a-f]{64}\b", out + err)
    h.check("dispute names the job", any(j in jobs for j in named), (out + err)[-800:])
    h.check("and whose is wrong", "home-liar" in out + err, (out + err)[-800:])
    # ---- the verdict: the report as evidence, the bonded vote, the executor's bond pays
    evidence = re.findall(r"bafkrei[a-z0-9]{52}", out)[-1:]
    nodes[0].run("ledger", "credit", "worker", "1000")
    status, _, err = nodes[0].run("ledger", "bond", "worker", "1000")
    h.check("the executor has a bond", status == 0, err)
    status, out, err = nodes[0].run("ledger", "verdict", "--sender", "ada", "--accused", "worker", "--evidence", *evidence)
    h.check("a verdict is taken in", status == 0, (out + err)[-400:])
    status, out, err = nodes[0].run("ledger", "show", "worker")
    h.check("and takes a tenth of the bond", status == 0 and re.search(r"bond +900\b", out), (out + err)[-400:])
    # ---- replication: the whole state from the history and the bytes it names
    fresh = h.path("home-fresh")
    status, out, err = h.run("--home", fresh, "block", "replay", "--from", os.path.join(nodes[1].home, "chain/blocks.git"),
                             "--fetch", os.path.join(nodes[1].home, "cas"))
    h.check("a fresh home replays the history", status == 0, err[-600:])
    shown = [h.run("--home", home, "block", "show", str(last), "--json")[1] for home in (fresh, nodes[1].home)]
    h.check("and ends with the same block", shown[0] == shown[1] and len(shown[0]) > 100, str(shown)[:600])
finally:
    for n in nodes + ([liar] if "liar" in globals() else []):
        n.process.kill()
        n.process.wait()
if h.failed:
    for n in nodes:
        print(n.name, open(h.path(f"{n.name}.log")).read()[-500:])
h.finish()
