"""Stress of vertices."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.api.keywords import OfSamples
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute
from lagbc.options import Options, refuses_places
from lagbc.scores.records import STRESS
from lagbc.types import Auto, GraphLike, ScoresAndErrors, Vertices


class OfStress(OfSamples, total=False):
    """Keywords of `stress` but for `standard_error`."""

    targets: Vertices | None
    cutoff: ArrayLike | None
    rtol: float | None
    log2: bool


@overload
def stress(
    A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[OfStress]
) -> NDArray[np.float64]: ...
@overload
def stress(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[OfStress]) -> ScoresAndErrors: ...
@refuses_places
def stress(
    A: GraphLike,
    *,
    batch: int | Auto = "auto",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    cutoff: ArrayLike | None = None,
    rtol: float | None = None,
    k: int | None = None,
    rng: int | np.random.Generator | None = None,
    log2: bool = False,
    standard_error: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64] | ScoresAndErrors:
    r"""Stress centrality of every vertex: the number of shortest paths with it in their interior.

    .. math:: T(v) = \sum_{s \ne v} \sum_{t \ne v} \sigma_{st}(v)

    Pairs without a path add nothing. With ``directed=False`` each unordered pair counts once.

    Parameters
    ----------
    A, batch, directed, weighted, strength, sources, targets, cutoff, rtol : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        The sum over `k` roots is scaled by (n - 1) / (sampled roots other than v).
    log2 : bool
        Return the base-2 logarithm, -inf where the score is 0. If a score leaves the range of float64, all are computed
        again, a root at a time.
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. Exact up to 2**53; paths are counted in float64, whatever the dtype. A CuPy
        array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        A score is more than float64 holds, and `log2` is False.
    The errors of `lagbc.bc`.

    Notes
    -----
    The backward sweep of `lagbc.bc` with counts in place of shares: a vertex scores sigma(v) t(v), with t(v) the sum of
    1 + t(w) over the next vertices w on shortest paths.

    References
    ----------
    A. Shimbel, Structural parameters of communication networks, Bull. Math. Biophysics 15 (1953) 501-507.

    U. Brandes, On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008) 136-145.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0, 1.0], offsets=1, shape=(4, 4))
    >>> lagbc.stress(path, directed=False)
    array([0., 2., 2., 0.])
    """
    arguments = Arguments(sources=sources, targets=targets, cutoff=cutoff, rtol=rtol, k=k, rng=rng, log2=log2)
    return compute(A, STRESS, batch, Read(directed, weighted, strength), options, arguments, standard_error)
