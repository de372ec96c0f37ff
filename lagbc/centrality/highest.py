"""The highest closeness or harmonic centralities, in hops, by searches that end where others are known to be higher.

A search into a vertex goes along the reversed edges, 64 of them at a time (lagbc/native/kernels/methods/highest.h). It
ends as soon as the bound of its score is below the least of the highest scores so far. Where the diameter is high, such
a search for distances would end late. There, a full search from a landmark u bounds the scores of all others by their
distances from it, as d(w, x) >= |d(u, x) - d(u, w)|; so most searches are never begun (Bergamini et al. 2019). A graph
that cannot be pruned, or for which that does not pay, is summed in full, and its scores are sorted.

References
----------
E. Bergamini, M. Borassi, P. Crescenzi, A. Marino and H. Meyerhenke, Computing top-k closeness centrality faster in
unweighted graphs, ACM Transactions on Knowledge Discovery from Data 13 (2019) 53:1-53:40.
"""

from __future__ import annotations

from contextlib import ExitStack
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.arguments import Arguments
from lagbc.call import Call
from lagbc.calls import log_plan, raise_if_stopped, running
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag
from lagbc.methods.cpu.batched import COLUMNS
from lagbc.native import classes_of, core, csr
from lagbc.planning.sweep import row_of
from lagbc.reduce.blocks import find_strong
from lagbc.reduce.pieces import Whole
from lagbc.run.run import Meter, Stretch, edges_of
from lagbc.run.work import Hand, Items, Span, Total, Work, inline, sum_over, threaded
from lagbc.scores.finish import mean_closeness
from lagbc.scores.records import HARMONIC, Centrality

Scores = NDArray[np.float64]
# Edges of the walks by which scores are bounded before any search. Up to 3 a count that is cut at n stays a bound when
# the walks that turn back are taken off: at least n - (degree - 1) are left, as many as there are vertices so far away.
_WALKS = 3
# Times at most that neighbours of the highest so far are searched before all others, while these rise: the sooner the
# least of the highest is known, the sooner searches end.
_CLIMBS = 8
# Batches come in so many turns, each from all over the graph: once the first is done, the edges of all are foreseen.
_TURNS = 16
_SEARCHES = classes_of("BoundedSearch")


def search_highest(call: Call, count: int) -> Scores | None:
    """Return the scores of a call, with 0 for some that are not among the highest `count`.

    None stands for calls whose searches cannot end early, or look at so many edges that all would soon be summed.
    """
    if not may_end_early(call):
        return None
    (record,) = call.centralities
    log_plan(f"{record.name}: searches for the {count} highest, or else", call.plan)
    search = _search_by_landmarks if _takes_landmarks(call) else _search
    with running(record.name, call.settings.stop):
        return search(call, record, count)


def may_end_early(call: Call) -> bool:
    """Whether the highest scores of a call are searched for before all are summed."""
    return _is_prunable(call) and _may_pay(call)


def _is_prunable(call: Call) -> bool:
    """Whether searches may end early: into all vertices, in hops, with sums whose order is known."""
    settings, request, plan = call.settings, call.request, call.plan
    if not isinstance(call.reduced.pieces[0], Whole) or call.graph.weighted or call.graph.is_on_device:
        return False
    if request.bounds is not None or request.is_sample:
        return False
    if settings.executor is not None or settings.checkpoint is not None or len(request.roots) < call.graph.n:
        return False
    return plan.device == "cpu" and plan.method in ("batched", "work-efficient")


def _may_pay(call: Call) -> bool:
    """Whether searches may be faster than a sweep: for distances they end late where the diameter is high."""
    is_late = call.graph.has_high_diameter and call.centralities[0] is not HARMONIC
    return not call.plan.is_short and (_takes_landmarks(call) or not is_late)


def _takes_landmarks(call: Call) -> bool:
    """Whether landmarks bound scores well: distances of a high diameter; of inverse ones they tell too little."""
    graph = call.graph
    return graph.has_high_diameter and not graph.directed and call.centralities[0] is not HARMONIC


