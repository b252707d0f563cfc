"""The stated rules, and answers that they must not find."""

import pytest

from core.prompting.written import NOT_FOUND, answer_line, find_answer

pytestmark = pytest.mark.quick

OPTIONS = ("Paris", "Rome", "New York", "a city")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (" B", 1),
        ("(C)", 2),
        ("**B**", 1),
        ("B. Rome", 1),
        ("A: Paris is the capital", 0),
        ("B\nQuestion: and Paris?", 1),
        ("The correct answer is (C).", 2),
        ("Answer: B", 1),
        ("I think it is new york!", 2),
        ("Paris.", 0),
    ],
)
def test_an_answer_is_found(text, answer):
    assert find_answer(text, OPTIONS) == answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "A friend told me",  # an article, no letter
        "E",  # no option has this letter
        "Paris or Rome",
        "The answer is A. No, the answer is B",
        "Parisian",  # no whole word
        "I don't know",
    ],
)
def test_what_names_no_option_or_two_is_not_found(text):
    assert find_answer(text, OPTIONS) == NOT_FOUND


def test_what_comes_after_the_first_line_does_not_count():
    assert answer_line("\n Rome\nParis") == "Rome"
    assert find_answer("hm\nB", OPTIONS) == NOT_FOUND


@pytest.mark.parametrize("repeated", [" ", "answer ", "answer is ", "answer:", "(", "[ ", "* ", "B", "a "])
def test_a_written_answer_of_any_length_takes_linear_time(repeated):
    """Time that grows with the square of 300,000 spaces would be longer than any test may take."""
    for text in ("answer is" + repeated * 300_000, "answer" + repeated * 300_000 + "!", repeated * 300_000):
        assert find_answer(text, OPTIONS) in (NOT_FOUND, 1)
