"""Lines of text into fields, and fields into numbers, by compiled loops over the bytes of a piece of a file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.io.edges.fields import is_float
from lagbc.native import core

# Where fields begin and end in a text.
Field = tuple[NDArray[np.int64], NDArray[np.int64]]


class Lines(NamedTuple):
    """The lines of a piece of a file that are no comments.

    Attributes
    ----------
    text : ndarray of uint8
    fields : list of pairs of arrays
        Where the wanted fields of all lines are.
    numbers : ndarray of int64
        Of the lines, the first of the piece being 0.
    comments : int
    wrong : int
        The first line that has another number of fields, after which none is read, or -1.
    """

    text: NDArray[np.uint8]
    fields: list[Field]
    numbers: NDArray[np.int64]
    comments: int
    wrong: int


def split_lines(piece: bytes, separator: bytes, columns: int, wanted: list[int], *, glued: bool) -> Lines:
    """Split whole lines, of so many fields each, as `lagbc.io.edges.fields.split_line` does one."""
    text = np.frombuffer(bytearray(piece), np.uint8)
    sought, which = np.unique(np.array(wanted, np.int64), return_inverse=True)
    room = piece.count(b"\n")
    starts, stops = np.empty((2, len(sought), room), np.int64)
    numbers = np.empty(room, np.int64)
    count, comments, wrong = core.split_lines(text, separator[0], columns, sought, glued, starts, stops, numbers)
    fields = [(starts[column, :count], stops[column, :count]) for column in which]
    return Lines(text, fields, numbers[:count], comments, wrong)


def read_integers(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Read fields as integers of 64 bits; also return the first that is none, or -1."""
    values = np.empty(len(starts), np.int64)
    return values, core.parse_integers(text, starts, stops, values)


def read_floats(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Read fields as floats; also return the first that is none, or -1."""
    values, hard = core.parse_floats(text, starts, stops)
    for i in hard.tolist():
        number = text[starts[i] : stops[i]].tobytes()
        if not is_float(number):
            return values, i
        values[i] = float(number)
    return values, -1
