"""Sums within bounds: kept for the touched vertices, as lagbc/native/kernels/traversal/near.h adds to them.

Sums lie in rows, one for each vertex (or edge) that a block of roots has touched, in the order of the first touch:
roots of a block are neighbours, and so are the rows that they add to. Roots that are summed together
(`lagbc.methods.cpu.within`) add to the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import FLOAT, INTEGER, Array, Counted
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import OF_EDGES, OF_ROOTS, SparseSums, Sums
from lagbc.native import core, record

Near = core.Near32 | core.Near64
# Arrays of sums by vertex, edge and root.
VERTICES, EDGES, ROOTS = "by_vertex", "by_edge", "by_root"
_SUMS = "dependency", "stress", "reached", "distance", "inverse", "edges", "depth", "targets", "gravity"


def array_of(name: str) -> str:
    """Return the array of a sum."""
    return EDGES if name in OF_EDGES else ROOTS if name in OF_ROOTS else VERTICES


def lay_out(plan: SweepPlan) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first column of each sum in its array, -1 where it is not asked for, and the width of each array."""
    first, widths = dict.fromkeys(_SUMS, -1), dict.fromkeys((VERTICES, EDGES, ROOTS), 0)
    for name in sorted(plan.sums):
        first[name] = widths[array_of(name)]
        widths[array_of(name)] += plan.columns(name)
    return first, widths


def as_sums(plan: SweepPlan, arrays: Mapping[str, NDArray[np.float64]]) -> Sums:
    """Take the sums out of the arrays, as views."""
    first, _ = lay_out(plan)
    columns = {name: slice(first[name], first[name] + plan.columns(name)) for name in plan.sums}
    return Sums(**{name: arrays[array_of(name)][:, of_sum] for name, of_sum in columns.items()})


def arrays(graph: Graph, plan: SweepPlan, roots: int, tight: int) -> dict[str, Any]:
    """State the room for blocks of `roots` roots, each with at most `tight` tight edges, and the sums of one block."""
    n, index = graph.n, graph.indices.dtype
    nnz, tight = (graph.nnz, tight) if "edges" in plan.sums else (0, 0)
    _, widths = lay_out(plan)
    sums = {
        VERTICES: Array((n, widths[VERTICES]), FLOAT, 0),
        EDGES: Array((nnz, widths[EDGES]), FLOAT, 0),
        ROOTS: Array((roots, widths[ROOTS]), FLOAT, 0),
    }
    return {
        "near": {
            "weights": Array((n,), FLOAT),
            "row_of_vertex": Array((n,), index, np.iinfo(index).max),
            "vertex_of_row": Array((n,), index),
            "vertex_rows": Array((n,), index),
            "row_of_edge": Array((nnz,), INTEGER, np.iinfo(INTEGER).max),
            "edge_of_row": Array((nnz,), INTEGER),
            "edge_rows": Array((tight,), INTEGER),
            **sums,
        },
        "taken": Counted(sums),
    }


def new_near(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> Near:
    """Make the room of its arrays."""
    bounds = plan.bounds
    assert bounds is not None
    cutoffs, decays = len(bounds.cutoffs), len(bounds.decays)
    columns, _ = lay_out(plan)
    near: Near = record(
        "Near",
        graph.indices.dtype,
        **arrays["near"],
        bounds=np.stack([bounds.radii, np.tile(bounds.decays, cutoffs), np.tile(bounds.cutoffs, decays)]),
        cutoffs=cutoffs,
        columns=core.Columns(**columns),
    )
    return near


def take(near: Near, graph: Graph, plan: SweepPlan, roots: NDArray[np.int64]) -> SparseSums:
    """Take the sums of a block's roots, without absent ones, and leave the room empty."""
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
        sums=as_sums(plan, taken),
    )


def _taken(array: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    taken: NDArray[np.float64] = array[rows]
    array[rows] = 0
    return taken


def _emptied(row_of: NDArray[Any], named: NDArray[Any]) -> NDArray[Any]:
    """Clear the rows of the named vertices or edges; return a copy of their names."""
    row_of[named] = np.iinfo(row_of.dtype).max
    return named.copy()
