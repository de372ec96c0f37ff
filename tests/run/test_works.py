"""Works and the one loop: the same bits whoever carries the spans, in what order, and how they are cut."""

import threading
from contextlib import closing
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from chained import junctions, long_mesh, ones
from strategies import grid, scale_free, with_lengths
from swept import assert_same_sums, swept, work

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.methods.contract import BYTE, Array, Batching, StopFlag, SweepPlan
from lagbc.methods.sums import Bounds, Sums
from lagbc.options import check_options
from lagbc.planning.plan import sweep_of_small
from lagbc.planning.sweep import fit_memory, most_batch, row_of
from lagbc.reduce.blocks import split
from lagbc.reduce.pieces import Small
from lagbc.run import work as works
from lagbc.run.run import sum_piece, work_of
from lagbc.run.work import NONE_DONE, Span, inline, sum_over, threaded

EVERY = frozenset({"dependency", "stress", "reached", "distance", "inverse", "edges", "depth"})
ROW = {row.weighted: row for row in lagbc.METHODS if (row.name, row.device) == ("batched", "cpu")}
WITHIN = next(row for row in lagbc.METHODS if row.bounds and row.device == "cpu" and not row.weighted)


def from_all_roots(row, *, directed=False, batch=64, sums=EVERY, **given):
    A = with_lengths(scale_free(500, 3000, seed=1), [1, 2])
    graph = as_graph(A, directed=directed, weighted=row.weighted)
    return swept(graph, np.arange(graph.n), row, SweepPlan(batch=batch, threads=2, sums=frozenset(sums), **given))


def small():
    """Twelve small bicomponents, in slices of two."""
    blocks = sp.block_diag([nx.to_scipy_sparse_array(nx.cycle_graph(5 + number)) for number in range(12)])
    piece = Small(split(ones(blocks.tocsr()), edges=True).small, edges=True)
    vars(piece.blocks)["ends"] = np.arange(2, 13, 2)
    return piece, sweep_of_small(piece, check_options("auto", {"threads": 2}))


BOUNDS = Bounds(np.array([1.0, 3.0]), np.zeros(1))
PIECES = {
    "hops": lambda: from_all_roots(ROW[False]),
    "wide": lambda: from_all_roots(WITHIN, batch=192),
    "lengths": lambda: from_all_roots(ROW[True]),
    "bounded": lambda: from_all_roots(WITHIN, directed=True, sums={"dependency", "edges"}, bounds=BOUNDS),
    "chains": lambda: junctions(ones(long_mesh()), threads=2),
    "small": small,
}


def shuffled(rng, lost, work, first, last):
    """Carry five spans at a time in a random order, and lose every third, which is carried again."""
    hand, carried = work.open(StopFlag()), 0
    spans = [*work.spans(first, last, work.portion)]
    for waiting in (spans[begin : begin + 5] for begin in range(0, len(spans), 5)):
        found = {}
        while len(found) < len(waiting):
            for place in rng.permutation(len(waiting)).tolist():
                carried += 1
                if carried % 3 == 0:
                    lost.append(place)
                elif place not in found:
                    span = waiting[place]
                    sums = [(batch, hand(batch, work.items[batch.place])) for batch in work.batches(*span)]
                    found[place] = work.sent(sums, work.items[span.place])
        for place in range(len(waiting)):
            yield from found[place]


class Held(dict):
    """Arrays by their names, read as those of a file are."""

    def __call__(self, name, shape, dtype=float):
        assert all(b in (None, a) for a, b in zip(self[name].shape, shape, strict=True))
        return self[name].copy()

    def has(self, name):
        return name in self


@pytest.mark.parametrize("name", PIECES)
def test_a_carrier_that_loses_spans_and_shuffles_them(short_chunks, name):
    piece, sweep = PIECES[name]()
    expected = sum_piece(piece, sweep, Room())
    for seed in range(3):
        lost = []
        carry = partial(shuffled, np.random.default_rng(seed), lost)
        assert_same_sums(sum_piece(piece, sweep, Room(), carry=carry), expected)
        assert len(lost) > 1


