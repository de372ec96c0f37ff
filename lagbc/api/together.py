"""Several centralities from one sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from lagbc.api.keywords import OfPairs
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute, find_all
from lagbc.options import Options, refuses_places
from lagbc.scores.registry import usual
from lagbc.types import (
    Auto,
    CentralityName,
    ColumnsOfScores,
    DemandLike,
    GraphLike,
    One,
    Scores,
    Several,
    Vertices,
)

_Which: TypeAlias = CentralityName | Iterable[CentralityName] | None


class _Common(OfPairs, total=False):
    endpoints: bool
    wf_improved: bool
    log2: bool


class OfAll(_Common, total=False):
    """Keywords of `centralities` but for `cutoff` and `decay`."""

    standard_error: Literal[False]


class OfAllAndErrors(_Common):
    """The same, for scores and their standard errors."""

    standard_error: Literal[True]


@overload
def centralities(
    A: GraphLike, which: _Which = ..., *, cutoff: One | None = ..., decay: One | None = ..., **others: Unpack[OfAll]
) -> Scores: ...
@overload
def centralities(
    A: GraphLike, which: _Which = ..., *, cutoff: Several, decay: ArrayLike | None = ..., **others: Unpack[OfAll]
) -> ColumnsOfScores: ...
@overload
def centralities(
    A: GraphLike, which: _Which = ..., *, cutoff: One | None = ..., decay: Several, **others: Unpack[OfAll]
) -> ColumnsOfScores: ...
@overload
def centralities(
    A: GraphLike,
    which: _Which = ...,
    *,
    cutoff: One | None = ...,
    decay: One | None = ...,
    **others: Unpack[OfAllAndErrors],
) -> tuple[Scores, Scores]: ...
@overload
def centralities(
    A: GraphLike,
    which: _Which = ...,
    *,
    cutoff: Several,
    decay: ArrayLike | None = ...,
    **others: Unpack[OfAllAndErrors],
) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
@overload
def centralities(
    A: GraphLike, which: _Which = ..., *, cutoff: One | None = ..., decay: Several, **others: Unpack[OfAllAndErrors]
) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
@refuses_places
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = None,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    source_weights: ArrayLike | Mapping[Any, float] | None = None,
    target_weights: ArrayLike | Mapping[Any, float] | None = None,
    demand: DemandLike | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    wf_improved: bool = True,
    log2: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> Any:
    """Compute several centralities from one sweep.

    Parameters
    ----------
    A : as for `lagbc.bc`
    which : str or several
        Names of functions: of `lagbc.types.CentralityName`, or added by `lagbc.register_centrality`. By default "bc",
        "closeness", "harmonic", "eccentricity" and "stress", without functions that do not take the given `sources`,
        `k` and so on: a sample has no eccentricity.
    batch, directed, weighted, strength : as for `lagbc.bc`
    sources, targets, source_weights, target_weights, demand, cutoff : as for `lagbc.bc`
        They go to all functions, and are an error if they mean nothing to one.
    decay, rtol : as for `lagbc.bc`
        They go to the functions that take them. With several decays, scores of a function that takes none have a column
        for each cutoff alone.
    k, rng : as for `lagbc.bc`
        They go to all functions, as `sources` does.
    normalized, endpoints, wf_improved, log2
        As for the functions that take them; each goes to these.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : dict
        The result of each function by its name, in the order of `which`. The same bits as from the function on the CPU
        by "batched". With `standard_error` a pair of dicts, the second one of errors.

    Raises
    ------
    The errors of the functions. ValueError, if there is no centrality of a name.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.centralities(star, ("bc", "eccentricity"), directed=False)
    {'bc': array([3., 0., 0., 0.]), 'eccentricity': array([1., 2., 2., 2.])}
    """
    arguments = Arguments(
        sources=sources,
        targets=targets,
        source_weights=source_weights,
        target_weights=target_weights,
        demand=demand,
        cutoff=cutoff,
        decay=decay,
        rtol=rtol,
        k=k,
        rng=rng,
        normalized=normalized,
        endpoints=endpoints,
        wf_improved=wf_improved,
        log2=log2,
    )
    asked = usual(arguments) if which is None else find_all(which)
    return compute(A, asked, batch, Read(directed, weighted, strength), options, arguments, standard_error)
