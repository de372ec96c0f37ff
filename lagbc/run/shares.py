"""A share of a run, summed by itself, and all shares of one merged: for array jobs, without an engine between them.

The items of a run, work after work, are shared out in whole panels and in their order, so that shares have about the
same work. A share writes the sum of each of its chunks, and the panels of a chunk that another share has begun. The
merge adds the pieces of all shares in their order, as a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lagbc.errors import PartError
from lagbc.plan.plan import Plan
from lagbc.plan.step import Resumed
from lagbc.reduce.piece import NotContractible
from lagbc.run.execute import Result, carrier_of, edges_of, whole_sums
from lagbc.run.loop import sum_over, work_of
from lagbc.run.partial import PartialFile, Writer, digest_graph, digest_order, digests_of, open_writer, steps_in
from lagbc.run.progress import Meter, Stretch
from lagbc.run.work import Span, StepWork, Total

# The owner of the sums of a share where a digest differs.
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
    """The number of a share, from 1 on, and the count of shares."""

    number: int
    of: int

    def __str__(self) -> str:
        """Return the form of the command line."""
        return f"{self.number}/{self.of}"


class Written(NamedTuple):
    """The roots that a share has summed, and the roots of the run."""

    roots: int
    of: int


def write_share(path: Path, plan: Plan, share: Share, arguments: str, more: Callable[[Writer], None]) -> Written:
    """Sum the items of a share of a plan, and write their sums; `more` writes the rest of the file before any sweep.

    `arguments` digests those that neither sums nor plan show. PartError says that counts are too large for contracted
    chains. After any error no file is left.
    """
    plan.require_memory()
    plan.warn_of_less_memory()
    works = [work_of(step) for step in plan.steps]
    spans = _share_out(works, share)
    head = {"share": [share.number, share.of], "digests": _digests(plan, works) | {"arguments": arguments}}
    with open_writer(path, head) as file, ExitStack() as stack:
        more(file)
        stretches = [
            Stretch(span.last - span.first, 0, edges_of(work.graph)) for work, span in zip(works, spans, strict=True)
        ]
        meter = Meter(stretches, plan.settings.progress, f"; part {share}", stack)
        for number, (work, span) in enumerate(zip(works, spans, strict=True)):
            _write(number, work, span, file, meter, plan)
    return Written(sum(last - first for first, last in spans), sum(len(work.items) for work in works))


def _write(number: int, work: StepWork, span: Span, to: Writer, meter: Meter, plan: Plan) -> None:
    def keep(total: Total) -> None:
        for piece in total.closed:
            to.add_piece(number, work, piece)
        meter.tell(number, total.done - span.first)

    try:
        total = sum_over(work, carrier_of(plan, work.step), Total(span.first), span.last, keep)
    except NotContractible as error:
        raise PartError(f"{error}: run all parts with reduce='none'") from None
    for piece in work.rest(total):
        to.add_piece(number, work, piece)


def require_complete(files: Sequence[PartialFile]) -> list[PartialFile]:
    """Return the files of all shares of a run in their order; PartError for another file, or a missing one."""
    if not files:
        raise PartError("there is no part to merge")
    (first, share), *others = ((file, _share_of(file)) for file in files)
    found: dict[int, PartialFile] = {}
    for file in files:
        number = _share_of(file).number
        if number in found:
            raise PartError(f"part {number} is there twice: {found[number].path} and {file.path}")
        found[number] = file
    for other, its in others:
        if its.of != share.of:
            raise PartError(
                f"{first.path} is one of {share.of} parts, {other.path} one of {its.of}; merge the parts of one run"
            )
        _require_alike(other, first)
    missing = sorted(set(range(1, share.of + 1)) - found.keys())
    if missing:
        parts = f"part{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        raise PartError(f"{parts} of {share.of} {'are' if len(missing) > 1 else 'is'} missing")
    return [found[number] for number in sorted(found)]


def _share_of(file: PartialFile) -> Share:
    with file.reading():
        return Share(*map(int, file.head["share"]))


def _require_alike(file: PartialFile, first: PartialFile) -> None:
    with file.reading():
        ours, theirs = file.head["digests"], first.head["digests"]
        for name, owner in _OWNERS.items():
            if ours[name] != theirs[name]:
                told = f" ({ours[name]} and {theirs[name]})" if name == "methods" else ""
                raise PartError(f"{file.path} belongs to {owner} than {first.path}{told}; merge the parts of one run")


def resumed_from(file: PartialFile) -> Resumed:
    """Return the methods of the steps of a share's plan."""
    return Resumed(steps_in(file))


def merge_shares(files: Sequence[PartialFile], plan: Plan) -> Result:
    """Add the sums of all shares, in their order, and finish; PartError for another plan here, or a damaged file."""
    works = [work_of(step) for step in plan.steps]
    here = _digests(plan, works)
    with files[0].reading():
        there = files[0].head["digests"]
        for name, owner in _OWNERS.items():
            if name in here and here[name] != there[name]:
                told = f": {here[name]} here, {there[name]} there" if name == "methods" else ""
                raise PartError(
                    f"{files[0].path} was made by {owner} than this machine or version takes{told}; "
                    "merge where parts run"
                )
    try:
        sums = [work.finish(_merged(files, number, work)) for number, work in enumerate(works)]
    except NotContractible as error:
        raise PartError(f"{error}: run all parts with reduce='none'") from None
    return Result(whole_sums(plan, sums), plan)


def _merged(files: Sequence[PartialFile], number: int, work: StepWork) -> Total:
    """Add the pieces of a work from files, which follow one after the other."""
    total = Total(0)
    for file in files:
        for piece in file.pieces(number, work):
            with file.reading():
                if piece.span.first != total.done:
                    raise PartError(f"{file.path} holds no sums of the roots from number {total.done} on")
                total = work.add(total, [piece])
    if total.done != len(work.items):
        raise PartError(f"{files[-1].path} holds no sums of the roots from number {total.done} on")
    return total


def _share_out(works: Sequence[StepWork], share: Share) -> list[Span]:
    """Return the span of a share in each work; each panel belongs where the middle of its effort lies.

    The last panel of a work counts as the others, so that a share is a number of panels.
    """
    shares = [
        np.full(-(-len(work.items) // work.panel), float(min(work.panel, len(work.items)) * work.graph.nnz))
        for work in works
    ]
    effort = np.concatenate([np.empty(0), *shares])
    middles = (np.cumsum(effort) - effort / 2) / max(effort.sum(), 1.0)
    owners = np.minimum((share.of * middles).astype(np.int64), share.of - 1)
    spans, begin = list[Span](), 0
    for work, own in zip(works, shares, strict=True):
        places = np.searchsorted(owners[begin : begin + len(own)], [share.number - 1, share.number])
        spans.append(Span(*(min(int(place) * work.panel, len(work.items)) for place in places)))
        begin += len(own)
    return spans


def _digests(plan: Plan, works: Sequence[StepWork]) -> dict[str, str]:
    """Digest all that fixes the sums."""
    return digests_of(plan) | {"graph": digest_graph(plan.graph), "order": " ".join(map(digest_order, works))}
