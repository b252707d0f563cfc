"""How often the 95 % intervals of calibration errors hold the truth, for models that are off in known ways.

    python -m tests.benchmarks.calibration_coverage --tries 200

Confidences are drawn from a beta law, and an answer is right with a known function of its confidence, so that every
error of the whole population is known. Prints a row a model and number of questions, in per cent of the tries.
"""

from __future__ import annotations

import argparse

import numpy as np

from core.calibration.bins import TopLabel
from core.calibration.bootstrap import top_estimates
from core.calibration.errors import top_errors
from core.calibration.smooth import smooth_error
from core.records import FloatArray

NAMES = ("ece", "over", "under", "mce", "smooth_ece")
POPULATION = 400_000
MODELS = {
    "calibrated": (2, 3, lambda c: c),
    "off by c^1.1": (2, 3, lambda c: c**1.1),
    "off by c^1.2": (2, 3, lambda c: c**1.2),
    "off by c^1.4": (2, 3, lambda c: c**1.4),
    "sure, off by c^1.2": (5, 2, lambda c: c**1.2),
    "sure, off by c^2": (5, 2, lambda c: c**2),
    "sure, too modest, c^.8": (5, 2, lambda c: c**0.8),
    "off above .6 alone": (5, 2, lambda c: np.where(c > 0.6, c**2, c)),
    "uniform, off by c^1.15": (1, 1, lambda c: c**1.15),
}


def whole(confidence: FloatArray, accuracy: FloatArray) -> dict[str, float]:
    """Every error of a population whose accuracies are known."""
    top = TopLabel(confidence, accuracy)
    errors = top_errors(top)
    return {
        "ece": errors.ece, "over": errors.over, "under": errors.under, "mce": errors.mce,
        "smooth_ece": smooth_error(top)[0],
    }  # fmt: skip


def main() -> None:
    """Print the shares."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tries", type=int, default=200)
    asked.add_argument("--questions", type=int, nargs="+", default=[200, 1000, 3000])
    arguments = asked.parse_args()
    print(f"| questions | model | {' | '.join(NAMES)} |")
    print(f"|{'---|' * (2 + len(NAMES))}")
    for n in arguments.questions:
        for name, (a, b, accuracy) in MODELS.items():
            rng = np.random.default_rng(n)
            drawn = rng.beta(a, b, POPULATION)
            truth = whole(drawn, accuracy(drawn))
            held = dict.fromkeys(NAMES, 0)
            for seed in range(arguments.tries):
                c = rng.beta(a, b, n)
                top = TopLabel(c, (rng.random(n) < accuracy(c)).astype(float))
                found = top_estimates(top, c, resamples=200, seed=seed)
                for of in NAMES:
                    held[of] += found[of].low <= truth[of] <= found[of].high
            cells = [f"{100 * held[of] / arguments.tries:.0f}" for of in NAMES]
            print(f"| {n} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
