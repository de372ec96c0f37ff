"""Shortest paths that lead through vertices or edges: betweenness, stress and percolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.api import OfPairs, OfSamples
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute
from lagbc.options import Options, refuses_places
from lagbc.scores.records import BC, EDGE_BC, PERCOLATION, STRESS
from lagbc.types import Auto, DemandLike, EdgeScores, GraphLike, One, ScoresAndErrors, Several, Vertices


class OfBetweenness(OfPairs, total=False):
    """Keywords of `bc` but for `standard_error`."""

    cutoff: ArrayLike | None
    decay: ArrayLike | None
    endpoints: bool


class OfEdges(OfPairs, total=False):
    """Keywords of `edge_bc` but for `cutoff` and `decay`."""

    standard_error: Literal[False]


class OfEdgesAndErrors(OfPairs):
    """The same, for scores and their standard errors."""

    standard_error: Literal[True]


@overload
def bc(
    A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[OfBetweenness]
) -> NDArray[np.float64]: ...
@overload
def bc(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[OfBetweenness]) -> ScoresAndErrors: ...
@refuses_places
def bc(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    source_weights: ArrayLike | Mapping[Any, float] | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64] | ScoresAndErrors:
    r"""Betweenness centrality of every vertex, exact or, with `k`, estimated, in the order of the matrix.

    With :math:`\sigma_{st}` the number of shortest paths (fewest edges, or smallest length) from s to t and
    :math:`\sigma_{st}(v)` the number of these paths with v in their interior, the score is

    .. math:: S(v) = \sum_{s \ne v} \delta_s(v), \qquad \delta_s(v) = \sum_{t} \sigma_{st}(v) / \sigma_{st}.

    Parameters
    ----------
    A : SciPy or CuPy sparse matrix or dense 2-D ndarray, shape (n, n); or a graph, as `lagbc.as_graph` lists them
        A stored ``A[i, j]`` is the edge i -> j. Unless `weighted`, only the pattern is read: a stored zero is an edge
        (in the DIA and BSR formats, which pad with zeros, it is not; in a dense array the nonzeros are the edges). Self
        loops are ignored, duplicates are one edge, whose length is their sum. `A` is not changed. Vertices of a
        NetworkX graph are in the order of ``list(A)``. Parallel edges of a graph are one edge, as long as the shortest.
        For several calls, ``lagbc.as_graph(A, directed=..., weighted=...)`` may be given in its place; it keeps
        transposes and orders of the graph.
    batch : int or "auto"
        Roots searched together, rounded to a multiple that the method takes, and at most 1024, on a GPU 4096. More is
        faster and takes more memory. Method "batched" takes 64 on a CPU.
        It never changes a bit of the result of method "batched" on the CPU.
    directed : bool, optional
        False takes every edge in both directions, and halves, so that each unordered pair counts once, as
        ``networkx.betweenness_centrality(G, normalized=False)`` does. Of two lengths the smaller counts. True takes
        edges one way; an undirected graph holds each both ways. The default is the direction of a graph's own edges,
        and True for a matrix.
    weighted : bool or str, optional
        Take the values of `A` as lengths of edges, finite and > 0 (see `strength`), and the length of a path as their
        float64 sum. Integer lengths are exact while paths are shorter than 2**53. Paths of other lengths tie if their
        sums do, and these depend on the order of addition: from the root on with ``reduce="none"``, from the entry of a
        path into a block where the graph is reduced. Give tenths as whole numbers, or pass ``rtol=1e-9``. Of a graph of
        a library, True takes the edge attribute "weight", and a string the attribute of that name; an edge of NetworkX
        without it counts as 1, with a warning. The default is True for a graph made by `lagbc.as_graph` with lengths,
        and False for a matrix or any other graph.
    strength : bool or str
        Take the values as strengths w, finite and > 0, that is, lengths 1 / w; implies `weighted`, and a string is the
        name of an attribute, as there. Duplicates are summed first, and of parallel edges the largest counts.
    sources : array of int, or sequence or set of names, optional
        Sum over these roots s only, nothing else changed: the partial sum of igraph's ``sources=`` and of NetworkX's
        ``betweenness_centrality_subset``. Distinct vertices, or their names if they have some (nodes of NetworkX, the
        attribute "name" of igraph, the ids or names of a file); integers are names where some names are numbers, and
        else numbers of vertices.
    targets : array of int, or sequence or set of names, optional
        Count only paths that end at these vertices t, as NetworkX's ``betweenness_centrality_subset`` does. Distinct
        vertices. Does not go with `endpoints` or `target_weights`.
    source_weights : array of float, shape (n,), or mapping or series of pandas by name, optional
        How often each vertex counts as a root: finite, >= 0; vertices that a mapping leaves out have 0. A vertex of
        weight 0 is not searched from.
    target_weights : array of float, shape (n,), or mapping or series of pandas by name, optional
        The number of targets for which each vertex stands: finite, >= 0, 0 where a mapping leaves it out.
        Demand-weighted betweenness. Neither goes with `normalized`, `endpoints` or `k`.
    demand : matrix, shape (n, n); table; dict of dicts; or pair of names and a matrix; optional
        The number of trips D[s, t] from s to t: finite, >= 0. It is a sparse matrix of SciPy or CuPy or a dense 2-D
        ndarray; a table of pandas, polars or Arrow, whose titles choose columns of vertices, as in `sources`, such as
        "origin" and "destination" or "from" and "to", and one called "trips", "demand", "flow", "flows" or "volume", in
        any order; a data frame of pandas whose index and columns are origins and destinations;
        ``{origin: {destination: trips}}``; or ``(vertices, matrix)``, the trips between some vertices. The score is the
        load of each vertex between its ends, as if each trip took every shortest path with equal share (all-or-nothing
        assignment, ties split evenly),

        .. math:: S(v) = \sum_{s \ne v \ne t} D_{st} \, \sigma_{st}(v) / \sigma_{st}.

        Pairs are ordered: nothing is halved with ``directed=False``, where a trip each way is two entries. Trips
        between vertices without a path, and the diagonal, add nothing; entries at one place are summed. Vertices
        without trips are not searched from. Does not go with `sources`, `targets`, `source_weights`, `target_weights`,
        `k`, `endpoints` or `normalized`, and takes a method that counts targets of single roots: "batched" (with
        lengths on the CPU), "work-efficient" and "dijkstra" on the CPU. Beside the matrix, a worker holds the trips of
        a batch in full: n x batch numbers, a few times. With a `cutoff` only trips within it count, by "work-efficient"
        and "dijkstra" on the CPU.
    cutoff : float or array of float, shape (C,), optional
        Count only pairs at a distance of at most this, in hops or lengths, as igraph's ``cutoff=`` does. Several, each
        another, give a column each, from one search to the largest. The time of a search is in proportion to the edges
        in its reach, by "work-efficient" in hops and "dijkstra" with lengths on the CPU; the other methods take
        none.
    decay : float or array of float, shape (D,), optional
        The pair of s and t counts :math:`e^{-b \, d(s, t)}` for a decay of b per hop or unit of length; with weights of
        vertices that is a gravity model of trips. Several give a column each; columns of the first cutoff come first. A
        pair that counts less than 2**-500 counts nothing. Finite, >= 0; it does not go with `demand`, `normalized` or
        `endpoints`, and is taken by the methods that take `cutoff`.
    rtol : float, optional
        Only with `weighted`: an edge (u, v) lies on shortest paths if ``|dist[u] + w - dist[v]| <= rtol * dist[v]`` and
        ``dist[u] < dist[v]``. 0, the default, compares exactly. Lengths such as 0.1 or 1 / w of strengths are rounded,
        and equal sums such as 1/3 + 1/6 and 1/2 may differ. ``rtol=1e-9`` takes them for equal, at up to four times the
        time, as the graph is not reduced then. A `TieWarning` says so, unless `rtol` is given: always of strengths; of
        lengths if short searches around up to four of the roots, in a graph on the host, come upon such paths.
    k : int, optional
        Estimate the full score from `k` roots drawn without repeats, scaled as NetworkX 3.5 and later does.
    rng : int or numpy.random.Generator, optional
        Seed or generator for `k`.
    normalized : bool
        Divide by the number of pairs: (n - 1)(n - 2), or n (n - 1) with `endpoints`; in an undirected graph half of it.
    endpoints : bool
        Count a path as passing through its two ends, too.
    standard_error : bool
        Only with `k`, at least 2: return a pair, the scores and the standard error of each. Ten more estimates, from
        k / 10 roots each, 2 at least and 64 at most, tell it, in about the time of their roots; it is NaN where fewer
        than three of these are other than 0. `Notes` tell how far to trust it.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs or decays of shape (n, C * D). A CuPy array if `A` is a CuPy matrix. Never NaN or infinite:
        roots whose path counts leave the range of `dtype` are recomputed with an extended exponent.
    errors : ndarray of float64, of the same shape
        Only with `standard_error`, as a pair ``(scores, errors)``: in the unit of the scores, NaN where too few roots
        scored a vertex, and 0 with ``k=n``, an exact run.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong; the message names it and a way out. With `weighted`, also a length so small beside a
        distance that their sum rounds to the distance, where this leaves a vertex without a path.
    OverflowError
        `target_weights` times `source_weights`, or the trips of `demand`, sum to more than float64 holds.
    lagbc.CheckpointError
        The checkpoint is damaged, or belongs to another graph or call, or its path is no file's.
    OSError
        The checkpoint cannot be written.
    MemoryError
        The smallest run does not fit in the memory budget: ``memory=``, the environment variable ``LAGBC_MEMORY`` (such
        as 8GB), or else half of the free memory (on the GPU 80 %).
    KeyboardInterrupt, lagbc.StoppedError
        Ctrl-C, or ``stop=``, stops within one level of one batch and leaves the checkpoint.

    Notes
    -----
    O(nnz) for each root in time; with lengths an edge is relaxed more than once, on the graphs measured about three
    times. `lagbc.plan` bounds the memory. The algorithm is Brandes' (2001) on many roots at once (Buluc and
    Gilbert 2011), with one division a vertex.

    A standard error is the root mean square of the error of estimates from `k` roots. It is no bound, and is known to
    about a quarter where many roots make up a score. Where few do, as in a branch, most samples hold none of them, and
    tell too small an error. On a scale-free graph of 2000 vertices the 20 highest were within two errors of their exact
    scores in 58 of 100 cases for ``k=20``, 87 for 200 and 90 for 640, and all vertices in 32, 39 and 55. `estimate`
    gives intervals that hold.

    References
    ----------
    U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25 (2001) 163-177.

    A. Buluc and J. R. Gilbert, The Combinatorial BLAS, Int. J. High Perform. Comput. Appl. 25 (2011) 496-509.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.bc(path, directed=False)
    array([0., 1., 0.])

    An estimate and its standard errors; no root scores an end of the path, and its error is not known:

    >>> line = sp.diags_array([1.0] * 99, offsets=1, shape=(100, 100))
    >>> scores, errors = lagbc.bc(line, directed=False, k=50, rng=1, standard_error=True)
    >>> print(f"{scores[50]:.0f} +- {errors[50]:.0f}; {scores[0]:.0f} +- {errors[0]:.0f}")
    2451 +- 2; 0 +- nan
    """
    of_pairs = sources, targets, source_weights, target_weights, demand, cutoff, decay, rtol, k, rng
    arguments = Arguments(*of_pairs, normalized, endpoints)
    return compute(A, BC, batch, Read(directed, weighted, strength), options, arguments, standard_error)


@overload
def edge_bc(
    A: GraphLike, *, cutoff: One | None = ..., decay: One | None = ..., **others: Unpack[OfEdges]
) -> EdgeScores: ...
@overload
def edge_bc(
    A: GraphLike, *, cutoff: Several, decay: ArrayLike | None = ..., **others: Unpack[OfEdges]
) -> list[EdgeScores]: ...
@overload
def edge_bc(
    A: GraphLike, *, cutoff: One | None = ..., decay: Several, **others: Unpack[OfEdges]
) -> list[EdgeScores]: ...
@overload
def edge_bc(
    A: GraphLike, *, cutoff: One | None = ..., decay: One | None = ..., **others: Unpack[OfEdgesAndErrors]
) -> tuple[EdgeScores, EdgeScores]: ...
@overload
def edge_bc(
    A: GraphLike, *, cutoff: Several, decay: ArrayLike | None = ..., **others: Unpack[OfEdgesAndErrors]
) -> tuple[list[EdgeScores], list[EdgeScores]]: ...
@overload
def edge_bc(
    A: GraphLike, *, cutoff: One | None = ..., decay: Several, **others: Unpack[OfEdgesAndErrors]
) -> tuple[list[EdgeScores], list[EdgeScores]]: ...
@refuses_places
def edge_bc(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    source_weights: ArrayLike | Mapping[Any, float] | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> Any:
    r"""Betweenness centrality of every edge, exact, as a sparse matrix.

    With :math:`\sigma_{st}` the number of shortest paths from s to t and :math:`\sigma_{st}(v, w)` the number of these
    paths over the edge v -> w, its score is

    .. math:: S(v, w) = \sum_{s \ne t} \sigma_{st}(v, w) / \sigma_{st}.

    Pairs without a path add nothing.

    Parameters
    ----------
    A, batch, directed, weighted, strength, sources, targets, source_weights, target_weights : as for `lagbc.bc`
    demand : as for `lagbc.bc`
        The score is the load of each edge,

        .. math:: S(v, w) = \sum_{s \ne t} D_{st} \, \sigma_{st}(v, w) / \sigma_{st},

        the sum of both directions for an undirected edge; for each direction by itself take a symmetric `A` with
        ``directed=True``.
    cutoff, decay : as for `lagbc.bc`
        Several give a list of matrices.
    rtol : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        The sum over `k` roots is scaled by n / k, as NetworkX 3.5 and later does.
    normalized : bool
        Divide by the number of pairs, n (n - 1); in an undirected graph half of it.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : sparse matrix or array of the format of `A`, shape (n, n), float64
        CSR where `A` is a graph or dense. It has the pattern of `A`, duplicates merged, with 0 for a self loop. With
        ``directed=False`` it has the pattern of A + A.T, and both entries of an edge hold the score of
        ``networkx.edge_betweenness_centrality(G, normalized=False)``. (The DIA and BSR formats, which pad with zeros,
        do not tell an edge of score 0 from none.) With several cutoffs or decays it is a list of such matrices.

    Raises
    ------
    The errors of `lagbc.bc`.

    Notes
    -----
    Where targets are given, NetworkX 3.6 divides the paths to them equally among predecessors; this function follows
    the formula.

    References
    ----------
    U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008) 136-145.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=False)
    >>> lagbc.edge_bc(path).toarray()
    array([[0., 2., 0.],
           [2., 0., 2.],
           [0., 2., 0.]])
    """
    of_pairs = sources, targets, source_weights, target_weights, demand, cutoff, decay, rtol, k, rng
    arguments = Arguments(*of_pairs, normalized)
    return compute(A, EDGE_BC, batch, Read(directed, weighted, strength), options, arguments, standard_error)


class OfStress(OfSamples, total=False):
    """Keywords of `stress` but for `standard_error`."""

    targets: Vertices | None
    cutoff: ArrayLike | None
    rtol: float | None
    log2: bool


@overload
def stress(
    A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[OfStress]
) -> NDArray[np.float64]: ...
@overload
def stress(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[OfStress]) -> ScoresAndErrors: ...
@refuses_places
def stress(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    cutoff: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    log2: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64] | ScoresAndErrors:
    r"""Stress centrality of every vertex: the number of shortest paths with it in their interior.

    .. math:: T(v) = \sum_{s \ne v} \sum_{t \ne v} \sigma_{st}(v)

    Pairs without a path add nothing. With ``directed=False`` each unordered pair counts once.

    Parameters
    ----------
    A, batch, directed, weighted, strength, sources, targets, cutoff, rtol : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        The sum over `k` roots is scaled by (n - 1) / (sampled roots other than v).
    log2 : bool
        Return the base-2 logarithm, -inf where the score is 0. If a score leaves the range of float64, all are computed
        again, a root at a time.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. Exact up to 2**53; paths are counted in float64, whatever the dtype. A CuPy
        array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        A score is more than float64 holds, and `log2` is False.
    The errors of `lagbc.bc`.

    Notes
    -----
    The backward sweep of `lagbc.bc` with counts in place of shares: a vertex scores sigma(v) t(v), with t(v) the sum of
    1 + t(w) over the next vertices w on shortest paths.

    References
    ----------
    A. Shimbel, Structural parameters of communication networks, Bull. Math. Biophysics 15 (1953) 501-507.

    U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008) 136-145.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> lagbc.stress(path)
    array([0., 2., 2., 0.])
    """
    arguments = Arguments(sources=sources, targets=targets, cutoff=cutoff, rtol=rtol, k=k, rng=rng, log2=log2)
    return compute(A, STRESS, batch, Read(directed, weighted, strength), options, arguments, standard_error)


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
        states; vertices that it leaves out have 0.
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
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=False)
    >>> lagbc.percolation(path, [0.5, 0.25, 0.5])
    array([0., 1., 0.])
    """
    arguments = Arguments(states=states, rtol=rtol)
    return compute(A, PERCOLATION, batch, Read(directed, weighted, strength), options, arguments)
