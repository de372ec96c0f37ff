"""The scores of a command in rows: printed as a table or as a document in JSON, and written to files.

``--json`` prints one line, in the layout of docs/command-line.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from lagbc import __version__
from lagbc.errors import InvalidValueError, MissingDependencyError
from lagbc.files import require_writable, write_whole
from lagbc.interfaces.cli.terminal import table
from lagbc.scores.records import title_of

if TYPE_CHECKING:
    import numpy as np

    from lagbc.call import Call
    from lagbc.interfaces.cli.inputs import Source
    from lagbc.interfaces.cli.options import OutputOptions
    from lagbc.scores.records import Centrality


# The number of the layout, raised by changes that break scripts; new names break none.
_LAYOUT = 1


def check_outputs(out: Path | None, plot: Path | None) -> None:
    """Raise an error, before the computation, if a result cannot be written."""
    if out is not None and out.suffix not in (".npy", ".csv", ".parquet"):
        raise InvalidValueError(f"--out {out}: scores are written to a .npy, .csv or .parquet file")
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingDependencyError(f"--out {out}: Parquet is written by pyarrow: pip install pyarrow, or write .csv")
    if plot is not None:
        from lagbc.plots import check_figure_path

        check_figure_path(plot)
    for path in (out, plot):
        if path is not None:
            require_writable(path)


def require_numbers(out: Path | None, labels: np.ndarray | None) -> None:
    """Raise ValueError, before the computation, if an array cannot hold the names of the ends of edges."""
    if out is not None and out.suffix == ".npy" and labels is not None and labels.dtype.kind not in "iu":
        raise InvalidValueError(f"--out {out}: an array holds no names; write the edges to a .csv or .parquet file")


class Column(NamedTuple):
    """A column of scores: its title in tables, its name in documents, its centrality, and its bounds."""

    title: str
    name: str
    centrality: str
    cutoff: float | None
    decay: float | None


def columns_of(record: Centrality, given: Mapping[str, Any], *, together: bool) -> list[Column]:
    """Return the columns of a centrality, one for each cutoff and decay; titles of several `together` have names."""
    bounds = [given.get(name) if name in record.takes else None for name in ("cutoff", "decay")]
    pairs = list(product(*(one if isinstance(one, list) else [one] for one in bounds)))
    if not any(isinstance(one, list) for one in bounds):
        return [Column(record.name if together else "score", record.name, record.name, *pairs[0])]
    before = f"{record.name}, " if together else ""
    return [
        Column(before + title_of(*pair), f"{record.name}_{number}", record.name, *pair)
        for number, pair in enumerate(pairs, 1)
    ]


def has_columns(given: Mapping[Any, Any]) -> bool:
    """Whether some arguments give scores several columns."""
    return any(isinstance(given.get(name), list) for name in ("cutoff", "decay"))


def split_columns(scores: Any) -> list[Any]:
    """Return the columns of scores: arrays, or matrices for edges."""
    if isinstance(scores, list):
        return scores
    return list(scores.T) if scores.ndim == 2 and hasattr(scores, "strides") else [scores]


class Rows(NamedTuple):
    """Columns of scores, and of keys that say which vertex, edge or group each row is of."""

    keys: dict[str, np.ndarray]
    scores: dict[str, np.ndarray]
    errors: np.ndarray | None = None
    once: np.ndarray | None = None  # one row for each edge, where an undirected edge has two

    def shown(self, output: OutputOptions) -> tuple[np.ndarray, Rows]:
        """Return the places and the rows to show: the highest of the first column, or all in their order."""
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
        numbers = {name: values.tolist() for name, values in columns.items()}
        return keys | {name: [one if math.isfinite(one) else None for one in ones] for name, ones in numbers.items()}

    def write(self, path: Path) -> None:
        """Write all rows with all bits in a table, or in a .npy array, in which a column of vertices is a row."""
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
    """Return a standard error in words; NaN is an unknown one."""
    return "-" if math.isnan(error) else f"± {error:.2g}"


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


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array as `numpy.save` does, but through the file object, whose errors name the reason."""
    import numpy as np
    from numpy.lib import format as npy

    array = np.ascontiguousarray(array)
    with write_whole(path) as file:
        npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(array))
        file.write(array.reshape(-1).view(np.uint8).data)


def write_rows(path: Path, titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write titles and rows as CSV."""
    import codecs
    import csv

    with write_whole(path) as file:
        writer = csv.writer(codecs.getwriter("utf-8")(file), lineterminator="\n")
        writer.writerow(titles)
        writer.writerows(rows)


def csv_line(fields: Iterable[Any]) -> str:
    """Return fields as a line of CSV."""
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns by their titles as Parquet."""
    import pyarrow
    from pyarrow import parquet

    # pyarrow does not know StringDType.
    known = {title: column.tolist() if column.dtype.kind == "T" else column for title, column in columns.items()}
    with write_whole(path) as file:
        parquet.write_table(pyarrow.table(known), file)


def show_document(command: str, source: Source, **parts: Any) -> None:
    """Print a document about a graph: the head of all commands' documents, and the parts given."""
    head = {"layout": _LAYOUT, "version": __version__, "command": command, "graph": _describe_graph(source)}
    click.echo(json.dumps(head | parts, allow_nan=False))


def _describe_graph(source: Source) -> dict[str, Any]:
    graph = source.graph
    return {
        "name": source.title,
        "format": source.file.format,
        "recognised": source.file.said,
        "vertices": graph.n,
        "edges": graph.nnz if graph.directed else graph.nnz // 2,
        "directed": graph.directed,
        "values": source.lengths,
    }


def method_of(call: Call) -> dict[str, str]:
    """Return the method of a call, and its reason."""
    return {"name": call.plan.method, "device": call.plan.device, "reason": call.reason}


def arguments_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments typed on the command line."""
    context = click.get_current_context()
    source_of, given = context.get_parameter_source, {**given, "memory": context.params.get("memory")}
    return {name: as_json(value) for name, value in given.items() if source_of(name) is ParameterSource.COMMANDLINE}


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold: an infinite cutoff becomes text."""
    if isinstance(value, list):
        return [as_json(one) for one in value]
    return str(value) if isinstance(value, Path) or (isinstance(value, float) and math.isinf(value)) else value
