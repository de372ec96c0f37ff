"""Files that appear once they are whole: a file is written beside its predecessor, and then takes its name."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from lagbc.errors import FileError, MissingFileError, UnusableFileError

# Ending of the name of an unfinished file, behind eight hexadecimal digits.
UNFINISHED = ".lagbc-part"


def require_name(path: Path) -> None:
    """Raise FileError if no file can have this name, or if its unfinished form cannot."""
    try:
        for one in (path, _beside(path)):
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                os.lstat(one)
    except ValueError:
        raise UnusableFileError(f"{str(path)!r} holds a NUL, which is in no name of a file") from None
    except OSError as error:
        raise UnusableFileError(f"{str(path)!r} is no name of a file that can be written: {error.strerror}") from None


def require_writable(path: Path) -> None:
    """Raise FileError if a file cannot be written; to be called before anything is computed."""
    require_name(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise MissingFileError(f"{path} cannot be written: there is no folder {str(folder)!r}")
    if path.is_dir():
        raise UnusableFileError(f"{path} cannot be written: it is a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UnusableFileError(f"{path} cannot be written: this user may make no file in {str(folder)!r}")


@contextmanager
def write_whole(path: Path, *, lasting: bool = True) -> Iterator[BinaryIO]:
    """Write a file that appears once it is whole; until then its predecessor stays, whatever happens.

    A link is followed. A pipe or a device is written directly. The file takes over the permissions of its predecessor.
    A `lasting` file is on the disk before it has its name, so that a crash of the machine leaves the old file or the
    new one. FileError says why a file cannot be written, and after how many bytes.
    """
    target = Path(os.path.realpath(path))
    is_special = target.exists() and not target.is_file()
    begun = target if is_special else _beside(target)
    raw = _Named(path, begun, "w" if is_special else "x", held=target.is_file())
    try:
        with io.BufferedWriter(raw) as file:
            try:
                yield file
            except BaseException:
                raw.close()  # else the buffer is written, and an error of that would hide this one
                raise
            file.flush()
            if lasting and not is_special:
                with raw.named():
                    os.fsync(raw.fileno())
        if not is_special:
            with raw.named():
                if target.exists():
                    begun.chmod(stat.S_IMODE(target.stat().st_mode))
                begun.replace(target)
    finally:
        if not is_special:
            begun.unlink(missing_ok=True)


def remove_unfinished(path: Path) -> None:
    """Remove unfinished forms of a file that killed processes have left."""
    from glob import escape

    for left in path.parent.glob(f"{escape(path.name)}.{'?' * 8}{UNFINISHED}"):
        left.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.urandom(4).hex()}{UNFINISHED}")


class _Named(io.FileIO):
    """A file whose errors name the caller's path and the count of bytes written."""

    def __init__(self, path: Path, begun: Path, mode: str, *, held: bool) -> None:
        self._path, self._count, self._held = path, 0, held
        with self.named():
            super().__init__(begun, mode)

    def write(self, data: Any) -> int:
        with self.named():
            count = super().write(data)
        self._count += count
        return count

    @contextmanager
    def named(self) -> Iterator[None]:
        """Turn an error of the system into a FileError."""
        try:
            yield
        except OSError as error:
            kept = "; it holds what it held before" if self._held else ""
            raise FileError(
                f"{self._path} could not be written: {error.strerror} after {self._count:,} bytes{kept}"
            ) from error
