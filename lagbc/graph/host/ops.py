"""Operations on a graph's arrays in the host's memory: names as in `lagbc.graph.device.ops`."""

from lagbc.graph.host.csr import (
    are_equal,
    both_ways,
    kept_edges,
    renumbered,
    renumbered_places,
    reverse_of,
    rows_of,
    transposed,
)
from lagbc.graph.host.order import degree_order, hub_order, isolated_last
from lagbc.graph.host.proximity import proximity_order
from lagbc.graph.host.search import hub_distances, search_from_hub, weak_components

__all__ = [
    "are_equal",
    "both_ways",
    "degree_order",
    "hub_distances",
    "hub_order",
    "isolated_last",
    "kept_edges",
    "proximity_order",
    "renumbered",
    "renumbered_places",
    "reverse_of",
    "rows_of",
    "search_from_hub",
    "transposed",
    "weak_components",
]
