"""Lanes: a grid of ranks that sweeps one batch at a time, led by the first rank of all, which may be none of its own.

A rank is in as many lanes as batches are in flight in its grid; more ranks than a grid has make up more grids, which
share the roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.grid.communicator import Grid, Line, Turns, of_first
from lagbc.grid.deal import DealtGraph, Ints
from lagbc.grid.sites import EdgesOfRank, Site
from lagbc.grid.sweep import Cell, Ended, agreed
from lagbc.methods.block import NOTHING, Asked, BlockPlan
from lagbc.methods.contract import StopFlag

# Tells ranks that a lane is shut.
_SHUT = "shut"


class Lane:
    """A lane, as one of its ranks has it: the rank that leads is first of `line`, and may not be in the `grid`."""

    def __init__(
        self,
        line: Line,
        grid: Grid | None,
        graph: DealtGraph,
        site: Site,
        edges: EdgesOfRank,
        lines: Sequence[Line],
    ) -> None:
        self.line, self.grid, self.graph, self.site, self._edges, self._lines = line, grid, graph, site, edges, lines
        self._at = site.context()
        self._stop = StopFlag()
        self._counts = self._is_open = False
        self._cell: Cell | None = None

    def end_for(self, why: int) -> None:
        """Have a sweep end on all ranks, for a reason of this one."""
        self._stop.value[0] |= why

    def open(self, asked: Asked, stop: StopFlag) -> None:
        """Have all ranks make room, on the rank that leads; MemoryError if some rank has too little."""
        self._stop, self._is_open = stop, True
        of_first(self.line, asked)
        self._open(asked)

    def sweep(self, numbers: Ints, times: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Have all ranks sweep as by `Cell.sweep`, on the rank that leads, or end; return the sums of each."""
        of_first(self.line, (numbers, times))
        found = self._sweep(numbers, times)
        return [one.view(np.float64) for one in (found if self.grid is not None else found[1:])]

    def shut(self) -> None:
        """Have all ranks give back the room that they made; on the rank that leads."""
        if self._is_open:
            of_first(self.line, _SHUT)
            self._is_open = False
            self._drop()

    def end(self) -> None:
        """Have the others follow no more; on the rank that leads."""
        of_first(self.line)

    def close(self) -> None:
        """Give back all that the lane takes; all ranks do, in the same order."""
        for line in self._lines:
            line.close()  # which ends messages that other ranks have left
        self._drop()

    def follow(self) -> None:
        """Obey the rank that leads, until it ends; on the others."""
        while (told := of_first(self.line)) is not None:
            try:
                if isinstance(told, Asked):
                    self._open(told)
                elif told == _SHUT:
                    self._drop()
                else:
                    self._sweep(*told)
            except (Ended, MemoryError):
                continue  # which the one that leads raises, too

    def _open(self, asked: Asked) -> None:
        self._drop()
        self._counts, missing = asked.counts, 0
        if self.grid is not None:
            try:
                self._cell = self._cell_of(self.grid, asked)
            except MemoryError:
                missing = 1
            except BaseException as error:
                self.line.abort(error)  # the others wait for this one
                raise
        if self.line.combine(np.array([missing]), "sum")[0]:
            self._drop()
            raise OutOfMemoryError("a rank of the grid has too little memory for its part; take a larger grid")

    def _drop(self) -> None:
        """Drop the rows once nothing reads them, nor the edges, whose memory goes back to the stream of some lane."""
        if self._cell is not None:
            with self._at():
                self.site.wait()
            self._cell = None

    def _cell_of(self, grid: Grid, asked: Asked) -> Cell:
        """Make the rows of this rank."""
        deal = self.graph.deal
        if asked.omega is not None:
            first = (grid.row * grid.columns + grid.column) * deal.length
            asked = asked._replace(omega=asked.omega[first : first + deal.length])
        with self._at():
            plan = BlockPlan(self._edges.swept(asked.way), deal.size, grid.row, asked, self._stop)
            rows = self.site.block(plan)
        return Cell(grid, rows, deal.length, asked, self._stop, self._at)

    def _sweep(self, numbers: Ints, times: NDArray[np.float64]) -> list[NDArray[np.uint8]]:
        try:
            if self.grid is None or self._cell is None:
                self._watch()
                return self.line.exchange([NOTHING] * self.line.size)
            sums = self._cell.sweep(numbers, times)
            return self.grid.gather(sums.view(np.uint8))
        except Ended:
            raise
        except BaseException as error:
            self.line.abort(error)  # the others wait for this one
            raise

    def _watch(self) -> None:
        """Agree with a grid, level by level."""
        depth, nothing = 0, np.zeros(self.site.columns // 64, np.uint64)
        while (state := agreed(self.line, 0, nothing, self._stop.value[0])).live and not state.overflowed.any():
            depth += 1
        if not state.overflowed.any() and self._counts:
            for _ in range(depth):
                agreed(self.line, 0, nothing, self._stop.value[0])


def lanes_of(line: Line, graph: DealtGraph, site: Site, in_flight: int) -> list[Lane]:
    """Make the lanes of a rank: of as many grids as there are ranks for, with so many batches in flight in each."""
    shape, lanes = graph.deal.shape, list[Lane]()
    edges = EdgesOfRank(graph.blocks, graph.deal.length, site)
    for grid in range(line.size // shape.size):
        row, column = divmod(line.rank - grid * shape.size, shape.columns)
        is_in = line.rank // shape.size == grid
        order = line.split(0 if is_in else None) if in_flight > 1 and site.by_nccl else None
        turns = None if order is None else Turns(order)
        for number in range(in_flight):
            turn = nullcontext if turns is None else partial(turns.of, number)
            whole = line.split(0 if is_in or line.rank == 0 else None)
            along_column = site.line(line.split(column if is_in else None), turn)
            along_row = site.line(line.split(row if is_in else None), turn)
            if whole is None:
                continue
            of_grid = None
            if is_in:
                of_grid = Grid(shape.rows, shape.columns, row, column, whole, along_column, along_row)
            lines = whole, along_column, along_row, order if number == 0 else None
            lanes.append(Lane(whole, of_grid, graph, site, edges, [one for one in lines if one is not None]))
    return lanes
