"""A share of a run, summed by itself, and all shares of one merged: for array jobs, without an engine between them.

The items of a run, work after work, are shared out in whole panels and in their order, so that shares have about the
same work. A share writes the sum of each of its chunks, and the panels of a chunk that another share has begun. The
merge adds the sums of all shares in their order, as a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lagbc.calls import phase
from lagbc.errors import PartError
from lagbc.methods.sums import Sums
from lagbc.options import Settings
from lagbc.reduce.piece import NotContractible
from lagbc.run.partial import PartialFile, Writer, digest_order, open_writer
from lagbc.run.run import Meter, stretch_of
from lagbc.run.work import NONE_DONE, Carrier, Found, PieceWork, Span, Total

# The owner of the sums of a share where a digest differs.
_OWNERS = {
    "graph": "another graph or direction",
    "arguments": "a call with other arguments",
    "roots": "other roots",
    "methods": "other methods, or devices",
    "options": "a call with other arguments or options",
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


def write_share(
    path: Path,
    works: Sequence[PieceWork],
    carriers: Sequence[Carrier],
    digests: dict[str, str],
    share: Share,
    settings: Settings,
    more: Callable[[Writer], None],
) -> Written:
    """Sum the items of a share of a call, and write their sums; `more` writes the rest of the file before any sweep.

    PartError says that counts are too large for contracted chains. After any error no file is left.
    """
    spans = _share_out(works, share)
    labels = [work.label for work in works]
    head = {"share": [share.number, share.of], "digests": _digests(digests, works), "labels": labels}
    with open_writer(path, head) as file, ExitStack() as stack:
        more(file)
        stretches = [
            stretch_of(work)._replace(roots=span.last - span.first) for work, span in zip(works, spans, strict=True)
        ]
        meter = Meter(stretches, settings.progress, f"; part {share}", stack)
        for number, (work, carry, span) in enumerate(zip(works, carriers, spans, strict=True)):
            try:
                _write(number, work, carry, span, file, meter)
            except NotContractible as error:
                raise PartError(f"{error}: run all parts with reduce='none'") from None
    return Written(sum(last - first for first, last in spans), sum(len(work.items) for work in works))


def _write(number: int, work: PieceWork, carry: Carrier, span: Span, to: Writer, meter: Meter) -> None:
    """Write the sum of each chunk, and the panels of one that another share has begun."""
    waiting, begun = list[Found](), span.first
    with phase("sweep"), closing(carry(work, *span)) as found:
        for one in found:
            _, done = one[0]
            waiting = work.sent([*waiting, one], work.items[begun:done])
            if done % work.chunk == 0 or done == span.last:
                for of_span, sums in waiting:
                    to.add_sums(number, work, of_span, sums)
                waiting, begun = [], done
            meter.tell(number, done - span.first)


def require_complete(files: Sequence[PartialFile]) -> list[PartialFile]:
    """Return the files of all shares of a run in their order; PartError for another file, or a missing one."""
    if not files:
        raise PartError("there is no part to merge")
    first, found = files[0], dict[int, PartialFile]()
    of = _share_of(first).of
    for file in files:
        number, count = _share_of(file)
        if number in found:
            raise PartError(f"part {number} is there twice: {found[number].path} and {file.path}")
        if count != of:
            raise PartError(
                f"{first.path} is one of {of} parts, {file.path} one of {count}; merge the parts of one run"
            )
        _require_alike(file, first)
        found[number] = file
    missing = sorted(set(range(1, of + 1)) - found.keys())
    if missing:
        parts = f"part{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        raise PartError(f"{parts} of {of} {'are' if len(missing) > 1 else 'is'} missing")
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


def labels_in(file: PartialFile) -> list[str]:
    """Return the labels of the works of a share."""
    with file.reading():
        return list(map(str, file.head["labels"]))


def merge_shares(files: Sequence[PartialFile], works: Sequence[PieceWork], digests: dict[str, str]) -> list[Sums]:
    """Add the sums of all shares, in their order; PartError for another plan here, or a damaged file."""
    here = _digests(digests, works)
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
        return [work.finish(_merged(files, number, work)) for number, work in enumerate(works)]
    except NotContractible as error:
        raise PartError(f"{error}: run all parts with reduce='none'") from None


def _merged(files: Sequence[PartialFile], number: int, work: PieceWork) -> Total:
    """Add the sums of a work from files, which follow one after the other."""
    total = NONE_DONE
    for file in files:
        for span, sums in file.sums(number, work):
            with file.reading():
                if span.first != total.done:
                    raise PartError(f"{file.path} holds no sums of the roots from number {total.done} on")
                total = work.add(total, span, sums)
    if total.done != len(work.items):
        raise PartError(f"{files[-1].path} holds no sums of the roots from number {total.done} on")
    return total


def _share_out(works: Sequence[PieceWork], share: Share) -> list[Span]:
    """Return the span of a share in each work; each panel belongs where the middle of its effort lies.

    The last panel of a work counts as the others, so that a share is a number of panels.
    """
    shares = [
        np.full(-(-len(work.items) // work.panel), min(work.panel, len(work.items)) * stretch_of(work).edges)
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


def _digests(digests: dict[str, str], works: Sequence[PieceWork]) -> dict[str, str]:
    """Digest all that fixes the sums."""
    labels, orders = ";".join(work.label for work in works), " ".join(map(digest_order, works))
    return digests | {"methods": labels, "order": orders}
