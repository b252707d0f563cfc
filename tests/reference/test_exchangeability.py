"""The betting test: its p-values against a count, its capital in fractions and beyond a float's range."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from tests.reference.exchangeability import Capital, online_p_values, simple_jumper

pytestmark = pytest.mark.quick

SCORES = st.lists(st.integers(0, 5).map(float), max_size=25).map(np.array)


def test_a_p_value_by_hand():
    # 0.2 among 0.1 0.2 0.3: one higher, one equal: (1 + 0.5 · 2) / 4. Then 0.2 among 0.1 0.2 0.2 0.3: (1 + 0 · 3) / 5.
    result = online_p_values(np.array([0.3, 0.1, 0.2]), np.array([0.2, 0.2]), np.array([0.5, 0.0]))
    assert result.tolist() == [0.5, 0.2]


@given(past=SCORES, scores=SCORES, seed=st.integers(0, 99))
def test_p_values_count_higher_and_equal_scores(past, scores, seed: int):
    u = np.random.default_rng(seed).random(len(scores))
    result = online_p_values(past, scores, u)
    for t, score in enumerate(scores):
        earlier = np.concatenate([past, scores[:t]])
        assert result[t] == ((earlier > score).sum() + u[t] * ((earlier == score).sum() + 1)) / (len(earlier) + 1)


def test_the_first_question_without_a_past_has_its_random_number_as_p_value():
    assert online_p_values(np.array([]), np.array([0.7]), np.array([0.25])).tolist() == [0.25]


def slow_capital(p_values: list[float]) -> list[Fraction]:
    """The Simple Jumper as the paper writes it, in fractions."""
    jump = Fraction(0.01)
    accounts = {-1: Fraction(1, 3), 0: Fraction(1, 3), 1: Fraction(1, 3)}
    capital = []
    for p in p_values:
        whole = sum(accounts.values())
        accounts = {
            side: ((1 - jump) * own + jump / 3 * whole) * (1 + side * (Fraction(p) - Fraction(1, 2)))
            for side, own in accounts.items()
        }
        capital.append(sum(accounts.values()))
    return capital


@pytest.mark.parametrize("power", [0.2, 1.0, 5.0])
def test_the_capital_is_that_of_the_paper(power: float):
    p = np.random.default_rng(5).random(60) ** power
    assert simple_jumper(p).mantissas == pytest.approx(
        [float(amount) for amount in slow_capital(p.tolist())], rel=1e-12
    )


def test_the_capital_stays_what_it_is_beyond_the_range_of_a_float():
    # After many p-values of 0, nearly all is in one account, which grows by 1.5 · (0.99 + 0.01 / 3) or a little more.
    result = simple_jumper(np.zeros(5000))
    assert result.exponents[-1] % 100 == 0
    assert np.isfinite(result.mantissas).all()
    steps = np.diff(result.log10[100:])
    assert steps == pytest.approx(steps[0], abs=1e-9)
    assert result.log10[-1] > 800
    shrunk = simple_jumper(np.full(60_000, 0.5))  # nobody wins or loses
    assert shrunk.log10 == pytest.approx(0, abs=1e-9)


def test_a_lost_capital_comes_back():
    """Many streams' worth of losses are made up for by an exact power of two, not by zero."""
    p = np.concatenate([np.tile([0.0, 1.0], 30_000), np.zeros(3000)])
    result = simple_jumper(p)
    assert result.log10[59_999] < -150
    assert result.log10[-1] > result.log10[59_999] + 400
    assert (result.mantissas > 0).all()


def test_the_alarm_is_the_first_question_that_reaches_the_limit():
    capital = Capital(np.array([1.0, 19.9, 20.0, 3.0, 5.0]), np.array([0, 0, 0, 0, 100]))
    assert (capital.alarm(), capital.alarm(19), capital.alarm(25)) == (2, 1, 4)
    assert Capital(np.array([1.0, 90.0]), np.array([0, -100])).alarm() is None
    assert simple_jumper(np.array([])).alarm() is None


def test_what_can_not_be_bet_on_is_named():
    with pytest.raises(InputError, match="outside of 0 to 1"):
        simple_jumper(np.array([0.5, np.nan]))
    with pytest.raises(InputError, match="2 scores have 1 random numbers"):
        online_p_values(np.array([]), np.array([0.1, 0.2]), np.array([0.5]))
    with pytest.raises(InputError, match="not a number"):
        online_p_values(np.array([np.nan]), np.array([0.1]), np.array([0.5]))
