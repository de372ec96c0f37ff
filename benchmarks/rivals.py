"""Every program beside lagbc, in one table: ``python -m benchmarks.rivals --data FOLDER --home FOLDER``.

Betweenness in hops and with lengths, of edges, closeness and harmonic closeness of all vertices of six networks, taken
as undirected, of each the largest component, with random integer lengths from 1 to 10 (seed 1). Each program has an
environment of its own, made in ``--home`` with ``--python`` if it is not there (without ``--home`` this one is that of
all), and a process for each number of threads. NetworkX and its backends begin with a graph of NetworkX, all others
with arrays of edges; converting them to the program's own graph is timed apart, and included in what is told. Short
calls count by the least of several.

What is likely to take longer than ``--limit`` seconds is predicted: of lagbc by its plan, of others from some roots,
where a program takes roots; else from its own seconds on the network before, by vertices times edges, and then it is
only said to be over the limit. Scores are compared with lagbc's, those from some roots with lagbc's from the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Event, Timer
from time import perf_counter
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import connected_components

import lagbc
from benchmarks import json_lines, machine
from benchmarks.generators import symmetric_lengths
from benchmarks.graphs import SEED, read
from benchmarks.rivals_worker import HOPS, MEASURES, RIVALS, Network, Rival, load, to_scipy

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "rivals.jsonl"
NETWORKS = "karate,USAir97,ca-GrQc,email-Enron,luxembourg_osm,web-NotreDame"
TITLES = {
    "bc": "betweenness",
    "weighted": "betweenness, lengths",
    "edge_bc": "edge betweenness",
    "closeness": "closeness",
    "harmonic": "harmonic",
}
# Processes that are started for the first call, and vertices whose closeness is compared if not all are scored.
STARTS, COMPARED = 3, 16
# Seconds of a network from which on the next one is predicted: less is overhead.
LEAST = 0.1
# Largest |x - y| / (1 + |y|) that counts as agreement; cityseer keeps distances, and scikit-network sums, in float32.
TOLERANCE, TOLERANCES = 1e-9, {"cityseer": 1e-4, "scikit-network": 1e-4}


def save(path: Path, out: Path) -> Path:
    """Write the largest component of a network, undirected, with lengths, where workers read it."""
    A = read(path)
    A = csr_array(A + A.T)
    _, component = connected_components(A)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    A = csr_array(A[kept][:, kept])
    lengths = symmetric_lengths(A.indptr, A.indices, 1.0, 10.0, integer=True, seed=SEED)
    edges = triu(csr_array((lengths, A.indices, A.indptr), shape=A.shape), k=1).tocsr().tocoo()
    np.savez(out, n=A.shape[0], tails=edges.row, heads=edges.col, lengths=edges.data)
    return out


def python_of(rival: Rival, home: Path | None) -> Path:
    """Find the Python that has a rival."""
    return Path(sys.executable) if home is None else home / rival.name.replace(" ", "-") / "bin" / "python"


def install(rival: Rival, home: Path | None, python: str, checkout: str) -> Row:
    """Make the environment of a rival, if it is not there; tell what it takes on disk, or why it has none."""
    if home is None:
        missing = [need for need in rival.needs if machine.package_version(need) is None]
        return {"absent": f"{missing[0]} is not installed"} if missing else {}
    own = python_of(rival, home)
    folder = own.parent.parent
    needs = [checkout if need == "lagbc" else need for need in rival.needs]
    pip = [sys.executable, "-m", "pip", "--python", str(own), "install", "--no-compile"]
    told = folder / "sizes.json"
    if not told.exists():
        click.echo(f"installing {rival.name}", err=True)
        commands = [[python, "-m", "venv", "--without-pip", str(folder)], [*pip, *needs]]
        if rival.extras:
            commands = [commands[0], [*pip, "--no-deps", *needs], [*pip, *rival.extras]]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return {"absent": (done.stderr.strip().splitlines() or ["no reason given"])[-1][:200]}
        size = sizes(folder, rival.needs[0])
        subprocess.run([*pip, "--quiet", "numpy"], check=True)
        told.write_text(json.dumps(size))
    row: Row = json.loads(told.read_text())
    return row


def sizes(folder: Path, package: str) -> Row:
    """Bytes of a package in an environment, and of all that is there."""
    (site,) = folder.glob("lib/python*/site-packages")
    total = sum(file.stat().st_size for file in site.rglob("*") if file.is_file() and not file.is_symlink())
    (own,) = (found for found in distributions(path=[str(site)]) if found.name.lower() == package.lower())
    return {"own": sum(file.size or 0 for file in own.files or ()), "total": total}


class Worker:
    """A process of a rival, which answers a question at a time, or is killed."""

    def __init__(self, rival: Rival, home: Path | None, threads: int, first: Path, out: Path) -> None:
        # -I: neither PYTHONPATH nor the folder of the worker, which has a module called cityseer, has modules for it.
        script = Path(__file__).with_name("rivals_worker.py")
        command: list[str | Path] = [python_of(rival, home), "-I", script, rival.name, first, out]
        limits = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "RAYON", "OPENBLAS")}
        self.said = TemporaryFile("w+")  # noqa: SIM115  closed with the process
        self.begun = perf_counter()
        self.process = subprocess.Popen(
            command,
            env=os.environ | limits,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()
        self.said.close()

    def answer(self, seconds: float, **question: Any) -> Row:
        """Ask, and wait so many seconds."""
        assert self.process.stdin
        assert self.process.stdout
        stopped = Event()

        def stop() -> None:
            stopped.set()
            self.process.kill()

        timer = Timer(seconds, stop)
        timer.start()
        with suppress(BrokenPipeError):  # if it died, it has no answer
            if question:
                print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            status = self.process.wait()
            self.said.seek(0)
            last = self.said.read().strip().splitlines()[-1:]
            ended = f"failed: {(last or [f'ended with status {status}'])[0][:200]}"
            return {"problem": f"over: stopped after {seconds:g} s" if stopped.is_set() else ended}
        told: Row = json.loads(line)
        return told


class References:
    """Scores of lagbc: those that its worker gave, and those from some roots, computed here."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Path, str, int | None], np.ndarray] = {}

    def expected(self, path: Path, measure: str, roots: int | None) -> np.ndarray | None:
        """Return scores, if there are any."""
        key = path, measure, roots
        if roots is None or key in self.kept:
            return self.kept.get(key)
        network = load(str(path))
        A = to_scipy(network, measure == "weighted")
        some = network.roots(roots)
        if measure in ("closeness", "harmonic"):
            distances, _ = lagbc.shortest_path_counts(A, some[:COMPARED], directed=False)
            distances = np.asarray(distances)
            found = (network.n - 1) / distances.sum(axis=-1)
            if measure == "harmonic":
                found = (1 / np.where(distances > 0, distances, np.inf)).sum(axis=-1)
        elif measure == "edge_bc":
            found = np.asarray(lagbc.edge_bc(A, directed=False, sources=some)[network.tails, network.heads])
        else:
            found = lagbc.bc(A, directed=False, weighted=measure == "weighted", sources=some)
        return self.kept.setdefault(key, found)

    def judge(self, scores: np.ndarray, rival: str, path: Path, measure: str, roots: int | None) -> str:
        """Say whether scores are right."""
        if rival == "lagbc":
            if roots is None:
                self.kept[path, measure, None] = scores
            return "ok"
        if not np.isfinite(scores).all():
            return f"NaN or infinite at {(~np.isfinite(scores)).sum()} of {len(scores)}"
        expected = self.expected(path, measure, roots)
        if expected is None:
            return "ok, not compared"
        error = float((np.abs(scores[: len(expected)] - expected) / (1 + np.abs(expected))).max(initial=0.0))
        return "ok" if error <= TOLERANCES.get(rival, TOLERANCE) else f"wrong: off by {error:.1e}"


