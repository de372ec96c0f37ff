"""A model of grids that are not here: ``python -m benchmarks.scale_model``.

Messages are counted level by level, of batches of 64 roots: rows of each level, the columns in which they are live, and
how many tight edges meet in each, which tells in how many blocks a row gets a sum. `benchmarks.grid` holds the count
against the bytes that ranks send. What is counted of R-MAT 16-16 is scaled with the number of vertices, the products
with that of the edges; so every figure of a larger graph is one of the model, and of no run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.generators import rmat

RESULTS = Path(__file__).parent / "results"
COLUMNS, HEAD, NUMBER = 64, 12, 8
# A network by its data sheet: bytes a second and seconds a message of a GPU, 8 in a machine (NVLink 4, H200) and
# between machines (InfiniBand NDR, a port a GPU). Of NCCL some 0.8 of the bandwidth is seen.
MACHINE, INSIDE, BETWEEN, SEEN = 8, (450e9, 5e-6), (50e9, 10e-6), 0.8
# Measured (docs/benchmarks.md, one H200, R-MAT 20-16, float64): edges a second of the sweeps of one process.
RATE = 217e9
# Measured on four H200 with two batches in flight (grid_gpu.md): vertices, edges, edges a second. Of the two follow the
# rate of a rank's products, and the seconds of its host, of batches of so many roots.
BATCH = 1024
MEASURED = {"R-MAT 20-16": (2**20, 16 * 2**20, 136.2e9), "R-MAT 22-16": (2**22, 16 * 2**22, 326.7e9)}
# Collectives of a level, forward and backward, and levels of a batch of R-MAT and of social networks.
ROUNDS, LEVELS = 7, 7
# Published: vertices, edges.
GRAPHS = {f"R-MAT {scale}-16": (2**scale, 16 * 2**scale) for scale in range(24, 33, 2)} | {
    "com-Orkut": (3_072_441, 117_185_083),
    "com-Friendster": (65_608_366, 1_806_067_135),
}
SHAPES = [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32)]


@dataclass(frozen=True)
class Counted:
    """Rows and numbers of the messages of a batch, of some vertices.

    `ties` and `rows` are, forward and backward together, how many numbers and rows have so many tight edges.
    """

    n: int
    expanded: NDArray[np.int64]  # rows, numbers: of frontiers that are expanded
    shared: int  # rows whose bits are shared
    ties: NDArray[np.int64]
    rows: NDArray[np.int64]

    def bytes(self, shape: tuple[int, int]) -> float:
        """Count the bytes that all ranks of a grid send."""
        rows, columns = shape
        expand = (rows - 1) * float(self.expanded @ [HEAD, NUMBER])
        share = (columns - 1) * HEAD * self.shared
        return expand + share + NUMBER * _others(self.ties, columns) + HEAD * _others(self.rows, columns)


def _others(counts: NDArray[np.int64], columns: int) -> float:
    """How many blocks of other ranks than the owner some have a sum in, whose edges fall in any column."""
    met = 1 - (1 - 1 / columns) ** np.arange(len(counts))
    return float((columns - 1) * (counts @ met))


def count(A: csr_array, roots: NDArray[np.int64]) -> Counted:
    """Count the messages of a batch of roots of a symmetric pattern."""
    ones = csr_array((np.ones(A.nnz, np.float32), A.indices, A.indptr), shape=A.shape)
    dist = np.full((A.shape[0], len(roots)), -1, np.int8)
    dist[roots, np.arange(len(roots))] = depth = 0
    most = int(np.diff(A.indptr).max()) + 1
    ties, rows = np.zeros((2, most), np.int64)
    while True:
        here = dist == depth
        paths = ones @ here.astype(np.float32)
        found = (paths > 0) & (dist < 0)
        if not found.any():
            break
        depth += 1
        dist[found] = depth
        _add(ones, here, found, paths, ties, rows)
    for level in range(1, depth):
        beyond = dist == level + 1
        _add(ones, beyond, dist == level, ones @ beyond.astype(np.float32), ties, rows)
    levels = np.array([[(dist == level).any(1).sum(), (dist == level).sum()] for level in range(depth + 1)])
    return Counted(A.shape[0], levels.sum(0) + levels[2:].sum(0), int(levels[:, 0].sum()), ties, rows)


def _add(ones: Any, source: Any, target: Any, paths: Any, ties: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Count the numbers and rows of a product by their tight edges."""
    counts = np.bincount(paths[target].astype(np.int64))
    ties[: len(counts)] += counts
    live = target.any(1) & (paths * target > 0).any(1)
    counts = np.bincount((ones @ source.any(1).astype(np.float32))[live].astype(np.int64))
    rows[: len(counts)] += counts


@dataclass(frozen=True)
class Predicted:
    """Of a graph on a grid of GPUs: seconds a root, of products, messages and the host, and bytes a GPU."""

    graph: str
    gpus: int
    product: float
    messages: float
    host: float
    memory: float
    edges: float

    @property
    def seconds(self) -> float:
        """With products and messages of two batches at the same time."""
        return max(self.product, self.messages) + self.host

    @property
    def gteps(self) -> float:
        """Billions of edges a second."""
        return self.edges / self.seconds / 1e9


