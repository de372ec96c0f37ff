"""The graphs that the benchmarks know by name: synthetic ones, and the Matrix Market files of a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, csr_array

from benchmarks.generators import (
    barabasi_albert,
    delaunay,
    holed_grid,
    rmat,
    road_like,
    symmetric_lengths,
    with_lengths,
)

SEED = 1


@dataclass(frozen=True)
class NamedGraph:
    """A graph that is made or read when it is asked for.

    Attributes
    ----------
    name
        How the command line and the results call it.
    kind
        ``"scale-free"``, ``"mesh"``, ``"road"`` or ``"file"``.
    load
        Gives the adjacency matrix without loops: a pattern (bool), or lengths (float64).
    large
        Meant for a GPU: not run unless named.
    """

    name: str
    kind: str
    load: Callable[[], csr_array]
    large: bool = False


SYNTHETIC = (
    NamedGraph("rmat-12-16", "scale-free", partial(rmat, 12, 16, SEED)),
    NamedGraph("rmat-13-16", "scale-free", partial(rmat, 13, 16, SEED)),
    NamedGraph("rmat-14-16", "scale-free", partial(rmat, 14, 16, SEED)),
    NamedGraph("barabasi-albert-10000-10", "scale-free", partial(barabasi_albert, 10_000, 10, SEED)),
    NamedGraph("delaunay-13", "mesh", partial(delaunay, 1 << 13, SEED)),
    NamedGraph("holed-grid-100", "mesh", partial(holed_grid, 100, 100, SEED)),
    NamedGraph("rmat-16-16", "scale-free", partial(rmat, 16, 16, SEED), large=True),
    NamedGraph("rmat-20-16", "scale-free", partial(rmat, 20, 16, SEED), large=True),
    NamedGraph("rmat-20-43", "scale-free", partial(rmat, 20, 43, SEED), large=True),
    NamedGraph("delaunay-19", "mesh", partial(delaunay, 1 << 19, SEED), large=True),
    NamedGraph("road-like-20", "road", partial(road_like, 1 << 20, SEED), large=True),
)


def table(data: Path | None = None, *, weighted: bool = False) -> dict[str, NamedGraph]:
    """Every known graph by name: `SYNTHETIC`, then the files of `data` (by default, the networks lagbc ships).

    `weighted` gives the synthetic ones random lengths from 1 to 10; those of a file are its values.
    """
    synthetic = [_weigh(graph) for graph in SYNTHETIC] if weighted else SYNTHETIC
    graphs = [*synthetic, *_files(shipped_data() if data is None else data, weighted)]
    return {graph.name: graph for graph in graphs}


def _weigh(graph: NamedGraph) -> NamedGraph:
    return replace(graph, load=lambda: with_lengths(graph.load(), SEED))


def shipped_data() -> Path:
    """Find the directory of the networks that lagbc ships."""
    spec = find_spec("lagbc")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("lagbc is not installed; name a directory of Matrix Market files with --data")
    return Path(spec.origin).parent / "data"


def read(path: Path, weighted: bool = False) -> csr_array:
    """Read a Matrix Market file (``.mtx`` or ``.mtx.gz``) without loops: the pattern, or `weighted` the values too."""
    entries = coo_array(mmread(path, spmatrix=False))
    proper = entries.row != entries.col
    row, col = entries.row[proper].astype(np.int32), entries.col[proper].astype(np.int32)
    data = entries.data[proper].astype(np.float64) if weighted else np.ones(len(row), bool)
    return coo_array((data, (row, col)), shape=entries.shape).tocsr()


def read_streets(path: Path) -> csr_array:
    """Read a network as streets: both ways, with random integer lengths from 20 to 200."""
    A = read(path)
    both = csr_array(A + A.T)
    lengths = symmetric_lengths(both.indptr, both.indices, 20.0, 200.0, integer=True, seed=SEED)
    return csr_array((lengths, both.indices, both.indptr), shape=both.shape)


def is_symmetric(A: csr_array) -> bool:
    """Whether every edge of `A` is stored in both directions, with the same length."""
    return bool((A != A.T).nnz == 0)


def is_weighted(A: csr_array) -> bool:
    """Whether the values of `A` are lengths."""
    return bool(A.dtype != np.bool_)


def _files(directory: Path, weighted: bool) -> Iterator[NamedGraph]:
    for path in sorted([*directory.glob("*.mtx"), *directory.glob("*.mtx.gz")]):
        yield NamedGraph(path.name.split(".mtx")[0], "file", partial(read, path, weighted))
