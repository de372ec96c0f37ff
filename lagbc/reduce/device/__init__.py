"""Streams of demand over chains on a GPU.

The same as `lagbc.reduce.chains` on the host, by kernels: only the sums of a group leave the device.
"""
