"""Models whose taste for letters is known."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.conformal.scores import SCORE_NAMES, score
from core.questions import bank
from core.questions.rotation import reorderings, rotations
from core.records import OptionLogits
from core.reports.evaluation import load
from core.reports.prompting.option_order import _rate_intervals as rate_intervals
from core.reports.prompting.option_order import letters_p_value, option_order
from core.reports.report import report
from core.reports.scored_sets import form
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from hedge.cli import main
from tests.conftest import synthetic_questions, synthetic_run

N = 60


def rotated_run(judge, *, k=6, others=rotations, n=N):
    """A finished run of n questions of k − 2 + 2 options, half tested and asked in ``others``; ``judge(question)`` →
    logits."""
    questions = synthetic_questions(n, k=k)
    turned = [other for q in questions[n // 2 :] for other in others(q)]
    roles = ["calibration"] * (n // 2) + ["test"] * (n // 2) + ["rotation"] * len(turned)
    everything = [*questions, *turned]
    spec = RunSpec(model="synthetic", task="qa", rotations=True)
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, everything, roles)
    logits = np.array([judge(q) for q in everything], dtype=np.float32)
    ids = tuple(q.id for q in everything)
    store.write_logits(folder, OptionLogits(ids, logits, np.ones(len(ids), dtype=np.float32)))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return load(spec.run_id)


def taste(option):
    """A model's score of an option's text, in any position."""
    return float(sum(map(ord, option)) % 97) / 10


def test_a_model_that_reads_only_texts_has_no_bias(home):
    order = option_order(rotated_run(lambda q: [taste(option) for option in q.options]), 100, scores=("lac", "aps"))
    assert (order.questions, order.orders) == (N // 2, 4)
    assert order.letter_bias == pytest.approx(0, abs=1e-12)
    assert order.plurality == 1
    assert order.changed == 0
    assert order.letter_p_value == 1
    # 30 of 30 keep their choice: at worst 11.6% change it (1 − .025^(1/30)), to be right in one order of four
    assert order.plurality_interval == pytest.approx((1 - 0.75 * (1 - 0.025 ** (1 / 30)), 1))
    assert order.changed_interval[0] == 0
    assert order.letter_intervals["B"][0] <= order.letter_rates["B"] < order.letter_intervals["B"][1]
    assert order.sets["lac"].same == 1
    assert order.sets["lac"].same_interval == pytest.approx((0.025 ** (1 / 30), 1))
    assert {(s.same, s.overlap) for s in order.sets.values()} == {(1.0, 1.0)}


def test_a_model_that_always_says_b(home):
    order = option_order(rotated_run(lambda q: [0, 9, 0, 0, 0, 0]), 100, scores=("lac",))
    assert order.letter_rates == {"A": 0.0, "B": 1.0, "C": 0.0, "D": 0.0}
    # Half of |0 − ¼| · 3 + |1 − ¼|.
    assert order.letter_bias == pytest.approx(0.75)
    assert order.plurality == pytest.approx(0.25)
    assert order.changed == 1
    assert order.letter_p_value == pytest.approx(0.25**29)  # 30 questions that prefer a letter all prefer this one
    assert order.plurality_interval[0] == 0.25  # with four orders of four options, it can't be less


def test_letters_that_are_equally_probable_share_a_choice(home):
    order = option_order(rotated_run(lambda q: [5, 0, 5, 0, 0, 0]), 100, scores=("lac",))
    assert order.letter_rates == {"A": 0.5, "B": 0.0, "C": 0.5, "D": 0.0}
    # Half of |0 − ¼| · 2 + |½ − ¼| · 2. C, the later, is the choice of every order, and so another option in each.
    assert order.letter_bias == pytest.approx(0.5)
    assert order.changed == 1


def test_sets_by_hand(home):
    """Every set is {A, B}: turned back it is {0, 1}, {1, 2}, {2, 3}, {3, 0} of the four options."""
    questions = synthetic_questions(N)
    truth = {q.id: q.label for q in questions[: N // 2]}

    def judge(q):
        # Calibration questions put ½ on the truth, so that the LAC threshold is ½, and so is the score of A and of B.
        places = (truth[q.id], 4) if q.id in truth else (0, 1)
        return [0.0 if j in places else -99.0 for j in range(6)]

    order = option_order(rotated_run(judge), 100, scores=("lac",))
    assert order.sets["lac"].same == 0
    # Of the three rotations two share one of three options with {0, 1}, one shares none.
    assert order.sets["lac"].overlap == pytest.approx((1 / 3 + 0 + 1 / 3) / 3)


def test_all_orders_of_a_model_that_always_says_b(home):
    order = option_order(rotated_run(lambda q: [0, 9, 0, 0, 0, 0], others=all_orders), 100, scores=("lac",))
    # Of 24 orders each option stands at B in 6.
    assert (order.orders, order.plurality, order.changed) == (24, pytest.approx(6 / 24), 1.0)
    assert order.letter_bias == pytest.approx(0.75)


@pytest.mark.parametrize(("k", "orders"), [(4, 2), (5, 6), (6, 24), (7, 25), (8, 24)])
def test_all_orders_of_a_model_that_reads_only_texts(home, k, orders):
    run = rotated_run(lambda q: [taste(option) for option in q.options], k=k, others=all_orders)
    order = option_order(run, 100, scores=SCORE_NAMES)
    assert (order.questions, order.orders) == (N // 2, orders)
    assert (order.letter_bias, order.plurality, order.changed) == (pytest.approx(0, abs=1e-12), 1.0, 0.0)
    assert {(s.same, s.overlap) for s in order.sets.values()} == {(1.0, 1.0)}


def test_a_tuned_score_has_the_sets_of_the_report(home):
    rng = np.random.default_rng(4)
    run = rotated_run(lambda q: rng.normal(size=4), k=4, n=240)
    result = form(run, "raps", 200)
    assert len(result.tuned.rows) == 24
    values = score("raps", run.option_probabilities, parameters=result.tuned.parameters)
    sets = dict(zip(map(str, run.ids), values <= result.threshold, strict=True))
    # Two options move and E and F stay, so there is one other order: A and B changed places.
    same = [np.array_equal(own[[1, 0, 2, 3]], sets[f"{name}@r1"]) for name, own in sets.items() if f"{name}@r1" in sets]
    assert len(same) == 120
    assert option_order(run, 200, scores=("raps",)).sets["raps"].same == np.mean(same)


def all_orders(question):
    return reorderings(question, seed=3)


def test_rotations_are_in_no_split(home):
    run = rotated_run(lambda q: [taste(option) for option in q.options])
    assert len(run.calibration) == len(run.test) == N // 2
    assert not any("@r" in name for name in run.ids[[*run.calibration, *run.test]])
    assert report(run, 100).n_test == N // 2


def test_a_run_in_one_order_has_none(home):
    run = load(synthetic_run())
    assert option_order(run, 100, scores=("lac",)) is None
    assert report(run, 100).to_json()["option_order"] is None


def test_a_run_with_rotations_from_the_shell(home, monkeypatch, capsys):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(20))
    words = ["run", "--model", "fake", "--task", "qa", "--rotations"]
    assert main(words) == 0
    assert "10 questions, each in 4 orders of its options: letter bias" in capsys.readouterr().out
    name = execute(RunSpec(model="fake", task="qa", rotations=True))
    roles = store.read_questions(name)["role"].to_pylist()
    assert roles.count("rotation") == 3 * roles.count("test") == 30
    assert report(load(name), 100).option_order.questions == 10


def test_the_test_of_letters_is_hotellings(home):
    """T² by hand for two letters: with one free deviation it is Student's t squared."""
    picks = np.array([[2, 0], [1, 1], [2, 0], [0, 2], [2, 0], [1, 1]] * 25, dtype=float)
    t = stats.ttest_1samp(picks[:, 0] - 1, 0)
    assert letters_p_value(picks) == pytest.approx(t.pvalue)
    assert letters_p_value(np.repeat(picks, 4, axis=0)) < letters_p_value(picks)
    assert letters_p_value(np.ones((5, 4))) == 1
    assert letters_p_value(picks[:1]) == 1


