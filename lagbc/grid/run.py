"""A call of the ranks of an MPI program, over which its graph is dealt.

All ranks deal their edges, and sweep in rounds. Rank 0 also asks for the rounds, adds up their sums, and makes scores.
All ranks return its result, or raise the error of any rank.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from math import isqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lagbc import tuning
from lagbc.calls import stopping_by
from lagbc.errors import Error, GraphFormatError, InvalidValueError, OutOfMemoryError, OutOfRangeError
from lagbc.graph.adapters import is_directed
from lagbc.graph.graph import Graph
from lagbc.graph.validate import take_graph
from lagbc.grid import deal
from lagbc.grid.communicator import Line, by_first, ending_all, line_of, of_all
from lagbc.grid.deal import Dealt, Shape
from lagbc.grid.grids import Grids
from lagbc.grid.sites import Site
from lagbc.limits import budget, in_units, stated_budget
from lagbc.methods import table
from lagbc.methods.contract import StopFlag, bytes_of
from lagbc.methods.sums import SQUARES
from lagbc.options import OfGrid, config
from lagbc.run.tasks import portable
from lagbc.types import All, GraphLike

Result = TypeVar("Result")


class Part(NamedTuple):
    """The part of a graph that a rank passes."""

    graph: Graph | None  # None has no edge
    directed: bool
    counted: tuple[int, int] = (0, 0)  # entries that this rank has read of a file, and entries of the whole file


class Call(NamedTuple):
    """A call of all ranks."""

    key: Any  # the same on all ranks, or they make different calls
    sums: Callable[[], frozenset[str]]  # returns the names of the sums
    folds: bool = False  # whether trees are folded, for bc alone


def on_grid(
    options: OfGrid,
    call: Call,
    take_part: Callable[[], Part],
    compute: Callable[[Any], Result],
    line: Line | None = None,
) -> Result:
    """Deal the parts of all ranks, and make a call: rank 0 calls `compute` with the dealt graph.

    Raises ValueError if the calls of ranks differ, or their count is no multiple of the grid's; MemoryError if no grid
    is large enough. An error of any rank is raised on all ranks. `line` stands in for that of the communicator.
    """
    with ExitStack() as stack:
        line = stack.enter_context(closing(line or line_of(options.comm)))
        graph = _dealt(line, options, call, take_part, stack)
        grids = graph.grids

        def lead() -> Result:
            try:
                with config(memory=grids.room):
                    return compute(graph)
            finally:
                grids.end()

        if line.rank:
            grids.follow()
        return by_first(line, lead)


def take_part(
    A: GraphLike | None, directed: bool | None, weighted: bool | str | None = None, strength: bool | str = False
) -> Part:
    """Check and return the part that this rank passes; arguments as for `lagbc.bc`."""
    if weighted or strength:
        raise InvalidValueError("a graph that is dealt over a grid is swept in hops; leave out lengths, or grid=")
    if A is None:
        return Part(None, True if directed is None else directed)
    is_graph = isinstance(A, Graph)
    graph = take_graph(A, directed=directed if is_graph else True, weighted=False)
    if directed is None:
        directed = graph.directed if is_graph else is_directed(A)
    return Part(graph, directed, getattr(A, "counted", (0, 0)))


def _dealt(line: Line, options: OfGrid, call: Call, take_part: Callable[[], Part], stack: ExitStack) -> Dealt:
    """Deal the parts of all ranks over grids that fit. Errors of lagbc are the same on all ranks; others end them."""
    told = _Told((call.key, options.grid, options.overlap, options.device, call.folds))
    part: Graph | None = None
    degrees: Any = None  # of each vertex in the part, both ways together
    sums, stop = frozenset[str](), StopFlag()
    try:
        stack.enter_context(stopping_by(options.stop))
        if options.memory is None:
            stated_budget()  # raises if LAGBC_MEMORY of this rank's host is no size
        part, directed, counted = take_part()
        told, sums = told._replace(directed=directed, counted=counted), call.sums()
        if part is not None:
            host, told = part.on_host, told._replace(n=part.n, entries=part.nnz)
            degrees = host.out_degrees + np.bincount(host.indices, minlength=host.n)
    except BaseException as error:
        told = told._replace(error=portable(error))
    stack.enter_context(_delayed_signals(stop))
    agreed = _agree(line, told)
    n, directed = agreed.n or 0, agreed.directed
    with ending_all(line, but=Error):
        degrees = line.combine(np.zeros(n, np.int64) if degrees is None else degrees, "sum")
        few_edges = bool(degrees.max(initial=0) <= tuning.GRID_FEW_EDGES)
        site = _site(line, *options.device)._replace(few_edges=few_edges)
        entries = agreed.entries * (1 if directed else 2)
        shape, room, site = _fitted(line, options, n, entries, sums, site, directed=directed)
        finds_hub = bool(sums & SQUARES)  # as estimates do
        graph = deal.deal_graph(line, part, n, shape, directed, folds=call.folds, finds_hub=finds_hub)
        graph.grids = Grids(line, graph, site, 1 + options.overlap, room, stop)
        stack.callback(graph.grids.close)
    return graph


@contextmanager
def _delayed_signals(stop: StopFlag) -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until ranks agree, so that no rank leaves others in a message; set `stop` meanwhile.

    A second signal is not delayed. Python tells the main thread alone of signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    noted, handlers = list[Any](), {int(one): handler for one, handler in found.items() if callable(handler)}

    def note(number: int, frame: Any) -> None:
        if handlers[number] is signal.default_int_handler:  # another handler may let the call go on
            stop.set()
        noted.append((number, frame))
        if len(noted) > 1:
            handle()

    def handle() -> None:
        stop.value[0] = 0
        while noted:
            number, frame = noted.pop(0)
            handlers[number](number, frame)

    for number in handlers:
        signal.signal(number, note)
    try:
        with stopping_by(handle):
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    handle()


class _Told(NamedTuple):
    """A rank's call and part, as all ranks are told."""

    call: Any  # equal on all ranks
    n: int | None = None  # vertices; None without a part
    entries: int = 0
    directed: bool = True
    counted: tuple[int, int] = (0, 0)  # as in `Part`
    error: BaseException | None = None  # in place of the part


