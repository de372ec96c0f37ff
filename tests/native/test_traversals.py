"""Kernels of traversals by themselves, for both types of indices: what they find and refuse."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from strategies import adjacency, grid, with_lengths

from lagbc import reference
from lagbc.methods.arrays import allocate
from lagbc.methods.cpu.traversal.lengths import heap_arrays, search_arrays
from lagbc.methods.cpu.traversal.sweep import new_found, trail_arrays
from lagbc.native import core, csr, record

by_index = pytest.mark.parametrize("index", [np.int32, np.int64])


def asked(stop=None):
    return core.Asked(radius=np.inf, limit=2.0**1000, stop=np.zeros(1, np.uint8) if stop is None else stop)


def trail_of(A, index):
    index = np.dtype(index)
    arrays = trail_arrays(index, A.shape[0], A.nnz, edges=False, class_sizes=False)
    return record("Trail", index, **allocate(np, arrays))


def heap_of(n, index):
    return record("Heap", index, **allocate(np, heap_arrays(np.dtype(index), n)))


def sweep(A, index, roots, *, stop=None, totals=None, queue=None, trail=None):
    """Sweep some roots, each once; return what was found, the trail of the last, and its dependencies."""
    A = A.tocsr()
    n, nnz, index = A.shape[0], A.nnz, np.dtype(index)
    graph = csr(A.indptr.astype(np.int64), A.indices.astype(index), A.data.astype(float))
    trail, found = trail_of(A, index) if trail is None else trail, new_found(len(roots))
    totals = core.Totals(dependency=np.zeros(n)) if totals is None else totals
    rest = trail, asked(stop), np.array(roots), None, np.ones(len(roots)), totals, found
    if queue is None:
        core.sweep_hops(graph, np.full(n, n, index), *rest)
    else:
        core.sweep_lengths(graph, record("Search", index, **allocate(np, search_arrays(index, n, nnz))), queue, *rest)
    return found, trail, totals.dependency


@by_index
def test_hops(index):
    A = grid(5, 7)
    found, trail, scores = sweep(A, index, [3, -1, 20])
    np.testing.assert_allclose(scores, reference.brandes(*adjacency(A), sources=[3, 20]), rtol=1e-12)
    assert found.reached.tolist() == [35, 0, 35]
    assert trail.order.dtype == index
    assert found.depth[2] == trail.dist.max() == trail.dist[-1]


@by_index
@pytest.mark.parametrize("queue", ["heap", "buckets"])
def test_lengths_by_each_queue(index, queue):
    A = with_lengths(grid(5, 7), [1.0, 2.0, 3.0]).tocsr()
    last, before = np.full(8, 2**32 - 1, np.uint32), np.empty(A.nnz, np.uint32)
    buckets = core.Buckets(last=last, before=before, per_length=1.01)
    found, trail, _ = sweep(A, index, [3], queue=heap_of(35, index) if queue == "heap" else buckets)
    dist = np.empty(35)
    dist[trail.order] = trail.dist
    np.testing.assert_array_equal(dist, dijkstra(A, indices=3))
    assert found.reached[0] == 35


def test_what_is_refused_is_named():
    with pytest.raises(TypeError, match="sums has to be a Totals or a Near32"):
        sweep(grid(2, 2), np.int32, [0], totals=asked())


@by_index
def test_a_near_tie_is_found(index):
    """Two ways from 0 to 3: 0.1 + 0.2 and 0.3, of which the first is longer in float64."""
    lengths = [0.1, 0.3, 0.2, 5.0]

    def find(roots, most=100, lengths=lengths):
        graph = csr(np.array([0, 2, 3, 4, 4]), np.array([1, 3, 3, 0], index), np.array(lengths))
        return core.find_near_tie(graph, np.array(roots), most, 2.0**-48)

    assert find([1, 3, 0]) == (0, 3, 0.3, 0.1 + 0.2)
    assert find([2, 1, 2, 0]) == find([0]), "a search leaves nothing for the next"
    assert find([1, 3]) == (-1, -1, 0, 0)
    assert find([0], most=1)[0] == -1, "its end is not settled"
    assert find([0], lengths=[1.0, 3.0, 2.0, 5.0])[0] == -1, "a tie"
