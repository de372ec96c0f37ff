"""How well estimates keep to their intervals, and what they take: ``python -m benchmarks.estimates --data FOLDER``.

Coverage: of each network, error and seed one run of `lagbc.estimate`, against exact scores. A run misses if any score
is outside of its interval. Time: one run at an absolute error against KADABRA of NetworKit (``pip install
networkit``) at the same error and confidence, in seconds of one thread of the processor, with what either is off by;
KADABRA's scores are halved first. Paths: of large networks, calls by roots, by paths, by the choice between both, and
KADABRA, one after the other, as in ``--parts paths --networks dblp-2010,rmat-20-16 --errors 0.01 --threads 2``; other
rows of the page stay. The k highest: of each network and error ``top=k`` beside KADABRA's ``k``, as in ``--parts ranks
--networks ca-GrQc --errors 0.01,0.001 --highest 5,25``, one thread, and how many of those reported are the highest by
exact scores. The ten highest: on all cores, beside the exact run. One vertex: the stop of Bader,
Kintali, Madduri and Mihail (2007), who draw roots until their dependencies sum to c n, beside ``vertices=``, and how
often either is off by more than a quarter. On a GPU (``--parts gpu``, some 90 s, no folder needed): seconds of whole
calls by their phases, and of a root beside that of `lagbc.bc`.

The page keeps the sections of other parts as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import click
import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array, triu

import lagbc
from benchmarks import machine
from benchmarks.generators import rmat, road_like
from benchmarks.planned import sum_by
from lagbc.calls import record
from lagbc.graph.graph import Graph

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
ON_GPU: tuple[tuple[str, dict[str, Any]], ...] = (
    ("R-MAT 20-16", {"error": 0.01}),
    ("R-MAT 20-16", {"error": 0.002}),
    ("R-MAT 20-16", {"top": 10, "tie": 0.002}),
    ("R-MAT 20-16", {"relative_error": 0.1}),
    ("road-like 2^20", {"error": 0.01}),
)
HIGHEST, MOST_SECONDS = ("loc-brightkite", "dblp-2010"), 150.0
COMPARED = (4096, 16384)
# Of the part on paths: R-MAT graphs have 1, 4 and 16 million edges.
LARGE = (
    "ca-GrQc,wiki-Vote,as-caida20071105,email-Enron,loc-brightkite,p2p-Gnutella31,usroads,dblp-2010,"
    "rmat-16-16,rmat-18-16,rmat-20-16,road-2^18"
)
ABOUT_PATHS = (
    "Confidence 0.9, whole calls from a SciPy matrix; KADABRA of NetworKit 11.3 without the conversion of the graph.\n"
    "Seconds of the processor, and of the wall for the same four; ratios are of the processor. Roots are cut off\n"
    'after some time of the wall ("and more").\n'
)
ABOUT_RANKS = (
    "Confidence 0.9, one thread, seconds of the processor; KADABRA of NetworKit 11.3 without the conversion of the\n"
    "graph. lagbc draws samples until the k highest are certain, or tied within the error. True ones are those among\n"
    "the reported that are among the k highest by exact scores; in brackets, how many lagbc marks as tied. The scores\n"
    "of the reported are off by as much as the last columns say.\n"
)
# Vertices up to which exact scores are computed, for errors.
EXACT_UP_TO = 40_000
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
    """Read a network, or make one: rmat-SCALE-FACTOR, or road-2^SCALE."""
    if name.startswith("rmat-"):
        return rmat(*(int(number) for number in name.split("-")[1:]))
    if name.startswith("road-2^"):
        return road_like(2 ** int(name.removeprefix("road-2^")))
    return csr_array(mmread(data / f"{name}.mtx.gz", spmatrix=False))


def covered(A: csr_array, seeds: int) -> Iterator[str]:
    """Yield a cell for each error: runs that miss, runs that stop early, and their mean roots."""
    exact = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    for error in ERRORS:
        runs = [lagbc.estimate(A, directed=False, error=error, rng=seed, device="cpu") for seed in range(seeds)]
        missed = sum(bool(((exact < run.lower - 1e-12) | (exact > run.upper + 1e-12)).any()) for run in runs)
        early = [run.roots for run in runs if not run.exact]
        yield f"{missed} / {len(early)}{f' ({np.mean(early):.0f})' if early else ''}"


def kadabra(A: csr_array, error: float, confidence: float, threads: int = 1, k: int = 0) -> tuple[float, float, Any]:
    """Return the seconds of NetworKit's KADABRA, of the processor and the wall, and its run, of the k highest if k."""
    import networkit as nk

    nk.setNumberOfThreads(threads)
    nk.setSeed(1, True)
    upper = triu(A + A.T, k=1).tocoo()
    graph = nk.GraphFromCoo((np.ones(upper.nnz), (upper.row, upper.col)), n=A.shape[0])
    begun, wall = process_time(), perf_counter()
    run = nk.centrality.KadabraBetweenness(graph, error, 1 - confidence, k=k)
    run.run()
    return process_time() - begun, perf_counter() - wall, run


