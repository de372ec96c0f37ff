"""Targets within reach of a vertex: reach, gravity and straightness, measures of street networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute
from lagbc.graph.coordinates import Coordinates, coordinates_of
from lagbc.options import Options, refuses_places
from lagbc.scores.records import GRAVITY, REACH, STRAIGHTNESS
from lagbc.types import Auto, GraphLike, Vertices


@refuses_places
def reach(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    targets: Vertices | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    cutoff: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Count the targets within the cutoff r of every vertex, each by its weight.

    .. math:: R(v) = \sum_{t \ne v :\, d(v, t) \le r} w_t

    Distances lead out of v, to the targets; for distances into v pass ``A.T``.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    targets : array of int, optional
        Count these distinct vertices only. Does not go with `target_weights`.
    target_weights : array of float, shape (n,), or mapping or series of pandas by name, optional
        The number of targets for which each vertex stands, such as jobs or inhabitants: finite, >= 0. One each by
        default.
    cutoff : float or array of float, shape (C,), optional
        In hops or lengths, >= 0; several give a column each, from one search to the largest. Without it all vertices
        that v reaches count.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,), with several cutoffs (n, C)

    Raises
    ------
    OverflowError
        `target_weights` sum to more than float64 holds.
    The errors of `lagbc.bc`.

    Notes
    -----
    The time of a search is in proportion to the edges in its reach; "work-efficient" in hops and "dijkstra" with
    lengths make it, on the CPU alone.

    References
    ----------
    A. Sevtsuk and M. Mekonnen, Urban network analysis: a new toolbox for ArcGIS, Revue internationale de geomatique 22
    (2012) 287-305.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> lagbc.reach(path, cutoff=[1, 2])
    array([[1., 2.],
           [2., 3.],
           [2., 3.],
           [1., 2.]])
    """
    arguments = Arguments(targets=targets, target_weights=target_weights, cutoff=cutoff)
    return compute(A, REACH, batch, Read(directed, weighted, strength), options, arguments)


@refuses_places
def gravity(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    targets: Vertices | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Count the targets of every vertex, each the less the farther it is.

    .. math:: G(v) = \sum_{t \ne v :\, d(v, t) \le r} w_t \, e^{-b \, d(v, t)}

    Parameters
    ----------
    A, batch, directed, weighted, strength, targets, target_weights, cutoff : as for `lagbc.reach`
    decay : float or array of float, shape (D,)
        b, per hop or unit of length, finite and >= 0; it has to be given. Several give a column each; columns of the
        first cutoff come first. A target with exp(-b d) below 2**-500 counts nothing.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,), with several cutoffs or decays (n, C * D)

    Raises
    ------
    The errors of `lagbc.reach`.

    Notes
    -----
    As for `lagbc.reach`; a search ends where no target counts any more.

    References
    ----------
    W. G. Hansen, How accessibility shapes land use, J. American Institute of Planners 25 (1959) 73-76.

    Examples
    --------
    >>> import numpy as np
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=False)
    >>> lagbc.gravity(path, decay=np.log(2))
    array([0.75, 1.  , 0.75])
    """
    arguments = Arguments(targets=targets, target_weights=target_weights, cutoff=cutoff, decay=decay)
    return compute(A, GRAVITY, batch, Read(directed, weighted, strength), options, arguments)


@refuses_places
def straightness(
    A: GraphLike,
    coordinates: ArrayLike | Mapping[Any, Any] | Coordinates | None = None,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    targets: Vertices | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    cutoff: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Measure how straight the ways of every vertex are: the mean of straight line over distance to its targets.

    With the targets :math:`T(v)` other than v within the cutoff r, and the straight line :math:`|v t|`,

    .. math:: S(v) = \sum_{t \in T(v)} w_t \frac{|v t|}{d(v, t)} \Big/ \sum_{t \in T(v)} w_t,

    and 0 if there is no target. It is 1 where all ways are straight lines. Distances lead out of v; for
    distances into v pass ``A.T``.

    Parameters
    ----------
    A : as for `lagbc.bc`
    coordinates : array, shape (n, 2), or a mapping or data frame by vertex, optional
        x and y of every vertex, in the unit of the lengths; by default attributes x and y of a graph of NetworkX, such
        as one of osmnx that is projected, or of igraph, or ``.coordinates`` of a file from `lagbc.read_graph`. A data
        frame has columns x and y, and the vertices as its index.
    batch, directed, weighted, strength : as for `lagbc.bc`
        In hops each edge has the length 1.
    targets, target_weights, cutoff : as for `lagbc.reach`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,), with several cutoffs (n, C)

    Warns
    -----
    UserWarning
        No edge has at least half its length between its ends: the units may differ.

    Raises
    ------
    ValueError
        There are no coordinates, or they are longitudes and latitudes, or not finite; or an edge is shorter than the
        straight line between its ends, by more than the 1 % of a projection.
    The errors of `lagbc.reach`.

    Notes
    -----
    As for `lagbc.reach`. It is straightness_centrality of momepy, by default and with ``normalized=True``, whose radius
    of a distance is a cutoff.

    References
    ----------
    P. Crucitti, V. Latora and S. Porta, Centrality measures in spatial networks of urban streets, Phys. Rev. E 73
    (2006) 036125.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], [3, 4], directed=False)
    >>> lagbc.straightness(path, [(0, 0), (3, 0), (3, 4)])
    array([0.85714286, 1.        , 0.85714286])
    """
    where = coordinates_of(A) if coordinates is None else coordinates
    arguments = Arguments(targets=targets, target_weights=target_weights, cutoff=cutoff, coordinates=where)
    return compute(A, STRAIGHTNESS, batch, Read(directed, weighted, strength), options, arguments)
