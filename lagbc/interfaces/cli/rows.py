"""Scores as rows, of vertices or edges: the highest as a table, or as many as are asked for as JSON."""

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
    """Rows that are shown: keys are names of the vertex or of both ends of an edge; places are those in the matrix."""

    keys: dict[str, list[Any]]
    scores: dict[str, np.ndarray]
    places: np.ndarray
    errors: np.ndarray | None = None

    def as_text(self, more: Mapping[str, np.ndarray]) -> str:
        """Align them in a table, with ranks and more columns that all vertices have."""
        error = () if self.errors is None else ("error",)
        rows: list[tuple[str, ...]] = [("rank", *self.keys, *self.scores, *error, *more)]
        for row, v in enumerate(self.places):
            names = (str(names[row]) for names in self.keys.values())
            values = (f"{column[row]:.8g}" for column in self.scores.values())
            error = () if self.errors is None else (_error(self.errors[row]),)
            rows.append((str(row + 1), *names, *values, *error, *(str(column[v]) for column in more.values())))
        order = f"ranked by {next(iter(self.scores))}\n" if len(self.scores) > 1 else ""
        return order + table(rows, right=True)

    def as_json(self) -> dict[str, list[Any]]:
        """Return a list for each column; None for what JSON has no number for, such as the logarithm of 0."""
        columns = self.scores if self.errors is None else {**self.scores, "error": self.errors}
        return {**self.keys, **{name: _numbers(values) for name, values in columns.items()}}


def _error(error: float) -> str:
    """Write a standard error; NaN is one that cannot be told."""
    return "-" if math.isnan(error) else f"± {error:.2g}"


def _numbers(values: np.ndarray) -> list[float | None]:
    import numpy as np

    numbers: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        numbers[place] = None
    return numbers


def rows_of_vertices(
    columns: Mapping[str, np.ndarray], source: Source, output: OutputOptions, errors: np.ndarray | None = None
) -> Rows:
    """Return the rows of vertices that are shown: the highest of the first column, or all in the order of the graph."""
    places = places_of(next(iter(columns.values())), output)
    scores = {name: column[places] for name, column in columns.items()}
    return Rows({"vertex": _names(places, source)}, scores, places, None if errors is None else errors[places])


def rows_of_edges(matrices: Mapping[str, Any], source: Source, output: OutputOptions) -> Rows:
    """Return the rows of edges that are shown, an undirected edge once."""
    import numpy as np

    entries = {name: matrix.tocoo() for name, matrix in matrices.items()}
    first = next(iter(entries.values()))
    once = np.flatnonzero(source.directed | (first.row <= first.col))
    places = once[places_of(first.data[once], output)]
    keys = {"source": _names(first.row[places], source), "target": _names(first.col[places], source)}
    return Rows(keys, {name: matrix.data[places] for name, matrix in entries.items()}, places)


def places_of(scores: np.ndarray, output: OutputOptions) -> np.ndarray:
    """Return the places of the scores that are shown."""
    import numpy as np

    if output.as_json and output.top is None:
        return np.arange(len(scores))
    return np.argsort(-scores, kind="stable")[: output.shown(len(scores))]


def _names(places: np.ndarray, source: Source) -> list[Any]:
    labels = source.file.labels
    names: list[Any] = (places if labels is None else labels[places]).tolist()
    return names
