"""Masked products on bit rows, 256 roots a group, in hops.

One module a schedule; `hops` has the three functions.
"""
