"""Pytest plugin: count which functions of the backend NetworkX's own tests call; ``NX_SUITE_CALLS`` is the file."""

import functools
import json
import os
from collections import Counter
from pathlib import Path

CALLS = Counter()


def pytest_configure():
    from lagbc.interfaces import networkx as nx_backend
    from lagbc.interfaces.nx_metadata import COMPUTED_BY

    def counted(name, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            CALLS[name] += 1
            return result

        return call

    for name in COMPUTED_BY:
        setattr(nx_backend, name, counted(name, getattr(nx_backend, name)))


def pytest_collection_modifyitems(items):
    """Of ten random graphs of each kind, keep the first."""
    items[:] = [item for item in items if not ("test_use_bounds" in item.name and item.callspec.params["seed"])]


def pytest_unconfigure():
    Path(os.environ["NX_SUITE_CALLS"]).write_text(json.dumps(CALLS), encoding="utf-8")
