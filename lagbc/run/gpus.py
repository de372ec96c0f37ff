"""Several devices that carry the spans of a work, to the bits of one.

Each has a thread, a stream and a state of its own, and takes the next span when it has finished one: a chunk, or whole
panels of a chunk where there are few. Its pieces are brought to the host, where they are added in order. A device that
runs out of memory goes on with less at a time; a device that fails hands its span on, and takes no more.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock

from lagbc.errors import MemoryWarning, OutOfMemoryError, RunError, warn
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.native.pool import Pool
from lagbc.planning.devices import Device
from lagbc.run.work import Found, Hand, MethodWork, Span

# Portions for each device from which on they are given out whole.
_WHOLE = 4
# Warnings for the caller's thread.
Notes = list[tuple[str, type[Warning]]]


def over_devices(devices: Sequence[Device], work: MethodWork, first: int, last: int) -> Generator[Found]:
    """Carry a work over devices; the first one prepares the graph, which is copied to the others.

    Sums are on the host. MemoryError or RunError once all devices have failed.
    """
    if first == last:
        return
    crew = _Crew(devices, work)
    pool = Pool(len(devices))
    try:
        crew.open()
        for _, found in pool.in_order(crew.sum, work.spans(first, last, _length(devices, work))):
            crew.warn()
            yield from found
            del found
    finally:
        crew.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        crew.close()
        crew.warn()


def _length(devices: Sequence[Device], work: MethodWork) -> int:
    """Return a portion, or, of few portions, as many items as give all devices an equal share."""
    count, items = len(devices), len(work.items)
    if items > (_WHOLE * count - 1) * work.portion or work.panel == work.chunk:
        return work.portion
    rounds = -(-items // (count * work.batch))
    share = -(-items // (count * rounds))
    return min(work.portion, -(-share // work.panel) * work.panel)


class _Crew:
    """Devices at work, of which idle ones take the next span."""

    def __init__(self, devices: Sequence[Device], work: MethodWork) -> None:
        self._notes: Notes = []
        self._hands = [_DeviceHand(device, work, self._notes) for device in devices]
        self._idle = SimpleQueue[_DeviceHand | None]()
        self._lock, self._left = Lock(), len(devices)
        self._error: Exception = Interrupted()

    def open(self) -> None:
        """Prepare the graph on the first device that does not fail."""
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
        """Sum a span on an idle device, and on another one if that fails."""
        while True:
            hand = self._idle.get()
            if hand is None:
                self._idle.put(None)
                raise self._error
            try:
                found = hand.sum(span)
            except hand.failures as error:
                self._lose(hand, error)
            else:
                self._idle.put(hand)
                return found

    def _lose(self, hand: _DeviceHand, error: Exception) -> None:
        """Go on without a device; raise an error if it was the last."""
        name = hand.device.name
        with self._lock:
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
        """Give the warnings so far, in the caller's thread."""
        while self._notes:
            warn(*self._notes.pop(0))

    def stop(self) -> None:
        """Stop all devices at their next level."""
        self._idle.put(None)
        for hand in self._hands:
            hand.stop()

    def close(self) -> None:
        """Drop all states."""
        for hand in self._hands:
            with suppress(*hand.device.failures):
                hand.close()


class _DeviceHand:
    """The hand of one device, for one thread at a time."""

    def __init__(self, device: Device, work: MethodWork, notes: Notes) -> None:
        self.device, self._work, self._notes = device, work, notes
        self._stop = StopFlag()
        self._placed: MethodWork | None = None
        self._hand: Hand | None = None

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Return the errors after which the device takes no more work, with MemoryError at its smallest batch."""
        return MemoryError, *self.device.failures

    def open(self) -> None:
        """Prepare a state, and so the graph on this device, before others copy it."""
        self.device.wait()
        with self.device.context():
            self._retried(None)
            self.device.wait()

    def sum(self, span: Span) -> list[Found]:
        """Sum a span, with less at a time while memory runs out."""
        with self.device.context():
            return self._retried(span)

    def _retried(self, span: Span | None) -> list[Found]:
        hand = self._hand
        while True:
            try:
                self._stop.check()
                self._placed = self._placed or self._work.on(self.device.copy)
                self._hand = hand = hand or self._placed.open(self._stop)
                if span is None:
                    return []
                items = self._placed.items
                found = [(one, hand(one, items[one.place])) for one in self._placed.batches(*span)]
                return self._placed.sent(found, items[span.place])
            except MemoryError as error:
                self._hand = hand = None
                self._work, self._placed = (self._placed or self._work).smaller(error, self._say), None

    def _say(self, message: str) -> None:
        self._notes.append((f"{self.device.name}: {message}", MemoryWarning))

    def stop(self) -> None:
        """Stop at the next level."""
        self._stop.set()

    def close(self) -> None:
        """Drop the state."""
        with self.device.context():
            self._hand = None
