"""A probe counts the same on a device as on the host."""

import pytest
from strategies import grid, path, scale_free

from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.probe import probe
from lagbc.methods.sums import DEPENDENCY
from lagbc.planning.choose import ranked
from lagbc.reduce.pieces import Whole
from lagbc.request import Request

GRAPHS = {
    "directed": (scale_free(4000, 15000, seed=3), True),
    "undirected": (scale_free(3000, 40000, seed=1), False),
    "grid": (grid(80, 90), False),
    "path": (path(3000), True),
    "few": (path(5), True),
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    matrix, directed = GRAPHS[request.param]
    return as_graph(matrix, directed=directed)


@pytest.mark.parametrize("share", [1e6, 0.05, 0.0])
def test_counts_are_those_of_the_host(cupy, monkeypatch, graph, share):
    monkeypatch.setattr(tuning, "PROBE_SHARE", share)
    for roots in (graph.order, graph.order[:200], graph.order[::7], graph.order[:3], graph.order[:0]):
        for _ in range(3):
            assert probe(graph.on_device, roots) == probe(graph, roots)


def test_a_graph_of_the_device_is_swept_by_the_same_method(cupy, monkeypatch, graph):
    monkeypatch.setattr(tuning, "PROBE_WORK", 0)
    request = Request(DEPENDENCY, graph.order)
    pieces = (Whole(placed, request, lined_up=graph.order) for placed in (graph, graph.on_device))
    here, there = (ranked(piece.graph, method="auto", device="cuda", probed=piece) for piece in pieces)
    assert here == there
    assert "predicted" in here[0].reason