def _agree(line: Line, own: _Told) -> _Told:
    """Compare the calls and parts of all ranks, and return the same for the whole graph; raise the error of any."""
    told = of_all(line, own)
    for rank, other in enumerate(told):
        if other.call != own.call:
            raise InvalidValueError(
                f"all ranks of comm make the same call; rank {rank} makes {other.call}, not {own.call}"
            )
        if other.error is not None:
            raise other.error
    read, stated = sum(one.counted[0] for one in told), max(one.counted[1] for one in told)
    if read != stated:
        raise GraphFormatError(f"all ranks together have read {read} entries of a file that says that it has {stated}")
    parts: list[_Told] = [one for one in told if one.n is not None]
    if not parts:
        raise InvalidValueError("no rank passes a matrix; pass all of it on rank 0, or a part of it on each")
    n = parts[0].n or 0
    if any(one.n != n for one in parts):
        said = ", ".join(f"{one.n} on rank {rank}" for rank, one in enumerate(told) if one.n is not None)
        raise InvalidValueError(f"each rank passes a part of one matrix, or None; they are of different sizes: {said}")
    if n > deal.MOST_VERTICES:
        raise OutOfRangeError(
            f"{n} vertices: a grid takes at most {deal.MOST_VERTICES}, as a pair is one number of 64 bits"
        )
    if len({one.directed for one in parts}) > 1:
        raise InvalidValueError("some ranks pass edges that are one way, others edges of both ways; pass directed=")
    return parts[0]._replace(entries=sum(one.entries for one in parts))


