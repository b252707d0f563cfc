"""The experiment: measures against scikit-learn, splits as published, everything that can't be tried said plainly."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import f1_score, precision_score, recall_score

from core.calibration.bins import TopLabel
from core.calibration.errors import top_errors
from core.calibration.jackknife import random_groups
from core.conformal.coverage import share_interval
from core.errors import InputError
from core.exchange.juries import read
from core.jury import experiment
from core.jury.adjudication import CONSTANT, RULES
from core.jury.agreement import agreement
from core.jury.experiment import (
    PROTOCOLS,
    Protocol,
    answers_used,
    calibration_size,
    measures,
    run,
    split,
    split_in_half,
)
from core.jury.judgements import Judgements
from core.reports.jury import bench, calibration_errors, left_out, pooled_sets, reliability, risk, to_json
from tests.core.jury.verdicts import jury, seeded_jury

pytestmark = pytest.mark.quick

FEW_SPLITS = Protocol(seeds=(0, 1))
"""The experiment's own ten take five times as long, and no test of these looks at more than one."""


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    verdicts, labels = rng.random(50) < 0.4, rng.random(50) < 0.5
    result = measures(verdicts, labels)
    assert result["accuracy"] == (verdicts == labels).mean()
    assert result["precision"] == pytest.approx(precision_score(labels, verdicts))
    assert result["recall"] == pytest.approx(recall_score(labels, verdicts))
    assert result["f1"] == pytest.approx(f1_score(labels, verdicts))


def test_nothing_divides_by_zero() -> None:
    assert measures(np.zeros(2, bool), np.array([True, False])) == {
        "accuracy": 0.5, "precision": 0.0, "recall": 0.0, "f1": 0.0,
    }  # fmt: skip


def test_the_source_calibration_rows_come_first_and_their_number_stays() -> None:
    judged = seeded_jury(100)
    turned = judged.rows(np.arange(100)[::-1])
    places = answers_used(turned, PROTOCOLS["published"])
    size = calibration_size(turned, places, PROTOCOLS["published"])
    parts = [turned.parts[i] for i in places]
    assert parts == ["calibration"] * size + ["test"] * (len(places) - size)
    assert turned.disagreed[places].all()
    halves = split(turned, places, size, 4, PROTOCOLS["published"])
    assert sorted([*halves.calibration, *halves.test]) == sorted(places)
    assert len(halves.calibration) == size


def test_an_interval_holds_the_figure_and_no_rule_differs_from_itself() -> None:
    result = run(seeded_jury(200), FEW_SPLITS)
    for outcome in result.outcomes:
        assert outcome.accuracy.low <= outcome.accuracy.value <= outcome.accuracy.high
    by = {outcome.rule: outcome for outcome in result.outcomes}
    assert by["majority"].to_majority.value == 0
    assert np.isnan(by["majority"].to_majority.ends).all()  # no estimate, so no interval
    assert list(by) == list(RULES)
    assert repr(run(seeded_jury(200), FEW_SPLITS)) == repr(result)


def test_a_split_learns_from_agreed_answers_without_judging_them() -> None:
    judged = seeded_jury(100)
    places = answers_used(judged, PROTOCOLS["all-rules"])
    size = calibration_size(judged, places, PROTOCOLS["all-rules"])
    halves = split(judged, places, size, 0, PROTOCOLS["all-rules"])
    agreed = ~judged.disagreed
    calibrate = sum(judged.parts[i] == "calibration" for i in np.flatnonzero(agreed))
    assert halves.case.unanimous.shape == (calibrate, 3)
    assert (halves.case.unanimous == halves.case.unanimous[:, :1]).all()
    assert halves.case.test.disagreed.all()
    every = Protocol(disagreement=False)
    assert split(judged, np.arange(100), 50, 0, every).case.unanimous is None


def test_dawid_and_skene_do_not_fail_on_disputed_answers() -> None:
    """Independent jurors, all better than chance: fitted on disputed answers alone the model can name the worst one the
    best, because their disputes contradict its independence; fitted on all it judges as its truth would."""
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.6
    right = rng.random((3000, 3)) < (0.9, 0.75, 0.7)
    p = np.where(right == labels[:, None], 0.8, 0.2)
    judged = jury(p, labels)
    outcome = next(outcome for outcome in run(judged, Protocol(seeds=(0, 1), rules=("dawid_skene",))).outcomes)
    # The first juror's log-odds exceed the two others' together: 2.20 against 1.10 + 0.85.
    disputed = judged.rows(judged.disagreed)
    assert outcome.accuracy.value == pytest.approx(disputed.right[:, 0].mean(), abs=0.03)


