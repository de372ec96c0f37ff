"""Numbers of the whole graph, of the distances between all pairs of vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.scores.finish import require_finite, require_inverses

if TYPE_CHECKING:
    from lagbc.arguments import Arguments
    from lagbc.run.run import Result


class Distances(NamedTuple):
    """The distances of a graph in numbers: from `lagbc.distances`.

    Pairs are those of a root and another vertex; undirected, each pair counts once. With several cutoffs each number
    but the first two is an array, an entry a cutoff.

    Attributes
    ----------
    n : int
        Vertices.
    roots : int
        Vertices that were searched from: all, unless `sources` or `k` was given.
    pairs : float
        Pairs that a path joins.
    average : float
        The mean distance of these, the average shortest-path length; 0 where there are none.
    wiener : float
        The sum of their distances, the Wiener index where every vertex reaches every other one.
    efficiency : float
        The mean of 1 / distance over all pairs, 0 for those without a path: global efficiency.
    diameter : float
        The largest distance from a root to a vertex that it reaches: the diameter if all vertices are roots, at most
        the diameter if some are. 0 without pairs.
    radius : float
        The least eccentricity of a root, over the vertices that it reaches: the radius if all vertices are roots, at
        least the radius if some are. 0 if a root reaches none.
    """

    n: int
    roots: int
    pairs: Any
    average: Any
    wiener: Any
    efficiency: Any
    diameter: Any
    radius: Any

    @property
    def exact(self) -> bool:
        """Whether all vertices were roots."""
        return self.roots == self.n


def distances(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Return the numbers of `Distances`, in their order; those of a sample are scaled to all roots."""
    sums, n, roots = result.sums, result.graph.n, len(result.roots)
    with np.errstate(over="ignore"):
        reached, distance, inverse = (float(one.sum()) for one in (sums.reached, sums.distance, sums.inverse))
        require_finite("distances", np.array(distance))
        require_inverses(np.array(inverse), result.graph)
    depth = sums.depth[result.roots]
    scale = (n / roots if result.request.is_sample else 1.0) / (1 if result.graph.directed else 2)
    return np.array(
        [
            n,
            roots,
            reached * scale,
            distance / max(reached, 1.0),
            require_finite("distances", np.array(distance * scale)),
            inverse / max(roots * (n - 1), 1),
            depth.max(initial=0),
            depth.min() if roots else 0,
        ]
    )
