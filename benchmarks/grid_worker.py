"""One rank of `benchmarks.grid`, or the one process beside it; nothing is imported that a program would do without."""

from __future__ import annotations

import json
import resource
import time
from importlib import import_module
from typing import Any

import lagbc

TOLD = "measured: "


def measure_here(path: str, roots: str, shape: str, in_flight: str) -> None:
    """Time a call on the ranks that this process is one of, or by this process alone; rank 0 prints what it took."""
    given: dict[str, Any] = {"k": int(roots), "rng": 1, "directed": False, "reduce": "none"}
    if shape == "1x1":
        A = lagbc.read_graph(path)
        begun = time.perf_counter()
        lagbc.bc(A, threads=1, method="batched", device="cpu", **given)
        _tell({"seconds": time.perf_counter() - begun, "memory": _peak(), "entries": A.matrix.nnz})
        return
    from mpi4py import MPI

    comm, lanes = MPI.COMM_WORLD, list[Any]()
    grid: Any = import_module("lagbc.run.grid")
    make = grid.lanes_of

    def noted(*arguments: Any) -> list[Any]:
        lanes.extend(make(*arguments))
        return lanes

    grid.lanes_of = noted
    part = lagbc.read_graph(path, part=(comm.Get_rank(), comm.Get_size()))
    comm.Barrier()
    begun = time.perf_counter()
    lagbc.bc(part, comm=comm, grid=shape, overlap=in_flight == "2", **given)
    seconds = time.perf_counter() - begun
    sent = sum(lane.grid.sent for lane in lanes if lane.grid is not None)
    own = comm.gather((sent, _peak(), lanes[0].graph.blocks.into.nnz))
    if own is not None:
        of_all, memory, entries = zip(*own, strict=True)
        _tell({"seconds": seconds, "sent": sum(of_all), "memory": max(memory), "entries": max(entries)})


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _tell(measured: dict[str, float]) -> None:
    print(TOLD + json.dumps(measured), flush=True)
