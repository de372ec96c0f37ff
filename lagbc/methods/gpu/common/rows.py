"""A graph on the device in sweep order, and groups of 256 roots as the columns of its rows: the host's side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Kernel
from lagbc.errors import OutOfMemoryError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.contract import (
    BYTE,
    FLOAT,
    HALF_WORD,
    INTEGER,
    Array,
    Arrays,
    Counted,
    Interrupted,
    SweepPlan,
    allocate,
    bytes_of,
)
from lagbc.methods.gpu.common.arrays import Survey, convert_lengths, read, scatter
from lagbc.methods.gpu.kernels import ARRAYS

GROUP_COLUMNS = 256
BYTES = GROUP_COLUMNS // 8
WORDS = GROUP_COLUMNS // 32
WARPS = THREADS // 32
# Rows that are looked at first for one that is no hub; then always so many times as many.
_FRONT, _FARTHER = 4096, 8


class Size(NamedTuple):
    """The numbers that shape the arrays of a batch, before any upload; `Rows` has them, too."""

    plan: SweepPlan
    rows: int  # vertices with edges
    groups: int
    depth: int  # of the graph
    counts_are_small: bool

    @classmethod
    def of(cls, graph: Graph, plan: SweepPlan) -> Size:
        """Make the size before any upload."""
        return cls(plan, graph.active, plan.batch // GROUP_COLUMNS, graph.depth, not plan.in_place)


@dataclass(slots=True, eq=False)
class Rows:
    """A graph whose vertices are in sweep order, without vertices that have no edges. A group's rows lie together."""

    plan: SweepPlan
    rows: int  # vertices with edges
    groups: int
    order: Any  # (rows,) int64: the caller's vertex of each row
    position: NDArray[np.int64]  # (n,): row of each of the caller's vertices
    indptr: Any
    indices: Any
    in_indptr: Any
    in_indices: Any
    hubs: int
    in_hubs: int
    depth: int  # of the graph
    omega: Any  # (rows,) or None
    class_sizes: Any  # the same
    sigma_limit: float  # of the plan, which looks at all weights for it
    stop: Any  # (1,) uint8, pinned: the host writes, kernels poll
    counts_are_small: bool  # counts have 32 bits: until one has more; never if dependencies take their place

    @property
    def out_edges(self) -> dict[str, Any]:
        """The edges that leave, by the names of kernels' parameters."""
        return {"indptr": self.indptr, "indices": self.indices}

    @property
    def in_edges(self) -> dict[str, Any]:
        """The edges that enter, likewise."""
        return {"in_indptr": self.in_indptr, "in_indices": self.in_indices}


class BatchArrays(SimpleNamespace):
    """The arrays of a batch on the device, by the names that a method states, and the numbers that go with them."""

    rows: Rows

    def arguments(self, *names: str) -> dict[str, Any]:
        """Return some of them by their names, which parameters of kernels share."""
        return {name: getattr(self, name) for name in names}

    def take(self, made: dict[str, Any]) -> None:
        """Take allocated arrays by their stated names; None frees one."""
        vars(self).update(made)


class Lengths(NamedTuple):
    """The lengths of the edges on the device, in sweep order, and their use."""

    out: Any  # (nnz,) float64: of the edges that leave, row after row
    into: Any  # (nnz,) float64: of the edges that enter; the same array if the graph is symmetric
    dist: str  # type of distances
    width: float  # of a window of distances
    survey: Survey

    @property
    def converted(self) -> dict[str, Any]:
        """Lengths in the type of distances, one array if they are one, with that type and the width."""
        out = convert_lengths(self.out, self.dist)
        into = out if self.into is self.out else convert_lengths(self.into, self.dist)
        return {"lengths": out, "in_lengths": into, "dist": self.dist, "width": self.width}


