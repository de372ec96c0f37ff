"""Distances: closeness, harmonic centrality, eccentricity, numbers of the whole graph, and the distances themselves."""

from __future__ import annotations

from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.api import OfSamples
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute, on_device_of
from lagbc.errors import OutOfRangeError
from lagbc.graph.names import in_words, numbers_of
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.options import Options, refuses_places
from lagbc.request import parse_vertices, require_flags
from lagbc.scores.finish import Distances, Highest
from lagbc.scores.records import CLOSENESS, DISTANCES, ECCENTRICITY, ECCENTRICITY_CENTRALITY, HARMONIC
from lagbc.types import Auto, GraphLike, ScoresAndErrors, Vertices


class OfHarmonic(OfSamples, total=False):
    """Keywords of `harmonic` but for `standard_error`."""

    cutoff: ArrayLike | None


class OfCloseness(OfHarmonic, total=False):
    """Keywords of `closeness` but for `standard_error`."""

    wf_improved: bool


@overload
def closeness(
    A: GraphLike,
    *,
    u: None = ...,
    top: None = ...,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfCloseness],
) -> NDArray[np.float64]: ...
@overload
def closeness(
    A: GraphLike, *, u: None = ..., top: None = ..., standard_error: Literal[True], **others: Unpack[OfCloseness]
) -> ScoresAndErrors: ...
@overload
def closeness(
    A: GraphLike, *, u: None = ..., top: int, standard_error: Literal[False] = ..., **others: Unpack[OfCloseness]
) -> Highest: ...
@overload
def closeness(
    A: GraphLike, *, u: Any, top: None = ..., standard_error: Literal[False] = ..., **others: Unpack[OfCloseness]
) -> Any: ...
@refuses_places
def closeness(
    A: GraphLike,
    *,
    u: Any = None,
    top: int | None = None,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    cutoff: ArrayLike | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    wf_improved: bool = True,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64] | ScoresAndErrors | Highest | float:
    r"""Measure the closeness centrality of every vertex, by the distances into it, as NetworkX does.

    With :math:`R(v)` the vertices s other than v that reach v,

    .. math:: C(v) = \frac{|R(v)|}{n - 1} \frac{|R(v)|}{\sum_{s \in R(v)} d(s, v)},

    and 0 if no vertex reaches v. Pairs without a path only lower the first factor. For distances out of each vertex
    pass ``A.T``.

    Parameters
    ----------
    A : as for `lagbc.bc`
    u : a vertex or an array of distinct vertices, optional
        Return the closeness of these alone, by a search from each along the reversed edges, on the CPU: in hops the
        same bits. A search takes longer than its part in a sweep of all vertices: where `u` are a sixth of them or
        more, that is faster. Does not go with `k`, `standard_error` and options that ask for another way of the run.
    top : int, optional
        Return the highest scores alone. In hops and on the CPU most searches into vertices end early, or are not begun:
        on large networks a tenth to a hundredth of the time, or less. All else is computed in full, and sorted; so is a
        directed graph of high diameter.
        Does not go with `u`, `standard_error` and several cutoffs.
    batch, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, optional
        Take the distances from these s only. Distinct vertices.
    cutoff : as for `lagbc.bc`
        Vertices farther away do not count as reaching v.
    k, rng : as for `lagbc.bc`
        Sums over `k` roots are scaled by (n - 1) / (sampled roots other than v).
    wf_improved : bool
        False leaves out the first factor, which lowers the score if few vertices reach v (Wasserman and Faust).
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. With `u` a number for each of these in their order; of one vertex a number.
        A CuPy array if `A` is a CuPy matrix. With `top` a `Highest`: the vertices, their names and scores.

    Raises
    ------
    OverflowError
        Lengths sum to more than float64 holds.
    ValueError
        A length is so small that a score is more than float64 holds.
    The errors of `lagbc.bc`.

    References
    ----------
    L. C. Freeman, Centrality in social networks: conceptual clarification, Social Networks 1 (1978) 215-239.

    S. Wasserman and K. Faust, Social Network Analysis, Cambridge University Press (1994), p. 201.

    E. Bergamini, M. Borassi, P. Crescenzi, A. Marino and H. Meyerhenke, Computing top-k closeness centrality faster in
    unweighted graphs, ACM Transactions on Knowledge Discovery from Data 13 (2019) 53.

    Examples
    --------
    >>> star = lagbc.graph_from_edges([0, 0, 0], [1, 2, 3], directed=False)
    >>> lagbc.closeness(star)
    array([1. , 0.6, 0.6, 0.6])
    >>> highest = lagbc.closeness(star, top=2)
    >>> highest.vertices, highest.scores
    (array([0, 1]), array([1. , 0.6]))
    """
    arguments = Arguments(sources=sources, cutoff=cutoff, k=k, rng=rng, wf_improved=wf_improved, u=u, top=top)
    return compute(A, CLOSENESS, batch, Read(directed, weighted, strength), options, arguments, standard_error)


