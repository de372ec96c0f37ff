"""The public functions of scores: each packs its arguments, and has its record of `scores/records.py` computed.

The classes here are keywords that the overloads of several functions have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lagbc.options import Options
from lagbc.types import Auto, DemandLike, Vertices


class OfSamples(Options, total=False):
    """Keywords of sums over roots."""

    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    k: int | None
    rng: int | np.random.Generator | None


class OfPairs(OfSamples, total=False):
    """Keywords of sums over paths between pairs of vertices."""

    targets: Vertices | None
    source_weights: ArrayLike | Mapping[Any, float] | None
    target_weights: ArrayLike | Mapping[Any, float] | None
    demand: DemandLike | None
    rtol: float | None
    normalized: bool
