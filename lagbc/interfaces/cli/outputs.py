"""Files that commands write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np


def require_numbers(out: Path | None, labels: np.ndarray | None) -> None:
    """Find out before the computation that an array cannot hold the names of the ends of edges."""
    if out is not None and out.suffix == ".npy" and labels is not None and labels.dtype.kind not in "iu":
        raise ValueError(f"--out {out}: an array holds no names; write the edges to a .csv file")


def check_outputs(out: Path | None, plot: Path | None) -> None:
    """Find out before the computation, not after it, that its result cannot be written."""
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise ValueError(f"--out {out}: scores are written to a .npy or a .csv file")
    if plot is not None:
        from lagbc.plots import check_figure_path

        check_figure_path(plot)
    for path in (out, plot):
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"{path}: there is no directory {str(path.parent)!r}")


def say_written(what: str, path: Path | None) -> None:
    """Say where something was written, if it was."""
    if path is not None:
        click.echo(f"{what}: {path}")


def columns_of(name: str, scores: np.ndarray) -> dict[str, np.ndarray]:
    """Name the columns of scores: one alone as they are, several by their numbers."""
    return {name: scores} if scores.ndim == 1 else _numbered(name, list(scores.T))


def matrices_of(name: str, scores: Any) -> dict[str, Any]:
    """Name the matrices of scores of edges, as `columns_of` does columns."""
    return _numbered(name, scores) if isinstance(scores, list) else {name: scores}


def _numbered(name: str, columns: list[Any]) -> dict[str, Any]:
    return {f"{name}_{number}": column for number, column in enumerate(columns, 1)}


def write_scores(path: Path, scores: np.ndarray, labels: np.ndarray | None) -> None:
    """Write an array, or a table with every bit of the scores."""
    if path.suffix == ".npy":
        import numpy as np

        np.save(path, scores)
        return
    write_table(path, columns_of("score", scores), labels)


def write_table(path: Path, scores: Mapping[str, np.ndarray], labels: np.ndarray | None) -> None:
    """Write scores of vertices as a table with every bit of them, a column each; in a .npy array a row each."""
    if path.suffix == ".npy":
        import numpy as np

        np.save(path, np.array(list(scores.values())))
        return
    columns = [values.tolist() for values in scores.values()]
    vertices = range(len(columns[0])) if labels is None else labels.tolist()
    _write_rows(path, ("vertex", *scores), zip(vertices, *columns, strict=True))


def write_edges(path: Path, scores: Any, labels: np.ndarray | None) -> None:
    """Write scores of edges, a row for each stored entry: its ends and its score."""
    import numpy as np

    matrices = {name: matrix.tocoo() for name, matrix in matrices_of("score", scores).items()}
    edges, values = next(iter(matrices.values())), [matrix.data for matrix in matrices.values()]
    ends = [part if labels is None else labels[part] for part in (edges.row, edges.col)]
    if path.suffix == ".npy":
        np.save(path, np.column_stack([*ends, *values]))
        return
    columns = (part.tolist() for part in (*ends, *values))
    _write_rows(path, ("source", "target", *matrices), zip(*columns, strict=True))


def write_groups(path: Path, groups: list[list[Any]], scores: np.ndarray) -> None:
    """Write scores of groups: their numbers from 1 on, their vertices as a line of CSV, and scores."""
    if path.suffix == ".npy":
        import numpy as np

        np.save(path, scores)
        return
    lines = map(_line, groups)
    _write_rows(path, ("group", "vertices", "score"), zip(count(1), lines, scores.tolist(), strict=False))


def _line(fields: Iterable[Any]) -> str:
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def _write_rows(path: Path, titles: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> None:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(titles)
        writer.writerows(rows)
