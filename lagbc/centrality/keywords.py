"""The keyword arguments of public functions that tell nothing of what these return, for their overloads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lagbc.plan.options import Options
from lagbc.types import DemandLike


class OfSamples(Options, total=False):
    """Those of all functions that take `k`."""

    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: ArrayLike | None
    k: int | None
    rng: int | np.random.Generator | None


class OfDistances(OfSamples, total=False):
    """Those of `lagbc.harmonic`."""

    cutoff: ArrayLike | None


class OfCloseness(OfDistances, total=False):
    """Those of `lagbc.closeness`."""

    wf_improved: bool


class OfStress(OfDistances, total=False):
    """Those of `lagbc.stress`."""

    targets: ArrayLike | None
    rtol: float | None
    log2: bool


class OfEdges(OfSamples, total=False):
    """Those of `lagbc.edge_bc`, of which `cutoff` and `decay` tell whether there is one matrix or several."""

    targets: ArrayLike | None
    source_weights: ArrayLike | None
    target_weights: ArrayLike | None
    demand: DemandLike | None
    rtol: float | None
    normalized: bool


class OfVertices(OfEdges, total=False):
    """Those of `lagbc.bc`."""

    cutoff: ArrayLike | None
    decay: ArrayLike | None
    endpoints: bool


class OfAny(OfEdges, total=False):
    """Those of `lagbc.centralities`."""

    endpoints: bool
    wf_improved: bool
    log2: bool
