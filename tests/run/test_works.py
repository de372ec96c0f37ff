"""Works and the one loop: the same bits whoever carries the spans, in what order, and how they are cut."""

import threading
from collections import deque
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from chained import long_mesh, step_of
from killed import Killed, stop
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods import tuning
from lagbc.methods.arrays import BYTE, Array
from lagbc.methods.contract import Batching, StopFlag, SweepPlan
from lagbc.methods.sums import Bounds, Sums
from lagbc.plan import memory
from lagbc.plan.step import Step
from lagbc.reduce.chains import contract
from lagbc.reduce.piece import Piece as Bicomponent
from lagbc.run.loop import Inline, Threads, sum_over, sum_step, work_of
from lagbc.run.work import Piece, Span, Total

EVERY = frozenset({"dependency", "stress", "reached", "distance", "inverse", "edges", "depth"})
ROW = {row.weighted: row for row in lagbc.METHODS if (row.name, row.device) == ("batched", "cpu")}
WITHIN = next(row for row in lagbc.METHODS if row.bounds and row.device == "cpu" and not row.weighted)


def assert_same(ours, theirs):
    for name, array in theirs:
        np.testing.assert_array_equal(getattr(ours, name), array, err_msg=name)


def hops():
    graph = as_graph(scale_free(500, 3000, seed=1), directed=False)
    return Step(graph, np.arange(graph.n), ROW[False], SweepPlan(batch=64, threads=2, sums=EVERY))


def wide():
    graph = as_graph(scale_free(500, 3000, seed=1), directed=False)
    return Step(graph, np.arange(graph.n), WITHIN, SweepPlan(batch=192, threads=2, sums=EVERY))


def lengths():
    graph = as_graph(with_lengths(scale_free(500, 3000, seed=1), [1, 2]), directed=False, weighted=True)
    return Step(graph, np.arange(graph.n), ROW[True], SweepPlan(batch=64, threads=2, sums=EVERY))


def bounded():
    graph = as_graph(scale_free(500, 3000, seed=1))
    sweep = SweepPlan(
        batch=64, threads=2, sums=frozenset({"dependency", "edges"}), bounds=Bounds(np.array([1.0, 3.0]), np.zeros(1))
    )
    return Step(graph, np.arange(graph.n), WITHIN, sweep)


def chains():
    graph = as_graph(long_mesh(), directed=False)
    return step_of(contract(Bicomponent(graph, np.ones(graph.n), np.ones(graph.n))), threads=2)


STEPS = [hops, wide, lengths, bounded, chains]


class Shuffled:
    """Carries some spans at a time in a random order, and loses every third, which is carried again."""

    makes_do = False

    def __init__(self, seed, window=5):
        self.rng, self.window, self.lost = np.random.default_rng(seed), window, 0

    def length(self, work):
        return work.portion

    def each(self, work, spans):
        hand, waiting, carried = work.open(StopFlag()), deque(), 0
        for span in [*spans, None]:
            waiting.extend([] if span is None else [span])
            if len(waiting) == self.window or span is None:
                found = {}
                while len(found) < len(waiting):
                    for place in self.rng.permutation(len(waiting)).tolist():
                        carried += 1
                        if place not in found and carried % 3:
                            found[place] = work.sent(hand(waiting[place], work.items[waiting[place].place]))
                        self.lost += carried % 3 == 0
                yield from (found[place] for place in range(len(waiting)))
                waiting.clear()


@pytest.mark.parametrize("make", STEPS)
def test_a_carrier_that_loses_spans_and_shuffles_them(short_chunks, make):
    step = make()
    expected = sum_step(step)
    for seed in range(3):
        carrier = Shuffled(seed)
        assert_same(sum_step(step, carrier=carrier), expected)
        assert carrier.lost > 1


@pytest.mark.parametrize("make", STEPS)
def test_bits_of_any_batch_and_carrier(short_chunks, make):
    step = make()
    expected = sum_step(replace(step, sweep=replace(step.sweep, threads=1)), carrier=Inline())
    wider = step.sweep.batch if make is chains else step.method.load().batching.round(3 * step.sweep.batch)
    for sweep in (step.sweep, replace(step.sweep, batch=wider, threads=3)):
        assert_same(sum_step(replace(step, sweep=sweep), carrier=Threads()), expected)


