"""Estimates with intervals that hold for all vertices at once: rounds of random roots until they are narrow enough."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.arguments import OF_THE_SCORES, OF_THE_SUMS, Arguments, Read
from lagbc.call import Call, carriers_of, on_device_of, open_checkpoint, prepare, require_memory, sum_call, sum_request
from lagbc.calls import log_plan, raise_if_stopped, running
from lagbc.centrality.compute import as_returned, made_on_ranks
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.estimates.ranking import Ranked, gap, ranked
from lagbc.estimates.terms import Terms, estimated_sum, find_estimated, sums_of, terms_of
from lagbc.graph.csr import as_numpy, module_of
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.graph.validate import take_graph
from lagbc.limits import Room
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.options import (
    Options,
    Settings,
    check_options,
    communicator,
    parse_count,
    parse_real,
    refuses_places,
)
from lagbc.planning.devices import is_read_on_device, reading_gpu
from lagbc.planning.plan import Plan, sweep_of_small
from lagbc.planning.population import (
    LEAST_PILOT,
    PILOT,
    PROBED,
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
from lagbc.request import Request, parse_generator, parse_tolerance, parse_vertices, require_flags, warn_of_ties
from lagbc.run.partial import digests_of
from lagbc.run.rounds import Rounds, Sequence, aims_of_top
from lagbc.run.run import keep_total, meter_of, sum_piece, work_of
from lagbc.run.work import NONE_DONE, Carrier, PieceWork, sum_over
from lagbc.scores.records import Centrality, require_taken
from lagbc.types import Auto, GraphLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Values = NDArray[np.float64]

_RELATIVE_ERROR = 0.1
# Rows of a table by default.
_ROWS = 10
# The part of the time that the probe for the choice of the method takes: without a bound it took as long as ten roots.
_PROBE_PART = 0.1
# The part of the time that is left for the first round.
_PILOT_PART = 0.25
# The largest part of the roots that is drawn: from here on all roots take no longer.
_MOST_PART = 0.7
# The factor by which linear terms lower the variance of high vertices, at most, as a rule.
_CALMER = 3.1
# The least error of a mean that is asked for: where all means are 0 in the first round, a part of them is nothing.
_LEAST_ERROR = 1e-12
# Steps of a search for an error.
_HALVINGS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Scores and their intervals, as `lagbc.estimate` returns them.

    Attributes
    ----------
    centrality : str
    scores, lower, upper : ndarray of float64, shape (n,)
        In the order of the vertices, or of `vertices` of the call; of edges sparse matrices in the pattern of A.
    roots : int
        The number of roots that were drawn.
    exact : bool
        Whether all roots were drawn, so that the scores are exact.
    guaranteed : bool
        Whether the intervals hold for all scores at once with the confidence; else each by itself, if it were normal.
    confidence : float
    reason : str
        The reason why no more roots were drawn.
    top : tuple of Ranked
        The `top` highest of the call, or ten, in their order. None of edges.
    """

    centrality: str
    scores: Any
    lower: Any
    upper: Any
    roots: int
    exact: bool
    guaranteed: bool
    confidence: float
    reason: str
    top: tuple[Ranked, ...] = ()
    _plotted: tuple[Values, Values, Values] = field(repr=False, default=(np.zeros(0),) * 3)

    def __str__(self) -> str:
        """Return the table, and the reason."""
        longest = max((len(name) for _, name, *_ in self._rows), default=0)
        form = f"{{:>4}} {{:>{max(longest, 12)}}} {{:>12}} {{:>12}} {{:>12}}  {{}}"
        return "\n".join([self._caption, *(form.format(*row).rstrip() for row in self._rows)])

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows)
        return f"<table><caption>{escape(self._caption)}</caption>{rows}</table>"

    @property
    def _caption(self) -> str:
        return f"{self.centrality}: {self.reason}"

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """The rows of the table, its head among them; none of edges."""
        mark = "tied" if "tied" in self.reason else "uncertain"
        rows: list[tuple[str, ...]] = [
            (f"{rank}", f"{row.vertex!s}", *(f"{number:.6g}" for number in row[1:4]), mark if row.tied else "")
            for rank, row in enumerate(self.top, 1)
        ]
        return [("rank", "vertex", "score", "from", "to", ""), *rows] if rows else []

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
        """Draw scores in the order of their ranks, with their intervals.

        Parameters
        ----------
        path : path-like, optional
            File of the figure; its suffix gives the format.
        ax : matplotlib Axes, optional
            They are drawn in, and their figure is returned.
        """
        from lagbc.plots.charts import draw_estimate

        return draw_estimate(*self._plotted, name=self.centrality, reason=self.reason, path=path, ax=ax)


