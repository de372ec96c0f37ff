"""The public functions: parse, plan, sweep, rescale. Their docstrings are the specification."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.centrality.measures import sums_of
from lagbc.centrality.rescale import require_defined, rescale
from lagbc.graph.validate import as_graph
from lagbc.methods.table import choose, device_for
from lagbc.run import memory
from lagbc.run.arguments import (
    check_dtype,
    parse_batch,
    parse_roots,
    parse_targets,
    parse_threads,
    parse_vertex_weights,
    require_flags,
)
from lagbc.run.run import on_device_of, run
from lagbc.run.sweep import Reporter


def bc(
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
    endpoints: bool = False,
    target_weights: ArrayLike | None = None,
    source_weights: ArrayLike | None = None,
    method: str = "auto",
    device: str = "auto",
    dtype: str = "float64",
    rtol: float = 0.0,
    bucket_width: float | str = "auto",
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
    A : SciPy or CuPy sparse matrix, dense 2-D ndarray, networkx.Graph, igraph.Graph or graphblas.Matrix; shape (n, n)
        A stored ``A[i, j]`` is the edge i -> j. Unless `weighted`, only the pattern is read: a stored zero is an edge
        (in the DIA and BSR formats, which pad with zeros, it is not; in a dense array the nonzeros are the edges). Self
        loops are ignored, duplicates are one edge, whose length is their sum. `A` is not changed. Vertices of a
        NetworkX graph are in the order of ``list(A)``. Parallel edges of a graph are one edge, whose length is that of
        the shortest. For several calls, ``lagbc.as_graph(A, directed=..., weighted=...)`` may be given in its place; it
        keeps what was worked out of the graph.
    batch : int or "auto"
        Roots that are searched together, rounded to a multiple that the method takes. More is faster and takes more
        memory. It never changes a bit of the result of method "batched" on the CPU.
    directed : bool, optional
        False takes every edge in both directions, and halves, so that each unordered pair counts once, as
        ``networkx.betweenness_centrality(G, normalized=False)`` does. Of two lengths the smaller counts. True takes
        edges one way; an undirected graph holds each both ways. The default is what a graph says of itself, and True
        for a matrix.
    weighted : bool or str
        Take the values of `A` as lengths of edges, finite and > 0 (for strengths w pass 1 / w), and the length of a
        path as their float64 sum from the root on. Integer lengths are exact while paths are shorter than 2**53;
        others tie where their sums do. Of a NetworkX or igraph graph, True takes the edge attribute "weight", and a
        string the attribute of that name; an edge of NetworkX without it counts as 1, with a warning.
    sources : array of int, optional
        Sum over these roots s only, nothing else changed: the partial sum of igraph's ``sources=`` and of NetworkX's
        ``betweenness_centrality_subset``. Distinct vertices.
    targets : array of int, optional
        Count only paths that end at these vertices t, as NetworkX's ``betweenness_centrality_subset`` does. Distinct
        vertices. Does not go with `endpoints` or `target_weights`.
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
        the GPU, or there for comparison the traversals "work-efficient", "active-edge", "warp-centric",
        "edge-parallel", "node-parallel" and "hybrid". "auto" takes "batched", on a GPU "delta-stepping" with lengths,
        and "work-efficient" where it is faster from few roots; `lagbc.select_method` says which, and why. Only
        "batched" and "delta-stepping" promise the same bits for every run.
    device : str
        "auto", "cpu" or "cuda". "auto" takes the GPU if CuPy sees one and the graph is large enough to gain.
    dtype : str
        Type of path counts: "float64", or on the GPU "float32", in which scores have a relative error of 1e-6 to 2e-5.
        Scores are always summed in float64. Counts past 2**126 are common on meshes and roads; each such root is
        recomputed in float64, so that float32 is no gain there. With `target_weights` float64 is taken.
    rtol : float
        Only with `weighted`: an edge (u, v) lies on shortest paths if ``|dist[u] + w - dist[v]| <= rtol * dist[v]`` and
        ``dist[u] < dist[v]``. 0 compares exactly.
    bucket_width : float or "auto"
        Only with `weighted`: the width of the buckets of Delta-stepping, as a length. It changes the time, not the
        scores.
    progress : bool or callable
        True draws a bar with the time left; a callable gets a `lagbc.Progress` after every batch.
    checkpoint : path, optional
        A file that is kept up to date every few seconds. The same call after a kill goes on from it, and ends with
        the scores of an uninterrupted run, by "batched" with the same bits.
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
    require_flags(normalized=normalized, endpoints=endpoints)
    device = device_for(A, device)
    graph = as_graph(A, directed=directed, weighted=weighted)
    roots = parse_roots(graph.n, sources, k, rng)
    omega = parse_vertex_weights("target_weights", target_weights, graph.n)
    multiplicity = parse_vertex_weights("source_weights", source_weights, graph.n)
    if (omega is not None or multiplicity is not None) and (normalized or endpoints or k is not None):
        raise ValueError("target_weights and source_weights do not go with normalized, endpoints or k")
    if targets is not None and (omega is not None or endpoints):
        raise ValueError("targets does not go with target_weights or endpoints")
    require_defined(graph.n, k, endpoints=endpoints)
    done = run(
        graph,
        frozenset({"dependency"}),
        roots,
        batch=batch,
        sampled=k is not None,
        redraw=k is not None and rng is None,
        endpoints=endpoints,
        omega=omega if targets is None else parse_targets(graph.n, targets),
        multiplicity=multiplicity,
        method=method,
        device=device,
        dtype=dtype,
        rtol=rtol,
        bucket_width=bucket_width,
        progress=progress,
        checkpoint=checkpoint,
        threads=threads,
    )
    scores = rescale(
        done.sums.dependency,
        directed=graph.directed,
        normalized=normalized,
        endpoints=endpoints,
        sampled=None if k is None else done.roots,
    )
    if not np.isfinite(scores).all():
        raise OverflowError("target_weights times source_weights sum to more than float64 holds; scale them down")
    on_device: NDArray[np.float64] = on_device_of(A, scores)
    return on_device


def estimate_memory(
    A: Any,
    batch: int | str = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str = False,
    method: str = "auto",
    device: str = "auto",
    dtype: str = "float64",
    threads: int | None = None,
    which: str | Iterable[str] = "bc",
) -> memory.MemoryEstimate:
    """Bound the memory that `bc`, or `centralities`, allocates with the same arguments from all roots, beforehand.

    Parameters
    ----------
    A, batch, directed, weighted, method, device, dtype, threads : as for `bc`
    which : str or several
        Names of centralities, as for `centralities`.

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
    outputs = sums_of(which)
    row = choose(graph, method=method, device=device_for(A, device), outputs=outputs).method
    check_dtype(dtype, row)
    return memory.fit(graph, row, parse_batch(batch), parse_threads(threads), outputs=outputs)
