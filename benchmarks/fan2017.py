"""Variants and virtual warps of `dijkstra` on one GPU: ``python -m benchmarks.fan2017 --data DIRECTORY``.

The comparisons of tables 2 and 3 of Fan, Xu and Zhao (PeerJ Computer Science 3, 2017, e140) on graphs of their kinds:
node-parallel against work-efficient, and virtual warps of 1 to 32 threads, on networks of high and of low degree. All
ways get the same lengths and roots, and have to give the same scores before they are timed. Needs NumPy, SciPy, CuPy
and a device; the figure needs Matplotlib, and is made later, elsewhere, by ``--report FILE.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.generators import erdos_renyi, rmat
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.io.read import read_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import METHODS

Row = dict[str, Any]
Scores = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results"
SEED = 1
LONGEST = 10
VARIANTS = ("node-parallel", "work-efficient")
WIDTHS = (1, 4, 8, 16, 32)
# Largest |x - y| / (1 + |y|) that counts as agreement, and the roots that the textbook checks.
TOLERANCE, CHECKED = 1e-9, 2


@dataclass(frozen=True)
class Case:
    """A graph with lengths that is made or read when it is asked for."""

    name: str
    kind: str
    load: Callable[[], tuple[sp.csr_array, bool, str]]  # matrix of lengths, directed, what the lengths are


def cases(data: Path) -> list[Case]:
    """List networks of high degree, then of low degree."""
    files = {
        name: partial(from_file, data / f"{name}.mtx.gz")
        for name in ("breast_coexpress", "WormNet-v3-benchmark", "higgs-mention")
    }
    return [
        Case("breast_coexpress", "high-degree", files["breast_coexpress"]),
        Case("WormNet-v3-benchmark", "high-degree", files["WormNet-v3-benchmark"]),
        Case("higgs-mention", "low-degree", files["higgs-mention"]),
        Case("erdos-renyi-17-4", "low-degree", partial(from_pattern, partial(erdos_renyi, 1 << 17, 4, SEED))),
        Case("kronecker-17-4", "low-degree", partial(from_pattern, partial(rmat, 17, 2, SEED))),
    ]


def from_file(path: Path) -> tuple[sp.csr_array, bool, str]:
    """Read a network; its values are the lengths if they can be and are not all the same."""
    read = read_graph(path)
    values = read.matrix.data
    if not (np.isfinite(values) & (values > 0)).all() or (values == values[:1]).all():
        return with_lengths(read.matrix, directed=read.directed), read.directed, f"random, 1..{LONGEST}"
    return read.matrix, read.directed, f"the file's, {values.min():g}..{values.max():g}"


def from_pattern(make: Callable[[], sp.csr_array]) -> tuple[sp.csr_array, bool, str]:
    """Make an undirected graph."""
    return with_lengths(make(), directed=False), False, f"random, 1..{LONGEST}"


def with_lengths(pattern: sp.csr_array, *, directed: bool) -> sp.csr_array:
    """Give the edges seeded integer lengths; `as_graph` takes an undirected edge both ways."""
    edges = sp.coo_array(pattern) if directed else sp.triu(pattern, 1).tocoo()
    lengths = np.random.default_rng(SEED).integers(1, LONGEST, edges.nnz, endpoint=True).astype(np.float64)
    return sp.coo_array((lengths, (edges.row, edges.col)), shape=pattern.shape).tocsr()


@dataclass(frozen=True)
class Loaded:
    """A case in memory."""

    case: Case
    graph: Graph
    lengths: str
    roots: NDArray[np.int64]

    @cached_property
    def few(self) -> tuple[NDArray[np.int64], Scores]:
        """Some of the roots, and raw sums from them by textbook Brandes."""
        few = self.roots[:: max(1, len(self.roots) // CHECKED)][:CHECKED]
        graph = self.graph
        assert graph.weights is not None
        edges = graph.indptr.tolist(), graph.indices.tolist(), graph.weights.tolist()
        return few, np.array(reference.brandes(*edges, sources=few.tolist()))

    def describe(self) -> Row:
        """Give the columns that all measurements of this graph share."""
        graph, degrees = self.graph, self.graph.out_degrees
        return {
            "graph": self.case.name,
            "kind": self.case.kind,
            "n": graph.n,
            "nnz": graph.nnz,
            "directed": graph.directed,
            "mean_degree": graph.nnz / max(1, int(np.count_nonzero(degrees))),
            "max_degree": int(max(degrees.max(initial=0), graph.in_degrees.max(initial=0))),
            "lengths": self.lengths,
            "roots": len(self.roots),
            "seed": SEED,
        }


def load(case: Case, count: int) -> Loaded:
    """Make or read a graph and draw seeded roots that have out-edges."""
    matrix, directed, lengths = case.load()
    graph = as_graph(matrix, directed=directed, weighted=True)
    candidates = np.flatnonzero(graph.out_degrees)
    drawn = np.random.default_rng(SEED).choice(candidates, min(count, len(candidates)), replace=False)
    return Loaded(case, graph, lengths, np.sort(drawn))


def measure(loaded: Loaded, variant: str, width: int, repeat: int, trusted: dict[str, Scores]) -> Row:
    """Compare the scores with the textbook's and the first way's, then take the best of some rounds."""
    import cupy as cp

    module: Any = next(row for row in METHODS if row.name == "dijkstra" and row.device == "cuda").load()
    roots = loaded.roots
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    state = module.prepare(loaded.graph, SweepPlan(batch=len(roots), variant=variant, virtual_warp=width))

    def sweep(roots: NDArray[np.int64]) -> tuple[float, float, int, Scores]:
        """Seconds forward and backward, levels, and raw sums."""
        out = cp.zeros((module.batching.rows(0, max(1, len(roots))).stop, loaded.graph.n))
        marks = [cp.cuda.Event() for _ in range(3)]
        marks[0].record()
        (levels,) = module.forward(state, roots)
        marks[1].record()
        module.backward(state, levels, Sums(dependency=out))
        marks[2].record()
        if levels.overflowed.any():
            raise ArithmeticError(f"{np.count_nonzero(levels.overflowed)} roots could not be finished")
        scores = out.sum(axis=0).get()
        forward, backward = (cp.cuda.get_elapsed_time(marks[i], marks[i + 1]) / 1e3 for i in range(2))
        return forward, backward, levels.depth, scores

    few, expected = loaded.few
    errors = [disagreement(sweep(few)[3], expected)]
    rounds = [sweep(roots) for _ in range(repeat)]
    forward, backward, levels, scores = min(rounds, key=lambda r: r[0] + r[1])
    errors.append(disagreement(scores, trusted.setdefault(loaded.case.name, scores)))
    edges = loaded.graph.nnz if loaded.graph.directed else loaded.graph.nnz / 2
    seconds = forward + backward
    return {
        "status": "ok" if max(errors) <= TOLERANCE else f"wrong: the scores are off by {max(errors):.1e}",
        "levels": levels,
        "forward_seconds": forward,
        "backward_seconds": backward,
        "seconds": seconds,
        "seconds_all": [r[0] + r[1] for r in rounds],
        "ms_per_root": seconds / len(roots) * 1e3,
        "gteps": edges * len(roots) / seconds / 1e9,
        "error": max(errors),
        "peak_bytes": pool.total_bytes(),
    }


def disagreement(scores: Scores, expected: Scores) -> float:
    """Find the largest ``|x - y| / (1 + |y|)``; infinite if a score is not finite."""
    difference = np.abs(scores - expected) / (1 + np.abs(expected))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Measure every way on every graph, as long as the budget lasts."""
    from benchmarks.gpu import environment

    until = time.perf_counter() + arguments.budget
    common, trusted = environment(), dict[str, Scores]()
    for case in cases(arguments.data):
        if arguments.graphs and case.name not in arguments.graphs:
            continue
        try:
            loaded = load(case, arguments.roots)
        except FileNotFoundError as error:
            yield {"graph": case.name, "status": f"absent: {error}"} | common
            continue
        for variant in VARIANTS:
            for width in WIDTHS:
                row = loaded.describe() | {"variant": variant, "virtual_warp": width} | common
                if time.perf_counter() > until:
                    yield row | {"status": "not run: out of time"}
                    continue
                try:
                    row |= measure(loaded, variant, width, arguments.repeat, trusted)
                except Exception as error:  # one way's failure must not cost the others their time
                    row["status"] = f"failed: {type(error).__name__}: {error}"
                yield row


