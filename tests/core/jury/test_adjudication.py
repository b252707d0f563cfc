"""Rules: by hand, and what holds of every one of them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from core.errors import InputError
from core.jury.adjudication import CONSTANT, PUBLISHED_RULES, RULES, Case, adjudicate, best_juror, pooled, sureness
from core.jury.confidence import CONFIDENCES, confidence
from core.jury.dawid_skene import DawidSkene
from core.jury.judgements import Judgements
from tests.core.jury.verdicts import jury, seeded_jury

pytestmark = pytest.mark.quick

CALIBRATION = seeded_jury(80, seed=9)


def case_of(p_true: list[list[float]], sure: list[list[float]] | None = None) -> Case:
    judged = jury(np.array(p_true), np.ones(len(p_true)))
    result = np.array(sure) if sure else confidence("published", CALIBRATION, judged)
    return Case(judged, result, CALIBRATION)


def verdicts_by(rule: str, case: Case) -> list[bool]:
    return adjudicate(rule, case).tolist()


def renamed(judged: Judgements) -> Judgements:
    return replace(judged, jurors=tuple(f"the {name}" for name in judged.jurors))


def test_each_published_rule_by_hand() -> None:
    # One True of .99 against two False of .6; confidences .9 against .7 and .8.
    case = case_of([[0.99, 0.4, 0.4]], [[0.9, 0.7, 0.8]])
    assert verdicts_by("majority", case) == [False]
    assert verdicts_by("confidence_sum", case) == [False]  # .4 against .2 + .3
    assert verdicts_by("confidence_product", case) == [False]  # .1 against .3 * .2 = .06
    assert verdicts_by("max_confidence", case) == [True]
    assert verdicts_by("max_probability", case) == [True]
    assert verdicts_by("veto", case) == [False]
    assert verdicts_by("mean_probability", case) == [True]  # .5967


def published(case: Case) -> Case:
    """The same with ties as in the published experiment."""
    return replace(case, test=replace(case.test, half_ties=False))


def test_a_tie_counts_half_and_as_published_is_false_or_goes_to_the_first_juror() -> None:
    even = case_of([[0.7, 0.3], [0.3, 0.7]], [[0.8, 0.8], [0.8, 0.8]])
    for rule in ("majority", "confidence_sum", "confidence_product", "mean_probability"):
        assert verdicts_by(rule, even) == [0.5, 0.5], rule
        assert verdicts_by(rule, published(even)) == [0, 0], rule
    for rule in ("max_confidence", "max_probability"):
        assert verdicts_by(rule, even) == [0.5, 0.5], rule
        assert verdicts_by(rule, published(even)) == [1, 0], rule
    assert verdicts_by("veto", even) == [0, 0]


def test_a_sum_that_differs_by_rounding_is_a_tie() -> None:
    # .1 + .2 is more than .3 in binary, and .7 · .4 is less than .28.
    assert verdicts_by("confidence_sum", case_of([[0.9, 0.9, 0.1]], [[0.6, 0.7, 0.8]])) == [0.5]
    assert verdicts_by("confidence_product", case_of([[0.9, 0.9, 0.1]], [[0.3, 0.6, 0.72]])) == [0.5]


def test_a_juror_that_can_not_decide_counts_half_for_each_side() -> None:
    # The third juror is tied, so the two others decide; where they part, nobody does.
    case = case_of([[0.9, 0.7, 0.5], [0.9, 0.3, 0.5], [0.2, 0.5, 0.5], [0.5, 0.5, 0.5]], [[0.9, 0.7, 0.6]] * 4)
    assert verdicts_by("majority", case) == [1, 0.5, 0, 0.5]
    assert verdicts_by("confidence_sum", case) == [1, 1, 0, 0.5]
    assert verdicts_by("max_probability", case) == [1, 1, 0, 0.5]
    assert verdicts_by("veto", case) == [0.5, 0, 0, 0.5]
    # A tied juror is not more certain of one side than of the other, and neither is a jury that is tied.
    assert sureness(case, np.array([1, 0.5, 0, 0.5])).tolist() == pytest.approx(
        [(0.9 + 0.7 + 0.5) / 3, 0.5, (0.9 + 0.5 + 0.5) / 3, 0.5]
    )
    assert verdicts_by("majority", published(case)) == [1, 0, 0, 0]  # as if the tied juror had said False


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 300), scale=st.sampled_from(list(CONFIDENCES)))
def test_swapping_the_answers_of_every_pair_swaps_every_verdict(seed: int, scale: str) -> None:
    rng = np.random.default_rng(seed)
    labels = np.arange(60) % 3 > 0
    p = np.where(rng.random((60, 3)) < 0.7, labels[:, None], ~labels[:, None]) * 0.8 + 0.1
    p = np.where(rng.random((60, 3)) < 0.3, 0.5, np.where(rng.random((60, 3)) < 0.3, 1 - p / 2, p))
    pairs = replace(jury(p, labels), pairwise=True)
    swapped = replace(pairs, p_true=pairs.p_false, p_false=pairs.p_true, labels=~labels)
    cases = []
    for each in (pairs, swapped):
        fitted, tested = each.rows(np.arange(30)), each.rows(np.arange(30, 60))
        cases.append(Case(tested, confidence(scale, fitted, tested), fitted))
    for rule in set(RULES) - set(CONSTANT):
        first, second = (adjudicate(rule, case) for case in cases)
        np.testing.assert_array_equal(first, 1 - second, err_msg=rule)


def test_two_jurors_do_not_determine_dawid_and_skenes_model() -> None:
    with pytest.raises(InputError, match=r"needs at least 3 jurors, because .*, got 2"):
        adjudicate("dawid_skene", Case(seeded_jury(20, 2), np.ones((20, 2)), seeded_jury(20, 2)))


def test_a_tie_says_nothing_about_a_jurors_reliability() -> None:
    """A juror that is tied on half of the answers has the rates of the other half."""
    rng = np.random.default_rng(4)
    truth = rng.random(20_000) < 0.5
    verdicts = np.where(rng.random((20_000, 3)) < 0.85, truth[:, None], ~truth[:, None]) * 1.0
    verdicts[rng.random(20_000) < 0.5, 2] = 0.5
    np.testing.assert_allclose(DawidSkene.fit(verdicts).says_true[1], 0.85, atol=0.03)


def test_the_largest_confidence_is_rounded_to_hundredths() -> None:
    case = published(case_of([[0.7, 0.3], [0.7, 0.3]], [[0.801, 0.804], [0.80, 0.81]]))
    assert verdicts_by("max_confidence", case) == [True, False]


def test_the_largest_probability_is_rounded_to_ten_thousandths() -> None:
    case = published(case_of([[0.70001, 0.29998], [0.7, 0.2998]], [[0.5, 0.5], [0.5, 0.5]]))
    assert verdicts_by("max_probability", case) == [True, False]


@given(st.data())
def test_a_unanimous_jury_gives_its_verdict_under_every_rule(data: st.DataObject) -> None:
    side = data.draw(st.booleans())
    p = data.draw(st.lists(st.floats(0.501, 1.0), min_size=3, max_size=3))
    sure = data.draw(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))
    case = case_of([p if side else [1 - x for x in p]], [sure])
    for rule in RULES:
        assert verdicts_by(rule, case) == [{"always_false": False, "always_true": True}.get(rule, side)], rule


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=8))
def test_veto_is_never_true_where_anyone_says_false(p: list[list[float]]) -> None:
    case = case_of(p)
    verdicts = adjudicate("veto", case)
    assert (verdicts[(case.verdicts == 0).any(axis=1)] == 0).all()
    assert (verdicts[(case.verdicts == 1).all(axis=1)] == 1).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 300), rule=st.sampled_from(list(RULES)))
def test_neither_names_nor_the_order_of_rows_change_a_verdict(seed: int, rule: str) -> None:
    judged = seeded_jury(60, 4, seed=seed)
    calibration, tested = judged.rows(np.arange(30)), judged.rows(np.arange(30, 60))
    first = adjudicate(rule, Case(tested, confidence("published", calibration, tested), calibration))
    order = np.random.default_rng(seed).permutation(30)
    again = renamed(tested.rows(order)), renamed(calibration.rows(order))
    second = adjudicate(rule, Case(again[0], confidence("published", again[1], again[0]), again[1]))
    np.testing.assert_array_equal(first[order], second)


@settings(max_examples=25)
@given(seed=st.integers(0, 300))
def test_the_order_of_jurors_matters_only_where_the_first_breaks_a_tie(seed: int) -> None:
    judged = seeded_jury(60, 5, seed=seed)
    tested, calibration = judged.rows(np.arange(30, 60)), judged.rows(np.arange(30))
    order = np.random.default_rng(seed).permutation(5)
    turned = [
        replace(rows, p_true=rows.p_true[:, order], p_false=rows.p_false[:, order]) for rows in (tested, calibration)
    ]
    for rule in ("majority", "confidence_sum", "confidence_product", "veto", "mean_probability", "dawid_skene"):
        first = adjudicate(rule, Case(tested, confidence("published", calibration, tested), calibration))
        second = adjudicate(rule, Case(turned[0], confidence("published", turned[1], turned[0]), turned[1]))
        np.testing.assert_array_equal(first, second, err_msg=rule)


def test_dawid_and_skene_find_the_reliable_juror_without_the_truth() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(20_000) < 0.5
    rates = np.array([0.95, 0.8, 0.8, 0.55])
    verdicts = np.where(rng.random((20_000, 4)) < rates, truth[:, None], ~truth[:, None])
    result = DawidSkene.fit(verdicts)
    np.testing.assert_allclose(result.says_true[1], rates, atol=0.03)
    np.testing.assert_allclose(result.says_true[0], 1 - rates, atol=0.03)
    assert ((result.posterior(verdicts) > 0.5) == truth).mean() > 0.94


def test_the_best_juror_is_the_first_of_equal_ones() -> None:
    assert best_juror(jury(np.array([[0.9, 0.9], [0.1, 0.1]]), np.array([True, False]))) == 0
    assert best_juror(jury(np.array([[0.9, 0.9], [0.9, 0.1]]), np.array([True, False]))) == 1


def test_an_unknown_rule_and_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="choose from majority"):
        adjudicate("dice", case_of([[0.5, 0.5]]))
    case = case_of([[0.9, 0.1]])
    with pytest.raises(InputError, match="nothing can be learned"):
        adjudicate("weighted_log_odds", Case(case.test, case.confidence, CALIBRATION.rows(CALIBRATION.labels)))


def test_the_published_rules_are_six() -> None:
    assert len(PUBLISHED_RULES) == 6


def test_weighted_log_odds_are_scikit_learns_regression_with_its_intercept() -> None:
    """Jurors that call most right answers False: without the intercept their verdicts would stand."""
    rng = np.random.default_rng(5)
    labels = rng.random(400) < 0.7
    odds = np.where(labels, 1.0, -1.0)[:, None] - 2.0 + rng.normal(size=(400, 3))
    judged = jury(1 / (1 + np.exp(-odds)), labels)
    calibration, tested = judged.rows(np.arange(200)), judged.rows(np.arange(200, 400))
    rival = LogisticRegression(C=1.0, tol=1e-10).fit(odds[:200], labels[:200])
    assert rival.intercept_[0] > 1
    result = RULES["weighted_log_odds"].decide(Case(tested, tested.top, calibration))
    assert result.tolist() == rival.predict(odds[200:]).tolist()


def test_dawid_and_skenes_rates_count_one_imagined_verdict_of_each_kind() -> None:
    """At the fixed point each rate and the prior are the posteriors' counts, with one of each kind more."""
    verdicts = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=bool)
    result = DawidSkene.fit(verdicts)
    right = result.posterior(verdicts)
    m, hits = right.sum(), right @ verdicts
    assert result.prior == pytest.approx((m + 1) / 8, abs=1e-6)
    np.testing.assert_allclose(result.says_true[1], (hits + 1) / (m + 2), atol=1e-6)
    np.testing.assert_allclose(result.says_true[0], (verdicts.sum(axis=0) - hits + 1) / (6 - m + 2), atol=1e-6)


