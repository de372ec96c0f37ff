"""CUDA sources compiled, and their kernels launched.

The lowest floor of all code that runs on a GPU.
"""