def write(results: Path) -> list[Path]:
    """Write the tables (.md) and, with Matplotlib, the figure (.png) beside `results`."""
    measured = [json.loads(line) for line in results.read_text().splitlines()]
    page, picture = results.with_suffix(".md"), results.with_suffix(".png")
    page.write_text(markdown(measured, picture.name))
    if find_spec("matplotlib") is None:
        return [page]
    figure(measured).savefig(picture, dpi=150)
    return [page, picture]


def markdown(measured: list[Row], picture: str) -> str:
    """Lay out the page: conditions, figure, the two tables, and what failed."""
    first, times = measured[0], _times(measured)
    lines = [
        f"# Variants of `dijkstra` on {first['device']}, {first['date'][:10]}",
        "",
        f"CUDA {first['cuda']}, CuPy {first['cupy']}, NumPy {first['machine']['packages']['numpy']}, SciPy "
        f"{first['machine']['packages']['scipy']}, Python {first['machine']['python']}; commit "
        f"{first['machine']['commit']}; lengths and roots drawn with seed {SEED}.",
        "",
        "Milliseconds a root in the kernels, forward and backward, the best of the rounds, all roots in one batch.",
        "The mean degree is that of vertices with out-edges; the largest is in or out. The scores of each line agree",
        "with the others' and with textbook Brandes.",
        "",
        f"![Time a root by virtual warp]({picture})",
        "",
        "## Node-parallel and work-efficient",
        "",
        "A thread a vertex, then each at its best width of virtual warps (in brackets). NP is node-parallel, WE",
        "work-efficient; ratios are over NP with a thread a vertex.",
        "",
        "| graph | kind | n | nnz | mean degree | largest | lengths | roots | levels | NP 1, ms | WE 1, ms | NP / WE "
        "| NP best, ms | WE best, ms | NP 1 / WE best | WE best, GTEPS |",
        "|" + " --- |" * 16,
        *(_variants_line(measured, name, by_way) for name, by_way in times.items()),
        "",
        "## Virtual warps",
        "",
        "Threads that share a vertex; the best of a line is bold.",
        "",
        "| graph | kind | mean degree | variant | " + " | ".join(map(str, WIDTHS)) + " |",
        "|" + " --- |" * (4 + len(WIDTHS)),
        *(
            _widths_line(measured, name, variant, {width: ms for (v, width), ms in by_way.items() if v == variant})
            for name, by_way in times.items()
            for variant in reversed(VARIANTS)
        ),
    ]
    if failed := [row for row in measured if row["status"] != "ok"]:
        lines += ["", "## Failed", ""]
        lines += [
            f"- {row['graph']}, {row.get('variant', '')} {row.get('virtual_warp', '')}: {row['status']}"
            for row in failed
        ]
    return "\n".join(lines) + "\n"


