"""Calls on small graphs that together launch every CUDA kernel.

    python -m benchmarks.sanitize_calls GROUP RECORD [--fill BYTE] [CALL ...]

`benchmarks.sanitize` runs the calls of a group, or some of them by their numbers, under a tool. RECORD, of JSON, gets
the names of the kernels that were launched and of those with shared memory, the calls that were the first to launch a
variant of any, or a kernel with shared memory. The scores are written beside it. Arrays are allocated one by one, not
from CuPy's pool, so that a tool sees where each of them ends. All bytes of a new array are BYTE, if there is one.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, get_args

import numpy as np
from scipy import sparse

import lagbc
from benchmarks.generators import delaunay, rmat, with_lengths
from lagbc import tuning
from lagbc.cuda import kernel
from lagbc.cuda.kernel import Kernel
from lagbc.types import CentralityName, DTypeName

Call = Callable[[], Any]
Matrix: TypeAlias = sparse.csr_array

DEFAULT_SET: tuple[CentralityName, ...] = ("bc", "closeness", "harmonic", "eccentricity", "stress")
TWO: tuple[CentralityName, ...] = ("bc", "edge_bc")
DTYPES = get_args(DTypeName)
COLUMNS = 64  # of a batch
BLOCKS = 8  # of a launch through all levels: a barrier of as many as a GPU holds takes minutes under some tools


def path(n: int) -> Matrix:
    """Return a path, which has as many levels as vertices."""
    along = np.ones(n - 1)
    return sparse.csr_array(sparse.diags_array([along, along], offsets=[1, -1]))


def hub(n: int) -> Matrix:
    """Join one vertex to all others of a sparse graph, so that its row is gathered by several warps."""
    A = sparse.lil_array(path(n))
    A[0, 1:] = A[1:, 0] = 1
    return sparse.csr_array(A)


def diamonds(count: int) -> Matrix:
    """Chain diamonds, each of which doubles the number of paths."""
    tips = 3 * np.arange(count)
    row = np.concatenate([tips, tips, tips + 1, tips + 2])
    column = np.concatenate([tips + 1, tips + 2, tips + 3, tips + 3])
    n = 3 * count + 1
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, n))


def fractional(A: Matrix, seed: int = 3) -> Matrix:
    """Give edges lengths from 0.5 to 2, the same both ways."""
    upper = sparse.triu(A, 1).tocoo()
    upper.data = np.random.default_rng(seed).uniform(0.5, 2, upper.nnz)
    return sparse.csr_array(upper + upper.T)


def two_lengths(A: Matrix) -> Matrix:
    """Give edges lengths 1.0 and 1.1, the same both ways."""
    lengths = fractional(A)
    lengths.data = np.where(lengths.data > 1, 1.0, 1.1)
    return lengths


def few_levels() -> Matrix:
    """Return a scale-free graph with vertices without edges."""
    return rmat(7, 6)


def strip(length: int) -> Matrix:
    """Return a grid of 3 by `length` vertices."""
    return sparse.csr_array(sparse.kronsum(path(3), path(length)))


def many_levels() -> Matrix:
    """Return a long mesh and other parts, swept in one launch and in order of proximity."""
    return sparse.csr_array(sparse.block_diag([strip(40), delaunay(60).astype(float), path(20)]))


def graphs() -> Iterator[Call]:
    """Read and order graphs that are on the device."""
    import cupyx.scipy.sparse as on_device

    forms = {"csr": on_device.csr_matrix, "csc": on_device.csc_matrix, "coo": on_device.coo_matrix}
    for A in (few_levels().astype(float), many_levels(), path(40), hub(400)):
        for form in forms.values():
            for directed in (True, False):
                for weighted in (True, False):
                    given = form(sparse.csr_matrix(with_lengths(A) if weighted else A))
                    yield partial(lagbc.bc, given, sources=[0, 1], directed=directed, weighted=weighted, device="cuda")
    row, column = np.array([0, 0, 1, 1, 2, 0]), np.array([1, 1, 1, 2, 0, 1])
    repeated = on_device.coo_matrix(sparse.coo_matrix((np.ones(6), (row, column)), shape=(5, 5)))
    for directed in (True, False):
        yield partial(lagbc.bc, repeated, directed=directed, weighted=True, device="cuda")
        yield partial(lagbc.bc, repeated, directed=directed, device="cuda", reduce="all")


def sums_of(A: Matrix, method: Any, dtypes: Iterable[DTypeName] = DTYPES, **options: Any) -> Iterator[Call]:
    """Yield calls for all sums of a batched method."""
    given = {"device": "cuda", "method": method, "reduce": "none", "batch": COLUMNS, **options}
    n = A.shape[0]
    for directed in (True, False):
        yield partial(lagbc.centralities, A, DEFAULT_SET, directed=directed, **given)
        yield partial(lagbc.centralities, A, TWO, directed=directed, **given)
    for dtype in dtypes:
        yield partial(lagbc.bc, A, dtype=dtype, endpoints=True, **given)
        yield partial(lagbc.edge_bc, A, dtype=dtype, **given)
    yield partial(lagbc.bc, A, target_weights=1 + np.arange(n) % 3, source_weights=np.arange(n) % 2 + 0.5, **given)
    trips = sparse.random_array((n, n), density=0.05, rng=np.random.default_rng(5), format="csr")
    yield partial(lagbc.bc, A, demand=trips, **given)
    yield partial(lagbc.closeness, A, **given)


def hops() -> Iterator[Call]:
    """Sweep hops a launch a level, in one launch, and one after the other."""
    for A in (few_levels(), many_levels(), hub(400)):
        yield from sums_of(A, "batched")
    far = sparse.csr_array(sparse.block_diag([few_levels(), path(150)]))
    yield partial(lagbc.bc, far, device="cuda", batch=COLUMNS)
    yield partial(lagbc.bc, diamonds(1100), sources=[0, 1, 2], device="cuda", method="batched")


def lengths() -> Iterator[Call]:
    """Sweep lengths by each of the three schedules."""
    mesh = many_levels()
    for A in (with_lengths(few_levels(), largest=3), two_lengths(few_levels()), fractional(few_levels())):
        yield from sums_of(A, "delta-stepping", weighted=True)
    for A in (fractional(mesh), with_lengths(mesh)):
        yield from sums_of(A, "delta-stepping", weighted=True)
    yield partial(lagbc.bc, fractional(rmat(9, 24)), weighted=True, device="cuda", method="delta-stepping")
    far = sparse.csr_array(sparse.block_diag([with_lengths(few_levels(), largest=2), path(100)]))
    yield partial(lagbc.bc, far, weighted=True, device="cuda", method="delta-stepping")
    for A in (fractional(few_levels()), fractional(mesh)):
        yield partial(lagbc.bc, A, weighted=True, rtol=1e-9, device="cuda", method="delta-stepping")
    yield partial(lagbc.bc, diamonds(1100), sources=[0, 1, 2], weighted=True, device="cuda", method="delta-stepping")


def traversals() -> Iterator[Call]:
    """Search by the traversals of the literature."""
    names = [row.name for row in lagbc.METHODS if row.device == "cuda" and row.formulation == "traversal"]
    small: Any = {"device": "cuda", "reduce": "none"}
    for A in (few_levels(), delaunay(150)):
        for name in sorted({*names} - {"dijkstra"}):
            for dtype in DTYPES:
                yield partial(lagbc.bc, A, method=name, dtype=dtype, endpoints=True, **small)
        for name in ("node-parallel", "edge-parallel", "warp-centric"):
            yield partial(lagbc.bc, A, method=f"{name}:all-blocks", sources=range(20), **small)
        for width in (4, 32):
            for name in ("warp-centric", "work-efficient"):
                yield partial(lagbc.bc, A, method=f"{name}:{width}", **small)
        for variant in ("work-efficient", "node-parallel"):
            for weighed in (with_lengths(A), fractional(A)):
                yield partial(lagbc.bc, weighed, method=f"dijkstra:{variant}", weighted=True, **small)
    yield partial(lagbc.bc, diamonds(70), method="work-efficient", **small)
    yield partial(lagbc.bc, few_levels(), method="spmm", endpoints=True, **small)


def reductions() -> Iterator[Call]:
    """Fold trees, twins and chains, whose flows are summed on the device."""
    for A in (subdivided(delaunay(60).astype(float), 4), rmat(8, 4)):
        for weighed, weighted in ((A, False), (with_lengths(A), True), (fractional(A), True)):
            yield partial(lagbc.bc, weighed, weighted=weighted, directed=False, reduce="all", device="cuda")
            yield partial(lagbc.edge_bc, weighed, weighted=weighted, directed=False, reduce="all", device="cuda")


def pruning() -> Iterator[Call]:
    """Leave out edges that are longer than a way around them."""
    for seed in (1, 2):
        A = fractional(rmat(8, 24, seed))
        A.data = A.data**8
        for directed in (True, False):
            given: Any = {"directed": directed, "weighted": True, "device": "cuda", "method": "delta-stepping"}
            yield partial(lagbc.centralities, A, TWO, reduce="none", **given)


def choice() -> Iterator[Call]:
    """Let "auto" look at the graph before it chooses."""
    for A in (rmat(12, 16), delaunay(2000)):
        yield partial(lagbc.bc, A, device="cuda")


def groups() -> Iterator[Call]:
    """Search into groups of vertices by each schedule."""
    for A in (few_levels(), many_levels()):
        some = [[0], [0, 1, 2], [], [*range(A.shape[0])]]
        for weighed, weighted in ((A, False), (with_lengths(A), True), (fractional(A), True)):
            yield partial(lagbc.group_closeness, weighed, some, weighted=weighted, device="cuda")


def grid() -> Iterator[Call]:
    """Sweep a grid of one rank; without mpi4py there are no calls."""
    if find_spec("mpi4py") is None:
        return
    from mpi4py import MPI

    for A in (few_levels(), hub(400)):
        for directed in (True, False):
            given: Any = {"comm": MPI.COMM_SELF, "grid": (1, 1), "device": "cuda", "directed": directed}
            yield partial(lagbc.centralities, A, DEFAULT_SET, **given)
            yield partial(lagbc.closeness, A, **given)


GROUPS: dict[str, Callable[[], Iterator[Call]]] = {
    of.__name__: of for of in (graphs, hops, lengths, pruning, traversals, reductions, choice, groups, grid)
}


def subdivided(A: Matrix, pieces: int) -> Matrix:
    """Put so many edges in place of each."""
    upper = sparse.triu(A, 1).tocoo()
    n, m = A.shape[0], upper.nnz
    inner = n + np.arange(m * (pieces - 1)).reshape(m, -1)
    stops = np.column_stack([upper.row, inner, upper.col])
    row, column = stops[:, :-1].ravel(), stops[:, 1:].ravel()
    size = n + inner.size
    ones = np.ones(len(row))
    half = sparse.coo_array((ones, (row, column)), shape=(size, size))
    return sparse.csr_array(half + half.T)


def filled(byte: int, size: int) -> Any:
    """Allocate memory all of whose bytes are the same."""
    import cupy

    memory = cupy.cuda.MemoryPointer(cupy.cuda.Memory(size), 0)
    memory.memset_async(byte, size)
    return memory


def arrays_of(result: Any) -> list[Any]:
    """List the arrays of the scores of a call: an array, a matrix, or several."""
    if isinstance(result, dict):
        return [array for name in sorted(result) for array in arrays_of(result[name])]
    if isinstance(result, list | tuple):
        return [array for one in result for array in arrays_of(one)]
    if sparse.issparse(result):
        return [result.data]
    return [np.asarray(result.get() if hasattr(result, "get") else result)]


def main(group: str, record: Path, numbers: Collection[int] = (), fill: int | None = None) -> None:
    """Make the calls of a group, or those of these numbers, and record the kernels that they launch.

    Constants that keep small graphs from the GPU, or edges from being pruned, are set aside; launches have few blocks.
    """
    import cupy

    tuning.SMALL_VERTICES = 2
    tuning.PRUNING_LEAST_EDGES = tuning.PRUNING_LEAST_ROOTS = 1
    resident = kernel.resident_blocks
    kernel.resident_blocks = lambda *given: min(BLOCKS, resident(*given))  # before any module imports it by name

    cupy.cuda.set_allocator(None if fill is None else partial(filled, fill))
    scores = dict[str, Any]()
    launched = dict[Any, int]()  # the call that was the first to launch a function: a kernel is compiled in variants
    launch = Kernel.__call__

    def noted(kernel: Kernel, *given: Any, **arguments: Any) -> None:
        launched.setdefault(kernel.function, number)
        launch(kernel, *given, **arguments)

    Kernel.__call__ = noted  # type: ignore[method-assign, assignment]
    try:
        for number, call in enumerate(GROUPS[group]()):
            if not numbers or number in numbers:
                begun = perf_counter()
                scores |= {f"{number} {place}": array for place, array in enumerate(arrays_of(call()))}
                print(f"call {number}: {perf_counter() - begun:.1f} s", flush=True)
    finally:
        shared = dict[str, int]()  # by name: variants share their memory alike
        for function, number in launched.items():
            if function.shared_size_bytes:
                shared.setdefault(function.name, number)
        told = {
            "kernels": sorted({function.name for function in launched}),
            "calls": sorted({*launched.values()}),
            "shared": sorted(shared),
            "shared_calls": sorted({*shared.values()}),
        }
        record.write_text(json.dumps(told), encoding="utf-8")
        np.savez(record.with_suffix(".npz"), **scores)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("group", choices=[*GROUPS])
    parser.add_argument("record", type=Path)
    parser.add_argument("numbers", type=int, nargs="*")
    parser.add_argument("--fill", type=int)
    main(**vars(parser.parse_args()))
