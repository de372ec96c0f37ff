r"""Sums within cutoffs and decays on the GPU: small matrices of what neighbouring roots reach, many in a launch.

A block of up to 256 neighbouring roots has the matrix of its ball (balls.py), and a block of threads on the device.
Distances, path counts and dependencies are the least solutions of linear systems over semirings, which a warp finds for
32 of the roots, as the columns, in the rows that these reach (within.cu):

    dist = e \oplus A^T min.plus dist,   sigma = e + T^T sigma,   c = weight / sigma + T c

with T the tight edges. What a root does not reach within the radius stays at infinity.

Each sum is of fixed shape over the roots of a block, or in the order in which rows are met: the bits depend on the
graph and the blocks alone, which the roots of the run fix. Threads of the host find balls, while one of them gives the
device as many as there is room for.

References
----------
E. Solomonik, M. Besta, F. Vella and T. Hoefler, Scaling betweenness centrality using communication-efficient sparse
matrix multiplication, SC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.host import pinned_flag
from lagbc.errors import InvalidValueError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.balls import Edges
from lagbc.methods.contract import Blocks, Interrupted, SweepPlan
from lagbc.methods.gpu.within.ahead import found_ahead, together
from lagbc.methods.gpu.within.balls import LANES, WARPS, Balls, Finder, Lanes, deal
from lagbc.methods.gpu.within.kernels import WITHIN
from lagbc.methods.sums import PATH_SUMS, SparseSums
from lagbc.methods.within import EDGES, ROOTS, VERTICES, Columns, as_sums, lay_out

Roots = NDArray[np.int64]
# What a block sums to, and which of its roots left the range of float64.
Summed = tuple[SparseSums, NDArray[np.bool_]]

# Where there are few roots, a block has fewer, that there are enough of them: their balls are smaller, too.
blocks = Blocks(most=WARPS * LANES, least=1, enough=512, at_once=2**14)

# How a root ended; as in within.cu.
_DONE, _STOPPED = 0, 2
# Blocks of roots whose balls are found in one go.
_PIECE = 8


@dataclass(eq=False)
class State:
    """What is prepared once a run.

    Attributes
    ----------
    plan : SweepPlan
    graph : Graph
        On the host, in sweep order.
    order, edge_order : ndarray of int64
        The caller's vertex of each in sweep order, and the caller's edge of each; the latter is None if no edges are
        summed.
    position : ndarray of int64, shape (n,)
        Place of each of the caller's vertices in sweep order.
    omega, multiplicity : ndarray of float64, shape (n,), or None
        In sweep order.
    columns : Columns
    widths : dict
        How many columns the sums of vertices, edges and roots have.
    given : dict
        What all launches are given: bounds and columns.
    room : int
        Bytes of balls on the device at a time: the footprint.
    stop : ndarray of uint8, shape (1,)
        Pinned: the host writes, kernels poll.
    """

    plan: SweepPlan
    graph: Graph
    order: NDArray[np.int64]
    edge_order: NDArray[np.int64] | None
    position: NDArray[np.int64]
    omega: NDArray[np.float64] | None
    multiplicity: NDArray[np.float64] | None
    columns: Columns
    widths: dict[str, int]
    given: dict[str, Any]
    room: int
    stop: NDArray[np.uint8]

    @property
    def counts(self) -> bool:
        """Whether paths are counted."""
        return bool(self.plan.sums & PATH_SUMS)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some blocks of roots, in matrix order, with the lanes they are dealt to and their balls."""

    blocks: Sequence[Roots]
    lanes: Lanes
    balls: Balls


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of the balls on the device: `tuning.WITHIN_ROWS` a root of the batch, if no ball has more."""
    roots = max(1, graph.n if plan.roots is None else plan.roots)
    size = blocks.size(roots)
    rows = max(1, min(tuning.WITHIN_ROWS * plan.batch, -(-roots // size) * graph.active))
    return rows * _row_bytes(graph, plan, min(size, WARPS))


def _row_bytes(graph: Graph, plan: SweepPlan, warps: int) -> int:
    """Count the bytes of a row: entries of all warps, sums, omega, and edges both ways, as many as in the mean."""
    _, widths = lay_out(plan)
    edges = -(-graph.nnz // max(1, graph.active))
    ways = 1 if graph.transpose is graph else 2
    of_edge = ways * (4 + 8 * graph.weighted) + 8 * widths[EDGES]
    return warps * _entry_bytes(plan) + 8 * widths[VERTICES] + 8 + 8 * ways + edges * of_edge


def _entry_bytes(plan: SweepPlan) -> int:
    """Count what a warp has of a row: dist, sigma, and c or t of each lane; a mark, and a place in the list."""
    return LANES * 8 * (3 if plan.sums & PATH_SUMS else 1) + 1 + 4


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Bring the graph in sweep order to the host, if it is not there, and the bounds to the device.

    Raises
    ------
    ValueError
        ``plan.bucket_width`` is given, which means nothing here.
    """
    if plan.bucket_width is not None:
        raise InvalidValueError(f"bucket_width={plan.bucket_width!r} takes no cutoff or decay; leave it out")
    bounds = plan.bounds
    assert bounds is not None
    WITHIN.begin("float64", dist="float64" if graph.weighted else None, sums=plan.sums)
    columns, widths = lay_out(plan)
    stop = pinned_flag()
    plan.stop.mirror(stop)
    radii = np.concatenate([bounds.cutoffs, bounds.radii, np.tile(bounds.decays, len(bounds.cutoffs))])
    return State(
        plan=plan,
        graph=graph.reordered.on_host,
        order=graph.order,
        edge_order=as_numpy(graph.edge_order) if widths[EDGES] else None,
        position=graph.position,
        omega=None if plan.omega is None else plan.omega[graph.order],
        multiplicity=None if plan.multiplicity is None else plan.multiplicity[graph.order],
        columns=columns,
        widths=widths,
        given={
            "radius": plan.radius,
            "rtol": plan.rtol,
            "sigma_limit": plan.sigma_limit,
            "endpoints": plan.endpoints,
            "cutoffs": len(bounds.cutoffs),
            "radii": len(bounds.radii),
            "bounds": cp.asarray(radii),
            "columns": cp.asarray(np.array(columns, np.int32)),
            "vertex_columns": widths[VERTICES],
            "edge_columns": widths[EDGES],
            "root_columns": widths[ROOTS],
        },
        room=footprint(graph, plan),
        stop=stop,
    )


