"""Evaluations of tokens in pairs: paired on the same tokens alone, and told apart only where the data can."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.reports.token_pairs import token_pairs, tokens_answer
from core.reports.tokens import TokenResult, results

pytestmark = pytest.mark.quick
COUNTS = [2, 3, 4] * 20


def evaluated(name: str, loss_per_token: np.ndarray, digest: str = "same") -> TokenResult:
    texts: dict[str, Any] = {"digest": digest, "tokens": COUNTS, "loss": (loss_per_token * COUNTS).tolist()}
    return TokenResult(Path(name), name, {"model": name, "texts": texts})


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.1, len(COUNTS))


def test_a_shift_is_shown_and_noise_is_not(noise: np.ndarray) -> None:
    base, better = evaluated("base", np.ones(60) + noise), evaluated("better", np.full(60, 0.8))
    alike = evaluated("alike", np.full(60, 0.8) + np.roll(noise, 1))
    names = ["base", "better", "alike"]
    pairs = token_pairs([base, better, alike], names)
    assert [(pair.first, pair.is_shown) for pair in pairs] == [("base", True), ("base", True), (pairs[2].first, False)]
    values = np.repeat(np.ones(60) + noise - 0.8, COUNTS)
    assert pairs[0].mean == pytest.approx(values.mean())
    assert pairs[0].low < values.mean() < pairs[0].high
    headline, detail = tokens_answer(pairs)
    assert headline.startswith("better and alike are less surprised than base. Can't tell apart: ")
    assert f"+{pairs[0].mean:.3f} nats per token (95% interval" in detail or f"+{pairs[1].mean:.3f} nats" in detail
    assert "on 180 tokens of 60 texts" in detail
    assert detail.endswith("The p-values are corrected for all 3 pairs; the intervals are not.")


def test_without_a_shown_difference_no_model_is_named_better(noise: np.ndarray) -> None:
    pairs = token_pairs([evaluated("a", np.ones(60) + noise), evaluated("b", np.ones(60) - noise)], ["a", "b"])
    assert tokens_answer(pairs)[0].startswith("Can't tell whether ")


def test_other_tokens_and_older_files_make_no_pair(noise: np.ndarray) -> None:
    base, other = evaluated("a", 1 + noise), evaluated("b", np.ones(60), digest="other")
    older = TokenResult(Path("c"), "c", {"model": "c"})
    pairs = token_pairs([base, other, older], ["a", "b", "c"])
    assert pairs == ()
    assert "choose two evaluations of the same tokens" in tokens_answer(pairs)[0]


def test_the_differences_are_those_of_the_shipped_mean_surprisals() -> None:
    shipped = [result for result in results()[0] if result.ships]
    nll = {str(result.values["model"]): result.values["nll"] for result in shipped}
    pairs = token_pairs(shipped, list(nll))
    assert len(pairs) == 3
    for pair in pairs:
        assert pair.mean == pytest.approx(nll[pair.first] - nll[pair.second], abs=1e-5)
