"""Questions about the graph: every answer of a node, page by page, against what the files of the blocks alone say, for all heights; the same through the command line, of a home and of
a node; jobs of a block that runs; ranks of neighbours; proofs held by the verifier of the documents; through ABCI; and every question that is none, by its code."""
import hashlib
import json
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "engine"))

from harness import Harness, patient
from signed import Chain, cid
import abci
import rowproof
import wire

h, rng = Harness(), random.Random(20261128)
KINDS = ["", "upload", "implements", "input", "executed", "output", "parent", "link", "alias", "deprecated"]
EDGES, HISTORY, DEPENDENTS, JOBS, RANK = range(1, 6)
SOURCE, TARGET, VIA, JOB, BLOCK = range(1, 6)
PENDING, EXECUTING, COMPLETE, FAILED = range(4)
ADD = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(2) var<storage, read> c : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x] * 3u + c[g.x]; }
"""
SLOW = b"""@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(2) var<storage, read> c : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  var x = a[0] + c[0];
  for (var i = 0u; i < 600u; i++) { x = x * 1664525u + i; }
  if (g.x < arrayLength(&b)) { b[g.x] = x + g.x; }
}
"""
GIVEN = [struct.pack("<4I", *(i, i + 1, 2 * i, 7)) for i in range(3)]


class World:
    """A chain of two people on one node, and what the test knows of its jobs without asking."""

    def __init__(self, name):
        self.chain = Chain(h, ["ada", "bob"], params={"epoch_blocks": "3", "epoch_iterations": "2", "link_cost": "1000", "throughput": "6350", "block_time_ms": "1000",
                                                      "utilisation_ppm": "500000"})  # a budget that some blocks are over
        self.home = self.chain.home(name)
        h.env["PIPECTL_HOME"] = self.home
        self.node = wire.Node(h, name=name + ".socket")
        self.c, self.height, self.jobs, self.commits, self.left = self.node.client(timeout=patient(600)), 0, {}, [], []

    def raw(self, c, data):
        c.socket.sendall(struct.pack("<I", len(data)) + data)

    def send(self, sender, kind, **values):
        self.raw(self.c, self.chain.message(sender, kind, **values))
        got, fields = self.c.hear()
        assert got != "error", (kind, fields)
        return fields

    def ending(self):
        bare = wire.encode("Request", {"block_end": {"executor": "bob"}})
        signed = b"pipectl message 1\0" + self.chain.id + struct.pack("<QQ", self.height + 1, 10**6) + bare
        key = self.chain.keys["ada"]
        return wire.encode("Request", {"block_end": {"executor": "bob"}, "auth": {
            "chain": self.chain.id, "nonce": self.height + 1, "expiry": 10**6, "signatures": [{"key": key.public, "value": key.sign(signed)}]}})

    def ended(self):
        kind, fields = self.c.hear()
        assert kind == "block_end", fields
        self.height += 1
        self.commits.append(fields["commit"])
        return fields

    def end(self):
        self.raw(self.c, self.ending())
        return self.ended()

    def job(self, sender, shader, a, c, parents=(), groups=4, output=16, tip=0):
        values = dict(shader_cid=cid(shader), input_cid=a, bindings=[{"group": 0, "binding": 2, "cid": c}], dispatch={"x": groups, "y": 1, "z": 1},
                      gas_limit=10**9, output_bytes=output, parent_jobs=sorted(parents), tip=tip)
        fields = self.send(sender, "execute", **values)
        self.jobs[fields["job_id"]] = dict(job=fields["job_id"], sender=sender, shader=cid(shader), a=a, c=c, parents=sorted(parents), height=self.height + 1,
                                           clock=fields["logical_clock"], place=len(self.jobs))
        return fields["job_id"]


# ---- the oracle: the files of the blocks -------------------------------------------------------------


class Records:
    """Edges and results of blocks 1..height, from messages and results; a job is taken in where its message stands. Nothing is asked of the program but git's files."""

    def __init__(self, w):
        self.w, self.edges, self.results, self.clocks = w, [], {}, []
        self.drawn, self.asked, self.sent, self.uploaded, self.aliases = set(), {}, {}, set(), {}
        for height, commit in enumerate(w.commits, 1):
            clock = int(dict(line.split(" ", 1) for line in self.file(commit, "header"))["first_clock"])
            for line in self.file(commit, "messages"):
                origin, _, request = line.split(" ")
                self.message(height, clock, bytes.fromhex(request), origin == "genesis")
            for line in self.file(commit, "results"):
                job, clock, state, gas, rest = line.split(" ", 4)
                self.results[job] = dict(clock=int(clock), status=COMPLETE if state == "complete" else FAILED, gas=int(gas), ended=height,
                                         output=rest.split(" ")[0] if state == "complete" else "", error="" if state == "complete" else rest)
                if state == "complete":
                    self.ran(job, height, int(clock))
        self.words = {}
        for e in self.edges:
            for name in (e["source"], e["target"], e["via"], e["job"]):
                if name:
                    self.words.setdefault(name, len(self.words) + 1)

    def draw(self, kind, source, target, height, clock, via="", job=""):
        """The same edge again is none."""
        if (kind, source, target, via, job) not in self.drawn:
            self.drawn.add((kind, source, target, via, job))
            self.edges.append(dict(number=len(self.edges) + 1, kind=KINDS.index(kind), source=source, target=target, via=via, job=job, height=height, clock=clock))

    def message(self, height, clock, data, is_genesis):
        """What a message draws where it is taken in; of an execute message the job that it becomes (no message of this story is refused)."""
        r = wire.decode("Request", data)
        kind, m = next((k, v) for k, v in r.items() if k != "auth" and v is not None)
        sender = m["sender"]
        number = self.sent.get(sender, 0)
        self.sent[sender] = number + (not is_genesis)
        account = "account:" + sender
        if kind == "execute":
            body = data[2:2 + data[1]] if data[1] < 128 else data[3:3 + (data[1] & 127 | data[2] << 7)]  # field 2, the first
            self.asked[hashlib.sha256(b"pipectl job-id 1\0" + struct.pack("<QQQ", height, number, len(body)) + body).hexdigest()] = m
        elif kind == "upload" and cid(m["wgsl_source"]) not in self.uploaded:
            self.uploaded.add(cid(m["wgsl_source"]))
            self.draw("upload", account, cid(m["wgsl_source"]), height, clock)
            if m["implements"]:
                self.draw("implements", cid(m["wgsl_source"]), m["implements"], height, clock)
        elif kind == "name" and m["op"] == 1 and self.aliases.get(m["name"]) != (m["cid"], sender):
            self.aliases[m["name"]] = m["cid"], sender
            self.draw("alias", "alias:" + m["name"], m["cid"], height, clock, via=account)
        elif kind == "name" and m["op"] == 2:
            self.draw("deprecated", account, m["cid"], height, clock)
        elif kind == "link" and not m["taken"]:
            self.draw("link", m["source"], m["target"], height, clock, via=account)

    def ran(self, job, height, clock):
        m, me, out = self.asked[job], "job:" + job, self.results[job]["output"]
        refs = [m["input_cid"]] + [b["cid"] for b in m["bindings"]]
        self.draw("executed", "account:" + m["sender"], me, height, clock, job=me)
        for parent in ["job:" + p for p in m["parent_jobs"]] + [r for r in refs if r.startswith("job:")]:
            self.draw("parent", parent, me, height, clock, job=me)
        for name in [self.results[r[4:]]["output"] if r.startswith("job:") else r for r in refs] + [m["uniform_cid"]][:m["uniform_cid"] != ""]:
            self.draw("input", name, out, height, clock, via=m["shader_cid"], job=me)
        self.draw("output", me, out, height, clock, via=m["shader_cid"], job=me)

    def file(self, commit, name):
        git = os.path.join(self.w.home, "chain", "blocks.git")
        done = subprocess.run(["git", "--git-dir", git, "show", f"{commit}:{name}"], capture_output=True)
        return done.stdout.decode().splitlines()

    def at(self, height):
        return [e for e in self.edges if e["height"] <= height]

    def select(self, height, role=0, name="", kinds=0, clocks=(0, 0)):
        found = [e for e in self.at(height) if (kinds == 0 or kinds >> e["kind"] & 1) and e["clock"] >= clocks[0] and (not clocks[1] or e["clock"] <= clocks[1])]
        word = lambda n: self.words.get(n, 0)
        if role == SOURCE:
            return sorted((e for e in found if e["source"] == name), key=lambda e: (e["kind"], e["clock"], e["number"]))
        if role == TARGET:
            return sorted((e for e in found if e["target"] == name), key=lambda e: (e["kind"], word(e["job"]), word(e["source"]), word(e["via"])))
        if role == VIA:
            return [e for e in found if e["via"] == name]
        if role == JOB:
            return [e for e in found if e["job"] == name]
        if role == BLOCK:
            return [e for e in found if e["height"] == height]
        return found

    def as_of(self, job, height):
        """What an answer says of a job."""
        known, r = self.w.jobs.get(job), self.results.get(job)
        if known is None:  # the engine's own
            known = dict(sender="rank", shader=next(e["via"] for e in self.edges if e["kind"] == 5 and e["job"] == "job:" + job), height=None, clock=r["clock"])
        done = r if r and r["ended"] <= height else dict(status=PENDING, output="", gas=0, ended=0, error="")
        return dict(job_id=job, status=done["status"], sender=known["sender"], shader_cid=known["shader"], output_cid=done["output"], gas_used=done["gas"],
                    logical_clock=known["clock"], height=known["height"], ended=done["ended"], error=done["error"])

    def maker(self, name, height):
        made = [e for e in self.at(height) if e["kind"] == 5 and e["target"] == name]
        return min(made, key=lambda e: (e["clock"], e["number"]), default=None)

    def inputs(self, job, height):
        """(kind, name, maker) of what a job took: of one that has an output by its edges, of another by its message."""
        me, clock = "job:" + job, (self.w.jobs.get(job) or self.results[job])["clock"]
        parents = [e["source"] for e in sorted((e for e in self.at(height) if e["kind"] == 6 and e["target"] == me), key=lambda e: (e["clock"], e["number"]))]
        r = self.results.get(job)
        if r and r["ended"] <= height and r["output"]:
            names = [e["source"] for e in self.at(height) if e["kind"] == 3 and e["job"] == me]
        else:
            names = [self.w.jobs[job]["a"], self.w.jobs[job]["c"]]
        out = [(6, p, p[4:]) for p in parents]
        for name in names:
            mine = [p for p in parents if any(e["kind"] == 5 and e["source"] == p and e["target"] == name for e in self.at(height))]
            made = self.maker(name, height)
            out.append((3, name, mine[0][4:] if mine else name[4:] if name.startswith("job:") else made["source"][4:] if made and made["clock"] < clock else ""))
        return out

    def history(self, name, height):
        if name.startswith("job:"):
            todo = {name[4:]}
        else:
            made = self.maker(name, height)
            todo = {made["source"][4:]} if made else set()
        found = {}
        while todo:
            job = todo.pop()
            found[job] = self.inputs(job, height)
            todo |= {m for _, _, m in found[job] if m and m not in found}
        clock = lambda job: (self.w.jobs.get(job) or self.results[job])["clock"]
        return [(j, found[j]) for j in sorted(found, key=lambda j: (clock(j), j), reverse=True)]

    def dependents(self, name, height):
        sources, clock = {}, 0
        if name.startswith("job:"):
            r = self.results.get(name[4:])
            clock = (self.w.jobs.get(name[4:]) or r)["clock"]
            sources[name] = clock
            if r and r["ended"] <= height and r["output"]:
                sources[r["output"]] = clock
        else:
            sources[name] = 0
        order, changed = {}, True
        while changed:
            changed = False
            for e in self.at(height):
                if e["kind"] in (3, 6) and e["source"] in sources and (e["source"][:4] == "job:") == (e["kind"] == 6) and e["clock"] > sources[e["source"]]:
                    job, place = e["job"], (e["clock"], e["number"])
                    if job not in order or place < order[job]:
                        order[job], changed = place, True
                    for made in (job, self.results[job[4:]]["output"]):
                        if made not in sources or e["clock"] < sources[made]:
                            sources[made], changed = e["clock"], True
        return [j[4:] for j in sorted(order, key=lambda j: order[j])]


