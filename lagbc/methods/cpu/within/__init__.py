"""Sums within cutoffs and decays on the CPU, of neighbouring roots together: a block has one ball, a root a column."""
