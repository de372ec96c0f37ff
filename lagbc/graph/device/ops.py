"""Operations on a graph's arrays on a device: names and bits as in `lagbc.graph.host.ops`."""

from lagbc.graph.device.csr import are_equal, both_ways, kept_edges, renumbered, renumbered_places, rows_of, transposed
from lagbc.graph.device.order import degree_order, hub_order, isolated_last, proximity_order
from lagbc.graph.device.search import bfs_extent, hub_distances, weak_components, widest_row

__all__ = [
    "are_equal",
    "bfs_extent",
    "both_ways",
    "degree_order",
    "hub_distances",
    "hub_order",
    "isolated_last",
    "kept_edges",
    "proximity_order",
    "renumbered",
    "renumbered_places",
    "rows_of",
    "transposed",
    "weak_components",
    "widest_row",
]
