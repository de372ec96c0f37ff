"""Plans: what of one changes where a contraction turns out impossible, and what a step gives up for memory."""

from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from lagbc.graph.validate import as_graph
from lagbc.methods.sums import DEPENDENCY, Bounds
from lagbc.plan import memory
from lagbc.plan import plan as plan_module
from lagbc.plan.options import check_options
from lagbc.plan.plan import make_plan, uncontracted
from lagbc.plan.request import Request
from lagbc.plan.step import Resumed, ResumedStep
from lagbc.run.execute import execute

WITH_CHAINS = {"device": "cpu", "reduce": "all", "threads": 3}


def ring(junctions, first):
    """Junctions in a ring, each joined by a vertex between to the next and to that a third of the ring on."""
    u = np.arange(junctions)
    ends = np.concatenate([[u, (u + 1) % junctions], [u, (u + junctions // 3) % junctions]], axis=1)
    middle = junctions + np.arange(2 * junctions)
    edges = np.concatenate([np.stack([ends[0], middle]), np.stack([middle, ends[1]])], axis=1)
    return first + edges


def two_rings():
    """Two blocks with chains, one of 2100 and one of 1500 vertices, which an edge joins."""
    tails, heads = np.concatenate([ring(700, 0), ring(500, 2100), [[0], [2100]]], axis=1)
    return sp.coo_array((np.ones(len(tails)), (tails, heads)), shape=(3600, 3600)).tocsr()


GRAPH = as_graph(two_rings(), directed=False)
EVERY = Request(DEPENDENCY, np.arange(3600))


def planned(options=WITH_CHAINS, request=EVERY, **given):
    return make_plan(GRAPH, request, check_options("auto", options), **given)


def labels(plan):
    return [step.label for step in plan.steps]


@pytest.mark.parametrize("number", [0, 1])
def test_one_step_is_swept_without_contracting_its_chains(number):
    plan = planned()
    assert labels(plan) == ["chains batched cpu"] * 2
    found = uncontracted(plan, number)
    assert [step.contracted is None for step in found.steps] == [number == place for place in (0, 1)]
    for place, (step, before) in enumerate(zip(found.steps, plan.steps, strict=True)):
        assert (step is before) == (place != number)
    assert labels(plan) == ["chains batched cpu"] * 2, "the plan itself stays as it is"
    swept, junctions = found.steps[number].graph.n, len(plan.steps[1 - number].contracted.roots)
    assert swept == len(plan.steps[number].contracted.piece.sources)
    assert f"{junctions} junctions; " in found.selection.reason
    assert found.memory.total != plan.memory.total
    with pytest.raises(FrozenInstanceError):
        plan.steps = ()


def test_scores_are_the_same_whatever_is_contracted():
    plan = planned()
    one = uncontracted(plan, 1)
    expected = execute(planned({"device": "cpu", "reduce": "none"})).sums.dependency
    for way in (plan, one, uncontracted(one, 0)):
        np.testing.assert_allclose(execute(way).sums.dependency, expected, rtol=1e-12)


def test_a_step_that_is_not_contracted_has_no_such_plan():
    plan = uncontracted(planned(), 0)
    with pytest.raises(AssertionError):
        uncontracted(plan, 0)


@pytest.mark.parametrize("chains", [(True, True), (True, False), (False, True), (False, False)])
def test_a_run_that_goes_on_contracts_what_it_had_contracted(chains):
    resumed = Resumed(tuple(ResumedStep("batched", "cpu", one) for one in chains))
    plan = planned(resumed=resumed)
    assert [step.contracted is not None for step in plan.steps] == list(chains)


def test_a_run_that_goes_on_is_reduced_once(monkeypatch):
    """Again, without chains, only where it had begun other steps, none of them with chains."""
    asked, reduced = [], plan_module.reduce_request
    monkeypatch.setattr(
        plan_module, "reduce_request", lambda *given, **how: asked.append(how) or reduced(*given, **how)
    )
    once, plain = ResumedStep("batched", "cpu", True), ResumedStep("batched", "cpu", False)
    for begun, calls in (((once, plain), 1), ((plain, plain), 1), ((once,), 1), ((plain,), 2)):
        asked.clear()
        plan = planned(resumed=Resumed(begun))
        assert len(asked) == calls, begun
        assert asked[1:] == [{"chains": False}] * (calls - 1)
        if begun == (plain,):
            assert not any(step.contracted for step in plan.steps)
    asked.clear()
    planned({"device": "cpu", "reduce": "none"}, resumed=Resumed((plain,)))
    assert len(asked) == 1


def given_up(step):
    """Give up what there is; return threads, batch and whether rows of counts are left out, at each time."""
    found = []
    while step is not None:
        found.append((step.sweep.threads, step.sweep.batch, step.sweep.in_place))
        step = memory.smaller(step)
    return found


def test_a_plain_step_gives_up_threads_then_half_the_batch():
    plan = planned({"device": "cpu", "reduce": "none", "threads": 3, "method": "batched"})
    (step,) = plan.steps
    (threads, batch, _), *_ = found = given_up(step)
    assert (threads, [one for one, *_ in found[:3]]) == (3, [3, 2, 1])
    assert {one for one, *_ in found[2:]} == {1}
    batches = [one for _, one, _ in found]
    assert batches[:3] == [batch] * 3
    assert all(later <= earlier for earlier, later in pairwise(batches))
    assert batches[-1] == step.method.load().batching.block


def test_junctions_give_up_threads_and_no_group_on_a_cpu():
    step = planned().steps[0]
    step = replace(step, sweep=replace(step.sweep, threads=3))
    assert given_up(step) == [(threads, step.sweep.batch, False) for threads in (3, 2, 1)]


def test_blocks_within_bounds_are_left_as_they_are():
    request = Request(DEPENDENCY, np.arange(3600), bounds=Bounds(np.array([3.0]), np.zeros(1)))
    plan = planned({"device": "cpu", "threads": 2}, request)
    (step,) = plan.steps
    step = replace(step, sweep=replace(step.sweep, threads=2))
    assert given_up(step) == [(2, step.sweep.batch, False), (1, step.sweep.batch, False)]


def test_what_is_given_up_leaves_room_to_grow():
    (step,) = planned({"device": "cpu", "reduce": "none", "threads": 3, "method": "batched", "memory": "1GB"}).steps
    less = memory.smaller(step)
    assert less.sweep.budget == step.sweep.budget == 10**9
    assert less.sweep.growth > step.sweep.growth


def test_junctions_take_fewer_threads_where_memory_is_short():
    step = planned().steps[0]
    one, two, three = (replace(step, sweep=replace(step.sweep, threads=threads)) for threads in (1, 2, 3))
    for few in (one, two):
        limit = memory.estimate(few).total
        fitted, needed = memory.fit(three, limit)
        assert (fitted.sweep.threads, needed.is_over) == (few.sweep.threads, False)
    fitted, needed = memory.fit(three, limit=1)
    assert (fitted.sweep.threads, fitted.sweep.batch, needed.is_over) == (1, step.sweep.batch, True)
