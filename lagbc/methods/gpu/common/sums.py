"""The sums of a batch on the device, before they are brought into matrix order, and the rows that they take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Variant
from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods.contract import BYTE, FLOAT, Array, Arrays, SweepPlan
from lagbc.methods.gpu.common.arrays import add_sums, fill, join_parts, read, scatter
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, WORDS, BatchArrays, RootRows, Rows, Size, row_blocks
from lagbc.methods.gpu.kernels import DELTA_SUMS, HOPS_SUMS, ROOTS
from lagbc.methods.sums import DISTANCE_SUMS, OF_EDGES, SQUARES, Sums

# Roots of a traversal that are summed together. More take fewer additions to the run's sums, and a larger least batch.
ROOTS_OF_BLOCK = 32
# Parts of the rows whose columns are summed by themselves, at most: some blocks for each multiprocessor, and 6 MB.
_PARTS = 1024


class PathScores(NamedTuple):
    """Sums over paths of each group, of shape (groups, rows)."""

    dependency: Any
    stress: Any  # None if it is not asked for
    squares: Any  # the same

    @classmethod
    def zeros(cls, rows: Rows, *parts: int) -> PathScores:
        """Make the sums asked for, a row a group and part, if its rows have parts."""
        dependency = cp.zeros((rows.groups, *parts, rows.rows))
        asked = (name in rows.plan.sums for name in ("stress", "dependency_squares"))
        return cls(dependency, *(cp.zeros_like(dependency) if one else None for one in asked))

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of kernels by their names."""
        return {"scores": self.dependency, "stress": self.stress, "squares": self.squares}

    def join_parts(self) -> PathScores:
        """Sum over the parts of each group."""
        return PathScores(*(None if sums is None else join_parts(sums) for sums in self))

    def add_to(self, sums: Sums, rows: Rows, groups: int) -> None:
        """Add the sums asked for to a batch's, in matrix order."""
        for of_batch, own in zip((sums.dependency, sums.stress, sums.dependency_squares), self, strict=True):
            if of_batch is not None:
                add_sums(of_batch, rows.order, own, groups)


class Edges(NamedTuple):
    """Sums of edges, a row a group, to which kernels add; None where they are not asked for."""

    order: Any  # (nnz,) int64: place of each edge, in sweep order, among the sums
    sums: Any  # (groups, nnz)
    squares: Any  # the same

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of kernels by their names."""
        nnz = 0 if self.sums is None else self.sums.shape[1]
        return {"edge_order": self.order, "nnz": nnz, "edges": self.sums, "edge_squares": self.squares}


class Distances(NamedTuple):
    """Sums over distances; None for a sum that is not asked for."""

    reached: Any  # (groups, rows)
    distance: Any
    inverse: Any
    distance_squares: Any
    inverse_squares: Any
    known: Any  # (groups, 8) uint32: columns whose depth is known
    depth: Any  # (groups, 256)

    @classmethod
    def zeros(cls, rows: Rows, names: frozenset[str]) -> Distances:
        """Make the sums asked for."""
        widths = {**dict.fromkeys(DISTANCE_SUMS, rows.rows), "depth": GROUP_COLUMNS}
        asked = {name: cp.zeros((rows.groups, width)) if name in names else None for name, width in widths.items()}
        return cls(known=cp.zeros((rows.groups, WORDS), cp.uint32), **asked)

    def add_to(self, sums: Sums, rows: Rows, groups: int, roots: int) -> None:
        """Add the sums to a batch's, in matrix order."""
        for name in DISTANCE_SUMS:
            if getattr(self, name) is not None:
                add_sums(getattr(sums, name), rows.order, getattr(self, name), groups)
        if self.depth is not None:
            sums.depth[:roots] += self.depth.reshape(-1)[:roots]


