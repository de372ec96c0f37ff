"""How many bytes a graph takes that is swept: what is held meanwhile, and at most while all that is made."""

from __future__ import annotations

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan

# On the host, bytes per vertex that are free again before the sweep, beside all that is held: of a search by bits as a
# probe makes it; of the order of a graph of high diameter; of grouping roots by distances in hops to 16 hubs, or by
# lengths to one.
_PROBE_BYTES, _PROXIMITY_BYTES, _HUBS_BYTES, _DIJKSTRA_BYTES = 40, 112, 40, 112
# How much of these the allocator keeps, where nothing that comes later fits: this share of what is not much, as it
# gives large blocks back to the system.
_KEPT_SHARE, _MOST_KEPT = 0.8, 18_000_000
# On a device, of an entry that is sorted: its key twice; of one that is merged with others, a flag and a place; with a
# length, this twice, too.
_KEY_BYTES, _MERGE_BYTES, _LENGTH_BYTES = 16, 12, 16
# On a device, per vertex, while the order of the vertices is made, or that of the roots.
_ORDER_BYTES = 120
# While a graph is taken apart: per vertex, and per entry, of a pattern and where edges are summed or have lengths. On
# nine networks this was 1.0 to 3.6 times what was measured.
_DECOMPOSED_BYTES, _DECOMPOSED_ENTRY_BYTES = 112, (104, 124)


def decomposition_bytes(graph: Graph, *, edges: bool) -> int:
    """Bound the bytes that it takes to reduce a graph on the host, besides the graph itself."""
    return graph.n * _DECOMPOSED_BYTES + graph.nnz * _DECOMPOSED_ENTRY_BYTES[edges or graph.weighted]


def host_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Count the bytes of what a graph on the host holds while it is swept, and at most while all that is made.

    A matrix is transposed under columns by ranges: the rows of its entries, the entries under ranges, the result.
    """
    n, index, length = graph.n, graph.indices.dtype.itemsize, 8 * graph.weighted
    entries, edge = graph.nnz, index + length
    roots = n if plan.roots is None else plan.roots
    is_grouped = not graph.has_high_diameter and roots >= tuning.GROUPED_ROOTS
    own = sum(array.nbytes for array in (graph.indices, graph.weights) if array is not None and array.flags.owndata)
    # Pointers, order and its inverse, degrees, components; pointers and edges in sweep order.
    held = own + n * (5 * 8 + index * graph.has_high_diameter) + entries * edge
    if graph.transpose is not graph:  # transposes, degrees of one, and the pattern both ways
        held += n * (4 * 8) + 2 * entries * edge + graph.symmetric.nnz * index
    if is_grouped and graph.weighted:  # the matrix that SciPy searches
        held += n * index + entries
    elif is_grouped:  # distances to 16 hubs
        held += 16 * n
    grouping = n * (_DIJKSTRA_BYTES if graph.weighted else _HUBS_BYTES) * is_grouped
    ordering = n * _PROXIMITY_BYTES * graph.has_high_diameter - entries * length
    transposing = n * (8 + index) + entries * (4 * index + 2 * length)
    if "edges" in plan.sums:
        held += 8 * entries
        transposing = max(transposing, entries * (4 * index + 4 * 8))
    freed = max(n * _PROBE_BYTES, grouping, ordering, transposing)
    return held + min(int(_KEPT_SHARE * freed), _MOST_KEPT), held + freed


def device_graph_bytes(graph: Graph, plan: SweepPlan) -> tuple[int, int]:
    """Estimate the same of a graph that is swept on a device.

    What lives on the host is uploaded in sweep order, which methods count. Else the matrix is read on the device: its
    entries are sorted and merged, those of an undirected graph both ways at once, with lengths once more.
    """
    n, entries = graph.n, graph.nnz
    if not graph.is_on_device:
        return 0, _ORDER_BYTES * n
    length = graph.weighted
    edge = graph.indices.dtype.itemsize + 8 * length
    own = 8 * n + edge * entries
    held = 2 * own  # and in sweep order
    reading = own + entries * (edge + _KEY_BYTES + _MERGE_BYTES + _LENGTH_BYTES * length)
    joined = 2 * entries * (_KEY_BYTES + _MERGE_BYTES)  # both ways
    if not graph.directed:
        both = own + 4 * entries + joined + 2 * entries * _LENGTH_BYTES * length
    elif graph.transpose is graph:  # made to find out, and sorted as the reordered copy is: from rows, by keys
        both = 2 * own + entries * (4 + _KEY_BYTES + _LENGTH_BYTES * length)
    else:
        held += 2 * own + 8 * n + 4 * graph.symmetric.nnz
        both = 2 * own + 4 * entries + joined
    held += 4 * n * graph.has_high_diameter  # components
    if "edges" in plan.sums:
        held += 8 * entries
    return held, max(reading, both, held + _ORDER_BYTES * n)
