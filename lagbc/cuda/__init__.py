"""CUDA sources compiled, and memory that host and device share.

The lowest floor of all that runs on a GPU.
"""