def timed(A: csr_array, error: float, confidence: float) -> str:
    """Return the cells of a row: seconds, roots and what either is off by."""
    n = A.shape[0]
    exact = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    theirs, _, run = kadabra(A, error, confidence)
    begun = process_time()
    ours = lagbc.estimate(A, directed=False, error=error, confidence=confidence, rng=1, threads=1, device="cpu")
    seconds = process_time() - begun
    off = np.abs(np.array(run.scores()) / 2 - exact * (n - 2) / n).max()
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


def rows_of_paths(data: Path, name: str, errors: list[float], threads: int, seconds: float) -> list[str]:
    """Measure roots, paths, the choice between them, and KADABRA, on a network."""
    names = ("roots", "paths", "auto", "KADABRA")
    lines = _head(
        *("network", "vertices", "edges", "error", "threads", *(f"{name}, s" for name in names)),
        *("of the wall", "roots / paths", "KADABRA / auto", "drawn", "off by", "KADABRA's", "KADABRA is off by"),
        "commit",
    )
    A = read(data, name)
    n, exact = A.shape[0], None
    if n <= EXACT_UP_TO:
        exact = lagbc.bc(A, directed=False, normalized=True, device="cpu")
    for error in errors:
        walls, spent, drawn, off = dict[str, float](), dict[str, float](), dict[str, str](), dict[str, str]()
        for samples in names[:3]:
            given: dict[str, Any] = {"max_seconds": seconds} if samples == "roots" else {}
            begun, wall = process_time(), perf_counter()
            found = lagbc.estimate(
                *(A,),
                directed=False,
                error=error,
                confidence=0.9,
                rng=1,
                threads=threads,
                device="cpu",
                samples=samples,  # type: ignore[arg-type]
                **given,
            )
            spent[samples], walls[samples] = process_time() - begun, perf_counter() - wall
            over = "max_seconds" in found.reason
            drawn[samples] = f"{found.roots or found.paths:,}{' and more' * over}{', all' * found.exact}"
            off[samples] = "" if exact is None else f"{np.abs(found.scores - exact).max():.2g}"
        spent["KADABRA"], walls["KADABRA"], run = kadabra(A, error, 0.9, threads)
        far = "" if exact is None else f"{np.abs(np.array(run.scores()) / 2 - exact * (n - 2) / n).max():.2g}"
        lines.append(
            _row(
                *(name, f"{n:,}", edges_of(A), f"{error:g}", f"{threads}"),
                *(f"{spent[one]:.3g}" for one in names),
                ", ".join(f"{walls[one]:.3g}" for one in names),
                f"{'> ' * ('more' in drawn['roots'])}{spent['roots'] / spent['paths']:.1f}",
                f"{spent['KADABRA'] / spent['auto']:.1f}",
                f"{drawn['roots']} roots; {drawn['paths']} paths",
                f"{off['roots']}; {off['paths']}" if exact is not None else "",
                f"{run.getNumberOfIterations():,}",
                far,
                short_commit(),
            )
        )
    return lines


@cache
def short_commit() -> str:
    """Return the first digits of the commit that is measured: that of the first call."""
    return (machine.commit() or "")[:8]


def edges_of(A: csr_array) -> str:
    """Count the edges."""
    return f"{A.nnz if (A != A.T).nnz else A.nnz // 2:,}"


