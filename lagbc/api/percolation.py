"""Percolation centrality of vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute
from lagbc.options import Options, refuses_places
from lagbc.scores.records import PERCOLATION
from lagbc.types import Auto, GraphLike


@refuses_places
def percolation(
    A: GraphLike,
    states: ArrayLike | Mapping[Any, float],
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    rtol: float | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Percolation centrality of every vertex: the share of percolated paths that lead through it, as in NetworkX.

    A path from s counts by the state x of s, such as its degree of infection. With :math:`\delta_s(v)` as in
    `lagbc.bc`,

    .. math:: PC(v) = \frac{1}{n - 2} \sum_{s \ne v} \delta_s(v) \frac{x_s}{\sum_u x_u - x_v}.

    Parameters
    ----------
    A : as for `lagbc.bc`
    states : array of float, shape (n,), or a mapping
        x: finite, >= 0; the degree of percolation of each vertex. It may be a mapping of names of vertices to their
        states; those that it leaves out have 0.
    batch, directed, weighted, strength, rtol : as for `lagbc.bc`
        Pairs are ordered: nothing is halved with ``directed=False``.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        0 where no other vertex is percolated, and if there are fewer than three vertices. A CuPy array if `A` is a CuPy
        matrix.

    Raises
    ------
    ValueError
        The largest state is more than 2**960 (about 1e289) times the smallest above 0: float64 holds neither their
        quotient nor the score of the vertex with the largest state.
    The errors of `lagbc.bc`.

    Notes
    -----
    One sweep from the vertices whose state is not 0; states are the root weights.

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
    arguments = Arguments(states=states, rtol=rtol)
    return compute(A, PERCOLATION, batch, Read(directed, weighted, strength), options, arguments)
