"""Edges whose places are past 2**31: arrays that begin so far before the memory of theirs, where nothing is read."""

from functools import partial

import numpy as np
import pytest
from batches import EVERYTHING
from strategies import scale_free

from lagbc.graph.validate import as_graph

PAST = 2**31 + 2**20


def lowered(cupy, array):
    """The array, its first entry at place PAST."""
    start, size = array.data.ptr - PAST * array.itemsize, (PAST + array.size) * array.itemsize
    memory = cupy.cuda.UnownedMemory(start, size, array, device_id=array.device.id)
    return cupy.ndarray(PAST + array.size, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def move_edges(cupy, state):
    rows, arrays = state.rows, state.arrays
    rows.indptr, rows.in_indptr = rows.indptr + PAST, rows.in_indptr + PAST
    rows.indices, rows.in_indices = lowered(cupy, rows.indices), lowered(cupy, rows.in_indices)
    state.edge_order = lowered(cupy, state.edge_order)
    for name in ("lengths", "in_lengths"):
        if hasattr(arrays, name):
            setattr(arrays, name, lowered(cupy, getattr(arrays, name)))


def test_every_schedule(cupy, schedule, directed):
    for A in schedule.graphs.values():
        sums = []
        for is_moved in (False, True):
            graph, state = schedule.prepared(A, directed=directed, sums=EVERYTHING)
            roots = np.arange(min(graph.n, 512))
            if is_moved:
                move_edges(cupy, state)
            sums.append({name: array.get() for name, array in schedule.summed(cupy, graph, state, roots)})
        for name, expected in sums[0].items():
            np.testing.assert_array_equal(sums[1][name], expected, err_msg=name)


def test_searches_that_order(cupy):
    from lagbc.graph.device.ops import depths, hub_distances

    graph = as_graph(scale_free(400, 2500, seed=1), directed=False).on_device
    indptr, indices = graph.indptr + PAST, lowered(cupy, graph.indices)
    for search, *given in ((depths, cupy.zeros(1, np.int64)), (hub_distances,)):
        expected = search(graph.indptr, graph.indices, *given)
        np.testing.assert_array_equal(search(indptr, indices, *given).get(), expected.get())


def test_queues_are_as_long_as_32_bits_number(cupy):
    from lagbc.methods.contract import SweepPlan
    from lagbc.methods.gpu.batched.one_launch import queue_arrays
    from lagbc.methods.gpu.common.rows import Size, first_entries, grown

    rows, of_queue = 10**7, partial(queue_arrays, 1)
    size = Size(SweepPlan(batch=256), rows, groups=1, depth=rows // 2, counts_are_small=True)
    first = first_entries(size, 100.0)
    assert first + rows == 2**31 - 1
    shorter = 3 * first // 4
    assert grown(shorter, shorter, of_queue, size) == first
    with pytest.raises(MemoryError, match="past what 32-bit positions hold"):
        grown(first, first, of_queue, size)
