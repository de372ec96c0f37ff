"""Methods that run on the CPU, one module each."""
