"""The order of graphs of low diameter: by falling degree."""

from __future__ import annotations

from typing import Any

import numpy as np


def degree_order(indptr: Any) -> Any:
    """Order vertices by falling degree, ties by number; vertices without edges come last."""
    if isinstance(indptr, np.ndarray):
        from lagbc.graph.host import order as host

        return host.degree_order(indptr)
    from lagbc.graph.device import order as device

    return device.degree_order(indptr)


def isolated_last(order: Any, indptr: Any) -> Any:
    """Put vertices without edges behind the others of an order, which stay as they are."""
    if isinstance(indptr, np.ndarray):
        isolated = (np.diff(indptr) == 0)[order]
        return np.concatenate([order[~isolated], order[isolated]])
    from lagbc.graph.device import order as device

    return device.isolated_last(order, indptr)