class Wanted(NamedTuple):
    """The wanted quality of an estimate, and the limits of its run."""

    relative_error: float | None  # relative_error, error: the wanted error; one of them is None
    error: float | None
    confidence: float
    guarantee: bool
    top: int | None
    tie: float | None
    max_roots: int | None
    max_seconds: float | None

    @property
    def words(self) -> str:
        """The wanted half-width of intervals, for messages."""
        if self.error is not None:
            return f"{self.error:g}"
        return f"{self.relative_error:g} of the highest"

    def width(self, highest: float) -> float:
        """Return the half-width in force, as a fraction; `highest` is the lower bound of the highest score."""
        return self.error if self.error is not None else (self.relative_error or 0.0) * highest


# Called after each round, with the roots so far, the half-width, the wanted half-width, and the roots foreseen.
Watch = Callable[[int, float, float, float], object]
_watch: ContextVar[Watch | None] = ContextVar("lagbc estimate", default=None)


@contextmanager
def reporting_rounds(watch: Watch) -> Iterator[None]:
    """Call a function after each round of estimates in a block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@dataclass(slots=True, eq=False)
class Aim:
    """The goal of rounds: intervals as narrow as wanted, or the k highest told from the others."""

    terms: Terms
    wanted: Wanted
    of_score: float  # the score of a fraction of 1
    begun: float
    vertices: NDArray[np.int64] | None = None
    watch: Watch | None = None
    error: float = 0.0  # as a fraction, fixed after the pilot
    foreseen: float = 0.0
    _reached: dict[int, bool] = field(default_factory=dict)

    @property
    def failure(self) -> float:
        """The largest probability that any interval misses."""
        return 1 - self.wanted.confidence

    def pilot(self, sequence: Sequence) -> Sequence:
        """Fix the error of the goal, and the prices, by the first round."""
        most = float(self._asked(self.terms.scores(sequence.mean)).max())
        self.error = self._within_reach(sequence, max(self.wanted.width(most), _LEAST_ERROR))
        errors = self.errors(sequence)
        priced = sequence.priced(errors, self.failure)
        foreseen = priced.foreseen_normal(errors, self.wanted.confidence)
        self.foreseen = priced.foreseen(errors) if self.wanted.guarantee else foreseen
        return priced

    def _within_reach(self, sequence: Sequence, error: float) -> float:
        """Return the least error within reach of `max_roots`, not below `error`; the rates of all rounds follow it."""
        most, means = self.wanted.max_roots, sequence.mean
        if most is None or self.wanted.top is not None or not self.wanted.guarantee:
            return error
        far, steps = max(1.0, error), 0
        if sequence.foreseen(self.terms.errors(error, means), self.failure) <= most:
            return error
        while far > 1.01 * error and steps < _HALVINGS:
            middle, steps = (error * far) ** 0.5, steps + 1
            is_reached = sequence.foreseen(self.terms.errors(middle, means), self.failure) <= most
            error, far = (error, middle) if is_reached else (middle, far)
        return far

    def may_be_linear(self, sequence: Sequence) -> bool:
        """Whether linear terms, of twice the range and less variance, might take fewer roots.

        Both sides share failures alike: prices of a plain pilot promise too few roots where few have high terms.
        """
        if not self.wanted.guarantee:
            return True
        errors = self.errors(sequence)
        linear = sequence.foreseen(errors / 2, self.failure, calmer=4 * _CALMER)
        return linear < sequence.foreseen(errors, self.failure)

    def errors(self, sequence: Sequence) -> float | Values:
        """Return the wanted error of each mean."""
        fractions: float | Values = self.error
        if self.wanted.top is not None:
            scores = self.terms.scores(sequence.mean) / self.of_score
            tie = self.error if self.wanted.tie is None else self.wanted.tie
            fractions = aims_of_top(scores, self.wanted.top, max(tie, 1e-300))
            fractions = fractions if self.terms.shown is None else fractions[self.terms.shown]
        errors: float | Values = np.maximum(self.terms.errors(fractions, sequence.mean), _LEAST_ERROR)
        return errors

    def _asked(self, scores: Values) -> Values:
        """Return the scores of the wanted vertices, as fractions."""
        asked = scores if self.vertices is None else scores[module_of(scores).asarray(self.vertices)]
        fractions: Values = asked / self.of_score
        return fractions

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Add a round."""
        assert sequence is not None
        return sequence.plus(sequence.rates(self.errors(sequence)), count, *self.terms.of_round(sums))

    def intervals(self, sequence: Sequence) -> tuple[Values, Values, Values]:
        """Return scores with their lower and upper bounds, of all vertices or edges, on the device of the sums."""
        if self.wanted.guarantee:
            centre, (least, most) = sequence.centre, sequence.bounds
        else:
            centre, (least, most) = sequence.mean, sequence.normal_bounds(self.wanted.confidence)
        scores = self.terms.scores(np.clip(centre, least, most))
        return (scores, *self.terms.bounds(np.maximum(least, 0), most))

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether the intervals are narrow enough; computed and reported once a round."""
        if sequence.drawn not in self._reached:
            self._reached[sequence.drawn] = self._is_reached(sequence)
        return self._reached[sequence.drawn]

    def _is_reached(self, sequence: Sequence) -> bool:
        scores, lower, upper = map(self._asked, self.intervals(sequence))
        width = self.wanted.width(float(lower.max()))
        if self.wanted.top is None:
            half = float(np.maximum(upper - scores, scores - lower).max())
        else:
            half = gap(scores, lower, upper, self.wanted.top)
            width = width if self.wanted.tie is None else self.wanted.tie
        if self.watch is not None:
            self.watch(sequence.drawn, half, width, self.foreseen)
        return half <= width

    def is_out_of_time(self) -> bool:
        """Whether `max_seconds` are over."""
        most = self.wanted.max_seconds
        return most is not None and time.perf_counter() - self.begun > most


@dataclass(slots=True, eq=False)
class Pilot(Aim):
    """The goal of the first round, or of its parts, as many as a part of the time takes."""

    started: float = 0.0

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Add a part."""
        total, squares = self.terms.of_round(sums)
        if sequence is not None:
            count, total, squares = sequence.drawn + count, sequence.total + total, sequence.squares + squares
        return Sequence.of_pilot(self.terms.population.size, count, total, squares)

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether it has taken its part of `max_seconds`."""
        end = np.inf if self.wanted.max_seconds is None else self.begun + self.wanted.max_seconds
        return time.perf_counter() - self.started > _PILOT_PART * (end - self.started)

    def is_out_of_time(self) -> bool:
        """Never: there would be no estimate."""
        return False


@refuses_places
def estimate(
    A: GraphLike,
    centrality: str = "bc",
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    relative_error: float = _RELATIVE_ERROR,
    error: float | None = None,
    confidence: float = 0.95,
    guarantee: bool = True,
    top: int | None = None,
    tie: float | None = None,
    vertices: ArrayLike | None = None,
    max_roots: int | None = None,
    max_seconds: float | None = None,
    rng: int | np.random.Generator | None = None,
    rtol: float | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    r"""Estimate a centrality from random roots, with an interval for each score.

    With probability `confidence` every score, of all vertices at once, lies within its interval. Roots are drawn until
    the intervals are narrow enough; if that takes nearly all roots, all are swept and the scores are exact.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    centrality : str
        "bc", "edge_bc", "harmonic", or "closeness" of a connected graph (a strongly connected one, if it is directed).
    relative_error : float
        The wanted error of every score, as a part of the lower bound of the highest score.
    error : float, optional
        In its place the error as a fraction: of all pairs for "bc" and "edge_bc", as of `normalized` scores, of n - 1
        for "harmonic"; for "closeness" as a score.
    confidence : float
        Between 0 and 1.
    guarantee : bool
        False takes each interval as if the mean of its terms were normal: from 5 to 30 times fewer roots, each interval
        for itself, and wrong more often where few roots score a vertex.
    top : int, optional
        The number of highest vertices wanted: roots are drawn until they are certain, or tied within `tie`.
    tie : float, optional
        A fraction, as `error`. By default the half-width in force without `top`; with 0 all are to be told apart, and
        two equal scores never are before all roots are swept.
    vertices : array_like of int, or of names, optional
        Scores of these vertices alone, in this order.
    max_roots : int, optional
        The most roots; the intervals may then be wider than wanted.
    max_seconds : float, optional
        No round goes on after so many seconds, but for the first, which has a quarter of them and 4 roots at least;
        with a checkpoint it has 128 (256 on a GPU). Another run may end after another round.
    rng : int or numpy.random.Generator, optional
        Draws the roots.
    rtol : as for `lagbc.bc`
    normalized : bool
        Whether scores of "bc" and "edge_bc" are shares of all pairs.
    endpoints : bool
        As for `lagbc.bc`; of undirected graphs.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    Estimate
        ``.scores``, ``.lower`` and ``.upper``, ``.roots``, ``.exact``, ``.reason`` and ``.top``; it can be printed, and
        has a ``.plot()``.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong, or means nothing to the centrality.
    CheckpointError, OSError, KeyboardInterrupt, StoppedError
        As for `lagbc.bc`: the checkpoint has the finished rounds, and the round at hand.

    Notes
    -----
    A root s has the term :math:`x_s(v) = \delta_s(v) / (n - 1)` in [0, 1], whose mean over all s is the score. Of
    undirected graphs, terms with the same mean that count a pair (s, t) by the nearness of v to t (Geisberger, Sanders
    and Schultes 2008) are taken if a first round promises fewer roots. The intervals are empirical-Bernstein
    confidence sequences (Waudby-Smith and Ramdas 2024) of draws without replacement; docs/estimates.md has the rule.
    Scores are the same for all threads and batches; on a `grid` of ranks, which have no "edge_bc" and no `endpoints`,
    they are those of one process with ``reduce="none"``, but for rounding.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1.0] * 400, ([0] * 400, range(1, 401))), shape=(401, 401))
    >>> found = lagbc.estimate(star, directed=False, relative_error=0.2, rng=1)
    >>> bool(found.lower[0] <= 1 <= found.upper[0])
    True
    """
    own = tuple(signature(estimate).parameters)[2:-1]  # the names of keywords
    wanted = _parse_wanted(relative_error, error, confidence, guarantee, top, tie, max_roots, max_seconds)
    arguments = Arguments(rtol=rtol, endpoints=endpoints, normalized=normalized).checked()
    # Of the arguments of others, k is one that another name is meant for.
    if of_others := [name for name in (*OF_THE_SUMS, *OF_THE_SCORES, "which") if name in options and name != "k"]:
        raise InvalidTypeError(f"estimate takes no {of_others[0]}; it takes A, centrality, {', '.join(own)}")

    def here(A: GraphLike, read: Read, options: Options) -> Estimate:
        settings = check_options(batch, options, lambda: own)
        return run_estimate(Asked(A, find_estimated(centrality), read, settings, arguments, wanted, vertices, rng))

    read, key = Read(directed, weighted, strength), f"estimate {centrality}"
    if (comm := communicator(options)) is None:
        return here(A, read, options)
    return made_on_ranks(comm, A, read, options, here, key, lambda: sums_of(estimated_sum(find_estimated(centrality))))


def _parse_wanted(
    relative_error: Any, error: Any, confidence: Any, guarantee: Any, top: Any, tie: Any, roots: Any, seconds: Any
) -> Wanted:
    """Check the wanted quality of an estimate, and the limits of its run."""
    require_flags(guarantee=guarantee)
    relative = _parse_positive("relative_error", relative_error)
    if error is not None and relative != _RELATIVE_ERROR:
        raise InvalidValueError("error takes the place of relative_error: give one of them")
    absolute = None if error is None else _parse_positive("error", error)
    share = parse_real("confidence", confidence)
    if not 0 < share < 1:
        raise InvalidValueError(f"confidence={confidence!r}: it is a probability between 0 and 1")
    within = None if tie is None else parse_real("tie", tie)
    if within is not None and (top is None or not within >= 0):
        raise InvalidValueError(f"tie={tie!r}: it is a fraction, 0 or more, and goes with top")
    return Wanted(
        relative_error=None if absolute is not None else relative,
        error=absolute,
        confidence=share,
        guarantee=bool(guarantee),
        top=None if top is None else parse_count("top", top),
        tie=within,
        max_roots=None if roots is None else parse_count("max_roots", roots),
        max_seconds=None if seconds is None else _parse_positive("max_seconds", seconds),
    )


def _parse_positive(name: str, value: Any) -> float:
    number = parse_real(name, value)
    if not 0 < number < np.inf:
        raise InvalidValueError(f"{name}={value!r}: it is a number > 0")
    return number


class Asked(NamedTuple):
    """The arguments of a call of `estimate`."""

    A: GraphLike
    centrality: Centrality
    read: Read
    settings: Settings
    arguments: Arguments
    wanted: Wanted
    vertices: ArrayLike | None
    rng: int | np.random.Generator | None


def run_estimate(asked: Asked) -> Estimate:
    """Carry out a call of `estimate`."""
    name = estimated_sum(asked.centrality)
    _require_taken(asked, name)
    begun, told = time.perf_counter(), f"estimate of {asked.centrality.name}"
    settings = asked.settings
    with running(told, settings.stop, settings.checkpoint), reading_gpu(asked.A, asked.settings.devices):
        uploads = partial(is_read_on_device, asked.A, lambda: PROBED, asked.settings)
        graph = take_graph(asked.A, **asked.read._asdict(), uploads=uploads)
        raise_if_stopped()
        run = _Run(asked, graph, name, begun)
        with run.carriers:
            found = run.result()
        log_plan(told, found.reason)
        return found


def _require_taken(asked: Asked, name: str) -> None:
    """Raise an error for arguments and options that do not go with an estimate, or with its centrality."""
    given = asked.arguments._replace(normalized=False)
    require_taken((asked.centrality,), given)
    if asked.settings.dtype != "float64":
        raise InvalidValueError("dtype: squares of terms are summed in 'float64'")
    if asked.vertices is not None and asked.wanted.top is not None:
        raise InvalidValueError("top is of all vertices: it does not go with vertices")
    if name == "edges" and (asked.vertices is not None or asked.wanted.top is not None):
        raise InvalidValueError("vertices and top are of vertices; edge_bc has scores of edges: leave them out")


class _Run:
    """A run of an estimate."""

    def __init__(self, asked: Asked, graph: Graph, name: str, begun: float) -> None:
        self._asked, self._graph, self._name, self._begun = asked, graph, name, begun
        arguments = asked.arguments
        if name not in ("dependency", "edges"):
            arguments = arguments._replace(normalized=False)
        if arguments.endpoints and graph.directed:
            raise InvalidValueError("endpoints are counted in estimates of undirected graphs alone; leave it out")
        self._arguments, self._wanted = arguments, asked.wanted
        self._device = "cpu"  # until a plan tells another one
        self._room = Room.of_call(asked.settings.memory, graph)
        self.carriers = ExitStack()
        self._carry: Carrier | None = None  # of an executor
        sums = sums_of(name)
        self._request = Request(sums=sums, roots=np.arange(graph.n), rtol=parse_tolerance(arguments.rtol))
        is_there, settings = graph.is_on_device, asked.settings
        self._settings = on_device_of(graph, self._request, settings) if is_there else settings
        if sums & PATH_SUMS:
            warn_of_ties(graph, arguments.rtol, self._request.roots)
        self._vertices = self._vertex_numbers()
        if (top := self._wanted.top) is not None and top > graph.n:
            raise InvalidValueError(f"top={top}: the graph has {graph.n} vertices")

    def _vertex_numbers(self) -> NDArray[np.int64] | None:
        if self._asked.vertices is None:
            return None
        given = numbers_of("vertices", self._graph.names, self._asked.vertices)
        numbers = parse_vertices("vertices", self._graph.n, given, self._graph.names)
        if not len(numbers):
            raise InvalidValueError("vertices is empty")
        return numbers

    def result(self) -> Estimate:
        """Draw rounds, or sweep all roots."""
        population = population_of(self._graph, self._request, self._settings, self._room)
        if population.size < 3 or self._graph.n < 3:
            if self._name == "distance" and self._graph.n:
                self._bound_distances(np.zeros(1, np.int64))()  # there are none of a graph that is not connected
            return self._sweep_all("there are few roots")
        self._kept = open_checkpoint(self._settings)
        order = self._draw_order(population)
        plan, aim, sequence = self._pilot(population, order)
        may_be_all = self._wanted.max_roots is None and self._wanted.max_seconds is None
        is_most = aim.foreseen > _MOST_PART * population.size
        if may_be_all and (is_most or population.work_of(aim.foreseen - sequence.drawn) > population.work):
            words = f"{aim.foreseen:.0f} of {population.size} roots would do"
            return self._sweep_all(f"{words}, and all take no longer")
        return self._draw_rounds(population, order, plan, aim, sequence)

    def _draw_order(self, population: Population) -> NDArray[np.int64]:
        """Draw the roots, or take the order of the run that goes on, if no generator is given."""
        size = population.size
        if self._asked.rng is None and self._kept is not None and (before := self._kept.sample(size, size)) is not None:
            return before
        return parse_generator(self._asked.rng).permutation(size)

    def _pilot(self, population: Population, order: NDArray[np.int64]) -> tuple[Plan, Aim, Sequence]:
        """Sweep a first round, with linear terms, too, if they may do better, and take the better ones."""
        most = np.inf if self._wanted.max_seconds is None else _PROBE_PART * self._wanted.max_seconds
        labels = () if self._kept is None else self._kept.labels
        plan = plan_rounds(population, order, self._settings, self._room, labels, most)
        (sweep,) = plan.sweeps
        row = row_of(whole(population.graph, population.request), sweep)
        self._device = row.device
        sizes = self._round_sizes(population)[:1]
        if self._may_cut_pilot:
            sizes = sizes_of_pilot(int(sizes[0]), row.load().batching.block)
        piece, drawn = draw(population, order, sweep, sizes)
        terms = terms_of(
            self._graph,
            self._asked.centrality,
            self._arguments,
            population,
            row.arrays,
            self._vertices,
            self._bound_distances(order),
            self._sum_small,
        )
        found = [self._first_round(piece, plan, drawn, terms)]
        aim, sequence = found[0]
        may_be_linear = self._name == "dependency" and not aim.is_out_of_time()
        if may_be_linear and takes_linear(population, sweep) and aim.may_be_linear(sequence):
            found.append(self._first_round(piece, plan, drawn._replace(linear=True), terms.linear()))
        return plan, *min(found, key=lambda one: one[0].foreseen)

    def _sum_small(self, reduced: Reduced) -> list[Sums]:
        """Sum the small blocks of a reduced graph."""
        small = [piece for piece in reduced.pieces if isinstance(piece, Small)]
        settings = self._settings._replace(threads=self._settings.own_threads)  # they are summed in this process
        return [sum_piece(piece, sweep_of_small(piece, settings), self._room) for piece in small]

    @property
    def _may_cut_pilot(self) -> bool:
        """Whether the time may end the first round; not where another run goes on after it."""
        return self._wanted.max_seconds is not None and self._settings.checkpoint is None

    def _round_sizes(
        self, population: Population, foreseen: float | None = None, pilot: int | None = None
    ) -> NDArray[np.int64]:
        if self._wanted.max_seconds is not None:  # the time may end within a round, and lose it
            foreseen = None
        return sizes_of_rounds(population.size, self._device, self._wanted.max_roots, foreseen, pilot)

    def _first_round(self, piece: Whole, plan: Plan, sweep: Sweep, terms: Terms) -> tuple[Aim, Sequence]:
        self._require_memory(piece, plan)
        aims = (terms, self._wanted, self._of_score, self._begun, self._vertices)
        work = self._rounds(piece, sweep).towards(Pilot(*aims, started=time.perf_counter()))
        total = sum_over(work, self._carrier(plan, work))
        aim = Aim(*aims, _watch.get())
        return aim, aim.pilot(total.whole)

    def _rounds(self, piece: Whole, sweep: Sweep) -> Rounds:
        return cast(Rounds, work_of(piece, sweep, self._room))

    def _require_memory(self, piece: Whole, plan: Plan) -> None:
        reduced = Reduced((piece,))
        require_memory(Call(piece.graph, piece.request, self._settings, self._room, reduced, plan))

    def _carrier(self, plan: Plan, work: PieceWork) -> Carrier:
        """Return the carrier of rounds; that of an executor is the same for all of them."""
        if self._settings.executor is None:
            return carriers_of(plan, [work], self._settings, self.carriers)[0]
        if self._carry is None:
            (self._carry,) = carriers_of(plan, [work], self._settings, self.carriers)
        return self._carry

    @property
    def _silent(self) -> Settings:
        """The settings of sweeps without progress and checkpoint."""
        return self._settings._replace(checkpoint=None, progress=False)

    @property
    def _of_score(self) -> float:
        """The score of a fraction of 1."""
        n, undirected = self._graph.n, 1 if self._graph.directed else 2
        if self._name == "inverse":
            return float(n - 1)
        if self._name == "distance" or self._arguments.normalized:
            return 1.0
        pairs = (n - 1) * (n - 2) if self._name == "dependency" and not self._arguments.endpoints else n * (n - 1)
        return max(pairs, 1) / undirected

    def _bound_distances(self, order: NDArray[np.int64]) -> Callable[[], float]:
        """Return a bound of all distances: by paths through a vertex, from its distances in both directions."""

        def bound() -> float:
            roots = np.sort(order[: LEAST_PILOT if self._may_cut_pilot else PILOT["cpu"]])
            out = self._depths(self._graph, roots, "from")
            back = self._depths(self._graph.transpose, roots, "to") if self._graph.directed else out
            return float((out + back).min())

        return bound

    def _depths(self, graph: Graph, roots: NDArray[np.int64], way: str) -> Values:
        """Return the largest distances of roots; ValueError if there is no path from, or to, some of them."""
        request = Request(sums=frozenset({"depth", "reached"}), roots=roots)
        found = sum_request(graph, request, self._silent).sums
        expected = len(roots) - np.isin(np.arange(graph.n), roots)
        if len(apart := np.flatnonzero(found.reached != expected)):
            vertex = apart[0] if self._graph.names is None else self._graph.names[int(apart[0])]
            raise InvalidValueError(
                f"closeness is estimated of connected graphs{', strongly if directed' if graph.directed else ''}, and "
                f"no path leads {way} some root {'to' if way == 'from' else 'from'} vertex {vertex}; harmonic "
                "centrality is estimated of any"
            )
        depths: Values = found.depth[roots]
        return depths

    def _draw_rounds(
        self, population: Population, order: NDArray[np.int64], plan: Plan, aim: Aim, sequence: Sequence
    ) -> Estimate:
        """Draw rounds after the first one, until the goal is reached."""
        pilot, *sizes = self._round_sizes(population, aim.foreseen, sequence.drawn).tolist()
        linear = aim.terms.is_linear
        label = f" {self._wanted} {self._vertices} {linear}"
        total = sequence
        if sizes and not aim.is_reached(sequence):
            later, (sweep,) = order[pilot:], plan.sweeps
            piece, drawn = draw(population, later, sweep, np.array(sizes), linear=linear, label=label)
            self._require_memory(piece, plan)
            plan.warn_of_less_memory(self._settings.batch)
            total = self._sweep(self._rounds(piece, drawn).towards(aim, sequence), plan, order, label)
        reason = self._reason(total, population, reached=aim.is_reached(total))
        scores, lower, upper = map(as_numpy, aim.intervals(total))
        return self._result_of((scores, lower, upper), roots=total.drawn, exact=total.is_exact, reason=reason)

    def _sweep(self, work: Rounds, plan: Plan, order: NDArray[np.int64], label: str) -> Sequence:
        """Sweep rounds, from the checkpoint on, if there is one."""
        kept, totals = self._kept, [NONE_DONE]
        with ExitStack() as stack:
            if kept is not None:
                digests = digests_of(work.graph, work.piece.request._replace(roots=order), work.sweep.dtype, label)
                kept.belong(digests, order)
                stack.callback(kept.save)
                totals = kept.begin([work], totals)
            reduced, settings = Reduced((work.piece,)), self._settings
            meter = meter_of(reduced, [work], totals, settings, stack) if settings.progress else None
            (total,) = totals
            if not work.is_enough(total):
                keep = None if kept is None and meter is None else partial(keep_total, kept, meter, 0)
                total = sum_over(work, self._carrier(plan, work), total, keep=keep)
        found: Any = total.whole or work.begun
        return found  # type: ignore[no-any-return]

    def _reason(self, sequence: Sequence, population: Population, *, reached: bool) -> str:
        """Return the reason why no more roots were drawn."""
        drawn = f"{sequence.drawn} of {population.size} roots"
        sure = f"{100 * self._wanted.confidence:g} %"
        held = f"with probability {sure}" if self._wanted.guarantee else f"by normal intervals of {sure} each"
        if sequence.is_exact:
            return "all roots were drawn: scores are exact"
        if reached and self._wanted.top is not None:
            return f"after {drawn} the {self._wanted.top} highest are certain or tied, {held}"
        if reached:
            return f"after {drawn} every score is within {self._wanted.words}, {held}"
        if self._wanted.max_seconds is not None and sequence.drawn != self._wanted.max_roots:
            return f"{drawn} were drawn in max_seconds={self._wanted.max_seconds:g}, which another run may not repeat"
        return f"{drawn} were drawn, as max_roots= asks for; scores are not within {self._wanted.words} yet"

    def _sweep_all(self, reason: str) -> Estimate:
        """Sweep all roots."""
        call = prepare(self._graph, (self._asked.centrality,), Read(), self._settings, self._arguments)
        result = sum_call(call)
        scores = self._asked.centrality.finish(result, call.arguments)
        return self._result_of(
            (scores, scores, scores), roots=self._graph.n, exact=True, reason=f"{reason}: scores are exact"
        )

    def _result_of(self, found: tuple[Values, Values, Values], *, roots: int, exact: bool, reason: str) -> Estimate:
        """Make the result of the call."""
        vertices = self._vertices
        if vertices is not None:
            found = found[0][vertices], found[1][vertices], found[2][vertices]
        of = self._asked.A, self._graph, self._asked.centrality
        shown = [as_returned(*of, [one], self._asked.arguments) for one in found]
        top = () if self._name == "edges" else ranked(found, self._wanted.top or _ROWS, vertices, self._graph.names)
        return Estimate(
            self._asked.centrality.name,
            scores=shown[0],
            lower=shown[1],
            upper=shown[2],
            roots=roots,
            exact=exact,
            guaranteed=self._wanted.guarantee or exact,
            confidence=1.0 if exact else self._wanted.confidence,
            reason=reason,
            top=top,
            _plotted=found,
        )
