"""Sums of squares of what single roots add, and sums that count linearly, against one root after the other."""

import numpy as np
import pytest
import states
from strategies import diamonds, grid, scale_free, with_lengths
from test_contract import TEXTBOOK, kind_of

import lagbc
from lagbc.call import sum_request
from lagbc.errors import InvalidValueError
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import extended
from lagbc.methods.sums import SQUARES, Sums
from lagbc.options import check_options
from lagbc.request import Request

ROWS = [row for row in lagbc.METHODS if row.device == "cpu" and set(row.sums) >= SQUARES]
GRAPHS = {
    "scale-free": with_lengths(scale_free(300, 2000, seed=1), [1, 2, 3]),
    "mesh": with_lengths(grid(12, 17), [1, 2]),
}
LINEAR = frozenset({"dependency", "dependency_squares"})


@pytest.fixture(params=ROWS, ids=kind_of)
def row(request):
    return request.param


@pytest.fixture(params=GRAPHS)
def graph(request, row):
    return as_graph(GRAPHS[request.param], directed=False, weighted=row.weighted)


def summed(row, graph, roots, sums, **given):
    """Sums of one batch, over its blocks."""
    found = states.summed(row.load(), graph, SweepPlan(batch=64, sums=sums, **given), roots)
    return {name: array if name == "depth" else array.sum(axis=0) for name, array in found}


def test_methods_that_auto_takes_make_squares():
    assert {row.name for row in ROWS} == {"batched", "work-efficient", "dijkstra"}
    assert not SQUARES & set(TEXTBOOK.sums)


def test_squares_are_those_of_single_roots(row, graph):
    asked, roots, times = frozenset(row.sums), np.arange(0, graph.n, 5)[:40], np.arange(graph.n) % 3 + 1.0
    found = summed(row, graph, roots, asked, root_weights=times)
    alone = [summed(row, graph, [root], asked) for root in roots]
    for name in ("dependency", "edges", "distance", "inverse"):
        often = times[roots] if name in ("dependency", "edges") else np.ones(len(roots))
        expected = sum(count * one[name] ** 2 for count, one in zip(often, alone, strict=True))
        np.testing.assert_allclose(found[f"{name}_squares"], expected, rtol=1e-12, atol=1e-12, err_msg=name)


def test_squares_move_no_bit_of_the_sums(row, graph):
    roots, sums = np.arange(0, graph.n, 5)[:40], frozenset(row.sums)
    beside, alone = summed(row, graph, roots, sums), summed(row, graph, roots, sums - SQUARES)
    for name, array in alone.items():
        assert array.tobytes() == beside[name].tobytes(), name


def test_linear_sums_over_all_roots_are_those_of_the_plain_ones(row, graph):
    if "linear" not in row.options:
        pytest.skip("takes no linear sums")
    every = np.array_split(np.arange(graph.n), 6)
    linear = sum(summed(row, graph, roots, LINEAR, linear=True)["dependency"] for roots in every)
    plain = sum(summed(row, graph, roots, LINEAR)["dependency"] for roots in every)
    np.testing.assert_allclose(linear, plain, rtol=1e-12, atol=1e-12)
    roots, times = every[1], np.arange(graph.n) % 3 + 1.0
    found = summed(row, graph, roots, LINEAR, linear=True, root_weights=times)["dependency_squares"]
    expected = sum(times[root] * summed(row, graph, [root], LINEAR, linear=True)["dependency"] ** 2 for root in roots)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("linear", [False, True])
def test_squares_of_roots_by_numbers_of_any_size(row, graph, linear):
    """Of a root that overflows."""
    if linear and "linear" not in row.options:
        pytest.skip("takes no linear sums")
    sums = LINEAR if linear else LINEAR | {"edges", "edges_squares", "distance_squares", "inverse_squares"}
    times = np.arange(graph.n) % 3 + 1.0
    plan = SweepPlan(batch=64, sums=sums, root_weights=times, linear=linear)
    found = Sums.zeros_of_batch(np, sums, graph.n, graph.nnz, 1, 1)
    extended.add_root(graph, plan, 17, found, 0, 0)
    expected = summed(row, graph, [17], sums, root_weights=times, linear=linear)
    for name, array in found:
        np.testing.assert_allclose(array[0], expected[name], rtol=1e-12, atol=1e-12, err_msg=name)


def test_squares_of_a_run_with_roots_that_overflow():
    """1100 diamonds have more shortest paths than float64 counts."""
    graph = as_graph(diamonds(1100, 2), directed=False)
    roots = np.array([0, graph.n // 2])
    settings = check_options("auto", {"device": "cpu", "reduce": "none"})
    sums = sum_request(graph, Request(sums=LINEAR, roots=roots), settings).sums
    alone = [lagbc.bc(diamonds(1100, 2), directed=False, sources=[root], reduce="none") for root in roots]
    np.testing.assert_allclose(sums.dependency, 2 * sum(alone), rtol=1e-12)
    np.testing.assert_allclose(sums.dependency_squares, 4 * sum(one**2 for one in alone), rtol=1e-12)


def test_squares_go_with_neither_endpoints_nor_bounds_and_linear_with_dependency_alone():
    with pytest.raises(InvalidValueError, match="squares"):
        SweepPlan(batch=64, sums=LINEAR, endpoints=True)
    with pytest.raises(InvalidValueError, match="linear"):
        SweepPlan(batch=64, sums=LINEAR | {"edges"}, linear=True)
