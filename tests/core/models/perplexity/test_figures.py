import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.models.perplexity.figures import (
    ScoredMessage,
    aligned,
    bits_per_byte,
    clustered_mean_interval,
    message_mean,
    most_changed,
    paired,
    sign_flip,
    token_weighted,
    uniform_bits_per_byte,
    words,
)

pytestmark = pytest.mark.quick

LOG2 = math.log(2)


def message(*losses: float, number: int = 2, pieces: tuple[str, ...] | None = None) -> ScoredMessage:
    return ScoredMessage(
        number, pieces or tuple(f" w{i}" for i in range(len(losses))), np.array(losses, dtype=np.float32)
    )


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_by_hand():
    # Two tokens of probability 1/2 and 1/8: perplexity √16 = 4. One of 1/16: 16. All three: 256^(1/3).
    two, second = message(LOG2, 3 * LOG2), message(4 * LOG2)
    assert two.perplexity == pytest.approx(4)
    assert message_mean([two, second]) == pytest.approx(10)
    assert token_weighted([two, second]) == pytest.approx(256 ** (1 / 3), rel=1e-6)
    # 8 bits on the 6 + 3 bytes of " w0 w1" and " w0".
    assert bits_per_byte([two, second]) == pytest.approx(8 / 9)


def test_uniform_guessing_by_hand():
    # 3 tokens on 9 bytes, each of them worth the 4 bits of a vocabulary of 16.
    assert uniform_bits_per_byte([message(1.0, 2.0), message(3.0)], 16) == pytest.approx(12 / 9)
    level = math.log(16)
    assert bits_per_byte([message(level, level), message(level)]) == pytest.approx(12 / 9)


def test_bytes_are_of_utf8():
    assert message(LOG2, pieces=("é",)).bytes == 2


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_sign_flip_is_the_share_of_all_patterns(values):
    differences = np.array(values, dtype=np.float64) / 4
    signs = itertools.product((1, -1), repeat=len(values))
    sums = [abs(sum(sign * value for sign, value in zip(each, differences, strict=True))) for each in signs]
    expected = np.mean([value >= abs(differences.sum()) - 1e-9 for value in sums])
    assert sign_flip(differences, rng=rng()) == pytest.approx(expected)


def test_sign_flip_of_many_is_near_that_of_a_normal():
    from scipy.stats import norm

    differences = np.random.default_rng(1).normal(0.15, 1, 200)
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert sign_flip(differences, rng=rng()) == pytest.approx(2 * norm.sf(abs(z)), abs=0.02)


def test_a_pair_by_hand():
    a = [message(1.0, 2.0), message(3.0)]
    b = [message(2.0, 2.0), message(5.0)]
    comparison = paired(a, b, rng=rng())
    assert (comparison.n, comparison.conversations, comparison.mean) == (2, 1, pytest.approx(-1.25))
    # Differences of −0.5 and −2: standard error 0.75, and t with one degree of freedom is 12.706.
    assert (comparison.low, comparison.high) == (pytest.approx(-10.78, abs=0.01), pytest.approx(8.28, abs=0.01))
    assert comparison.p_value == 0.5  # both signs alike: 2 of 4 patterns


def test_messages_of_one_conversation_count_as_one():
    a = [message(1.0), message(1.0), message(4.0)]
    b = [message(0.0), message(0.0), message(0.0)]
    comparison = paired(a, b, rng=rng(), conversations=[7, 7, 3])
    assert (comparison.n, comparison.conversations, comparison.mean) == (3, 2, 2.0)
    assert comparison.p_value == comparison.least_p == 0.5  # the signs of two conversations
    assert paired(a, b, rng=rng(), conversations=[5, 5, 5]) == paired(a, b, rng=rng())


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=12).filter(lambda values: len(set(values)) > 1))
def test_an_interval_over_single_values_is_students(values):
    from scipy.stats import t

    x = np.array(values, dtype=np.float64)
    low, high = clustered_mean_interval(x, np.arange(len(x)))
    reach = t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))
    assert (low, high) == (pytest.approx(x.mean() - reach), pytest.approx(x.mean() + reach))