# ---- asking --------------------------------------------------------------------------------------


def pages(c, limit=0, **values):
    """All pages of one question, and how many there were."""
    out, following, n = {"edges": [], "jobs": [], "ranks": []}, b"", 0
    while True:
        kind, a = c.ask("graph", limit=limit, next=following, **values)
        if kind == "error":
            raise AssertionError(f"{values}: {a}")
        n += 1
        for key in out:
            out[key] += a[key]
        out["height"], out["cut"] = a["height"], a["cut"]
        following = a["next"]
        assert not limit or len(a["edges"]) + len(a["jobs"]) <= limit
        if not following:
            return out, n


def plain(jobs):
    return [{k: v for k, v in j.items() if k != "inputs"} for j in jobs]


def same_jobs(got, want):
    return len(got) == len(want) and all({**g, "height": None if w["height"] is None else g["height"]} == w for g, w in zip(plain(got), want))


def against(w, rec, c, height, asked=0):
    """Every kind of question as of a block, with pages of several sizes."""
    edges = rec.at(height)
    names = sorted({n for e in edges for n in (e["source"], e["target"])})
    some = rng.sample(names, min(12, len(names)))
    bad = []

    def look(what, want, got):
        if want != got:
            bad.append(f"{what}: {str(want)[:300]} is not {str(got)[:300]}")

    bare = lambda es: [{k: v for k, v in e.items() if k != "gone"} for e in es]
    look("all", rec.select(height), bare(pages(c, op=EDGES, height=asked, limit=7)[0]["edges"]))
    for n in some:
        for role in (SOURCE, TARGET):
            kinds = rng.choice((0, 0, 1 << 3, 1 << 5 | 1 << 7))
            look(f"role {role} of {n}", rec.select(height, role, n, kinds),
                 bare(pages(c, op=EDGES, role=role, name=n, kinds=kinds, height=asked, limit=rng.choice((1, 2, 5, 0)))[0]["edges"]))
    for n in (cid(ADD), "account:bob"):
        look("via " + n, rec.select(height, VIA, n), bare(pages(c, op=EDGES, role=VIA, name=n, height=asked, limit=3)[0]["edges"]))
    clocks = sorted(rng.sample(range(1, max(e["clock"] for e in edges) + 2), 2))
    look("clocks", rec.select(height, clocks=clocks), bare(pages(c, op=EDGES, from_clock=clocks[0], to_clock=clocks[1], height=asked)[0]["edges"]))
    for job in rng.sample(sorted(w.jobs), 4):
        look("edges of a job", rec.select(height, JOB, "job:" + job), bare(pages(c, op=EDGES, role=JOB, name="job:" + job, height=asked, limit=2)[0]["edges"]))
    look("edges of a block", rec.select(height, BLOCK), bare(pages(c, op=EDGES, role=BLOCK, height=height, limit=9)[0]["edges"]))
    taken = [j for j in w.jobs.values() if j["height"] <= height]
    for n, keep in (("", lambda j: True), ("account:bob", lambda j: j["sender"] == "bob"), (cid(SLOW), lambda j: j["shader"] == cid(SLOW))):
        want = [rec.as_of(j["job"], height) for j in sorted(taken, key=lambda j: (j["clock"], j["place"])) if keep(j)]
        got = [j for j in pages(c, op=JOBS, name=n, height=asked, limit=rng.choice((2, 3, 0)))[0]["jobs"] if j["sender"] != "rank"]
        look("jobs of " + (n or "all"), True, same_jobs(got, want) or (plain(got), want))
    look("jobs of clocks", [j["job"] for j in sorted(taken, key=lambda j: (j["clock"], j["place"])) if clocks[0] <= j["clock"] <= clocks[1]],
         [j["job_id"] for j in pages(c, op=JOBS, from_clock=clocks[0], to_clock=clocks[1], height=asked)[0]["jobs"] if j["sender"] != "rank"])
    outputs = sorted({r["output"] for j, r in rec.results.items() if r["output"] and r["ended"] <= height})
    asked_of = rng.sample(outputs, min(5, len(outputs))) + [w.twice][:w.twice in outputs] + ["job:" + w.taker][:w.jobs[w.taker]["height"] <= height] + ["job:" + j["job"] for j in rng.sample(taken, min(3, len(taken)))]
    known = {n for e in rec.edges for n in (e["source"], e["target"])}
    for n in asked_of + [g for g in map(cid, GIVEN) if g in known]:
        want = rec.history(n, height)
        got = pages(c, op=HISTORY, name=n, height=asked, limit=rng.choice((1, 2, 0)))[0]
        look("history of " + n, True, same_jobs(got["jobs"], [rec.as_of(j, height) for j, _ in want]) or (plain(got["jobs"]), want))
        look("what they took", [i for _, i in want], [[(i["kind"], i["name"], i["maker"]) for i in j["inputs"]] for j in got["jobs"]])
        got = pages(c, op=DEPENDENTS, name=n, height=asked, limit=rng.choice((1, 3, 0)))[0]
        look("dependents of " + n, rec.dependents(n, height), [j["job_id"] for j in got["jobs"]])
        look("nothing is cut", 0, got["cut"])
    h.check(f"as of block {height}{'' if asked else ', the newest'}: as the files of the blocks say", not bad, "\n".join(bad[:3]))


