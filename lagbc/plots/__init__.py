"""Figures of scores, of small networks, of communities and of comparisons, from computed values.

matplotlib is imported only when a figure is drawn.
"""

from lagbc.plots.communities import plot_communities
from lagbc.plots.comparison import plot_comparison
from lagbc.plots.figure import check_figure_path
from lagbc.plots.maps import plot_map
from lagbc.plots.networks import plot_centralities
from lagbc.plots.scores import plot_scores

__all__ = ["check_figure_path", "plot_centralities", "plot_communities", "plot_comparison", "plot_map", "plot_scores"]
