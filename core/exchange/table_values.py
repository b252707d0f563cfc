"""What the cells of a table's options are, and the logits that they become."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.conformal.probabilities import SUM_WITHIN, sum_within
from core.errors import InputError
from core.exchange.build_run import LARGEST_LOGIT, check_not_flat, in_range
from core.exchange.listed_letters import LEAST
from core.exchange.table_columns import Columns
from core.records import MOST_OPTIONS, BoolArray, FloatArray, IntArray, LogitArray
from core.tables.tabular import Sheet
from core.tables.token_lists import LEAST_LISTED, LISTED_MASS

COUNTS = "counts"
"""Each cell counts how often a model picked the option (:mod:`core.exchange.picks`)."""
VALUES = (
    *("probabilities", "next-token probabilities", "percentages", "log-probabilities", "negative log-probabilities"),
    *("logits", COUNTS),
)
"""What cells can be. Next-token probabilities are those of the options' letters among all tokens: they sum to less than
1, their sum is the letter mass, and they are divided by it."""
SHARES = ("probabilities", "next-token probabilities", "percentages")


LISTED = ("log-probabilities", "next-token probabilities")
"""Kinds of figures that a source may list for the most probable tokens alone."""
MARKED = 50
"""A whole number of at most minus this that is far below all other log-probabilities says that a letter is not listed,
as -100 and -9999 do."""
NOT_LISTED = {"nan", "none", "null", "na", "n/a", "-inf", "-infinity", "-"}


@dataclass(frozen=True, slots=True)
class OptionCells:
    """The figures of the options (n, k), NaN behind each row's last; how many options each row has (n,); what the
    figures are; which are only upper bounds (n, k), where any are, else None; and the rows with any figure (n,)."""

    values: FloatArray
    counts: IntArray
    kind: str
    bounds: BoolArray | None
    usable: BoolArray

    @property
    def listed_mass(self) -> FloatArray:
        """The probability that fell on the letters that are listed (n,)."""
        shares = np.exp(self.values.clip(max=1.0)) if self.kind == "log-probabilities" else self.values
        own = ~np.isnan(self.values) if self.bounds is None else ~np.isnan(self.values) & ~self.bounds
        mass: FloatArray = np.where(own, shares, 0.0).sum(axis=1).clip(max=1.0)
        return mass


def option_cells(sheet: Sheet, columns: Columns, *, values_kind: str = "", whole: bool = False) -> OptionCells:
    """The figures of a table's options; ``told`` is what they are, where a person said it. ``whole``: all rows have all
    options, so that a missing cell is a letter that is not listed.

    A letter that a source does not list gets an upper bound: the probability of the least probable token listed, or
    what the listed ones leave over, whichever is less (:mod:`core.exchange.listed_letters`).
    """
    if values_kind and values_kind not in VALUES:
        raise InputError(f"unknown kind of values {values_kind!r}; choose from {', '.join(VALUES)}")
    values, error = _numbers(sheet, columns.options)
    with np.errstate(invalid="ignore"):
        kind = values_kind or refined(columns.values, recognised_values(values))
    if kind not in LISTED and error is not None:
        raise error
    if not values_kind and not columns.values and kind == "logits" and np.isin(values, (0, 1)).all():
        raise InputError(
            f"{sheet.path}: all figures of {columns.options[0]!r} to {columns.options[-1]!r} are 0 or 1, as marks of "
            "right and wrong answers are, so they are no figures of options; give each option's probability, or say "
            "--values logits"
        )
    there, marked = ~np.isnan(values), _marked(values) if kind == "log-probabilities" else np.zeros_like(values, bool)
    counts = there.sum(axis=1)
    gaps = (there != (np.arange(values.shape[1]) < counts[:, None])).any(axis=1)
    if kind in LISTED:
        texts = _text_counts(sheet, columns)
        whole |= bool(gaps.any() or (counts < 2).any() or error is not None or LISTED_MASS in sheet.names)
        missing = marked.any() or (whole and not there.all())
        if missing or (texts is not None and (texts > counts).any()):
            if whole:
                counts = np.full(len(values), values.shape[1])
            return _bounded(sheet, values, there & ~marked, counts if texts is None else texts, kind)
    empty = [columns.options[place] for place in np.argmin(there, axis=1)]
    _refuse(sheet, gaps, lambda row: f"expected options without gaps, found {empty[row]!r} empty before others")
    _refuse(sheet, counts < 2, lambda row: f"expected at least 2 options, found {counts[row]}")
    _refuse(sheet, np.isposinf(values).any(axis=1), lambda row: "expected numbers, found infinity")
    return OptionCells(values, counts.astype(np.int64), kind, None, np.ones(len(values), bool))


def _numbers(sheet: Sheet, names: Sequence[str]) -> tuple[FloatArray, InputError | None]:
    """The cells of columns (n, k), NaN where one is missing or says that its letter is not listed; and the error that
    such a cell is where all letters are listed."""
    columns, failed = [], None
    for name in names:
        try:
            columns.append(sheet.numbers(name))
        except InputError as error:
            place, cells = sheet.names.index(name), _without_marks(sheet.table[name])
            part = replace(sheet, table=sheet.table.set_column(place, name, cells))
            columns.append(part.numbers(name))  # a cell that is no number at all is refused as before
            failed = failed or error
    return np.stack(columns, axis=1), failed


def _without_marks(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column whose cells are missing where they say that a letter is not listed."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    texts = ["" if cell is None else str(cell).strip() for cell in column.to_pylist()]
    return pa.array([None if not text or text.lower() in NOT_LISTED else text for text in texts], pa.string())


def _marked(values: FloatArray) -> BoolArray:
    """Which log-probabilities (n, k) say that a letter is not listed: −∞, or a number such as −100 or −9999."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.isneginf(values)
    least = float(finite.min())
    others = finite[finite > least]
    is_mark = least <= -MARKED and least == round(least) and others.size > 0 and float(others.min()) > least / 2
    marked: BoolArray = np.isneginf(values) | ((values == least) & is_mark)
    return marked


