"""Warnings point at the line that called lagbc, however deep inside the call their reason is found."""

import inspect
import warnings

import networkx as nx
import numpy as np
import pytest

import lagbc
from lagbc.methods.cpu.batched import hops

pytestmark = pytest.mark.filterwarnings("ignore:.*conversions to backend graphs are saved to cache")

G = nx.cycle_graph(200)
A = nx.to_scipy_sparse_array(G)

CALLS = {
    "bc": lambda: lagbc.bc(A, threads=2),
    "edge_bc": lambda: lagbc.edge_bc(A, threads=2),
    "centralities": lambda: lagbc.centralities(A, ("bc", "closeness"), threads=2),
    "networkx": lambda: nx.betweenness_centrality(G, backend="lagbc", threads=2),
    "networkx edges": lambda: nx.edge_betweenness_centrality(G, backend="lagbc", threads=2),
    "compare": lambda: lagbc.compare(A, np.arange(200), methods="batched", device="cpu", threads=2),
}


@pytest.fixture
def scarce(monkeypatch):
    """Memory for one worker of method "batched", and no more."""
    prepare = hops.prepare

    def prepare_one(graph, plan):
        if plan.threads > 1:
            raise MemoryError
        return prepare(graph, plan)

    monkeypatch.setattr(hops, "prepare", prepare_one)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_points_at_the_caller(scarce, call):
    with pytest.warns(lagbc.MemoryWarning, match="goes on with") as caught:
        call()
    line = inspect.getsourcelines(call)[1]
    told = [warning for warning in caught if warning.category is lagbc.MemoryWarning]
    assert {(warning.filename, warning.lineno) for warning in told} == {(__file__, line)}


def test_a_warning_is_shown_once_a_line_and_may_be_an_error(scarce, recwarn):
    warnings.simplefilter("default")
    for _ in range(2):
        lagbc.bc(A, threads=2)
    assert len(recwarn) == 1
    warnings.simplefilter("error")
    with pytest.raises(lagbc.MemoryWarning):
        lagbc.bc(A, threads=2)
