"""The programs of `benchmarks.rivals`: how each makes its graph and its scores, in a process of its own.

The process runs in an environment that has the program, what it needs and NumPy. Networks are undirected and
connected. Scores are those of lagbc: of betweenness each pair once, not scaled; closeness is (n - 1) over the sum of
distances; harmonic the sum of inverse distances. Scores of edges are in the order of the edges that were given.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import entry_points, version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

MEASURES = ("bc", "weighted", "edge_bc", "closeness", "harmonic")
HOPS = ("bc", "edge_bc", "closeness", "harmonic")
Roots = list[int] | None
# A sample is large enough if it takes so many seconds; a short call is repeated as long, and so many times at most.
SAMPLE_SECONDS, ROUNDS = 1.0, 5
SEED = 1
# What a sweep for distances alone takes, betweenness being 1: results/centralities.md.
DISTANCES = 0.13


class Network(NamedTuple):
    """An undirected network: its edges, each once, the lower vertex first, and their lengths."""

    n: int
    tails: np.ndarray
    heads: np.ndarray
    lengths: np.ndarray

    def edges(self) -> list[tuple[int, int]]:
        """Edges as pairs of Python's integers."""
        return list(zip(self.tails.tolist(), self.heads.tolist(), strict=True))

    def roots(self, count: int) -> list[int]:
        """Draw vertices; more of them begin with those that fewer are."""
        order = list(range(self.n))
        random.Random(SEED).shuffle(order)
        return order[:count]


class Rival(NamedTuple):
    """A program, and how it is called.

    ``given(network)`` is the graph that a user has, and is not timed; ``convert(graph, weighted)`` is the program's
    own; ``score(graph, measure, roots)`` its scores. Of betweenness, `roots` are where paths begin; of closeness and
    harmonic, the vertices whose scores are wanted. ``expect(graph, measure)`` predicts the seconds of all.
    One with `extras` is installed with these in place of all that it asks for.
    """

    name: str
    needs: Sequence[str]
    convert: Callable[[Any, bool], Any]
    score: Callable[[Any, str, Roots], Any]
    measures: Sequence[str] = MEASURES
    sampled: Sequence[str] = ()
    threaded: bool = True
    given: Callable[[Network], Any] = lambda network: network
    expect: Callable[[Any, str], float] | None = None
    extras: Sequence[str] = ()
    note: str = ""


def networkx_graph(network: Network) -> Any:
    """Make NetworkX's graph."""
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(range(network.n))
    G.add_weighted_edges_from(
        zip(network.tails.tolist(), network.heads.tolist(), network.lengths.tolist(), strict=True), weight="length"
    )
    return G


def to_backend(name: str, G: Any, weighted: bool) -> Any:
    """Convert by the backend of a name, or leave the graph as it is, if that is NetworkX."""
    if name == "networkx":
        return G
    (found,) = entry_points(group="networkx.backends", name=name)
    return found.load().convert_from_nx(G, edge_attrs={"length": 1.0} if weighted else None)


def by_networkx(name: str, G: Any, measure: str, roots: Roots) -> Any:
    """Call NetworkX's functions, by a backend."""
    import networkx as nx

    run: dict[str, Any] = {"backend": name} | ({"threads": threads()} if name == "lagbc" else {})
    if measure == "closeness":
        if roots is not None:
            return [nx.closeness_centrality(G, root, **run) for root in roots]
        return nx.closeness_centrality(G, **run)
    if measure == "harmonic":
        found = nx.harmonic_centrality(G, roots, **run)
        return found if roots is None else [found[root] for root in roots]
    run |= {"normalized": False, "weight": "length" if measure == "weighted" else None}
    if roots is None:
        return (nx.edge_betweenness_centrality if measure == "edge_bc" else nx.betweenness_centrality)(G, **run)
    subset = nx.edge_betweenness_centrality_subset if measure == "edge_bc" else nx.betweenness_centrality_subset
    return subset(G, roots, list(G), **run)


def to_rustworkx(network: Network, weighted: bool) -> Any:
    """Make rustworkx's graph."""
    import rustworkx as rx

    graph = rx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(network.n))
    graph.add_edges_from_no_data(network.edges())
    return graph


