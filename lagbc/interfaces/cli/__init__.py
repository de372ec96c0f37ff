"""The command `lagbc`: centralities of a graph file, the plan of lagbc for it, and its methods side by side.

These modules import nothing heavy at their tops, so ``lagbc --help`` answers at once.
"""

from lagbc.interfaces.cli.program import main

__all__ = ["main"]