def by_loops(rule: str, case: Case) -> list[bool]:
    """Every rule that is not fitted, answer by answer and juror by juror; confidences are exact in binary."""
    decided = []
    for verdicts, true, sure in zip(
        case.verdicts.tolist(), case.test.p_true.tolist(), case.confidence.tolist(), strict=True
    ):
        yes, no = ([c for v, c in zip(verdicts, sure, strict=True) if v == side] for side in (True, False))
        top = [max(p, 1 - p) for p in true]
        by_rule = {
            "majority": len(yes) > len(no),
            "confidence_sum": sum(c - 0.5 for c in yes) > sum(c - 0.5 for c in no),
            "confidence_product": math.prod(1 - c for c in yes) < math.prod(1 - c for c in no),
            "max_confidence": verdicts[sure.index(max(sure))],
            "max_probability": verdicts[top.index(max(top))],
            "veto": all(verdicts),
            "mean_probability": sum(true) / len(true) > 0.5,
        }
        decided.append(verdicts[0] if len(set(verdicts)) == 1 else by_rule[rule])
    return decided


@pytest.mark.parametrize("rule", [*PUBLISHED_RULES, "mean_probability"])
def test_each_rule_is_its_loop_over_answers_and_jurors(rule: str) -> None:
    rng = np.random.default_rng(8)
    for jurors in (2, 3, 4):
        judged = jury(rng.choice([0.1, 0.25, 0.3, 0.6, 0.75, 0.95], (60, jurors)), np.ones(60))
        case = published(
            Case(judged, rng.choice(np.array([0.25, 0.4375, 0.625, 0.75, 0.875]), (60, jurors)), CALIBRATION)
        )
        result = adjudicate(rule, case)
        assert result.tolist() == by_loops(rule, case)
        assert RULES[rule].decide(case).shape == (60,)