@pytest.mark.parametrize("sizes", [(3, 3, 3), (9, 10, 8, 9, 1), (1, 40), (2, 30, 4, 4, 11, 1, 1)])
def test_an_interval_over_units_is_that_of_bell_and_mccaffrey(sizes):
    """Against their matrices: CR2 of an intercept, and degrees of freedom under both ways that values may be alike."""
    from scipy.linalg import fractional_matrix_power
    from scipy.stats import t

    units = np.repeat(np.arange(len(sizes)), sizes)
    x, n = np.random.default_rng(3).normal(size=len(units)) + units, len(units)
    hat = np.full((n, n), 1 / n)
    parts, forms = [], []
    for unit in range(len(sizes)):
        own = np.flatnonzero(units == unit)
        adjust = fractional_matrix_power(np.eye(len(own)) - hat[np.ix_(own, own)], -0.5).real
        forms.append(np.ones(len(own)) @ adjust @ (np.eye(n) - hat)[own] / n)
        parts.append((forms[-1] @ x) ** 2)
    freedom = []
    for covariance in (np.eye(n), (units[:, None] == units).astype(float)):
        gamma = np.array(forms) @ covariance @ np.array(forms).T
        freedom.append(np.trace(gamma) ** 2 / np.trace(gamma @ gamma))
    reach = t.ppf(0.975, min(freedom)) * np.sqrt(sum(parts))
    assert clustered_mean_interval(x, units) == (pytest.approx(x.mean() - reach), pytest.approx(x.mean() + reach))


def test_words_cut_otherwise_are_put_together():
    a = message(1, 2, 4, 8, pieces=("So ", "you ", "see", "."))
    b = message(3, 5, 7, pieces=("So you", " see", "."))
    first, other = aligned(a, b)
    assert first.pieces == other.pieces == ("So you see", ".")
    assert (first.losses.tolist(), other.losses.tolist()) == ([7, 8], [8, 7])
    assert paired([a, a], [b, b], rng=rng()).mean == 0
    # A token without a text of its own, a part of a letter, goes with the one that has the letter.
    whole, parts = message(5, 1, pieces=("é", "a")), message(2, 3, 1, pieces=("é", "", "a"))
    assert [each.losses.tolist() for each in aligned(whole, parts)] == [[5, 1], [5, 1]]
    assert aligned(a, a)[0] is a


def test_other_words_are_no_pair():
    with pytest.raises(InputError, match="not measured on the same words"):
        paired([message(1.0), message(1.0)], [message(1.0), message(1.0, 2.0)], rng=rng())
    with pytest.raises(InputError, match="the same messages, at least 2; got 1 and 1"):
        paired([message(1.0)], [message(1.0)], rng=rng())
    with pytest.raises(InputError, match="2 texts and 1 losses"):
        ScoredMessage(0, ("a", "b"), np.ones(1, dtype=np.float32))


def test_words_join_their_tokens():
    pieces = ("I", "'m", " sor", "ry", ".", " Why", "?")
    a = message(1, 2, 3, 4, 5, 6, 7, pieces=pieces)
    b = message(1, 2, 3, 9, 5, 6, 5, pieces=pieces)
    joined = words(a, b)
    assert [(word.text, word.at, word.a, word.b) for word in joined] == [
        ("I'm", 0, 3, 3),
        ("sorry.", 2, 12, 17),
        ("Why?", 5, 13, 11),
    ]
    assert [word.text for word in most_changed(a, b, 2)] == ["sorry.", "Why?"]
    # Tokens that carry the space behind them, as some tokenizers' do.
    after = message(1, 1, 1, pieces=("so ", "wh", "y"))
    assert [word.text for word in words(after, after)] == ["so", "why"]


PIECES = st.lists(st.text(alphabet="ab c.", min_size=1, max_size=4), min_size=1, max_size=12)


@given(PIECES.filter(lambda pieces: "".join(pieces).strip()))
def test_words_keep_every_letter_and_every_loss(pieces):
    losses = np.arange(1, len(pieces) + 1, dtype=np.float32)
    scored_message = ScoredMessage(0, tuple(pieces), losses)
    joined = words(scored_message, scored_message)
    assert "".join("".join(word.text for word in joined).split()) == "".join("".join(pieces).split())
    assert sum(word.a for word in joined) <= losses.sum() + 1e-6


def test_equal_differences_have_no_interval() -> None:
    """Two prompts that change every message by the same, or by nothing: a variance of 0 would make the interval a
    point."""
    messages = [ScoredMessage(i, ("a", " b"), np.array([1.0, 2.0 + i], dtype=np.float32)) for i in range(4)]
    for conversations in (None, [0, 0, 1, 1]):
        comparison = paired(messages, messages, rng=np.random.default_rng(0), conversations=conversations)
        assert (comparison.mean, comparison.p_value) == (0, 1)
        assert np.isnan([comparison.low, comparison.high]).all()