def _site(line: Line, device: str, numbers: tuple[int, ...] | All | None) -> Site:
    """Choose the site of this rank: a GPU if all ranks see one, with "auto" only if each has a GPU of its own."""
    host, count = socket.gethostname(), 0 if device == "cpu" else table.count_gpus()
    of_ranks = of_all(line, (host, count))
    hosts = [other for other, _ in of_ranks]
    mates = max(map(hosts.count, hosts))
    on_cpu = Site(sharers=mates, mates=mates)
    if not all(of_rank for _, of_rank in of_ranks):
        if device == "cuda":
            without = next(rank for rank, (_, of_rank) in enumerate(of_ranks) if not of_rank)
            raise InvalidValueError(f"device='cuda': rank {without} sees no GPU ({table.why_no_gpu()})")
        return on_cpu
    from cupy.cuda import runtime

    gpu = _gpus_of(of_ranks, numbers)[line.rank]
    names = of_all(line, (bytes(runtime.getDeviceProperties(gpu)["uuid"]), (host, os.getpid()), _has_nccl()))
    gpus_of_ranks, processes, have_nccl = zip(*names, strict=True)
    are_apart = len(set(gpus_of_ranks)) == line.size
    if device == "auto" and not are_apart:
        return on_cpu
    sharers = max(gpus_of_ranks.count(one) for one in gpus_of_ranks)
    return Site(gpu, are_apart and len(set(processes)) == line.size and all(have_nccl), sharers, mates)


def _gpus_of(of_ranks: list[tuple[str, int]], numbers: tuple[int, ...] | All | None) -> list[int]:
    """Return a GPU for each rank, the GPUs of a host in turn; ValueError if a rank does not see the number."""
    found, before = list[int](), Counter[str]()
    for rank, (host, count) in enumerate(of_ranks):
        gpus = range(count) if numbers is None or numbers == "all" else numbers
        found.append(gpus[before[host] % len(gpus)])
        before[host] += 1
        if found[-1] >= count:
            raise InvalidValueError(f"device={found[-1]}: rank {rank} sees {count} GPUs, from 0 on")
    return found


def _has_nccl() -> bool:
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return bool(nccl.available)


def _fitted(
    line: Line, options: OfGrid, n: int, entries: int, sums: frozenset[str], site: Site, *, directed: bool
) -> tuple[Shape, int, Site]:
    """Return a grid, the bytes that a rank may take, and this rank's site with as many groups as fit into these.

    It is the smallest grid, or the one asked for, with room for the sums; MemoryError if there is none.
    """
    of_sequence = 0
    if sums & SQUARES:
        from lagbc.planning.population import arrays_of_sequence  # loads SciPy: 26 MB a rank, for estimates alone

        of_sequence = bytes_of(arrays_of_sequence(n))
    room, on_host = line.combine(np.array(_rooms_of(site, options.memory)), "least").tolist()
    in_flight = 1 + options.overlap
    for shape in _shapes(line.size, options.grid):
        size, of_rank = deal.size_of_block(shape, n), entries // shape.size
        batches = in_flight * line.size // shape.size
        dealt = deal.bytes_of_dealing(n, of_rank) + 8 * n * len(sums) * (5 + 2 * batches) + of_sequence
        held = dealt if site.gpu is None else deal.bytes_of_blocks(size, of_rank, directed=directed)
        least = in_flight * bytes_of(site.arrays(size, sums))
        fits_on_host = site.gpu is None or dealt <= on_host
        if fits_on_host and held + least <= room:
            return shape, room, site.widest(size, sums, (room - held) // in_flight)
    needed, of_host = (held + least, "") if fits_on_host else (dealt, " of its host")
    raise OutOfMemoryError(
        f"a rank of a {shape} grid needs {in_units(needed)}{of_host} for its part, but may take "
        f"{in_units(room if fits_on_host else on_host)}; start more ranks, or raise it by memory="
    )


def _rooms_of(site: Site, memory: int | None) -> tuple[int, int]:
    """Return the budgets of this rank, of its device and of its host; ranks that share one divide it."""
    if memory is not None:
        return memory, memory
    with site.context()():
        here, host = budget(site.device), budget("cpu")
    return (here // site.sharers, host // site.mates) if stated_budget() is None else (here, host)  # of each process


def _shapes(ranks: int, grid: Any) -> list[Shape]:
    """Return the grid asked for; for "auto" all that so many ranks make up, the smallest first, as square as can be."""
    if grid != "auto":
        shape = Shape(*grid)
        if ranks % shape.size:
            raise InvalidValueError(
                f"grid={shape} takes {shape.size} ranks or a multiple; there are {ranks}: start another number of "
                "them, or pass another grid"
            )
        return [shape]
    sizes = [size for size in range(1, ranks + 1) if ranks % size == 0]
    columns = [max(c for c in range(1, isqrt(size) + 1) if size % c == 0) for size in sizes]
    return [Shape(size // c, c) for size, c in zip(sizes, columns, strict=True)]
