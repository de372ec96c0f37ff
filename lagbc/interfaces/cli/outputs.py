"""Files of scores, written by commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.errors import InvalidValueError, MissingDependencyError
from lagbc.files import require_writable, write_whole
from lagbc.scores.columns import title_of

if TYPE_CHECKING:
    import numpy as np

    from lagbc.scores.records import Centrality


def require_numbers(out: Path | None, labels: np.ndarray | None) -> None:
    """Raise ValueError, before the computation, if an array cannot hold the names of the ends of edges."""
    if out is not None and out.suffix == ".npy" and labels is not None and labels.dtype.kind not in "iu":
        raise InvalidValueError(f"--out {out}: an array holds no names; write the edges to a .csv or .parquet file")


def check_outputs(out: Path | None, plot: Path | None) -> None:
    """Raise the error of a result that cannot be written, before the computation."""
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


class Column(NamedTuple):
    """A column of scores: its title in tables, its name in documents, its centrality, and its bounds."""

    title: str
    name: str
    centrality: str
    cutoff: float | None
    decay: float | None


def columns_of(record: Centrality, given: Mapping[str, Any], *, together: bool) -> list[Column]:
    """Return the columns of a centrality, one for each cutoff and decay; titles have names if it is not alone."""
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


def csv_line(fields: Iterable[Any]) -> str:
    """Return fields as a line of CSV."""
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array as `numpy.save` does, but through the buffer of the file, whose errors have reasons."""
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


def write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns by their titles as Parquet."""
    import pyarrow
    from pyarrow import parquet

    arrays = {
        title: pyarrow.array(column.tolist() if _is_text(column) else column) for title, column in columns.items()
    }
    with write_whole(path) as file:
        parquet.write_table(pyarrow.table(arrays), file)


def _is_text(column: Any) -> bool:
    """Whether a column is an array of StringDType, which pyarrow does not know."""
    return getattr(getattr(column, "dtype", None), "kind", "") == "T"
