"""Common parts of the methods with 256 roots a group: rows, columns, sums.

No method is here, and nothing here knows of one.
"""
