"""Two runs as one stream: which questions come, in which order, and the text about it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.errors import InputError
from core.reports import evaluation
from core.reports.stream_lab import StreamPool, StreamQuestions, stream_pool, stream_tables
from tests.conftest import synthetic_run
from tests.reference.streams import question_stream, stream_figures, window_coverage

pytestmark = pytest.mark.quick


def numbered(n: int, first: int, second: int) -> StreamPool:
    """Questions of one option whose score is their number; the second run's begin at 1,000."""

    def of(start: int, count: int) -> StreamQuestions:
        own = np.arange(start, start + count, dtype=np.float64)
        return StreamQuestions(own[:, None], own)

    return StreamPool(n, of(0, first), of(1000, second) if second else None)


def test_each_question_comes_once_and_the_first_run_keeps_its_calibration():
    stream = question_stream(numbered(10, 30, 25))
    assert stream.calibration.tolist() == list(range(10))
    assert stream.change == 20
    assert sorted(stream.questions.true[:20]) == list(range(10, 30))
    assert sorted(stream.questions.true[20:]) == list(range(1000, 1025))
    assert stream.questions.true[:20].tolist() != sorted(stream.questions.true[:20])


def test_another_order_draws_the_calibration_questions_anew():
    streams = [question_stream(numbered(10, 30, 25), order=order, change=5) for order in (1, 2)]
    for stream in streams:
        assert len(set(stream.calibration) | set(stream.questions.true[:5])) == 15
        assert len(stream.questions.true) == 30
        assert set(stream.calibration) - set(range(10))
    assert streams[0].calibration.tolist() != streams[1].calibration.tolist()


def test_an_earlier_change_leaves_the_order_as_it_is():
    late, early = (question_stream(numbered(10, 30, 25), change=change) for change in (20, 7))
    assert early.questions.true[:7].tolist() == late.questions.true[:7].tolist()
    assert early.questions.true[7:].tolist() == late.questions.true[20:].tolist()


def test_drawn_again_every_question_can_come_several_times():
    stream = question_stream(numbered(10, 30, 25), length=4000)
    assert (len(stream.questions.true), stream.change) == (4000, 2000)
    # Each of 30 questions comes 2,000 / 30 ± 8 times among those before the change.
    counts = np.bincount(stream.questions.true[:2000].astype(int), minlength=30)
    assert len(counts) == 30
    assert counts.min() > 35
    assert counts.max() < 105
    assert stream.questions.true[2000:].min() >= 1000


def test_without_a_second_run_nothing_changes():
    stream = question_stream(numbered(10, 30, 0), change=3)
    assert (stream.change, len(stream.questions.true)) == (20, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 99}, "from 100 to 10,000 questions, not 99"),
        ({"length": 10_001}, "not 10,001"),
        ({"change": 21}, "after 0 to 20 questions, not 21"),
        ({"change": -1}, "not -1"),
    ],
)
def test_what_there_is_not_is_refused(arguments, message: str):
    with pytest.raises(InputError, match=message):
        question_stream(numbered(10, 30, 25), **arguments)


def test_a_pool_has_the_scores_of_both_runs(home: Path):
    first = evaluation.load(synthetic_run(200, task="ds"))
    second = evaluation.load(synthetic_run(80, task="qa", seed=1))
    pool = stream_pool(first, second, "aps")
    expected = score("aps", first.probabilities)
    own = true_scores(expected, first.labels)
    assert pool.n == len(first.calibration)
    assert pool.first.true.tolist() == own[np.concatenate([first.calibration, first.test])].tolist()
    assert pool.second is not None
    assert sorted(pool.second.true) == sorted(true_scores(score("aps", second.probabilities), second.labels))
    tables = stream_tables(pool)
    assert (tables["n"], tables["first"].num_rows, tables["second"].num_rows) == (100, 200, 80)
    assert tables["first"].column_names == ["s", *(f"o{j}" for j in range(6))]
    assert stream_tables(stream_pool(first, None, "aps"))["second"] is None


def test_questions_that_tuned_a_score_are_left_out(home: Path):
    run = evaluation.load(synthetic_run(400))
    pool = stream_pool(run, None, "raps")
    assert pool.n == 160  # a fifth of 200 tuned it
    assert len(pool.first.true) == 360


def test_runs_that_can_not_be_one_stream_are_refused(home: Path):
    first = evaluation.load(synthetic_run(40, task="ds"))
    with pytest.raises(InputError, match="have 6 and 4 options"):
        stream_pool(first, evaluation.load(synthetic_run(40, k=4, task="qa")), "lac")
    with pytest.raises(InputError, match="20 calibration and 0 test questions"):
        stream_pool(replace(first, test=np.array([], dtype=np.int64)), None, "lac")


def test_figures_are_those_of_sets_formed_one_by_one(home: Path):
    runs = [evaluation.load(synthetic_run(120, task=task, seed=i)) for i, task in enumerate(("ds", "qa"))]
    stream = question_stream(stream_pool(runs[0], runs[1], "lac"), order=3, change=50)
    result = stream_figures(stream, alpha=200, gamma=50)
    assert result.threshold == exact(stream.calibration, 200)
    for t in range(len(stream.questions.true)):
        for limit, size, missed in (
            (result.threshold, result.sizes[t], result.missed[t]),
            (result.adaptive.thresholds[t], result.adaptive_sizes[t], result.adaptive.missed[t]),
        ):
            members = [option for option in stream.questions.options[t] if option <= limit]
            assert len(members) == size
            assert missed == (stream.questions.true[t] not in members)


def test_the_coverage_of_a_window():
    missed = np.array([True, False, False, True, False])
    assert np.array_equal(window_coverage(missed, 2), [np.nan, 0.5, 1.0, 0.5, 0.5], equal_nan=True)
    assert np.isnan(window_coverage(missed, 9)).all()