def rows_of_ranks(data: Path, name: str, errors: list[float], highest: list[int]) -> list[str]:
    """Measure how long the k highest take, and whether they are, of a network."""
    lines = _head(
        *("network", "vertices", "edges", "error", "k", "KADABRA, s", "lagbc, s", "times", "lagbc's", "KADABRA's"),
        *("true ones of lagbc", "of KADABRA", "lagbc is off by", "KADABRA is off by", "commit"),
    )
    A = read(data, name)
    n = A.shape[0]
    exact = lagbc.bc(A, directed=False, normalized=True, threads=1, device="cpu")
    ranked = np.sort(exact)[::-1]
    for error, k in product(errors, highest):
        theirs, _, run = kadabra(A, error, 0.9, k=k)
        begun = process_time()
        found = lagbc.estimate(A, directed=False, error=error, confidence=0.9, top=k, rng=1, threads=1, device="cpu")
        seconds = process_time() - begun
        reported = np.array([row.vertex for row in found.top]), np.array(run.topkNodesList())
        of_each = np.array([row.score for row in found.top]), np.array(run.topkScoresList()) / 2 * n / max(n - 2, 1)
        true = [np.count_nonzero(exact[vertices] >= ranked[k - 1] * (1 - 1e-12)) for vertices in reported]
        off = [np.abs(scores - exact[vertices]).max() for scores, vertices in zip(of_each, reported, strict=True)]
        tied = sum(row.tied for row in found.top)
        ours, theirs_true = f"{true[0]}{f' ({tied})' * (tied > 0)}", f"{true[1]}"
        drawn = f"{found.paths:,} paths" if found.paths else f"{found.roots:,}{', all' * found.exact} roots"
        lines.append(
            _row(
                *(name, f"{n:,}", edges_of(A), f"{error:g}", f"{k}"),
                *(f"{theirs:.3g}", f"{seconds:.3g}", f"{theirs / seconds:.1f}"),
                *(drawn, f"{run.getNumberOfIterations():,} paths", ours, theirs_true),
                *(f"{one:.2g}" for one in off),
                short_commit(),
            )
        )
    return lines


def renewed(text: str, lines: list[str]) -> str:
    """Return the text of a section with new rows in place of those with the same first five cells."""
    rows = {tuple(line.split(" | ")[:5]): line for line in [*text.splitlines(), *lines] if line.startswith("| ")}
    head = [line for line in rows.values() if line.startswith(("| network", "| ---"))]
    of_networks = {line: line.split(" | ") for line in rows.values() if line not in head}

    def place(line: str) -> tuple[str, float, int]:
        name, _, _, error, count, *_ = of_networks[line]
        return name, float(error), int(count)

    return "\n".join([*head, *sorted(of_networks, key=place)])


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), default=Path(), help="Folder of networks.")
@click.option("--seeds", default=20, show_default=True)
@click.option("--parts", default="coverage,times,vertices,top,squares", show_default=True)
@click.option("--networks", default=LARGE, show_default=True, help="Of the parts paths and ranks.")
@click.option("--errors", default="0.01,0.005", show_default=True, help="Of the parts paths and ranks.")
@click.option("--highest", default="5,10,25", show_default=True, help="How many, of the part ranks.")
@click.option("--threads", default=1, show_default=True, help="Of the part on paths.")
@click.option("--most-seconds", default=60.0, show_default=True, help="Of roots, in the part on paths.")
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(
    data: Path,
    seeds: int,
    parts: str,
    networks: str,
    errors: str,
    highest: str,
    threads: int,
    most_seconds: float,
    out: Path,
) -> None:
    """Measure, print the rows, and write the page."""
    sections = dict(sections_of(out.read_text()) if out.exists() else ())
    wanted = [float(error) for error in errors.split(",")]
    by_network: dict[str, tuple[str, str, Callable[[str], list[str]]]] = {
        "paths": ("Paths", ABOUT_PATHS, lambda name: rows_of_paths(data, name, wanted, threads, most_seconds)),
        "ranks": (
            "The k highest",
            ABOUT_RANKS,
            lambda name: rows_of_ranks(data, name, wanted, [int(k) for k in highest.split(",")]),
        ),
    }
    for part in parts.split(","):
        if part not in by_network:
            title, *lines = PARTS[part](data, seeds)
            sections[title] = "\n".join([f"{machine_of(part)}, commit {machine.commit()}.", *lines])
            write_page(out, sections)
            continue
        title, about, rows_of = by_network[part]
        for name in networks.split(","):  # the page has the rows of a network once they are there
            rows = renewed(sections.get(title, ""), rows_of(name))
            sections[title] = "\n".join([f"{machine_of(part)}, two cores beside other work.", about, rows])
            write_page(out, sections)


