"""A block of neighbouring roots and its ball: a matrix has a row for each of the ball's, and a lane for each root.

One edge is read for all roots of a block, and what it does to the lanes of a row a processor does many at a time. That
is worth it where the ball is little larger than what each root reaches; else the roots are searched one by one.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.balls import Edges, Scratch, cut, degrees, reach
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS

# Roots of a block. On road networks 32 and 128 took 1.3 to 1.5 times as long. Another number is another order of the
# sums. Results: cutoff_part.md.
LANES = 64
# A larger ball has no room. Matrices of so many rows take 32 MiB a thread.
MOST_ROWS, MOST_EDGES = 1 << 14, 1 << 17
_LINE = 64  # bytes of a cache line


class Block(NamedTuple):
    """Room for a block.

    Attributes
    ----------
    scratch : Scratch
    vertices : ndarray of int32, shape (rows + 1,)
        Vertex of each row; one more tells that a ball has no room.
    roots : ndarray of int64, shape (LANES,)
        Row of the root of each lane; -1 where it has none.
    out, into : Edges
        That leave, and enter, each row; lengths are of the type of distances.
    places : ndarray of int64, shape (edges,)
        Of those that leave, in the graph; of length 0 where edges are not summed, and `numbers` with it.
    numbers : ndarray of unsigned int, shape (edges,)
        Room for their rows among the sums.
    dist : ndarray, shape (rows, LANES)
        Distances, `far` where the root is farther than the radius.
    sigma, own, beyond : ndarrays of float64, shape (rows, LANES)
        Path counts, at least 1; what a target counts per path to it; and that with what lies beyond it. Of length 0
        where no path is counted, but for `own`.
    spare : ndarray of float64, shape (2, LANES)
        Room for a row at work.
    waits : ndarray of uint8, shape (rows,)
        Whether a row is to be made anew.
    plain : ndarray of uint8, shape (rows,)
        Whether all path counts of a row are 1, as most are where lengths seldom tie.
    tight : ndarray of uint8, shape (edges,)
        Whether each of the edges that enter is tight in some lane.
    totals : ndarray of float64, shape (rows,)
        Room for a sum over the lanes.
    """

    scratch: Scratch
    vertices: Any
    roots: Any
    out: Edges
    into: Edges
    places: Any
    numbers: Any
    dist: Any
    sigma: Any
    own: Any
    beyond: Any
    spare: Any
    waits: Any
    plain: Any
    tight: Any
    totals: Any


def takes(graph: Graph, plan: SweepPlan) -> bool:
    """Tell whether roots of a run are summed in blocks, where these are worth it.

    No length may be absorbed: with l >= ulp(radius), d + l > d for all d up to the radius.
    """
    if plan.bounds is None or plan.rtol or plan.members is not None or not graph.nnz:
        return False
    assert graph.weights is not None
    radius = plan.radius
    return bool(radius < np.inf and graph.n < 2**31 and graph.weights.min() >= np.spacing(radius))


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Count the bytes of a `Block`."""
    n, rows, edges = graph.n, min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)
    number = _number(graph, plan.radius)[0].itemsize
    numbers = (8 + graph.indptr.dtype.itemsize) * ("edges" in plan.sums)
    matrices = LANES * (number + 8 + 2 * 8 * bool(plan.sums & PATH_SUMS))
    ways = 1 if graph.transpose is graph else 2
    scratch = n * (4 + 8 + 4 + 1) + 4
    of_rows = rows * (4 + matrices + 1 + 1 + 8) + 4 + ways * 8 * (rows + 1)
    of_edges = edges * (ways * (4 + number) + 1 + numbers)
    return scratch + of_rows + of_edges + 8 * 3 * LANES + 5 * _LINE


def room(graph: Graph, plan: SweepPlan) -> Block:
    """Allocate it; pages that no ball needs are never touched."""
    rows, edges, number = min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES), _number(graph, plan.radius)[0]
    numbered = edges if "edges" in plan.sums else 0
    counted = rows if plan.sums & PATH_SUMS else 0
    out, of_sums = _edges(rows, edges, number), np.dtype(np.float64)
    return Block(
        scratch=Scratch.of(graph.n),
        vertices=np.empty(rows + 1, np.int32),
        roots=np.empty(LANES, np.int64),
        out=out,
        into=out if graph.transpose is graph else _edges(rows, edges, number),
        places=np.empty(numbered, np.int64),
        numbers=np.empty(numbered, f"u{graph.indptr.dtype.itemsize}"),
        dist=_matrix(rows, number),
        sigma=_matrix(counted, of_sums),
        own=_matrix(rows, of_sums),
        beyond=_matrix(counted, of_sums),
        spare=_matrix(2, of_sums),
        waits=np.empty(rows, np.uint8),
        plain=np.empty(rows, np.uint8),
        tight=np.empty(edges, np.uint8),
        totals=np.empty(rows),
    )


def searched(graph: Graph, plan: SweepPlan) -> tuple[Any, Any, Any]:
    """Return the graph that balls are found in, its transpose, without a row if that is no other, and `far`."""
    ordered, rows = graph.reordered, 0 if graph.transpose is graph else graph.n + 1
    leaving, entering = ((way.indptr, way.indices, way.weights) for way in (ordered, ordered.transpose))
    return leaving, (entering[0][:rows], *entering[1:]), _number(graph, plan.radius)[1]


def _edges(rows: int, edges: int, number: np.dtype[Any]) -> Edges:
    return Edges(np.empty(rows + 1, np.int64), np.empty(edges, np.int32), np.empty(edges, number))


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
                return np.dtype(whole), whole(beyond)
    return np.dtype(np.float64), np.nextafter(radius, np.inf)


@njit
def find(leaving, entering, block, roots, radius, most):
    """Find the ball of some roots; return how many rows and edges it has, no rows if these are more than the most."""
    indptr, indices, lengths = leaving
    row, most, has_places = block.scratch.row, min(most, len(block.waits)), len(block.places) > 0
    found, count = reach(indptr, indices, lengths, roots, radius, most, block.scratch, block.vertices, 0)
    own, edges = found[:count], 0
    if count > most or degrees(indptr, own) > len(block.tight):
        count = 0
    elif len(entering[0]) > 0:
        if degrees(entering[0], own) > len(block.tight):
            count = 0
        else:
            cut(entering[0], entering[1], entering[2], own, row, False, block.into, block.places, 0, 0)
    if count > 0:
        _, _, edges = cut(indptr, indices, lengths, own, row, has_places, block.out, block.places, 0, 0)
        block.roots[:] = -1
        for j in range(len(roots)):
            if roots[j] >= 0:
                block.roots[j] = row[roots[j]] - 1
    row[own] = 0
    return count, edges
