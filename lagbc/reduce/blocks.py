"""The block-cut tree: a graph falls into its bicomponents, and each is summed by itself.

All paths between different branches at a cut vertex v lead through v, so that they need no search:

    F(v) = cut(v) + sum over bicomponents B with v in B of F_B(v),   where v has in B the weights of the branches beyond
    E(u, v) = E_B(u, v) of the bicomponent of that edge

In a bicomponent of one edge, and in hops in a clique, no vertex lies between two others. Large bicomponents are pieces
of their own. All small ones are one piece: a slice of them is one compiled call, which polls no signal.

A vertex has a *copy* in each of its bicomponents. The copies of a bicomponent are numbered one after the other, in the
order of the vertices. Their rows have copies as columns, too: a block-diagonal matrix in canonical rows, made without
sorting. No arc leaves a bicomponent, so that its strong components, too, are numbered one after the other.

References
----------
R. Puzis, P. Zilberman, Y. Elovici, S. Dolev and U. Brandes, Heuristics for speeding up betweenness centrality
computation, SocialCom-PASSAT 2012, 302-311.
R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972) 146-160.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.csr import index_type
from lagbc.graph.graph import Graph
from lagbc.graph.host import less, rows_of
from lagbc.native import core, csr, parts_of_rows, share, until_stopped
from lagbc.reduce.weighted import NotReducible, Scores, Weighted, check_range

# A length that is at least this part of the length of a path is not lost in its sum.
_KEPT = 2.0**-50
# The kinds of bicomponents: no vertex lies between two others; in the piece of small ones; a piece of its own.
_DIRECT, _SMALL, _LARGE = 0, 1, 2


class Copies(NamedTuple):
    """The vertices of bicomponents."""

    ptr: Any  # int64 (blocks + 1,): the copies of bicomponent b are ``ptr[b]`` to ``ptr[b + 1]``
    vertices: Any  # (copies,): the vertex of each copy, ascending in a bicomponent
    # (n,): the bicomponent that has each vertex as a member, or -1; see lagbc/native/kernels/reduce/biconnected.h
    home: Any
    at_home: Any  # (n,): the copy of the vertex there, or -1
    attach: Any  # (blocks,): the attachment of each bicomponent: the one vertex that is no member
    at_attach: Any  # (blocks,): the copy of the attachment
    # hung_ptr, hung: (n + 1,) and (blocks,): the bicomponents that have each vertex as attachment, ascending
    hung_ptr: Any
    hung: Any


class Rows(NamedTuple):
    """The graphs of bicomponents, and the weights of their vertices."""

    ptr: Any  # int64 (blocks + 1,): as in `Copies`
    # indptr, indices: (copies + 1,) and (nnz,): rows and columns are copies
    indptr: Any
    indices: Any
    weights: Any  # float64 (nnz,): lengths of the edges
    sources: Any  # sources, targets: float64 (copies,)
    targets: Any

    @property
    def are_roots(self) -> Any:
        """(copies,): whether each copy has sources and edges."""
        return (self.sources > 0) & (self.indptr[1:] > self.indptr[:-1])

    def places(self, first: int, last: int) -> tuple[slice, slice]:
        """Return the copies and the entries from the first to the last of some bicomponents."""
        begin, end = int(self.ptr[first]), int(self.ptr[last + 1])
        return slice(begin, end), slice(int(self.indptr[begin]), int(self.indptr[end]))


class Strong(NamedTuple):
    """The strong components of all bicomponents."""

    component: Any  # int32 or int64 (copies,): of each copy; an arc leads to the same number or a smaller one
    component_ptr: Any  # int64 (blocks + 1,): the first component of each bicomponent
    # member_ptr, members: (components + 1,) and (copies,): the copies of each component, ascending
    member_ptr: Any
    members: Any


def find_strong(ptr: Any, indptr: Any, indices: Any) -> Strong:
    """Find the strong components of bicomponents, by arrays of `Rows`; O(copies + nnz)."""
    return Strong(*until_stopped(partial(core.find_strong, ptr, indptr, indices), len(indices)))


@singledispatch
def find_reaching_all(graph: Any) -> NDArray[np.bool_] | None:
    """Mark the vertices that reach all others: those of the one strong component that no edge enters."""
    graph = graph.on_host
    strong = find_strong(np.array([0, graph.n]), graph.indptr, graph.indices)
    _, entered, *_ = core.condense(graph.indptr, graph.indices, strong)
    is_first = np.ones(len(strong.member_ptr) - 1, np.bool_)
    is_first[entered] = False
    found: NDArray[np.bool_] = is_first[strong.component] & (np.count_nonzero(is_first) == 1)
    return found


class Tree(NamedTuple):
    """The way from the sums of bicomponents to the sums of their graph."""

    copies: NDArray[Any]  # (copies,): the vertex of each copy
    cut: Scores  # (n,): the demand between different branches at each vertex
    places: NDArray[np.int64] | None  # (entries,): the edge of each entry; None if edges are not summed
    direct: Scores  # (entries,): E in bicomponents without a vertex between two others; (0,) if edges are not summed
    large: tuple[tuple[slice, slice], ...]  # copies and entries of each large bicomponent

    def scores(self, large: Sequence[Scores], small: Scores | None) -> Scores:
        """Return F of the graph, from F of each large bicomponent, and F at the copies of small ones."""
        inside = np.zeros(len(self.copies)) if small is None else small.copy()
        for (copies, _), of_block in zip(self.large, large, strict=True):
            inside[copies] = of_block
        return self.cut + np.bincount(self.copies, inside, len(self.cut))  # type: ignore[no-any-return]

    def edge_scores(self, large: Sequence[Scores], small: Scores | None) -> Scores:
        """Return E of the graph, from E of each large bicomponent, and E at the entries of small ones."""
        entries = self.direct.copy() if small is None else self.direct + small
        for (_, edges), of_block in zip(self.large, large, strict=True):
            entries[edges] = of_block
        found = np.empty(len(entries))
        found[self.places] = entries
        return found


class Split(NamedTuple):
    """The bicomponents of a graph."""

    large: tuple[Weighted, ...]
    small: SmallBlocks
    tree: Tree


@in_phase("order")
def split(piece: Weighted, *, edges: bool = False) -> Split:
    """Split a piece, on the host, into its bicomponents; O(n + nnz), nothing is swept. `edges` says to sum edges, too.

    A directed graph is split as its pattern taken both ways. If there is only one bicomponent, it has the graph itself.
    In hops, and with whole lengths, scores are exact but for rounding. Sums of other lengths begin inside a
    bicomponent, so that ties may fall otherwise. Raises ValueError for vertices with members, OverflowError for weights
    beyond `check_range`, and NotReducible for a directed graph with many cut vertices that reach large and different
    sets.
    """
    if piece.class_sizes is not None:
        raise InvalidValueError("vertices of blocks have no members: split first, merge then")
    check_range(piece)
    graph, both = piece.graph, piece.graph.symmetric
    home, attach = until_stopped(partial(core.find_blocks, csr(both.indptr, both.indices)), both.nnz)
    ptr, vertices, at_home, at_attach, hung_ptr, hung = core.lay_out(home, attach)
    copies = Copies(ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung)
    places = np.empty(graph.nnz, np.int64) if edges or graph.weighted else None
    indices = np.empty(graph.nnz, index_type(len(copies.vertices)))
    indptr = lay_rows(graph.indptr, graph.indices, copies, indices, places)
    lengths = None if graph.weights is None else graph.weights[places]
    sources, targets, cut = _weigh(piece, copies, indptr, indices, symmetric=both is graph)
    rows = Rows(copies.ptr, indptr, indices, lengths, sources, targets)
    roots, work, kinds = _classify(rows)
    direct = _direct_edges(rows, kinds == _DIRECT) if edges else np.zeros(0)
    few, large, parts = np.flatnonzero(kinds == _SMALL), list[tuple[slice, slice]](), list[Weighted]()
    for block in np.flatnonzero(kinds == _LARGE).tolist():
        large.append(rows.places(block, block))
        parts.append(_part(graph, rows, *large[-1]))
    small = SmallBlocks(rows, few, roots[few], work[few].astype(np.int64))
    return Split(tuple(parts), small, Tree(copies.vertices, cut, places if edges else None, direct, tuple(large)))


def lay_rows(indptr: Any, indices: Any, copies: Copies, columns: Any, places: Any) -> NDArray[np.int64]:
    """Write the columns of the rows of all copies, and their places in the graph if asked for; return the pointers."""
    of_graph, parts = (indptr, indices, copies), parts_of_rows(indptr)
    laid = np.zeros(len(copies.vertices) + 1, np.int64)
    share(core.count_laid, parts, of_graph, (laid,))
    np.cumsum(laid, out=laid)
    share(core.lay_rows, parts, of_graph, (laid.copy(), columns, places))
    return laid


def _weigh(
    piece: Weighted, copies: Copies, indptr: Any, indices: Any, *, symmetric: bool
) -> tuple[Scores, Scores, Scores]:
    """Return the sources and targets of all copies, and the demand between branches at each vertex.

    NotReducible tells that a directed graph may take too long.
    """
    if symmetric:  # each bicomponent is a strong component
        blocks, members = len(copies.attach), np.arange(len(copies.vertices), dtype=copies.vertices.dtype)
        component = np.repeat(members[:blocks], np.diff(copies.ptr))
        found = Strong(component, np.arange(blocks + 1), copies.ptr, members)
        back = ends = np.zeros(blocks + 1, np.int64)
        tails = heads = indices[:0]
    else:
        found = find_strong(copies.ptr, indptr, indices)
        ends, heads, back, tails = core.condense(indptr, indices, found)
        work = np.count_nonzero(piece.sources) * piece.graph.nnz
        if _most_steps(copies, found, ends) > max(tuning.FEW_STEPS, tuning.MOST_STEPS * work):
            raise NotReducible
    sources, of_sources = core.spread_along(copies, found, back, tails, True, piece.sources)
    targets, of_targets = sources, of_sources
    if not symmetric or not np.array_equal(piece.targets, piece.sources):
        targets, of_targets = core.spread_along(copies, found, ends, heads, False, piece.targets)
    return sources, targets, core.sum_separated(copies, of_sources, of_targets)


def _most_steps(copies: Copies, found: Strong, ends: Any) -> float:
    """Bound the steps of ``core.spread_along`` beyond O(copies + arcs).

    In a bicomponent, each strong component with a cut vertex visits all strong components, and 64 of them at a time
    visit all arcs between these. The arcs of component c are before ``ends[c + 1]``.
    """
    sizes, components = np.diff(copies.ptr), np.diff(found.component_ptr)
    hangs = np.diff(copies.hung_ptr)[copies.vertices] > 0
    seeds = np.bincount(np.repeat(np.arange(len(sizes)), sizes), hangs, len(sizes))
    seeds = np.minimum(seeds, components)
    arcs = np.diff(ends[found.component_ptr])
    return float((seeds * components + np.ceil(seeds / 64) * arcs).sum())


def _classify(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]:
    """Return the count of roots, roots times stored edges, and the kind of each bicomponent."""
    begins, first_edges = rows.ptr[:-1], rows.indptr[rows.ptr[:-1]]
    sizes, entries = np.diff(rows.ptr), np.diff(rows.indptr[rows.ptr])
    if not len(sizes):
        return sizes, np.zeros(0), np.zeros(0, np.int8)
    roots = np.add.reduceat(rows.are_roots, begins, dtype=np.int64)
    work = np.multiply(roots, entries, dtype=np.float64)  # it may exceed int64
    small = (sizes <= tuning.SMALL_VERTICES) & (work <= tuning.SMALL_WORK)
    direct = (sizes == 2) | (roots == 0) | (np.maximum.reduceat(rows.targets, begins) == 0)
    if rows.weights is None:
        direct |= entries == sizes * (sizes - 1)
    else:
        shortest = np.minimum.reduceat(rows.weights, first_edges)
        longest = np.maximum.reduceat(rows.weights, first_edges)
        with np.errstate(over="ignore"):
            small &= shortest > longest * sizes * _KEPT
    return roots, work, np.select([direct, small], [_DIRECT, _SMALL], _LARGE).astype(np.int8)


def _direct_edges(rows: Rows, direct: NDArray[np.bool_]) -> Scores:
    """Return E at the entries of the bicomponents in a mask, in which each path is one edge; 0 elsewhere."""
    of_edges = np.zeros(len(rows.indices))
    entries = np.flatnonzero(np.repeat(direct, np.diff(rows.indptr[rows.ptr])))
    tails, heads = rows_of(rows.indptr, rows.indices)[entries], rows.indices[entries]
    of_edges[entries] = rows.sources[tails] * rows.targets[heads]
    return of_edges


def _part(graph: Graph, rows: Rows, copies: slice, entries: slice) -> Weighted:
    """Return the bicomponent with these copies and entries, in slices of the arrays."""
    part = graph
    if copies.stop - copies.start < graph.n:
        indptr = rows.indptr[copies.start : copies.stop + 1] - entries.start
        lengths = None if rows.weights is None else rows.weights[entries]
        indices = less(rows.indices[entries], copies.start, graph.indices.dtype)
        part = Graph(indptr, indices, graph.directed, lengths)
    return Weighted(part, rows.sources[copies], rows.targets[copies])


@dataclass(eq=False)
class SmallBlocks:
    """Small bicomponents, in slices of some 50 milliseconds each, between which a caller can report and stop.

    A search reads and writes the bicomponent of its root alone. Threads take different bicomponents, whose sums have
    places of their own, so that threads change no bit.
    """

    rows: Rows  # of all bicomponents
    numbers: NDArray[np.int64]  # (small,): the numbers of the small ones, ascending
    roots: NDArray[np.int64]  # (small,): count of roots of each
    # (small,): roots times stored edges of each; one takes 10 ns in hops, 15 to 50 with lengths
    work: NDArray[np.int64]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The end of each slice, where the work so far passes a multiple of the work of a slice."""
        if not len(self.numbers):
            return np.zeros(0, np.int64)
        slices = np.cumsum(self.work + tuning.BLOCK_WORK) // tuning.SLICE_WORK
        return np.append(np.flatnonzero(np.diff(slices)) + 1, len(slices))

    def prepare(self) -> None:
        """Compute the cached properties before threads share them."""
        _ = self.ends, self._all_roots, self._of_copies

    def places(self, number: int) -> tuple[slice, slice]:
        """Return the copies and the entries from the first to the last bicomponent of a slice."""
        first, last = self._blocks_of(number)
        return self.rows.places(self.numbers[first], self.numbers[last - 1])

    def _blocks_of(self, number: int) -> tuple[int, int]:
        return (int(self.ends[number - 1]) if number else 0), int(self.ends[number])

    @cached_property
    def _all_roots(self) -> NDArray[np.int64]:
        """The copies that are roots in small bicomponents."""
        chosen = np.zeros(len(self.rows.ptr) - 1, np.bool_)
        chosen[self.numbers] = True
        copies: NDArray[np.int64] = np.flatnonzero(np.repeat(chosen, np.diff(self.rows.ptr)) & self.rows.are_roots)
        return copies

    @cached_property
    def _of_copies(self) -> tuple[NDArray[Any], Scores | None]:
        """Places and distances of searches; a search clears its bicomponent afterwards, so that threads share both."""
        copies = len(self.rows.sources)
        dist = None if self.rows.weights is None else np.full(copies, np.inf)
        return np.full(copies, copies, self.rows.indices.dtype), dist

    def add(self, number: int, scores: Scores, edge_scores: Scores | None) -> None:
        """Add the sums of a slice to F at all copies, and E at all entries; threads may add other slices meanwhile."""
        first, last = self._blocks_of(number)
        rows, blocks = self.rows, self.numbers[first:last]
        # vertices, edges: of the largest bicomponent of the slice
        vertices = int((rows.ptr[blocks + 1] - rows.ptr[blocks]).max())
        edges = int((rows.indptr[rows.ptr[blocks + 1]] - rows.indptr[rows.ptr[blocks]]).max())
        begin = int(self.roots[:first].sum())
        roots = self._all_roots[begin : begin + int(self.roots[first:last].sum())]
        places, dist = self._of_copies
        graph, most, sums = csr(rows.indptr, rows.indices, rows.weights), (vertices, edges), (scores, edge_scores)
        if not core.sum_small_blocks(graph, roots, rows.targets, rows.sources, places, dist, *most, *sums):
            raise OutOfRangeError("a small block has path counts or lengths that float64 does not hold")


