"""Masked products on bit rows, 256 roots a group, in hops.

One module a way of sweeping; `hops` has the three functions.
"""
