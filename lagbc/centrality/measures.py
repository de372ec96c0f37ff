"""The public functions beside `bc`: each asks a sweep for the sums that it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lagbc.centrality.rescale import require_defined, rescale, rescale_edges
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph, is_cupy, stored_loops
from lagbc.methods.contract import SweepPlan
from lagbc.methods.table import device_for
from lagbc.run.arguments import parse_roots, parse_targets, parse_vertices, require_flags
from lagbc.run.run import Options, Run, on_device_of, run

# The sums that each centrality is made of.
_SUMS = {
    "bc": {"dependency"},
    "edge_bc": {"edges"},
    "closeness": {"reached", "distance"},
    "harmonic": {"inverse"},
    "eccentricity": {"depth"},
    "eccentricity_centrality": {"depth"},
    "stress": {"stress"},
}
FIVE = ("bc", "closeness", "harmonic", "eccentricity", "stress")


def edge_bc(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    **options: Unpack[Options],
) -> Any:
    r"""Betweenness centrality of every edge, exact, as a sparse matrix.

    With :math:`\sigma_{st}` the number of shortest paths from s to t and :math:`\sigma_{st}(v, w)` those of them that
    use the edge v -> w, its score is

    .. math:: S(v, w) = \sum_{s \ne t} \sigma_{st}(v, w) / \sigma_{st}.

    Pairs without a path add nothing.

    Parameters
    ----------
    A, batch, directed, weighted, sources, targets : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        The sum over `k` roots is scaled by n / k, as NetworkX 3.5 and later does.
    normalized : bool
        Divide by n (n - 1), the number of ordered pairs.
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : sparse matrix or array of the format of `A`, shape (n, n), float64
        CSR where `A` is a graph or dense. The stored entries are those of `A`, duplicates merged; that of a self loop
        is 0. With ``directed=False`` the pattern is that of A + A.T, and both entries of an edge hold the score that
        ``networkx.edge_betweenness_centrality(G, normalized=False)`` gives it. (The DIA and BSR formats, which pad with
        zeros, do not tell an edge of score 0 from none.)

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
    graph = _read(A, directed, weighted, options)
    require_flags(normalized=normalized)
    roots, omega = parse_roots(graph.n, sources, k, rng), parse_targets(graph.n, targets)
    drawn = k is not None
    done = run(
        graph,
        sums_of("edge_bc"),
        roots,
        batch=batch,
        sampled=drawn,
        redraw=drawn and rng is None,
        omega=omega,
        **options,
    )
    return _edge_matrix(A, graph, _edge_scores(done, graph, normalized=normalized, sampled=k))


