"""The errors and warnings of lagbc, and how it warns."""

from __future__ import annotations

import sys
import warnings
from typing import Any

# A warning is for whoever called lagbc, also where others stand between the two: NetworkX, which calls backends, and
# the import of a module.
_PASSED_OVER = ("lagbc", "networkx", "importlib")


# Characters of a message, and how many of them are its beginning where the middle is left out.
_LONGEST, _BEGINNING = 300, 150


def shortened(message: str) -> str:
    """Leave out the middle of a long message: values stand there, between their name and the advice."""
    if len(message) <= _LONGEST:
        return message
    gap = " ... "
    return message[:_BEGINNING] + gap + message[_BEGINNING + len(gap) - _LONGEST :]


class Error(Exception):
    """The base of all errors that lagbc raises on purpose; each is the built-in error of its kind, too.

    Of a long message the middle is left out.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*(shortened(arg) if isinstance(arg, str) else arg for arg in args))


class InvalidValueError(Error, ValueError):
    """An argument, a graph or a file holds a value that is none of those it may hold."""


class InvalidTypeError(Error, TypeError):
    """An argument is of a type that it may not be of."""


class OutOfMemoryError(MemoryError, Error):
    """A call needs more memory than the budget, or than there is."""

    # MemoryError, which makes its instances in a way of its own, makes none of classes whose first base is another.
    __init__ = Error.__init__


class OutOfRangeError(Error, OverflowError):
    """A result, or a number on the way to it, is more than float64 holds."""


class FileError(Error, OSError):
    """A file cannot be read or written, as where it is a folder, or there is no room for it."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no file or folder of a name."""


class RunError(Error, RuntimeError):
    """All devices, a worker or a rank failed."""


class StoppedError(Error, RuntimeError):
    """A run ended because ``stop=`` asked for it; its checkpoint, if it has one, holds what was done."""


class GraphFormatError(Error, ValueError):
    """A graph file cannot be read; the message gives the file, the line and what was expected there."""


class CheckpointError(Error, ValueError):
    """A checkpoint is damaged or belongs to another graph or call, and is left as it is; or it cannot be written."""


class ExecutorError(Error, RuntimeError):
    """The executor of a run broke or gave a task up, as where a worker was killed; a checkpoint holds what was done."""


class PartError(Error, ValueError):
    """The parts of a run cannot be merged: one is missing, damaged, there twice, or of another graph or call."""


class MissingDependencyError(Error, ImportError):
    """An optional library that the chosen method needs is not installed; the message names the extra."""


class GraphFileWarning(UserWarning):
    """A file or columns of edges were read, but not as one may take for granted; the message says what was decided."""


class TieWarning(UserWarning):
    """Paths that are equally long in exact numbers may not be so in float64, and are then not counted as such."""


class MemoryWarning(RuntimeWarning):
    """The run goes on with a smaller batch or fewer threads than was planned, because memory ran out."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn of the line that called lagbc, however deep inside the call the reason is found."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_OVER and frame.f_back is not None:
        frame = frame.f_back
    warnings.warn_explicit(
        shortened(message),
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )
