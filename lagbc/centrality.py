"""The public functions: parse, plan, sweep, rescale. Their docstrings are the specification."""

from __future__ import annotations

import operator
import os
import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc import memory
from lagbc.checkpoint import open_checkpoint
from lagbc.errors import MemoryWarning
from lagbc.graph import as_graph, is_cupy
from lagbc.methods import METHODS, Method, choose, device_for
from lagbc.plan import Plan
from lagbc.rescale import require_defined, rescale
from lagbc.sweep import Reporter, sweep


def bc(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool = True,
    weighted: bool = False,
    sources: ArrayLike | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    target_weights: ArrayLike | None = None,
    source_weights: ArrayLike | None = None,
    method: str = "auto",
    device: str = "auto",
    dtype: str = "float64",
    rtol: float = 0.0,
    delta: float | str = "auto",
    progress: bool | Reporter = False,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    r"""Betweenness centrality of every vertex, exact, in the order of the matrix.

    With :math:`\sigma_{st}` the number of shortest paths (fewest edges, or smallest length) from s to t and
    :math:`\sigma_{st}(v)` those of them with v in their interior, the score is

    .. math:: S(v) = \sum_{s \ne v} \delta_s(v), \qquad \delta_s(v) = \sum_{t} \sigma_{st}(v) / \sigma_{st}.

    Parameters
    ----------
    A : SciPy or CuPy sparse matrix, or dense 2-D ndarray; shape (n, n)
        A stored ``A[i, j]`` is the edge i -> j. Unless `weighted`, only the pattern is read: a stored zero is an edge
        (in the DIA and BSR formats, which pad with zeros, it is not; in a dense array the nonzeros are the edges). Self
        loops are ignored, duplicates are one edge, whose length is their sum. `A` is not changed. For several calls,
        ``lagbc.graph.as_graph(A, directed=..., weighted=...)`` may be given in its place; it keeps what was worked out
        of the graph.
    batch : int or "auto"
        Roots that are searched together, rounded to a multiple that the method takes. More is faster and takes more
        memory. It never changes a bit of the result of method "batched" on the CPU.
    directed : bool
        False takes every edge in both directions, and halves, so that each unordered pair counts once, as
        ``networkx.betweenness_centrality(G, normalized=False)`` does. Of two lengths the smaller counts.
    weighted : bool
        Take the values of `A` as lengths of edges, finite and > 0 (for strengths w pass 1 / w), and the length of a
        path as their float64 sum from the root on. Integer lengths are exact while paths are shorter than 2**53;
        others tie where their sums do.
    sources : array of int, optional
        Sum over these roots s only, nothing else changed: the partial sum of igraph's ``sources=`` and of NetworkX's
        ``betweenness_centrality_subset`` with all targets. Distinct vertices.
    k : int, optional
        Estimate the full score from `k` roots drawn without repeats, scaled as NetworkX 3.5 and later does.
    rng : int or numpy.random.Generator, optional
        Seed or generator for `k`.
    normalized : bool
        Divide by (n - 1)(n - 2), the number of ordered pairs; by n (n - 1) with `endpoints`.
    endpoints : bool
        Count a path as passing through its two ends, too.
    target_weights : array of float, shape (n,), optional
        How many targets each vertex stands for: finite, >= 0. Demand-weighted betweenness.
    source_weights : array of float, shape (n,), optional
        How often each vertex counts as a root: finite, >= 0. Neither goes with `normalized`, `endpoints` or `k`.
    method : str
        "auto", or the name of a row of `lagbc.METHODS`: "batched" or "graphblas" on the CPU, "batched" or "spmm" on
        the GPU.
    device : str
        "auto", "cpu" or "cuda". "auto" takes the GPU if CuPy sees one and the graph is large enough to gain.
    dtype : str
        Type of path counts: "float64", or on the GPU "float32", in which scores have a relative error of 1e-6 to 2e-5.
        Scores are always summed in float64. Counts past 2**126 are common on meshes and roads; each such root is
        recomputed on the CPU, so that float32 is no gain there.
    rtol : float
        Only with `weighted`: an edge (u, v) lies on shortest paths if ``|dist[u] + w - dist[v]| <= rtol * dist[v]`` and
        ``dist[u] < dist[v]``. 0 compares exactly.
    delta : float or "auto"
        Only with `weighted`: the width of the buckets of Delta-stepping, as a length. It changes the time, not the
        scores.
    progress : bool or callable
        True draws a bar with the time left; a callable gets a `lagbc.Progress` after every batch.
    checkpoint : path, optional
        A file that is kept up to date every few seconds. The same call after a kill goes on from it, and ends with
        the same bits as an uninterrupted run.
    threads : int, optional
        CPU threads; default all that the process may use. They never change a bit of the result of "batched".

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        A CuPy array if `A` is a CuPy matrix. Never NaN or infinite: roots whose path counts leave the range of `dtype`
        are recomputed with an extended exponent.

    Raises
    ------
    TypeError, ValueError
        Something in the arguments is wrong; the message names it and says what to do. With `weighted`, also a length
        so small beside a distance that their sum rounds to the distance, where this leaves a vertex without a path.
    OverflowError
        `target_weights` times `source_weights` sum to more than float64 holds.
    lagbc.CheckpointError
        The checkpoint belongs to another graph or call.
    MemoryError
        The smallest run does not fit in the memory budget: half of what is free (on the GPU 80 %), unless the
        environment variable ``LAGBC_MEMORY`` (such as 8GB) says otherwise.
    KeyboardInterrupt
        Ctrl-C stops within one level of one batch and leaves the checkpoint.

    Notes
    -----
    O(nnz) for each root in time; with lengths an edge is relaxed more than once, on the graphs measured about three
    times. `lagbc.estimate_memory` bounds the memory. The algorithm is that of Brandes (2001) on many roots at once
    (Buluc and Gilbert 2011), with one division a vertex.

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
    """
    flags = {"directed": directed, "weighted": weighted, "normalized": normalized, "endpoints": endpoints}
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise TypeError(f"{name}={flag!r} is neither True nor False")
    graph = as_graph(A, directed=directed, weighted=weighted)
    roots = _parse_roots(graph.n, sources, k, rng)
    omega = _parse_vertex_weights("target_weights", target_weights, graph.n)
    multiplicity = _parse_vertex_weights("source_weights", source_weights, graph.n)
    if (omega is not None or multiplicity is not None) and (normalized or endpoints or k is not None):
        raise ValueError("target_weights and source_weights do not go with normalized, endpoints or k")
    require_defined(graph.n, k, endpoints=endpoints)
    asked, most = _parse_batch(batch), _parse_threads(threads)
    row = choose(graph, method=method, device=device_for(A, device), roots=len(roots)).method
    needed = memory.fit(graph, row, asked, most, len(roots))
    if needed.is_over and device == "auto" and row.device == "cuda" and not is_cupy(A):
        row = choose(graph, method=method, device="cpu").method
        needed = memory.fit(graph, row, asked, most, len(roots))
    _check_dtype(dtype, row)
    tolerance, width = _parse_tolerance(rtol, row), _parse_width(delta, row)
    memory.require(needed)
    if asked is not None and needed.batch < row.round_batch(min(asked, max(len(roots), 1))):
        warnings.warn(f"batch={asked} is over the memory budget; taking {needed.batch}", MemoryWarning, stacklevel=2)
    plan = Plan(
        batch=needed.batch,
        threads=needed.threads,
        dtype=dtype,
        endpoints=endpoints,
        omega=omega,
        multiplicity=multiplicity,
        rtol=tolerance,
        delta=width,
    )
    resumed = None
    if checkpoint is not None:
        sampled = k is not None
        resumed = open_checkpoint(checkpoint, graph, row, plan, roots, sampled=sampled, redraw=sampled and rng is None)
        roots = resumed.roots
    raw = sweep(graph, row, plan, roots, report=progress, checkpoint=resumed)
    scores = rescale(
        raw,
        directed=directed,
        normalized=normalized,
        endpoints=endpoints,
        sampled=None if k is None else roots,
    )
    if not np.isfinite(scores).all():
        raise OverflowError("target_weights times source_weights sum to more than float64 holds; scale them down")
    return row.arrays.asarray(scores) if is_cupy(A) else scores


def estimate_memory(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool = True,
    weighted: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: str = "float64",
    threads: int | None = None,
) -> memory.MemoryEstimate:
    """Bound the memory that `bc` allocates with the same arguments, before it is called.

    Parameters
    ----------
    A, batch, directed, weighted, method, device, dtype, threads : as for `bc`

    Returns
    -------
    MemoryEstimate
        In bytes: ``.total`` and its parts ``.graph``, ``.workspace``, ``.scores``; with the ``.batch``, ``.threads``
        and ``.method`` of the run. `bc` raises MemoryError if ``.total`` is over the budget.

    Notes
    -----
    O(nnz): the pattern is read as `bc` reads it.
    """
    graph = as_graph(A, directed=directed, weighted=weighted)
    row = choose(graph, method=method, device=device_for(A, device)).method
    _check_dtype(dtype, row)
    return memory.fit(graph, row, _parse_batch(batch), _parse_threads(threads))


def _check_dtype(dtype: str, row: Method) -> None:
    if not isinstance(dtype, str):
        raise TypeError(f"dtype={dtype!r} is not a string; write 'float64' or 'float32'")
    if dtype != "float64" and (dtype != "float32" or row.device == "cpu"):
        raise ValueError(
            f"dtype={dtype!r}: {row.name} on {row.device} counts paths in 'float64'"
            + (" or 'float32'" if row.device == "cuda" else "; device='cuda' takes 'float32', too")
        )


def _parse_tolerance(rtol: Any, row: Method) -> float:
    tolerance = _parse_real("rtol", rtol)
    if not 0 <= tolerance < 1:
        raise ValueError(f"rtol={rtol!r}: it is a relative difference, from 0 to less than 1")
    if tolerance:
        _require_taken("rtol", rtol, row)
    return tolerance


def _parse_width(delta: Any, row: Method) -> float | None:
    """None for "auto"."""
    if isinstance(delta, str) and delta == "auto":
        return None
    width = _parse_real("delta", delta)
    if not 0 < width < np.inf:
        raise ValueError(f"delta={delta!r}: it is a length, finite and > 0, or 'auto'")
    _require_taken("delta", delta, row)
    return width


def _parse_real(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is not a real number")
    return float(value)


def _require_taken(option: str, value: Any, row: Method) -> None:
    if option not in row.takes:
        taking = ", ".join(f"{other.name} on {other.device}" for other in METHODS if option in other.takes)
        raise ValueError(
            f"{option}={value!r} means nothing to {row.name} on {row.device}"
            f"{'' if row.weighted else ' without weights'}; it goes with weighted=True and: {taking}"
        )


def _parse_batch(batch: int | str) -> int | None:
    """None for "auto"."""
    if isinstance(batch, str) and batch != "auto":
        raise TypeError(f"batch={batch!r} is not an integer or 'auto'")
    return None if batch == "auto" else _parse_count("batch", batch)


def _parse_threads(threads: int | None) -> int:
    if threads is not None:
        return _parse_count("threads", threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _parse_count(name: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or count < 1:
        raise ValueError(f"{name}={value!r}: it is a count, 1 or more")
    return count


def _parse_roots(
    n: int, sources: ArrayLike | None, k: int | None, rng: int | np.random.Generator | None
) -> NDArray[np.int64]:
    if k is None:
        if rng is not None:
            raise ValueError("rng goes with k, the number of roots to draw")
        return np.arange(n) if sources is None else _parse_sources(n, sources)
    if sources is not None:
        raise ValueError("sources (a partial sum) and k (an estimate from random roots) exclude each other")
    count = _parse_count("k", k)
    if count > n:
        raise ValueError(f"k={count} roots cannot be drawn from {n} vertices without repeats")
    return np.sort(np.random.default_rng(rng).choice(n, count, replace=False))


def _parse_sources(n: int, sources: ArrayLike) -> NDArray[np.int64]:
    roots = np.asarray(sources)
    if roots.size == 0:
        return np.zeros(0, np.int64)
    if roots.ndim != 1 or roots.dtype.kind not in "iu":
        raise TypeError(
            f"sources has dtype {roots.dtype} and shape {roots.shape}; it is a 1-D array of vertex numbers "
            "(for a mask, pass numpy.flatnonzero(mask))"
        )
    outside = (roots < 0) | (roots >= n)
    if outside.any():
        raise ValueError(f"sources holds {roots[outside][0]}, which is not a vertex: there are 0..{n - 1}")
    distinct, counts = np.unique(roots, return_counts=True)
    if len(distinct) < len(roots):
        raise ValueError(
            f"sources names vertex {distinct[counts > 1][0]} more than once; use source_weights to count a root often"
        )
    return roots.astype(np.int64)


def _parse_vertex_weights(name: str, weights: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    try:
        given = np.asarray(weights)
    except ValueError:
        raise TypeError(f"{name} is ragged; it is one number a vertex, shape ({n},)") from None
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {given.dtype}; it is an array of real numbers, e.g. of float64")
    parsed = given.astype(np.float64)
    if parsed.shape != (n,):
        raise ValueError(f"{name} has shape {parsed.shape}; it is one number a vertex, shape ({n},)")
    invalid = ~(np.isfinite(parsed) & (parsed >= 0))
    if invalid.any():
        first = np.flatnonzero(invalid)[0]
        raise ValueError(
            f"{name} holds {np.count_nonzero(invalid)} values that are not finite and >= 0, "
            f"the first at vertex {first}: {parsed[first]}"
        )
    return parsed
