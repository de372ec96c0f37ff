"""The sums of a batch or of a run, and target weights scaled so that a sweep can divide them by path counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, fields
from itertools import compress, repeat
from math import log
from operator import attrgetter, is_not
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.csr import as_numpy, module_of, ops_of
from lagbc.native import core

# The sum of betweenness; all sums that need path counts, where the others need distances alone.
DEPENDENCY = frozenset({"dependency"})
PATH_SUMS = frozenset({"dependency", "stress", "edges", "dependency_squares", "edges_squares"})
# Sums over distances with an entry a vertex, in the order of the parameters of kernels.
DISTANCE_SUMS = "reached", "distance", "inverse", "distance_squares", "inverse_squares"
# Sums that methods make where vertices stand for several members.
SUMS_WITH_CLASS_SIZES = frozenset({"dependency", "edges", "dependency_squares", "edges_squares"})
# Sums over the squares of each root's term in the sum of the same name.
SQUARES = frozenset({"dependency_squares", "edges_squares", "distance_squares", "inverse_squares"})
# Sums over paths and distances in the order of lagbc/native/kernels/batch_sums.h, which has `depth` behind them.
OF_ROW = (
    *("dependency", "stress", "edges", "reached", "distance", "inverse"),
    *("dependency_squares", "edges_squares", "distance_squares", "inverse_squares"),
)
_BITS = {name: 1 << place for place, name in enumerate((*OF_ROW, "depth"))}
# Sums with an entry an edge.
OF_EDGES = frozenset({"edges", "edges_squares"})
# Sums with an entry a root; those of them that only a run with bounds makes.
OF_ROOTS = frozenset({"depth", "targets", "gravity", "straight"})
OF_BOUNDS = frozenset({"targets", "gravity", "straight"})
# Sums in which a target counts less the farther it is, where a run has decays.
DECAYING = frozenset({"dependency", "edges", "gravity"})
# A target that would count less counts nothing: so the search ends, and a weight over a path count is a normal number.
LEAST = 2.0**-500


def bits_of(sums: Set[str]) -> int:
    """Return the names as bits, in the order of `OF_ROW`; sums that only runs with bounds make have none."""
    return sum(map(_BITS.get, sums, repeat(0)))


@dataclass(slots=True, eq=False)
class Bounds:
    """Cutoffs and decays of a run: the distance up to which a pair counts, and the rate at which it counts less.

    With a cutoff r and a decay b the target t of root s counts exp(-b d(s, t)) where d(s, t) <= r, else 0. Sums of
    `DECAYING` have a column for each pair of a cutoff and a decay, the decays of the first cutoff first; other sums
    have one for each cutoff. One search, to the farthest target of any column, serves all.
    """

    cutoffs: NDArray[np.float64]  # (C,): in hops or lengths, >= 0; inf is no cutoff
    decays: NDArray[np.float64]  # (D,): per hop or unit of length, finite and >= 0; 0 is no decay

    def columns(self, name: str) -> int:
        """Count the columns of a sum."""
        return len(self.cutoffs) * (len(self.decays) if name in DECAYING else 1)

    @property
    def radii(self) -> NDArray[np.float64]:
        """The radius of each column of a decaying sum: its cutoff, or the distance at which a target counts `LEAST`."""
        with np.errstate(divide="ignore", over="ignore"):
            ends = -log(LEAST) / self.decays
        return np.minimum.outer(self.cutoffs, ends).ravel()

    def radius(self, sums: frozenset[str]) -> float:
        """Return the distance up to which some sums need a root to search."""
        return float((self.radii if sums <= DECAYING else self.cutoffs).max())

    @property
    def least(self) -> float:
        """A lower bound of the weight of a target that counts."""
        return LEAST if self.decays.any() else 1.0

    def weights(self, dist: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of targets at some distances, inf if unreached, by one cutoff and one decay."""
        (radius,), (decay,) = self.radii, self.decays
        weights, counted = np.zeros(len(dist)), np.isfinite(dist) & (dist <= radius)
        weights[counted] = np.exp(-decay * dist[counted])
        return weights

    def __iter__(self) -> Iterator[tuple[int, int, Bounds]]:
        """Yield, for each cutoff and each decay, their numbers and bounds with these two alone."""
        for c, cutoff in enumerate(self.cutoffs):
            for d, decay in enumerate(self.decays):
                yield c, d, Bounds(np.array([cutoff]), np.array([decay]))


