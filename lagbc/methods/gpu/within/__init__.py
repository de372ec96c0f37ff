"""Sums within cutoffs and decays on the GPU, at the cost of what the roots reach.

A block of roots is the columns of the small matrix of its ball, the part of the graph that lies within the radius of
any of them. balls.py finds balls on the host, within.cu sums many in a launch, sums.py has the two go on side by side.
"""