def _text_counts(sheet: Sheet, columns: Columns) -> IntArray | None:
    """How many options of each row have a text (n,); None where they have none."""
    if not columns.texts:
        return None
    there = np.array([[bool(cell) for cell in sheet.texts(name)] for name in columns.texts]).T
    counts: IntArray = there.sum(axis=1)
    return counts if (there == (np.arange(there.shape[1]) < counts[:, None])).all() and (counts >= 2).all() else None


def _bounded(sheet: Sheet, values: FloatArray, listed: BoolArray, counts: IntArray, kind: str) -> OptionCells:
    """The cells with an upper bound for each letter that is not listed."""
    inside = np.arange(values.shape[1]) < counts[:, None]
    more = (listed & ~inside).any(axis=1)
    _refuse(sheet, more, lambda row: f"expected figures of {counts[row]} options, found more")
    is_log = kind == "log-probabilities"
    shares = np.where(listed, np.exp(np.where(listed, values, 0.0).clip(max=1.0)) if is_log else values, 0.0)
    least = np.where(listed, shares, np.inf).min(axis=1)
    with np.errstate(over="ignore"):  # figures that are no probabilities are refused later
        total = shares.sum(axis=1)
    if {LEAST_LISTED, LISTED_MASS} <= set(sheet.names):
        least = np.fmin(least, np.exp(sheet.numbers(LEAST_LISTED).clip(max=0.0)))
        total = np.fmax(total, sheet.numbers(LISTED_MASS))
    bound = np.minimum(least, np.maximum(1 - total, LEAST))[:, None]
    with np.errstate(divide="ignore"):  # a token may be listed with the probability 0
        filled = np.where(listed, values, np.log(bound) if is_log else bound)
    usable = np.asarray(listed.any(axis=1))
    filled[~usable] = np.log(1 / MOST_OPTIONS) if is_log else 1 / MOST_OPTIONS  # such rows are left out
    return OptionCells(np.where(inside, filled, np.nan), counts, kind, inside & ~listed, usable)


