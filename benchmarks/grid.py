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


def measured(graph: str | Path, roots: int, shape: str, in_flight: str = "1", device: str = "cpu") -> dict[str, float]:
    """Start ranks, or one process, and return what the call took."""
    rows, columns = map(int, shape.split("x"))
    launcher = [] if shape == "1x1" else [_mpiexec(), "-n", str(rows * columns)]
    command = [*launcher, sys.executable, "-c", _RUN, str(graph), str(roots), shape, in_flight, device]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=machine.ROOT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    line = next(line for line in done.stdout.splitlines() if line.startswith(TOLD))
    found: dict[str, float] = json.loads(line.removeprefix(TOLD))
    return found


def _mpiexec() -> str:
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else "mpiexec"


def row_of(name: str, path: Path, roots: int, shape: str) -> str:
    """Measure a grid beside one process, and count what it sends."""
    alone, once, twice = (measured(path, roots, *how) for how in (("1x1",), (shape, "1"), (shape, "2")))
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


def row_of_gpus(scale: int, roots: int, shape: str) -> str:
    """Measure a grid of GPUs beside one process that has them all, each with the whole graph."""
    rows, columns = map(int, shape.split("x"))
    graph = f"rmat-{scale}-16-{rows * columns}"
    alone, once, twice, split = (
        measured(graph, roots, *how, "cuda") for how in (("1x1", "1"), (shape, "1"), (shape, "2"), (shape, "split"))
    )
    rates = [one["edges"] * roots / one["sweeps"] / 1e9 for one in (alone, once, twice)]
    cells = [f"R-MAT {scale}-16", shape, roots, *(f"{rate:.1f}" for rate in rates), f"{max(rates[1:]) / rates[0]:.2f}"]
    cells += [f"{once['seconds'] - once['sweeps']:.1f}", f"{once['sent'] / 1e9:.2f}"]
    cells += [f"{split['messages'] / split['sweeps']:.2f}", f"{once['entries'] / alone['entries']:.3f}"]
    return f"| {' | '.join(map(str, cells))} |"


_OF_CPU = (
    "Bytes are those of all ranks, against the count of [scale_model.md](scale_model.md); entries and memory are the "
    "largest of a rank, as a part of one process's.",
    "| graph | grid | roots | s, one process, one thread | s, grid | s, overlapped | MB sent | times the count | "
    "entries | memory |",
)
_OF_GPUS = (
    "Rates are those of the sweeps, in GTEPS: of one process that has all GPUs, each with the whole graph; of the grid "
    "with one batch, and with two in flight. Then the grid's part of the first rate, the seconds of dealing, GB "
    "sent, the part of the time that messages take where they are waited for, and the largest part of the entries.",
    "| graph | grid | roots | GTEPS, whole graphs | GTEPS, grid | GTEPS, overlapped | grid / whole | s, dealing | "
    "GB sent | messages | entries |",
)


def _gpus() -> str:
    from lagbc.methods.table import gpus_in_words

    return gpus_in_words()


@click.command()
@click.option("--scales", default="14,18", show_default=True, help="Of R-MAT graphs of 16 edges a vertex.")
@click.option("--grids", default="2x2", show_default=True)
@click.option("--roots", default=256, show_default=True)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(scales: str, grids: str, roots: int, device: str, out: Path) -> None:
    """Write grid.md, or grid_gpu.md."""
    host, on_gpus = machine.describe(), device == "cuda"
    words, titles = _OF_GPUS if on_gpus else _OF_CPU
    lines = [
        f"# A graph in blocks over ranks{' with GPUs' * on_gpus}",
        "",
        f"{_gpus() if on_gpus else host['cpu']}, {host['cores']} cores, other programs beside; commit "
        f"{host['commit']}. Undirected, `bc` from roots that are drawn. By `python -m benchmarks.grid"
        f"{' --device cuda' * on_gpus}`. {words}",
        "",
        titles,
        "|" + "---|" * (titles.count("|") - 1),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for scale in map(int, scales.split(",")):
            path = Path(folder) / f"rmat-{scale}-16.npz"
            if not on_gpus:
                save_npz(path, rmat(scale, 16), compressed=False)
            for shape in grids.split(","):
                lines.append(row_of_gpus(scale, roots, shape) if on_gpus else row_of(path.stem, path, roots, shape))
                click.echo(lines[-1])
    (out / ("grid_gpu.md" if on_gpus else "grid.md")).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
