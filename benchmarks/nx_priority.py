"""What NetworkX takes with lagbc in its priority, and without: ``python -m benchmarks.nx_priority --help``.

Every function that the backend has is called on small graphs and on larger ones, with few roots and with all, in hops
and with lengths; also where NetworkX needs few searches or raises an error. Each round converts the graph anew, and the
shortest round counts, by the processor's time of all threads. Where lagbc leaves a call to NetworkX, what it takes to
say so counts. The first call, which loads what is compiled, is told apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import networkx as nx

from benchmarks import machine
from lagbc.interfaces import networkx as nx_backend

RESULTS = Path(__file__).parent / "results" / "nx_priority.md"
SEED = 1
# Rounds of a call: at most, and, from the third on, within so many seconds.
ROUNDS, PATIENCE = 30, 0.3
# Milliseconds that no call may take longer with lagbc than without.
MOST = 1.0

FUNCTIONS = (
    "betweenness_centrality",
    "edge_betweenness_centrality",
    "closeness_centrality",
    "harmonic_centrality",
    "percolation_centrality",
    "eccentricity",
    "diameter",
    "radius",
    "center",
    "periphery",
)
HEAD = ("graph", "nodes", "edges", "call", "NetworkX, ms", "by priority, ms", "longer by, ms", "run by")


def graphs() -> dict[str, Any]:
    """Make the graphs; every edge has a length from 1 to 7."""
    made = {
        "karate": nx.karate_club_graph(),
        "two edges": nx.path_graph(3),
        "random, 50 nodes": nx.gnm_random_graph(50, 135, seed=SEED),
        "random, 100 nodes": nx.gnm_random_graph(100, 400, seed=SEED),
        "parallel edges": nx.MultiGraph([(u, (7 * u + i) % 60) for u in range(60) for i in range(4)] * 8),
        "directed": nx.gnp_random_graph(200, 0.05, seed=SEED, directed=True),
        "tree": nx.random_labeled_tree(300, seed=SEED),
        "triangles apart": nx.disjoint_union_all([nx.complete_graph(3)] * 200),
        "grid": nx.grid_2d_graph(20, 20),
        "star": nx.star_graph(300),
        "scale-free": nx.barabasi_albert_graph(300, 5, seed=SEED),
        "scale-free, a node apart": nx.union(nx.barabasi_albert_graph(300, 5, seed=SEED), nx.Graph([(-1, -2)])),
    }
    for G in made.values():
        for number, edge in enumerate(G.edges(data=True)):
            edge[-1]["km"] = 1 + number % 7
    return made


def calls(G: Any) -> dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Return the calls on a graph: function, arguments after it, and those by name."""
    few, every = list(G)[:5], list(G)
    listed: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {}
    for function in FUNCTIONS:
        length = "distance" if function in ("closeness_centrality", "harmonic_centrality") else "weight"
        listed |= {function: (function, (), {}), f"{function}, lengths": (function, (), {length: "km"})}
    for name in ("betweenness_centrality", "edge_betweenness_centrality"):
        listed[f"{name}, k=5"] = name, (min(5, len(G)),), {"seed": SEED}
        listed[f"{name}_subset of 5"] = f"{name}_subset", (few, every), {}
        listed[f"{name}_subset"] = f"{name}_subset", (every, every), {}
    return listed | {
        "harmonic_centrality of 5": ("harmonic_centrality", (few,), {}),
        "harmonic_centrality from 5": ("harmonic_centrality", (), {"sources": few}),
        "closeness_centrality of 1": ("closeness_centrality", (few[0],), {}),
        "diameter, usebounds": ("diameter", (), {"usebounds": True}),
        "diameter, e": ("diameter", (dict.fromkeys(every, 3),), {}),
        "group_betweenness_centrality": ("group_betweenness_centrality", (few[:1],), {}),
    }


