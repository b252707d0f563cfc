"""The headline says what the frame says, also where runs are alike."""

import re
from typing import Any

import pandas as pd
import pytest

from core.reports.overview.headline import headline

pytestmark = pytest.mark.quick


def row(model: str, size: float, accuracy: float = 0.5, width: float = 0.1, **more: Any) -> dict[str, Any]:
    values = {
        "run": f"run-{model}",
        "model": model,
        "task": "qa",
        "bank": "pocket bank",
        "questions": "same",
        "k": 4,
        "accuracy": accuracy,
        "lac_set_size": size,
        "lac_set_size_low": size - width,
        "lac_set_size_high": size + width,
        "lac_empty_rate": 0.0,
        "lac_coverage": 0.9,
        "lac_coverage_low": 0.87,
        "lac_coverage_high": 0.93,
    }
    return values | more


def sentence(*rows: dict[str, Any], score: str = "lac", alpha: int = 100, task: str = "qa") -> str:
    table = pd.DataFrame(list(rows))
    return headline(table, {run["run"]: run["model"] for run in rows}, score, alpha, task=task)


def test_without_runs_there_is_no_headline():
    assert headline(pd.DataFrame(), {}, "lac", 100) == ""


def test_one_run_is_described_alone():
    assert sentence(row("m", 1.62, 0.764)) == (
        "On Question answering, m is right on 76% of questions and needs 1.6 of 4 options at alpha 0.1."
    )


def test_empty_sets_that_make_the_mean_small_are_said():
    assert sentence(row("m", 0.94, 0.96, lac_empty_rate=0.05)).endswith(
        "options at alpha 0.1. 5% of the sets of m are empty."
    )


def test_the_surest_comes_first_and_the_next_after_it():
    assert sentence(row("small", 2.04, 0.61), row("large", 1.62, 0.764)) == (
        "On Question answering, large is right on 76% of questions and needs 1.6 of 4 options at alpha 0.1; "
        "small is right on 61% and needs 2.0."
    )


def test_three_runs_and_more():
    three = sentence(row("a", 1.0), row("b", 2.0), row("c", 3.0))
    assert three.endswith("b is right on 50% and needs 2.0. c needs 3.0.")
    four = sentence(row("a", 1.0), row("b", 2.0), row("c", 3.0), row("d", 3.46))
    assert four.endswith("b is right on 50% and needs 2.0. The other 2 need up to 3.5.")


@pytest.mark.parametrize(("low_end", "overlap"), [(1.70, True), (1.7001, False)])
def test_overlapping_intervals_are_said(low_end: float, overlap: bool):
    text = sentence(row("a", 1.6), row("b", 1.8, lac_set_size_low=low_end))
    assert ("overlap, so their order may be chance" in text) is overlap


def test_exact_ties_are_said_to_overlap_and_have_one_order():
    text = sentence(row("b", 1.6, 0.5), row("a", 1.6, 0.5), row("c", 1.6, 0.7))
    assert text == sentence(row("c", 1.6, 0.7), row("a", 1.6, 0.5), row("b", 1.6, 0.5))
    assert "c is right on 70% of questions and needs 1.6" in text
    assert "; a is right on 50% and needs 1.6. The 95% intervals of these two set sizes overlap" in text
    assert text.endswith("b needs 1.6.")


def test_only_runs_on_the_same_questions_are_compared():
    text = sentence(
        row("a", 2.0),
        row("b", 2.5),
        row("elsewhere", 1.1, questions="others"),
        row("another bank", 1.1, bank="MMLU"),
        row("more options", 1.1, k=6),
    )
    assert "; b is right" in text
    assert not re.search("elsewhere|another bank|more options", text)


def test_without_the_task_asked_for_the_task_with_most_models_is_taken():
    rows = [row("a", 2.0, task="rc"), row("b", 2.5, task="rc"), row("a", 1.1, task="ds")]
    assert sentence(*rows, task="qa").startswith("On Reading comprehension, a is right")
    assert sentence(*rows, task="ds").startswith("On Summaries, a is right")
    # Of equals, the first in the order of tasks, whatever the order of rows.
    alike = [row("a", 2.0, task="ds"), row("a", 2.5, task="rc")]
    assert sentence(*alike).startswith("On Reading comprehension")
    assert sentence(*alike[::-1]).startswith("On Reading")


def test_small_sets_that_miss_the_truth_are_warned_of():
    warning = (
        "But only 86% of the sets of a contain the truth. Where 90% are promised, chance alone rarely gives so few."
    )
    assert sentence(row("a", 1.2, lac_coverage=0.86), row("b", 2.0)).endswith(warning)
    assert "But only" not in sentence(row("a", 1.2, lac_coverage=0.87), row("b", 2.0, lac_coverage=0.5))
    assert "95.5% are promised" in sentence(row("a", 1.2, lac_coverage=0.86), alpha=45)


def test_another_score_is_named():
    columns = {name.replace("lac", "aps"): value for name, value in row("a", 1.2).items()}
    assert "at alpha 0.25 by APS." in sentence(columns, score="aps", alpha=250)
