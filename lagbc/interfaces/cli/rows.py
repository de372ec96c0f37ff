"""Scores as rows, of vertices or edges: the highest as a table, or all as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lagbc.interfaces.cli.text import table

if TYPE_CHECKING:
    import numpy as np

    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.options import OutputOptions


@dataclass(frozen=True)
class Rows:
    """Rows to show: keys name the vertex or both ends of an edge; places are rows or entries of the matrix."""

    keys: dict[str, list[Any]]
    scores: dict[str, np.ndarray]
    places: np.ndarray
    errors: np.ndarray | None = None

    def as_text(self, more: Mapping[str, np.ndarray]) -> str:
        """Align the rows in a table, with ranks, and `more` columns, of all vertices."""
        error = () if self.errors is None else ("error",)
        rows: list[tuple[str, ...]] = [("rank", *self.keys, *self.scores, *error, *more)]
        for row, v in enumerate(self.places):
            names = (str(names[row]) for names in self.keys.values())
            values = (f"{column[row]:.8g}" for column in self.scores.values())
            error = () if self.errors is None else (_error_in_words(self.errors[row]),)
            rows.append((str(row + 1), *names, *values, *error, *(str(column[v]) for column in more.values())))
        order = f"ranked by {next(iter(self.scores))}\n" if len(self.scores) > 1 else ""
        return order + table(rows, right=True)

    def as_json(self) -> dict[str, list[Any]]:
        """Return a list for each column, with None for scores that are not finite, such as the logarithm of 0."""
        columns = self.scores if self.errors is None else {**self.scores, "error": self.errors}
        return {**self.keys, **{name: _finite_or_none(values) for name, values in columns.items()}}


def _error_in_words(error: float) -> str:
    """Return a standard error in words; NaN is not known."""
    return "-" if math.isnan(error) else f"± {error:.2g}"


def _finite_or_none(values: np.ndarray) -> list[float | None]:
    import numpy as np

    numbers: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        numbers[place] = None
    return numbers


def rows_of_vertices(
    columns: Mapping[str, np.ndarray], source: Source, output: OutputOptions, errors: np.ndarray | None = None
) -> Rows:
    """Return the rows of vertices to show: the highest of the first column, or all in the order of the graph."""
    places = places_of(next(iter(columns.values())), output)
    scores = {name: column[places] for name, column in columns.items()}
    return Rows({"vertex": _vertex_names(places, source)}, scores, places, None if errors is None else errors[places])


def rows_of_edges(matrices: Mapping[str, Any], source: Source, output: OutputOptions) -> Rows:
    """Return the rows of edges to show, an undirected edge once."""
    import numpy as np

    entries = {name: matrix.tocoo() for name, matrix in matrices.items()}
    first = next(iter(entries.values()))
    once = np.flatnonzero(source.directed | (first.row <= first.col))
    places = once[places_of(first.data[once], output)]
    keys = {"source": _vertex_names(first.row[places], source), "target": _vertex_names(first.col[places], source)}
    return Rows(keys, {name: matrix.data[places] for name, matrix in entries.items()}, places)


def places_of(scores: np.ndarray, output: OutputOptions) -> np.ndarray:
    """Return the places of the scores to show."""
    import numpy as np

    if output.as_json and output.top is None:
        return np.arange(len(scores))
    return np.argsort(-scores, kind="stable")[: output.count_shown(len(scores))]


def _vertex_names(places: np.ndarray, source: Source) -> list[Any]:
    labels = source.file.labels
    names: list[Any] = (places if labels is None else labels[places]).tolist()
    return names
