"""The bytes and cores that a call may take: as stated by the user, or as left by the system."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from lagbc.errors import InvalidValueError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

BUDGET_VARIABLE = "LAGBC_MEMORY"
# Shares of the free memory of the host, and of a GPU, that a call may take if nothing is stated.
_DEFAULT_SHARE, _DEVICE_SHARE = 0.5, 0.8
# Bytes that a run may take on a device without a look at the free memory. A search from one root of 1,500 vertices took
# 1.5 to 2 times as long with a look at the host's.
SMALL_RUN = {"cpu": 2**22, "cuda": 2**19}
# A run of so few bytes is counted by their bound alone, and made by the calling thread; a stated memory may be exceeded
# by so many.
TINY_RUN = 2**19
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

# Address space that a thread reserves: its stack, and an aligned heap of malloc.
_BYTES_PER_THREAD = (8 + 128) * 2**20

# Kernels count bytes in signed integers of 64 bits.
_ADDRESSES = 2**63

# The file that names the control groups of this process.
_GROUPS = "/proc/self/cgroup"
# Control groups of version 1 report about 2**63 as no limit.
_NO_LIMIT = 2**62


@dataclass(slots=True)
class Room:
    """The bytes that a call may take on each device, the same in all decisions of the call."""

    host: int | None = None  # stated for the host: by memory=, or left of that stated for the process
    gpu: int | None = None  # stated for a GPU, by memory=
    read: dict[str, int] = field(default_factory=dict)  # by device, where nothing is stated
    on_gpu: int = 0  # of the graph, which the call counts, too

    @classmethod
    def of_call(cls, memory: int | None, graph: Any) -> Room:
        """Return the room of a call; the graph takes nothing off the memory of the process, as the call counts it."""
        process = stated_budget() if memory is None else None
        on_gpu = graph.bytes_at_hand if graph.is_on_device else 0
        if process is None:
            return cls(memory, memory, on_gpu=on_gpu)
        return cls(left_of(process, 0 if graph.is_on_device else graph.bytes_at_hand), on_gpu=on_gpu)

    def on(self, device: str) -> int:
        """Return the bytes on a device, "cpu" or "cuda"."""
        stated = self.host if device == "cpu" else self.gpu
        if stated is not None:
            return stated
        if device not in self.read:
            self.read[device] = budget(device, self.on_gpu)
        return self.read[device]

    def for_need(self, needed: int, device: str) -> int:
        """Return the bytes that a run may take: `SMALL_RUN` without a look, if it needs no more and none are stated."""
        return self.on(device) if self.host is not None or needed > SMALL_RUN[device] else SMALL_RUN[device]


def budget(device: str, on_gpu: int = 0) -> int:
    """Return the bytes of a run on a device: of ``LAGBC_MEMORY``, or a share of the free memory.

    On the host that is what the process leaves of ``LAGBC_MEMORY``, on a GPU all of it. Memory of a GPU that the run
    counts as its own, `on_gpu`, is as good as free.
    """
    stated = stated_budget()
    if device == "cpu":
        return int(_DEFAULT_SHARE * free_memory()) if stated is None else left_of(stated)
    if stated is not None:
        return stated
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return int(_DEVICE_SHARE * (free + on_gpu))


def left_of(stated: int, counted: int = 0) -> int:
    """Return a size stated for the process, less the bytes that it holds; `counted` of them are counted elsewhere."""
    return max(0, stated - max(0, held_memory() - counted))


def raised_by() -> str:
    """Tell the user how to raise the budget."""
    held = "" if stated_budget() is None else f", which counts the {in_units(held_memory())} that the process holds"
    return f"raise it by memory= or the environment variable {BUDGET_VARIABLE}{held}"


@contextmanager
def stating(size: str | float | None) -> Iterator[None]:
    """Set ``LAGBC_MEMORY`` for a block; None leaves it as it is."""
    before = os.environ.get(BUDGET_VARIABLE)
    if size is not None:
        os.environ[BUDGET_VARIABLE] = str(parse_size("memory", size))
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(BUDGET_VARIABLE, None)
        else:
            os.environ[BUDGET_VARIABLE] = before


def held_memory() -> int:
    """Give free memory back; return the bytes of this process in memory, by /proc on Linux, else by psutil."""
    give_back()
    if pages := _pages():
        return pages[1] * resource.getpagesize()
    import psutil

    return int(psutil.Process().memory_info().rss)


def give_back() -> bool:
    """Give free memory of the heap back to the system; return whether the C library can."""
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # not glibc
        return False
    return True


def _pages() -> list[int]:
    """Return the pages of this process on Linux: reserved, in memory, and more."""
    return [int(count) for line in _lines("/proc/self/statm") for count in line.split()]


def stated_budget() -> int | None:
    """Return the bytes of ``LAGBC_MEMORY``, such as 8GB, 512MiB or 2e9; None if unset, ValueError if it is no size."""
    text = os.environ.get(BUDGET_VARIABLE)
    return None if text is None else parse_size(BUDGET_VARIABLE, text)


def parse_size(name: str, size: str | float) -> int:
    """Return a size such as "8GB", "512MiB", "2e9" or 10**9 in bytes; ValueError, about `name`, if it is none."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e\+?[0-9]+)?)\s*([KMGT]?)(i?)B?\s*", str(size), re.IGNORECASE)
    try:
        if match is None:
            raise InvalidValueError
        size_in_bytes = int(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS[match[2].upper()])
    except (ValueError, OverflowError):  # 1e400 is infinite
        raise InvalidValueError(f"{name}={size!r} is not a size; write e.g. 8GB, 512MiB or a number of bytes") from None
    if size_in_bytes >= _ADDRESSES:
        raise InvalidValueError(
            f"{name}={size!r} is more than 64 bits address; write e.g. 8GB, 512MiB or a number of bytes"
        )
    return size_in_bytes