def test_few_biased_questions_are_compared_with_turned_letters():
    """Two letters, and five questions pick the same one: of the 2⁵ ways to prefer a letter, 2 are this unequal."""
    picks = np.array([[2, 0]] * 5 + [[1, 1]] * 95, dtype=float)
    assert letters_p_value(picks) == pytest.approx(2 / 2**5, abs=0.02)
    # One unit of the five prefers the other letter: 2 + 2 · 5 of 2⁵
    picks[0] = [0, 2]
    assert letters_p_value(picks) == pytest.approx(12 / 2**5, abs=0.04)


def test_letters_of_few_biased_questions_have_wide_intervals():
    """Three of 100 questions always pick A: a third letter's rate may be lower, or higher by as much as A's is."""
    picks = np.array([[4, 0, 0, 0]] * 3 + [[1, 1, 1, 1]] * 97, dtype=float)
    intervals = np.array(rate_intervals(picks, None))
    # Poisson counts of 3: from .62 to 8.77, and of 0: to 3.69; a question picks A in ¾ of its orders more than others
    assert intervals[:, 0] == pytest.approx(
        [0.2725 - 0.0075 * np.hypot(3 - 0.6187, 3.6889 / 3), 0.2725 + 0.0075 * (8.7673 - 3)], abs=1e-4
    )
    assert intervals[1, 1] > 0.2425 + 0.0075 * 3.6


