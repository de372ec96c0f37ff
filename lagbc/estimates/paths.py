"""Estimates from shortest paths between random pairs of vertices, by searches from both ends.

A path has the term 1 at each vertex between its ends, and 0 at all others. A score is the mean of the term over all
pairs, and over the paths of a pair. Pairs are drawn with replacement. A sample has random numbers by its number alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import phase
from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.estimates.aim import Aim, Sequence
from lagbc.estimates.terms import Answer, Question, terms_of
from lagbc.graph.graph import Graph
from lagbc.limits import in_units, raised_by
from lagbc.methods import table
from lagbc.methods.contract import StopFlag, bytes_of
from lagbc.methods.sums import Sums
from lagbc.native import classes_of
from lagbc.planning.population import PILOT, Population, arrays_of_sequence, sizes_of_rounds
from lagbc.reduce.blocks import bytes_of_graph
from lagbc.reduce.pieces import Reduced, whole
from lagbc.request import parse_generator
from lagbc.run.run import Meter, Stretch
from lagbc.run.work import NONE_DONE, Hand, Items, Span, Total, Work, sum_over, threaded

# "auto" draws paths of graphs with this many vertices or more: of fewer, all roots are swept in some milliseconds.
_VERTICES = 1024
# The first look draws _LOOK paths; the pilot grows to one _PART-th of the foreseen paths.
_LOOK, _PART = 2048, 8
# The look ends after _LOOK_EDGES times the graph's edges: as many as half a pilot of roots.
_LOOK_EDGES = 64
# Paths of a batch of the first look; edges of a later batch, some 7 ms.
_FIRST_BATCH, _BATCH_EDGES = 128, 2**22
# The search for a path is taken to last as long for an edge as a sweep of all roots for so many. On 12 networks it is 2
# to 4 times .78.
_AS_EDGES = 3.0
# A path costs at least as much as so many edges.
_LEAST_EDGES = 100.0
# Divides the variance, to foresee the samples of terms without any.
_CALM = 1e12
# More samples than any run draws.
_ENDLESS = 2**48
_SAMPLERS = classes_of("PathSampler")


class Counts(NamedTuple):
    """Counts of a number of paths."""

    through: NDArray[np.int64]  # (n,): paths with each vertex between their ends
    edges: int  # looked at to draw them


class PathCounts(Work):
    """The work of drawing paths. Items are the numbers of samples; counts are added in place, as no file keeps them."""

    items: Any = range(_ENDLESS)
    may_end_early = True
    panel = 1

    def __init__(self, graph: Graph, seed: int, hands: int) -> None:
        self._n, self._native, self._seed = graph.n, graph.native, seed
        self._sampler = _SAMPLERS[graph.indices.dtype]
        self.hands, self.batch = hands, _FIRST_BATCH
        self.enough: Callable[[Counts], bool] = lambda counts: False

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand with a sampler of its own."""
        with phase("prepare"):
            sampler = self._sampler(*self._native, stop.value)

        def draw(span: Span, items: Items) -> Any:
            found = sampler.draw(self._seed, *span)
            stop.check()
            return found

        return draw

    def add(self, total: Total, span: Span, sums: Any) -> Total:
        """Add the counts of a span, in place."""
        through, edges = total.whole or (np.zeros(self._n, np.int64), 0)
        vertices, times, more = sums
        through[vertices] += times
        return Total(span.last, Counts(through, edges + more))

    def is_enough(self, total: Total) -> bool:
        """Whether `enough` says so."""
        return self.enough(total.whole)

    def finish(self, total: Total) -> Sums:
        """Return the counts as sums of terms, which are 0 or 1, and so of their squares."""
        through = total.whole.through.astype(np.float64)
        return Sums(dependency=through, dependency_squares=through)


def unfit(question: Question) -> str | None:
    """Name an argument of the call that paths do not take; None without any."""
    settings, name = question.settings, question.centrality.name
    there = {
        "grid": not isinstance(question.graph, Graph),
        name: question.name != "dependency",
        "lengths": question.graph.weighted,
        "max_roots": question.wanted.max_roots is not None,
        "a GPU": settings.device == "cuda",
        "batch": settings.batch is not None,
        "method": settings.method != "auto",
        "reduce='all'": settings.reduce == "all",
        **dict.fromkeys(settings.of_some_methods, True),
        **{name: getattr(settings, name) is not None for name in ("checkpoint", "executor", "comm")},
    }
    return next((name for name, is_given in there.items() if is_given), None)


def may_pay(question: Question) -> bool:
    """Whether a look at paths costs little beside all roots: these are not few, nor swept by a GPU."""
    graph, device = question.graph, question.settings.device
    is_for_gpu = device == "auto" and graph.n * graph.nnz >= tuning.GPU_WORK and table.count_gpus() > 0
    return graph.n >= _VERTICES and not is_for_gpu


def needed_bytes(graph: Graph, threads: int) -> int:
    """Bound the bytes of a run: graph, samplers, sequence, two arrays of counts, scores and their bounds.

    A sampler takes 16 bytes a vertex, and for three places, more once float64 cannot count the paths of a pair.
    """
    samplers = threads * (int(_SAMPLERS[graph.indices.dtype].bytes(graph.n)) + 16 * (graph.n + 3))
    return bytes_of_graph(graph) + samplers + bytes_of(arrays_of_sequence(graph.n)) + 5 * 8 * graph.n


