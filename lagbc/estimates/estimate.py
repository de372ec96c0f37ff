"""`lagbc.estimate`: its arguments, the choice between roots and paths, and its result."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.arguments import OF_THE_SCORES, OF_THE_SUMS, Arguments, Read
from lagbc.call import on_device_of
from lagbc.calls import log_plan, raise_if_stopped, running
from lagbc.centrality.compute import as_returned, made_on_ranks
from lagbc.errors import InvalidTypeError, InvalidValueError, OutOfMemoryError
from lagbc.estimates.aim import highest
from lagbc.estimates.paths import Paths, may_pay, unfit
from lagbc.estimates.roots import Roots
from lagbc.estimates.terms import Answer, Question, Values, Wanted, estimated_sum, find_estimated, sums_of
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, numbers_of
from lagbc.graph.validate import take_graph
from lagbc.limits import Room
from lagbc.methods.sums import PATH_SUMS
from lagbc.methods.table import reading_gpu
from lagbc.options import Options, Settings, check_options, communicator, parse_count, parse_real, refuses_places
from lagbc.planning.devices import begin_on_device
from lagbc.planning.population import PROBED
from lagbc.request import Request, parse_tolerance, parse_vertices, require_flags, warn_of_ties
from lagbc.scores.records import Centrality, require_taken
from lagbc.types import Auto, GraphLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RELATIVE_ERROR = 0.1
# Rows of a table by default.
_ROWS = 10
_SAMPLES = ("auto", "roots", "paths")


class Ranked(NamedTuple):
    """A vertex among the highest of an estimate."""

    vertex: Any  # its name, or its number
    score: float
    lower: float
    upper: float
    tied: bool  # whether a vertex outside the k highest may be as high, by the intervals


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Scores and their intervals, as `lagbc.estimate` returns them.

    Attributes
    ----------
    centrality : str
    scores, lower, upper : ndarray of float64, shape (n,)
        In the order of the vertices, or of `vertices` of the call; of edges sparse matrices in the pattern of A.
    roots : int
        The number of roots that were drawn; 0 where paths were.
    paths : int
        The number of paths that were drawn.
    exact : bool
        Whether all roots were drawn: then the scores are exact.
    guaranteed : bool
        Whether the intervals hold for all scores at once with the confidence; else each does by itself, as if the mean
        of its terms were normal.
    confidence : float
    reason : str
        Why no more samples were drawn.
    top : tuple of Ranked
        The `top` highest vertices, ten by default, the highest first. Empty for edges.
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
    paths: int = 0
    _plotted: tuple[Values, Values, Values] = field(repr=False, default=(np.zeros(0),) * 3)

    def __str__(self) -> str:
        """Return the reason, and a table of the highest vertices."""
        longest = max((len(name) for _, name, *_ in self._rows), default=0)
        form = f"{{:>4}} {{:>{max(longest, 12)}}} {{:>12}} {{:>12}} {{:>12}}  {{}}"
        return "\n".join([self._caption, *(form.format(*row).rstrip() for row in self._rows)])

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows)
        return f"<table><caption>{escape(self._caption)}</caption>{rows}</table>"

    @property
    def _caption(self) -> str:
        return f"{self.centrality}: {self.reason}"

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """The rows of the table with its head; none for edges."""
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
            To draw in; by default in a figure of its own.
        """
        from lagbc.plots.charts import draw_estimate

        return draw_estimate(*self._plotted, name=self.centrality, reason=self.reason, path=path, ax=ax)


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
    samples: Auto | Literal["roots", "paths"] = "auto",
    max_roots: int | None = None,
    max_seconds: float | None = None,
    rng: int | np.random.Generator | None = None,
    rtol: float | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    r"""Estimate a centrality from random samples, with an interval for each score.

    With probability `confidence` every score, of all vertices at once, lies within its interval. Roots, or for "bc"
    shortest paths, are drawn until the intervals are narrow enough; if that takes nearly all roots, all are swept and
    the scores are exact.

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
        False takes each interval as if the mean of its terms were normal: from 5 to 30 times fewer samples, each
        interval for itself, and wrong more often where few samples score a vertex.
    top : int, optional
        The number of highest vertices wanted: samples are drawn until they are certain, or tied within `tie`.
    tie : float, optional
        A fraction, as `error`. By default the half-width in force without `top`; with 0 all are to be told apart, and
        two equal scores never are before all roots are swept.
    vertices : array_like of int, or of names, optional
        Scores of these vertices alone, in this order.
    samples : str
        "roots" searches all shortest paths from random vertices. "paths" draws random pairs of vertices, and of each
        pair one of its shortest paths, by searches from both ends that meet: of "bc" in hops, on the CPU, by the
        threads of one process, without a checkpoint, `max_roots`, `batch`, or a `method` by name. "auto" takes those
        that are predicted to take less, by some of each; where one of these arguments is given, and on graphs that are
        small or swept by a GPU, roots.
    max_roots : int, optional
        The most roots; the intervals may then be wider than wanted.
    max_seconds : float, optional
        No round goes on after so many seconds, but for the first, which has a quarter of them, and 4 roots or 128 paths
        at least; with a checkpoint it has 128 roots (256 on a GPU). Another run may end after another round.
    rng : int or numpy.random.Generator, optional
        Draws the samples.
    rtol : as for `lagbc.bc`
    normalized : bool
        Whether scores of "bc" and "edge_bc" are shares of all pairs.
    endpoints : bool
        As for `lagbc.bc`; of undirected graphs.
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    Estimate
        ``.scores``, ``.lower`` and ``.upper``, ``.roots``, ``.paths``, ``.exact``, ``.reason`` and ``.top``; it can be
        printed, and has a ``.plot()``.

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
    and Schultes 2008) are taken if a first round promises fewer roots. A path has the term 1 at the vertices between
    its ends; pairs are drawn with replacement. The intervals are empirical-Bernstein confidence sequences (Waudby-Smith
    and Ramdas 2024), of roots without replacement; docs/estimates.md has the rule. A path costs the edges that its two
    searches meet, some thousand on networks of low diameter, and each thread has 28 bytes a vertex for them (48 beyond
    2**31 vertices).
    Scores are the same for all threads and batches, and so is the choice of samples without `max_seconds`. On a `grid`
    of ranks, which have no "edge_bc" and no `endpoints`, they are those of one process with ``reduce="none"``, but for
    rounding.

    Examples
    --------
    >>> star = lagbc.graph_from_edges([0] * 400, [*range(1, 401)], directed=False)
    >>> found = lagbc.estimate(star, relative_error=0.2, rng=1)
    >>> bool(found.lower[0] <= 1 <= found.upper[0])
    True
    """
    own = tuple(signature(estimate).parameters)[2:-1]  # the names of keywords
    wanted = _parse_wanted(relative_error, error, confidence, guarantee, top, tie, max_roots, max_seconds)
    arguments = Arguments(rtol=rtol, endpoints=endpoints, normalized=normalized).checked()
    if samples not in _SAMPLES:
        raise InvalidValueError(f"samples={samples!r} is none of {', '.join(map(repr, _SAMPLES))}")
    # Arguments of other functions; only for k the check of options names the argument that is meant.
    if of_others := [name for name in (*OF_THE_SUMS, *OF_THE_SCORES, "which") if name in options and name != "k"]:
        raise InvalidTypeError(f"estimate takes no {of_others[0]}; it takes A, centrality, {', '.join(own)}")

    def here(A: GraphLike, read: Read, options: Options) -> Estimate:
        settings, estimated = check_options(batch, options, lambda: own), find_estimated(centrality)
        asked = estimated, arguments, settings, wanted, vertices
        _require_taken(*asked)
        begun, told = time.perf_counter(), f"estimate of {estimated.name}"
        with running(told, settings.stop, settings.checkpoint), reading_gpu(A, settings.devices):
            uploads = partial(begin_on_device, A, lambda: PROBED, settings)
            graph = take_graph(A, **read._asdict(), uploads=uploads if samples != "paths" else None)
            raise_if_stopped()
            question = _question(graph, *asked, rng, begun)
            with ExitStack() as carriers:
                answer = _answer(question, samples, carriers)
            log_plan(told, answer.reason)
            return _estimate_of(A, question, answer)

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


