"""Measure whole processes, and the first call of each kind: ``python -m benchmarks.first_call --help``.

Every figure is of fresh processes, round after round, each kind once a round; medians. A round before those compiles
Python's bytecode, as pip does when it installs. With ``--former`` another checkout, whose kernels are compiled, takes
turns with this one. ``--install`` measures instead what an installation takes on disk.

``--device cuda`` measures the first call ever on a GPU: a process that begins with an empty folder of compiled kernels,
and one that finds in it those of the first. Sections below its tables stay.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

import click
import scipy.sparse as sp

from benchmarks import machine
from benchmarks.generators import rmat, road_like, with_hashed_lengths

RESULTS = Path(__file__).parent / "results"
OUT = {"cpu": RESULTS / "first_call.md", "cuda": RESULTS / "gpu_first_call.md"}
Row = dict[str, float]

_NUMPY = "import numpy as np; A = np.eye(99, k=1)"
_SCIPY = "import scipy.sparse as sp; A = sp.eye_array(99, k=1, format='csr')"
# Whole processes: Python's arguments.
PROCESSES = {
    "nothing": ["-c", "pass"],
    "NumPy": ["-c", "import numpy"],
    "SciPy's sparse matrices": ["-c", "import scipy.sparse"],
    "`import lagbc`": ["-c", "import lagbc"],
    "`lagbc.bc(A)`, NumPy's": ["-c", f"{_NUMPY}; import lagbc; lagbc.bc(A)"],
    "`lagbc.bc(A)`, SciPy's": ["-c", f"{_SCIPY}; import lagbc; lagbc.bc(A)"],
    "`lagbc --help`": ["-m", "lagbc", "--help"],
    "`lagbc bc example:karate`": ["-m", "lagbc", "bc", "example:karate"],
    "`lagbc bc example:ca-GrQc`": ["-m", "lagbc", "bc", "example:ca-GrQc"],
}
# Calls on lesmis, with its lengths, as SciPy's matrix A, the networkx.Graph G or the pair D of one trip.
CALLS = {
    "hops": "lagbc.bc(A)",
    "lengths": "lagbc.bc(A, weighted=True)",
    "undirected": "lagbc.bc(A, directed=False)",
    "edges": "lagbc.edge_bc(A)",
    "closeness": "lagbc.closeness(A)",
    "harmonic, lengths": "lagbc.harmonic(A, weighted=True)",
    "stress": "lagbc.stress(A)",
    "several": "lagbc.centralities(A)",
    "cutoff": "lagbc.bc(A, cutoff=2)",
    "cutoff, lengths": "lagbc.bc(A, weighted=True, cutoff=4)",
    'reduce="all"': 'lagbc.bc(A, directed=False, reduce="all")',
    'reduce="all", lengths': 'lagbc.bc(A, directed=False, weighted=True, reduce="all")',
    "k": "lagbc.bc(A, k=10, rng=1)",
    "demand": "lagbc.bc(A, demand=D)",
    "group": "lagbc.group_bc(A, [[0, 1], [2]])",
    "percolation": "lagbc.percolation(A, states=[1.0] * 77)",
    "work-efficient": 'lagbc.bc(A, method="work-efficient")',
    "dijkstra": 'lagbc.bc(A, weighted=True, method="dijkstra")',
    "NetworkX's, by the backend": 'nx.betweenness_centrality(G, backend="lagbc")',
}
_FIRST_AND_SECOND = """
import json, sys, time
import numpy as np, scipy.sparse as sp
import lagbc
A = sp.load_npz(sys.argv[1])
D = sp.coo_array(([1.0], ([0], [1])), shape=A.shape)
if "nx." in sys.argv[2]:
    import networkx as nx
    G = nx.from_scipy_sparse_array(A)
taken = []
for _ in range(2):
    wall, processor = time.perf_counter(), time.process_time()
    exec(sys.argv[2])
    taken.append({"wall": time.perf_counter() - wall, "processor": time.process_time() - processor})
