"""Integers as text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Python itself refuses to turn thousands of digits into a number.
_INTEGER = re.compile(rb"([+-]?)0*([0-9]{1,19})")


def is_int64(text: bytes) -> bool:
    """Whether this is an integer that int64 holds."""
    match = _INTEGER.fullmatch(text)
    return match is not None and -(2**63) <= int(match[1] + match[2]) < 2**63


@contextmanager
def integers_read_strictly() -> Iterator[None]:
    """Make NumPy before 2.4 raise where it only deprecates '1.0' as an integer and text after the last number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        yield
