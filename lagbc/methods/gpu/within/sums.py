r"""Sums within cutoffs and decays on the GPU: small matrices of what neighbouring roots reach, many in a launch.

At most 32 neighbouring roots are the columns of the matrix of their ball (balls.py); a block of roots has up to eight
balls. Distances, path counts and dependencies are the least solutions of linear systems over semirings, which a warp
finds by Gauss-Seidel sweeps over the rows of the ball (within.cu):

    dist = e \oplus A^T min.plus dist,   sigma = e + T^T sigma,   c = weight / sigma + T c

with T the tight edges. What a root does not reach within the radius stays at infinity. The cost of a ball is that of
the sweeps over it; paths seldom turn against the order of its rows, so that sweeps are few.

Each sum is a tree of fixed shape over the roots of a ball, or a sum in row order, and the balls of a block are added in
order: the bits depend on the graph and the blocks alone, which the roots of the run fix.

References
----------
E. Solomonik, M. Besta, F. Vella and T. Hoefler, Scaling betweenness centrality using communication-efficient sparse
matrix multiplication, SC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import count
from threading import local
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.host import pinned_flag
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Blocks, Interrupted, SweepPlan
from lagbc.methods.gpu.within.balls import BALLS, LANES, Balls, Edges, Lanes, deal, find_balls, merged
from lagbc.methods.gpu.within.kernels import WITHIN
from lagbc.methods.sums import PATH_SUMS, SparseSums
from lagbc.methods.within import EDGES, ROOTS, VERTICES, Columns, as_sums, lay_out

Roots = NDArray[np.int64]
# What a block sums to, and which of its roots left the range of float64.
Summed = tuple[SparseSums, NDArray[np.bool_]]

# Where there are few roots, a block has fewer, that there are warps enough: their balls are smaller, too.
blocks = Blocks(most=BALLS * LANES, least=1, enough=512, at_once=2**14)

# How a root ended; as in within.cu.
_DONE, _STOPPED = 0, 2
_THREADS = 128  # of a block of the launch: four balls
_SAMPLE = 8  # blocks of roots whose balls are looked at, at least, to tell how large others are


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
    omega : ndarray of float64, shape (n,), or None
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
    columns: Columns
    widths: dict[str, int]
    given: dict[str, Any]
    room: int
    stop: NDArray[np.uint8]

    @property
    def counts(self) -> bool:
        """Whether paths are counted."""
        return bool(self.plan.sums & PATH_SUMS)


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of the balls on the device: `tuning.WITHIN_ROWS` a root of the batch, if no ball has more."""
    balls = -(-(graph.n if plan.roots is None else plan.roots) // LANES)
    rows = max(1, min(tuning.WITHIN_ROWS * plan.batch, balls * graph.active))
    return rows * _row_bytes(graph, plan)


def _row_bytes(graph: Graph, plan: SweepPlan) -> int:
    """Count the bytes of a row: dist, sigma, and c or t; edges both ways, as many as in the mean; sums; omega."""
    _, widths = lay_out(plan)
    counts = bool(plan.sums & PATH_SUMS)
    edges = -(-graph.nnz // max(1, graph.active))
    ways = 1 if graph.transpose is graph else 2
    of_edge = ways * (4 + 8 * graph.weighted) + 8 * widths[EDGES]
    return LANES * 8 * (1 + 2 * counts) + 8 * ways + edges * of_edge + 8 * widths[VERTICES] + 8


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Bring the graph in sweep order to the host, if it is not there, and the bounds to the device.

    Raises
    ------
    ValueError
        ``plan.bucket_width`` is given, which means nothing here.
    """
    if plan.bucket_width is not None:
        raise ValueError(f"bucket_width={plan.bucket_width!r} takes no cutoff or decay; leave it out")
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
    """Sum blocks of roots within the bounds of the plan.

    Each thread of the host finds balls, has them summed in a stream of its own and adds up what that comes to, so that
    the device has the balls of all of them at work.
    """
    state.plan.stop.check()
    cp.cuda.get_current_stream().synchronize()  # what is prepared is there: other streams do not wait for it
    threads = min(state.plan.threads, len(blocks))
    if not threads:
        return
    length, room = _length(state, blocks, threads), state.room // threads
    device, own, numbers = cp.cuda.Device(), local(), count()

    def begin() -> None:
        own.stream = _stream(device.id, next(numbers))

    def run(some: Sequence[Roots]) -> list[Summed]:
        with device, own.stream:
            return _summed(state, some, room, threads)

    several = [blocks[first : first + length] for first in range(0, len(blocks), length)]
    with ThreadPoolExecutor(threads, "lagbc sums", begin) as pool:
        for found in pool.map(run, several):
            yield from found


@cache
def _stream(device: int, number: int) -> Any:
    """Make a stream, once: its memory is kept for the next run."""
    with cp.cuda.Device(device):
        return cp.cuda.Stream(non_blocking=True)


def _length(state: State, blocks: Sequence[Roots], threads: int) -> int:
    """Tell how many blocks are summed together: as there is room for by the size of some balls, two a thread at least.

    Whatever their number, the bits are the same.
    """
    some = blocks[:: -(-len(blocks) // max(_SAMPLE, threads))]
    a_block = max(1, _bytes_of(state, _balls_of(state, _lanes_of(state, some))) // len(some))
    by_room = state.room // threads // a_block
    return max(1, min(by_room, -(-len(blocks) // (2 * threads))))


def _lanes_of(state: State, blocks: Sequence[Roots]) -> Lanes:
    return deal([np.where(block < 0, -1, state.position[block]) for block in blocks])


def _balls_of(state: State, lanes: Lanes) -> Balls:
    return find_balls(state.graph, lanes, state.plan.radius, edges=bool(state.widths[EDGES]))


def _bytes_of(state: State, balls: Balls) -> int:
    """Count the bytes of balls on the device; see `_row_bytes`."""
    ways = [balls.out] if balls.into is balls.out else [balls.out, balls.into]
    edges = sum(array.nbytes for of in ways for array in of)
    row = 8 * (LANES * (1 + 2 * state.counts) + state.widths[VERTICES] + 1)
    return row * balls.rows + edges + 8 * state.widths[EDGES] * len(balls.out.indices)


def _summed(state: State, blocks: Sequence[Roots], room: int, threads: int) -> list[Summed]:
    """Sum some blocks; half of them at a time where all take more bytes than there is room for."""
    state.plan.stop.check()
    lanes = _lanes_of(state, blocks)
    balls = _balls_of(state, lanes)
    needed = _bytes_of(state, balls)
    if needed > room and len(blocks) > 1:
        half = len(blocks) // 2
        return _summed(state, blocks[:half], room, threads) + _summed(state, blocks[half:], room, threads)
    if needed > room:
        state.plan.require_growth(threads * (needed - room))  # each of the others may need as much
    of_rows, of_edges, by_root, outcome = _launch(state, lanes, balls, _by_lane(state.plan.multiplicity, lanes, blocks))
    if (outcome == _STOPPED).any():
        raise Interrupted
    by_vertex, by_edge = merged(of_rows, balls.of_vertices), merged(of_edges, balls.of_edges)
    vertices, edges = state.order[balls.of_vertices.named], balls.of_edges.named
    edges = edges if state.edge_order is None else state.edge_order[edges]
    found = []
    for k, (block, places) in enumerate(zip(blocks, lanes.places, strict=True)):
        own, own_edges = slice(*balls.of_vertices.starts[k : k + 2]), slice(*balls.of_edges.starts[k : k + 2])
        here = block >= 0
        arrays = {VERTICES: by_vertex[own], EDGES: by_edge[own_edges], ROOTS: by_root[places[here]]}
        summed = as_sums(state.plan, state.columns, arrays)
        found.append((SparseSums(vertices[own], edges[own_edges], block[here], summed), outcome[places] != _DONE))
    return found


def _launch(state: State, lanes: Lanes, balls: Balls, times: NDArray[np.float64] | None) -> list[NDArray[Any]]:
    """Sum balls: by row, by edge that leaves one, and by lane; and how each lane ended."""
    number, out = len(lanes.roots), _on_device("", balls.out)
    made = (
        cp.empty((balls.rows, state.widths[VERTICES])),
        cp.empty((len(balls.out.indices), state.widths[EDGES])),
        cp.zeros((number * LANES, state.widths[ROOTS])),
        cp.empty(number * LANES, np.int32),
    )
    by_vertex, by_edge, by_root, outcome = made
    dist = "float64" if state.graph.weighted else None
    WITHIN.kernel("within_sum", "float64", dist=dist, sums=state.plan.sums)(
        (-(-number * LANES // _THREADS),),
        _THREADS,
        balls=number,
        starts=cp.asarray(balls.starts),
        roots=cp.asarray(balls.roots),
        times=None if times is None else cp.asarray(times),
        **out,
        **(_entering(out) if balls.into is balls.out else _on_device("in_", balls.into)),
        omega=None if state.omega is None else cp.asarray(state.omega[balls.vertices]),
        dist=cp.empty((balls.rows, LANES)),
        sigma=cp.empty((balls.rows, LANES)) if state.counts else None,
        onward=cp.empty((balls.rows, LANES)) if state.counts else None,
        by_vertex=by_vertex,
        by_edge=by_edge,
        by_root=by_root,
        outcome=outcome,
        stop=state.stop,
        **state.given,
    )
    return [array.get() for array in made]


def _on_device(prefix: str, edges: Edges) -> dict[str, Any]:
    return {f"{prefix}{name}": _copied(array) for name, array in edges._asdict().items()}


def _copied(array: NDArray[Any]) -> Any:
    """Copy an array to the device from where it is: `cupy.asarray` allocates pinned memory for it."""
    copied = cp.empty(array.shape, array.dtype)
    copied.set(array)
    return copied


def _entering(out: dict[str, Any]) -> dict[str, Any]:
    """Take edges that leave for those that enter, where all lead both ways."""
    return {f"in_{name}": array for name, array in out.items()}


def _by_lane(
    multiplicity: NDArray[np.float64] | None, lanes: Lanes, blocks: Sequence[Roots]
) -> NDArray[np.float64] | None:
    """Tell how often the root of each lane counts; None is once."""
    if multiplicity is None:
        return None
    times = np.ones(lanes.roots.size)
    for block, places in zip(blocks, lanes.places, strict=True):
        times[places] = multiplicity[block]
    return times
