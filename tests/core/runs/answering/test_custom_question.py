"""What can be asked, and the one sentence about what can't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.runs.answering.custom_question import LONGEST, OwnQuestion

GOOD = {"model": "m", "run_id": "r", "question": "What?", "options": ("x", "y")}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"question": " \n"}, "the question is empty"),
        ({"options": ()}, "at least 2 options, a line each; there are 0"),
        ({"options": ("x",)}, "at least 2 options, a line each; there is 1"),
        ({"options": tuple(f"o{i}" for i in range(11))}, "at most 10 options can be asked, there are 11; leave 1 out"),
        ({"options": tuple(f"o{i}" for i in range(27))}, "there are 27; leave 17 out"),
        ({"options": ("x", " ")}, "option 2 is empty"),
        ({"options": ("a  b", "c", "a b")}, "options 1 and 3 are both “a b”; give every option once"),
        ({"options": (DONT_KNOW, "x")}, "added already"),
        ({"question": "x" * 100_000}, "the question has 100,000 characters, of which at most 10,000"),
        ({"context": "x" * 100_000}, "the context has 100,000 characters"),
        ({"options": ("x" * 100_000, "y")}, "option 1 has 100,000 characters"),
        ({"question": "broken \ud800"}, "broken character at place 8"),
        ({"model": " "}, "choose a model"),
        ({"run_id": ""}, "choose a run"),
    ],
)
def test_what_can_not_be_asked(changes: dict[str, object], says: str):
    with pytest.raises(InputError, match=says) as caught:
        OwnQuestion(**(GOOD | changes))
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_case_tells_options_apart():
    assert OwnQuestion(**(GOOD | {"options": ("Co", "CO")})).options == ("Co", "CO")


def test_without_the_two_one_may_type_them():
    own = OwnQuestion(**(GOOD | {"options": ("x", DONT_KNOW), "extra": False}))
    assert own.all_options == ("x", DONT_KNOW)
    assert OwnQuestion(**GOOD).all_options == ("x", "y", DONT_KNOW, NONE_OF_ABOVE)


texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(str.strip)


@given(
    question=texts,
    context=st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    options=st.lists(texts, min_size=2, max_size=10, unique_by=lambda text: " ".join(text.split())),
)
def test_what_is_asked_survives_the_way(question: str, context: str, options: list[str]):
    own = OwnQuestion("m", "r", question, tuple(options), context, extra=False)
    back = OwnQuestion.from_json(own.to_json())
    assert back == own
    assert back.answer_id == own.answer_id
    assert len(own.answer_id) == 16


def test_another_question_has_another_id():
    ids = {
        OwnQuestion(**(GOOD | changes)).answer_id
        for changes in (
            {},
            {"model": "n"},
            {"run_id": "s"},
            {"options": ("y", "x")},
            {"extra": False},
            {"context": "c"},
        )
    }
    assert len(ids) == 6


@pytest.mark.parametrize(
    "values",
    [None, [], "x", {}, GOOD, GOOD | {"context": "", "extra": 1}, GOOD | {"context": "", "extra": True, "more": 1}],
)
def test_what_is_no_question(values: object):
    with pytest.raises(InputError):
        OwnQuestion.from_json(values)


def test_options_that_are_no_texts():
    with pytest.raises(InputError, match="every option"):
        OwnQuestion.from_json(GOOD | {"options": ["x", 1], "context": "", "extra": True})


def test_the_limits_are_within_what_a_message_may_hold():
    # Each character may take six bytes as an escape in JSON.
    assert 6 * (LONGEST["question"] + LONGEST["context"] + 10 * LONGEST["option"]) < 1_000_000
