"""Time a run from all roots as it is planned: whole, or near roots of each of its pieces.

A reduced run has pieces with graphs and roots of their own, beside small blocks. Near roots of a piece are whole blocks
of the order in which a run takes them, from all over it; what they take is scaled to all of the piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.call import Call, plan_request, sum_call
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY, Sums
from lagbc.methods.table import Method
from lagbc.options import Options, check_options
from lagbc.planning.plan import make_plan
from lagbc.planning.sweep import Sweep, row_of
from lagbc.reduce.chains import Contracted
from lagbc.reduce.pieces import Chains, Piece, Whole, without_chains
from lagbc.reduce.weighted import NotContractible
from lagbc.request import Request
from lagbc.run.run import sum_piece, work_of
from lagbc.run.work import sum_over, threaded

Roots = NDArray[np.int64]
Clock = Callable[[], float]
Result = TypeVar("Result")

# Near roots are runs of as many as a block of `batched` has, at even distances; junctions are runs of whole groups.
RUN = {"cpu": 64, "cuda": 256}
# Runs that stand for a part, for each thread, however short the budget: those near the hubs take longer than others.
LEAST_RUNS = 4


def near(order: Roots, count: int, length: int) -> Roots:
    """Take about so many roots, in runs of some length, from all over the order; all where there are no more."""
    if len(order) <= count:
        return order
    runs = max(1, count // length)
    starts = np.arange(runs) * (len(order) // length) // runs * length
    return np.concatenate([order[start : start + length] for start in starts])


@dataclass(frozen=True, eq=False)
class Timed:
    """What a run from all roots takes.

    Attributes
    ----------
    call : Call
    planning : float
        Seconds of the reduction, the choice of methods, and putting in order and transposing what is swept.
    sweeping : float
        Seconds of the rest, scaled to all roots where not all were timed.
    roots, timed : int
        How many are to be swept, and how many of them were.
    sums : Sums or None
        Of the run, if it was whole.
    """

    call: Call
    planning: float
    sweeping: float
    roots: int
    timed: int
    sums: Sums | None

    def describe(self) -> dict[str, Any]:
        """Give the columns of a line of results."""
        reduced = self.call.reduced
        return {
            "planning": self.planning,
            "sweeping": self.sweeping,
            "swept": self.roots,
            "timed": self.timed,
            "methods": sorted({f"{'chains, ' * (one.work == 'chains')}{one.method}" for _, one in parts_of(self.call)}),
            "reduction": str(reduced) or None,
            "share": reduced.share,
        }


def parts_of(call: Call) -> list[tuple[Whole | Chains, Sweep]]:
    """Return the pieces of a call that are swept by a method, with their sweeps."""
    return list(zip(call.reduced.large, call.plan.sweeps, strict=False))


def prepare(make: Callable[[], Graph], options: Any, clock: Clock, *, chains: bool = True) -> tuple[Call, float]:
    """Plan a run from all roots of a graph that is new, and do all that comes before its sweeps.

    Twice, as the first time compiles; return the call, and seconds of the faster one.
    """
    taken, settings = [], check_options("auto", cast(Options, options))
    for _ in range(2):
        graph = make()
        begun = clock()
        call = plan_request(graph, Request(DEPENDENCY, np.arange(graph.n)), settings)
        call = call if chains else _with_whole_chains(call)
        for piece, sweep in parts_of(call):
            _line_up(piece, row_of(piece, sweep))
        taken.append(clock() - begun)
    return call, min(taken)


def time_run(
    make: Callable[[], Graph], options: Any, clock: Clock, budget: float, known: Iterable[Timed] = ()
) -> Timed:
    """Time a run from all roots: whole if that takes less than the budget in seconds, else as many as it has time for.

    Kernels are compiled before the clock runs. What would sweep the same as a run that is known takes as long.
    """
    call, planning = prepare(make, options, clock)
    for other in known:
        if _swept(other.call) == _swept(call):
            return replace(other, call=call, planning=planning)
    try:
        return time_call(call, planning, clock, budget)
    except NotContractible:
        call, again = prepare(make, options, clock, chains=False)
        return time_call(call, planning + again, clock, budget)


def time_call(call: Call, planning: float, clock: Clock, budget: float) -> Timed:
    """Time a call that is prepared, as `time_run` does."""
    threads, parts = call.settings.usable_threads, parts_of(call)
    roots = sum(len(_roots_of(piece)) for piece, _ in parts)
    small = call.reduced.pieces[len(parts) :]
    expected = _expect_small(small[-1], call.plan.sweeps[-1], clock) if small else 0.0
    for part in parts:
        _sum_some(*part, _roots_of(part[0])[:1])
        expected += _time_some(*part, threads * RUN["cpu"], clock)[0]
    if expected <= budget:
        taken, result = _time(clock, lambda: sum_call(call))
        return Timed(call, planning, taken, roots, roots, result.sums)
    least, share = LEAST_RUNS * threads * RUN["cpu"], budget / expected
    timed = [_time_some(*part, max(int(len(_roots_of(part[0])) * share), least), clock) for part in parts]
    sweeping = sum(taken for taken, _ in timed)
    if small:
        sweeping += _time(clock, lambda: sum_piece(small[-1], call.plan.sweeps[-1], None))[0]
    return Timed(call, planning, sweeping, roots, sum(count for _, count in timed), None)


def sum_by(row: Method, graph: Graph, roots: Roots, batch: int, sums: frozenset[str] = DEPENDENCY) -> Sums:
    """Sum over roots by one method, on one thread."""
    sweep = Sweep("roots", row.name, row.device, row.weighted, len(roots), batch, 1, "", most=batch)
    return sum_piece(Whole(graph, Request(sums, roots)), sweep, None)


@dataclass(slots=True, eq=False)
class _Some(Contracted):
    """A contracted block of which only some junctions are roots."""

    some: Roots

    @property
    def roots(self) -> Roots:
        return self.some


def _with_whole_chains(call: Call) -> Call:
    """Sweep whole what was contracted."""
    graph, request, settings, room, reduced, *_ = call
    for number, piece in enumerate(reduced.pieces):
        if isinstance(piece, Chains):
            reduced = without_chains(reduced, number, settings)
    return call._replace(reduced=reduced, plan=make_plan(graph, request, reduced, settings, room))


def _swept(call: Call) -> tuple[Any, ...]:
    """Tell which sweeps a call makes from those of other calls of the same network."""
    parts = ((piece.graph.n, piece.graph.nnz, sweep.label, sweep.roots) for piece, sweep in parts_of(call))
    return call.reduced.tree is None, *parts


def _line_up(piece: Whole | Chains, row: Method) -> None:
    if isinstance(piece, Chains):
        _ = piece.graph.reordered.transpose
    else:
        _ = piece.placed(row).reordered.transpose, piece.ordered(row)


def _roots_of(piece: Whole | Chains) -> Roots:
    """Return the roots of a piece that is lined up, in order: vertices, or rows of junctions where it is contracted."""
    if isinstance(piece, Chains):
        return piece.contracted.roots
    assert piece.lined_up is not None
    return piece.lined_up


def _time_some(piece: Whole | Chains, sweep: Sweep, count: int, clock: Clock) -> tuple[float, int]:
    """Time about so many near roots; return what all take by that, and how many were timed."""
    every = _roots_of(piece)
    some = near(every, count, min(count, sweep.batch) if isinstance(piece, Chains) else RUN["cpu"])
    taken, _ = _time(clock, lambda: _sum_some(piece, sweep, some))
    return taken * len(every) / max(len(some), 1), len(some)


def _sum_some(piece: Whole | Chains, sweep: Sweep, roots: Roots) -> Sums:
    if isinstance(piece, Whole):
        return sum_piece(replace(piece, request=piece.request._replace(roots=roots), lined_up=roots), sweep, None)
    whole = {field.name: getattr(piece.contracted, field.name) for field in fields(piece.contracted)}
    return sum_piece(replace(piece, contracted=_Some(**whole, some=roots)), sweep, None)


def _expect_small(piece: Piece, sweep: Sweep, clock: Clock) -> float:
    """Tell from the first slices what all take."""
    work = work_of(piece, sweep, None)
    some = min(work.hands, len(work.items))
    taken, _ = _time(clock, lambda: sum_over(work, threaded, last=some))
    return taken * len(work.items) / some


def _time(clock: Clock, work: Callable[[], Result]) -> tuple[float, Result]:
    begun = clock()
    result = work()
    return clock() - begun, result