def test_an_interval_of_sets_forms_the_threshold_again(home):
    """With few calibration questions the threshold moves, and so does the share of sets that stay the same."""
    rng = np.random.default_rng(0)
    noise = {}

    def judge(q):
        at = noise.setdefault(q.id, rng.normal(size=6))
        return [taste(option) / 3 + e for option, e in zip(q.options, at, strict=True)]

    order = option_order(rotated_run(judge), 200, scores=("lac",)).sets["lac"]
    assert 0 <= order.same_interval[0] < order.same < order.same_interval[1] <= 1
    assert 0 <= order.overlap_interval[0] < order.overlap < order.overlap_interval[1] <= 1


def test_questions_of_one_cluster_count_once(home):
    """Each question five times: as wide as of the questions alone, and about as improbable."""
    rng = np.random.default_rng(0)
    picks = rng.multinomial(4, [0.4, 0.3, 0.2, 0.1], size=40).astype(float)
    clusters = np.arange(40).repeat(5)
    assert letters_p_value(picks.repeat(5, axis=0), clusters) == pytest.approx(letters_p_value(picks))
    alone, repeated = (rate_intervals(*arguments) for arguments in ((picks, None), (picks.repeat(5, axis=0), clusters)))
    assert repeated == pytest.approx(np.array(alone))
    # Six passages of five questions each: the order matters for all of a passage's questions or for none.
    rows = np.arange(N)
    bold = np.array([1, 1, 0, 1, 0, 0])[(rows[N // 2 :] - N // 2) // 5]

    def judge(question):
        place = int(question.id.split("@")[0].lstrip("q"))
        return (
            [0, 9, 0, 0, 0, 0]
            if place >= N // 2 and bold[place - N // 2]
            else [taste(option) for option in question.options]
        )

    run = rotated_run(judge)
    passages = np.concatenate([rows[: N // 2], N + (rows[N // 2 :] - N // 2) // 5, np.arange(len(run.labels) - N) + 99])
    single, together = (
        option_order(read, 100, scores=("lac",)) for read in (run, replace(run, clusters=passages.astype(np.int64)))
    )
    assert (together.plurality, together.changed) == (single.plurality, single.changed)
    for name in ("plurality_interval", "changed_interval"):
        (low, high), (lower, higher) = getattr(single, name), getattr(together, name)
        assert lower < low < high < higher
    same, wider = single.sets["lac"].same_interval, together.sets["lac"].same_interval
    assert wider[1] - wider[0] > 1.2 * (same[1] - same[0])
    assert together.letter_p_value > single.letter_p_value
