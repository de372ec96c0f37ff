"""A graph's arrays on the device: names and bits as in `lagbc.graph.host`, made by kernels.

An entry of compressed rows is a key, ``row << bits | column``; sorted keys are rows with their columns in ascending
order. Prefix sums and stable sorts come first, then rows, the entries of matrices, searches, and orders of vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, resident_blocks
from lagbc.graph.device import BREADTH_FIRST, CSR, KERNELS, ORDER, PROXIMITY, SORT

Csr = tuple[Any, Any, Any]

# Constants of the kernels.
_TILE, _DIGIT_BITS = 4096, 8
# Entries of a verdict, counts that kernels make, numbered as there.
_POINTERS, _OUTSIDE, _LOOPS, _INVALID, _LONGEST, _UNLIKE, _FALLS = range(7)
# From so many bytes on the GPU fetches an array out of its own pages: 126 MB took 8 ms, by pinned memory 23.
_LOCKED_BYTES = 2**23
# Bits of a coordinate in products, so that sums of these fit into 64 bits.
_COARSE_BITS = 15


def offsets(counts: Any) -> Any:
    """Return the sum of the counts (uint32) before each place, and, in one more entry, the sum of all."""
    count = len(counts)
    tiles = -(-count // _TILE)
    before = cp.empty(count + 1, np.int64)
    sums = cp.empty(tiles + 1, np.int64)
    if tiles:
        SORT.kernel("scan_tiles")((tiles,), THREADS, count=count, counts=counts, before=before, tiles=sums)
    SORT.kernel("scan_sums")((1,), THREADS, number=tiles, tiles=sums)
    SORT.launch("scan_join", count + 1, count=count, number=tiles, tiles=sums, before=before)
    return before


def sort(keys: Any, payload: Any, bits: int, first: int = 0) -> tuple[Any, Any]:
    """Sort keys (uint64) by their bits from `first` on, up to `bits`; keys with the same ones stay in order.

    A payload of 64-bit numbers is moved along. Both arrays are overwritten; returned are these, or others of the same
    type.
    """
    count = len(keys)
    tiles = -(-count // _TILE)
    if count < 2:
        return keys, payload
    sorted_keys, sorted_payload = cp.empty_like(keys), None if payload is None else cp.empty_like(payload)
    counts = cp.empty((1 << _DIGIT_BITS) * tiles, np.uint32)
    for shift in range(first, bits, _DIGIT_BITS):
        SORT.kernel("sort_count")((tiles,), THREADS, count=count, shift=shift, keys=keys, counts=counts)
        SORT.kernel("sort_scatter")(
            (tiles,),
            THREADS,
            count=count,
            shift=shift,
            keys=keys,
            payload=payload,
            before=offsets(counts),
            sorted=sorted_keys,
            sorted_payload=sorted_payload,
        )
        keys, sorted_keys = sorted_keys, keys
        payload, sorted_payload = sorted_payload, payload
    return keys, payload


class Entries(NamedTuple):
    """Stored entries of a matrix of n rows, in any order, with loops and duplicates."""

    n: int
    rows: Any  # rows, columns: int32 or int64
    columns: Any
    lengths: Any = None  # float64


def pointers_rise(n: int, indptr: Any, stored: int) -> bool:
    """Whether row pointers rise from 0 to at most `stored`."""
    verdict = _verdict()
    of_pointers = {"indptr": indptr, "bytes": indptr.dtype.itemsize}
    CSR.launch("check_pointers", n + 1, n=n, stored=stored, verdict=verdict, **of_pointers)
    return not verdict.get()[_POINTERS]


def rows_of(indptr: Any, indices: Any) -> Any:
    """Return the row of each entry (int32)."""
    count = len(indices)
    rows = cp.empty(count, np.int32)
    given = {"count": count, "n": len(indptr) - 1, "bytes": indptr.dtype.itemsize, "indptr": indptr}
    CSR.launch("expand_rows", count, rows=rows, **given)
    return rows


def canonical(entries: Entries) -> Csr | None:
    """Put entries into rows without loops, or into none if an index is outside the matrix.

    Duplicates become one entry, its length their sum from left to right. Entries are sorted unless they are in order.
    """
    n, count, verdict = entries.n, len(entries.rows), _verdict()
    keys, payload = _entry_keys(*entries, 1, verdict=verdict)
    CSR.launch("check_rise", count, count=count, keys=keys, verdict=verdict)
    found = verdict.get().tolist()
    if found[_OUTSIDE]:
        return None
    if not (found[_LOOPS] or found[_FALLS]):
        return _rows_of_distinct(n, keys, payload)
    keys, payload = sort(keys, payload, 2 * _vertex_bits(n))
    return _rows_of_runs(n, keys, payload, count - found[_LOOPS], smallest=False)


def both_ways(n: int, indptr: Any, indices: Any, lengths: Any, reverse: Any = None) -> Csr:
    """Take every edge in both directions, with the smaller of the two lengths; `reverse` is not read."""
    if is_symmetric(indptr, indices, lengths):
        return indptr, indices, lengths
    keys, payload = _entry_keys(n, rows_of(indptr, indices), indices, lengths, 3)
    keys, payload = sort(keys, payload, 2 * _vertex_bits(n))
    return _rows_of_runs(n, keys, payload, len(keys), smallest=True)


def is_symmetric(indptr: Any, indices: Any, values: Any) -> bool:
    """Whether every entry of a matrix in canonical form has a mirror image, of an equal value."""
    count, verdict = len(indices), _verdict()
    of = {"indptr": indptr, "indices": indices, "values": values, "verdict": verdict}
    CSR.launch("check_mirrored", count, count=count, rows=rows_of(indptr, indices), **of)
    return not verdict.get()[_UNLIKE]


def transposed(n: int, indptr: Any, indices: Any, data: Any) -> Csr:
    """Reverse every edge."""
    keys, payload = _entry_keys(n, rows_of(indptr, indices), indices, data, 2)
    # Sorted rows leave the keys in the order of their lower halves.
    keys, payload = sort(keys, payload, 2 * _vertex_bits(n), _vertex_bits(n))
    return _rows_of_distinct(n, keys, payload)


def reverse_of(n: int, indptr: Any, indices: Any, data: Any) -> Csr | None:
    """Return the transpose of a matrix in canonical form; None if that is the matrix itself."""
    return None if is_symmetric(indptr, indices, data) else transposed(n, indptr, indices, data)


def renumbered(csr: Csr, order: Any, position: Any, *, symmetric: bool) -> tuple[Csr, Csr | None]:
    """Take vertex ``order[i]`` for vertex i; the transpose, too, if the matrix is `symmetric`: the same arrays."""
    placed = _renumber(*csr, position)
    return placed, placed if symmetric else None


def renumbered_places(csr: Csr, order: Any, position: Any) -> Any:
    """Return the place, in `csr`, of each edge of `renumbered`."""
    return _renumber(*csr[:2], None, position, places=True)[2].view(np.int64)


def _renumber(indptr: Any, indices: Any, values: Any, position: Any, *, places: bool = False) -> Csr:
    """Give each vertex another number; edges take along their `values`, or, if asked for, their present `places`."""
    n, rows = len(position), rows_of(indptr, indices)
    keys, payload = _entry_keys(n, rows, indices, values, 1, position=cp.asarray(position), places=places)
    keys, payload = sort(keys, payload, 2 * _vertex_bits(n))
    return _rows_of_distinct(n, keys, payload)


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


def copied(array: Any) -> Any:
    """Copy a contiguous array; CuPy's own method would compile a kernel first."""
    copy = cp.empty(array.shape, array.dtype)
    copy.data.copy_from_device_async(array.data, array.nbytes)
    return copy


