"""Communities by betweenness of edges."""

from __future__ import annotations

from typing import Unpack

from lagbc.arguments import Read
from lagbc.centrality.communities import Communities, divide
from lagbc.options import Options, refuses_places
from lagbc.types import GraphLike


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

    Betweenness is that of `lagbc.edge_bc` in the graph that is left. Components of what is left are the communities:
    each removal leaves them, or splits one in two.

    Parameters
    ----------
    A, directed, weighted, strength, rtol : as for `lagbc.edge_bc`
        Components of a directed graph are weak ones, and each direction of an edge is removed by itself; for an
        undirected matrix pass ``directed=False``.
    until : int, optional
        Stop at so many communities; by default when no edge is left.
    at_once : float, optional
        Remove this share of the edges that are left, at least one, before betweenness is computed again. This is
        another method, with other communities, and faster: about log(edges) / `at_once` rounds in place of a round for
        each edge.
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
    Scores that differ by less than 1e-9 of the highest are equal, as rounding tells nothing of them; of equal ones the
    first edge in the order of the matrix is removed. Other programs break ties by their rounding.

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
