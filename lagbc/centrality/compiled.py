"""All kernels of a GPU, compiled before any run waits for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute
from lagbc.cuda import folder
from lagbc.cuda.kernel import Source, begin_compile, load
from lagbc.graph.device import KERNELS as OF_GRAPHS
from lagbc.methods import table
from lagbc.methods.gpu.kernels import KERNELS
from lagbc.methods.sums import OF_BOUNDS
from lagbc.options import Options
from lagbc.reduce.device import STREAMS
from lagbc.scores.records import find, shared

_ALL = (*OF_GRAPHS, *KERNELS, STREAMS)
SOURCES = tuple(kernels.source for kernels in _ALL)


class Compiled(NamedTuple):
    """The result of `compile_kernels`."""

    what: str  # was compiled, in words
    seconds: float
    folder: str  # of the cache


def compile_kernels() -> Compiled:
    """Compile all kernels for the current GPU, or find them compiled; MissingDependencyError without GPU or CuPy."""
    next(row for row in table.METHODS if row.device == "cuda").load()
    import cupy

    begun = time.perf_counter()
    wanted = [(source, options) for _, source, options in variants()]
    for source, options in wanted:
        begin_compile(source, options)
    for source, options in wanted:
        load(source, options)
    _run_small_graphs()
    what = f"{len(wanted)} kernel modules for sm_{cupy.cuda.Device().compute_capability}"
    return Compiled(what, time.perf_counter() - begun, str(folder()))


def variants() -> Iterator[tuple[str, Source, tuple[str, ...]]]:
    """Yield (label, source, options) of each compiled variant."""
    for kernels in _ALL:
        yield from kernels.variants()


def _run_small_graphs() -> None:
    """Compute all centralities of a deep and a shallow graph, and "bc" of one with more paths than float64 holds."""
    options: Options = {"device": "cuda"}
    for weighted in (False, True):
        for matrix in (_diamonds(40), sparse.csr_array(np.ones((8, 8)))):
            given: dict[str, Any] = {"sources": [0, 1], "log2": True, "target_weights": np.ones(matrix.shape[0])}
            for one in shared():
                if one.sums & OF_BOUNDS:
                    continue
                arguments = Arguments(**{name: value for name, value in given.items() if name in one.takes})
                compute(matrix, one, "auto", Read(weighted=weighted), options, arguments)
            if any(row.demand and row.device == "cuda" and row.weighted == weighted for row in table.METHODS):
                for name in ("bc", "edge_bc"):
                    arguments = Arguments(demand=sparse.csr_array(([1.0], ([0], [1])), shape=matrix.shape))
                    compute(matrix, find(name), "auto", Read(weighted=weighted), options, arguments)
        compute(_diamonds(1100), find("bc"), "auto", Read(weighted=weighted), options, Arguments(sources=[0]))


def _diamonds(count: int) -> sparse.csr_array:
    """Make a row of `count` diamonds; each doubles the number of shortest paths."""
    first = 3 * np.arange(count)
    tails = np.concatenate([first, first, first + 1, first + 2])
    heads = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    n = 3 * count + 1
    return sparse.coo_array((np.ones(4 * count), (tails, heads)), shape=(n, n)).tocsr()
