"""A server that answers decisions gives what the local model gives, or one clear sentence, in both formats."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError, SelfCheckError
from core.models import verdicts
from core.models.model_sources import resolve
from core.models.server.client import ServerClient
from core.models.server.connect import abilities_of
from core.models.server.decision_probe import decision_of_probe
from core.models.server.decision_replies import Decided, Fault, decided, decimals_together
from core.models.server.decisions import DecisionEngine
from core.models.server.reply_body import parsed
from core.models.transformers_engine import TransformersEngine
from core.models.verdicts import judge
from core.questions import bank
from core.questions.prompting.decision import DECISION_FORMATS, verdict_request
from core.questions.prompting.forms import form_prompt
from core.records import joined
from core.runs.caveats import VARIATION, of_record
from core.runs.spec import SERVED, RunSpec
from tests.core.models.server.conftest import MODEL, SOON, scored
from tests.core.models.server.loopback import loopback_server

PATHS = tuple(f"/{form}" for form in DECISION_FORMATS)


def asked(form: str, n: int = 12, task: str = "qa"):
    questions = bank.load(task)[:n]
    return [form_prompt(q, form="letters", strategy="base", demonstrations=(), prompt_format=form) for q in questions]


@pytest.fixture(scope="module")
def truth():
    engine = TransformersEngine.load(resolve(MODEL), dtype="float32")
    exact = scored(engine, asked("plain"))
    shares = np.exp(exact.logits.astype(float))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.fixture
def load() -> Iterator:
    with ExitStack() as stack:

        def loaded(server, form, *more):
            engine = DecisionEngine.asking(form).load(MODEL, servers=[server.url, *more], patience=SOON)
            return stack.enter_context(closing(engine))

        yield loaded


def score(engine, form, n=12):
    prompts = asked(form, n)
    engine.prepare(prompts)
    check = engine.self_check(prompts)
    assert check.passed
    return joined(rows := list(engine.score(prompts)), [row.ids[0] for row in rows], k=6), check


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_decisions_equal_the_local_model_together_and_one_by_one(server, load, truth, form):
    server.reset(decisions=PATHS)
    engine = load(server, form)
    scores, check = score(engine, form)
    assert "up to" in check.rung
    order = [scores.ids.index(prompt.question_id) for prompt in asked(form)]
    assert np.abs(scores.probabilities[order] - truth).max() < 1e-6
    assert scores.bounded is None
    assert np.isnan(scores.letter_mass).all() == (form == "decisions")
    engine.together = 1
    alone = joined(list(engine.score(asked(form))), scores.ids, k=6)
    assert np.array_equal(alone.probabilities, scores.probabilities)


def without(answer, *options, **others):
    kept = {option: p for option, p in answer["probabilities"].items() if option not in options}
    return {**answer, "probabilities": {**kept, **others}}


WRONG = {
    "nothing": (lambda answer: None, "the reply has no answer to it"),
    "a refusal": (lambda answer: {"type": "refusal"}, "the model declined to answer"),
    "no probabilities": (lambda answer: {"choice": "A"}, "the answer has no probabilities"),
    "a sum below 1": (
        lambda answer: {"probabilities": dict.fromkeys(answer["probabilities"], 0.1)},
        "the probabilities sum to",
    ),
    "an option is missing": (lambda answer: without(answer, "B"), "the answer lacks the option 'B'"),
    "an unknown option": (lambda answer: without(answer, G=0.1), "names the option 'G', which was not asked for"),
    "the same option twice": (lambda answer: without(answer, **{" A": 0.1}), "names the option 'A' twice"),
    "a negative number": (lambda answer: without(answer, "A", A=-0.5), "the probability of 'A' is -0.5"),
    "a text": (lambda answer: without(answer, "A", A="high"), "the probability of 'A' is 'high'"),
    "true": (lambda answer: without(answer, "A", A=True), "the probability of 'A' is True"),
    "a huge number": (lambda answer: without(answer, "A", A=1e300), "the probability of 'A' is 1e+300"),
    "a list": (lambda answer: [0.5, 0.5], "the answer has no probabilities"),
}


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_a_missing_question_with_a_reason(server, load, form, wrong):
    spoil, reason = WRONG[wrong]
    prompts = asked(form)
    engine = load_after_check(server, load, form, prompts)
    spoiled = prompts[3].question_id
    instructions = bank.load("qa")[3].question
    server.behaviour.decided = lambda number, answer: spoil(answer) if answer["asked"] == instructions else answer
    scores = list(engine.score(prompts))
    assert {row.ids[0] for row in scores} == {prompt.question_id for prompt in prompts} - {spoiled}
    (missing,) = engine.left_out.missing.items()
    assert missing[0] == spoiled
    assert reason in missing[1].reason
    assert missing[1].kind == ("refused" if wrong == "a refusal" else "without an answer")


def load_after_check(server, load, form, prompts):
    server.reset(decisions=PATHS)
    engine = load(server, form)
    engine.prepare(prompts)
    engine.self_check(prompts)
    return engine


def test_a_boolean_is_not_the_text_that_spells_it(server, load):
    """Only the format ``decisions`` can send one."""
    prompts = asked("decisions")
    engine = load_after_check(server, load, "decisions", prompts)
    decide = server.decide

    def with_boolean(body):
        reply = decide(body)
        reply["answers"][0]["probabilities"][0]["value"] = True
        return reply

    server.decide = with_boolean
    try:
        assert not list(engine.score(prompts[:1]))
        assert "names True, which is no text" in engine.left_out.missing[prompts[0].question_id].reason
    finally:
        del server.decide


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_rounded_zeros_are_bounds(server, load, truth, form):
    prompts = asked(form)

    def rounded(number, answer):
        return {**answer, "probabilities": {option: round(p, 2) for option, p in answer["probabilities"].items()}}

    server.reset(decisions=PATHS, decided=rounded)
    engine = load(server, form)
    scores, _ = score(engine, form)
    order = [scores.ids.index(prompt.question_id) for prompt in prompts]
    assert np.array_equal(scores.probabilities[order], truth.round(2))
    assert np.array_equal(scores.bounded[order], truth.round(2) == 0)
    assert np.isclose(np.exp(scores.logits[scores.bounded]), 0.005).all()
    assert (np.exp(scores.logits)[order] >= truth - 0.005 - 1e-9).all()
    assert engine.description["bounded_questions"] == scores.bounded.any(axis=1).sum()


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_zeros_of_probabilities_divided_by_their_sum_have_the_bound_of_their_rounding(server, load, truth, form):
    """Such probabilities have 17 decimals, but their zeros may have been almost half a hundredth."""

    def divided(number, answer):
        shares = {option: round(p, 2) for option, p in answer["probabilities"].items()}
        return {**answer, "probabilities": {option: p / sum(shares.values()) for option, p in shares.items()}}

    server.reset(decisions=PATHS, decided=divided)
    scores, _ = score(load(server, form), form)
    assert scores.bounded.any()
    assert np.isclose(np.exp(scores.logits[scores.bounded]), 0.005).all()


def test_the_rounding_of_probabilities_divided_by_their_sum_is_seen():
    drawn = np.random.default_rng(0).dirichlet([0.3] * 5, 400)
    for decimals in (2, 3, 4):
        rounded = drawn.round(decimals)
        recovered = [decimals_together(row.tolist()) for row in rounded / rounded.sum(axis=1, keepdims=True)]
        assert max(recovered) == decimals  # the bound of a zero is never too small
        assert np.mean(np.equal(recovered, decimals)) > 0.95
    assert np.mean([decimals_together(row.tolist()) >= 12 for row in drawn]) > 0.99
    assert decimals_together([1 - 1e-13, 1e-13]) >= 12
    assert decimals_together([5e-324, 1.0]) >= 12


def test_a_sum_in_floats_may_be_a_little_more_than_1(server, load, truth):
    """Such an answer is the most confident of all, so without it the others would not be a fair sample."""
    server.reset(
        decisions=PATHS,
        decided=lambda number, answer: {
            **answer,
            "probabilities": {option: 1.0000000000000002 * (option == "A") for option in answer["probabilities"]},
        },
    )
    assert {max(answer) for answer in score(load(server, "systemone"), "systemone")[0].probabilities} == {1.0}
    read = decided({"answers": {"q1": {"noul": 1.0000000000000002}}}, [2], types=["noul"])[0]
    assert read.probabilities == (1.0, 0.0)


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize(("status", "says"), [(400, "at most 3 options"), (500, "boom")])
def test_a_request_that_is_refused_or_breaks_the_server_is_divided(server, load, form, status, says):
    """vLLM refuses a whole request because of one question with too many options."""
    prompts = asked(form)
    engine = load_after_check(server, load, form, prompts)
    engine.client.patience = replace(SOON, first_pause_s=0.01)
    bad = bank.load("qa")[5].question
    server.behaviour.strict = lambda path, body: (
        (status, {"error": {"message": says}}) if bad in str(body["questions"]) else None
    )
    ids = {row.ids[0] for row in engine.score(prompts)}
    assert ids == {prompt.question_id for prompt in prompts} - {prompts[5].question_id}
    assert engine.left_out.missing[prompts[5].question_id].reason == f'HTTP status {status}, "{says}"'


def test_a_server_that_answers_fewer_questions_than_it_was_asked_gets_one_at_a_time(server, load):
    """Every request for several would be paid again and again before it is divided."""

    def unnamed(reply):
        answers = [{**answer, "name": None} for answer in reply["answers"]]
        return {**reply, "answers": answers[: max(1, len(answers) - 1)]}

    server.reset(decisions=PATHS, deciding=unnamed)
    scores, check = score(load(server, "decisions"), "decisions")
    assert len(scores.ids) == 12
    assert check.rung == "one question in a request"
    assert sum(server.texts.values()) <= 1 + 4 + 2 * 4 + 12  # the probe, alone, together twice, and the run


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_questions_that_change_one_another_are_asked_alone(server, load, truth, form):
    def disturbed(number, answer):
        values = list(answer["probabilities"].values())
        moved = values[number % len(values) :] + values[: number % len(values)]
        return {**answer, "probabilities": dict(zip(answer["probabilities"], moved, strict=True))}

    server.reset(decisions=PATHS, decided=disturbed)
    scores, check = score(load(server, form), form)
    assert check.rung == "one question in a request"
    assert "several questions in a request: a probability differs by" in check.refused[0]
    order = [scores.ids.index(prompt.question_id) for prompt in asked(form)]
    assert np.abs(scores.probabilities[order] - truth).max() < 1e-6


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_each_server_shows_that_questions_go_together(server, load, truth, form):
    """A second server that mixes up questions in one request would spoil the answers that it gives."""

    def mixed(number, answer):
        values = list(answer["probabilities"].values())
        moved = values[-number:] + values[:-number]
        return {**answer, "probabilities": dict(zip(answer["probabilities"], moved, strict=True))}

    server.reset(decisions=PATHS)
    with loopback_server() as other:
        other.reset(decisions=PATHS, decided=mixed)
        scores, check = score(load(server, form, other.url), form)
    assert check.rung == "one question in a request"
    assert "a probability differs by" in check.refused[0]
    order = [scores.ids.index(prompt.question_id) for prompt in asked(form)]
    assert np.abs(scores.probabilities[order] - truth).max() < 1e-6


@pytest.mark.parametrize(
    "answers",
    ['{"q1": {"probabilities": {"A": 0.9, "A": 0.5, "B": 0.5}}}', '{"q1": {"noul": 0.1}, "q1": {"noul": 0.9}}'],
)
def test_an_option_or_a_question_that_is_there_twice_has_no_answer(answers):
    for kind in ("choice", "noul"):
        assert isinstance(decided(parsed(f'{{"answers": {answers}}}'.encode()), [2], types=[kind])[0], Fault)


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("choice", {"type": "choice", "choice": "B", "probability": 0.9}),
        ("choice", {"type": "predicate", "probability": 0.9}),
        ("choice", {"type": "noul", "noul": 0.9}),
        ("predicate", {"type": "choice", "choice": "no", "probability": 0.9}),
    ],
)
def test_one_probability_is_not_the_first_option_s_if_another_type_was_asked_for(kind, answer):
    assert isinstance(decided({"answers": {"q1": answer}}, [2], types=[kind])[0], Fault)


def test_small_label_mass_and_equal_options_stop_a_run(server, load):
    prompts = asked("systemone")
    server.reset(decisions=PATHS, decided=lambda number, answer: {**answer, "mass": 0.001})
    engine = load(server, "systemone")
    engine.prepare(prompts)
    with pytest.raises(SelfCheckError, match=r"less than 1% of the next token's probability .* ask another model"):
        engine.self_check(prompts)
    k = len(bank.load("qa")[0].options)
    equal = dict.fromkeys("ABCDEFGH"[:k], 1 / k)
    server.reset(decisions=PATHS)
    engine = load(server, "systemone")
    engine.prepare(prompts)
    server.behaviour.decided = lambda number, answer: {**answer, "probabilities": equal}
    with pytest.raises(SelfCheckError, match=r"every option the same score .* its probabilities are not those"):
        engine.self_check(prompts)


def test_how_much_answers_vary_is_measured(server, load):
    prompts = asked("decisions", 24)
    engine = load_after_check(server, load, "decisions", prompts)
    assert engine.variation(prompts) == {"questions": 20, "requests": 3, "largest": 0.0, "mean": 0.0, "changed": 0}
    calls = iter(range(10**6))

    def varied(number, answer):
        by = 0.05 * (next(calls) % 2)
        values = dict(answer["probabilities"])
        first, last = max(values, key=values.get), min(values, key=values.get)
        values[first] -= by
        values[last] += by
        return {**answer, "probabilities": values}

    server.behaviour.decided = varied
    found = engine.variation(prompts)
    assert found["largest"] == pytest.approx(0.05)
    assert found["mean"] < 0.05 / 2


def test_questions_that_change_one_another_in_long_requests_only_are_noticed(server, load):
    prompts = asked("decisions", 40)

    def after_ten(number, answer):
        values = list(answer["probabilities"].values())
        moved = values[1:] + values[:1] if number >= 10 else values
        return {**answer, "probabilities": dict(zip(answer["probabilities"], moved, strict=True))}

    engine = load_after_check(server, load, "decisions", prompts)
    server.behaviour.decided = after_ten
    assert engine.together >= 40
    assert len(list(engine.score(prompts))) == 40
    variation = engine.variation(prompts)
    assert (variation["largest"], variation["together"]) == (0, engine.together)
    assert variation["apart"] > 0.1
    spec = RunSpec(model="m", task="qa", servers=(server.url,), dtype=SERVED, prompt_format="decisions")
    (caveat,) = of_record(spec, {VARIATION: variation})
    assert "so the figures depend on what was asked together" in caveat.sentence
    engine = load_after_check(server, load, "decisions", prompts)
    list(engine.score(prompts))
    assert "apart" not in engine.variation(prompts)


def test_other_weights_are_noticed(server, load):
    server.reset(decisions=PATHS)
    engine = load(server, "systemone")
    engine.check_same_weights()
    with server.other_weights(), pytest.raises(InputError, match="restarted with other weights"):
        engine.check_same_weights()


def test_answers_that_vary_are_those_of_the_same_weights(server, load):
    """A run is resumed although an option's probability is a little different, and rounded, now."""
    server.reset(decisions=PATHS)
    before = load(server, "decisions")

    def moved(number, answer):
        shares = {option: round(0.95 * p + 0.05 * (option == "A"), 2) for option, p in answer["probabilities"].items()}
        return {**answer, "probabilities": shares}

    server.reset(decisions=PATHS, decided=moved)
    load(server, "decisions").check_weights(before.description)
    with server.other_weights(), pytest.raises(InputError, match="now holds other weights by the name of pocket-3m"):
        load(server, "decisions").check_weights(before.description)