def test_an_interval_is_the_jackknife_of_the_whole_experiment() -> None:
    """By hand for a rule that fits nothing, on one split: leave a group out, measure, and take Student's t."""
    judged = seeded_jury(200)
    protocol = Protocol(seeds=(4,), rules=("majority",), disagreement=False)
    halves = split(judged, np.arange(200), 100, 4, protocol)
    right = (halves.case.verdicts.sum(axis=1) >= 2) == halves.case.test.labels
    group = random_groups(200)[halves.test]
    left_out = np.array([right[group != number].mean() for number in range(20)])
    variance = 19 / 20 * ((left_out - left_out.mean()) ** 2).sum()
    worth = right.mean() * (1 - right.mean()) / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    result = run(judged, protocol).outcomes[0].accuracy
    worth = min(worth, 100)
    assert result.value == pytest.approx(right.mean())
    assert result.ends == pytest.approx(share_interval(right.mean() * worth, worth))


def accurate_jury(n: int, seed: int) -> Judgements:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.5
    right = rng.random((n, 3)) < (0.995, 0.99, 0.97)
    return jury(np.where(right == labels[:, None], 0.9, 0.1), labels)


@pytest.mark.parametrize("n", [60, 200])
def test_accurate_jurors_have_intervals_inside_their_range_that_are_no_points(n: int) -> None:
    result = run(accurate_jury(n, 1), Protocol(seeds=(0, 1, 2), disagreement=False, confidence="raw"))
    by = {outcome.rule: outcome for outcome in result.outcomes}
    assert by["majority"].accuracy.value > 0.98
    for outcome in result.outcomes:
        for name in ("accuracy", "precision", "recall", "f1"):
            measured = getattr(outcome, name)
            assert 0 <= measured.low <= measured.value <= measured.high <= 1, (outcome.rule, name)
            assert measured.high - measured.low > 0.01, (outcome.rule, name)
        for other in ("majority", "max_probability"):
            difference = getattr(outcome, f"to_{other}")
            if outcome.rule != other:
                assert -1 <= difference.low <= difference.value <= difference.high <= 1
                assert difference.high - difference.low > 0.01, outcome.rule
    # The majority and Dawid-Skene agree on every answer: Tango's interval of 0 and 0 discordant answers of n.
    z = stats.norm.ppf(0.975)
    if by["dawid_skene"].to_majority.value == 0:
        n_tested = len(np.unique(np.concatenate([split_tests(result, n, seed) for seed in (0, 1, 2)])))
        assert by["dawid_skene"].to_majority.high == pytest.approx(z**2 / (n_tested + z**2))


def split_tests(evaluated, n: int, seed: int) -> np.ndarray:
    return pd.Series(range(n)).sample(frac=1, random_state=seed).to_numpy()[evaluated.n_calibration :]


def test_a_rule_that_is_never_right_has_an_f1_from_0() -> None:
    judged = seeded_jury(60, 3, seed=1)
    result = run(judged, Protocol(seeds=(0, 1), confidence="raw", rules=("veto",)))  # False where the jurors disagree
    outcome = result.outcomes[0]
    assert (outcome.precision.value, outcome.recall.value, outcome.f1.value) == (0, 0, 0)
    assert outcome.precision.ends == (0, 1)  # nothing is judged right
    assert outcome.recall.low == outcome.f1.low == 0
    assert 0 < outcome.recall.high < 0.5
    # 2s / (1 + s) of the share s of hits among right answers; there are as many
    assert outcome.f1.high == pytest.approx(2 * outcome.recall.high / (1 + outcome.recall.high))


