"""What the cells of a table's options are, and the logits that they become."""

from __future__ import annotations

import numpy as np

from core.errors import InputError
from core.exchange.build_run import LARGEST_LOGIT, check_not_flat, in_range
from core.exchange.table_columns import Columns
from core.records import FloatArray, IntArray, LogitArray
from core.tables.tabular import Sheet

COUNTS = "counts"
"""Each cell counts how often a model picked the option (:mod:`core.exchange.picks`)."""
VALUES = (
    *("probabilities", "next-token probabilities", "percentages", "log-probabilities", "negative log-probabilities"),
    *("logits", COUNTS),
)
"""What cells can be. Next-token probabilities are those of the options' letters among all tokens: they sum to less than
1, their sum is the letter mass, and they are divided by it."""
SHARES = ("probabilities", "next-token probabilities", "percentages")
SUM_WITHIN = 0.01
"""How far the sum of a row's probabilities may be from 1. They are often rounded."""


def option_cells(sheet: Sheet, columns: Columns) -> tuple[FloatArray, IntArray]:
    """The cells of the options (n, k), NaN behind each row's last, and how many each row has (n,)."""
    values = np.stack([sheet.numbers(name) for name in columns.options], axis=1)
    there = ~np.isnan(values)
    counts = there.sum(axis=1)
    gaps = (there != (np.arange(values.shape[1]) < counts[:, None])).any(axis=1)
    if gaps.any():
        row = int(np.argmax(gaps))
        empty = columns.options[int(np.argmin(there[row]))]
        raise InputError(f"{sheet.where(row)}: expected options without gaps, found {empty!r} empty before others")
    if (counts < 2).any():
        row = int(np.argmax(counts < 2))
        raise InputError(f"{sheet.where(row)}: expected at least 2 options, found {counts[row]}")
    if np.isposinf(values).any():
        row = int(np.argmax(np.isposinf(values).any(axis=1)))
        raise InputError(f"{sheet.where(row)}: expected numbers, found infinity")
    return values, counts.astype(np.int64)


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
    if (real == np.rint(real)).all() and (real >= 0).all() and (sums == sums[0]).all():
        return COUNTS
    with np.errstate(over="ignore"):
        mass = np.where(np.isnan(values), 0.0, np.exp(np.where(np.isnan(values), 0.0, values))).sum(axis=1)
    if (mass <= 1 + SUM_WITHIN).all():
        return "log-probabilities"
    return "logits"


def refined(said: str, seen: str) -> str:
    """What the cells are, by what the columns' names say and what the cells look like.

    Names can't tell probabilities, per cent and next-token probabilities apart, nor logits from log-probabilities; the
    cells can.
    """
    if said == "probabilities" and seen in SHARES:
        return seen
    return said or seen


def logits_of(sheet: Sheet, values: FloatArray, counts: IntArray, kind: str) -> tuple[LogitArray, FloatArray | None]:
    """The logits (n, k) of the cells of options, and the cells themselves where they are probabilities (else None).

    Logits are float64. Those of probabilities are their logarithms in float32, because the probabilities count.
    """
    there = ~np.isnan(values)
    if kind == "percentages":
        values = values / 100
    if kind in ("probabilities", "percentages"):
        bad = (np.where(there, values, 0) < 0).any(axis=1) | (np.where(there, values, 0) > 1 + SUM_WITHIN).any(axis=1)
        sums = np.where(there, values, 0).sum(axis=1)
        bad |= abs(sums - 1) > SUM_WITHIN
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{sheet.where(row)}: expected probabilities from 0 to 1 with sum 1, found {_listed(values[row])} with "
                f"sum {sums[row]:.6g}"
            )
    elif kind == "next-token probabilities":
        bad = (np.where(there, values, 0) < 0).any(axis=1) | (np.where(there, values, 0).sum(axis=1) > 1 + SUM_WITHIN)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{sheet.where(row)}: expected next-token probabilities from 0 to 1 with a sum up to 1, found "
                f"{_listed(values[row])}"
            )
    elif kind == "negative log-probabilities":
        bad = (np.where(there, values, 1) < -SUM_WITHIN).any(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{sheet.where(row)}: expected negative log-probabilities from 0 on, found {_listed(values[row])}"
            )
        values = -values
    elif kind == "log-probabilities":
        bad = (np.where(there, values, -1) > SUM_WITHIN).any(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"{sheet.where(row)}: expected log-probabilities up to 0, found {_listed(values[row])}")
    shares = np.where(there, values, 0.0) if kind in SHARES else None
    with np.errstate(divide="ignore"):
        logits = np.where(there, values, -np.inf) if shares is None else np.log(shares)
    if (logits > LARGEST_LOGIT).any():
        row = int(np.argmax((logits > LARGEST_LOGIT).any(axis=1)))
        raise InputError(
            f"{sheet.where(row)}: expected numbers up to 3.4e38, found {logits[row].max():g}, which is too large"
        )
    logits = in_range(logits)
    bad = ~np.isfinite(logits).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{sheet.where(row)}: expected an option that is not ruled out, found {_listed(values[row])}")
    check_not_flat(logits, sheet.path)
    return (logits, None) if shares is None else (logits.astype(np.float32), shares)


def _listed(row: FloatArray) -> str:
    return ", ".join(f"{value:g}" for value in row if not np.isnan(value))