def closeness(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    wf_improved: bool = True,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Measure the closeness centrality of every vertex, by the distances into it, as NetworkX does.

    With :math:`R(v)` the vertices s other than v that reach v,

    .. math:: C(v) = \frac{|R(v)|}{n - 1} \frac{|R(v)|}{\sum_{s \in R(v)} d(s, v)},

    and 0 where nothing reaches v. Pairs without a path add nothing, but for the first factor. For distances out of
    each vertex pass ``A.T``.

    Parameters
    ----------
    A, batch, directed, weighted : as for `lagbc.bc`
    wf_improved : bool
        False leaves out the first factor, which scales the score down where v is reached by few (Wasserman and Faust).
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        Lengths sum to more than float64 holds.
    The errors of `lagbc.bc`.

    References
    ----------
    L. C. Freeman, Centrality in social networks: conceptual clarification, Social Networks 1 (1978) 215-239.

    S. Wasserman and K. Faust, Social Network Analysis, Cambridge University Press (1994), p. 201.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.closeness(star, directed=False)
    array([1. , 0.6, 0.6, 0.6])
    """
    graph = _read(A, directed, weighted, options)
    require_flags(wf_improved=wf_improved)
    done = run(graph, sums_of("closeness"), np.arange(graph.n), batch=batch, **options)
    return _like(A, _closeness(done, wf_improved))


def harmonic(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    sources: ArrayLike | None = None,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Harmonic centrality of every vertex, from the distances into it, as NetworkX has it.

    .. math:: H(v) = \sum_{s \ne v} 1 / d(s, v)

    A pair without a path adds 0, as if its distance were infinite. For distances out of each vertex pass ``A.T``.

    Parameters
    ----------
    A, batch, directed, weighted : as for `lagbc.bc`
    sources : array of int, optional
        Sum over these s only. Distinct vertices.
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        Inverse lengths sum to more than float64 holds.
    The errors of `lagbc.bc`.

    References
    ----------
    P. Boldi and S. Vigna, Axioms for centrality, Internet Mathematics 10 (2014) 222-262.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.harmonic(star, directed=False)
    array([3., 2., 2., 2.])
    """
    graph = _read(A, directed, weighted, options)
    done = run(graph, sums_of("harmonic"), parse_roots(graph.n, sources, None, None), batch=batch, **options)
    return _like(A, _harmonic(done))


def eccentricity(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Eccentricity of every vertex, its largest distance to a vertex that it reaches.

    .. math:: E(v) = \max_{t :\, d(v, t) < \infty} d(v, t)

    Vertices that v does not reach are left out, where NetworkX raises an error; a vertex that reaches none has 0.

    Parameters
    ----------
    A, batch, directed, weighted : as for `lagbc.bc`
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    eccentricities : ndarray of float64, shape (n,)
        A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    P. Hage and F. Harary, Eccentricity and centrality in networks, Social Networks 17 (1995) 57-63.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.eccentricity(path)
    array([2., 1., 0.])
    """
    graph = _read(A, directed, weighted, options)
    done = run(graph, sums_of("eccentricity"), np.arange(graph.n), batch=batch, **options)
    return _like(A, done.sums.depth)


def eccentricity_centrality(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Eccentricity centrality of every vertex, as gpu-fan has it: (n - 1) / `lagbc.eccentricity`.

    Vertices that v does not reach are left out; a vertex that reaches none scores 0.

    Parameters
    ----------
    A, batch, directed, weighted : as for `lagbc.bc`
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    Z. Shi and B. Zhang, Fast network centrality analysis using GPUs, BMC Bioinformatics 12 (2011) 149.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.eccentricity_centrality(path)
    array([1., 2., 0.])
    """
    graph = _read(A, directed, weighted, options)
    done = run(graph, sums_of("eccentricity_centrality"), np.arange(graph.n), batch=batch, **options)
    return _like(A, _eccentricity_centrality(done))


def stress(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    log2: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Stress centrality of every vertex: how many shortest paths have it in their interior.

    .. math:: T(v) = \sum_{s \ne v} \sum_{t \ne v} \sigma_{st}(v)

    Pairs without a path add nothing. With ``directed=False`` each unordered pair counts once.

    Parameters
    ----------
    A, batch, directed, weighted, sources, targets : as for `lagbc.bc`
    log2 : bool
        Return the base-2 logarithm, -inf where the score is 0. Where a score leaves the range of float64, all are then
        computed again, a root at a time.
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        Exact up to 2**53; paths are counted in float64, whatever the dtype. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        A score is more than float64 holds, and `log2` is False.
    The errors of `lagbc.bc`.

    Notes
    -----
    The backward sweep of `lagbc.bc` with counts in place of shares: a vertex has t(v), the sum of 1 + t(w) over the
    vertices w that follow it on shortest paths, and scores sigma(v) t(v).

    References
    ----------
    A. Shimbel, Structural parameters of communication networks, Bull. Math. Biophysics 15 (1953) 501-507.

    U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008) 136-145.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0, 1.0], offsets=1, shape=(4, 4))
    >>> lagbc.stress(path, directed=False)
    array([0., 2., 2., 0.])
    """
    graph = _read(A, directed, weighted, options)
    require_flags(log2=log2)
    roots, omega = parse_roots(graph.n, sources, None, None), parse_targets(graph.n, targets)
    done = run(graph, sums_of("stress"), roots, batch=batch, omega=omega, **options)
    return _like(A, _stress(done, graph, log2))


def centralities(
    A: Any,
    which: str | Iterable[str] = FIVE,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    normalized: bool = False,
    endpoints: bool = False,
    wf_improved: bool = True,
    log2: bool = False,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Compute several centralities from one sweep.

    Parameters
    ----------
    A, batch, directed, weighted : as for `lagbc.bc`
    which : several of "bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress"
        The functions of these names say what they are.
    normalized : bool
        Of "bc" and "edge_bc".
    endpoints : bool
        Of "bc".
    wf_improved : bool
        Of "closeness".
    log2 : bool
        Of "stress".
    **options : method, device, dtype, rtol, bucket_width, progress, checkpoint and threads, as for `lagbc.bc`

    Returns
    -------
    scores : dict
        What the function of each name returns, in the order of `which`. The same bits as from it on the CPU by
        "batched".

    Raises
    ------
    The errors of the functions. ValueError, if there is no centrality of a name.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.centralities(star, ("bc", "eccentricity"), directed=False)
    {'bc': array([3., 0., 0., 0.]), 'eccentricity': array([1., 2., 2., 2.])}
    """
    names = [which] if isinstance(which, str) else list(which)
    outputs = sums_of(names)
    graph = _read(A, directed, weighted, options)
    require_flags(normalized=normalized, endpoints=endpoints, wf_improved=wf_improved, log2=log2)
    require_defined(graph.n, None, endpoints=endpoints)
    done = run(graph, outputs, np.arange(graph.n), batch=batch, endpoints=endpoints, **options)

    def scores(name: str) -> Any:
        if name == "bc":
            raw = done.sums.dependency
            return _like(A, rescale(raw, directed=graph.directed, normalized=normalized, endpoints=endpoints))
        if name == "edge_bc":
            return _edge_matrix(A, graph, _edge_scores(done, graph, normalized=normalized))
        if name == "closeness":
            return _like(A, _closeness(done, wf_improved))
        if name == "harmonic":
            return _like(A, _harmonic(done))
        if name == "eccentricity":
            return _like(A, done.sums.depth.copy())
        if name == "eccentricity_centrality":
            return _like(A, _eccentricity_centrality(done))
        return _like(A, _stress(done, graph, log2))

    return {name: scores(name) for name in names}


