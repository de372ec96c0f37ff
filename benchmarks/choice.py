"""Measure what "auto" chooses from, and fit its constants: ``python -m benchmarks.choice --data FOLDER``.

A case is a network, hops or lengths, and a set of roots: 64, 256 or 1024 random ones, or 2048 of neighbours in the
order of all; on a GPU 16,384 of these, too, which are several batches. What all rows of `lagbc.tuning.COSTS`
take for it, and the terms in which their costs are linear, are JSON lines; what a file holds is not measured again.
Where a probe or a term has changed since, --count counts the terms of all lines anew, and leaves the times. On a CPU,
whole blocks in the middle of the run stand for it, on one thread, in the processor's time, or on several by the clock;
on a GPU whole calls are timed.

With --fit, constants of few terms a method are fitted to what the file holds of one thread, and printed as they are
written in tuning.py. The page and the picture beside the file are of the constants in tuning.py, for each network,
too, and say how they would do if each network were left out of the fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
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
from benchmarks.survey import Case, Network, Roots, pick, runner, timed_run
from benchmarks.survey_report import Cell, Ratio, choice_page, figure
from lagbc import tuning
from lagbc.methods.probe import COLUMNS, probe
from lagbc.planning import choose

Row = dict[str, Any]
Costs = dict[tuple[str, str, bool], dict[str, float]]

ROUNDS = 3
# Roots that are neighbours in the order of all: of one batch, and of several.
NEAR, MANY = 2048, 16384
# Terms that make up less than this of all predictions are left out; then others, until a method has no more than so
# many. With four on a CPU the worst choice in hops lost 1.44, with five 1.17; with six on a GPU 1.71, with eight 1.32.
LEAST_SHARE, MOST_TERMS = 0.05, {"cpu": 5, "cuda": 8}
# Terms of a GPU alone.
OF_GPU = ("launch_level", "pruned")
# A case counts in the fit by how near both methods are to each other: 1 / (TIE + |log of their ratio|).
TIE = 0.3
# What is refined: how far apart predictions have to be, in logarithms, to be sure of a choice; how much one that misses
# its time counts beside what is lost by choosing; and how far a constant may go, in logarithms.
UNSURE, MISS, CHANGE = 0.06, 0.01, 5.0


def cases(device: str, threads: int, *, weighted: bool) -> list[Case]:
    """List the sets of roots; for several threads those that have batches for each."""
    sets = [("random", 64), ("random", 256), ("random", 1024), ("near", NEAR)]
    if device == "cuda":
        sets.append(("near", MANY))
    return [Case(weighted, roots, count, device, threads) for roots, count in sets if threads == 1 or count >= 1024]


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
        return graph.line_up(roots, row.device)
    order = graph.line_up(np.arange(graph.n), row.device)
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
        share = case.threads * COLUMNS  # a block for each thread
        piece = _middle(ordered, share if case.device == "cpu" else len(ordered))
        best[name] = timed_run(case, run, piece)[0] / len(piece)
        shares = max(1, int(seconds / ROUNDS / best[name] / share))
        pieces[name] = _middle(ordered, shares * share) if case.device == "cpu" else ordered
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


class Key(NamedTuple):
    """What is fitted, or compared, by itself."""

    device: str
    weighted: bool
    threads: int

    @classmethod
    def of(cls, row: Row) -> Key:
        """Give that of a line."""
        return cls(row["device"], row["weighted"], row["threads"])

    def __str__(self) -> str:
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.device}, {'lengths' if self.weighted else 'hops'}{threads}"


class Measured(NamedTuple):
    """The cases of a device, with hops or with lengths: milliseconds by method, and the terms."""

    names: list[str]
    graphs: NDArray[Any]
    cells: list[Cell]
    sizes: list[int]
    times: NDArray[np.float64]
    terms: NDArray[np.float64]


def measured(rows: Sequence[Row], key: Key) -> Measured:
    """Collect the cases that all candidates were measured on."""
    names = [name for name, *of in tuning.COSTS if tuple(of) == key[:2]]
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if Key.of(row) == key:
            found.setdefault((row["graph"], row["roots"], row["count"]), {})[row["competitor"]] = row
    whole = [group for group in found.values() if set(names) <= group.keys()]
    first = [group[names[0]] for group in whole]
    return Measured(
        names,
        np.array([row["graph"] for row in first]),
        [Cell(key.weighted, key.device, key.threads, row["roots"], _class_of(row)) for row in first],
        [row["n"] for row in first],
        np.array([[1e3 * group[name]["seconds"] for name in names] for group in whole]),
        np.array([[row["terms"][name] for name in choose.TERMS] for row in first]),
    )


def _class_of(row: Row) -> int:
    """Roots that were asked for; a small network has fewer."""
    if row["roots"] == "near":
        return NEAR if row["count"] <= NEAR else MANY
    return int(row["count"])


def fit(these: Measured, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fit constants >= 0 of the terms that each method keeps: near the times, and nearer where the choice depends."""
    weight = 1 / (TIE + abs(np.log(these.times[:, 0] / these.times[:, 1])))
    of_methods = zip(these.times.T, kept, strict=True)
    return _refined(these, np.array([_fit_one(these.terms * own, taken, weight) for taken, own in of_methods]))


