"""Sums within bounds: kept for the vertices that are touched, as lagbc/native/kernels/traversal/near.h adds to them.

Sums lie in rows, one for each vertex (or edge) that a block of roots has touched, in the order in which it was: roots
of a block are neighbours, and so are the rows that they add to. Roots that are summed together
(`lagbc.methods.cpu.within`) add to the same rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import SparseSums
from lagbc.methods.targets import shifts_of_rows
from lagbc.methods.within import EDGES, ROOTS, VERTICES, as_sums, lay_out
from lagbc.native import core

Near = core.Near32 | core.Near64


def room(graph: Graph, plan: SweepPlan, roots: int, tight: int) -> Near:
    """Allocate it for blocks of so many roots, each with at most so many tight edges."""
    bounds, n = plan.bounds, graph.n
    assert bounds is not None
    nnz, tight = (graph.nnz, tight) if "edges" in plan.sums else (0, 0)
    cutoffs, decays = len(bounds.cutoffs), len(bounds.decays)
    columns, widths = lay_out(plan)
    index = graph.indices.dtype
    of_index = core.Near32 if index == np.int32 else core.Near64
    return of_index(
        bounds=np.stack([bounds.radii, np.tile(bounds.decays, cutoffs), np.tile(bounds.cutoffs, decays)]),
        cutoffs=cutoffs,
        weights=np.empty(n),
        **_trips(graph, plan),
        row_of_vertex=np.full(n, np.iinfo(index).max, index),
        vertex_of_row=np.empty(n, index),
        vertex_rows=np.empty(n, index),
        row_of_edge=np.full(nnz, np.iinfo(np.int64).max),
        edge_of_row=np.empty(nnz, np.int64),
        edge_rows=np.empty(tight, np.int64),
        columns=core.Columns(**columns._asdict()),
        by_vertex=np.zeros((n, widths[VERTICES])),
        by_edge=np.zeros((nnz, widths[EDGES])),
        by_root=np.zeros((roots, widths[ROOTS])),
    )


def _trips(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """Return the fields that lay out the trips of a root; of the demand only indices of another type are copied."""
    demand = plan.demand
    if demand is None:
        return {}
    return {
        "trips": demand.data,
        "trip_ends": demand.indices.astype(graph.indices.dtype, copy=False),
        "first_trip": demand.indptr.astype(np.int64),
        "order": graph.order,
        "position": graph.position,
        "shifts": shifts_of_rows(demand.indptr, demand.data)[0],
        "targets": np.zeros(graph.n),
    }


def _trips_bytes(graph: Graph, plan: SweepPlan) -> int:
    demand = plan.demand
    if demand is None:
        return 0
    ends = graph.indices.dtype.itemsize * demand.nnz * (demand.indices.dtype != graph.indices.dtype)
    return 3 * 8 * graph.n + 8 + int(ends)


def room_bytes(graph: Graph, plan: SweepPlan, tight: int) -> int:
    """Bound the bytes of it, and of what `take` takes."""
    n, (vertex, edge) = graph.n, (array.dtype.itemsize for array in (graph.indices, graph.indptr))
    rows = n * (8 + 3 * vertex) + _trips_bytes(graph, plan) + (2 * graph.nnz + tight) * edge * ("edges" in plan.sums)
    sums = sum(plan.columns(name) * (graph.nnz if name == "edges" else n) for name in plan.sums)
    return rows + 2 * 8 * sums


def take(near: Near, graph: Graph, plan: SweepPlan, roots: NDArray[np.int64]) -> SparseSums:
    """Take what a block of roots has summed to, but those that are absent, and leave the room empty."""
    here = np.flatnonzero(roots >= 0)
    vertices = _emptied(near.row_of_vertex, near.vertex_of_row[: near.vertices])
    edges = _emptied(near.row_of_edge, near.edge_of_row[: near.edges])
    near.vertices = near.edges = 0
    taken = {
        VERTICES: _taken(near.by_vertex, np.arange(len(vertices))),
        EDGES: _taken(near.by_edge, np.arange(len(edges))),
        ROOTS: _taken(near.by_root, here),
    }
    return SparseSums(
        vertices=graph.order[vertices],
        edges=graph.edge_order[edges] if len(edges) else edges,
        roots=roots[here],
        sums=as_sums(plan, lay_out(plan)[0], taken),
    )


def _taken(array: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    taken: NDArray[np.float64] = array[rows]
    array[rows] = 0
    return taken


def _emptied(row_of: NDArray[Any], named: NDArray[Any]) -> NDArray[Any]:
    """Take the rows from what they are named after, of which a copy is returned."""
    row_of[named] = np.iinfo(row_of.dtype).max
    return named.copy()
