"""What graphs need of a GPU: rows in canonical form, transposes, searches and orders, by kernels of its own.

CuPy holds the memory and copies it. Its sorts, reductions and elementwise functions are not called: they take one to
two seconds each to compile, all of this half a second.
"""
