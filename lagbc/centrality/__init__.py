"""The public functions: the formulas and conventions of scores.

Each turns its arguments into a request for sums, has them run, and finishes them.
"""
