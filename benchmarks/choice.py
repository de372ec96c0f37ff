"""Measure what "auto" chooses from, and fit its constants: ``python -m benchmarks.choice --data FOLDER``.

A case is a network, hops or lengths, and a set of roots: 64, 256 or 1024 random ones, or 2048 of neighbours in the
order of all; on a GPU 16,384 of these, too, which are several batches. What all rows of `lagbc.methods.tuning.COSTS`
take for it, and the terms in which their costs are linear, are JSON lines; what a file holds is not measured again.
Where a probe or a term has changed since, --count counts the terms of all lines anew, and leaves the times. On a CPU,
whole blocks in the middle of the run stand for it, on one thread, in the processor's time; on a GPU whole calls
are timed.

With --fit, the constants are fitted to what the file holds, and printed as they are written in tuning.py. The page and
the picture beside the file are of the constants in tuning.py, and say how they would do if each network were left out
of the fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize, nnls
from scipy.special import expit

import lagbc
from benchmarks import json_lines, machine
from benchmarks.graphs import SEED, NamedGraph, table
from benchmarks.run import RESULTS
from benchmarks.survey import Case, Network, Roots, runner, timed_run
from benchmarks.survey_report import Cell, Ratio, choice_page, figure
from lagbc.methods import tuning
from lagbc.methods.probe import COLUMNS, probe
from lagbc.methods.roots import order_roots
from lagbc.planning import choose

Row = dict[str, Any]
Costs = dict[tuple[str, str, bool], dict[str, float]]

ROUNDS = 3
# Roots that are neighbours in the order of all: of one batch, and of several.
NEAR, MANY = 2048, 16384
# Terms that make up less than this of all predictions are left out.
LEAST_SHARE = 0.05
# A case counts in the fit by how near both methods are to each other: 1 / (TIE + |log of their ratio|).
TIE = 0.3
# What is refined: how far apart predictions have to be, in logarithms, to be sure of a choice; and how much one that
# misses its time counts beside what is lost by choosing.
UNSURE, MISS = 0.06, 0.01


def cases(device: str, *, weighted: bool) -> list[Case]:
    """List the sets of roots."""
    sets = [("random", 64), ("random", 256), ("random", 1024), ("near", NEAR)]
    if device == "cuda":
        sets.append(("near", MANY))
    return [Case(weighted, roots, count, device, 1) for roots, count in sets]


def candidates(case: Case) -> list[lagbc.Method]:
    """List the methods that have constants."""
    rows = [row for row in lagbc.METHODS if (row.device, row.weighted) == (case.device, case.weighted)]
    return [row for row in rows if row.key in tuning.COSTS]


def line_up(network: Network, case: Case) -> Roots:
    """Return the roots as the run takes them."""
    row, graph = candidates(case)[0], network.graph
    if case.roots == "random":
        leaving = np.flatnonzero(graph.out_degrees)
        roots = np.random.default_rng(SEED).choice(leaving, min(case.count, len(leaving)), replace=False)
        return order_roots(graph, row, roots)
    order = order_roots(graph, row, np.arange(graph.n))
    first = max(0, (len(order) - case.count) // 2 // COLUMNS * COLUMNS)
    return order[first : first + case.count]


def measure(network: Network, case: Case, seconds: float) -> Iterator[Row]:
    """Time all candidates, in turns: the best of the rounds, which end after about so many `seconds`."""
    ordered, grouped_from = line_up(network, case), tuning.GROUPED_ROOTS
    counted = choose.terms(network.graph, probe(network.graph, ordered))
    # A piece is lined up as the whole is.
    is_grouped = len(ordered) >= grouped_from and not network.graph.has_high_diameter
    tuning.GROUPED_ROOTS = 1 if is_grouped else network.graph.n + 1
    try:
        best = _time_in_turns(network, case, ordered, seconds)
    finally:
        tuning.GROUPED_ROOTS = grouped_from
    for name, a_root in best.items():
        yield (
            network.describe()
            | case.describe()
            | {
                "count": len(ordered),
                "competitor": name,
                "seconds": a_root * len(ordered),
                "terms": counted,
                "commit": machine.commit(),
                "hardware": machine.cpu_model() if case.device == "cpu" else _gpu(),
            }
        )


def _time_in_turns(network: Network, case: Case, ordered: Roots, seconds: float) -> dict[str, float]:
    """Seconds a root, by method."""
    runs = {str(row.name): runner(network.graph, case, row.name) for row in candidates(case)}
    pieces: dict[str, Roots] = {}
    best: dict[str, float] = {}
    for name, run in runs.items():
        run(ordered[:1])  # compiles
        piece = _middle(ordered, COLUMNS if case.device == "cpu" else len(ordered))
        best[name] = timed_run(case, run, piece)[0] / len(piece)
        blocks = max(1, int(seconds / ROUNDS / best[name] / COLUMNS))
        pieces[name] = _middle(ordered, blocks * COLUMNS) if case.device == "cpu" else ordered
    left = ROUNDS * seconds * len(runs)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            taken, _ = timed_run(case, run, pieces[name])
            best[name], left = min(best[name], taken / len(pieces[name])), left - taken
        if left < 0:
            break
    return best


def _middle(ordered: Roots, count: int) -> Roots:
    first = max(0, (len(ordered) - count) // 2 // COLUMNS * COLUMNS)
    return ordered[first : first + count]


def _gpu() -> str:
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


class Measured(NamedTuple):
    """The cases of a device, with hops or with lengths: milliseconds by method, and the terms."""

    names: list[str]
    graphs: NDArray[Any]
    cells: list[Cell]
    sizes: list[int]
    times: NDArray[np.float64]
    terms: NDArray[np.float64]


def measured(rows: Sequence[Row], key: tuple[str, bool]) -> Measured:
    """Collect the cases that all candidates were measured on."""
    names = [name for name, *of in tuning.COSTS if tuple(of) == key]
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if (row["device"], row["weighted"]) == key:
            found.setdefault((row["graph"], row["roots"], row["count"]), {})[row["competitor"]] = row
    whole = [group for group in found.values() if set(names) <= group.keys()]
    first = [group[names[0]] for group in whole]
    return Measured(
        names,
        np.array([row["graph"] for row in first]),
        [Cell(key[1], key[0], 1, row["roots"], _class_of(row)) for row in first],
        [row["n"] for row in first],
        np.array([[1e3 * group[name]["seconds"] for name in names] for group in whole]),
        np.array([[row["terms"][name] for name in choose.TERMS] for row in first]),
    )


def _class_of(row: Row) -> int:
    """Roots that were asked for; a small network has fewer."""
    if row["roots"] == "near":
        return NEAR if row["count"] <= NEAR else MANY
    return int(row["count"])


def fit(these: Measured) -> list[NDArray[np.float64]]:
    """Fit constants >= 0 for each method, that predictions are near the times, and nearer where the choice depends."""
    weight = 1 / (TIE + abs(np.log(these.times[:, 0] / these.times[:, 1])))
    return _refined(these, np.array([_fit_one(these.terms, taken, weight) for taken in these.times.T]))


def _fit_one(
    terms: NDArray[np.float64], milliseconds: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    scale = np.maximum(terms.max(0), 1)
    scaled = terms / scale
    start = nnls(scaled / milliseconds[:, None], np.ones(len(milliseconds)))[0] + 1e-9

    def misses(constants: NDArray[np.float64]) -> NDArray[np.float64]:
        missed: NDArray[np.float64] = np.sqrt(weight) * np.log(scaled @ constants / milliseconds)
        return missed

    steps = np.maximum(start, 1e-3 * start.max())
    solved = least_squares(misses, start, bounds=(0, np.inf), x_scale=steps, loss="soft_l1", f_scale=0.5)
    return _without_small(terms, solved.x / scale)


def _without_small(terms: NDArray[np.float64], constants: NDArray[np.float64]) -> NDArray[np.float64]:
    share = (terms * constants / (terms @ constants)[:, None]).max(0)
    return np.where(share < LEAST_SHARE, 0.0, constants)


def _refined(these: Measured, constants: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Change positive constants of two methods so that wrong choices lose less, and predictions stay near the times.

    Each is taken with a probability, logistic in the logarithm of the ratio of both predictions. The sum of the cubes
    of the logarithms of what is lost then, in the mean, is smooth in the constants.
    """
    positive, times = constants > 0, np.log(these.times)
    lost = times - times.min(1)[:, None]

    def put(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros_like(constants)
        found[positive] = np.exp(logarithms)
        return found

    def loss(logarithms: NDArray[np.float64]) -> float:
        predicted = np.log(these.terms @ put(logarithms).T)
        second = expit((predicted[:, 0] - predicted[:, 1]) / UNSURE)
        expected = (1 - second) * lost[:, 0] + second * lost[:, 1]
        return float((expected**3).sum() + MISS * ((predicted - times) ** 2).sum())

    found = put(minimize(loss, np.log(constants[positive]), method="L-BFGS-B").x)
    return [_without_small(these.terms, of_method) for of_method in found]


def regret(these: Measured, constants: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Tell which method the constants choose for each case, and its time over the best one's."""
    chosen = np.stack([these.terms @ one for one in constants]).argmin(0)
    return chosen, these.times[np.arange(len(chosen)), chosen] / these.times.min(1)


def left_out(these: Measured) -> NDArray[np.float64]:
    """Give the regret of each network's cases by constants that were fitted to the other networks."""
    ratios = np.ones(len(these.graphs))
    for graph in set(these.graphs):
        here = these.graphs == graph
        others = these._replace(times=these.times[~here], terms=these.terms[~here])
        ratios[here] = regret(these._replace(times=these.times[here], terms=these.terms[here]), fit(others))[1]
    return ratios


def today(these: Measured, key: tuple[str, bool]) -> list[NDArray[np.float64]]:
    """Return the constants of tuning.py, in the order of the terms."""
    return [np.array([tuning.COSTS[(name, *key)].get(term, 0.0) for term in choose.TERMS]) for name in these.names]


def page(rows: Sequence[Row], picture: Path) -> str:
    """Lay out the page, and draw the picture."""
    lines = [
        "; ".join(sorted({f"{row['hardware']}, commit {str(row['commit'])[:10]}" for row in rows})) + ".",
        "",
        "Ratios of times, without the probe: on a GPU of whole calls, on a CPU of blocks in the middle of the run.",
        "Graphs are in order and kernels compiled; lengths are random integers from 1 to 10.",
        "",
        "| case | runs | median | 95 % | worst | each network left out of the fit: 95 % | worst | always, worst |",
        "|" + "---|" * 8,
    ]
    cells: dict[Cell, list[Ratio]] = {}
    for key in sorted({(row["device"], row["weighted"]) for row in rows}):
        these = measured(rows, key)
        chosen, ratios = regret(these, today(these, key))
        without = left_out(these)
        always = (these.times / these.times.min(1)[:, None]).max(0)
        figures = [np.median(ratios), np.quantile(ratios, 0.95), ratios.max(), np.quantile(without, 0.95)]
        told = [f"{value:.2f}" for value in (*figures, without.max())]
        told += [", ".join(f"{name} {value:.1f}" for name, value in zip(these.names, always, strict=True))]
        lines.append(f"| {key[0]}, {'lengths' if key[1] else 'hops'} | {len(ratios)} | {' | '.join(told)} |")
        for cell, graph, n, which, ratio in zip(these.cells, these.graphs, these.sizes, chosen, ratios, strict=True):
            name = these.names[which]
            cells.setdefault(cell, []).append(Ratio(str(graph), n, float(ratio), {name: float(ratio)}))
    figure(cells, "time of the chosen method over the best one's", 1.5).savefig(picture, dpi=75)
    return "\n".join([*lines, "", f"![The chosen over the best]({picture.name})", "", *choice_page(cells)]) + "\n"


def fitted(rows: Sequence[Row]) -> Costs:
    """Fit all constants."""
    found: Costs = {}
    for key in sorted({(row["device"], row["weighted"]) for row in rows}):
        these = measured(rows, key)
        for name, constants in zip(these.names, fit(these), strict=True):
            kept = {term: float(f"{value:.2g}") for term, value in zip(choose.TERMS, constants, strict=True) if value}
            found[(name, *key)] = kept
    return found


def survey(networks: Sequence[NamedGraph], device: str, done: set[tuple[Any, ...]], seconds: float) -> Iterator[Row]:
    """Measure what is not done."""
    for named in networks:
        for weighted in (False, True):
            missing = [
                case
                for case in cases(device, weighted=weighted)
                if (named.name, weighted, case.roots, case.count) not in done
            ]
            if missing:
                network = Network(named, weighted=weighted)
                for case in missing:
                    if case.count == NEAR or case.count <= np.count_nonzero(network.graph.out_degrees):
                        yield from measure(network, case, seconds)


def recounted(rows: Sequence[Row], networks: Iterable[NamedGraph]) -> list[Row]:
    """Count the terms of all lines anew, by today's probe."""
    counted: dict[tuple[Any, ...], dict[str, float]] = {}
    for named in networks:
        for weighted in {row["weighted"] for row in rows if row["graph"] == named.name}:
            network = Network(named, weighted=weighted)
            own = [row for row in rows if (row["graph"], row["weighted"]) == (named.name, weighted)]
            for device, roots, count in {(row["device"], row["roots"], _class_of(row)) for row in own}:
                ordered = line_up(network, Case(weighted, roots, count, device, 1))
                found = choose.terms(network.graph, probe(network.graph, ordered))
                counted[named.name, weighted, device, roots, len(ordered)] = found
    keys = [(row["graph"], row["weighted"], row["device"], row["roots"], row["count"]) for row in rows]
    return [row | {"terms": counted[key]} for row, key in zip(rows, keys, strict=True)]


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--seconds", default=0.4, show_default=True, help="A method and case.")
@click.option("--measure/--no-measure", "measures", default=True, help="Whether to measure what is missing.")
@click.option("--count", "counts", is_flag=True, help="Count the terms of what the file holds anew.")
@click.option("--fit", "fits", is_flag=True, help="Print constants for tuning.py.")
@click.option("--out", type=click.Path(path_type=Path), help="By default results/choice-DEVICE.jsonl.")
def main(
    data: Path | None,
    device: str,
    seconds: float,
    measures: bool,
    counts: bool,
    fits: bool,
    out: Path | None,
) -> None:
    """Append to the results what is missing, and write the table and picture beside them."""
    out = out or RESULTS / f"choice-{device}.jsonl"
    rows = json_lines.read(out)
    done = {(row["graph"], row["weighted"], row["roots"], _class_of(row)) for row in rows}
    networks = [named for named in table(data).values() if measures and named.kind == "file"]
    if counts:
        rows = recounted(rows, table(data).values())
        out.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for row in json_lines.append(out, survey(networks, device, done, seconds)):
        rows.append(row)
        click.echo(f"{row['graph']}, {row['roots']}, {row['competitor']}: {row['seconds']:.3g} s")
    if fits:
        for key, constants in fitted(rows).items():
            told = ", ".join(f'"{term}": {value:g}' for term, value in constants.items())
            click.echo(f'    ("{key[0]}", "{key[1]}", {key[2]}): {{{told}}},')
    out.with_suffix(".md").write_text(page(rows, out.with_suffix(".png")))
    click.echo(out.with_suffix(".md"))


if __name__ == "__main__":
    main()