def plus(a: Any, b: Any, sums: Any = None) -> Any:
    """Add two contiguous arrays (float64), in `sums` if it is given; CuPy's operator would compile a kernel first."""
    sums = cp.empty(a.shape) if sums is None else sums
    CSR.launch("add_numbers", a.size, count=a.size, a=a, b=b, sums=sums)
    return sums


def are_equal(ours: Csr, theirs: Csr) -> bool:
    """Whether two matrices in canonical form are equal."""
    return all(a is None or a is b or _have_equal_bits(a, b) for a, b in zip(ours, theirs, strict=True))


def _have_equal_bits(ours: Any, theirs: Any) -> bool:
    if ours.nbytes != theirs.nbytes:
        return False
    verdict, words = _verdict(), ours.nbytes // 4
    CSR.launch("compare_words", words, count=words, ours=ours, theirs=theirs, verdict=verdict)
    return not verdict.get()[_UNLIKE]


def check_lengths(lengths: Any) -> tuple[int, float]:
    """Count the lengths that are not finite and > 0, and find the longest of the others."""
    verdict = _verdict()
    CSR.launch_striding("check_lengths", len(lengths), count=len(lengths), lengths=lengths, verdict=verdict)
    found = verdict.get()
    return int(found[_INVALID]), float(found[_LONGEST].view(np.float64))


