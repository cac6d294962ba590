"""Graphs with every feature that has its own path: none of anything, one node, dangling nodes, self-loops, duplicates,
hubs on either side, row lengths around the chunk of four, sizes around the tiles, a million nodes."""
from harness import Random, share


def random_edges(seed, nodes, n_edges):
    r = Random(seed)
    return [(r.below(nodes), r.below(nodes)) for _ in range(n_edges)]


def rows_of_every_length(longest):
    """Node k has k in-edges."""
    return [(s % (longest + 1), t) for t in range(longest + 1) for s in range(t)]


def small():
    """(name, edges, nodes, iterations, damping)"""
    yield "no edge, no node", [], 0, 3, 850000
    yield "no edge, one node", [], 1, 3, 850000
    yield "no edge, seven nodes", [], 7, 2, 850000
    yield "one self-loop", [(0, 0)], 0, 3, 850000
    yield "one edge", [(0, 1)], 0, 4, 850000
    yield "one edge to a far node", [(0, 1000)], 0, 2, 850000
    yield "last nodes without edges", [(0, 1), (1, 0)], 5000, 3, 850000
    yield "every edge three times", [(0, 1), (1, 2), (2, 0), (0, 2)] * 3, 0, 5, 850000
    yield "self-loops everywhere", [(i, i) for i in range(100)] + random_edges(1, 100, 50), 0, 4, 850000
    yield "all dangling but one", [(0, i) for i in range(1, 300)], 0, 5, 850000
    yield "one target for all", [(i, 7) for i in range(3000)], 0, 3, 850000
    yield "rows of every length", rows_of_every_length(40), 0, 4, 850000
    yield "no iteration", random_edges(2, 50, 200), 0, 0, 850000
    yield "no damping", random_edges(3, 50, 200), 0, 3, 1000000
    yield "nothing but damping", random_edges(4, 50, 200), 0, 3, 0
    for nodes in (1023, 1024, 1025, 2047, 2048):
        yield f"{nodes} nodes", random_edges(nodes, nodes, 4 * nodes), nodes, 2, 850000
    yield "power law", [(i % 997, (i * i) % (1 + i % 211)) for i in range(20000)], 1000, 3, 850000
    yield "forty thousand edges", random_edges(5, 9000, 40000), 0, 3, 123457


def few():
    """For simulators: what is small among the small; by day some of it."""
    yield from share((case for case in small() if len(case[1]) < 1000 and case[2] < 5000), 5, 4)


def large():
    nodes = len(share(range(1000000), 5))
    edges = random_edges(6, nodes, nodes * 3 // 2)
    edges += [(0, nodes - 1), (nodes - 1, nodes - 1), (nodes - 1, nodes - 1)]
    yield f"{nodes} nodes", edges, 0, 2, 850000