def by_rustworkx(graph: Any, measure: str, roots: Roots) -> Any:
    """Call rustworkx."""
    import rustworkx as rx

    if measure == "closeness":
        return dict(rx.closeness_centrality(graph))
    if measure == "bc":
        return dict(rx.betweenness_centrality(graph, normalized=False))
    return [score for _, score in sorted(rx.edge_betweenness_centrality(graph, normalized=False).items())]


def to_igraph(network: Network, weighted: bool) -> Any:
    """Make igraph's graph."""
    import igraph

    graph = igraph.Graph(network.n, np.column_stack([network.tails, network.heads]))
    if weighted:
        graph.es["length"] = network.lengths
    return graph


def by_igraph(graph: Any, measure: str, roots: Roots) -> Any:
    """Call igraph."""
    if measure == "edge_bc":
        return graph.edge_betweenness(directed=False, sources=roots)
    if measure == "closeness":
        return graph.closeness(roots)
    if measure == "harmonic":
        return np.array(graph.harmonic_centrality(roots)) * (graph.vcount() - 1)
    lengths = "length" if measure == "weighted" else None
    return graph.betweenness(directed=False, sources=roots, weights=lengths)


def to_networkit(network: Network, weighted: bool) -> Any:
    """Make NetworKit's graph, with numbered edges."""
    import networkit

    networkit.setNumberOfThreads(threads())
    ends = network.tails.astype(np.uint64), network.heads.astype(np.uint64)
    return networkit.GraphFromCoo((network.lengths, ends) if weighted else ends, n=network.n, weighted=weighted)


def by_networkit(graph: Any, measure: str, roots: Roots) -> Any:
    """Call NetworKit, which counts both directions of a pair."""
    import networkit

    if measure == "closeness":
        return networkit.centrality.Closeness(graph, False, networkit.centrality.ClosenessVariant.STANDARD).run()
    if measure == "harmonic":
        return networkit.centrality.HarmonicCloseness(graph, False).run()
    if measure == "edge_bc":
        graph.indexEdges()
    return networkit.centrality.Betweenness(graph, computeEdgeCentrality=measure == "edge_bc").run()


def to_easygraph(network: Network, weighted: bool) -> Any:
    """Make EasyGraph's graph in C++."""
    import easygraph

    graph = easygraph.GraphC()
    graph.add_nodes(list(range(network.n)))
    if weighted:
        graph.add_edges(network.edges(), [{"length": length} for length in network.lengths.tolist()])
        graph.generate_linkgraph("length")
    else:
        graph.add_edges(network.edges())
        graph.generate_linkgraph()
    return graph


def by_easygraph(graph: Any, measure: str, roots: Roots) -> Any:
    """Call EasyGraph."""
    import easygraph

    if measure == "closeness":
        return easygraph.closeness_centrality(graph, sources=roots)
    weight = "length" if measure == "weighted" else None
    return easygraph.betweenness_centrality(graph, weight=weight, normalized=False, sources=roots)


def to_scipy(network: Network, weighted: bool) -> Any:
    """Make a matrix of SciPy, both ways along each edge."""
    from scipy.sparse import coo_array

    values = network.lengths if weighted else np.ones(len(network.tails))
    ends = np.concatenate([network.tails, network.heads]), np.concatenate([network.heads, network.tails])
    return coo_array((np.concatenate([values, values]), ends), shape=(network.n, network.n)).tocsr()


def to_scikit_network(network: Network, weighted: bool) -> Any:
    """Make a matrix of SciPy's older kind."""
    from scipy.sparse import csr_matrix

    return csr_matrix(to_scipy(network, weighted))


def by_scikit_network(A: Any, measure: str, roots: Roots) -> Any:
    """Call scikit-network; its `Closeness` has n where others have n - 1, once more."""
    from sknetwork.ranking import Betweenness, Closeness

    return (Betweenness() if measure == "bc" else Closeness()).fit_predict(A)


