"""One rank of `benchmarks.grid`, or the one process beside it; nothing is imported that a program would do without."""

from __future__ import annotations

import json
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from importlib import import_module
from operator import add
from typing import Any

import lagbc

TOLD = "measured: "


def measure_here(graph: str, roots: str, shape: str, in_flight: str, device: Any) -> None:
    """Time a call on the ranks that this process is one of, or by this process alone; rank 0 prints what it took.

    `graph` is a file, or rmat-SCALE-EDGES-COUNT, whose parts ranks make by themselves. `in_flight` is 1, 2, or split:
    one batch, with messages and products timed apart, which wait for each other.
    """
    given: dict[str, Any] = {"k": int(roots), "rng": 1, "directed": False, "reduce": "none"}
    if shape == "1x1":
        _tell(_alone(graph, given, device))
        return
    from mpi4py import MPI

    comm, made, seconds = MPI.COMM_WORLD, list[Any](), defaultdict[str, float](float)
    run: Any = import_module("lagbc.grid.run")
    grids: Any = import_module("lagbc.grid.grids").Grids

    def noted(line: Any, graph: Any, *arguments: Any) -> Any:
        of_rank: Any = grids(line, graph, *arguments)
        made.extend((graph, sent_by(of_rank.grid)))
        for one in {of_rank.grid.along_column, of_rank.grid.along_row} if in_flight == "split" else ():
            one.exchange = _steps_timed(one.exchange, seconds, _synchronized(device))
        return of_rank

    run.Grids = noted
    grids._sweep = _timed(grids._sweep, seconds)
    part = _part(graph, comm.Get_rank(), comm.Get_size())
    comm.Barrier()
    begun = time.perf_counter()
    lagbc.bc(part, comm=comm, grid=shape, overlap=in_flight == "2", device=device, **given)
    seconds["call"] = time.perf_counter() - begun
    graph_of_rank, sent = made
    own = comm.gather((sum(sent), _peak(), graph_of_rank.blocks.into.nnz))
    if own is not None:
        of_all, memory, entries = zip(*own, strict=True)
        told = {
            "seconds": seconds["call"],
            "sweeps": seconds["sweeps"],
            "messages": seconds["messages"],
            "sent": sum(of_all),
        }
        _tell(told | {"memory": max(memory), "entries": max(entries), "edges": graph_of_rank.nnz / 2})


def _alone(graph: str, given: dict[str, Any], device: str) -> dict[str, float]:
    """Time a call of this process; on GPUs by all of them, of a graph that they have."""
    if graph.startswith("rmat"):
        *_, count = graph.split("-")
        with ProcessPoolExecutor(int(count)) as pool:
            parts = pool.map(_part, *zip(*((graph, number, int(count)) for number in range(int(count))), strict=True))
            A: Any = reduce(add, parts)
    else:
        A = lagbc.read_graph(graph)
    call: Callable[[], object]
    if device == "cpu":
        call = partial(lagbc.bc, A, threads=1, method="batched", device="cpu", **given)
    else:
        A = lagbc.as_graph(A, directed=False)
        given = {**given, "directed": None}
        call = partial(lagbc.bc, A, method="batched", device="all", **given)
        call()
    begun = time.perf_counter()
    call()
    seconds = time.perf_counter() - begun
    entries = A.nnz if device != "cpu" else A.matrix.nnz
    return {"seconds": seconds, "sweeps": seconds, "memory": _peak(), "entries": entries, "edges": entries / 2}


def _part(graph: str, number: int, count: int) -> Any:
    if not graph.startswith("rmat"):
        return lagbc.read_graph(graph, part=(number, count))
    from benchmarks.generators import rmat

    _, scale, edges, _ = graph.split("-")
    return rmat(int(scale), int(edges), part=(number, count))


def _timed(function: Callable[..., Any], seconds: defaultdict[str, float]) -> Callable[..., Any]:
    """Return a function whose time is added up, as that of sweeps."""

    def timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        result = function(*arguments)
        seconds["sweeps"] += time.perf_counter() - begun
        return result

    return timed


def sent_by(grid: Any) -> list[int]:
    """Return a list that gets the bytes of messages which a rank of a grid will send to others in sweeps."""
    sent = list[int]()

    def counted(line: Any, exchange: Callable[..., Any], messages: Any) -> Any:
        sent.append(sum(map(len, messages)) - len(messages[line.rank]))
        return exchange(messages)

    for one in {grid.along_column, grid.along_row}:
        one.exchange = partial(counted, one, one.exchange)
    return sent


def _steps_timed(
    function: Callable[..., Any], seconds: defaultdict[str, float], wait: Callable[[], object]
) -> Callable[..., Any]:
    """Return steps whose time is added up, as that of messages; what was begun before them is waited for."""

    def timed(*arguments: Any) -> Any:
        wait()
        begun = time.perf_counter()
        result = yield from function(*arguments)
        wait()
        seconds["messages"] += time.perf_counter() - begun
        return result

    return timed


def _synchronized(device: str) -> Callable[[], object]:
    """Return a function that waits for the stream of the calling thread."""
    if device == "cpu":
        return lambda: None
    import cupy

    return lambda: cupy.cuda.get_current_stream().synchronize()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _tell(measured: dict[str, float]) -> None:
    print(TOLD + json.dumps(measured), flush=True)