print(json.dumps(taken))
"""
# On a GPU: graphs, and calls on them as SciPy's matrix A.
ON_GPU: dict[str, tuple[Callable[[], Any], str]] = {
    "R-MAT 16-16, hops, 256 roots": (
        partial(rmat, 16, 16),
        'lagbc.bc(A, directed=False, k=256, rng=1, device="cuda")',
    ),
    "R-MAT 16-16, lengths 1 to 10, 256 roots": (
        lambda: with_hashed_lengths(rmat(16, 16)),
        'lagbc.bc(A, directed=False, weighted=True, k=256, rng=1, device="cuda")',
    ),
    "road-like, 200,000 vertices, hops, 1024 roots": (
        partial(road_like, 200_000),
        'lagbc.bc(A, directed=False, k=1024, rng=1, device="cuda")',
    ),
}
# Given the matrix, the call, and the time at which the process was begun.
_FIRST_ON_GPU = """
import json, sys, time
import numpy as np, scipy.sparse as sp
import lagbc, cupy
taken = {"imports": time.time() - float(sys.argv[3])}
def clock(name, call):
    begun = time.perf_counter()
    exec(call)
    taken[name] = time.perf_counter() - begun
clock("context", "cupy.zeros(1); cupy.cuda.Device().synchronize()")
A = sp.load_npz(sys.argv[1])
clock("first", sys.argv[2])
clock("second", sys.argv[2])
device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
print(json.dumps([f"{device}, CuPy {cupy.__version__}", taken]))
"""


def run(
    arguments: list[str], checkout: Path, variables: Mapping[str, str] | None = None
) -> tuple[Row, subprocess.CompletedProcess[str]]:
    """Run Python in a process, with the lagbc of a checkout; seconds by the clock and of the processor."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(checkout), "NETWORKX_WARNINGS_TO_IGNORE": "cache", **(variables or {})}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=tempfile.gettempdir(), capture_output=True, text=True
    )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"python {' '.join(arguments)}\n{done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "processor": processor}, done


def verify(checkout: Path) -> None:
    """Raise a UsageError unless processes load the lagbc of a checkout, as an editable install goes before it."""
    _, done = run(["-c", "import lagbc; print(lagbc.__file__)"], checkout)
    if checkout not in Path(done.stdout.strip()).parents:
        raise click.UsageError(f"Python loads {done.stdout.strip()}, not the lagbc of {checkout}; uninstall that one")


def first_and_second(call: str, case: Path, checkout: Path) -> list[Row]:
    """Time a call twice in a process that has loaded lagbc, and what the call is given."""
    _, done = run(["-c", _FIRST_AND_SECOND, str(case), call], checkout)
    taken: list[Row] = json.loads(done.stdout)
    return taken


def modules(arguments: list[str], checkout: Path) -> dict[str, float]:
    """Milliseconds that each module took to load, without those that it loads."""
    _, done = run(["-X", "importtime", *arguments], checkout)
    lines = (line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if line.count("|") == 2)
    return {name.strip(): int(alone) / 1000 for alone, _, name in lines if alone.strip().isdecimal()}


def of_rounds(rounds: list[Row]) -> Row:
    """Return the median of each figure."""
    return {name: median(one[name] for one in rounds) for name in rounds[0]}


