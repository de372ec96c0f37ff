"""Files that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


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


def write_scores(path: Path, scores: np.ndarray, labels: np.ndarray | None) -> None:
    """Write an array, or a table with every bit of the scores."""
    if path.suffix == ".npy":
        import numpy as np

        np.save(path, scores)
        return
    vertices = range(scores.size) if labels is None else labels.tolist()
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write("vertex,score\n")
        file.writelines(f"{vertex},{score!r}\n" for vertex, score in zip(vertices, scores.tolist(), strict=True))
