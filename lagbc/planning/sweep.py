"""A sweep: how one piece is summed. It is data: numbers and strings, which print, compare and pickle."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

from lagbc.errors import InvalidValueError, quantity
from lagbc.limits import in_units
from lagbc.methods import table
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.table import Method
from lagbc.reduce.junctions import ADDED
from lagbc.reduce.pieces import Chains, Whole


class Memory(NamedTuple):
    """Bounds of the bytes of a sweep, or of a call."""

    graph: int = 0  # with orders and copies, and the bytes to make them beyond the other two
    workspace: int = 0  # of all workers
    scores: int = 0  # the sums

    @property
    def total(self) -> int:
        """All bytes."""
        return self.graph + self.workspace + self.scores


class Sweep(NamedTuple):
    """How one piece is summed."""

    # "whole" (the graph as it is), "roots" (a piece of it), "within" (cutoffs and decays), "chains" (from junctions),
    # "small" (blocks) or "rounds"
    work: str
    method: str  # method, device, weighted: the row of `lagbc.METHODS`
    device: str
    weighted: bool
    roots: int  # that are searched from, or slices of small blocks
    batch: int  # roots that a worker is given at a time
    threads: int
    reason: str  # of the method
    most: int  # the batch without a bound on memory
    seconds: float | None = None  # predicted for bc, on a CPU by one thread; None without a prediction
    memory: Memory = Memory()
    too_large: str = ""  # the need of the GPU in whose place the CPU is taken
    dtype: str = "float64"
    bucket_width: float | None = None
    variant: str | None = None
    virtual_warp: int | None = None
    in_place: bool = False  # path counts are kept in the rows of dependencies
    linear: bool = False  # targets count linearly
    beside: int = 0  # bytes of arrays, where the sums are, of those who take them

    @property
    def label(self) -> str:
        """The name of the sweep in a file of sums."""
        ways = "".join(f":{way}" for way in (self.variant, self.virtual_warp) if way is not None)
        return f"{self.work} {self.method}{ways} {self.device}"

    def __str__(self) -> str:
        if self.work == "small":
            return f"{self.reason}; {quantity(self.roots, 'slice')}, threads {self.threads}"
        predicted = "" if self.seconds is None else f"; bc in about {self.seconds:.2g} s by one thread"
        return (
            f"{self.reason}; {quantity(self.roots, 'root')}, batch {self.batch}, threads {self.threads}, "
            f"{in_units(self.memory.total)}{predicted}"
        )


@singledispatch
def row_of(piece: Whole | Chains, sweep: Sweep) -> Method:
    """Return the row of the method of a sweep."""
    for row in table.METHODS:
        if row.name == sweep.method and row.device == sweep.device and row.weighted == sweep.weighted:
            return row
    raise InvalidValueError(f"there is no method {sweep.method!r} on {sweep.device} any more")


def request_to(
    piece: Whole | Chains, sweep: Sweep, *, budget: int | None = None, growth: int | None = None
) -> SweepPlan:
    """Return the request of a sweep to its method, by the contract of methods."""
    if isinstance(piece, Chains):
        return SweepPlan(
            batch=sweep.batch,
            threads=sweep.threads,
            sums=ADDED,
            roots=sweep.roots,
            method=sweep.method,
            budget=budget,
            growth=growth,
        )
    request = piece.request
    return SweepPlan(
        batch=sweep.batch,
        threads=sweep.threads,
        dtype=sweep.dtype,
        endpoints=request.endpoints,
        omega=request.omega,
        root_weights=request.root_weights,
        class_sizes=request.class_sizes,
        demand=request.demand,
        bounds=request.bounds,
        # Halved during the sweep: twice a score may leave the range of the score.
        exponent=-1 if request.weighs_pairs and not piece.graph.directed else 0,
        rtol=request.rtol,
        bucket_width=sweep.bucket_width,
        sums=request.sums,
        roots=sweep.roots,
        variant=sweep.variant,
        method=sweep.method,
        virtual_warp=sweep.virtual_warp,
        linear=sweep.linear,
        in_place=sweep.in_place,
        budget=budget,
        growth=growth,
        stop=StopFlag(),
    )
