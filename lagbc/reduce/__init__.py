"""Exact reductions: from a graph with weights of vertices to smaller pieces, and the way back to its scores.

Pure functions of arrays and graphs: they choose no method, and know nothing of a call.
"""
