"""A call leaves nothing to the collector of garbage: its graph and its states are gone when it returns."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from strategies import diamonds

import lagbc
from benchmarks.generators import delaunay, rmat, with_lengths
from lagbc.graph.graph import Graph

A = sparse.csr_array(sparse.block_diag([rmat(7, 6).astype(float), delaunay(60).astype(float)]))
LENGTHS = with_lengths(A)
PAIRS = {"directed": False, "threads": 2}


def out_of_memory():
    """Workers fail, and the run goes on with one: path counts beyond float64 take more than the budget leaves two."""
    deep = diamonds(3000, 2)
    with pytest.warns(lagbc.MemoryWarning, match="it goes on with batch=32 and threads=1"):
        lagbc.bc(deep, sources=np.arange(64), memory=3_700_000, method="work-efficient", reduce="none", **PAIRS)


def by_executor():
    with ThreadPoolExecutor(2) as executor:
        return lagbc.bc(A, directed=False, executor=executor)


CALLS = {
    "hops": lambda: lagbc.bc(A, **PAIRS),
    "one thread": lambda: lagbc.bc(A, directed=False, threads=1),
    "few roots": lambda: lagbc.bc(A, directed=False, k=3),
    "lengths": lambda: lagbc.bc(LENGTHS, weighted=True, **PAIRS),
    "reduced": lambda: lagbc.edge_bc(A, reduce="all", **PAIRS),
    "chains": lambda: lagbc.bc(sparse.csr_array(sparse.diags_array([np.ones(99)] * 2, offsets=[1, -1])), reduce="all"),
    "cutoff": lambda: lagbc.bc(A, cutoff=[1, 2], **PAIRS),
    "reach": lambda: lagbc.reach(A, cutoff=2, **PAIRS),
    "closeness": lambda: lagbc.closeness(A, **PAIRS),
    "several": lambda: lagbc.centralities(A, ("bc", "harmonic"), **PAIRS),
    "group": lambda: lagbc.group_bc(A, [[0, 1]], directed=False),
    "percolation": lambda: lagbc.percolation(A, np.linspace(0.1, 0.9, A.shape[0]), directed=False),
    "executor": by_executor,
    "out of memory": out_of_memory,
    "work-efficient": lambda: lagbc.bc(A, method="work-efficient", **PAIRS),
    "dijkstra": lambda: lagbc.bc(LENGTHS, method="dijkstra", weighted=True, **PAIRS),
}


@pytest.fixture
def collected():
    """Objects of lagbc that the collector finds after it was left out for a while."""
    flags = gc.get_debug()

    def collect():
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found = {type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("lagbc")}
        gc.set_debug(flags)
        gc.garbage.clear()
        return found

    gc.collect()
    gc.disable()
    yield collect
    gc.enable()


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left(name, collected):
    CALLS[name]()  # modules that load on use may leave circles of their own
    collected()
    CALLS[name]()
    assert not collected()


def test_a_circle_would_be_found(collected):
    graph = Graph.from_csr((np.zeros(2, np.int64), np.zeros(0, np.int32), None), directed=True)
    graph.__dict__["itself"] = graph
    del graph
    assert collected() == {"Graph"}
