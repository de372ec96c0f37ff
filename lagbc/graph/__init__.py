"""The graph that every method reads: checks of matrices, compressed rows, orders of vertices.

The host and a device have the same functions; nothing here knows of a method.
"""
