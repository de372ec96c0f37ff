"""Edge lists: an edge a line, vertices being integers or names.

`layout` tells from the first lines how all are written; `vertices` numbers what they name; `read` puts these together.
Loops over the bytes are in lagbc/native/kernels/io/.
"""
