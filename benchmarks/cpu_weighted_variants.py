"""Ways to search with lengths on the CPU, beside the one that was kept: ``python -m benchmarks.cpu_weighted_variants``.

One thread, processor time of that thread, best of the rounds; the graphs have 128 roots, two batches that follow each
other in sweep order. Compared are Brandes' algorithm root by root, with a binary heap and (integer lengths) with Dial's
buckets, and method "batched" with buckets of other widths. An infinite width of the second kind counts level by level.
"""

# numba reads types at run time; annotations of the compiled functions would say nothing.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heappop, heappush
from pathlib import Path
from time import thread_time
from typing import Any

import click
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks import machine
from benchmarks.generators import barabasi_albert, delaunay, road_like, with_lengths
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched import lengths as batched_weighted
from lagbc.methods.sums import Sums

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "cpu_weighted_variants.jsonl"
ROOTS = 128
WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
COUNT_WIDTHS = (0.5, 2.0, np.inf)


def reals(A: csr_array) -> csr_array:
    """Replace lengths 1 to 10 by reals in (0, 1), tiny ones among them, the same both ways."""
    B = A.copy()
    entries = A.tocoo()
    pair = np.minimum(entries.row, entries.col) * A.shape[0] + np.maximum(entries.row, entries.col).astype(np.int64)
    distinct, place = np.unique(pair, return_inverse=True)
    B.data = (1 - np.random.default_rng(1).random(len(distinct)))[place]
    return B


def graphs() -> Iterator[tuple[str, Graph]]:
    """Scale-free, mesh and road, with integer and with real lengths."""
    for name, pattern in (
        ("barabasi-albert-10000-10", barabasi_albert(10_000, 10, 1)),
        ("delaunay-13", delaunay(1 << 13, 1)),
        ("road-like-14", road_like(1 << 14, 1)),
    ):
        integers = with_lengths(pattern, 1)
        yield f"{name}, integers", as_graph(integers, directed=False, weighted=True)
        yield f"{name}, reals", as_graph(reals(integers), directed=False, weighted=True)


@njit(nogil=True)
def heap_order(indptr, indices, lengths, root, dist, sigma, order):
    """Dijkstra's search with a heap; path counts, and the reached vertices by rising distance."""
    settled = np.zeros(len(dist), np.bool_)
    heap = [(0.0, root)]
    end = 0
    while len(heap):
        d, v = heappop(heap)
        if settled[v]:
            continue
        settled[v], order[end] = True, v
        end += 1
        for e in range(indptr[v], indptr[v + 1]):
            w, through = indices[e], d + lengths[e]
            if through < dist[w]:
                dist[w], sigma[w] = through, sigma[v]
                heappush(heap, (through, np.int64(w)))
            elif through == dist[w]:
                sigma[w] += sigma[v]
    return end


@njit(nogil=True)
def dial_order(indptr, indices, lengths, root, dist, sigma, order):
    """Search with a ring of buckets, one for each distance; lengths are integers from 1 to 10."""
    buckets = 11
    settled = np.zeros(len(dist), np.bool_)
    first, following = np.full(buckets, -1), np.empty(len(indices) + 1, np.int64)
    vertex = np.empty(len(indices) + 1, np.int64)
    vertex[0], following[0], first[0] = root, -1, 0
    used, left, d, end = 1, 1, 0, 0
    while left:
        entry = first[d % buckets]
        first[d % buckets] = -1
        while entry >= 0:
            v, entry = vertex[entry], following[entry]
            left -= 1
            if settled[v]:
                continue
            settled[v], order[end] = True, v
            end += 1
            for e in range(indptr[v], indptr[v + 1]):
                w, through = indices[e], d + lengths[e]
                if through < dist[w]:
                    dist[w], sigma[w] = through, sigma[v]
                    bucket = int(through) % buckets
                    vertex[used], following[used], first[bucket] = w, first[bucket], used
                    used, left = used + 1, left + 1
                elif through == dist[w]:
                    sigma[w] += sigma[v]
        d += 1
    return end


@njit(nogil=True)
def add_dependencies(indptr, indices, lengths, dist, sigma, c, order, end, scores):
    """Brandes' accumulation in the form with one division a vertex."""
    for i in range(end - 1, 0, -1):
        v, total = order[i], 0.0
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if dist[v] + lengths[e] == dist[w]:
                total += c[w]
        scores[v] += sigma[v] * total
        c[v] = 1.0 / sigma[v] + total


def one_by_one(search: Callable[..., int], graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum the dependencies of the roots, one after the other, in sweep order."""
    ordered, n = graph.reordered, graph.n
    edges = ordered.indptr, ordered.indices, ordered.weights
    dist, sigma, c = np.empty(n), np.empty(n), np.empty(n)
    order, scores = np.empty(n, np.int64), np.zeros(n)
    for root in roots:
        dist.fill(np.inf)
        sigma.fill(0)
        dist[root], sigma[root] = 0, 1
        end = search(*edges, root, dist, sigma, order)
        add_dependencies(*edges, dist, sigma, c, order, end, scores)
    return scores


def in_batches(width: float, count_width: float, graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum the dependencies of the roots by method "batched" with buckets of these widths, in mean lengths."""
    state = batched_weighted.prepare(graph, SweepPlan(batch=64))
    mean = float(np.mean(graph.matrix.data))
    state.sweep.width, state.sweep.count_width = width * mean, count_width * mean
    out = np.zeros((1, graph.n))
    for first in range(0, len(roots), 64):
        (levels,) = batched_weighted.forward(state, graph.order[roots[first : first + 64]])
        batched_weighted.backward(state, levels, Sums(dependency=out))
    scores: NDArray[np.float64] = out[0, graph.order]
    return scores


def variants(graph: Graph) -> dict[str, Callable[..., NDArray[np.float64]]]:
    """Every way to be measured on a graph."""
    integers = not (graph.matrix.data % 1).any()
    return {
        "heap": partial(one_by_one, heap_order),
        **({"dial": partial(one_by_one, dial_order)} if integers else {}),
        **{f"width {w:g}": partial(in_batches, w, tuning.BATCHED_COUNT_WIDTH) for w in WIDTHS},
        **{f"count width {w:g}": partial(in_batches, tuning.BATCHED_WIDTH, w) for w in COUNT_WIDTHS},
    }


@click.command()
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(1), help="Rounds.")
def main(repeat: int) -> None:
    """Write a line a graph and variant."""
    with RESULTS.open("w") as results:
        for name, graph in graphs():
            roots = np.arange(graph.n // 128 * 64, graph.n // 128 * 64 + ROOTS)
            ways = variants(graph)
            expected = ways["heap"](graph, roots[:64])
            for run in ways.values():  # compiles it, too
                np.testing.assert_allclose(run(graph, roots[:64]), expected, rtol=1e-10)
            seconds: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(repeat):
                for way, run in ways.items():
                    start = thread_time()
                    run(graph, roots)
                    seconds[way].append(thread_time() - start)
            for way, measured in seconds.items():
                row = {"graph": name, "variant": way, "ms_per_root": 1e3 * min(measured) / ROOTS}
                click.echo(row)
                print(json.dumps(row | {"machine": machine.describe()}), file=results, flush=True)


if __name__ == "__main__":
    main()
