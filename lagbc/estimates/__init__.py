"""Estimates with intervals that hold: what a root tells of a centrality, and rounds of roots until that is enough.

`lagbc.run.sequence` has the rule.
"""