def figure(measured: list[Row]) -> Any:
    """Draw time against virtual warp, a panel a graph, a line a variant."""
    from matplotlib.figure import Figure

    times = _times(measured)
    picture = Figure(figsize=(2.6 * max(1, len(times)), 3.2), layout="constrained")
    panels = picture.subplots(1, max(1, len(times)), squeeze=False)[0]
    for axes, (name, by_way) in zip(panels, times.items(), strict=False):
        for variant, colour, mark in zip(VARIANTS, ("#D55E00", "#0072B2"), ("s", "o"), strict=True):
            widths = [width for width in WIDTHS if (variant, width) in by_way]
            axes.plot(widths, [by_way[variant, width] for width in widths], color=colour, marker=mark, label=variant)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(WIDTHS, map(str, WIDTHS))
        axes.set_title(f"{name}\nmean degree {_shared(measured, name)['mean_degree']:.1f}", fontsize=9)
        axes.set_xlabel("threads a vertex")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("milliseconds a root, less is better")
    if times:
        panels[0].legend(frameon=False, fontsize=8)
    return picture


def _times(measured: list[Row]) -> dict[str, dict[tuple[str, int], float]]:
    """Milliseconds a root by graph, and there by variant and width."""
    times: dict[str, dict[tuple[str, int], float]] = {}
    for row in measured:
        if row["status"] == "ok":
            times.setdefault(row["graph"], {})[row["variant"], row["virtual_warp"]] = row["ms_per_root"]
    return times


