"""What "auto" takes, by what the roots share; the reason that goes with a method is true of the machine."""

import numpy as np
import pytest
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc import tuning
from lagbc.call import plan_request
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.sums import DEPENDENCY
from lagbc.options import check_options
from lagbc.planning import choose as choosing
from lagbc.planning.choose import ranked
from lagbc.planning.plan import of_short_run
from lagbc.reduce.pieces import Whole
from lagbc.request import Request
from lagbc.run.partial import Checkpoint

MESH = grid(100, 100)
SPREAD = np.arange(0, 10_000, 160)
SOME = {"sources": SPREAD, "directed": False, "device": "cpu"}
LENGTHS = with_lengths(MESH, np.arange(1, 11))


def chosen(A, roots, *, weighted=False, sums=("dependency",), rtol=0.0, **options):
    graph = as_graph(A, directed=False, weighted=weighted)
    request = Request(frozenset(sums), np.asarray(roots), rtol=rtol)
    settings = check_options("auto", {"device": "cpu", **options})
    kept = None if settings.checkpoint is None else Checkpoint(settings.checkpoint)
    return plan_request(graph, request, settings, kept).plan


def near(A, count):
    return as_graph(A, directed=False).order[1024 : 1024 + count]


@pytest.mark.parametrize(("installed", "reason"), [(False, "CuPy is not installed"), (True, "CuPy sees no GPU")])
def test_why_there_is_no_gpu(monkeypatch, installed, reason):
    ordinary = table._is_installed
    monkeypatch.setattr(table, "_is_installed", lambda name: installed if name == "cupy" else ordinary(name))
    monkeypatch.setattr(table, "_count_visible", lambda: 0)
    choice = lagbc.plan(np.ones((3, 3))).reason
    assert choice.startswith(f"batched on cpu ({reason}; the fastest there as a rule)")


def test_roots_far_from_each_other_are_searched_from_alone():
    assert chosen(MESH, SPREAD).method == "work-efficient"
    assert chosen(scale_free(2000, 20_000, seed=1), np.arange(0, 2000, 16)).method == "batched"


@pytest.mark.parametrize("has_gpu", [False, True])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_the_rule_of_small_runs_tells_the_first_of_the_rank(device, weighted, has_gpu, monkeypatch):
    ordinary = table._is_installed
    monkeypatch.setattr(table, "_is_installed", lambda name: has_gpu if name == "cupy" else ordinary(name))
    monkeypatch.setattr(table, "_count_visible", lambda: int(has_gpu))
    graph = as_graph(with_lengths(scale_free(50, 300, seed=1), [1, 2]), weighted=weighted)
    made = table.METHODS[0].sums
    for sums in map(frozenset, [*zip(made, strict=True), made[:2], made]):
        for roots in (1, 50):
            piece = Whole(graph, Request(sums, np.arange(roots)))
            rank = ranked(graph, method="auto", device=device, roots=roots, sums=sums, probed=piece)
            assert of_short_run(graph, sums, device, roots) == rank[0]
    assert of_short_run(graph, frozenset(made), device, int(tuning.PROBE_WORK)) is None


def test_a_probe_without_memory_leaves_the_first(monkeypatch):
    def out_of_memory(*given):
        raise MemoryError

    monkeypatch.setattr(choosing, "probe", out_of_memory)
    choice = chosen(MESH, SPREAD)
    assert choice.method == "batched"
    assert choice.reason.endswith("; the fastest there as a rule, and there was no memory to probe the roots)")
    by_auto, by_name = (lagbc.bc(MESH, **SOME, method=method) for method in ("auto", "batched"))
    np.testing.assert_array_equal(by_auto, by_name)


def test_the_fastest_that_fits_into_the_memory(weighted):
    """And the error of one that does not fit names it."""
    roots, A = near(MESH, 640), LENGTHS if weighted else MESH
    other = "dijkstra" if weighted else "work-efficient"
    how = {"sources": roots, "directed": False, "weighted": weighted, "device": "cpu", "threads": 1, "reduce": "none"}
    needed = {name: lagbc.plan(A, method=name, **how).memory for name in ("batched", other)}
    assert needed[other].total < needed["batched"].total
    assert chosen(A, roots, weighted=weighted, threads=1).method == "batched"
    tight = chosen(A, roots, weighted=weighted, threads=1, memory=needed[other].total)
    assert tight.method == other
    assert "; batched on cpu with batch=64 needs up to " in tight.reason
    with pytest.raises(MemoryError, match=rf"batched .*, or pass method='{other}', which needs up to \d"):
        lagbc.bc(A, method="batched", memory=needed[other].total, **how)
    with pytest.raises(MemoryError, match=r"LAGBC_MEMORY$"):
        lagbc.bc(A, method="batched", memory=1000, **how)
    scores = lagbc.bc(A, memory=needed[other].total, **how)
    np.testing.assert_array_equal(scores, lagbc.bc(A, method=other, **how))