# ---- a story -------------------------------------------------------------------------------------


def build(w):
    for sender in ("ada", "bob"):
        for data in GIVEN if sender == "ada" else ():
            w.send(sender, "blob", data=data, blocks=1000)
    w.send("ada", "upload", wgsl_source=ADD, description="sums", tags=["sum"], implements=cid(GIVEN[0]))
    w.send("bob", "upload", wgsl_source=SLOW)
    w.send("ada", "name", op=1, name="add", cid=cid(ADD))
    w.send("ada", "ledger", op=2, to="rank", amount=10**10)
    made = [cid(g) for g in GIVEN]
    for block in range(4):
        fresh = []
        for i in range(9):
            pick = lambda: "job:" + rng.choice(fresh) if fresh and rng.random() < 0.4 else rng.choice(made)
            parents = rng.sample(fresh, 1) if fresh and rng.random() < 0.3 else []
            fresh.append(w.job(rng.choice(("ada", "bob")), *((ADD, pick(), pick(), parents, 1) if rng.random() < 0.6 else (SLOW, pick(), pick(), parents, 40))))
        if block == 1:  # one is taken back, and what waits for it fails
            w.send(w.jobs[fresh[0]]["sender"], "cancel", job_id=fresh[0])
        for _ in range(2):
            source, target = rng.sample(made, 2)
            w.send(rng.choice(("ada", "bob")), "link", source=source, target=target)
        w.left.append(w.end()["deferred_total"])
        for job in fresh:
            out = w.c.ask("query", job_id=job)[1]["output_cid"]
            if out and out not in made:
                made.append(out)
    # One that waits while others pay for their places: its twin of a higher clock makes the same bytes before it, and a third takes them. Who made them first depends on the block.
    while w.end()["deferred_total"]:
        pass
    ahead = lambda a, c, groups=40: w.job("bob", SLOW, a, c, groups=groups, tip=1000)
    w.overtaken = w.job("ada", SLOW, made[0], made[1], groups=40)
    ahead(made[2], made[0])
    ahead(made[2], made[1])
    w.end()
    twin = ahead(made[0], made[1])
    ahead(made[2], made[2])
    w.end()
    w.twice = w.c.ask("query", job_id=twin)[1]["output_cid"]
    w.taker = ahead(w.twice, made[0])
    ahead(made[1], made[2])
    w.end()
    w.end()
    h.check("it was overtaken", w.twice and w.c.ask("query", job_id=w.overtaken)[1]["output_cid"] == w.twice)
    w.send("ada", "upload", wgsl_source=SLOW + b"// old")
    w.send("ada", "name", op=2, cid=cid(SLOW + b"// old"))
    w.send("ada", "link", source=made[0], target=made[1])
    w.send("ada", "link", source=made[0], target=made[1], taken=True)
    return made


