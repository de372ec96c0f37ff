"""Several centralities from one sweep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from lagbc.centrality.compute import compute
from lagbc.centrality.keywords import OfAny
from lagbc.centrality.registry import Arguments, that_take
from lagbc.plan.options import Options
from lagbc.types import Auto, CentralityName, ColumnsOfScores, DemandLike, GraphLike, One, Scores, Several

FIVE: tuple[CentralityName, ...] = ("bc", "closeness", "harmonic", "eccentricity", "stress")


@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: One | None = ...,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfAny],
) -> Scores: ...
@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: Several,
    decay: ArrayLike | None = ...,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfAny],
) -> ColumnsOfScores: ...
@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: Several,
    standard_error: Literal[False] = ...,
    **others: Unpack[OfAny],
) -> ColumnsOfScores: ...
@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: One | None = ...,
    standard_error: Literal[True],
    **others: Unpack[OfAny],
) -> tuple[Scores, Scores]: ...
@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: Several,
    decay: ArrayLike | None = ...,
    standard_error: Literal[True],
    **others: Unpack[OfAny],
) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
@overload
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = ...,
    batch: int | Auto = ...,
    *,
    cutoff: One | None = ...,
    decay: Several,
    standard_error: Literal[True],
    **others: Unpack[OfAny],
) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None = None,
    batch: int | Auto = "auto",
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    source_weights: ArrayLike | None = None,
    target_weights: ArrayLike | None = None,
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
) -> Scores | ColumnsOfScores | tuple[Scores, Scores] | tuple[ColumnsOfScores, ColumnsOfScores]:
    """Compute several centralities from one sweep.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    which : "bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress", "reach", \
"gravity", or several
        The functions of these names say what they are. Those of `lagbc.register_centrality` are there, too. By default
        those of "bc", "closeness", "harmonic", "eccentricity" and "stress" that take the `sources`, `k` and so on that
        are given: from a sample there is no eccentricity.
    sources, targets, source_weights, target_weights, demand, cutoff, k, rng : as for `lagbc.bc`
        They go to all of them, and are an error if they mean nothing to one.
    decay, rtol, normalized, endpoints, wf_improved, log2
        As for the functions that have them; each goes to those. With several decays, what takes none has a column for
        each cutoff alone.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : dict
        What the function of each name returns, in the order of `which`. The same bits as from it on the CPU by
        "batched". With `standard_error` a pair of such, the second one of errors.

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
    which = that_take(FIVE, arguments) if which is None else which
    return compute(  # type: ignore[no-any-return]
        A, which, batch, directed, weighted, strength, options, arguments, standard_error
    )
