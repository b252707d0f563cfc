"""What can be asked, the one sentence about what can't, and answers on disk."""

import json
import math
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.runs.answering import custom_question
from core.runs.answering.custom_question import CustomQuestion, ModelAnswer

pytestmark = pytest.mark.quick

GOOD = {"model": "m", "run_id": "r", "question": "What?", "options": ("x", "y")}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"question": " \n"}, "the question is empty"),
        ({"options": ()}, "at least 2 options, one per line; there are none"),
        ({"options": ("x",)}, "at least 2 options, one per line; there is only 1"),
        ({"options": tuple(f"o{i}" for i in range(11))}, "at most 10 options, and there are 11; remove 1"),
        ({"options": tuple(f"o{i}" for i in range(27))}, "there are 27; remove 17"),
        ({"options": ("x", " ")}, "option 2 is empty"),
        ({"options": ("a  b", "c", "a b")}, "options 1 and 3 are both “a b”; change or remove one of them"),
        ({"options": (DONT_KNOW, "x")}, "which is added anyway"),
        ({"question": "x" * 100_000}, "the question has 100,000 characters, but at most 10,000 are allowed"),
        ({"context": "x" * 100_000}, "the context has 100,000 characters"),
        ({"options": ("x" * 100_000, "y")}, "option 1 has 100,000 characters"),
        ({"question": "broken \ud800"}, "broken character at position 8"),
        ({"model": " "}, "choose a model"),
        ({"run_id": ""}, "choose a run"),
    ],
)
def test_what_can_not_be_asked(changes: dict[str, object], says: str):
    with pytest.raises(InputError, match=says) as caught:
        CustomQuestion(**(GOOD | changes))
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_every_field_that_has_to_be_changed_is_named_at_once():
    problems = custom_question.problems("m", "r", " ", "x" * 60_000, ["x"], extra=True)
    assert list(problems) == ["question", "context", "options"]
    assert custom_question.problems("", "", "What?", "", ["x", "y"], extra=False).keys() == {"model", "run_id"}
    assert custom_question.problems("m", "r", "What?", "", ["x", "y"], extra=True) == {}


def test_the_options_that_are_added_may_be_typed_if_they_are_not_added():
    own = CustomQuestion(**(GOOD | {"options": ("x", DONT_KNOW), "extra": False}))
    assert own.all_options == ("x", DONT_KNOW)
    assert CustomQuestion(**GOOD | {"options": ("Co", "CO")}).all_options == ("Co", "CO", DONT_KNOW, NONE_OF_ABOVE)


texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(str.strip)


@given(
    question=texts,
    context=st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    options=st.lists(texts, min_size=2, max_size=10, unique_by=lambda text: " ".join(text.split())),
)
def test_what_is_asked_survives_the_way(question: str, context: str, options: list[str]):
    own = CustomQuestion("m", "r", question, tuple(options), context, extra=False)
    back = pickle.loads(pickle.dumps(own))
    assert back == own
    assert back.answer_id == own.answer_id
    assert len(own.answer_id) == 16


def test_another_question_has_another_id():
    ids = {
        CustomQuestion(**(GOOD | changes)).answer_id
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


ANSWER = ModelAnswer(
    own=CustomQuestion("m", "r", "What?", ("x", "y"), extra=False),
    options=("x", "y"),
    logits=(-0.5, -math.inf),
    letter_mass=0.9,
    milliseconds=12.5,
    loading_s=0.0,
    prompt="Question: What?",
    device="cpu",
    rung="padded rows",
    recorded_difference=1e-6,
    tolerance=1e-3,
    dropped=0,
    asked_at=1.0,
)


WRITTEN_BEFORE = r"""{"own": {"model": "m", "run_id": "r", "question": "Why \u201cso\u201d?", "options": ["x", "y"],
 "context": "a context", "extra": true}, "options": ["x", "y"], "logits": [-0.5, null], "letter_mass": null,
 "milliseconds": 12.5, "loading_s": 0.0, "prompt": "Question: What?", "device": "cpu", "rung": "padded rows",
 "recorded_difference": 1e-06, "tolerance": 0.001, "dropped": 0, "asked_at": 1.0}"""
"""What the version of 2026-11-21 wrote."""


def test_an_answer_is_read_as_it_was_written(home: Path):
    for difference, as_recorded in ((0.2, False), (1e-6, True)):
        answer = replace(ANSWER, recorded_difference=difference)
        custom_question.write_answer(answer)
        assert custom_question.read_answer(ANSWER.answer_id) == answer
        assert answer.is_as_recorded is as_recorded
    text = (home / "answers" / f"{ANSWER.answer_id}.json").read_text()
    assert json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_an_answer_of_an_older_version_is_read_and_has_the_same_link(home: Path):
    (home / "answers").mkdir(parents=True)
    (home / "answers" / "eb06202b52b8d5d7.json").write_text(WRITTEN_BEFORE)
    back = custom_question.read_answer("eb06202b52b8d5d7")
    assert back.answer_id == "eb06202b52b8d5d7"
    assert back.own == CustomQuestion("m", "r", "Why “so”?", ("x", "y"), "a context")
    assert back.logits == (-0.5, -math.inf)
    assert math.isnan(back.letter_mass)


def test_what_nobody_knows_stays_unknown(home: Path):
    custom_question.write_answer(replace(ANSWER, letter_mass=math.nan, recorded_difference=math.nan))
    back = custom_question.read_answer(ANSWER.answer_id)
    assert math.isnan(back.letter_mass)
    assert math.isnan(back.recorded_difference)
    assert back.is_as_recorded


OPTION_OF_A_NUMBER = json.dumps({"own": {"options": ["x", 1]} | dict.fromkeys(("model", "run_id", "question"), "m")})


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"own": 1}', OPTION_OF_A_NUMBER])
def test_what_can_not_be_read(home: Path, text: str):
    custom_question.write_answer(ANSWER)
    (home / "answers" / f"{ANSWER.answer_id}.json").write_text(text)
    with pytest.raises(InputError, match="can't be read"):
        custom_question.read_answer(ANSWER.answer_id)
    for name in ("", "../../etc/passwd", "x" * 16, "0" * 15, "0" * 16):
        with pytest.raises(InputError, match="ask the question again"):
            custom_question.read_answer(name)


def test_the_oldest_are_forgotten(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(custom_question, "KEPT", 3)
    answers = [replace(ANSWER, own=replace(ANSWER.own, question=f"What {i}?")) for i in range(5)]
    for i, answer in enumerate(answers):
        custom_question.write_answer(answer)
        os.utime(home / "answers" / f"{answer.answer_id}.json", (i, i))
    names = {path.stem for path in (home / "answers").iterdir()}
    assert names >= {answer.answer_id for answer in answers[3:]}
    assert len(names) == 3


def test_the_last_loading_of_a_model_is_found_among_the_latest_answers(home: Path):
    assert custom_question.last_loading_s("m") is None
    for place, loading_s in enumerate((4.5, 3.5, 0.0)):
        answer = replace(ANSWER, own=replace(ANSWER.own, question=f"What {place}?"), loading_s=loading_s)
        custom_question.write_answer(answer)
        os.utime(home / "answers" / f"{answer.answer_id}.json", (place, place))
    assert custom_question.last_loading_s("m") == 3.5
    assert custom_question.last_loading_s("n") is None
