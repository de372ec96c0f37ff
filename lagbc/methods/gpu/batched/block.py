"""A rank's rows on a GPU, with 256 columns a group: the product by the kernel of a whole graph's sweep, group by group.

Rows are numbered group after group, so that a level of all groups is one message: row g * length + i is place i of a
piece, in group g. Arrays of more vertices than a piece have as many rows a group. A message begins with the count of
its rows; then come their masks, their numbers, and their values by the kernels of block.cu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Macro, Variant
from lagbc.methods.block import NOTHING, BlockPlan, BlockSize, BlockSweep, Live
from lagbc.methods.contract import BYTE, FLOAT, HALF_WORD, Array, allocate
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, WARPS, bitmap_words, count_hubs, row_blocks, unpack
from lagbc.methods.gpu.kernels import BLOCK, FORWARD
from lagbc.methods.sums import DISTANCE_SUMS, PATH_SUMS

# Options of a plan that are read.
options: tuple[str, ...] = ()
COLUMNS = GROUP_COLUMNS
# Of a row of a message that has no numbers.
BYTES_OF_BITS = BYTES + 4
# Sums over paths, and the parameters of `finish_rows` that take them.
_PATH_SUMS = {"dependency": "scores", "stress": "stress", "dependency_squares": "squares"}
# Kernels with a warp a row.
_BY_ROW = "pack_values", "unpack_values", "mark_rows", "add_values", "close_rows", "finish_rows", "count_columns"


def slice_rows(length: int) -> int:
    """Return the rows of a slice, whole words of a bitmap."""
    return 32 * bitmap_words(min(length, tuning.GRID_SLICE_ON_GPU))


def arrays(size: BlockSize, sums: frozenset[str]) -> dict[str, Any]:
    """State the arrays of a rank; a product is of the piece that is owned, or of another one's."""
    groups, part = size.groups, size.groups * slice_rows(size.length)
    n, rows = size.down * size.length, size.across * size.length
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
            "values": Array((groups * n, COLUMNS), FLOAT) if counts else None,
            "paths": Array((groups * n, COLUMNS), FLOAT) if stress else None,
            "bits": Array((groups * n, BYTES), BYTE),
            "live": Array((bitmap_words(groups * n),), HALF_WORD, 0),
            "seen": Array((groups * rows, BYTES), BYTE),
            "marks": Array((bitmap_words(groups * rows),), HALF_WORD, 0),
            "overflowed": Array((groups, BYTES), BYTE, 0),
            "dependency": Array((groups, n), FLOAT, 0) if counts else None,
            "stress": Array((groups, n), FLOAT, 0) if stress else None,
            "dependency_squares": Array((groups, n), FLOAT, 0) if "dependency_squares" in sums else None,
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


class _Move(NamedTuple):
    """From row numbers of one array to another one's: rows per group of both, and the place of the first one there."""

    start: int
    end: int
    shift: int

    @property
    def arguments(self) -> dict[str, int]:
        """The arguments of kernels by their names."""
        return {"from": self.start, "to": self.end, "shift": self.shift}

    def __call__(self, rows: Any) -> Any:
        """Return the numbers of rows in the other array."""
        return rows + rows // np.int32(self.start) * np.int32(self.end - self.start) + np.int32(self.shift)


def edges(indptr: NDArray[np.int64], indices: NDArray[np.int32], length: int) -> _Csr:
    """Upload the edges of rows, pieces of some length one after the other; any stream may read them afterwards."""
    pieces = (indptr[first : first + length + 1] for first in range(0, len(indptr) - 1, length))
    hubs = [count_hubs(piece, length, int(piece[-1] - piece[0])) for piece in pieces]
    uploaded = _Csr(cp.asarray(indptr), cp.asarray(indices), hubs)
    cp.cuda.get_current_stream().synchronize()
    return uploaded


def block(plan: BlockPlan) -> BlockSweep:
    """Make a rank's rows."""
    return _DeviceRows(plan)


