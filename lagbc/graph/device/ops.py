"""Operations on a graph's arrays on a device: names and bits as in `lagbc.graph.host`."""

from lagbc.graph.device.csr import (
    are_equal,
    both_ways,
    kept_edges,
    renumbered,
    renumbered_places,
    reverse_of,
    rows_of,
    transposed,
)
from lagbc.graph.device.order import degree_order, hub_order, isolated_last, places_in, proximity_order
from lagbc.graph.device.search import hub_distances, search_from_hub, weak_components

__all__ = [
    "are_equal",
    "both_ways",
    "degree_order",
    "hub_distances",
    "hub_order",
    "isolated_last",
    "kept_edges",
    "places_in",
    "proximity_order",
    "renumbered",
    "renumbered_places",
    "reverse_of",
    "rows_of",
    "search_from_hub",
    "transposed",
    "weak_components",
]
