"""The kernels of the literature, a block of threads a root, for comparison and for few roots.

In hops and with lengths.
"""
