"""Questions and the log-probabilities that a mock model of Inspect gives their choices."""

import numpy as np

N, K = 40, 4
TEXTS = ("red", "green", "blue", "none of these colours")
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, K, N)
LOGITS = RNG.normal(size=(N, K)) + 1.5 * np.eye(K)[LABELS]
LOGPS = LOGITS - np.log(np.exp(LOGITS).sum(axis=1, keepdims=True)) + np.log(0.9)  # a tenth is on other tokens
SILENT = 7
"""This sample has no log-probabilities."""
