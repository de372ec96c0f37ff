"""A block of neighbouring roots and its ball: a matrix has a row for each of the ball's, and a lane for each root.

One edge is read for all roots of a block, and what it does to the lanes of a row a processor does many at a time. That
is worth it where the ball is little larger than what each root reaches; else the roots are searched one by one. See
lagbc/native/kernels/within/.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import Csr, core, csr

# Roots of a block. On road networks 32 and 128 took 1.3 to 1.5 times as long. Another number is another order of the
# sums. Results: cutoff_part.md.
LANES = 64
# A larger ball has no room. Matrices of so many rows take 32 MiB a thread.
MOST_ROWS, MOST_EDGES = 1 << 14, 1 << 17
_LINE = 64  # bytes of a cache line


Ball: TypeAlias = core.Ball16 | core.Ball32 | core.BallFloat


def takes(graph: Graph, plan: SweepPlan) -> bool:
    """Tell whether roots of a run are summed in blocks, where these are worth it.

    No length may be absorbed: with l >= ulp(radius), d + l > d for all d up to the radius.
    """
    if plan.bounds is None or plan.rtol or plan.members is not None or plan.demand is not None or not graph.nnz:
        return False
    assert graph.weights is not None
    radius = plan.radius
    return bool(radius < np.inf and graph.n < 2**31 and graph.weights.min() >= np.spacing(radius))


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Count the bytes of a `Ball`."""
    n, rows, edges = graph.n, min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)
    number = _number(graph, plan.radius)[0].itemsize
    numbers = (8 + 8) * ("edges" in plan.sums)
    matrices = LANES * (number + 8 + 2 * 8 * bool(plan.sums & PATH_SUMS))
    ways = 1 if graph.transpose is graph else 2
    scratch = n * (4 + 8 + 4 + 1) + 4
    of_rows = rows * (4 + matrices + 1 + 1 + 8) + 4 + ways * 8 * (rows + 1)
    of_edges = edges * (ways * (4 + number) + 1 + numbers)
    return scratch + of_rows + of_edges + 8 * LANES + (4 if plan.sums & PATH_SUMS else 2) * _LINE


def room(graph: Graph, plan: SweepPlan) -> Ball:
    """Allocate it; pages that no ball needs are never touched."""
    n, rows, edges = graph.n, min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)
    number, far = _number(graph, plan.radius)
    of_number: type[Ball] = {np.uint16: core.Ball16, np.uint32: core.Ball32}.get(number.type, core.BallFloat)
    has_edges, counts, of_sums = "edges" in plan.sums, plan.sums & PATH_SUMS, np.dtype(np.float64)
    out = _edges("out", rows, edges, number)
    is_symmetric = graph.transpose is graph
    into = {f"into{name.removeprefix('out')}": array for name, array in out.items()}
    return of_number(
        row=np.zeros(n, np.int32),
        nearest=np.empty(n),
        queue=np.empty(n + 1, np.int32),
        is_queued=np.zeros(n, np.uint8),
        vertices=np.empty(rows + 1, np.int32),
        roots=np.empty(LANES, np.int64),
        **out,
        **(into if is_symmetric else _edges("into", rows, edges, number)),
        places=np.empty(edges, np.int64) if has_edges else None,
        place_rows=np.empty(edges, np.int64) if has_edges else None,
        far=far,
        dist=_matrix(rows, number),
        sigma=_matrix(rows, of_sums) if counts else None,
        own=_matrix(rows, of_sums),
        beyond=_matrix(rows, of_sums) if counts else None,
        waits=np.empty(rows, np.uint8),
        plain=np.empty(rows, np.uint8),
        tight=np.empty(edges, np.uint8),
        totals=np.empty(rows),
    )


def searched(graph: Graph) -> tuple[Csr, Csr]:
    """Return the graph that balls are found in, and its transpose, of the same arrays if it is symmetric."""
    ordered = graph.reordered
    return csr(*ordered.csr), csr(*ordered.transpose.csr)


def _edges(way: str, rows: int, edges: int, number: np.dtype[Any]) -> dict[str, Any]:
    return {
        f"{way}_indptr": np.empty(rows + 1, np.int64),
        f"{way}_indices": np.empty(edges, np.int32),
        f"{way}_lengths": np.empty(edges, number),
    }


def _matrix(rows: int, number: np.dtype[Any]) -> NDArray[Any]:
    """Allocate a matrix whose rows begin with a cache line: vectors are as long as one, and would lie in two."""
    size = rows * LANES * number.itemsize
    whole = np.empty(size + _LINE, np.uint8)
    first = -whole.ctypes.data % _LINE
    matrix: NDArray[Any] = whole[first : first + size].view(number).reshape(rows, LANES)
    return matrix


def _number(graph: Graph, radius: float) -> tuple[np.dtype[Any], Any]:
    """Return the type of distances, and the next one to the radius.

    Whole lengths have the narrowest whole number that holds a length more than that.
    """
    if graph.has_whole_lengths:
        beyond = int(radius) + 1
        for whole in (np.uint16, np.uint32):
            if beyond + graph.longest <= np.iinfo(whole).max:
                return np.dtype(whole), beyond
    return np.dtype(np.float64), float(np.nextafter(radius, np.inf))
