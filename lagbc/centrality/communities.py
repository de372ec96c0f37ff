"""Communities by the method of Girvan and Newman: again and again the edge of the highest betweenness is removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.arguments import Arguments, Read
from lagbc.call import sum_request
from lagbc.calls import phase, raise_if_stopped, running
from lagbc.errors import InvalidValueError, quantity
from lagbc.graph.csr import Csr
from lagbc.graph.graph import Graph
from lagbc.graph.host import weak_components
from lagbc.graph.validate import as_graph
from lagbc.native import core
from lagbc.native import csr as native_csr
from lagbc.options import (
    OPTION_NAMES,
    Options,
    Progress,
    Settings,
    check_options,
    parse_count,
    parse_real,
    refuse_unknown,
)
from lagbc.request import make_request, warn_of_ties
from lagbc.run.run import Meter, Stretch
from lagbc.scores.records import EDGE_BC
from lagbc.types import GraphLike

# Scores that differ by less than this part count as equal: rounding makes some 1e-12 where n is 5000.
TIED = 1e-9
# Options of one run over one graph: here every removal leads to another run.
_OF_ONE_GRAPH = ("checkpoint", "executor", "comm", "grid", "overlap")

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Communities:
    """Communities of a graph at each number of them, by `lagbc.girvan_newman`: a dendrogram.

    Attributes
    ----------
    names : sequence or None
        The names of the vertices, if the graph has some.
    order : ndarray of int64, shape (n,)
        The leaves of the dendrogram from left to right: at every level the vertices of a community are neighbours.
    starts : ndarray of int64, shape (components,)
        The places in `order` at which the components of the graph begin.
    cuts : ndarray of int64, shape (splits,)
        The place in `order` at which each split cuts a community in two, in the order of the splits.
    removed : ndarray of int64, shape (removed edges, 2)
        The ends of the removed edges, in the order of their removal.
    counts : ndarray of int64, shape (splits + 1,)
        The number of communities at each level: of the components first, then one more with each split.
    removals : ndarray of int64, shape (splits + 1,)
        The number of edges that were removed before each level.
    modularity : ndarray of float64, shape (splits + 1,)
        The modularity of each level in the given graph: the share of edges within communities, less the share expected
        at the vertices' degrees, out and in if edges are directed. An edge counts once, or by its strength if strengths
        were given. 0 without edges.
    """

    names: Any
    order: Numbers
    starts: Numbers
    cuts: Numbers
    removed: NDArray[np.int64]
    counts: Numbers
    removals: Numbers
    modularity: NDArray[np.float64]

    def __str__(self) -> str:
        """Return the range of levels, and the best one."""
        of = quantity(len(self.order), "vertex", "vertices")
        levels = f"{self.counts[0]:,} to {self.counts[-1]:,} communities of {of}"
        return f"{levels}; the highest modularity, {self.modularity.max():.4g}, is of {self.best:,}"

    @property
    def best(self) -> int:
        """The number of communities at the level of the highest modularity, the fewest of equal ones."""
        return int(self.counts[np.argmax(self.modularity)])

    def labels(self, k: int | None = None) -> Numbers:
        """Return the community of each vertex at the level of k communities, `best` by default.

        Parameters
        ----------
        k : int, optional
            One of `counts`.

        Returns
        -------
        labels : ndarray of int64, shape (n,)
            Communities are numbered from 0 on, in the order of their first vertices.

        Raises
        ------
        TypeError, ValueError
            There is no level of k communities.
        """
        count = self.best if k is None else parse_count("k", k)
        if count not in self.counts:
            raise InvalidValueError(f"k={k!r}: there are levels of {self.counts[0]} to {self.counts[-1]} communities")
        return labels_of(self.order, np.concatenate([self.starts, self.cuts[: count - len(self.starts)]]))


def labels_of(order: Numbers, starts: Numbers) -> Numbers:
    """Label vertices by their runs of `order`, which begin at `starts`; the first vertices of runs number them."""
    starts = np.sort(starts)
    numbers, labels = np.empty(len(starts), np.int64), np.empty(len(order), np.int64)
    numbers[np.argsort(order[starts])] = np.arange(len(starts))
    labels[order] = np.repeat(numbers, np.diff(starts, append=len(order)))
    return labels


class Part(NamedTuple):
    """A component: its entries row after row, with vertices numbered within it."""

    size: int  # vertices
    rows: NDArray[Any]
    columns: NDArray[Any]
    lengths: NDArray[np.float64] | None
    edges: Numbers  # the edge of each entry

    def kept(self, entries: Any, vertices: NDArray[np.bool_] | None = None) -> Part:
        """Return the part with some entries alone; of some vertices, if these are marked, all ends of the entries."""
        rows, columns = self.rows[entries], self.columns[entries]
        lengths, edges, size = None if self.lengths is None else self.lengths[entries], self.edges[entries], self.size
        if vertices is not None:
            numbers = np.cumsum(vertices, dtype=self.columns.dtype) - self.columns.dtype.type(1)
            rows, columns, size = numbers[rows], numbers[columns], int(np.count_nonzero(vertices))
        return Part(size, rows, columns, lengths, edges)

    def csr(self) -> Csr:
        """Return the compressed rows."""
        indptr = np.append(0, np.cumsum(np.bincount(self.rows, minlength=self.size)))
        return indptr, self.columns, self.lengths


class Division:
    """A graph that loses its edges one after the other.

    `order` has the components one behind the other, each with its vertices ascending; the place at which a component
    begins is its name. Edges are numbered in the order of the matrix; `turns` has the order in which edges of equal
    scores are removed.
    """

    def __init__(self, graph: Graph, settings: Settings, rtol: float | None = None, share: float = 0.0) -> None:
        graph = graph.on_host
        self._graph, self._settings, self._given = graph, settings, Arguments(rtol=rtol)
        self._share, self._in_round, self.traversed = share, 0, 0.0
        rows, columns = graph.rows.astype(np.int64), graph.indices.astype(np.int64)
        first, last = (rows, columns) if graph.directed else (np.minimum(rows, columns), np.maximum(rows, columns))
        pairs, of_entry = np.unique(first * graph.n + last, return_inverse=True)
        self.ends = np.stack(np.divmod(pairs, max(graph.n, 1)), axis=1)  # ascending, as in the matrix
        self.turns = np.arange(len(pairs))
        self.removed, self.cuts = list[int](), list[int]()
        self._scores = np.zeros(len(pairs))  # -1 of a removed edge
        self._place_components(rows, of_entry)
        # For the modularity: sums of whole numbers, and so exact, unless there are strengths.
        self._rows, self._columns = rows, columns
        self._values = 1 / graph.weights if graph.of_strengths and graph.weights is not None else np.ones(graph.nnz)
        self._out = np.bincount(rows, self._values, graph.n)
        self._in = np.bincount(columns, self._values, graph.n)
        self._total, self._within = self._values.sum(), self._values.sum()
        component = graph.components
        self._expected = np.bincount(component, self._out) @ np.bincount(component, self._in)

    def _place_components(self, rows: Numbers, of_entry: Numbers) -> None:
        """Make a part of each component that has edges."""
        graph = self._graph
        component = graph.components
        self.order = np.argsort(component, kind="stable")
        sizes = np.bincount(component)
        self.starts = np.cumsum(sizes) - sizes
        self._start_of = self.starts[component]  # of the component of each vertex
        numbers = np.empty(graph.n, graph.indices.dtype)
        numbers[self.order] = np.arange(graph.n)
        numbers -= self._start_of.astype(numbers.dtype)
        entries = np.argsort(component[rows], kind="stable")
        whole = Part(graph.n, numbers[rows], numbers[graph.indices], graph.weights, of_entry).kept(entries)
        ends = np.cumsum(np.bincount(component[rows], minlength=len(sizes)))
        self._parts = dict[int, Part]()
        self._unsearched = set[int]()
        for start, size, last, count in zip(self.starts, sizes, ends, np.diff(ends, prepend=0), strict=True):
            if count:
                self._parts[int(start)] = whole.kept(slice(last - count, last))._replace(size=int(size))
                self._unsearched.add(int(start))

    @property
    def count(self) -> int:
        """The number of communities."""
        return len(self.starts) + len(self.cuts)

    @property
    def modularity(self) -> float:
        """The modularity of the communities in the whole graph."""
        return float(self._within / self._total - self._expected / self._total**2) if self._total else 0.0

    @property
    def labels(self) -> Numbers:
        """The community of each vertex."""
        return labels_of(self.order, np.concatenate([self.starts, self.cuts]).astype(np.int64))

    def steps(self) -> Iterator[bool]:
        """Remove all edges, one after the other; yield, of each, whether a component fell apart."""
        while (left := len(self._scores) - len(self.removed)) > 0:
            if not self._in_round:
                self._search()
                self._in_round = max(1, int(self._share * left))
            self._in_round -= 1
            yield self._remove(self._next())

    def _search(self) -> None:
        """Compute the scores in the components that have lost an edge since the last search."""
        for start in sorted(self._unsearched):
            raise_if_stopped()
            part = self._parts[start]
            found = self._sum_small(part) if self._takes_small(part) else None
            found = self._sum(part, self.order[start : start + part.size]) if found is None else found
            self._scores[part.edges] = 0
            np.add.at(self._scores, part.edges, found)  # both directions of an undirected edge
            self.traversed += part.size * len(part.edges) / (1 if self._graph.directed else 2)
        self._unsearched.clear()

    def _sum(self, part: Part, vertices: Numbers) -> NDArray[np.float64]:
        """Sum the dependencies on the entries of a component; errors use the graph's names of vertices."""
        csr, directed, names = part.csr(), self._graph.directed, self._graph.names
        graph = Graph.surveyed(csr, directed) or Graph.from_csr(csr, directed)
        graph = graph.with_names(vertices if names is None else [names[v] for v in vertices.tolist()])
        found = sum_request(graph, make_request(graph, EDGE_BC.sums, self._given), self._settings)
        return cast("NDArray[np.float64]", found.sums.edges)

    def _takes_small(self, part: Part) -> bool:
        """Whether to try `_sum_small`: the component is small, and no option asks for more than the kernel does."""
        settings = self._settings
        is_usual = settings.method == "auto" and settings.device != "cuda" and settings.dtype == "float64"
        is_small = part.size <= tuning.SMALL_VERTICES and part.size * len(part.edges) <= tuning.SMALL_WORK
        return is_usual and is_small and not settings.of_some_methods and not self._given.rtol

    def _sum_small(self, part: Part) -> NDArray[np.float64] | None:
        """Sum the same in a small component; None if rounding loses a length: `_sum` then raises the error."""
        n, ones, found = part.size, np.ones(part.size), np.zeros(len(part.edges))
        dist = None if part.lengths is None else np.full(n, np.inf)
        places, rows = np.full(n, n, part.columns.dtype), native_csr(*part.csr())
        with phase("sweep"):
            is_in_range = core.sum_small_blocks(
                rows, np.arange(n), ones, ones, places, dist, n, len(found), np.zeros(n), found
            )
        return found if is_in_range else None

    def _next(self) -> int:
        """Return the edge of the highest score, the first in `turns` of equal ones."""
        in_turn = self._scores[self.turns]
        return int(self.turns[np.argmax(in_turn >= in_turn.max() * (1 - TIED))])

    def _remove(self, edge: int) -> bool:
        """Remove an edge; return whether its component fell apart."""
        self.removed.append(edge)
        self._scores[edge] = -1
        start = int(self._start_of[self.ends[edge, 0]])
        part = self._parts.pop(start)
        part = part.kept(part.edges != edge)
        is_first = weak_components(*part.csr()[:2]) == 0
        if is_first.all():
            self._take(start, part)
            return False
        vertices = self.order[start : start + part.size]  # a view, in ascending order
        first, others = vertices[is_first], vertices[~is_first]
        cut = start + len(first)
        vertices[:] = np.concatenate([first, others])
        self._start_of[others] = cut
        self._unsearched.discard(start)
        for at, kept in ((start, is_first), (cut, ~is_first)):
            self._take(at, part.kept(kept[part.rows], kept))
        self.cuts.append(cut)
        tails, heads = self._start_of[self._rows], self._start_of[self._columns]
        between = ((tails == start) & (heads == cut)) | ((tails == cut) & (heads == start))
        self._within -= self._values[between].sum()
        self._expected -= self._out[first].sum() * self._in[others].sum()
        self._expected -= self._out[others].sum() * self._in[first].sum()
        return True

    def _take(self, start: int, part: Part) -> None:
        """Hold the rest of a component, and have it searched, if it has edges."""
        if len(part.edges):
            self._parts[start] = part
            self._unsearched.add(start)
        else:
            self._unsearched.discard(start)


