"""Work shared out among threads: the same results in the same order, on what threads there are."""

import threading

import numpy as np
import pytest

from lagbc import native


def test_results_are_in_order_of_the_parts(monkeypatch):
    monkeypatch.setattr(native, "cores", lambda: 4)
    assert native.share(lambda a, b: (a, b), [(k, -k) for k in range(100)]) == [(k, -k) for k in range(100)]
    assert native.share(lambda: 3, [()]) == [3]
    assert native.share(lambda: 3, []) == []


@pytest.mark.parametrize("most", [0, 1])
def test_threads_that_do_not_start_are_done_without(monkeypatch, start_at_most, most):
    monkeypatch.setattr(native, "cores", lambda: 4)
    start_at_most(most)
    assert native.share(lambda k: k, [(k,) for k in range(9)]) == list(range(9))


def test_an_error_of_any_thread_is_raised(monkeypatch):
    monkeypatch.setattr(native, "cores", lambda: 3)

    def fail(k):
        if k == 5:
            raise MemoryError("no more")

    with pytest.raises(MemoryError, match="no more"):
        native.share(fail, [(k,) for k in range(9)])
    assert threading.active_count() == 1 or not [t for t in threading.enumerate() if t.name.endswith("(take)")]


@pytest.mark.parametrize("entries", [0, 5, 10**6])
def test_parts_of_rows_have_about_as_many_entries(monkeypatch, entries):
    monkeypatch.setattr(native, "cores", lambda: 4)
    lengths = np.random.default_rng(1).multinomial(entries, np.ones(300) / 300)
    indptr = np.append(0, np.cumsum(lengths))
    parts = native.parts_of_rows(indptr)
    assert [part[0] for part in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == 300
    assert len(parts) == (4 if entries > native.SHARED_FROM else 1)
    if len(parts) > 1:
        sizes = [indptr[last] - indptr[first] for first, last in parts]
        assert max(sizes) - min(sizes) <= 2 * lengths.max()
    assert native.parts_of_rows(np.zeros(1, np.int64)) == [(0, 0)]
