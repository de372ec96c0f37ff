"""The exceptions and warnings of lagbc that are not plain ``ValueError`` or ``TypeError``."""

from __future__ import annotations


class GraphFormatError(ValueError):
    """A graph file cannot be read; the message gives the file, the line and what was expected there."""


class CheckpointError(ValueError):
    """A checkpoint belongs to another graph or another call; it is neither used nor overwritten."""


class MemoryWarning(RuntimeWarning):
    """The run goes on with a smaller batch or fewer threads than was planned, because memory ran out."""


class MissingDependencyError(ImportError):
    """An optional library that the chosen method needs is not installed; the message names the extra."""
