"""Trees of an undirected graph folded into the vertices that they hang from, before the graph is dealt.

A vertex of degree one is a leaf; it is taken off, and again as long as there are leaves. The rest is the core. A
leaf is known by numbers of vertices alone: its degree, and the exclusive or of its neighbours, as it has one.

Let a vertex v have the branches b: the parts that its component falls into without it. With S roots and T targets in
the component, s and t of them v itself, the pairs whose path leads through v are

    (S - s) (T - t) - sum over b of S_b T_b

if v is of a tree. At a vertex of the core the pairs that are both beyond it are left to the sweep, in which each vertex
of the core counts as often as its tree has roots and targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.frozen import frozen
from lagbc.graph.host.search import weak_components
from lagbc.grid.communicator import Line

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@frozen
class Trees:
    """Trees that were folded."""

    rounds: tuple[Ints, ...]  # the leaves that were taken off together, in order
    parent: Ints  # (n,): the vertex that each hung from; vertices of the core are their own parents
    component: Ints  # (n,): the least vertex of the core of each one's component

    @property
    def is_core(self) -> NDArray[np.bool_]:
        """Whether each vertex is of the core."""
        core: NDArray[np.bool_] = self.parent == np.arange(len(self.parent))
        return core

    def folded(self, weights: Floats) -> Floats:
        """Sum up weights over each vertex and the tree that hangs from it."""
        sums = weights.copy()
        for leaves in self.rounds:
            np.add.at(sums, self.parent[leaves], sums[leaves])
        return sums

    def through(self, roots: Floats, targets: Floats) -> Floats:
        """Sum up the pairs whose path leads through each vertex, without the pairs that the sweep counts."""
        below, beneath, core = self.folded(roots), self.folded(targets), self.is_core
        branches = np.zeros(len(roots))
        for leaves in self.rounds:
            np.add.at(branches, self.parent[leaves], below[leaves] * beneath[leaves])
        all_roots, all_targets = (
            np.bincount(self.component[core], weights[core], len(roots))[self.component] for weights in (below, beneath)
        )
        above, beyond, hung, met = all_roots - below, all_targets - beneath, below - roots, beneath - targets
        # (S - s) (T - t) - above beyond, without its cancellation
        return above * met + hung * beyond + (hung * met - branches)


def fold(
    line: Line, tails: NDArray[Any], heads: NDArray[Any], degrees: Ints
) -> tuple[Trees | None, NDArray[np.bool_], Ints]:
    """Fold the trees of an undirected graph, whose edges ranks have once each, in order; None if there are none.

    Also tell which edges of this rank are left, and the degrees that are.
    """
    n, degrees = len(degrees), degrees.copy()
    ends, others = np.concatenate([tails, heads]), np.concatenate([heads, tails]).astype(np.int64)
    neighbours = np.zeros(n, np.int64)
    np.bitwise_xor.at(neighbours, ends, others)
    neighbours = line.combine(neighbours, "xor")
    parent, rounds = np.arange(n), list[Ints]()
    leaves = np.flatnonzero(degrees == 1)
    while len(leaves):
        hung = neighbours[leaves]
        last = (degrees[hung] == 1) & (hung > leaves)  # of a pair that is left the first one is the core
        leaves, hung = leaves[~last], hung[~last]
        parent[leaves] = hung
        np.subtract.at(degrees, hung, 1)
        np.bitwise_xor.at(neighbours, hung, leaves)
        degrees[leaves] = 0
        rounds.append(leaves)
        hung = np.unique(hung)
        leaves = hung[degrees[hung] == 1]
    core = parent == np.arange(n)
    kept = core[tails] & core[heads]
    if not rounds:
        return None, kept, degrees
    component = components_of(line, tails[kept], heads[kept], n)
    for leaves in reversed(rounds):
        component[leaves] = component[parent[leaves]]
    return Trees(tuple(rounds), parent, component), kept, degrees


def components_of(line: Line, tails: NDArray[Any], heads: NDArray[Any], n: int) -> Ints:
    """Return the least vertex of the component of each, which edges of all ranks make up, in order on each.

    Each rank gives all of its own components the least label that one of them has; labels are followed to their end.
    """
    own = weak_components(np.searchsorted(tails, np.arange(n + 1)), heads)
    labels: Ints = np.arange(n)
    while True:
        least = np.full(n, n)
        np.minimum.at(least, own, labels)
        found = np.minimum(labels, least[own])
        np.minimum.at(found, labels, least[own])
        found = line.combine(found, "least")
        before, labels = labels, found[found]
        if np.array_equal(before, labels):
            return labels
