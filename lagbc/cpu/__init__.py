"""Functions compiled for the CPU, and large work shared out among its cores.

The lowest floor of all that numba compiles.
"""
