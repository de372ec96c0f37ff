"""Plans: what of one changes where a contraction turns out impossible, and what a sweep gives up for memory."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from chained import crossed_ring, roads

import lagbc
from lagbc import call as call_module
from lagbc.call import plan_request
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.methods.sums import DEPENDENCY
from lagbc.options import check_options
from lagbc.planning.sweep import fit_memory, memory_of, smaller_sweep
from lagbc.reduce.pieces import Chains
from lagbc.request import Request

WITH_CHAINS = {"device": "cpu", "reduce": "all", "threads": 3}


def two_rings():
    """Two blocks with chains, one of 2100 and one of 1500 vertices, which an edge joins."""
    rings = sp.block_diag([crossed_ring(700, 700 // 3), crossed_ring(500, 500 // 3)])
    return rings + sp.coo_array(([1.0], ([0], [2100])), shape=rings.shape)


GRAPH = as_graph(two_rings(), directed=False)
EVERY = Request(DEPENDENCY, np.arange(3600))


def planned(options=WITH_CHAINS, request=EVERY, graph=GRAPH, **given):
    return plan_request(graph, request, check_options("auto", options), **given)


# "auto" contracts it.
ROADS = roads(20, 6)


@pytest.mark.parametrize("chains", [(True, True), (True, False), (False, True), (False, False)])
def test_a_run_that_goes_on_contracts_what_it_had_contracted(chains):
    labels = [f"{'chains' if one else 'roots'} batched cpu" for one in chains]
    call = planned(labels=labels)
    assert [isinstance(piece, Chains) for piece in call.reduced.pieces] == list(chains)
    assert call.plan.labels == labels


def test_a_run_that_goes_on_is_reduced_once(monkeypatch):
    """Labels of other pieces change nothing."""
    asked, reduce = [], call_module.reduce
    monkeypatch.setattr(call_module, "reduce", lambda *given: asked.append(given) or reduce(*given))
    once, plain, small = "chains batched cpu", "roots batched cpu", "small work-efficient cpu"
    for options, begun, labels in (
        (WITH_CHAINS, [once, plain], [once, plain]),
        (WITH_CHAINS, [plain, plain, small], [plain, plain]),
        (WITH_CHAINS, [once], [once, once]),
        (WITH_CHAINS, [plain], [plain, once]),
        ({"device": "cpu", "reduce": "none"}, ["whole batched cpu"], ["whole batched cpu"]),
    ):
        asked.clear()
        assert planned(options, labels=begun).plan.labels == labels
        assert len(asked) == 1


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_graph_goes_on_whole_where_it_had_begun_so(blocks):
    """Its junctions gave no sums, or its pieces were too large: "auto" would contract it again, to other sums."""
    graph = as_graph(sp.block_diag([ROADS] * blocks), directed=False)
    chains, plain = ["chains batched cpu"] * blocks, ["whole batched cpu"]
    request = Request(DEPENDENCY, np.arange(graph.n))
    for begun, labels in ((), chains), (chains, chains), (plain, plain):
        call = planned({"device": "cpu"}, request, graph, labels=begun)
        assert call.plan.labels == labels
        assert [isinstance(piece, Chains) for piece in call.reduced.pieces] == [labels is chains] * len(labels)


def test_a_plan_is_data():
    """It prints, compares by its content, goes into another process, and holds no graph and no free memory."""
    plan, again = planned().plan, planned().plan
    assert plan == again
    assert plan != planned(WITH_CHAINS | {"reduce": "none"}).plan
    packed = pickle.dumps(plan)
    assert len(packed) < 2000
    assert pickle.loads(packed) == plan
    first, *sweeps = str(plan).splitlines()
    assert first == plan.in_short
    assert first.startswith("3,600 vertices")
    for sweep, said in zip(plan.sweeps, sweeps, strict=True):
        assert f"; {sweep.roots:,} roots, batch {sweep.batch}, threads {sweep.threads}, " in said
    rooms = Room(10**9, 10**9), Room(2 * 10**9, 2 * 10**9)
    assert [plan.estimate(room).budget for room in rooms] == [10**9, 2 * 10**9]


def test_junctions_give_up_threads_and_no_group_on_a_cpu():
    """Where memory is short, and where a run has met less than was planned."""
    call = planned()
    piece, sweep = call.reduced.pieces[0], call.plan.sweeps[0]
    three, two, one = less = [sweep._replace(threads=threads) for threads in (3, 2, 1)]
    assert [smaller_sweep(piece, each) for each in less] == [two, one, None]
    for few in (one, two):
        limit = memory_of(piece, few).total
        fitted = fit_memory(piece, three, Room(limit, limit))
        assert (fitted.threads, fitted.memory.total <= limit) == (few.threads, True)
    fitted = fit_memory(piece, three, Room(1, 1))
    assert (fitted.threads, fitted.batch, fitted.memory.total > 1) == (1, sweep.batch, True)


def test_a_plan_is_refused_where_its_run_would_be():
    with pytest.raises(MemoryError, match="budget is 1 kB"):
        lagbc.plan(ROADS, directed=False, memory="1kB")
