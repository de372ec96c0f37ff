"""The graph that every method reads: what is checked of a matrix, compressed rows, orders of vertices.

On the host or on a device by the same functions; nothing here knows of a method.
"""