def test_a_graph_whose_pieces_do_not_fit_is_swept_whole():
    A = scale_free(2000, 4000, seed=1)
    reduced = lagbc.plan(A, directed=False, threads=4).memory
    for memory, is_reduced in ((reduced.total, True), (reduced.total - 1, False)):
        planned = lagbc.plan(A, directed=False, threads=4, memory=memory)
        assert ("% of the work" in planned.reason) == is_reduced
        assert planned.memory.total <= memory


def test_options_and_sums_leave_candidates_out():
    assert "predicted" in chosen(LENGTHS, SPREAD, weighted=True).reason
    assert "predicted" in chosen(LENGTHS, SPREAD, weighted=True, rtol=1e-9).reason
    by_width = chosen(LENGTHS, SPREAD, weighted=True, bucket_width=2.0)
    assert by_width.method == "batched"
    assert "predicted" not in by_width.reason


def test_what_is_named_or_small_is_not_probed(monkeypatch):
    monkeypatch.setattr(choosing, "probe", lambda *given: pytest.fail("probed"))
    assert chosen(MESH, SPREAD, method="batched").method == "batched"
    assert chosen(MESH, SPREAD[:10]).method == "batched"


def test_a_small_run_on_a_gpu_is_a_traversal(monkeypatch, weighted):
    monkeypatch.setattr(lagbc.Method, "available", property(lambda row: True))
    monkeypatch.setattr(choosing, "probe", lambda *given: pytest.fail("probed"))
    graph = as_graph(LENGTHS if weighted else MESH, weighted=weighted)
    piece = Whole(graph, Request(DEPENDENCY, graph.order))
    small = ranked(graph, method="auto", device="cuda", roots=10, probed=piece)[0]
    assert small.method.formulation == "traversal"
    stress = ranked(graph, method="auto", device="cuda", sums=frozenset({"stress"}), probed=piece)[0]
    assert stress.method.formulation == "semiring", "there is one candidate"


def test_an_added_method_is_not_preferred(monkeypatch):
    first = table.METHODS[0]
    lagbc.register_method(lagbc.Method("mine", "semiring", "cpu", False, first.module, sums=first.sums))
    try:
        assert chosen(MESH, SPREAD).method == "work-efficient"
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


def test_roots_in_a_known_order_are_searched_where_the_graph_is(monkeypatch):
    """Such as junctions, whose graph stays on the host whatever sweeps from them."""
    graph = as_graph(MESH, directed=False)
    monkeypatch.setattr(Whole, "placed", lambda *given: pytest.fail("the graph was moved"))
    monkeypatch.setattr(Graph, "line_up", lambda *given: pytest.fail("lined up again"))
    junctions = Whole(graph, Request(DEPENDENCY, graph.order), lined_up=graph.order)
    assert "; predicted " in ranked(graph, method="auto", device="cpu", probed=junctions)[0].reason


@pytest.mark.parametrize("begun", ["batched", "work-efficient"])
def test_a_checkpoint_keeps_its_method(tmp_path, begun):
    file = tmp_path / "run"
    scores = lagbc.bc(MESH, **SOME, method=begun, checkpoint=file)
    reason = f"{begun} on cpu (the checkpoint was begun with it)"
    assert chosen(MESH, SPREAD, checkpoint=file).reason == reason
    with pytest.warns(DeprecationWarning, match="lagbc.plan"):
        told = lagbc.select_method(MESH, directed=False, roots=len(SPREAD), device="cpu", checkpoint=file)
    assert told.reason.startswith(f"{reason}; "), "whichever roots are drawn"
    np.testing.assert_array_equal(lagbc.bc(MESH, **SOME, checkpoint=file), scores)
