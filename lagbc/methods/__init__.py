"""The table of methods, their contract, and the methods themselves, for CPUs and GPUs.

A method reads a graph and a plan, and touches nothing of its run.
"""
