"""Streams of demand over chains on a GPU.

What `lagbc.reduce.columns` does on the host, by kernels: nothing leaves the device but what a group sums to.
"""
