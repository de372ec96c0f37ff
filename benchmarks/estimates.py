"""How well estimates keep to their intervals, and what they take: ``python -m benchmarks.estimates --data FOLDER``.

Coverage: of each network, error and seed one run of `lagbc.estimate`, against exact scores. A run misses if any score
is outside of its interval. Time: one run at an absolute error against KADABRA of NetworKit (``pip install networkit``)
at the same error and confidence, in seconds of one thread of the processor, with what either is off by; KADABRA's
scores are halved first. One vertex: the stop of Bader, Kintali, Madduri and Mihail (2007), who draw roots until their
dependencies sum to c n, beside ``vertices=``, and how often either is off by more than a quarter.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine

OUT = machine.ROOT / "benchmarks" / "results" / "estimates.md"
COVERED = "ca-GrQc,hep-th,as-caida20071105,yeast-ppi,email-Eu-core,polblogs,PGPgiantcompo,bio-dmela"
ERRORS = (0.05, 0.02, 0.01)
TIMED = (
    ("power", 0.01),
    ("ca-GrQc", 0.01),
    ("as-caida20071105", 0.01),
    ("ca-GrQc", 0.001),
    ("power", 0.001),
    ("as-caida20071105", 0.001),
    ("email-Enron", 0.001),
)
# c of Bader et al., who take 5.
ENOUGH = 5
_OFF = 0.25


def ladder(count: int, leaves: int) -> csr_array:
    """Return a ladder whose branches join twice, with leaves at both ends.

    `count` times p - u - a - c and p - v_1..v_5 - b - c, all v between p and b; the next one begins at c.
    """
    edges, p, n = list[tuple[int, int]](), 0, 1
    edges += [(0, n + leaf) for leaf in range(leaves)]
    n += leaves
    for _ in range(count):
        u, a, b, c = n, n + 1, n + 7, n + 8
        edges += [
            (p, u),
            (u, a),
            (a, c),
            (b, c),
            *((p, n + 2 + i) for i in range(5)),
            *((n + 2 + i, b) for i in range(5)),
        ]
        p, n = c, n + 9
    edges += [(p, n + leaf) for leaf in range(leaves)]
    n += leaves
    rows, columns = np.array(edges).T
    return csr_array((np.ones(len(edges)), (rows, columns)), shape=(n, n))


def grid(rows: int, columns: int) -> csr_array:
    """Return a mesh."""
    places = np.arange(rows * columns).reshape(rows, columns)
    tails = np.concatenate([places[:, :-1].ravel(), places[:-1].ravel()])
    heads = np.concatenate([places[:, 1:].ravel(), places[1:].ravel()])
    return csr_array((np.ones(len(tails)), (tails, heads)), shape=(rows * columns,) * 2)


def read(data: Path, name: str) -> csr_array:
    """Read a network."""
    return csr_array(mmread(data / f"{name}.mtx.gz", spmatrix=False))


def covered(A: csr_array, seeds: int) -> Iterator[str]:
    """Yield a cell for each error: runs that miss, runs that stop early, and their mean roots."""
    exact = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    for error in ERRORS:
        runs = [lagbc.estimate(A, directed=False, error=error, rng=seed, device="cpu") for seed in range(seeds)]
        missed = sum(bool(((exact < run.lower - 1e-12) | (exact > run.upper + 1e-12)).any()) for run in runs)
        early = [run.roots for run in runs if not run.exact]
        yield f"{missed} / {len(early)}{f' ({np.mean(early):.0f})' if early else ''}"


def kadabra(A: csr_array, error: float, confidence: float) -> tuple[float, Any]:
    """Return the seconds of NetworKit's KADABRA, and half its scores."""
    import networkit as nk

    nk.setNumberOfThreads(1)
    graph, both = nk.Graph(A.shape[0]), A + A.T
    rows, columns = both.nonzero()
    for u, v in zip(rows[rows < columns].tolist(), columns[rows < columns].tolist(), strict=True):
        graph.addEdge(u, v)
    begun = process_time()
    run = nk.centrality.KadabraBetweenness(graph, error, 1 - confidence)
    run.run()
    return process_time() - begun, np.array(run.scores()) / 2


