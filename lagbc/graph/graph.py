"""The graph that every method reads: immutable; transposes, orders and copies of it are cached."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.graph.csr import Csr, as_numpy, module_of, ops_of, read_only
from lagbc.graph.given import Rows
from lagbc.graph.host import length_order
from lagbc.graph.names import size_in_words
from lagbc.native import Csr as NativeCsr
from lagbc.native import core
from lagbc.native import csr as native_csr

if TYPE_CHECKING:
    from scipy import sparse


class Outline:
    """A graph that calls take, wherever its edges are: in hops, without names."""

    names: Any = None
    weights: Any = None
    weighted = is_on_device = uploaded = of_strengths = False


@dataclass(frozen=True, eq=False)
class Graph(Outline):
    """A directed pattern in CSR form, without self loops or duplicates, columns ascending in each row.

    Notes
    -----
    The arrays are NumPy's or CuPy's: a graph is on the host or on a device, as are the graphs derived from it. `order`,
    `position` and degrees are always NumPy arrays. NumPy's are read-only. A graph that was unpickled, or whose fields
    were replaced, is checked anew by the next call that takes it.
    """

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[Any]  # (nnz,): row i holds the heads j of the edges i -> j
    directed: bool  # False: the pattern is symmetric and a pair {s, t} counts once
    # (nnz,): lengths of the edges, finite and > 0, symmetric if the pattern has to be; None counts hops
    weights: NDArray[np.float64] | None = None
    # the graph on the host that keeps this one as its copy on a device
    copied_from: ref[Graph] | None = None
    # the depth of the graph that this one is a part of; None searches for it
    known_depth: int | None = None
    # the transpose, of a symmetric graph its own arrays; None makes it on demand
    known_reverse: Csr | None = None
    # whether a matrix of the host was uploaded to be checked on the device
    uploaded: bool = False
    names: Any = None  # of the vertices
    of_strengths: bool = False  # whether the lengths are 1 / w of strengths w
    # n, nnz: numbers of vertices and of stored edges; an undirected edge counts twice
    n: int = field(init=False)
    nnz: int = field(init=False)
    csr: Csr = field(init=False)  # the arrays ``(indptr, indices, weights)``
    weighted: bool = field(init=False, default=False)  # whether edges have lengths
    is_on_device: bool = field(init=False, default=False)  # whether its arrays are CuPy's
    # Arrays that were checked; and unchecked arrays with the graph that was read of them. A pickle has neither: its
    # arrays may be anything.
    _checked: Csr | None = field(init=False, default=None)
    reread: tuple[Csr, Graph] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._take((self.indptr, self.indices, self.weights), {})

    def _take(self, csr: Csr, found: dict[str, Any]) -> None:
        """Take compressed rows, what follows from them, and other attributes, in one dict."""
        indptr, indices, weights = csr
        found["csr"], found["indptr"], found["indices"], found["weights"] = csr, indptr, indices, weights
        found["n"], found["nnz"], found["weighted"] = len(indptr) - 1, len(indices), weights is not None
        found["is_on_device"] = is_on_device = not isinstance(indptr, np.ndarray)
        vars(self).update(found)
        if not is_on_device:
            for array in csr if self.known_reverse is None else csr + self.known_reverse:
                if array is not None:
                    array.setflags(write=False)

    def _keep(self, **values: Any) -> None:
        """Set attributes of this object, which is frozen for all others."""
        vars(self).update(values)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take((state["indptr"], state["indices"], state["weights"]), state)

    def checked_as(self, read: Graph) -> Graph:
        """Keep the graph that was read of the present arrays, and return it."""
        vars(self)["reread"] = (self.indptr, self.indices, self.weights), read
        return read

    @property
    def is_checked(self) -> bool:
        """Whether the present arrays were checked, and did not come with a pickle or replace others."""
        return self._checked is not None and self.holds(self._checked)

    def holds(self, csr: Csr) -> bool:
        """Whether these are the present arrays."""
        return csr[0] is self.indptr and csr[1] is self.indices and csr[2] is self.weights

    def __repr__(self) -> str:
        size = size_in_words(self.n, self.nnz, directed=self.directed)
        return f"<lagbc.Graph: {size}, {'with' if self.weighted else 'without'} lengths>"

    def __len__(self) -> int:
        return self.n

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the matrix."""
        return self.n, self.n

    @classmethod
    def from_csr(cls, csr: Csr, directed: bool, reverse: Csr | None = None, **found: Any) -> Graph:
        """Make a graph of compressed rows in canonical form, of the transpose, if known, and of cached attributes.

        The rows count as checked, and are not copied: those of NumPy become read-only.
        """
        made = cls.__new__(cls)  # in half the time of the initialiser
        found["directed"], found["known_reverse"], found["_checked"] = directed, reverse, csr
        made._take(csr, found)
        return made

    @classmethod
    def surveyed(cls, csr: Csr, directed: bool, *, symmetric: bool = False) -> Graph | None:
        """Make a graph with its depth, order and rows in that order, by one kernel; None unless its rows are fit.

        Rows are fit that are few, canonical, with lengths finite and > 0, and symmetric; or, of a `directed` graph that
        need not be `symmetric`, one way. A graph of high diameter gets no order here. Columns are of int32, as there
        are few.
        """
        indptr, indices, weights = csr
        n = len(indptr) - 1
        if n + len(indices) > tuning.SURVEYED:
            return None
        degrees, order, position = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        starts, heads = np.empty(n + 1, np.int64), np.empty(len(indices), indices.dtype)
        values = None if weights is None else np.empty(len(indices))
        are_fit, has_high_diameter, depth, active, longest = core.survey(
            indptr, indices, weights, tuning.HIGH_DIAMETER, degrees, order, position, starts, heads, values
        )
        if not are_fit:
            return cls._surveyed_one_way(csr) if directed and not symmetric else None
        found: dict[str, Any] = {"depth": depth, "has_high_diameter": has_high_diameter, "active": active}
        if weights is not None:
            found["longest"] = longest
        if not has_high_diameter:
            ordered = cls.from_csr((starts, heads.astype(np.int32, copy=False), values), directed, _reverse=None)
            order.flags.writeable = position.flags.writeable = False
            found |= {"order": order, "position": position, "reordered": ordered}
        rows = indptr, indices.astype(np.int32, copy=False), weights
        return cls.from_csr(rows, directed, out_degrees=degrees, _reverse=None, **found)

    @classmethod
    def _surveyed_one_way(cls, csr: Csr) -> Graph | None:
        """Make a graph as `surveyed` does, of rows that are not symmetric; None if they are not fit.

        The graph keeps the transpose and the pattern both ways, too. The kernel fills three arrays with four matrices,
        one behind the other: 0 is the transpose, 1 the transpose in order, 2 the rows in order, and 3 the pattern both
        ways, without lengths. `order` and `position` lie behind the pointers of the matrices. The kernel does not fill
        1, 2, `order` and `position` if the diameter is high.
        """
        indptr, indices, weights = csr
        n, size = len(indptr) - 1, len(indices)
        numbers, heads = np.empty(6 * n + 4, np.int64), np.empty(5 * size, indices.dtype)
        values = None if weights is None else np.empty(3 * size)
        are_fit, has_high_diameter, depth, active, longest = core.survey_one_way(
            *csr, tuning.HIGH_DIAMETER, numbers, heads, values
        )
        if not are_fit:
            return None
        numbers, heads, values = read_only(numbers), read_only(heads.astype(np.int32, copy=False)), read_only(values)

        def rows(place: int) -> Csr:  # of matrix 0, 1 or 2
            of = slice(place * size, (place + 1) * size)
            return numbers[place * (n + 1) : (place + 1) * (n + 1)], heads[of], None if values is None else values[of]

        both = numbers[3 * (n + 1) : 4 * (n + 1)]
        found: dict[str, Any] = {"depth": depth, "has_high_diameter": has_high_diameter, "active": active}
        found["_reverse"] = cls.from_csr(rows(0), directed=True)
        found["_both_ways"] = cls.from_csr((both, heads[3 * size :][: int(both[-1])], None), directed=False)
        if weights is not None:
            found["longest"] = longest
        if not has_high_diameter:
            into = cls.from_csr(rows(1), directed=True)
            found["reordered"] = cls.from_csr(rows(2), True, into.csr, _reverse=into)
            found |= {"order": numbers[4 * (n + 1) : -n or None], "position": numbers[4 * (n + 1) + n :]}
        return cls.from_csr((indptr, indices.astype(np.int32, copy=False), weights), directed=True, **found)

    def with_names(self, names: Any, *, of_strengths: bool | None = None) -> Graph:
        """Return the same graph, with everything cached, and with other names or none."""
        renamed = copy(self)
        renamed._keep(names=names, of_strengths=self.of_strengths if of_strengths is None else of_strengths)
        renamed._keep(_checked=renamed.csr if self.is_checked else None)
        return renamed

    @property
    def native(self) -> tuple[NativeCsr, NativeCsr]:
        """The graph and its transpose, as kernels take them; one object if the graph is symmetric."""
        out = native_csr(*self.csr)
        return out, out if self.transpose is self else native_csr(*self.transpose.csr)

    @property
    def bytes_at_hand(self) -> int:
        """The bytes of the edges, and of transpose, order and edges in that order once they are made.

        The bytes are those on the device of the graph, the host or a GPU.
        """
        made = vars(self).get
        if self.is_on_device:
            arrays: list[Any] = [*self.csr, made("hub_distances"), made("edge_order")]
        else:
            arrays = [array for array in self.csr[1:] if array is not None and array.flags.owndata]
            arrays += map(made, ("order", "position", "out_degrees", "hub_distances"))
        for graph in filter(None, map(made, ("_reverse", "_both_ways", "reordered"))):
            arrays += (*graph.csr, *(graph.known_reverse or ()))
        return sum({id(array): array.nbytes for array in arrays if array is not None}.values())

    @cached_property
    def out_degrees(self) -> NDArray[np.int64]:
        """Stored edges that leave each vertex."""
        indptr: NDArray[np.int64] = as_numpy(self.indptr)
        return indptr[1:] - indptr[:-1]

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """Stored edges that enter each vertex."""
        return self.transpose.out_degrees

    @cached_property
    def active(self) -> int:
        """The number of vertices with edges; in sweep order they come first."""
        return int(np.count_nonzero(self.symmetric.out_degrees))

    @cached_property
    def longest(self) -> float:
        """The largest length."""
        assert self.weights is not None
        return float(self.weights.max())

    @cached_property
    def mean_length(self) -> float:
        """The mean of all lengths; infinite if their sum is, and 0 if there is none."""
        assert self.weights is not None
        with np.errstate(over="ignore"):
            return float(self.weights.mean()) if self.nnz else 0.0

    @cached_property
    def has_whole_lengths(self) -> bool:
        """Whether all lengths are whole numbers."""
        assert self.weights is not None
        return bool((self.weights == np.floor(self.weights)).all())

    @cached_property
    def pattern(self) -> sparse.csr_array:
        """The same pattern as a SciPy matrix of ones (bool), sharing `indices` unless nnz needs wider ones."""
        return Rows(self.indptr, self.indices, np.ones(self.nnz, np.bool_)).to_scipy()

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The lengths as a SciPy matrix; the pattern if edges have none."""
        if self.weights is None:
            return self.pattern
        return Rows(self.indptr, self.indices, self.weights).to_scipy()

    @property
    def on_device(self) -> Graph:
        """The graph on CuPy's current device: itself if it is there, else a copy, cached for each device."""
        import cupy

        here = cupy.cuda.Device().id
        if self.is_on_device and self.indptr.device.id == here:  # type: ignore[attr-defined]
            return self
        copies: dict[int, Graph] = vars(self).setdefault("_on_devices", {})
        if here not in copies:
            copies[here] = self._copied_to_device(cupy)
        return copies[here]

    @in_phase("prepare")
    def _copied_to_device(self, cupy: Any) -> Graph:
        """Copy the graph to CuPy's current device: from the host its arrays, from another device all that is cached."""
        if self.is_on_device:
            return self.moved(lambda array: cupy.array(array) if isinstance(array, cupy.ndarray) else array)
        weights = None if self.weights is None else cupy.asarray(self.weights)
        return Graph(
            cupy.asarray(self.indptr), cupy.asarray(self.indices), self.directed, weights, ref(self), self.known_depth
        )

    def moved(self, move: Callable[[Any], Any], moved: dict[int, Any] | None = None) -> Graph:
        """Return the same graph, with everything cached, its arrays brought elsewhere by `move`.

        Its source and its copy on the host stay the same. Each part moves once: `moved` has those so far, by their ids.
        """
        moved = {} if moved is None else moved
        other = moved[id(self)] = Graph.__new__(Graph)
        for name, part in dict(vars(self)).items():
            if name not in _MADE_PER_DEVICE:
                other._keep(**{name: part if name in _MOVED_UNCHANGED else _move_part(part, move, moved)})
        other._keep(is_on_device=not isinstance(other.indptr, np.ndarray))
        return other

    def prepared(self, *, edges: bool) -> Graph:
        """Return the same graph with all cached that sweeps read, those for sums of `edges` included.

        Equal graphs give equal pickles.
        """
        prepared = Graph(*self.csr[:2], self.directed, self.weights, None, self.depth, self.transpose.csr)
        ordered = self.reordered
        reordered = Graph.from_csr(ordered.csr, ordered.directed, ordered.transpose.csr)
        prepared._keep(order=self.order, active=self.active, reordered=reordered)
        if edges:
            prepared._keep(edge_order=self.edge_order)
        return prepared

    @property
    def on_host(self) -> Graph:
        """The graph in the host's memory: itself, its source, or a copy."""
        return self._source or self._copy_on_host if self.is_on_device else self

    @property
    def _source(self) -> Graph | None:
        """The graph that this one is copied from, while it exists."""
        return None if self.copied_from is None else self.copied_from()

    @cached_property
    def _copy_on_host(self) -> Graph:
        weights = None if self.weights is None else as_numpy(self.weights)
        return Graph(
            as_numpy(self.indptr), as_numpy(self.indices), self.directed, weights, known_depth=self.known_depth
        )

    @property
    def rows(self) -> Any:
        """The tail of each edge."""
        return ops_of(self.indptr).rows_of(self.indptr, self.indices)

    @property
    def transpose(self) -> Graph:
        """The graph with every edge reversed; the same object if it is symmetric."""
        return (self.directed and self._reverse) or self

    @cached_property
    @in_phase("order")
    def _reverse(self) -> Graph | None:
        """The transpose; None for the graph itself, as a cycle of references would keep it in memory."""
        ops, reverse = ops_of(self.indptr), self.known_reverse
        if reverse is None:
            reverse = ops.reverse_of(self.n, *self.csr)
        elif ops.are_equal(reverse, self.csr):
            return None
        return None if reverse is None else Graph.from_csr(reverse, directed=True)

    @property
    def symmetric(self) -> Graph:
        """The pattern with every edge in both directions; the same object if it is symmetric with its lengths."""
        return (self.directed and self._both_ways) or self

    @cached_property
    def _both_ways(self) -> Graph | None:
        """The symmetric pattern; None if the graph itself is symmetric, lengths and all."""
        if self._reverse is None:
            return None
        ops, reverse = ops_of(self.indptr), (self._reverse.indptr, self._reverse.indices, None)
        return Graph.from_csr(ops.both_ways(self.n, self.indptr, self.indices, None, reverse), directed=False)

    @cached_property
    def components(self) -> Any:
        """The weakly connected component of each vertex, numbered from 0."""
        return ops_of(self.indptr).weak_components(self.indptr, self.indices)

    @cached_property
    @in_phase("order")
    def depth(self) -> int:
        """A lower bound of the diameter: BFS depth from the hub of the largest weak component."""
        if self.known_depth is not None:
            return self.known_depth
        if not self.nnz:
            return 0
        both, ops = self.symmetric, ops_of(self.indptr)
        depth: int
        depth, reached, connected = ops.search_from_hub(both.indptr, both.indices, None)
        if 2 * reached < connected:
            # The longest row is outside the largest component; components take longer to find than the search.
            depth, _, _ = ops.search_from_hub(both.indptr, both.indices, self.components)
        return depth

    @cached_property
    def has_high_diameter(self) -> bool:
        """Whether the graph looks like a mesh or a road network, whose diameter is far above log2(n)."""
        return self.depth > tuning.HIGH_DIAMETER * log2(max(self.n, 2))

    @property
    def order_in_words(self) -> str:
        """The reason for the vertex order, in words."""
        order = "by proximity" if self.has_high_diameter else "by falling degree"
        return f"BFS depth {self.depth} for n = {self.n}, so vertices are ordered {order}"

    @cached_property
    @in_phase("order")
    def order(self) -> NDArray[np.int64]:
        """The vertex order for sweeps: proximity if the diameter is high, else falling degree; isolated ones last."""
        both, ops = self.symmetric, ops_of(self.indptr)
        if not self.has_high_diameter:
            order = ops.degree_order(both.indptr)
        else:
            order = ops.isolated_last(ops.proximity_order(both.indptr, both.indices, self.components), both.indptr)
        on_host: NDArray[np.int64] = read_only(as_numpy(order))
        vars(self)["position"] = read_only(as_numpy(ops.places_in(order)))
        return on_host

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """The place of each vertex in sweep order, the inverse of `order`."""
        order = self.order  # who makes it keeps the places, too
        if (made := vars(self).get("position")) is None:
            made = read_only(as_numpy(ops_of(self.indptr).places_in(order)))
        return made  # type: ignore[no-any-return]

    @cached_property
    @in_phase("order")
    def reordered(self) -> Graph:
        """The graph in sweep order: its vertex i is this graph's vertex ``order[i]``."""
        ops, is_symmetric = ops_of(self.indptr), self.transpose is self
        csr, reverse = ops.renumbered(self.csr, self.order, self.position, symmetric=is_symmetric)
        return Graph.from_csr(csr, self.directed, reverse)

    @cached_property
    @in_phase("order")
    def edge_order(self) -> Any:
        """The edges in the order of `reordered`: its edge e is this graph's edge ``edge_order[e]``."""
        return read_only(ops_of(self.indptr).renumbered_places(self.csr, self.order, self.position))

    @cached_property
    @in_phase("order")
    def hub_distances(self) -> Any:
        """Hop distances (hubs, n) from every vertex to the hubs: the first vertices."""
        return ops_of(self.indptr).hub_distances(self.indptr, self.indices)

    @in_phase("order")
    def line_up(self, roots: NDArray[np.int64], device: str, least: int | None = None) -> NDArray[np.int64]:
        """Put distinct roots into the order of their batches on a device: roots whose searches look alike lie together.

        On a graph of high diameter that is the sweep order. On another one at least `least` roots are ordered by their
        distances to the hubs, on a GPU in hops even where edges have lengths. Roots without out-edges are left out.
        """
        least = tuning.GROUPED_ROOTS if least is None else least
        places = np.empty(len(roots), np.int64)
        places = places[: core.line_up(self.out_degrees, self.position, roots, places)]
        if len(places) >= least and not self.has_high_diameter:
            places = self.reordered._by_hubs(places, device)
        return self.order[places]

    def _by_hubs(self, vertices: NDArray[np.int64], device: str) -> NDArray[np.int64]:
        """Sort vertices by their distances to the hubs."""
        if device == "cpu" and self.weighted:
            return length_order(self.csr, self.transpose.csr, vertices)
        distances = self.on_device.hub_distances if device == "cuda" else self.hub_distances
        ordered = ops_of(distances).hub_order(distances, module_of(distances).asarray(vertices))
        return as_numpy(ordered)  # type: ignore[no-any-return]

    def keep(self, kept: Any) -> tuple[Graph, Any]:
        """Return the graph of the edges whose flag is set, and the places of these edges here.

        Depth and number of vertices with edges are those of this graph: no vertex may lose all its edges.
        """
        (indptr, indices, weights), places = ops_of(self.indptr).kept_edges(self.csr, kept)
        source = self._source or self
        graph = Graph(indptr, indices, self.directed, weights, known_depth=source.depth)
        graph._keep(active=source.active)
        return graph, places


# Attributes that a pickle does not have: `__setstate__` makes the first anew.
_NOT_PICKLED = ("csr", "_checked", "reread")
# Attributes that move along unchanged: they are on the host.
_MOVED_UNCHANGED = ("copied_from", "_copy_on_host", "names")
# Attributes that each device makes for itself.
_MADE_PER_DEVICE = ("_on_devices", "hub_distances")


def _move_part(value: Any, move: Callable[[Any], Any], moved: dict[int, Any]) -> Any:
    """Move a part of a graph, once: a derived graph, arrays or a number, by `move` and the parts `moved` before."""
    if id(value) in moved:
        return moved[id(value)]
    if isinstance(value, Graph):
        return value.moved(move, moved)
    if isinstance(value, tuple):
        return tuple(_move_part(part, move, moved) for part in value)
    if not getattr(value, "ndim", 0):
        return value
    moved[id(value)] = move(value)
    return moved[id(value)]