def shortest_path_counts(
    A: Any, sources: ArrayLike, *, directed: bool | None = None, weighted: bool | str = False, log2: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from some vertices to all, and the numbers of shortest paths.

    Parameters
    ----------
    A, directed, weighted : as for `lagbc.bc`
    sources : array of int, shape (k,)
        Distinct vertices.
    log2 : bool
        Return the base-2 logarithms of the numbers, -inf where there is no path.

    Returns
    -------
    dist : ndarray of float64, shape (k, n)
        In row i the distances from ``sources[i]``; inf to vertices that it does not reach, 0 to itself.
    sigma : ndarray of float64, shape (k, n)
        Numbers of shortest paths, exact up to 2**53; 0 to vertices that it does not reach, 1 to itself. CuPy arrays if
        `A` is a CuPy matrix.

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
    graph = as_graph(A, directed=directed, weighted=weighted).on_host
    roots = parse_vertices("sources", graph.n, sources)
    from lagbc.methods.cpu import extended

    plan = SweepPlan(batch=1)
    dist, sigma = np.empty((2, len(roots), graph.n))
    for i, root in enumerate(roots.tolist()):
        dist[i], sigma[i] = extended.count_paths(graph, plan, root, log2=log2)
        if not log2 and not np.isfinite(sigma[i]).all():
            v = int(np.argmin(np.isfinite(sigma[i])))
            raise OverflowError(
                f"the number of shortest paths from vertex {root} to vertex {v} is more than float64 holds; "
                "log2=True returns its logarithm"
            )
    return _like(A, dist), _like(A, sigma)


def sums_of(which: str | Iterable[str]) -> frozenset[str]:
    """Return the sums that some centralities are made of; ValueError if there is none of a name."""
    names = [which] if isinstance(which, str) else list(which)
    for name in names:
        if name not in _SUMS:
            raise ValueError(f"there is no centrality {name!r}; there are: {', '.join(_SUMS)}")
    if not names:
        raise ValueError(f"which is empty; there are: {', '.join(_SUMS)}")
    return frozenset[str]().union(*(_SUMS[name] for name in names))


def _read(A: Any, directed: bool | None, weighted: bool | str, options: Options) -> Graph:
    """Read the graph; a matrix on the GPU is computed there."""
    if unknown := options.keys() - Options.__annotations__.keys():
        raise TypeError(
            f"there is no argument {sorted(unknown)[0]!r}; those of a run are {', '.join(Options.__annotations__)}"
        )
    options["device"] = device_for(A, options.get("device", "auto"))
    return as_graph(A, directed=directed, weighted=weighted)


def _like(A: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    on_device: NDArray[np.float64] = on_device_of(A, scores)
    return on_device


def _closeness(done: Run, wf_improved: bool) -> NDArray[np.float64]:
    reached, distance = done.sums.reached, _finite("distances", done.sums.distance)
    scores: NDArray[np.float64] = np.divide(reached, distance, out=np.zeros(len(reached)), where=distance > 0)
    return scores * (reached / max(len(reached) - 1, 1)) if wf_improved else scores


def _harmonic(done: Run) -> NDArray[np.float64]:
    return _finite("inverse distances", done.sums.inverse)


def _eccentricity_centrality(done: Run) -> NDArray[np.float64]:
    depth = done.sums.depth
    with np.errstate(over="ignore"):
        scores: NDArray[np.float64] = np.divide(len(depth) - 1, depth, out=np.zeros(len(depth)), where=depth > 0)
    return _finite("inverse distances", scores)


def _finite(what: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(scores).all():
        raise OverflowError(f"{what} sum to more than float64 holds; take another unit of length")
    return scores


def _stress(done: Run, graph: Graph, log2: bool) -> NDArray[np.float64]:
    raw = done.sums.stress
    pairs = 1 if graph.directed else 2
    if np.isfinite(raw).all():
        if not log2:
            return raw / pairs  # type: ignore[no-any-return]
        with np.errstate(divide="ignore"):
            return np.log2(raw / pairs)  # type: ignore[no-any-return]
    if not log2:
        vertices = np.flatnonzero(~np.isfinite(raw))
        raise OverflowError(
            f"the stress of {len(vertices)} vertices is more than float64 holds, the first is {vertices[0]}; "
            "log2=True returns its logarithm"
        )
    from lagbc.methods.cpu import extended

    logarithms: NDArray[np.float64] = extended.log2_stress(graph.on_host, done.plan, done.roots) - np.log2(pairs)
    return logarithms


def _edge_scores(done: Run, graph: Graph, *, normalized: bool, sampled: int | None = None) -> NDArray[np.float64]:
    """Scores in the order of the graph's edges."""
    raw, host = done.sums.edges, graph.on_host
    if not graph.directed:
        back = sparse.csr_array((raw, host.pattern.indices, host.pattern.indptr), shape=(graph.n, graph.n)).T.tocsr()
        back.sort_indices()
        raw = raw + back.data
    return rescale_edges(raw, graph.n, directed=graph.directed, normalized=normalized, sampled=sampled)


def _edge_matrix(A: Any, graph: Graph, scores: NDArray[np.float64]) -> Any:
    """Lay out scores in the pattern of A (of A + A.T), with a zero for each self loop, in the format of A."""
    loops, host = as_numpy(stored_loops(A)), graph.on_host
    rows, columns = np.concatenate([host.rows, loops]), np.concatenate([host.indices, loops])
    values = np.concatenate([scores, np.zeros(len(loops))])
    matrix = sparse.coo_array((values, (rows, columns)), shape=(graph.n, graph.n)).tocsr()
    if is_cupy(A):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(matrix).asformat(A.format)
    if not sparse.issparse(A):
        return matrix
    return (sparse.csr_matrix(matrix) if isinstance(A, sparse.spmatrix) else matrix).asformat(A.format)
