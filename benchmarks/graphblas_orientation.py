"""How to lay out batched Brandes in GraphBLAS: the variants that `lagbc.methods.cpu.graphblas.hops` was chosen from.

``python -m benchmarks.graphblas_orientation`` runs every variant and igraph (one thread) on the same graphs and roots,
in rounds that go around all of them, after the scores have been compared. It writes the file of ``--out`` (JSON
lines, one a competitor and graph) and a table beside it. A ratio is igraph's time over the variant's, both the best of
their rounds; times are from the SciPy matrix to the scores for the variants, and without conversion for igraph.

A matrix of roots x vertices by column is one of vertices x roots by row, so the two orders by row are all there are.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import click
import graphblas
import numpy as np
from graphblas import Matrix, Vector, binary, semiring, unary
from graphblas.core.ss.context import Context
from numpy.typing import NDArray
from scipy.sparse import csr_array

import lagbc
from benchmarks import generators
from benchmarks.machine import describe
from benchmarks.peers import PEERS
from lagbc.graph.validate import as_graph

Scores = NDArray[np.float64]

GRAPHS: dict[str, Callable[[], csr_array]] = {
    "rmat-14-16": lambda: generators.rmat(14, 16),
    "rmat-15-16": lambda: generators.rmat(15, 16),
    "rmat-16-16": lambda: generators.rmat(16, 16),
    "barabasi-albert-10000-10": lambda: generators.barabasi_albert(10000, 10),
    "delaunay-13": lambda: generators.delaunay(2**13),
}


@dataclass(frozen=True)
class Variant:
    """One way to lay out the sweep.

    Attributes
    ----------
    rows : str
        "roots": F is b x n and multiplied by A; "vertices": F is n x b, multiplied by A^T. Both by row.
    pull : float or None
        Roots by row: pull from a frontier that fills more than this share; None never pulls.
    counts : str
        Format of P: "bitmap", or "auto" for what SuiteSparse makes of it.
    order : str
        Vertices in "sweep" order without those that have no edges, or as "given".
    batch, workers, threads : int
        Roots in a batch, batches side by side, and threads of GraphBLAS in each.
    """

    rows: str = "roots"
    pull: float | None = 0.1
    counts: str = "bitmap"
    order: str = "sweep"
    batch: int = 64
    workers: int = 2
    threads: int = 1

    def product(self, X: Matrix, B: Matrix, BT: Matrix) -> Matrix:
        """Multiply a batch by B: X B for roots by row, B^T X for vertices by row."""
        if self.rows == "vertices":
            return semiring.plus_second(BT @ X)
        if self.pull is None:
            return semiring.plus_first(X @ B)
        pull = X.nvals > self.pull * X.nrows * X.ncols
        X.ss.config["sparsity_control"] = "bitmap" if pull else "sparse"
        return semiring.plus_first(X @ (BT.T if pull else B))


VARIANTS = (
    Variant(),
    Variant(threads=2, workers=1),
    Variant(batch=16),
    Variant(batch=32),
    Variant(batch=128),
    Variant(batch=256),
    Variant(pull=0.05),
    Variant(pull=0.2),
    Variant(pull=None),
    Variant(counts="auto"),
    Variant(order="given"),
    Variant(rows="vertices"),
    Variant(rows="vertices", batch=256),
    Variant(rows="vertices", counts="auto"),
)


def betweenness(variant: Variant, matrix: csr_array, sources: NDArray[np.int64]) -> Scores:
    """Scores of a symmetric matrix over `sources`, halved."""
    graph = as_graph(matrix, directed=False)
    order = graph.order[: np.count_nonzero(graph.out_degrees)] if variant.order == "sweep" else np.arange(graph.n)
    position = np.full(graph.n, -1)
    position[order] = np.arange(len(order))
    pattern = graph.pattern[order][:, order].tocoo()
    A = Matrix.from_coo(pattern.row, pattern.col, True, nrows=len(order), ncols=len(order))
    A.wait("materialize")
    batches = [position[sources[i : i + variant.batch]] for i in range(0, len(sources), variant.batch)]
    total, lock = np.zeros(graph.n), threading.Lock()

    def add(roots: NDArray[np.int64]) -> None:
        with Context(engage=False, nthreads=variant.threads):
            scores = sweep(variant, A, roots)
        with lock:
            total[order] += scores

    with ThreadPoolExecutor(variant.workers) as pool:
        list(pool.map(add, batches))
    return total / 2


def sweep(variant: Variant, A: Matrix, roots: NDArray[np.int64]) -> Scores:
    """Sum the dependencies of one batch; A is symmetric."""
    by_roots, columns = variant.rows == "roots", np.arange(len(roots))
    shape = (len(roots), A.ncols) if by_roots else (A.ncols, len(roots))
    P, F, C, T, delta = (Matrix(float, *shape) for _ in range(5))
    P.ss.config["sparsity_control"] = variant.counts
    F.ss.build_scalar(*((columns, roots) if by_roots else (roots, columns)), 1.0)
    P << F
    patterns = []
    while F.nvals:
        patterns.append(unary.one(F).new())
        F(~P.S, replace=True) << variant.product(F, A, A)
        P(binary.plus) << F
    ones = Vector.from_dense(np.ones(len(roots)))
    scores = Vector(float, A.ncols)
    while len(patterns) > 1:
        L = patterns.pop()
        T(L.S, replace=True) << variant.product(C, A, A)
        delta << binary.times(T & P)
        scores(binary.plus) << semiring.plus_times(ones @ delta if by_roots else delta @ ones)
        C << binary.truediv(L & P)
        C(binary.plus) << T
        L.clear()
    for used in (P, F, C, T, delta, *patterns):
        used.clear()
    dense: Scores = scores.to_dense(0.0)
    return dense


@dataclass(frozen=True)
class Competitor:
    """What is timed: a name, a function of the matrix and the sources, and what goes into its record."""

    name: str
    score: Callable[[csr_array, NDArray[np.int64]], Scores]
    settings: dict[str, object]


def competitors(matrix: csr_array) -> list[Competitor]:
    """List igraph, lagbc's method, and the variants."""
    converted = PEERS["igraph"].convert(matrix, False)
    peer = Competitor("igraph", lambda _, sources: PEERS["igraph"].score(converted, sources, 1, False), {})
    method = Competitor(
        "lagbc graphblas",
        lambda A, sources: lagbc.bc(A, method="graphblas", threads=2, directed=False, sources=sources, reduce="none"),
        {},
    )
    variants = [Competitor(name_of(variant), partial(betweenness, variant), asdict(variant)) for variant in VARIANTS]
    return [peer, method, *variants]


