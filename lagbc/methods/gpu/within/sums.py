r"""Sums within cutoffs and decays on the GPU: small matrices of what blocks of roots reach, all in one launch.

A block of at most 32 neighbouring roots is the columns of the matrix of its ball (balls.py). Distances, path counts and
dependencies are the least solutions of linear systems over semirings, which a warp finds by Gauss-Seidel sweeps over
the rows of the ball (within.cu):

    dist = e \oplus A^T min.plus dist,   sigma = e + T^T sigma,   c = weight / sigma + T c

with T the tight edges. Whatever a root does not reach within the radius stays at infinity. The cost of a block is that
of the sweeps over its ball; paths seldom turn against the order of its rows, so that sweeps are few.

Each sum is a tree of fixed shape over the roots of a block, or a sum in row order: the bits depend on the graph and the
blocks of roots alone, which the roots of the run fix.

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
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Blocks, Interrupted, SweepPlan
from lagbc.methods.gpu.within.balls import LANES, Balls, Edges, find_balls
from lagbc.methods.gpu.within.kernels import WITHIN
from lagbc.methods.sums import PATH_SUMS, SparseSums
from lagbc.methods.within import EDGES, ROOTS, VERTICES, Columns, as_sums, lay_out

Roots = NDArray[np.int64]

# Where there are few roots, a block has fewer, that there are warps enough: their balls are smaller, too.
blocks = Blocks(most=LANES, least=1, enough=4096, at_once=8192)

# How a root ended; as in within.cu.
_DONE, _STOPPED = 0, 2
_THREADS = 128  # of a block of the launch: four balls


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
    rows : int
        How many rows the balls of a launch may have that are counted in the footprint.
    row_bytes : int
        Bytes of a row on the device, with its edges.
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
    rows: int
    row_bytes: int
    stop: NDArray[np.uint8]

    @property
    def counts(self) -> bool:
        """Whether paths are counted."""
        return bool(self.plan.sums & PATH_SUMS)


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of the balls of a launch, if they are no larger than `tuning.WITHIN_ROWS` a root of the batch."""
    return _first_rows(graph, plan) * _row_bytes(graph, plan)


def _first_rows(graph: Graph, plan: SweepPlan) -> int:
    balls = -(-(graph.n if plan.roots is None else plan.roots) // LANES)
    return max(1, min(tuning.WITHIN_ROWS * plan.batch, balls * graph.active))


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
        rows=_first_rows(graph, plan),
        row_bytes=_row_bytes(graph, plan),
        stop=stop,
    )


def sum_within(state: State, blocks: Sequence[Roots]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan.

    As many balls are found and summed at a time as there is room for, by the size of those before; at first, one for
    each thread of the host.
    """
    first, count, room = 0, state.plan.threads, state.rows * state.row_bytes
    while first < len(blocks):
        state.plan.stop.check()
        some = blocks[first : first + count]
        balls = _balls_of(state, some)
        while (needed := _bytes_of(state, balls)) > room and len(some) > 1:
            some = some[: len(some) // 2]
            balls = _balls_of(state, some)
        if needed > room:
            state.plan.require_growth(needed - room)
        yield from _summed(state, some, balls)
        first += len(some)
        count = max(1, int(len(some) * room / needed))


def _balls_of(state: State, blocks: Sequence[Roots]) -> Balls:
    placed = [np.where(roots < 0, -1, state.position[roots]) for roots in blocks]
    places = bool(state.widths[EDGES])
    return find_balls(state.graph, placed, state.plan.radius, places=places, threads=state.plan.threads)


def _bytes_of(state: State, balls: Balls) -> int:
    """Count the bytes of balls on the device; see `_row_bytes`."""
    ways = [balls.out] if balls.into is balls.out else [balls.out, balls.into]
    edges = sum(of.indptr.nbytes + of.indices.nbytes + of.lengths.nbytes for of in ways)
    row = 8 * (LANES * (1 + 2 * state.counts) + state.widths[VERTICES] + 1)
    return max(1, row * balls.rows + edges + 8 * state.widths[EDGES] * len(balls.out.indices))


def _summed(state: State, blocks: Sequence[Roots], balls: Balls) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum the blocks of some balls in one launch."""
    plan, lanes = state.plan, (len(blocks), LANES)
    out = _on_device("", balls.out)
    made = {
        "by_vertex": cp.empty((balls.rows, state.widths[VERTICES])),
        "by_edge": cp.empty((len(balls.out.indices), state.widths[EDGES])),
        "by_root": cp.zeros((*lanes, state.widths[ROOTS])),
        "outcome": cp.empty(lanes, np.int32),
    }
    WITHIN.kernel("within_sum", "float64", dist="float64" if state.graph.weighted else None, sums=plan.sums)(
        (-(-len(blocks) * LANES // _THREADS),),
        _THREADS,
        balls=len(blocks),
        starts=cp.asarray(balls.starts),
        roots=cp.asarray(balls.roots),
        times=None if plan.multiplicity is None else cp.asarray(_by_lane(blocks, plan.multiplicity)),
        **out,
        **(_renamed(out) if balls.into is balls.out else _on_device("in_", balls.into)),
        omega=None if state.omega is None else cp.asarray(state.omega[balls.vertices]),
        dist=cp.empty((balls.rows, LANES)),
        sigma=cp.empty((balls.rows, LANES)) if state.counts else None,
        onward=cp.empty((balls.rows, LANES)) if state.counts else None,
        stop=state.stop,
        **state.given,
        **made,
    )
    by_vertex, by_edge, by_root, outcome = (array.get() for array in made.values())
    if (outcome == _STOPPED).any():
        raise Interrupted
    ends = balls.out.indptr[balls.starts]
    for k, roots in enumerate(blocks):
        rows, edges = slice(*balls.starts[k : k + 2]), slice(*ends[k : k + 2])
        here = np.flatnonzero(roots >= 0)
        arrays = {VERTICES: by_vertex[rows], EDGES: by_edge[edges], ROOTS: by_root[k, here]}
        named = balls.out.places[edges] if state.edge_order is None else state.edge_order[balls.out.places[edges]]
        summed = as_sums(plan, state.columns, arrays)
        part = SparseSums(state.order[balls.vertices[rows]], named, roots[here], summed)
        yield part, outcome[k, : len(roots)] != _DONE


def _on_device(prefix: str, edges: Edges) -> dict[str, Any]:
    return {
        f"{prefix}indptr": cp.asarray(edges.indptr),
        f"{prefix}indices": cp.asarray(edges.indices),
        f"{prefix}lengths": cp.asarray(edges.lengths),
    }


def _renamed(out: dict[str, Any]) -> dict[str, Any]:
    """Name edges that leave as edges that enter, where all lead both ways."""
    return {f"in_{name}": array for name, array in out.items()}


def _by_lane(blocks: Sequence[Roots], multiplicity: NDArray[np.float64]) -> NDArray[np.float64]:
    times = np.ones((len(blocks), LANES))
    for of_block, roots in zip(times, blocks, strict=True):
        of_block[: len(roots)] = multiplicity[roots]
    return times
