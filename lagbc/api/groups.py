"""Groups of vertices: their betweenness, closeness, harmonic centrality and degree; and communities, found by edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments, Read
from lagbc.centrality.communities import Communities, divide
from lagbc.centrality.searches import scores_by_distances, scores_by_neighbours, scores_by_paths
from lagbc.options import Options, refuses_places
from lagbc.scores.records import GROUP_BC, GROUP_CLOSENESS, GROUP_DEGREE, GROUP_HARMONIC
from lagbc.types import GraphLike, Vertices


@refuses_places
def group_bc(
    A: GraphLike,
    groups: Iterable[Vertices],
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    rtol: float | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Betweenness centrality of groups of vertices, exact: the share of shortest paths that meet a group.

    With :math:`\sigma_{st}` the number of shortest paths from s to t and :math:`\sigma_{st}(C)` the number of these
    paths with a vertex of C in their interior, the score of a group C is

    .. math:: S(C) = \sum_{s, t \notin C} \sigma_{st}(C) / \sigma_{st}.

    Parameters
    ----------
    A : as for `lagbc.bc`
    groups : sequence of groups
        Each a sequence, of any size, of distinct vertices or their names.
    directed, weighted, strength, rtol : as for `lagbc.bc`
        With ``directed=False`` each unordered pair counts once.
    normalized : bool
        Divide by the number of pairs, (n - c)(n - c - 1) for a group of c vertices; in an undirected graph half of it.
    endpoints : bool
        Pairs joined by a path count, too, if one or both of them are in the group.
    **options
        ``threads``, ``memory``, ``progress`` and ``stop`` as in `lagbc.Options`; with little memory, fewer groups are
        counted together, then by fewer threads. Other options are an error, unless they ask for the only way of the
        run, such as ``device="cpu"``.

    Returns
    -------
    scores : ndarray of float64, shape (number of groups,)

    Raises
    ------
    TypeError, ValueError
        As `lagbc.bc`; the message names a wrong group by its place. Or an option asks for another way of the run:
        groups are counted on the CPU, by one method, in one process, and without a checkpoint.
    MemoryError
        One thread that counts one group needs more than the budget.

    Notes
    -----
    A search from each vertex on the CPU, and a pass over its shortest paths for all groups: O(nnz) a vertex and group.
    As many groups are counted together as 128 MiB a thread hold, at most 256. NetworkX 3.6 departs from its own formula
    for some groups, above all in directed graphs.

    References
    ----------
    M. G. Everett and S. P. Borgatti, The centrality of groups and classes, J. Math. Sociology 23 (1999) 181-201.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> lagbc.group_bc(path, [[2], [1, 3]])
    array([4., 3.])
    """
    arguments = Arguments(groups=groups, rtol=rtol, normalized=normalized, endpoints=endpoints)
    return scores_by_paths(A, GROUP_BC, Read(directed, weighted, strength), options, arguments)