def fit_few(these: Measured) -> NDArray[np.float64]:
    """Fit constants of at most `MOST_TERMS` terms a method: the one that is missed least goes, one after the other."""
    device = these.cells[0].device
    terms = [term not in OF_GPU or device == "cuda" for term in choose.TERMS]
    found = fit(these, np.array([terms] * len(these.names)))
    while (over := (found > 0).sum(1) > MOST_TERMS[device]).any():
        fewer = []
        for place in np.argwhere((found > 0) & over[:, None]):
            without = found.copy()
            without[tuple(place)] = 0
            fewer.append(_refined(these, without))
        found = min(fewer, key=lambda constants: _loss(these, constants)[0])
    return fit(these, found > 0)


def _fit_one(
    terms: NDArray[np.float64], milliseconds: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    scale = np.maximum(terms.max(0), 1)
    scaled = terms / scale
    start = nnls(scaled / milliseconds[:, None], np.ones(len(milliseconds)))[0] + 1e-9

    def misses(constants: NDArray[np.float64]) -> NDArray[np.float64]:
        missed: NDArray[np.float64] = np.sqrt(weight) * np.log(scaled @ constants / milliseconds)
        return missed

    def slopes(constants: NDArray[np.float64]) -> NDArray[np.float64]:
        sloping: NDArray[np.float64] = (np.sqrt(weight) / (scaled @ constants))[:, None] * scaled
        return sloping

    steps = np.maximum(start, 1e-3 * start.max())
    solved = least_squares(misses, start, slopes, bounds=(0, np.inf), x_scale=steps, loss="soft_l1", f_scale=0.5)
    return _without_small(terms, solved.x / scale)


def _without_small(terms: NDArray[np.float64], constants: NDArray[np.float64]) -> NDArray[np.float64]:
    share = (terms * constants / (terms @ constants)[:, None]).max(0)
    return np.where(share < LEAST_SHARE, 0.0, constants)


def _refined(these: Measured, constants: NDArray[np.float64]) -> NDArray[np.float64]:
    """Change positive constants of two methods so that wrong choices lose less, and predictions stay near the times."""
    positive = constants > 0

    def put(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros_like(constants)
        found[positive] = np.exp(logarithms)
        return found

    def loss(logarithms: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slopes = _loss(these, put(logarithms))
        return value, slopes[positive]

    start = np.log(constants[positive])
    bounds = np.stack([start - CHANGE, start + CHANGE], 1)
    found = put(minimize(loss, start, method="L-BFGS-B", jac=True, bounds=bounds).x)
    return np.array([_without_small(these.terms, of_method) for of_method in found])


def _loss(these: Measured, constants: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return what wrong choices lose, and a little of how far the predictions are from the times; and its slopes.

    Each method is taken with a probability, logistic in the logarithm of the ratio of both predictions. The sum of the
    cubes of the logarithms of what is lost then, in the mean, is smooth in the logarithms of the constants.
    """
    predicted = these.terms @ constants.T
    misses, times = np.log(predicted / these.times), np.log(these.times)
    lost = times - times.min(1)[:, None]
    second = expit((np.log(predicted) @ [1, -1]) / UNSURE)
    expected = (1 - second) * lost[:, 0] + second * lost[:, 1]
    turning = 3 * expected**2 * (lost @ [-1, 1]) * second * (1 - second) / UNSURE
    of_predictions = np.outer(turning, [1, -1]) + 2 * MISS * misses
    slopes = constants * ((of_predictions / predicted).T @ these.terms)
    return float((expected**3).sum() + MISS * (misses**2).sum()), slopes


def regret(these: Measured, constants: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Tell which method the constants choose for each case, and its time over the best one's."""
    chosen = (these.terms @ constants.T).argmin(1)
    return chosen, these.times[np.arange(len(chosen)), chosen] / these.times.min(1)


def left_out(these: Measured, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give the regret of each network's cases by constants of the same terms that the other networks give."""
    ratios = np.ones(len(these.graphs))
    for graph in set(these.graphs):
        here = these.graphs == graph
        others = these._replace(times=these.times[~here], terms=these.terms[~here])
        ratios[here] = regret(these._replace(times=these.times[here], terms=these.terms[here]), fit(others, kept))[1]
    return ratios


def today(these: Measured, key: Key) -> NDArray[np.float64]:
    """Return the constants of tuning.py, in the order of the terms, a row a method."""
    costs = [tuning.COSTS[(name, *key[:2])] for name in these.names]  # type: ignore[index]
    return np.array([[cost.get(term, 0.0) for term in choose.TERMS] for cost in costs])


def page(rows: Sequence[Row], picture: Path) -> str:
    """Lay out the page, and draw the picture."""
    lines = [
        "; ".join(sorted({f"{row['hardware']}, commit {str(row['commit'])[:10]}" for row in rows})) + ".",
        "",
        "Ratios of times, without the probe: on a GPU of whole calls, on a CPU of blocks in the middle of the run.",
        "Graphs are in order and kernels compiled; lengths are random integers from 1 to 10. Constants are fitted to",
        "the times of one thread.",
        "",
        "| case | runs | mean | 95 % | worst | each network left out of the fit: mean | worst | always, worst |",
        "|" + "---|" * 8,
    ]
    cells: dict[Cell, list[Ratio]] = {}
    of_networks: dict[str, dict[Key, NDArray[np.float64]]] = {}
    keys = sorted({Key.of(row) for row in rows})
    for key in keys:
        these = measured(rows, key)
        constants = today(these, key)
        chosen, ratios = regret(these, constants)
        always = (these.times / these.times.min(1)[:, None]).max(0)
        told = [f"{value:.3f}" for value in (ratios.mean(), np.quantile(ratios, 0.95), ratios.max())]
        without = left_out(these, constants > 0) if key.threads == 1 else None
        told += ["-", "-"] if without is None else [f"{without.mean():.3f}", f"{without.max():.3f}"]
        told += [", ".join(f"{name} {value:.1f}" for name, value in zip(these.names, always, strict=True))]
        lines.append(f"| {key} | {len(ratios)} | {' | '.join(told)} |")
        for cell, graph, n, which, ratio in zip(these.cells, these.graphs, these.sizes, chosen, ratios, strict=True):
            name = these.names[which]
            cells.setdefault(cell, []).append(Ratio(str(graph), n, float(ratio), {name: float(ratio)}))
        for graph in sorted(set(these.graphs)):
            of_networks.setdefault(str(graph), {})[key] = ratios[these.graphs == graph]
    figure(cells, "time of the chosen method over the best one's", 1.5).savefig(picture, dpi=75)
    lines += ["", f"![The chosen over the best]({picture.name})", "", *choice_page(cells)]
    return "\n".join([*lines, "", *_networks_page(keys, of_networks)]) + "\n"


def _networks_page(keys: Sequence[Key], of_networks: dict[str, dict[Key, NDArray[np.float64]]]) -> list[str]:
    """Lay out mean and worst of each network, those that lose most first."""
    lines = ["The same by network: the mean of its cases, and the worst.", ""]
    lines += [f"| network | {' | '.join(map(str, keys))} |", "|" + "---|" * (1 + len(keys))]
    means = {graph: np.concatenate(list(found.values())).mean() for graph, found in of_networks.items()}
    for graph in sorted(of_networks, key=lambda graph: (-means[graph], graph)):
        found = [of_networks[graph].get(key) for key in keys]
        told = ["-" if ratios is None else f"{ratios.mean():.3f}, {ratios.max():.2f}" for ratios in found]
        lines.append(f"| {graph} | {' | '.join(told)} |")
    return lines


def fitted(rows: Sequence[Row]) -> Costs:
    """Fit all constants, to the times of one thread."""
    found: Costs = {}
    for key in sorted({key for key in map(Key.of, rows) if key.threads == 1}):
        these = measured(rows, key)
        for name, constants in zip(these.names, fit_few(these), strict=True):
            kept = {term: float(f"{value:.3g}") for term, value in zip(choose.TERMS, constants, strict=True) if value}
            found[(name, *key[:2])] = kept
    return found


def measure_all(
    job: tuple[NamedGraph, bool], device: str, threads: int, done: set[tuple[Any, ...]], seconds: float
) -> list[Row]:
    """Measure what is not done of a network, with hops or with lengths."""
    named, weighted = job
    missing = [
        case
        for case in cases(device, threads, weighted=weighted)
        if (named.name, weighted, threads, case.roots, case.count) not in done
    ]
    if not missing:
        return []
    network = Network(named, weighted=weighted)
    leaving = np.count_nonzero(network.graph.out_degrees)
    wanted = [case for case in missing if case.count == NEAR or case.count <= leaving]
    return [row for case in wanted for row in measure(network, case, seconds)]


def survey(
    networks: Sequence[NamedGraph], device: str, threads: int, done: set[tuple[Any, ...]], seconds: float, workers: int
) -> Iterator[Row]:
    """Measure what is not done, several networks at a time."""
    work = partial(measure_all, device=device, threads=threads, done=done, seconds=seconds)
    jobs = [(named, weighted) for named in networks for weighted in (False, True)]
    if workers == 1:
        for job in jobs:
            yield from work(job)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for found in as_completed([pool.submit(work, job) for job in jobs]):
            yield from found.result()


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
@click.option("--only", multiple=True, metavar="NETWORK", help="Not all of them.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--threads", default=1, show_default=True, help="Of a run on the CPU.")
@click.option("--workers", default=1, show_default=True, help="Networks that are measured at a time.")
@click.option("--seconds", default=0.4, show_default=True, help="A method and case.")
@click.option("--measure/--no-measure", "measures", default=True, help="Whether to measure what is missing.")
@click.option("--count", "counts", is_flag=True, help="Count the terms of what the file holds anew.")
@click.option("--fit", "fits", is_flag=True, help="Print constants for tuning.py.")
@click.option("--out", type=click.Path(path_type=Path), help="By default results/choice-DEVICE.jsonl.")
def main(
    data: Path | None,
    only: tuple[str, ...],
    device: str,
    threads: int,
    workers: int,
    seconds: float,
    measures: bool,
    counts: bool,
    fits: bool,
    out: Path | None,
) -> None:
    """Append to the results what is missing, and write the table and picture beside them."""
    out = out or RESULTS / f"choice-{device}.jsonl"
    rows = json_lines.read(out)
    done = {(row["graph"], row["weighted"], row["threads"], row["roots"], _class_of(row)) for row in rows}
    networks = pick(data, only) if measures else []
    if counts:
        rows = recounted(rows, table(data).values())
        out.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for row in json_lines.append(out, survey(networks, device, threads, done, seconds, workers)):
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
