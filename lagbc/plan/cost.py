"""What a run costs by each method that "auto" takes: linear in what a probe counts.

A search that all roots of a batch share costs what its rows do, however many columns are live in them: `visit` and
`edge`. One from a root alone costs what its pairs of vertex and root do: `pair` and `pair_edge`. On a GPU each level is
waited for, by all roots that are under way at a time; `launch_level` counts the levels of a batch again where each of
them is launched by the host, as those of graphs of high diameter are not. With lengths, `pruned` is 1 where edges that
no shortest path takes are looked for before the sweeps, else 0.

With lengths, and in hops on a CPU where the diameter is high, paths are not counted level by level: a row waits until
most of its columns are ready. `level_visit` counts the visits of the other graphs again. Two more counts tell how far
waiting goes. Of levels with more rows than a core's cache holds, `far_visit` counts the visits again, as far as they
are beyond it. And `lone_pair` counts pairs that share a row with few others: with V visits of P pairs in all,
P (V / P)^4, which rises steeply where the distances of the columns lie apart.

The constants are `lagbc.methods.tuning.COSTS`; only which of two costs is less depends on them, and no score.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.probe import Probe, most_edges
from lagbc.methods.table import Method

TERMS = (
    "run",
    "batch_level",
    "group_level",
    "launch_level",
    "pruned",
    "group_row",
    "visit",
    "level_visit",
    "far_visit",
    "edge",
    "pair",
    "lone_pair",
    "pair_edge",
)
# Roots that a GPU has under way in a group, and in a batch; a CPU has a group's or fewer.
_GROUP, _BATCH = 256, 4096


def is_costed(method: Method) -> bool:
    """Whether there are constants for a method."""
    return method.key in tuning.COSTS


def terms(graph: Graph, probe: Probe) -> dict[str, float]:
    """Return what the costs of a run are linear in.

    Of a search that was ended early, the counts are scaled as if each root reached all vertices that have edges, and
    the levels are at least those from the hub.
    """
    roots, per_root, levels = probe.lined_up, 1 / max(1, probe.roots), probe.levels / probe.searches
    if probe.edges > probe.searches * most_edges(graph, roots):
        per_root = max(per_root, np.count_nonzero(graph.out_degrees) / probe.pairs)
        levels = max(levels, graph.depth)
    groups, batches = -(-roots // _GROUP), -(-roots // _BATCH)
    far = max(0.0, 1 - tuning.CACHED_ROWS * probe.levels / max(1, probe.visits))
    apart = probe.visits / max(1, probe.pairs)
    by_levels = not graph.weighted and not graph.has_high_diameter
    return {
        "run": 1,
        "batch_level": batches * levels,
        "group_level": groups * levels,
        "launch_level": (not graph.has_high_diameter) * batches * levels,
        "pruned": int(_is_pruned(graph, roots)),
        "group_row": groups * graph.n,
        "visit": roots * per_root * probe.visits,
        "level_visit": by_levels * roots * per_root * probe.visits,
        "far_visit": far * roots * per_root * probe.visits,
        "edge": roots * per_root * probe.edges,
        "pair": roots * per_root * probe.pairs,
        "lone_pair": apart**4 * roots * per_root * probe.pairs,
        "pair_edge": roots * per_root * probe.pair_edges,
    }


def _is_pruned(graph: Graph, roots: int) -> bool:
    """Whether `lagbc.methods.gpu.delta_stepping.pruning` looks for edges to leave out, as far as sizes tell."""
    is_large = graph.nnz >= tuning.PRUNING_LEAST_EDGES and roots >= tuning.PRUNING_LEAST_ROOTS
    return graph.weighted and is_large and not graph.has_high_diameter


def predict(method: Method, counted: Mapping[str, float]) -> float:
    """Predict the milliseconds of a run from its `terms`: of a whole call, on a CPU by one thread."""
    return sum(constant * counted[name] for name, constant in tuning.COSTS[method.key].items())
