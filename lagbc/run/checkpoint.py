"""The totals of the works of a call, in a file that is kept up to date.

A checkpoint belongs to a call: to its graph, its roots and the rest of its request. A work goes on from its total where
label and order are those of the work that made the total; a piece that could not be summed from its junctions begins
anew.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import CheckpointError, FileError, InvalidValueError, warn
from lagbc.files import remove_unfinished
from lagbc.methods import tuning
from lagbc.run.partial import MEND, PartialFile, digest_order, digest_roots, open_writer
from lagbc.run.work import NONE_DONE, PieceWork, Total

# The owner of the sums of a checkpoint where a digest differs.
_OWNERS = {
    "graph": "another graph or direction",
    "options": "other options (scores, dtype, endpoints, rtol, cutoff, decay, weights of pairs, or k for sources)",
    "roots": "other roots",
    "order": "another version's order of the roots, or to options by which the graph is reduced otherwise",
}


class Checkpoint:
    """The totals of a call, and the file that follows them; it is read before the call is planned."""

    def __init__(self, path: Path) -> None:
        self.path = _followed(path)
        self.labels: list[str] = []  # of the works in the file
        self.roots: NDArray[np.int64] | None = None  # of the file, and then of the call
        self._before: Mapping[str, str] = {}  # the digests in the file
        self._digests: Mapping[str, str] = {}  # of the call
        self._works: Sequence[PieceWork] = ()
        self._orders: list[str] = []
        self._totals: list[Total] = []  # each is replaced as one object, so that no interrupt splits it
        self._saved, self._held = time.perf_counter(), -1
        if self.path.exists():
            with self._open() as file, file.reading():
                self.labels, self.roots = list(map(str, file.head["labels"])), file.array("roots", (None,), np.int64)
                self._before = file.head["digests"] | {"roots": digest_roots(self.roots)}

    def _open(self) -> PartialFile:
        try:
            return PartialFile(self.path, _damaged)
        except FileError as error:
            raise FileError(f"checkpoint {self.path} cannot be used: {error}") from error

    def sample(self, count: int, n: int) -> NDArray[np.int64] | None:
        """Return the roots of the file if they are `count` distinct vertices of n: as good as another sample."""
        roots = self.roots
        if roots is None or len(roots) != count or not ((roots >= 0) & (roots < n)).all():
            return None
        return roots if len(np.unique(roots)) == count else None

    def belong(self, digests: Mapping[str, str], roots: NDArray[np.int64]) -> None:
        """Set the call of the file; CheckpointError if the file is of another one."""
        self._digests = digests
        for name, digest in digests.items() if self._before else ():
            if self._before.get(name) != digest:
                raise self._of_other(name)
        self.roots = roots

    def _of_other(self, name: str) -> CheckpointError:
        return CheckpointError(f"checkpoint {self.path} belongs to {_OWNERS[name]}; {MEND}")

    def _of_other_works(self, works: Sequence[PieceWork]) -> CheckpointError:
        before, now = (_in_words(labels) for labels in (self.labels, [work.label for work in works]))
        return CheckpointError(
            f"checkpoint {self.path} belongs to a run of {before}, and this is one of {now}; pass method, device, "
            f"reduce and memory as they were, or {MEND}"
        )

    def begin(self, works: Sequence[PieceWork], totals: list[Total]) -> list[Total]:
        """Take the works of the call; return the given totals, with those in the file in place of none.

        The file is written at once: FileError says that it cannot be, before anything is summed.
        """
        is_first, orders = not self._works, list(map(digest_order, works))
        if self._before:
            totals = self._read(works, orders, totals, anew=not is_first)
        self._works, self._orders, self._totals, self._held = list(works), orders, list(totals), -1
        if self._before and self._done == sum(len(work.items) for work in works):
            self._held = self._done
            return totals
        if not is_first:
            self.save()
            return totals
        remove_unfinished(self.path)
        try:
            self._write()
        except FileError as error:
            raise FileError(f"checkpoint {self.path} cannot be used: {error}") from error
        return totals

    def require(self, works: Sequence[PieceWork]) -> None:
        """Refuse works that are not those of the file, if there is one; as `begin` does, without writing."""
        if self._before:
            self._read(works, list(map(digest_order, works)), [NONE_DONE] * len(works))

    def _read(
        self, works: Sequence[PieceWork], orders: list[str], totals: Sequence[Total], *, anew: bool = False
    ) -> list[Total]:
        """Take totals of the file in place of none; `anew`, one piece may be planned anew in place of its chains."""
        found = list(totals)
        with self._open() as file, file.reading():
            before_orders, counts = file.head["orders"], file.array("done", (len(self.labels),), np.int64).tolist()
            if len(self.labels) != len(works):
                raise self._of_other_works(works)
            for number, work in enumerate(works):
                before, done = self.labels[number], counts[number]
                if before != work.label:
                    if not (anew and before.startswith("chains ")):
                        raise self._of_other_works(works)
                    continue
                if done and before_orders[number] != orders[number]:
                    raise self._of_other("order")
                if not 0 <= done <= len(work.items):
                    raise InvalidValueError
                if not found[number].done:
                    found[number] = work.unpack_total(done, file.below(f"{number}/"))
        return found

    def keep(self, number: int, total: Total) -> None:
        """Take the total of a work; the file follows every few seconds."""
        self._totals[number] = total
        if time.perf_counter() - self._saved > tuning.CHECKPOINT_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the file, unless it holds as much; a failure is a RuntimeWarning, since the sums are not lost."""
        if not self._works or self._done == self._held:
            return
        try:
            self._write()
        except FileError as error:
            warn(f"checkpoint {error}", RuntimeWarning)
        self._saved = time.perf_counter()

    @property
    def _done(self) -> int:
        return sum(total.done for total in self._totals)

    def _write(self) -> None:
        totals, works = list(self._totals), self._works
        labels = [work.label for work in works]
        head = {"share": [1, 1], "digests": dict(self._digests), "labels": labels, "orders": self._orders}
        assert self.roots is not None
        with open_writer(self.path, head) as file:
            file.add("roots", self.roots)
            file.add("done", np.array([total.done for total in totals], np.int64))
            for number, (work, total) in enumerate(zip(works, totals, strict=True)):
                for name, array in work.pack_total(total).items():
                    file.add(f"{number}/{name}", array)
        self.labels, self._before = labels, self._digests
        self._held, self._saved = sum(total.done for total in totals), time.perf_counter()


def _in_words(labels: Sequence[str]) -> str:
    """Name the methods of up to three works, as "batched on cpu (chains)", and count the rest."""
    named = [f"{method} on {device} ({work})" for work, method, device in (label.split(" ") for label in labels[:3])]
    rest = [f"{len(labels) - 3} more pieces"] if len(labels) > 3 else []
    return ", ".join(named + rest)


def _damaged(path: Path) -> Exception:
    return CheckpointError(f"{path} is not a lagbc checkpoint of this version; name another file")


def _followed(path: Path) -> Path:
    """Return the file to write, behind symlinks."""
    followed = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not followed.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {followed.parent}")
    if followed.exists() and not followed.is_file():
        raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
    return followed