@dataclass(slots=True, eq=False)
class Sums:
    """Sums over roots s; None where a sum is not asked for.

    Arrays are NumPy's or CuPy's, float64, in matrix order. In a batch each has a row for each block of roots, `depth`
    an entry for each root; in a run there are no rows. In a run with bounds each has a last axis of columns (`Bounds`).

    A root is never counted for itself. A root whose path counts overflowed adds nothing, to no sum. Where a run asks
    for none of `PATH_SUMS` a method need not count paths, and then no root overflows. omega and root weights of the
    plan weigh the terms of `PATH_SUMS` alone; its endpoints go into `dependency` alone.
    """

    dependency: Any = None  # (n,): delta_s(v), the dependency of s on v
    # (n,): the number of shortest paths from s with v in their interior: sigma_s(v) t_s(v), where t_s(v) is the sum
    # over tight successors w of omega(w) + t_s(w). Infinite, or NaN where multiplied by 0, beyond float64.
    stress: Any = None
    reached: Any = None  # reached, distance, inverse: (n,): over the s != v that reach v: 1, d(s, v) and 1 / d(s, v)
    distance: Any = None
    inverse: Any = None
    # (nnz,), in the order of ``graph.indices``: sigma_s(v) c_s(w), the dependency of s on the edge v -> w, if it is
    # tight; v may be s itself. Each direction of an undirected edge has a sum of its own.
    edges: Any = None
    # (n,), in a batch an entry for each of its roots: the largest distance from s; 0 if s reaches no other vertex
    depth: Any = None
    # dependency_squares, edges_squares, distance_squares, inverse_squares: over the roots the squares of delta_s(v), of
    # the dependency on an edge, of d(s, v), of 1 / d(s, v). A root that counts m times adds m squares.
    dependency_squares: Any = None
    edges_squares: Any = None
    distance_squares: Any = None
    inverse_squares: Any = None
    # targets, gravity, straight: (n,): over the t != s within the cutoff of s: omega(t); omega(t) weighed by the decay
    # at d(s, t); and omega(t) times the straight line from s to t over d(s, t)
    targets: Any = None
    gravity: Any = None
    straight: Any = None

    @classmethod
    def zeros(cls, arrays: Any, names: Iterable[str], n: int, nnz: int, bounds: Bounds | None = None) -> Sums:
        """Make zero sums of a run; `arrays` is numpy or cupy."""
        rows = {name: nnz if name in OF_EDGES else n for name in names}
        shapes = {name: (of,) if bounds is None else (of, bounds.columns(name)) for name, of in rows.items()}
        return cls(**{name: arrays.zeros(shape) for name, shape in shapes.items()})

    @classmethod
    def zeros_of_batch(cls, arrays: Any, names: Iterable[str], n: int, nnz: int, blocks: int, roots: int) -> Sums:
        """Make zero sums of a batch."""
        made = cls()
        for name in names:
            shape = (blocks, nnz if name in OF_EDGES else n) if name != "depth" else (roots,)
            setattr(made, name, arrays.zeros(shape))
        return made

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Return an iterator over name and array of each sum asked for."""
        arrays = _arrays(self)
        return compress(zip(_NAMES, arrays, strict=True), map(is_not, arrays, repeat(None)))

    def require_rows(self, blocks: int, roots: int) -> None:
        """Raise ValueError if a batch's sums have too few rows, or entries of roots: kernels write without a check."""
        for name, array in self:
            needed, of = (roots, "roots") if name == "depth" else (blocks, "blocks of roots")
            if len(array) < needed:
                raise InvalidValueError(f"sums.{name} has {len(array)} rows; the batch adds to those of {needed} {of}")

    def row(self, row: int) -> tuple[Any, ...]:
        """Return a row of a batch, in the order of `OF_ROW`, and all its depths, for kernels of the CPU."""
        return (*[None if array is None else array[row] for array in _rows(self)], self.depth)

    def moved(self, asarray: Any) -> Sums:
        """Return the sums on another device; `asarray` brings an array there."""
        return Sums(**{name: asarray(array) for name, array in self})

    def of_paths(self) -> Sums:
        """Return the sums of `PATH_SUMS` alone, with the same arrays."""
        return Sums(**{name: array for name, array in self if name in PATH_SUMS})

    def column(self, bounds: Bounds, cutoff: int, decay: int) -> Sums:
        """Return the sums of a run for one cutoff and one decay of its bounds, as views."""
        decays = len(bounds.decays)
        places = {name: cutoff * decays + decay if name in DECAYING else cutoff for name, _ in self}
        return Sums(**{name: array[:, places[name]] for name, array in self})

    def add_blocks(self, blocks: Iterable[SparseSums], row: int = 0, root: int = 0) -> Sums:
        """Add blocks to the rows of a batch, the first to `row`, whose first root has place `root`; return all rows."""
        for number, block in enumerate(blocks, row):
            for name, array in block.sums:
                if name == "depth":
                    self.depth[root : root + len(array)] += array
                else:
                    getattr(self, name)[number][block.rows(name)] += array
            root += len(block.roots)
        return self

    def added_to(self, before: Sums | None, n: int, roots: Any) -> Sums:
        """Return the sums of a run, `before`, with the rows of this batch added in turn; infinite beyond float64."""
        summed = Sums()
        for name, rows in self:
            array = None if before is None else getattr(before, name)
            if name == "depth":
                total = module_of(rows).zeros(n) if array is None else ops_of(rows).copied(array)
                total[roots] = rows
            elif array is None and len(rows) == 1:  # of this batch alone
                total = rows[0]
            else:
                ops = ops_of(rows)
                total = ops.copied(rows[0]) if array is None else ops.plus(array, rows[0])
                for row in rows[1:]:
                    ops.plus(total, row, total)
            setattr(summed, name, total)
        return summed

    @np.errstate(over="ignore")
    def plus_sparse(self, parts: Iterable[SparseSums]) -> Sums:
        """Return the sums of a run with parts added in turn; infinite beyond float64."""
        summed = Sums(**{name: array.copy() for name, array in self})
        for part in parts:
            for name, array in part.sums:
                getattr(summed, name)[part.rows(name)] += array
        return summed

    def plus(self, others: Sums) -> Sums:
        """Return the sums over these roots and over others; infinite beyond float64."""
        return Sums(**{name: ops_of(array).plus(array, getattr(others, name)) for name, array in self})

    @np.errstate(over="ignore")
    def add(self, other: Sums) -> None:
        """Add the sums of the same batch of roots; each root is absent from one of the two."""
        for name, array in self:
            array += getattr(other, name)


