"""The figures of runs that charts show: their titles, how they are written, and their intervals.

Frames of runs come from :func:`core.reports.compare.benchmark.run_rows`, one row per run and score.
"""

import altair as alt

MEASURES: dict[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", ".0%"),
    "coverage": ("Coverage", ".0%"),
    "mean_set_size": ("Mean set size", ".2f"),
    "uacc": ("UAcc", ".2f"),
    "ece_excess": ("ECE beyond chance", ".3f"),
}
"""From a figure's column to its title and how it is written."""
INTERVALS = {
    "accuracy": ("accuracy_low", "accuracy_high"),
    "coverage": ("coverage_low", "coverage_high"),
    "mean_set_size": ("set_size_low", "set_size_high"),
    "uacc": ("uacc_low", "uacc_high"),
    "ece_excess": ("ece_low", "ece_high"),
}
"""From a figure's column to those of its interval's ends."""


def tips(*fields: tuple[str, str] | tuple[str, str, str]) -> list[alt.Tooltip]:
    """A line of a tooltip: the column, its title, and the format of a number."""
    return [
        alt.Tooltip(field[0], type="quantitative", title=field[1], format=field[2])
        if len(field) == 3
        else alt.Tooltip(field[0], type="nominal", title=field[1])
        for field in fields
    ]
