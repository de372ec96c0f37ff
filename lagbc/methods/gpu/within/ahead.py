"""What is found by threads ahead of who takes it, as far as there is room, and taken together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from typing import TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")
Size = Callable[[Found], int]


def found_ahead(
    find: Callable[[Task], Sequence[Found]], tasks: Iterable[Task], size: Size[Found], room: int, threads: int
) -> Iterator[Found]:
    """Yield what is found, task after task.

    Threads go on as long as what is found and not taken is no more than there is room for, so that it is at most one
    task a thread beyond that. Who is to be taken next does not wait: tasks are begun in their order.
    """
    changed, ended, taken, held = Condition(), False, 0, 0

    def run(number: int, task: Task) -> Sequence[Found]:
        nonlocal held
        with changed:
            changed.wait_for(lambda: ended or number == taken or held <= room)
        if ended:
            return []
        found = find(task)
        with changed:
            held += sum(map(size, found))
        return found

    pool = ThreadPoolExecutor(threads, "lagbc balls")
    try:
        calls = deque(pool.submit(run, number, task) for number, task in enumerate(tasks))
        while calls:
            found = calls.popleft().result()
            with changed:
                held -= sum(map(size, found))
                taken += 1
                changed.notify_all()
            yield from found
    finally:
        with changed:
            ended = True
            changed.notify_all()
        pool.shutdown(cancel_futures=True)


def together(found: Iterable[Found], size: Size[Found], room: int) -> Iterator[list[Found]]:
    """Yield as many at a time as there is room for, and one that there is none for by itself."""
    several, held = list[Found](), 0
    for one in found:
        needed = size(one)
        if several and held + needed > room:
            yield several
            several, held = [], 0
        several.append(one)
        held += needed
    if several:
        yield several