def test_swapping_the_answers_of_every_pair_changes_no_figure() -> None:
    rng = np.random.default_rng(6)
    labels = rng.random(120) < 0.6
    p = np.where((rng.random((120, 3)) < 0.75) == labels[:, None], 0.8, 0.1)
    p[rng.random((120, 3)) < 0.3] = 0.5
    pairs = replace(jury(p, labels), pairwise=True)
    swapped = replace(pairs, p_true=pairs.p_false, p_false=pairs.p_true, labels=~labels)
    protocol = Protocol(seeds=(0, 1), disagreement=False, rules=tuple(set(RULES) - {"always_false", "always_true"}))
    first, second = run(pairs, protocol), run(swapped, protocol)
    for outcome, other in zip((*first.outcomes, *first.jurors), (*second.outcomes, *second.jurors), strict=True):
        for name in ("accuracy", "precision", "recall", "f1", "to_majority", "to_max_probability"):
            if hasattr(outcome, name):
                figures = [(getattr(each, name).value, *getattr(each, name).ends) for each in (outcome, other)]
                np.testing.assert_allclose(*figures, rtol=0, atol=1e-9, err_msg=f"{outcome} {name}")
    assert (first.ece, first.ece_raw) == pytest.approx((second.ece, second.ece_raw))
    assert any("count half for each side" in note for note in first.notes)
    errors = [calibration_errors(each, protocol) for each in (pairs, swapped)]
    pd.testing.assert_frame_equal(*errors)
    tables = [risk(each, protocol) for each in (pairs, swapped)]
    pd.testing.assert_frame_equal(*tables)
    tables = [left_out(each, FEW_SPLITS) for each in (pairs, swapped)]
    pd.testing.assert_frame_equal(*tables)


def test_the_published_experiment_keeps_its_ties_and_says_so() -> None:
    p = np.array([[0.9, 0.5, 0.1]] * 8 + [[0.5, 0.9, 0.9]] * 8)
    parts, labels = ("calibration", "calibration", "test", "test") * 4, np.arange(16) % 2 == 0
    result = run(jury(p, labels, parts), PROTOCOLS["published"])
    false = run(jury(np.where(p == 0.5, 0.4999, p), labels, parts), PROTOCOLS["published"])
    assert [outcome.accuracy.value for outcome in result.jurors] == [outcome.accuracy.value for outcome in false.jurors]
    assert result.outcomes[0].accuracy.value == false.outcomes[0].accuracy.value
    assert false.notes == ()
    assert result.notes == (
        "16 judgements of equal probabilities count as False, as in the published experiment; use another protocol to "
        "count them half for each side.",
    )


def test_two_jurors_leave_dawid_and_skene_out_and_say_so() -> None:
    judged = seeded_jury(80, 2)
    result = run(judged, FEW_SPLITS)
    assert [outcome.rule for outcome in result.outcomes] == [name for name in RULES if name != "dawid_skene"]
    assert result.notes[0].startswith("Dawid–Skene is left out: it needs at least 3 jurors")
    assert "dawid_skene" not in to_json(result, calibration_errors(judged, FEW_SPLITS))["rules"]
    assert "dawid_skene" not in set(risk(judged, FEW_SPLITS)["rule"])
    assert "r_dawid_skene" not in bench(judged, FEW_SPLITS, 0).rows
    with pytest.raises(InputError, match="needs at least 3 jurors"):
        run(judged, Protocol(seeds=(0,), rules=("dawid_skene",)))


def test_the_better_constant_rule_is_the_yardstick() -> None:
    labels = np.arange(90) % 9 > 0
    judged = jury(np.where(np.random.default_rng(0).random((90, 3)) < 0.5, 0.9, 0.1), labels)
    result = run(judged, Protocol(seeds=(0,), confidence="raw", disagreement=False))
    assert result.best_constant.rule == "always_true"
    by = {outcome.rule: outcome.accuracy.value for outcome in result.outcomes}
    assert by["always_true"] + by["always_false"] == pytest.approx(1)
    assert by["always_true"] > 0.8
    assert run(judged, Protocol(seeds=(0,), rules=("majority",))).best_constant is None


