r"""Edges that lie on no shortest path, left out before a sweep.

An edge (u, v) is on no shortest path if there is a shorter way from u to v. Ways over landmarks h tell of most such
edges, by one sweep from 256 of the best connected vertices, and one against the edges if they have directions:

    dist(u, h) + dist(h, v) + slack < length(u, v).

Distances, path counts and scores are those of all edges, since an edge left out is not tight and lowers no distance.
The slack covers rounding: a distance is a sum of at most R lengths, where R is the number of rounds of the sweep, and
each addition is off by at most ``2**-53`` of the longest path, ``n`` times the longest edge. Two distances, the sums
that another sweep forms along the same way, and the edge's own are ``4 R + 2`` such additions, less than 8 R.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.compiler import THREADS
from lagbc.cuda.kernel import Variant
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common.arrays import count_flags, number_ends, survey
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, Lengths, Rows, place_roots
from lagbc.methods.gpu.delta_stepping import launch_per_round
from lagbc.methods.gpu.kernels import PRUNING


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


def find_kept(graph: Graph, rows: Rows, lengths: Lengths) -> Any:
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
