"""The threads that a run takes: no more than memory and address space hold, and than there are batches; estimates."""

from itertools import product
from operator import attrgetter

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import grid, scale_free
from swept import estimate, swept

import lagbc
from lagbc import call, limits, options, tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.limits import TINY_RUN, Room
from lagbc.methods.contract import SweepPlan
from lagbc.planning.sweep import _SMALL_EDGE, _SMALL_VERTEX, device_graph_bytes, fit_memory, memory_of, most_batch

A, MESH = scale_free(500, 4000, seed=1), grid(100, 100)


def of_threads(threads):
    return estimate(A, method="batched", device="cpu", threads=threads)


def test_no_more_threads_than_batches():
    assert of_threads(10**30).threads == of_threads(8).threads == 8
    assert of_threads(3).threads == 3
    assert estimate(np.zeros((0, 0)), threads=5).threads == 1


def test_short_runs_take_few_threads_unless_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(options, "usable_cores", lambda: 8)
    for work, threads in ((1e9, 1), (as_graph(A).nnz * 240, 3), (1, 8)):
        monkeypatch.setattr(tuning, "THREAD_WORK", work)
        assert (of_threads(None).threads, of_threads(5).threads) == (threads, 5)


def test_a_wide_batch_leaves_no_thread_without_roots(recwarn):
    """Of few roots each thread takes its share, and nothing is said of memory."""
    few = estimate(A, batch=10**6, method="batched", device="cpu", threads=3)
    assert (few.batch, few.threads) == (of_threads(3).batch, 3)
    lagbc.bc(A, batch=10**6, method="batched", device="cpu", reduce="none", threads=3)
    assert not recwarn.list


@pytest.mark.parametrize("threads", range(1, 9))
def test_as_many_threads_as_memory_holds(monkeypatch, threads, empty_process):
    monkeypatch.setenv("LAGBC_MEMORY", str(of_threads(threads).total))
    assert of_threads(10**30).threads == threads
    monkeypatch.setenv("LAGBC_MEMORY", str(of_threads(threads).total - 1))
    fewer = of_threads(10**30)
    assert (fewer.threads, fewer.is_over) == ((threads - 1, False) if threads > 1 else (1, True))


def test_the_memory_stated_for_the_process_leaves_what_it_does_not_hold(monkeypatch):
    """A graph at hand counts in the run, and so not again in the process; `memory=` is that of the run alone."""
    monkeypatch.setattr(limits, "held_memory", lambda: 4 * 10**7)
    monkeypatch.setenv("LAGBC_MEMORY", "50MB")
    graph = as_graph(MESH, directed=False)
    assert estimate(graph, device="cpu", threads=1).budget == 10**7 + graph.indices.nbytes
    assert estimate(graph, device="cpu", threads=1).budget == 10**7 + graph.bytes_at_hand > 10**7 + graph.indices.nbytes
    assert estimate(graph, device="cpu", threads=1, memory="5MB").budget == 5 * 10**6
    assert lagbc.bc(graph, k=3, rng=0).shape == (10_000,)


def test_memory_that_the_preparation_freed_goes_back_before_a_sweep_within_a_stated_one(monkeypatch):
    gone_back = []
    monkeypatch.setattr(call, "give_back", lambda: gone_back.append(True))
    lagbc.bc(MESH, k=3, rng=0)
    lagbc.bc(A, k=3, rng=0, memory="1GB")  # it takes less than is given back
    assert not gone_back
    lagbc.bc(MESH, k=3, rng=0, memory="1GB")
    assert gone_back


@pytest.mark.parametrize(("directed", "made"), [(True, "transpose of the graph"), (False, "graph in order")])
def test_transpose_and_order_are_counted_before_they_are_made(monkeypatch, directed, made):
    monkeypatch.setattr(limits, "held_memory", lambda: 4 * 10**7)
    monkeypatch.setenv("LAGBC_MEMORY", "40.1MB")
    graph = as_graph(MESH, directed=directed)
    with pytest.raises(MemoryError, match=rf"the {made} needs .* budget is .* which counts the 40 MB that the process"):
        lagbc.bc(graph, k=3)
    assert not {"_reverse", "order", "reordered"} & vars(graph).keys()


def test_as_many_threads_as_the_address_space_holds(monkeypatch):
    for left, threads in ((0, 1), (2**30, 3), (2**40, 8)):
        monkeypatch.setattr(limits, "_left_of_address_space", lambda left=left: iter([left]))
        assert of_threads(10**30).threads == threads


def test_a_graph_on_a_device_is_counted_once(monkeypatch):
    """It was read before a call, is as good as free memory, and is sorted no more once it is in order."""
    graph, unread = as_graph(A, directed=False), as_graph(A, directed=False)
    monkeypatch.setattr(Graph, "is_on_device", property(lambda graph: True))
    graph.reordered  # noqa: B018 (made and kept)
    held, most = device_graph_bytes(graph, SweepPlan(batch=256))
    assert held == most == device_graph_bytes(unread, SweepPlan(batch=256))[0]
    assert device_graph_bytes(unread, SweepPlan(batch=256))[1] >= held + graph.nnz * 20
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu: 10**6 + on_gpu)
    assert Room.of_call(None, unread).on("cuda") == 10**6 + unread.csr[0].nbytes + unread.csr[1].nbytes
    assert Room.of_call(None, graph).on("cuda") == 10**6 + graph.bytes_at_hand > Room.of_call(None, unread).on("cuda")


ON_CPU = [row for row in lagbc.METHODS if row.available and row.device == "cpu"]
SUMS_OF_SMALL = [
    *({"dependency"}, {"edges"}, {"stress"}, {"reached", "distance"}, {"inverse"}, {"depth"}),
    {"dependency", "stress", "edges", "reached", "distance", "inverse", "depth"},
    *({"dependency", "dependency_squares"}, {"edges", "edges_squares"}),
    {"reached", "distance", "inverse", "distance_squares", "inverse_squares"},
]


@pytest.mark.parametrize("method", ON_CPU, ids=attrgetter("module"))
def test_the_smallest_graphs_take_no_more_than_their_formula(method):
    """All arrays of a run by one thread, with the most edges for which the formula is taken, and with none.

    A library allocates by itself: GraphBLAS took four times as much as the formula.
    """
    batching = method.load().batching
    for n in (1, 2, 9, 33, 64, 100, 120):
        most = (TINY_RUN - n * _SMALL_VERTEX) // _SMALL_EDGE
        given = sp.random_array((n, n), density=min(1, 0.8 * most / n**2), rng=np.random.default_rng(n), format="csr")
        for A, directed in product((given, sp.csr_array((n, n))), (True, False)):
            graph = as_graph(A if directed else sp.triu(A), directed=directed, weighted=method.weighted)
            formula = graph.n * _SMALL_VERTEX + graph.nnz * _SMALL_EDGE
            assert formula <= TINY_RUN
            for sums, roots in product(SUMS_OF_SMALL, (1, n)):
                if not sums <= set(method.sums):
                    continue
                batch = most_batch(method, batching, roots)
                plan = SweepPlan(batch=batch, threads=1, sums=frozenset(sums), roots=roots, omega=np.ones(n))
                piece, sweep = swept(graph, np.arange(roots), method, plan)
                planned, counted = fit_memory(piece, sweep, Room()).memory.total, memory_of(piece, sweep).total
                assert planned == (counted if method.requires else formula)
                assert planned >= counted, (n, graph.nnz, directed, sums, roots)
