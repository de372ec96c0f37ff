"""Predictions made before any sweep; only the choice between two ways depends on them, and no score.

**Methods** of "auto" have costs linear in the counts of a probe, by the constants of `lagbc.methods.tuning.COSTS`. A
search that all roots of a batch share costs as its rows do, however many columns are live in them: `visit` and `edge`.
A search from a single root costs as its pairs of vertex and root do: `pair` and `pair_edge`. On a GPU all roots under
way wait for each level; `launch_level` counts the levels of a batch again where the host launches each of them, as it
does not on graphs of high diameter. With lengths, `pruned` is 1 where a search before the sweeps looks for edges of no
shortest path, else 0.

With lengths, and in hops on a CPU where the diameter is high, paths are not counted level by level: a row waits until
most of its columns are ready. `level_visit` counts the visits of the other graphs again. Two more counts tell how far
waiting goes. On levels with more rows than a core's cache holds, `far_visit` counts the visits beyond the cache again.
And `lone_pair` counts pairs that share a row with few others: with V visits of P pairs in all, P (V / P)^4, which rises
steeply where the distances of the columns lie apart.

**Bicomponents** have costs by their size, swept whole or contracted to their junctions:

    whole        roots * (vertices * pair + edges * pair_edge), a pair taking longer the more levels there are
    contracted   the same for junctions, which are swept with lengths, and `evaluations` of streams

**The look** at the structure of a graph is work of its own, and has to pay:

    look     n * vertex + nnz * edge, on one thread of the host
    sweeps   on a CPU: those of a bicomponent, shared by some threads
             on a GPU: roots * nnz * edge, an edge taking longer where the diameter is high or edges have lengths

A run looks where the look takes a small share of the sweeps. It takes a larger share if the look is too short to be
felt, or if counts of degrees and components, known at once, promise less work. The constants of both are those of
`lagbc.reduce.tuning`: nanoseconds on a CPU, on a GPU the time of a root and an edge.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.probe import Probe, most_edges
from lagbc.methods.table import Method
from lagbc.reduce import tuning as reduce_tuning
from lagbc.reduce.work import Work

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


def terms(graph: Graph, probe: Probe) -> dict[str, float]:
    """Return the counts in which the costs of a run are linear.

    For a search that ended early the counts are scaled as if each root reached all vertices with edges, and the levels
    are at least the levels from the hub.
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


def predict_block(graph: Graph, roots: int, device: str) -> float:
    """Predict the sweeps of a bicomponent; its depth is searched for only where it matters."""
    least, most = (predict_at_depth(graph, roots, device, depth) for depth in (0, graph.n))
    return least if least == most else predict_at_depth(graph, roots, device, graph.depth)


def predict_at_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the sweeps of a bicomponent with a given depth, from 0 to n."""
    costs = reduce_tuning.BLOCK_COSTS[device, graph.weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * graph.n + costs["pair_edge"] * graph.nnz)


def predict_junctions(work: Work, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict the sums from junctions of a bicomponent with lengths or in hops; a far column is half a sweep."""
    costs = reduce_tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (reduce_tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations


def is_look_worth(graph: Graph, roots: int, device: str) -> bool:
    """Whether a run is long enough for a look at the structure of its graph.

    The look searches for bicomponents, twins and chains; in a directed graph also for components and arcs.
    """
    costs = reduce_tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    look, sweeps = costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz, predict_sweeps(graph, roots, device)
    if look <= reduce_tuning.SHORT_LOOK:
        return look <= reduce_tuning.SHORT_SHARE * sweeps
    if look > reduce_tuning.LOOK_MOST * sweeps:
        return False
    return look <= reduce_tuning.LOOK_SHARE * sweeps or promised_left(graph, roots) <= reduce_tuning.MOST_LEFT


def predict_sweeps(graph: Graph, roots: int, device: str) -> float:
    """Predict the least time of the sweeps."""
    if device == "cpu":
        return predict_at_depth(graph, roots, device, 0) / reduce_tuning.LOOK_THREADS
    return reduce_tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz


def promised_left(graph: Graph, roots: int) -> float:
    """Return the share of the work that remains after reductions, as far as degrees and components tell.

    A vertex of degree one goes with its edge; as a root it is merged where its neighbour is a root, too. Vertices of
    degree two lie inside chains, and from junctions an edge takes some four times as long. A root sweeps its component.
    """
    both = graph.symmetric
    if not both.nnz:
        return 1.0
    degrees, of_component = both.out_degrees, as_numpy(graph.components)
    ends, inside = (float(np.count_nonzero(degrees == degree)) for degree in (1, 2))
    there = float(np.count_nonzero(degrees))
    roots_left = 1 - ends / there * min(1.0, roots / there)
    left = roots_left * (1 - min(1.0, 2 * ends / both.nnz))
    if not graph.directed:
        left = min(left, reduce_tuning.FROM_JUNCTIONS * (1 - (ends + inside) / there) ** 2)
    shares = np.bincount(of_component, degrees) / both.nnz
    return float(left * (shares**2).sum())
