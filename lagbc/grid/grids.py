"""The grids of all ranks, as one rank has them: they sweep batches, round by round.

All ranks go through the same rounds. The first rank says what is swept, and has the sums; in a round it is a rank as
any other. An error of some rank ends a round on all, and the first one raises it; it may have another round swept.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError, StoppedError
from lagbc.grid.communicator import Grid, Line, ending_all, now, of_all, of_first, side_by_side
from lagbc.grid.deal import Dealt, Ints
from lagbc.grid.pieces import SpreadSweeps, depth_search
from lagbc.grid.sites import EdgesOfRank, Site
from lagbc.grid.sweep import Cell, Ended
from lagbc.limits import Room
from lagbc.methods.block import NOTHING, Asked, BlockPlan
from lagbc.methods.contract import StopFlag
from lagbc.run.run import sum_piece
from lagbc.run.tasks import portable
from lagbc.run.work import Found, retrying

Floats = NDArray[np.float64]
# The numbers of roots, and how often each counts.
Batch = tuple[Ints, Floats]


class Grids:
    """All grids that the ranks make up, each with so many batches `in_flight` at most, in some bytes a rank."""

    def __init__(self, line: Line, graph: Dealt, site: Site, in_flight: int, room: int, stop: StopFlag) -> None:
        self.site, self.in_flight, self.room = site, in_flight, room
        self._line, self._deal, self._stop = line, graph.deal, stop
        self.grid = Grid.of(line, *graph.deal.shape, site.line)
        self._edges = EdgesOfRank(graph.blocks, graph.deal.length, site)
        self._contexts = [site.context() for _ in range(in_flight)]  # on a GPU each has a stream
        self._cells = list[Cell]()

    @property
    def _count(self) -> int:
        return self._line.size // self.grid.whole.size

    def carry(self, work: SpreadSweeps, first: int, last: int) -> Generator[Found]:
        """Have all grids sweep a work; on the first rank."""
        return retrying(self._rounds, work, first, last)

    def _rounds(self, work: SpreadSweeps, first: int, last: int) -> Generator[Found]:
        spans, size = work.batches(first, last), self.grid.whole.size
        try:
            self._have_all("_open", work.asked(), work.hands)
            while some := list(islice(spans, work.hands * self._count)):
                found = self._have_all("_sweep", [work.told(span) for span in some])
                for number, span in enumerate(some):
                    turn, grid = divmod(number, self._count)
                    yield span, work.rows(span, found[turn][grid * size : (grid + 1) * size])
        finally:
            self._have_all("_shut")

    def depth_of(self, graph: Dealt) -> int:
        """Search a graph from its hub; on the first rank."""
        return int(sum_piece(*depth_search(graph), Room(self.room), carry=self.carry).depth[graph.hub])

    def follow(self) -> None:
        """Go through the steps of the first rank, until it ends; on the others."""
        with ending_all(self._line):
            while (told := of_first(self._line)) is not None:
                step, *given = told
                getattr(self, step)(*given)

    def end(self) -> None:
        """Have the others follow no more; on the first rank."""
        of_first(self._line)

    def close(self) -> None:
        """Give back all that the grids take; all ranks do."""
        self._shut()
        self.grid.close()

    def _have_all(self, step: str, *given: Any) -> Any:
        """Have all ranks go through a step; return what this one has found, or raise the error of any."""
        with ending_all(self._line):
            of_first(self._line, (step, *given))
            found, error = getattr(self, step)(*given)
        if error is not None:
            raise error
        return found

    def _open(self, asked: Asked, in_flight: int) -> tuple[None, BaseException | None]:
        """Make the rows of this rank for so many batches; one run at a time has some."""
        assert not self._cells
        error, deal, first = None, self._deal, self.grid.piece * self._deal.length
        if asked.omega is not None:
            asked = asked._replace(omega=asked.omega[first : first + deal.length])
        try:
            with self._contexts[0]():
                plan = BlockPlan(self._edges.swept(asked.way), deal.size, self.grid.row, asked, self._stop)
            for at in self._contexts[:in_flight]:
                with at():
                    self._cells.append(Cell(self.grid, self.site.block(plan), deal.length, asked, at))
        except MemoryError:
            error = OutOfMemoryError("a rank of the grid has too little memory for its part; take a larger grid")
        except BaseException as raised:
            error = raised
        return None, self._error_of_any(error)

    def _sweep(self, batches: list[Batch]) -> tuple[list[list[Floats]], BaseException | None]:
        """Sweep some batches by each grid; the first rank has the sums of all ranks, for each in flight."""
        own, found = batches[self.grid.number :: self._count], list[Floats]()
        cells = self._cells[: len(own)]
        with suppress(Ended):
            found = side_by_side([cell.sweep(*batch) for cell, batch in zip(cells, own, strict=True)])
        error = self._error_of_any(next((cell.error for cell in cells if cell.error is not None), None))
        if error is not None:
            return [], error
        of_all = list[list[Floats]]()
        for turn in range(-(-len(batches) // self._count)):
            sums = found[turn].view(np.uint8) if turn < len(own) else NOTHING
            received = now(self._line.exchange([sums] + [NOTHING] * (self._line.size - 1)))
            of_all.append([one.view(np.float64) for one in received])
        return of_all, None

    def _shut(self) -> tuple[None, None]:
        """Drop the rows once nothing reads them, nor the edges, whose memory goes back to some stream."""
        for at, _ in zip(self._contexts, self._cells, strict=False):
            with at():
                self.site.wait()
        self._cells.clear()
        return None, None

    def _error_of_any(self, error: BaseException | None) -> BaseException | None:
        """Return the error of some rank to all: Ctrl-C before ``stop=``, and that before others."""
        if not self._line.combine(np.array([error is not None], np.int64), "or")[0]:
            return None
        errors = [one for one in of_all(self._line, None if error is None else portable(error)) if one is not None]
        error = min(errors, key=_urgency)
        return error


def _urgency(error: BaseException) -> tuple[bool, bool]:
    return isinstance(error, Exception), not isinstance(error, StoppedError)
