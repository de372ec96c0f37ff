"""Strong components of the bicomponents of a directed graph, and the arcs between them.

No arc leaves a bicomponent, so that its components are numbered one after the other.

References
----------
R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972) 146-160.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lagbc.native import core


class Strong(NamedTuple):
    """The strong components of all bicomponents."""

    # int32 or int64 (copies,): The component of each copy. An arc leads to the same component or to one with a smaller
    # number.
    component: Any
    of_block: Any  # int64 (blocks + 1,): the components of bicomponent b are ``of_block[b]`` to ``of_block[b + 1]``
    member_ptr: Any  # member_ptr, members: (components + 1,) and (copies,): the copies of each component, ascending
    members: Any


def find_strong(ptr: Any, indptr: Any, indices: Any) -> Strong:
    """Find the strong components of the bicomponents with these arrays of `Rows`; O(copies + nnz)."""
    return Strong(*core.find_strong(ptr, indptr, indices))
