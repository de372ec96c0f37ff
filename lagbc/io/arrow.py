"""Arrays of Arrow, as any library hands them over: in capsules, with the structs of the C data interface.

https://arrow.apache.org/docs/format/CDataInterface has the structs and the meaning of formats and buffers. Nothing is
copied: arrays of NumPy point into buffers of the library, and keep them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p, pointer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.io.scan import Texts
from lagbc.native import core


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    *(("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64)),
    *(("children", POINTER(POINTER(_Schema))), ("dictionary", POINTER(_Schema))),
    *(("release", CFUNCTYPE(None, POINTER(_Schema))), ("private_data", c_void_p)),
]
_Array._fields_ = [
    *(("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64)),
    *(("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(_Array)))),
    *(("dictionary", POINTER(_Array)), ("release", CFUNCTYPE(None, POINTER(_Array))), ("private_data", c_void_p)),
]
_Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))),
    ("release", CFUNCTYPE(None, POINTER(_Stream))),
    ("private_data", c_void_p),
]

_NUMBERS = dict(zip("cCsSiIlLefg", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"], strict=True))
_OFFSETS = {"u": np.int32, "U": np.int64}
_VIEWS = "vu"
# The most bytes of a text that its view holds itself.
_WITHIN_VIEW = 12
# Types that hold neither vertices nor lengths, by the first letter of their formats.
_OTHERS = {"b": "booleans", "d": "decimals", "t": "times", "+": "lists or records"} | dict.fromkeys("zZvw", "bytes")


class _Owned:
    """A struct that a library filled, released with the last array that points into it."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct

    def __del__(self) -> None:
        if self.struct.release:
            self.struct.release(pointer(self.struct))


