"""Titles of columns of scores, one for each cutoff and decay of a call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

from lagbc.errors import InvalidValueError

Column = TypeVar("Column")


def title_of(cutoff: float | None, decay: float | None) -> str:
    """Return the title of a column: its cutoff and its decay, unless they are None."""
    named = (("cutoff", cutoff), ("decay", decay))
    return ", ".join(f"{name} {float(one)!r}".removesuffix(".0") for name, one in named if one is not None)


def titled(name: str, columns: Sequence[Column], cutoff: Any, decay: Any) -> dict[str, Column]:
    """Return columns by titles of cutoffs and decays, the first cutoff first; ValueError for another number of them."""
    from lagbc.request import parse_cutoffs, parse_decays  # the program's help has titles, and no NumPy

    cutoffs = [None] if cutoff is None else parse_cutoffs(cutoff).tolist()
    decays = [None] if decay is None else parse_decays(decay).tolist()
    bounds = [*product(cutoffs, decays)]
    if len(bounds) == len(columns):
        return dict(zip((title_of(*one) for one in bounds), columns, strict=True))
    given = " and ".join(word for word, one in (("cutoff", cutoff), ("decay", decay)) if one is not None)
    raise InvalidValueError(
        f"{name} has {len(columns)} columns, "
        + (f"but there are {len(bounds)} of {given}" if given else "pass the cutoff= and decay= that they are of")
    )
