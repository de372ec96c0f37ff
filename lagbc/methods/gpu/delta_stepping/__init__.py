"""Min-plus Delta-stepping from 256 roots a group.

One module a way of sweeping; `lengths` has the three functions.
"""