def test_answers_of_one_question_stay_together_and_count_as_one_unit() -> None:
    once = seeded_jury(60, 3, seed=7)
    five = once.rows(np.repeat(np.arange(60), 5))
    protocol = Protocol(seeds=(0, 1, 2, 3), confidence="raw", rules=("majority", "mean_probability"))
    places = answers_used(five, protocol)
    halves = split(five, places, calibration_size(five, places, protocol), 1, protocol)
    questions = [{five.questions[i] for i in side} for side in (halves.calibration, halves.test)]
    assert not questions[0] & questions[1]
    assert len(halves.calibration) % 5 == len(halves.test) % 5 == 0
    single, repeated = run(once, protocol), run(five, protocol)
    assert repeated.n == 5 * single.n == 5 * repeated.n_questions
    assert f"{repeated.n} answers, {single.n} questions" in " ".join(repeated.notes)
    assert single.notes == ()
    for first, second in zip((*single.outcomes, *single.jurors), (*repeated.outcomes, *repeated.jurors), strict=True):
        widths = [each.accuracy.high - each.accuracy.low for each in (first, second)]
        assert widths[1] > 0.7 * widths[0]  # .45 of it if 5 times the answers counted
    # Named clusters, and a source's own split, which is kept and marked
    named = replace(once, cluster_names=tuple(str(i // 6) for i in range(60)))
    assert "10 clusters" in " ".join(run(named, protocol).notes)
    own = run(five, replace(protocol, share=None))
    assert any("own split may have answers of one question on both sides" in note for note in own.notes)
    alone = replace(once, cluster_names=("same",) * 60)
    for outcome in run(alone, protocol).outcomes:
        assert np.isnan([*outcome.accuracy.ends, *outcome.f1.ends]).all()  # no interval from one cluster


def test_abstaining_begins_where_the_rule_is_as_right_as_it_is() -> None:
    judged = seeded_jury(200)
    table, evaluated = risk(judged, FEW_SPLITS), run(judged, FEW_SPLITS)
    for outcome in evaluated.outcomes:
        own = table[table["rule"] == outcome.rule]
        assert list(own["at"]) == pytest.approx([at / 100 for at in range(101)])
        assert own["wrong"].iloc[0] == pytest.approx(1 - outcome.accuracy.value)
        assert own["answered"].iloc[0] == 1
        assert (own["answered"].diff().dropna() <= 0).all()
        known = own[own["answered"] > 0]
        assert ((known["low"] <= known["wrong"]) & (known["wrong"] <= known["high"])).all()
        assert own["wrong"][own["answered"] == 0].isna().all()


def test_each_answer_counts_once_in_a_calibration_error() -> None:
    judged = seeded_jury(120)
    table = calibration_errors(judged, Protocol())
    assert (table["n"] == judged.disagreed.sum()).all()
    raw = table[(table["juror"] == "juror1") & (table["scale"] == "raw")].iloc[0]
    disputed = judged.rows(judged.disagreed)
    assert raw["ece"] == pytest.approx(top_errors(TopLabel(disputed.top[:, 1], disputed.right[:, 1] * 1.0)).ece)
    assert ((table["low"] >= 0) & (table["low"] <= table["high"])).all()


def test_leaving_a_juror_out_and_reliability() -> None:
    judged = seeded_jury(120)
    table = left_out(judged, FEW_SPLITS)
    assert set(table["juror"]) == set(judged.jurors)
    np.testing.assert_allclose(table["gain"], table["accuracy"] - table["without"], atol=1e-15)
    assert ((table["gain_low"] <= table["gain"]) & (table["gain"] <= table["gain_high"])).all()
    assert set(table["rule"]) == set(RULES) - {*CONSTANT, "dawid_skene"}  # of two jurors it can tell nothing
    assert "dawid_skene" in set(left_out(seeded_jury(60, 4), Protocol(seeds=(0,)))["rule"])
    assert left_out(judged.without(0), FEW_SPLITS).empty
    bins = reliability(judged, FEW_SPLITS)
    shares = bins.groupby(["juror", "scale"])["share"].sum()
    np.testing.assert_allclose(shares, 1)
    assert ((bins["right_low"] <= bins["right"]) & (bins["right"] <= bins["right_high"])).all()


def test_pooled_sets_keep_their_promise_within_its_band() -> None:
    judged = seeded_jury(2000)
    protocol = Protocol(disagreement=False)
    places = answers_used(judged, protocol)
    sets = [pooled_sets(judged, split(judged, places, 1000, seed, protocol), 100) for seed in range(20)]
    assert sum(figures.band[0] <= figures.coverage <= figures.band[1] for _, figures in sets) >= 16
    assert np.mean([figures.coverage for _, figures in sets]) == pytest.approx(0.9, abs=0.01)
    members, figures = sets[0]
    assert figures.only_true + figures.only_false + figures.both + figures.empty == len(members) == 1000


def test_five_copies_of_an_answer_have_the_sets_and_errors_of_one() -> None:
    once = seeded_jury(200)
    five = once.rows(np.arange(200).repeat(5))
    every = Protocol(disagreement=False)
    halves = split(once, np.arange(200), 100, 0, every)
    copies = [(5 * side[:, None] + np.arange(5)).ravel() for side in (halves.calibration, halves.test)]
    sides = [five.rows(rows) for rows in copies]
    case = replace(halves.case, calibration=sides[0], test=sides[1])
    _, alone = pooled_sets(once, halves, 100)
    _, repeated = pooled_sets(five, replace(halves, calibration=copies[0], test=copies[1], case=case), 100)
    assert (repeated.threshold, repeated.coverage, repeated.band) == (alone.threshold, alone.coverage, alone.band)
    assert (repeated.n_calibration, repeated.of_calibration) == (100, 500)
    assert (repeated.n_test, repeated.test_questions) == (500, 100)
    errors = [calibration_errors(judged, replace(every, confidence="raw")) for judged in (once, five)]
    raw = [table[table["scale"] == "raw"] for table in errors]
    for name in ("ece", "luck"):
        np.testing.assert_allclose(raw[1][name], raw[0][name], rtol=0.1, err_msg=name)
    widths = [table["high"] - table["low"] for table in raw]
    assert (widths[1] > 0.8 * widths[0]).all()  # about .45 of it if every copy counted


def test_a_question_on_both_sides_of_a_sources_own_split_calibrates_no_sets() -> None:
    once = seeded_jury(40)
    two = replace(once.rows(np.arange(40).repeat(2)), parts=("calibration", "test") * 40)
    protocol = Protocol(share=None, disagreement=False)
    halves = split(two, answers_used(two, protocol), 40, 0, protocol)
    apart = {two.questions[i] for i in halves.calibration} - {two.questions[i] for i in halves.test}
    _, figures = pooled_sets(two, halves, 100)
    assert (figures.n_calibration, figures.of_calibration) == (len(apart), 40)
    assert 0 < len(apart) < 20


def test_what_can_not_be_tried_is_said() -> None:
    judged = seeded_jury(40)
    alike = judged.rows(~judged.disagreed)
    with pytest.raises(InputError, match="agree on all"):
        run(alike, Protocol())
    with pytest.raises(InputError, match="answers are right"):
        run(judged.rows(judged.labels), Protocol(disagreement=False))
    with pytest.raises(InputError, match="calibration share"):
        run(replace(judged, parts=("",) * 40), PROTOCOLS["published"])
    few = jury(np.array([[0.9, 0.1], [0.9, 0.2], [0.1, 0.9]]), np.array([True, False, False]))
    with pytest.raises(InputError, match="nothing can be learned"):
        run(few, Protocol(share=0.4))


@pytest.mark.parametrize(("share", "size"), [(0.001, 1), (0.3, 30), (0.999, 99)])
def test_a_share_leaves_an_answer_on_either_side(share: float, size: int) -> None:
    judged = seeded_jury(100)
    assert calibration_size(judged, np.arange(100), Protocol(share=share)) == size


def test_without_a_group_neither_side_nor_the_agreed_answers_keep_its_answers() -> None:
    judged = seeded_jury(100)
    protocol = Protocol()
    places = answers_used(judged, protocol)
    size = calibration_size(judged, places, protocol)
    whole = split(judged, places, size, 0, protocol)
    # Half of the answers on which the jurors agree calibrate.
    assert len(whole.case.unanimous) == round(0.5 * (100 - len(places)))
    gone = np.zeros(100, dtype=bool)
    gone[::4] = True
    less = split(judged, places, size, 0, protocol, without=gone)
    assert less.calibration.tolist() == [i for i in whole.calibration if not gone[i]]
    assert less.test.tolist() == [i for i in whole.test if not gone[i]]
    everything = split(judged, places, size, 0, protocol, without=np.ones(100, dtype=bool))
    assert everything.calibration.tolist() == whole.calibration.tolist()  # a side that would be empty stays
    assert len(everything.case.unanimous) == 0
    # Nor may a side calibrate on right answers alone.
    right = split(judged, places, size, 0, protocol, without=~judged.labels)
    assert right.calibration.tolist() == whole.calibration.tolist()
    assert judged.labels[right.test].all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seeds": ()}, "at least one seed, got none"),
        ({"seeds": (3, -2)}, "from 0 to 4294967295, got -2"),
        ({"seeds": (0, 1 << 32)}, "got 4294967296"),
        ({"share": 0.0}, r"must lie in \(0, 1\), got 0.0"),
        ({"share": 1.0}, "got 1.0"),
    ],
)
def test_what_is_no_protocol(change: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Protocol(**change)


def test_seeds_and_shares_at_their_ends() -> None:
    assert Protocol(seeds=(0, (1 << 32) - 1), share=None).seeds == (0, 4294967295)
    assert Protocol(share=1e-9).share == 1e-9


def disputed(parts: tuple[str, ...]) -> Judgements:
    """Two jurors that disagree on every answer, as many right as wrong."""
    n = len(parts)
    return jury(np.tile([0.9, 0.2], (n, 1)), np.arange(n) % 2 == 0, parts)


def test_a_source_that_has_a_split_of_its_own_keeps_it() -> None:
    own = Protocol(share=None, seeds=(4,))
    for parts in (("calibration", "test", "test"), ("calibration", "calibration", "")):
        assert split_in_half(disputed(parts), own) == (own, "")
    half = Protocol(share=0.5)
    assert split_in_half(disputed(("", "", "")), half) == (half, "")
    alike = jury(np.full((3, 2), 0.9), np.array([True, False, True]))
    with pytest.raises(InputError, match="agree on all 3 answers"):
        split_in_half(alike, own)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ("", "The judgements do not say which answers are for calibration"),
        ("test", "The judgements mark none of these 4 answers for calibration"),
        ("calibration", "The judgements mark all of these 4 answers for calibration"),
    ],
)
def test_a_source_without_a_split_of_its_own_is_halved_and_says_so(parts: str, why: str) -> None:
    halved = ", so each split calibrates on a random half of them and tests on the other half (seeds {})."
    few = Protocol(share=None, seeds=tuple(range(10)), rules=("veto",))
    protocol, sentence = split_in_half(disputed((parts,) * 4), few)
    assert protocol == replace(few, share=0.5)
    assert sentence == why + halved.format("0, 1, 2, 3, 4, 5, 6, 7, 8, 9")
    _, sentence = split_in_half(disputed((parts,) * 4), replace(few, seeds=tuple(range(11))))
    assert sentence == why + halved.format("0, 1, 2, 3, 4, 5, 6, 7, 8, 9 …")