def write_page(out: Path, sections: dict[str, str]) -> None:
    """Write the page."""
    head = "# Estimates\n\nBy\n\n    python -m benchmarks.estimates --data FOLDER\n"
    out.write_text("\n".join([head, *(f"## {title}\n\n{text.strip()}\n" for title, text in sections.items())]))


def sections_of(page: str) -> Iterator[tuple[str, str]]:
    """Yield the sections of a page: titles and texts."""
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        yield title, text


def machine_of(part: str) -> str:
    """Name what a part was measured on."""
    if part != "gpu":
        return machine.cpu_model()
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def coverage_rows(data: Path, seeds: int) -> list[str]:
    """Measure how often intervals hold."""
    lines = ["Coverage", f"Confidence 0.95; of {seeds} runs those that miss / that stop before all roots"]
    lines.append("(their mean roots).\n")
    lines += _head("network", "vertices", *(f"error {error:g}" for error in ERRORS))
    for name in COVERED.split(","):
        A = read(data, name)
        lines.append(_row(name, f"{A.shape[0]:,}", *covered(A, seeds)))
    return lines


def rows_of_times(data: Path, seeds: int) -> list[str]:
    """Measure the time, beside KADABRA."""
    lines = ["Against KADABRA", "Confidence 0.9; one run each, in seconds of one thread of the processor.\n"]
    columns = ("KADABRA, s", "lagbc, s", "times", "roots", "KADABRA is off by", "lagbc is off by")
    lines += _head("network", "error", *columns)
    graphs = [("grid 8 x 8", grid(8, 8), 0.01), ("grid 3 x 30", grid(3, 30), 0.01), ("ladder", ladder(3, 40), 0.01)]
    graphs += [(name, read(data, name), error) for name, error in TIMED]
    lines += [_row(name, f"{error:g}", timed(A, error, 0.9)) for name, A, error in graphs]
    return lines


def rows_of_vertices(data: Path, seeds: int) -> list[str]:
    """Measure one vertex at a time."""
    lines = ["One vertex", "Of yeast-ppi, 50 runs: how often a score is off by more than a quarter.\n"]
    lines += _head("vertex of rank", "Bader et al. miss", "their roots", "vertices= misses", "its roots")
    A = read(data, "yeast-ppi")
    ranks = np.argsort(-lagbc.bc(A, directed=False))
    for rank in (1, 10, 50):
        misses, roots, off, drawn = one_vertex(A, int(ranks[rank - 1]), 50)
        lines.append(_row(str(rank), f"{100 * misses:.0f} %", f"{roots:.0f}", f"{100 * off:.0f} %", f"{drawn:.0f}"))
    return lines


def rows_of_top(data: Path, seeds: int) -> list[str]:
    """Measure the ten highest on all cores, beside the exact run, whose time follows from a part of it."""
    lines = [
        "The ten highest",
        "Default relative error, all cores; the exact run's time is that of its middle 20th, times 20.\n",
    ]
    lines += _head("network", "vertices", "seconds", "roots", "why it stopped", "exact run, s", "of random roots, s")
    for name in HIGHEST:
        A = read(data, name)
        begun = perf_counter()
        found = lagbc.estimate(A, directed=False, top=10, rng=1, device="cpu", max_seconds=MOST_SECONDS)
        seconds, begun = perf_counter() - begun, perf_counter()
        with TemporaryDirectory() as folder:
            lagbc.save_part(Path(folder) / "part.npz", (10, 20), A, "bc", directed=False, device="cpu")
        exact = 20 * (perf_counter() - begun)
        per_root = "" if found.exact else f"{seconds / found.roots * A.shape[0]:.0f}"
        cells = (f"{A.shape[0]:,}", f"{seconds:.1f}", f"{found.roots:,}", found.reason, f"{exact:.0f}", per_root)
        lines.append(_row(name, *cells))
    return lines