_NAMES = tuple(field.name for field in fields(Sums))
_arrays, _rows = attrgetter(*_NAMES), attrgetter(*OF_ROW)


class SparseSums(NamedTuple):
    """The sums of some roots at the vertices and edges that they touch."""

    vertices: NDArray[Any]  # vertices, edges, roots: their numbers, distinct; an edge's is its place in the graph
    edges: NDArray[Any]
    roots: NDArray[Any]
    sums: Sums  # with a row for each of these

    def rows(self, name: str) -> NDArray[Any]:
        """Return the numbers of the vertices, edges or roots that are the rows of a sum."""
        return self.edges if name in OF_EDGES else self.roots if name in OF_ROOTS else self.vertices

    @property
    def size(self) -> int:
        """Count of the rows."""
        return len(self.vertices) + len(self.edges) + len(self.roots)


class Waiting(NamedTuple):
    """Sums of a run, and sparse sums that are still to be added to them, in order.

    A total is never changed, so that to add to its sums is to copy them. Sparse sums wait until they have more rows
    together than the longest sum: then the copy costs no more than they did.
    """

    sums: Sums
    sparse: tuple[SparseSums, ...] = ()
    rows: int = 0  # of all sparse sums

    def plus(self, sparse: Iterable[SparseSums]) -> Waiting:
        """Return these with more sparse sums behind them."""
        waiting = (*self.sparse, *sparse)
        rows = self.rows + sum(one.size for one in waiting[len(self.sparse) :])
        most = max(len(array) for _, array in self.sums)
        return Waiting(self.sums, waiting, rows) if rows <= most else Waiting(self.sums.plus_sparse(waiting))

    def whole(self) -> Sums:
        """Return the sums with all sparse sums added."""
        return self.sums.plus_sparse(self.sparse) if self.sparse else self.sums