def sum_within(state: State, blocks: Sequence[Roots]) -> Iterator[Summed]:
    """Sum blocks of roots within the bounds of the plan: threads find balls, this one has the device sum them."""
    state.plan.stop.check()
    tasks = [blocks[first : first + _PIECE] for first in range(0, len(blocks), _PIECE)]
    threads = max(1, min(state.plan.threads, len(tasks)))
    idle = [_finder(state) for _ in range(threads)]

    def find(some: Sequence[Roots]) -> list[Piece]:
        finder = idle.pop()
        try:
            return _pieces(state, finder, some)
        finally:
            idle.append(finder)

    def size(piece: Piece) -> int:
        return _bytes_of(state, piece.balls)

    for pieces in together(found_ahead(find, tasks, size, state.room, threads), size, state.room):
        yield from _summed(state, pieces)


def _finder(state: State) -> Finder:
    return Finder(state.graph, state.plan.radius, edges=bool(state.widths[EDGES]))


def _pieces(state: State, finder: Finder, blocks: Sequence[Roots]) -> list[Piece]:
    """Find the balls of some blocks; in more pieces where they take more bytes than there is room for."""
    state.plan.stop.check()
    lanes = deal([np.where(block < 0, -1, state.position[block]) for block in blocks])
    piece = Piece(blocks, lanes, finder.find(lanes))
    needed, half = _bytes_of(state, piece.balls), len(blocks) // 2
    if needed > state.room and half:
        del piece  # found again in halves, which are not held beside it
        return _pieces(state, finder, blocks[:half]) + _pieces(state, finder, blocks[half:])
    if needed > state.room:
        state.plan.require_growth(needed - state.room)
    return [piece]


def _bytes_of(state: State, balls: Balls) -> int:
    """Count the bytes of balls on the device; see `_row_bytes`."""
    ways = [balls.out] if balls.into is balls.out else [balls.out, balls.into]
    edges = sum(array.nbytes for of in ways for array in of) + 8 * state.widths[EDGES] * len(balls.out.indices)
    return _entry_bytes(state.plan) * balls.entries + 8 * (state.widths[VERTICES] + 1) * len(balls.vertices) + edges