def rows_of_squares(data: Path, seeds: int) -> list[str]:
    """Measure how much dearer a root is with sums of squares, in turn."""
    lines = [
        "Sums of squares",
        "Seconds of one thread for the same roots, without and with them; the best of five, in turn.\n",
    ]
    lines += _head("network", "roots", "without", "with", "times")
    for name in COVERED.split(","):
        graph = lagbc.as_graph(read(data, name), directed=False)
        lines.append(row_of_squares(name, graph, np.arange(min(graph.n, 2048)), "cpu", process_time))
    return lines


def row_of_squares(name: str, graph: Graph, roots: Any, device: str, clock: Callable[[], float]) -> str:
    """Sum over roots without and with squares, five times in turn."""
    method = next(row for row in lagbc.METHODS if row.key == ("batched", device, False))
    best = dict.fromkeys((frozenset({"dependency"}), frozenset({"dependency", "dependency_squares"})), np.inf)
    for _ in range(5):
        for sums in best:
            begun = clock()
            sum_by(method, graph, roots, 64 if device == "cpu" else len(roots), sums)
            best[sums] = min(best[sums], clock() - begun)
    without, beside = best.values()
    return _row(name, f"{len(roots):,}", f"{without:.3f}", f"{beside:.3f}", f"{beside / without:.3f}")


def rows_on_gpu(data: Path, seeds: int) -> list[str]:
    """Measure whole calls on a GPU."""
    lines = ["On a GPU", "Seconds of a whole call from a SciPy matrix, the better of two after one that compiles.\n"]
    lines += _head("graph", "asked for", "seconds", "roots", "of these, seconds in phases")
    graphs = {"R-MAT 20-16": rmat(20, 16), "road-like 2^20": road_like(2**20)}
    for name, asked in ON_GPU:
        seconds, phases, found = best_of_two(lagbc.estimate, graphs[name], rng=1, **asked)
        words = ", ".join(f"{key} {value:g}" for key, value in asked.items())
        lines.append(_row(name, words, f"{seconds:.2f}", f"{found.roots:,}", phases))
    lines += ["\nA root, by calls of 4,096 and of 16,384 roots: milliseconds in `bc`, and in an estimate.\n"]
    lines += _head("graph", "`bc`, 4,096 roots, s", "estimate", "a root of `bc`, ms", "of an estimate", "times")
    for name, A in graphs.items():
        exact = [best_of_two(lagbc.bc, A, k=k, rng=1)[0] for k in COMPARED]
        drawn = [best_of_two(lagbc.estimate, A, error=1e-9, max_roots=k, rng=1)[0] for k in COMPARED]
        ours, theirs = ((b - a) / (COMPARED[1] - COMPARED[0]) * 1e3 for a, b in (drawn, exact))
        cells = (f"{exact[0]:.2f}", f"{drawn[0]:.2f}", f"{theirs:.4f}", f"{ours:.4f}", f"{ours / theirs:.2f}")
        lines.append(_row(name, *cells))
    lines += [
        "\nThe same roots of R-MAT 20-16 in one batch, seconds without and with squares; the best of five, in turn.\n"
    ]
    lines += _head("graph", "roots", "without", "with", "times")
    graph, roots = lagbc.as_graph(graphs["R-MAT 20-16"], directed=False), np.random.default_rng(1).permutation(2**20)
    lines += [row_of_squares("R-MAT 20-16", graph, roots[:count], "cuda", perf_counter) for count in (1024, 4096)]
    return lines


def best_of_two(function: Callable[..., Any], A: csr_array, **given: Any) -> tuple[float, str, Any]:
    """Return the seconds of the better of two calls on a GPU after one, those of its phases, and what it returned."""
    runs = list[tuple[float, str, Any]]()
    for _ in range(3):
        begun = perf_counter()
        with record() as recorder:
            found = function(A, directed=False, device="cuda", **given)
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in recorder.seconds.items() if seconds >= 0.005)
        runs.append((perf_counter() - begun, phases, found))
    return min(runs[1:], key=lambda run: run[0])


PARTS = {
    "coverage": coverage_rows,
    "times": rows_of_times,
    "vertices": rows_of_vertices,
    "top": rows_of_top,
    "squares": rows_of_squares,
    "gpu": rows_on_gpu,
}


def _head(*names: str) -> list[str]:
    return [_row(*names), "|" + " --- |" * len(names)]


def _row(*cells: str) -> str:
    row = f"| {' | '.join(cells)} |"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
