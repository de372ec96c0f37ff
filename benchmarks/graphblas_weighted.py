"""What Delta, the batch and the search for tight edges do to the weighted method `graphblas`.

``python -m benchmarks.graphblas_weighted`` runs every variant on the same roots, in rounds that go around all of them,
after the scores have been compared with igraph's. It writes the file of ``--out`` (JSON lines, one a variant and graph)
and a table beside it. Times are of the processor, which other load on the machine disturbs less, with one thread; the
best of the rounds, from the SciPy matrix to the scores for lagbc and without conversion for igraph.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from unittest.mock import patch

import click
import igraph
import numpy as np
from graphblas import Matrix, Vector, select, semiring, unary
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, triu

import lagbc
from benchmarks import generators
from benchmarks.machine import describe
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.io.read import read_graph
from lagbc.io.source import example_path
from lagbc.methods.cpu.graphblas import lengths as graphblas_weighted

Scores = NDArray[np.float64]


def integers(A: csr_array) -> csr_array:
    """Give each edge an integer length from 1 to 10, the same in both directions."""
    return _symmetric(A, lambda rng, count: rng.integers(1, 11, count).astype(float))


def reals(A: csr_array) -> csr_array:
    """Give each edge a real length from 0.1 to 1, the same in both directions."""
    return _symmetric(A, lambda rng, count: rng.uniform(0.1, 1, count))


def _symmetric(A: csr_array, draw: Callable[[np.random.Generator, int], NDArray[np.float64]]) -> csr_array:
    edges = triu(A, k=1).tocoo()
    half = coo_array((draw(np.random.default_rng(0), edges.nnz), edges.coords), shape=A.shape).tocsr()
    return (half + half.T).tocsr()


GRAPHS: dict[str, Callable[[], csr_array]] = {
    "barabasi-albert-10000-10, 1..10": lambda: integers(generators.barabasi_albert(10000, 10)),
    "barabasi-albert-10000-10, (0.1, 1)": lambda: reals(generators.barabasi_albert(10000, 10)),
    "rmat-13-16, 1..10": lambda: integers(generators.rmat(13, 16)),
    "delaunay-13, 1..10": lambda: integers(generators.delaunay(2**13)),
    "us-airports": lambda: read_graph(example_path("us-airports")).matrix.tocsr(),
}


@dataclass(frozen=True)
class Variant:
    """One way to run the method.

    Attributes
    ----------
    factor : float
        Delta in mean lengths over the mean degree; infinite makes all edges light, and one bucket of all vertices.
    batch : int
    tight : str
        "edges": test the edges one by one; "products": by products with diagonal matrices.
    """

    factor: float = tuning.GRAPHBLAS_WIDTH_FACTOR
    batch: int = 128
    tight: str = "edges"


VARIANTS = (
    Variant(),
    *(Variant(factor=factor) for factor in (1.0, 4.0, 64.0, np.inf)),
    *(Variant(batch=batch) for batch in (16, 32, 64)),
    Variant(tight="products"),
)


def score(variant: Variant, A: csr_array, directed: bool, sources: NDArray[np.int64]) -> Scores:
    """Scores by a variant."""
    widest = float(A.data.sum())
    by_products = patch.object(graphblas_weighted, "_tight_edges", tight_edges_by_products)
    with (
        patch.object(tuning, "GRAPHBLAS_WIDTH_FACTOR", variant.factor),
        by_products if variant.tight == "products" else nullcontext(),
    ):
        scores: Scores = lagbc.bc(
            A,
            directed=directed,
            weighted=True,
            method="graphblas",
            threads=1,
            batch=variant.batch,
            sources=sources,
            reduce="none",
            bucket_width=widest if np.isinf(variant.factor) else "auto",
        )
    return scores


def tight_edges_by_products(state: graphblas_weighted.State, dist: Scores) -> Matrix:
    """Find what `lagbc.methods.cpu.graphblas.lengths` finds, a root a time, by products with diagonal matrices."""
    n = dist.shape[1]
    A = Matrix.from_coo(state.tails, state.heads, state.lengths, nrows=n, ncols=n)
    X, tight, rising = Matrix(float, n, n), Matrix(bool, n, n), Matrix(bool, n, n)
    heads, degrees = [], []
    for i, d in enumerate(dist):
        state.plan.stop.check()
        reached = np.flatnonzero(np.isfinite(d))
        D = Vector.from_coo(reached, d[reached], size=n).diag()
        tolerance = Vector.from_coo(reached, state.plan.rtol * d[reached], size=n).diag()
        # X_uv = |d_u + A_uv - d_v|;   tight = X <= rtol d_v
        X << semiring.any_plus(D @ A)
        X << semiring.any_minus(X @ D)
        X << unary.abs(X)
        tight << semiring.any_le(X @ tolerance)
        tight << select.valuene(tight, False)
        # rising = d_u < d_v, for the few that are left
        X << semiring.any_first(D @ tight)
        rising << semiring.any_lt(X @ D)
        rising << select.valuene(rising, False)
        csr = rising.ss.export("csr")
        heads.append(csr["col_indices"] + np.uint64(i * n))
        degrees.append(np.diff(csr["indptr"]))
    return Matrix.ss.import_csr(
        nrows=dist.size,
        ncols=dist.size,
        indptr=np.append(0, np.cumsum(np.concatenate(degrees))).astype(np.uint64),
        col_indices=np.concatenate(heads),
        values=np.ones(1, np.bool_),
        is_iso=True,
        sorted_cols=True,
    )


def peer(A: csr_array, directed: bool) -> Callable[[NDArray[np.int64]], Scores]:
    """Convert a matrix for igraph, and give its weighted betweenness as a function of the sources."""
    edges = (A if directed else triu(A, k=1)).tocoo()
    graph = igraph.Graph(n=A.shape[0], edges=np.column_stack(edges.coords), directed=directed)

    def betweenness(sources: NDArray[np.int64]) -> Scores:
        return np.array(graph.betweenness(directed=directed, sources=sources.tolist(), weights=edges.data.tolist()))

    return betweenness


def others(A: csr_array, directed: bool) -> dict[str, Callable[[NDArray[np.int64]], Scores]]:
    """List igraph, and lagbc's other methods that take lengths on the CPU."""
    common = partial(lagbc.bc, A, directed=directed, weighted=True, device="cpu", threads=1, reduce="none")
    names = [row.name for row in lagbc.METHODS if row.weighted and row.device == "cpu" and row.name != "graphblas"]
    methods = {f"lagbc {name}": partial(_scores, partial(common, method=name)) for name in names}
    return {"igraph": peer(A, directed), **methods}