def test_answers_to_judge_need_both_labels_and_a_calibration_part() -> None:
    apart = np.tile([0.9, 0.2], (4, 1))
    for labels in (np.ones(4), np.zeros(4)):
        with pytest.raises(InputError, match="if both labels occur"):
            answers_used(jury(apart, labels), Protocol())
    every = answers_used(jury(np.full((4, 2), 0.9), np.arange(4) < 2), Protocol(disagreement=False))
    assert (every.dtype, every.tolist()) == (np.int64, [0, 1, 2, 3])
    own, all_four = Protocol(share=None), np.arange(4)
    assert calibration_size(disputed(("calibration", "test", "test", "test")), all_four, own) == 1
    assert calibration_size(disputed(("calibration",) * 3 + ("",)), all_four, own) == 3
    for parts in (("test",) * 4, ("calibration",) * 4):
        with pytest.raises(InputError, match=f"the source marks {4 if parts[0] != 'test' else 0} for calibration"):
            calibration_size(disputed(parts), all_four, own)


def test_an_experiment_is_the_mean_over_its_seeds_split_by_pandas() -> None:
    judged = seeded_jury(60, seed=3)
    protocol = Protocol(seeds=(0, 5), confidence="raw", rules=("veto", "max_probability"))
    result = run(judged, protocol)
    places = answers_used(judged, protocol)
    size = round(0.5 * len(places))
    tests = [
        places[pd.Series(range(len(places))).sample(frac=1, random_state=seed).to_numpy()][size:] for seed in (0, 5)
    ]
    assert (result.protocol, result.kept_of) == (protocol, 60)
    assert (result.n, result.n_calibration, result.n_test) == (len(places), size, len(places) - size)
    assert result.right == judged.labels[places].mean()
    assert [entry.rule for entry in result.outcomes] == ["veto", "max_probability"]
    labels = [judged.labels[test] for test in tests]
    # Nobody is unanimous on a disputed answer, so the veto says False throughout.
    veto, top = result.outcomes
    assert veto.accuracy.value == pytest.approx(np.mean([(~truths).mean() for truths in labels]))
    assert (veto.precision.value, veto.recall.value, veto.f1.value) == (0, 0, 0)
    verdicts = [
        np.where(judged.top[test].argmax(axis=1)[:, None] == np.arange(3), judged.verdicts[test], False).any(axis=1)
        for test in tests
    ]
    accuracy = np.mean([(entry == truths).mean() for entry, truths in zip(verdicts, labels, strict=True)])
    trues = [judged.verdicts[test].sum(axis=1) > 1.5 for test in tests]
    majority = np.mean([(entry == truths).mean() for entry, truths in zip(trues, labels, strict=True)])
    assert top.accuracy.value == pytest.approx(accuracy)
    assert (top.to_majority.value, top.to_max_probability.value) == pytest.approx((accuracy - majority, 0))
    assert [entry.juror for entry in result.jurors] == ["juror0", "juror1", "juror2"]
    for j, entry in enumerate(result.jurors):
        assert entry.accuracy.value == pytest.approx(np.mean([judged.right[test, j].mean() for test in tests]))
    raw = [top_errors(TopLabel(judged.top[t].ravel(), judged.right[t].ravel() * 1.0)).ece for t in tests]
    assert result.ece_raw == result.ece == pytest.approx(np.mean(raw))
    other = run(judged, replace(protocol, confidence="published"))
    assert other.ece_raw == result.ece_raw != other.ece


