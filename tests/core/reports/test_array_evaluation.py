"""Arrays as an evaluation: the same figures as a stored run of them, and one sentence for what can't be used."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.reports.array_evaluation import of_arrays
from core.reports.evaluation import load
from core.reports.frames import lab_tables, lab_tables_of_arrays
from core.reports.report import report
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

TWO = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]


def test_arrays_give_the_report_of_a_stored_run(home):
    run = load(synthetic_run())
    own = of_arrays(run.probabilities, run.labels, calibration=run.calibration)
    stored, arrays = report(run, 100), report(own, 100)
    for name, figures in stored.scores.items():
        expected = replace(figures, strata=arrays.scores[name].strata)  # arrays have no subjects
        assert repr(arrays.scores[name]) == repr(expected)  # as text, because a NaN does not equal itself
    assert (arrays.accuracy, arrays.brier, arrays.ece) == (stored.accuracy, stored.brier, stored.ece)
    rows, own_rows = lab_tables(run)["rows"], lab_tables_of_arrays(own)["rows"]
    assert all(rows[name].equals(own_rows[name]) for name in rows.column_names if name not in ("group", "cluster"))


def test_a_share_draws_as_many_and_a_mask_and_rows_mean_the_same():
    p, labels = np.full((10, 2), 0.5), np.zeros(10, dtype=int)
    drawn = of_arrays(p, labels, calibration=0.3, seed=1)
    assert len(drawn.calibration) == 3
    mask = np.isin(np.arange(10), drawn.calibration)
    for given in (
        mask,
        mask.astype(int),
        mask.astype(np.uint8).tolist(),
        drawn.calibration,
        drawn.calibration.tolist(),
    ):
        assert of_arrays(p, labels, calibration=given).test.tolist() == drawn.test.tolist()


def test_a_question_may_lack_options():
    run = of_arrays([[0.5, 0.5, np.nan], [0.2, 0.3, 0.5]], [0, 2], calibration=[0])
    assert run.option_counts.tolist() == [2, 3]
    assert np.isnan(run.option_probabilities).sum() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": [[0.9, 0.2], [0.5, 0.5], [0.5, 0.5]]}, r"row 0 .* sum 1\.1; probabilities"),
        ({"probabilities": [[1], [1], [0]]}, r"shape \(3, 1\) and are whole numbers, as decisions are"),
        ({"probabilities": [[0.9, 0.1], [1.0]]}, "no array of numbers"),
        ({"probabilities": [["a", "b"], ["c", "d"], ["e", "f"]]}, "no array of numbers"),
        ({"probabilities": [[np.nan, 1.0], [0.5, 0.5], [0.5, 0.5]]}, "NaN may only stand at its end"),
        ({"probabilities": [[0.4, 0.6, np.nan]] * 3, "labels": [0, 2, 1]}, "label 2 of row 1 .* lacks"),
        ({"labels": [0, 1, 2]}, "label 2 of row 2 is outside the 2 options"),
        ({"labels": [0, 1]}, r"labels have shape \(2,\)"),
        ({"labels": ["A", "B", "A"]}, "label 'A' of row 0 is no whole number .* give classes="),
        ({"calibration": 1.5}, r"must lie in \(0, 1\), got 1\.5"),
        ({"calibration": 0.01}, "0 of 3 questions calibrate and 3 test"),
        ({"calibration": [0, 1, 2]}, "3 of 3 questions calibrate and 0 test"),
        ({"calibration": [7]}, "row numbers from 0 to 2"),
        ({"calibration": [2, 0, 2]}, "names row 2 more than once"),
        ({"calibration": [0, 0, 0]}, "0 of 3 questions calibrate"),
        ({"calibration": None}, r"must be a share, a mask, or row numbers, got 'None' \(NoneType\)"),
        ({"calibration": "0.5"}, r"must be a share, a mask, or row numbers, got '0\.5' \(str\)"),
        ({"calibration": True}, r"got 'True' \(bool\)"),
        ({"calibration": float("nan")}, r"must lie in \(0, 1\), got nan"),
        ({"probabilities": None}, "shape|no array of numbers"),
        ({"probabilities": [["0.5", "0.5"]] * 3}, "no array of numbers: their type is <U3"),
        ({"seed": None}, r"seed must be a whole number, got None \(NoneType\)"),
        ({"seed": "1"}, r"seed must be a whole number, got '1' \(str\)"),
        ({"seed": True}, "seed must be a whole number, got True"),
        ({"calibration": [True, False]}, r"mask .* shape \(2,\); expected \(3,\)"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(change, message):
    with pytest.raises(InputError, match=message):
        of_arrays(**({"probabilities": TWO, "labels": [0, 1, 0]} | change))


def test_texts_are_given_to_all_questions_or_none():
    with pytest.raises(InputError, match="2 texts of questions for 3 questions"):
        lab_tables_of_arrays(of_arrays(TWO, [0, 1, 0]), ["a", "b"])