@contextmanager
def rows_of_batch(sums: Sums, swept: NDArray[np.int64]) -> Iterator[Sums]:
    """Yield sums with a row for each swept group; `swept` are the places of its roots in the batch.

    Where these are not the first groups of the batch, their sums are made apart, and added to their own rows.
    """
    if np.array_equal(swept, np.arange(len(swept))):
        yield sums
        return
    blocks, roots = cp.asarray(swept[::GROUP_COLUMNS] // GROUP_COLUMNS), cp.asarray(swept)
    shapes = {"depth": (len(swept),)}
    part = Sums(**{name: cp.zeros(shapes.get(name, (len(blocks), *array.shape[1:]))) for name, array in sums})
    yield part
    for name, array in part:
        getattr(sums, name)[roots if name == "depth" else blocks] += array


def sum_arrays(graph: Graph, plan: SweepPlan) -> Arrays:
    """State the most that a batch's sums in sweep order take, and those of groups that are swept apart."""
    groups, names = plan.batch // GROUP_COLUMNS, plan.sums
    vertices = groups, graph.active
    ends = {"dependency": Array((2, *vertices), FLOAT), "reached": Array((*vertices, BYTES), BYTE)}
    return {
        # Of two parts at most, and their sum.
        "paths": Array((1 + len(names & {"stress", "dependency_squares"}), 3, *vertices), FLOAT),
        "distances": Array((len(names & set(DISTANCE_SUMS)), *vertices), FLOAT),
        "depth": Array((plan.batch,), FLOAT),
        "ends": ends if plan.endpoints else None,
        "apart": Array((len(names - OF_EDGES), groups, graph.n), FLOAT),
        "edges apart": Array((len(names & OF_EDGES), groups, graph.nnz), FLOAT),
    }


def add_root_edges(arrays: BatchArrays, root_rows: RootRows, keep: Any, root_weights: Any, edges: Edges) -> None:
    """Add the sums of the edges that leave a root, in hops, if edges are asked for."""
    rows, roots = arrays.rows, len(root_rows.position)
    if edges.sums is None or not roots:
        return
    HOPS_SUMS.kernel("root_edges", Variant(rows.plan.dtype))(
        (roots,),
        THREADS,
        n=rows.rows,
        **rows.out_edges,
        **root_rows.arguments,
        keep=keep,
        root_weights=root_weights,
        values=arrays.values,
        **edges.arguments,
    )


def sum_lengths(arrays: BatchArrays, search: Any, keep: Any, sums: Distances) -> None:
    """Sum over the distances that Delta-stepping has found, as `lagbc.methods.gpu.driver.Sweeps` has it."""
    rows, found = arrays.rows, arrays.distances
    blocks = min(row_blocks(rows.rows, 0), tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    kernel = DELTA_SUMS.kernel("delta_distances", Variant("float64", dist=found.dtype.name))
    own = {name: getattr(sums, name) for name in (*DISTANCE_SUMS, "depth")}
    kernel((blocks, search.groups), THREADS, n=rows.rows, distances=found, keep=keep, **own)


def distances_of_roots(rows: Rows, root_rows: RootRows) -> Any:
    """Make rows of distances, (groups, rows, 256) float64: 0 of a root to itself, inf elsewhere."""
    dist = cp.empty((rows.groups, rows.rows, GROUP_COLUMNS))
    fill(dist, np.inf)
    scatter(dist, root_rows.places, 0)
    return dist


def column_arrays(graph: Graph, groups: int) -> Arrays:
    """State the parts of the sums of columns, and in hops the rows of distances."""
    dist = Array((groups, graph.active, GROUP_COLUMNS), FLOAT)
    return {"dist": None if graph.weighted else dist, "parts": Array((groups, _PARTS, 3, GROUP_COLUMNS), FLOAT)}


def sum_columns(distances: Any) -> NDArray[np.float64]:
    """Sum over the finite distances > 0 of each column, of 1, of them and of their inverses: (groups * 256, 3).

    The distances are of shape (groups, rows, 256). Rows are added in parts that depend on their number alone.
    """
    groups, n, _ = distances.shape
    rows = -(-n // _PARTS)
    parts = cp.empty((groups, -(-n // rows), 3, GROUP_COLUMNS))
    kernel = DELTA_SUMS.kernel("delta_columns", Variant("float64", dist=distances.dtype.name))
    kernel((parts.shape[1], groups), THREADS, n=n, rows=rows, distances=distances, sums=parts)
    return read(parts).sum(axis=1).transpose(0, 2, 1).reshape(-1, 3)


def add_roots(delta: Any, times: Any, places: NDArray[np.int64], order: Any, sums: Sums) -> None:
    """Add the rows of roots, in their order, to their blocks' dependencies and, if asked for, squares.

    Of `delta` (rows, stride), in sweep order, the first entries count, as many as `order` has. `times` (rows,) says how
    often each root counts, as its row does already; None is once. `places` of the roots in the batch ascend.
    """
    if not len(places) or not len(order):
        return
    blocks = int(places[-1]) // ROOTS_OF_BLOCK + 1
    sums.require_rows(blocks, int(places[-1]) + 1)
    firsts = np.searchsorted(places, ROOTS_OF_BLOCK * np.arange(blocks + 1)).astype(np.int32)
    ROOTS.launch(
        "sum_roots",
        len(order),
        blocks,
        n=len(order),
        stride=delta.shape[1],
        firsts=cp.asarray(firsts),
        order=order,
        delta=delta,
        times=times,
        sums_stride=sums.dependency.shape[1],
        sums=sums.dependency,
        squares=sums.dependency_squares,
    )


def path_arrays(size: Size | Rows) -> dict[str, Array | None]:
    """State rows, of shape (groups, rows, 256), for sigma and then c, and for t; None for sums not asked for."""
    shape, sums = (size.groups, size.rows, GROUP_COLUMNS), size.plan.sums
    return {
        "values": Array(shape, np.dtype(size.plan.dtype)) if size.plan.counts_paths else None,
        "paths": Array(shape, FLOAT) if "stress" in sums else None,
    }


def require_sums_made_here(plan: SweepPlan) -> None:
    """Raise ValueError if stress or squares are asked for in float32, or squares of edges without their sums."""
    asked = sorted(plan.sums & (SQUARES | {"stress"}))
    if asked and plan.dtype != "float64":
        raise InvalidValueError(f"{', '.join(asked)}: counted in float64, not in {plan.dtype}")
    if "edges_squares" in plan.sums and "edges" not in plan.sums:
        raise InvalidValueError("edges_squares: made beside 'edges'")
