"""The table of methods, their contract, and the methods, for CPUs and GPUs; a method knows nothing of the run."""
