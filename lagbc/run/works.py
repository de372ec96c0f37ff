"""The work of each kind of piece."""

from __future__ import annotations

from lagbc.methods.contract import MethodModule
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Chains, Piece, Small
from lagbc.room import Room
from lagbc.run.chains import Junctions
from lagbc.run.loop import Carrier, sum_over, threaded
from lagbc.run.small import Slices
from lagbc.run.sweeps import Sweeps
from lagbc.run.within import Within
from lagbc.run.work import PieceWork


def work_of(piece: Piece, sweep: Sweep, room: Room | None, module: MethodModule | None = None) -> PieceWork:
    """Return the work of a piece; `module` may stand in for the module of its method."""
    if isinstance(piece, Small):
        return Slices(piece, sweep)
    if isinstance(piece, Chains):
        return Junctions(piece, sweep, room, module)
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
