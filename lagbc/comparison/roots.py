"""The roots of a comparison: random ones, and the sizes of trials."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.options import parse_count
from lagbc.request import parse_generator, parse_vertices

# Roots that are neighbours in sweep order, on graphs of high diameter: enough for a block of any method.
NEIGHBOURS = 256
# A trial has so many times the roots of the trial before.
STEP = 8


def draw_roots(graph: Graph, roots: int | ArrayLike, rng: int | np.random.Generator) -> NDArray[np.int64]:
    """Return distinct roots with out-edges, given or drawn; drawn as runs in sweep order if the diameter is high."""
    if np.ndim(roots) > 0:
        given = parse_vertices("roots", graph.n, numbers_of("roots", graph.names, roots), graph.names)
        given = given[graph.out_degrees[given] > 0]
        if not len(given):
            raise InvalidValueError("no edge leaves any of the roots, so that there is nothing to compare")
        return given
    order: NDArray[np.int64] = graph.order[graph.out_degrees[graph.order] > 0]
    count = min(parse_count("roots", roots), len(order))
    generator = parse_generator(rng)
    if not graph.has_high_diameter:
        return generator.choice(order, count, replace=False)
    if count == len(order):
        return order
    length = NEIGHBOURS
    starts = np.arange(0, max(len(order) - length, 0) + 1, length)
    chosen = generator.choice(starts, min(-(-count // length), len(starts)), replace=False)
    return np.concatenate([order[start : start + length] for start in chosen])[:count]


def growing_sizes(count: int) -> list[int]:
    """Return 1, 8, 64, ... and the count itself."""
    sizes = [1]
    while sizes[-1] * STEP < count:
        sizes.append(sizes[-1] * STEP)
    return sizes if count == 1 else [*sizes, count]
