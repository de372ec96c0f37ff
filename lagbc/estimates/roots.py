"""Estimates from random roots: a first round, then more rounds, or all roots where these take no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Read
from lagbc.call import Call, carriers_of, prepare, require_memory, sum_call, sum_request
from lagbc.errors import InvalidValueError
from lagbc.estimates.aim import Aim, Pilot, Sequence
from lagbc.estimates.terms import Answer, Question, Terms, Values, terms_of
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.planning.plan import sweep_of_small
from lagbc.planning.population import (
    LEAST_PILOT,
    PILOT,
    Population,
    draw,
    plan_rounds,
    population_of,
    sizes_of_pilot,
    sizes_of_rounds,
    takes_linear,
)
from lagbc.planning.sweep import Sweep, row_of
from lagbc.reduce.pieces import Reduced, Small, Whole, whole
from lagbc.request import Request, parse_generator
from lagbc.run.partial import Checkpoint, digests_of
from lagbc.run.rounds import Rounds
from lagbc.run.run import meter_of, sum_piece, tell_resumed, work_of
from lagbc.run.work import NONE_DONE, Carrier, PieceWork, sum_over

# The part of `max_seconds` for the probe that chooses a method: without a bound it took as long as ten roots.
_PROBE_PART = 0.1
# All roots take no longer than a larger part of them.
_MOST_PART = 0.7


class Roots:
    """An estimate by roots: `begin` sweeps a first round, then `answer` the rest."""

    def __init__(self, question: Question, carriers: ExitStack) -> None:
        self._question, self._carriers = question, carriers
        self._wanted, self._settings = question.wanted, question.settings
        self._device = "cpu"  # until there is a plan
        self._carry: Carrier | None = None  # of the executor, once it is made

    @cached_property
    def population(self) -> Population:
        """The vertices from which roots are drawn."""
        question = self._question
        return population_of(question.graph, question.request, self._settings, question.room)

    @property
    def are_few(self) -> bool:
        """Whether there are too few to draw from."""
        return self.population.size < 3

    def begin(self) -> None:
        """Sweep a first round, and one with linear terms if these may do better; keep the one that foresees less."""
        question, population, file = self._question, self.population, self._settings.checkpoint
        kept = None if file is None else Checkpoint(file)
        order, labels = self._draw_order(kept), () if kept is None else kept.labels
        most = np.inf if self._wanted.max_seconds is None else _PROBE_PART * self._wanted.max_seconds
        plan = plan_rounds(population, order, self._settings, question.room, labels, most)
        (sweep,) = plan.sweeps
        row = row_of(whole(population.graph, population.request), sweep)
        self._kept, self._order, self._plan, self._device = kept, order, plan, row.device
        sizes = self._round_sizes()[:1]
        if self._may_cut_pilot:
            sizes = sizes_of_pilot(int(sizes[0]), row.load().batching.block)
        piece, drawn = draw(population, order, sweep, sizes)
        distances = self._bound_distances(order)
        terms = terms_of(question, population, row.arrays, distances, self._sum_small)
        found = [self._first_round(piece, drawn, terms)]
        aim, sequence = found[0]
        may_be_linear = question.name == "dependency" and not aim.is_out_of_time()
        if may_be_linear and takes_linear(population, sweep) and aim.may_be_linear(sequence):
            found.append(self._first_round(piece, drawn._replace(linear=True), terms.linear()))
        self._aim, self._sequence = min(found, key=lambda one: one[0].foreseen)

    def work_of(self, drawn: float) -> float:
        """Predict the work of so many roots, or of all if that is less, in edges that a sweep of all goes through."""
        work = self.population.work_of(drawn)
        return min(work, self.population.work) if self._may_be_all else work

    @property
    def work(self) -> float:
        """The predicted work of the rest, in the same unit."""
        return self.work_of(self._aim.foreseen - self._sequence.drawn)

    def answer(self) -> Answer:
        """Draw rounds, or sweep all roots."""
        foreseen, population = self._aim.foreseen, self.population
        is_most = foreseen > _MOST_PART * population.size
        if self._may_be_all and (is_most or population.work_of(foreseen - self._sequence.drawn) > population.work):
            return self.sweep_all(f"{foreseen:.0f} of {population.size} roots would do, and all take no longer")
        return self._draw_rounds()

    @property
    def _may_be_all(self) -> bool:
        return self._wanted.max_roots is None and self._wanted.max_seconds is None

    def sweep_all(self, reason: str) -> Answer:
        """Sweep all roots; the answer's reason begins with this one."""
        question = self._question
        if question.name == "distance" and question.graph.nnz and (question.graph.n < 3 or self.are_few):
            self._bound_distances(np.zeros(1, np.int64))()  # raises the error of a graph that is not connected
        call = prepare(question.graph, (question.centrality,), Read(), self._settings, question.arguments)
        scores = question.centrality.finish(sum_call(call), call.arguments)
        return Answer((scores, scores, scores), f"{reason}: scores are exact", question.graph.n, exact=True)

    def _draw_order(self, kept: Checkpoint | None) -> NDArray[np.int64]:
        """Draw the order of the roots; without `rng` a checkpoint's run goes on in the order that it has."""
        size, rng = self.population.size, self._question.rng
        if rng is None and kept is not None and (before := kept.sample(size, size)) is not None:
            return before
        return parse_generator(rng).permutation(size)

    def _sum_small(self, reduced: Reduced) -> list[Sums]:
        """Sum the small blocks of a reduced graph."""
        small = [piece for piece in reduced.pieces if isinstance(piece, Small)]
        settings = self._settings._replace(threads=self._settings.own_threads)  # they are summed in this process
        return [sum_piece(piece, sweep_of_small(piece, settings), self._question.room) for piece in small]

    @property
    def _may_cut_pilot(self) -> bool:
        """Whether the time may end the first round; not with a checkpoint, where another run goes on."""
        return self._wanted.max_seconds is not None and self._settings.checkpoint is None

    def _round_sizes(self, foreseen: float | None = None, pilot: int | None = None) -> NDArray[np.int64]:
        if self._wanted.max_seconds is not None:  # the time may end within a round, and lose it
            foreseen = None
        return sizes_of_rounds(self.population.size, self._device, self._wanted.max_roots, foreseen, pilot)

    def _first_round(self, piece: Whole, sweep: Sweep, terms: Terms) -> tuple[Aim, Sequence]:
        self._require_memory(piece)
        work = self._rounds(piece, sweep).towards(Pilot(terms, self._question, started=time.perf_counter()))
        total = sum_over(work, self._carrier(work))
        aim = Aim(terms, self._question)
        return aim, aim.pilot(total.whole)

    def _rounds(self, piece: Whole, sweep: Sweep) -> Rounds:
        return cast(Rounds, work_of(piece, sweep, self._question.room))

    def _require_memory(self, piece: Whole) -> None:
        reduced = Reduced((piece,))
        require_memory(Call(piece.graph, piece.request, self._settings, self._question.room, reduced, self._plan))

    def _carrier(self, work: PieceWork) -> Carrier:
        """Return the carrier of a round; an executor has one carrier for all rounds."""
        if self._settings.executor is None:
            return carriers_of(self._plan, [work], self._settings, self._carriers)[0]
        if self._carry is None:
            (self._carry,) = carriers_of(self._plan, [work], self._settings, self._carriers)
        return self._carry

    def _bound_distances(self, order: NDArray[np.int64]) -> Callable[[], float]:
        """Return a function that bounds all distances: by the farthest to a root and the farthest from it."""

        def bound() -> float:
            graph = self._question.graph
            roots = np.sort(order[: LEAST_PILOT if self._may_cut_pilot else PILOT["cpu"]])
            out = self._depths(graph, roots, "from")
            back = self._depths(graph.transpose, roots, "to") if graph.directed else out
            return float((out + back).min())

        return bound

    def _depths(self, graph: Graph, roots: NDArray[np.int64], way: str) -> Values:
        """Return the largest distance of each root; ValueError if a vertex is out of reach."""
        request = Request(sums=frozenset({"depth", "reached"}), roots=roots)
        found = sum_request(graph, request, self._settings._replace(checkpoint=None, progress=False)).sums
        expected = len(roots) - np.isin(np.arange(graph.n), roots)
        if len(apart := np.flatnonzero(found.reached != expected)):
            vertex = apart[0] if (names := self._question.graph.names) is None else names[int(apart[0])]
            raise InvalidValueError(
                f"closeness is estimated of connected graphs{', strongly if directed' if graph.directed else ''}, and "
                f"no path leads {way} some root {'to' if way == 'from' else 'from'} vertex {vertex}; harmonic "
                "centrality is estimated of any"
            )
        depths: Values = found.depth[roots]
        return depths

    def _draw_rounds(self) -> Answer:
        """Draw rounds after the first, until the goal is reached."""
        population, plan, aim, sequence = self.population, self._plan, self._aim, self._sequence
        pilot, *sizes = self._round_sizes(aim.foreseen, sequence.drawn).tolist()
        linear = aim.terms.is_linear
        label = f" {self._wanted} {self._question.vertices} {linear}"
        if sizes and not aim.is_reached(sequence):
            later, (sweep,) = self._order[pilot:], plan.sweeps
            piece, drawn = draw(population, later, sweep, np.array(sizes), linear=linear, label=label)
            self._require_memory(piece)
            plan.warn_of_less_memory(self._settings.batch)
            sequence = self._sweep(self._rounds(piece, drawn).towards(aim, sequence), label)
        scores, lower, upper = map(as_numpy, aim.intervals(sequence))
        reason = aim.reason(sequence, f"{sequence.drawn} of {population.size} roots")
        return Answer((scores, lower, upper), reason, sequence.drawn, exact=sequence.is_exact)

    def _sweep(self, work: Rounds, label: str) -> Sequence:
        """Sweep rounds; with a checkpoint, from its total on."""
        kept, order, totals = self._kept, self._order, [NONE_DONE]
        with ExitStack() as stack:
            if kept is not None:
                digests = digests_of(work.graph, work.piece.request._replace(roots=order), work.sweep.dtype, label)
                kept.belong(digests, order)
                stack.push(kept.end)
                totals = kept.begin([work], totals)
                tell_resumed([work], totals, self._settings)
            reduced, settings = Reduced((work.piece,)), self._settings
            meter = meter_of(reduced, [work], totals, settings, stack) if settings.progress else None
            (total,) = totals
            if not work.is_enough(total):
                keeps = [partial(keeper.keep, 0) for keeper in (kept, meter) if keeper is not None]
                total = sum_over(work, self._carrier(work), total, keeps=keeps)
        found: Any = total.whole or work.begun
        return found  # type: ignore[no-any-return]
