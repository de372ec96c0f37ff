"""Ranks send as many bytes as the model of scaling counts, and each has its share of the edges."""

import numpy as np
import pytest
from on_threads import on_grid

import lagbc
from benchmarks.generators import rmat
from benchmarks.grid_worker import sent_by
from benchmarks.scale_model import COLUMNS, GRAPHS, SHAPES, count, page, predictions
from lagbc.grid import run
from lagbc.grid.communicator import side_by_side


@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (4, 1)])
def test_bytes_are_those_of_the_model(monkeypatch, shape):
    A, made, make = rmat(11, 16), [], run.Grids

    def noted(line, graph, *arguments):
        grids = make(line, graph, *arguments)
        made.append((graph, sent_by(grids.grid)))
        return grids

    monkeypatch.setattr(run, "Grids", noted)
    roots = np.random.default_rng(2).choice(np.flatnonzero(np.diff(A.indptr)), COLUMNS, replace=False)
    on_grid(shape, A, lambda graph: lagbc.bc(graph, sources=roots), directed=False)
    counted = count(A, roots).bytes(shape)
    assert 0.9 < sum(sum(sent) for _, sent in made) / counted < 1.1
    entries = [graph.blocks.into.nnz for graph, _ in made]
    assert sum(entries) == A.nnz
    assert max(entries) <= 0.3 * A.nnz


def test_the_page_has_a_row_for_each_graph_and_grid():
    A = rmat(8, 16)
    predicted = list(predictions(count(A, np.arange(COLUMNS))))
    rows = [
        line for line in page(predicted, "").splitlines() if line.startswith(tuple(f"| {name} |" for name in GRAPHS))
    ]
    assert len(rows) == len(GRAPHS) * len(SHAPES)
    assert all(one.memory > 0 for one in predicted)


def test_sweeps_side_by_side_begin_messages_in_one_order():
    """That of their steps; where one fails, the messages that another one has begun are waited for."""
    steps = []

    def sweep(name, count):
        for number in range(count):
            steps.append(f"{name}{number}")
            yield lambda number=number: steps.append(f"{name}{number} is here")
        if name == "c":
            raise ZeroDivisionError
        return name

    assert side_by_side([sweep("a", 2), sweep("b", 1)]) == ["a", "b"]
    assert steps == ["a0", "b0", "a0 is here", "a1", "b0 is here", "a1 is here"]
    steps.clear()
    with pytest.raises(ZeroDivisionError):
        side_by_side([sweep("c", 1), sweep("a", 3)])
    assert steps == ["c0", "a0", "c0 is here", "a0 is here"]
