"""What "auto" takes, by what the roots share; the reason that goes with a method is true of the machine."""

import re

import numpy as np
import pytest
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc.centrality.compute import resumed_by
from lagbc.graph.validate import as_graph
from lagbc.methods import table, tuning
from lagbc.plan import choose as choosing
from lagbc.plan.choose import Probing, ranked
from lagbc.plan.options import check_options
from lagbc.plan.plan import make_plan
from lagbc.plan.request import Request

MESH = grid(100, 100)
SPREAD = np.arange(0, 10_000, 160)
LENGTHS = with_lengths(MESH, np.arange(1, 11))


def chosen(A, roots, *, weighted=False, sums=("dependency",), rtol=0.0, **options):
    graph = as_graph(A, directed=False, weighted=weighted)
    request = Request(frozenset(sums), np.asarray(roots), rtol=rtol)
    settings = check_options("auto", {"device": "cpu", **options})
    return make_plan(graph, request, settings, resumed_by(settings)).selection


def near(A, count):
    return as_graph(A, directed=False).order[1024 : 1024 + count]


@pytest.mark.parametrize(("installed", "reason"), [(False, "CuPy is not installed"), (True, "CuPy sees no GPU")])
def test_why_there_is_no_gpu(monkeypatch, installed, reason):
    ordinary = table._is_installed
    monkeypatch.setattr(table, "_is_installed", lambda name: installed if name == "cupy" else ordinary(name))
    monkeypatch.setattr(table, "_sees_gpu", lambda: False)
    choice = str(lagbc.select_method(np.ones((3, 3))))
    assert choice.startswith(f"batched on cpu ({reason}; the fastest there as a rule)")


def test_roots_far_from_each_other_are_searched_from_alone():
    assert chosen(MESH, SPREAD).method.name == "work-efficient"
    assert chosen(scale_free(2000, 20_000, seed=1), np.arange(0, 2000, 16)).method.name == "batched"


def test_a_batch_of_neighbours_costs_less():
    far, together = (
        float(re.search(r"batched (?:on cpu .*predicted )?([\d.e+-]+)", chosen(MESH, roots).reason)[1])
        for roots in (SPREAD, near(MESH, len(SPREAD)))
    )
    assert together < 0.7 * far


def test_a_probe_without_memory_leaves_the_first(monkeypatch):
    def out_of_memory(*given):
        raise MemoryError

    monkeypatch.setattr(choosing, "probe", out_of_memory)
    choice = chosen(MESH, SPREAD)
    assert choice.method.name == "batched"
    assert choice.reason.endswith("; the fastest there as a rule, and there was no memory to probe the roots)")
    scores = lagbc.bc(MESH, sources=SPREAD, directed=False, device="cpu")
    np.testing.assert_array_equal(
        scores, lagbc.bc(MESH, sources=SPREAD, directed=False, device="cpu", method="batched")
    )


def test_the_reason_has_the_predicted_costs():
    found = re.search(r"; predicted (\S+) ms a root, batched (\S+)\)$", chosen(MESH, SPREAD).reason)
    assert found is not None
    assert 0 < float(found[1]) < float(found[2])


def test_threads_and_memory_make_no_difference(monkeypatch):
    monkeypatch.delenv("LAGBC_MEMORY", raising=False)
    first = chosen(MESH, SPREAD)
    assert chosen(MESH, SPREAD, threads=1) == chosen(MESH, SPREAD, threads=7) == first
    assert chosen(MESH, SPREAD, memory=1000) == first


@pytest.mark.parametrize("weighted", [False, True])
def test_the_fastest_that_fits_into_the_memory(weighted):
    """And the error of one that does not fit names it."""
    roots, A = near(MESH, 640), LENGTHS if weighted else MESH
    other = "dijkstra" if weighted else "work-efficient"
    how = {"sources": roots, "directed": False, "weighted": weighted, "device": "cpu", "threads": 1, "reduce": "none"}
    asked = {name: value for name, value in how.items() if name != "sources"} | {"roots": len(roots)}
    needed = {name: lagbc.estimate_memory(A, method=name, **asked) for name in ("batched", other)}
    assert needed[other].total < needed["batched"].total
    free = chosen(A, roots, weighted=weighted, threads=1)
    assert free.method.name == "batched"
    tight = chosen(A, roots, weighted=weighted, threads=1, memory=needed[other].total)
    assert tight.method.name == other
    assert "; batched on cpu with batch=64 needs up to " in tight.reason
    with pytest.raises(MemoryError, match=rf"batched .*, or pass method='{other}', which needs up to \d"):
        lagbc.bc(A, method="batched", memory=needed[other].total, **how)
    with pytest.raises(MemoryError, match=r"LAGBC_MEMORY$"):
        lagbc.bc(A, method="batched", memory=1000, **how)
    scores = lagbc.bc(A, memory=needed[other].total, **how)
    np.testing.assert_array_equal(scores, lagbc.bc(A, method=other, **how))


