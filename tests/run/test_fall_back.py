"""What "auto" does where a run is over the budget of the GPU; it needs none, since nothing is run there."""

from types import SimpleNamespace

import numpy as np
import pytest
from chained import crossed_ring
from strategies import scale_free, with_lengths
from swept import estimate, swept

import lagbc
from lagbc import limits, tuning
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.methods.contract import BYTE, FLOAT, Array, Batching, SweepPlan
from lagbc.planning.sweep import fit_memory, memory_of
from lagbc.run.run import work_of

A, ROADS = scale_free(500, 4000, seed=1), crossed_ring(700, 350)


# In the place of all modules of the GPU, which cannot be imported without one.
STUB = SimpleNamespace(
    batching=Batching(block=256, auto=4096), arrays=lambda graph, plan: {"values": Array((graph.n, plan.batch), FLOAT)}
)


@pytest.fixture(autouse=True)
def _gpu_without_memory(monkeypatch):
    load = lagbc.Method.load
    monkeypatch.setattr(lagbc.Method, "available", property(lambda row: True))
    monkeypatch.setattr(lagbc.Method, "load", lambda row: STUB if row.device == "cuda" else load(row))
    monkeypatch.setattr(lagbc.Method, "reads", lambda row, option: row.device == "cpu" and option in row.options)
    monkeypatch.setattr(tuning, "GPU_WORK", 0)
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu=0: 10_000 if device == "cuda" else 10**9)


@pytest.mark.parametrize(("given", "taken"), [({}, ".*"), ({"method": "work-efficient"}, "work-efficient")])
def test_the_cpu_takes_over(given, taken):
    said = rf"on cuda .* needs up to .* the budget is 10 kB; taking {taken} on cpu"
    with pytest.warns(lagbc.MemoryWarning, match=said):
        scores = lagbc.bc(A, **given)
    np.testing.assert_array_equal(scores, lagbc.bc(A, device="cpu", **given))


@pytest.mark.parametrize(
    ("given", "options", "name"),
    [
        (A, {"dtype": "float32"}, "work-efficient"),
        (A, {"dtype": "float32", "method": "batched"}, "batched"),
        (A, {"method": "active-edge"}, "active-edge"),
        (A, {"device": "cuda", "method": "batched"}, "batched"),
        (with_lengths(A, np.arange(1, 11)), {"weighted": True, "method": "delta-stepping"}, "delta-stepping"),
        (ROADS, {"directed": False, "reduce": "all", "device": "cuda"}, "delta-stepping"),
    ],
    ids=["float32", "float32 by name", "no row on the CPU", "the GPU asked for", "lengths", "junctions"],
)
def test_nothing_on_the_cpu_does_it(given, options, name):
    with pytest.raises(MemoryError, match=rf"{name} on cuda with batch=\d+ needs up to .* budget is 10 kB"):
        lagbc.bc(given, **options)


def test_rows_of_counts_are_given_up_after_the_batch(monkeypatch):
    def arrays(graph, plan):
        return {"values": Array((graph.n, plan.batch, 8 if plan.in_place else 12), BYTE)}

    method = next(row for row in lagbc.METHODS if row.key == ("batched", "cuda", False))
    module = SimpleNamespace(**vars(STUB) | {"arrays": arrays})
    monkeypatch.setattr(lagbc.Method, "load", lambda row: module)
    graph = as_graph(A)
    piece, sweep = swept(graph, np.arange(graph.n), method, SweepPlan(batch=512), np.arange(graph.n))
    whole = memory_of(piece, sweep._replace(batch=256)).total
    for limit, in_place, is_over in ((whole, False, False), (whole - 1, True, False), (10_000, True, True)):
        fitted = fit_memory(piece, sweep, Room(limit, limit))
        assert (fitted.batch, fitted.in_place, fitted.memory.total > limit) == (256, in_place, is_over)
    works, said = [work_of(piece, sweep, Room())], []
    for _ in range(2):
        works.append(works[-1].smaller(MemoryError(), said.append))
    assert [(work.batch, work.sweep.in_place) for work in works] == [(512, False), (256, False), (256, True)]
    assert [message.split(";")[1] for message in said] == [
        " it goes on with batch=256 and threads=1",
        " it goes on with batch=256 and threads=1, without rows for path counts",
    ]
    with pytest.raises(MemoryError, match="with the smallest batch, 256"):
        works[-1].smaller(MemoryError(), said.append)


@pytest.mark.parametrize("batch", [768, 512, 256])
def test_groups_of_junctions_fit_a_gpu(monkeypatch, batch):
    """All at once, if they fit or nothing does but a block; else half as many."""
    given = {"directed": False, "device": "cuda", "reduce": "all"}
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu=0: 10**9)
    assert "700 junctions; " in (reason := lagbc.plan(ROADS, **given).reason)
    assert "junctions by delta-stepping on cuda" in reason
    asked = estimate(ROADS, batch=batch, **given)
    assert asked.batch == batch
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu=0: asked.total)
    assert estimate(ROADS, **given).batch == batch
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu=0: 0.9 * asked.total)
    assert estimate(ROADS, **given).batch == max(256, batch - 256)


def test_the_cpu_takes_over_junctions():
    with pytest.warns(lagbc.MemoryWarning, match=r"taking (batched|dijkstra) on cpu"):
        scores = lagbc.bc(ROADS, directed=False, reduce="all")
    np.testing.assert_allclose(scores, lagbc.bc(ROADS, directed=False, reduce="none", device="cpu"), rtol=1e-12)
