"""Sums in sweep order, added to those in matrix order."""

from __future__ import annotations

from lagbc.native import core

add_in_order = core.add_in_order
