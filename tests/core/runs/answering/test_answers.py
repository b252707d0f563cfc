"""Answers on disk."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.runs.answering import answers
from core.runs.answering.answers import ModelAnswer
from core.runs.answering.custom_question import OwnQuestion

ANSWER = ModelAnswer(
    own=OwnQuestion("m", "r", "What?", ("x", "y"), extra=False),
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


def test_an_answer_is_read_as_it_was_written(home: Path):
    answers.write(ANSWER)
    assert answers.read(ANSWER.answer_id) == ANSWER
    text = (home / "answers" / f"{ANSWER.answer_id}.json").read_text()
    assert json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_what_nobody_knows_stays_unknown(home: Path):
    answers.write(replace(ANSWER, letter_mass=math.nan, recorded_difference=math.nan))
    back = answers.read(ANSWER.answer_id)
    assert math.isnan(back.letter_mass)
    assert math.isnan(back.recorded_difference)
    assert back.is_as_recorded


def test_an_answer_other_than_recorded_is_told():
    assert ANSWER.is_as_recorded
    assert not replace(ANSWER, recorded_difference=0.2).is_as_recorded


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "x" * 16, "0" * 15, "0" * 16])
def test_what_is_not_there(home: Path, name: str):
    with pytest.raises(InputError, match="ask the question again"):
        answers.read(name)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"own": 1}'])
def test_what_can_not_be_read(home: Path, text: str):
    answers.write(ANSWER)
    (home / "answers" / f"{ANSWER.answer_id}.json").write_text(text)
    with pytest.raises(InputError, match="can't be read"):
        answers.read(ANSWER.answer_id)


def test_the_oldest_are_forgotten(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(answers, "KEPT", 3)
    asked = [replace(ANSWER, own=replace(ANSWER.own, question=f"What {i}?")) for i in range(5)]
    for i, answer in enumerate(asked):
        answers.write(answer)
        os.utime(home / "answers" / f"{answer.answer_id}.json", (i, i))
    kept = {path.stem for path in (home / "answers").iterdir()}
    assert kept >= {answer.answer_id for answer in asked[3:]}
    assert len(kept) == 3
