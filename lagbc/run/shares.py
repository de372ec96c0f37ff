"""A share of a run, summed by a process of its own, and the merge of all shares: for array jobs of a cluster.

The items of all works, in order, are cut into shares of about the same effort, at the borders of panels. A share writes
the sum of each of its chunks; of a chunk that another share has begun it writes the panels. The merge adds the sums of
all shares in order, as one run does.
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
from lagbc.reduce.weighted import NotContractible
from lagbc.run.partial import PartialFile, Writer, digest_of_order, open_writer
from lagbc.run.run import Meter, stretch_of
from lagbc.run.work import NONE_DONE, Carrier, Found, PieceWork, Span, Total

# The owner of a share, by the digest that differs.
_OWNERS = {
    "graph": "another graph, direction or lengths",
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
        return f"{self.number}/{self.of}"


class Written(NamedTuple):
    """How many roots a share has summed, of how many in the run."""

    roots: int
    of: int


def write_share(
    path: Path,
    works: Sequence[PieceWork],
    carriers: Sequence[Carrier],
    digests: dict[str, str],
    share: Share,
    settings: Settings,
    describe: Callable[[Writer], None],
) -> Written:
    """Sum a share of the works, and write the sums behind a description of the call; after an error there is no file.

    PartError says that contracted chains have too large counts.
    """
    spans = _share_out(works, share)
    head = {"share": [*share], "digests": _with_works(digests, works), "labels": [work.sweep.label for work in works]}
    with open_writer(path, head) as file, ExitStack() as stack:
        describe(file)
        parts = zip(works, spans, strict=True)
        stretches = [stretch_of(work)._replace(roots=last - first) for work, (first, last) in parts]
        meter = Meter(stretches, settings.progress, f"; part {share}", stack)
        for number, (work, carry, span) in enumerate(zip(works, carriers, spans, strict=True)):
            try:
                _write(number, work, carry, span, file, meter)
            except NotContractible as error:
                raise _whole_instead(error) from None
    return Written(sum(last - first for first, last in spans), sum(len(work.items) for work in works))


def _whole_instead(error: NotContractible) -> PartError:
    return PartError(f"{error}: run all parts with reduce='none'")


def _write(number: int, work: PieceWork, carry: Carrier, span: Span, to: Writer, meter: Meter) -> None:
    """Write the sum of each chunk of a span; of a chunk that begins before the span, the panels."""
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
    """Return the files of all shares of a run in order; PartError if one is missing, or of another run."""
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
    """Add the sums of all shares in order; PartError if the works here are not theirs, or a file is damaged."""
    here = _with_works(digests, works)
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
        raise _whole_instead(error) from None


def _merged(files: Sequence[PartialFile], number: int, work: PieceWork) -> Total:
    total = NONE_DONE
    for file in files:
        for span, sums in file.sums(number, work):
            with file.reading():
                if span.first != total.done:
                    raise _gap(file, total)
                total = work.add(total, span, sums)
    if total.done != len(work.items):
        raise _gap(files[-1], total)
    return total


def _gap(file: PartialFile, total: Total) -> PartError:
    return PartError(f"{file.path} holds no sums of the roots from number {total.done} on")


def _share_out(works: Sequence[PieceWork], share: Share) -> list[Span]:
    """Return the span of a share in each work: a panel belongs to the share in which the middle of its effort lies.

    The last panel of a work counts as a full one, so that each share is a number of panels.
    """
    efforts = [
        np.full(-(-len(work.items) // work.panel), min(work.panel, len(work.items)) * stretch_of(work).edges)
        for work in works
    ]
    effort = np.concatenate([np.empty(0), *efforts])
    middles = (np.cumsum(effort) - effort / 2) / max(effort.sum(), 1.0)
    owners = np.minimum((share.of * middles).astype(np.int64), share.of - 1)
    spans, begin = list[Span](), 0
    for work, own in zip(works, efforts, strict=True):
        places = np.searchsorted(owners[begin : begin + len(own)], [share.number - 1, share.number])
        spans.append(Span(*(min(int(place) * work.panel, len(work.items)) for place in places)))
        begin += len(own)
    return spans


def _with_works(digests: dict[str, str], works: Sequence[PieceWork]) -> dict[str, str]:
    """Add the labels and orders of the works to the digests of a call."""
    labels, orders = ";".join(work.sweep.label for work in works), " ".join(map(digest_of_order, works))
    return digests | {"methods": labels, "order": orders}
