"""Work on a graph's arrays in the host's memory, compiled: one or two passes each, and no comparison sorts entries."""