def measure(
    rival: Rival, threads: int, home: Path | None, networks: dict[str, Path], limit: float, references: References
) -> Iterator[Row]:
    """Measure a rival on all networks: a line for its first call, and a line a score."""
    first, *_ = networks.values()
    common = {"rival": rival.name, "threads": threads}
    with TemporaryDirectory() as folder:
        out, seconds, told = Path(folder) / "scores.npy", np.inf, {}
        worker = None
        for _ in range(STARTS):
            if worker is not None:
                worker.close()
            worker = Worker(rival, home, threads, first, out)
            told = worker.answer(10 * limit)
            seconds = min(seconds, perf_counter() - worker.begun)
        assert worker is not None
        yield common | {"first_call": seconds} | told
        if "problem" in told:
            worker.close()
            return
        rates: dict[str, float] = {}
        for name, path in networks.items():
            with np.load(path) as file:
                work = int(file["n"]) * len(file["tails"])
            for score in rival.measures:
                row = common | {"network": name, "measure": score}
                expected = rates[score] * work if score in rates else None
                if expected is not None and expected > limit and score not in rival.sampled and rival.expect is None:
                    yield row | {"status": "over"}
                    continue
                answer = worker.answer(3 * limit + 30, path=str(path), measure=score, limit=limit, expected=expected)
                if "problem" in answer:
                    yield row | {"status": answer["problem"]}
                    if worker.process.poll() is not None:
                        rates[score] = np.inf
                        worker.close()
                        worker = Worker(rival, home, threads, first, out)
                        worker.answer(10 * limit)
                    continue
                if answer["seconds"] > LEAST:
                    rates[score] = answer["seconds"] / work
                status = "ok"
                if answer["roots"] != 0:
                    status = references.judge(np.load(out), rival.name, path, score, answer["roots"])
                yield row | answer | {"status": status}
        worker.close()


