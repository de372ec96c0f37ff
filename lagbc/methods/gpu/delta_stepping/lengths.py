r"""Betweenness with lengths on the GPU: Delta-stepping from 256 roots at a time, as min-plus products on bit rows.

A lane has neighbouring columns of a row as in `lagbc.methods.gpu.batched.hops`, distances and path counts are pulled
along in-edges, and bits tell the columns that take part before a number is loaded. There are two schedules, equal in
their results and different in the graphs on which they are fast:

``window``
    Few levels. Delta-stepping with a window that slides with the nearest pending vertex, a launch a round; then counts
    along tight edges, a launch a level.
``one launch``
    Many levels: meshes and roads. The same with queues, one launch a sweep.

In both an edge (u, v) is tight if ``dist[u] + length == dist[v]`` and ``dist[u] < dist[v]``, for the least fixed
point dist of the rounded sums; ``rtol > 0`` opens the equation. A root that reaches a vertex without tight in-edge, as
rounding absorbed a length, is marked as overflowed: computed by itself, it names the length.

The sweeps are compiled for the sums asked for, as in hops. Sums of distances are taken from the rows of final
distances; where no other sum is asked for, no path is counted, no root overflows, and no level is told from another.

Edges longer than a way around them are left out at first: on scale-free graphs with lengths of all sizes, most of them.
An edge (u, v) is on no shortest path if there is a shorter way from u to v. Ways over landmarks h tell of most such
edges, by one sweep from 256 of the best connected vertices, and one against the edges if they have directions:

    dist(u, h) + dist(h, v) + slack < length(u, v).

Distances, path counts and scores are those of all edges, since an edge left out is not tight and lowers no distance.
The slack covers rounding: a distance is a sum of at most R lengths, where R is the number of rounds of the sweep, and
each addition is off by at most ``2**-53`` of the longest path, ``n`` times the longest edge. Two distances, the sums
that another sweep forms along the same way, and the edge's own are ``4 R + 2`` such additions, less than 8 R.

Groups of roots with more levels than a schedule takes are swept again by another. Sums are in the order of rows, in
parts of fixed shape, for each group by itself: the bits depend on nothing but graph, roots, `bucket_width` and device
type.

References
----------
U. Meyer and P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49 (2003) 114-152.

E. Solomonik, M. Besta, F. Vella and T. Hoefler, Scaling betweenness centrality using communication-efficient sparse
matrix multiplication, SC 2017.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Variant
from lagbc.graph.device.ops import gather
from lagbc.graph.graph import Graph
from lagbc.graph.validate import EXACT_INTEGERS
from lagbc.methods.contract import BYTE, INTEGER, Array, Batching, Counted, SweepPlan
from lagbc.methods.gpu import driver
from lagbc.methods.gpu.common.arrays import Survey, count_flags, number_ends, survey
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, Lengths, Rows, Size, place_roots, upload, uploaded_arrays
from lagbc.methods.gpu.common.sums import require_sums_made_here, sum_arrays
from lagbc.methods.gpu.delta_stepping import launch_per_round, one_launch
from lagbc.methods.gpu.driver import Schedule, State
from lagbc.methods.gpu.kernels import ARRAYS, PRUNING

batching = Batching(block=GROUP_COLUMNS, auto=2048)
forward, backward, paths = driver.forward, driver.backward, driver.paths


SCHEDULES = {
    "window": Schedule(launch_per_round, "one launch"),
    "one launch": Schedule(one_launch),
}


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the uploaded arrays, a batch's sums, and the arrays of the first schedule.

    Where edges may be left out, the graph of the others is there besides, in both orders.
    """
    found = survey(graph.weights)
    dist, size = _type_of_distances(graph, found, plan), Size.of(graph, plan)
    schedule, orders = choose_schedule(graph, plan), 2 if graph.transpose is graph else 3
    kept = {
        "indptr": Array((orders, graph.n), INTEGER),
        "indices and lengths": Array((int(tuning.PRUNING_MOST_KEPT * orders * (4 + 8) * graph.nnz),), BYTE),
    }
    stated = {
        "uploaded": uploaded_arrays(graph, plan),
        "lengths": {"lengths": Array((1 if graph.transpose is graph else 2, graph.nnz), np.dtype(dist))},
        "kept": kept if is_pruning_worthwhile(graph, plan) else {},
        "sums": sum_arrays(graph, plan),
        "schedule": SCHEDULES[schedule].module.arrays(size, dist),
    }
    return {name: Counted(group) for name, group in stated.items()}


