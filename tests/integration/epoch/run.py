"""The rank of the graph at the end of an epoch, through the verbs: links of bonded accounts, blocks, the ranks against
Python's integers and against rank.weighted@1 on the same graph, on several devices the same commits; and what happens
without gas or links. usage: run.py BACKEND..."""
import json
import os
import struct
import sys

from harness import Harness, take_made

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rank"))
import oracle  # noqa: E402

EPOCH, ITERATIONS, DAMPING = 2, 4, 850000
BONDS = {"ann": 40, "ben": 3_000_000_000_000, "cy": 0}
# account, source, target; the same link again is none, of somebody else another one
LINKS = [("ann", 0, 1), ("ann", 1, 2), ("ben", 1, 0), ("ben", 0, 1), ("cy", 2, 2), ("ann", 0, 1), ("cy", 1, 3), ("ben", 1, 4)]


class Chain:
    """One home, one device."""

    def __init__(self, h, name, backend):
        self.h, self.backend = h, backend
        self.home = h.path("home-" + name)
        os.makedirs(os.path.join(self.home, "chain"))
        h.env["PIPECTL_HOME"] = self.home
        take_made(self.home)
        text = open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg")).read()
        for key, value in {"epoch_blocks": EPOCH, "epoch_iterations": ITERATIONS}.items():
            at = text.index(key + " = ")
            text = text[:at] + f'{key} = "{value}";' + text[text.index(";", at) + 1:]
        with open(os.path.join(self.home, "chain", "params.cfg"), "w") as f:
            f.write(text)

    def run(self, *args):
        self.h.env["PIPECTL_HOME"] = self.home
        return self.h.run(*args)

    def ok(self, *args):
        status, out, err = self.run(*args)
        self.h.check(" ".join(args), status == 0, f"exit status {status}\n{err}")
        return out.decode(), err

    def end(self):
        out, err = self.ok("--json", "block", "end", "--backend", self.backend)
        return (json.loads(out) if out else {}), err


def spelled(links, bonds, cids):
    """Nodes in order, edges and weights, from the description in core/chain/epoch/snapshot.h."""
    seen = {(cids[s], cids[t], a) for a, s, t in links}
    names = sorted({n for s, t, _ in seen for n in (s, t)})
    at = {n: i for i, n in enumerate(names)}
    shift = 0
    while True:
        edges = sorted((at[s], at[t], (bonds[a] >> shift) + 1) for s, t, a in seen)
        totals = [sum(w for s, _, w in edges if s == i) for i in range(len(names))]
        if max(totals) < 2 ** 32:
            return names, edges, totals, shift
        shift += 1


def words(data):
    return struct.unpack(f"<{len(data) // 4}I", data)


def get(chain, cid):
    out = chain.h.path("blob")
    chain.ok("cas", "get", cid, "--out", out)
    return chain.h.read("blob")


def check_rank(h, chain, shown, cids, label):
    names, edges, totals, shift = spelled(LINKS, BONDS, cids)
    n, m = len(names), len(edges)
    graph = words(get(chain, shown["graph"]))
    h.check(f"{label}: names", get(chain, shown["names"]).decode() == "".join(x + "\n" for x in names))
    h.check(f"{label}: header", graph[2:6] == (1, n, m, shift) and graph[6] == int(shown["height"]), str(graph[:8]))
    h.check(f"{label}: totals", list(graph[16:16 + n]) == totals, str(graph[16:16 + n]))
    ends, weights = graph[16 + n:16 + n + 2 * m], graph[16 + n + 2 * m:16 + n + 3 * m]
    h.check(f"{label}: edges", sorted(zip(ends[::2], ends[1::2], weights)) == edges, f"{ends} {weights}, {edges}")
    pairs = list(zip(ends[::2], ends[1::2]))
    want = oracle.weighted(pairs, list(weights), n, ITERATIONS, DAMPING)
    got = get(chain, shown["ranks"])
    h.check_bytes(f"{label}: ranks", got, struct.pack(f"<{n}Q", *want), 8)
    top = sorted(zip(want, names), key=lambda x: (-x[0], x[1]))
    h.check(f"{label}: top", [(t["name"], int(t["rank"])) for t in shown["top"]] == [(b, a) for a, b in top][:3], str(shown))
    h.check(f"{label}: jobs", len(shown["jobs"]) == 2 * ITERATIONS, str(shown["jobs"]))
    # The op on the same graph gives the same bytes.
    h.write("edges", struct.pack(f"<{2 * m}I", *ends))
    h.write("weights", struct.pack(f"<{m}Q", *weights))
    chain.ok("run", os.path.join(os.environ["PIPELINES"], "weighted-rank.pipe.cfg"), "--in", "edges=" + h.path("edges"),
             "--in", "weights=" + h.path("weights"), "--out", "ranks=" + h.path("ranks"), "--set", f"nodes={n}", "--set",
             f"iterations={ITERATIONS}", "--backend", chain.backend)
    h.check_bytes(f"{label}: rank.weighted@1", h.read("ranks"), got, 8)