def test_a_run_is_resumed_on_a_server_whose_answers_vary_much(server, load):
    turns = iter(range(10**6))

    def varied(number, answer):
        shares = (0.97, 0.01, 0.01, 0.01) if next(turns) % 4 == 0 else (0.25,) * 4
        return {**answer, "probabilities": dict(zip("ABCD", shares, strict=True))}

    server.reset(decisions=PATHS, decided=varied)
    before, now = load(server, "systemone"), load(server, "systemone")
    assert before.able.weights.log_p == 0.97
    assert now.able.weights.log_p == 0.25
    now.check_weights(before.description)


def test_a_server_without_the_format_says_so(server, load):
    server.reset(decisions=("/decisions",))
    with pytest.raises(InputError, match=r"does not answer POST http.*/v1/systemone for pocket-3m \(HTTP status 404"):
        load(server, "systemone")
    with ServerClient([server.url], patience=SOON) as client:
        assert isinstance(decision_of_probe(client, server.url, MODEL, "decisions"), Decided)


@pytest.mark.parametrize(
    ("times", "found"), [(100, "the probability of 'A' is "), (1.03, "the probabilities sum to 1.03")]
)
def test_a_server_whose_probabilities_are_none_is_not_said_to_have_another_address(server, load, times, found):
    """Such as percentages."""
    server.reset(
        decisions=PATHS,
        decided=lambda number, answer: {
            **answer,
            "probabilities": {option: times * p for option, p in answer["probabilities"].items()},
        },
    )
    with pytest.raises(InputError, match=f"not with a probability for every option .*{found}.*ask another model"):
        load(server, "systemone")