@dataclass(eq=False)
class RootRows:
    """The rows and columns of those roots of a batch that have edges; the others reach nothing."""

    position: NDArray[np.int64]  # row in sweep order
    group: NDArray[np.int64]
    column: NDArray[np.int64]  # in the group

    @property
    def places(self) -> tuple[NDArray[np.int64], ...]:
        """Places of the roots' own entries, in an array of shape (groups, rows, 256)."""
        return self.group, self.position, self.column

    @cached_property
    def columns(self) -> Any:
        """The column of each root among the columns of all groups, on the device."""
        return cp.asarray(self.group * GROUP_COLUMNS + self.column)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of kernels by their names."""
        return {"positions": cp.asarray(self.position), "columns": self.columns}


def upload(graph: Graph, plan: SweepPlan) -> Rows:
    """Upload the graph in sweep order; the stop flag of the plan is mirrored."""
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = graph.active
    indptr, indices = cp.asarray(ordered.indptr[: rows + 1]), cp.asarray(ordered.indices)
    symmetric = into is ordered
    stop = np.frombuffer(cp.cuda.alloc_pinned_memory(1), np.uint8, 1)
    stop[0] = 0
    plan.stop.mirror(stop)
    return Rows(
        plan=plan,
        rows=rows,
        groups=plan.batch // GROUP_COLUMNS,
        order=cp.asarray(graph.order[:rows]),
        position=graph.position,
        indptr=indptr,
        indices=indices,
        in_indptr=indptr if symmetric else cp.asarray(into.indptr[: rows + 1]),
        in_indices=indices if symmetric else cp.asarray(into.indices),
        hubs=(hubs := count_hubs(indptr, rows, ordered.nnz)),
        in_hubs=hubs if symmetric else count_hubs(into.indptr, rows, into.nnz),
        depth=graph.depth,
        omega=None if plan.omega is None else cp.asarray(plan.omega[graph.order[:rows]]),
        class_sizes=None if plan.class_sizes is None else cp.asarray(plan.class_sizes[graph.order[:rows]]),
        sigma_limit=plan.sigma_limit,
        stop=stop,
        counts_are_small=not plan.in_place,
    )


def uploaded_arrays(graph: Graph, plan: SweepPlan) -> Arrays:
    """State the uploaded arrays, at most; a device graph's arrays in sweep order are counted with the graph."""
    n, nnz, active = graph.n, graph.nnz, Array((graph.active,), FLOAT)
    of_vertices: Arrays = {
        "order": Array((graph.active,), INTEGER),
        "omega": None if plan.omega is None else active,
        "class_sizes": None if plan.class_sizes is None else active,
    }
    if graph.is_on_device:
        return of_vertices
    ways = 1 if graph.transpose is graph else 2
    return {
        **of_vertices,
        "indptr": Array((ways, n + 1), INTEGER),
        "indices": Array((ways, nnz), graph.indices.dtype),
        "lengths": Array((ways, nnz), FLOAT) if graph.weighted else None,
        "edge_order": Array((nnz,), INTEGER) if "edges" in plan.sums else None,
    }


def level_arrays(size: Size | Rows) -> dict[str, Array]:
    """State a level: bit rows, and the bitmap of rows with any bit."""
    return {
        "bits": Array((size.groups, size.rows, BYTES), BYTE),
        "live": Array((size.groups, bitmap_words(size.rows)), HALF_WORD),
    }


def notes_arrays(notes: dict[str, Array], groups: int, bytes_of_group: int) -> dict[str, Any]:
    """State the notes of groups, and so many bytes a group for them, for unlisted arrays and for alignment."""
    return {"notes": notes, "besides": Counted({"notes": Array((groups * bytes_of_group - bytes_of(notes),), BYTE)})}