def test_a_figure_of_few_answers_stays_in_its_range() -> None:
    judged = seeded_jury(16, 2, seed=1)
    result = run(judged, Protocol(seeds=(0,), confidence="raw", rules=("always_false",), disagreement=False))
    ends = [outcome.accuracy.ends for outcome in (*result.outcomes, *result.jurors)]
    assert all(0 <= low < high <= 1 for low, high in ends)
    (low, high) = result.outcomes[0].to_majority.ends
    assert -1 <= low < high <= 1


def test_a_side_keeps_one_answer_but_calibrates_on_both_labels() -> None:
    judged, protocol = disputed(("",) * 6), Protocol()
    places = answers_used(judged, protocol)
    whole = split(judged, places, 3, 0, protocol)
    # All but one of the answers that are tested go: one is enough. Of those that calibrate one of each label is.
    gone = np.zeros(6, dtype=bool)
    gone[whole.test[1:]] = True
    assert split(judged, places, 3, 0, protocol, without=gone).test.tolist() == whole.test[:1].tolist()
    right = judged.labels[whole.calibration]
    alone = whole.calibration[right == (right.sum() == 1)]  # the one of its label
    gone = np.zeros(6, dtype=bool)
    gone[np.setdiff1d(whole.calibration, alone)[:1]] = True
    kept_side = split(judged, places, 3, 0, protocol, without=gone).calibration
    assert len(kept_side) == 2
    assert set(alone) <= set(kept_side)
    with pytest.raises(ValueError, match="read-only"):
        experiment._order(6, 0)[0] = 1


