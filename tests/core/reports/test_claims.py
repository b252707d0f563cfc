"""The published claims on figures whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.reports.claims import (
    CONTRADICTED,
    SUPPORTED,
    base_of,
    claims,
    correlation,
    model_means,
    parameters_of,
)


def table(rows: list[tuple[str, float, float]], task: str = "qa") -> pd.DataFrame:
    return pd.DataFrame(
        [{"model": name, "task": task, "accuracy": acc, "mean_set_size": size} for name, acc, size in rows]
    )


def verdicts(runs: pd.DataFrame) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in claims(runs)}


def test_more_accurate_and_larger_sets_support_the_first_claim_and_smaller_ones_speak_against_it():
    rising = table([(f"m-{i + 1}B", 0.3 + 0.05 * i, 2 + 0.1 * i) for i in range(8)])
    assert verdicts(rising) == {"accuracy": SUPPORTED, "scale": SUPPORTED, "tuning": "can't tell with 0 pairs"}
    falling = table([(f"m-{i + 1}B", 0.3 + 0.05 * i, 4 - 0.1 * i) for i in range(8)])
    assert verdicts(falling)["accuracy"] == verdicts(falling)["scale"] == CONTRADICTED


def test_few_models_tell_nothing():
    assert (
        verdicts(table([("a-1B", 0.2, 2), ("b-2B", 0.3, 3), ("c-3B", 0.4, 4)]))["accuracy"]
        == "can't tell with 3 models"
    )
    # Four in perfect order: 2 of 24 orders are as extreme, p = 0.083.
    four = claims(table([(f"m-{i}B", i / 10, i) for i in range(1, 5)]))[0]
    assert four.p_value == pytest.approx(2 / 24)
    assert four.verdict == "can't tell with 4 models"
    assert verdicts(table([("a", 0.2, 2)]))["scale"] == "can't tell with 0 models"


def test_tuning_is_judged_on_pairs_of_one_family():
    rows = [("a-7B", 0.5, 2.0), ("a-7B-chat", 0.5, 2.5), ("b-2b", 0.4, 3.0), ("b-2b-it", 0.4, 3.6)]
    rows += [("c-1B", 0.3, 3.0), ("c-1B-Instruct", 0.3, 3.55), ("lonely-chat", 0.3, 9.0)]
    claim = claims(table(rows))[2]
    changes = [0.5, 0.6, 0.55]
    assert claim.n == 3
    assert claim.figure == pytest.approx(np.mean(changes))
    assert claim.p_value == pytest.approx(stats.ttest_1samp(changes, 0).pvalue)
    assert claim.verdict == SUPPORTED


def test_a_task_that_only_some_models_have_does_not_count():
    runs = pd.concat([table([("a", 0.5, 2), ("b", 0.6, 3)]), table([("a", 0.1, 6)], task="hard")])
    assert model_means(runs).set_index("model").loc["a", "accuracy"] == 0.5


def test_the_coefficients_are_scipys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(size=30)
    found = correlation(x, y)
    assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic)
    assert (found.spearman, found.spearman_p) == pytest.approx(tuple(stats.spearmanr(x, y)))
    assert (found.kendall, found.kendall_p) == pytest.approx(tuple(stats.kendalltau(x, y)))
    assert found.low < found.spearman < found.high
    assert math.isnan(correlation([1, 1, 1], [1, 2, 3]).spearman)


def test_the_interval_of_spearman_covers_as_it_says():
    rng = np.random.default_rng(1)
    rho, truth = 0.6, 6 / math.pi * math.asin(0.3)  # Spearman's of a normal pair with correlation 0.6
    hits = 0
    for _ in range(400):
        x = rng.normal(size=40)
        y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=40)
        found = correlation(x, y)
        hits += found.low <= truth <= found.high
    assert 0.91 <= hits / 400 <= 0.98


@pytest.mark.parametrize(
    ("name", "size", "base"),
    [
        ("Llama-2-70B-Chat", 70e9, "Llama-2-70B"),
        ("gemma-2-9b-it", 9e9, "gemma-2-9b"),
        ("SmolLM-135M", 135e6, None),
        ("Qwen1.5-0.5B", 0.5e9, None),
        ("phi-2", None, None),
        ("kitchen", None, None),
    ],
)
def test_names_say_size_and_base(name, size, base):
    assert parameters_of(name) == size
    assert base_of(name) == base
