"""The choice of a method: the rows of METHODS that a run may take, the fastest first, and the reasons.

Their order depends on the graph, on the request and on the kind of device; never on threads, time or memory. A run
takes the first that fits into its memory (`lagbc.planning.plan`). Predictions decide the choice alone, and no score.

**Methods** of "auto" have costs linear in the counts of a probe, by the constants of `lagbc.tuning.COSTS`. A
search that all roots of a batch share costs as its rows do, however many columns are live in them: `visit` and `edge`.
A search from a single root costs as its pairs of vertex and root do: `pair` and `pair_edge`. On a GPU all roots under
way wait for each level; `launch_level` counts the levels of a batch again where the host launches each of them, as it
does not on graphs of high diameter. With lengths, `pruned` is 1 where a search before the sweeps looks for edges of no
shortest path, else 0.

With lengths, and in hops on a CPU where the diameter is high, paths are not counted level by level: a row waits until
most of its columns are ready. `level_visit` counts the visits of the other graphs again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from typing import NamedTuple, NoReturn

import numpy as np

from lagbc import tuning
from lagbc.errors import InvalidValueError, MissingDependencyError, did_you_mean
from lagbc.graph.graph import Graph
from lagbc.methods import table
from lagbc.methods.probe import Probe, probe
from lagbc.methods.sums import DEPENDENCY, OF_BOUNDS
from lagbc.methods.table import Method
from lagbc.reduce.pieces import Whole

AS_A_RULE, _SLOWER = "the fastest there as a rule", "slower as a rule"
TERMS = (
    "run",
    "batch_level",
    "group_level",
    "launch_level",
    "pruned",
    "group_row",
    "visit",
    "level_visit",
    "edge",
    "pair",
    "pair_edge",
)
# Roots that a GPU has under way in a group, and in a batch; a CPU has a group's or fewer.
_GROUP, _BATCH = 256, 4096


class Selection(NamedTuple):
    """A method and the sentence that gives the reason for it."""

    method: Method
    reason: str
    a_root: float | None = None  # predicted milliseconds a root: of a whole call, on a CPU by one thread

    def __str__(self) -> str:
        return self.reason


def ranked(
    graph: Graph,
    *,
    method: str,
    device: str,
    roots: int | None = None,
    sums: frozenset[str] = DEPENDENCY,
    demand: bool = False,
    bounds: bool = False,
    options: Collection[str] = (),
    probed: Whole | None = None,
    seconds: float = inf,
    at_once: int = 1,
) -> list[Selection]:
    """Rank rows of `METHODS` for a graph, the fastest first: all offer the sums, and take a demand and bounds if given.

    They are of one device. "auto" ranks rows that read the options, if there is one; without a piece whose roots are
    probed, in so many seconds, by so many searches at once, in the order of the table. ValueError lists the rows where
    none is such; MissingDependencyError names a missing library.
    """
    if device not in ("auto", "cpu", "cuda"):
        raise InvalidValueError(f"device={device!r} is none of 'auto', 'cpu' and 'cuda'")
    weighted, (name, *ways) = graph.weighted, method.split(":")
    rows = table.methods_of(weighted=weighted, method=method, device=device)
    if not rows:
        if ways and name != "auto" and (named := table.methods_of(weighted=weighted, method=name, device=device)):
            raise InvalidValueError(f"method={method!r}: {_ways_in_words(named)}; {_leave_out(ways)}")
        if table.methods_of(weighted=not weighted, method=method, device=device):
            takes = "no lengths: leave out weighted=True" if weighted else "lengths: pass weighted=True"
            problem = f"method={method!r} takes {takes}"
        else:
            problem = f"there is no method={method!r} with device={device!r}{' for weights' if weighted else ''}"
        there = [row.name for row in table.methods_of(weighted=weighted, device=device)]
        raise InvalidValueError(f"{problem}; {did_you_mean(name, there, f'there are {_listed(weighted)}')}")
    if bounds and not any(row.bounds for row in table.methods_of(weighted=weighted, device=device)):
        raise InvalidValueError(
            "cutoffs and decays, and reach, gravity and straightness, are summed on the CPU alone, not on a GPU; pass "
            "device='auto' or device='cpu'"
        )
    offering = [row for row in rows if row.offers(sums, demand=demand, bounds=bounds)]
    if not offering:
        _refuse(rows, weighted, sums=sums, demand=demand, bounds=bounds)
    ready = [row for row in offering if row.available]
    if not ready:
        try:
            offering[0].load()  # raises the error that names the missing library
        except MissingDependencyError as error:
            if ways and device == "auto" and table.methods_of(weighted=weighted, method=name, device="cpu"):
                raise MissingDependencyError(f"{error}; {_leave_out(ways)} for {name} on the CPU") from None
            raise
    roots = graph.n if roots is None else roots
    work = roots * graph.nnz
    on_cpu, on_gpu = [row for row in ready if row.device == "cpu"], [row for row in ready if row.device == "cuda"]
    ready = on_gpu if not on_cpu or (on_gpu and work >= tuning.GPU_WORK) else on_cpu
    row = ready[0]
    if not [other for other in offering if other.device != row.device]:
        where = f"device={device!r}" if device != "auto" else f"it runs on {row.device} alone"
    elif not on_gpu:
        where = table.why_no_gpu()
    else:
        where = where_by_work(work)
    if method != "auto":
        return [Selection(row, f"{method} on {row.device} ({where}; asked for)")]
    candidates = [other for other in ready if other.key in tuning.COSTS]
    if options:
        candidates = [other for other in candidates if all(map(other.reads, options))] or candidates
    found = _by_rule(candidates or [row])
    if candidates and probed is not None:
        found = _by_cost(probed, candidates, roots, seconds, at_once)
    return [one._replace(reason=f"{one.method.name} on {one.method.device} ({where}; {one.reason})") for one in found]


def where_by_work(work: float) -> str:
    """Say why a run goes to a CPU or a GPU where both are there."""
    return f"roots * nnz = {work:.2g}, and a GPU pays from {tuning.GPU_WORK:.0g}"


def _listed(weighted: bool) -> str:
    """Name the methods on each device, with or without lengths."""
    rows = table.methods_of(weighted=weighted)
    of_devices = [
        f"on {device}: {', '.join(row.name for row in rows if row.device == device)}"
        for device in dict.fromkeys(row.device for row in rows)
    ]
    return f"{'with' if weighted else 'without'} lengths {'; '.join(of_devices)}"


def _leave_out(ways: list[str]) -> str:
    return f"leave out {':' + ':'.join(ways)!r}"


def _ways_in_words(rows: list[Method]) -> str:
    """Say which ways the methods of a name go."""
    told = list[str]()
    for row in rows:
        ways = " and ".join(f"one of {', '.join(kind)}" for kind in row.ways) or "nothing"
        told.append(f"{row.name} on {row.device} takes {ways} after a colon")
    return "; ".join(told)


def _by_rule(candidates: list[Method], but: str = "") -> list[Selection]:
    """Give each of the candidates, in their order, its reason."""
    return [Selection(row, f"{_SLOWER if number else AS_A_RULE}{but}") for number, row in enumerate(candidates)]


def _by_cost(piece: Whole, candidates: list[Method], roots: int, seconds: float, at_once: int) -> list[Selection]:
    """Rank the candidates by their predicted times, with reasons; for runs too short for a probe, by the rule."""
    if len(candidates) == 1:
        return [Selection(candidates[0], "no faster one takes what is asked for")]
    if roots * piece.graph.nnz < tuning.PROBE_WORK:
        return _by_rule(sorted(candidates, key=lambda row: row.formulation != tuning.OF_SMALL_RUNS[row.device]))
    try:
        # Where the order is known the graph is searched where it lies.
        graph = piece.placed(candidates[0]) if piece.lined_up is None else piece.graph
        found = probe(graph, piece.ordered(candidates[0]), seconds, at_once)
    except MemoryError:  # the run may take less; if not, it tells its need
        return _by_rule(candidates, ", and there was no memory to probe the roots")
    counted = terms(piece.graph, found)
    a_root = {row: predict(row, counted) / max(1, found.lined_up) for row in candidates}
    by_cost = sorted(candidates, key=lambda row: a_root[row])
    told = {row: f"{row.name} {a_root[row]:.2g}" for row in by_cost}
    return [
        Selection(
            row,
            f"predicted {a_root[row]:.2g} ms a root, {', '.join(told[one] for one in by_cost if one != row)}",
            a_root[row],
        )
        for row in by_cost
    ]


def terms(graph: Graph, probe: Probe) -> dict[str, float]:
    """Return the counts in which the costs of a run are linear.

    For a search that ended early the counts are scaled as if each root reached all vertices with edges, and the levels
    are at least the levels from the hub.
    """
    roots, per_root, levels = probe.lined_up, 1 / max(1, probe.roots), probe.levels / probe.searches
    if probe.is_cut:
        per_root = max(per_root, np.count_nonzero(graph.out_degrees) / max(1, probe.pairs))
        levels = max(levels, graph.depth)
    groups, batches = -(-roots // _GROUP), -(-roots // _BATCH)
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
        "edge": roots * per_root * probe.edges,
        "pair": roots * per_root * probe.pairs,
        "pair_edge": roots * per_root * probe.pair_edges,
    }


def _is_pruned(graph: Graph, roots: int) -> bool:
    """Whether `lagbc.methods.gpu.delta_stepping.lengths` looks for edges to leave out, as far as sizes tell."""
    is_large = graph.nnz >= tuning.PRUNING_LEAST_EDGES and roots >= tuning.PRUNING_LEAST_ROOTS
    return graph.weighted and is_large and not graph.has_high_diameter


def predict(method: Method, counted: Mapping[str, float]) -> float:
    """Predict the milliseconds of a run from its `terms`: of a whole call, on a CPU by one thread."""
    return sum(constant * counted[name] for name, constant in tuning.COSTS[method.key].items())


def _refuse(rows: list[Method], weighted: bool, *, sums: frozenset[str], demand: bool, bounds: bool) -> NoReturn:
    """Raise ValueError, with the rows that would do: none of the rows at hand offers the request."""
    lacking = f"does not sum {', '.join(sorted(sums))}"
    if any(row.offers(sums - OF_BOUNDS) for row in rows):
        lacking = "takes no demand"
        if bounds:
            within = "takes no cutoff or decay, nor makes what is summed within one"
            lacking = "takes no demand within a cutoff" if demand else within
    there = [
        f"{row.name} on {row.device}"
        for row in table.methods_of(weighted=weighted)
        if row.offers(sums, demand=demand, bounds=bounds)
    ]
    names = dict.fromkeys(row.name for row in rows)
    devices = {name: [row.device for row in rows if row.name == name] for name in names}
    asked = ", ".join(f"{name} on {' and '.join(on)}" for name, on in devices.items())
    asked = asked if len(devices) == 1 else f"each of {asked}"
    weights = " with weighted=True" if weighted else ""
    which = f"these do: {', '.join(there)}" if there else "no method does"
    raise InvalidValueError(f"{asked} {lacking}{weights}; {which}")
