"""Networks that come with lagbc, and files of graphs, read a piece at a time within the memory budget."""

from __future__ import annotations

import codecs
import gzip
import io
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, cast

from lagbc.errors import (
    GraphFormatError,
    InvalidValueError,
    MissingFileError,
    OutOfMemoryError,
    UnusableFileError,
    did_you_mean,
)
from lagbc.limits import in_units, raised_by

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


_DATA = Path(__file__).parent.parent / "data"
_SUFFIX = ".mtx.gz"
_COORDINATES = ".xy.csv.gz"
# Begins the name of a network that comes with lagbc; any other name is a path.
EXAMPLE = "example:"
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"
# Most bytes that a byte of DEFLATE becomes.
_GZIP_RATIO = 1032
# Copies of a line in memory while it is checked and split.
_COPIES_OF_A_LINE = 4
# Called with the number of stored bytes that were read, and of all; a file may be read more than once.
Reporter = Callable[[int, int], object]


def example_names() -> list[str]:
    """Return the names of the networks that come with lagbc, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _DATA.glob("*" + _SUFFIX))


def example_path(name: str) -> Path:
    """Return the path of a network that comes with lagbc; its file numbers the vertices, and has no names.

    Parameters
    ----------
    name : str
        "ca-GrQc", "karate", "lesmis", "minnesota", "power" or "us-airports".

    Returns
    -------
    pathlib.Path
        A Matrix Market file, gzip-compressed, for `read_graph`.

    Raises
    ------
    ValueError
        If there is no network of this name; the message lists all names.
    """
    names = example_names()
    if name not in names:
        there = did_you_mean(name, names, f"there are: {', '.join(names)}")
        raise InvalidValueError(f"no shipped network is called {name!r}; {there}")
    return _DATA / (name + _SUFFIX)


def example_coordinates(name: str) -> Path | None:
    """Return the path of the coordinates of a network that comes with lagbc; None if it has none."""
    path = _DATA / (name + _COORDINATES)
    return path if path.exists() else None


def find_source(path: Path, name: str, budget: int, report: Reporter | None = None) -> Source:
    """Open a file or a pipe, which is read to its end; devices are refused, as they need not end."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" in {str(Path.cwd())!r}"
        raise MissingFileError(f"there is no file {name!r}{where}") from None
    if stat.S_ISDIR(mode):
        raise UnusableFileError(f"{name} is a folder, not a file")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise GraphFormatError(f"{name}: this is a device; expected a file or a pipe")
    source = Source(path, name, budget, report=report)
    if not stat.S_ISFIFO(mode):
        return source
    with path.open("rb") as pipe:
        return Source(path, name, budget, kept=_read_all(pipe, source))


