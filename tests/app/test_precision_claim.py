"""The New run page's statement about bfloat16 is true for the bundled model."""

import re
from pathlib import Path

import pytest
from scipy.stats import binomtest

from app.components.new_run.form import DTYPE_HELP
from tests.benchmarks.half_precision import scores

QUESTIONS = 500


@pytest.mark.nightly
def test_bfloat16_changes_as_many_top_options_as_new_run_says(home: Path):
    low, high = (float(share) / 100 for share in re.findall(r"([\d.]+)%", DTYPE_HELP))
    exact, rounded = (scores("pocket-8m", "qa", dtype, questions=QUESTIONS) for dtype in ("float32", "bfloat16"))
    changed = int((exact.argmax(axis=1) != rounded.argmax(axis=1)).sum())
    interval = binomtest(changed, QUESTIONS).proportion_ci(0.95)
    assert changed > 0
    assert interval.low <= high
    assert interval.high >= low
