"""Prefix sums and stable sorts of arrays on the device."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from lagbc.cuda.compiler import THREADS
from lagbc.graph.device.kernels import SORT

# Constants of the kernels.
_TILE, _DIGIT_BITS = 4096, 8


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