def test_always_false_and_the_best_juror_say_what_they_are_called() -> None:
    judged = seeded_jury(60, 3, seed=3)
    calibration, tested = judged.rows(np.arange(30)), judged.rows(np.arange(30, 60))
    case = Case(tested, tested.top, calibration)
    never = adjudicate("always_false", case)
    assert never.tolist() == [False] * 30
    assert adjudicate("always_true", case).tolist() == [True] * 30
    best = int(calibration.right.mean(axis=0).argmax())
    assert adjudicate("best_juror", case).tolist() == tested.verdicts[:, best].tolist()


def test_a_regression_on_few_answers_is_held_back_by_its_penalty() -> None:
    """Ten answers that a line can part: without the penalty the weights would grow without end."""
    rng = np.random.default_rng(12)
    odds, labels = rng.normal(size=(400, 3)) * 2, np.arange(400) % 2 == 0
    labels[:10] = odds[:10].sum(axis=1) > 0
    assert 0 < labels[:10].sum() < 10
    judged = jury(1 / (1 + np.exp(-odds)), labels)
    rival = LogisticRegression(C=1.0, tol=1e-10).fit(odds[:10], labels[:10])
    unheld = LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000).fit(odds[:10], labels[:10])
    assert (rival.predict(odds[10:]) != unheld.predict(odds[10:])).any()
    tested = judged.rows(np.arange(10, 400))
    result = RULES["weighted_log_odds"].decide(Case(tested, tested.top, judged.rows(np.arange(10))))
    assert result.tolist() == rival.predict(odds[10:]).tolist()


def test_the_mean_of_probabilities_and_how_sure_a_jury_is_row_by_row() -> None:
    case = case_of([[0.9, 0.4, 0.2], [0.1, 0.6, 0.8]], [[0.9, 0.7, 0.6], [0.5, 0.8, 0.9]])
    assert pooled(case.test) == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5]]))
    # The first says True, the others False; then the other way round.
    assert sureness(case, np.array([True, False])).tolist() == pytest.approx(
        [(0.9 + 0.3 + 0.4) / 3, (0.5 + 0.2 + 0.1) / 3]
    )
