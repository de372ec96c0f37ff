"""A graph that no device holds: its matrix is dealt over the ranks of a grid, each of which has a block of it."""