def place_roots(rows: Rows, roots: NDArray[np.int64]) -> RootRows:
    """Give the roots of a batch a column each, in their order; a root of -1 is an absent one."""
    position = np.where(roots < 0, rows.rows, rows.position[roots])
    root = np.flatnonzero(position < rows.rows)
    return RootRows(position[root], root // GROUP_COLUMNS, root % GROUP_COLUMNS)


def queue_places(rows: Rows, root_rows: RootRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the roots of each group, and find the place of each root among those of its group."""
    sizes = np.bincount(root_rows.group, minlength=rows.groups)
    return sizes, np.arange(len(root_rows.group)) - (np.cumsum(sizes) - sizes)[root_rows.group]


def count_groups(roots: NDArray[np.int64]) -> int:
    """Count the groups of a batch."""
    return -(-len(roots) // GROUP_COLUMNS)


def set_bits(bits: Any, root_rows: RootRows) -> None:
    """Clear bit rows, of shape (groups, rows, 32), and set the bit of each root in its own row."""
    for of_group in bits:
        of_group.fill(0)
    scatter(bits, (root_rows.group, root_rows.position, root_rows.column // 8), 1 << root_rows.column % 8)


def bitmap_of(rows: Rows, root_rows: RootRows) -> NDArray[np.uint32]:
    """Make the bitmaps, of shape (groups, rows / 32), of the rows with a root."""
    bitmap = np.zeros((rows.groups, bitmap_words(rows.rows)), np.uint32)
    own = np.uint32(1) << (root_rows.position % 32).astype(np.uint32)
    np.bitwise_or.at(bitmap, (root_rows.group, root_rows.position // 32), own)
    return bitmap


def require_levels(rows: Rows, held: int, counted: int) -> None:
    """Raise MemoryError unless there is room for the bit rows and bitmaps of levels beyond the counted ones."""
    if held > counted:
        rows.plan.require_growth((held - counted) * bytes_of(level_arrays(rows)))


def bit_rows(flags: NDArray[np.bool_], groups: int) -> NDArray[np.uint8]:
    """Pack the flags of roots into bit rows, one for each group."""
    padded = np.zeros(groups * GROUP_COLUMNS, np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded.reshape(groups, GROUP_COLUMNS), axis=1, bitorder="little")


def bits_of(rows: Any, count: int) -> NDArray[np.bool_]:
    """Unpack the bit rows of groups, on the device, into flags of roots."""
    return np.unpackbits(read(rows).reshape(-1), count=count, bitorder="little").astype(np.bool_)


def unpack(bits: Any) -> Any:
    """Unpack bit rows, the last axis of an array on the device: each bit becomes a number, 0 or 1."""
    return cp.unpackbits(cp.ascontiguousarray(bits).reshape(-1), bitorder="little").reshape(*bits.shape[:-1], -1)


def weights_of_columns(rows: Rows, roots: NDArray[np.int64]) -> Any:
    """Return how often each column counts, on the device; None is once each."""
    if rows.plan.root_weights is None:
        return None
    weights = np.ones(rows.groups * GROUP_COLUMNS)
    weights[: len(roots)] = rows.plan.root_weights[roots]
    return cp.asarray(weights)


def add_ends(root_rows: RootRows, reached: Any, keep: Any, scores: Any) -> None:
    """Count every pair of a kept root and a vertex that it reaches at both of its ends.

    `reached` (groups, rows, 32) and `keep` (groups, 32) are bits; scores have a row a group.
    """
    (groups, n, _), roots = reached.shape, len(root_rows.position)
    rows = cp.asarray(root_rows.group * n + root_rows.position)  # among all scores
    of_pairs = {"keep": keep, "scores": scores, "counts": cp.zeros((groups, GROUP_COLUMNS), np.uint32)}
    ARRAYS.launch_striding("add_reached", n, groups, n=n, reached=reached, **of_pairs)
    ARRAYS.launch("add_roots", roots, count=roots, rows=rows, columns=root_rows.columns, **of_pairs)


def row_blocks(rows: int, hubs: int) -> int:
    """Count the thread blocks of a launch over all rows."""
    return hubs + -(-(rows - hubs) // WARPS)


def bitmap_words(rows: int) -> int:
    """Count the words of a bitmap of all rows."""
    return -(-rows // 32)


def count_hubs(indptr: Any, rows: int, nnz: int) -> int:
    """Count the rows at the front that all have many of the edges; later rows may have many, too."""
    few, front, hubs = np.clip(tuning.HUB_SHARE * nnz, *tuning.HUB_EDGES), min(_FRONT, rows), 0
    while hubs < front:
        short = np.diff(as_numpy(indptr[hubs : front + 1])) <= few
        if short.any():
            return hubs + int(short.argmax())
        hubs, front = front, min(_FARTHER * front, rows)
    return rows


# ---- Sweeps in one launch, where each group of roots has thread blocks of its own: the host's side of one_launch.cuh

# How the sweep of a group ended, if not well; as in one_launch.cuh.
QUEUE_FULL, STOPPED = 1, 2


def together(stated: Arrays) -> dict[str, Any]:
    """Allocate stated rows, queues and notes, as one group."""
    made = allocate(cp, stated)
    return {**made["rows"], **made["queue"], **made["notes"]}


def launch(arrays: BatchArrays, kernel: Kernel, groups: int, blocks: int, **arguments: Any) -> int:
    """Run a kernel whose `blocks` the groups share; return how the worst group ended, or raise Interrupted."""
    blocks_per_group = max(1, blocks // groups)
    arrays.barriers.fill(0)
    of_group = arrays.arguments("queue", "masks", "starts", "barriers", "halts", "status")
    of_launch = {"n": arrays.rows.rows, "blocks_per_group": blocks_per_group, "capacity": arrays.queue.shape[1]}
    kernel((blocks_per_group * groups,), THREADS, **of_launch, **of_group, stop=arrays.rows.stop, **arguments)
    worst = int(read(arrays.status)[:, 0].max())
    if worst == STOPPED:
        raise Interrupted
    return worst


def grow_queue(arrays: BatchArrays, queue_arrays: Callable[[int, int], dict[str, Array]], factor: float) -> None:
    """Make the queue half as long again; the next sweep finds its entries anew."""
    rows = arrays.rows
    of_queue = partial(queue_arrays, rows.groups)
    longer = of_queue(grown(arrays.queue.shape[1], first_entries(rows, factor), of_queue, rows))
    arrays.take(dict.fromkeys(longer))
    arrays.take(allocate(cp, longer))


def first_entries(size: Size | Rows, factor: float) -> int:
    """Return the first entries of a group's queue: ``factor * sqrt(spread)`` a row, and the roots'.

    A vertex is at no more distances from the roots of a group than these are apart. They are neighbours in the sweep
    order: of r roots in a plane, in a piece that is ``spread = depth * sqrt(256 / r)`` wide. Most rows have fewer; see
    `lagbc.tuning.HOPS_FIRST_ENTRIES`.
    """
    rows, roots = size.rows, max(1, size.rows if size.plan.roots is None else size.plan.roots)
    spread = size.depth * min(1.0, GROUP_COLUMNS / roots) ** 0.5
    entries = int(min(factor * spread**0.5, GROUP_COLUMNS, roots) * rows) + GROUP_COLUMNS
    return min(entries, _most_entries(rows))


def grown(capacity: int, first: int, arrays: Callable[[int], Arrays], size: Size | Rows) -> int:
    """Return half as many entries again of the queues of `arrays`; MemoryError beyond the growth, or 32 bits."""
    longer = min(3 * capacity // 2, _most_entries(size.rows))
    if longer <= capacity:
        raise OutOfMemoryError(f"a queue of more than {capacity} entries is past what 32-bit positions hold")
    size.plan.require_growth(bytes_of(arrays(longer)) - bytes_of(arrays(first)))
    return longer


def _most_entries(rows: int) -> int:
    """Return the most entries: 32 bits number them, and a level of all rows behind them, at which a sweep stops."""
    return 2**31 - 1 - rows
