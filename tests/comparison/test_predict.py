"""The time of a run from all roots, told from runs of a few; a clock of its own stands in for the machine's."""

import numpy as np
import pytest
from strategies import grid, matrix, path

import lagbc
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import plan_call
from lagbc.comparison import predict
from lagbc.graph.validate import as_graph


def predicted(graph, planning=0.0):
    return predict.predict(graph, plan_call(graph, "bc", "auto", Read(), {}, Arguments()), planning)


@pytest.fixture
def clock(monkeypatch):
    """Let a run take ``start + per_root * roots`` seconds, the first a minute more; return the sizes of the runs."""

    def install(start, per_root):
        now, sizes = [0.0], []

        def bc(graph, *, sources, **options):
            assert len(np.unique(sources)) == len(sources)
            assert (graph.out_degrees[sources] > 0).all()
            now[0] += start + per_root * len(sources) + 60 * (not sizes)
            sizes.append(len(sources))

        monkeypatch.setattr(predict, "bc", bc)
        monkeypatch.setattr(predict.time, "perf_counter", lambda: now[0])
        return sizes

    with lagbc.config(device="cpu", threads=2):
        yield install


@pytest.mark.parametrize(
    ("graph", "share"), [(as_graph(path(20_000)), 0), (as_graph(grid(200, 100)), 1)], ids=["path", "grid"]
)
def test_what_a_root_takes_is_told_from_two_runs(clock, graph, share):
    """All edges of a path are bridges, and a grid is one block."""
    sizes = clock(0.01, 1e-4)
    found = predicted(graph, planning=7.0)
    roots = np.count_nonzero(graph.out_degrees)
    assert (found.roots, found.idle) == (roots, graph.n - roots)
    assert found.share == share
    assert found.seconds == pytest.approx(7 + share * (0.01 + 1e-4 * roots))
    assert found.swept == sizes[-1] < roots
    assert not found.is_bound
    assert sizes[:2] == [1, 1]


def test_no_run_takes_long(clock):
    graph = as_graph(grid(200, 100))
    sizes = clock(0.0, 0.05)
    found = predicted(graph)
    assert sum(sizes[1:]) * 0.05 <= 20
    assert found.seconds == pytest.approx(0.05 * found.roots)
    sizes = clock(0.0, 0.5)
    found = predicted(graph)
    assert sizes == [1, 1, 64], "ten times as long is over the limit, but roots that are searched together are swept"
    assert found.is_bound
    sizes = clock(0.0, 0.5)
    with lagbc.config(device="cpu", method="work-efficient"):
        assert predicted(graph).swept == sizes[-1] == 1


def test_all_roots_of_a_small_graph_are_swept(clock):
    clock(0.0, 1e-3)
    found = predicted(as_graph(matrix(9, [(0, 1), (1, 2)])))
    assert (found.swept, found.roots, found.idle) == (2, 2, 7)
    assert found.seconds == found.swept_seconds == pytest.approx(2e-3)


def test_a_graph_without_edges_takes_no_time():
    assert predicted(as_graph(matrix(3, []))) == predict.Prediction(0.0, 0, 3)


def test_with_lengths():
    found = predicted(as_graph(path(40), weighted=True))
    assert found.swept == found.roots == 40
    assert found.seconds > 0