def measure(rounds: int, checkouts: dict[str, Path], case: Path) -> tuple[list[str], dict[str, float]]:
    """Return the lines of the tables, and the least that each module took."""
    whole: dict[tuple[str, str], list[Row]] = {}
    calls: dict[tuple[str, str], list[list[Row]]] = {}
    least: dict[str, float] = {}
    for number in range(rounds + 1):
        for called, checkout in checkouts.items():
            for name, arguments in PROCESSES.items():
                whole.setdefault((name, called), []).append(run(arguments, checkout)[0])
            for name, call in CALLS.items():
                calls.setdefault((name, called), []).append(first_and_second(call, case, checkout))
        for module, alone in modules(PROCESSES["`lagbc bc example:karate`"], checkouts["this"]).items():
            least[module] = min(alone, least.get(module, alone)) if number else alone
    head = "".join(f" | {called}, s | {called}, processor s" for called in checkouts)
    lines = ["| process" + head + " |", "|---" * (1 + 2 * len(checkouts)) + "|"]
    for name in PROCESSES:
        cells = (of_rounds(whole[name, called][1:]) for called in checkouts)
        lines.append(f"| {name}" + "".join(f" | {one['wall']:.3f} | {one['processor']:.3f}" for one in cells) + " |")
    head = "".join(f" | {called}: first, ms | second, ms | first, processor ms" for called in checkouts)
    lines += ["", "| call" + head + " |", "|---" * (1 + 3 * len(checkouts)) + "|"]
    for name in CALLS:
        cell = ""
        for called in checkouts:
            first, second = (of_rounds([one[i] for one in calls[name, called][1:]]) for i in range(2))
            cell += f" | {1e3 * first['wall']:.1f} | {1e3 * second['wall']:.1f} | {1e3 * first['processor']:.1f}"
        lines.append(f"| {name}{cell} |")
    return lines, least


def first_on_gpu(call: str, case: Path, checkout: Path, kernels: Path) -> tuple[str, Row]:
    """Time the parts of a process up to a call on a GPU, and the call again; kernels are kept in a folder."""
    variables = {"CUPY_CACHE_DIR": str(kernels / "cupy"), "CUDA_CACHE_PATH": str(kernels / "cuda")}
    _, done = run(["-c", _FIRST_ON_GPU, str(case), call, repr(time.time())], checkout, variables)
    device, taken = json.loads(done.stdout)
    return device, taken | {"all": taken["imports"] + taken["context"] + taken["first"]}


