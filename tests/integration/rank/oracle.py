"""rank.pagerank and rank.weighted in Python's integers, straight from their definitions. Nothing wraps here: a value that
would not fit in 64 bits is an error of the definition and raises."""

S = 10 ** 15
MILLION = 10 ** 6


def scale(x, k):
    return k * (x // MILLION) + k * (x % MILLION) // MILLION


def pagerank(edges, nodes, iterations, damping):
    n = nodes if nodes else 1 + max((max(e) for e in edges), default=-1)
    if n == 0:
        return []
    degree = [0] * n
    for source, _ in edges:
        degree[source] += 1
    ranks = [S // n] * n
    for _ in range(iterations):
        share = [r // d if d else 0 for r, d in zip(ranks, degree)]
        dangling = sum(r for r, d in zip(ranks, degree) if not d)
        brought = [0] * n
        for source, target in edges:
            brought[target] += share[source]
        base = scale(S // n, MILLION - damping)
        ranks = [scale(b + dangling // n, damping) + base for b in brought]
        if sum(ranks) >= 2 ** 64:
            raise OverflowError("ranks do not fit")
    return ranks


def weighted(edges, weights, nodes, iterations, damping):
    """rank.weighted; None where it must be refused."""
    n = nodes if nodes else 1 + max((max(e) for e in edges), default=-1)
    if n == 0:
        return []
    total = [0] * n
    for (source, _), weight in zip(edges, weights):
        total[source] += weight
    if max(total) >= 2 ** 32:
        return None
    ranks = [S // n] * n
    for _ in range(iterations):
        dangling = sum(r for r, w in zip(ranks, total) if not w)
        brought = [0] * n
        for (source, target), weight in zip(edges, weights):
            if total[source]:
                brought[target] += ranks[source] * weight // total[source]
        base = scale(S // n, MILLION - damping)
        ranks = [scale(b + dangling // n, damping) + base for b in brought]
        if sum(ranks) >= 2 ** 64:
            raise OverflowError("ranks do not fit")
    return ranks
