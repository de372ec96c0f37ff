"""Every launch of the GPU's methods, and of its work on graphs: the arguments are those that its kernel declares.

A program, run in a process of its own, by a CuPy and kernels that compute nothing: it prints the kernels that it has
launched. A kernel's results are zeros, but for the few that decide which kernels come next.
"""

import sys
from itertools import product
from types import SimpleNamespace

import numpy as np


class Array(np.ndarray):
    """An array of the stand-in's device."""

    @property
    def data(self):
        def nothing(*given):
            return None

        return SimpleNamespace(ptr=self.ctypes.data, memset_async=nothing, copy_from_device_async=nothing)

    def __getitem__(self, key):
        if isinstance(key, int) and key < len(self):  # a view, as CuPy has it, where NumPy makes a number
            return super().__getitem__(slice(key, key + 1 or None)).reshape(self.shape[1:])
        return super().__getitem__(key)

    def get(self):
        return np.array(self)

    def set(self, array):
        self[...] = array


def on_device(function):
    return lambda *given, **named: np.asarray(function(*given, **named)).view(Array)


class Device:
    """The one device, with one multiprocessor."""

    def __init__(self, number=0):
        self.id, self.attributes = 0, {"MultiProcessorCount": 1}


NAMES = "zeros arange count_nonzero zeros_like empty_like ones ascontiguousarray"
cupy = SimpleNamespace(
    **{name: on_device(getattr(np, name)) for name in NAMES.split()},
    **{name: getattr(np, name) for name in ("uint8", "uint32", "int32", "int64")},
    ndarray=Array,
    empty=on_device(np.zeros),
    asarray=on_device(np.array),
    unpackbits=on_device(np.unpackbits),
    cuda=SimpleNamespace(
        Device=Device,
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        alloc_pinned_memory=bytearray,
        driver=SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=lambda *given: 1),
    ),
)
sys.modules |= {"cupy": cupy, "cupy.cuda": cupy.cuda}

from families import scale_free, with_lengths  # noqa: E402

from lagbc import tuning  # noqa: E402
from lagbc.cuda import kernel  # noqa: E402
from lagbc.graph.device import ops  # noqa: E402
from lagbc.graph.graph import Graph  # noqa: E402
from lagbc.graph.validate import as_graph  # noqa: E402
from lagbc.methods import probe  # noqa: E402
from lagbc.methods.contract import StopFlag, SweepPlan  # noqa: E402
from lagbc.methods.gpu import searches  # noqa: E402
from lagbc.methods.gpu.batched import hops  # noqa: E402
from lagbc.methods.gpu.delta_stepping import lengths  # noqa: E402
from lagbc.methods.gpu.traversal import dijkstra  # noqa: E402
from lagbc.methods.gpu.traversal import hops as traversal  # noqa: E402
from lagbc.methods.sums import DISTANCE_SUMS, PATH_SUMS, SQUARES, Sums  # noqa: E402
from lagbc.methods.table import METHODS  # noqa: E402

# Of arrays; those of other types are bits, or are typed by the variant, and `fill_words` takes all.
TYPES = {"int": ["i4"], "offset": ["i8", "u8"], "double": ["f8"]}
launched, convert, to_come = set(), kernel._convert, []


class Module:
    """A compiled source, whose kernels take their arguments and compute next to nothing."""

    def __init__(self, source):
        self.source = source

    def get_function(self, name):
        parameters = kernel.declared(self.source, name)

        def launch(grid, threads, arguments):
            given = dict(zip([parameter for parameter, *_ in parameters], arguments, strict=True))
            for parameter, kind, is_pointer in parameters:
                expected = (Array, np.intp) if is_pointer else np.number
                assert isinstance(given[parameter], expected), f"{name}: {kind} {parameter} is {given[parameter]!r}"
                if isinstance(given[parameter], Array) and kind in TYPES and name != "fill_words":
                    assert given[parameter].dtype.str[1:] in TYPES[kind], (
                        f"{name}: {parameter} is {given[parameter].dtype}"
                    )
            launched.add(name)
            STEPS.get(name, lambda given: None)(given)

        launch.kernel = SimpleNamespace(ptr=0)
        return launch


# Two levels are found, and counts that are not exact; the first queue is too short; entries are in no order, and no
# matrix is symmetric.
STEPS = {
    "launch_per_level_count": lambda given: np.copyto(given["size"], to_come.pop() if to_come else 0),
    "delta_lowest": lambda given: np.copyto(given["any"], to_come.pop() if to_come else 0),
    "one_launch_forward": lambda given: np.copyto(given["status"], [[to_come.pop() == 1 if to_come else 0, 2]]),
    "one_launch_settle": lambda given: np.copyto(given["status"], [[to_come.pop() == 1 if to_come else 0, 2]]),
    "traversal_work_efficient_forward": lambda given: np.copyto(given["overflowed"], 1),
    "check_rise": lambda given: np.put(given["verdict"], ops._FALLS, 1),
    "check_mirrored": lambda given: np.put(given["verdict"], ops._UNLIKE, 1),
    "count_flags": lambda given: np.copyto(given["found"], 10**6),
    "find_widest": lambda given: np.copyto(given["found"], 2**32 - 1),
    "dijkstra_forward": lambda given: np.copyto(given["outcome"][:, 0], 4 * bool(to_come and to_come.pop())),
}
kernel.load = lambda source, options, **how: Module(source)
kernel.begin_compile = lambda source, options, **how: None
kernel._convert = lambda one, number: one if isinstance(one, Array) and number is None else convert(one, number)
Graph.on_device = property(lambda graph: graph)