class _DeviceRows(BlockSweep):
    """A rank's rows. Of a level, `masks` has 32 bytes a row."""

    xp = cp

    def __init__(self, plan: BlockPlan) -> None:
        size, asked, stated = plan.size, plan.asked, arrays(plan.size, plan.asked.sums)
        rows = allocate(cp, stated["rows"])
        self._omega, self._values, self._paths = rows["omega"], rows["values"], rows["paths"]
        self._bits, self._live, self._seen, self._marks = rows["bits"], rows["live"], rows["seen"], rows["marks"]
        self._flags = rows["overflowed"]
        self._sums_over_paths = {name: rows[name] for name in _PATH_SUMS if rows[name] is not None}
        self._own, self._other = (_Product(**allocate(cp, stated[name])) for name in ("own", "other"))
        self._asked, self._groups, self.columns = asked, size.groups, size.groups * COLUMNS
        self._used = size.groups  # by the roots of a batch, the first ones
        self._length, self._first, self.slice_rows = size.length, plan.own * size.length, slice_rows(size.length)
        self._n, self._rows = size.down * size.length, size.across * size.length
        self._counts = asked.counts
        self._edges = plan.edges
        if asked.omega is not None:
            self._omega[self._first : self._first + size.length] = cp.asarray(asked.omega)
        self._variant = Variant("float64", macros=Macro.COUNTS if self._counts else Macro.NONE)
        self._multiply = FORWARD.kernel("launch_per_level_forward", self._variant)
        self._touch = FORWARD.kernel("launch_per_level_touch", self._variant)
        squares = Macro.SQUARES if "dependency_squares" in asked.sums else Macro.NONE
        of_block = Variant("float64", macros=Macro.COUNTS | squares)
        self._kernels = {name: BLOCK.kernel(name, of_block) for name in (*_BY_ROW, "count_bits")}

    @property
    def overflowed(self) -> NDArray[np.uint64]:
        flags: NDArray[np.uint8] = self._flags.get()
        return flags.ravel().view(np.uint64)

    def begin(self, present: NDArray[np.int64], places: NDArray[np.int64], columns: NDArray[np.int64]) -> Live:
        self._flags.fill(0)
        self._used = int(present.max(initial=-1)) // COLUMNS + 1
        wanted = _bit_rows(present // COLUMNS, present % COLUMNS, self._groups)
        self._seen.reshape(self._groups, self._rows, BYTES)[:] = cp.asarray(~wanted)[:, None]
        rows = cp.asarray(columns // COLUMNS * self._length + places, np.int32)
        if self._counts:
            self._values[self._to_columns(self._first)(rows), cp.asarray(columns % COLUMNS)] = 1.0
        return Live(rows, cp.asarray(_bit_rows(np.arange(len(places)), columns % COLUMNS, len(places))))

    def between(self, level: Live, first: int, last: int) -> Live:
        if first == 0 and last == self._length:
            return level
        places = level.rows % np.int32(self._length)
        chosen = cp.flatnonzero((places >= first) & (places < last))
        return Live(level.rows[chosen], level.masks[chosen])

    def pack(self, level: Live, *, paths: bool) -> Any:
        sources = self._sources(self._values, self._paths, paths)
        return self._written(level, level.rows, self._to_columns(self._first), sources)

    def pack_bits(self, level: Live) -> Any:
        return self._written(level, level.rows, self._to_columns(0), [])

    def take_bits(self, message: Any, first: int) -> Live:
        rows, masks, _ = self._read(message, 0)
        return Live(_Move(self._length, self._rows, first)(rows), masks)

    def enter(self, level: Live) -> Any:
        return self._entered(level.rows, level.masks, self._first)

    def take(self, message: Any, first: int, *, paths: bool) -> Any:
        into = self._sources(self._values, self._paths, paths)
        rows, masks, packed = self._read(message, len(into))
        if into and len(rows):
            of_rows = {"masks": masks, "ends": self._ends(masks), **self._to_columns(first).arguments}
            for values, own in zip(into, packed, strict=True):
                self._by_row("unpack_values", rows, packed=own, values=values, **of_rows)
        return self._entered(rows, masks, first)

    def leave(self, live: Sequence[Any]) -> None:
        self._live.fill(0)

    def settle(self, level: Live) -> None:
        self._seen[level.rows] |= level.masks

    def want(self, level: Live) -> Any:
        self._seen[level.rows] = ~level.masks
        self._marks.fill(0)
        as_they_are = _Move(self._rows, self._rows, 0)
        self._by_row("mark_rows", level.rows, masks=level.masks, bitmap=self._marks, bits=None, **as_they_are.arguments)
        return self._marks

    def unwant(self, level: Live | None = None) -> None:
        if level is None:
            self._seen.fill(255)
        else:
            self._seen[level.rows] = 255

    def reached(self, live: Sequence[Any]) -> Any:
        rows, reach = cp.concatenate(live), self._edges.reach
        edges = int((reach.indptr[rows + 1] - reach.indptr[rows]).sum())
        if tuning.SMALL_LEVEL * edges > self._groups * self._rows:
            return None
        self._marks.fill(0)
        grid = -(-bitmap_words(self._n) // WARPS), 1
        of_edges = {"indptr": reach.indptr, "indices": reach.indices}
        for group in range(self._used):
            live_rows, touched = self._live[group * self._n // 32 :], self._marks[group * self._rows // 32 :]
            self._touch(grid, THREADS, n=self._n, live=live_rows, touched=touched, **of_edges)
        return self._marks

    def multiply(self, chosen: Any, first: int, last: int, base: int, *, backward: bool, paths: bool, own: bool) -> Any:
        product, edges = (self._own if own else self._other), self._edges.out if backward else self._edges.into
        limit, span = np.inf if backward else self._asked.sigma_limit, (first, last, base)
        self._launch(product, product.totals, self._values, chosen, span, edges, limit)
        if paths:  # of the same columns
            met = product.met.reshape(self._groups, self.slice_rows, BYTES)[:, : last - first]
            self._seen.reshape(self._groups, self._rows, BYTES)[:, base + first : base + last] &= ~met
            self._launch(product, product.path_totals, self._paths, chosen, span, edges, limit)
        if own:
            return NOTHING
        rows, of_slice = _rows_of(product.met_live), _Move(self.slice_rows, self._length, first)
        level, as_they_are = Live(of_slice(rows), product.met[rows]), _Move(self.slice_rows, self.slice_rows, 0)
        sources = self._sources(product.totals, product.path_totals, paths)
        message = self._written(level, rows, as_they_are, sources)
        _clear(product)
        return message

    def add(self, message: Any, first: int, *, paths: bool) -> None:
        own = self._own
        into = self._sources(own.totals, own.path_totals, paths)
        rows, masks, packed = self._read(message, len(into))
        if not len(rows):
            return
        self._by_row(
            "add_values",
            rows,
            masks=masks,
            ends=self._ends(masks) if into else None,
            packed=packed[0] if into else None,
            packed_paths=packed[1] if paths else None,
            totals=own.totals if into else None,
            path_totals=own.path_totals if paths else None,
            met=own.met,
            met_live=own.met_live,
            **_Move(self._length, self.slice_rows, -first).arguments,
        )

    def found(self, first: int, last: int) -> Live:
        rows = _rows_of(self._own.met_live)
        masks = self._own.met[rows]
        if self._counts and len(rows):
            into = {"values": self._values, "limit": self._asked.sigma_limit, "overflowed": self._flags}
            move = _Move(self.slice_rows, self._n, self._first + first)
            self._by_row("close_rows", rows, masks=masks, totals=self._own.totals, **into, **move.arguments)
        _clear(self._own)
        return Live(_Move(self.slice_rows, self._length, first)(rows), masks)

    def finish(self, level: Live, first: int, times: NDArray[np.float64], depth: int) -> None:
        own = self._own
        if len(level.rows):
            self._by_row(
                "finish_rows",
                level.rows,
                masks=level.masks,
                n=self._n,
                length=self._length,
                slice=self.slice_rows,
                own=self._first,
                first=first,
                met=own.met,
                totals=own.totals,
                path_totals=own.path_totals,
                omega=self._omega,
                root_weights=cp.asarray(times),
                values=self._values,
                paths=self._paths,
                **{parameter: self._sums_over_paths.get(name) for name, parameter in _PATH_SUMS.items()},
                endpoints=self._asked.endpoints,
            )
        _clear(own)

    def path_sums(self) -> dict[str, NDArray[np.float64]]:
        own = slice(self._first, self._first + self._length)
        return {name: sums[:, own].get() for name, sums in self._sums_over_paths.items()}

    def distance_sums(self, levels: Sequence[Live], deepest: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        names = [name for name in DISTANCE_SUMS if name in self._asked.sums]
        sums = {name: cp.zeros(self._groups * self._length) for name in names}
        for level in range(len(levels) - 1, 0, -1):
            rows, masks = levels[level]
            if not len(rows):
                continue
            counts, terms = self._sizes(masks), dict(zip(DISTANCE_SUMS, _terms_of(level), strict=True))
            for name, of_rows in sums.items():
                of_rows[rows] += counts * terms[name]
            columns = self.count_columns(levels[level]) > 0
            deepest[columns & (deepest == 0)] = level
        return {name: of_rows.reshape(self._groups, -1).get() for name, of_rows in sums.items()}

    def count_columns(self, level: Live) -> NDArray[np.int64]:
        counts = cp.zeros(self.columns, np.uint32)
        of_rows = {"masks": level.masks, "counts": counts, "from": self._length}
        self._by_row("count_columns", level.rows, **of_rows)
        return counts.get().astype(np.int64)

    def _launch(
        self, product: _Product, totals: Any, values: Any, chosen: Any, span: tuple[int, ...], edges: _Csr, limit: float
    ) -> None:
        """Multiply a slice (first, last, base), a group at a time; the kernel knows no other rows."""
        first, last, base = span
        rows, begin = last - first, base + first
        hubs = min(max(edges.hubs[base // self._length] - first, 0), rows)
        parts = COLUMNS // (32 * FORWARD.own_columns(self._variant))
        blocks = row_blocks(rows, hubs) if chosen is None else hubs + -(-bitmap_words(rows) // WARPS)
        for group in range(self._used):
            columns, of_slice, of_block = group * self._n, group * self.slice_rows, group * self._rows + begin
            self._multiply(
                (blocks, 1, parts),
                THREADS,
                n=rows,
                hubs=hubs,
                roots=COLUMNS,
                in_indptr=edges.indptr[begin:],
                in_indices=edges.indices,
                live=self._live[columns // 32 :],
                frontier=self._bits[columns:],
                visited=self._seen[of_block:],
                next=product.met[of_slice:],
                next_live=product.met_live[of_slice // 32 :],
                counts=None if values is None else values[columns:],
                totals=None if totals is None else totals[of_slice:],
                limit=limit,
                overflowed=self._flags[group],
                touched=None if chosen is None else chosen[of_block // 32 :],
                class_sizes=None,
            )

    def _to_columns(self, first: int) -> _Move:
        """Move rows of a piece to the grid column, where its first one is at `first`."""
        return _Move(self._length, self._n, first)

    def _entered(self, rows: Any, masks: Any, first: int) -> Any:
        """Put rows of a piece on the frontier; return their vertices."""
        if len(rows):
            move = self._to_columns(first).arguments
            self._by_row("mark_rows", rows, masks=masks, bitmap=self._live, bits=self._bits, **move)
        return rows % np.int32(self._length) + np.int32(first)

    def _sources(self, values: Any, path_values: Any, paths: bool) -> list[Any]:
        """Return the arrays of the numbers of a message."""
        return [values] * self._counts + [path_values] * paths

    def _written(self, level: Live, rows: Any, move: _Move, sources: list[Any]) -> Any:
        """Write a message of a level, with the values of some rows of arrays."""
        count = len(level.rows)
        ends = self._ends(level.masks) if sources and count else None
        size = 0 if ends is None else int(ends[-1])
        message = cp.empty(_head(count) + 8 * size * len(sources), np.uint8)
        message[:8].view(np.int64).fill(count)
        own_rows, masks, packed = _views(message, count, len(sources))
        masks[:], own_rows[:] = level.masks, level.rows
        for source, own in zip(sources, packed, strict=True):
            if size:
                of_rows = {"masks": level.masks, "ends": ends, **move.arguments}
                self._by_row("pack_values", rows, values=source, packed=own, **of_rows)
        return message

    def _read(self, message: Any, sources: int) -> tuple[Any, Any, list[Any]]:
        """Read the rows, the masks and the values of a message; none of one that is empty."""
        return _views(message, int(message[:8].view(np.int64)[0]) if len(message) else 0, sources)

    def _sizes(self, masks: Any) -> Any:
        """Count the columns of each row."""
        count = len(masks)
        sizes = cp.empty(count, np.int64)
        self._kernels["count_bits"]((-(-count // THREADS),), THREADS, count=count, masks=masks, sizes=sizes)
        return sizes

    def _ends(self, masks: Any) -> Any:
        """Count the values of each row and those before it."""
        return cp.cumsum(self._sizes(masks))

    def _by_row(self, name: str, rows: Any, **arguments: Any) -> None:
        """Launch a kernel with a warp a row."""
        count = len(rows)
        if count:
            self._kernels[name]((-(-count // WARPS),), THREADS, count=count, rows=rows, **arguments)


def _rows_of(bitmap: Any) -> Any:
    """Return the rows of a bitmap."""
    return cp.flatnonzero(unpack(bitmap.view(np.uint8))).astype(np.int32)


def _terms_of(level: int) -> tuple[float, ...]:
    """Return the term of a vertex at a level in each of `DISTANCE_SUMS`."""
    return 1.0, float(level), 1 / level, float(level**2), 1 / level**2


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
