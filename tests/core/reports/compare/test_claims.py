"""The published claims on figures whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.reports.compare.claims import (
    CONTRADICTED,
    NOTHING_SHARED,
    OTHER_WAY,
    STRONG_OTHER_WAY,
    SUPPORTED,
    base_of,
    claims,
    correlation,
    model_means,
    parameters_of,
)
from core.reports.overview.published import published

pytestmark = pytest.mark.quick


def table(rows: list[tuple[str, float, float]], task: str = "qa") -> pd.DataFrame:
    return pd.DataFrame(
        [{"model": name, "task": task, "accuracy": acc, "mean_set_size": size} for name, acc, size in rows]
    )


def verdicts(runs: pd.DataFrame) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in claims(runs)}


def test_more_accurate_and_larger_sets_support_the_first_claim_and_smaller_ones_speak_against_it():
    rising = table([(f"m-{i + 1}B", 0.3 + 0.05 * i, 2 + 0.1 * i) for i in range(8)])
    assert verdicts(rising) == {"accuracy": SUPPORTED, "scale": SUPPORTED, "tuning": "can't be tested without a pair"}
    falling = table([(f"m-{i + 1}B", 0.3 + 0.05 * i, 4 - 0.1 * i) for i in range(8)])
    assert verdicts(falling)["accuracy"] == verdicts(falling)["scale"] == STRONG_OTHER_WAY
    assert [claim.instance for claim in claims(falling)] == ["", "", ""]


def test_what_may_be_has_an_instance_and_what_tends_to_be_is_contradicted():
    falling = [(f"m-{i + 1}B", 0.3 + 0.05 * i, 4 - 0.1 * i) for i in range(8)]
    accuracy, scale, _ = claims(table([*falling, ("odd-0.5B", 0.45, 3.9)]))
    assert accuracy.verdict == scale.verdict == STRONG_OTHER_WAY
    # Model 2 (0.35, 3.9) and model 3 (0.40, 3.8) have no larger sets than the odd one; model 3's are smallest of them.
    assert accuracy.instance == (
        "An instance in these figures: odd-0.5B is right more often than m-3B (45.0%, 40.0%) and its sets are larger "
        "(3.90, 3.80)."
    )
    assert scale.instance == (
        "An instance in these figures: m-1B is larger than odd-0.5B and so are its sets (4.00, 3.90)."
    )
    shrinking = [
        (f"{f}-7B{end}", 0.5, 3 - 0.5 * bool(end) + 0.01 * i) for i, f in enumerate("abc") for end in ("", "-it")
    ]
    shrinking[1] = ("a-7B-it", 0.5, 2.4)
    assert verdicts(table(shrinking))["tuning"] == CONTRADICTED


def test_models_that_share_no_questions_are_not_compared():
    rows = [(f"m-{i + 1}B", 0.3 + 0.05 * i, 2 + 0.1 * i) for i in range(8)]
    ours, theirs = (
        table(part).assign(bank=name, questions=name, k=6) for part, name in ((rows[:4], "a"), (rows[4:], "b"))
    )
    for claim in claims(pd.concat([ours, theirs]))[:2]:
        assert claim.verdict == NOTHING_SHARED
        assert (claim.n, claim.instance, len(claim.points)) == (0, "", 0)
    all_runs = pd.concat([ours, theirs, table(rows).assign(bank="c", questions="c", k=6)])
    assert claims(all_runs)[0].verdict == SUPPORTED
    assert model_means(all_runs)["mean_set_size"].tolist() == [size for _, _, size in rows]
    tuned = pd.concat([ours.assign(model="m-1B"), theirs.assign(model="m-1B-it")])
    assert claims(tuned)[2].n == 0


def test_the_published_table_has_all_sixteen_models():
    accuracy, scale, _ = claims(published("ye-2024"))
    assert (accuracy.n, scale.n) == (16, 16)
    # −0.97 is a strong tendency, and −0.56 one of medium strength.
    assert (accuracy.verdict, scale.verdict) == (STRONG_OTHER_WAY, OTHER_WAY)
    assert [claim.tested for claim in claims(published("ye-2024"))] == [True, True, False]
    assert scale.p_value == pytest.approx(0.0235, abs=0.0001)
    assert "InternLM-7B is right more often than Llama-2-7B" in accuracy.instance


def test_few_models_tell_nothing():
    assert (
        verdicts(table([("a-1B", 0.2, 2), ("b-2B", 0.3, 3), ("c-3B", 0.4, 4)]))["accuracy"]
        == "can't tell with 3 models"
    )
    # Four in perfect order: 2 of 24 orders are as extreme, p = 0.083.
    four = claims(table([(f"m-{i}B", i / 10, i) for i in range(1, 5)]))[0]
    assert four.p_value == pytest.approx(2 / 24)
    assert (four.verdict, four.tested) == ("can't tell with 4 models", False)
    assert claims(table([(f"m-{i}B", i / 10, 3 - i * (-1) ** i) for i in range(1, 6)]))[0].tested
    assert verdicts(table([("a", 0.2, 2)]))["scale"] == "can't be tested without a model"


def test_tuning_is_judged_on_pairs_of_one_family():
    rows = [("a-7B", 0.5, 2.0), ("a-7B-chat", 0.5, 2.5), ("b-2b", 0.4, 3.0), ("b-2b-it", 0.4, 3.6)]
    rows += [("c-1B", 0.3, 3.0), ("c-1B-Instruct", 0.3, 3.55), ("lonely-chat", 0.3, 9.0)]
    claim = claims(table(rows))[2]
    changes = [0.5, 0.6, 0.55]
    assert claim.n == 3
    assert claim.figure == pytest.approx(np.mean(changes))
    assert claim.p_value == pytest.approx(stats.ttest_1samp(changes, 0).pvalue)
    assert (claim.verdict, claim.tested) == (SUPPORTED, True)
    assert not claims(table(rows[:2]))[2].tested


def test_a_task_that_only_some_models_have_does_not_count():
    runs = pd.concat([table([("a", 0.5, 2), ("b", 0.6, 3)]), table([("a", 0.1, 6)], task="hard")])
    assert model_means(runs).set_index("model").loc["a", "accuracy"] == 0.5


def test_the_coefficient_is_scipys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(size=30)
    measured = correlation(x, y)
    assert (measured.spearman, measured.p_value) == pytest.approx(tuple(stats.spearmanr(x, y)))
    assert measured.low < measured.spearman < measured.high
    assert math.isnan(correlation([1, 1, 1], [1, 2, 3]).spearman)


def test_the_interval_of_perfect_order_has_a_width():
    result = correlation(range(8), range(8))
    assert result.high == 1
    # The population ρ under which eight normal pairs are in perfect order 5 times of 100: half of them count.
    assert 0.9 < result.low < 0.95
    mirrored = correlation(range(8), range(8, 0, -1))
    assert (mirrored.low, mirrored.high) == pytest.approx((-1, -result.low), abs=0.03)
    assert (correlation(range(4), range(4)).low, correlation(range(4), range(4)).high) == (-1, 1)


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
