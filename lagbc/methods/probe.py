"""What the roots of a run share, told by searches from some of them: what a choice of a method is made by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning

# Roots that are searched from at once, a bit each.
COLUMNS = 64


@dataclass(frozen=True)
class Probe:
    """How breadth-first searches, each from some roots at once, in hops, went through the rows of a graph.

    Attributes
    ----------
    lined_up, roots, searches : int
        How many roots the run has, and how many of them were searched from, in how many searches.
    visits : int
        Rows that were live, summed over the levels: a vertex counts at each level at which a root finds it.
    edges : int
        Edges of these rows.
    pairs, pair_edges : int
        The same, summed over the columns, too: a vertex, and its edges, count once for each root that finds it.
    levels : int
        Until there were no live rows, or more edges than a search may look at, summed over the searches.
    """

    lined_up: int
    roots: int
    searches: int
    visits: int
    edges: int
    pairs: int
    pair_edges: int
    levels: int


def most_edges(graph: Graph, lined_up: int) -> int:
    """Tell after how many edges a probe ends: a small part of those of the run."""
    return int(tuning.PROBE_SHARE * graph.nnz * lined_up)


def probe(graph: Graph, ordered: NDArray[np.int64]) -> Probe:
    """Search from `COLUMNS` neighbouring roots of a run, which are in one batch of it, in one place or several.

    That is the middle of the run, or of each of as many stretches. The first and the last roots are not taken: where
    roots are grouped they are often those that reach little.

    Parameters
    ----------
    graph : Graph
        On the host or on a device; the counts are the same.
    ordered : ndarray of int64
        All roots, in the order of the run. A search ends after the level at which it has looked at `most_edges`.

    Notes
    -----
    At most `COLUMNS` * nnz steps a search, on bits; on a device one launch.
    """
    if graph.is_on_device:
        from lagbc.methods.gpu.probe import count
    else:
        from lagbc.methods.cpu.probe import count
    searches = min(max(1, len(ordered) // tuning.PROBE_ROOTS), tuning.PROBE_SEARCHES)
    middles = (2 * np.arange(searches) + 1) * len(ordered) // (2 * searches) // COLUMNS * COLUMNS
    groups = [graph.position[ordered[first : first + COLUMNS]] for first in middles.tolist()]
    most = most_edges(graph, len(ordered))
    counts = [count(graph.reordered, roots, most) for roots in groups]
    return Probe(len(ordered), sum(map(len, groups)), searches, *(int(sum(of)) for of in zip(*counts, strict=True)))
