"""The work of each kind of piece."""

from __future__ import annotations

from functools import singledispatch

from lagbc.methods.contract import MethodModule
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Chains, Piece, Small, Whole
from lagbc.room import Room
from lagbc.run.chains import Junctions
from lagbc.run.loop import Carrier, sum_over, threaded
from lagbc.run.small import Slices
from lagbc.run.sweeps import Sweeps
from lagbc.run.within import Within
from lagbc.run.work import PieceWork


@singledispatch
def work_of(piece: Piece, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> PieceWork:
    """Return the work of a piece; `module` may stand in for the module of its method."""
    raise NotImplementedError


@work_of.register(Small)
def _(piece: Small, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> Slices:
    return Slices(piece, sweep)


@work_of.register(Chains)
def _(piece: Chains, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> Junctions:
    return Junctions(piece, sweep, room, module)


@work_of.register(Whole)
def _(piece: Whole, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> Sweeps | Within:
    if piece.drawn is not None:
        from lagbc.run.rounds import Rounds

        return Rounds(piece, sweep, room)
    if sweep.work == "within":
        return Within(piece, sweep, room, module)
    return Sweeps(piece, sweep, room, module)


def sum_piece(
    piece: Piece, sweep: Sweep, room: Room | None, module: MethodModule | None = None, carry: Carrier = threaded
) -> Sums:
    """Return the sums of one piece, on the host."""
    work = work_of(piece, sweep, room, module)
    return work.finish(sum_over(work, carry))
