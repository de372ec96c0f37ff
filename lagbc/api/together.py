"""Several centralities from one sweep; and the parts of such a call, each by a process of its own, for array jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from lagbc.api import OfPairs
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import compute, find_all
from lagbc.errors import InvalidTypeError
from lagbc.options import Options, refuses_places
from lagbc.scores.records import usual
from lagbc.types import Auto, CentralityName, ColumnsOfScores, DemandLike, GraphLike, One, Scores, Several, Vertices

if TYPE_CHECKING:
    from lagbc.run.shares import Written

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
    >>> star = lagbc.graph_from_edges([0, 0, 0], [1, 2, 3], directed=False)
    >>> lagbc.centralities(star, ("bc", "eccentricity"))
    {'bc': array([3., 0., 0., 0.]), 'eccentricity': array([1., 2., 2., 2.])}
    """
    of_pairs = sources, targets, source_weights, target_weights, demand, cutoff, decay, rtol, k, rng
    arguments = Arguments(*of_pairs, normalized, endpoints, wf_improved, log2)
    asked = usual(arguments) if which is None else find_all(which)
    return compute(A, asked, batch, Read(directed, weighted, strength), options, arguments, standard_error)


@refuses_places
def save_part(
    path: str | os.PathLike[str],
    part: tuple[int, int],
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName] = "bc",
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
    rng: int | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    wf_improved: bool = True,
    log2: bool = False,
    **options: Unpack[Options],
) -> Written:
    """Compute a part of a call, and write it to a file; `merge_parts` makes scores of the files of all parts.

    The roots are shared out in whole blocks, of 64 or on a GPU 256. Parts may run at the same time or not, on any
    machines with the same kind of device, and the merged scores have the bits of one call.

    Parameters
    ----------
    path : path of the file
        Written when the part is finished; an older file is replaced.
    part : (int, int)
        The number of the part, from 1 on, and the number of parts. With more parts than blocks, some sum nothing.
    A, which, batch, directed, weighted, strength, ... : as for `lagbc.centralities`
        The same for all parts.
    rng : int
        With `k`, so that all parts draw the same roots.
    **options : how the run is carried out, see `lagbc.Options`
        Threads, batch and memory may differ from part to part. A part takes no `checkpoint`, `executor` or `comm`.

    Returns
    -------
    written : tuple
        The number of ``.roots`` that the part has summed, and of all roots (``.of``).

    Raises
    ------
    The errors of `lagbc.centralities`. ValueError, if there is no such part, or `k` is given without an integer `rng`.
    PartError, if paths are too many for chains to be contracted in parts; the message gives a way out.

    Notes
    -----
    Sums of chunks, of 1024 roots or on a GPU 4096, are added in the order of the chunks. So the file holds the sums of
    each chunk, 8 n bytes a sum (8 nnz for scores of edges), or of each block of a chunk that begins in the part before.
    All files together are about n^2 / 128 bytes for exact betweenness, and for each part up to 120 n (15 blocks) more.
    With `cutoff` or `decay` they hold sums of reached vertices only. The file of part 1 has the graph, too.
    """
    of_pairs = sources, targets, source_weights, target_weights, demand, cutoff, decay, rtol, k, rng
    arguments = Arguments(*of_pairs, normalized, endpoints, wf_improved, log2)
    from lagbc.centrality.parts import write_part  # loads files of NumPy, which sweeps do without

    return write_part(path, part, A, which, batch, Read(directed, weighted, strength), options, arguments)


def merge_parts(paths: Iterable[str | os.PathLike[str]]) -> Scores:
    """Make scores of the files of all parts, written by `save_part` or ``lagbc ... --part``, in any order.

    Parts of a GPU are merged on a machine with one.

    Parameters
    ----------
    paths : paths of the files
        Of all parts.

    Returns
    -------
    scores : dict
        As of `lagbc.centralities`, with the bits of one call; scores of edges as a CSR array, without entries for self
        loops.

    Raises
    ------
    PartError
        A part is missing, there twice, or damaged, or parts are of other graphs, arguments or options; the message
        names it.
    The errors of `lagbc.centralities` in making scores of sums.

    Examples
    --------
    >>> import lagbc, numpy as np
    >>> A = np.ones((5, 5)) - np.diag([1, 1, 1], 2) - np.diag([1, 1, 1], -2)
    >>> for i in (1, 2):  # by two jobs
    ...     _ = lagbc.save_part(f"part{i}.npz", (i, 2), A, directed=False)  # doctest: +SKIP
    >>> lagbc.merge_parts(["part1.npz", "part2.npz"])  # doctest: +SKIP
    {'bc': array([0., 1., 0., 1., 0.])}
    """
    if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable):
        raise InvalidTypeError(f"paths={paths!r}: it is a list of the paths of all parts")
    from lagbc.centrality.parts import merge_files, parse_path

    return merge_files([parse_path(path) for path in paths])[1]  # type: ignore[return-value]