# ---- Weights of targets, scaled by powers of two so that a backward sweep can divide them by path counts
#
# A root adds its weight * sigma * sum of (omega / sigma) to a score. With omega near either end of the range of a dtype
# a factor leaves the range, though the product may not. So a sweep gets 2**-shift omega and 2**shift root weights:
# powers of two change no bit of the product.

# omega stays below two to this exponent: sums over all vertices are finite.
_LARGEST_EXPONENTS = {"float64": 900, "float32": 90}


def shift_into_range(smallest: Any, largest: Any, dtype: str = "float64") -> Any:
    """Return the shift of positive weights: the largest gets into range, and if possible the smallest to 1 or more."""
    lowest, highest = np.frexp(smallest)[1], np.frexp(largest)[1]
    return np.maximum(np.minimum(lowest - 1, 0), highest - _LARGEST_EXPONENTS[dtype])


def scales_of(
    smallest: NDArray[np.float64], largest: NDArray[np.float64], times: NDArray[np.float64], dtype: str
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the shifts of columns by their positive weights, the scaled `times`, and a mask of columns beyond it."""
    shift = shift_into_range(smallest, largest, dtype)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(times, shift)
        beyond = (np.ldexp(smallest, -shift) < 1) | (np.ldexp(scaled, -shift) != times)
    return shift, scaled, beyond


def shifts_of_rows(indptr: NDArray[Any], data: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the shift of each row of a demand, and a mask of rows beyond scaling; shape (rows,)."""
    shifts, beyond = np.zeros(len(indptr) - 1, np.int64), np.zeros(len(indptr) - 1, np.bool_)
    rows = np.flatnonzero(np.diff(indptr))
    if len(rows):
        first = indptr[rows]
        smallest, largest = np.minimum.reduceat(data, first), np.maximum.reduceat(data, first)
        shifts[rows], _, beyond[rows] = scales_of(smallest, largest, np.ones(len(rows)), "float64")
    return shifts, beyond


def columns_into_range(omega: Any, times: NDArray[np.float64], dtype: str) -> tuple[Any, NDArray[np.float64]]:
    """Scale each column of target weights, and `times` inversely; OverflowError if one is beyond scaling."""
    xp = module_of(omega)
    smallest, largest = _extremes(omega)
    smallest, largest = (np.where(largest > 0, end, 1.0) for end in (smallest, largest))
    shift, scaled, beyond = scales_of(smallest, largest, times, dtype)
    if not shift.any():
        return omega, times
    if beyond.any():
        column = int(np.argmax(beyond))
        raise OutOfRangeError(
            f"target weights of column {column} are from {smallest[column]} to {largest[column]}, and it counts "
            f"{times[column]} times: {dtype} does not hold what they sum to; scale them, or sweep its root by itself"
        )
    return xp.ldexp(omega, xp.asarray(-shift)), scaled


def _extremes(omega: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest weight > 0 and the largest of each column."""
    if isinstance(omega, np.ndarray):
        smallest, largest = np.full((2, omega.shape[1]), np.inf)
        largest.fill(0.0)
        core.find_extremes(omega, smallest, largest)
        return smallest, largest
    xp = module_of(omega)
    return as_numpy(xp.where(omega > 0, omega, np.inf).min(axis=0)), as_numpy(omega.max(axis=0))