def _verdict() -> Any:
    return cp.zeros(7, np.int64)


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
    verdict: Any = None,
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
        verdict=_verdict() if verdict is None else verdict,
    )
    return keys, payload


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


def entries_of(A: Any) -> tuple[Entries, Any] | None:
    """Return the stored entries of a square matrix, without lengths, and the array of their values, which stay there.

    The matrix is CSR, CSC or COO, of CuPy, or of SciPy if `can_upload`. None if its row pointers do not rise from 0 to
    at most the number of stored indices.
    """
    for kernels in KERNELS:
        kernels.begin_compile()
    n = A.shape[0]
    if A.format == "coo":
        return Entries(n, uploaded(A.row), uploaded(A.col)), A.data
    indptr = uploaded(A.indptr)
    if not pointers_rise(n, indptr, min(len(A.indices), len(A.data))):
        return None
    count = int(indptr[n:].get()[0])
    across = uploaded(A.indices[:count])
    along = rows_of(indptr, across)
    entries = Entries(n, along, across) if A.format == "csr" else Entries(n, across, along)
    return entries, A.data[:count]


def can_upload(A: Any) -> bool:
    """Whether kernels can read the arrays of a SciPy matrix; the host names the fault of any other."""
    n = A.shape[0]
    if A.format == "coo":
        indices = A.row, A.col
    elif A.format in ("csr", "csc"):
        indices = A.indptr, A.indices
        if len(A.indptr) != n + 1 or len(A.indices) != len(A.data):
            return False
    else:
        return False
    return n < np.iinfo(np.int32).max and all(array.dtype in (np.int32, np.int64) for array in indices)


def uploaded(array: Any) -> Any:
    """Return a contiguous array on the device; the GPU fetches a large one out of the caller's memory."""
    if isinstance(array, np.ndarray) and array.nbytes >= _LOCKED_BYTES:
        return _fetched(np.ascontiguousarray(array))
    return cp.ascontiguousarray(cp.asarray(array))


def _fetched(array: NDArray[Any]) -> Any:
    """Return the GPU's copy of an array, whose pages are locked meanwhile."""
    runtime, copy = cp.cuda.runtime, cp.empty(array.shape, array.dtype)
    try:
        runtime.hostRegister(array.ctypes.data, array.nbytes, 0)
    except runtime.CUDARuntimeError:  # of pages that cannot be locked, or that somebody has locked
        return cp.asarray(array)
    try:
        copy.data.copy_from_host_async(array.ctypes.data, array.nbytes)
        cp.cuda.get_current_stream().synchronize()
    finally:
        runtime.hostUnregister(array.ctypes.data)
    return copy


def weak_components(indptr: Any, indices: Any) -> Any:
    """Find the weakly connected components: a number (int32) a vertex, from 0 in the order of their first vertices.

    The ends of all edges are joined at once in trees, whose roots are their smallest vertices.
    """
    n, nnz = len(indptr) - 1, len(indices)
    labels, flags, components = cp.empty(n, np.int32), cp.empty(n, np.uint32), cp.empty(n, np.int32)
    ORDER.launch("label_vertices", n, n=n, labels=labels)
    ORDER.launch("join_ends", nnz, count=nnz, rows=rows_of(indptr, indices), indices=indices, labels=labels)
    ORDER.launch("flatten_trees", n, n=n, labels=labels, flags=flags)
    ORDER.launch("number_trees", n, n=n, labels=labels, before=offsets(flags), components=components)
    return components


def sizes_of(components: Any) -> Any:
    """Count the vertices (uint32) of each component."""
    n = len(components)
    sizes = cp.zeros(n, np.uint32)
    ORDER.launch("count_members", n, n=n, components=components, sizes=sizes)
    found = int(find_extent(components)[0]) + 1 if n else 0
    return sizes[:found]


def widest_row(indptr: Any, components: Any = None) -> tuple[int, int]:
    """Return the first of the longest rows, and the number of rows with entries, among all or the largest component."""
    component, found, n = 0, cp.zeros(2, np.uint64), len(indptr) - 1
    if components is not None:  # the largest is the longest row where counts of vertices are taken for row lengths
        component, _ = widest_row(offsets(sizes_of(components)))
    of = {"components": components, "component": component}
    ORDER.launch_striding("find_widest", n, n=n, indptr=indptr, found=found, **of)
    widest, filled = found.get().tolist()
    return 0xFFFFFFFF - (widest & 0xFFFFFFFF), filled


