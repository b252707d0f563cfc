"""One question's p-values: by whole numbers, equal to the threshold's sets at every alpha, ties and all."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conformal.alpha import ALPHAS
from core.conformal.probabilities import log, softmax
from core.conformal.scores import SCORE_NAMES, score, true_scores
from core.conformal.sets import EMPTY_POLICIES, prediction_sets
from core.conformal.threshold import threshold
from core.errors import InputError
from core.records import LETTERS, FloatArray, IntArray
from core.reports import evaluation
from core.reports.evaluation import Evaluation
from core.reports.one_question import (
    OptionPValues,
    bench,
    first_shown,
    option_frame,
    read_answer,
    score_frame,
    standings,
)
from core.reports.report import report
from core.runs import store
from core.runs.spec import RunSpec
from tests.conftest import synthetic_questions, synthetic_run


def run_of(probabilities: FloatArray, labels: IntArray, n: int, *, seed: int = 0) -> Evaluation:
    """A run whose first n rows calibrate."""
    rows = len(labels)
    return Evaluation(
        run_id="r",
        spec=RunSpec(model="m", task="qa", seed=seed),
        ids=np.array([f"q{i}" for i in range(rows)]),
        groups=np.array(["g"] * rows),
        probabilities=probabilities,
        log_probabilities=log(probabilities),
        labels=labels,
        calibration=np.arange(n),
        test=np.arange(n, rows),
        letters=LETTERS[: probabilities.shape[1]],
    )


def tied_run(n: int, m: int, k: int, most: int, seed: int) -> Evaluation:
    """Probabilities from small counts: full of ties, zeros and ones."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, (n + m, k))
    counts[counts.sum(axis=1) == 0, 0] = 1
    return run_of(counts / counts.sum(axis=1, keepdims=True), rng.integers(0, k, n + m), n, seed=seed)


def smooth_run(n: int, m: int, k: int, seed: int) -> Evaluation:
    rng = np.random.default_rng(seed)
    return run_of(softmax(rng.normal(0, 2, (n + m, k))), rng.integers(0, k, n + m), n, seed=seed)


CASES = {
    "ties, six options": tied_run(61, 4, 6, 3, 1),
    "ones and zeros": tied_run(40, 4, 3, 1, 2),
    "one calibrated": smooth_run(1, 3, 4, 3),
    "nine calibrated, two options": smooth_run(9, 3, 2, 4),
    "999 calibrated": smooth_run(999, 3, 6, 5),
    "a thousand, ties": tied_run(1000, 3, 4, 2, 6),
}


@pytest.mark.parametrize("case", CASES)
def test_a_set_by_p_values_is_the_thresholds_at_every_alpha(case: str):
    run = CASES[case]
    by = bench(run)
    probabilities = run.probabilities[run.test]
    by_row = [standings(by, run.probabilities[row], place=int(row)) for row in run.test]
    for rows in zip(*by_row, strict=True):  # those of one score
        calibrated = by.scores[rows[0].name]
        scores = score(rows[0].name, run.probabilities, seed=run.spec.seed, parameters=calibrated.parameters)[run.test]
        assert [standing.scores.tolist() for standing in rows] == scores.tolist()
        thresholds = calibrated.thresholds()
        for alpha in ALPHAS.tolist():
            q = threshold(calibrated.scores, alpha)
            assert thresholds[alpha - 1] == q
            for empty in EMPTY_POLICIES:
                expected = prediction_sets(scores, q, empty=empty, probabilities=probabilities)
                assert [standing.members(alpha, empty=empty).tolist() for standing in rows] == expected.members.tolist()


@pytest.mark.parametrize("name", SCORE_NAMES)
def test_the_sets_are_the_reports(name: str):
    """All test questions together give the report's mean set size, coverage and threshold."""
    run = smooth_run(200, 60, 5, 7)
    by = bench(run)
    place = list(SCORE_NAMES).index(name)
    figures = report(run, 100, scores=[name]).scores[name]
    inside = np.array([standings(by, run.probabilities[r], place=int(r))[place].members(100) for r in run.test])
    assert by.scores[name].thresholds()[99] == figures.threshold
    assert inside.sum(axis=1).mean() == figures.mean_set_size
    assert inside[np.arange(60), run.labels[run.test]].mean() == figures.coverage


@given(n=st.integers(1, 3000), count=st.integers(1, 3001))
def test_an_option_is_in_until_the_alpha_at_which_it_leaves(n: int, count: int):
    count = min(count, n + 1)
    standing = OptionPValues("lac", n, np.zeros(1), np.array([count]), 0)
    leaves = int(standing.leaves[0])
    assert leaves == min(a for a in range(1, 1001) if Fraction(a, 1000) >= Fraction(count, n + 1))
    if leaves > 1:
        assert standing.members(leaves - 1)[0]
    if leaves < 1000:
        assert not standing.members(leaves)[0]


