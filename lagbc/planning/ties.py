"""Warnings of ties that rounding takes from paths: of strengths, and where searches find some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import TieWarning, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.names import in_words
from lagbc.native import core, csr

# Sums of up to some 50 lengths in two orders differ by at most this part; others hardly ever come so near.
_NEAR = 2.0**-48
# Edges that all searches look at, and one of some: small graphs are searched whole. An edge takes 20 to 40 ns.
_EDGES, _EDGES_OF_ROOT = 2**15, 2**12
# Lengths that are looked at to tell that all are whole numbers, whose sums are exact.
_LENGTHS = 1000


def warn_of_ties(graph: Graph, rtol: float | None, roots: NDArray[np.int64], *, everywhere: bool = True) -> None:
    """Warn of ties of lengths that rounding breaks, unless a tolerance is given.

    Strengths tell of them; lengths are searched, if all paths from the roots count, `everywhere`.
    """
    if rtol is not None or graph.weights is None:
        return
    remedy = "rtol=1e-9 takes them for ties, rtol=0 leaves it at that"
    if graph.of_strengths:
        if has_rounded_inverses(graph):
            of = (
                "lengths 1 / w are rounded, and paths that tie in exact numbers (1/3 + 1/6, 1/2) may not tie in float64"
            )
            warn(f"{of}; {remedy}", TieWarning)
    elif everywhere and (found := _find_near_tie(graph, roots)) is not None:
        root, v, *sums = found
        ends = f"from {in_words(graph.names, root)} to {in_words(graph.names, v)}"
        of = f"paths {ends} are {sums[0]!r} and {sums[1]!r} long: rounding keeps them, and maybe others, from a tie"
        warn(f"{of}; {remedy}, and whole numbers (metres for kilometres) tie exactly", TieWarning)


def has_rounded_inverses(graph: Graph) -> bool:
    """Whether lengths 1 / w are rounded: so are all but powers of two."""
    return bool((np.frexp(as_numpy(graph.weights))[0] != 0.5).any())


def _find_near_tie(graph: Graph, roots: NDArray[np.int64]) -> tuple[int, int, float, float] | None:
    """Return a root, a vertex, and two sums of lengths of paths between them that differ by rounding alone.

    All roots of a small graph are searched from, and some of a large one, each along few edges, on the host; None if no
    such paths are found.
    """
    if graph.is_on_device or not len(roots) or graph.weights is None:
        return None
    first = graph.weights[:_LENGTHS]
    if np.array_equal(first, np.rint(first)):
        return None
    if graph.nnz * len(roots) > _EDGES:
        count = min(_EDGES // min(graph.nnz, _EDGES_OF_ROOT), len(roots))
        roots = roots[(2 * np.arange(count) + 1) * len(roots) // (2 * count)]
    found = core.find_near_tie(csr(*graph.csr), np.ascontiguousarray(roots), _EDGES_OF_ROOT, _NEAR)
    return None if found[0] < 0 else found
