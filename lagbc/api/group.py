"""Betweenness of groups of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments, Read
from lagbc.centrality.groups import count
from lagbc.options import Options, refuses_places
from lagbc.scores.records import GROUP_BC
from lagbc.types import GraphLike, Vertices


@refuses_places
def group_bc(
    A: GraphLike,
    groups: Iterable[Vertices],
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    rtol: float | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    **options: Unpack[Options],
) -> NDArray[np.float64]:
    r"""Betweenness centrality of groups of vertices, exact: the share of shortest paths that meet a group.

    With :math:`\sigma_{st}` the number of shortest paths from s to t and :math:`\sigma_{st}(C)` the number of these
    paths with a vertex of C in their interior, the score of a group C is

    .. math:: S(C) = \sum_{s, t \notin C} \sigma_{st}(C) / \sigma_{st}.

    Parameters
    ----------
    A : as for `lagbc.bc`
    groups : sequence of groups
        Each a sequence, of any size, of distinct vertices or their names.
    directed, weighted, strength, rtol : as for `lagbc.bc`
        With ``directed=False`` each unordered pair counts once.
    normalized : bool
        Divide by (n - c)(n - c - 1), the number of ordered pairs, for a group of c vertices.
    endpoints : bool
        Pairs joined by a path count, too, if one or both of them are in the group.
    **options
        ``threads``, ``memory``, ``progress`` and ``stop`` as in `lagbc.Options`; with little memory, fewer groups are
        counted together, then by fewer threads. Other options are an error, unless they ask for the only way of the
        run, such as ``device="cpu"``.

    Returns
    -------
    scores : ndarray of float64, shape (number of groups,)

    Raises
    ------
    TypeError, ValueError
        As `lagbc.bc`; the message names a wrong group by its place. Or an option asks for another way of the run:
        groups are counted on the CPU, by one method, in one process, and without a checkpoint.
    MemoryError
        One thread that counts one group needs more than the budget.

    Notes
    -----
    A search from each vertex on the CPU, and a pass over its shortest paths for all groups: O(nnz) a vertex and group.
    As many groups are counted together as 128 MiB a thread hold, at most 256. NetworkX 3.6 gives other numbers for some
    groups, those of directed graphs above all, against its own formula.

    References
    ----------
    M. G. Everett and S. P. Borgatti, The centrality of groups and classes, J. Math. Sociology 23 (1999) 181-201.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0] * 4, offsets=1, shape=(5, 5))
    >>> lagbc.group_bc(path, [[2], [1, 3]], directed=False)
    array([4., 3.])
    """
    arguments = Arguments(groups=groups, rtol=rtol, normalized=normalized, endpoints=endpoints)
    counted: Any = count(A, Read(directed, weighted, strength), options, arguments)
    return GROUP_BC.finish(counted, arguments)