@pytest.mark.parametrize("name", PIECES)
def test_bits_of_any_batch_and_carrier(short_chunks, name):
    piece, sweep = PIECES[name]()
    expected = sum_piece(piece, sweep._replace(threads=1), Room(), carry=inline)
    wider = sweep.batch if name in ("chains", "small") else row_of(piece, sweep).load().batching.round(3 * sweep.batch)
    for one in (sweep, sweep._replace(batch=wider, threads=3)):
        assert_same_sums(sum_piece(piece, one, Room(), carry=threaded), expected)


@pytest.mark.parametrize("name", PIECES)
def test_a_sum_goes_on_from_any_total(short_chunks, name):
    """A total that was packed and unpacked, as in a file, amid a chunk or not."""
    work, totals = work_of(*PIECES[name](), Room()), []

    def keep(total):
        totals.append(work.unpack_total(total.done, Held(work.pack_total(total))))

    expected = work.finish(sum_over(work, inline, keeps=[keep]))
    assert len(totals) > 2
    for total in totals[:-1]:
        assert_same_sums(work.finish(sum_over(work, threaded, total)), expected)


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_shares_add_up(short_chunks, name, cut):
    """Sums of three spans, each summed by itself, shrunk, and packed as into a file: chunks, and panels of others."""
    work = work_of(*PIECES[name](), Room())
    expected = work.finish(sum_over(work, inline))
    panels = -(-len(work.items) // work.panel)
    ends = sorted({0, cut * work.panel, (panels // 2) * work.panel, len(work.items)})
    total = NONE_DONE
    for first, last in pairwise(ends):
        with closing(threaded(work, first, last)) as found:
            sent = work.sent([*found], work.items[first:last])
        for span, sums in sent:
            total = work.add(total, span, work.unpack(span, Held(work.pack(span, sums))))
    assert total.done == len(work.items)
    assert_same_sums(work.finish(total), expected)


@pytest.mark.parametrize("name", [name for name in PIECES if name != "small"])
def test_a_total_is_never_changed(short_chunks, name):
    work, totals, copies = work_of(*PIECES[name](), Room()), [], []

    def keep(total):
        totals.append(total)
        copies.append({name: array.copy() for name, array in work.pack_total(total).items()})

    sum_over(work, threaded, keeps=[keep])
    for total, copy in zip(totals, copies, strict=True):
        np.testing.assert_equal(work.pack_total(total), copy)


def test_a_slice_is_written_where_no_other_one_is():
    """So the total of slices may be written to: one that is added again changes nothing."""
    work = work_of(*small(), Room())
    hand, written = work.open(StopFlag()), np.zeros(len(work.piece.blocks.rows.sources), np.int64)
    total = NONE_DONE
    for place in [*range(len(work.items)), 2, 0]:
        span = Span(place, place + 1)
        total = work.add(total, span, hand(span, work.items[span.place]))
        written[work.piece.blocks.places(place)[0]] += 1
    assert written.tolist() == np.repeat([2, 1, 2, 1], [11, 15, 19, 81]).tolist()
    assert_same_sums(work.finish(total), work.finish(sum_over(work, inline)))


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
        arrays=lambda graph, plan: {},
        prepare=lambda graph, plan: plan,
        forward=forward,
        backward=backward,
    )


@pytest.mark.parametrize(
    ("block", "batch", "sizes"),
    [
        (1, 5, [5, 3, 5, 3, 4]),  # a batch is one panel, of one chunk
        (4, 4, [4, 4, 4, 4, 4]),
        (4, 12, [8, 8, 4]),  # none crosses the end of a chunk
        (4, 100, [8, 8, 4]),
    ],
)
def test_batches_of_whole_panels(monkeypatch, block, batch, sizes):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    ours = work(graph, np.arange(20), ROW[False], SweepPlan(batch=batch), module=recording(block, batches))
    totals = []
    total = sum_over(ours, inline, keeps=[totals.append])
    assert [len(roots) for roots in batches] == sizes
    assert np.concatenate(batches).tolist() == graph.order.tolist()
    ended = [(total.done, total.whole.dependency[0]) for total in totals if total.part is None]
    assert ended == [(8, 8), (16, 16), (20, 20)]
    assert ours.finish(total).dependency.tolist() == [20] * 20
    sent = ours.sent([*inline(ours, 0, 20)], ours.items)
    assert [(span, found.sums.dependency[0]) for span, found in sent] == [((0, 8), 8), ((8, 16), 8), ((16, 20), 4)]


@pytest.mark.parametrize(("block", "batch"), [(1, 5), (1, 100), (4, 6), (4, 100)])
def test_a_plan_says_how_wide_the_widest_batch_is(monkeypatch, block, batch):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 8})
    batches, graph = [], as_graph(grid(4, 5))
    module = recording(block, batches)
    module.arrays = lambda graph, plan: {"rows": Array((plan.batch,), BYTE)}
    monkeypatch.setattr(lagbc.Method, "load", lambda row: module)
    plan = SweepPlan(batch=most_batch(ROW[False], module.batching, graph.n, asked=batch))
    piece, sweep = swept(graph, np.arange(20), ROW[False], plan)
    fitted = fit_memory(piece, sweep, Room(10**9, 10**9))
    sum_piece(piece, fitted, Room())
    assert fitted.batch == fitted.memory.workspace == max(map(len, batches))


def test_chunks_of_the_devices():
    """They are part of the order of sums, which checkpoints and records of scores go by."""
    assert tuning.CHUNK_ROOTS == {"cpu": 16 * 64, "cuda": 16 * 256}


def test_less_at_a_time_where_memory_runs_out(short_chunks, monkeypatch):
    """The hands fail after some spans, until one is left with the smallest batch."""
    piece, sweep = PIECES["wide"]()
    expected, told, carried = sum_piece(piece, sweep, Room()), [], works._side_by_side
    failures = iter([MemoryError("first"), MemoryError("second"), MemoryError("third")])

    def scarce(work, first, last):
        told.append((work.sweep.threads, work.batch))
        with closing(carried(work, first, last)) as found:
            yield next(found)
        if (error := next(failures, None)) is not None:
            raise error

    with pytest.warns(lagbc.MemoryWarning, match="ran out of memory; it goes on with batch="):
        sums = sum_piece(piece, sweep, Room(), carry=partial(works.retrying, scarce))
    assert told[:4] == [(2, 192), (1, 192), (1, 96), (1, 48)]
    assert_same_sums(sums, expected)


def test_no_thread_runs_when_a_carrier_is_closed():
    graph, before = as_graph(grid(40, 40)), set(threading.enumerate())
    ours = work(graph, np.arange(graph.n), ROW[False], SweepPlan(batch=64, threads=3))
    with closing(threaded(ours, 0, graph.n)) as found:
        next(found)
    assert set(threading.enumerate()) == before


def test_sums_out_of_range_are_infinite():
    most = Sums(stress=np.full(2, 1.7e308))
    assert np.isinf(most.plus(most).stress).all()


class Flagged(works.Work):
    """Two items, and the flag that each hand was given."""

    items, hands, panel, batch = np.arange(2), 1, 1, 2

    def __init__(self):
        self.flags = []

    def open(self, stop):
        self.flags.append(stop)
        return lambda span, items: len(items)

    def add(self, total, span, sums):
        return works.Total(span.last, sums)

    def finish(self, total):
        return total.whole


def test_no_two_runs_share_a_flag():
    """A flag keeps what mirrors it: a run that lent it to the next would leave its bytes on the host for ever."""
    work = Flagged()
    for _ in range(2):
        assert work.finish(sum_over(work, inline)) == 2
    first, second = work.flags
    assert first is not second