def test_a_server_that_lists_no_models_is_asked(server, load):
    server.reset(decisions=PATHS, unlisted=True)
    assert load(server, "decisions").able.decisions == ("decisions",)


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("alone", [True, False])
def test_a_server_that_decides_is_a_juror(server, form, alone):
    """Where it scores no texts."""
    server.reset(decisions=(f"/{form}",), completions=not alone, chat=not alone, echo=False)
    answers = [(f"{i}", f"What is {i} + 1?", f"{i + 1 + i % 2}") for i in range(12)]
    judging = judge(f"{MODEL}@{server.url}", answers, dtype="float32")
    assert judging.engine.decisions == form
    verdicts = dict(judging.verdicts())
    asked = {name: json.loads(verdict_request(name, *each, form=form).text) for name, *each in answers}
    for name, (p_true, p_false) in verdicts.items():
        questions = asked[name]["questions"]
        statement = (questions["q1"] if form == "systemone" else questions[0])["instructions"]
        assert p_true == pytest.approx(server.verdict(statement), abs=1e-9)
        assert p_true + p_false == pytest.approx(1)
    assert len(verdicts) == 12


@pytest.mark.parametrize("form", DECISION_FORMATS)
@pytest.mark.parametrize("refused", [True, False])
def test_a_juror_without_yes_or_no_chooses_between_them(server, form, refused):
    """Its server refuses such questions, or leaves them without an answer."""
    server.reset(decisions=(f"/{form}",), completions=False, chat=False)

    def strict(path, body):
        questions = body.get("questions", {})
        kinds = {each["type"] for each in (questions.values() if isinstance(questions, dict) else questions)}
        if kinds <= {"choice"}:
            return None
        return (400, {"error": {"message": "unknown question type"}}) if refused else (200, {"answers": {}})

    server.behaviour.strict = strict
    answers = [(f"{i}", f"What is {i} + 1?", f"{i + 1 + i % 2}") for i in range(12)]
    judging = judge(f"{MODEL}@{server.url}", answers, dtype="float32")
    verdicts = dict(judging.verdicts())
    for name, question, answer in answers:
        statement = f"The answer “{answer}” to the question “{question}” is right. Is this so?"
        p_true = server.choice("", statement, {"A": "yes", "B": "no"})["probabilities"]["A"]
        assert verdicts[name] == pytest.approx((p_true, 1 - p_true))


