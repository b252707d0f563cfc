"""What a server that answers decisions may do, in both formats: each outcome is the right figures, one question that is
missing with its reason, or one clear sentence."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import HedgeError
from core.models.server.client import ServerClient
from core.models.server.decision_probe import decision_of_probe
from core.models.server.decision_replies import Fault
from core.models.server.decisions import DecisionEngine
from core.questions.prompting.decision import DECISION_FORMATS
from tests.core.models.server.conftest import MODEL, SOON
from tests.core.models.server.test_decisions import PATHS, asked, truth  # noqa: F401 - a fixture

KEY = "sk-planted-decision-5b2e77"
HASTY = replace(SOON, answer_s=1.0, gone_s=0.5, tries=2)
MB = 1_000_000
Reply = dict[str, Any]


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", KEY)


def answers_of(reply: Reply) -> list[Any]:
    answers = reply["answers"]
    return list(answers.values()) if isinstance(answers, dict) else answers


def each(change: Callable[[Reply], Any]) -> Callable[[Reply], Reply]:
    """Change every answer of a reply."""

    def changed(reply: Reply) -> Reply:
        answers = reply["answers"]
        if isinstance(answers, dict):
            return {**reply, "answers": {name: change(answer) for name, answer in answers.items()}}
        return {**reply, "answers": [change(answer) for answer in answers]}

    return changed


def with_probabilities(change: Callable[[list[tuple[str, Any]]], list[tuple[Any, Any]]]) -> Callable[[Reply], Reply]:
    """Change the pairs of option and probability of every answer."""

    def changed(answer: Reply) -> Reply:
        given = answer["probabilities"]
        if isinstance(given, dict):
            return {**answer, "probabilities": dict(change(list(given.items())))}
        pairs = change([(entry["value"], entry["probability"]) for entry in given])
        return {**answer, "probabilities": [{"value": value, "probability": p} for value, p in pairs]}

    return each(changed)


def backwards(reply: Reply, *, names: bool = True) -> Reply:
    answers = reply["answers"]
    if isinstance(answers, dict):
        return {**reply, "answers": dict(reversed(answers.items()))}
    kept = [answer if names else {key: answer[key] for key in answer if key != "name"} for answer in answers]
    return {**reply, "answers": kept[::-1]}


def at_most(questions: int, words: str = "") -> Callable[[str, Reply], tuple[int, Any] | None]:
    def refusal(path: str, body: Reply) -> tuple[int, Any] | None:
        return (400, {"error": {"message": words or "too many"}}) if len(body["questions"]) > questions else None

    return refusal


def mass(value: Any) -> Callable[[Reply], Reply]:
    """A label mass in the answers, as SGLang writes it, and none in the diagnostics."""

    def changed(reply: Reply) -> Reply:
        return each(lambda answer: {**answer, "x_label_mass": value})({**reply, "diagnostics": {}})

    return changed


def every_third(kind: str) -> dict[str, Any]:
    return {"fault": lambda number: kind if number % 3 == 1 else "", "stall_s": 3.0}


RIGHT: dict[str, dict[str, Any]] = {
    "the options in another order": {"deciding": with_probabilities(lambda pairs: pairs[::-1])},
    "options with spaces": {"deciding": with_probabilities(lambda pairs: [(f" {name} ", p) for name, p in pairs])},
    "the answers in another order, with names": {"deciding": backwards},
    "the answers in another order, without names": {"deciding": lambda reply: backwards(reply, names=False)},
    "no names": {"deciding": lambda reply: backwards(backwards(reply), names=False) if len(answers_of(reply)) < 2
                 else reply},
    "the last answer of many is missing": {"deciding": lambda reply: without_last(reply)},
    "fewer questions than the format allows": {"strict": at_most(5)},
    "fewer questions, by a number": {"strict": at_most(5, "questions: at most 5 for this model")},
    "fewer questions, by another number": {"strict": at_most(3, "questions: at most 200")},
    "one question in a request": {"strict": at_most(1)},
    "another name of the model": {"deciding": lambda reply: {**reply, "model": "pocket-3m-2026-09-01"}},
    "no label mass": {"deciding": mass(None)},
    "a label mass": {"deciding": mass(0.875)},
    "a label mass above 1": {"deciding": mass(7)},
    "a negative label mass": {"deciding": mass(-1)},
    "a label mass in words": {"deciding": mass("all")},
    "a label mass that is true": {"deciding": mass(True)},
    "fields that nobody asked for": {"deciding": lambda reply: {**each(lambda answer: {**answer, "x": [{}] * 9})(reply),
                                                                "usage": "many", "diagnostics": [1]}},
    "the chosen option's probability": {"deciding": each(lambda answer: {**answer, "probability": 0.9})},
    "no usage": {"deciding": lambda reply: {key: reply[key] for key in reply if key != "usage"}},
    **{f"every third request ends in {kind}": every_third(kind) for kind in (
        "429", "429 0.05", "429 Thu, 01 Jan 2026 00:00:00 GMT", "500", "503", "cut", "malformed", "list", "no-choice",
        "short", "stall")},
}  # fmt: skip


def without_last(reply: Reply) -> Reply:
    if len(answers_of(reply)) < 2:
        return reply
    answers = reply["answers"]
    kept = dict(list(answers.items())[:-1]) if isinstance(answers, dict) else answers[:-1]
    return {**reply, "answers": kept}


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("situation", RIGHT)
def test_the_figures_are_right(server, truth, form, situation):  # noqa: F811
    server.reset(decisions=PATHS, completions=False, chat=False)
    patience = replace(SOON, answer_s=1.0, gone_s=20.0, tries=8) if "stall" in situation else SOON
    engine = DecisionEngine.asking(form).load(MODEL, servers=[server.url], patience=patience)
    try:
        server.reset(decisions=PATHS, completions=False, chat=False, **RIGHT[situation])
        prompts = asked(form)
        engine.prepare(prompts)
        engine.self_check(prompts)
        rows = {row.ids[0]: row for row in engine.score(prompts)}
        assert engine.left_out.missing == {}
        given = np.array([rows[prompt.question_id].probabilities[0] for prompt in prompts])
        assert np.abs(given - truth).max() < 1e-6
        if "label mass" in situation:
            (known,) = {None if np.isnan(row.letter_mass[0]) else row.letter_mass[0] for row in rows.values()}
            assert known == (0.875 if situation == "a label mass" else None)
        assert engine.description["answered_as"] == [
            "pocket-3m-2026-09-01" if "another name" in situation else "pocket-3m"
        ]
        if "without names" in situation and form == "decisions":
            assert engine.together == 1  # which answer is whose shows only one by one
    finally:
        engine.close()


def only(option: str, value: Any) -> Callable[[Reply], Reply]:
    """Give one option another probability."""
    return with_probabilities(lambda pairs: [(name, value if name == option else p) for name, p in pairs])


MISSING: dict[str, tuple[Callable[[Reply], Any], str]] = {
    "null": (only("A", None), "the probability of 'A' is None"),
    "a text": (only("A", "0.5"), "the probability of 'A' is '0.5'"),
    "NaN": (only("A", float("nan")), "the probability of 'A' is nan"),
    "infinity": (only("A", float("inf")), "the probability of 'A' is inf"),
    "a list": (only("A", [0.5]), "the probability of 'A' is [0.5]"),
    "more than 1": (only("A", 1.5), "the probability of 'A' is 1.5"),
    "a sum above 1": (with_probabilities(lambda pairs: [(name, 0.5) for name, _ in pairs]), "the probabilities sum to"),
    "an option of escapes": (
        with_probabilities(lambda pairs: [*pairs, ("\x1b[2J\u202ex\ny", 0.1)]),
        "names the option '[2J x y', which was not asked for",
    ),
    "a huge option": (with_probabilities(lambda pairs: [*pairs, ("x" * 10_000, 0.1)]), "which was not asked for"),
    "no options": (with_probabilities(lambda pairs: []), "the answer lacks the option 'A', and others"),
    "yes or no": (each(lambda answer: {"type": "noul", "noul": 0.5}), "the answer has no probabilities"),
    "words": (each(lambda answer: "A"), "the answer has no probabilities"),
    "a number": (each(lambda answer: 0.5), "the answer has no probabilities"),
    "a refusal with escapes": (
        each(lambda answer: {"type": "refusal", "refusal": "\x1b]0;owned\x07No,\nnever."}),
        'the model declined to answer, "]0;owned No, never."',
    ),
    "a refusal with the key": (
        each(lambda answer: {"refusal": f"not for Bearer {KEY}"}),
        'the model declined to answer, "not for Bearer (the key)"',
    ),
    "no answer": (lambda reply: {**reply, "answers": {}}, "the reply has no answer to it"),
    "two answers": (lambda reply: {**reply, "answers": answers_of(reply) * 2}, "questions has 2 answers"),
    "another question's name": (
        lambda reply: {**reply, "answers": [{**answer, "name": "q7"} for answer in answers_of(reply)]},
        "the server's answers have other names than the questions",
    ),
}


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("situation", MISSING)
def test_a_question_is_missing_with_its_reason(server, form, situation):
    """It is the one question of its request, asked once more, or divided from the others."""
    change, reason = MISSING[situation]
    server.reset(decisions=PATHS)
    prompts = asked(form)
    engine = DecisionEngine.asking(form).load(
        MODEL, servers=[server.url], key_variable="PLANTED_API_KEY", patience=SOON
    )
    try:
        engine.prepare(prompts)
        engine.self_check(prompts)
        engine.together = 1
        bad = prompts[3]
        named = json.loads(bad.text)["questions"]
        instructions = (named["q1"] if isinstance(named, dict) else named[0])["instructions"]
        server.behaviour.deciding = lambda reply: (
            change(reply) if any(instructions == answer["asked"] for answer in answers_of(reply)) else reply
        )
        ids = {row.ids[0] for row in engine.score(prompts)}
        assert ids == {prompt.question_id for prompt in prompts} - {bad.question_id}
        (missing,) = engine.left_out.missing.values()
        assert reason in missing.reason
        assert missing.reason.isprintable()
        assert KEY not in missing.reason + str(missing.error)
        assert len(missing.reason) < 250
    finally:
        engine.close()


def says(status: int, words: str) -> dict[str, Any]:
    return {"strict": lambda path, body: (status, {"error": {"message": words}})}


def sends(content: Any) -> dict[str, Any]:
    return {"deciding": lambda reply: content}


SENTENCES: dict[str, tuple[dict[str, Any], str, str]] = {
    # what it does: what a person reads if it does so from the start, and if it begins after the self-check
    "501": (says(501, "no read strategy"), "(HTTP status 501, \"no read strategy\")", "HTTP status 501 and says"),
    "400": (says(400, "label J is not one token"), '(HTTP status 400, "label J is not one token")',
            "gives no answer to 11 of 12 questions, and at most 10 can be left out; the last one: HTTP status 400"),
    "401": (says(401, "no"), "refuses the key in PLANTED_API_KEY", "refuses the key in PLANTED_API_KEY"),
    "403": (says(403, "no"), 'HTTP status 403, "no"); check the address, the model and the key',
            "refuses the key in PLANTED_API_KEY"),
    "402": (says(402, "no credit"), "asks for payment", "asks for payment"),
    "404": (says(404, "gone"), 'HTTP status 404, "gone"', "refuses with HTTP status 404"),
    "422": (says(422, "extra field 'name'"), "HTTP status 422", "gives no answer to 11 of 12 questions"),
    "429": ({"fault": lambda number: "429"}, "has too many requests", "has too many requests"),
    "429 for an hour": ({"fault": lambda number: "429 3600"}, "asks to wait until", "asks to wait until"),
    "500": ({"fault": lambda number: "500"}, "fails with HTTP status 500", "fails with HTTP status 500"),
    "503": ({"fault": lambda number: "503"}, "fails with HTTP status 503", "fails with HTTP status 503"),
    "no answer in time": ({"fault": lambda number: "stall", "stall_s": 3.0}, "does not answer within 1 s",
                          "does not answer within 1 s"),
    "half a reply": ({"fault": lambda number: "cut"}, "cuts the connection", "cuts the connection"),
    "a redirect": ({"fault": lambda number: "redirect"}, "HTTP status 307", "redirects to https://elsewhere.example"),
    "no JSON": (sends(b'{"answers": ['), "can't be read (no JSON)", "can't be read (no JSON)"),
    "no UTF-8": (sends(b'{"answers": "\xff\xfe"}'), "can't be read (no JSON)", "can't be read (no JSON)"),
    "deep JSON": (sends(b'{"answers": ' + b"[" * 100_000), "can't be read (no JSON)", "can't be read (no JSON)"),
    "a huge reply": (sends(b'{"answers": "' + b"x" * 5 * MB + b'"}'), "more than 1,000,800 bytes",
                     "more than 1,0"),
    "a list": (sends([1, 2]), "list and no object", "list and no object"),
    "no answers": (sends({"model": "x"}), "reply to 1 questions has no answers", "gives no answer to 11 of 12"),
    "answers in words": (sends({"answers": "A"}), "reply to 1 questions has no answers", "gives no answer to 11 of 12"),
    "an error as an answer": (sends({"error": {"message": "\x1b[2Jno", "code": 400}}), "HTTP status 400",
                              "gives no answer to 11 of 12 questions"),
    "refusals": ({"decided": lambda number, answer: {"type": "refusal", "refusal": "I do not decide."}},
                 'the model declined to answer, "I do not decide."', "declined to answer"),
    "a key in its words": (says(400, f"wrong {KEY}, Bearer {KEY}"), "wrong (the key)", "wrong (the key)"),
}  # fmt: skip


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("situation", SENTENCES)
def test_one_sentence_says_what_is_wrong(server, form, situation):
    behaviour, at_first, later = SENTENCES[situation]
    known = {"decisions": PATHS, "completions": False, "chat": False}
    patience = HASTY if situation == "no answer in time" else replace(HASTY, answer_s=60)

    def load():
        return DecisionEngine.asking(form).load(
            MODEL, servers=[server.url], key_variable="PLANTED_API_KEY", patience=patience
        )

    server.reset(**known, **behaviour)
    with pytest.raises(HedgeError) as refused:
        load()
    check_sentence(str(refused.value), at_first)
    server.reset(**known)
    engine = load()
    try:
        prompts = asked(form)
        engine.prepare(prompts)
        engine.self_check(prompts)
        server.reset(**known, **behaviour)
        with pytest.raises(HedgeError) as refused:
            list(engine.score(prompts))
        check_sentence(str(refused.value), later)
    finally:
        engine.close()


def check_sentence(sentence: str, expected: str) -> None:
    assert expected in sentence
    assert sentence.isprintable()
    assert KEY not in sentence
    assert len(sentence) < 700


def test_a_probe_repeats_no_key(server):
    server.reset(decisions=PATHS, decided=lambda number, answer: {"refusal": f"not for {KEY}"})
    with ServerClient([server.url], key_variable="PLANTED_API_KEY", patience=SOON) as client:
        for form in DECISION_FORMATS:
            words = decision_of_probe(client, server.url, MODEL, form)
            assert isinstance(words, Fault)
            assert words.reason == 'the model declined to answer, "not for (the key)"'
