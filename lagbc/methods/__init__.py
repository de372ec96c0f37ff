"""The table of methods, the contract that they keep, and the methods themselves, for CPUs and GPUs.

A method reads a graph and a plan, and touches nothing of the run that asks for it.
"""
