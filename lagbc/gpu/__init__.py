"""Methods that run on NVIDIA GPUs through CuPy, one module each."""