def _shared(measured: list[Row], graph: str) -> Row:
    return next(row for row in measured if row["graph"] == graph and row["status"] == "ok")


def _variants_line(measured: list[Row], graph: str, by_way: dict[tuple[str, int], float]) -> str:
    row = _shared(measured, graph)
    best = {
        variant: min(((ms, width) for (v, width), ms in by_way.items() if v == variant), default=(np.nan, 0))
        for variant in VARIANTS
    }
    alone = {variant: by_way.get((variant, 1), np.nan) for variant in VARIANTS}
    node, work = VARIANTS
    mine = [r for r in measured if r["graph"] == graph and r["status"] == "ok" and r["variant"] == work]
    gteps = max((r["gteps"] for r in mine), default=np.nan)
    cells = [
        graph,
        row["kind"],
        f"{row['n']:,}",
        f"{row['nnz']:,}",
        f"{row['mean_degree']:.1f}",
        f"{row['max_degree']:,}",
        row["lengths"],
        row["roots"],
        row["levels"],
        f"{alone[node]:.4f}",
        f"{alone[work]:.4f}",
        f"{alone[node] / alone[work]:.1f}",
        *(f"{best[variant][0]:.4f} ({best[variant][1]})" for variant in VARIANTS),
        f"{alone[node] / best[work][0]:.1f}",
        f"{gteps:.2f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _widths_line(measured: list[Row], graph: str, variant: str, by_width: dict[int, float]) -> str:
    row, least = _shared(measured, graph), min(by_width.values(), default=np.nan)
    shown = [f"{by_width[width]:.4f}" if width in by_width else "-" for width in WIDTHS]
    bold = [f"**{ms}**" if by_width.get(width) == least else ms for width, ms in zip(WIDTHS, shown, strict=True)]
    return " | ".join([f"| {graph}", row["kind"], f"{row['mean_degree']:.1f}", variant, *bold]) + " |"


def say(row: Row) -> None:
    """Print one measurement in a line."""
    head = f"{row['graph']} {row.get('variant', '')} {row.get('virtual_warp', '')}: {row['status']}"
    if row["status"] == "ok":
        head += f", {row['ms_per_root']:.4f} ms a root, {row['gteps']:.2f} GTEPS, {row['levels']} levels"
        head += f", error {row['error']:.0e}, {row['peak_bytes'] / 2**30:.2f} GiB"
    print(head, flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Measure; write a line of JSON a measurement, tables and a figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fan2017", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), help="directory of the .mtx.gz files [data]")
    parser.add_argument("--graphs", type=lambda text: text.split(","), help="comma-separated [all]")
    parser.add_argument("--roots", type=int, default=1024, help="how many [1024]")
    parser.add_argument("--repeat", type=int, default=2, help="timed rounds, of which the best counts [2]")
    parser.add_argument("--budget", type=float, default=300, help="seconds after which nothing is begun [300]")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results [benchmarks/results]")
    parser.add_argument("--report", type=Path, help="only make the tables and the figure of these results again")
    arguments = parser.parse_args(words)
    names = [case.name for case in cases(arguments.data)]
    if unknown := set(arguments.graphs or ()) - set(names):
        parser.error(f"no graph {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if arguments.report:
        print(*write(arguments.report))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    results, bad = arguments.out / "fan2017.jsonl", False
    with results.open("w") as file:
        for row in rows(arguments):
            print(json.dumps(row), file=file, flush=True)
            say(row)
            bad |= row["status"].startswith(("wrong", "failed"))
    print(*write(results))
    if bad:
        raise SystemExit("a way failed or disagrees; the status of its row says how")


if __name__ == "__main__":
    main()
