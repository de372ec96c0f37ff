"""A rank's rows on a GPU, whose 256 columns are those of a group: the product by the kernel of a whole graph's sweep.

A message begins with the count of its rows; then come their masks, their numbers, and their values by the kernels of
block.cu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.compiler import THREADS
from lagbc.methods import tuning
from lagbc.methods.arrays import BYTE, FLOAT, HALF_WORD, Array, allocate
from lagbc.methods.block import NOTHING, BlockPlan, BlockSize, Live
from lagbc.methods.gpu.batched.kernels import BLOCK, FORWARD
from lagbc.methods.gpu.common.arrays import join_bits
from lagbc.methods.gpu.common.kernels import DISTANCES_ALONE, Variant
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, WARPS, bitmap_words, count_hubs, row_blocks, unpack
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS

COLUMNS = GROUP_COLUMNS
# Kernels with a warp a row.
_BY_ROW = "pack_values", "unpack_values", "mark_rows", "add_values", "close_rows", "finish_rows"
# Rows whose bits are unpacked at a time.
_UNPACKED = 2**16


def slice_rows(length: int) -> int:
    """Return the rows of a slice, whole words of a bitmap."""
    return 32 * bitmap_words(min(length, tuning.GRID_SLICE_ON_GPU))


def arrays(size: BlockSize, sums: frozenset[str]) -> dict[str, Any]:
    """State the arrays of a rank; a product is of the piece that is owned, or of another one's."""
    n, rows, part = size.down * size.length, size.across * size.length, slice_rows(size.length)
    counts, stress = bool(sums & PATH_SUMS), "stress" in sums
    product = {
        "totals": Array((part, COLUMNS), FLOAT) if counts else None,
        "path_totals": Array((part, COLUMNS), FLOAT) if stress else None,
        "met": Array((part, BYTES), BYTE, 0),
        "met_live": Array((bitmap_words(part),), HALF_WORD, 0),
    }
    return {
        "rows": {
            "omega": Array((n,), FLOAT, 1),
            "values": Array((n, COLUMNS), FLOAT) if counts else None,
            "paths": Array((n, COLUMNS), FLOAT) if stress else None,
            "bits": Array((n, BYTES), BYTE),
            "live": Array((bitmap_words(n),), HALF_WORD, 0),
            "seen": Array((rows, BYTES), BYTE),
            "marks": Array((bitmap_words(rows),), HALF_WORD, 0),
            "overflowed": Array((BYTES,), BYTE, 0),
            "dependency": Array((n,), FLOAT, 0) if counts else None,
            "stress": Array((n,), FLOAT, 0) if stress else None,
        },
        "own": product,
        "other": product,
    }


class _Product(NamedTuple):
    """Sums of a slice of rows: columns that have any, and the rows that have such a column."""

    totals: Any
    path_totals: Any
    met: Any
    met_live: Any


class _Csr(NamedTuple):
    """Edges on the device, and how many rows of each piece begin it with many of them."""

    indptr: Any
    indices: Any
    hubs: list[int]

    @classmethod
    def of(cls, edges: Any, pieces: int) -> _Csr:
        degrees = np.diff(edges.indptr).reshape(pieces, -1)
        return cls(cp.asarray(edges.indptr), cp.asarray(edges.indices), [count_hubs(piece) for piece in degrees])


