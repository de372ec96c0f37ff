"""Estimates with intervals that hold: the terms of roots, and rounds of roots until intervals are narrow enough.

`lagbc.run.rounds` has the rule.
"""
