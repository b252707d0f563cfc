"""A run too large for a pointer's pace: the lab draws a part of it, seeded and in the same split."""

from dataclasses import replace

import numpy as np
import pytest

from core.reports import frames
from core.reports.evaluation import load
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_a_small_run_is_whole(home):
    run = load(synthetic_run(200))
    assert frames.sample_for_lab(run) is run
    assert frames.lab_tables(run)["rows"].num_rows == 200


def test_a_large_run_is_sampled_in_its_own_proportion(home, monkeypatch):
    monkeypatch.setattr(frames, "MOST_IN_LAB", 60)
    run = load(synthetic_run(200))
    result = frames.sample_for_lab(run)
    assert (len(result.calibration), len(result.test)) == (30, 30)
    assert set(result.calibration) <= set(run.calibration)
    assert set(result.test) <= set(run.test)
    again = frames.sample_for_lab(run)
    assert np.array_equal(result.test, again.test)
    tables = frames.lab_tables(run)
    assert tables["rows"].num_rows == tables["questions"].num_rows == 60
    assert tables["rows"]["own"].to_numpy().sum() == 30


@pytest.mark.parametrize("few", [1, 5])
def test_neither_side_is_empty(home, monkeypatch, few):
    monkeypatch.setattr(frames, "MOST_IN_LAB", 20)
    run = load(synthetic_run(200))
    result = frames.sample_for_lab(replace(run, calibration=run.calibration[:few]))
    assert len(result.calibration) >= 1
    assert len(result.test) >= 1
    assert len(result.calibration) + len(result.test) == 20