def find_extent(depth: Any) -> tuple[int, int]:
    """Return the largest of some depths, and the number of depths >= 0."""
    found = cp.zeros(2, np.uint64)
    ORDER.launch_striding("find_extent", depth.size, count=depth.size, depth=depth, found=found)
    deepest, reached = found.get().tolist()
    return deepest, reached


def depths(indptr: Any, indices: Any, roots: Any, depth: Any = None) -> Any:
    """Return the hop distance (int32) of each vertex from the nearest root, -1 beyond reach, in `depth` if it is given.

    The lower half of each 64-bit root is a vertex.
    """
    n = len(indptr) - 1
    depth = cp.empty(n, np.int32) if depth is None else depth
    depth.data.memset_async(0xFF, depth.nbytes)
    ORDER.launch("set_roots", len(roots), count=len(roots), roots=roots, depth=depth)
    search = BREADTH_FIRST.kernel("breadth_first")
    arrays = {"indptr": indptr, "indices": indices, "depth": depth}
    blocks = resident_blocks(THREADS, search)
    search((blocks,), THREADS, n=n, any=cp.zeros(3, np.int32), barrier=cp.zeros(1, np.uint32), **arrays)
    return depth


def search_from_hub(indptr: Any, indices: Any, components: Any) -> tuple[int, int, int]:
    """Search from the widest row: return the largest hop distance, the vertices in reach, and the rows with entries."""
    hub, connected = widest_row(indptr, components)
    depth, reached = find_extent(depths(indptr, indices, cp.asarray(np.array([hub], np.int64))))
    return depth, reached, connected


def hub_distances(indptr: Any, indices: Any) -> Any:
    """Return hop distances (hubs, n) from each vertex to the first `HUBS`; 0 where no path of `HUB_LEVELS` leads."""
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    distances, frontiers, seen = cp.zeros((hubs, n), np.int32), cp.zeros((2, n), np.uint32), cp.zeros(n, np.uint32)
    own = np.uint32(1) << np.arange(hubs, dtype=np.uint32)
    for array in (frontiers[0], seen):
        array[:hubs].set(own)
    search = BREADTH_FIRST.kernel("hub_distances")
    search(
        (resident_blocks(THREADS, search),),
        THREADS,
        n=n,
        hubs=hubs,
        most=tuning.HUB_LEVELS,
        indptr=indptr,
        indices=indices,
        frontiers=frontiers,
        seen=seen,
        distances=distances,
        any=cp.zeros(3, np.int32),
        barrier=cp.zeros(1, np.uint32),
    )
    return distances


def degree_order(indptr: Any) -> Any:
    """Order vertices by falling degree, ties by number."""
    n = len(indptr) - 1
    nnz = int(indptr[n:].get()[0])
    keys, vertices = _empty_words(n), _empty_words(n)
    ORDER.launch("degree_keys", n, n=n, nnz=nnz, indptr=indptr, keys=keys, vertices=vertices)
    return sort(keys, vertices, nnz.bit_length())[1].view(np.int64)


def isolated_last(order: Any, indptr: Any) -> Any:
    """Put vertices without edges behind the others, which stay in their order."""
    n = len(order)
    keys, vertices = _empty_words(n), order.view(np.uint64)
    ORDER.launch("isolated_keys", n, n=n, indptr=indptr, vertices=vertices, keys=keys)
    return sort(keys, vertices, 1)[1].view(np.int64)


def places_in(order: Any) -> Any:
    """Return the place of each vertex in an order, its inverse."""
    order, places = cp.asarray(order), cp.empty(len(order), np.int64)
    ORDER.launch("find_places", len(order), n=len(order), order=order, places=places)
    return places


def hub_order(distances: Any, vertices: Any) -> Any:
    """Order vertices by their distances to the first hub, then to the second, and so on; `distances` is (hubs, n)."""
    (hubs, n), count = distances.shape, len(vertices)
    vertices = copied(vertices).view(np.uint64)
    for first in reversed(range(0, hubs, 8)):
        keys = _empty_words(count)
        of_hubs = {"first": first, "hubs": hubs, "distances": distances}
        ORDER.launch("hub_keys", count, count=count, n=n, vertices=vertices, keys=keys, **of_hubs)
        keys, vertices = sort(keys, vertices, 64)
    return vertices.view(np.int64)


