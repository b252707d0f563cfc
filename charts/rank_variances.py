"""The variances of an adapter's ranks, as a heat map."""

import pandas as pd

from charts import heat_map
from charts.figure import Figure
from charts.heat_map import Cells


def rank_variances(frame: pd.DataFrame) -> Figure:
    """The variance that each rank adds, as a share of its layer's largest one: layers down, ranks across."""
    more = (("variance", "Variance added", ".3g"),)
    cells = Cells(
        "rank",
        "Rank, by variance (cells in per cent)",
        "percent",
        "Per cent of its layer's largest",
        ".0f",  # without the sign, which has no room in a cell on a phone
        (0.0, 100.0),
        y="layer",
        y_title="Layer",
        more=more,
    )
    active = int((frame["share"] >= 0.01).sum())
    what = f"{active} of {len(frame)} ranks add at least 1% of the largest variance of their layer"
    return heat_map.drawn(frame.assign(percent=100 * frame["share"]), cells, "rank-variances", what)
