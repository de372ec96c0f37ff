"""How a call is carried out: arguments, memory, the loop over batches of roots, checkpoints.

It knows methods by their table and contract alone, and of centralities nothing but the names of sums.
"""
