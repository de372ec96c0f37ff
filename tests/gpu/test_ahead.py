"""What is found ahead by threads: the order, the room, errors and ends. It needs no GPU."""

import threading
import time

import pytest

from lagbc.methods.gpu.within.ahead import found_ahead, together


class Finder:
    """Finds as many numbers as a task says, each as large as it says, and tells how much was held at most."""

    def __init__(self, delay=0.0, fails=None):
        self.lock, self.held, self.most, self.begun, self.delay, self.fails = threading.Lock(), 0, 0, 0, delay, fails

    def find(self, task):
        time.sleep(self.delay)
        with self.lock:
            self.begun += 1
            if self.begun == self.fails:
                raise ValueError("no ball")
            self.held += sum(task)
            self.most = max(self.most, self.held)
        return task

    def take(self, size):
        with self.lock:
            self.held -= size


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("room", [0, 30, 1000])
def test_in_order_and_no_more_than_there_is_room_for(room, threads):
    finder, tasks = Finder(), [[1, 1]] * 20 + [[10]] * 60 + [[]] + [[1]] * 9
    found = []
    for size in found_ahead(finder.find, tasks, int, room, threads):
        finder.take(size)
        found.append(size)
    assert found == [size for task in tasks for size in task]
    assert finder.held == 0
    # A task a thread beyond the room, and the one that is taken.
    assert finder.most <= room + 10 * (threads + 1)


def test_threads_go_on_while_what_is_found_is_used():
    finder, threads = Finder(), 2
    found = found_ahead(finder.find, [[1]] * 50, int, 1000, threads)
    next(found)
    until = time.monotonic() + 30
    while finder.begun < 50 and time.monotonic() < until:
        time.sleep(0.01)
    assert finder.begun == 50
    assert len(list(found)) == 49


def test_an_error_is_raised_where_it_is_taken_and_ends_the_threads():
    finder, before = Finder(fails=5), threading.active_count()
    found = []
    with pytest.raises(ValueError, match="no ball"):
        found.extend(found_ahead(finder.find, [[1]] * 500, int, 3, 2))
    assert threading.active_count() == before
    assert finder.begun < 20


def test_who_takes_no_more_ends_the_threads():
    finder, before = Finder(), threading.active_count()
    found = found_ahead(finder.find, [[1]] * 500, int, 3, 2)
    assert next(found) == 1
    found.close()
    assert threading.active_count() == before
    assert finder.begun < 20


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [([], []), ([3, 3, 4, 1], [[3, 3, 4], [1]]), ([11, 2, 20, 9, 1], [[11], [2], [20], [9, 1]])],
)
def test_together_as_there_is_room(sizes, expected):
    assert list(together(iter(sizes), int, 10)) == expected
