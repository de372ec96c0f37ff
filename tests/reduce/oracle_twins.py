"""Twins in plain Python, as they are defined, and random graphs with many twins.

Graphs are dictionaries {(u, v): length} of stored edges.
"""


def classes_of(n, lengths):
    """Classes of two or more vertices with the same edges apart from each other; sets, and whether each is closed."""

    def edges_of(v, *apart):
        out = {(w, length) for (u, w), length in lengths.items() if u == v and w not in apart}
        return out, {(u, length) for (u, w), length in lengths.items() if w == v and u not in apart}

    found = set()
    for u in range(n):
        twins = {u}, {u}
        for v in range(n):
            between = lengths.get((u, v)), lengths.get((v, u))
            if u != v and between[0] == between[1] and edges_of(u, v) == edges_of(v, u):
                twins[between[0] is not None].add(v)
        assert min(map(len, twins)) == 1, "no vertex is in classes of both kinds"
        found |= {(frozenset(those), closed) for closed, those in enumerate(twins) if len(those) > 1}
    return found


def random_twins(rng, most, *, directed, weighted):
    """``(n, lengths)`` of a graph grown by copies of vertices, open and closed, and a few edges and vertices more."""
    n, lengths = int(rng.integers(1, 4)), {}

    def link(u, v, length):
        if u != v:
            lengths[u, v] = length
            if not directed:
                lengths[v, u] = length

    def random_length():
        return int(rng.integers(1, 4)) if weighted else 1

    for _ in range(int(rng.integers(5))):
        link(*rng.integers(n, size=2).tolist(), random_length())
    while n < most:
        kind = rng.integers(8)
        if kind < 6:
            v, inside = int(rng.integers(n)), random_length()
            for (a, b), length in list(lengths.items()):
                if a == v:
                    lengths[n, b] = length
                if b == v:
                    lengths[a, n] = length
            if kind < 2:
                lengths[n, v] = lengths[v, n] = inside
        if kind < 7:
            n += 1
        if kind >= 6:
            link(*rng.integers(n, size=2).tolist(), random_length())
    label = rng.permutation(n).tolist()
    return n, {(label[u], label[v]): length for (u, v), length in lengths.items()}