@refuses_places
def group_closeness(
    A: GraphLike,
    groups: Iterable[Vertices],
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    wf_improved: bool = True,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Measure the closeness centrality of groups of vertices, by the distances into each.

    With :math:`R(C)` the vertices outside of a group C, of c vertices, that reach it, and :math:`d(s, C)` the distance
    to the nearest vertex of C,

    .. math:: S(C) = \frac{|R(C)|}{n - c} \frac{|R(C)|}{\sum_{s \in R(C)} d(s, C)},

    and 0 if no vertex reaches C. A group of one scores as by `lagbc.closeness`.

    Parameters
    ----------
    A, groups : as for `lagbc.group_bc`
    directed, weighted, strength : as for `lagbc.bc`
    wf_improved : bool
        False leaves out the first factor.
    **options
        As for `lagbc.group_bc`; and ``device="cuda"``, or the number of a GPU, searches there. A CuPy matrix does, too.

    Returns
    -------
    scores : ndarray of float64, shape (number of groups,)

    Raises
    ------
    The errors of `lagbc.group_bc` and `lagbc.closeness`.

    Notes
    -----
    A search from each group along the reversed edges, 64 at a time; on a GPU 256, of which distances alone take 2 KiB a
    vertex. NetworkX has n - c in the place of both :math:`|R(C)|`: the same where every vertex reaches the group, else
    the higher the fewer reach it.

    References
    ----------
    M. G. Everett and S. P. Borgatti, The centrality of groups and classes, J. Math. Sociology 23 (1999) 181-201.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> lagbc.group_closeness(path, [[2], [1, 3]])
    array([0.66666667, 1.        ])
    """
    arguments = Arguments(groups=groups, wf_improved=wf_improved)
    read = Read(directed, weighted, strength)
    return scores_by_distances(A, GROUP_CLOSENESS, read, options, arguments)


@refuses_places
def group_harmonic(
    A: GraphLike,
    groups: Iterable[Vertices],
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Harmonic centrality of groups of vertices, by the distances into each.

    .. math:: H(C) = \sum_{s \notin C} 1 / d(s, C)

    A vertex that does not reach the group adds 0. A group of one scores as by `lagbc.harmonic`.

    Parameters
    ----------
    A, groups : as for `lagbc.group_bc`
    directed, weighted, strength : as for `lagbc.bc`
    **options
        As for `lagbc.group_closeness`.

    Returns
    -------
    scores : ndarray of float64, shape (number of groups,)

    Raises
    ------
    The errors of `lagbc.group_bc` and `lagbc.harmonic`.

    Notes
    -----
    As for `lagbc.group_closeness`.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> lagbc.group_harmonic(path, [[2], [1, 3]])
    array([3., 3.])
    """
    return scores_by_distances(A, GROUP_HARMONIC, Read(directed, weighted, strength), options, Arguments(groups=groups))


@refuses_places
def group_degree(
    A: GraphLike,
    groups: Iterable[Vertices],
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    normalized: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    """Count the vertices outside of each group that an edge from a vertex of the group leads to.

    ``A.T`` counts the vertices with an edge into the group.

    Parameters
    ----------
    A, groups : as for `lagbc.group_bc`
    directed, weighted, strength : as for `lagbc.bc`
        Lengths change nothing.
    normalized : bool
        Divide by n - c, the number of vertices outside of a group of c, as NetworkX does.
    **options
        As for `lagbc.group_bc`.

    Returns
    -------
    scores : ndarray of float64, shape (number of groups,)

    Raises
    ------
    The errors of `lagbc.group_bc`.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> lagbc.group_degree(path, [[2], [1, 3]])
    array([2., 3.])
    """
    arguments = Arguments(groups=groups, normalized=normalized)
    return scores_by_neighbours(A, GROUP_DEGREE, Read(directed, weighted, strength), options, arguments)


@refuses_places
def girvan_newman(
    A: GraphLike,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    rtol: float | None = None,
    until: int | None = None,
    at_once: float | None = None,
    **options: Unpack[Options],
) -> Communities:
    """Communities by the method of Girvan and Newman: the edge of the highest betweenness is removed, again and again.

    Betweenness is computed by `lagbc.edge_bc` in the remaining graph. Its components are the communities: a removal
    splits one of them in two, or none.

    Parameters
    ----------
    A, directed, weighted, strength, rtol : as for `lagbc.edge_bc`
        Components of a directed graph are weak ones, and each direction of an edge is removed by itself; for an
        undirected matrix pass ``directed=False``.
    until : int, optional
        The number of communities to stop at; by default all edges are removed.
    at_once : float, optional
        Remove this share of the remaining edges, at least one, before betweenness is computed again. This is faster,
        about log(edges) / `at_once` rounds in place of a round for each edge, but finds other communities.
    **options : how the run is carried out, see `lagbc.Options`
        ``progress`` counts removed edges, of all. ``checkpoint``, ``executor``, ``comm``, ``grid`` and ``overlap`` are
        not taken.

    Returns
    -------
    Communities
        Its ``labels(k)`` are the communities where there are k, its ``modularity`` tells how good each level is, and
        `lagbc.plots.plot_communities` draws the dendrogram.

    Raises
    ------
    TypeError, ValueError
        As `lagbc.edge_bc`; or `until` is more than there are vertices, or `at_once` no share.

    Notes
    -----
    Scores that differ by less than 1e-9 of the highest are taken as equal, as rounding may make such a difference. Of
    equal edges the first in the order of the matrix is removed. Other programs break ties by rounding.

    A component is searched again only when it has lost an edge: a removal takes O(n nnz) of the component, as
    `lagbc.edge_bc` of it, and O(nnz) of the graph beside.

    References
    ----------
    M. Girvan and M. E. J. Newman, Community structure in social and biological networks, PNAS 99 (2002) 7821-7826.

    M. E. J. Newman and M. Girvan, Finding and evaluating community structure in networks, Phys. Rev. E 69 (2004)
    026113.

    E. A. Leicht and M. E. J. Newman, Community structure in directed networks, Phys. Rev. Lett. 100 (2008) 118703.

    Examples
    --------
    Two triangles, 0 1 2 and 3 4 5, and an edge between them:

    >>> ends = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]
    >>> found = lagbc.girvan_newman(lagbc.graph_from_edges(*ends, directed=False))
    >>> found.removed[0].tolist(), found.best
    ([2, 3], 2)
    >>> found.labels(2).tolist(), found.labels(3).tolist()
    ([0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 2])
    >>> found.modularity.round(3).tolist()
    [0.0, 0.357, 0.173, 0.092, -0.071, -0.173]
    """
    return divide(A, Read(directed, weighted, strength), options, rtol, until, at_once)