def _scores(bc: Callable[..., Scores], sources: NDArray[np.int64]) -> Scores:
    return bc(sources=sources)


def neighbours(A: csr_array, directed: bool, count: int, seed: int) -> NDArray[np.int64]:
    """Draw a run of roots with edges in sweep order, which are near each other where that order is by proximity."""
    graph = as_graph(A, directed=directed, weighted=True)
    active = graph.order[graph.out_degrees[graph.order] > 0]
    first = np.random.default_rng(seed).integers(max(1, len(active) - count))
    return np.sort(active[first : first + count])


def name_of(variant: Variant) -> str:
    """Name a variant by where it differs from the first."""
    default = asdict(VARIANTS[0])
    return ", ".join(f"{k}={v}" for k, v in asdict(variant).items() if v != default[k]) or "default"


def measure(name: str, A: csr_array, count: int, rounds: int, seed: int) -> list[dict[str, object]]:
    """Time everything on one graph; one record each."""
    directed = bool((A != A.T).nnz)
    sources = neighbours(A, directed, count, seed)
    field = others(A, directed)
    for variant in VARIANTS:
        field[name_of(variant)] = partial(score, variant, A, directed)
    expected = field["igraph"](sources)
    for betweenness in field.values():
        np.testing.assert_allclose(betweenness(sources), expected, rtol=1e-9, atol=1e-9)
    seconds: dict[str, list[float]] = {who: [] for who in field}
    for _ in range(rounds):
        for who, betweenness in field.items():
            begun = process_time()
            betweenness(sources)
            seconds[who].append(process_time() - begun)
    return [
        {
            "graph": name,
            "competitor": who,
            "roots": len(sources),
            "seed": seed,
            "cpu_seconds": times,
            "ms_per_root": 1000 * min(times) / len(sources),
            "machine": describe(),
        }
        for who, times in seconds.items()
    ]


def table(records: list[dict[str, object]]) -> str:
    """Lay out the times as Markdown: a row a competitor, a column a graph."""
    graphs = list(dict.fromkeys(str(r["graph"]) for r in records))
    names = list(dict.fromkeys(str(r["competitor"]) for r in records))
    cell = {(r["graph"], r["competitor"]): f"{r['ms_per_root']:.2f}" for r in records}
    lines = ["| | " + " | ".join(graphs) + " |", "|---|" + "---|" * len(graphs)]
    lines += [f"| {who} | " + " | ".join(cell[graph, who] for graph in graphs) + " |" for who in names]
    default = ", ".join(f"{k}={v}" for k, v in asdict(VARIANTS[0]).items())
    roots, rounds = records[0]["roots"], len(records[0]["cpu_seconds"])  # type: ignore[arg-type]
    return f"""# Weighted betweenness in GraphBLAS: Delta, batch, tight edges

Milliseconds of processor time a root on one thread: {roots} roots that follow each other in sweep order, best of
{rounds} rounds.

Default: {default}. Delta is factor mean lengths over the mean degree. The other rows change what they name.

""" + "\n".join([*lines, ""])


@click.command()
@click.option("--graphs", default=";".join(GRAPHS), show_default=True, help="Names or .mtx files, semicolons between.")
@click.option("--roots", default=128, show_default=True, help="Roots, near each other.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--out", default="benchmarks/results/graphblas_weighted.jsonl", show_default=True, type=Path)
def main(graphs: str, roots: int, rounds: int, seed: int, out: Path) -> None:
    """Measure the variants and write the results."""
    records: list[dict[str, object]] = []
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in graphs.split(";"):
        A = GRAPHS[name]() if name in GRAPHS else read_graph(name).matrix.tocsr()
        records += measure(Path(name).name.removesuffix(".mtx.gz"), A, roots, rounds, seed)
        out.write_text("".join(json.dumps(record) + "\n" for record in records))
        out.with_suffix(".md").write_text(table(records))
        print(table(records), flush=True)


if __name__ == "__main__":
    main()