class Paths:
    """An estimate by paths: `begin` draws the first look, then `answer` the rest."""

    def __init__(self, question: Question) -> None:
        graph, request, self._wanted = question.graph.on_host, question.request, question.wanted
        threads = question.settings.usable_threads
        while (needed := needed_bytes(graph, threads)) > (room := question.room.for_need(needed, "cpu")):
            if threads == 1:
                raise OutOfMemoryError(
                    f"paths need up to {in_units(needed)}, but the budget is {in_units(room)}; {raised_by()}"
                )
            threads -= 1
        self._work = PathCounts(graph, int(parse_generator(question.rng).integers(2**63)), threads)
        self._edges, self._progress, self._pilot = graph.nnz, question.settings.progress, NONE_DONE
        everyone = Population(graph, request, np.arange(graph.n), inf, Reduced((whole(graph, request),)))
        terms = terms_of(question, everyone, np, lambda: inf, lambda reduced: [])
        self._aim = Aim(terms._replace(largest=1.0), question, "paths")

    def begin(self) -> None:
        """Draw the first look; one that meets many edges ends early, so that it costs little if roots are chosen."""
        begun, most = time.perf_counter(), _LOOK_EDGES * self._edges
        self._look(_LOOK, lambda counts: counts.edges >= most or self._aim.has_taken_its_part(begun))
        self._work.batch = max(1, int(_BATCH_EDGES / self._edges_a_path))

    def _look(self, last: int, enough: Callable[[Counts], bool]) -> None:
        """Draw the pilot up to sample `last`, or until it is enough, and foresee the rounds by it."""
        self._pilot = self._sum(self._pilot, last, enough)
        terms = self._aim.terms.of_round(self._work.finish(self._pilot))
        self._sequence = self._aim.pilot(Sequence.of_pilot(inf, self._pilot.done, *terms))

    @property
    def _edges_a_path(self) -> float:
        return max(_LEAST_EDGES, float(self._pilot.whole.edges / self._pilot.done))

    @property
    def have_met_none(self) -> bool:
        """Whether no path led through any vertex: nothing tells how many are needed."""
        return not self._pilot.whole.through.any()

    @property
    def work(self) -> float:
        """The predicted work of the rest, in edges that a sweep of all roots would go through."""
        return (self._aim.foreseen - self._sequence.drawn) * self._edges_a_path * _AS_EDGES

    @property
    def is_short(self) -> bool:
        """Whether the rest takes no longer than to reduce the graph, or to choose a method for roots."""
        return self.work <= _LOOK_EDGES * self._edges

    @property
    def least_roots(self) -> float:
        """The roots that are needed if their terms do not vary; without a guarantee a pilot may be enough."""
        if not self._wanted.guarantee:
            return PILOT["cpu"]
        paths = self._sequence.foreseen(self._aim.errors(self._sequence), calmer=_CALM)
        return paths - self._sequence.drawn + PILOT["cpu"]

    def answer(self) -> Answer:
        """Draw the rest of the pilot, then rounds until the goal is reached."""
        aim, begun, is_limited = self._aim, time.perf_counter(), self._wanted.max_seconds is not None
        if self.have_met_none and self._wanted.error is None and not is_limited:
            raise InvalidValueError(
                f"samples='paths': none of {self._pilot.done} paths led through a vertex, so that the highest score "
                "may be 0; pass error= or max_seconds=, or samples='roots'"
            )
        if (last := int(min(aim.foreseen, _ENDLESS) / _PART)) > self._pilot.done and not aim.is_out_of_time():
            self._look(last, lambda counts: aim.has_taken_its_part(begun))
        sequence = self._sequence
        # The time may end within a round, and lose it.
        sizes = sizes_of_rounds(_ENDLESS, "cpu", foreseen=None if is_limited else aim.foreseen, pilot=sequence.drawn)
        with ExitStack() as stack:
            meter = self._meter(sequence.drawn, stack)
            for size in sizes[1:].tolist():
                if aim.is_reached(sequence) or aim.is_out_of_time():
                    break
                end = sequence.drawn + size
                total = self._sum(Total(sequence.drawn), end, lambda counts: aim.is_out_of_time(), meter)
                if total.done < end:
                    break
                sequence = aim.plus(sequence, size, self._work.finish(total))
        scores, lower, upper = aim.intervals(sequence)
        reason = aim.reason(sequence, f"{sequence.drawn} paths")
        return Answer((scores, lower, upper), reason, paths=sequence.drawn)

    def _sum(self, total: Total, last: int, enough: Callable[[Counts], bool], meter: Meter | None = None) -> Total:
        self._work.enough = enough
        return sum_over(self._work, threaded, total, last, () if meter is None else [partial(meter.keep, 0)])

    def _meter(self, drawn: int, stack: ExitStack) -> Meter | None:
        if not self._progress:
            return None
        stretch = Stretch(int(min(self._aim.foreseen, _ENDLESS)), drawn, self._edges_a_path)
        return Meter([stretch], self._progress, "", stack, "path")
