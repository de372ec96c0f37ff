"""The check of a method's scores: by the reference, and by a trusted method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc import reference
from lagbc.comparison.measure import Task, TooSlow, time_method
from lagbc.comparison.roots import growing_sizes
from lagbc.errors import MissingDependencyError, quantity
from lagbc.methods.table import Method
from lagbc.planning.choose import ranked

# The most vertices and edges that the reference visits, from all its roots: two or three seconds.
_REFERENCE_VISITS = 10_000_000


class Check:
    """The right scores, by the reference from as many roots as take it seconds, and by one method from all roots.

    Of the methods to be checked the trusted one comes first, if it is among them: its scores are the others' check.
    """

    def __init__(self, task: Task, rows: list[Method]) -> None:
        self.task = task
        self.trusted = _trusted_row(task)
        visits = task.graph.n + task.graph.nnz
        self._roots_of_reference = max(
            (k for k in growing_sizes(len(task.roots)) if k * visits <= _REFERENCE_VISITS), default=0
        )
        self._reference_scores = _by_reference(task, self._roots_of_reference) if self._roots_of_reference else None
        self._by_trusted = None
        if self.trusted is not None and self.trusted not in rows and self._roots_of_reference < len(task.roots):
            self._by_trusted = _scores_by(task, self.trusted)

    def __call__(self, row: Method, scores: dict[int, NDArray[np.float64]]) -> tuple[float | None, str]:
        """Return the largest relative difference of scores, and the names of the checks."""
        every, found = len(self.task.roots), []
        if self._reference_scores is not None:
            found.append(
                (
                    _relative_difference(scores[self._roots_of_reference], self._reference_scores),
                    f"lagbc.reference, {quantity(self._roots_of_reference, 'root')}",
                )
            )
        if row is self.trusted:
            self._by_trusted = scores[every]
        elif self._by_trusted is not None and self.trusted is not None and self._roots_of_reference < every:
            name = f"{self.trusted.name} on {self.trusted.device}, {quantity(every, 'root')}"
            found.append((_relative_difference(scores[every], self._by_trusted), name))
        if not found:
            return None, ""
        return max(difference for difference, _ in found), "; ".join(name for _, name in found)


def _trusted_row(task: Task) -> Method | None:
    """Return the row that "auto" takes on the CPU; None if there is none."""
    try:
        return ranked(task.graph, method="auto", device="cpu")[0].method
    except (ValueError, MissingDependencyError):
        return None


def _scores_by(task: Task, row: Method) -> NDArray[np.float64] | None:
    """Return raw scores from all roots by a method that is not measured; None if time or memory are too short."""
    try:
        return time_method(task, row)[1][len(task.roots)]
    except (TooSlow, MemoryError):
        return None


def _by_reference(task: Task, count: int) -> NDArray[np.float64] | None:
    """Return raw scores from the first `count` roots; None if their path counts leave the range of float."""
    graph = task.graph.on_host
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    lengths = None if weights is None else weights.tolist()
    try:
        scores = reference.brandes(indptr.tolist(), indices.tolist(), lengths, sources=task.roots[:count].tolist())
    except OverflowError:
        return None
    return np.array(scores)


def _relative_difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest ``|x - y| / max(|x|, |y|)``; it is 0 for two zeros, and infinite for NaN and infinity."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    with np.errstate(invalid="ignore"):
        relative = np.abs(ours - theirs) / np.where(size == 0, 1, size)
    return float(np.where(np.isfinite(relative), relative, np.inf).max(initial=0.0))
