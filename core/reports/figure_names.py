"""The figures that can be written into files, by name, each with its title in a list to choose from.

They are drawn by :mod:`charts.run_figures` and :func:`charts.figure_files.jury_figure`. The command line and pages can
list them without importing these.
"""

RUN_FIGURES = {
    "reliability": "Reliability diagram",
    "coverage-by-alpha": "Coverage by alpha",
    "set-size-by-alpha": "Set size by alpha",
    "sets-by-size": "Sets by size",
    "forest": "Forest: accuracy, coverage, set size",
    "accuracy-and-set-size": "Accuracy against set size",
    "risk-coverage": "Risk against coverage",
    "sizes-when-right": "Set size where right and where wrong",
    "set-sizes": "Heat map of set sizes",
    "bars-accuracy": "Bars: accuracy",
    "bars-coverage": "Bars: coverage",
    "bars-mean-set-size": "Bars: mean set size",
    "bars-uacc": "Bars: UAcc",
    "bars-ece-excess": "Bars: ECE beyond chance",
    "heat-map-accuracy": "Heat map: accuracy",
    "heat-map-coverage": "Heat map: coverage",
    "heat-map-mean-set-size": "Heat map: mean set size",
    "radar": "Radar of five figures",
}
"""Figures of runs; those that a paper needs most come first."""

JURY_FIGURES = {
    "jury-forest": "Forest of rules and jurors",
    "jury-votes": "Votes and labels",
    "jury-labels": "Interval by the number of labels",
}
"""Figures of a jury."""

FILE_KINDS = ("svg", "pdf", "png")
"""The file formats of a figure for a document."""
