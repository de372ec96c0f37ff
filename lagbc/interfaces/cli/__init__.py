"""The command `lagbc`: centralities of a graph file, what lagbc would do with one, and its methods side by side.

Nothing heavy is imported at the top of these modules, so that ``lagbc --help`` answers at once.
"""

from lagbc.interfaces.cli.program import main

__all__ = ["main"]
