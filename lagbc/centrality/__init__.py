"""The public functions: what is computed, under which conventions.

Each turns its arguments into sums to ask for, has them run, and finishes them; it touches `run` and what is below.
"""
