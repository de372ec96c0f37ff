"""Files into matrices.

Nothing here knows of the rest of the package but its exceptions and its memory budget.
"""
