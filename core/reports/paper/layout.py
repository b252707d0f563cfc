"""The layout of a table for a paper: a list, or the values of one name side by side; the best number in bold."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from core.reports.p_values import p_text
from core.reports.paper.results import BEGINNING, MISSING, Differences, Measure, Results, TableChoice

UNLIKE = "unlike"
"""A column of rows: True where the sets keep their promise less than chance allows, so that a small set is no merit."""
SIZES = ("mean_set_size", "uacc")
"""The measures of which a row that is unlike has no best value."""
COLUMN_POINTS, PAGES, LETTER_POINTS, SMALLER = 234, 2.1, 4.4, 0.89
"""The width of a paper's column, by how much a page is wider, the width of a letter of the table, in points, and how
much smaller letters of intervals are."""
LEGIBLE = 0.75
"""The smallest scale at which texts of 9 points stay legible."""
LEAST_EMPTY = 0.005
"""The share of empty sets from which on a mean set size does not stand without it."""
CONSTANT_WORDS = {"task": " on {}", "score": " by {}", "shots": ", {}"}
"""From a key with one value to its words in a caption."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the interval below it, and whether it is the best of its column."""

    text: str
    interval: str = ""
    bold: bool = False


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as texts: a header, rows of as many cells, and how many of the first columns are words.

    ``groups`` stand above the columns of numbers, each over a number of columns.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int
    groups: tuple[tuple[str, int], ...] = ()
    caption: str = ""

    def scale(self, *, wide: bool) -> float:
        """About the scale at which the table fits into a column of a paper, or a page if it is ``wide``; at most 1."""
        letters = sum(
            max(len(title), *(max(len(row[i].text), SMALLER * len(row[i].interval)) for row in self.rows))
            for i, title in enumerate(self.header)
        )
        return min(1.0, COLUMN_POINTS * (PAGES if wide else 1) / (LETTER_POINTS * letters + 8 * len(self.header)))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns, with those of their groups."""
        above = ["" for _ in range(self.words)] + [title for title, n in self.groups for _ in range(n)]
        if not self.groups:
            return self.header
        return tuple(", ".join(filter(None, pair)) for pair in zip(above, self.header, strict=True))


def lay_out(results: Results, choice: TableChoice = BEGINNING) -> PaperTable:
    """The table that a person chose, with its caption.

    Raises :class:`~core.errors.InputError` for a measure that the results lack.
    """
    rows, measures = results.of_scores(choice.scores), results.measured(choice.measures)
    across = choice.across if choice.across in results.laid_across(choice.scores) else ""
    reference = choice.reference if choice.reference in results.references and not across else ""
    differences = results.against(reference) if reference and results.against else None
    first = next(iter(results.keys))
    keys = [key for key in results.keys if key == first or rows[key].nunique() > 1]
    bold = {measure.name: _best(rows, measure, results.within) for measure in measures}
    if across:
        keys = [key for key in keys if key != across] or [first]
        table = _matrix(rows, keys, across, measures, bold, results, intervals=choice.intervals)
    else:
        table = _list(rows, keys, measures, bold, results, differences, reference, intervals=choice.intervals)
    marked = any(places.any() for places in bold.values())
    named = {*keys, across}
    constant = "".join(
        CONSTANT_WORDS.get(key, f", {title.lower()} {{}}").format(rows[key].iloc[0])
        for key, title in results.keys.items()
        if key not in named
    )
    bracketed = any(cell.interval for row in table[1] for cell in row)
    sentences = [
        f"{results.subject}{constant}.",
        *results.facts,
        *(["Brackets hold 95% intervals.", *(measure.interval_reading for measure in measures)] if bracketed else []),
        *dict.fromkeys(measure.reading for measure in measures),
        *([f"Differences are from {reference}.", differences.note] if differences else []),
        _empty_words(rows, measures),
        _bold_words(rows, results, measures) if marked else "",
        *results.notes,
        results.origin,
    ]
    header, body, groups = table
    return PaperTable(header, body, len(keys), groups, " ".join(filter(None, sentences)))


Layout = tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...], tuple[tuple[str, int], ...]]


def _list(
    rows: pd.DataFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    bold: dict[str, "pd.Series[bool]"],
    results: Results,
    differences: Differences | None,
    reference: str,
    *,
    intervals: bool,
) -> Layout:
    header = [*(results.keys[key] for key in keys), *(measure.title for measure in measures)]
    for measure in differences.measures if differences else ():
        header += [measure.title, "p"] if measure.p else [measure.title]
    body = []
    for place, (_, row) in zip(map(int, rows.index), rows.iterrows(), strict=True):
        cells = [Cell(str(row[key])) for key in keys]
        cells += [_cell(row, measure, bool(bold[measure.name].loc[place]), intervals) for measure in measures]
        if differences:
            at = None if place == results.references[reference] else differences.rows.loc[[place]].iloc[0]
            cells += [cell for measure in differences.measures for cell in _difference(at, measure, intervals)]
        body.append(tuple(cells))
    return tuple(header), tuple(body), ()


def _matrix(
    rows: pd.DataFrame,
    keys: Sequence[str],
    across: str,
    measures: Sequence[Measure],
    bold: dict[str, "pd.Series[bool]"],
    results: Results,
    *,
    intervals: bool,
) -> Layout:
    columns = list(dict.fromkeys(rows[across]))
    body = []
    for _, group in rows.groupby(list(keys), sort=False):
        places = {group.at[place, across]: place for place in group.index}
        cells = [Cell(str(group[key].iloc[0])) for key in keys]
        for column in columns:
            for measure in measures:
                place = places.get(column)
                cells.append(
                    Cell(MISSING)
                    if place is None
                    else _cell(group.loc[place], measure, bool(bold[measure.name].loc[place]), intervals)
                )
        body.append(tuple(cells))
    titles = [results.keys[key] for key in keys]
    if len(measures) == 1:
        return (*titles, *columns), tuple(body), ((measures[0].title, len(columns)),)
    header = (*titles, *(measure.title for _ in columns for measure in measures))
    return header, tuple(body), tuple((column, len(measures)) for column in columns)


def _cell(row: "pd.Series[float]", measure: Measure, bold: bool, intervals: bool) -> Cell:
    value = float(row[measure.name])
    has = intervals and measure.low and value == value
    interval = measure.interval(float(row[measure.low]), float(row[measure.high])) if has else ""
    return Cell(measure.text(value), interval, bold)


def _difference(row: "pd.Series[float] | None", measure: Measure, intervals: bool) -> list[Cell]:
    """The cells of a difference, and of its p-value if it has one. Those of the reference, which has no row, are
    empty."""
    if row is None:
        return [Cell("")] * (2 if measure.p else 1)
    value = float(row[measure.shown or measure.name])
    interval = measure.interval(float(row[measure.low]), float(row[measure.high])) if intervals else ""
    return [Cell(measure.text(value), interval), *([Cell(p_text(float(row[measure.p])))] if measure.p else [])]


def _best(rows: pd.DataFrame, measure: Measure, within: Sequence[str]) -> "pd.Series[bool]":
    """Which rows have the best number, as printed, among those that agree in ``within``; none where all are equal."""
    if not measure.best:
        return pd.Series(False, rows.index)
    sign = 1 if measure.best == "high" else -1
    scale = 100 if measure.percent else 1
    values = sign * (scale * rows[measure.name].astype(float)).map(lambda value: float(f"{value:.{measure.digits}f}"))
    if UNLIKE in rows and measure.name in SIZES:
        values = values.where(~rows[UNLIKE].astype(bool))
    groups = [rows[name].astype(str) for name in within] or [pd.Series("", rows.index)]
    different = values.groupby(groups).transform("nunique") > 1
    return (values == values.groupby(groups).transform("max")) & different


def _empty_words(rows: pd.DataFrame, measures: Sequence[Measure]) -> str:
    """A sentence on empty sets where they make a set size smaller and have no column."""
    names = {measure.name for measure in measures}
    most = float(rows["empty_rate"].max()) if "empty_rate" in rows else 0.0
    if most < LEAST_EMPTY or "mean_set_size" not in names or "empty_rate" in names:
        return ""
    return f"Up to {most:.1%} of the sets of a row are empty, which makes its set size smaller."


def _bold_words(rows: pd.DataFrame, results: Results, measures: Sequence[Measure]) -> str:
    several = bool(results.within) and rows.groupby(list(results.within)).ngroups > 1
    unlike = UNLIKE in rows and rows[UNLIKE].any() and any(measure.name in SIZES for measure in measures)
    where = f" {results.alike}" if several else ""
    return f"Bold: the best number of a column{where}, as printed. It need not be better by more than chance." + (
        " Sets whose coverage lies below its band have no best size." if unlike else ""
    )
