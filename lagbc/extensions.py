"""What other packages add: modules that register themselves when they are loaded, found by entry points."""

from __future__ import annotations

from functools import cache

from lagbc.errors import warn

OF_CENTRALITIES, OF_FORMATS = "lagbc.centralities", "lagbc.formats"


@cache
def load_extensions(group: str) -> None:
    """Load all entry points of a group, once a process: a scan of what is installed takes some 20 ms."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=group):
        try:
            entry.load()
        except Exception as error:
            warn(f"the entry point {entry.name!r} of {group}, {entry.value}, fails: {error}", RuntimeWarning)
