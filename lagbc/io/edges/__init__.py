"""Edge lists: an edge a line, vertices being integers or names.

`layout` tells from the first lines how all are written; `scan` has the compiled loops over the bytes; `vertices`
numbers what they name; `read` puts these together.
"""
