"""Work on a graph's arrays in the host's memory, compiled: one or two passes each; entries are sorted by counting."""
