"""CUDA sources compiled, and memory that host and device share.

The lowest floor of all code that runs on a GPU.
"""
