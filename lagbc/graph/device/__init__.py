"""Work on a graph's arrays on a GPU: rows in canonical form, transposes, searches and orders.

CuPy holds the memory and copies it. Its sorts, reductions and elementwise functions are not called: each takes one to
two seconds to compile, all kernels here half a second.
"""
