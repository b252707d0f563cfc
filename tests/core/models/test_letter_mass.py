"""How much of the probability the letters have, at the edges of what counts as an answer."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import SelfCheckError
from core.models.letter_mass import (
    LEAST,
    LetterMass,
    check_first,
    has_no_answer,
    letter_mass,
    noted,
    spelled,
    unanswered,
)
from core.records import OptionLogits

pytestmark = pytest.mark.quick
KNOWN = LetterMass(
    questions=2, mean=0.001, median=0.001, without_answer=2, is_bound=False, first="<think>", first_share=1.0
)


def scored(*masses: float, tops: tuple[str, ...] | None = None) -> OptionLogits:
    n = len(masses)
    logits = np.log(np.full((n, 2), 0.5, np.float32))
    return OptionLogits(tuple(f"q{i}" for i in range(n)), logits, np.array(masses, np.float32), top_tokens=tops)


def test_one_per_cent_is_an_answer_and_anything_below_is_none():
    edge = np.float32(LEAST)
    masses = np.array([edge, np.nextafter(edge, np.float32(0)), 0.0, 1.0, np.nan], np.float32)
    assert has_no_answer(masses).tolist() == [False, True, True, False, False]


def test_more_than_half_of_the_known_questions_make_a_run_without_answers():
    half, most = letter_mass(scored(0.001, 0.5, np.nan)), letter_mass(scored(0.001, 0.001, 0.5, np.nan))
    assert half
    assert (half.questions, half.without_answer, half.is_no_answer) == (2, 1, False)
    assert most
    assert (most.questions, most.without_answer, most.is_no_answer) == (3, 2, True)
    assert most.median == np.float32(0.001)
    assert letter_mass(scored(np.nan)) is letter_mass(scored()) is None
    without_letter = letter_mass(scored(0.001, 1.0), np.array([1]))
    assert without_letter
    assert without_letter.mean == 1.0


def test_letters_that_are_not_listed_count_with_their_upper_bound():
    """0.002 is listed, and the other letter has at most 0.007: at most 0.009; with 0.009 at most 0.011."""
    for bound, total, answered in ((0.007, 0.009, False), (0.009, 0.011, True)):
        bounded = replace(
            scored(0.002), logits=np.log(np.array([[0.002, bound]], np.float32)), bounded=np.array([[False, True]])
        )
        mass = letter_mass(bounded)
        assert mass
        assert mass.is_bound
        assert mass.mean == pytest.approx(total, abs=1e-6)
        assert mass.is_no_answer != answered
        assert ("at most 0.9%" in mass.without) != answered


def test_the_most_frequent_first_token_is_named():
    mass_of_some = letter_mass(scored(0.5, 0.001, 0.9, tops=(" A", "<think>", " A")))
    assert mass_of_some is not None
    assert mass_of_some.without.endswith("for 1 of 3 questions; the most probable token there is “<think>”")
    two = letter_mass(scored(0.5, 0.001, 0.9, 0.001, tops=(" A", "<think>", " A", "<think>")))
    assert two is not None
    assert two.without.endswith("for 2 of 4 questions; the most probable token is “<think>” for 100% of these")
    assert not replace(two, first_share=0.19).instead  # the model begins with another token each time
    mass = letter_mass(scored(0.001, 0.001, 0.002, tops=("<think>", "The", "<think>")))
    assert mass is not None
    assert (mass.first, mass.first_share) == ("<think>", 2 / 3)
    assert mass.without.endswith("(median: 0.1%); the most probable token is “<think>” for 67% of the questions")
    assert mass.reasons_first
    assert not replace(mass, first="The").reasons_first
    assert not replace(mass, without_answer=2).reasons_first  # one question has an answer


def test_a_token_from_outside_is_shown_on_one_line_and_short():
    assert spelled("\x1b[2J\n" + "x" * 500) == "“\\x1b[2J\\n" + "x" * 15 + "…”"


def test_only_a_small_mass_is_noted_and_read_back():
    assert noted(scored(0.6, 0.4), np.arange(2)) == {}
    values = noted(scored(0.1, 0.2), np.arange(2))["letter_mass"]
    assert LetterMass.from_json(values) == letter_mass(scored(0.1, 0.2))


@pytest.mark.parametrize(
    "change",
    [{"mean": float("nan")}, {"mean": -1.0}, {"median": "x"}, {"questions": 0}, {"questions": True}, {"first": None},
     {"without_answer": 3}, {"more": 1}],
)  # fmt: skip
def test_what_another_wrote_into_a_record_is_left_out(change: dict[str, object]):
    assert LetterMass.from_json(KNOWN.to_json()) == KNOWN
    assert LetterMass.from_json(KNOWN.to_json() | change) is None
    assert LetterMass.from_json(None) is LetterMass.from_json([1]) is None


def test_a_question_without_an_answer_says_why():
    assert unanswered(scored(0.5, 0.0005, tops=(" A", "<think>"))) == {
        "q1": "the letters of the options have 0.05% of the next token's probability; the most probable token is "
        "“<think>”"
    }


def test_first_questions_stop_a_run_only_if_none_has_an_answer():
    check_first(None, chat=True)
    check_first(replace(KNOWN, without_answer=1), chat=True)
    with pytest.raises(SelfCheckError, match="ask in the plain format or by text"):
        check_first(KNOWN, chat=True)
    with pytest.raises(SelfCheckError, match="or ask by text"):
        check_first(KNOWN, chat=False)
