"""Exact reductions: from a graph with weights of vertices to smaller pieces, and the way back to its scores.

Pure functions of arrays and graphs: nothing here chooses a method, or knows what a call asked for.
"""
