"""Graphs for tests: special ones, random ones for hypothesis, and their scores by the oracle.

Nothing here uses lagbc's own reading of a matrix, so that an error there cannot hide.
"""

import functools
import pickle

import numpy as np
import scipy.sparse as sp
from families import (
    both_ways,
    complete_bipartite,
    cycle,
    diamonds,
    disjoint,
    edges_of,
    grid,
    layered,
    lengths_of,
    matrix,
    path,
    scale_free,
    star,
)
from families import in_a_row as in_a_row
from families import with_lengths as with_lengths
from gmpy2 import mpq as rational
from hypothesis import settings
from hypothesis import strategies as st

from lagbc import reference

# Examples of a property in the profile that continuous integration runs.
_FEW = 12

ALL_SUMS = ("dependency", "stress", "reached", "distance", "inverse", "edges", "depth")


def times(count):
    """How often to draw at random: `count` times, or as many times more as the profile of hypothesis has examples."""
    return count * settings().max_examples // _FEW


def examples(count):
    """Let a property have other than the usual number of examples."""
    return settings(max_examples=times(count))


def adjacency(A, *, directed=True):
    """``(indptr, indices)`` as lists."""
    n, edges = A.shape[0], sorted(edges_of(A, directed=directed))
    indptr = np.searchsorted([i for i, _ in edges], np.arange(n + 1)).tolist()
    return indptr, [j for _, j in edges]


def lengths(A, *, directed=True):
    """Lengths in the order of `adjacency`, in the type of A: integers stay integers."""
    return [length for _, length in sorted(lengths_of(A, directed=directed).items())]


def arrays(A, *, directed=True, weighted=False):
    """Edges, and lengths or None, as the oracle takes them."""
    return *adjacency(A, directed=directed), lengths(A, directed=directed) if weighted else None


def remembered(oracle):
    """Compute what is expected of a graph once: a body of a test runs for every method, on the same graphs."""
    kept = {}

    @functools.wraps(oracle)
    def once(*args, **options):
        given = pickle.dumps((args, sorted(options.items())))
        if given not in kept:
            kept[given] = pickle.dumps(oracle(*args, **options))
        return pickle.loads(kept[given])

    return once


def of_the_last_graph(search):
    """Search a small graph from each root once, for all sums and options that are asked for one after another."""
    last, found = None, {}

    @functools.wraps(search)
    def once(indptr, indices, weights, root, rtol=0):
        nonlocal last
        if len(indptr) > 300:
            return search(indptr, indices, weights, root, rtol)
        given = indptr, indices, weights if weights is None else list(weights), rtol
        if given != last:
            last = given
            found.clear()
        if root not in found:
            found[root] = search(indptr, indices, weights, root, rtol)
        return found[root]

    return once


reference._search = of_the_last_graph(reference._search)


@remembered
def oracle(A, *, directed=True, weighted=False, number=None, **options):
    """Scores by `lagbc.reference.brandes`, in exact rationals where A is small or `number` says so.

    Distances are always sums in the type of A, so that float lengths tie as float64 does.
    """
    number = number or (rational if A.shape[0] <= 40 else float)
    raw = reference.brandes(*arrays(A, directed=directed, weighted=weighted), number=number, **options)
    return np.array([float(x) for x in raw]) / (1 if directed else 2)


@remembered
def expected(A, *names, directed=True, weighted=False, sources=None, target_weights=None, cutoff=np.inf, **more):
    """Centralities by the oracle, as arrays; edges as a dense matrix, where undirected ones have both directions.

    Of more options, a decay is for betweenness and gravity, and weights of sources for betweenness.
    """
    n, graph = A.shape[0], arrays(A, directed=directed, weighted=weighted)
    targets = {"target_weights": target_weights, "cutoff": cutoff}
    paths, pairs = {"sources": sources, **targets}, 1 if directed else 2

    def edges():
        (indptr, indices, _), scores = graph, np.zeros((n, n))
        raw = reference.edge_scores(*graph, number=rational, **paths, **more)
        scores[np.repeat(np.arange(n), np.diff(indptr)), indices] = [float(x) for x in raw]
        return scores if directed else (scores + scores.T) / 2

    def into():
        return reference.distances_into(*graph, sources=sources, cutoff=cutoff)

    def farthest():
        return reference.eccentricity(*graph, cutoff=cutoff)

    compute = {
        "bc": lambda: oracle(A, directed=directed, weighted=weighted, **paths, **more),
        "edge_bc": edges,
        "closeness": lambda: [len(d) / (n - 1) * len(d) / sum(d) if d else 0 for d in into()],
        "harmonic": lambda: [sum(1 / x for x in d) for d in into()],
        "eccentricity": farthest,
        "eccentricity_centrality": lambda: [(n - 1) / x if x else 0 for x in farthest()],
        "stress": lambda: [float(rational(x) / pairs) for x in reference.stress(*graph, **paths)],
        "reach": lambda: reference.gravity(*graph, **targets),
        "gravity": lambda: reference.gravity(*graph, **targets, **more),
    }
    return {name: np.array(compute[name](), float) for name in names}


