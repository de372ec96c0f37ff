"""The kernels of the literature, a thread block a root, for comparison and for few roots.

In hops and with lengths.
"""