def outcome(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of the processor that a call takes, and its type of error, if any."""
    begun = time.process_time()
    try:
        call()
        error = None
    except nx.NetworkXError as raised:
        error = type(raised)
    return 1e3 * (time.process_time() - begun), error


class Asked:
    """The backend's `can_run` and `should_run`, timed; whether it took a call."""

    def __init__(self) -> None:
        self.milliseconds, self.taken = 0.0, False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Stand in for both."""
        hooks = {name: getattr(nx_backend, name) for name in ("can_run", "should_run")}

        def timed(name: str) -> Callable[..., Any]:
            def call(*args: Any) -> Any:
                begun = time.process_time()
                answer = hooks[name](*args)
                self.milliseconds += 1e3 * (time.process_time() - begun)
                self.taken |= name == "should_run" and answer is True
                return answer

            return call

        for name in hooks:
            setattr(nx_backend, name, timed(name))
        try:
            yield
        finally:
            for name, hook in hooks.items():
                setattr(nx_backend, name, hook)


def measure(G: Any, function: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[float, float, float, str]:
    """Milliseconds without lagbc, with it by turns, and by how much these are more; who ran the call."""

    def run(priority: list[str]) -> tuple[float, Any]:
        G.__networkx_cache__.clear()
        with nx.config(backend_priority=priority):
            return outcome(lambda: getattr(nx, function)(G, *args, **options))

    rounds: list[tuple[float, float, float]] = []
    begun = time.perf_counter()
    while len(rounds) < 2 or (len(rounds) < ROUNDS and time.perf_counter() - begun < PATIENCE):
        asked = Asked()
        without, theirs = run([])
        with asked.listening():
            by_priority, ours = run(["lagbc"])
        if ours is not theirs:
            raise SystemExit(f"{function}: {ours} with lagbc, {theirs} without")
        rounds.append((without, by_priority, asked.milliseconds))
    without, by_priority, asking = map(min, zip(*rounds, strict=True))
    return (
        without,
        by_priority,
        by_priority - without if asked.taken else asking,
        "lagbc" if asked.taken else "NetworkX",
    )


def first_call() -> float:
    """Milliseconds of the first call by priority that lagbc runs."""
    G = nx.cycle_graph(100)
    with nx.config(backend_priority=["lagbc"]):
        return outcome(lambda: nx.betweenness_centrality(G))[0]


def markdown(rows: list[tuple[Any, ...]], first: float) -> str:
    """Lay out the page."""
    worst = max(rows, key=lambda row: row[6])
    lines = [
        "# NetworkX with lagbc in its priority, and without",
        "",
        f"By `python -m benchmarks.nx_priority`; {machine.cpu_model()}, {machine.cores()} cores, NetworkX "
        f"{nx.__version__}, commit {machine.commit()}. Milliseconds of the processor, of all "
        f"threads, the shortest of up to {ROUNDS} rounds by turns, conversion "
        "included in each; of calls left to NetworkX the last column is what it took to ask lagbc. "
        f"The first call that lagbc ran in the process took {first / 1e3:.1f} s, as it loads what is compiled.",
        "",
        f"Of {len(rows)} calls lagbc ran {sum(row[7] == 'lagbc' for row in rows)}. The largest difference is "
        f"{worst[6]:.2f} ms ({worst[3]}, {worst[0]}).",
        "",
        f"| {' | '.join(HEAD)} |",
        "|" + "---|" * len(HEAD),
    ]
    for row in rows:
        cells = (f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--most-nodes", type=int, help="Leave larger graphs out.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(most_nodes: int | None, out: Path) -> None:
    """Write a table; fail if a call takes longer with lagbc than it may."""
    first, rows = first_call(), []
    for name, G in graphs().items():
        if most_nodes is not None and len(G) > most_nodes:
            continue
        for said, call in calls(G).items():
            rows.append((name, len(G), G.number_of_edges(), said, *measure(G, *call)))
        click.echo(f"{name}: at most {max(row[6] for row in rows if row[0] == name):.2f} ms more")
    out.write_text(markdown(rows, first))
    click.echo(out)
    if any(row[6] > MOST for row in rows):
        raise SystemExit(f"a call takes more than {MOST} ms longer; the table says which")


if __name__ == "__main__":
    main()
