"""A question as a typed decision, for endpoints that answer with a probability for every option instead of text.

Two request formats exist. ``systemone`` is ``POST /v1/systemone`` (TypeSafe, vLLM, LiteLLM, Upstage, Fireworks), and
``decisions`` is ``POST /v1/decisions`` (OpenAI, SGLang, LiteLLM; types in the package ``openai``). In both, a question
becomes one ``choice``: its context is the state or the input, the question is the instructions, and each option is a
letter with its text as the description. A question with ordered options becomes a ``score``, whose levels are its
options. A prompt's text is the request itself as JSON, without the model's name.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InputError
from core.questions.prompting.strategies import BETWEEN, instruction
from core.records import OPTION_NAMES, Prompt, Question

SYSTEM_ONE, DECISIONS = "systemone", "decisions"
DECISION_FORMATS = (SYSTEM_ONE, DECISIONS)
"""The formats of requests for decisions, beside those of prompts."""
MOST_TOGETHER: Mapping[str, int] = {SYSTEM_ONE: 64, DECISIONS: 400}
"""The most questions of one request: vLLM's limit, and that of OpenAI."""


MOST_LEVELS = 10
"""The most levels of a ``score``, in both formats."""


def name_of(place: int) -> str:
    """The name of a request's question at this place, from 0. The model may read it, so it says nothing."""
    return f"q{place + 1}"


def decision_prompt(question: Question, *, strategy: str, demonstrations: Sequence[Question], form: str) -> Prompt:
    """The request that asks one question in the format ``form``, one of :data:`DECISION_FORMATS`.

    Options beyond Z have two letters. Raises :class:`~core.errors.InputError` for demonstrations, which these requests
    have no place for, and for a question with more levels than :data:`MOST_LEVELS`.

    >>> q = Question("1", "qa", "sums", "", "What is 1 + 1?", ("2", "3"), 0)
    >>> json.loads(decision_prompt(q, strategy="base", demonstrations=(), form="systemone").text)["questions"]["q1"]
    {'type': 'choice', 'instructions': 'What is 1 + 1?', 'criteria': {'A': '2', 'B': '3'}}
    """
    if demonstrations:
        raise InputError("a request for a decision has no place for demonstrations; ask with 0 shots")
    if question.ordered and len(question.options) > MOST_LEVELS:
        raise InputError(
            f"question {question.id!r} has {len(question.options)} ordered options, and a request for a decision may "
            f"have at most {MOST_LEVELS} levels; leave options out, or ask in another format"
        )
    opening = instruction(strategy, question.task)
    instructions = f"{opening}{BETWEEN}{question.question}" if opening else question.question
    options = dict(zip(OPTION_NAMES, question.options, strict=False))
    asked = {"type": "score" if question.ordered else "choice", "instructions": instructions}
    if form == SYSTEM_ONE:
        request: dict[str, Any] = {
            "state": question.context,
            "questions": {name_of(0): {**asked, "criteria": list(question.options) if question.ordered else options}},
        }
    else:
        many, one = ("levels", "label") if question.ordered else ("choices", "value")
        choices = [{one: letter, "description": text} for letter, text in options.items()]
        request = {"input": question.context, "questions": [{**asked, "name": name_of(0), many: choices}]}
    text = json.dumps(request, ensure_ascii=False, indent=2)
    return Prompt(question.id, text, len(options), ordered=question.ordered)


def verdict_request(name: str, question: str, answer: str, *, form: str, as_choice: bool = False) -> Prompt:
    """The request to a juror whether an answer is right, a ``noul`` or a ``predicate``, or a ``choice`` between yes and
    no; what comes back is the probability of yes, which is the first of two options.

    >>> json.loads(verdict_request("1", "What is 1 + 1?", "3", form="decisions").text)["questions"][0]["instructions"]
    'The answer “3” to the question “What is 1 + 1?” is right.'
    """
    statement = f"The answer “{answer}” to the question “{question}” is right."
    if as_choice:
        options = Question(name, "", "", "", f"{statement} Is this so?", ("yes", "no"), 0)
        return decision_prompt(options, strategy="base", demonstrations=(), form=form)
    if form == SYSTEM_ONE:
        asked = {"type": "noul", "instructions": f"{statement} Is this so?"}
        request: dict[str, Any] = {"state": "", "questions": {name_of(0): asked}}
    else:
        asked = {"type": "predicate", "instructions": statement, "name": name_of(0)}
        request = {"input": "", "questions": [asked]}
    return Prompt(name, json.dumps(request, ensure_ascii=False, indent=2), 2)


def joined_request(prompts: Sequence[Prompt]) -> dict[str, Any]:
    """One request for several prompts of :func:`decision_prompt` that have the same context (:func:`shared_part`)."""
    requests = [json.loads(prompt.text) for prompt in prompts]
    questions = [_question(request) for request in requests]
    if "state" in requests[0]:
        return {**requests[0], "questions": {name_of(i): question for i, question in enumerate(questions)}}
    return {**requests[0], "questions": [{**question, "name": name_of(i)} for i, question in enumerate(questions)]}


def shared_part(prompt: Prompt) -> str:
    """What prompts must have in common to go into one request: their context."""
    request = json.loads(prompt.text)
    return str(request.get("state", request.get("input")))


def _question(request: Mapping[str, Any]) -> dict[str, Any]:
    questions = request["questions"]
    return dict(questions[name_of(0)] if isinstance(questions, dict) else questions[0])
