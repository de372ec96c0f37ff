"""The same algebra in calls of SuiteSparse:GraphBLAS, in hops and with lengths.

To be read and to check against.
"""
