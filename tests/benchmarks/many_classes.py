"""``hedge.sets`` and ``hedge.report`` of 10,000 rows of 1,000 classes: seconds of processor time.

PYTHONPATH=. python tests/benchmarks/many_classes.py
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hedge
from core.conformal.probabilities import softmax

N, K = 10_000, 1000


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, N)
    logits = 1.5 * (rng.normal(size=(N, K)) + 4 * (np.arange(K) == labels[:, None]))
    p = softmax(logits)
    hedge.sets(p[:200], labels[:200])  # imports
    calls: dict[str, Callable[[], Any]] = {
        name: lambda name=name: hedge.sets(p, labels, score=name) for name in ("lac", "aps", "raps", "margin")
    }
    calls |= {"by class": lambda: hedge.sets(p, labels, by="class"), "report": lambda: hedge.report(p, labels)}
    for name, call in calls.items():
        begun = time.process_time()
        call()
        print(f"{name}: {time.process_time() - begun:.2f} s")


if __name__ == "__main__":
    main()