def to_cityseer(network: Network, weighted: bool) -> Any:
    """Make cityseer's graph: lines of so many metres, all nodes at one place, as searches read lengths alone."""
    from cityseer.rustalgos import graph

    streets = graph.NetworkStructure()
    for v in range(network.n):
        streets.add_street_node(v, 0.0, 0.0, True, 1.0)
    lengths = network.lengths.tolist() if weighted else [1.0] * len(network.tails)
    for number, ((u, v), length) in enumerate(zip(network.edges(), lengths, strict=True)):
        line = f"LINESTRING (0 0, {length / 2} 0, 0 0)"
        streets.add_street_edge(u, v, 2 * number, u, v, line)
        streets.add_street_edge(v, u, 2 * number + 1, v, u, line)
    return streets


def by_cityseer(streets: Any, measure: str, roots: Roots) -> Any:
    """Call cityseer, within a distance that has all; at a metre a second, without tolerance."""
    closeness = {"harmonic": "1/c", "closeness": "c"}
    found = streets.centrality_shortest(
        distances=[10**6],
        closeness_exprs=[(measure, closeness[measure])] if measure in closeness else [],
        betweenness_exprs=[] if measure in closeness else [(measure, "1")],
        speed_m_s=1.0,
        tolerance=0.0,
        pbar_disabled=True,
    ).metrics[measure][10**6]
    return (len(found) - 1) / np.asarray(found) if measure == "closeness" else found


def to_lagbc(network: Network, weighted: bool) -> Any:
    """Make lagbc's graph."""
    import lagbc

    lengths = network.lengths if weighted else None
    return lagbc.graph_from_edges(network.tails, network.heads, lengths, directed=False)


def by_lagbc(graph: Any, measure: str, roots: Roots) -> Any:
    """Call lagbc."""
    import lagbc

    return (lagbc.bc if measure == "weighted" else getattr(lagbc, measure))(graph, threads=threads())


def lagbc_expects(graph: Any, measure: str) -> float:
    """Seconds that lagbc predicts of betweenness, and the part of these that a score takes, on these threads."""
    import lagbc

    if hasattr(graph, "graph"):  # that of the backend of NetworkX
        graph = graph.graph("length" if measure == "weighted" else None)
    which: Any = "bc" if measure == "weighted" else measure
    plan = lagbc.plan(graph, which, threads=threads())
    part = DISTANCES if measure in ("closeness", "harmonic") else 1.0
    return part * sum(sweep.seconds or 0.0 for sweep in plan.sweeps) / threads()


def backend(name: str, *needs: str) -> Rival:
    """Make a rival of a backend of NetworkX, or of NetworkX alone."""
    return Rival(needs[0], needs, partial(to_backend, name), partial(by_networkx, name), given=networkx_graph)


RIVALS = {
    rival.name: rival
    for rival in (
        Rival("lagbc", ("lagbc",), to_lagbc, by_lagbc, expect=lagbc_expects),
        backend("lagbc", "lagbc", "networkx")._replace(name="lagbc in NetworkX", expect=lagbc_expects),
        backend("networkx", "networkx")._replace(sampled=MEASURES, threaded=False),
        backend("rustnx", "rustnx"),
        backend("rustworkx", "nx-rustworkx"),
        backend("franken_networkx", "franken-networkx"),
        Rival("rustworkx", ("rustworkx",), to_rustworkx, by_rustworkx, ("bc", "edge_bc", "closeness")),
        Rival("igraph", ("igraph",), to_igraph, by_igraph, sampled=MEASURES, threaded=False),
        Rival("networkit", ("networkit",), to_networkit, by_networkit),
        Rival(
            "Python-EasyGraph",
            ("Python-EasyGraph",),
            to_easygraph,
            by_easygraph,
            ("bc", "weighted", "closeness"),
            sampled=("bc", "weighted", "closeness"),
            # What `import easygraph` loads.
            extras=("numpy", "scipy", "tqdm", "joblib", "six", "pandas", "matplotlib", "requests", "fastjsonschema"),
            note="without PyTorch and others that it asks for",
        ),
        Rival("cityseer", ("cityseer",), to_cityseer, by_cityseer, ("bc", "weighted", "closeness", "harmonic")),
        Rival(
            "scikit-network",
            ("scikit-network",),
            to_scikit_network,
            by_scikit_network,
            ("bc", "closeness"),
            threaded=False,
        ),
    )
}


def threads() -> int:
    """Give the number of threads, which the environment tells to all libraries."""
    return int(os.environ["OMP_NUM_THREADS"])


