"""Seeded verdicts and juries that tests and golden values share."""

import numpy as np

from core.jury.judgements import Judgements

SHAPES = ((40, 3, 1), (7, 2, 2), (200, 5, 3), (25, 4, 4))
"""(answers, jurors, seed)."""


def seeded_verdicts(n: int, j: int, seed: int) -> np.ndarray:
    """Verdicts (n, j) of jurors that lean to one hidden truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.6
    return np.where(rng.random((n, j)) < 0.75, truth[:, None], ~truth[:, None])


def jury(p_true: np.ndarray, labels: np.ndarray, parts: tuple[str, ...] | None = None) -> Judgements:
    """A jury with these probabilities of True (n, j)."""
    n, j = p_true.shape
    return Judgements(
        tuple(f"juror{i}" for i in range(j)),
        tuple(str(i) for i in range(n)),
        tuple(f"Question {i}?" for i in range(n)),
        tuple(f"answer {i}" for i in range(n)),
        np.asarray(labels, dtype=np.bool_),
        np.asarray(p_true, dtype=np.float64),
        1 - np.asarray(p_true, dtype=np.float64),
        parts or ("",) * n,
    )


def seeded_jury(n: int = 120, j: int = 3, *, seed: int = 0) -> Judgements:
    """Jurors whose probabilities lean to the truth, half of the rows made to calibrate."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.5
    shared = rng.normal(size=n)
    odds = np.where(labels, 1.0, -1.0)[:, None] + 0.8 * shared[:, None] + rng.normal(size=(n, j)) * 1.5
    parts = tuple("calibration" if i < n // 2 else "test" for i in range(n))
    return jury(1 / (1 + np.exp(-odds)), labels, parts)
