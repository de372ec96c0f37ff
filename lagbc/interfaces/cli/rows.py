"""Scores in rows, of vertices, edges or groups: a table of some of them, a document, and files of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.interfaces.cli.outputs import write_array, write_parquet, write_rows
from lagbc.interfaces.cli.text import table

if TYPE_CHECKING:
    import numpy as np

    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.options import OutputOptions


class Rows(NamedTuple):
    """Columns of scores, and keys that name the vertex, both ends of an edge, or the group of each row."""

    keys: dict[str, np.ndarray]
    scores: dict[str, np.ndarray]
    errors: np.ndarray | None = None
    once: np.ndarray | None = None  # rows to show, if an undirected edge has two

    def shown(self, output: OutputOptions) -> tuple[np.ndarray, Rows]:
        """Return the rows to show, and their places: the highest of the first column, or all in their order."""
        import numpy as np

        first = next(iter(self.scores.values()))
        once = np.arange(len(first)) if self.once is None else self.once
        places = once
        if not output.as_json or output.top is not None:
            places = once[np.argsort(-first[once], kind="stable")[: output.count_shown(len(once))]]
        keys, scores = ({name: one[places] for name, one in held.items()} for held in (self.keys, self.scores))
        return places, Rows(keys, scores, None if self.errors is None else self.errors[places])

    def as_text(self, more: Mapping[str, Sequence[Any] | np.ndarray]) -> str:
        """Align the rows in a table, with ranks, and `more` columns."""
        columns = [
            *([name, *map(str, names)] for name, names in self.keys.items()),
            *([name, *(f"{score:.8g}" for score in column)] for name, column in self.scores.items()),
            *([] if self.errors is None else [["error", *map(_error_in_words, self.errors)]]),
            *([name, *map(str, values)] for name, values in more.items()),
        ]
        ranks = ["rank", *map(str, range(1, len(columns[0])))]
        order = f"ranked by {next(iter(self.scores))}\n" if len(self.scores) > 1 else ""
        return order + table(list(zip(ranks, *columns, strict=True)), right=True)

    def as_json(self) -> dict[str, list[Any]]:
        """Return a list for each column, with None for scores that are not finite, such as the logarithm of 0."""
        columns = self.scores if self.errors is None else {**self.scores, "error": self.errors}
        keys = {name: names.tolist() for name, names in self.keys.items()}
        return {**keys, **{name: _finite_or_none(values) for name, values in columns.items()}}

    def write(self, path: Path) -> None:
        """Write all rows, with all bits: tables, or a .npy array, with a row a column of scores of vertices."""
        import numpy as np

        columns = list(self.scores.values())
        if path.suffix == ".npy":
            write_array(path, np.column_stack([*self.keys.values(), *columns]) if self.of_edges else np.array(columns))
        elif path.suffix == ".parquet":
            write_parquet(path, self.keys | self.scores)
        else:
            rows = zip(*(column.tolist() for column in (*self.keys.values(), *columns)), strict=True)
            write_rows(path, (*self.keys, *self.scores), rows)

    @property
    def of_edges(self) -> bool:
        """Whether the rows are edges."""
        return "source" in self.keys


def _error_in_words(error: float) -> str:
    """Return a standard error in words; NaN is not known."""
    return "-" if math.isnan(error) else f"± {error:.2g}"


def _finite_or_none(values: np.ndarray) -> list[float | None]:
    import numpy as np

    numbers: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        numbers[place] = None
    return numbers


def rows_of_vertices(columns: dict[str, np.ndarray], source: Source, errors: np.ndarray | None = None) -> Rows:
    """Return a row for each vertex."""
    return Rows({"vertex": source.vertex_names}, columns, errors)


def rows_of_edges(matrices: Mapping[str, Any], source: Source) -> Rows:
    """Return a row for each stored entry of matrices of one pattern."""
    import numpy as np

    entries = {name: matrix.tocoo() for name, matrix in matrices.items()}
    first, names = next(iter(entries.values())), source.vertex_names
    keys = {"source": names[first.row], "target": names[first.col]}
    once = np.flatnonzero(source.directed | (first.row <= first.col))
    return Rows(keys, {name: matrix.data for name, matrix in entries.items()}, once=once)
