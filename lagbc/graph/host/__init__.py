"""The work on a graph's arrays in the host's memory, compiled: one or two passes each, and no entries compared to sort.

Imported when first called, by the functions of `lagbc.graph` that take arrays of host and device alike.
"""
