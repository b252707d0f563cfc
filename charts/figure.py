"""The return value of every chart function."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import pandas as pd
import pyarrow as pa

from charts import theme

AltairChart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn frame: ``frame`` is all that is in the figure (and in its download), ``chart`` what a page draws.

    ``alt`` is its content in words for those who do not see it; ``name`` the download's file name without ending.
    ``for_file`` makes the form for a file where a page shows another one.
    """

    frame: pd.DataFrame
    chart: AltairChart
    alt: str
    name: str
    for_file: Callable[[], AltairChart] | None = None

    @property
    def still(self) -> AltairChart:
        """The figure for a file, which vl-convert draws without a browser."""
        return self.for_file() if self.for_file else self.chart

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification of :attr:`still` with its data, and no configuration but the figure's own."""
        return _specification(self.still, _values)

    def page_spec(self) -> dict[str, Any]:
        """The Vega-Lite specification of ``chart`` as a page sends it: the words of its axes and legends in the theme's
        colours, and its frames in ``datasets`` as Arrow streams, named by their content.

        Altair's own way there validates the whole chart again, which takes longer than all the rest
        (tests/charts/test_figure.py validates each).
        """
        datasets: dict[str, bytes] = {}
        spec = _specification(self.chart, lambda frame: _named(frame, datasets))
        for part, settings in theme.text_config().items():
            spec["config"][part] = {
                key: getattr(value, "to_dict", lambda v=value: v)() for key, value in settings.items()
            }
        return {**spec, "datasets": datasets}


def _specification(chart: AltairChart, data_of: Callable[[pd.DataFrame], alt.Data]) -> dict[str, Any]:
    spec = dict(_with_data(chart, data_of).to_dict(validate=False))
    own = chart.config
    spec["config"] = {} if own is alt.Undefined else own.to_dict(validate=False)
    return spec


def _with_data(chart: Any, data_of: Callable[[pd.DataFrame], alt.Data]) -> Any:
    """The chart with its frames replaced.

    Altair would turn them, but by a setting that all threads share, and Streamlit changes it while it draws a page.
    """
    chart = chart.copy(deep=False)
    if isinstance(chart.data, pd.DataFrame):
        chart.data = data_of(chart.data)
    if isinstance(chart, alt.LayerChart):
        chart.layer = [_with_data(layer, data_of) for layer in chart.layer]
    if isinstance(chart, alt.HConcatChart):
        chart.hconcat = [_with_data(layer, data_of) for layer in chart.hconcat]
    if isinstance(chart, alt.FacetChart):
        chart.spec = _with_data(chart.spec, data_of)
    return chart


def _values(frame: pd.DataFrame) -> alt.Data:
    rows = json.loads(frame.to_json(orient="records", double_precision=12))
    return alt.InlineData(values=rows)


def _named(frame: pd.DataFrame, datasets: dict[str, bytes]) -> alt.Data:
    table = pa.Table.from_pandas(frame)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content = sink.getvalue().to_pybytes()
    name = hashlib.blake2b(content, digest_size=16).hexdigest()
    datasets[name] = content
    return alt.NamedData(name=name)
