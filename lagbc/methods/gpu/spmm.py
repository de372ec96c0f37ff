r"""Unweighted betweenness on the GPU by a library's products: sparse matrix times dense block of vectors.

All roots of a batch are searched at once, level by level, by one cuSPARSE product and one elementwise pass a level
(F the frontier, one column a root; dense, with zeros where a vertex is not on it):

    forward    product = A^T F;   F = product<depth < 0>;   sigma<F> = F;   depth<F> = level
    backward   product = A F;     F = (omega / sigma + product)<depth == level>;   sigma<F> = sigma * product

Backward F holds c, the path dependency per path, on one level at a time, and delta takes the place of sigma; the rows
of delta are summed once, at the end. Only `depth` remembers the levels: a byte an entry, more where there are more
levels than it holds.

With v bytes a value, d bytes a depth and m vertices with edges, on a batch of b roots, each level moves
``(4 + v) nnz`` bytes of A, about ``v b nnz`` to gather rows and ``v b m`` to write them, and then ``(v + d) b m``
in the elementwise pass: an entry's depth, and either the product that is read or the zero that is written. An entry
is found on one level, for ``2 v + d`` more forward and ``4 v`` backward. The traffic is thus in the products, and a
nearly empty level costs as much as a full one: this is the method for graphs of few levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from cupy.cuda.device import get_cusparse_handle
from cupy_backends.cuda.libs import cusparse
from cupyx.cusparse import BaseDescriptor, SpMatDescriptor
from cupyx.scipy.sparse import csr_matrix
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods.contract import BYTE, FLOAT, INTEGER, NARROW, Array, Batching, Counted, SweepPlan, allocate
from lagbc.methods.gpu.common.arrays import read
from lagbc.methods.gpu.common.rows import BatchArrays, upload, uploaded_arrays
from lagbc.methods.gpu.driver import Levels, Searched, State, refuse_targets, weights_of_roots
from lagbc.methods.sums import Sums

batching = Batching(block=1, auto=256)

# Entry i of an array is column i % batch of row i / batch. The product is read only where a vertex is unreached.
_advance = cp.ElementwiseKernel(
    "raw T product, int64 level, int64 batch, float64 limit",
    "D depth, T sigma, T frontier, raw bool found, raw bool overflowed",
    """
    T paths = depth < 0 ? product[i] : T(0);
    frontier = paths;
    if (paths != T(0)) {
        sigma = paths;
        depth = level;
        if (!found[0]) found[0] = true;
        if (paths > limit) overflowed[i % batch] = true;
    }
    """,
    "lagbc_spmm_advance",
)

_retreat = cp.ElementwiseKernel(
    "raw T product, raw T omega, int64 level, int64 batch, D depth",
    "T sigma, T frontier",
    """
    T c = T(0);
    if (depth == level) {
        T paths = sigma, beyond = product[i];
        c = omega[i / batch] / paths + beyond;
        sigma = paths * beyond;
    }
    frontier = c;
    """,
    "lagbc_spmm_retreat",
)

# A column of scale 0 may hold NaN, if its path counts overflowed.
_sum_rows = cp.ReductionKernel(
    "T delta, D depth, float64 scale, float64 ends",
    "float64 score",
    "depth > 0 && scale != 0 ? scale * (delta + ends) : 0.0",
    "a + b",
    "score = a",
    "0",
    "lagbc_spmm_sum_rows",
)


class RowMajor:
    """``product = A @ frontier`` on row-major arrays, through CuPy's bindings of cuSPARSE.

    A row of 256 columns is one or two KiB in one place. On an R-MAT graph of scale 20 this is 10 times (float32) and 5
    times (float64) as fast as CuPy's ``A @ frontier``, which makes column-major copies, with CSR_ALG2 as with the
    default algorithm; CSR_ALG3 is half as fast.
    """

    def __init__(self, A: csr_matrix, frontier: Any, product: Any) -> None:
        self._scalars = np.array([1, 0], A.dtype)
        # The arrays live as long as the descriptors that point to them; each descriptor destroys itself.
        self._arrays = A, frontier, product
        self._descriptors = SpMatDescriptor.create(A), _row_major(frontier), _row_major(product)
        sparse, source, target = (descriptor.desc for descriptor in self._descriptors)
        one, zero = (self._scalars[i:].ctypes.data for i in range(2))
        as_it_is = cusparse.CUSPARSE_OPERATION_NON_TRANSPOSE
        value, algorithm = _cuda_type(A.dtype), cusparse.CUSPARSE_MM_ALG_DEFAULT
        self._arguments = as_it_is, as_it_is, one, sparse, source, zero, target, value, algorithm
        self._buffer = cp.empty(cusparse.spMM_bufferSize(get_cusparse_handle(), *self._arguments), cp.int8)

    def __call__(self) -> None:
        """Multiply, on the current stream."""
        cusparse.spMM(get_cusparse_handle(), *self._arguments, self._buffer.data.ptr)


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the graph on the device, two matrices of ones, and the arrays of `State`."""
    n, nnz, value, shape = graph.n, graph.nnz, np.dtype(plan.dtype), (graph.active, plan.batch)
    return {
        "uploaded": Counted(uploaded_arrays(graph, plan)),
        "matrices": Counted(
            {
                "indptr": Array((2, n + 1), INTEGER),
                "indices": Array((2, nnz), INTEGER),
                "values": Array((2, nnz), value),
            }
        ),
        "vertices": Counted({"order": Array((n,), INTEGER), "omega": Array((n,), value), "scores": Array((n,), FLOAT)}),
        # sigma is delta later; a row a vertex with edges, a column a root
        "rows": {"sigma": Array(shape, value), "frontier": Array(shape, value), "product": Array(shape, value)},
        # as wide as the levels need, and the copy from which wider ones are made
        "depths": Counted({"depth": Array(shape, NARROW), "narrower": Array(shape, np.dtype(np.int16))}),
        "roots": Counted({"lists": Array((plan.batch, 64), BYTE)}),
    }


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order; a vertex with edges and root of a batch have ``3 v + d`` bytes."""
    outward, inward = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows, of_batch = upload(graph, plan), allocate(cp, arrays(graph, plan)["rows"])
    ends = of_batch["frontier"], of_batch["product"]
    pull_dependencies = RowMajor(_matrix(outward, rows.rows, plan.dtype), *ends)
    symmetric = inward is outward
    made = BatchArrays(
        rows=rows,
        omega=cp.asarray(np.ones(rows.rows) if rows.omega is None else rows.omega, plan.dtype),
        # (m, batch): signed integers as wide as the levels need; -1 unreached
        depth=cp.empty((rows.rows, plan.batch), cp.int8),
        # product = A^T frontier, and product = A frontier
        pull_paths=pull_dependencies if symmetric else RowMajor(_matrix(inward, rows.rows, plan.dtype), *ends),
        pull_dependencies=pull_dependencies,
        **of_batch,
    )
    return State(rows, made)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of a batch of roots and count their shortest paths; a level transfers a byte to the host."""
    arrays, batch = state.arrays, state.plan.batch
    found, overflowed = cp.empty(1, bool), cp.zeros(batch, bool)
    _set_roots(state, roots)
    level = 0
    while True:
        state.plan.stop.check()
        arrays.pull_paths()
        found.fill(False)
        arrays.depth = _wide_enough(arrays.depth, level + 1)
        limit, of_batch = state.plan.sigma_limit, (arrays.depth, arrays.sigma, arrays.frontier)
        _advance(arrays.product, level + 1, batch, limit, *of_batch, found, overflowed)
        if not read(found).item():
            break
        level += 1
    yield Levels(roots, np.arange(len(roots)), level, read(overflowed[: len(roots)]), None)


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the dependencies of the roots that did not overflow to ``sums.dependency[0]``, in matrix order."""
    refuse_targets(omega, "spmm")
    sums.require_rows(1, 0)
    plan, arrays, order = state.plan, state.arrays, state.rows.order
    arrays.product.fill(0)
    for level in range(levels.depth, 0, -1):
        plan.stop.check()
        if level < levels.depth:
            arrays.pull_dependencies()
        of_batch = arrays.depth, arrays.sigma, arrays.frontier
        _retreat(arrays.product, arrays.omega, level, plan.batch, *of_batch)
    weights = np.zeros(plan.batch)
    weights[: len(levels.roots)] = weights_of_roots(plan, levels)
    scale = cp.asarray(weights)
    scores = sums.dependency[0]
    scores[order] += _sum_rows(arrays.sigma, arrays.depth, scale, float(plan.endpoints), axis=1)
    if plan.endpoints:
        ends = scale * cp.count_nonzero(arrays.depth > 0, axis=0)
        present = np.flatnonzero(levels.roots >= 0)
        scores[cp.asarray(levels.roots[present])] += ends[cp.asarray(present)]


def _matrix(graph: Graph, active: int, dtype: str) -> csr_matrix:
    """Upload the first `active` rows and columns, which hold all edges, as a matrix of ones."""
    index = np.int32 if graph.nnz <= np.iinfo(np.int32).max else np.int64
    indices = cp.asarray(graph.indices, index)
    indptr = cp.asarray(graph.indptr[: active + 1], index)
    matrix = csr_matrix((cp.ones(graph.nnz, dtype), indices, indptr), shape=(active, active))
    if matrix.indptr.dtype != indptr.dtype:
        raise InvalidValueError(f"spmm: a matrix of this CuPy holds at most 2**31 - 1 edges, not {graph.nnz}")
    return matrix


def _set_roots(state: State, roots: NDArray[np.int64]) -> None:
    """Put each root on the frontier of its column; a root without edges has none."""
    searched, arrays = Searched.of(state.rows, roots), state.arrays
    rows, columns = cp.asarray(searched.rows, np.int64), cp.asarray(searched.places)
    arrays.depth.fill(-1)
    arrays.depth[rows, columns] = 0
    arrays.frontier.fill(0)
    arrays.frontier[rows, columns] = 1


def _wide_enough(depth: Any, level: int) -> Any:
    """Give the array `depth` a type that holds `level`: int8, int16 or int32."""
    return depth.astype(np.promote_types(depth.dtype, np.min_scalar_type(-1 - level)), copy=False)


def _row_major(array: Any) -> BaseDescriptor:
    """Describe a C-contiguous matrix to cuSPARSE."""
    rows, columns = array.shape
    kind, order = _cuda_type(array.dtype), cusparse.CUSPARSE_ORDER_ROW
    descriptor = cusparse.createDnMat(rows, columns, columns, array.data.ptr, kind, order)
    return BaseDescriptor(descriptor, cusparse.dnMatGet, cusparse.destroyDnMat)


def _cuda_type(dtype: Any) -> int:
    return int({"float32": runtime.CUDA_R_32F, "float64": runtime.CUDA_R_64F}[dtype.name])
