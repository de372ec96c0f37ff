"""The order of graphs of low diameter: by falling degree."""

from __future__ import annotations

from typing import Any

from lagbc.graph.csr import module_of


def degree_order(degrees: Any) -> Any:
    """Order vertices by falling degree, ties by number; vertices without edges come last."""
    return module_of(degrees).argsort(-degrees, kind="stable")
