"""weighted-rank.pipe.cfg against the oracle, with weights of several kinds, and its refusals.
usage: weighted.py BACKEND..."""
import array
import os
import sys

import graphs
import oracle
from harness import Harness, Random


def numbers(code, values):
    flat = array.array(code, values)
    if sys.byteorder == "big":
        flat.byteswap()
    return flat.tobytes()


def weights_of(kind, edges):
    r = Random(len(edges))
    most = max(1, (2 ** 32 - 1) // max(1, len(edges)))
    return {"ones": [1 for _ in edges],
            "small": [r.below(4) for _ in edges],
            "large": [r.below(most + 1) for _ in edges],
            "zeros": [0 for _ in edges]}[kind]


def rank(h, backend, edges, weights, settings):
    out = h.path("ranks")
    if os.path.exists(out):
        os.remove(out)
    h.write("edges", numbers("I", (x for e in edges for x in e)))
    h.write("weights", numbers("Q", weights))
    status, _, err = h.run("run", os.path.join(os.environ["PIPELINES"], "weighted-rank.pipe.cfg"),
                           "--in", "edges=" + h.path("edges"), "--in", "weights=" + h.path("weights"),
                           "--out", "ranks=" + out, "--backend", backend,
                           *(x for k, v in settings.items() for x in ("--set", f"{k}={v}")))
    return status, err


def compare(h, label, backend, edges, weights, nodes, iterations, damping):
    want = oracle.weighted(edges, weights, nodes, iterations, damping)
    status, err = rank(h, backend, edges, weights,
                       {"nodes": nodes, "iterations": iterations, "damping_ppm": damping})
    if want is None:
        h.check(label, status == 9 and "add up to 2^32 or more" in err and not os.path.exists(h.path("ranks")),
                f"exit status {status}\n{err}")
    elif h.check(label, status == 0, f"exit status {status}\n{err}"):
        h.check_bytes(label, h.read("ranks"), numbers("Q", want), 8)


def main():
    h = Harness()
    full = 2 ** 32 - 1
    for backend in sys.argv[1:]:
        for at, (name, edges, nodes, iterations, damping) in enumerate(graphs.small()):
            kind = ("small", "large", "ones", "zeros")[at % 8 if at % 8 < 2 else at % 4]
            compare(h, f"{name}, {kind}, {backend}", backend, edges, weights_of(kind, edges), nodes, iterations, damping)
        pair = [(0, 1), (0, 2), (1, 0), (2, 0), (2, 2)]
        compare(h, f"all but too heavy, {backend}", backend, pair, [full - 1, 1, full, 1, full - 1], 0, 9, 850000)
        compare(h, f"two edges too heavy, {backend}", backend, pair, [full, 1, 1, 1, 1], 0, 9, 850000)
        compare(h, f"one edge too heavy, {backend}", backend, pair, [1, 1, 1, 2 ** 32, 0], 0, 9, 850000)
        compare(h, f"the heaviest edge, {backend}", backend, pair, [1, 1, 1, 1, 2 ** 64 - 1], 0, 9, 850000)
        status, err = rank(h, backend, pair, [1, 1], {"nodes": 0, "iterations": 1})
        h.check(f"a weight missing, {backend}", status == 3, f"exit status {status}\n{err}")
        status, err = rank(h, backend, pair, [full] * 5, {"nodes": 2, "iterations": 1})
        h.check(f"the edge is named first, {backend}", status == 9 and "edge 1 " in err, f"exit status {status}\n{err}")
    h.finish()


main()
