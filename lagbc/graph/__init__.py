"""The graph that every method reads: checks of matrices, compressed rows, orders of vertices.

Modules of the host and of a device have the same functions. No module here knows a method.
"""
