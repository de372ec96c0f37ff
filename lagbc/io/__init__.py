"""Files into matrices, and columns of edges into graphs.

Nothing here knows of the rest of the package but exceptions, the memory budget and graphs.
"""
