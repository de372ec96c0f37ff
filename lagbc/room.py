"""The bytes that a call may take, on each kind of device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lagbc.limits import host_budget, left_of, stated_budget

# Share of the device's free memory at the start of a run that it may take, unless the variable says otherwise.
_DEVICE_SHARE = 0.8
# A run with at most these bytes is over in milliseconds. It takes them without a look at the free memory, which takes
# longer than a small graph.
SMALL_RUN = 2**19


@dataclass(slots=True)
class Room:
    """The bytes that a call may take: those that were stated, or a share of the free ones.

    Memory is read once a call: all decisions of the call are by the same number.
    """

    stated: int | None = None  # by memory=
    of_process: int | None = None  # on the host: those that a memory stated for the process leaves
    read: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_call(cls, memory: int | None, graph: Any) -> Room:
        """Return the room of a call; of a memory stated for the process the graph is left, as the call counts it."""
        process = stated_budget() if memory is None else None
        return cls(memory, None if process is None else left_of(process, graph.bytes_at_hand))

    @property
    def is_stated(self) -> bool:
        """Whether a memory was stated: for the call or for the process."""
        return self.stated is not None or self.of_process is not None

    def stated_on(self, device: str) -> int | None:
        """Return the bytes that are stated for a kind of device; None without any."""
        return self.of_process if self.stated is None and device == "cpu" else self.stated

    def on(self, device: str) -> int:
        """Return the bytes of a call on a kind of device."""
        stated = self.stated_on(device)
        if stated is not None:
            return stated
        if device not in self.read:
            self.read[device] = budget(device)
        return self.read[device]

    def for_need(self, needed: int, device: str) -> int:
        """Return the budget for a need; a run of up to 512 KiB may take these, if nothing else was stated."""
        return self.on(device) if self.is_stated or needed > SMALL_RUN else SMALL_RUN


def budget(device: str) -> int:
    """Return the bytes of a run: those that ``LAGBC_MEMORY`` leaves, on a GPU all of it, or a share of free ones."""
    if device == "cpu":
        return host_budget()
    stated = stated_budget()
    if stated is not None:
        return stated
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return int(_DEVICE_SHARE * free)