def in_units(count: float) -> str:
    """Return a number of bytes as text in a suitable unit, which `parse_size` reads."""
    power = sum(count >= 1000**power for power in (1, 2, 3, 4))
    return f"{count / 1000**power:.4g} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def free_memory(root: Path = Path("/")) -> int:
    """Return the bytes that this process may still take: of the system, its control groups and ``ulimit -v``.

    `root` has the folders proc and sys.
    """
    return min([_available(root), *_left_by_groups(root), *_left_of_address_space()])


def _available(root: Path) -> int:
    """Return the bytes that the system can give: by /proc/meminfo on Linux, else by psutil."""
    for line in _lines(f"{root}/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    import psutil

    return int(psutil.virtual_memory().available)


def usable_cores(numbers: set[int] | None = None, root: Path = Path("/")) -> int:
    """Count cores, by default all that the process may use; at most as many as its control groups grant time for."""
    numbers = usable_cores_by_number() if numbers is None else numbers
    return max(1, min(len(numbers), _cores_of_groups(root)))


@cache
def _cores_of_groups(root: Path) -> int:
    """Return how many cores' time the control groups of this process grant, rounded up; read once."""
    quotas = list[float]()
    for kind, folder in _folders_of_groups(root, tuple(_lines(f"{root}{_GROUPS}")), "cpu"):
        quota, period = _limits_of_time(kind, folder)
        if quota > 0 and period > 0:  # version 1 has -1 without a quota
            quotas.append(quota / period)
    return ceil(min(quotas, default=_NO_LIMIT))


def _limits_of_time(kind: str, folder: str) -> tuple[int, int]:
    """Return a group's quota and period in microseconds; 0 or less without a quota."""
    if kind == "cgroup":
        return _number(f"{folder}/cpu.cfs_quota_us"), _number(f"{folder}/cpu.cfs_period_us")
    quota, _, period = next(iter(_lines(f"{folder}/cpu.max")), "").partition(" ")
    return (int(quota), int(period)) if quota.isdecimal() and period.isdecimal() else (0, 0)


def usable_cores_by_number() -> set[int]:
    """Return the numbers of the cores that the process may use: all cores on macOS, which binds no process."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    import psutil

    process = psutil.Process()
    return set(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else set(range(os.cpu_count() or 1))


def most_threads(wanted: int) -> int:
    """Return the wanted number of threads, or as many as half of the free address space holds, at least one."""
    if wanted > 1:
        for left in _left_of_address_space():
            wanted = min(wanted, max(1, left // 2 // _BYTES_PER_THREAD))
    return wanted


def _left_of_address_space() -> Iterator[int]:
    """Yield the bytes that ``ulimit -v`` leaves; nothing without a limit."""
    if resource is None:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = _pages()
        yield max(0, limit - pages[0] * resource.getpagesize()) if pages else limit


class _Files(NamedTuple):
    """Names of the files of a control group."""

    limits: tuple[str, ...]
    used: str
    reclaimable: str  # the entry of memory.stat for used bytes that the kernel can reclaim


# By the type of the file system, of versions 1 and 2; a system may have both.
_FILES = {
    "cgroup": _Files(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
    "cgroup2": _Files(("memory.max", "memory.high"), "memory.current", "inactive_file"),
}


def _left_by_groups(root: Path) -> Iterator[int]:
    """Yield the bytes that the lowest limit leaves, for each control group of this process, and each parent of it."""
    for kind, folder in _folders_of_groups(root, tuple(_lines(f"{root}{_GROUPS}")), "memory"):
        files = _FILES[kind]
        limit = _NO_LIMIT
        for name in files.limits:
            limit = min(limit, _number(f"{folder}/{name}", otherwise=_NO_LIMIT))
        if limit < _NO_LIMIT:
            used = _number(f"{folder}/{files.used}") - _number(f"{folder}/memory.stat", files.reclaimable)
            yield max(0, limit - used)


@cache
def _folders_of_groups(root: Path, lines: tuple[str, ...], controller: str) -> tuple[tuple[str, str], ...]:
    """List the groups, and their parents, in which a controller has this process: version and folder of each.

    `lines` are those of the file that names the groups of this process.
    """
    groups, folders = dict(_groups(lines, controller)), list[tuple[str, str]]()
    for kind, top, point in _mounts(root, controller):
        if kind in groups:
            # A container may see its own group at the top, under another name than outside.
            inside = groups[kind].relative_to(top) if groups[kind].is_relative_to(top) else PurePosixPath()
            folders += [(kind, f"{root}{point}/{folder}") for folder in (inside, *inside.parents)]
    return tuple(folders)


def _groups(lines: tuple[str, ...], controller: str) -> Iterator[tuple[str, PurePosixPath]]:
    """Yield the version and path of each group of a controller; a line has a number, controllers and a path."""
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            yield "cgroup2", PurePosixPath(path)
        elif controller in controllers.split(","):
            yield "cgroup", PurePosixPath(path)


def _mounts(root: Path, controller: str) -> Iterator[tuple[str, PurePosixPath, PurePosixPath]]:
    """Yield each mount of control groups: the version, the group at its top, and its folder."""
    for line in _lines(f"{root}/proc/self/mountinfo"):
        if "cgroup" not in line:
            continue
        # Before the dash: three numbers, the top, the folder and more; behind it: the type, the source and the options.
        fields, _, system = (part.split() for part in line.partition(" - "))
        if system[:1] == ["cgroup2"] or (system[:1] == ["cgroup"] and controller in system[-1].split(",")):
            yield system[0], PurePosixPath(fields[3]), PurePosixPath(fields[4])


def _number(file: str, name: str = "", otherwise: int = 0) -> int:
    """Read the number behind a name, or alone; `otherwise` if there is none, as for a limit of "max"."""
    for line in _lines(file):
        before, _, number = line.rpartition(" ")
        if before == name and number.isdecimal():
            return int(number)
    return otherwise


def _lines(file: str) -> list[str]:
    try:
        with open(file, "rb", buffering=0) as raw:  # in two thirds of the time of text
            return raw.readall().decode(errors="replace").splitlines()
    except OSError:  # not on this system, or not to be read by this process
        return []
