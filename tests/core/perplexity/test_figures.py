from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.perplexity.figures import (
    Message,
    aligned,
    bits_per_byte,
    message_mean,
    most_changed,
    paired,
    sign_flip,
    token_weighted,
    words,
)

LOG2 = math.log(2)


def message(*losses: float, number: int = 2, pieces: tuple[str, ...] | None = None) -> Message:
    return Message(number, pieces or tuple(f" w{i}" for i in range(len(losses))), np.array(losses, dtype=np.float32))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_by_hand():
    # Two tokens of probability 1/2 and 1/8: perplexity √16 = 4. One of 1/16: 16. All three: 256^(1/3).
    two, one = message(LOG2, 3 * LOG2), message(4 * LOG2)
    assert two.perplexity == pytest.approx(4)
    assert message_mean([two, one]) == pytest.approx(10)
    assert token_weighted([two, one]) == pytest.approx(256 ** (1 / 3), rel=1e-6)
    # 8 bits on the 6 + 3 bytes of " w0 w1" and " w0".
    assert bits_per_byte([two, one]) == pytest.approx(8 / 9)


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


@pytest.mark.simulation
def test_under_no_difference_the_test_rejects_as_often_as_it_says():
    draw = np.random.default_rng(5)
    rejected = np.mean([sign_flip(draw.standard_t(3, 20), rng=draw) < 0.05 for _ in range(400)])
    assert 0.02 < rejected < 0.085


def test_a_pair_by_hand():
    a = [message(1.0, 2.0), message(3.0)]
    b = [message(2.0, 2.0), message(5.0)]
    found = paired(a, b, rng=rng())
    assert (found.n, found.mean) == (2, pytest.approx(-1.25))
    assert (found.low, found.high) == (pytest.approx(-2.0), pytest.approx(-0.5))
    assert found.excludes_zero
    assert found.p_value == 0.5  # both signs alike: 2 of 4 patterns


def test_words_cut_otherwise_are_put_together():
    a = message(1, 2, 4, 8, pieces=("So ", "you ", "see", "."))
    b = message(3, 5, 7, pieces=("So you", " see", "."))
    one, other = aligned(a, b)
    assert one.pieces == other.pieces == ("So you see", ".")
    assert (one.losses.tolist(), other.losses.tolist()) == ([7, 8], [8, 7])
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
        Message(0, ("a", "b"), np.ones(1, dtype=np.float32))


def test_words_join_their_tokens():
    pieces = ("I", "'m", " sor", "ry", ".", " Why", "?")
    a = message(1, 2, 3, 4, 5, 6, 7, pieces=pieces)
    b = message(1, 2, 3, 9, 5, 6, 5, pieces=pieces)
    made = words(a, b)
    assert [(word.text, word.at, word.a, word.b) for word in made] == [
        ("I'm", 0, 3, 3),
        ("sorry.", 2, 12, 17),
        ("Why?", 5, 13, 11),
    ]
    assert [word.text for word in most_changed(a, b, 2)] == ["sorry.", "Why?"]
    # Tokens that carry the space behind them, as some tokenizers' do.
    after = message(1, 1, 1, pieces=("so ", "wh", "y"))
    assert [word.text for word in words(after, after)] == ["so", "why"]


PIECES = st.lists(st.text(alphabet="ab c.", min_size=1, max_size=4), min_size=1, max_size=12)


@given(PIECES.filter(lambda found: "".join(found).strip()))
def test_words_keep_every_letter_and_every_loss(pieces):
    losses = np.arange(1, len(pieces) + 1, dtype=np.float32)
    one = Message(0, tuple(pieces), losses)
    made = words(one, one)
    assert "".join("".join(word.text for word in made).split()) == "".join("".join(pieces).split())
    assert sum(word.a for word in made) <= losses.sum() + 1e-6
