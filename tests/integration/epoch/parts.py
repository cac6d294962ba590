"""The rank of a graph that is cut into parts, under version 2 of the rules: the same ranks for every size of a part, at and around the number of
links, which are those of Python's integers; a link that was taken back is none; of too many parts the least links are left out; and what the
chain asks for itself comes out of a block again. usage: parts.py BACKEND"""
import json
import os
import re
import struct
import sys

from harness import Harness, share

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rank"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))
import oracle  # noqa: E402
from world import World  # noqa: E402

h = Harness()
BACKEND, ITERATIONS, DAMPING = sys.argv[1], 3, 850000
BONDS = {"ann": 40, "ben": 3_000_000_000_000, "cy": 0}
LINKS = [("ann", 0, 1), ("ann", 1, 2), ("ben", 1, 0), ("ben", 0, 1), ("cy", 2, 2), ("cy", 1, 3), ("ben", 1, 4), ("ann", 5, 0), ("ben", 5, 3)]


def begin(name, links):
    w = World(h, name)
    os.makedirs(os.path.join(w.home, "chain"))
    keys = {a: w.answer("key", "new", a, "--no-passphrase")["keys"][0]["key"] for a in BONDS}
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        text = f.read()
    for key, value in dict(rules=2, epoch_blocks=1, epoch_iterations=ITERATIONS, epoch_links=links, fee_ppm=0).items():
        text, n = re.subn(rf'(\n *{key} = )"\w+"', rf'\1"{value}"', text)
        assert n == 1, key
    with open(os.path.join(w.home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text)
    accounts = [f'{{ name = "{a}"; balance = "{b + 10 ** 6}"; keys = [ "{keys[a]}" ]; roles = [ "block" ]; }}' for a, b in BONDS.items()]
    accounts.append('{ name = "rank"; balance = "4000000000"; }')
    with open(os.path.join(w.home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
        f.write("genesis : { version = 1; accounts : ( " + ", ".join(accounts) + " ); };\n")
    for a, b in BONDS.items():
        if b:
            w.text("ledger", "bond", a, str(b))
    return w


def want(links, cids):
    """Names and ranks, from snapshot.h."""
    names = sorted({cids[n] for _, s, t in links for n in (s, t)})
    at = {n: i for i, n in enumerate(names)}
    shift = 0
    while True:
        edges = sorted((at[cids[s]], at[cids[t]], (BONDS[a] >> shift) + 1) for a, s, t in set(links))
        if max(sum(w for s, _, w in edges if s == i) for i in range(len(names))) < 2 ** 32:
            break
        shift += 1
    ranks = oracle.weighted([(s, t) for s, t, _ in edges], [x for *_, x in edges], len(names), ITERATIONS, DAMPING)
    return names, struct.pack(f"<{len(names)}Q", *ranks)


def shown(w, what, links, cids, parts):
    end = w.answer("block", "end", "--backend", BACKEND)
    h.check(f"{what}: {parts} parts", int(end["complete"]) == 2 * ITERATIONS * parts, str(end))
    rank = w.answer("rank", "show")
    names, ranks = want(links, cids)
    out = h.path("blob")
    w.text("cas", "get", rank["names"], "--out", out)
    h.check(f"{what}: names", h.read("blob").decode() == "".join(n + "\n" for n in names))
    w.text("cas", "get", rank["ranks"], "--out", out)
    h.check_bytes(f"{what}: ranks", h.read("blob"), ranks, 8)
    return rank["ranks"]


def draw(w, links, cids):
    for a, s, t in links:
        w.text("link", cids[s], cids[t], "--sender", a)
    w.text("block", "end", "--backend", BACKEND)


def main():
    ranks, m = {}, len(LINKS)
    for links in share((4, 1, m, 2, m + 1, m - 1), 2):
        w = begin(f"parts-{links}", links)
        cids = [w.put(f"node{i}", b"node %d" % i) for i in range(6)]
        draw(w, LINKS, cids)
        ranks[links] = shown(w, f"{links} links a part", LINKS, cids, -(-m // links))
        if links == 4:
            w.text("link", cids[1], cids[0], "--sender", "ben", "--take")
            w.text("block", "end", "--backend", BACKEND)
            fewer = [x for x in LINKS if x != ("ben", 1, 0)]
            h.check("a link that was taken back changes the rank", shown(w, "taken back", fewer, cids, 2) != ranks[links])
            w.text("link", cids[1], cids[0], "--sender", "ben")
            w.text("block", "end", "--backend", BACKEND)
            h.check("drawn again it counts again", shown(w, "drawn again", LINKS, cids, 3) == ranks[links])
            w.text("block", "verify", "1..6", "--backend", BACKEND)
    h.check("one rank for all parts", len(set(ranks.values())) == 1, str(ranks))
    # 64 parts of one link, and two links more: those of who has the least stake, and of these the latest, are left out.
    w = begin("most", 1)
    cids = [w.put(f"many{i}", b"many %d" % i) for i in range(66)]
    many = [("ann" if i % 2 else "cy", i, (i * 7 + 1) % 66) for i in range(66)]
    draw(w, many, cids)
    left = [x for x in many if x[0] == "ann"] + sorted((x for x in many if x[0] == "cy"), key=lambda x: (cids[x[1]], cids[x[2]]))[:31]
    shown(w, "the least are left out", left, cids, 64)
    h.finish()


main()
