"""Every method on one graph, side by side."""
