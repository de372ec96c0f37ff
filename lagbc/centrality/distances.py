"""Centralities made of distances alone: closeness, harmonic centrality, eccentricity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lagbc.centrality.declare import SAMPLES, centrality

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lagbc.centrality.registry import Arguments
    from lagbc.run.execute import Result


@centrality(
    sums={"reached", "distance"},
    takes={*SAMPLES, "wf_improved"},
    summary="closeness: one over the mean distance into a vertex",
    networkx=("closeness_centrality",),
)
def closeness(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    r"""Measure the closeness centrality of every vertex, by the distances into it, as NetworkX does.

    With :math:`R(v)` the vertices s other than v that reach v,

    .. math:: C(v) = \frac{|R(v)|}{n - 1} \frac{|R(v)|}{\sum_{s \in R(v)} d(s, v)},

    and 0 if no vertex reaches v. Pairs without a path only lower the first factor. For distances out of each vertex
    pass ``A.T``.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, optional
        Take the distances from these s only. Distinct vertices.
    cutoff : as for `lagbc.bc`
        Vertices farther away do not count as reaching v.
    k, rng : as for `lagbc.bc`
        Sums over `k` roots are scaled by (n - 1) / (sampled roots other than v).
    wf_improved : bool
        False leaves out the first factor, which lowers the score if few vertices reach v (Wasserman and Faust).
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        Lengths sum to more than float64 holds.
    ValueError
        A length is so small that a score is more than float64 holds.
    The errors of `lagbc.bc`.

    References
    ----------
    L. C. Freeman, Centrality in social networks: conceptual clarification, Social Networks 1 (1978) 215-239.

    S. Wasserman and K. Faust, Social Network Analysis, Cambridge University Press (1994), p. 201.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.closeness(star, directed=False)
    array([1. , 0.6, 0.6, 0.6])
    """
    from lagbc.centrality import finish

    return finish.closeness(result, arguments)


@centrality(
    sums={"inverse"},
    takes=SAMPLES,
    summary="harmonic centrality: the sum of inverse distances into a vertex",
    networkx=("harmonic_centrality",),
)
def harmonic(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    r"""Harmonic centrality of every vertex, by the distances into it, as in NetworkX.

    .. math:: H(v) = \sum_{s \ne v} 1 / d(s, v)

    A pair without a path adds 0, as if its distance were infinite. For distances out of each vertex pass ``A.T``.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    sources : array of int, optional
        Take the distances from these s only. Distinct vertices.
    cutoff : as for `lagbc.bc`
    k, rng : as for `lagbc.bc`
        Sums over `k` roots are scaled by (n - 1) / (sampled roots other than v).
    standard_error : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    OverflowError
        Inverse lengths sum to more than float64 holds.
    ValueError
        A length is so small that float64 does not hold its inverse.
    The errors of `lagbc.bc`.

    References
    ----------
    P. Boldi and S. Vigna, Axioms for centrality, Internet Mathematics 10 (2014) 222-262.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> star = sp.coo_array(([1, 1, 1], ([0, 0, 0], [1, 2, 3])), shape=(4, 4))
    >>> lagbc.harmonic(star, directed=False)
    array([3., 2., 2., 2.])
    """
    from lagbc.centrality import finish

    return finish.require_inverses(finish.of_all_roots(result.sums.inverse, result), result)


@centrality(
    sums={"depth"},
    takes={"cutoff"},
    summary="eccentricity: the largest distance out of a vertex",
    networkx=("eccentricity", "diameter", "radius", "center", "periphery"),
)
def eccentricity(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    r"""Eccentricity of every vertex, its largest distance to a vertex that it reaches.

    .. math:: E(v) = \max_{t :\, d(v, t) < \infty} d(v, t)

    Vertices that v does not reach are left out (NetworkX raises an error); a vertex that reaches none has 0.

    Parameters
    ----------
    A, batch, directed, weighted, strength, cutoff : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    eccentricities : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    P. Hage and F. Harary, Eccentricity and centrality in networks, Social Networks 17 (1995) 57-63.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.eccentricity(path)
    array([2., 1., 0.])
    """
    return result.sums.depth.copy()  # type: ignore[no-any-return]


@centrality(sums={"depth"}, takes={"cutoff"}, summary="(n - 1) over the eccentricity")
def eccentricity_centrality(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    r"""Eccentricity centrality of every vertex, as in gpu-fan: (n - 1) / `lagbc.eccentricity`.

    Vertices that v does not reach are left out; a vertex that reaches none scores 0.

    Parameters
    ----------
    A, batch, directed, weighted, strength, cutoff : as for `lagbc.bc`
    **options : how the run is carried out, see `lagbc.Options`

    Returns
    -------
    scores : ndarray of float64, shape (n,)
        With several cutoffs a column each. A CuPy array if `A` is a CuPy matrix.

    Raises
    ------
    The errors of `lagbc.bc`.

    References
    ----------
    Z. Shi and B. Zhang, Fast network centrality analysis using GPUs, BMC Bioinformatics 12 (2011) 149.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.eccentricity_centrality(path)
    array([1., 2., 0.])
    """
    import numpy as np

    from lagbc.centrality import finish

    depth = result.sums.depth
    with np.errstate(over="ignore"):
        scores = np.divide(len(depth) - 1, depth, out=np.zeros(len(depth)), where=depth > 0)
    return finish.require_inverses(scores, result)