@overload
def harmonic(
    A: GraphLike, *, top: None = ..., standard_error: Literal[False] = ..., **others: Unpack[OfHarmonic]
) -> NDArray[np.float64]: ...
@overload
def harmonic(
    A: GraphLike, *, top: None = ..., standard_error: Literal[True], **others: Unpack[OfHarmonic]
) -> ScoresAndErrors: ...
@overload
def harmonic(
    A: GraphLike, *, top: int, standard_error: Literal[False] = ..., **others: Unpack[OfHarmonic]
) -> Highest: ...
@refuses_places
def harmonic(
    A: GraphLike,
    *,
    top: int | None = None,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    cutoff: ArrayLike | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64] | ScoresAndErrors | Highest:
    r"""Harmonic centrality of every vertex, by the distances into it, as in NetworkX.

    .. math:: H(v) = \sum_{s \ne v} 1 / d(s, v)

    A pair without a path adds 0, as if its distance were infinite. For distances out of each vertex pass ``A.T``.

    Parameters
    ----------
    A : as for `lagbc.bc`
    top : int, optional
        Return the highest scores alone, as `lagbc.closeness` does; where the diameter is high, in .5 to 1.3
        of the time of all.
    batch, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, optional
        Take the distances from these s only. Distinct vertices.
    cutoff : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        Sums over `k` roots are scaled by (n - 1) / (sampled roots other than v).
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix. With `top` a `Highest`.

    Raises
    ------
    OverflowError
        Inverse lengths sum to more than float64 holds.
    ValueError
        A length is so small that float64 does not hold its inverse.
    The errors of `lagbc.bc`.

    References
    ----------
    P. Boldi and S. Vigna, Axioms for centrality, Internet Mathematics 10 (2014) 222-262.

    Examples
    --------
    >>> star = lagbc.graph_from_edges([0, 0, 0], [1, 2, 3], directed=False)
    >>> lagbc.harmonic(star)
    array([3., 2., 2., 2.])
    """
    arguments = Arguments(sources=sources, cutoff=cutoff, k=k, rng=rng, top=top)
    return compute(A, HARMONIC, batch, Read(directed, weighted, strength), options, arguments, standard_error)


@refuses_places
def eccentricity(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    cutoff: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Eccentricity of every vertex, its largest distance to a vertex that it reaches.

    .. math:: E(v) = \max_{t :\, d(v, t) < \infty} d(v, t)

    Vertices that v does not reach are left out (NetworkX raises an error); a vertex that reaches none has 0.

    Parameters
    ----------
    A, batch, directed, weighted, strength, cutoff : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    eccentricities : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    P. Hage and F. Harary, Eccentricity and centrality in networks, Social Networks 17 (1995) 57-63.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=True)
    >>> lagbc.eccentricity(path)
    array([2., 1., 0.])
    """
    arguments = Arguments(cutoff=cutoff)
    return compute(A, ECCENTRICITY, batch, Read(directed, weighted, strength), options, arguments)


@refuses_places
def eccentricity_centrality(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    cutoff: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Eccentricity centrality of every vertex, as in gpu-fan: (n - 1) / `lagbc.eccentricity`.

    Vertices that v does not reach are left out; a vertex that reaches none scores 0.

    Parameters
    ----------
    A, batch, directed, weighted, strength, cutoff : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    Z. Shi and B. Zhang, Fast network centrality analysis using GPUs, BMC Bioinformatics 12 (2011) 149.

    Examples
    --------
    >>> path = lagbc.graph_from_edges([0, 1], [1, 2], directed=True)
    >>> lagbc.eccentricity_centrality(path)
    array([1., 2., 0.])
    """
    arguments = Arguments(cutoff=cutoff)
    return compute(A, ECCENTRICITY_CENTRALITY, batch, Read(directed, weighted, strength), options, arguments)


