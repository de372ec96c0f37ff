"""Sweep large graphs that are made on the GPU: ``python -m benchmarks.large --rmat 24-16 --dense``.

R-MAT graphs, from random roots, and a circulant graph, of more edges than 32 bits number, whose scores are known in
closed form. Each is made as a CuPy matrix, read, and then, without the matrix, put in order and swept, without
reductions, for betweenness and then for sums of distances. Seconds and the most memory at a time are those of each
phase until the first scores. Rates are of whole later calls on the graph, by the clock. Results are JSON lines, a line
a graph, and a page of them; what a file holds is not measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import lagbc
from benchmarks import json_lines
from benchmarks.graphs import SEED
from benchmarks.memory import DevicePeak
from benchmarks.run import RESULTS
from lagbc.calls import record

Row = dict[str, Any]
Roots = NDArray[np.int64]
Scores = NDArray[np.float64]
# Pointers (int64) and indices (int32) of compressed rows, of NumPy or CuPy; columns may be in any order.
Compressed = tuple[Any, Any]

# Random numbers drawn, and entries made, at a time.
PIECE = 2**24
# Centralities beside betweenness.
OTHERS = "closeness", "harmonic"
# Roots that another method checks, and the largest difference, over the largest score, that counts as agreement.
CHECKED, TOLERANCE = 4, 1e-12


@dataclass(frozen=True)
class Case:
    """A graph, and how its scores are checked.

    Attributes
    ----------
    name
    make
        Gives the graph as arrays of a module, `numpy` or `cupy`.
    directed
        Whether entries are edges one way.
    roots
        How many are drawn, of the vertices with edges.
    check
        Gives what is compared with, and the largest difference, of the graph that was read, roots and scores.
    """

    name: str
    make: Callable[[Any], Compressed]
    directed: bool
    roots: int
    check: Callable[[Any, Roots, Scores], tuple[str, float]]


def rmat(scale: int, edge_factor: int, seed: int, xp: Any) -> Compressed:
    """Make an R-MAT graph as `benchmarks.generators.rmat` does, of other random numbers; edges are stored one way."""
    rng, n, drawn = xp.random.default_rng(seed), 1 << scale, edge_factor << scale
    row, col = xp.zeros(drawn, np.int32), xp.zeros(drawn, np.int32)
    for first in range(0, drawn, PIECE):
        bit_row, bit_col = row[first : first + PIECE], col[first : first + PIECE]
        for _ in range(scale):
            x = rng.random(len(bit_row))
            bit_row += bit_row + (x >= 0.76)
            bit_col += bit_col + (((x >= 0.57) & (x < 0.76)) | (x >= 0.95))
    label = xp.argsort(rng.random(n))
    keys = label[row] << scale | label[col]
    del row, col, label
    keys.sort()
    keys = keys[xp.append(keys[1:] != keys[:-1], xp.ones(1, bool))]
    return xp.searchsorted(keys >> scale, xp.arange(n + 1)), (keys & (n - 1)).astype(np.int32)


def circulant(n: int, degree: int, xp: Any) -> Compressed:
    """Join vertex i to i - h, ..., i - 1 and i + 1, ..., i + h modulo n, with h = degree / 2."""
    indices = xp.empty(n * degree, np.int32)
    half, rows = degree // 2, max(1, PIECE // degree)
    steps = xp.concatenate([xp.arange(1, half + 1), xp.arange(n - half, n)])
    for first in range(0, n, rows):
        last = min(first + rows, n)
        indices[first * degree : last * degree] = ((xp.arange(first, last)[:, None] + steps) % n).ravel()
    return xp.arange(n + 1) * degree, indices


def of_circulant(n: int, degree: int, roots: Roots) -> Scores:
    r"""Return the sums of dependencies in `circulant`, both ways.

    With h = degree / 2 and n <= 3 h + 2, the m = n - 2 h - 1 vertices that a root is not joined to are two edges away.
    What is joined to two vertices are the arcs of 2 h + 1 around each, which together cover the circle, so that
    ``4 h + 2 - n`` shortest paths lead to each of the m. Of these, min(a, m) are joined to a vertex at distance
    a <= h from the root along the circle: its dependency is ``min(a, m) / (4 h + 2 - n)``.
    """
    half = degree // 2
    if not n <= 3 * half + 2:
        raise ValueError(f"degree={degree} of n={n}: some vertices are more than two edges away")
    far, paths = n - 2 * half - 1, 4 * half + 2 - n
    scores = np.zeros(n)
    for root in roots:
        along = np.abs(np.arange(n) - root)
        along = np.minimum(along, n - along)
        scores += np.where(along <= half, np.minimum(along, far), 0)
    return scores / paths


def against_formula(n: int, degree: int, graph: Any, roots: Roots, scores: Scores) -> tuple[str, float]:
    """Compare the scores of a circulant graph with the closed form."""
    return "closed form", difference(scores, of_circulant(n, degree, roots))


def against_traversal(graph: Any, roots: Roots, scores: Scores) -> tuple[str, float]:
    """Compare the scores from a few of the roots with those of a traversal."""
    some: Row = {"sources": roots[:CHECKED], "reduce": "none", "device": "cuda"}
    ours, theirs = (lagbc.bc(graph, method=method, batch=CHECKED, **some) for method in ("batched", "work-efficient"))
    return f"work-efficient, {CHECKED} roots", difference(ours, theirs)


def difference(ours: Any, theirs: Any) -> float:
    """Return the largest difference, over the largest score; infinite if one is not finite."""
    ours, theirs = (scores if isinstance(scores, np.ndarray) else scores.get() for scores in (ours, theirs))
    return float(np.nan_to_num(np.abs(ours - theirs), nan=np.inf).max() / theirs.max())


def matrix_of(indptr: Any, indices: Any) -> Any:
    """Return a CuPy matrix, whose values nobody reads: a stored zero is an edge, too.

    Its arrays are put in place: CuPy would copy them, and take pointers and indices to one type, of 32 bits where it
    knows no other.
    """
    import cupy as cp
    from cupyx.scipy.sparse import csr_matrix

    n = len(indptr) - 1
    A = csr_matrix((n, n), dtype=bool)
    A.data, A.indices, A.indptr = cp.zeros(len(indices), bool), indices, indptr
    return A


class Course:
    """Seconds and the most bytes of each phase of what is called, a phase of its own or those of lagbc."""

    def __init__(self, peak: DevicePeak) -> None:
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}
        self._peak, self._phase = peak, ""

    def run(self, function: Callable[[], Any], phase: str = "") -> Any:
        """Call, and add to the phases."""
        import cupy

        self._watch(phase)
        begun = time.perf_counter()
        with record(cupy.cuda.Device().synchronize, lambda name: self._watch(name or phase)) as recorder:
            answer = function()
            cupy.cuda.Device().synchronize()
        self._watch("")
        times = {phase: time.perf_counter() - begun} if phase else recorder.seconds
        for name, seconds in times.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        return answer

    def _watch(self, phase: str) -> None:
        self.bytes[self._phase] = max(self.bytes.get(self._phase, 0), self._peak.since())
        self._phase = phase


def measure(case: Case, rounds: int) -> Row:
    """Make a graph, sweep it, and check the scores."""
    from benchmarks.gpu import environment

    with DevicePeak() as peak:
        course = Course(peak)
        graph = read(case, course)
        roots = draw(graph, case.roots)
        how: Row = {"method": "batched", "device": "cuda", "reduce": "none"}
        call = partial(lagbc.bc, graph, sources=roots, **how)
        scores = course.run(call)
        later = {"bc": min(seconds_of(call) for _ in range(rounds))}
        for name in OTHERS:
            other = partial(getattr(lagbc, name), graph, sources=roots, **how)
            other()
            later[name] = min(seconds_of(other) for _ in range(rounds))
        checked_by, error = case.check(graph, roots, scores)
        planned = lagbc.plan(graph, sources=roots, **how)
    return {
        "graph": case.name,
        "vertices": graph.n,
        "entries": graph.nnz,
        "directed": case.directed,
        "depth": graph.depth,
        "roots": len(roots),
        "batch": planned.sweeps[0].batch,
        "seconds": course.seconds,
        "bytes": {phase: most for phase, most in course.bytes.items() if phase},
        "estimated": planned.memory.total,
        "later": later,
        "with_edges": int(np.count_nonzero(graph.out_degrees)),
        "checked_by": checked_by,
        "difference": error,
        "status": "ok" if error <= TOLERANCE else "wrong",
    } | environment()


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the seconds of a call by the clock."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def read(case: Case, course: Course) -> Any:
    """Make a matrix, and read it."""
    import cupy

    A = course.run(lambda: matrix_of(*case.make(cupy)), "make")
    return course.run(partial(lagbc.as_graph, A, directed=case.directed))


def draw(graph: Any, count: int) -> Roots:
    """Draw roots among the vertices with edges."""
    with_edges = np.flatnonzero(graph.out_degrees)
    drawn: Roots = np.random.default_rng(SEED).choice(with_edges, min(count, len(with_edges)), replace=False)
    return drawn


def markdown(rows: Sequence[Row]) -> str:
    """Lay out the page."""
    lines = []
    for row in rows:
        size, commit = row["device_bytes"] / 2**30, str(row["machine"]["commit"])[:10]
        lines += [
            f"{row['graph']}: {row['vertices']:,} vertices, {row['entries']:,} stored entries, {row['roots']} random",
            f"roots, batch {row['batch']}. {row['device']} ({size:.0f} GiB), CuPy {row['cupy']}; commit {commit}.",
            "",
            f"Scores against the {row['checked_by']}: largest difference {row['difference']:.1e} of the largest score.",
            f"Memory that is estimated, without the matrix: {row['estimated'] / 2**30:.1f} GiB.",
            "",
            *_rates(row),
            "| phase | seconds | GiB at most |",
            "|---|---|---|",
        ]
        for phase, seconds in row["seconds"].items():
            lines.append(f"| {phase} | {seconds:.3g} | {row['bytes'].get(phase, 0) / 2**30:.1f} |")
        lines.append("")
    return "\n".join(lines)


def _rates(row: Row) -> list[str]:
    """Lay out later calls, with the hours of calls from all vertices with edges at their rate."""
    if "later" not in row:  # of before the clock was read
        seconds = sum(row["seconds"].values()) - row["seconds"]["make"]
        rate = row["entries"] / 2 * row["roots"] / seconds / 1e9
        return [
            f"The first call with reading and compiling: {seconds:.3g} s, {rate:.3g} GTEPS. No later call was timed by",
            'the clock, and "compile" has seconds of the sweeps, too.',
            "",
        ]
    lines = ["| a later call of | seconds | GTEPS | hours, all roots |", "|---|---|---|---|"]
    for name, seconds in row["later"].items():
        rate = row["entries"] / 2 * row["roots"] / seconds / 1e9
        hours = seconds / row["roots"] * row["with_edges"] / 3600
        lines.append(f"| {name} | {seconds:.3g} | {float(f'{rate:.3g}'):,g} | {hours:.3g} |")
    return [*lines, ""]


def cases(scales: Sequence[str], dense: bool, vertices: int, degree: int, roots: int) -> Iterator[Case]:
    """Name the graphs that are asked for."""
    for scale in scales:
        size, factor = map(int, scale.split("-"))
        yield Case(f"rmat-{scale}", partial(rmat, size, factor, SEED), False, roots, against_traversal)
    if dense:
        check = partial(against_formula, vertices, degree)
        yield Case(f"circulant-{vertices}-{degree}", partial(circulant, vertices, degree), True, 64, check)


@click.command()
@click.option("--rmat", "scales", multiple=True, help="SCALE-FACTOR: edges are FACTOR times 2**SCALE, the vertices.")
@click.option("--dense", is_flag=True, help="The circulant graph.")
@click.option("--vertices", default=50_000, show_default=True, help="Of the circulant graph.")
@click.option("--degree", default=44_000, show_default=True, help="Of each of them, even.")
@click.option("--roots", default=256, show_default=True, help="Of R-MAT graphs.")
@click.option("--rounds", default=3, show_default=True, help="Calls after the first.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "large.jsonl", show_default=True)
def main(
    scales: tuple[str, ...],
    dense: bool,
    vertices: int,
    degree: int,
    roots: int,
    rounds: int,
    out: Path,
) -> None:
    """Append to the results what is missing, and write the page beside them."""
    done = {row["graph"] for row in json_lines.read(out)}
    asked = [case for case in cases(scales, dense, vertices, degree, roots) if case.name not in done]
    for row in json_lines.append(out, (measure(case, rounds) for case in asked)):
        click.echo(row)
    rows = json_lines.read(out)
    out.with_suffix(".md").write_text(markdown(rows))
    if wrong := [row["graph"] for row in rows if row["status"] != "ok"]:
        raise SystemExit(f"scores of {', '.join(wrong)} are wrong")


if __name__ == "__main__":
    main()
