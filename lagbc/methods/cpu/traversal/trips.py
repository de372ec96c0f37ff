"""The demand of a plan as lagbc/native/kernels/traversal/totals.h reads it: the trips of a root, when it is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import FLOAT, INTEGER, Array
from lagbc.methods.targets import shifts_of_rows
from lagbc.native import core, record

if TYPE_CHECKING:
    from scipy import sparse

Trips: TypeAlias = core.Trips32 | core.Trips64


def arrays(graph: Graph, demand: sparse.csr_array) -> dict[str, Array | None]:
    """State the copies of a demand, and room for the targets of a root; ends are copied if they are of another type."""
    index, n = graph.indices.dtype, graph.n
    return {
        "ends": None if demand.indices.dtype == index else Array((demand.nnz,), index),
        "first": Array((n + 1,), INTEGER),
        "shifts": Array((n,), INTEGER),
        "targets": Array((n,), FLOAT, 0),
    }


def new_trips(graph: Graph, demand: sparse.csr_array, arrays: dict[str, Any]) -> Trips:
    """Copy a demand into its arrays."""
    if arrays["ends"] is None:
        arrays["ends"] = demand.indices
    else:
        arrays["ends"][:] = demand.indices
    arrays["first"][:] = demand.indptr
    arrays["shifts"][:], _ = shifts_of_rows(demand.indptr, demand.data)
    trips: Trips = record(
        "Trips", graph.indices.dtype, **arrays, numbers=demand.data, order=graph.order, position=graph.position
    )
    return trips