# ---- Bytes

# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied on a
# device: 1.1 to 3 times the measured bytes on twelve kinds of graphs.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# Peak bytes of lengths: some copies are held while the lengths of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# Bytes while a graph is taken apart: per vertex; per entry, without lengths and sums of edges, and with them. They are
# 1.0 to 3.6 times the measured bytes on nine networks.
_DECOMPOSED_BYTES, _DECOMPOSED_ENTRY_BYTES = 112, (104, 124)


def reduction_bytes(graph: Graph, *, edges: bool) -> int:
    """Bound the bytes of a graph and its reduction on the host."""
    a_entry = _DECOMPOSED_ENTRY_BYTES[edges or graph.weighted]
    return bytes_of_graph(graph) + graph.n * _DECOMPOSED_BYTES + graph.nnz * a_entry


def graph_bytes(n: int, entries: int, *, weighted: bool) -> int:
    """Bound the bytes of a graph, with so many entries both ways, while it is read, ordered and copied."""
    return n * _GRAPH_BYTES_PER_VERTEX + entries * (_GRAPH_BYTES_PER_ENTRY + weighted * _LENGTH_BYTES_PER_ENTRY)


def bytes_of_graph(graph: Graph) -> int:
    """Bound the bytes of a graph; a directed graph is not made symmetric for that."""
    both_ways = graph.nnz * (2 if graph.directed and graph.transpose is not graph else 1)
    return graph_bytes(graph.n, both_ways, weighted=graph.weighted)
