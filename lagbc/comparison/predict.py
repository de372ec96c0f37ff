"""The time of a run from all roots, predicted from runs of a few."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from lagbc.api.betweenness import bc
from lagbc.call import Call, plan_request
from lagbc.comparison.roots import draw_roots
from lagbc.graph.graph import Graph
from lagbc.methods.table import methods_of

# Seconds of the longest run that is begun.
_MOST_SECONDS = 1.0
# The most times that a round of full batches takes the time of a root; the growth of runs in roots.
_ROUND, _GROWTH = 10, 4


class Prediction(NamedTuple):
    """Time of a run from all roots."""

    seconds: float  # of reductions and sweeps, without reading, ordering and compilation
    roots: int  # roots, idle: vertices with out-edges, and without: these add nothing
    idle: int
    swept: int = 0  # roots of the longest run
    swept_seconds: float = 0.0  # of that run
    is_bound: bool = False  # whether `seconds` is rather too much, as no run had a full round of batches
    share: float = 1.0  # the part of the work that reductions leave; the runs sweep the whole graph


def predict(graph: Graph, planned: Call, planning: float) -> Prediction:
    """Predict the time of `lagbc.bc` from all roots, by runs of a second or two in all, after one that compiles.

    The call is `planned`, which took so many seconds.

    Runs grow from one root to a round of batches, one a thread, and on; the last two give the time of a root. Where one
    root takes long, it is told by a batch of those that are searched together. On graphs of high diameter the roots are
    runs of neighbours, as if all vertices were roots.
    """
    graph = graph.with_names(None)  # roots are drawn as numbers
    roots = int(np.count_nonzero(graph.out_degrees))
    idle = graph.n - roots
    if not roots:
        return Prediction(0.0, roots, idle)
    whole = planned
    if planned.reduced.tree is not None:
        whole = plan_request(graph, planned.request, planned.settings._replace(reduce="none"))
    (row,) = methods_of(weighted=graph.weighted, method=whole.plan.method, device=whole.plan.device)
    (sweep,), batching = whole.plan.sweeps, row.load().batching
    a_round, share = min(sweep.batch * sweep.threads, roots), planned.reduced.share

    def run(size: int) -> float:
        sources = draw_roots(graph, size, 0)
        begun = time.perf_counter()
        bc(graph, weighted=graph.weighted, sources=sources, method=row.name, device=row.device, reduce="none")
        return time.perf_counter() - begun

    run(1)  # compiles, loads and orders, outside the times
    sizes, seconds, factor = [1], [run(1)], _ROUND
    while sizes[-1] < roots and seconds[-1] * factor <= _MOST_SECONDS:
        sizes.append(min(max(a_round, _GROWTH * sizes[-1]), roots))
        seconds.append(run(sizes[-1]))
        factor = _GROWTH
    if len(sizes) == 1 and batching.widest:  # roots that are searched together take little longer than one
        sizes.append(min(batching.widest, roots))
        seconds.append(run(sizes[-1]))
    rate = seconds[-1] / sizes[-1]
    if len(sizes) > 2 and seconds[-1] > seconds[-2]:
        rate = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    return Prediction(
        seconds=planning + share * (seconds[-1] + rate * (roots - sizes[-1])),
        roots=roots,
        idle=idle,
        swept=sizes[-1],
        swept_seconds=seconds[-1],
        is_bound=sizes[-1] < a_round,
        share=share,
    )
