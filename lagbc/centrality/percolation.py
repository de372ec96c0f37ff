"""Percolation centrality of vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.centrality.betweenness import bc
from lagbc.centrality.compute import where_it_is
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, in_words
from lagbc.graph.validate import as_graph
from lagbc.plan.options import Options, require_known
from lagbc.plan.request import parse_vertex_weights, warn_of_ties
from lagbc.types import Auto, GraphLike


def percolation(
    A: GraphLike,
    states: ArrayLike | Mapping[Any, float],
    batch: int | Auto = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    rtol: float | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Percolation centrality of every vertex: the share of percolated paths that lead through it, as in NetworkX.

    A path from s counts by the state x of s, such as how far it is infected. With :math:`\delta_s(v)` as in `lagbc.bc`,

    .. math:: PC(v) = \frac{1}{n - 2} \sum_{s \ne v} \delta_s(v) \frac{x_s}{\sum_u x_u - x_v}.

    Parameters
    ----------
    A, batch, directed, weighted, strength, rtol : as for `lagbc.bc`
        Pairs are ordered: nothing is halved with ``directed=False``.
    states : array of float, shape (n,), or a mapping
        x: finite, >= 0; how far each vertex is percolated. Of a graph whose vertices have names, it may be a mapping of
        all of these to their states.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        0 where no other vertex is percolated, and if there are fewer than three vertices. A CuPy array if `A` is a CuPy
        matrix.

    Raises
    ------
    ValueError
        The largest state is more than 2**960 (about 1e289) times the smallest above 0: float64 does not hold their
        quotient, nor the score of the vertex whose state is the largest.
    The errors of `lagbc.bc`.

    Notes
    -----
    One sweep from the vertices whose state is not 0, which are the weights of the roots.

    References
    ----------
    M. Piraveenan, M. Prokopenko and L. Hossain, Percolation centrality, PLoS ONE 8 (2013) e53095.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.percolation(path, [0.5, 0.25, 0.5], directed=False)
    array([0., 1., 0.])
    """
    require_known(options)
    graph = as_graph(A, directed=directed, weighted=weighted, strength=strength, copy=False)
    warn_of_ties(graph, strength, rtol)
    x = parse_vertex_weights("states", _in_order(states, graph), graph.n, graph.names)
    if x is None:
        raise InvalidTypeError(f"states is None; it is one number a vertex, shape ({graph.n},)")
    _require_near(x, graph.names)
    # In units of the largest, which cancels: no sum leaves float64.
    x = x / max(x.max(initial=0), np.finfo(np.float64).tiny)
    raw = as_numpy(bc(graph, batch, rtol=rtol, source_weights=x, **options))
    # The sum over the others, without a difference that cancels.
    others = np.append(0, np.cumsum(x)[:-1]) + np.append(np.cumsum(x[::-1])[::-1][1:], 0)
    share = np.divide(1 if graph.directed else 2, others, out=np.zeros(graph.n), where=others > 0)
    scores: NDArray[np.float64] = where_it_is(A, raw * share / max(graph.n - 2, 1))
    return scores


def _require_near(x: NDArray[np.float64], names: Names | None) -> None:
    """Raise ValueError if the quotient of two states, and sums of them, are nothing to float64."""
    some = np.flatnonzero(x)
    if not len(some):
        return
    least, most = int(some[x[some].argmin()]), int(some[x[some].argmax()])
    if np.ldexp(x[most], -960) > x[least]:
        raise InvalidValueError(
            f"states lie too far apart for float64, that of {in_words(names, least)} is {x[least]:.3g}, that of "
            f"{in_words(names, most)} {x[most]:.3g}; pass 0 for those that are nothing beside the others"
        )


def _in_order(states: ArrayLike | Mapping[Any, float], graph: Graph) -> ArrayLike:
    """Return the states in the order of the vertices."""
    if not isinstance(states, Mapping):
        return states
    names = range(graph.n) if graph.names is None else list(graph.names)
    missing = next((name for name in names if name not in states), None)
    if missing is not None or len(states) > len(names):
        what = f"not that of {missing!r}" if missing is not None else "others, too"
        raise InvalidValueError(
            f"states has {len(states)} states, {what}; it holds one for each of the {graph.n} vertices"
        )
    return [states[name] for name in names]
