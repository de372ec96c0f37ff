"""Tables of the shape of the field's first papers, on one GPU: ``python -m benchmarks.seeds --data FOLDER``.

Each paper's kinds of graphs are swept by the traversal that it proposed and its rivals, and by the batched method. The
results are milliseconds a root over a sample of roots; a paper's total over all roots is that times n.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp

from benchmarks.generators import barabasi_albert, delaunay, random_geometric, rmat
from benchmarks.gpu import RESULTS, Case, Entry, environment, measure
from benchmarks.graphs import SEED, NamedGraph, table

Row = dict[str, Any]


@dataclass(frozen=True)
class Paper:
    """One table: its graphs and methods, and how many roots are taken."""

    key: str
    title: str
    graphs: tuple[NamedGraph, ...]
    methods: tuple[str, ...]
    roots: int


def _scales(name: str, kind: str, make: Any, scales: Sequence[int], *arguments: int) -> tuple[NamedGraph, ...]:
    return tuple(
        NamedGraph(f"{name}-{scale}", kind, partial(make, scale, *arguments, SEED), large=True) for scale in scales
    )


def _mesh(scale: int, seed: int) -> Any:
    return delaunay(1 << scale, seed)


def _geometric(scale: int, seed: int) -> Any:
    return random_geometric(1 << scale, seed)


def preferential(n: int, b: int) -> NamedGraph:
    """Name a Barabasi-Albert graph, in which each new vertex has b edges."""
    return NamedGraph(f"barabasi-albert-{n}-{b}", "scale-free", partial(barabasi_albert, n, b, SEED), large=True)


def papers(data: Path) -> tuple[Paper, ...]:
    """Every table; the files of `data` are those of gpu-fan's kinds of networks."""
    files = table(data)
    real = tuple(files[name] for name in ("human-ppi-weighted", "breast_coexpress") if name in files)
    traversals = ("edge-parallel", "work-efficient", "hybrid", "batched")
    return (
        Paper(
            "mclaughlin-bader-2014",
            "McLaughlin and Bader 2014, figures 4 and 5: edge-parallel, work-efficient and sampling, by scale",
            _scales("rgg", "mesh", _geometric, (14, 16, 18))
            + _scales("delaunay", "mesh", _mesh, (14, 16, 18))
            + _scales("kron", "scale-free", rmat, (14, 16, 18), 16),
            traversals,
            256,
        ),
        Paper(
            "vella-2018",
            "Vella, Bernaschi and Carbone 2018, table 2: mean time a root",
            _scales("rmat", "scale-free", rmat, (16, 18, 20), 16),
            ("edge-parallel", "active-edge", "work-efficient", "batched"),
            1024,
        ),
        Paper(
            "gpu-fan-2011",
            "Shi and Zhang 2011 (gpu-fan): Barabasi-Albert graphs by n and b, and networks of their two kinds",
            tuple(preferential(n, 20) for n in (10_000, 20_000, 30_000, 40_000, 50_000))
            + tuple(preferential(30_000, b) for b in (10, 30, 40, 50))
            + real,
            ("edge-parallel:all-blocks", "edge-parallel", "work-efficient", "batched"),
            4096,
        ),
        Paper(
            "sriram-2009",
            "Sriram, Gautham, Kothapalli, Narayan and Govindarajulu 2009, table 1: R-MAT of edge factor 8, 2^12 roots",
            _scales("rmat8", "scale-free", rmat, (12, 14, 16, 18, 19), 8),
            ("node-parallel", "warp-centric:32", "work-efficient", "batched"),
            4096,
        ),
    )