def test_by_hand():
    # Calibration scores 1 - p of the truth: .4, .5, .75 (n = 3), so p-values are quarters. The question's scores:
    # .5 (itself, .5 and .75 are no better: 3/4), .75 (2/4), .875 (1/4), .875 (1/4).
    probabilities = np.array([[0.6, 0.4, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0]])
    run = run_of(np.vstack([probabilities, [[0.5, 0.25, 0.125, 0.125]]]), np.array([0, 0, 0, 1]), 3)
    lac = standings(bench(run), run.probabilities[3], place=3)[0]
    assert lac.counts.tolist() == [3, 2, 1, 1]
    assert lac.p_values.tolist() == [0.75, 0.5, 0.25, 0.25]
    assert lac.leaves.tolist() == [750, 500, 250, 250]
    assert lac.members(249).all()
    assert lac.members(250).tolist() == [True, True, False, False]
    assert not lac.members(750).any()
    assert lac.members(750, empty="top1").tolist() == [True, False, False, False]


def test_a_typed_question_stands_behind_the_runs_last_row():
    """As if the run had had one question more: no other question's random number, whatever its options' number."""
    run = smooth_run(50, 10, 4, 8)
    more = run_of(np.vstack([run.probabilities, [[0.4, 0.3, 0.2, 0.1]]]), np.append(run.labels, 0), 50, seed=8)
    by = bench(run)
    own = {standing.name: standing for standing in standings(by, np.array([0.4, 0.3, 0.2, 0.1]), place=by.places)}
    for name in SCORE_NAMES:
        whole = score(name, more.probabilities, seed=8, parameters=by.scores[name].parameters)
        assert own[name].scores.tolist() == whole[-1].tolist()
        true = true_scores(whole[:50], run.labels[:50])
        assert own[name].counts.tolist() == [1 + int((true >= s).sum()) for s in whole[-1]]
    assert len(standings(by, np.array([0.6, 0.4]), place=by.places)[2].counts) == 2


def test_tuned_scores_say_on_what():
    by = bench(smooth_run(200, 5, 4, 9))
    assert by.scores["lac"].tuned is None
    assert by.scores["raps"].tuned is True
    assert by.scores["raps"].n == 160
    assert by.scores["saps"].note.startswith("Tuned: ")
    few = bench(smooth_run(20, 5, 4, 9))
    assert few.scores["raps"].tuned is False
    assert few.scores["raps"].note.startswith("Not tuned")


def test_frames_hold_what_was_counted():
    run = smooth_run(30, 5, 3, 10)
    by = bench(run)
    result = standings(by, run.probabilities[31], place=31)
    table = score_frame(result, by, 200)
    assert table["score"].tolist() == list(SCORE_NAMES)
    lac = table.iloc[0]
    assert [lac["p_A"], lac["p_B"], lac["p_C"]] == result[0].p_values.tolist()
    assert lac["set"] == "".join("ABC"[j] for j in np.flatnonzero(result[0].members(200)))
    frame = option_frame(
        run.probabilities[31], ("x", "y", "z"), result[0], lac["threshold"], result[0].members(200), int(run.labels[31])
    )
    assert frame["truth"].sum() == 1
    assert sorted(frame["rank"]) == [1, 2, 3]
    assert (frame["member"] == (frame["score"] <= frame["threshold"])).all()
    unknown = option_frame(run.probabilities[31], ("x", "y", "z"), result[0], 1.0, result[0].members(200), None)
    assert unknown["truth"].isna().all()


def test_a_run_without_calibration_forms_no_set():
    with pytest.raises(InputError, match="no calibration questions"):
        bench(run_of(np.array([[0.5, 0.5]]), np.array([0]), 0))


def test_an_answer_that_is_read_alone_is_the_runs(home: Path):
    run_id = synthetic_run(20)
    run = evaluation.load(run_id)
    assert bench(run).places == 20
    for row in (0, 13, 19):
        answer = read_answer(run_id, store.read_question(run_id, f"q{row}"))
        assert (answer.row, answer.no_answer) == (row, "")
        assert answer.probabilities.tolist() == run.probabilities[row].tolist()
    with pytest.raises(InputError, match="no answer to a question 'q20'"):
        read_answer(run_id, synthetic_questions(21)[20])


ASKED = {
    "one option, wrong": ([0.9, 0.05, 0.05], 1),
    "two options, both wrong": ([0.5, 0.5, 0.0], 2),
    "three options, right": ([0.34, 0.33, 0.33], 0),
    "one option, right": ([0.9, 0.05, 0.05], 0),
    "two options, right": ([0.5, 0.4, 0.1], 0),
}
"""Questions whose sets have the options of at least 0.3, which the true options of all calibration questions have."""


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (ASKED, "two options, right"),
        (list(ASKED)[:4], "three options, right"),  # the first of two that are equally near
        (list(ASKED)[:2], "two options, both wrong"),
    ],
)
def test_the_question_that_a_page_opens_with(asked: list[str], shown: str):
    """At alpha 0.1 the threshold of 20 questions is their 19th score, which is 1 - 0.3."""
    rows = [([0.6, 0.3, 0.1], 1)] * 20 + [ASKED[name] for name in asked]
    run = run_of(np.array([row for row, _ in rows]), np.array([label for _, label in rows]), 20)
    assert first_shown(run) == f"q{20 + list(asked).index(shown)}"