def _summed(state: State, pieces: Sequence[Piece]) -> Iterator[Summed]:
    """Sum the blocks of some pieces, in one launch."""
    begins = _begins([piece.balls.sizes for piece in pieces])
    by_vertex, by_edge, by_root, outcome = _launch(state, pieces, begins)
    if (outcome == _STOPPED).any():
        raise Interrupted
    vertices = state.order[np.concatenate([piece.balls.vertices for piece in pieces])]
    edges = np.concatenate([piece.balls.places for piece in pieces])
    edges = edges if state.edge_order is None else state.edge_order[edges]
    dealt = [pair for piece in pieces for pair in zip(piece.blocks, piece.lanes.places, strict=True)]
    for (block, places), begin, end in zip(dealt, begins, begins[1:], strict=False):
        rows, of_edges = slice(begin[0], end[0]), slice(begin[1], end[1])
        lanes, here = begin[3] * LANES + places, block >= 0
        arrays = {VERTICES: by_vertex[rows], EDGES: by_edge[of_edges], ROOTS: by_root[lanes[here]]}
        summed = as_sums(state.plan, state.columns, arrays)
        yield SparseSums(vertices[rows], edges[of_edges], block[here], summed), outcome[lanes] != _DONE


def _begins(sizes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Tell where each ball begins, and the last one ends, as `Begin` in within.cu: rows, edges, warps, entries."""
    of_all = np.concatenate([np.zeros((1, 4), np.int64), *sizes])
    return np.cumsum(np.column_stack([of_all, of_all[:, 0] * of_all[:, 3]]), axis=0)


def _launch(state: State, pieces: Sequence[Piece], begins: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Sum balls: by row, by edge that leaves one, and by lane; and how each lane ended."""
    rows, edges, _, warps, entries = map(int, begins[-1])
    balls, counted = [piece.balls for piece in pieces], (entries, LANES) if state.counts else (0,)
    out, omega, times = _on_device("", [of.out for of in balls]), state.omega, state.multiplicity
    two_ways = all(of.into is of.out for of in balls)
    made = (
        cp.empty((rows, state.widths[VERTICES])),
        cp.empty((edges, state.widths[EDGES])),
        cp.zeros((warps * LANES, state.widths[ROOTS])),
        cp.empty(warps * LANES, np.int32),
    )
    by_vertex, by_edge, by_root, outcome = made
    dist = "float64" if state.graph.weighted else None
    WITHIN.kernel("within_sum", "float64", dist=dist, sums=state.plan.sums)(
        (len(begins) - 1,),
        LANES * int(np.diff(begins[:, 3]).max()),
        begins=_joined([begins]),
        roots=_joined([of.roots for of in balls]),
        times=None if times is None else _joined([times[piece.lanes.roots] for piece in pieces]),
        **out,
        **(_entering(out) if two_ways else _on_device("in_", [of.into for of in balls])),
        omega=None if omega is None else _joined([omega[of.vertices] for of in balls]),
        dist=cp.empty((entries, LANES)),
        sigma=cp.empty(counted),
        onward=cp.empty(counted),
        marks=cp.empty(entries, np.uint8),
        met=cp.empty(entries, np.int32),
        by_vertex=by_vertex,
        by_edge=by_edge,
        by_root=by_root,
        outcome=outcome,
        stop=state.stop,
        **state.given,
    )
    return [array.get() for array in made]


def _on_device(prefix: str, edges: Sequence[Edges]) -> dict[str, Any]:
    return {f"{prefix}{name}": _joined([getattr(of, name) for of in edges]) for name in Edges._fields}


def _joined(arrays: Sequence[NDArray[Any]]) -> Any:
    """Copy arrays to the device, one after the other, from where they are: `cupy.asarray` allocates pinned memory."""
    joined, first = cp.empty((sum(map(len, arrays)), *arrays[0].shape[1:]), arrays[0].dtype), 0
    for array in arrays:
        joined[first : first + len(array)].set(array)
        first += len(array)
    return joined


def _entering(out: dict[str, Any]) -> dict[str, Any]:
    """Take edges that leave for those that enter, where all lead both ways."""
    return {f"in_{name}": array for name, array in out.items()}
