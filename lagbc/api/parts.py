"""A call computed in parts, each by a process of its own, and merged: for array jobs of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from lagbc.arguments import Arguments, Read
from lagbc.centrality.parts import merge_files, parse_path, write_part
from lagbc.errors import InvalidTypeError
from lagbc.options import Options, refuses_places
from lagbc.run.shares import Written
from lagbc.types import Auto, CentralityName, DemandLike, GraphLike, Scores, Vertices


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
    return merge_files([parse_path(path) for path in paths])[1]  # type: ignore[return-value]
