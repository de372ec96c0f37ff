"""Distances and numbers of shortest paths from some vertices, by a search for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.centrality.compute import on_device_of
from lagbc.errors import OutOfRangeError
from lagbc.graph.names import in_words, numbers_of
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.request import parse_vertices, require_flags
from lagbc.types import GraphLike


def shortest_path_counts(
    A: GraphLike,
    sources: ArrayLike,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    log2: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from some vertices to all, and the numbers of shortest paths.

    Parameters
    ----------
    A, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, shape (k,)
        Distinct vertices.
    log2 : bool
        Return the base-2 logarithms of the numbers, -inf where there is no path.

    Returns
    -------
    dist : ndarray of float64, shape (k, n)
        In row i the distances from ``sources[i]``; inf to unreached vertices, 0 to itself.
    sigma : ndarray of float64, shape (k, n)
        Numbers of shortest paths, exact up to 2**53; 0 to unreached vertices, 1 to itself. CuPy arrays if `A` is a CuPy
        matrix.

    Raises
    ------
    OverflowError
        A number is more than float64 holds, and `log2` is False; the message names the source.
    TypeError, ValueError
        As `lagbc.bc`.

    Notes
    -----
    A search for each source, one after the other, on the CPU.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> square = sp.coo_array(([1, 1, 1, 1], ([0, 0, 1, 2], [1, 2, 3, 3])), shape=(4, 4))
    >>> dist, sigma = lagbc.shortest_path_counts(square, [0])
    >>> sigma
    array([[1., 1., 1., 2.]])
    """
    require_flags(log2=log2)
    graph = as_graph(A, directed=directed, weighted=weighted, strength=strength)
    roots = parse_vertices("sources", graph.n, numbers_of("sources", graph.names, sources), graph.names)
    from lagbc.methods.cpu import extended

    plan = SweepPlan(batch=1)
    dist, sigma = np.empty((2, len(roots), graph.n))
    for i, root in enumerate(roots.tolist()):
        dist[i], sigma[i] = extended.count_paths(graph.on_host, plan, root, log2=log2)
        if not log2 and not np.isfinite(sigma[i]).all():
            ends = (in_words(graph.names, v) for v in (root, int(np.argmin(np.isfinite(sigma[i])))))
            raise OutOfRangeError(
                f"the number of shortest paths from {' to '.join(ends)} is more than float64 holds; "
                "log2=True returns its logarithm"
            )
    return on_device_of(A, dist), on_device_of(A, sigma)
