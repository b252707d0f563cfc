"""A score about ordered options gives what a choice of the same letters gives, or one sentence."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from core.models.server.decision_replies import level_probabilities
from core.models.server.decisions import DecisionEngine
from core.questions import bank
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import form_prompt
from core.records import joined
from tests.core.models.server.conftest import MODEL, SOON

PATHS = tuple(f"/{form}" for form in DECISION_FORMATS)


@pytest.fixture(params=DECISION_FORMATS)
def asked(request, server) -> Iterator[DecisionEngine]:
    """An engine that asks in each format, after its self-check."""
    server.reset(decisions=PATHS)
    with closing(DecisionEngine.asking(request.param).load(MODEL, servers=[server.url], patience=SOON)) as engine:
        prompts = leveled(request.param)
        engine.prepare(prompts)
        assert engine.self_check(prompts).passed
        yield engine


def leveled(form: str, n: int = 6):
    questions = [replace(q, options=q.options[:4], label=0, ordered=True) for q in bank.load("qa")[:n]]
    return [form_prompt(q, form="letters", strategy="base", demonstrations=(), prompt_format=form) for q in questions]


def answers_of(engine, prompts):
    return joined(rows := list(engine.score(prompts)), [row.ids[0] for row in rows], k=4)


def test_a_score_gives_what_a_choice_of_the_same_letters_gives(asked):
    prompts = leveled(asked.decisions)
    scores = answers_of(asked, prompts)
    plain = [replace(q, options=q.options[:4], label=0) for q in bank.load("qa")[:6]]
    ways = {"form": "letters", "strategy": "base", "demonstrations": (), "prompt_format": asked.decisions}
    letters = answers_of(asked, [form_prompt(q, **ways) for q in plain])
    order = [letters.ids.index(name) for name in scores.ids]
    assert np.array_equal(scores.probabilities, letters.probabilities[order])


def as_pairs(answer):
    """The levels of an answer in either format, as pairs."""
    given = answer["probabilities"]
    return list(given.items()) if isinstance(given, dict) else [(each["value"], each["probability"]) for each in given]


def releveled(answer, pairs):
    """The answer with other levels, in its format."""
    if isinstance(answer["probabilities"], dict):
        return {**answer, "probabilities": {str(level): p for level, p in pairs}}
    return {**answer, "probabilities": [{"value": level, "probability": p} for level, p in pairs]}


WRONG_LEVELS = {
    "no probabilities": (lambda answer: {"type": "score", "score": 1}, "the answer has no probabilities"),
    "a choice": (lambda answer: {**answer, "type": "choice"}, "the answer is a 'choice', and a score was asked for"),
    "a level is missing": (lambda answer: releveled(answer, as_pairs(answer)[1:]), "the answer lacks the option '0'"),
    "a level too many": (
        lambda answer: releveled(answer, [*as_pairs(answer), (4, 0.0)]),
        ("'4', which", "the level 4"),
    ),
    "from 1": (
        lambda answer: releveled(answer, [(level + 1, p) for level, (_, p) in enumerate(as_pairs(answer))]),
        ("'4', which was not asked for", "the level 4, and the levels count from 0 to 3"),
    ),
    "letters": (
        lambda answer: releveled(answer, [("ABCD"[level], p) for level, (_, p) in enumerate(as_pairs(answer))]),
        ("'A', which was not asked for", "the level 'A', and the levels count from 0 to 3"),
    ),
    "not a number": (
        lambda answer: releveled(answer, [(level, "NaN") for level, _ in as_pairs(answer)]),
        "the probability of '0' is 'NaN'",
    ),
    "a sum below 1": (
        lambda answer: releveled(answer, [(level, 0.1) for level, _ in as_pairs(answer)]),
        "the probabilities sum to 0.4",
    ),
    "a score beyond": (lambda answer: {**answer, "score": 3.5}, "the score is 3.5, and the levels count from 0 to 3"),
    "a score below": (lambda answer: {**answer, "score": -1}, "the score is -1, and"),
    "a text as a score": (lambda answer: {**answer, "score": "high"}, "the score is high, and"),
}


@pytest.mark.parametrize("wrong", WRONG_LEVELS)
def test_a_wrong_score_is_a_missing_question_with_a_reason(server, asked, wrong):
    spoil, reasons = WRONG_LEVELS[wrong]
    reason = reasons if isinstance(reasons, str) else reasons[DECISION_FORMATS.index(asked.decisions)]
    prompts = leveled(asked.decisions)
    spoiled = bank.load("qa")[3].question
    server.behaviour.graded = lambda answer: spoil(answer) if answer["asked"] == spoiled else answer
    answered = {row.ids[0] for row in asked.score(prompts)}
    assert answered == {prompt.question_id for prompt in prompts} - {prompts[3].question_id}
    (missing,) = asked.left_out.missing.values()
    assert reason in missing.reason


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([(0, "A", 0.5), (0, "A", 0.1), (1, "B", 0.4)], "names the option '0' twice"),
        ([(0, "B", 0.5), (1, "A", 0.5)], "calls level 0 'B', and it was 'A'"),
        ([(True, "B", 0.5), (0, "A", 0.5)], "names the level True, and the levels count from 0 to 1"),
        ([(1.0, "B", 0.5), (0, "A", 0.5)], "names the level 1.0, and"),
        ([(10**400, "B", 0.5), (0, "A", 0.5)], "names the level 1000"),
        ([(None, None, 0.5), (0, "A", 0.5)], "names the level None, and"),
    ],
)
def test_levels_by_their_numbers_and_labels(entries, reason):
    given = [{"value": value, "label": label, "probability": p} for value, label, p in entries]
    assert reason in level_probabilities({"type": "score", "score": 0.5, "probabilities": given}, 2).reason
