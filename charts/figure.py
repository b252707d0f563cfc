"""What every chart function returns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
from plotly.graph_objects import Figure as PlotlyFigure

from charts import theme
from core.errors import HedgeError

AltairChart = alt.Chart | alt.LayerChart | alt.FacetChart


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn frame: ``frame`` is all that is in the figure (and in its download), ``chart`` what a page draws.

    ``alt`` is its content in words for those who do not see it; ``name`` the download's file name without ending.
    ``for_file`` is the same in Altair where ``chart`` is Plotly's, which can't be drawn without a browser.
    """

    frame: pd.DataFrame
    chart: AltairChart | PlotlyFigure
    alt: str
    name: str
    for_file: AltairChart | None = None

    @property
    def still(self) -> AltairChart:
        """The figure in Altair, which vl-convert draws without a browser. Raises :class:`HedgeError` if there is
        none."""
        found = self.for_file or self.chart
        if isinstance(found, PlotlyFigure):
            raise HedgeError(f"the figure {self.name} is drawn on a page only, not into a file")
        return found

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification of :attr:`still` with its data, and no configuration but the figure's own."""
        chart = _inline(self.still)
        spec = dict(chart.to_dict(validate=False))
        own = chart.config
        spec["config"] = {} if own is alt.Undefined else own.to_dict()
        return spec

    @property
    def themed(self) -> AltairChart | PlotlyFigure:
        """What a page draws: the chart with the words of its axes and legends in the theme's colours."""
        if isinstance(self.chart, PlotlyFigure):
            return self.chart
        parts = theme.text_config()
        chart = self.chart.configure_axis(**parts["axis"]).configure_legend(**parts["legend"])
        return chart.configure_header(**parts["header"])


def _inline(chart: Any) -> Any:
    """The chart with frames turned into values.

    Altair would turn them, but by a setting that all threads share, and Streamlit changes it while it draws a page.
    """
    chart = chart.copy()
    if isinstance(chart.data, pd.DataFrame):
        rows = json.loads(chart.data.to_json(orient="records", double_precision=12))
        chart.data = alt.InlineData(values=rows)
    if isinstance(chart, alt.LayerChart):
        chart.layer = [_inline(one) for one in chart.layer]
    if isinstance(chart, alt.FacetChart):
        chart.spec = _inline(chart.spec)
    return chart