def tool(*args):
    status, out, err = h.run("--json", *args)
    h.check(" ".join(args[:2]) + (" of a node" if "--node" in args else ""), status == 0, f"exit status {status}\n{err}")
    return json.loads(out) if out else {}


def numbers(edges):
    return [int(e["number"]) for e in edges]


def command_line(w, rec, made):
    job = next(j for j, r in rec.results.items() if r["output"] and j in w.jobs and rec.inputs(j, w.height)[0][2])
    out, H = rec.results[job]["output"], w.height
    newest = str(H)
    for node in (("--node", w.node.path), ()):
        got = tool("graph", "edges", *node, "--kind", "output", "--kind", "input", "--to", out, "--height", newest)
        h.check("edges to a name", numbers(got["edges"]) == numbers(rec.select(H, TARGET, out, 1 << 3 | 1 << 5)), str(got))
        got = tool("graph", "edges", *node, "--from", "account:ada", "--clocks", "1..4", "--height", newest)
        h.check("edges from an account", numbers(got["edges"]) == numbers(rec.select(H, SOURCE, "account:ada", clocks=(1, 4))), str(got))
        got = tool("graph", "edges", *node, "--via", cid(SLOW), "--height", newest)
        h.check("edges via a shader", numbers(got["edges"]) == numbers(rec.select(H, VIA, cid(SLOW))), str(got))
        got = tool("graph", "edges", *node, "--job", "job:" + job)
        h.check("edges of a job", numbers(got["edges"]) == numbers(rec.select(H, JOB, "job:" + job)), str(got))
        got = tool("graph", "edges", *node, "--block", "2", "--limit", "5")
        more = tool("graph", "edges", *node, "--block", "2", "--limit", "1000", "--next", got["next"])
        h.check("edges of a block in two pages", numbers(got["edges"] + more["edges"]) == numbers(rec.select(2, BLOCK)) and more["next"] == "", str(more))
        got = tool("graph", "history", *node, "--limit", "1", "--height", newest, "job:" + job)
        more = tool("graph", "history", *node, "--next", got["next"], "--height", newest, "job:" + job)
        h.check("a history in two pages", [j["job"] for j in got["jobs"] + more["jobs"]] == [j for j, _ in rec.history("job:" + job, H)], str(got))
        got = tool("graph", "dependents", *node, "--limit", "3", "--height", newest, cid(GIVEN[0]))
        more = tool("graph", "dependents", *node, "--limit", "1000", "--next", got["next"], cid(GIVEN[0]))
        h.check("dependents in two pages", [j["job"] for j in got["jobs"] + more["jobs"]] == rec.dependents(cid(GIVEN[0]), H), str(got))
        got = tool("graph", "jobs", *node, "--clocks", "2..9", "--limit", "2", "--height", newest, "account:bob")
        more = tool("graph", "jobs", *node, "--clocks", "2..9", "--limit", "1000", "--next", got["next"], "account:bob")
        want = [j for j in sorted(w.jobs.values(), key=lambda j: (j["clock"], j["place"])) if j["sender"] == "bob" and 2 <= j["clock"] <= 9]
        h.check("jobs of an account in two pages", [j["job"] for j in got["jobs"] + more["jobs"]] == [j["job"] for j in want], str(got))
    status, text, err = h.run("graph", "edges", "--to", out)
    h.check("edges as text", status == 0 and f"output job:{job} -> {out} via".encode() in text or b" output " in text, f"{text} {err}")
    status, text, err = h.run("graph", "history", out)
    h.check("a history as text", status == 0 and b"took " in text and b" complete clock " in text, f"{text} {err}")
    status, text, err = h.run("graph", "edges", "--from", "account:ada", "--kind", "alias", "--height", newest)
    h.check("an answer of nothing is said beside it", status == 0 and text == b"" and err == f"no edges, as of block {H}\n", f"{status} {text} {err}")
    for quiet in ("--json", "-q"):
        _, _, err = h.run(quiet, "graph", "edges", "--from", "account:ada", "--kind", "alias")
        h.check("but not to who asks for silence or a document", err == "", f"{quiet} {err}")
    for name, code, want, args in (("two roles", "PC0010", 2, ("edges", "--to", out, "--from", out)), ("a kind that is none", "PC0010", 2, ("edges", "--kind", "friend")),
                                   ("clocks that are none", "PC0010", 2, ("jobs", "--clocks", "7")), ("no hex", "PC0010", 2, ("jobs", "--next", "xy")),
                                   ("a page too long", "PC0010", 2, ("jobs", "--limit", "1001")), ("a height beside a block", "PC0010", 2, ("edges", "--block", "1", "--height", "1")),
                                   ("a block to come", "PC5852", 3, ("edges", "--height", "99")), ("nothing of that name", "PC5883", 3, ("history", cid(b"nowhere"))),
                                   ("a history of an account", "PC5880", 3, ("history", "account:ada")), ("a next of another question", "PC5730", 3, ("jobs", "--next", "00" * 32)),
                                   ("no node", "PC5839", 1, ("jobs", "--node", h.path("nobody")))):
        status, _, err = h.run("graph", *args)
        h.check(name, status == want and code in err, f"exit status {status}\n{err}")


