"""The answer on a pair of runs, for every outcome of the two tests."""

import math
from dataclasses import replace

import pytest

from core.estimates import Estimate
from core.reports.compare.pair_in_words import detectable_words, pair_in_words
from core.reports.compare.power import ROUGH
from core.reports.compare.run_matrix import PairDifference, RunMatrix

pytestmark = pytest.mark.quick

NAMES = ("small", "large")


def matrix(p_accuracy: float, p_size: float, *, sizes: tuple[float, float] = (3.0, 1.5)) -> RunMatrix:
    """The second run is right on 76.2% of the questions, the first on 37.7%."""

    def pairs(p: float) -> tuple[PairDifference, ...]:
        return (PairDifference(0, 1, Estimate(0.1, 0.0, 0.2), p / 2, p, 0.043),)

    return RunMatrix(
        ("a", "b"), 100, 100, (100, 100), False, 100, ("", ""), (0, 0),
        {"accuracy": (0.377, 0.762), "set_size": sizes, "uacc": (0.3, 1.2)},
        {"accuracy": pairs(p_accuracy), "set_size": pairs(p_size), "uacc": pairs(1.0)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (matrix(0.01, 0.05), "large is right more often than small and more certain: both are more than chance."),
        (
            matrix(0.01, 0.01, sizes=(1.5, 3.0)),
            "large is right more often than small, but small is more certain: both are more than chance.",
        ),
        (
            matrix(0.01, 0.06),
            "large is right more often than small, by more than chance. Can't tell which is more certain.",
        ),
        (
            matrix(0.06, 0.01),
            "large is more certain than small, by more than chance. Can't tell which is right more often.",
        ),
        (matrix(0.06, 0.06), "Can't tell small and large apart: both differences can be chance."),
    ],
)
def test_the_answer_says_which_run_is_better_only_where_the_test_can_tell(given: RunMatrix, answer: str):
    assert pair_in_words(given, NAMES, 0, 1)[0] == answer


def test_the_figures_are_in_the_order_of_the_pair():
    first, second = (pair_in_words(matrix(0.0002, 0.2), NAMES, *pair, score="aps")[1] for pair in ((0, 1), (1, 0)))
    assert first == (
        "small is right on 37.7% of the questions and large on 76.2% (p < 0.001). Their sets by APS hold 3.00 and 1.50 "
        "options on average (p = 0.200). These questions show a true difference of 4.3 points in accuracy or 0.04 "
        "options in set size in 80% of draws."
    )
    assert second.startswith("large is right on 76.2% of the questions and small on 37.7%")


@pytest.mark.parametrize(
    ("accuracy", "size", "says"),
    [
        (math.nan, math.nan, "These questions are too few to show any difference."),
        (0.05, math.nan, "These questions show a true difference of 5.0 points in accuracy in 80% of draws."),
    ],
)
def test_a_difference_that_no_test_can_find_is_not_named(accuracy: float, size: float, says: str):
    given = matrix(0.5, 0.5)
    pairs = {
        name: tuple(replace(pair, detectable=found) for pair in given.pairs[name])
        for name, found in (("accuracy", accuracy), ("set_size", size))
    }
    assert detectable_words(replace(given, pairs=given.pairs | pairs)) == says


def test_of_several_pairs_the_largest_difference_is_named():
    given = matrix(0.5, 0.5)
    pairs = {
        name: (*found, replace(found[0], first=0, second=2, detectable=0.2)) for name, found in given.pairs.items()
    }
    several = replace(given, pairs=pairs)
    assert detectable_words(several) == (
        "These questions show a true difference between two of these runs of 20.0 points in accuracy or 0.20 options "
        "in set size in 80% of draws, after the correction for 2 pairs."
    )
    assert "of 4.3 points" in detectable_words(several, (1, 0))


def test_a_rough_figure_is_marked_for_its_pair_and_for_all():
    given = matrix(0.5, 0.5)
    pairs = {
        name: (*found, replace(found[0], first=0, second=2, rough=name == "set_size"))
        for name, found in given.pairs.items()
    }
    several = replace(given, pairs=pairs)
    assert detectable_words(several).endswith(ROUGH)
    assert detectable_words(several, (2, 0)).endswith(ROUGH)
    assert ROUGH not in detectable_words(several, (0, 1))