def _require_taken(
    centrality: Centrality, arguments: Arguments, settings: Settings, wanted: Wanted, vertices: ArrayLike | None
) -> None:
    """Raise ValueError for arguments and options that no estimate takes, or none of this centrality."""
    name = estimated_sum(centrality)
    require_taken((centrality,), arguments._replace(normalized=False))
    if settings.dtype != "float64":
        raise InvalidValueError("dtype: squares of terms are summed in 'float64'")
    if vertices is not None and wanted.top is not None:
        raise InvalidValueError("top is of all vertices: it does not go with vertices")
    if name == "edges" and (vertices is not None or wanted.top is not None):
        raise InvalidValueError("vertices and top are of vertices; edge_bc has scores of edges: leave them out")


def _question(
    graph: Graph,
    centrality: Centrality,
    arguments: Arguments,
    settings: Settings,
    wanted: Wanted,
    vertices: ArrayLike | None,
    rng: int | np.random.Generator | None,
    begun: float,
) -> Question:
    """Check the arguments that depend on the graph."""
    name = estimated_sum(centrality)
    if name not in ("dependency", "edges"):
        arguments = arguments._replace(normalized=False)
    if arguments.endpoints and graph.directed:
        raise InvalidValueError("endpoints are counted in estimates of undirected graphs alone; leave it out")
    request = Request(sums=sums_of(name), roots=np.arange(graph.n), rtol=parse_tolerance(arguments.rtol))
    settings = on_device_of(graph, request, settings) if graph.is_on_device else settings
    if request.sums & PATH_SUMS:
        warn_of_ties(graph, arguments.rtol, request.roots)
    places = None
    if vertices is not None:
        given = numbers_of("vertices", graph.names, vertices)
        places = parse_vertices("vertices", graph.n, given, graph.names)
        if not len(places):
            raise InvalidValueError("vertices is empty")
    if wanted.top is not None and wanted.top > graph.n:
        raise InvalidValueError(f"top={wanted.top}: the graph has {graph.n} vertices")
    room = Room.of_call(settings.memory, graph)
    return Question(graph, centrality, name, arguments, settings, room, request, wanted, places, rng, begun)