class ArrowArray:
    """An array of Arrow: rows of a column, or a table, whose `children` are the columns."""

    def __init__(self, schema: _Schema, array: _Array, owners: Any, first: int = 0, rows: int | None = None) -> None:
        self._schema, self._array, self._owners = schema, array, owners
        self._first = array.offset + first
        self.rows: int = array.length if rows is None else rows
        self.format: str = schema.format.decode()
        self.dictionary: ArrowArray | None = None
        if schema.dictionary:
            self.dictionary = ArrowArray(schema.dictionary[0], array.dictionary[0], owners)

    @property
    def is_text(self) -> bool:
        """Whether rows hold text."""
        return self.format in (*_OFFSETS, _VIEWS)

    @property
    def kind(self) -> str:
        """The word for the values of rows."""
        of = self if self.dictionary is None else self.dictionary
        if of.is_text:
            return "text"
        return _OTHERS.get(of.format[0], "no values" if of.format == "n" else "numbers")

    def children(self) -> list[ArrowArray]:
        """Return the columns of a table."""
        schema, array, first = self._schema, self._array, self._first
        return [
            ArrowArray(schema.children[i][0], array.children[i][0], self._owners, first, self.rows)
            for i in range(schema.n_children)
        ]

    def first_null(self) -> int:
        """Return the first row without a value, or -1."""
        nulls = self._nulls()
        return -1 if nulls is None or not nulls.any() else int(nulls.argmax())

    def _nulls(self) -> NDArray[np.bool_] | None:
        """Tell the rows without a value; None where there is none."""
        if self.format == "n":
            return np.ones(self.rows, np.bool_)
        nulls = None
        if self._array.null_count != 0 and self._array.buffers[0]:
            first, last = self._first, self._first + self.rows
            bits = self._buffer(0, (last + 7) // 8, np.uint8)[first // 8 :]
            nulls = np.unpackbits(bits, bitorder="little")[first % 8 :][: self.rows] == 0
        if self.dictionary is not None and (of_values := self.dictionary._nulls()) is not None:
            of_rows = np.append(of_values, True)[self.codes(nulls)]
            nulls = of_rows if nulls is None else nulls | of_rows
        return nulls

    def numbers(self) -> NDArray[Any] | None:
        """Return rows of numbers, NaN where there is no value; None if rows hold other values."""
        nulls = self._nulls()
        if self.dictionary is not None:
            values = self.dictionary.numbers()
            values = None if values is None else np.append(values, values.dtype.type())[self.codes(nulls)]
        elif self.format in _NUMBERS:
            values = self._buffer(1, self._first + self.rows, _NUMBERS[self.format])[self._first :]
        else:
            values = None
        if values is not None and nulls is not None and nulls.any():
            values = values.astype(np.float64)
            values[nulls] = np.nan
        return values

    def codes(self, nulls: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the codes of rows, places in the dictionary; any where there is no value."""
        assert self.dictionary is not None
        stored = self._buffer(1, self._first + self.rows, _NUMBERS[self.format])[self._first :]
        codes = stored.astype(np.int64)
        if nulls is not None:
            codes[nulls] = 0
        elif len(codes) and not 0 <= codes.min() <= codes.max() < self.dictionary.rows:
            raise InvalidValueError(f"Arrow's codes go from {codes.min()} to {codes.max()}, but not its dictionary")
        return codes

    def part(self, begin: int, end: int) -> ArrowArray:
        """Return rows begin:end."""
        first = self._first - self._array.offset + begin
        return ArrowArray(self._schema, self._array, self._owners, first, end - begin)

    def texts(self) -> Texts:
        """Return rows of text."""
        if self.format == _VIEWS:
            return self._texts_of_views()
        offsets = self._buffer(1, self._first + self.rows + 1, _OFFSETS[self.format])
        bounds = offsets[self._first :].astype(np.int64)
        return Texts(self._buffer(2, int(bounds[-1]), np.uint8), bounds[:-1], bounds[1:])

    def _texts_of_views(self) -> Texts:
        views = self._buffer(1, 16 * (self._first + self.rows), np.uint8).reshape(-1, 16)[self._first :].copy()
        if (nulls := self._nulls()) is not None:
            views[nulls] = 0  # a view without a value may hold anything
        heads = views.view(np.int32)  # the size, its beginning, the buffer and the place there
        buffers = [self._array.buffers[i] or 0 for i in range(2, self._array.n_buffers - 1)]
        self._require_inside(heads[:, 0], heads[:, 2], heads[:, 3].astype(np.int64), len(buffers))
        stops = np.cumsum(heads[:, 0], dtype=np.int64)
        text = np.empty(stops[-1] if len(stops) else 0, np.uint8)
        core.join_views(views, np.array(buffers, np.uint64).view(np.int64), text)
        return Texts(text, np.append(0, stops[:-1]), stops)

    def _require_inside(self, sizes: NDArray[Any], buffers: NDArray[Any], places: NDArray[Any], count: int) -> None:
        """Raise ValueError for a view of more bytes than its buffer, one of `count`, has behind its place."""
        room = np.append(self._buffer(self._array.n_buffers - 1, count, np.int64), np.iinfo(np.int64).min)
        far = np.flatnonzero(sizes > _WITHIN_VIEW)
        is_there = (buffers[far] >= 0) & (buffers[far] < count) & (places[far] >= 0)
        wrong = sizes < 0
        wrong[far] = places[far] + sizes[far] > room[np.where(is_there, buffers[far], count)]
        if wrong.any():
            row = int(wrong.argmax())
            raise InvalidValueError(
                f"Arrow's view in row {row} is of {sizes[row]} bytes from byte {places[row]} on of buffer "
                f"{buffers[row]}, which has not as many"
            )

    def is_same(self, other: ArrowArray) -> bool:
        """Whether two arrays are rows of the same buffers; both are kept until then."""
        ours, theirs = (
            (array.format, array._first, array.rows, [array._array.buffers[i] for i in range(array._array.n_buffers)])
            for array in (self, other)
        )
        return ours == theirs

    def _buffer(self, number: int, size: int, kind: Any) -> NDArray[Any]:
        """Return the first items of a buffer, as an array that keeps its owners."""
        kind = np.dtype(kind)
        if not size or not (address := self._array.buffers[number]):
            return np.zeros(size, kind)
        memory = (ctypes.c_char * (size * kind.itemsize)).from_address(address)
        memory.owners = self._owners
        array: NDArray[Any] = np.frombuffer(memory, kind)
        return array


def holds_arrow(given: Any) -> bool:
    """Whether an object hands over arrays of Arrow."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


@contextmanager
def arrow_stream(name: str, given: Any) -> Iterator[ArrowStream]:
    """Open the stream of an object, which may hold a cursor of a database, and end it."""
    stream = ArrowStream(name, given)
    try:
        yield stream
    finally:
        stream.close()


class ArrowStream:
    """The arrays that an object hands over, one after the other.

    `titles` names the columns of a table, and `are_numbers` tells which columns hold numbers; both are None without a
    table.
    """

    def __init__(self, name: str, given: Any) -> None:
        self._name = name
        if hasattr(given, "__arrow_c_stream__"):
            self._capsule = given.__arrow_c_stream__()
            self._stream = _struct_in(self._capsule, b"arrow_array_stream", _Stream)
            self._schema = _Owned(_Schema())
            self._check(self._stream.get_schema(pointer(self._stream), pointer(self._schema.struct)))
            schema = self._schema.struct
        else:
            self._capsule = given.__arrow_c_array__()
            schema = _struct_in(self._capsule[0], b"arrow_schema", _Schema)
        self._root = schema
        self.titles: list[str] | None = None
        self.are_numbers: list[bool] | None = None
        if schema.format == b"+s":
            fields = [schema.children[i][0] for i in range(schema.n_children)]
            self.titles = [(field.name or b"").decode() for field in fields]
            self.are_numbers = [field.format.decode() in _NUMBERS and not field.dictionary for field in fields]

    def __iter__(self) -> Iterator[ArrowArray]:
        if isinstance(self._capsule, tuple):
            yield ArrowArray(self._root, _struct_in(self._capsule[1], b"arrow_array", _Array), self._capsule)
            return
        while True:
            owned = _Owned(_Array())
            self._check(self._stream.get_next(pointer(self._stream), pointer(owned.struct)))
            if not owned.struct.release:
                return
            yield ArrowArray(self._root, owned.struct, (self._schema, owned))

    def close(self) -> None:
        """End and release the stream; its arrays stay."""
        if not isinstance(self._capsule, tuple) and self._stream.release:
            self._stream.release(pointer(self._stream))

    def _check(self, code: int) -> None:
        if code:
            reason = self._stream.get_last_error(pointer(self._stream)) or b"no reason is given"
            raise InvalidValueError(f"{self._name}: the stream of Arrow fails: {reason.decode('utf-8', 'replace')}")


def _struct_in(capsule: Any, name: bytes, kind: Any) -> Any:
    """Return the struct in a capsule, which owns it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    try:
        struct = kind.from_address(get(capsule, name))
    except ValueError as error:
        raise InvalidTypeError(f"a capsule of Arrow holds no {name.decode()}: {error}") from error
    struct.capsule = capsule
    return struct
