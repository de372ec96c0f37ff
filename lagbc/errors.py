"""The errors and warnings of lagbc, and the line that a warning names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# Modules between the user's line and the warning: lagbc, NetworkX as it calls backends, and imports.
_PASSED_OVER = ("lagbc", "networkx", "importlib")


# Longest message, and the length of its beginning where the middle is left out, in characters.
_LONGEST, _BEGINNING = 300, 150
# To look for similar names takes about a second among so many.
_MOST_COMPARED = 20_000


def shortened(message: str) -> str:
    """Leave out the middle of a long message: values stand there, between their name and the advice."""
    if len(message) <= _LONGEST:
        return message
    gap = " ... "
    return message[:_BEGINNING] + gap + message[_BEGINNING + len(gap) - _LONGEST :]


def quantity(count: int, one: str, many: str = "") -> str:
    """Return a number with a noun, in the singular for 1."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def nearest_names(wrong: object, names: Collection[Any]) -> list[str]:
    """Return at most three names similar to a wrong one, the most similar first, or itself; none among very many."""
    from difflib import get_close_matches

    if not isinstance(wrong, str) or len(names) > _MOST_COMPARED:
        return []
    return [wrong] if wrong in names else get_close_matches(wrong, [name for name in names if isinstance(name, str)])


def did_you_mean(wrong: object, names: Collection[Any], otherwise: str) -> str:
    """Return the question whether similar names are meant, or of a mapping their values; `otherwise` without any."""
    near = nearest_names(wrong, names)
    meant = dict.fromkeys(names[name] if isinstance(names, Mapping) else name for name in near)
    return f"did you mean {' or '.join(map(repr, meant))}?" if meant else otherwise


def unknown_argument(name: str, taken: Sequence[str], meant: str | None, otherwise: str) -> InvalidTypeError:
    """Make the error of a keyword argument that a function lacks: it names the `meant` or a similar one, if `taken`."""
    from difflib import get_close_matches

    meant = meant if meant in taken else next(iter(get_close_matches(name, taken, 1)), None)
    instead = otherwise if meant is None else f"did you mean {meant}=?"
    return InvalidTypeError(f"there is no argument {name!r}; {instead}")


class Error(Exception):
    """The base of all errors that lagbc raises on purpose; each is the built-in error of its kind, too.

    A long message loses its middle.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*(shortened(arg) if isinstance(arg, str) else arg for arg in args))


class InvalidValueError(Error, ValueError):
    """An argument, a graph or a file holds a value outside the allowed ones."""


class InvalidTypeError(Error, TypeError):
    """An argument has a type outside the allowed ones."""


class OutOfMemoryError(MemoryError, Error):
    """A call needs more memory than the budget, or than the machine has."""

    # MemoryError.__new__ makes no instance of a class whose first base is another; hence the order, and this line.
    __init__ = Error.__init__


class OutOfRangeError(Error, OverflowError):
    """A result, or a number on the way to it, exceeds float64."""


class FileError(Error, OSError):
    """A file cannot be read or written: it is a folder, for example, or the disk is full."""


class MissingFileError(FileError, FileNotFoundError):
    """No file or folder has this name."""


class UnusableFileError(FileError, ValueError):
    """No file of this name can be read or written by this user: it is a folder, for example."""


class RunError(Error, RuntimeError):
    """All devices, a worker or a rank failed."""


class StoppedError(Error, RuntimeError):
    """A run ended because ``stop=`` asked for its end; its checkpoint, if it has one, holds the sums so far."""


class GraphFormatError(Error, ValueError):
    """A graph file cannot be read; the message gives the file, the line and the expected content."""


class CheckpointError(Error, ValueError):
    """A checkpoint is damaged or belongs to another graph or call, and is left as it is; or its path is none."""


class ExecutorError(Error, RuntimeError):
    """The executor of a run broke or gave a task up, as where a worker was killed; a checkpoint holds its sums."""


class PartError(Error, ValueError):
    """The parts of a run cannot be merged: one is missing, damaged, there twice, or of another graph or call."""


class MissingDependencyError(Error, ImportError):
    """An optional library that the chosen method needs is not installed; the message names the extra."""


@contextmanager
def needed(subject: str, package: str, extra: str) -> Iterator[None]:
    """Import a package in the block; MissingDependencyError says about the subject how the package is installed."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"{subject}: pip install {package}; or pip install 'lagbc[{extra}]', in a checkout '.[{extra}]'"
        ) from error


class GraphFileWarning(UserWarning):
    """A file or columns of edges were read, but not as a reader may expect; the message tells the decision."""


class TieWarning(UserWarning):
    """Paths of equal length in exact numbers may differ in float64; they then do not count as ties."""


class MemoryWarning(RuntimeWarning):
    """The run goes on with a smaller batch or fewer threads than planned, because memory ran out."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line that called lagbc, however deep inside the call the reason lies."""
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
