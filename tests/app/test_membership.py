"""membership.js decides as core/reports/one_question.py does, at every alpha, ties and all, and words.js says it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from core.conformal.alpha import ALPHAS
from core.conformal.sets import EMPTY_POLICIES
from core.records import LETTERS
from core.reports.one_question import OptionPValues
from tests.app.javascript import passed_tests

SIZES = ((1, 2), (2, 6), (9, 6), (61, 3), (999, 6), (1000, 26), (1001, 6), (9999, 6))
"""Calibration questions and options."""


def golden(n: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng([n, k])
    counts = rng.integers(1, n + 2, k)
    counts[0], counts[-1] = n + 1, 1  # the ends: one that never leaves and one that leaves first
    p_values = OptionPValues("lac", n, np.zeros(k), counts, int(rng.integers(k)))
    return {
        "name": f"{n} calibrated, {k} options",
        "n": n,
        "counts": counts.tolist(),
        "top": p_values.top,
        "leaves": p_values.leaves.tolist(),
        "sets": {
            empty: [
                "".join(LETTERS[j] for j in np.flatnonzero(p_values.members(alpha, empty=empty)))
                for alpha in ALPHAS.tolist()
            ]
            for empty in EMPTY_POLICIES
        },
    }


def test_the_browser_decides_as_python_does(tmp_path: Path):
    path = tmp_path / "golden.json"
    path.write_text(json.dumps({"cases": [golden(n, k) for n, k in SIZES]}))
    in_words = 3
    passed = passed_tests([Path(__file__).with_name("membership.test.mjs")], HEDGE_GOLDEN=str(path))
    assert passed == 3 * len(SIZES) + in_words