# ---------------------------------------------------------------- the published files


@pytest.fixture(scope="module")
def published(real_data):
    return read(sorted((real_data / "juries").glob("jury_logits*.csv"))).judgements


def test_the_published_experiment_gives_the_published_figures(published) -> None:
    result = run(published, PROTOCOLS["published"])
    rules = to_json(result, calibration_errors(published, PROTOCOLS["published"]))["rules"]
    assert len(rules) == 6
    assert round(rules["majority"]["accuracy"], 4) == 0.5959
    assert round(rules["majority"]["f1"], 4) == 0.5934
    assert round(rules["veto"]["accuracy"], 4) == 0.5990
    assert rules["veto"]["f1"] == 0


def test_what_the_published_files_also_say(published) -> None:
    assert published.jurors == ("llama13b", "olmo13b", "stable13b")
    assert run(published, PROTOCOLS["published"]).n == 357
    result = run(published, replace(PROTOCOLS["all-rules"], half_ties=False))
    assert (result.n, result.n_calibration, result.n_test) == (357, 164, 193)
    assert run(published, Protocol(seeds=(0,), confidence="raw")).n == 361  # with 4 that are disputed by ties alone
    assert round(1 - result.right, 3) == 0.583
    assert round(result.ece, 2) == 0.25
    assert round(result.ece_raw, 2) == 0.12
    published = replace(published, half_ties=False)
    disputed = published.rows(published.disagreed)
    mean = (disputed.p_true.mean(axis=1) > disputed.p_false.mean(axis=1)) == disputed.labels
    assert mean.mean() == pytest.approx(0.656, abs=0.001)
    assert ((published.verdicts.sum(axis=1) >= 2) == published.labels).mean() == 0.815
    assert round(agreement(published).unanimous_wrong.value, 2) == 0.14