def test_a_graph_whose_pieces_do_not_fit_is_swept_whole():
    A = scale_free(2000, 4000, seed=1)
    reduced = lagbc.estimate_memory(A, directed=False, threads=4)
    for memory, is_reduced in ((reduced.total, True), (reduced.total - 1, False)):
        how = {"directed": False, "threads": 4, "memory": memory}
        assert ("% of the work" in lagbc.select_method(A, **how).reason) == is_reduced
        assert not lagbc.estimate_memory(A, **how).is_over


def test_options_and_sums_leave_candidates_out():
    assert "predicted" in chosen(LENGTHS, SPREAD, weighted=True).reason
    assert "predicted" in chosen(LENGTHS, SPREAD, weighted=True, rtol=1e-9).reason
    by_width = chosen(LENGTHS, SPREAD, weighted=True, bucket_width=2.0)
    assert by_width.method.name == "batched"
    assert "predicted" not in by_width.reason


def test_what_is_named_or_small_is_not_probed(monkeypatch):
    monkeypatch.setattr(choosing, "probe", lambda *given: pytest.fail("probed"))
    assert chosen(MESH, SPREAD, method="batched").method.name == "batched"
    assert chosen(MESH, SPREAD[:10]).method.name == "batched"


@pytest.mark.parametrize("weighted", [False, True])
def test_a_small_run_on_a_gpu_is_a_traversal(monkeypatch, weighted):
    monkeypatch.setattr(lagbc.Method, "available", property(lambda row: True))
    monkeypatch.setattr(choosing, "probe", lambda *given: pytest.fail("probed"))
    graph = as_graph(LENGTHS if weighted else MESH, weighted=weighted)
    probing = Probing(graph, graph.order)
    small = ranked(graph, method="auto", device="cuda", roots=10, probing=probing)[0]
    assert small.method.formulation == "traversal"
    stress = ranked(graph, method="auto", device="cuda", sums=frozenset({"stress"}), probing=probing)[0]
    assert stress.method.formulation == "semiring", "there is one candidate"


def test_an_added_method_is_not_preferred(monkeypatch):
    first = table.METHODS[0]
    lagbc.register_method(lagbc.Method("mine", "semiring", "cpu", False, first.module, sums=first.sums))
    try:
        assert chosen(MESH, SPREAD).method.name == "work-efficient"
        assert "mine" not in chosen(MESH, SPREAD).reason
    finally:
        lagbc.unregister_method("mine")


def test_every_candidate_has_a_rival():
    """Constants are of rows that there are, at least two for a device with or without lengths, and none negative."""
    keys = {(row.name, row.device, row.weighted) for row in table.METHODS}
    assert set(tuning.COSTS) <= keys
    places = [key[1:] for key in tuning.COSTS]
    assert {place: places.count(place) for place in set(places)} == dict.fromkeys(set(places), 2)
    assert all(constant > 0 for constants in tuning.COSTS.values() for constant in constants.values())


def test_roots_are_lined_up_once(monkeypatch):
    calls = []
    ordinary = choosing.order_roots
    monkeypatch.setattr(choosing, "order_roots", lambda *given: calls.append(0) or ordinary(*given))
    monkeypatch.setattr("lagbc.plan.step.order_roots", lambda *given: calls.append(1) or ordinary(*given))
    lagbc.bc(MESH, directed=False, sources=SPREAD, device="cpu")
    assert calls == [0]


def test_roots_in_a_known_order_are_searched_where_the_graph_is(monkeypatch):
    """Such as junctions, whose graph stays on the host whatever sweeps from them."""
    graph = as_graph(MESH, directed=False)
    monkeypatch.setattr(Probing, "placed", lambda *given: pytest.fail("the graph was moved"))
    monkeypatch.setattr(choosing, "order_roots", lambda *given: pytest.fail("lined up again"))
    assert Probing(graph, graph.order, graph.order).probe(table.METHODS[0]).lined_up == graph.n


@pytest.mark.parametrize("begun", ["batched", "work-efficient"])
def test_a_checkpoint_keeps_its_method(tmp_path, begun):
    file = tmp_path / "run"
    scores = lagbc.bc(MESH, directed=False, sources=SPREAD, method=begun, device="cpu", checkpoint=file)
    assert chosen(MESH, SPREAD, checkpoint=file).reason == f"{begun} on cpu (the checkpoint was begun with it)"
    again = lagbc.bc(MESH, directed=False, sources=SPREAD, device="cpu", checkpoint=file)
    np.testing.assert_array_equal(again, scores)


@pytest.mark.parametrize("content", [b"", b"PK no archive"])
def test_a_file_that_is_no_checkpoint_changes_no_choice(tmp_path, content):
    file = tmp_path / "run"
    file.write_bytes(content)
    assert chosen(MESH, SPREAD, checkpoint=file) == chosen(MESH, SPREAD)