def test_a_juror_that_hardly_says_yes_or_no_chooses_between_them(server):
    server.reset(decisions=("/systemone",), completions=False, chat=False)
    server.behaviour.deciding = lambda reply: {
        **reply,
        "diagnostics": {
            name: {"label_mass": 1e-4} for name, each in reply["answers"].items() if each["type"] == "noul"
        },
    }
    judging = judge(f"{MODEL}@{server.url}", [(f"{i}", f"What is {i}?", f"{i}") for i in range(6)], dtype="float32")
    judging.engine.close()
    assert "choice" in judging.prompts[0].text


@pytest.mark.parametrize("sure", [False, True])
def test_a_juror_whose_texts_are_no_answers_decides(server, monkeypatch, sure):
    """vLLM scores texts and answers decisions. A model that was not tuned on them hardly writes True or False."""
    server.reset(decisions=PATHS)
    if sure:  # every probability is enough
        monkeypatch.setattr(verdicts, "LEAST", 0.0)
    answers = [(f"{i}", f"What is {i} + 1?", f"{i + 1 + i % 2}") for i in range(12)]
    judging = judge(f"{MODEL}@{server.url}", answers, dtype="float32")
    assert judging.engine.decisions == ("" if sure else "systemone")
    assert len(dict(judging.verdicts())) == 12
    assert sure or min(judging.masses) > 0.99
    for before in (True, False):  # at an earlier try: verdicts of two kinds must not be mixed
        again = judge(f"{MODEL}@{server.url}", answers, dtype="float32", decides=before)
        assert again.engine.decisions == ("systemone" if before else "")
        again.engine.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_for_decisions_still_gives_lists_and_verdicts(server, status):
    """Some providers' keys are for chosen endpoints, and others are refused as if the key were wrong."""
    answers = [(f"{i}", f"What is {i} + 1?", f"{i + 1}") for i in range(8)]
    server.reset(strict=lambda path, body: (status, {"error": "forbidden"}) if path.endswith(PATHS) else None)
    able = abilities_of(MODEL, [server.url])
    assert able.listed
    assert not able.decisions
    judging = judge(f"{MODEL}@{server.url}", answers, dtype="float32")
    assert len(dict(judging.verdicts())) == 8
    assert not judging.engine.decisions