def _answer(question: Question, samples: str, carriers: ExitStack) -> Answer:
    """Draw roots or paths as `samples` asks, for "auto" by the predicted work."""
    roots = Roots(question, carriers)
    if question.graph.n < 3 or not question.graph.nnz:
        return roots.sweep_all("there are few roots" if question.graph.nnz else "there are no edges")
    paths = None if samples == "roots" else _look_at_paths(question, samples)
    if paths is not None and (samples == "paths" or paths.is_short):
        return paths.answer()
    if roots.are_few:
        return roots.sweep_all("there are few roots")
    if paths is not None and paths.work <= roots.work_of(paths.least_roots):
        return paths.answer()
    roots.begin()
    return paths.answer() if paths is not None and paths.work <= roots.work else roots.answer()


def _look_at_paths(question: Question, samples: str) -> Paths | None:
    """Draw the first paths; None if only roots come into question."""
    if (other := unfit(question)) is not None or (samples == "auto" and not may_pay(question)):
        if samples == "auto":
            return None
        raise InvalidValueError(
            f"samples='paths' does not go with {other}: paths are of bc, in hops, and drawn by the threads of one "
            "process, as many as it takes; leave it out, or pass samples='roots'"
        )
    try:
        paths = Paths(question)
    except OutOfMemoryError:
        if samples == "auto":
            return None
        raise
    paths.begin()
    return None if samples == "auto" and paths.have_met_none else paths


def _estimate_of(A: GraphLike, question: Question, answer: Answer) -> Estimate:
    """Make the result of the call."""
    vertices, found = question.vertices, answer.found
    if vertices is not None:
        found = found[0][vertices], found[1][vertices], found[2][vertices]
    of = A, question.graph, question.centrality
    scores, lower, upper = (as_returned(*of, [one], question.arguments) for one in found)
    is_of_edges = question.name == "edges"
    return Estimate(
        question.centrality.name,
        scores=scores,
        lower=lower,
        upper=upper,
        roots=answer.roots,
        paths=answer.paths,
        exact=answer.exact,
        guaranteed=question.wanted.guarantee or answer.exact,
        confidence=1.0 if answer.exact else question.wanted.confidence,
        reason=answer.reason,
        top=() if is_of_edges else _ranked(found, question.wanted.top or _ROWS, vertices, question.graph.names),
        _plotted=found,
    )


def _ranked(
    found: tuple[Values, Values, Values], k: int, vertices: NDArray[np.int64] | None, names: Names | None
) -> tuple[Ranked, ...]:
    """Return rows of the k highest, marked as tied if another vertex may be as high."""
    scores, lower, upper = found
    chosen = highest(scores, k)
    highest_of_rest = upper[~chosen].max(initial=-np.inf)
    places = np.flatnonzero(chosen)
    rows = list[Ranked]()
    for place in places[np.argsort(-scores[places], kind="stable")].tolist():
        number = place if vertices is None else int(vertices[place])
        vertex = number if names is None else names[number]
        bounds = float(scores[place]), float(lower[place]), float(upper[place])
        rows.append(Ranked(vertex, *bounds, tied=bool(lower[place] < highest_of_rest)))
    return tuple(rows)