# What is published, in seconds over all roots, or measured of the authors' code on an H100.
PUBLISHED = {
    ("gpu-fan-2011", "barabasi-albert-30000-50"): "365.5 s for all roots (2011)",
    ("vella-2018", "rmat-20"): "McLaughlin and Bader's code on an H100: 3.0 GTEPS, counts unchecked",
    ("vella-2018", "rmat-16"): "McLaughlin and Bader's code on an H100: 5.0 GTEPS, counts unchecked",
}


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Measure, as long as the budget lasts."""
    until = time.perf_counter() + arguments.budget
    common = environment()
    for paper in papers(arguments.data):
        if arguments.tables and paper.key not in arguments.tables:
            continue
        for named in paper.graphs:
            case = Case(named, SEED, paper.roots, "auto", max(paper.roots, 1024))
            for method in paper.methods:
                row: Row = {"table": paper.key, "graph": named.name, "method": method} | common
                if time.perf_counter() > until:
                    yield row | {"status": "not run: out of time"}
                    continue
                try:
                    case.load()
                    row |= case.describe() | measure(case, Entry(method, "float64"), 1, float("inf"))
                except Exception as error:  # one method's failure must not cost the others their time
                    row["status"] = f"failed: {type(error).__name__}: {error}"
                cp.get_default_memory_pool().free_all_blocks()
                yield row


def markdown(measured: list[Row], data: Path) -> str:
    """Lay out a table a paper: milliseconds a root, and the batched method's lead over the best traversal."""
    first = measured[0]
    lines = [
        f"{first['device']}, CUDA {first['cuda']}, CuPy {first['cupy']}; float64.",
        "",
        "Milliseconds a root. Lead: the best traversal's time over that of `batched`. All roots: `batched`, n roots.",
        "Error: the largest difference from another method, over 1 + score.",
    ]
    for paper in papers(data):
        mine = [row for row in measured if row["table"] == paper.key]
        if not mine:
            continue
        heads = ["graph", "n", "nnz", "levels", *paper.methods, "lead", "all roots, s", "published", "error"]
        lines += ["", f"## {paper.title}", "", f"Commit {mine[0]['machine']['commit']}.", ""]
        lines += [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
        lines += [_line(paper, named.name, mine) for named in paper.graphs]
    return "\n".join(lines) + "\n"


def _line(paper: Paper, graph: str, measured: list[Row]) -> str:
    mine = {row["method"]: row for row in measured if row["graph"] == graph}
    ok = {method: row for method, row in mine.items() if row["status"] == "ok"}
    if not ok:
        return f"| {graph} | " + " | ".join(["-"] * (len(paper.methods) + 7)) + " |"
    any_row = next(iter(ok.values()))
    times = [f"{ok[m]['ms_per_root']:.4f}" if m in ok else mine[m]["status"] for m in paper.methods]
    best = min((row["ms_per_root"] for method, row in ok.items() if method != "batched"), default=float("nan"))
    batched = ok["batched"]["ms_per_root"] if "batched" in ok else float("nan")
    error = max(max(row["checks"].values(), default=0.0) for row in ok.values())
    cells = [graph, any_row["n"], any_row["nnz"], any_row["levels"], *times, f"{best / batched:.1f}"]
    cells += [f"{batched * any_row['n'] / 1e3:.2f}", PUBLISHED.get((paper.key, graph), "-"), f"{error:.0e}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def plot(measured: list[Row], data: Path, path: Path) -> None:
    """Draw milliseconds a root by graph, a panel a paper."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [paper for paper in papers(data) if any(row["table"] == paper.key for row in measured)]
    figure, panels = pyplot.subplots(len(shown), 1, figsize=(9, 3.6 * len(shown)), squeeze=False)
    for paper, panel in zip(shown, panels[:, 0], strict=True):
        mine = [row for row in measured if row["table"] == paper.key and row["status"] == "ok"]
        names = [named.name for named in paper.graphs if any(row["graph"] == named.name for row in mine)]
        for method in paper.methods:
            points = {row["graph"]: row["ms_per_root"] for row in mine if row["method"] == method}
            here = [i for i, name in enumerate(names) if name in points]
            panel.plot(here, [points[names[i]] for i in here], "o-", label=method)
        panel.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=8)
        panel.set(yscale="log", ylabel="ms a root", title=paper.title)
        panel.title.set_fontsize(9)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main(words: Sequence[str] | None = None) -> None:
    """Measure; write a line of JSON a measurement, the tables and a figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeds", description=__doc__)
    parser.add_argument("--data", type=Path, help="directory of Matrix Market files", required=True)
    parser.add_argument("--tables", type=lambda text: text.split(","), help="keys of papers [all]")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which nothing is begun")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results [benchmarks/results]")
    arguments = parser.parse_args(words)
    arguments.out.mkdir(parents=True, exist_ok=True)
    measured = []
    with (arguments.out / "seeds.jsonl").open("w") as file:
        for row in rows(arguments):
            print(json.dumps(row), file=file, flush=True)
            cost = f"{row['ms_per_root']:.4f} ms a root" if "ms_per_root" in row else ""
            print(row["table"], row["graph"], row["method"], row["status"], cost, flush=True)
            measured.append(row)
    (arguments.out / "seeds.md").write_text(markdown(measured, arguments.data))
    plot(measured, arguments.data, arguments.out / "seeds.png")
    if any(row["status"].startswith(("wrong", "failed")) for row in measured):
        raise SystemExit("a method failed or disagrees; the status of its row says how")


if __name__ == "__main__":
    main()
