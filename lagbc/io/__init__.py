"""Files into matrices, and columns of edges into graphs.

Nothing here knows of the rest of the package but its exceptions, its memory budget, and what a graph is.
"""