def sweep(module, A, *schedule, omega=False, **given):
    """Sweep a batch of all vertices forward and backward, twice."""
    graph = as_graph(A, directed=True, weighted=module in (lengths, dijkstra))
    to_come[:] = [1, 10**6, 1]
    state = module.prepare(graph, SweepPlan(batch=256, **given), *schedule)
    for _ in range(2):
        for levels in module.forward(state, np.arange(graph.n)):
            sums = Sums.zeros_of_batch(cupy, state.plan.sums, graph.n, graph.nnz, 8, graph.n)
            module.backward(state, levels, sums, *[cupy.ones((graph.active, graph.n))] * omega)


def search(A, *, weighted):
    """Search from two vertices, and sum over the columns of the distances."""
    to_come[:] = [10**6]
    state = searches.prepare_distances(as_graph(A, directed=True, weighted=weighted), StopFlag())
    assert searches.sum_distances(state, np.array([0, 5]), [np.array([0, 1, 2]), np.array([5])]).shape == (2, 1, 3)


def work_on_a_graph(A):
    """Put its entries in order, search it, and order its vertices."""
    n, A = A.shape[0], A.tocsr()
    indptr, indices = cupy.asarray(A.indptr, np.int64), cupy.asarray(A.indices, np.int32)
    data = cupy.asarray(A.data, np.float64)
    csr, order, words = (indptr, indices, data), cupy.arange(n), cupy.zeros(n, np.uint64)
    entries, _ = ops.entries_of(A)
    ops.canonical(entries._replace(lengths=data))
    ops.both_ways(n, *csr)
    ops.are_equal(ops.reverse_of(n, *csr) or csr, tuple(array.copy() for array in csr))
    ops.renumbered(csr, order, order, symmetric=True)
    ops.renumbered_places(csr, order, order)
    ops.kept_edges(csr, cupy.zeros(len(data), np.bool_))
    ops.check_lengths(data)
    ops.plus(data, ops.copied(data))
    ops.search_from_hub(indptr, indices, ops.weak_components(indptr, indices))
    ops.isolated_last(ops.degree_order(indptr), indptr)
    ops.hub_order(ops.hub_distances(indptr, indices), ops.places_in(order))
    ops.proximity_order(indptr, indices, cupy.zeros(n, np.int32))
    ops._sort_along_axes(n, cupy.zeros((tuning.LANDMARKS, n), np.int32), 0, np.array([0, n]), words, 8)


def main():
    """Launch all kernels of the methods and of graphs."""
    A = with_lengths(scale_free(60, 200, seed=1), [1, 2, 8])
    tuning.SAMPLE = 1
    ones = np.ones(A.shape[0])
    plans = [
        {"sums": frozenset(asked), "dtype": dtype, **weights}
        for asked, dtype, weights in (
            ({"dependency"}, "float32", {"endpoints": True}),
            ({"dependency"}, "float64", {}),
            ({"dependency", "edges"}, "float64", {"class_sizes": ones}),
            (PATH_SUMS - SQUARES, "float64", {"omega": True}),
            (PATH_SUMS - SQUARES, "float64", {"omega": ones, "root_weights": ones}),
            (PATH_SUMS - {"stress"}, "float64", {"in_place": True}),
            ({*DISTANCE_SUMS, "depth"}, "float64", {}),
        )
    ]
    for plan, is_deep in product(plans, (False, True)):
        Graph.has_high_diameter = property(lambda graph, is_deep=is_deep: is_deep)
        sweep(hops, A, **plan)
        for integers in (A, A * 0.5):
            sweep(lengths, integers, "one launch" if is_deep else "window", **plan)
    for weighted, is_deep in product((False, True), (False, True)):
        Graph.has_high_diameter = property(lambda graph, is_deep=is_deep: is_deep)
        search(A, weighted=weighted)
    for row, ways in product(METHODS, ([], ["all-blocks"])):
        if row.module == traversal.__name__ and row.goes(ways):
            sweep(traversal, A, method=row.name, variant="".join(ways))
    for variant in dijkstra.VARIANTS:
        sweep(dijkstra, A, variant=variant, endpoints=True)
    graph = as_graph(A, directed=True, weighted=True)
    tuning.PRUNING_LEAST_EDGES, Graph.has_high_diameter = 1, False
    lengths.prune(graph, SweepPlan(batch=256))
    probe._count_on_device(graph, np.arange(3), 9)
    work_on_a_graph(A)
    print(*sorted(launched))


if __name__ == "__main__":
    main()
