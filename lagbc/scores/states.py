"""States of vertices as root weights of a sweep, for percolation centrality."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, in_words
from lagbc.request import parse_vertex_weights
from lagbc.scores.finish import betweenness, require_range

if TYPE_CHECKING:
    from lagbc.run.run import Result


def weigh_roots(graph: Graph, arguments: Arguments) -> Arguments:
    """Check the states, and take them as root weights."""
    if arguments.states is None:
        raise InvalidTypeError(f"states is None; it is one number a vertex, shape ({graph.n},)")
    x = parse_vertex_weights("states", arguments.states, graph.n, graph.names)
    _require_comparable(x, graph.names)
    # The largest is the unit, which cancels: no sum leaves float64.
    x = x / max(x.max(initial=0), np.finfo(np.float64).tiny)
    return arguments._replace(states=x, source_weights=x)


def percolation(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Divide the sum at each vertex by the sum of the other states."""
    raw, graph = require_range(betweenness(result, arguments), arguments), result.graph
    x = cast("NDArray[np.float64]", arguments.states)
    # Sums before and after each vertex: a difference from the total would cancel.
    others = np.append(0, np.cumsum(x)[:-1]) + np.append(np.cumsum(x[::-1])[::-1][1:], 0)
    share = np.divide(1 if graph.directed else 2, others, out=np.zeros(graph.n), where=others > 0)
    return raw * share / max(graph.n - 2, 1)  # type: ignore[no-any-return]


def _require_comparable(x: NDArray[np.float64], names: Names | None) -> None:
    """Raise ValueError if two states are so far apart that float64 does not hold their quotient."""
    some = np.flatnonzero(x)
    if not len(some):
        return
    least, most = int(some[x[some].argmin()]), int(some[x[some].argmax()])
    if np.ldexp(x[most], -960) > x[least]:
        raise InvalidValueError(
            f"states lie too far apart for float64, that of {in_words(names, least)} is {x[least]:.3g}, that of "
            f"{in_words(names, most)} {x[most]:.3g}; pass 0 for those that are nothing beside the others"
        )
