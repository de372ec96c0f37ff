"""A carrier over several devices, with the bits of one device.

Each device has a stream and a state of its own, and two spans under way: the host begins the second one while the
device sweeps the first. A span is a chunk, or less near the end, so that no device waits long for another. Sums are
copied to the host behind the kernels, and added there in order. A device that runs out of memory goes on with less at a
time. If a device fails, others sum its spans, and it is given no more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock

from lagbc.errors import MemoryWarning, OutOfMemoryError, RunError, warn
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.native.pool import Pool
from lagbc.planning.devices import Copies, Device
from lagbc.run.work import Found, Hand, MethodWork, Span

# Spans of a device that are under way at a time.
_IN_FLIGHT = 2
# Most bytes of panels that are sent one by one. With 750 MB of such panels two H200 took 5.4 s for a network of 264,346
# vertices, without them 5.0 s.
_APART = 2**28
# Warnings to be given in the caller's thread.
Notes = list[tuple[str, type[Warning]]]


def over_devices(devices: Sequence[Device], work: MethodWork, first: int, last: int) -> Generator[Found]:
    """Carry a work over devices; the first device prepares the graph, and the others copy it.

    Sums are on the host. Raises MemoryError or RunError once all devices have failed.
    """
    if first == last:
        return
    crew = _Crew(devices, work)
    pool = Pool(_IN_FLIGHT * len(devices))
    try:
        crew.open()
        for _, found in pool.in_order(crew.sum, _spans(work, first, last, len(devices))):
            crew.warn()
            yield from found
            del found
    finally:
        crew.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        crew.close()
        crew.warn()


def _spans(work: MethodWork, first: int, last: int, devices: int) -> Iterator[Span]:
    """Yield whole portions, as many for each device, and then the rest in equal shares of about a batch at most.

    A share that begins within a chunk sends its panels one by one. If they are at most `_APART` bytes, the rest has one
    more portion a device; else it is only the places that fill no turn of all devices. If these are too many bytes,
    too, the rest has the portion more, and its shares are whole chunks.
    """
    turn = devices * work.portion
    whole, most_apart = (last - first) // turn, _APART // max(1, work.bytes_of_sums) * work.panel
    begins = [first + turn * max(whole - turns, 0) for turns in (1, 0)]
    few_enough = [begin for begin in begins if last - begin <= most_apart]
    cut, shared = (work.panel, few_enough[0]) if few_enough else (work.cut, begins[0])
    shared = min(last, shared + -shared % work.portion) if shared > first else first
    yield from work.spans(first, shared, work.portion)
    batches = max(1, -(-(last - shared) // (devices * work.batch)))
    share = -(-(last - shared) // (devices * batches))
    yield from work.spans(shared, last, min(work.portion, -(-share // cut) * cut))


class _Crew:
    """The devices; a span goes to any device that is free to begin it."""

    def __init__(self, devices: Sequence[Device], work: MethodWork) -> None:
        self._notes: Notes = []
        self._hands = [_DeviceHand(device, work, self._notes) for device in devices]
        self._idle = SimpleQueue[_DeviceHand | None]()
        self._lock, self._left = Lock(), len(devices)
        self._error: Exception = Interrupted()

    def open(self) -> None:
        """Prepare the graph on the first device that can."""
        waiting = list(self._hands)
        while waiting:
            first = waiting.pop(0)
            try:
                first.open()
            except first.failures as error:
                self._lose(first, error)
                continue
            for hand in (first, *waiting):
                self._idle.put(hand)
            return

    def sum(self, span: Span) -> list[Found]:
        """Sum a span on a device that is free to begin it; if that device fails, on another one."""
        while True:
            hand = self._idle.get()
            if hand is None:
                self._idle.put(None)
                raise self._error
            if hand.is_lost:
                continue
            try:
                found, copies = hand.begin(span)
                self._count(hand, 1)
                try:
                    copies.wait()
                finally:
                    self._count(hand, -1)
            except hand.failures as error:
                self._lose(hand, error)
            else:
                return found

    def _count(self, hand: _DeviceHand, more: int) -> None:
        """Count the spans under way on a device; with fewer than two it is free to begin one."""
        with self._lock:
            was_free = more < 0 and hand.under_way < _IN_FLIGHT
            hand.under_way += more
            if hand.under_way < _IN_FLIGHT and not was_free and not hand.is_lost:
                self._idle.put(hand)

    def _lose(self, hand: _DeviceHand, error: Exception) -> None:
        """Go on without a device; raise an error if it was the last."""
        name = hand.device.name
        with self._lock:
            if hand.is_lost:  # its other span has failed before
                return
            hand.is_lost = True
            self._left -= 1
            left = self._left
        if left:
            self._notes.append((f"{name} has failed, and the others go on without it: {error}", RuntimeWarning))
            return
        kind = OutOfMemoryError if isinstance(error, MemoryError) else RunError
        self._error = kind(f"all devices have failed, {name} as the last: {error}")
        self._error.__cause__ = error
        self._idle.put(None)
        raise self._error

    def warn(self) -> None:
        """Give the warnings so far; called in the caller's thread."""
        while self._notes:
            warn(*self._notes.pop(0))

    def stop(self) -> None:
        self._idle.put(None)
        for hand in self._hands:
            hand.stop()

    def close(self) -> None:
        for hand in self._hands:
            with suppress(*hand.device.failures):
                hand.close()


class _DeviceHand:
    """The hand of one device, for one thread at a time."""

    def __init__(self, device: Device, work: MethodWork, notes: Notes) -> None:
        self.device, self._work, self._notes = device, work, notes
        self._stop, self.under_way, self.is_lost = StopFlag(), 0, False
        self._placed: MethodWork | None = None
        self._hand: Hand | None = None
        self._last: Copies | None = None  # of the span that was begun last

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors after which the device is given no more work; MemoryError comes from its smallest batch alone."""
        return MemoryError, *self.device.failures

    def open(self) -> None:
        """Prepare a state, and with it the graph, which other devices copy from this one."""
        self.device.wait()
        with self.device.context():
            self._retried(None)
            self.device.wait()

    def begin(self, span: Span) -> tuple[list[Found], Copies]:
        """Begin a span, with less at a time while memory runs out; its sums are valid once the copies are done."""
        with self.device.context():
            return self._retried(span)

    def _retried(self, span: Span | None) -> tuple[list[Found], Copies]:
        """Have a state, and begin a span if there is one, with less at a time while memory runs out."""
        hand = self._hand
        while True:
            copies, found = self.device.copies(), list[Found]()
            try:
                self._stop.check()
                self._placed = self._placed or self._work.on(self.device.copy)
                self._hand = hand = hand or self._placed.open(self._stop)
                if span is None:
                    return found, copies
                items = self._placed.items
                found = [(one, hand(one, items[one.place])) for one in self._placed.batches(*span)]
                found = self._placed.sent(found, items[span.place], copies)
                self._last = copies
                return found, copies
            except MemoryError as error:
                copies.wait()
                found.clear()
                last, self._last = self._last, None
                if last is not None:  # the span before held memory, too
                    last.wait()
                    continue
                self._hand = hand = None
                self._work, self._placed = (self._placed or self._work).smaller(error, self._say), None
            except BaseException:
                with suppress(*self.device.failures):
                    copies.wait()  # else a later copy could be given memory that a copy under way still writes
                raise

    def _say(self, message: str) -> None:
        self._notes.append((f"{self.device.name}: {message}", MemoryWarning))

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        with self.device.context():
            self._hand = None
