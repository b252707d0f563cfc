"""Scores of votes beside exact fractions: equal ones are tied, and the sets are those of exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from core.conformal.probabilities import on_grid, softmax, top_options
from core.conformal.scores import SCORES, Parameters, score, true_scores
from core.conformal.threshold import exact, rank

pytestmark = pytest.mark.quick

VOTERS = (3, 7, 10, 30, 100)
PARAMETERS = {
    name: [entry.grid[0], entry.grid[1], entry.grid[-5]] if entry.grid else [Parameters()]
    for name, entry in SCORES.items()
}


FORMULAS = {
    "lac": lambda row, j, aps, rank, parameters, weight: 1 - row[j],
    "aps": lambda row, j, aps, rank, parameters, weight: aps,
    "margin": lambda row, j, aps, rank, parameters, weight: max(row[:j] + row[j + 1 :]) - row[j],
    "raps": lambda row, j, aps, rank, parameters, weight: aps + weight * max(rank - parameters.free_ranks, 0),
    "saps": lambda row, j, aps, rank, parameters, weight: max(row) + weight * (rank - 1),
    "top-k": lambda row, j, aps, rank, parameters, weight: Fraction(rank),
    "ordinal-aps": lambda row, j, aps, rank, parameters, weight: interval_mass(row, j),
}
"""The scores of fractions."""


def interval_mass(row: list[Fraction], wanted: int) -> Fraction:
    """The mass of the interval that grows from the largest share by the larger neighbour until it has this option."""
    low = high = max(range(len(row)), key=lambda j: (row[j], j))
    while not low <= wanted <= high:
        before, after = (row[j] if 0 <= j < len(row) else Fraction(-1) for j in (low - 1, high + 1))
        low, high = (low, high + 1) if after >= before else (low - 1, high)
    return sum(row[low : high + 1], Fraction(0))


def exact_scores(name: str, row: list[Fraction], parameters: Parameters) -> list[Fraction]:
    """The scores of one question, from their formulas."""
    rising = sorted(range(len(row)), key=lambda j: (row[j], j))
    scores = []
    for j in range(len(row)):
        place = rising.index(j)
        aps = 1 - sum((row[i] for i in rising[:place]), Fraction(0))
        weight = Fraction(str(parameters.weight))
        scores.append(FORMULAS[name](row, j, aps, len(row) - place, parameters, weight))
    return scores


@pytest.mark.parametrize("voters", VOTERS)
@pytest.mark.parametrize("name", FORMULAS)
def test_the_sets_of_votes_are_those_of_exact_fractions(name: str, voters: int):
    rng = np.random.default_rng(voters)
    for k in range(2, 7):
        votes = rng.multinomial(voters, rng.dirichlet(np.ones(k)), 80)
        labels = np.array([rng.choice(k, p=row / voters) for row in votes])
        rows = [[Fraction(int(count), voters) for count in row] for row in votes]
        for parameters in PARAMETERS[name]:
            slow = [exact_scores(name, row, parameters) for row in rows]
            fast = score(name, votes / voters, parameters=parameters)
            own = sorted(row[label] for row, label in zip(slow[:40], labels, strict=False))
            for alpha in (10, 50, 100, 200, 333, 500):
                q = exact(true_scores(fast[:40], labels[:40]), alpha)
                place = int(rank(40, alpha))
                limit = own[place - 1] if place <= 40 else Fraction(99)
                expected = [[each <= limit for each in row] for row in slow[40:]]
                assert (fast[40:] <= q).tolist() == expected, (k, parameters, alpha)


def test_differences_that_are_equal_are_tied():
    """0.6 − 0.2 is 0.39999999999999997 in float64; 1 − (0.1 + 0.2) and 0.7 differ, too."""
    p = np.array([[0.6, 0.2, 0.2], [0.4, 0.0, 0.6], [0.7, 0.2, 0.1]])
    margins = score("margin", p)
    assert margins[0, 0] == -0.4
    assert margins[0, 1] == 0.4
    assert score("aps", p)[2].tolist() == [0.7, 0.9, 1.0]


def test_probabilities_that_differ_only_by_rounding_rank_as_equal_ones():
    p = np.array([[0.3, 0.4, 1 - 0.3 - 0.4]])  # the last is 0.29999999999999993
    assert score("top-k", p).tolist() == [[3, 1, 2]]
    assert score("aps", p).tolist() == [[1.0, 0.4, 0.7]]
    assert top_options(np.array([[0.1, 0.45, 1 - 0.1 - 0.45]])).tolist() == [2]


def test_the_tiny_probabilities_of_a_confident_model_stay_apart():
    p = softmax(np.array([[0.0, -29.0, -31.0, -33.0]]))  # the last three are 2.5e-13, 3.4e-14 and 4.7e-15
    for name in ("lac", "aps", "aps-randomised", "raps", "margin"):
        assert len(set(score(name, p, parameters=Parameters(0.0, 0))[0].tolist())) == 4, name


def test_the_grid_reverses_no_order():
    rng = np.random.default_rng(3)
    values = np.sort(np.concatenate([rng.random(4000), 1 - 10 ** rng.uniform(-17, -3, 4000), rng.random(99) * 3e-6]))
    assert (np.diff(on_grid(values)) >= 0).all()
    assert np.abs(on_grid(values) - values).max() < 6e-13
