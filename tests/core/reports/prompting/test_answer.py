"""The sentences that answer the Prompting page: they claim a difference only where its corrected p-value is small."""

import pandas as pd
import pytest

from core.reports.prompting.answer import difference_text, prompting_answer

pytestmark = pytest.mark.quick


def row(way: str, accuracy: float, accuracy_p: float, size: float, size_p: float) -> dict[str, float | str]:
    ends = {f"accuracy{end}": accuracy + step for end, step in (("_low", -0.02), ("_high", 0.02))}
    ends |= {f"set_size{end}": size + step for end, step in (("_low", -0.1), ("_high", 0.1))}
    values = {"accuracy": accuracy, "accuracy_p": accuracy_p, "set_size": size, "set_size_p": size_p}
    terms = {"first_accuracy": 0.5, "other_accuracy": 0.5 + accuracy, "first_set_size": 2.0, "other_set_size": 2 + size}
    return {"way": way, **values, **ends, **terms}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row("B", 0.05, 0.001, -0.3, 0.01)], "“B” is more accurate and more certain than “A”."),
        (
            [row("B", 0.05, 0.001, -0.1, 0.5), row("C", 0.09, 0.06, 0.2, 0.01)],
            "“B” is more accurate than “A”. Can't tell whether any way is more certain.",
        ),
        (
            [row("B", -0.05, 0.001, 0.1, 0.01), row("C", 0.01, 0.5, -0.2, 0.02)],
            "Can't tell whether any way is more accurate. “C” is more certain than “A”.",
        ),
        (
            [row("B", 0.05, 0.07, -0.3, 0.07)],
            "Can't tell whether any way is more accurate or more certain than “A”.",
        ),
        ([row("B", -0.05, 0.001, 0.3, 0.001)], "Can't tell whether any way is more accurate or more certain than “A”."),
    ],
)
def test_only_what_is_shown_is_claimed(rows: list[dict[str, float | str]], words: str) -> None:
    assert prompting_answer("A", pd.DataFrame(rows))[0] == words


def test_the_figures_of_both_differences_follow() -> None:
    _, figures = prompting_answer("A", pd.DataFrame([row("B", 0.05, 0.0004, -0.3, 0.5)]))
    assert "of “B” differs by +5.0 points (95% interval +3.0 to +7.0, p < 0.001)" in figures
    assert "by −0.30 options (95% interval −0.40 to −0.20, p = 0.500)" in figures
    assert "corrected" not in figures


def test_a_corrected_p_value_says_so_beside_its_interval() -> None:
    """Otherwise an interval that only touches 0 stands beside a large p-value without a word."""
    rows = [row("B", 0.05, 0.0004, -0.3, 0.5), row("C", 0.01, 0.5, 0.1, 0.5)]
    _, figures = prompting_answer("A", pd.DataFrame(rows))
    assert figures.endswith("The p-values are corrected for all 4 comparisons; the intervals are not.")


def test_a_difference_is_that_of_the_figures_beside_it() -> None:
    """87.15 − 76.24 is 10.91, but the page shows 87.2% and 76.2%."""
    shown = row("B", 0.1091, 0.001, 0.0272, 0.5) | {"first_accuracy": 0.7624, "other_accuracy": 0.8715}
    shown |= {"first_set_size": 1.4977, "other_set_size": 1.5249}
    assert difference_text(shown, "accuracy").startswith("+11.0 ")
    assert difference_text(shown, "set_size").startswith("+0.02 ")
    other_questions = shown | {"other_accuracy": 0.9}
    assert difference_text(other_questions, "accuracy").startswith("+10.9 ")
