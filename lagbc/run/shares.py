"""A run cut into shares that are computed apart, each by a process of its own, and merged to the bits of one run.

The roots of a plan, of all its parts one after the other, are shared out in whole blocks and in their order, so that
shares have about the same work. A share writes the sums of each of its chunks, and of each block of a chunk that it has
the end of (`lagbc.run.share_file`); who merges adds those of all shares in their order, as a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import PartError
from lagbc.graph.csr import as_numpy
from lagbc.methods.sums import SparseSums, Sums
from lagbc.plan import memory
from lagbc.plan.plan import Plan
from lagbc.plan.roots import chunk_length, order_roots
from lagbc.plan.step import Begun, Resumed, Step
from lagbc.reduce.piece import NotContractible
from lagbc.run.checkpoint import digest_graph, digest_graphs, digest_options, digest_order
from lagbc.run.execute import Result, edges_of, elsewhere_of, whole_sums
from lagbc.run.progress import Meter, Stretch
from lagbc.run.share_file import ShareFile, ShareWriter, writing
from lagbc.run.sweep import sweep
from lagbc.run.threads import Elsewhere
from lagbc.run.within import blocks_of, sweep_within

Roots = NDArray[np.int64]

# What a share belongs to where what is noted of it differs.
_OWNERS = {
    "graph": "another graph or direction",
    "arguments": "a call with other arguments",
    "roots": "other roots",
    "methods": "other methods, or devices",
    "options": "a call with other arguments or options",
    "pieces": "a call with other options, such as reduce",
    "order": "another order of the roots",
}


class Share(NamedTuple):
    """Which of how many shares, from 1 on."""

    number: int
    of: int

    def __str__(self) -> str:
        """As the command line has it."""
        return f"{self.number}/{self.of}"


class Written(NamedTuple):
    """How many roots a share has summed, of how many in all."""

    roots: int
    of: int


@dataclass(frozen=True, eq=False)
class Line:
    """The roots of a part of a plan in the order in which they are summed.

    Attributes
    ----------
    part : Step
    name : str
        In the file.
    ordered : ndarray of int64
        Vertices, or rows of a contracted block.
    length, unit : int
        How many are a chunk, and at multiples of how many shares may be cut.
    digest : str
        Of this order.
    """

    part: Step
    name: str
    ordered: Roots
    length: int
    unit: int
    digest: str

    @classmethod
    def of(cls, part: Step, name: str) -> Line:
        """Line up the roots of a part."""
        batching, contracted = part.method.load().batching, part.contracted
        if contracted is not None:
            length = part.sweep.batch if batching.concurrent else batching.block
            digest = digest_order(np.concatenate([contracted.graph.order, contracted.roots]), length)
            return cls(part, name, contracted.roots, length, length, digest)
        ordered = order_roots(part.graph, part.method, part.roots) if part.ordered is None else part.ordered
        if part.sweep.bounds is not None:
            length = unit = blocks_of(part.method).size(len(ordered))
        else:
            length = chunk_length(part.method, batching)
            unit = length if batching.block == 1 else batching.block
        return cls(part, name, ordered, length, unit, digest_order(ordered, length))

    @property
    def work(self) -> NDArray[np.float64]:
        """Roots times edges of each unit; the last one counts as the others, so that a share is a number of units."""
        units = -(-len(self.ordered) // self.unit)
        return np.full(units, float(min(self.unit, len(self.ordered)) * self.part.graph.nnz))

    def roots(self, units: range) -> range:
        """Places of the roots of some units."""
        return range(units.start * self.unit, min(units.stop * self.unit, len(self.ordered)))

    def pieces(self, roots: range) -> list[tuple[range, int]]:
        """Cut roots into runs that are written alike, each with how many of its roots are summed together.

        Where a share begins amid a chunk, the blocks of this chunk are written apart: they are added one by one to what
        the chunk begins with.
        """
        first = min(-(-roots.start // self.length) * self.length, roots.stop)
        pieces = (range(roots.start, first), self.unit), (range(first, roots.stop), self.length)
        return [(piece, together) for piece, together in pieces if piece]

    def write(
        self,
        roots: range,
        to: ShareWriter,
        tell: Callable[[int], None],
        *,
        in_calling_thread: bool,
        elsewhere: Elsewhere | None,
    ) -> None:
        """Sum some roots, and write the sums of each chunk."""
        part = self.part
        how: Any = {"tell": tell, "in_calling_thread": in_calling_thread}
        swept = part.graph, part.method, part.sweep, part.roots
        if part.contracted is not None:
            from lagbc.run.chains import sweep_chains

            some, size, threads = slice(roots.start, roots.stop), part.sweep.batch, part.sweep.threads
            keep = self._keep(to)
            how |= {"keep": keep, "elsewhere": elsewhere}
            held = sweep_chains(part.contracted, part.method, some, size=size, threads=threads, **how)
            to.add(f"{self.name}/held", held.of_groups)
        elif part.sweep.bounds is not None:
            ordered, keep_sparse = self.ordered[roots.start : roots.stop], self._keep_sparse(to)
            how |= {"keep": keep_sparse, "elsewhere": elsewhere}
            sweep_within(*swept, ordered=ordered, size=self.length, **how)
        else:
            for piece, together in self.pieces(roots):
                before = piece.start - roots.start
                how["tell"] = lambda done, before=before: tell(before + done)
                ordered = self.ordered[piece.start : piece.stop]
                sweep(*swept, ordered=ordered, length=together, keep=self._keep(to), elsewhere=elsewhere, **how)

    def _keep(self, to: ShareWriter) -> Callable[[Sums], None]:
        return lambda sums: to.add_sums(self.name, sums.moved(as_numpy))

    def _keep_sparse(self, to: ShareWriter) -> Callable[[list[SparseSums]], None]:
        def keep(block: list[SparseSums]) -> None:
            for summed in block:
                to.add_sparse(self.name, summed)

        return keep

    def merge(self, files: Sequence[tuple[ShareFile, range, int]]) -> Sums:
        """Add what files hold of this part of the plan: each the sums of some roots, so many of them; in order."""
        entries = ((file, number) for file, _, count in files for number in range(count))
        if self.part.contracted is not None:
            return self._merge_chains(files)
        plan, graph = self.part.sweep, self.part.graph
        total = Sums.zeros(np, plan.sums, graph.n, graph.nnz, plan.bounds)
        shapes = {name: array.shape for name, array in total}
        if plan.bounds is not None:
            return total.plus_sparse(file.sparse(self.name, number, shapes) for file, number in entries)
        chunk = total.zeros_like()
        ends = (end for _, roots, _ in files for end in self._ends(roots))
        for (file, number), done in zip(entries, ends, strict=True):
            chunk = chunk.plus(file.sums(self.name, number, shapes))
            if done % self.length == 0 or done == len(self.ordered):
                total, chunk = total.plus(chunk), total.zeros_like()
        return total

    def _ends(self, roots: range) -> Iterator[int]:
        """Yield where each of the sums that a share writes ends."""
        for piece, together in self.pieces(roots):
            for first in range(piece.start, piece.stop, together):
                yield min(first + together, piece.stop)

    def _merge_chains(self, files: Sequence[tuple[ShareFile, range, int]]) -> Sums:
        from lagbc.run.junctions import Held, finish_chains

        assert self.part.contracted is not None
        held = Held.nothing(self.part.contracted)
        shapes = {"dependency": (None, len(held.dependency)), "edges": (None, len(held.along))}
        for file, _, count in files:
            for number in range(count):
                held.add(file.sums(self.name, number, shapes))
            if count:
                held.add_of_groups(file.array(f"{self.name}/held", float, held.of_groups.shape))
        return finish_chains(self.part.contracted, self.part.asked, held)


def write_share(path: Path, plan: Plan, share: Share, arguments: str, more: Callable[[ShareWriter], None]) -> Written:
    """Sum the chunks of a share, and write them to a file.

    Parameters
    ----------
    path : Path
    plan : Plan
        Of the whole run, the same for all shares.
    share : Share
    arguments : str
        A digest of what the sums and the plan do not show.
    more : callable
        Writes what else the file shall hold; called before anything is summed.

    Raises
    ------
    PartError
        Chains cannot be contracted in a share, because counts are too large.
    MemoryError, KeyboardInterrupt
        As `lagbc.run.execute.execute`; no file is left.
    """
    memory.require(plan.memory)
    plan.warn_of_less_memory()
    lines = _lines(plan)
    shared = _share_out(lines, share)
    with writing(path) as file, ExitStack() as stack:
        more(file)
        stretches = [Stretch(len(roots), 0, edges_of(line.part)) for line, roots in zip(lines, shared, strict=True)]
        meter = Meter(stretches, plan.settings.progress, f"; part {share}", stack)
        for number, (line, roots) in enumerate(zip(lines, shared, strict=True)):
            if roots:
                _write(line, roots, file, meter.of(number), plan)
        written = [file.written.get(line.name, 0) for line in lines]
        made = _made(plan, lines) | {"arguments": arguments}
        file.add_json("share", {"number": share.number, "of": share.of, "written": written, "made": made})
    return Written(sum(map(len, shared)), sum(len(line.ordered) for line in lines))


def _write(line: Line, roots: range, to: ShareWriter, tell: Callable[[int], None], plan: Plan) -> None:
    elsewhere = elsewhere_of(plan.settings, line.part)
    try:
        line.write(roots, to, tell, in_calling_thread=plan.is_short, elsewhere=elsewhere)
    except NotContractible as error:
        raise PartError(f"{error}: run all parts with reduce='none'") from None


def require_complete(files: Sequence[ShareFile]) -> list[ShareFile]:
    """Return the files of all shares of a run in their order; PartError if there is another one, or none."""
    if not files:
        raise PartError("there is no part to merge")
    heads = {file.path: file.json("share") for file in files}
    (first, head), *others = heads.items()
    found: dict[int, ShareFile] = {}
    for file in files:
        number = heads[file.path]["number"]
        if number in found:
            raise PartError(f"part {number} is there twice: {found[number].path} and {file.path}")
        found[number] = file
    for path, other in others:
        if other["of"] != head["of"]:
            raise PartError(
                f"{first} is one of {head['of']} parts, {path} one of {other['of']}; merge the parts of one run"
            )
        _require_alike(path, other["made"], first, head["made"])
    missing = sorted(set(range(1, head["of"] + 1)) - found.keys())
    if missing:
        parts = f"part{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        raise PartError(f"{parts} of {head['of']} {'are' if len(missing) > 1 else 'is'} missing")
    return [found[number] for number in sorted(found)]


def _require_alike(path: Path, made: dict[str, str], first: Path, made_first: dict[str, str]) -> None:
    for name, what in _OWNERS.items():
        if made[name] != made_first[name]:
            told = f" ({made[name]} and {made_first[name]})" if name == "methods" else ""
            raise PartError(f"{path} belongs to {what} than {first}{told}; merge the parts of one run")


def resumed_from(file: ShareFile) -> Resumed:
    """Tell how the steps of the plan of a share were computed."""
    labels = file.json("share")["made"]["methods"]
    return Resumed(tuple(map(Begun.of, labels.split(";"))) if labels else ())


def merge_shares(files: Sequence[ShareFile], plan: Plan) -> Result:
    """Add the sums of all shares, in their order, and finish as a run does.

    Raises
    ------
    PartError
        The run is planned otherwise here, or a file is damaged.
    """
    lines, heads = _lines(plan), [file.json("share") for file in files]
    made = _made(plan, lines)
    for name, what in _OWNERS.items():
        if name in made and made[name] != heads[0]["made"][name]:
            told = f": {made[name]} here, {heads[0]['made'][name]} there" if name == "methods" else ""
            raise PartError(
                f"{files[0].path} was made by {what} than this machine or version takes{told}; merge where parts run"
            )
    sums = []
    for number, line in enumerate(lines):
        counts = [head["written"][number] for head in heads]
        roots = [_share_out(lines, Share(head["number"], head["of"]))[number] for head in heads]
        try:
            sums.append(line.merge(list(zip(files, roots, counts, strict=True))))
        except NotContractible as error:
            raise PartError(f"{error}: run all parts with reduce='none'") from None
    return Result(whole_sums(plan, sums), plan)


def _lines(plan: Plan) -> list[Line]:
    return [Line.of(part, str(number)) for number, part in enumerate(plan.steps)]


def _share_out(lines: Sequence[Line], share: Share) -> list[range]:
    """Return the places of the roots of a share in each line; each unit is where the middle of its work is."""
    works = [line.work for line in lines]
    work = np.concatenate([np.empty(0), *works])
    middles = (np.cumsum(work) - work / 2) / max(work.sum(), 1.0)
    owners = np.minimum((share.of * middles).astype(np.int64), share.of - 1)
    shared, begin = [], 0
    for line, own in zip(lines, works, strict=True):
        first, last = np.searchsorted(owners[begin : begin + len(own)], [share.number - 1, share.number])
        shared.append(line.roots(range(int(first), int(last))))
        begin += len(own)
    return shared


def _made(plan: Plan, lines: Sequence[Line]) -> dict[str, str]:
    """Digest what the sums belong to."""
    return {
        "graph": digest_graph(plan.graph),
        "options": digest_options(plan.steps, plan.request.is_sample),
        "roots": digest_order(np.sort(plan.request.roots), 0),
        "methods": ";".join(part.label for part in plan.steps),
        "pieces": digest_graphs(plan.steps),
        "order": " ".join(line.digest for line in lines),
    }