class Source(NamedTuple):
    """A file that can be read more than once."""

    path: Path
    name: str  # in messages
    budget: int  # the most bytes of memory for reading
    kept: bytes | None = None  # the whole content, if it came from a pipe
    report: Reporter | None = None  # called whenever bytes were read

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open a stream of the bytes, decompressed, from the start."""
        with self._open_stored() as stored:
            if not _is_gzip(stored):
                yield stored
                return
            with gzip.GzipFile(fileobj=stored) as stream:
                yield cast(BinaryIO, stream)

    def _open_stored(self) -> BinaryIO:
        if self.kept is not None:
            return io.BytesIO(self.kept)
        if self.report is not None:
            return io.BufferedReader(_ReportingFile(self.path, self.report))
        return self.path.open("rb")

    def most_bytes(self) -> int:
        """Bound the number of bytes, decompressed."""
        with self._open_stored() as stored:
            ratio = _GZIP_RATIO if _is_gzip(stored) else 1
            return stored.seek(0, io.SEEK_END) * ratio

    def head(self, size: int) -> bytes:
        """Return the first bytes, without a byte order mark."""
        with self.open() as stream:
            return stream.read(size + len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)[:size]

    def pieces(self, *, below: int = 0) -> Iterator[tuple[int, bytes]]:
        r"""Yield the lines `below` a line in pieces of about a mebibyte, each with the number of its first line.

        Every line, also the last, ends in ``\n`` alone. NULs and single carriage returns, which end a line or the text
        for some parsers, are refused.
        """
        with self.open() as stream:
            for line, piece in self._whole_lines(stream):
                above = max(below + 1 - line, 0)
                if body := piece.split(b"\n", above)[-1] if above else piece:
                    yield line + above, body

    def _whole_lines(self, stream: BinaryIO, last: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the lines to come, or the lines that begin before the byte `last`, as `pieces` does."""
        line = 1
        while read := stream.read(_PIECE if last is None else max(min(last - stream.tell(), _PIECE), 0)):
            if stream.tell() == len(read):
                read = read.removeprefix(codecs.BOM_UTF8)
            parts, above = [read], read.count(b"\n")
            while not parts[-1].endswith(b"\n") and b"\0" not in parts[-1]:
                length = sum(map(len, parts)) - read.rfind(b"\n") - 1
                self.require(_COPIES_OF_A_LINE * length, f"line {line + above}")
                parts.append(stream.readline(_PIECE) or b"\n")
            piece = b"".join(parts)
            if b"\r" in piece:
                piece = piece.replace(b"\r\n", b"\n")
            for byte, subject in ((b"\0", "a NUL byte"), (b"\r", "a carriage return within a line")):
                before, found, after = piece.partition(byte)
                if found:
                    text = before.rpartition(b"\n")[2] + byte + after.partition(b"\n")[0]
                    self.fail(line + before.count(b"\n"), subject, text, r"plain text, lines ending in \n or \r\n")
            yield line, piece
            line += piece.count(b"\n")

    def pieces_of_part(self, *, below: int, number: int, of: int) -> Iterator[tuple[int, bytes]]:
        """Yield part `number` of `of` as `pieces` does: bytes of a plain file, lines from 1 on, or pieces of others."""
        with self._open_stored() as stored:
            if self.kept is not None or _is_gzip(stored):
                every = enumerate(self.pieces(below=below))
                yield from (piece for place, piece in every if place % of == number)
                return
            for _ in range(below):
                stored.readline()
            begin, end = stored.tell(), stored.seek(0, io.SEEK_END)
            first, last = (begin + (end - begin) * part // of for part in (number, number + 1))
            stored.seek(max(begin, first - 1))
            if first > begin:
                stored.readline()  # the end of a line of the part before
            yield from self._whole_lines(stored, last)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of each line."""
        for first, piece in self.pieces():
            yield from enumerate(piece.splitlines(), first)

    def require_utf8(self, line: int, text: bytes) -> None:
        """Raise GraphFormatError for a line that is not UTF-8."""
        try:
            text.decode()
        except UnicodeDecodeError:
            self.fail(line, "text that is not UTF-8", text, "names in UTF-8 (iconv -f latin1 -t utf-8 makes it)")

    def fail(self, line: int, found: str, text: bytes, expected: str) -> NoReturn:
        """Raise GraphFormatError about a line."""
        shown = text[:200].decode("utf-8", "replace").strip()
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise GraphFormatError(f"{self.name}, line {line}: {found}: {shown!r}; expected {expected}")

    def require(self, needed: int, subject: str) -> None:
        """Raise MemoryError if the `subject` needs more bytes than the budget."""
        if needed > self.budget:
            raise OutOfMemoryError(
                f"{self.name}: {subject} needs up to {in_units(needed)} to be read, but the budget is "
                f"{in_units(self.budget)}; {raised_by()}"
            )

    def whole(self) -> bytes:
        """Return all bytes, decompressed, within the budget."""
        with self.open() as stream:
            return _read_all(stream, self)


def _is_gzip(stored: BinaryIO) -> bool:
    begin = stored.read(len(_GZIP))
    stored.seek(0)
    return begin == _GZIP


class _ReportingFile(io.FileIO):
    def __init__(self, path: Path, report: Reporter) -> None:
        super().__init__(path)
        self._size, self._report = self.seek(0, io.SEEK_END), report
        self.seek(0)

    def readinto(self, buffer: WriteableBuffer) -> int:
        count = super().readinto(buffer)
        self._report(self.tell(), self._size)
        return count


def _read_all(stream: BinaryIO, source: Source) -> bytes:
    read = io.BytesIO()
    while piece := stream.read(_PIECE):
        read.write(piece)
        source.require(2 * read.tell(), "its content")
    return read.getvalue()


@contextmanager
def gzip_errors_named(name: str) -> Iterator[None]:
    """Turn errors of a damaged gzip stream into GraphFormatError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphFormatError(f"{name}: the gzip stream is damaged or cut short ({error})") from error