def measure_on_gpu(
    rounds: int, checkouts: dict[str, Path], graphs: dict[str, tuple[Callable[[], Any], str]]
) -> tuple[str, list[str]]:
    """Return the device, and the lines of the table."""
    taken: dict[tuple[str, str, str], list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        cases = {name: Path(folder) / f"{number}.npz" for number, name in enumerate(graphs)}
        for name, (graph, _) in graphs.items():
            sp.save_npz(cases[name], graph())
        for _ in range(rounds + 1):
            for name, (_, call) in graphs.items():
                for called, checkout in checkouts.items():
                    with tempfile.TemporaryDirectory() as kernels:
                        for kept in ("none", "all"):
                            device, one = first_on_gpu(call, cases[name], checkout, Path(kernels))
                            taken.setdefault((name, called, kept), []).append(one)
    lines = [
        "| graph | checkout | kernels kept | from the start, s | imports | context | first call | second call |",
        "|---" * 8 + "|",
    ]
    for key, each in taken.items():
        middle = of_rounds(each[1:])
        figures = (f"{middle[part]:.2f}" for part in ("all", "imports", "context", "first", "second"))
        lines.append(f"| {' | '.join([*key, *figures])} |")
    return device, lines


def page_of_gpu(rounds: int, former: Path | None, device: str, lines: list[str], before: str) -> str:
    """Lay out the page; the sections of the one before stay."""
    others = "" if former is None else f", former {machine.commit(former)}"
    brought = "the kernels" if files("lagbc.cuda").joinpath("cubins").is_dir() else "none of the kernels"
    _, mark, sections = before.partition("\n## ")
    return f"""\
# The first call ever, on a GPU

`python -m benchmarks.first_call --device cuda` on {device}, {machine.cores()} cores; commit {machine.commit()}{others};
medians of {rounds} rounds.

`lagbc.bc` of a SciPy matrix in a process of its own, with an empty folder of kernels, and in one more with those that
the first process kept. lagbc brought {brought} that wheels bring (`wheels/cubins.py`). "From the start" is from the
start of Python to the scores of the first call, with the imports of SciPy, lagbc and CuPy and the context of the
device, without the reading of the matrix.

{chr(10).join(lines)}
{mark}{sections}"""


def of_modules(least: dict[str, float], longest: int) -> list[str]:
    """Lay out what the modules of `lagbc bc example:karate` took."""
    packages: Counter[str] = Counter()
    for name, alone in least.items():
        packages[name.partition(".")[0]] += alone  # type: ignore[assignment]
    shares = ", ".join(f"{name} {alone:.0f}" for name, alone in packages.most_common(6))
    slowest = sorted(least.items(), key=lambda item: -item[1])[:longest]
    return [
        f"`lagbc bc example:karate` loads {len(least)} modules, {sum(name.startswith('lagbc') for name in least)} of "
        f"lagbc's, in {sum(least.values()):.0f} ms (`-X importtime`, the least of the rounds): {shares}. The longest:",
        "",
        "| module, without what it loads | ms |",
        "|---|---|",
        *(f"| `{name}` | {alone:.1f} |" for name, alone in slowest),
    ]


def installed(what: str) -> list[str]:
    """Install lagbc with the demo's extras in a fresh environment, and lay out what that takes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "--disable-pip-version-check"]
        before = _sizes(Path(folder))
        subprocess.run([*pip, "install", "--quiet", f"{what}[plot]"], check=True)
        sizes = _sizes(Path(folder)) - before
    total = sum(sizes.values())
    listed = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sizes.most_common(12))
    return [f"Installed with [plot]: {total / 1e6:.0f} MB, bytecode included: {listed}."]


def _sizes(folder: Path) -> Counter[str]:
    """Bytes of each package of an environment."""
    (packages,) = folder.glob("lib/python*/site-packages")
    sizes: Counter[str] = Counter()
    for file in packages.rglob("*"):
        if file.is_file() and not file.is_symlink():
            sizes[file.relative_to(packages).parts[0]] += file.stat().st_size
    return sizes


@click.command()
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--longest", default=15, show_default=True, help="How many modules to list.")
@click.option("--former", type=click.Path(exists=True, path_type=Path), help="Another checkout of lagbc.")
@click.option("--install", "what", help="A wheel, or a folder: install it, and say what that takes on disk.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="By default the page in benchmarks/results.")
def main(rounds: int, longest: int, former: Path | None, what: str | None, device: str, out: Path | None) -> None:
    """Write the tables; with --install only the line of the installation."""
    if what is not None and device == "cuda":
        raise click.UsageError("--install has no calls on a GPU; leave out --device")
    out = out or OUT[device]
    before = out.read_text() if out.exists() else ""
    kept = before.splitlines()
    if what is not None:
        kept = [line for line in kept if not line.startswith("Installed")]
        out.write_text("\n".join([*kept, *installed(what)]) + "\n")
        return
    checkouts = {"this": machine.ROOT} | ({} if former is None else {"former": former.resolve()})
    for checkout in checkouts.values():
        verify(checkout)
    if device == "cuda":
        out.write_text(page_of_gpu(rounds, former, *measure_on_gpu(rounds, checkouts, ON_GPU), before))
        click.echo(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.npz"
        save_case(case)
        lines, least = measure(rounds, checkouts, case)
    host: dict[str, Any] = machine.describe()
    others = "" if former is None else f", former {machine.commit(former)}"
    page = [
        f"{host['cpu']}, {host['cores']} cores; Python {host['python']}, NumPy {host['packages']['numpy']}, SciPy "
        f"{host['packages']['scipy']}; commit {host['commit']}{others}; medians of {rounds} rounds.",
        "",
        *lines,
        "",
        *of_modules(least, longest),
        "",
        *(line for line in kept if line.startswith("Installed")),
    ]
    out.write_text("\n".join(page).rstrip() + "\n")
    click.echo(out)


def save_case(path: Path) -> None:
    """Write the matrix that is called on."""
    import lagbc

    sp.save_npz(path, lagbc.read_graph("example:lesmis").matrix)


if __name__ == "__main__":
    main()
