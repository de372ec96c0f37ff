"""Passes over matrices of a row a vertex and a column a root."""

from __future__ import annotations

from lagbc.native import core

clear_unreached = core.clear_unreached
