"""Methods on an NVIDIA GPU, through CuPy.

Kernels are CUDA sources beside the modules that launch them.
"""
