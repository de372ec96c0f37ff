"""Rounds of an estimate by the workers of an executor: the bits of one process, in whatever order they come."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from test_estimate import KINDS, after, estimated, exact, holds, same_bits

from lagbc.errors import ExecutorError, StoppedError
from lagbc.run import tasks
from lagbc.run.rounds import Rounds


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


class Inline(Executor):
    """Does each task when it is given, and counts them."""

    def __init__(self):
        self.done = 0

    def submit(self, function, /, *arguments, **named):
        self.done += 1
        future = Future()
        future.set_result(function(*arguments, **named))
        return future


@pytest.mark.parametrize("kind", KINDS)
def test_bits(pool, kind):
    """Those of roots that several members share, too, which count as often as they were drawn."""
    ours, expected = estimated(kind, max_roots=700, executor=pool), estimated(kind, max_roots=700)
    assert ours.reason == expected.reason
    assert same_bits(ours, expected)


def test_it_ends_before_all_roots(pool):
    ours, expected = estimated("hops", error=0.06, executor=pool), estimated("hops", error=0.06)
    assert not ours.exact
    assert ours.roots == expected.roots
    assert holds(ours, exact("hops"))


def test_all_roots_are_swept_by_the_workers():
    executor = Inline()
    assert estimated("hops", error=1e-5, executor=executor).exact
    assert executor.done > 2
    assert not tasks._works._held  # nothing of it is kept in this process


def test_rounds_are_put_in_order_as_they_are_needed(monkeypatch):
    """An executor whose tasks are done at once sweeps no more than a run of one process."""
    begun = []
    put_in_order = Rounds._put_in_order

    def told(work, span):
        put_in_order(work, span)
        begun.extend(work._in_order)

    monkeypatch.setattr(Rounds, "_put_in_order", told)
    executor, found = Inline(), estimated("hops", error=0.06, executor=Inline())
    begun.clear()
    assert estimated("hops", error=0.06, executor=executor).roots == found.roots < 1000
    assert executor.done <= found.roots // 64 + 4
    assert max(begun) < 10


class Slow(ThreadPoolExecutor):
    """Tells the most tasks that were given and had not ended, at any time."""

    most = given = ended = 0

    def submit(self, function, /, *arguments, **named):
        self.given += 1
        self.most = max(self.most, self.given - self.ended)
        future = super().submit(function, *arguments, **named)
        future.add_done_callback(self._count)
        return future

    def _count(self, _):
        self.ended += 1


def test_few_tasks_wait_beside_the_workers():
    with Slow(2) as executor:
        assert estimated("hops", relative_error=1e-9, max_roots=1300, executor=executor).roots == 1300
    assert executor.given > 20
    assert executor.most <= 2 + 5


def test_a_checkpoint_goes_on_with_or_without_workers(tmp_path):
    given = {"max_roots": 700, "relative_error": 1e-6}
    expected, kept = estimated("folded", **given), given | {"checkpoint": tmp_path / "rounds"}
    with ThreadPoolExecutor(2) as threads:
        with pytest.raises(StoppedError):
            estimated("folded", stop=after(8), executor=threads, **kept)
        assert same_bits(estimated("folded", **kept), expected)
        assert same_bits(estimated("folded", executor=threads, **kept), expected)


def test_an_executor_that_was_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ExecutorError, match="gave up"):
        estimated("hops", max_roots=300, executor=executor)
