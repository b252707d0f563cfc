"""How far each two jurors agree, as a heat map."""

import pandas as pd

from charts import heat_map
from charts.figure import Figure
from charts.heat_map import Cells

PAIR_MEASURES = {"agreement": "Same verdict", "kappa": "Cohen's kappa", "error_correlation": "Correlation of errors"}
"""From a figure of two jurors to its title."""


def juror_pairs(pairs: pd.DataFrame, measure: str) -> Figure:
    """Jurors against jurors; ``pairs`` has first, second and the measures with the ends of their intervals (``_low``,
    ``_high``; NaN of a juror with itself), one row per ordered pair."""
    title = PAIR_MEASURES[measure]
    form = ".0%" if measure == "agreement" else ".2f"
    ends = (f"{measure}_low", f"{measure}_high")
    jurors = list(dict.fromkeys(pairs["first"]))
    frame = pairs[["first", "second", measure, *ends]].dropna(subset=[measure])
    frame = frame.sort_values(["first", "second"], key=lambda column: column.map(jurors.index))
    more = ((ends[0], "from", form), (ends[1], "to", form))
    cells = Cells("second", "and", measure, title, form, y="first", y_title="Juror", more=more, x_titled=False)
    return heat_map.drawn(frame, cells, f"jurors-{measure.replace('_', '-')}", f"{title} for each pair of jurors")