def distances(A, *, directed=True):
    """Hop distances between all pairs, -1 unreached."""
    indptr, indices = adjacency(A, directed=directed)
    return np.array([reference.count_hops(indptr, indices, s)[3] for s in range(A.shape[0])])


def diamond_scores(count, ways):
    """Exact scores of `diamonds`: a joint is on all paths across it, a middle on 1/ways of them."""
    n = count * (ways + 1) + 1
    scores = []
    for v in range(n):
        diamond, place = divmod(v, ways + 1)
        if place == 0:
            scores.append(rational(v * (n - 1 - v)))
        else:
            before, after = diamond * (ways + 1) + 1, n - (diamond + 1) * (ways + 1)
            scores.append(rational(before * after, ways))
    return scores


SPECIAL = {
    "no vertices": matrix(0, []),
    "one vertex": matrix(1, []),
    "a self loop": matrix(1, [(0, 0)]),
    "two vertices": matrix(2, [(0, 1)]),
    "no edges": matrix(5, []),
    "path": path(7),
    "directed path": matrix(7, [(v, v + 1) for v in range(6)]),
    "directed cycle": matrix(7, [(v, (v + 1) % 7) for v in range(7)]),
    "even cycle": cycle(8),
    "odd cycle": cycle(9),
    "star": star(6),
    "star into the hub": matrix(6, [(v, 0) for v in range(1, 6)]),
    "complete bipartite": complete_bipartite(3, 4),
    "complete": matrix(6, [(i, j) for i in range(6) for j in range(6)]),
    "grid": grid(4, 5),
    "diamonds": diamonds(4, 3),
    "binary tree": both_ways(15, [((v - 1) // 2, v) for v in range(1, 15)]),
    "layers": layered(4, 3),
    "loops and duplicates": matrix(4, [(0, 1), (0, 1), (1, 2), (2, 2), (2, 3), (2, 3), (2, 3), (0, 0)]),
    "components": disjoint(path(4), matrix(1, []), cycle(5), matrix(2, []), diamonds(2, 2)),
}

# Not of high diameter by the hub of its larger component; but the vertices of the path, which come last in sweep order,
# see more levels than a launch each is made for.
UNLIKE = disjoint(path(200), scale_free(600, 5000, seed=6))


@st.composite
def graphs(draw, max_n=12, min_n=0):
    """Small directed graphs: empty ones, isolated vertices, self loops, duplicates, several components."""
    n = draw(st.integers(min_n, max_n))
    if n == 0:
        return matrix(0, [])
    vertex = st.integers(0, n - 1)
    return matrix(n, draw(st.lists(st.tuples(vertex, vertex), max_size=4 * n)))


# As many edges to a vertex that paths meet, which is rare among the above. Taken as lengths, duplicates add up.
DENSE = st.builds(scale_free, st.integers(2, 12), st.integers(10, 40), st.integers(0, 99))

# Sums of these tie in float64 or not as rounding has it: 0.1 + 0.6 is 0.7, but 0.1 + 0.2 is not 0.3.
TENTHS = (0.1, 0.2, 0.3, 0.6, 0.7)


@st.composite
def weighted_graphs(draw, values=(1, 2, 3), max_n=12, min_n=0):
    """Graphs as of `graphs` with lengths; duplicates add up, and the directions of an edge differ."""
    A = draw(graphs(max_n=max_n, min_n=min_n))
    drawn = draw(st.lists(st.sampled_from(values), min_size=A.nnz, max_size=A.nnz))
    return sp.coo_array((np.array(drawn, dtype=np.asarray(values).dtype), A.coords), shape=A.shape)


def vertex_weights(n):
    """Weights of vertices, with many zeros."""
    return st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0]), min_size=n, max_size=n).map(np.array)


def draw_options(data, n):
    """Draw arguments of `bc` for a graph of n vertices, as they go together."""
    options = {
        "directed": data.draw(st.booleans()),
        "sources": data.draw(st.none() | st.permutations(range(n)).map(lambda order: order[: n // 2])),
    }
    if data.draw(st.booleans()):
        options["endpoints"] = data.draw(st.booleans())
    else:
        options["target_weights"] = data.draw(st.none() | vertex_weights(n))
        options["source_weights"] = data.draw(st.none() | vertex_weights(n))
    return options
