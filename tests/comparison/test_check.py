"""Wrong scores are found, by the reference and by another method."""

import numpy as np
import pytest
from comparison_cases import CPU, GRAPH, only, titles

import lagbc
from lagbc.comparison import check
from lagbc.comparison.check import _relative_difference
from lagbc.graph.validate import as_graph


def spoil(monkeypatch, row, change):
    """Let a method change what it adds."""
    module = row.load()
    backward = module.backward

    def wrong(state, levels, sums, omega=None):
        backward(state, levels, sums, omega)
        change(sums.dependency)

    monkeypatch.setattr(module, "backward", wrong)


def scale_all(delta):
    delta *= 1 + 1e-6


def shift_one(delta):
    delta[:, 7] += 1e-3


def lose_one(delta):
    delta[:, 7] = np.nan


@pytest.mark.parametrize("row", CPU, ids=lambda row: row.name)
@pytest.mark.parametrize("change", [scale_all, shift_one, lose_one])
def test_a_wrong_method_is_found(monkeypatch, row, change):
    spoil(monkeypatch, row, change)
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert only(table, row).agrees is False
    assert only(table, row).agreement > 1e-7
    assert all(record.agrees for record in table.measured if record is not only(table, row))
    assert f"{row.name} on cpu is WRONG" in table.to_markdown()


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_on_a_large_graph_methods_are_checked_against_the_cpu(monkeypatch, no_reference):
    trusted, other = CPU[:2]
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert table.records[0] is only(table, trusted), "it is measured first"
    assert (only(table, trusted).agreement, only(table, trusted).agrees, only(table, trusted).checked) == (
        None,
        None,
        "",
    )
    assert only(table, other).checked == f"{trusted.name} on cpu, 30 roots"
    assert only(table, other).agrees
    spoil(monkeypatch, other, scale_all)
    record = only(lagbc.compare(GRAPH, 30, device="cpu"), other)
    assert 0.999e-6 < record.agreement < 2.001e-6, "a batch may be of two blocks, and the first be changed twice"
    assert record.agrees is False


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_the_cpu_is_asked_even_if_it_is_not_measured(no_reference):
    trusted, other = CPU[:2]
    named = lagbc.compare(GRAPH, 30, methods=[other.name, trusted.name], device="cpu")
    assert [record.checked for record in named.records] == ["", f"{trusted.name} on cpu, 30 roots"]
    table = lagbc.compare(GRAPH, 30, methods=[other.name], device="cpu")
    assert titles(table.records) == [(other.name, "cpu")]
    assert table.records[0].checked == f"{trusted.name} on cpu, 30 roots"
    assert table.records[0].agrees


def test_between_small_and_large_both_are_asked(monkeypatch):
    visits = GRAPH.shape[0] + as_graph(GRAPH).nnz
    monkeypatch.setattr(check, "_REFERENCE_VISITS", 9 * visits)
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert only(table, CPU[0]).checked == "lagbc.reference, 8 roots"
    for row in CPU[1:]:
        assert only(table, row).checked == f"lagbc.reference, 8 roots; {CPU[0].name} on cpu, 30 roots"
    spoil(monkeypatch, CPU[0], scale_all)
    assert not any(record.agrees for record in lagbc.compare(GRAPH, 30, device="cpu").measured)


def test_difference():
    assert _relative_difference(np.zeros(3), np.zeros(3)) == 0
    assert _relative_difference(np.zeros(0), np.zeros(0)) == 0
    assert _relative_difference(np.array([1.0, 3.0]), np.array([1.0, 4.0])) == 0.25
    assert _relative_difference(np.array([0.0, 0.0]), np.array([0.0, 1e-300])) == 1
    for bad in (np.nan, np.inf, -np.inf):
        assert _relative_difference(np.array([bad, 0.0]), np.array([1.0, 0.0])) == np.inf
