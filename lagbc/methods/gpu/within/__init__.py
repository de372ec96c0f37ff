"""Sums within cutoffs and decays on the GPU, at the cost of what the roots reach.

One kernel for hops and for lengths, a block of threads for each block of roots.
"""