def story(h, name, backend):
    """Everything one device does; the commits of its blocks."""
    c = Chain(h, name, backend)
    commits, cids = [], []
    for i in range(5):
        cids.append(c.ok("cas", "put", h.write(f"node{i}", b"node %d" % i))[0].strip())
    end, err = c.end()
    commits.append(end.get("commit"))
    h.check(f"{name}: no epoch yet", "PC6101" not in err, err)
    end, err = c.end()
    commits.append(end.get("commit"))
    h.check(f"{name}: nothing to rank is a note", "PC6101" in err and "no link" in err, err)
    status, _, err = c.run("rank", "show")
    h.check(f"{name}: no rank to show", status == 3 and "PC6102" in err, err)
    for account, bond in BONDS.items():
        c.ok("ledger", "credit", account, str(bond + 1000))
        if bond:
            c.ok("ledger", "bond", account, str(bond))
    for account, source, target in LINKS:
        c.ok("link", cids[source], cids[target], "--sender", account)
    for _ in range(2):
        end, err = c.end()
        commits.append(end.get("commit"))
    h.check(f"{name}: no gas is a note", "PC6101" in err and "rank" in err, err)
    c.ok("ledger", "credit", "rank", "2000000000")
    for _ in range(3):
        end, err = c.end()
        commits.append(end.get("commit"))
        h.check(f"{name}: block {len(commits)} without a warning", "PC6101" not in err, err)
    h.check(f"{name}: the rank's jobs are in the block", end.get("complete") in (2 * ITERATIONS, str(2 * ITERATIONS)), str(end))
    shown = json.loads(c.ok("--json", "rank", "show", "--top", "3")[0])
    check_rank(h, c, shown, cids, name)
    # A second epoch over the same links: the rank's own traces are no part of the graph.
    for _ in range(2):
        end, _ = c.end()
        commits.append(end.get("commit"))
    again = json.loads(c.ok("--json", "rank", "show")[0])
    h.check(f"{name}: another epoch, the same ranks", again["ranks"] == shown["ranks"] and again["height"] != shown["height"],
            str(again))
    status, _, err = c.run("rank", "show", "--height", "3")
    h.check(f"{name}: no rank after block 3", status == 3 and "PC6102" in err, err)
    c.ok("block", "verify", "1..9", "--backend", backend)
    return commits


def blobs(chain):
    return {os.path.join(where, name) for where, _, names in os.walk(os.path.join(chain.home, "cas")) for name in names}


def trouble(h):
    """A store that takes nothing while the epoch's graph is written: the block is not ended and nothing changed; when the
    cause is gone it is the block that every other node has."""
    commits = []
    for name in ("well", "ill"):
        c = Chain(h, name, "cpu")
        cids = [c.ok("cas", "put", h.write(f"node{i}", b"node %d" % i))[0].strip() for i in range(2)]
        c.ok("ledger", "credit", "ann", "1000")
        c.ok("link", cids[0], cids[1], "--sender", "ann")
        c.ok("ledger", "credit", "rank", "2000000000")
        c.end()
        before = blobs(c)
        if name == "ill":
            # A file stands where a folder of the store would have to be made.
            folders = sorted({os.path.dirname(os.path.join(c.home, f)) for f in made} - {os.path.dirname(f) for f in before})
            h.check("there are folders to make", folders)
            for folder in folders:
                with open(folder, "w"):
                    pass
            status, _, err = c.run("block", "end", "--backend", "cpu")
            h.check("the block is not ended", status == 8 and "PC6103" in err and "block 2" in err, f"{status} {err}")
            for folder in folders:
                os.unlink(folder)
            listed = json.loads(c.ok("--json", "block", "list")[0])
            h.check("there is one block", len(listed["blocks"]) == 1, str(listed))
        end, _ = c.end()
        commits.append(end.get("commit"))
        made = [os.path.relpath(f, c.home) for f in blobs(c) - before]
    h.check("the same commit as where nothing was in the way", commits[0] == commits[1] and commits[0], str(commits))


def main():
    h = Harness()
    trouble(h)
    made = [story(h, f"{i}", backend) for i, backend in enumerate(sys.argv[1:])]
    for commits in made:
        h.check("the same commits on every device", commits == made[0] and None not in commits, f"{commits}\n{made[0]}")
    h.finish()


main()
