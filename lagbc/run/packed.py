"""A work as bytes for another process: mapped from a file, or sent.

Arrays lie one behind the other. From a mapped file they are not copied, so that processes of one machine share them.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lagbc.files import write_whole
from lagbc.planning.sweep import Memory, Sweep
from lagbc.reduce.pieces import Chains, Piece, Small, Whole
from lagbc.run.within import Within
from lagbc.run.work import PieceWork
from lagbc.run.works import work_of

# Bytes at whose multiples arrays begin, as compiled code reads them best.
_ALIGNMENT = 64

# Windows removes no file that is mapped, and workers keep theirs: there each reads a copy.
_FILES_ARE_MAPPED = os.name != "nt"


class Packed(NamedTuple):
    """A work in bytes."""

    digest: str  # the same for the same work, whoever packs it
    pieces: list[Any]  # the bytes of a file, one behind the other; arrays of the work are not copied

    def write(self, path: Path) -> None:
        """Write a file; nobody sees it before it is whole."""
        with write_whole(path, lasting=False) as file:
            file.writelines(self.pieces)

    def __bytes__(self) -> bytes:
        return b"".join(self.pieces)


def pack(work: PieceWork) -> Packed:
    """Pack a work without its items, and with all cached properties of its graph that workers need."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(
        (_carried(work.piece), _plain(work.sweep), work.panel), protocol=5, buffer_callback=buffers.append
    )
    arrays: list[Any] = [head, *(buffer.raw() for buffer in buffers)]
    sizes = np.array([len(arrays), *map(len, arrays)], np.int64).tobytes()
    digest = hashlib.blake2b(sizes, digest_size=16)
    for array in arrays:
        digest.update(array)
    return Packed(digest.hexdigest(), list(_aligned([sizes, *arrays])))


def map_work(path: str) -> PieceWork:
    """Map the work in a file, writable for this process alone; OSError where the process does not see it."""
    with open(path, "rb") as file:
        if not _FILES_ARE_MAPPED:
            return unpack(memoryview(bytearray(file.read())))
        size = os.fstat(file.fileno()).st_size
        return unpack(memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)))


def unpack(packed: memoryview) -> PieceWork:
    """Make a work whose arrays lie in the given memory, which may be written."""
    count = int(np.frombuffer(packed, np.int64, 1)[0])
    sizes = np.frombuffer(packed, np.int64, 1 + count).tolist()[1:]
    places = list(accumulate(map(_padded, [8 + 8 * count, *sizes])))
    head, *arrays = (packed[place : place + size] for place, size in zip(places, sizes, strict=False))
    piece, sweep, panel = pickle.loads(head, buffers=arrays)
    work = work_of(piece, sweep, None)
    if isinstance(work, Within):
        work.panel = panel  # it depends on all items, which are not here
        work.take(sweep, work.plan)
    return work


def _aligned(arrays: list[Any]) -> Iterator[Any]:
    """Yield arrays, each filled up to a multiple of the alignment."""
    for array in arrays:
        yield array
        yield bytes(_padded(len(array)) - len(array))


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _carried(piece: Piece) -> Piece:
    """Leave out of a piece all that changes from call to call, or that only the caller's process needs."""
    if isinstance(piece, Small):
        return Small(replace(piece.blocks), piece.edges)
    if isinstance(piece, Chains):
        nothing: Any = np.empty(0, np.int64)
        left_out: Any = None
        graph = piece.graph.prepared(edges=True)
        contracted = replace(
            piece.contracted, graph=graph, piece=left_out, arcs=nothing, steps=nothing, first_steps=nothing
        )
        return replace(piece, contracted=contracted, part=left_out)
    nobody = np.empty(0, np.int64)
    graph = piece.graph.on_host.prepared(edges="edges" in piece.request.sums)
    return Whole(graph, piece.request._replace(roots=nobody), lined_up=nobody, drawn=piece.drawn)


def _plain(sweep: Sweep) -> Sweep:
    """Leave out of a sweep the words and predictions, which do not change sums."""
    return sweep._replace(reason="", too_large="", seconds=None, memory=Memory())