def gone(w, made):
    got = pages(w.c, op=EDGES, role=SOURCE, name=made[0], kinds=1 << 7)[0]["edges"]
    back = [e["gone"] for e in got if e["target"] == made[1] and e["via"] == "account:ada"]
    h.check("a link that was taken back says so, the others do not", back == [1] and all(e["gone"] == 0 for e in got if e["target"] != made[1] or e["via"] != "account:ada"), str(got))


def ranks(w, rec, made):
    name = made[0]
    got = pages(w.c, op=RANK, name=name, limit=2, height=w.height)[0]
    want = rec.select(w.height, SOURCE, name, 1 << 3 | 1 << 7) + [e for e in rec.select(w.height, TARGET, name, 1 << 3 | 1 << 7) if e["source"] != name]
    h.check("the neighbourhood is the links and inputs", [e["number"] for e in got["edges"]] == [e["number"] for e in want] and len(want) > 3, f"{got['edges']} {want}")
    _, first = w.c.ask("graph", op=RANK, name=name, limit=1000, height=w.height)
    status, out, err = h.run("--json", "rank", "show", "--top", "1000000")
    top = {t["name"]: int(t["rank"]) for t in json.loads(out)["top"]}
    names = sorted({name} | {n for e in first["edges"] for n in (e["source"], e["target"])})
    h.check("with the ranks at their ends", [(r["name"], r["rank"]) for r in first["ranks"]] == [(n, top[n]) for n in names if n in top] and len(first["ranks"]) > 2, f"{first['ranks']} {top} {err}")
    got = tool("graph", "rank", "--limit", "1", "--height", str(w.height), "--node", w.node.path, name)
    got["ranks"] += tool("graph", "rank", "--limit", "1000", "--next", got["next"], "--height", str(w.height), name)["ranks"]
    h.check("as the tool shows them", {r["name"]: int(r["rank"]) for r in got["ranks"]} == {r["name"]: r["rank"] for r in first["ranks"]}, str(got))
    h.check("before the first rank there is none", w.c.ask("graph", op=RANK, name=name, height=2)[1]["code"] == 6102)


