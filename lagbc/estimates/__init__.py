"""Estimates with intervals that hold: rounds of random roots, or of random paths, until intervals are narrow enough.

`lagbc.estimates.aim` has the intervals.
"""