def timed(A: csr_array, error: float, confidence: float) -> str:
    """Return the cells of a row: seconds, roots and what either is off by."""
    n = A.shape[0]
    exact = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    theirs, scores = kadabra(A, error, confidence)
    begun = process_time()
    ours = lagbc.estimate(A, directed=False, error=error, confidence=confidence, rng=1, threads=1, device="cpu")
    seconds = process_time() - begun
    off = np.abs(scores - exact * (n - 2) / n).max()
    ours_off = np.abs(ours.scores - exact).max()
    roots = "all" if ours.exact else f"{ours.roots:,}"
    return f"{theirs:.3g} | {seconds:.3g} | {theirs / seconds:.1f} | {roots} | {off:.2g} | {ours_off:.2g}"


def one_vertex(A: csr_array, vertex: int, runs: int) -> tuple[float, float, float, float]:
    """Return how often Bader's stop and an estimate are off by more than a quarter, and their mean roots."""
    n = A.shape[0]
    dependencies = np.array(
        [2 * lagbc.bc(A, directed=False, sources=[root], reduce="none")[vertex] for root in range(n)]
    )
    truth, misses, roots, off, drawn = dependencies.sum(), 0, 0.0, 0, 0.0
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(n)
        sums = np.cumsum(dependencies[order])
        k = int(np.searchsorted(sums, ENOUGH * n)) + 1
        k = min(k, n)
        roots += k / runs
        misses += abs(n * sums[k - 1] / k - truth) > _OFF * truth
        run = lagbc.estimate(A, directed=False, vertices=[vertex], relative_error=_OFF, rng=seed, device="cpu")
        drawn += run.roots / runs
        off += abs(run.scores[0] * (n - 1) * (n - 2) - truth) > _OFF * truth
    return misses / runs, roots, off / runs, drawn


@click.command(help=__doc__)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="Folder of networks.")
@click.option("--seeds", default=20, show_default=True)
@click.option("--parts", default="coverage,times,vertices", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(data: Path, seeds: int, parts: str, out: Path) -> None:
    """Measure, print the rows, and write the page."""
    lines = [f"# Estimates\n\n{machine.cpu_model()}; commit {machine.commit()}. By\n"]
    lines.append("    python -m benchmarks.estimates --data FOLDER")
    for part in parts.split(","):
        lines += PARTS[part](data, seeds)
    out.write_text("\n".join(lines) + "\n")


def coverage_rows(data: Path, seeds: int) -> list[str]:
    """Measure how often intervals hold."""
    lines = ["\n## Coverage\n", f"Confidence 0.95; of {seeds} runs those that miss / that stop before all roots"]
    lines.append("(their mean roots).\n")
    lines += _head("network", "vertices", *(f"error {error:g}" for error in ERRORS))
    for name in COVERED.split(","):
        A = read(data, name)
        lines.append(_row(name, f"{A.shape[0]:,}", *covered(A, seeds)))
    return lines


def rows_of_times(data: Path, seeds: int) -> list[str]:
    """Measure the time, beside KADABRA."""
    lines = ["\n## Against KADABRA\n", "Confidence 0.9; one run each, in seconds of one thread of the processor.\n"]
    columns = ("KADABRA, s", "lagbc, s", "times", "roots", "KADABRA is off by", "lagbc is off by")
    lines += _head("network", "error", *columns)
    graphs = [("grid 8 x 8", grid(8, 8), 0.01), ("grid 3 x 30", grid(3, 30), 0.01), ("ladder", ladder(3, 40), 0.01)]
    graphs += [(name, read(data, name), error) for name, error in TIMED]
    lines += [_row(name, f"{error:g}", timed(A, error, 0.9)) for name, A, error in graphs]
    return lines


def rows_of_vertices(data: Path, seeds: int) -> list[str]:
    """Measure one vertex at a time."""
    lines = ["\n## One vertex\n", "Of yeast-ppi, 50 runs: how often a score is off by more than a quarter.\n"]
    lines += _head("vertex of rank", "Bader et al. miss", "their roots", "vertices= misses", "its roots")
    A = read(data, "yeast-ppi")
    ranks = np.argsort(-lagbc.bc(A, directed=False))
    for rank in (1, 10, 50):
        misses, roots, off, drawn = one_vertex(A, int(ranks[rank - 1]), 50)
        lines.append(_row(str(rank), f"{100 * misses:.0f} %", f"{roots:.0f}", f"{100 * off:.0f} %", f"{drawn:.0f}"))
    return lines


PARTS = {"coverage": coverage_rows, "times": rows_of_times, "vertices": rows_of_vertices}


def _head(*names: str) -> list[str]:
    return [_row(*names), "|" + " --- |" * len(names)]


def _row(*cells: str) -> str:
    row = f"| {' | '.join(cells)} |"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