def proofs(w, rec, ask, what):
    """Rows of edges and of their names, in the state of the last block."""
    a = ask(op=EDGES, limit=5, prove=True, role=SOURCE, name="account:ada")
    want = rec.select(w.height, SOURCE, "account:ada")[:5]
    found = [rowproof.verify(p.decode(), w.commits[-1]) for p in a["proofs"]]
    rows = {f["table"]: [r for x in found if x["table"] == f["table"] for r in x["rows"]] for f in found}
    rows["edges"] = [next(r for r in rows["edges"] if r[0] == e["number"]) for e in a["edges"]]
    names = {r[0]: r[2] for r in rows["names"]}

    def text(number):
        import base64
        b = names[number] if number else b""
        return "" if not number else b[1:].decode() if b[:1] == b"t" else "job:" + b[1:].hex() if b[:1] == b"j" else "b" + base64.b32encode(b"\x01\x55\x12\x20" + b[1:]).decode().lower().rstrip("=")

    got = [dict(number=r[0], kind=r[1], source=text(r[2]), target=text(r[3]), via=text(r[4]), job=text(r[5]), height=r[6], clock=r[7]) for r in rows["edges"]]
    h.check(f"{what}: every edge and name is proved in the last block", got == want and got == [{k: v for k, v in e.items() if k != "gone"} for e in a["edges"]], f"{got} {want}")


