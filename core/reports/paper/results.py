"""The numbers of a page with what a table of them needs: names, intervals, differences, and their origin."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from core.errors import InputError
from core.estimates import signed
from core.reports.file_names import About
from core.reports.provenance import Provenance

MISSING = "–"
RUNS_NAMED = 4
"""With more runs than this, a caption has a digest of their ids. The file's comments and the workbook name all."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of numbers: its ``name`` in the frame, its title, and how a number is written.

    ``low`` and ``high`` name the columns of its 95% interval. ``best`` says which value is the best one, if any is.
    ``reading`` and ``interval_reading`` are the sentences that a caption needs. ``first`` says whether the table begins
    with it. A difference is ``signed`` and has the column of its p-value, ``p``. If it stands beside its two terms,
    ``shown`` is the column of the difference of the terms as they are written
    (:func:`core.estimates.difference_shown`).
    """

    name: str
    title: str
    digits: int = 3
    percent: bool = False
    best: Literal["", "high", "low"] = ""
    low: str = ""
    high: str = ""
    reading: str = ""
    interval_reading: str = ""
    first: bool = True
    signed: bool = False
    p: str = ""
    shown: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its frame."""
        return tuple(filter(None, (self.name, self.low, self.high, self.p)))

    def text(self, value: float) -> str:
        """The number as the table writes it.

        >>> Measure("accuracy", "Accuracy (%)", 1, percent=True).text(0.7125)
        '71.2'
        """
        if math.isnan(value):
            return MISSING
        if math.isinf(value):
            return "∞"
        size = 100 * value if self.percent else value
        return signed(size, self.digits) if self.signed else f"{size:,.{self.digits}f}"

    def interval(self, low: float, high: float) -> str:
        """The interval in brackets; empty if there is none."""
        return "" if math.isnan(low) or math.isnan(high) else f"[{self.text(low)}, {self.text(high)}]"

    @property
    def number_format(self) -> str:
        """The number format of a spreadsheet's cells."""
        if self.percent:
            return f"0.{'0' * self.digits}%"
        return f"0.{'0' * self.digits}" if self.digits else "#,##0"


@dataclass(frozen=True, slots=True)
class Differences:
    """Paired differences of all rows from one of them. ``rows`` has the index of the results' rows, and NaN where two
    rows can't be compared. ``note`` says how they are tested."""

    measures: tuple[Measure, ...]
    rows: pd.DataFrame
    note: str


@dataclass(frozen=True, slots=True)
class PaperResults:
    """Numbers with their names.

    ``keys`` maps the columns that name a row, such as ``model`` and ``task``, to their titles; their values are texts
    for people. The values of a key in ``across`` may stand side by side, and those of ``first_across`` begin so. Rows
    that agree in the columns ``within`` compete for the best value of a measure. A row with True in the column
    ``unlike`` has no best set size. ``alike`` says in a caption what rows that compete have in common.

    ``facts`` and ``notes`` are sentences of the caption: how the numbers came about, and what to know about them.
    ``against`` gives the differences from a row that ``references`` names.
    """

    subject: str
    keys: Mapping[str, str]
    rows: pd.DataFrame
    measures: tuple[Measure, ...]
    provenance: Provenance
    about: About
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    first_across: str = ""
    within: tuple[str, ...] = ()
    alike: str = "on the same questions"
    runs: tuple[str, ...] = ()
    references: Mapping[str, int] = field(default_factory=dict)
    against: Callable[[str], Differences] | None = None

    def laid_across(self, scores: Sequence[str] = ()) -> tuple[str, ...]:
        """The keys whose values can stand side by side: each cell is then one row's."""
        rows = self.of_scores(scores)
        if rows.duplicated(list(self.keys)).any():
            return ()
        return tuple(key for key in self.across if rows[key].nunique() > 1)

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores of the rows, if they have several."""
        return tuple(dict.fromkeys(self.rows["score"])) if "score" in self.keys else ()

    def of_scores(self, scores: Sequence[str]) -> pd.DataFrame:
        """The rows of some of the scores; all rows if none is named."""
        return self.rows[self.rows["score"].isin(scores)] if scores and "score" in self.keys else self.rows

    def measured(self, names: Sequence[str]) -> tuple[Measure, ...]:
        """The measures of these names, in their own order; those of the table at first if none is named. Raises
        :class:`InputError` for an unknown one."""
        unknown = sorted(set(names) - {measure.name for measure in self.measures})
        if unknown:
            known = ", ".join(measure.name for measure in self.measures)
            raise InputError(f"unknown column {unknown[0]!r}; choose from {known}")
        return tuple(measure for measure in self.measures if (measure.name in names if names else measure.first))

    @property
    def origin(self) -> str:
        """Hedge's version, the date and the runs, in a sentence of a caption."""
        origin = f"Made with {self.provenance.of('Made by')} on {self.provenance.of('Date')}"
        if not self.runs:
            return f"{origin}."
        if len(self.runs) <= RUNS_NAMED:
            return f"{origin} from the run{'s' * (len(self.runs) > 1)} {', '.join(self.runs)}."
        digest = hashlib.sha256("\n".join(sorted(self.runs)).encode()).hexdigest()[:12]
        return f"{origin} from {len(self.runs)} runs (SHA-256 of their sorted ids, one on each line: {digest})."


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What a person chooses of a table: its ``measures`` and ``scores`` (none: those that it begins with, all scores),
    the key whose values stand side by side (``across``; empty: one row for each), whether intervals stand below their
    numbers, the row from which differences are, and whether the table is as wide as the page (``table*``)."""

    measures: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    across: str = ""
    intervals: bool = True
    reference: str = ""
    wide: bool = False


BEGINNING = TableChoice()
