"""The graphs that the benchmarks know by name: synthetic ones, and the Matrix Market files of a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, csr_array

from benchmarks.generators import barabasi_albert, delaunay, holed_grid, rmat, road_like

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
        Gives the adjacency pattern, without loops.
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


def table(data: Path | None = None) -> dict[str, NamedGraph]:
    """Every known graph by name: `SYNTHETIC`, then the files of `data` (by default, the networks lagbc ships)."""
    graphs = [*SYNTHETIC, *_files(shipped_data() if data is None else data)]
    return {graph.name: graph for graph in graphs}


def shipped_data() -> Path:
    """Find the directory of the networks that lagbc ships."""
    spec = find_spec("lagbc")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("lagbc is not installed; name a directory of Matrix Market files with --data")
    return Path(spec.origin).parent / "data"


def read(path: Path) -> csr_array:
    """Read the pattern of a Matrix Market file (``.mtx`` or ``.mtx.gz``): values are ignored, loops dropped."""
    entries = coo_array(mmread(path))
    proper = entries.row != entries.col
    row, col = entries.row[proper].astype(np.int32), entries.col[proper].astype(np.int32)
    return coo_array((np.ones(len(row), bool), (row, col)), shape=entries.shape).tocsr()


def is_symmetric(A: csr_array) -> bool:
    """Whether every edge of the pattern `A` is stored in both directions."""
    return bool((A != A.T).nnz == 0)


def _files(directory: Path) -> Iterator[NamedGraph]:
    for path in sorted([*directory.glob("*.mtx"), *directory.glob("*.mtx.gz")]):
        yield NamedGraph(path.name.split(".mtx")[0], "file", partial(read, path))
