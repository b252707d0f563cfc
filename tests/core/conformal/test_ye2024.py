"""The sets of Ye et al. 2024 in single precision, on cases worked out by hand."""

import numpy as np
import pytest

from core.conformal.scores.lac import lac_scores
from core.conformal.threshold import paper
from core.conformal.ye2024 import single_probabilities, single_scores, single_sets
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_the_float32_softmax_is_that_of_the_logits():
    logits = np.random.default_rng(0).normal(0, 4, (5000, 6)).astype(np.float16).astype(np.float32)
    wide = logits.astype(np.float64)
    p = np.exp(wide - wide.max(axis=1, keepdims=True))
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.array_equal(single_probabilities(p / p.sum(axis=1, keepdims=True)), raised / raised.sum(1, keepdims=True))


def test_an_option_that_a_question_lacks_stays_out():
    p = np.array([[0.75, 0.25, np.nan]] * 40)
    result = single_sets(
        "aps", p, np.zeros(40, dtype=np.int64), calibration=np.arange(20), test=np.arange(20, 40), alpha=100
    )
    assert result.members.tolist() == [[True, False, False]] * 20
    assert single_scores("aps", single_probabilities(p))[0, :2].tolist() == [0.75, 1.0]


def test_a_figure_halfway_between_two_that_are_printed_falls_as_theirs():
    """200 test questions, all with sets of one option; of one a second option lies at the threshold but for 1e-9.

    In float32 it is at the threshold and in the set: the mean set size is 201/200 = 1.005, in double precision 1.
    UAcc at an accuracy of .8 is .8 · √6 / 1.005 = 1.94983, printed 194.98, and not 195.96.
    """
    calibration = np.tile([0.6, 0.3, 0.1], (100, 1))
    test = np.tile([0.6, 0.2, 0.2], (200, 1))
    test[0] = [0.6, 0.3 * (1 - 1e-9), 0.1 + 0.3e-9]
    p = np.concatenate([calibration, test])
    labels = np.ones(300, dtype=np.int64)
    rows = {"calibration": np.arange(100), "test": np.arange(100, 300)}
    result = single_sets("lac", p, labels, alpha=100, **rows)
    double = lac_scores(test) <= paper(lac_scores(calibration)[:, 1], 100)
    assert (result.members.sum(), double.sum()) == (201, 200)
    sizes = [members.sum(axis=1).mean() for members in (result.members, double)]
    assert [f"{80 * np.sqrt(6) / size:.2f}" for size in sizes] == ["194.98", "195.96"]


def test_a_threshold_without_end_keeps_all():
    p = np.tile([0.6, 0.3, 0.1], (10, 1))
    result = single_sets(
        "lac", p, np.zeros(10, dtype=np.int64), calibration=np.arange(3), test=np.arange(3, 10), alpha=100
    )
    assert result.members.all()
    assert result.threshold == np.inf


def test_their_code_has_two_scores():
    with pytest.raises(InputError, match="have the scores lac and aps, got 'raps'"):
        single_scores("raps", np.ones((1, 2), dtype=np.float32))


def test_the_threshold_is_the_papers_next_order_statistic():
    # 19 questions at alpha .1: level 18/19 and numpy's "higher" is the 19th score, where the exact one is the 18th.
    true = np.linspace(0.3, 0.9, 20)
    p = np.stack([true, 1 - true], axis=1)
    rows = {"calibration": np.arange(19), "test": np.arange(19, 20)}
    result = single_sets("lac", p, np.zeros(20, dtype=np.int64), alpha=100, **rows)
    assert result.threshold == result.calibration_scores.max() == pytest.approx(0.7)


def test_of_equal_options_the_later_ranks_first():
    assert single_scores("aps", np.array([[0.25, 0.25, 0.5]], dtype=np.float32)).tolist() == [[1.0, 0.75, 0.5]]


def test_a_lac_set_is_formed_by_probabilities_and_not_by_scores():
    """1 − (1 − p) is above p in float32 at p = .05, so an option at the threshold itself is not in the set."""
    p = np.tile([0.05, 0.95], (40, 1))
    single = single_probabilities(p[:1])[0, 0]
    assert single < np.float32(1) - (np.float32(1) - single)
    rows = {"calibration": np.arange(20), "test": np.arange(20, 40)}
    result = single_sets("lac", p, np.zeros(40, dtype=np.int64), alpha=100, **rows)
    assert result.threshold == result.test_scores[0, 0]
    assert result.members.tolist() == [[False, True]] * 20
