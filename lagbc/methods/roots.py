"""The roots of a run: their order and chunks, which fix the order of all additions, and a probe of their work."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.graph.csr import as_numpy, module_of, ops_of
from lagbc.graph.graph import Graph
from lagbc.graph.host import length_order
from lagbc.methods.contract import Batching
from lagbc.methods.table import Method
from lagbc.native import core, csr, share, until_stopped


def chunk_length(method: Method, batching: Batching) -> int:
    """Return the roots of a chunk: `tuning.CHUNK_ROOTS`, or the next multiple of the method's block."""
    return -(-tuning.CHUNK_ROOTS[method.device] // batching.block) * batching.block


@in_phase("order")
def order_roots(graph: Graph, method: Method, roots: NDArray[np.int64], least: int | None = None) -> NDArray[np.int64]:
    """Put roots, each given once, into the order of their batches: near ones, of many equal levels, lie together.

    On graphs of high diameter it is the sweep order, where neighbours lie together. On others with at least `least`
    roots it is by distances to the hubs (on a GPU in hops, even where edges have lengths). A
    root without out-edges adds nothing and is left out.
    """
    least = tuning.GROUPED_ROOTS if least is None else least
    rank = core.line_up(graph.out_degrees, graph.position, roots)
    if len(rank) >= least and not graph.has_high_diameter:
        rank = _group(graph.reordered, method, rank)
    return graph.order[rank]


def _group(graph: Graph, method: Method, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group vertices of a graph in sweep order by their distances to its hubs."""
    if method.device == "cpu" and graph.weighted:
        grouped = length_order(graph.csr, graph.transpose.csr, vertices)
    elif method.device == "cuda":
        distances = graph.on_device.hub_distances
        grouped = ops_of(distances).hub_order(distances, method.arrays.asarray(vertices))
    else:
        distances = graph.hub_distances
        grouped = ops_of(distances).hub_order(distances, module_of(graph.indptr).asarray(vertices))
    in_order: NDArray[np.int64] = as_numpy(grouped)
    return in_order


# ---- A probe: common work of roots, for the choice of a method

# Roots that are searched from at once, a bit each.
COLUMNS = 64


class Probe(NamedTuple):
    """Counts of breadth-first searches, each from some roots at once, in hops, over the rows of a graph."""

    lined_up: int  # lined_up, roots, searches: roots of the run, roots that were searched from, and searches
    roots: int
    searches: int
    visits: int  # live rows, summed over the levels: a vertex counts at each level at which a root finds it
    edges: int  # edges of these rows
    # pairs, pair_edges: the same, summed over the columns, too: a vertex, and its edges, count once for each root that
    # finds it
    pairs: int
    pair_edges: int
    levels: int  # levels until no row was live, or a search had looked at its most edges, summed over the searches
    is_cut: bool = False  # whether searches ended early: after their most edges, or as the time was over


def most_edges(graph: Graph, lined_up: int) -> int:
    """Return the edges after which a probe ends: a small part of the run's."""
    return int(tuning.PROBE_SHARE * graph.nnz * lined_up)


def probe(graph: Graph, ordered: NDArray[np.int64], seconds: float = inf, at_once: int = 1) -> Probe:
    """Search from `COLUMNS` neighbouring roots of a run, which share a batch in it, at one place or several.

    These are the middle of the run, or of each of several equal stretches. The first and the last roots are not taken:
    in grouped roots, `ordered`, these often reach little. A search ends after the level at which it has looked at
    `most_edges`: at most `COLUMNS` * nnz steps, on bits; on a device one launch, with the same counts. On the host
    `at_once` searches are made at a time, each with 40 bytes a vertex, and all end after so many seconds.
    """
    searches = min(max(1, len(ordered) // tuning.PROBE_ROOTS), tuning.PROBE_SEARCHES)
    middles = (2 * np.arange(searches) + 1) * len(ordered) // (2 * searches) // COLUMNS * COLUMNS
    groups = [graph.position[ordered[first : first + COLUMNS]] for first in middles.tolist()]
    most, end = most_edges(graph, len(ordered)), monotonic() + seconds
    counts = _count_searches(graph.reordered, groups, most, seconds, at_once)
    visits, edges, pairs, pair_edges, levels = (int(sum(of)) for of in zip(*counts, strict=True))
    is_cut = monotonic() > end or edges > searches * most
    return Probe(len(ordered), sum(map(len, groups)), searches, visits, edges, pairs, pair_edges, levels, is_cut)


def count_search(graph: Graph, roots: NDArray[np.int64], most: int) -> Any:
    """Return visits, edges, pairs, pair_edges and levels of one search, from at most `COLUMNS` vertices."""
    return _count_searches(graph, [roots], most, inf, 1)[0]


def _count_searches(
    graph: Graph, groups: list[NDArray[np.int64]], most: int, seconds: float, at_once: int
) -> list[Any]:
    if graph.is_on_device:
        from lagbc.methods.gpu.probe import count

        return [count(graph, roots, most) for roots in groups]
    rows = csr(graph.indptr, graph.indices)
    searches = [(roots,) for roots in groups]

    def search(flag: NDArray[np.uint8]) -> list[Any]:
        return share(core.probe_hops, searches, (rows,), (most, flag), threads=at_once)

    return until_stopped(search, graph.n + graph.nnz, seconds)