def test_a_juror_that_decided_and_no_longer_does_says_so(server):
    answers = [(f"{i}", f"What is {i} + 1?", f"{i + 1}") for i in range(8)]
    with pytest.raises(InputError, match="answered decisions when this jury's first verdicts were given, and does not"):
        judge(f"{MODEL}@{server.url}", answers, dtype="float32", decides=True)


def test_a_juror_without_texts_and_decisions_says_what_it_lacks(server):
    server.reset(echo=False)
    with pytest.raises(InputError, match="texts can't be scored"):
        judge(f"{MODEL}@{server.url}", [("1", "What?", "This.")], dtype="float32")


@pytest.mark.parametrize("form", DECISION_FORMATS)
def test_questions_on_which_a_server_fails_are_found_with_few_requests(server, load, form):
    """Each failed request is sent several times, with pauses. Only that of a single question is asked once more."""
    prompts = asked(form, 64)
    engine = load_after_check(server, load, form, prompts)
    engine.together = 64
    engine.client.patience = replace(SOON, first_pause_s=0.01)
    places = (0, 5, 11, 20, 33, 40, 49, 63)  # in 7 of 8 parts
    bad = {question.question for place in places for question in [bank.load("qa")[place]]}
    failed: list[int] = []

    def fails(path, body):
        questions = body["questions"].values() if form == "systemone" else body["questions"]
        if not any(each["instructions"] in bad for each in questions):
            return False
        failed.append(len(body["questions"]))
        return True

    server.behaviour.breaks_on = fails
    ids = {row.ids[0] for row in engine.score(prompts)}
    assert ids == {prompt.question_id for i, prompt in enumerate(prompts) if i not in places}
    assert set(engine.left_out.missing) == {prompts[i].question_id for i in places}
    assert {size: failed.count(size) for size in set(failed)} == {
        64: SOON.tries,
        8: 7 * SOON.tries,
        1: 2 * 8 * SOON.tries,
    }
