"""The guarantee by simulation: seeded draws of calibration and test, kept apart from the other tests."""

import numpy as np
import pytest
from scipy import stats

from core.conformal.coverage import beta_parameters
from core.conformal.probabilities import softmax
from core.conformal.scores import SCORES, score, true_scores
from core.conformal.threshold import threshold

DRAWS, N, M, K, ALPHA = 1500, 60, 400, 6, 100


TIED = ("aps", "raps", "top-k", "ordinal-aps")
"""Scores that many questions share: 1 for the last-ranked option, or the rank itself."""


def draw(rng, n):
    labels = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K))
    logits[np.arange(n), labels] += 1.0
    return softmax(logits), labels


@pytest.mark.simulation
@pytest.mark.parametrize("name", SCORES)
def test_coverage_follows_its_law(name):
    rng = np.random.default_rng(11)
    covered = []
    for i in range(DRAWS):
        p, labels = draw(rng, N + M)
        values = true_scores(score(name, p, seed=i), labels)
        covered.append(int((values[N:] <= threshold(values[:N], ALPHA)).sum()))
    mean = np.mean(covered) / M
    assert mean >= 0.9 - 3 * np.std(covered) / M / np.sqrt(DRAWS)
    if name in TIED:
        return  # ties cover more than the law says, never less
    law = stats.betabinom(M, *beta_parameters(N, ALPHA))
    # Against the Beta-Binomial law: the seeded draws' distances from it are no larger than chance makes them.
    spread = stats.kstest(np.array(covered) + rng.random(DRAWS) - 0.5, lambda x: _continuous(law, x))
    assert spread.pvalue > 0.01


def _continuous(law, x):
    low = np.floor(np.asarray(x) + 0.5) - 0.5
    return law.cdf(low - 0.5) + (np.asarray(x) - low) * law.pmf(low + 0.5)


@pytest.mark.simulation
def test_a_threshold_from_the_test_set_itself_is_no_guarantee_test():
    """The law above is sharp enough to notice one rank too low."""
    rng = np.random.default_rng(11)
    shares = []
    for _ in range(DRAWS):
        p, labels = draw(rng, N + M)
        values = true_scores(score("lac", p), labels)
        lower = np.sort(values[:N])[int(np.ceil(0.9 * N)) - 1]  # ⌈n(1−α)⌉, without the + 1
        shares.append((values[N:] <= lower).mean())
    assert np.mean(shares) < 0.9 - 3 * np.std(shares) / np.sqrt(DRAWS)