def _search(call: Call, record: Centrality, count: int) -> Scores | None:
    """Search from the vertices that may be among the highest, in passes."""
    (piece,), (sweep,) = call.reduced.pieces, call.plan.sweeps
    assert isinstance(piece, Whole)
    graph, row = piece.graph, row_of(piece, sweep)
    race = Race(graph, record, call.arguments, count)
    lined_up = piece.ordered(row)
    carry = inline if sweep.threads == 1 else threaded
    todo = np.argsort(-race.degrees, kind="stable")[:COLUMNS]
    for _ in range(_CLIMBS):
        before = race.least
        sum_over(Searches(race, todo, 1), inline)
        if not race.most_edges:  # a batch whose searches went to their ends
            race.most_edges = tuning.PRUNED_SHARE * race.edges * graph.n / COLUMNS
        todo = race.beside_highest()
        if race.least == before or not len(todo):
            break
    others = np.ones(graph.n, np.bool_)
    others[first := graph.position[lined_up]] = False
    todo = np.concatenate([first, np.flatnonzero(others)])
    with ExitStack() as stack:
        meter = Meter([Stretch(len(todo), 0, edges_of(graph))], call.settings.progress, "", stack)
        while len(todo):
            todo = todo[~race.is_done[todo] & (race.bounds[todo] >= race.least)]
            total = sum_over(Searches(race, todo, sweep.threads), carry)
            if race.is_over:
                return None
            todo = np.concatenate([np.zeros(0, np.int64), *(total.whole or ())])
            meter.tell(0, graph.n - len(todo))
    scores = race.scores[graph.position]
    if record is HARMONIC:  # with the bits of a sweep
        high = np.flatnonzero(scores >= max(race.least, np.finfo(float).tiny))
        if race.edges + len(high) * graph.nnz > race.most_edges:
            return None
        batching, into = row.load().batching, csr(*graph.transpose.csr)
        ways = batching.block, batching.chunk(row.device), row.formulation == "semiring"
        for vertex in high.tolist():
            raise_if_stopped()
            scores[vertex] = core.sum_inverses(into, vertex, lined_up, *ways)
    return scores


def _search_by_landmarks(call: Call, record: Centrality, count: int) -> Scores | None:
    """Search from the vertex of the highest bound, again and again, until no other may be among the highest."""
    (sweep,), graph = call.plan.sweeps, call.graph
    race, carry = Race(graph, record, call.arguments, count), inline if sweep.threads == 1 else threaded
    todo, searched = np.arange(graph.n), 0
    with ExitStack() as stack:
        meter = Meter([Stretch(len(todo), 0, edges_of(graph))], call.settings.progress, "", stack)
        while len(todo):
            if searched > tuning.LANDMARKS_SHARE * graph.n:
                return None
            # Beside the best, other threads take vertices far from each other, as the sweep order is by proximity.
            spread = todo[np.linspace(0, len(todo), sweep.threads, endpoint=False, dtype=np.int64)[1:]]
            chosen = np.unique([todo[np.argmax(race.bounds[todo])], *spread])
            sum_over(Landmarks(race, chosen, todo, sweep.threads), carry)
            searched += len(chosen)
            todo = todo[~race.is_done[todo] & (race.bounds[todo] >= race.least)]
            meter.tell(0, graph.n - len(todo))
    return race.scores[graph.position]


class Race:
    """The searches of a call: the scores found, and the least of the highest so far; vertices are in sweep order."""

    def __init__(self, graph: Graph, record: Centrality, arguments: Arguments, count: int) -> None:
        self.graph, self.count = graph, count
        out = self._out = graph.reordered.transpose  # searches go along reversed edges
        self._into, self.degrees = graph.reordered, out.out_degrees
        self._is_harmonic, self._has_share = record is HARMONIC, arguments.wf_improved
        if graph.directed:
            strong = find_strong(np.array([0, graph.n]), out.indptr, out.indices)
            ends, heads, *_ = core.condense(out.indptr, out.indices, strong)
            self._reach = core.bound_reach(strong.component, strong.member_ptr, ends, heads) - 1
        else:
            components = as_numpy(graph.reordered.components)
            self._reach = np.bincount(components)[components] - 1
        self.bounds: Scores = self.searches().bound_scores(_WALKS)
        self.scores, self.is_done = np.zeros(graph.n), np.zeros(graph.n, np.bool_)
        self.least, self.edges, self.most_edges, self.foreseen = -np.inf, 0, 0.0, 0.0
        self._highest, self._lock = np.zeros(0), Lock()

    def searches(self) -> Any:
        """Make the state of a thread."""
        out = csr(*self._out.csr)
        into = out if self._out is self._into else csr(*self._into.csr)
        how = self._reach, not self.graph.directed, self._is_harmonic, self._has_share, tuning.BATCHED_PULL_SHARE
        return _SEARCHES[self._out.indices.dtype](out, into, *how)

    @property
    def is_over(self) -> bool:
        """Whether so many edges were looked at, or will be, that summing in full would not take much longer."""
        return 0 < self.most_edges < max(self.edges, self.foreseen)

    def put(self, vertices: Items, reached: Items, sums: Scores, edges: int) -> None:
        """Put the scores of vertices whose searches went to their ends, and raise the least of the highest.

        Bounds and sums in another order differ from the scores by rounding: all that may be among the highest are kept.
        """
        n = self.graph.n
        with self._lock:
            self.edges += edges
            if not len(vertices):
                return
            scores = self.scores[vertices] = self._scores_of(reached, sums)
            found = np.append(self._highest, scores)
            beyond = max(len(found) - self.count, 0)
            self._highest = np.partition(found, beyond)[beyond:] if beyond else found
            if len(self._highest) == self.count:
                self.least = self._highest.min() * (1 - (n + 100) * np.finfo(float).eps)

    def put_landmark(self, vertex: Items, distances: Items, others: Items) -> None:
        """Put the score of a vertex by the distances from it, -1 where there are none, and bound those of others."""
        counts = np.bincount(distances + 1)[1:]
        reached, least = counts.sum(keepdims=True) - 1, least_sums(counts).astype(np.float64)
        self.put(vertex, reached, least[:1], self.graph.nnz)
        self.is_done[vertex] = True
        bounds = np.append(self._scores_of(np.repeat(reached, len(least)), least), np.inf)
        self.bounds[others] = np.minimum(self.bounds[others], bounds[distances[others]])

    def _scores_of(self, reached: Items, sums: Scores) -> Scores:
        """Make scores of the counts of others that are reached, and of the sums over them."""
        if self._is_harmonic:
            return sums
        share = reached / max(self.graph.n - 1, 1) if self._has_share else None
        return mean_closeness(reached.astype(np.float64), sums, share, self.graph)

    def beside_highest(self) -> Items:
        """Return the neighbours of the highest so far, of many those of the most edges."""
        best = np.argsort(-self.scores, kind="stable")[: self.count]
        is_beside = np.zeros(self.graph.n, np.bool_)
        for one in (self._out, self._into):
            for vertex in best:
                is_beside[one.indices[one.indptr[vertex] : one.indptr[vertex + 1]]] = True
        fresh = np.flatnonzero(is_beside & ~self.is_done & (self.bounds >= self.least))
        return fresh[np.argsort(-self.degrees[fresh], kind="stable")[:COLUMNS]]


