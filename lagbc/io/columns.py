"""The columns of a file, as a caller names them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lagbc.errors import InvalidTypeError, InvalidValueError


@dataclass(slots=True)
class Columns:
    """Columns named by a caller; the first lines of the file tell a field that is None."""

    ends: tuple[int | str, int | str] | None = None  # of tails and heads, counted from 1, or their titles
    length: int | str | None = None  # of lengths; or the attribute of edges that holds them
    header: bool | None = None  # whether titles stand above the edges
    names: bool | None = None  # True: vertices are names, even if they look like integers

    def __post_init__(self) -> None:
        is_one = isinstance(self.ends, str | int)
        if self.ends is not None and (is_one or len(tuple(self.ends)) != 2):
            raise InvalidTypeError(f"ends={self.ends!r}: it is a pair of columns, e.g. (1, 2) or ('from', 'to')")
        for name, column in (("ends", end) for end in self.ends or ()):
            _require_column(name, column)
        if self.length is not None:
            _require_column("length", self.length)
        for name in ("header", "names"):
            if getattr(self, name) not in (None, True, False):
                raise InvalidTypeError(f"{name}={getattr(self, name)!r} is neither True nor False")

    @property
    def given(self) -> list[str]:
        """Names of the fields given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]


def _require_column(name: str, column: object) -> None:
    if isinstance(column, bool) or not isinstance(column, int | str):
        raise InvalidTypeError(f"{name} holds {column!r}, which is neither the title of a column nor its place")
    if isinstance(column, int) and column < 1:
        raise InvalidValueError(f"{name} holds {column}; columns are counted from 1")
