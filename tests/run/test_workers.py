"""Workers: chunks of roots, whose sums are the same whoever asks for them, when and in what order."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import hops
from lagbc.methods.sums import Sums
from lagbc.plan import memory
from lagbc.plan.roots import order_roots
from lagbc.plan.step import Step
from lagbc.run.sweep import sweep
from lagbc.run.workers import Workers, cut

EVERY = frozenset({"dependency", "stress", "reached", "distance", "inverse", "edges", "depth"})
ROW = {row.weighted: row for row in lagbc.METHODS if (row.name, row.device) == ("batched", "cpu")}


@pytest.fixture
def short_chunks(monkeypatch):
    """Chunks of two blocks, so that small graphs have several."""
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 128, "cuda": 512})


def wholes(workers, chunks):
    """The sums of whole chunks, in the order asked for."""
    return [part.sums for part in workers.sum(chunks) if part.is_whole]


def added(sums):
    total = sums[0]
    for more in sums[1:]:
        total = total.plus(more)
    return total


def assert_same(ours, theirs):
    for name, array in theirs:
        np.testing.assert_array_equal(getattr(ours, name), array, err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_in_any_order_and_by_several_workers(short_chunks, weighted):
    """Chunks asked for backwards, in rounds, and of two devices give the bits of the loop over all."""
    graph = as_graph(with_lengths(scale_free(500, 3000, seed=1), [1, 2]), directed=False, weighted=weighted)
    row, roots = ROW[weighted], np.arange(graph.n)
    plan = SweepPlan(batch=64, threads=2, sums=EVERY)
    expected = sweep(graph, row, plan, roots)
    chunks, length = cut(order_roots(graph, row, roots), row, row.load().batching)
    assert length == 128
    assert len(chunks) > 3
    assert len(chunks[-1]) % 64
    with Workers(graph, row, plan) as one, Workers(graph, row, replace(plan, threads=1)) as other:
        assert_same(added(wholes(one, chunks[::-1])[::-1]), expected)
        rounds = [wholes(workers, chunks[i::2]) for i, workers in enumerate((one, other))]
        assert_same(added([rounds[i % 2][i // 2] for i in range(len(chunks))]), expected)


def test_a_chunk_is_the_same_whatever_is_asked_for_with_it(short_chunks):
    """Ragged chunks share no block with the next one."""
    graph = as_graph(grid(15, 20))
    chunks = [graph.order[:100], graph.order[100:128], graph.order[128:250]]
    with Workers(graph, ROW[False], SweepPlan(batch=64, sums=EVERY)) as workers:
        alone = [wholes(workers, [chunk])[0] for chunk in chunks]
        for ours, theirs in zip(wholes(workers, chunks), alone, strict=True):
            assert_same(ours, theirs)


def test_a_chunk_goes_on_from_its_first_roots(short_chunks):
    graph = as_graph(grid(15, 20))
    chunks, _ = cut(graph.order, ROW[False], hops.batching)
    with Workers(graph, ROW[False], SweepPlan(batch=64, sums=EVERY)) as workers:
        parts = list(workers.sum(chunks[:2]))
        assert [(part.chunk, part.done, part.added, part.is_whole) for part in parts] == [
            (0, 64, 64, False),
            (0, 128, 64, True),
            (1, 64, 64, False),
            (1, 128, 64, True),
        ]
        rest = list(workers.sum(chunks[:2], 64, parts[0].sums))
        assert [part.done for part in rest] == [128, 64, 128]
        assert_same(rest[0].sums, parts[1].sums)
        assert_same(rest[-1].sums, parts[-1].sums)


def recording(block, batches):
    """A module that notes its batches; each root adds 1 to every vertex."""

    def forward(state, roots):
        batches.append(roots.tolist())
        yield SimpleNamespace(places=np.arange(len(roots)), roots=roots, overflowed=np.zeros(len(roots), bool))

    def backward(state, levels, sums, omega=None):
        for place in range(len(levels.roots)):
            sums.dependency[place // block if block > 1 else 0] += 1

    return SimpleNamespace(
        batching=Batching(block=block, auto=block), prepare=lambda graph, plan: plan, forward=forward, backward=backward
    )


@pytest.mark.parametrize(
    ("block", "batch", "sizes"),
    [
        (1, 5, [5, 3, 5, 3, 4]),  # a batch is one block, of one chunk
        (4, 4, [4, 4, 4, 4, 4]),
        (4, 12, [12, 8]),  # of two chunks
        (4, 16, [16, 4]),
        (4, 100, [20]),
    ],
)
def test_batches_of_whole_blocks(monkeypatch, block, batch, sizes):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    module = recording(block, batches)
    chunks, length = cut(graph.order, ROW[False], module.batching)
    assert [len(chunk) for chunk in chunks] == [length, length, 4] == [8, 8, 4]
    with Workers(graph, ROW[False], SweepPlan(batch=batch), module) as workers:
        sums = wholes(workers, chunks)
    assert [len(roots) for roots in batches] == sizes
    assert np.concatenate(batches).tolist() == graph.order.tolist()
    assert [part.dependency[0] for part in sums] == [8, 8, 4]


@pytest.mark.parametrize(("block", "batch"), [(1, 5), (1, 100), (4, 6), (4, 100)])
def test_a_plan_says_how_wide_the_widest_batch_is(monkeypatch, block, batch):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    module = recording(block, batches)
    module.footprint = lambda graph, plan: plan.batch
    row = SimpleNamespace(name="ours", device="cpu", load=lambda: module)
    step, planned = memory.fit(Step(graph, np.arange(graph.n), row, SweepPlan(batch=batch, roots=graph.n)))
    with Workers(graph, ROW[False], step.sweep, module) as workers:
        wholes(workers, cut(graph.order, row, module.batching)[0])
    assert planned.batch == planned.workspace == max(map(len, batches))


def test_a_chunk_is_a_multiple_of_the_block(monkeypatch):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 10})
    assert cut(np.arange(30), ROW[False], Batching(block=4, auto=4))[1] == 12


def test_chunks_of_the_devices():
    """They are part of the order of sums, which checkpoints and records of scores go by."""
    assert tuning.CHUNK_ROOTS == {"cpu": 16 * 64, "cuda": 16 * 256}


def test_no_thread_runs_when_the_context_is_left():
    graph, before = as_graph(grid(40, 40)), set(threading.enumerate())
    with Workers(graph, ROW[False], SweepPlan(batch=64, threads=3)) as workers:
        next(workers.sum([graph.order]))
    assert set(threading.enumerate()) == before


def test_sums_out_of_range_are_infinite():
    most = Sums(stress=np.full(2, 1.7e308))
    assert np.isinf(most.plus(most).stress).all()
    assert not most.zeros_like().stress.any()
    assert not Sums(stress=np.array([np.inf])).zeros_like().stress.any()


@pytest.mark.parametrize("threads", [2, 3])
def test_bits_of_many_chunks(short_chunks, threads):
    A = scale_free(500, 3000, seed=1)
    expected = lagbc.bc(A, method="batched", device="cpu", threads=1)
    scores = lagbc.bc(A, method="batched", device="cpu", threads=threads)
    np.testing.assert_array_equal(scores, expected)


class Killed(BaseException):
    pass


def test_checkpoints_hold_the_part_of_a_chunk(short_chunks, tmp_path):
    """Killed after each batch in turn, amid a chunk and at its end."""
    A, file = grid(15, 20), tmp_path / "run"
    expected = lagbc.bc(A, method="batched", device="cpu")
    done = []

    def report(progress):
        raise Killed

    for _ in range(4):
        with pytest.raises(Killed):
            lagbc.bc(A, method="batched", device="cpu", threads=1, checkpoint=file, progress=report)
        with np.load(file) as held:
            done.append(int(held["done"]))
            assert held["chunk_dependency"].any() == bool(done[-1] % 128)
            assert held["sum_dependency"].any() == (done[-1] >= 128)
    assert done == [64, 128, 192, 256]
    np.testing.assert_array_equal(lagbc.bc(A, method="batched", device="cpu", checkpoint=file), expected)