def least_sums(counts: Items) -> Items:
    """Return, for each d, a lower bound of the sum of distances to a vertex d away from a landmark.

    `counts[l]` vertices are l away from the landmark, `counts[0]` is 1; distances are the same both ways. The bound is
    the sum over l of counts[l] max(|l - d|, 1), without the vertex itself; at d = 0 it is the sum of the landmark.
    """
    levels = np.arange(len(counts))
    within, before = np.cumsum(counts), np.cumsum(counts * levels)
    return levels * (2 * within - within[-1]) + before[-1] - 2 * before + counts - 1


class Landmarks(Work):
    """Full searches from vertices, which bound the scores of some others."""

    panel = batch = 1

    def __init__(self, race: Race, vertices: Items, others: Items, hands: int) -> None:
        self.items, self.hands, self._race, self._others = vertices, hands, race, others

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that searches a symmetric graph."""
        graph = self._race.graph.reordered

        def run(_: Span, vertices: Items) -> Items:
            raise_if_stopped()
            return core.search_from(graph.indptr, graph.indices, vertices)[0]

        return run

    def add(self, total: Total, span: Span, sums: Items) -> Total:
        """Put the distances from a vertex."""
        self._race.put_landmark(self.items[span.place], sums, self._others)
        return Total(span.last)

    def finish(self, total: Total) -> Any:
        """Return nothing: the race has all."""


class Searches(Work):
    """Searches from vertices, each until it is not among the highest; the total has those to be searched again."""

    panel = batch = COLUMNS
    may_end_early = True

    def __init__(self, race: Race, vertices: Items, hands: int) -> None:
        whole = len(vertices) // COLUMNS * COLUMNS
        batches = vertices[:whole].reshape(-1, COLUMNS)
        turns = [batches[first::_TURNS].ravel() for first in range(_TURNS)]
        self.items = np.concatenate([*turns, vertices[whole:]])
        self.hands, self._race, self._begun = hands, race, race.edges

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand that polls the stop flag within a search."""
        race = self._race
        search, to_the_end = race.searches(), len(self.items) <= COLUMNS

        def run(_: Span, vertices: Items) -> tuple[Items, int]:
            raise_if_stopped()
            roots, before = vertices[race.bounds[vertices] >= race.least], search.edges
            if race.is_over or not len(roots):
                return roots[:0], 0
            reached, sums, ended, again = search.search(roots, race.least, to_the_end, stop.value)
            stop.check()
            race.is_done[roots[~again]] = True
            race.put(roots[ended], reached[ended], sums[ended], search.edges - before)
            return roots[again], search.edges - before

        return run

    def add(self, total: Total, span: Span, sums: tuple[Items, int]) -> Total:
        """Put the vertices to be searched again behind those of the total, and add the edges.

        Once a turn is done, those of all turns are foreseen.
        """
        again, edges = sums[0], (total.part or 0) + sums[1]
        if span.last * _TURNS >= len(self.items):
            self._race.foreseen = self._begun + edges * len(self.items) / span.last
        return Total(span.last, [*(total.whole or ()), again], edges)

    def finish(self, total: Total) -> Any:
        """Return the total."""
        return total.whole

    def is_enough(self, total: Total) -> bool:
        """Whether all is to be summed in full, by the edges so far, or by those foreseen."""
        return self._race.is_over
