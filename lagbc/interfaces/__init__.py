"""The command line and the NetworkX backend: both call the public functions, and compute nothing themselves."""
