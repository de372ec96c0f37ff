"""The highest scores, laid out as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lagbc.interfaces.cli.graphs import degrees_of
from lagbc.interfaces.cli.outputs import matrices_of
from lagbc.interfaces.cli.text import table

if TYPE_CHECKING:
    import numpy as np

    from lagbc.graph.graph import Graph


def top_vertices(
    scores: dict[str, np.ndarray], errors: np.ndarray | None, graph: Graph, labels: np.ndarray | None, top: int
) -> str:
    """Lay out the highest scores of vertices, by the first column."""
    import numpy as np

    names, degrees = zip(*degrees_of(graph), strict=True)
    error = () if errors is None else ("error",)
    rows: list[tuple[str, ...]] = [("rank", "vertex", *scores, *error, *names)]
    first = next(iter(scores.values()))
    for rank, v in enumerate(np.argsort(-first, kind="stable")[:top], 1):
        vertex = v if labels is None else labels[v]
        error = () if errors is None else (f"± {errors[v]:.2g}",)
        values = (f"{column[v]:.8g}" for column in scores.values())
        rows.append((str(rank), str(vertex), *values, *error, *(str(degree[v]) for degree in degrees)))
    return table(rows, right=True)


def top_edges(scores: Any, graph: Graph, labels: np.ndarray | None, top: int) -> str:
    """Lay out the highest scores of edges, by the first matrix, an undirected edge once."""
    import numpy as np

    matrices = matrices_of("score", scores)
    columns = [matrix.tocoo() for matrix in matrices.values()]
    edges = columns[0]
    once = np.flatnonzero(graph.directed | (edges.row <= edges.col))
    rows: list[tuple[str, ...]] = [("rank", "source", "target", *matrices)]
    for rank, e in enumerate(once[np.argsort(-edges.data[once], kind="stable")][:top], 1):
        ends = (v if labels is None else labels[v] for v in (edges.row[e], edges.col[e]))
        rows.append((str(rank), *map(str, ends), *(f"{column.data[e]:.8g}" for column in columns)))
    return table(rows, right=True)
