"""A graph in blocks over ranks, beside one process: ``python -m benchmarks.grid``, where there is an ``mpiexec``.

Of each grid: seconds, with one batch and with two in flight; the bytes that ranks send, and how many times those of the
count of `benchmarks.scale_model` that is; the largest share of the entries that a rank has; and the largest peak of
memory of a rank, as a part of that of one process with one thread, which has as many columns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np
from scipy.sparse import load_npz, save_npz

from benchmarks import machine
from benchmarks.generators import rmat
from benchmarks.grid_worker import TOLD
from benchmarks.scale_model import COLUMNS, RESULTS, count

_RUN = "import sys; from benchmarks.grid_worker import measure_here; measure_here(*sys.argv[1:])"


def measured(path: Path, roots: int, shape: str, in_flight: int = 1) -> dict[str, float]:
    """Start ranks, or one process, and return what the call took."""
    rows, columns = map(int, shape.split("x"))
    launcher = [] if shape == "1x1" else [str(Path(sys.executable).parent / "mpiexec"), "-n", str(rows * columns)]
    command = [*launcher, sys.executable, "-c", _RUN, str(path), str(roots), shape, str(in_flight)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=machine.ROOT).stdout
    line = next(line for line in said.splitlines() if line.startswith(TOLD))
    found: dict[str, float] = json.loads(line.removeprefix(TOLD))
    return found


def row_of(name: str, path: Path, roots: int, shape: str) -> str:
    """Measure a grid beside one process, and count what it sends."""
    alone, once, twice = (measured(path, roots, *how) for how in (("1x1",), (shape, 1), (shape, 2)))
    A, rng = load_npz(path), np.random.default_rng(1)
    drawn = np.sort(rng.choice(A.shape[0], roots, replace=False))
    degrees = np.diff(A.indptr)
    ordered = drawn[np.argsort(-degrees[drawn], kind="stable")]
    ordered = ordered[degrees[ordered] > 0]
    rows, columns = map(int, shape.split("x"))
    batches = (ordered[first : first + COLUMNS] for first in range(0, len(ordered), COLUMNS))
    counted = sum(count(A, batch).bytes((rows, columns)) for batch in batches)
    cells = [name, shape, roots, f"{alone['seconds']:.2f}", f"{once['seconds']:.2f}", f"{twice['seconds']:.2f}"]
    cells += [f"{once['sent'] / 1e6:.1f}", f"{once['sent'] / counted:.3f}"]
    cells += [f"{once['entries'] / alone['entries']:.3f}", f"{once['memory'] / alone['memory']:.2f}"]
    return f"| {' | '.join(map(str, cells))} |"


@click.command()
@click.option("--scales", default="14,18", show_default=True, help="Of R-MAT graphs of 16 edges a vertex.")
@click.option("--grids", default="2x2", show_default=True)
@click.option("--roots", default=256, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(scales: str, grids: str, roots: int, out: Path) -> None:
    """Write grid.md."""
    host = machine.describe()
    lines = [
        "# A graph in blocks over ranks",
        "",
        f"{host['cpu']}, {host['cores']} cores, other programs beside; commit {host['commit']}. Undirected, `bc` from "
        "roots that are drawn. By `python -m benchmarks.grid`. Bytes are those of all ranks, against the count of "
        "[scale_model.md](scale_model.md); entries and memory are the largest of a rank, as a part of one process's.",
        "",
        "| graph | grid | roots | s, one process, one thread | s, grid | s, overlapped | MB sent | times the count | "
        "entries | memory |",
        "|" + "---|" * 10,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for scale in scales.split(","):
            path = Path(folder) / f"rmat-{scale}-16.npz"
            save_npz(path, rmat(int(scale), 16), compressed=False)
            for shape in grids.split(","):
                lines.append(row_of(path.stem, path, roots, shape))
                click.echo(lines[-1])
    (out / "grid.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