class DeviceBlock:
    """A rank's rows; see `lagbc.methods.block.BlockSweep`. Of a level, `masks` has 32 bytes a row."""

    columns = COLUMNS

    def __init__(self, plan: BlockPlan) -> None:
        size, stated = plan.size, arrays(plan.size, plan.sums)
        rows = allocate(cp, stated["rows"])
        self._omega, self._values, self._paths = rows["omega"], rows["values"], rows["paths"]
        self._bits, self._live, self._seen, self._marks = rows["bits"], rows["live"], rows["seen"], rows["marks"]
        self._flags, self._dependency, self._stress = rows["overflowed"], rows["dependency"], rows["stress"]
        self._own, self._other = (_Product(**allocate(cp, stated[name])) for name in ("own", "other"))
        self._plan, self._first = plan, plan.own * size.length
        self._n, self._block_rows, self.slice_rows = (
            size.down * size.length,
            size.across * size.length,
            len(self._own.met),
        )
        self._counts, self._has_stress = bool(plan.sums & PATH_SUMS), "stress" in plan.sums
        self._into = _Csr.of(plan.into, size.across)
        self._out = self._into if plan.out is plan.into else _Csr.of(plan.out, size.across)
        self._reach = _Csr.of(plan.reach, size.down)
        self._degrees = cp.diff(self._reach.indptr)
        if plan.omega is not None:
            self._omega[self._first : self._first + size.length] = cp.asarray(plan.omega)
        self._variant = Variant(sums=DEPENDENCY if self._counts else DISTANCES_ALONE)
        self._multiply = FORWARD.kernel("launch_per_level_forward", self._variant)
        self._touch = FORWARD.kernel("launch_per_level_touch", self._variant)
        self._kernels = {name: BLOCK.kernel(name) for name in _BY_ROW}
        self._count_bits = BLOCK.kernel("count_bits")

    @property
    def overflowed(self) -> NDArray[np.uint64]:
        """Bits of the columns in which a path count left the range."""
        flags: NDArray[np.uint8] = self._flags.get()
        return flags.view(np.uint64)

    def begin(self, present: NDArray[np.int64], places: NDArray[np.int64], columns: NDArray[np.int64]) -> Live:
        """Want all rows; put roots at level 0."""
        self._flags.fill(0)
        self._seen[:] = cp.asarray(~_bit_rows(np.zeros(len(present), np.int64), present, 1))
        rows = cp.asarray(places, np.int32)
        if self._counts:
            self._values[self._first + rows, cp.asarray(columns)] = 1.0
        return Live(rows, cp.asarray(_bit_rows(np.arange(len(places)), columns, len(places))))

    def part(self, level: Live, first: int, last: int) -> Live:
        """Return some rows of a level."""
        return Live(level.rows[first:last], level.masks[first:last])

    def between(self, level: Live, first: int, last: int) -> Live:
        """Return the rows with places first to last."""
        if first == 0 and last == self._plan.size.length:
            return level
        ends = cp.searchsorted(level.rows, cp.asarray([first, last], np.int32)).tolist()
        return self.part(level, *ends)

    def joined(self, parts: Sequence[Live]) -> Live:
        """Put rows one after the other."""
        if len(parts) == 1:
            return parts[0]
        return Live(cp.concatenate([part.rows for part in parts]), cp.concatenate([part.masks for part in parts]))

    def pack(self, level: Live, *, paths: bool) -> Any:
        """Write rows with their numbers."""
        return self._written(level, level.rows + np.int32(self._first), self._sources(self._values, self._paths, paths))

    def pack_bits(self, level: Live) -> Any:
        """Write rows alone."""
        return self._written(level, level.rows, [])

    def take_bits(self, message: Any, first: int) -> Live:
        """Read rows alone."""
        rows, masks, _ = self._read(message, 0)
        return Live(rows + np.int32(first), masks)

    def enter(self, level: Live) -> Any:
        """Put rows that are owned on the frontier."""
        rows = level.rows + np.int32(self._first)
        self._mark(rows, level.masks, self._live, self._bits)
        return rows

    def take(self, message: Any, first: int, *, paths: bool) -> Any:
        """Put rows of a piece on the frontier."""
        into = self._sources(self._values, self._paths, paths)
        rows, masks, packed = self._read(message, len(into))
        rows = rows + np.int32(first)
        self._mark(rows, masks, self._live, self._bits)
        if into and len(rows):
            ends = self._ends(masks)
            for values, own in zip(into, packed, strict=True):
                self._by_row("unpack_values", rows, masks=masks, ends=ends, packed=own, values=values)
        return rows

    def leave(self, live: Sequence[Any]) -> None:
        """Take rows off the frontier."""
        self._live.fill(0)

    def settle(self, level: Live) -> None:
        """Want rows no more in their columns."""
        self._seen[level.rows] |= level.masks

    def want(self, level: Live) -> Any:
        """Want these rows."""
        self._seen[level.rows] = ~level.masks
        self._marks.fill(0)
        self._mark(level.rows, level.masks, self._marks, None)
        return self._marks

    def unwant(self, level: Live | None = None) -> None:
        """Want these rows no more, or none."""
        if level is None:
            self._seen.fill(255)
        else:
            self._seen[level.rows] = 255

    def reached(self, live: Sequence[Any]) -> Any:
        """Find the rows that a frontier leads to."""
        rows = cp.concatenate(live)
        if tuning.SMALL_LEVEL * int(self._degrees[rows].sum()) > self._block_rows:
            return None
        self._marks.fill(0)
        grid = -(-bitmap_words(self._n) // WARPS), 1
        of_edges = {"indptr": self._reach.indptr, "indices": self._reach.indices}
        self._touch(grid, THREADS, n=self._n, live=self._live, touched=self._marks, **of_edges)
        return self._marks

    def multiply(self, chosen: Any, first: int, last: int, base: int, *, backward: bool, paths: bool, own: bool) -> Any:
        """Gather along edges to rows of a piece."""
        product, edges = (self._own if own else self._other), self._out if backward else self._into
        self._launch(product, product.totals, self._values, chosen, first, last, base, edges, backward)
        if paths:  # of the same columns
            self._seen[base + first : base + last] &= ~product.met[: last - first]
            self._launch(product, product.path_totals, self._paths, chosen, first, last, base, edges, backward)
        if own:
            return NOTHING
        rows = _rows_of(product.met_live)
        live = Live(rows + np.int32(first), product.met[rows])
        message = self._written(live, rows, self._sources(product.totals, product.path_totals, paths))
        _clear(product)
        return message

    def add(self, message: Any, first: int, *, paths: bool) -> None:
        """Add the sums of another rank."""
        own = self._own
        into = self._sources(own.totals, own.path_totals, paths)
        rows, masks, packed = self._read(message, len(into))
        if not len(rows):
            return
        packed_by = dict(zip(("packed", "packed_paths"), [*packed, None, None], strict=False))
        totals = {"totals": own.totals if into else None, "path_totals": own.path_totals if paths else None}
        ends = self._ends(masks) if into else None
        of_slice = {"first": first, "met": own.met, "met_live": own.met_live}
        self._by_row("add_values", rows, masks=masks, ends=ends, **packed_by, **totals, **of_slice)

    def found(self, first: int, last: int) -> Live:
        """Close a slice of a level that is found."""
        rows = _rows_of(self._own.met_live)
        masks = self._own.met[rows]
        if self._counts and len(rows):
            into = {"values": self._values, "limit": self._plan.sigma_limit, "overflowed": self._flags}
            of_slice = {"own": self._first + first, "totals": self._own.totals}
            self._by_row("close_rows", rows, masks=masks, **of_slice, **into)
        _clear(self._own)
        return Live(rows + np.int32(first), masks)

    def finish(self, level: Live, first: int, times: NDArray[np.float64]) -> None:
        """Close rows of a level in the backward sweep."""
        own = self._own
        if len(level.rows):
            self._by_row(
                "finish_rows",
                level.rows,
                masks=level.masks,
                n=self._n,
                own=self._first,
                first=first,
                met=own.met,
                totals=own.totals,
                path_totals=own.path_totals,
                omega=self._omega,
                root_weights=cp.asarray(times),
                values=self._values,
                scores=self._dependency,
                paths=self._paths,
                stress=self._stress,
                endpoints=self._plan.endpoints,
            )
        _clear(own)

    def clear_sums(self) -> None:
        """Set the sums over paths to 0."""
        for sums in (self._dependency, self._stress):
            if sums is not None:
                sums.fill(0)

    def path_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return the sums over paths of the vertices that are owned."""
        found = {"dependency": self._dependency, "stress": self._stress}
        own = slice(self._first, self._first + self._plan.size.length)
        return {name: sums[own].get() for name, sums in found.items() if sums is not None}

    def distance_sums(self, levels: Sequence[Live], deepest: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return sums over distances of the vertices that are owned."""
        names = [name for name in ("reached", "distance", "inverse") if name in self._plan.sums]
        sums = {name: cp.zeros(self._plan.size.length) for name in names}
        known = np.zeros(COLUMNS, np.bool_)
        for level in range(len(levels) - 1, 0, -1):
            rows, masks = levels[level]
            if not len(rows):
                continue
            counts = self._sizes(masks)
            for name, of_rows in sums.items():
                of_rows[rows] += counts * {"reached": 1.0, "distance": level, "inverse": 1 / level}[name]
            columns = np.unpackbits(join_bits(masks[None]).ravel(), bitorder="little").astype(np.bool_)
            deepest[columns & ~known] = level
            known |= columns
        return {name: of_rows.get() for name, of_rows in sums.items()}

    def count_columns(self, level: Live) -> NDArray[np.int64]:
        """Count the rows that are live in each column."""
        counts = cp.zeros(COLUMNS, np.int64)
        for first in range(0, len(level.rows), _UNPACKED):
            counts += unpack(level.masks[first : first + _UNPACKED]).sum(axis=0, dtype=np.int64)
        found: NDArray[np.int64] = counts.get()
        return found

    def _launch(
        self,
        product: _Product,
        totals: Any,
        values: Any,
        chosen: Any,
        first: int,
        last: int,
        base: int,
        edges: _Csr,
        backward: bool,
    ) -> None:
        """Multiply a slice, which is all that the kernel knows."""
        rows, begin = last - first, base + first
        hubs = min(max(edges.hubs[base // self._plan.size.length] - first, 0), rows)
        parts = COLUMNS // (32 * FORWARD.own_columns(self._variant))
        blocks = row_blocks(rows, hubs) if chosen is None else hubs + -(-bitmap_words(rows) // WARPS)
        self._multiply(
            (blocks, 1, parts),
            THREADS,
            n=rows,
            hubs=hubs,
            roots=COLUMNS,
            in_indptr=edges.indptr[begin:],
            in_indices=edges.indices,
            live=self._live,
            frontier=self._bits,
            visited=self._seen[begin:],
            next=product.met,
            next_live=product.met_live,
            counts=values,
            totals=totals,
            limit=np.inf if backward else self._plan.sigma_limit,
            overflowed=self._flags,
            touched=None if chosen is None else chosen[begin // 32 :],
            class_sizes=None,
        )

    def _sources(self, values: Any, path_values: Any, paths: bool) -> list[Any]:
        """Return the arrays of the numbers of a message."""
        return [values] * self._counts + [path_values] * paths

    def _written(self, level: Live, places: Any, sources: list[Any]) -> Any:
        """Write a message of rows, whose values are at some places of arrays."""
        count = len(level.rows)
        ends = self._ends(level.masks) if sources and count else None
        size = 0 if ends is None else int(ends[-1])
        message = cp.empty(_head(count) + 8 * size * len(sources), np.uint8)
        message[:8].view(np.int64).fill(count)
        rows, masks, packed = _views(message, count, len(sources))
        masks[:], rows[:] = level.masks, level.rows
        for source, own in zip(sources, packed, strict=True):
            if size:
                self._by_row("pack_values", places, masks=level.masks, ends=ends, values=source, packed=own)
        return message

    def _read(self, message: Any, sources: int) -> tuple[Any, Any, list[Any]]:
        """Read the rows, the masks and the values of a message."""
        return _views(message, int(message[:8].view(np.int64)[0]), sources)

    def _sizes(self, masks: Any) -> Any:
        """Count the columns of each row."""
        count = len(masks)
        sizes = cp.empty(count, np.int64)
        self._count_bits((-(-count // THREADS),), THREADS, count=count, masks=masks, sizes=sizes)
        return sizes

    def _ends(self, masks: Any) -> Any:
        """Count the values of each row and those before it."""
        return cp.cumsum(self._sizes(masks))

    def _mark(self, rows: Any, masks: Any, bitmap: Any, bits: Any) -> None:
        if len(rows):
            self._by_row("mark_rows", rows, masks=masks, bitmap=bitmap, bits=bits)

    def _by_row(self, name: str, rows: Any, **arguments: Any) -> None:
        """Launch a kernel with a warp a row."""
        count = len(rows)
        self._kernels[name]((-(-count // WARPS),), THREADS, count=count, rows=rows, **arguments)


def _rows_of(bitmap: Any) -> Any:
    """Return the rows of a bitmap."""
    return cp.flatnonzero(unpack(bitmap.view(np.uint8))).astype(np.int32)


def _clear(product: _Product) -> None:
    """Leave no row of a slice with a sum."""
    product.met.fill(0)
    product.met_live.fill(0)


def _head(count: int) -> int:
    """Return the bytes of a message of so many rows that come before its values, which begin at a word."""
    return 8 + BYTES * count + 8 * (-(-count // 2))


def _views(message: Any, count: int, sources: int) -> tuple[Any, Any, list[Any]]:
    """Return the rows, the masks and the values of a message."""
    masks = message[8 : 8 + BYTES * count].reshape(count, BYTES)
    rows = message[8 + BYTES * count :][: 4 * count].view(np.int32)
    values = message[_head(count) :].view(np.float64)
    size = len(values) // max(sources, 1)
    return rows, masks, [values[number * size :][:size] for number in range(sources)]


def _bit_rows(rows: NDArray[np.int64], columns: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """Make bit rows with one bit of each (row, column)."""
    flags = np.zeros((count, COLUMNS), np.uint8)
    flags[rows, columns] = 1
    return np.packbits(flags, axis=1, bitorder="little")
