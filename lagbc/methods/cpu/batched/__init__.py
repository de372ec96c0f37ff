"""Masked products on bit rows, 64 roots at a time, in hops and with lengths.

One worker is one thread; its kernels are native.
"""