def scores_of(found: Any, network: Network, measure: str, rival: str, graph: Any) -> np.ndarray:
    """Bring what a program returned into the order of the vertices or edges, and to one scale."""
    if rival == "networkit" and measure == "edge_bc":
        scores = np.array(found.edgeScores()) / 2
        return scores[[graph.edgeId(u, v) for u, v in network.edges()]]
    if rival == "networkit":
        return np.array(found.scores()) / (1 if measure in ("closeness", "harmonic") else 2)
    if rival == "lagbc":
        place = np.argsort(graph.names)
        return np.asarray(found[place[network.tails], place[network.heads]] if measure == "edge_bc" else found[place])
    if isinstance(found, dict) and measure == "edge_bc":
        return np.array([found[u, v] if (u, v) in found else found[v, u] for u, v in network.edges()])
    if isinstance(found, dict):
        return np.array([found[v] for v in range(network.n)], dtype=float)
    return np.asarray(found, dtype=float)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, and what a call gives."""
    begun = perf_counter()
    found = call()
    return perf_counter() - begun, found


def least(call: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Time a call, and more than once, if it is short."""
    seconds, found = timed(call)
    spent, done = seconds, 1
    while spent < SAMPLE_SECONDS and done < rounds:
        again, found = timed(call)
        seconds, spent, done = min(seconds, again), spent + again, done + 1
    return seconds, found


def measured(rival: Rival, network: Network, graph: Any, measure: str, limit: float, expected: float | None) -> Any:
    """Measure a score of all roots, if that is likely to take `limit` seconds at most, and else of some.

    Some are one and then four times as many, until they take long enough; what a call takes besides its roots counts
    once. Returns the seconds of all, the number of roots that these are predicted from, or None, and what the program
    returned. A program that predicts its runs is not asked for some roots, and the number is 0.
    """
    if rival.expect is not None and (expected := rival.expect(graph, measure)) > limit:
        return expected, 0, None
    count = 1 if measure in rival.sampled and (expected is None or expected > limit) else network.n
    fewer, sooner = 0, 0.0
    while count < network.n:
        seconds, found = timed(partial(rival.score, graph, measure, network.roots(count)))
        a_root = (seconds - sooner) / (count - fewer) if seconds > sooner else seconds / count
        if (predicted := seconds + a_root * (network.n - count)) <= limit:
            break
        if fewer and seconds > SAMPLE_SECONDS / 2:
            return predicted, count, found
        fewer, sooner, count = count, seconds, 4 * count
    seconds, found = least(partial(rival.score, graph, measure, None))
    return seconds, None, found


def load(path: str) -> Network:
    """Read a network."""
    with np.load(path) as file:
        return Network(int(file["n"]), file["tails"], file["heads"], file["lengths"])


def main() -> None:
    """Score the first network at once; then answer a line of standard input after another."""
    name, first, out = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print

    def answer(**told: Any) -> None:
        print(json.dumps(told), file=answers, flush=True)

    rival = RIVALS[name]
    network = load(first)
    given = rival.given(network)
    rival.score(rival.convert(given, False), "bc", None)
    answer(versions={need: version(need) for need in rival.needs})
    path, warm = first, {"bc"}
    graphs: dict[bool, tuple[float, Any]] = {}
    for line in sys.stdin:
        case = json.loads(line)
        measure, weighted = case["measure"], case["measure"] == "weighted"
        try:
            if measure not in warm:  # what a first call loads or compiles is in no other figure
                warm.add(measure)
                rival.score(rival.convert(rival.given(load(first)), weighted), measure, None)
            if case["path"] != path:
                path, graphs, network = case["path"], {}, load(case["path"])
                given = rival.given(network)
            if weighted not in graphs:
                graphs = {weighted: least(partial(rival.convert, given, weighted), 3)}
            convert, graph = graphs[weighted]
            seconds, roots, found = measured(rival, network, graph, measure, case["limit"], case["expected"])
            if roots != 0:
                np.save(Path(out), scores_of(found, network, measure, name, graph))
            answer(seconds=seconds, roots=roots, convert=convert)
        except NotImplementedError:
            answer(problem="absent")
        except Exception as error:  # whatever a rival raises is a result
            answer(problem=f"failed: {type(error).__name__}: {error}"[:200])


if __name__ == "__main__":
    main()