def executing(w):
    """A block that runs: its jobs are EXECUTING in answers meanwhile, and its edges are not there before it has ended."""
    other, seen, running = w.node.client(), [], []
    for _ in range(20):  # a block may be over before anybody looked, or an epoch's iterations may take the room of a job
        while w.end()["deferred_total"]:
            pass
        before, height = len(seen), w.height
        jobs = [w.job("bob", SLOW, cid(GIVEN[i % 3]), cid(GIVEN[1]), groups=16, output=4096) for i in range(4)]
        count = len(Records(w).edges)
        w.raw(w.c, w.ending())
        while not select.select([w.c.socket], [], [], 0)[0]:
            _, got = other.ask("graph", op=JOBS, from_clock=w.jobs[jobs[0]]["clock"], limit=1000)
            _, edges = other.ask("graph", op=EDGES, limit=1000)
            state = {j["job_id"]: j["status"] for j in got["jobs"]}
            seen.append((tuple(state.get(j) for j in jobs), len(edges["edges"]) == count))
        if w.ended()["deferred_total"]:
            del seen[before:]
            continue
        running = [s for s in seen if EXECUTING in s[0]]
        if running:
            break
    h.check("jobs of a block that runs are EXECUTING, all of them, and it has made no edge", ((EXECUTING,) * 4, True) in running and all(s == (EXECUTING,) * 4 for s, _ in running), f"{seen[:4]} {count}")
    while w.end()["deferred_total"]:
        pass
    states = {s for s, _ in seen}
    h.check("and never anything but PENDING before it", states <= {(PENDING,) * 4, (EXECUTING,) * 4, (COMPLETE,) * 4}, str(states))
    got, _ = pages(other, op=JOBS, from_clock=w.jobs[jobs[0]]["clock"], limit=3)
    h.check("then COMPLETE", [j["status"] for j in got["jobs"] if j["job_id"] in jobs] == [COMPLETE] * 4)
    got, _ = pages(other, op=JOBS, from_clock=w.jobs[jobs[0]]["clock"], height=height)
    h.check("as of the block before there were none", not [j for j in got["jobs"] if j["job_id"] in jobs])
    other.close()


def refused(w, made):
    def ask(what, code, **values):
        kind, a = w.c.ask("graph", **values)
        h.check("refused: " + what, kind == "error" and a["code"] == code, f"{kind} {str(a)[:300]}")

    following = w.c.ask("graph", op=EDGES, limit=1)[1]["next"]
    back = w.c.ask("graph", op=HISTORY, name=next("job:" + j for j in w.jobs if w.jobs[j]["parents"]), limit=1)[1]["next"]
    forward = w.c.ask("graph", op=DEPENDENTS, name=made[0], limit=1)[1]["next"]
    name = next("job:" + j for j in w.jobs if w.jobs[j]["parents"])
    h.check("there is something to go on with", following and back and forward)
    ask("no operation", 5784, name=made[0])
    ask("an operation that is none", 5730, op=6)
    ask("a role that is none", 5730, op=EDGES, role=6, name=made[0])
    ask("a name without a role", 5784, op=EDGES, name=made[0])
    ask("a role without a name", 5784, op=EDGES, role=SOURCE)
    ask("a block without a height", 5784, op=EDGES, role=BLOCK)
    ask("a block with a name", 5730, op=EDGES, role=BLOCK, height=1, name=made[0])
    ask("a role of a history", 5730, op=HISTORY, role=SOURCE, name=made[0])
    ask("a history of nothing", 5784, op=HISTORY)
    ask("kinds of jobs", 5730, op=JOBS, kinds=2)
    ask("a kind that is none", 5730, op=EDGES, kinds=1)
    ask("clocks of a history", 5730, op=HISTORY, name=made[0], from_clock=1)
    ask("too many", 5793, op=EDGES, limit=1001)
    ask("too many with proofs", 5793, op=EDGES, limit=17, prove=True)
    ask("proofs of jobs", 5730, op=JOBS, prove=True)
    ask("a name too long", 5789, op=EDGES, role=SOURCE, name="x" * 81)
    ask("a name with a control character", 5788, op=EDGES, role=SOURCE, name="a\x01")
    ask("a continuation too long", 5789, op=EDGES, next=b"x" * (512 * 1024 + 1))
    ask("a block to come", 5852, op=EDGES, height=w.height + 2)
    ask("proofs of the open block", 5852, op=EDGES, prove=True, height=w.height + 1)
    ask("a history of nobody's", 5883, op=HISTORY, name=cid(b"nowhere"))
    ask("dependents of nothing known", 5883, op=DEPENDENTS, name=cid(b"nowhere"))
    ask("a job that is none", 5801, op=JOBS, name="job:" + "0" * 64)
    ask("a history of a job that is none", 5883, op=HISTORY, name="job:" + "0" * 64)
    ask("jobs by an alias", 5880, op=JOBS, name="alias:add")
    ask("dependents of an account", 5880, op=DEPENDENTS, name="account:ada")
    ask("a short continuation", 5730, op=EDGES, next=following[:16])
    ask("a continuation of another question", 5730, op=EDGES, kinds=8, next=following)
    ask("a continuation as of another block", 5730, op=EDGES, height=1, next=following)
    ask("a continuation from a block that is not there", 5730, op=EDGES, next=struct.pack(">Q", 10**6) + following[8:])
    ask("a place that is none", 5730, op=EDGES, next=following[:16] + b"\xff" * 32)
    ask("a place of another length", 5730, op=EDGES, next=following + b"\0")
    ask("a list of jobs that is none", 5730, op=HISTORY, name=name, next=back[:-1])
    ask("a job of another clock", 5730, op=HISTORY, name=name, next=back[:-40] + struct.pack(">Q", 10**9) + back[-32:])
    ask("a job of it that is none", 5883, op=HISTORY, name=name, next=back[:16] + struct.pack(">Q", 3) + b"\x11" * 32)
    ask("a list that is not in order", 5730, op=HISTORY, name=name, next=back[:16] + back[-40:] + back[-40:])
    ask("a list of names that is none", 5730, op=DEPENDENTS, name=made[0], next=forward[:-1])
    ask("a thing of it that is neither", 5730, op=DEPENDENTS, name=made[0], next=forward[:16 + 48] + struct.pack(">Q", 1) + b"\2" + b"\x11" * 32)
    kind, a = w.c.ask("graph", op=EDGES, role=SOURCE, name="account:nobody")
    h.check("a name without edges has none", kind == "graph" and a["edges"] == [] and a["next"] == b"", str(a))


