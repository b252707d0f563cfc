"""Dawid and Skene's model: its posterior and its first steps by hand; what it recovers is in test_adjudication.py."""

import numpy as np
import pytest

from core.jury.dawid_skene import DawidSkene, _Steps

pytestmark = pytest.mark.quick


def test_the_posterior_is_bayes_rule() -> None:
    model = DawidSkene(0.6, np.array([[0.2, 0.3], [0.9, 0.5]]))
    result = model.posterior(np.array([[True, True], [True, False], [False, False]]))
    right = 0.6 * np.array([0.9 * 0.5, 0.9 * 0.5, 0.1 * 0.5])
    wrong = 0.4 * np.array([0.2 * 0.3, 0.2 * 0.7, 0.8 * 0.7])
    assert result.tolist() == pytest.approx((right / (right + wrong)).tolist())


def em_by_loops(verdicts: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """Answer by answer, juror by juror, with one imagined verdict of each kind (Dawid & Skene 1979)."""
    n, j = verdicts.shape
    right = [row.mean() for row in verdicts]
    for _ in range(steps):
        m = sum(right)
        prior = (m + 1) / (n + 2)
        says = [[0.0] * j, [0.0] * j]
        for juror in range(j):
            says[1][juror] = (1 + sum(r for r, row in zip(right, verdicts, strict=True) if row[juror])) / (m + 2)
            says[0][juror] = (1 + sum(1 - r for r, row in zip(right, verdicts, strict=True) if row[juror])) / (
                n - m + 2
            )
        for i, row in enumerate(verdicts):
            likely = [1 - prior, prior]
            for side in (0, 1):
                for juror in range(j):
                    likely[side] *= says[side][juror] if row[juror] else 1 - says[side][juror]
            right[i] = likely[1] / sum(likely)
    return prior, np.array(says)


def test_it_is_the_em_of_loops() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(60) < 0.6
    verdicts = np.where(rng.random((60, 4)) < [0.9, 0.8, 0.7, 0.6], truth[:, None], ~truth[:, None])
    result = DawidSkene.fit(verdicts)
    prior, says = em_by_loops(verdicts, 300)
    assert result.prior == pytest.approx(prior, abs=1e-6)
    assert result.says_true == pytest.approx(says, abs=1e-6)
    # It continues until no posterior moves by more than 1e-10.
    assert result.posterior(verdicts) == pytest.approx(DawidSkene(prior, says).posterior(verdicts), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_its_jumps_end_where_em_alone_ends(seed: int) -> None:
    """Jurors between worse than chance and reliable, some ties; EM alone takes up to thousands of steps."""
    rng = np.random.default_rng(seed)
    n, j = int(rng.integers(20, 500)), int(rng.integers(3, 8))
    truth = rng.random(n) < rng.uniform(0.1, 0.9)
    verdicts = np.where(rng.random((n, j)) < rng.uniform(0.4, 0.95, j), truth[:, None], ~truth[:, None]).astype(float)
    verdicts[rng.random((n, j)) < 0.05] = 0.5
    em = _Steps(verdicts)
    right, before = em.kinds.mean(axis=1), np.inf
    while abs(right - before).max() > 1e-12:
        before, right = right, em.step(right)
    result = DawidSkene.fit(verdicts)
    prior, if_wrong, if_right = em.rates(right)
    assert result.prior == pytest.approx(prior, abs=1e-7)
    assert result.says_true == pytest.approx(np.stack([if_wrong, if_right]), abs=1e-7)
