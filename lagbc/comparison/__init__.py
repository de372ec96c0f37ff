"""Every method on one graph, side by side.

It may touch all below it, and nothing below knows of it.
"""
