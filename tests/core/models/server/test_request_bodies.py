"""Every request states how tokens are chosen, whatever a server accepts, and written answers equal those of a local
model."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import ServerError
from core.jury.pipeline.jury_spec import answer_prompt
from core.models.generation import Generator
from core.models.server.advice import asked_changes, guessed_changes
from core.models.server.bodies import BESIDE, NEUTRAL, PROTOCOL
from core.questions import bank, trivia
from core.questions.prompting.cloze import cloze_prompt
from core.questions.prompting.strategies import prompt
from tests.core.models.server.conftest import MODEL, scored

OPENAI = {"model", "prompt", "messages", "max_tokens", "temperature", "logprobs", "top_logprobs", "echo", "seed"}
OPENAI |= {"stop", *PROTOCOL}


class Strict:
    """Refuses bodies by ``refusal`` and keeps those that it accepts."""

    def __init__(self, refusal) -> None:
        self.refusal = refusal
        self.accepted: list[dict] = []
        self.refused = 0

    def __call__(self, path, body):
        answer = self.refusal(body)
        self.refused += answer is not None
        if answer is None:
            self.accepted.append(body)
        return answer


def error(status: int, message: str):
    return status, {"error": {"message": message}}


def openai(body):
    """Names the first field that it does not know."""
    unknown = sorted(set(body) - OPENAI)
    return error(400, f"Unknown parameter: '{unknown[0]}'.") if unknown else None


def all_at_once(body):
    unknown = sorted(set(body) - OPENAI)
    return error(400, f"Unrecognized request arguments supplied: {', '.join(unknown)}") if unknown else None


def pydantic(body):
    """As FastAPI refuses fields beside its model."""
    unknown = [{"type": "extra_forbidden", "loc": ["body", name], "input": 1} for name in body if name not in OPENAI]
    return (422, {"detail": unknown}) if unknown else None


def silent(body):
    """Says nothing about the field."""
    return error(400, "Bad request") if set(body) - OPENAI else None


def silent_about_all(body):
    return error(422, "Invalid input") if set(body) & {*NEUTRAL} else None


def reasoning(body):
    """As models of OpenAI that refuse fields of its own protocol, and one after the other."""
    named = [name for name in (*BESIDE, *PROTOCOL) if name in body]
    return error(400, f"Unsupported parameter: '{named[0]}' is not supported with this model.") if named else None


def zero(body):
    """As OpenRouter."""
    return error(400, "top_k: Number must be greater than or equal to 0") if body.get("top_k", 0) < 0 else None


def zero_with_500(body):
    """As llama-cpp-python."""
    text = "[{'type': 'greater_than_equal', 'loc': ('body', 'top_k'), 'msg': 'should be at least 0', 'input': -1}]"
    return error(500, text) if body.get("top_k", 0) < 0 else None


def text_generation_inference(body):
    """Its penalties have other scales, so they may not stay."""
    if body.get("top_p") == 1:
        return 422, {"error": "Input validation error: `top_p` must be > 0.0 and < 1.0", "error_type": "validation"}
    assert "presence_penalty" not in body
    return None


LEFT_OUT = {
    openai: set(BESIDE),
    all_at_once: set(BESIDE),
    pydantic: set(BESIDE),
    silent: set(BESIDE),
    silent_about_all: set(NEUTRAL),
    reasoning: set(NEUTRAL),
    zero: set(),
    zero_with_500: set(),
    text_generation_inference: set(PROTOCOL),
}


def letter_prompts(n=2, *, chat=False):
    return [replace(prompt(question), chat=chat) for question in bank.load("qa")[:n]]


def everything(engine):
    """What an engine is asked for: letters, letters in a chat, texts, a text's tokens, sampled and greedy answers."""
    texts = [cloze_prompt(question) for question in bank.load("qa")[:2]]
    logits = [scored(engine, prompts).logits for prompts in (letter_prompts(), letter_prompts(chat=True), texts)]
    engine.echo_rows("The sky is blue.", listed=5)
    written = dict(engine.write(letter_prompts(), repeats=2, seeds=[1, 2]))
    return [*logits, written, dict(engine.answers([answer_prompt("What colour is grass?")]))]


def test_every_request_states_all_fields(server, load):
    strict = Strict(lambda body: None)
    server.reset(strict=strict, by_id=True)
    everything(engine := load(server))
    assert len(strict.accepted) > 20
    for body in strict.accepted:
        assert {name: body.get(name) for name in NEUTRAL} == dict(NEUTRAL), body
        assert body["temperature"] == (1 if "seed" in body else 0)
        assert "stop" not in body
    assert engine.description["sampling_unstated"] == ""


@pytest.mark.parametrize("refusal", LEFT_OUT, ids=lambda refusal: refusal.__name__)
def test_fields_that_a_server_refuses_are_left_out_and_the_figures_stay(server, load, refusal):
    server.reset()
    expected = everything(load(server))
    strict = Strict(refusal)
    server.reset(strict=strict)
    engine = load(server)
    known = strict.refused
    scores = everything(engine)
    assert strict.refused == known  # found out once for each endpoint, by what is asked before a run
    assert known <= 2 * (len(NEUTRAL) + 1) + 2
    for actual, other in zip(scores, expected, strict=True):
        assert actual == other if isinstance(actual, dict) else np.allclose(actual, other, atol=1e-6, rtol=0)
    assert set(filter(None, engine.description["sampling_unstated"].split(", "))) == LEFT_OUT[refusal]
    for body in strict.accepted:
        assert {name for name in NEUTRAL if name not in body} == LEFT_OUT[refusal]
        assert body.get("top_k", 0) <= 0


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "logprobs must be at most 20"),
        (400, "no such model"),
        (400, "This model's maximum context length is 512 tokens"),
        (404, "Unknown path"),
        (401, "top_k"),
        (429, "top_k"),
        (503, "top_k"),
        (500, "it broke"),
    ],
)
def test_a_refusal_of_something_else_leaves_no_field_out(status, message):
    body = {"model": "m", "prompt": "x", "logprobs": 20, **NEUTRAL}
    assert asked_changes(message, body, status=status) == guessed_changes(message, body, status=status) == ()


def test_a_server_that_has_accepted_a_request_is_not_asked_again_in_another_form(server, load):
    """A filter refuses single questions, and says nothing about fields."""
    strict = Strict(lambda body: error(400, "The response was filtered") if "Rome" in str(body) else None)
    server.reset(strict=strict)
    engine = load(server)
    with pytest.raises(ServerError, match="The response was filtered"):
        engine.echo_rows("Rome is a city.", listed=5)
    assert (strict.refused, engine.description["sampling_unstated"]) == (1, "")


@pytest.mark.parametrize("before", ["", "\n", "\n\n \n", "\r\n", "\u2028", "\u00a0\n", "<think>Hm.\n</think>\n\n"])
def test_greedy_answers_of_a_server_equal_those_of_a_local_model(server, load, before):
    prompts = [answer_prompt(question.question) for question in trivia.read("trivia")[:8]]
    local = dict(Generator.load(MODEL, dtype="float32").answers(prompts))
    server.reset(before=before)
    assert dict(load(server).answers(prompts)) == local
    assert all(local.values())


def test_an_answer_that_ends_while_the_model_thinks_is_empty(server, load):
    server.reset(before="<think>\nThe grass is green, so ")
    assert dict(load(server).answers([answer_prompt("What colour is grass?")])) == {0: ""}