def predict(counted: Counted, graph: str, shape: tuple[int, int]) -> Predicted:
    """Predict a root of a graph on a grid."""
    (n, edges), (rows, columns) = GRAPHS[graph], shape
    gpus = rows * columns
    bandwidth, latency = INSIDE if gpus <= MACHINE else BETWEEN
    sent = counted.bytes(shape) * n / counted.n / gpus
    waited = 2 * LEVELS * ROUNDS * latency * max(1.0, log2(max(rows, columns)))
    messages = sent / (SEEN * bandwidth) / COLUMNS + waited / BATCH * (gpus > 1)
    rate, host = in_blocks() if gpus > 1 else (RATE, 0.0)
    memory = 2 * NUMBER * COLUMNS * n / columns + 2 * edges / gpus * 8 + 16 * n / columns
    return Predicted(graph, gpus, edges / gpus / rate, messages, host / BATCH, memory, edges)


def in_blocks() -> tuple[float, float]:
    """Return the rate of a rank's products, and the seconds of its host a batch, by the two graphs that were measured.

    A batch takes host + BATCH * edges / (4 * rate).
    """
    (_, few, low), (_, many, high) = MEASURED.values()
    short, long = BATCH * few / low, BATCH * many / high
    rate = BATCH * (many - few) / 4 / (long - short)
    return rate, short - BATCH * few / 4 / rate


def predictions(counted: Counted) -> Iterator[Predicted]:
    """Predict all graphs on all grids."""
    for graph in GRAPHS:
        for shape in SHAPES:
            yield predict(counted, graph, shape)


def page(predicted: list[Predicted], checked: str) -> str:
    """Lay out the predictions."""
    lines = [
        "# A model of grids of GPUs",
        "",
        f"A model, and no measurement: by `python -m benchmarks.scale_model`. One GPU at {RATE / 1e9:.0f} GTEPS "
        "(H200, float64, R-MAT 20-16, measured); messages counted level by level on R-MAT 16-16 and "
        f"scaled with n; {MACHINE} GPUs in a machine at {INSIDE[0] / 1e9:.0f} GB/s (NVLink 4), between machines "
        f"{BETWEEN[0] / 1e9:.0f} GB/s a GPU (InfiniBand NDR), {SEEN} of which is seen; two batches in flight. A GPU of "
        "141 GB has to hold its part, else there is no figure. Times are milliseconds a root. Products of blocks at "
        f"{in_blocks()[0] / 1e9:.0f} GTEPS a GPU, and {in_blocks()[1] * 1e3:.0f} ms of the host for {BATCH:,} roots, "
        "follow from the two graphs that were measured on four H200 ([grid_gpu.md](grid_gpu.md)): "
        + ", ".join(f"{name} {rate / 1e9:.0f} GTEPS" for name, (_, _, rate) in MEASURED.items())
        + ". No larger grid was measured.",
        "",
        checked,
        "",
        "| graph | GPUs | products | messages | host | GTEPS | GB a GPU | all roots |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in predicted:
        fits, hours = one.memory < 141e9, one.seconds * GRAPHS[one.graph][0] / 3600
        cells: list[Any] = [one.graph, one.gpus, f"{1e3 * one.product:.3g}", f"{1e3 * one.messages:.3g}"]
        cells += [f"{1e3 * one.host:.3g}"]
        cells += [f"{one.gteps:.0f}" if fits else "-", f"{one.memory / 1e9:.3g}", f"{hours:.3g} h" if fits else "-"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "Published by Vella et al. (MGBC), measured: com-Orkut exactly in 1.8 h on 256 GPUs; R-MAT 28 at 29 GTEPS.",
    ]
    return "\n".join(lines) + "\n"


def plot(predicted: list[Predicted], path: Path) -> None:
    """Draw the rates by the number of GPUs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for graph in GRAPHS:
        mine = [one for one in predicted if one.graph == graph and one.memory < 141e9]
        axes.plot([one.gpus for one in mine], [one.gteps for one in mine], "o-", label=graph)
    axes.plot([256], [29], "kx", label="MGBC, R-MAT 28 (published)")
    axes.set(xscale="log", yscale="log", xlabel="GPUs of a grid", ylabel="GTEPS (model)")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


@click.command()
@click.option("--scale", default=16, show_default=True, help="Of the R-MAT graph whose messages are counted.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(scale: int, out: Path) -> None:
    """Write scale_model.md and scale_model.png."""
    A = rmat(scale, 16)
    roots = np.random.default_rng(1).choice(np.flatnonzero(np.diff(A.indptr)), COLUMNS, replace=False)
    predicted = list(predictions(count(A, roots)))
    measured = out / "grid.md"
    checked = "[grid.md](grid.md) holds the bytes that ranks send against the count." if measured.exists() else ""
    (out / "scale_model.md").write_text(page(predicted, checked))
    plot(predicted, out / "scale_model.png")


if __name__ == "__main__":
    main()
