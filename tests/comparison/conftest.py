"""Fixtures of the comparison: other methods in the place of all, and a graph too large for the reference."""

import sys
from dataclasses import replace

import pytest

from lagbc.comparison import measure
from lagbc.methods import table as methods
from lagbc.methods.table import METHODS


@pytest.fixture
def no_reference(monkeypatch):
    """As for a graph that is too large for the reference."""
    monkeypatch.setattr(measure, "_REFERENCE_VISITS", 0)


@pytest.fixture
def passed(monkeypatch):
    """Let a clock stand still unless `passed` is called with seconds."""
    now = 0.0

    def seconds(count):
        nonlocal now
        now += count

    monkeypatch.setattr(measure.time, "perf_counter", lambda: now)
    return seconds


@pytest.fixture
def only_rows(monkeypatch):
    """Let METHODS be these rows."""

    def install(*rows):
        monkeypatch.setattr(methods, "METHODS", rows)

    return install


@pytest.fixture
def fake(monkeypatch, only_rows):
    """Put a `Fake` in the place of all methods; return its row."""

    def install(module):
        monkeypatch.setitem(sys.modules, "fake_method", module)
        row = replace(METHODS[0], name="fake", module="fake_method", sums=("dependency",))
        only_rows(row)
        return row

    return install
