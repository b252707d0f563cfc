"""Figures of pages as files for a paper: of calibration, ways of asking, perplexities and token predictions.

They show what the page shows. Those of runs are in :mod:`charts.run_figures`.
"""

import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd

from charts.by_alpha import LETTER
from charts.figure_files import FigureFile
from charts.figure_style import FigureStyle
from charts.loss_along_conversation import loss_along
from charts.measures import MEASURES
from charts.methods_by_shots import by_method
from charts.perplexity_dumbbell import MEASURES as PERPLEXITIES
from charts.perplexity_dumbbell import dumbbell
from charts.rank_variances import rank_variances
from charts.run_figures import PANEL, Drawing, columns_of, reliability
from charts.run_names import unique
from charts.run_styles import legend_rows
from charts.token_reliability import token_reliability
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.paper.results import Results


def figure_file(name: str, drawing: Drawing, results: Results, style: FigureStyle) -> FigureFile:
    """A drawing as a file, with the origin and the notes of ``results``."""
    notes = tuple(filter(None, results.notes))
    return FigureFile(name, drawing, style, results.provenance, results.about.file_name, notes)


def broken(names: Sequence[str], letters: int) -> list[str]:
    """Names in lines of at most so many letters, no two alike."""
    return unique("\n".join(textwrap.wrap(name, max(8, letters))) for name in names)


def reliability_diagrams(
    named: Sequence[tuple[str, CalibrationFigures]], results: Results, style: FigureStyle
) -> FigureFile:
    """The diagrams of the Calibration page."""
    columns = columns_of(len(named), style.units, PANEL)
    names = broken([name for name, _ in named], int(0.8 / columns * style.units / LETTER))
    drawing = reliability(names, [figures for _, figures in named], columns)
    return figure_file("reliability", drawing, results, style)


def ways_of_asking(rows: pd.DataFrame, measure: str, reading: str, results: Results, style: FigureStyle) -> FigureFile:
    """One figure of every way of asking (:func:`charts.methods_by_shots.by_method`)."""
    titles = list(dict.fromkeys(rows["title"]))
    short = dict(zip(titles, broken(titles, int(0.36 * style.units / LETTER)), strict=True))
    figure = by_method(rows.assign(title=rows["title"].map(short)), measure)
    title = f"{MEASURES[measure][0]} by way of asking"
    return figure_file(figure.name, Drawing(figure, title, reading), results, style)


def perplexities(
    table: pd.DataFrame, measure: str, names: Mapping[str, str], results: Results, style: FigureStyle
) -> FigureFile:
    """One perplexity of each conversation under each prompt (:func:`charts.perplexity_dumbbell.dumbbell`)."""
    long = list(dict.fromkeys(table["conversation"]))
    short = dict(zip(long, broken(long, int(0.36 * style.units / LETTER)), strict=True))
    figure = dumbbell(table.assign(conversation=table["conversation"].map(short)), measure, names)
    return figure_file(figure.name, Drawing(figure, f"{PERPLEXITIES[measure][0]} by prompt"), results, style)


def losses(
    frame: pd.DataFrame, names: Mapping[str, str], vocabulary: int | None, results: Results, style: FigureStyle
) -> FigureFile:
    """The loss along the conversation (:func:`charts.loss_along_conversation.loss_along`)."""
    reading = "The mean over conversations of the counselor's first message that is scored, of the second, and so on."
    drawing = Drawing(loss_along(frame, names, vocabulary=vocabulary), "Loss along the conversation", reading, True, 1)
    return figure_file("loss-along", drawing, results, style)


def tokens(frame: pd.DataFrame, results: Results, style: FigureStyle) -> FigureFile:
    """The reliability of token predictions (:func:`charts.token_reliability.token_reliability`)."""
    reading = (
        "Each mark is a bin of tokens. On the dashed line, a model's top token is right as often as the model is "
        "confident. Vertical lines are Clopper–Pearson 95% intervals of the accuracy."
    )
    names = list(dict.fromkeys(frame["name"]))
    short = dict(zip(names, broken(names, int(0.7 * style.units / LETTER)), strict=True))
    figure = token_reliability(frame.assign(name=frame["name"].map(short)))
    drawing = Drawing(figure, "Reliability of token predictions", reading, True, legend_rows(names, style.units))
    return figure_file("token-reliability", drawing, results, style)


def ranks(frame: pd.DataFrame, name: str, results: Results, style: FigureStyle) -> FigureFile:
    """The variance of an adapter's ranks (:func:`charts.rank_variances.rank_variances`)."""
    reading = f"Ranks of {name}. A cell is the variance that a rank adds, in per cent of its layer's largest."
    return figure_file("rank-variances", Drawing(rank_variances(frame), "Variance by rank", reading), results, style)
