"""The sentence that answers the Jury page: it claims a rule's lead only where both intervals are above 0."""

from dataclasses import replace

import pytest

from core.estimates import Estimate
from core.jury.experiment import JuryExperiment, Protocol, run
from core.reports.jury_answer import jury_answer
from tests.core.jury.verdicts import seeded_jury

pytestmark = pytest.mark.quick
NONE = float("nan")
OPEN = "Can't tell whether any rule is better than always saying True or than a majority vote"
CLOSE, CLEAR = (-0.02, 0.04), (0.005, 0.04)


@pytest.fixture(scope="module")
def experiment() -> JuryExperiment:
    return run(seeded_jury(40), Protocol(seeds=(0,)))


def answered(
    experiment: JuryExperiment,
    accuracies: dict[str, float],
    over_majority: tuple[float, float],
    over_constant: tuple[float, float],
) -> tuple[str, str]:
    """The headline and the figures if every other rule is right on 40% and has these intervals."""
    outcomes = []
    for outcome in experiment.outcomes:
        accuracy = accuracies.get(outcome.rule, 0.4)
        to_majority = Estimate(accuracy - accuracies["majority"], *over_majority)
        to_constant = Estimate(accuracy - accuracies["always_true"], *over_constant)
        values = {"to_majority": to_majority, "to_always_true": to_constant, "to_always_false": Estimate(0.4, 0.3, 0.5)}
        outcomes.append(replace(outcome, accuracy=Estimate(accuracy, NONE, NONE), **values))
    answer = jury_answer(replace(experiment, outcomes=tuple(outcomes)), pairwise=False)
    assert answer.constant == "always_true"
    return answer.headline, answer.detail


@pytest.mark.parametrize(
    ("over_majority", "over_constant", "headline"),
    [
        (CLEAR, CLEAR, "Veto is better than always saying True and than a majority vote"),
        (CLEAR, CLOSE, "Can't tell whether any rule is better than always saying True"),
        (CLOSE, CLEAR, "Majority is better than always saying True, and no other rule is shown to be better"),
        (CLOSE, CLOSE, OPEN),
        (CLEAR, (-0.04, -0.01), "No rule is as good as always saying True"),
        (
            (NONE, NONE),
            (NONE, NONE),
            OPEN,
        ),
    ],
)
def test_a_lead_is_claimed_only_where_both_intervals_are_above_0(
    experiment: JuryExperiment, over_majority: tuple[float, float], over_constant: tuple[float, float], headline: str
) -> None:
    accuracies = {"veto": 0.9, "majority": 0.88, "always_true": 0.87}
    assert answered(experiment, accuracies, over_majority, over_constant)[0] == headline


def test_the_figures_are_those_of_the_table(experiment: JuryExperiment) -> None:
    _, detail = answered(experiment, {"veto": 0.9004, "majority": 0.531, "always_true": 0.8896}, CLEAR, CLOSE)
    assert "Veto is right on 90.0% of the answers, +1.0 points (95% interval −2.0 to +4.0)" in detail  # 90.0 − 89.0
    assert "compared with always saying True (89.0%) and +36.9 points" in detail
    assert "compared with Majority (53.1%)." in detail


def test_majority_is_not_compared_with_itself(experiment: JuryExperiment) -> None:
    headline, detail = answered(experiment, {"majority": 0.9, "always_true": 0.8}, (NONE, NONE), CLEAR)
    assert headline.startswith("Majority is better than always saying True")
    assert "Majority (" not in detail
