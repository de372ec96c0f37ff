"""Several centralities from one sweep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lagbc.calls import whole_import
from lagbc.centrality.declare import takes_all
from lagbc.centrality.registry import Arguments, Read, that_take

if TYPE_CHECKING:
    from lagbc.plan.options import Options
    from lagbc.types import CentralityName, GraphLike

DEFAULT_SET: tuple[CentralityName, ...] = ("bc", "closeness", "harmonic", "eccentricity", "stress")


@takes_all(
    ["A", "which=None"],
    "A, which, batch, read, options, arguments, standard_error",
    has_errors=True,
)
def centralities(
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] | None,
    batch: int | str,
    read: Read,
    options: Options,
    arguments: Arguments,
    standard_error: bool,
) -> Any:
    """Compute several centralities from one sweep.

    Parameters
    ----------
    A, batch, directed, weighted, strength : as for `lagbc.bc`
    which : str or several
        Names of functions: of `lagbc.types.CentralityName`, or added by `lagbc.register_centrality`. By default "bc",
        "closeness", "harmonic", "eccentricity" and "stress", without functions that do not take the given `sources`,
        `k` and so on: a sample has no eccentricity.
    sources, targets, source_weights, target_weights, demand, cutoff, k, rng : as for `lagbc.bc`
        They go to all functions, and are an error if they mean nothing to one.
    decay, rtol, normalized, endpoints, wf_improved, log2
        As for the functions that take them; each goes to these. With several decays, scores of a function that takes
        none have a column for each cutoff alone.
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
    of_calls = whole_import("lagbc.centrality.compute")
    found = of_calls.find_all(that_take(DEFAULT_SET, arguments) if which is None else which)
    return of_calls.compute(A, found, batch, read, options, arguments, standard_error)  # type: ignore[no-any-return]
