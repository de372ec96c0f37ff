"""Workers: prepared states that sum chunks of roots.

Sums have two levels. A block of roots is what a method sums at once, a row of its sums; the blocks of a chunk are added
in order, from zero; and whoever asks for chunks adds them in order. A chunk is the same set of roots whatever computes
it. So its sum has the same bits whatever the batch, the threads and the memory, and another loop over the same chunks,
on several devices or in rounds, makes the same total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, MethodModule, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.phases import phase
from lagbc.plan.demand import plan_of_root, weights_of_columns
from lagbc.plan.roots import chunk_length
from lagbc.run.threads import Pool, pool_of
from lagbc.run.weights import into_range

Roots = NDArray[np.int64]


def cut(ordered: Roots, method: Method, batching: Batching, length: int | None = None) -> tuple[list[Roots], int]:
    """Cut roots in order into the chunks of all runs of their kind; also return the length of all but the last.

    Another `length`, in whole blocks, cuts them into what is added up elsewhere.
    """
    length = chunk_length(method, batching) if length is None else length
    return [ordered[first : first + length] for first in range(0, len(ordered), length)], length


@dataclass(frozen=True, eq=False)
class Part:
    """What the first roots of a chunk sum to.

    Attributes
    ----------
    chunk : int
        Its number among those asked for.
    done, added : int
        How many of its roots are summed, and how many of them by the last batch.
    is_whole : bool
        Whether these are all.
    sums : Sums
        As of a run, on the method's device; never changed afterwards.
    """

    chunk: int
    done: int
    added: int
    is_whole: bool
    sums: Sums


@dataclass(frozen=True, eq=False)
class Summed:
    """What a loop has summed of chunks in order: the total of the whole ones, and a part of the next one.

    Attributes
    ----------
    done : int
        Roots.
    total, part : Sums
        As of a run; zeros where there is nothing.
    """

    done: int
    total: Sums
    part: Sums

    @classmethod
    def nothing(cls, arrays: Any, plan: SweepPlan, graph: Graph) -> Summed:
        """No root is done; `arrays` is numpy or cupy. With bounds there are no parts of chunks."""
        total = Sums.zeros(arrays, plan.sums, graph.n, graph.nnz, plan.bounds)
        return cls(0, total, total if plan.bounds is None else Sums.zeros(arrays, plan.sums, 0, 0, plan.bounds))

    def plus(self, part: Part) -> Summed:
        """Take a part that has more roots in place of the one there is; add it to the total when it is whole."""
        done = self.done + part.added
        if part.is_whole:
            # Of a chunk that one batch has summed, no part has taken the place of the zeros.
            nothing = self.part if part.added == part.done else part.sums.zeros_like()
            return Summed(done, self.total.plus(part.sums), nothing)
        return Summed(done, self.total, part.sums)

    def moved(self, asarray: Any) -> Summed:
        """Bring it to another device, by a function of an array."""
        return Summed(self.done, self.total.moved(asarray), self.part.moved(asarray))


@dataclass(frozen=True)
class _Piece:
    """Roots ``first:last`` of a chunk, at ``place`` in a batch."""

    chunk: int
    first: int
    last: int
    place: int

    @property
    def end(self) -> int:
        return self.place + self.last - self.first


class Workers:
    """The states of one plan, each used by one thread at a time; a context manager.

    Parameters
    ----------
    graph : Graph
    method : Method
    plan : SweepPlan
        Its stop flag is replaced: no worker is running when the context has been left, however that is.
    module : MethodModule, optional
        Stands in for the method's own, for instance to watch it.
    in_calling_thread : bool
        Whether batches are swept in the thread that asks for their sums, one after the other. It takes no Ctrl-C while
        a kernel runs: this is for runs of milliseconds, in which starting a thread takes longer than sweeping.

    Raises
    ------
    MemoryError
        The first state does not fit. The others are made as they are needed.
    NotImplementedError
        The plan has members, and the method does not read them.
    """

    def __init__(
        self,
        graph: Graph,
        method: Method,
        plan: SweepPlan,
        module: MethodModule | None = None,
        *,
        in_calling_thread: bool = False,
    ) -> None:
        self._graph, self._method, self._module = graph, method, module or method.load()
        if plan.members is not None and "members" not in self._module.options:
            raise NotImplementedError(f"{method.name} on {method.device} takes no vertices that stand for several")
        self._plan = plan.with_own_flag()
        self._scaled, self._beyond = into_range(self._plan, graph.n)
        self._batching = self._module.batching
        self._most = plan.threads if self._batching.concurrent and not in_calling_thread else 1
        self._context = method.context()
        with phase("prepare"):  # the others are made beside what is swept
            self._idle = [self._prepared()]
        self._in_calling_thread = in_calling_thread
        self._pool: Pool | None = None

    def __enter__(self) -> Workers:
        self._pool = pool_of(self._most, in_calling_thread=self._in_calling_thread)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._pool is not None
        self._plan.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._idle.clear()

    def stop(self) -> None:
        """Ask all of them to stop at their next level; a call in another thread that sums raises `Interrupted`."""
        self._plan.stop.set()

    def sum(self, chunks: Sequence[Roots], done: int = 0, begun: Sums | None = None) -> Iterator[Part]:
        """Sum chunks of roots, in order; at most two batches a worker are ahead of what is taken.

        Parameters
        ----------
        chunks : sequence of ndarray of int64
            Roots, in the order in which they are to be batched. It may be asked for any chunks, any number of times,
            one time after the other.
        done, begun : int and Sums, optional
            How many roots of the first chunk are summed already, in whole batches, and their sums, on the method's
            device.

        Yields
        ------
        Part
            After every batch, for each of the chunks that it is of.
        """
        assert self._pool is not None
        sums = begun

        def run(pieces: list[_Piece]) -> Sums:
            return self._run(np.concatenate([chunks[piece.chunk][piece.first : piece.last] for piece in pieces]))

        for pieces, batch in self._pool.in_order(run, self._cut(chunks, done)):
            for piece in pieces:
                chunk = chunks[piece.chunk]
                rows = batch.of(self._batching.rows(piece.place, piece.end), slice(piece.place, piece.end))
                before = self._zeros() if sums is None else sums
                sums = before.plus_rows(rows, chunk[piece.first : piece.last])
                is_whole = piece.last == len(chunk)
                yield Part(piece.chunk, piece.last, piece.last - piece.first, is_whole, sums)
                sums = None if is_whole else sums
            del batch, rows  # else they would be held while the next batch is waited for

    def _cut(self, chunks: Sequence[Roots], done: int) -> Iterator[list[_Piece]]:
        """Yield batches, as pieces of chunks. A block is of one chunk; where all roots are one block, a batch is."""
        pieces: list[_Piece] = []
        room, block = self._plan.batch, self._batching.block
        for number, chunk in enumerate(chunks):
            first = done if number == 0 else 0
            while first < len(chunk):
                last = min(first + room, len(chunk))
                pieces.append(_Piece(number, first, last, self._plan.batch - room))
                room -= last - first
                if not room or block == 1 or (last - first) % block:
                    yield pieces
                    pieces, room = [], self._plan.batch
                first = last
        if pieces:
            yield pieces

    def _run(self, batch: Roots) -> Sums:
        with self._context:
            try:
                worker = self._idle.pop()
            except IndexError:
                worker = self._prepared()
            sums = worker.run(batch)
        self._idle.append(worker)
        return sums

    def _prepared(self) -> _Worker:
        return _Worker(self._graph, self._method, self._module, self._plan, self._scaled, self._beyond)

    def _zeros(self) -> Sums:
        return Sums.zeros(self._method.arrays, self._plan.sums, self._graph.n, self._graph.nnz)


class _Worker:
    """Sums batches, one after the other, in a state of its own for each dtype that it needs.

    The method has the plan with weights in range; roots beyond it add nothing to its sums over paths.
    """

    def __init__(
        self,
        graph: Graph,
        method: Method,
        module: MethodModule,
        plan: SweepPlan,
        scaled: SweepPlan,
        beyond: NDArray[np.bool_],
    ) -> None:
        self._graph, self._method, self._module = graph, method, module
        self._plan, self._scaled, self._beyond = plan, scaled, beyond
        self._states = {plan.dtype: module.prepare(graph, scaled)}

    @np.errstate(over="ignore")  # what sums to more than float64 holds is infinite
    def run(self, roots: Roots) -> Sums:
        """Sum one batch, a row for each block of roots; roots that float64 does not hold are computed again."""
        sums, overflowed = self._sweep(self._plan.dtype, roots)
        if self._plan.dtype == "float32" and overflowed.any():
            in_float64, overflowed = self._sweep("float64", np.where(overflowed, roots, -1))
            sums.add(in_float64)
        again = overflowed | self._beyond[roots]
        if again.any():
            from lagbc.methods.cpu import extended

            recomputed = self._zeros(np, len(roots))
            for i in np.flatnonzero(again).tolist():
                missing = recomputed if overflowed[i] else recomputed.of_paths()
                row = self._module.batching.rows(i, i + 1).start
                root = int(roots[i])
                extended.add_root(self._graph.on_host, plan_of_root(self._plan, root), root, missing, row, i)
            asarray = self._method.arrays.asarray
            sums.add(recomputed.moved(asarray))
        return sums

    def _zeros(self, arrays: Any, roots: int) -> Sums:
        rows = self._module.batching.rows(0, roots).stop
        return Sums.zeros_of_batch(arrays, self._plan.sums, self._graph.n, self._graph.nnz, rows, roots)

    def _sweep(self, dtype: str, roots: Roots) -> tuple[Sums, NDArray[np.bool_]]:
        """Return the sums of the roots in range, and which are not; a root of -1 is an absent one."""
        if dtype not in self._states:
            self._states[dtype] = self._module.prepare(self._graph, replace(self._scaled, dtype=dtype))
        sums = self._zeros(self._method.arrays, len(roots))
        state, overflowed = self._states[dtype], np.zeros(len(roots), np.bool_)
        for levels in self._module.forward(state, roots):
            if (demand := self._scaled.demand) is None:
                self._module.backward(state, levels, sums)
            else:
                omega = weights_of_columns(demand, self._graph, roots[levels.places], self._method.arrays)
                self._module.backward(state, levels, sums, omega)
            overflowed[levels.places] = levels.overflowed
        return sums, overflowed
