"""Everything compiled beforehand, so that no run waits for a compiler: functions of the CPU, kernels of a GPU."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lagbc.centrality.compute import compute, compute_one
from lagbc.centrality.group import group_bc
from lagbc.centrality.registry import Arguments, registered
from lagbc.graph.validate import as_graph
from lagbc.io.read import read_graph
from lagbc.methods import table
from lagbc.methods.sums import OF_BOUNDS
from lagbc.run.options import Options
from lagbc.types import DeviceName


@dataclass(frozen=True)
class Compiled:
    """What was compiled for a device, how long that took, and where it is kept."""

    device: DeviceName
    what: str
    seconds: float
    folder: str


def compile_for(device: DeviceName) -> Compiled:
    """Compile all that runs on a device, or find it compiled.

    Raises
    ------
    MissingDependencyError
        There is no such device, or the library that compiles for it is not installed.
    """
    next(row for row in table.METHODS if row.device == device).load()
    begun = time.perf_counter()
    what, folder = _compile_functions() if device == "cpu" else _compile_kernels()
    return Compiled(device, what, time.perf_counter() - begun, folder)


def _compile_functions() -> tuple[str, str]:
    """Have all sums made on small graphs, and larger ones put in order; numba compiles what is called."""
    from lagbc.graph.order.hubs import group_by_hubs
    from lagbc.methods.cpu.in_order import add_in_order

    _run_small("cpu")
    _read_small()
    for weighted in (False, True):
        ordered = as_graph(_diamonds(2000).tocoo(), weighted=weighted).reordered
        group_by_hubs(ordered.hub_distances, np.arange(ordered.n))
        _run_reduced(weighted)
    return "the functions that numba compiles", str(add_in_order.stats.cache_path)


def _read_small() -> None:
    """Read edge lists of integers and of names, with lengths."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges")
        for text in ("1 2 0.5\n", "a b 0.5\n"):
            path.write_text(text, encoding="ascii")
            read_graph(path)


def _run_reduced(weighted: bool) -> None:
    """Reduce a graph of small blocks, and one whose single block has twins, or for edges chains."""
    row = _diamonds(300)
    ring = row + sparse.csr_array(([1.0], ([row.shape[0] - 1], [0])), shape=row.shape)
    for matrix in (_diamonds(40), ring):
        for directed in (False, True):
            for name in ("bc", "edge_bc"):
                options: Options = {"device": "cpu", "reduce": "all"}
                compute_one(matrix, name, "auto", directed, weighted, False, options)


def _compile_kernels() -> tuple[str, str]:
    import cupy

    from lagbc.cuda import cache, compiler
    from lagbc.run.kernels import variants

    wanted = [(source, options) for _, source, options in variants()]
    for source, options in wanted:
        compiler.begin(source, options)
    for source, options in wanted:
        compiler.load(source, options)
    _run_small("cuda")
    return f"{len(wanted)} kernel modules for sm_{cupy.cuda.Device().compute_capability}", str(cache.folder())


def _run_small(device: DeviceName) -> None:
    """Compute all centralities of a deep graph and of a shallow one, and of one with more paths than float64 holds."""
    options: Options = {"device": device}
    for weighted in (False, True):
        for matrix in (_diamonds(40), sparse.csr_array(np.ones((8, 8)))):
            given: dict[str, Any] = {"sources": [0, 1], "log2": True, "target_weights": np.ones(matrix.shape[0])}
            for one in registered():
                if one.sums & OF_BOUNDS:
                    continue
                arguments = Arguments(**{name: value for name, value in given.items() if name in one.takes})
                compute_one(matrix, one.name, "auto", None, weighted, False, options, arguments)
            if any(row.demand and row.device == device and row.weighted == weighted for row in table.METHODS):
                for name in ("bc", "edge_bc"):
                    arguments = Arguments(demand=sparse.csr_array(([1.0], ([0], [1])), shape=matrix.shape))
                    compute_one(matrix, name, "auto", None, weighted, False, options, arguments)
        if any(row.bounds and row.device == device for row in table.METHODS):
            for length in (1.0, 0.5) if weighted else (1.0,):  # whole ones have distances of another type
                bounded = Arguments(cutoff=3, decay=0.1)
                compute(length * _diamonds(40), ("bc", "gravity"), "auto", None, weighted, False, options, bounded)
        if device == "cpu":
            group_bc(_diamonds(2), [[1]], weighted=weighted)
        compute_one(_diamonds(1100), "bc", "auto", None, weighted, False, options, Arguments(sources=[0]))


def _diamonds(count: int) -> sparse.csr_array:
    """Join so many diamonds in a row: twice as many shortest paths lead through each as to it."""
    first = 3 * np.arange(count)
    tails = np.concatenate([first, first, first + 1, first + 2])
    heads = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    n = 3 * count + 1
    return sparse.coo_array((np.ones(4 * count), (tails, heads)), shape=(n, n)).tocsr()