@overload
def distances(A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[OfHarmonic]) -> Distances: ...
@overload
def distances(
    A: GraphLike, *, standard_error: Literal[True], **others: Unpack[OfHarmonic]
) -> tuple[Distances, Distances]: ...
@refuses_places
def distances(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    cutoff: ArrayLike | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> Distances | tuple[Distances, Distances]:
    r"""Average shortest-path length, Wiener index, global efficiency, diameter and radius, from one sweep.

    Over all roots R, and the P pairs of a root s and a vertex t that it reaches, s other than t,

    .. math::

        \text{average} = \frac{1}{P} \sum d(s, t), \qquad
        \text{efficiency} = \frac{1}{|R| (n - 1)} \sum \frac{1}{d(s, t)},

    and the diameter is the largest :math:`\max_t d(s, t)` of a root, the radius the least of a root that reaches all
    vertices, and inf if none does.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, optional
        Take the distances from these roots only. Distinct vertices. Undirected, a pair counts half for each of its ends
        that is a root, so that pairs and Wiener indices of parts of the vertices add up to those of all.
    cutoff : as for `lagbc.bc`
        Pairs farther apart are no pairs; several count pairs by their distances, as below.
    k, rng : as for `lagbc.bc`
        Pairs and the Wiener index are scaled by n / k; means are taken over the drawn roots. Diameter and radius are
        bounds: the diameter is at least, the radius at most, what is found.
    standard_error : bool
        With `k`, return the standard errors, too, as for `lagbc.bc`: NaN for diameter and radius, which are no means.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    found : Distances
        A record of numbers; with several cutoffs of arrays, shape (C,). With `standard_error` a pair, the second one of
        errors.

    Raises
    ------
    OverflowError
        Lengths, or their inverses, sum to more than float64 holds.
    ValueError
        A length is so small that float64 does not hold its inverse.
    The errors of `lagbc.bc`.

    Notes
    -----
    Time and memory are those of `lagbc.closeness`. With cutoffs each root is searched by itself, on the CPU alone: one
    search makes the numbers of all cutoffs, and takes several times as long as a sweep does where it ends late.

    References
    ----------
    V. Latora and M. Marchiori, Efficient behavior of small-world networks, Phys. Rev. Lett. 87 (2001) 198701.

    Examples
    --------
    >>> import numpy as np
    >>> path = lagbc.graph_from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> found = lagbc.distances(path)
    >>> found.wiener, found.diameter, found.radius
    (10.0, 3.0, 2.0)

    Pairs by hops:

    >>> np.diff(lagbc.distances(path, cutoff=[1, 2, 3]).pairs, prepend=0)
    array([3., 2., 1.])
    """
    arguments = Arguments(sources=sources, cutoff=cutoff, k=k, rng=rng)
    read = Read(directed, weighted, strength)
    numbers = compute(A, DISTANCES, batch, read, options, arguments, standard_error)
    if not standard_error:
        return _as_record(numbers)
    found, errors = map(_as_record, numbers)
    errors = errors._replace(n=found.n, roots=found.roots)
    if found.exact:
        return found, errors
    unknown = errors.diameter * np.nan
    return found, errors._replace(diameter=unknown, radius=unknown)


def _as_record(numbers: NDArray[np.float64]) -> Distances:
    """Make the record of its numbers, with a column for each cutoff if there are several."""
    n, roots, *others = numbers if numbers.ndim > 1 else numbers.tolist()
    n, roots = (np.ravel(one)[0] for one in (n, roots))
    of_pairs: list[Any] = others
    return Distances(int(n), int(roots), *of_pairs)


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
    >>> square = lagbc.graph_from_edges([0, 0, 1, 2], [1, 2, 3, 3], directed=True)
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
