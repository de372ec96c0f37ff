"""Ranks send as many bytes as the model of scaling counts, and each has its share of the edges."""

import importlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import MagicMock

import numpy as np
import pytest
from on_threads import on_grid
from thread_lines import line_of_threads

import lagbc
from benchmarks.generators import rmat
from benchmarks.scale_model import COLUMNS, GRAPHS, SHAPES, count, page, predictions
from lagbc.grid.communicator import Turns
from lagbc.run import grid


@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (4, 1)])
def test_bytes_are_those_of_the_model(monkeypatch, shape):
    A, lanes, make = rmat(11, 16), [], grid.lanes_of

    def noted(*arguments):
        made = make(*arguments)
        lanes.extend(made)
        return made

    monkeypatch.setattr(grid, "lanes_of", noted)
    roots = np.random.default_rng(2).choice(np.flatnonzero(np.diff(A.indptr)), COLUMNS, replace=False)
    on_grid(shape, A, lambda graph: lagbc.bc(graph, sources=roots), directed=False)
    counted = count(A, roots).bytes(shape)
    assert 0.9 < sum(lane.grid.sent for lane in lanes) / counted < 1.1
    entries = [lane.graph.blocks.into.nnz for lane in lanes]
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


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_turns_come_in_one_order_on_all_ranks(ranks):
    """Whenever a lane comes, on each rank."""
    lines, random = line_of_threads(ranks), np.random.default_rng(1)
    pauses, orders = random.exponential(0.001, (ranks, 2, 50)), [[] for _ in lines]
    turns = [Turns(line) for line in lines]

    def go(rank, lane):
        for pause in pauses[rank, lane]:
            time.sleep(pause)
            with turns[rank].of(lane):
                orders[rank].append(lane)

    with ThreadPoolExecutor(2 * ranks) as pool:
        list(pool.map(go, *zip(*[(rank, lane) for rank in range(ranks) for lane in (0, 1)], strict=True)))
    assert all(order == orders[0] for order in orders)
    assert sorted(orders[0]) == [0] * 50 + [1] * 50


def test_mpi_that_takes_one_thread_at_a_time_is_refused(monkeypatch):
    """MPI_THREAD_SERIALIZED is enough for ranks that share the roots out, not for a grid."""
    mpi = MagicMock(THREAD_MULTIPLE=3)
    mpi.Query_thread.return_value = 2
    monkeypatch.setitem(sys.modules, "mpi4py", MagicMock(MPI=mpi))
    monkeypatch.delitem(sys.modules, "lagbc.grid.mpi", raising=False)
    line_of = importlib.import_module("lagbc.grid.mpi").line_of
    monkeypatch.delitem(sys.modules, "lagbc.grid.mpi")
    with pytest.raises(
        lagbc.errors.RunError, match=r"grid: MPI was begun without MPI_THREAD_MULTIPLE, .* leave out grid"
    ):
        line_of(mpi)
    mpi.Query_thread.return_value = 3
    assert line_of(mpi).size is mpi.Dup().Get_size()
