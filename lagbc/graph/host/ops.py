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
from lagbc.graph.host.order import hub_order, isolated_last
from lagbc.graph.host.proximity import proximity_order
from lagbc.graph.host.search import hub_distances
from lagbc.native import core

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

degree_order = core.order_by_length  # by falling degree, ties by number
places_in = core.places_in  # the inverse of an order
search_from_hub = core.search_from_hub  # the hub is the first of the longest rows
weak_components = core.find_components  # numbers from 0, in the order of their first vertices
