"""A call carried out: works of the plan's sweeps, their loop over spans, carriers, checkpoints and shares.

It knows methods by their table and contract alone, and centralities by the names of their sums alone.
"""