def prepare(graph: Graph, plan: SweepPlan, schedule: str | None = None) -> State:
    """Upload the graph in sweep order, and make rows for the batch, by the best of SCHEDULES if none is named."""
    require_sums_made_here(plan)
    ARRAYS.begin_compile()
    whole = graph
    graph, kept = prune(graph, plan)
    rows, lengths = upload(graph, plan), describe_lengths(graph, plan)
    first = choose_schedule(graph, plan) if schedule is None else schedule
    edge_order = None
    if "edges" in plan.sums:
        edge_order = cp.asarray(graph.edge_order) if kept is None else gather(graph.edge_order, kept)
    # Other edges may give another order of the vertices. The same vertices have edges: no vertex loses its shortest.
    places = None if kept is None else gather(rows.order, cp.asarray(whole.position))
    return State(rows, schedules=SCHEDULES, first=first, edge_order=edge_order, lengths=lengths, places=places)


def prune(graph: Graph, plan: SweepPlan) -> tuple[Graph, Any]:
    """Leave out edges of no shortest path; also return the places of the others, None if none is left out."""
    if not is_pruning_worthwhile(graph, plan):
        return graph, None
    of_hubs = SweepPlan(GROUP_COLUMNS, sums=frozenset({"distance"}), stop=plan.stop)
    kept = _find_kept(graph, upload(graph, of_hubs), describe_lengths(graph, of_hubs))
    return (graph, None) if kept is None else graph.on_device.keep(kept)


def choose_schedule(graph: Graph, plan: SweepPlan) -> str:
    """Return the fastest of `SCHEDULES` for a graph; `one launch` alone has room for all levels at once."""
    return "one launch" if graph.has_high_diameter or plan.at_once else "window"


def describe_lengths(graph: Graph, plan: SweepPlan) -> Lengths:
    """Bring the lengths of a graph into sweep order, and choose type and width of distances."""
    out: Any = graph.reordered.on_device.weights
    into = graph.reordered.transpose.on_device.weights
    found = survey(out)
    dist = _type_of_distances(graph, found, plan)
    width = tuning.WINDOW_WIDTH * found.mean if plan.bucket_width is None else plan.bucket_width
    return Lengths(out, into, dist, min(width, float(np.finfo(dist).max)), found)


def _type_of_distances(graph: Graph, found: Survey, plan: SweepPlan) -> str:
    """Choose the type of distances: float32 adds integers exactly if no path, of fewer than n edges, is too long."""
    are_integers = found.longest <= EXACT_INTEGERS and found.are_integers
    return "float32" if are_integers and graph.n * found.longest <= 2**24 and not plan.rtol else "float64"


def is_pruning_worthwhile(graph: Graph, plan: SweepPlan) -> bool:
    """Whether a search for such edges is worth its sweep.

    With `rtol`, paths longer than the shortest count, too. On graphs of high diameter landmarks are far from most
    edges. A way of two edges is at least twice as long as the shortest edge.
    """
    are_few = plan.roots is not None and plan.roots < tuning.PRUNING_LEAST_ROOTS
    if graph.nnz < tuning.PRUNING_LEAST_EDGES or are_few or graph.has_high_diameter or plan.rtol:
        return False
    found = survey(graph.on_device.weights)
    return found.longest > 2 * found.shortest


def _find_kept(graph: Graph, rows: Rows, lengths: Lengths) -> Any:
    """Return for each edge of a graph whether it has to be kept, on the device; None if all have to.

    `rows` are the graph in sweep order, for a batch of `GROUP_COLUMNS` roots and a plan that asks for distances.
    """
    hubs = graph.order[:GROUP_COLUMNS]
    after = before = _distances(rows, lengths, hubs)
    if rows.in_indptr is not rows.indptr:
        before = _distances(_reversed(rows), lengths._replace(out=lengths.into, into=lengths.out), hubs)
    if after is None or before is None:
        return None
    placed = graph.on_device
    position, kept = cp.asarray(rows.position), cp.empty(graph.nnz, np.bool_)
    slack = 8 * tuning.MOST_ROUNDS * 2.0**-53 * graph.n * lengths.survey.longest
    tails, heads = (number_ends(ends, position) for ends in (placed.rows, placed.indices))
    PRUNING.kernel("prune", Variant("float64", lengths.dist))(
        (-(-graph.nnz // THREADS),),
        THREADS,
        nnz=graph.nnz,
        tails=tails,
        heads=heads,
        lengths=placed.weights,
        to=before,
        slack=slack,
        kept=kept,
        **{"from": after},
    )
    return kept if count_flags(kept) <= tuning.PRUNING_MOST_KEPT * graph.nnz else None


def _distances(rows: Rows, lengths: Lengths, hubs: NDArray[np.int64]) -> Any:
    """Return distances from the hubs, of shape (rows, 256); None if they take too many rounds."""
    arrays = launch_per_round.make(rows, lengths)
    found = launch_per_round.forward(arrays, hubs, place_roots(rows, hubs))
    return None if found.deeper is not None and found.deeper.any() else arrays.distances[0]


def _reversed(rows: Rows) -> Rows:
    """Return the rows with all edges reversed."""
    return replace(
        rows,
        indptr=rows.in_indptr,
        indices=rows.in_indices,
        hubs=rows.in_hubs,
        in_indptr=rows.indptr,
        in_indices=rows.indices,
        in_hubs=rows.hubs,
    )
