"""Figures of scores, of small networks, of communities and of comparisons, from computed values.

matplotlib is imported only when a figure is drawn.
"""

from lagbc.plots.charts import plot_communities, plot_comparison, plot_scores
from lagbc.plots.figure import check_figure_path
from lagbc.plots.maps import plot_map
from lagbc.plots.networks import plot_centralities

__all__ = ["check_figure_path", "plot_centralities", "plot_communities", "plot_comparison", "plot_map", "plot_scores"]
