"""Betweenness of edges."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from lagbc.centrality.compute import compute_one
from lagbc.centrality.keywords import OfEdges
from lagbc.centrality.registry import Arguments
from lagbc.plan.options import Options
from lagbc.types import Auto, DemandLike, GraphLike, One, Several, SparseMatrix


@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: One | None = ...,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfEdges],
) -> SparseMatrix: ...
@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: Several,
    decay: ArrayLike | None = ...,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfEdges],
) -> list[SparseMatrix]: ...
@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: Several,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfEdges],
) -> list[SparseMatrix]: ...
@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: One | None = ...,
    standard_error: Literal[True],
    **others: Unpack[OfEdges],
) -> tuple[SparseMatrix, SparseMatrix]: ...
@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: Several,
    decay: ArrayLike | None = ...,
    standard_error: Literal[True],
    **others: Unpack[OfEdges],
) -> tuple[list[SparseMatrix], list[SparseMatrix]]: ...
@overload
def edge_bc(
    A: GraphLike,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: Several,
    standard_error: Literal[True],
    **others: Unpack[OfEdges],
) -> tuple[list[SparseMatrix], list[SparseMatrix]]: ...
def edge_bc(
    A: GraphLike,
    batch: int | Auto = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    source_weights: ArrayLike | None = None,
    target_weights: ArrayLike | None = None,
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> (
    SparseMatrix
    | list[SparseMatrix]
    | tuple[SparseMatrix, SparseMatrix]
    | tuple[list[SparseMatrix], list[SparseMatrix]]
):
    r"""Betweenness centrality of every edge, exact, as a sparse matrix.

    With :math:`\sigma_{st}` the number of shortest paths from s to t and :math:`\sigma_{st}(v, w)` those of them that
    use the edge v -> w, its score is

    .. math:: S(v, w) = \sum_{s \ne t} \sigma_{st}(v, w) / \sigma_{st}.

    Pairs without a path add nothing.

    Parameters
    ----------
    A, batch, directed, weighted, strength, sources, targets, source_weights, target_weights, rtol : as for `lagbc.bc`
    demand : as for `lagbc.bc`
        The score is the load of each edge,

        .. math:: S(v, w) = \sum_{s \ne t} D_{st} \, \sigma_{st}(v, w) / \sigma_{st},

        and of an undirected edge that of both its directions; for each by itself take a symmetric `A` with
        ``directed=True``.
    cutoff, decay : as for `lagbc.bc`
        Several give a list of matrices.
    k, rng : as for `lagbc.bc`
        The sum over `k` roots is scaled by n / k, as NetworkX 3.5 and later does.
    normalized : bool
        Divide by n (n - 1), the number of ordered pairs.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : sparse matrix or array of the format of `A`, shape (n, n), float64
        CSR where `A` is a graph or dense. The stored entries are those of `A`, duplicates merged; that of a self loop
        is 0. With ``directed=False`` the pattern is that of A + A.T, and both entries of an edge hold the score that
        ``networkx.edge_betweenness_centrality(G, normalized=False)`` gives it. (The DIA and BSR formats, which pad with
        zeros, do not tell an edge of score 0 from none.) With several cutoffs or decays it is a list of such, one each.

    Raises
    ------
    The errors of `lagbc.bc`.

    Notes
    -----
    Where targets are given, NetworkX 3.6 divides the paths that lead on to them equally among predecessors; this
    follows the formula.

    References
    ----------
    U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008) 136-145.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3), format="csr")
    >>> lagbc.edge_bc(path, directed=False).toarray()
    array([[0., 2., 0.],
           [2., 0., 2.],
           [0., 2., 0.]])
    """
    arguments = Arguments(
        sources=sources,
        targets=targets,
        source_weights=source_weights,
        target_weights=target_weights,
        demand=demand,
        cutoff=cutoff,
        decay=decay,
        rtol=rtol,
        k=k,
        rng=rng,
        normalized=normalized,
    )
    return compute_one(  # type: ignore[no-any-return]
        A, "edge_bc", batch, directed, weighted, strength, options, arguments, standard_error
    )
