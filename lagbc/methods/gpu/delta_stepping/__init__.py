"""Min-plus Delta-stepping from 256 roots a group.

One module a way to launch; `lengths` has the three functions.
"""
