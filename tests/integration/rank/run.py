"""rank.pipe.cfg and pagerank.pipe.cfg against the oracle, and the refusals of bad graphs.
usage: run.py few|small|large|bad BACKEND..."""
import array
import os
import sys

import graphs
import oracle
from harness import Harness


def edges_bytes(edges):
    flat = array.array("I", (x for e in edges for x in e))
    if sys.byteorder == "big":
        flat.byteswap()
    return flat.tobytes()


def ranks_bytes(ranks):
    return b"".join(r.to_bytes(8, "little") for r in ranks)


def run_rank(h, pipeline, backend, settings):
    out = h.path("ranks")
    if os.path.exists(out):
        os.remove(out)
    status, _, err = h.run("run", os.path.join(os.environ["PIPELINES"], pipeline), "--in", "edges=" + h.path("edges"),
                           "--out", "ranks=" + out, "--backend", backend,
                           *(x for k, v in settings.items() for x in ("--set", f"{k}={v}")))
    return status, err


def compare(h, cases, backends):
    for name, edges, nodes, iterations, damping in cases:
        want = ranks_bytes(oracle.pagerank(edges, nodes, iterations, damping))
        h.write("edges", edges_bytes(edges))
        for backend in backends:
            for pipeline in ("rank.pipe.cfg", "pagerank.pipe.cfg"):
                settings = {"nodes": nodes, "iterations": iterations, "damping_ppm": damping}
                if pipeline == "pagerank.pipe.cfg":
                    if damping != 850000:
                        continue
                    del settings["damping_ppm"]
                status, err = run_rank(h, pipeline, backend, settings)
                label = f"{name}, {pipeline}, {backend}"
                if h.check(label, status == 0, f"exit status {status}\n{err}"):
                    h.check_bytes(label, h.read("ranks"), want, 8)


def refused(h, label, backend, edges, nodes, wanted_status, words):
    h.write("edges", edges)
    status, err = run_rank(h, "rank.pipe.cfg", backend, {"nodes": nodes, "iterations": 1})
    h.check(label, status == wanted_status and all(w in err for w in words),
            f"exit status {status}, wanted {wanted_status} and {words}\n{err}")
    h.check(label + ": nothing written", not os.path.exists(h.path("ranks")), "an output was left")


def bad(h, backends):
    graph = [(0, 1), (1, 2), (2, 0), (3, 9), (9, 9)]
    for backend in backends:
        refused(h, f"target not below nodes, {backend}", backend, edges_bytes(graph), 5, 9, ["edge 3 "])
        refused(h, f"source not below nodes, {backend}", backend, edges_bytes([(1, 0), (7, 0)]), 7, 9, ["edge 1 "])
        refused(h, f"truncated graph, {backend}", backend, edges_bytes(graph)[:-3], 0, 3, ["PC"])


def main():
    h = Harness()
    what, backends = sys.argv[1], sys.argv[2:]
    if what == "bad":
        bad(h, backends)
    else:
        compare(h, {"few": graphs.few, "small": graphs.small, "large": graphs.large}[what](), backends)
    h.finish()


main()