def total(row: Row) -> float:
    """Seconds with conversion."""
    return float(row["seconds"] + row["convert"])


def of(threads: int) -> str:
    """Say a number of threads."""
    return f"{threads} thread{'s' * (threads > 1)}"


def told_in_short(seconds: float) -> str:
    """Lay out seconds with three digits and their unit."""
    unit, count = (
        ("s", seconds) if seconds >= 1 else ("ms", 1e3 * seconds) if seconds >= 1e-3 else ("µs", 1e6 * seconds)
    )
    return f"{count:,.{max(0, 2 - int(np.log10(max(count, 1.0))))}f} {unit}"


def cell(row: Row | None, limit: float) -> str:
    """Say in a table how a measurement ended."""
    if row is None or row["status"] == "absent":
        return "-"
    if row["status"].startswith("over"):
        return f"> {limit:g}"
    if not row["status"].startswith("ok"):
        return str(row["status"]).partition(":")[0].partition(" ")[0]
    return ("~" if row["roots"] is not None else "") + told_in_short(total(row))


def page(rows: list[Row]) -> str:
    """Lay out the page."""
    about = rows[0]
    host, limit = about["machine"], about["limit"]
    names = [name for name in RIVALS if any(row.get("rival") == name and "network" in row for row in rows)]
    threads = sorted({row["threads"] for row in rows if "threads" in row})
    networks = list(dict.fromkeys(row["network"] for row in rows if "network" in row))
    cells = {(row["rival"], row["threads"], row["network"], row["measure"]): row for row in rows if row.get("status")}

    def found(name: str, count: int, network: str, score: str) -> Row | None:
        return cells.get((name, count if RIVALS[name].threaded else 1, network, score))

    lines = [
        "# Every program beside lagbc",
        "",
        f"By `{about['command']}`; {host['cpu']}, {host['cores']} cores, Python {about['python']}, commit "
        f"{host['commit']}, {about['date']}; {about['minutes']:.0f} minutes.",
        "",
        "Seconds with conversion of all vertices' scores. NetworkX, its backends and `lagbc in NetworkX` begin with a",
        "graph of NetworkX, all others with arrays of edges.",
        "",
        f"`~`: over the limit of {limit:g} s and predicted, of lagbc by its own plan, of others from some roots.",
        f"`> {limit:g}`: over the limit, by the network before, or stopped. `-`: has no such score. `wrong`, `NaN` and",
        "`failed` are told below. igraph, NetworkX and scikit-network have one thread in all tables.",
        "",
        "## Programs",
        "",
        "Installed: the package alone, and with all that it needs (MB). First call: betweenness of karate in a new",
        f"process, imports included (s, the least of {STARTS}).",
        "",
        f"| program | version | alone | with needs | {' | '.join(f'first call, {of(n)}' for n in threads)} | |",
        "|" + "---|" * (5 + len(threads)),
    ]
    for row in rows:
        if "program" in row:
            calls = {c["threads"]: c for c in rows if c.get("rival") == row["program"] and "first_call" in c}
            starts = [f"{calls[n]['first_call']:.2f}" if n in calls else "-" for n in threads]
            versions: Row = next((c["versions"] for c in calls.values() if "versions" in c), {})
            size = [f"{row[key] / 1e6:.1f}" if key in row else "-" for key in ("own", "total")]
            problems = [
                row.get("absent", ""),
                *(c.get("problem", "") for c in calls.values()),
                RIVALS[row["program"]].note,
            ]
            version = ", ".join(versions.values()) or "-"
            reason = "; ".join(dict.fromkeys(filter(None, problems)))
            lines.append(f"| {row['program']} | {version} | {' | '.join(size + starts)} | {reason} |")
    for count in threads:
        lines += ["", f"## {of(count)}", ""]
        lines += [f"| network | score | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
        for network in networks:
            for score in MEASURES:
                each = [cell(found(name, count, network, score), limit) for name in names]
                lines.append(f"| {network} | {TITLES[score]} | {' | '.join(each)} |")
    lines += ["", "## Conversion alone", "", "Seconds, included above; without lengths, on one thread.", ""]
    lines += [f"| network | vertices | edges | {' | '.join(names)} |", "|" + "---|" * (3 + len(names))]
    for network in networks:
        told = next(row for row in rows if row.get("name") == network)
        each = []
        for name in names:
            of_hops = (found(name, threads[0], network, score) for score in HOPS)
            converted = [one["convert"] for one in of_hops if one and "convert" in one]
            each.append(told_in_short(converted[0]) if converted else "-")
        lines.append(f"| {network} | {told['n']:,} | {told['edges']:,} | {' | '.join(each)} |")
    lines += ["", "## Where lagbc is behind", "", *behind(names, threads, networks, found)]
    lines += ["", "## What is not right", ""]
    faults: dict[tuple[str, str, str], list[str]] = {}
    for row in cells.values():
        if not row["status"].startswith(("ok", "over", "absent")):
            where = faults.setdefault((row["rival"], TITLES[row["measure"]], row["status"]), [])
            where.append(f"{row['network']} ({of(row['threads'])})")
    lines += [f"- {rival}, {score}: {status}: {', '.join(where)}" for (rival, score, status), where in faults.items()]
    return "\n".join(lines) + "\n"


def behind(names: list[str], threads: list[int], networks: list[str], found: Any) -> list[str]:
    """Tell where a program with right scores takes less time than lagbc, beginning with the same kind of graph."""
    lines = []
    in_networkx = [name for name in names if RIVALS[name].given is RIVALS["networkx"].given]
    for ours in ("lagbc", "lagbc in NetworkX"):
        others = [name for name in names if (name in in_networkx) == (ours in in_networkx) and name != ours]
        for count in threads:
            for network in networks:
                for score in MEASURES:
                    row = found(ours, count, network, score) if ours in names else None
                    rows = [found(name, count, network, score) for name in others]
                    right = [r for r in rows if r and r["status"].startswith("ok")]
                    best = min(right, key=total, default=None)
                    if row and row["status"] == "ok" and best and total(best) < total(row):
                        lines.append(
                            f"- {network}, {TITLES[score]}, {of(count)}: {ours} {cell(row, 0)}, {best['rival']} "
                            f"{cell(best, 0)} ({total(row) / total(best):.1f} times)"
                        )
    return lines or ["Nowhere."]


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of networks.")
@click.option("--home", type=click.Path(path_type=Path), help="Folder of their environments [this Python has all].")
@click.option("--python", default=sys.executable, show_default=True, help="The Python of environments that are made.")
@click.option("--lagbc", "checkout", default=str(machine.ROOT), help="A wheel or folder of lagbc [this checkout].")
@click.option("--networks", default=NETWORKS, show_default=True, help="From small to large.")
@click.option("--rivals", default=",".join(RIVALS), show_default=True)
@click.option("--threads", default="1,2", show_default=True)
@click.option("--limit", default=10.0, show_default=True, help="Seconds of a score from which on it is predicted.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True, help="A .jsonl file.")
def main(
    data: Path,
    home: Path | None,
    python: str,
    checkout: str,
    networks: str,
    rivals: str,
    threads: str,
    limit: float,
    out: Path,
) -> None:
    """Write a line a measurement, and the page beside it."""
    if home is not None:
        home = home.resolve()
        home.mkdir(parents=True, exist_ok=True)
    chosen = [RIVALS[name] for name in rivals.split(",")]
    installed = {rival.name: install(rival, home, python, checkout) for rival in chosen}
    out.unlink(missing_ok=True)
    begun, references, rows = perf_counter(), References(), []
    with TemporaryDirectory() as folder:
        paths = {name: save(data / f"{name}.mtx.gz", Path(folder) / f"{name}.npz") for name in networks.split(",")}

        def measurements() -> Iterator[Row]:
            for name, path in paths.items():
                network: Network = load(str(path))
                yield {"name": name, "n": network.n, "edges": len(network.tails)}
            for rival in chosen:
                told = installed[rival.name]
                yield {"program": rival.name} | told
                counts = map(int, threads.split(",")) if rival.threaded else [1]
                for count in counts if "absent" not in told else ():
                    since = perf_counter()
                    yield from measure(rival, count, home, paths, limit, references)
                    click.echo(f"{rival.name}, {of(count)}: {perf_counter() - since:.0f} s", err=True)

        for row in json_lines.append(out, measurements()):
            rows.append(row)
    about = {
        "command": "python -m benchmarks.rivals",
        "python": subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[-1],
        "limit": limit,
        "minutes": (perf_counter() - begun) / 60,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine.describe(),
    }
    rows.insert(0, about)
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out.with_suffix(".md").write_text(page(rows))
    click.echo(out.with_suffix(".md"))


if __name__ == "__main__":
    main()
