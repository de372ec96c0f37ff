"""The class of figures, based on matplotlib's: `figure_class` imports it when a figure is drawn."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that shows itself: as the value of a cell of a notebook, and by `show`; pyplot knows nothing of it."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png")
        return png.getvalue()

    def show(self, warn: bool = True) -> None:
        """Show the figure as pyplot shows its own: in a window, or below the cell of a notebook."""
        from matplotlib import pyplot

        pyplot.figure(FigureClass=lambda **_: self)  # type: ignore[arg-type] # pyplot makes its manager for this figure
        pyplot.show()
        if not pyplot.isinteractive():
            pyplot.close(self)