def behind_abci():
    """The same through an engine's queries, and a view."""
    chain = Chain(h, ["ada"])
    home = chain.home("abci")
    n = abci.Node(h, home, "cpu")
    n.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
    txs = [chain.message("ada", "blob", data=GIVEN[0], blocks=1000), chain.message("ada", "upload", wgsl_source=ADD),
           chain.message("ada", "execute", shader_cid=cid(ADD), input_cid=cid(GIVEN[0]), bindings=[{"group": 0, "binding": 2, "cid": cid(GIVEN[0])}],
                         dispatch={"x": 4, "y": 1, "z": 1}, gas_limit=10**6, output_bytes=16)]
    made = n.consensus.ask("finalize_block", txs=txs, height=1)
    n.consensus.ask("commit")
    h.check("an engine's block", all(r["code"] == 0 for r in made["tx_results"]), str(made["tx_results"]))

    def ask(kind, **values):
        a = n.query.ask("query", path="/message", data=wire.encode("Request", {kind: values}))
        return a["code"] or wire.decode("Response", a["value"])[kind]

    a = ask("graph", op=EDGES)
    h.check("edges through ABCI", [KINDS[e["kind"]] for e in a["edges"]] == ["upload", "executed", "input", "output"], str(a))
    job = a["edges"][1]["target"]
    h.check("a history through ABCI", [j["job_id"] for j in ask("graph", op=HISTORY, name=a["edges"][3]["target"])["jobs"]] == [job[4:]])
    a = ask("graph", op=EDGES, prove=True)
    root = made["app_hash"].hex()
    found = [rowproof.verify(p.decode(), root) for p in a["proofs"]]
    h.check("proved by the engine's hash", [r[0] for f in found if f["table"] == "edges" for r in f["rows"]] == numbers(a["edges"]) == [1, 2, 3, 4] and all(f["row"] for f in found), str(found))
    h.check("a question that is none is refused through ABCI", ask("graph", op=9) == 6172)
    h.check("a view is asked too: this chain takes no contracts", ask("view", contract=cid(b"none"), fuel=1000) == 6115, str(ask("view", contract=cid(b"none"), fuel=1000)))
    n.stop(signal.SIGTERM)


w = World("one")
made = build(w)
rec = Records(w)
first = {height: rec.maker(w.twice, height) for height in range(1, w.height + 1)}
done = rec.results[w.taker]["ended"]
h.check("a job that took them before", first[done] != first[w.height], str(first))
h.check("the same bytes by an overtaken job", len({m["source"] for m in first.values() if m}) == 2, str(first))
h.check("the story has what it needs", {e["kind"] for e in rec.edges} >= {1, 2, 3, 4, 5, 6, 7, 8} and len(rec.edges) > 100
        and any(r["status"] == FAILED for r in rec.results.values()) and max(w.left) > 2, f"{len(rec.edges)} {w.left}")
for height in range(1, w.height + 1):
    against(w, rec, w.c, height, asked=height)
w.end()
rec = Records(w)
against(w, rec, w.c, w.height)
gone(w, made)
ranks(w, rec, made)
command_line(w, rec, made)
refused(w, made)
proofs(w, rec, lambda **q: w.c.ask("graph", **q)[1], "a node")
executing(w)
w.node.stop(signal.SIGTERM)
behind_abci()
h.finish()