def recognised_values(values: FloatArray) -> str:
    """What the cells of options (n, k) are: probabilities or per cent, where most rows sum to 1 or 100; next-token
    probabilities, where every row sums to less; counts of picks, if they are whole and all rows have the same sum;
    log-probabilities; else logits."""
    real = np.where(np.isnan(values), 0.0, values)
    sums = real.sum(axis=1)
    within = ((real >= 0) & (real <= 1 + SUM_WITHIN)).all(axis=1)
    if (within & (abs(sums - 1) <= SUM_WITHIN)).mean() > 0.5:
        return "probabilities"
    if ((real >= 0).all(axis=1) & (abs(sums - 100) <= 100 * SUM_WITHIN)).mean() > 0.5:
        return "percentages"
    if (within & (sums <= 1 + SUM_WITHIN) & (sums > 0)).all():
        return "next-token probabilities"
    if (within & (abs(sums - 1) <= sum_within(values))).mean() > 0.5:
        return "probabilities"
    if (real == np.rint(real)).all() and (real >= 0).all() and (sums == sums[0]).all():
        return COUNTS
    with np.errstate(over="ignore"):
        mass = np.where(np.isnan(values), 0.0, np.exp(np.where(np.isnan(values), 0.0, values))).sum(axis=1)
    if (mass <= 1 + SUM_WITHIN).all():
        return "log-probabilities"
    return "logits"


def refined(named: str, seen: str) -> str:
    """What the cells are, by what the columns' names say and what the cells look like. Names can't tell probabilities,
    per cent and next-token probabilities apart, nor logits from log-probabilities; the cells can."""
    if named == "probabilities" and seen in SHARES:
        return seen
    return named or seen


def logits_of(sheet: Sheet, values: FloatArray, counts: IntArray, kind: str) -> tuple[LogitArray, FloatArray | None]:
    """The logits (n, k) of the cells of options, and the cells themselves where they are probabilities (else None).
    Logits are float64. Those of probabilities are their logarithms in float32, because the probabilities count."""
    there = ~np.isnan(values)
    values = values / 100 if kind == "percentages" else values
    cells = np.where(there, values, 0.0)  # those that are missing break no rule
    sums, negative = cells.sum(axis=1), (cells < 0).any(axis=1)

    def expected(what: str, bad: BoolArray | np.bool_, more: Callable[[int], str] = lambda row: "") -> None:
        _refuse(sheet, bad, lambda row: f"expected {what}, found {_listed(values[row])}{more(row)}")

    if kind in ("probabilities", "percentages"):
        bad = negative | (cells > 1 + SUM_WITHIN).any(axis=1) | (abs(sums - 1) > sum_within(values))
        expected("probabilities from 0 to 1 with sum 1", bad, lambda row: f" with sum {sums[row]:.6g}")
    elif kind == "next-token probabilities":
        expected("next-token probabilities from 0 to 1 with a sum up to 1", negative | (sums > 1 + SUM_WITHIN))
    elif kind == "negative log-probabilities":
        expected("negative log-probabilities from 0 on", (cells < -SUM_WITHIN).any(axis=1))
        values = -values
    elif kind == "log-probabilities":
        expected("log-probabilities up to 0", (cells > SUM_WITHIN).any(axis=1))
    shares = cells if kind in SHARES else None
    with np.errstate(divide="ignore"):
        logits = np.where(there, values, -np.inf) if shares is None else np.log(shares)
    large = (logits > LARGEST_LOGIT).any(axis=1)
    _refuse(sheet, large, lambda row: f"expected numbers up to 3.4e38, found {logits[row].max():g}, which is too large")
    bounded = in_range(logits)
    expected("an option that is not ruled out", ~np.isfinite(bounded).any(axis=1))
    check_not_flat(bounded, sheet.path)
    return (bounded, None) if shares is None else (bounded.astype(np.float32), shares)


def _refuse(sheet: Sheet, bad: BoolArray | np.bool_, sentence: Callable[[int], str]) -> None:
    """Raise :class:`InputError` with the place and the sentence of the first row that is ``bad`` (n,)."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{sheet.where(row)}: {sentence(row)}")


def _listed(row: FloatArray) -> str:
    return ", ".join(f"{value:g}" for value in row if not np.isnan(value))
