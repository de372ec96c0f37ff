"""Compressed rows on the device, the same bits as of `lagbc.graph.host`.

An entry is a key, ``row << bits | column``; sorted keys are rows with their columns in ascending order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from lagbc.graph.device.kernels import CSR
from lagbc.graph.device.sort import offsets, sort

Csr = tuple[Any, Any, Any]

# Entries of a verdict, numbered as in the kernels.
_POINTERS, _OUTSIDE, _LOOPS, _INVALID, _LONGEST, _UNLIKE = range(6)


class Verdict:
    """Counts that kernels make on the device, to be read when they are done."""

    def __init__(self) -> None:
        self.counts = cp.zeros(6, np.int64)

    def read(self) -> list[int]:
        """Wait for the kernels launched so far."""
        counts: list[int] = self.counts.get().tolist()
        return counts


class Checked(NamedTuple):
    """The number of lengths that are not finite and > 0, and the longest of the others."""

    invalid: int
    longest: float


class Entries(NamedTuple):
    """Stored entries of a matrix of n rows, in any order, with loops and duplicates."""

    n: int
    rows: Any  # rows, columns: int32 or int64
    columns: Any
    lengths: Any = None  # float64


def pointers_rise(n: int, indptr: Any, stored: int) -> bool:
    """Whether row pointers rise from 0 to at most `stored`."""
    verdict = Verdict()
    indptr_of = {"indptr": indptr, "bytes": indptr.dtype.itemsize}
    CSR.launch("check_pointers", n + 1, n=n, stored=stored, verdict=verdict.counts, **indptr_of)
    return not verdict.read()[_POINTERS]


def rows_of(indptr: Any, indices: Any) -> Any:
    """Return the row of each entry (int32)."""
    count = len(indices)
    rows = cp.empty(count, np.int32)
    given = {"count": count, "n": len(indptr) - 1, "bytes": indptr.dtype.itemsize, "indptr": indptr}
    CSR.launch("expand_rows", count, rows=rows, **given)
    return rows


def canonical(entries: Entries, *, both_ways: bool) -> Csr | None:
    """Sort entries into rows without loops, or into none if an index is outside the matrix.

    Duplicates become one entry, its length their sum from left to right. `both_ways` takes every entry in both
    directions, not with lengths: duplicates must be summed before.
    """
    count = len(entries.rows)
    verdict = Verdict()
    keys, payload = _entry_keys(
        entries.n, entries.rows, entries.columns, entries.lengths, 3 if both_ways else 1, verdict=verdict
    )
    found = verdict.read()
    if found[_OUTSIDE]:
        return None
    kept = (count - found[_LOOPS]) * (2 if both_ways else 1)
    return _rows_of_runs(entries.n, *_sort_keys(entries.n, keys, payload), kept, smallest=False)


def both_ways(n: int, indptr: Any, indices: Any, lengths: Any, reverse: Any = None) -> Csr:
    """Take every edge in both directions, with the smaller of the two lengths; `reverse` is not read."""
    keys, payload = _entry_keys(n, rows_of(indptr, indices), indices, lengths, 3)
    return _rows_of_runs(n, *_sort_keys(n, keys, payload), len(keys), smallest=True)


def transposed(n: int, indptr: Any, indices: Any, data: Any) -> Csr:
    """Reverse every edge."""
    keys, payload = _entry_keys(n, rows_of(indptr, indices), indices, data, 2)
    # Sorted rows leave the keys in the order of their lower halves.
    return _rows_of_distinct(n, *sort(keys, payload, 2 * _vertex_bits(n), _vertex_bits(n)))


def reverse_of(n: int, indptr: Any, indices: Any, data: Any) -> Csr | None:
    """Return the transpose of a matrix in canonical form; None if that is the matrix itself."""
    reverse = transposed(n, indptr, indices, data)
    return None if are_equal(reverse, (indptr, indices, data)) else reverse


def renumbered(csr: Csr, order: Any, position: Any, *, symmetric: bool) -> tuple[Csr, Csr | None]:
    """Take vertex ``order[i]`` for vertex i; the transpose, too, if the matrix is `symmetric`: the same arrays."""
    placed = _renumber(*csr, position)
    return placed, placed if symmetric else None


def renumbered_places(csr: Csr, order: Any, position: Any) -> Any:
    """Return the place, in `csr`, of each edge of `renumbered`."""
    return _renumber(*csr[:2], None, position, places=True)[2].view(np.int64)


def _renumber(indptr: Any, indices: Any, values: Any, position: Any, *, places: bool = False) -> Csr:
    """Give each vertex another number; edges take along their `values`, or, if asked for, their present `places`."""
    n = len(position)
    rows = rows_of(indptr, indices)
    keys, payload = _entry_keys(n, rows, indices, values, 1, position=cp.asarray(position), places=places)
    return _rows_of_distinct(n, *_sort_keys(n, keys, payload))


def kept_edges(csr: Csr, kept: Any) -> tuple[Csr, Any]:
    """Leave out edges without a flag; also return the places of the others."""
    indptr, indices, lengths = csr
    count = len(indices)
    flags = cp.empty(count, np.uint32)
    CSR.launch("widen_flags", count, count=count, kept=kept, flags=flags)
    before = offsets(flags)
    left = int(before[count:].get()[0])
    out = cp.empty(left, np.int32), None if lengths is None else cp.empty(left), cp.empty(left, np.int64)
    given = {"flags": flags, "before": before, "indices": indices, "lengths": lengths}
    taken = dict(zip(("kept_indices", "kept_lengths", "places"), out, strict=True))
    CSR.launch("take_kept", count, count=count, **given, **taken)
    return (gather(indptr, before), out[0], out[1]), out[2]


def gather(where: Any, source: Any) -> Any:
    """Take the 64-bit numbers at some places (int64) of an array."""
    taken = cp.empty(len(where), source.dtype)
    CSR.launch("gather", len(where), **{"count": len(where), "where": where, "from": source, "taken": taken})
    return taken


def are_equal(ours: Csr, theirs: Csr) -> bool:
    """Whether two matrices in canonical form are equal."""
    return all(a is None or a is b or _have_equal_bits(a, b) for a, b in zip(ours, theirs, strict=True))


def _have_equal_bits(ours: Any, theirs: Any) -> bool:
    if ours.nbytes != theirs.nbytes:
        return False
    verdict, words = Verdict(), ours.nbytes // 4
    CSR.launch("compare_words", words, count=words, ours=ours, theirs=theirs, verdict=verdict.counts)
    return not verdict.read()[_UNLIKE]


def check_lengths(lengths: Any) -> Checked:
    """Count the lengths that are not finite and > 0, and find the longest of the others."""
    verdict = Verdict()
    CSR.launch_striding("check_lengths", len(lengths), count=len(lengths), lengths=lengths, verdict=verdict.counts)
    found = verdict.read()
    return Checked(found[_INVALID], float(np.int64(found[_LONGEST]).view(np.float64)))


def _vertex_bits(n: int) -> int:
    """Count the bits of the number of a vertex."""
    return max(n - 1, 1).bit_length()


def _entry_keys(
    n: int,
    rows: Any,
    columns: Any,
    values: Any,
    ways: int,
    *,
    position: Any = None,
    places: bool = False,
    verdict: Verdict | None = None,
) -> tuple[Any, Any]:
    count = len(rows)
    entries = count * (2 if ways == 3 else 1)
    keys = cp.empty(entries, np.uint64)
    payload = None if values is None and not places else cp.empty(entries, np.float64)
    CSR.launch(
        "entry_keys",
        count,
        count=count,
        n=n,
        bits=_vertex_bits(n),
        ways=ways,
        rows=rows,
        row_bytes=rows.dtype.itemsize,
        columns=columns,
        column_bytes=columns.dtype.itemsize,
        position=position,
        values=values,
        keys=keys,
        payload=payload,
        verdict=(verdict or Verdict()).counts,
    )
    return keys, payload


def _sort_keys(n: int, keys: Any, payload: Any) -> tuple[Any, Any]:
    return sort(keys, payload, 2 * _vertex_bits(n))


def _rows_of_runs(n: int, keys: Any, values: Any, count: int, *, smallest: bool) -> Csr:
    """Make rows of the first `count` sorted keys; equal keys become one entry."""
    bits = {"count": count, "bits": _vertex_bits(n), "keys": keys}
    flags = cp.empty(count, np.uint32)
    CSR.launch("mark_first", count, count=count, keys=keys, flags=flags)
    before = offsets(flags)
    distinct = int(before[count:].get()[0])
    indptr, indices = cp.empty(n + 1, np.int64), cp.empty(distinct, np.int32)
    merged = None if values is None else cp.empty(distinct)
    out = {"values": values, "indices": indices, "merged": merged}
    CSR.launch("merge_runs", count, smallest=smallest, flags=flags, before=before, **bits, **out)
    CSR.launch("row_starts", n + 1, n=n, before=before, indptr=indptr, **bits)
    return indptr, indices, merged


def _rows_of_distinct(n: int, keys: Any, values: Any) -> Csr:
    """Make rows of sorted keys without duplicates."""
    bits = {"count": len(keys), "bits": _vertex_bits(n), "keys": keys}
    indptr, indices = cp.empty(n + 1, np.int64), cp.empty(len(keys), np.int32)
    CSR.launch("take_columns", len(keys), indices=indices, **bits)
    CSR.launch("row_starts", n + 1, n=n, before=None, indptr=indptr, **bits)
    return indptr, indices, values