class _Removals(Meter):
    """The progress of a division, in removed edges."""

    def __init__(self, division: Division, settings: Settings, stack: ExitStack) -> None:
        self._division = division
        stretch = Stretch(len(division.ends), 0, 1.0)
        super().__init__([stretch], settings.progress, "", stack, unit="edge")

    def _state(self) -> Progress:
        state = super()._state()
        return replace(state, gteps=self._division.traversed / max(state.seconds, 1e-9) / 1e9)


def divide(
    A: GraphLike, read: Read, options: Options, rtol: float | None, until: int | None, at_once: float | None
) -> Communities:
    """Divide a graph; arguments as for `lagbc.girvan_newman`."""
    settings = check_run(options, ("directed", "weighted", "strength", "rtol", "until", "at_once"))
    most = None if until is None else parse_count("until", until)
    share = 0.0 if at_once is None else parse_real("at_once", at_once)
    if at_once is not None and not 0 < share <= 1:
        raise InvalidValueError(f"at_once={at_once!r}: it is a share of the edges, more than 0 and at most 1")
    graph = as_graph(A, **read._asdict())
    if most is not None and most > graph.n:
        vertices = quantity(graph.n, "vertex", "vertices")
        raise InvalidValueError(f"until={until!r} communities are more than the graph has vertices: {vertices}")
    with running("girvan_newman", settings.stop), ExitStack() as stack:
        warn_of_ties(graph, rtol, np.arange(graph.n))
        division = Division(graph, settings._replace(progress=False, stop=None), rtol, share)
        meter = _Removals(division, settings, stack)
        removals, modularity, steps = [0], [division.modularity], division.steps()
        while (most is None or division.count < most) and (has_split := next(steps, None)) is not None:
            if has_split:
                removals.append(len(division.removed))
                modularity.append(division.modularity)
            meter.tell(0, len(division.removed))
    return Communities(
        names=graph.names,
        order=division.order,
        starts=division.starts,
        cuts=np.array(division.cuts, np.int64),
        removed=division.ends[division.removed],
        counts=len(division.starts) + np.arange(len(removals)),
        removals=np.array(removals),
        modularity=np.array(modularity),
    )


def check_run(options: Options, own: tuple[str, ...]) -> Settings:
    """Check the options of the runs; TypeError or ValueError names one that is wrong, or not taken."""
    if not OPTION_NAMES.issuperset(options):
        refuse_unknown(options, own)
    for name in _OF_ONE_GRAPH:
        if options.get(name):
            raise InvalidValueError(
                f"{name}={options.get(name)!r} means nothing to girvan_newman, which makes a run of one process after "
                "each removal; leave it out"
            )
    left: Any = {**options, **dict.fromkeys(_OF_ONE_GRAPH), "overlap": False}
    return check_options("auto", left)
