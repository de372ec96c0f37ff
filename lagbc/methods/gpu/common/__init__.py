"""What the methods with 256 roots a group share: rows, columns, sums.

No method is here, and nothing here knows of one.
"""
