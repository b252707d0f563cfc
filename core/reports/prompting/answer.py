"""The answer of the Prompting page in words: which way of asking makes a model more accurate or more certain."""

from typing import Any

import pandas as pd

from core.estimates import difference_shown, signed
from core.reports.p_values import p_said

SMALL = 0.05
"""A difference is claimed if its p-value is smaller."""
SCALES = {"accuracy": (100, 1), "set_size": (1, 2)}
"""The factor with which a difference is shown, and its decimals."""


def prompting_answer(base: str, tests: pd.DataFrame) -> tuple[str, str]:
    """What the tests show, in two sentences, and the two differences behind it.

    ``tests`` are the rows of :func:`core.reports.prompting.experiments.against`, whose p-values are corrected together,
    of every way but the one named ``base``. Of several ways that are better, the one with the largest difference is
    named.
    """
    accurate, certain = _best(tests, "accuracy", 1), _best(tests, "set_size", -1)
    right = _is_shown(accurate, "accuracy", 1)
    sure = _is_shown(certain, "set_size", -1)
    if right and sure and accurate["way"] == certain["way"]:
        claims = [f"“{accurate['way']}” is more accurate and more certain than “{base}”"]
    else:
        claims = [
            f"“{row['way']}” is more {word} than “{base}”" if shown else f"Can't tell whether any way is more {word}"
            for row, shown, word in ((accurate, right, "accurate"), (certain, sure, "certain"))
        ]
        if not (right or sure):
            claims = [f"Can't tell whether any way is more accurate or more certain than “{base}”"]
    figures = (
        f"Compared with “{base}”, the accuracy of “{accurate['way']}” differs by "
        f"{difference_text(accurate, 'accuracy', named=True)}, and the mean set size of “{certain['way']}” by "
        f"{difference_text(certain, 'set_size', named=True)}."
    )
    if len(tests) > 1:
        figures += f" The p-values are corrected for all {2 * len(tests)} comparisons; the intervals are not."
    return f"{'. '.join(claims)}.", figures


def difference_text(row: dict[str, Any], name: str, *, named: bool = False) -> str:
    """A difference with its interval, for a table; ``named`` with units and its p-value, for a sentence. It is that of
    the two figures as the page shows them.

    >>> row = {"accuracy": 0.055, "accuracy_low": 0.033, "accuracy_high": 0.078, "accuracy_p": 0.0004}
    >>> row |= {"first_accuracy": 0.7, "other_accuracy": 0.755}
    >>> difference_text(row, "accuracy")
    '+5.5 (+3.3 to +7.8)'
    >>> difference_text(row, "accuracy", named=True)
    '+5.5 points (95% interval +3.3 to +7.8, p < 0.001)'
    """
    scale, digits = SCALES[name]
    terms = scale * row[f"other_{name}"], scale * row[f"first_{name}"]
    value = signed(difference_shown(*terms, digits=digits, exact=scale * row[name]), digits)
    low, high = (signed(scale * row[f"{name}{end}"], digits) for end in ("_low", "_high"))
    if not named:
        return f"{value} ({low} to {high})"
    unit = "points" if name == "accuracy" else "options"
    return f"{value} {unit} (95% interval {low} to {high}, {p_said(row[f'{name}_p'])})"


def _best(tests: pd.DataFrame, name: str, sign: int) -> dict[str, Any]:
    """The row with the largest difference in the good direction: of those that are shown, if there are any."""
    rows = [{str(key): value for key, value in row.items()} for row in tests.to_dict("records")]
    shown = [row for row in rows if _is_shown(row, name, sign)]
    return max(shown or rows, key=lambda row: sign * row[name])


def _is_shown(row: dict[str, Any], name: str, sign: int) -> bool:
    return bool(sign * row[name] > 0 and row[f"{name}_p"] < SMALL)