@pytest.mark.parametrize("make", STEPS)
def test_a_sum_goes_on_from_any_total(short_chunks, make):
    """A total that was packed and unpacked, as in a file, amid a chunk or not."""
    work = work_of(make())
    totals = []
    expected = work.finish(sum_over(work, Inline(), keep=totals.append))
    assert len(totals) > 2
    for total in totals[:-1]:
        arrays = work.pack_total(total)

        def read(name, shape, dtype=float, arrays=arrays):
            assert all(b in (None, a) for a, b in zip(arrays[name].shape, shape, strict=True))
            return arrays[name].copy()

        begun = work.unpack_total(total.done, read)
        assert_same(work.finish(sum_over(work, Threads(), begun)), expected)


@pytest.mark.parametrize("make", STEPS)
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_shares_add_up(short_chunks, make, cut):
    """Pieces of three spans, each summed by itself: what is closed as it goes, and the rest."""
    work = work_of(make())
    expected = work.finish(sum_over(work, Inline()))
    panels = -(-len(work.items) // work.panel)
    ends = sorted({0, cut * work.panel, (panels // 2) * work.panel, len(work.items)})
    total = Total(0)
    for first, last in pairwise(ends):
        pieces: list[Piece] = []
        part = sum_over(
            work, Threads(), Total(first), last, keep=lambda total, pieces=pieces: pieces.extend(total.closed)
        )
        for piece in [*pieces, *work.rest(part)]:
            total = work.add(total, [piece])
    assert total.done == len(work.items)
    assert_same(work.finish(total), expected)


def test_a_total_is_never_changed(short_chunks):
    for make in STEPS:
        work, totals, copies = work_of(make()), [], []

        def keep(total, work=work, totals=totals, copies=copies):
            totals.append(total)
            copies.append({name: array.copy() for name, array in work.pack_total(total).items()})

        sum_over(work, Threads(), keep=keep)
        for total, copy in zip(totals, copies, strict=True):
            for name, array in work.pack_total(total).items():
                np.testing.assert_array_equal(array, copy[name])


def recording(block, batches):
    """A module that notes its batches; each root adds 1 to every vertex."""

    def forward(state, roots):
        batches.append(roots.tolist())
        yield SimpleNamespace(places=np.arange(len(roots)), roots=roots, overflowed=np.zeros(len(roots), bool))

    def backward(state, levels, sums, omega=None):
        for place in range(len(levels.roots)):
            sums.dependency[place // block if block > 1 else 0] += 1

    return SimpleNamespace(
        batching=Batching(block=block, auto=block),
        options=frozenset(),
        arrays=lambda graph, plan: {},
        prepare=lambda graph, plan, arrays: plan,
        forward=forward,
        backward=backward,
    )


@pytest.mark.parametrize(
    ("block", "batch", "sizes"),
    [
        (1, 5, [5, 3, 5, 3, 4]),  # a batch is one panel, of one chunk
        (4, 4, [4, 4, 4, 4, 4]),
        (4, 12, [12, 8]),  # of two chunks
        (4, 16, [16, 4]),
        (4, 100, [20]),
    ],
)
def test_batches_of_whole_panels(monkeypatch, block, batch, sizes):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    work = work_of(Step(graph, np.arange(20), ROW[False], SweepPlan(batch=batch)), recording(block, batches))
    closed = []
    total = sum_over(work, Inline(), keep=lambda total: closed.extend(total.closed))
    assert [len(roots) for roots in batches] == sizes
    assert np.concatenate(batches).tolist() == graph.order.tolist()
    assert [(piece.span, piece.sums.dependency[0]) for piece in closed] == [((0, 8), 8), ((8, 16), 8), ((16, 20), 4)]
    assert work.finish(total).dependency.tolist() == [20] * 20


@pytest.mark.parametrize(("block", "batch"), [(1, 5), (1, 100), (4, 6), (4, 100)])
def test_a_plan_says_how_wide_the_widest_batch_is(monkeypatch, block, batch):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    module = recording(block, batches)
    module.arrays = lambda graph, plan: {"rows": Array((plan.batch,), BYTE)}
    row = SimpleNamespace(name="ours", device="cpu", load=lambda: module)
    sweep = SweepPlan(batch=memory.most_batch(row, module.batching, graph.n, asked=batch), roots=graph.n)
    step, planned = memory.fit(Step(graph, np.arange(20), row, sweep))
    sum_step(replace(step, method=ROW[False]), module)
    assert planned.batch == planned.workspace == max(map(len, batches))


@pytest.mark.parametrize(
    ("block", "given", "expected"),
    [
        (4, (0, 20, 8), [(0, 8), (8, 16), (16, 20)]),
        (4, (4, 20, 8), [(4, 8), (8, 16), (16, 20)]),  # a chunk that was begun is ended first
        (4, (4, 20, 16), [(4, 16), (16, 20)]),
        (4, (4, 20, 12), [(4, 16), (16, 20)]),
        (1, (0, 20, 5), [(0, 5), (5, 8), (8, 13), (13, 16), (16, 20)]),
        (1, (5, 20, 8), [(5, 8), (8, 16), (16, 20)]),
        (4, (20, 20, 8), []),
    ],
)
def test_spans(monkeypatch, block, given, expected):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    graph = as_graph(grid(4, 5))
    work = work_of(Step(graph, np.arange(20), ROW[False], SweepPlan(batch=4)), recording(block, []))
    assert [*work.spans(*given)] == expected


def test_a_chunk_is_a_multiple_of_the_block(monkeypatch):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 10})
    graph = as_graph(grid(4, 5))
    work = work_of(Step(graph, np.arange(20), ROW[False], SweepPlan(batch=4)), recording(4, []))
    assert (work.panel, work.chunk) == (4, 12)


def test_chunks_of_the_devices():
    """They are part of the order of sums, which checkpoints and records of scores go by."""
    assert tuning.CHUNK_ROOTS == {"cpu": 16 * 64, "cuda": 16 * 256}


def test_less_at_a_time_where_memory_runs_out(short_chunks):
    """Each hand fails after some spans, until one is left with the smallest batch."""
    step, told = wide(), []
    expected = sum_step(step)
    failures = iter([MemoryError("first"), MemoryError("second"), MemoryError("third")])

    class Scarce(Threads):
        def each(self, work, spans):
            told.append((work.sweep.threads, work.batch))
            yield from (pieces for pieces, _ in zip(super().each(work, spans), range(1), strict=False))
            if (error := next(failures, None)) is not None:
                raise error
            yield from ()

    work = work_of(step)
    with pytest.warns(lagbc.MemoryWarning, match="ran out of memory; it goes on with batch="):
        total = sum_over(work, Scarce())
    assert told[:4] == [(2, 192), (1, 192), (1, 96), (1, 48)]
    assert_same(work.finish(total), expected)


def test_no_thread_runs_when_a_carrier_is_closed():
    graph, before = as_graph(grid(40, 40)), set(threading.enumerate())
    work = work_of(Step(graph, np.arange(graph.n), ROW[False], SweepPlan(batch=64, threads=3)))
    with closing(Threads().each(work, work.spans(0, graph.n, 64))) as found:
        next(found)
    assert set(threading.enumerate()) == before


def test_sums_out_of_range_are_infinite():
    most = Sums(stress=np.full(2, 1.7e308))
    assert np.isinf(most.plus(most).stress).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_bits_of_many_chunks(short_chunks, threads):
    A = scale_free(500, 3000, seed=1)
    expected = lagbc.bc(A, method="batched", device="cpu", threads=1)
    scores = lagbc.bc(A, method="batched", device="cpu", threads=threads)
    np.testing.assert_array_equal(scores, expected)


def test_checkpoints_hold_the_part_of_a_chunk(short_chunks, tmp_path):
    """Killed after each batch in turn, amid a chunk and at its end."""
    A, file = grid(15, 20), tmp_path / "run"
    expected = lagbc.bc(A, method="batched", device="cpu")
    done = []
    for _ in range(4):
        with pytest.raises(Killed):
            lagbc.bc(A, method="batched", device="cpu", threads=1, checkpoint=file, progress=stop)
        with np.load(file) as held:
            done.append(int(held["done"].sum()))
            assert ("0/chunk/dependency" in held) == bool(done[-1] % 128)
            assert ("0/dependency" in held) == (done[-1] >= 128)
    assert done == [64, 128, 192, 256]
    np.testing.assert_array_equal(lagbc.bc(A, method="batched", device="cpu", checkpoint=file), expected)


def test_a_span_is_a_place():
    assert np.arange(9)[Span(2, 5).place].tolist() == [2, 3, 4]