def proximity_order(indptr: Any, indices: Any, components: Any, leaf: int = 64) -> Any:
    """Order vertices by proximity, as `lagbc.graph.host.proximity_order` does."""
    n = len(indptr) - 1
    members = sizes_of(components).get().astype(np.int64)
    points = _landmark_distances(indptr, indices, components, len(members))
    shift = max(0, find_extent(points)[0].bit_length() - _COARSE_BITS)
    by_size = np.argsort(-members, kind="stable")
    order = _component_order(components, by_size)
    # Cuts depend on the sizes of components alone.
    starts = np.append(0, np.cumsum(members[by_size]))
    while (cut := np.diff(starts) > leaf).any():
        order = _sort_along_axes(n, points, shift, starts, order, leaf)
        starts = _cut_starts(starts, cut, leaf)
    return order.view(np.int64)


def _empty_words(n: int) -> Any:
    return cp.empty(n, np.uint64)


def _landmark_distances(indptr: Any, indices: Any, components: Any, count: int) -> Any:
    """Find landmarks, each the farthest from those before; hop distances (LANDMARKS, n) in a vertex's component."""
    n = len(indptr) - 1
    farthest, nearest = cp.empty(count, np.uint64), cp.empty(n, np.int32)
    farthest.data.memset_async(0xFF, farthest.nbytes)
    PROXIMITY.launch("find_firsts", n, n=n, components=components, firsts=farthest)
    depth = depths(indptr, indices, farthest)
    points = cp.empty((tuning.LANDMARKS, n), np.int32)
    for i in range(tuning.LANDMARKS):
        farthest.fill(0)
        # The first landmark is farthest from the first vertex of a component, itself no landmark.
        of = {"components": components, "depth": depth, "nearest": nearest, "farthest": farthest}
        PROXIMITY.launch("find_farthest", n, n=n, is_first=i <= 1, **of)
        depth = depths(indptr, indices, farthest, points[i])
    return points


def _component_order(components: Any, by_size: NDArray[np.int64]) -> Any:
    n, rank = len(components), np.empty(len(by_size), np.int64)
    rank[by_size] = np.arange(len(by_size))
    keys, vertices = _empty_words(n), _empty_words(n)
    of = {"components": components, "rank": cp.asarray(rank)}
    PROXIMITY.launch("component_keys", n, n=n, keys=keys, vertices=vertices, **of)
    return sort(keys, vertices, len(by_size).bit_length())[1]


def _sort_along_axes(n: int, points: Any, shift: int, starts: NDArray[np.int64], order: Any, leaf: int) -> Any:
    """Sort the vertices of each piece longer than `leaf` along its principal axis."""
    pieces, starts_there = len(starts) - 1, cp.asarray(starts)
    piece, axes = cp.empty(n, np.int32), cp.empty((pieces, tuning.LANDMARKS))
    # Sums of the coordinates of a piece, and of the products of two.
    moments = cp.zeros((pieces, tuning.LANDMARKS * (tuning.LANDMARKS + 3) // 2), np.uint64)
    PROXIMITY.launch("find_pieces", n, n=n, pieces=pieces, starts=starts_there, piece=piece)
    along = {"n": n, "leaf": leaf, "starts": starts_there, "piece": piece, "order": order, "points": points}
    # A warp of 32 threads takes 256 positions.
    PROXIMITY.launch("sum_moments", -(-n // 256) * 32, shift=shift, moments=moments, **along)
    of_pieces = {"steps": tuning.POWER_STEPS, "starts": starts_there, "moments": moments, "axes": axes}
    PROXIMITY.launch("find_axes", pieces, pieces=pieces, **of_pieces)
    keys, positions = _empty_words(n), _empty_words(n)
    PROXIMITY.launch("axis_keys", n, axes=axes, keys=keys, positions=positions, **along)
    keys, positions = sort(keys, positions, 64)
    vertices = _empty_words(n)
    by_piece = {"piece": piece, "positions": positions, "order": order}
    PROXIMITY.launch("piece_keys", n, n=n, keys=keys, vertices=vertices, **by_piece)
    return sort(keys, vertices, pieces.bit_length())[1]


def _cut_starts(starts: NDArray[np.int64], cut: NDArray[np.bool_], leaf: int) -> NDArray[np.int64]:
    """Return the starts of pieces after the flagged ones are cut in two, at a multiple of `leaf`; the last is n."""
    half = leaf * ((-(-np.diff(starts) // leaf) + 1) // 2)
    cuts = np.flatnonzero(cut)
    return np.insert(starts, cuts + 1, starts[cuts] + half[cuts])
