"""The exceptions and warnings of lagbc that are not plain ``ValueError`` or ``TypeError``, and how it warns."""

from __future__ import annotations

import sys
import warnings

# A warning is for whoever called lagbc, also where others stand between the two: NetworkX, which calls backends, and
# Numba and the import of a module, in the midst of which functions are compiled.
_PASSED_OVER = ("lagbc", "networkx", "numba", "importlib")


class GraphFormatError(ValueError):
    """A graph file cannot be read; the message gives the file, the line and what was expected there."""


class GraphFileWarning(UserWarning):
    """A graph file was read, but not as a user may take for granted; the message says what was decided."""


class CheckpointError(ValueError):
    """A checkpoint is damaged or belongs to another graph or call, and is left as it is; or it cannot be written."""


class ExecutorError(RuntimeError):
    """The executor of a run broke or gave a task up, as where a worker was killed; a checkpoint holds what was done."""


class PartError(ValueError):
    """The parts of a run cannot be merged: one is missing, damaged, there twice, or of another graph or call."""


class MemoryWarning(RuntimeWarning):
    """The run goes on with a smaller batch or fewer threads than was planned, because memory ran out."""


class MissingDependencyError(ImportError):
    """An optional library that the chosen method needs is not installed; the message names the extra."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn of the line that called lagbc, however deep inside the call the reason is found."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_OVER and frame.f_back is not None:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )
