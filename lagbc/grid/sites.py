"""The site of a rank: the CPU, or a GPU with messages by NCCL or through the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from lagbc import tuning
from lagbc.graph.csr import as_numpy
from lagbc.grid.communicator import Line, Steps, now, of_first
from lagbc.grid.deal import Block, Blocks
from lagbc.methods.block import BlockEdges, BlockPlan, BlockSize, BlockSweep, Message, Way, passing
from lagbc.methods.contract import bytes_of
from lagbc.methods.table import Both
from lagbc.types import DeviceName


class Site(NamedTuple):
    """The site of a rank."""

    gpu: int | None = None  # number of the GPU; None is the CPU
    by_nccl: bool = False  # whether messages go by NCCL, as each rank is a process with a GPU of its own
    sharers: int = 1  # most ranks that share a device: a GPU, or the CPU of a host
    mates: int = 1  # most ranks that share a host
    groups: int = 1  # of 256 roots, in a batch on a GPU
    few_edges: bool = False  # whether all vertices have few: then roots of a group may reach a vertex in many levels

    def __str__(self) -> str:
        if self.gpu is None:
            return ""
        return " on GPUs, with messages by NCCL" if self.by_nccl else " on GPUs, with messages through the host"

    @property
    def device(self) -> DeviceName:
        return "cpu" if self.gpu is None else "cuda"

    @property
    def columns(self) -> int:
        """The roots of a batch."""
        return self.groups * int(self._module.COLUMNS)

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a method that a rank reads."""
        return self._module.options

    def arrays(self, size: BlockSize, sums: frozenset[str]) -> dict[str, Any]:
        """Return the arrays of a rank, and the largest ones in passing: levels and messages."""
        size, of = size._replace(groups=self.groups), self._module
        levels = of.COLUMNS if self.few_edges else tuning.GRID_LEVELS
        return {"rows": of.arrays(size, sums), "passing": passing(size, sums, of, levels)}

    def widest(self, size: BlockSize, sums: frozenset[str], room: int) -> Site:
        """Return the site with as many groups as fit into `room` bytes."""
        if self.gpu is None:
            return self
        wide = self._replace(groups=tuning.GRID_GROUPS)
        while wide.groups > 1 and bytes_of(wide.arrays(size, sums)) > room:
            wide = wide._replace(groups=wide.groups // 2)
        return wide

    def context(self) -> Callable[[], AbstractContextManager[Any]]:
        """Return a function that makes contexts in which a thread works here, all in the same stream."""
        if self.gpu is None:
            return nullcontext
        from cupy import cuda

        device = cuda.Device(self.gpu)
        with device:
            stream = cuda.Stream(non_blocking=True)
        return lambda: Both(device, stream)

    def wait(self) -> None:
        """Wait until the device is done; called in the context."""
        if self.gpu is not None:
            from cupy import cuda

            cuda.get_current_stream().synchronize()

    def edges(self, block: Block, length: int) -> Any:
        """Copy a block, with pieces of a length, to the site; called in the context."""
        return self._module.edges(block.indptr, block.indices, length)

    def block(self, plan: BlockPlan) -> BlockSweep:
        """Make the rows of a rank; called in the context."""
        plan = plan._replace(size=plan.size._replace(groups=self.groups))
        return self._module.block(plan)

    def line(self, line: Line) -> Any:
        """Return a line for messages in arrays of this site; all ranks of the line call."""
        if self.gpu is None or line.size == 1:
            return line
        if self.by_nccl:
            with self.context()():
                return _NcclLine(line)
        return _HostedLine(line)

    @property
    def _module(self) -> Any:
        if self.gpu is None:
            from lagbc.methods.cpu import block as on_cpu

            return on_cpu
        from lagbc.methods.gpu.batched import block as on_gpu

        return on_gpu


class EdgesOfRank:
    """The edges of a rank on its site. Blocks for sweeps along the edges are kept, others are made for each run."""

    def __init__(self, blocks: Blocks, length: int, site: Site) -> None:
        self._blocks, self._length, self._site = blocks, length, site
        self._own: dict[Block, Any] = {}

    def swept(self, way: Way) -> BlockEdges:
        """Return the edges for a sweep of this way; called in a context of the site."""
        self._own = self._own or self._made(self._blocks)
        blocks = self._blocks.swept(way)
        made = self._own | self._made(blocks)
        return BlockEdges(*map(made.__getitem__, blocks))

    def _made(self, blocks: Blocks) -> dict[Block, Any]:
        return {block: self._site.edges(block, self._length) for block in {*blocks} - self._own.keys()}


class _HostedLine:
    """A line for messages in arrays of GPUs, which go through the host."""

    def __init__(self, line: Line) -> None:
        self.size, self.rank, self.close, self._line = line.size, line.rank, line.close, line

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        import cupy as cp

        hosted = {id(message): as_numpy(message) for message in messages}  # one to all ranks is copied once
        found = yield from self._line.exchange([hosted[id(message)] for message in messages])
        return [messages[rank] if rank == self.rank else cp.asarray(one) for rank, one in enumerate(found)]


class _NcclLine:
    """A line for messages from GPU to GPU, after their sizes went from host to host."""

    def __init__(self, line: Line) -> None:
        import cupy as cp
        from cupy.cuda import nccl

        self.size, self.rank, self._line, self._nccl = line.size, line.rank, line, nccl
        name = of_first(line, None if line.rank else nccl.get_unique_id())
        self._communicator = nccl.NcclCommunicator(line.size, name, line.rank)
        now(self.exchange([cp.zeros(1, np.uint8)] * line.size))  # as the first message of a pair takes long
        cp.cuda.get_current_stream().synchronize()

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        """Send all messages in one group of NCCL; freed memory is used again in the same stream, after the sends."""
        import cupy as cp

        sizes = yield from self._line.exchange([np.array([len(message)]).view(np.uint8) for message in messages])
        counts = [int(size.view(np.int64)[0]) for size in sizes]
        found = [messages[rank] if rank == self.rank else cp.empty(n, np.uint8) for rank, n in enumerate(counts)]
        stream, nccl = cp.cuda.get_current_stream().ptr, self._nccl
        nccl.groupStart()
        for rank, (message, one) in enumerate(zip(messages, found, strict=True)):
            if rank == self.rank:
                continue
            if len(message):
                self._communicator.send(message.data.ptr, len(message), nccl.NCCL_UINT8, rank, stream)
            if len(one):
                self._communicator.recv(one.data.ptr, len(one), nccl.NCCL_UINT8, rank, stream)
        nccl.groupEnd()
        return found

    def close(self) -> None:
        self._communicator.abort()  # `destroy` would wait for the other ranks, and no message is under way
        self._line.close()
