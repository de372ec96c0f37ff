"""A method of the GPU, by its module: a batch of it, a run of it, and what the oracle and the CPU have in its place."""

import functools
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from gmpy2 import mpq as rational
from states import prepare
from strategies import adjacency, lengths, remembered
from swept import summed

import lagbc
from lagbc import reference
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS, Sums

# The sums that the batched methods are tested for; those that count no paths.
EVERYTHING = frozenset({"dependency", "stress", "reached", "distance", "inverse", "edges", "depth"})
DISTANCES = EVERYTHING - PATH_SUMS
# Relative errors that rounding may add up to.
TOLERANCES = {"float64": 1e-12, "float32": 3e-5}


@dataclass(frozen=True)
class OnDevice:
    """A row of METHODS with a dtype, the sums that it is asked for, and a schedule; None is the one that it takes."""

    row: lagbc.Method
    dtype: str
    asked: frozenset[str] = DEPENDENCY
    schedule: str | None = None

    @property
    def options(self):
        return {"weighted": self.row.weighted, "method": self.row.name, "device": "cuda", "dtype": self.dtype}

    @property
    def bc(self):
        return functools.partial(lagbc.bc, **self.options)

    @property
    def sums(self):
        """Stress is counted in float64 alone."""
        return self.asked - {"stress"} if self.dtype == "float32" else self.asked

    @property
    def module(self):
        module = self.row.load()
        if not self.row.weighted or self.schedule is None:
            return module
        return SimpleNamespace(**vars(module) | {"prepare": functools.partial(module.prepare, schedule=self.schedule)})

    def plan(self, **given):
        return SweepPlan(**{"batch": 256, "dtype": self.dtype, "sums": self.sums, "method": self.row.name} | given)

    def prepared(self, A, *, directed=True, **given):
        graph = as_graph(A, directed=directed, weighted=self.row.weighted)
        return graph, prepare(self.module, graph, self.plan(**given))

    def summed(self, A, *, roots=None, directed=True, **given):
        """The sums of a run."""
        graph = as_graph(A, directed=directed, weighted=self.row.weighted)
        roots = np.arange(graph.n) if roots is None else np.asarray(roots, np.int64)
        module = self.module if graph.nnz else None  # a schedule is one of edges
        return summed(graph, roots, self.row, self.plan(**given), module=module)

    def batch(self, graph, state, roots, fill=0.0):
        """What a batch adds to sums that hold a number, and its levels."""
        import cupy

        roots = np.asarray(roots)
        sums = zeros_of(cupy, self.module, len(roots), graph, state.plan.sums)
        for _, array in sums:
            array += fill
        levels = search(self.module, state, roots)
        self.module.backward(state, levels, sums)
        return sums, levels

    def assert_close(self, ours, theirs):
        """Compare scores, or all sums that there are of ours."""
        if isinstance(ours, Sums):
            for name, array in ours:
                self.assert_close(array, getattr(theirs, name))
            return
        assert ours.dtype == np.float64
        tolerance = TOLERANCES[self.dtype]
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)

    def assert_groups_alone(self, A, graph, together, groups):
        """Require that the sums of each group of a batch are those of the group alone, to the bit."""
        for i, group in enumerate(groups):
            for name, array in self.batch(graph, self.prepared(A)[1], group)[0]:
                ours = getattr(together, name)
                ours = ours[256 * i : 256 * i + len(group)] if name == "depth" else ours[i : i + 1]
                np.testing.assert_array_equal(ours.get(), array.get(), err_msg=name)

    def assert_batch_close(self, ours, theirs, roots):
        """Compare the sums of a batch, a row a group, with those of a run; depths are a column each."""
        for name, array in ours:
            expected = getattr(theirs, name)
            if name == "depth":
                self.assert_close(array.get(), expected[roots])
            else:
                self.assert_close(array.sum(axis=0).get(), expected)


def search(module, state, roots):
    """The levels of a batch, all of which are found at once."""
    (levels,) = module.forward(state, roots)
    return levels


def sweep(module, state, roots, sums):
    """Add what the roots of a batch sum to; the levels, one after the other, each swept backward before the next."""
    found = []
    for levels in module.forward(state, roots):
        module.backward(state, levels, sums)
        found.append(levels)
    return found


def zeros_of(cupy, module, roots, graph, asked=DEPENDENCY):
    """The zero sums of a batch of so many roots: a row a block, all of which together are what they sum to."""
    return Sums.zeros_of_batch(cupy, asked, graph.n, graph.nnz, module.batching.rows(0, max(1, roots)).stop, roots)


@remembered
def by_the_oracle(A, names, *, weighted, directed=True, roots=None, omega=None, root_weights=None, number=rational):
    """Some sums, a root at a time; distances are added in the type of A, so that they tie as float64 has it."""
    graph = *adjacency(A, directed=directed), lengths(A, directed=directed) if weighted else None
    functions = {"dependency": reference.brandes, "edges": reference.edge_scores, "stress": reference.stress}
    weights = {"target_weights": None if omega is None else [number(float(x)) for x in omega]}
    n = A.shape[0]
    total = {name: np.zeros(len(graph[1]) if name == "edges" else n, object) for name in names}
    for root in range(n) if roots is None else map(int, roots):
        times, one = 1 if root_weights is None else number(float(root_weights[root])), {"sources": [root]}
        for name in names & functions.keys():
            kind = {} if name == "stress" else {"number": number}
            total[name] += times * np.array(functions[name](*graph, **one, **weights, **kind), object)
        into = reference.distances_into(*graph, **one)
        of_root = {
            "reached": [len(d) for d in into],
            "distance": [sum(d) for d in into],
            "inverse": [sum((1 / number(x) for x in d), number(0)) for d in into],
            "depth": max((x for d in into for x in d), default=0) * (np.arange(n) == root),
        }
        for name in names & of_root.keys():
            total[name] += np.array(of_root[name], object)
    return Sums(**{name: array.astype(float) for name, array in total.items()})


def by_the_cpu(A, names=EVERYTHING, *, weighted, directed=True, roots=None, **given):
    graph = as_graph(A, directed=directed, weighted=weighted)
    row = next(row for row in lagbc.METHODS if row.key == ("batched", "cpu", weighted))
    roots = np.arange(graph.n) if roots is None else np.asarray(roots, np.int64)
    return summed(graph, roots, row, SweepPlan(batch=64, sums=frozenset(names), **given))


@contextmanager
def peak_of(cupy):
    """Most bytes of the device that arrays take at a time."""
    pool, peak = cupy.cuda.MemoryPool(), SimpleNamespace(bytes=0)

    class Watch(cupy.cuda.MemoryHook):
        name = "watch"

        def malloc_postprocess(self, **allocated):
            peak.bytes = max(peak.bytes, pool.used_bytes())

    with cupy.cuda.using_allocator(pool.malloc), Watch():
        yield peak
