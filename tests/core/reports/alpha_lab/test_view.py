import time

import numpy as np
import pytest

from core.errors import InputError
from core.records import DONT_KNOW, NONE_OF_ABOVE, OptionLogits, Question
from core.reports.alpha_lab.view import SplitView, extra_options, look, renormalise, renormalise_logs
from core.reports.evaluation import load
from core.reports.question_kind import kind_of_run
from core.reports.report import report
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_questions, synthetic_run

pytestmark = pytest.mark.quick


@pytest.fixture
def run(home):
    return load(synthetic_run(300))


def write(questions, logits, name="written"):
    spec = RunSpec(model=name, task="qa")
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    half = len(questions) // 2
    store.write_questions(folder, questions, ["calibration" if i < half else "test" for i in range(len(questions))])
    mass = np.ones(len(questions), dtype=np.float32)
    store.write_logits(folder, OptionLogits(tuple(q.id for q in questions), logits, mass))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return load(spec.run_id)


def test_a_plain_view_is_the_run(run):
    assert look(run, SplitView()) is run


def test_dropping_e_and_f_renormalises_by_hand(run):
    seen = look(run, SplitView(drop_extra=True))
    assert seen.k == 4
    assert "".join(seen.letters) == "ABCD"
    assert seen.probabilities[7] == pytest.approx(run.probabilities[7, :4] / run.probabilities[7, :4].sum())
    assert np.exp(seen.log_probabilities) == pytest.approx(seen.probabilities, abs=1e-15)
    assert np.array_equal(seen.labels, run.labels)
    assert report(seen, 100).scores["lac"].mean_set_size <= 4


def test_a_row_with_nothing_left_is_even():
    nothing = np.array([[0.0, 0.0, 1.0]])
    assert renormalise(nothing, (2,)).tolist() == [[0.5, 0.5]]
    assert renormalise_logs(np.array([[-900.0, -901.0, 0.0]]), nothing, (2,)) == pytest.approx(np.log([[0.5, 0.5]]))


def test_log_probabilities_of_what_is_left_come_from_log_probabilities():
    """A probability too small for a float64 beside one that stays."""
    logs = np.array([[-1.0, -1000.0, -0.5]])
    assert renormalise_logs(logs, np.exp(logs), (2,)).tolist() == [[0.0, -999.0]]


def test_e_and_f_that_are_not_there_or_are_true(home):
    plain = [Question(f"q{i}", "qa", "g", "", f"{i}?", ("a", "b", "c"), 0) for i in range(10)]
    logits = np.zeros((10, 3), dtype=np.float32)
    with pytest.raises(InputError, match="to leave out"):
        look(write(plain, logits), SplitView(drop_extra=True))
    true = [Question(q.id, "qa", "g", "", q.question, q.options, 4) for q in synthetic_questions(10)]
    with pytest.raises(InputError, match="whose truth is E or F"):
        look(write(true, np.zeros((10, 6), dtype=np.float32), "true"), SplitView(drop_extra=True))


def test_fewer_calibration_questions_are_a_seeded_part_of_them(run):
    seen = look(run, SplitView(n_calibration=20))
    assert len(seen.calibration) == 20
    assert set(seen.calibration) <= set(run.calibration)
    assert set(look(run, SplitView(n_calibration=10)).calibration) <= set(seen.calibration)
    assert np.array_equal(seen.test, run.test)
    for n in (4, 151):
        with pytest.raises(InputError, match="150 calibration questions"):
            look(run, SplitView(n_calibration=n))


def test_a_run_with_few_calibration_questions_may_use_them_all(home):
    few = load(synthetic_run(6))
    assert len(look(few, SplitView(n_calibration=3)).calibration) == 3
    with pytest.raises(InputError, match="calibration questions, not 2"):
        look(few, SplitView(n_calibration=2))


def test_questions_all_alike_can_not_be_split_again(home):
    same = [Question(f"q{i}", "qa", "g", "", "the same?", ("a", "b", "c"), 0) for i in range(10)]
    with pytest.raises(InputError, match="too few different questions"):
        look(write(same, np.zeros((10, 3), dtype=np.float32)), SplitView(split_seed=1))


def test_one_option_is_nothing_to_choose_from(home):
    three = [Question(f"q{i}", "qa", "g", "", f"{i}?", ("a", DONT_KNOW, NONE_OF_ABOVE), 0) for i in range(10)]
    with pytest.raises(InputError, match="only 1 option is left"):
        look(write(three, np.zeros((10, 3), dtype=np.float32)), SplitView(drop_extra=True))


def test_an_option_that_is_right_in_some_question_is_not_an_added_one(home):
    own = [Question(f"q{i}", "qa", "g", "", f"{i}?", ("a", "b", NONE_OF_ABOVE), i % 3) for i in range(12)]
    run = write(own, np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32))
    assert extra_options(run) == ()
    assert kind_of_run(run.run_id).closing == 0


def test_another_split_keeps_sizes_and_questions(run):
    first, other = (look(run, SplitView(split_seed=seed)) for seed in (1, 2))
    assert len(first.calibration) == len(other.calibration) == 150
    assert not np.array_equal(first.calibration, other.calibration)
    assert sorted([*first.calibration, *first.test]) == sorted([*run.calibration, *run.test])
    assert np.array_equal(first.calibration, look(run, SplitView(split_seed=1)).calibration)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_that_can_not_be(run, seed):
    with pytest.raises(InputError, match=f"from 0 to 4294967295, got {seed}"):
        look(run, SplitView(split_seed=seed))


def test_questions_alike_stay_on_one_side(home):
    questions = synthetic_questions(40)
    questions += [Question(f"again-{q.id}", "qa", "g", "", q.question, q.options, q.label) for q in questions]
    run = write(questions, np.random.default_rng(0).normal(size=(80, 6)).astype(np.float32))
    for seed in range(8):
        seen = look(run, SplitView(split_seed=seed))
        sides = [{str(name).removeprefix("again-") for name in run.ids[rows]} for rows in (seen.calibration, seen.test)]
        assert not sides[0] & sides[1]