def name_of(variant: Variant) -> str:
    """Name a variant by where it differs from the first."""
    default = asdict(VARIANTS[0])
    return ", ".join(f"{k}={v}" for k, v in asdict(variant).items() if v != default[k]) or "default"


def measure(name: str, count: int, rounds: int, seed: int) -> list[dict[str, object]]:
    """Time all competitors on one graph; one record each."""
    matrix = GRAPHS[name]()
    active = np.flatnonzero(np.diff(matrix.indptr))
    sources = np.sort(np.random.default_rng(seed).choice(active, min(count, len(active)), replace=False))
    field = competitors(matrix)
    seconds: dict[str, list[float]] = {who.name: [] for who in field}
    cpu: dict[str, list[float]] = {who.name: [] for who in field}
    expected = field[0].score(matrix, sources)
    for _ in range(rounds):
        for who in field:
            wall, busy = perf_counter(), process_time()
            scores = who.score(matrix, sources)
            seconds[who.name].append(perf_counter() - wall)
            cpu[who.name].append(process_time() - busy)
            np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-9)
    reference = min(seconds["igraph"])
    return [
        {
            "graph": name,
            "competitor": who.name,
            "settings": who.settings,
            "roots": len(sources),
            "seed": seed,
            "seconds": seconds[who.name],
            "cpu_seconds": cpu[who.name],
            "ratio": reference / min(seconds[who.name]),
            "cpu_ratio": min(cpu["igraph"]) / min(cpu[who.name]),
            "machine": describe(),
            "graphblas": ".".join(map(str, graphblas.ss.about["library_version"])),
        }
        for who in field
    ]


def table(records: list[dict[str, object]]) -> str:
    """Lay out the ratios as Markdown: a row a competitor, a column a graph."""
    graphs = list(dict.fromkeys(str(r["graph"]) for r in records))
    names = list(dict.fromkeys(str(r["competitor"]) for r in records))
    cell = {(r["graph"], r["competitor"]): f"{r['ratio']:.2f} ({r['cpu_ratio']:.2f})" for r in records}
    lines = ["| | " + " | ".join(graphs) + " |", "|---|" + "---|" * len(graphs)]
    lines += [f"| {who} | " + " | ".join(cell[graph, who] for graph in graphs) + " |" for who in names]
    default = ", ".join(f"{k}={v}" for k, v in asdict(VARIANTS[0]).items())
    roots, rounds = records[0]["roots"], len(records[0]["seconds"])  # type: ignore[arg-type]
    return f"""# Batched Brandes in GraphBLAS: orientation, direction, formats, batch

Times faster than igraph on one thread: {roots} roots, best of {rounds} rounds. In brackets the same ratio of processor
time, all threads together, which other load on the machine disturbs less.

Default: {default}. The other rows change what they name.

""" + "\n".join([*lines, ""])


@click.command()
@click.option("--graphs", default=",".join(GRAPHS), show_default=True, help="Names, comma-separated.")
@click.option("--roots", default=2048, show_default=True, help="Roots, drawn among the vertices with edges.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--out", default="benchmarks/results/graphblas_orientation.jsonl", show_default=True, type=Path)
def main(graphs: str, roots: int, rounds: int, seed: int, out: Path) -> None:
    """Measure the variants and write the results."""
    records: list[dict[str, object]] = []
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in graphs.split(","):
        records += measure(name, roots, rounds, seed)
        out.write_text("".join(json.dumps(record) + "\n" for record in records))
        out.with_suffix(".md").write_text(table(records))
        print(table(records), flush=True)


if __name__ == "__main__":
    main()
