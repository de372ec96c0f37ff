"""Files of scores, written by commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lagbc.centrality.columns import title_of
from lagbc.errors import InvalidValueError
from lagbc.files import require_writable, write_whole

if TYPE_CHECKING:
    import numpy as np


def require_numbers(out: Path | None, labels: np.ndarray | None) -> None:
    """Raise ValueError, before the computation, if an array cannot hold the names of the ends of edges."""
    if out is not None and out.suffix == ".npy" and labels is not None and labels.dtype.kind not in "iu":
        raise InvalidValueError(f"--out {out}: an array holds no names; write the edges to a .csv file")


def check_outputs(out: Path | None, plot: Path | None) -> None:
    """Raise the error of a result that cannot be written, before the computation."""
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise InvalidValueError(f"--out {out}: scores are written to a .npy or a .csv file")
    if plot is not None:
        from lagbc.plots import check_figure_path

        check_figure_path(plot)
    for path in (out, plot):
        if path is not None:
            require_writable(path)


def bounds_of(takes: frozenset[str], given: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return the cutoff and the decay, or None, of each column of a centrality; no pair if it has one column."""
    bounds = [given.get(name) if name in takes else None for name in ("cutoff", "decay")]
    if not any(isinstance(one, list) for one in bounds):
        return []
    return list(product(*(one if isinstance(one, list) else [one] for one in bounds)))


def titles_of(alone: str, takes: frozenset[str], given: Mapping[str, Any], before: str = "") -> list[str]:
    """Return the titles of the columns of a centrality: `alone` for one, cutoffs and decays for several."""
    return [before + title_of(*bounds) for bounds in bounds_of(takes, given)] or [alone]


def columns_of(scores: Any) -> list[Any]:
    """Return the columns of scores: arrays, or matrices for edges."""
    if isinstance(scores, list):
        return scores
    return list(scores.T) if scores.ndim == 2 and hasattr(scores, "strides") else [scores]


def write_table(path: Path, scores: Mapping[str, np.ndarray], labels: np.ndarray | None) -> None:
    """Write scores of vertices, with all bits, as columns of a table or rows of a .npy array."""
    if path.suffix == ".npy":
        import numpy as np

        write_array(path, np.array(list(scores.values())))
        return
    columns = [values.tolist() for values in scores.values()]
    vertices = range(len(columns[0])) if labels is None else labels.tolist()
    write_rows(path, ("vertex", *scores), zip(vertices, *columns, strict=True))


def write_edges(path: Path, matrices: Mapping[str, Any], labels: np.ndarray | None) -> None:
    """Write scores of edges, a row a stored entry: its ends and its score."""
    import numpy as np

    entries = {title: matrix.tocoo() for title, matrix in matrices.items()}
    edges, values = next(iter(entries.values())), [matrix.data for matrix in entries.values()]
    ends = [part if labels is None else labels[part] for part in (edges.row, edges.col)]
    if path.suffix == ".npy":
        write_array(path, np.column_stack([*ends, *values]))
        return
    columns = (part.tolist() for part in (*ends, *values))
    write_rows(path, ("source", "target", *entries), zip(*columns, strict=True))


def write_groups(path: Path, groups: list[list[Any]], scores: np.ndarray) -> None:
    """Write scores of groups: their numbers from 1 on, their vertices as a line of CSV, and scores."""
    if path.suffix == ".npy":
        write_array(path, scores)
        return
    lines = map(_csv_line, groups)
    write_rows(path, ("group", "vertices", "score"), zip(count(1), lines, scores.tolist(), strict=False))


def _csv_line(fields: Iterable[Any]) -> str:
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
