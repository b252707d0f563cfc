"""The server engine equals the transformers engine where the server tells all, and says so where it does not."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError, SelfCheckError, ServerError
from core.models.model_sources import resolve
from core.models.server.client import PassingError, ServerClient
from core.models.server.engine import CHECKED_QUESTIONS, ServerEngine
from core.models.server.provenance import version_and_quantisation
from core.models.transformers_engine import TransformersEngine
from core.questions import bank
from core.questions.prompting.cloze import cloze_prompt
from core.questions.prompting.reasoning import SWITCHES
from core.questions.prompting.strategies import prompt
from core.records import Prompt
from tests.core.models.server.conftest import MODEL, SOON, scored
from tests.core.models.server.loopback import loopback_server


def questions(n=24, task="qa"):
    return bank.load(task)[:n]


def letters(n=24, **changes):
    return [prompt(question, **changes) for question in questions(n)]


def texts(n=8):
    return [cloze_prompt(question) for question in questions(n)]


@pytest.fixture(scope="module")
def truth():
    engine = TransformersEngine.load(resolve(MODEL), dtype="float32")
    return {name: scored(engine, prompts) for name, prompts in (("letters", letters()), ("texts", texts()))}


@pytest.mark.parametrize("behaviour", [{"all_tokens": True}, {"most": 5}, {"most": 20}, {"most": 1},
                                       {"most": 1, "by_id": True, "echo": False}])  # fmt: skip
def test_letters_equal_the_transformers_engine(server, load, truth, behaviour):
    """All tokens are listed, or the letters that are not are asked for as texts, or all by their tokens' ids."""
    server.reset(**behaviour)
    scores = scored(engine := load(server), letters())
    assert scores.bounded is None
    assert np.abs(scores.logits - truth["letters"].logits).max() < 1e-4
    assert scores.top_tokens == truth["letters"].top_tokens
    assert engine.description["letter_spelling"] == " {}"
    assert np.abs(scores.letter_mass - truth["letters"].letter_mass).max() < 1e-4


@pytest.mark.parametrize("most", [1, 5, 20])
def test_bounds_hold_the_truth(server, load, truth, most):
    server.reset(most=most, echo=False)
    scores = scored(engine := load(server), letters())
    exact = truth["letters"].logits
    bounded = scores.bounded if scores.bounded is not None else np.zeros(exact.shape, bool)
    assert most == 20 or bounded.any()
    assert (scores.logits[bounded] >= exact[bounded] - 1e-5).all()
    assert np.abs(scores.logits - exact)[~bounded].max() < 1e-4
    assert engine.description["bounded_questions"] == bounded.any(axis=1).sum()


def test_texts_equal_the_transformers_engine(server, load, truth):
    scores = scored(load(server), texts())
    assert np.abs(scores.logits - truth["texts"].logits).max() < 1e-4
    assert np.array_equal(scores.option_tokens, truth["texts"].option_tokens)


def test_texts_of_any_characters_equal_the_transformers_engine(server, load):
    """Tokens of single bytes have no spelling."""
    prompts = [
        Prompt(f"q{i}", f"{before}\nAnswer:", 3, continuations=(" naïve café", " 東京 ☃", " plain"))
        for i, before in enumerate(["Question: Où est l’été?", "Question: Where? 🙂", "Question: plain"])
    ]
    exact = scored(TransformersEngine.load(resolve(MODEL), dtype="float32"), prompts)
    scores = scored(load(server), prompts)
    assert np.abs(scores.logits - exact.logits).max() < 1e-4
    assert np.array_equal(scores.option_tokens, exact.option_tokens)


def test_chat_has_the_servers_template(server, load):
    prompts = letters(6)
    prompts = [replace(sent_prompt, chat=True, system="Be brief.") for sent_prompt in prompts]
    server.reset(all_tokens=True)
    engine = load(server)
    scores = scored(engine, prompts)
    assert scores.bounded is None
    description = engine.description
    described = {"server_kind": "loopback", "server_version": "1.2.3", "context": 512, "servers": [server.url]}
    assert description.items() >= (described | {"endpoint": "chat", "template": "the server's own"}).items()
    tokens = [" A", " B", " C", " D", " E", " F"] if description["letter_spelling"] == " {}" else list("ABCDEF")
    places = [server.pieces.index(token) for token in tokens]
    for sent_prompt, row in zip(prompts, scores.logits, strict=True):
        text = f"<user>Be brief.\n{sent_prompt.text}<assistant>"
        exact = server.log_p(tuple(server.tokenizer(text)["input_ids"]))[-1][places]
        assert np.abs(row - exact.numpy()).max() < 1e-4


@pytest.mark.parametrize(
    ("behaviour", "build", "error", "says"),
    [
        ({"echo": False}, texts, InputError, "does not give the log-probabilities of a text"),
        ({"shifted": True}, texts, InputError, "gives wrong log-probabilities of a text"),
        ({"completions": False}, letters, InputError, "--format chat"),
        ({"logprobs": False}, letters, InputError, "gives no log-probabilities of next tokens"),
        ({"completions": False, "chat": False}, letters, InputError, "gives no log-probabilities of next tokens"),
    ],
)
def test_what_a_server_can_not_do_is_said_in_a_sentence(server, load, behaviour, build, error, says):
    server.reset(**behaviour)
    with pytest.raises(error, match=says):
        load(server).prepare(build(4))


@pytest.mark.parametrize("build", [letters, texts])
def test_equal_scores_of_every_option_are_refused(server, load, build):
    engine = load(server)
    prompts = build(4)
    engine.prepare(prompts)
    server.behaviour.equal = True
    with pytest.raises(SelfCheckError, match=r"gives every (token|option) the same score"):
        engine.self_check(prompts)


@pytest.mark.parametrize("most", [20, 2, 1])
def test_a_server_that_begins_with_its_reasoning_is_refused_before_it_is_scored(server, load, most):
    server.reset(opens="<think>", most=most)
    engine = load(server)
    assert engine.able.chat_letters.is_no_answer
    assert engine.able.chat_letters.first == "<think>"
    assert not engine.able.letters.is_no_answer
    prompts = [replace(prompt, chat=True) for prompt in letters(12)]
    engine.prepare(prompts)
    with pytest.raises(SelfCheckError, match=r"“<think>”.*switch that off in its chat template or on its server"):
        engine.self_check(prompts)
    assert sum(any(prompt.text in text for prompt in prompts) for text in server.texts) == CHECKED_QUESTIONS


@pytest.mark.parametrize("switch", SWITCHES)
def test_reasoning_is_switched_off_on_a_server_whose_template_has_a_switch(server, load, switch):
    prompts = [replace(prompt, chat=True) for prompt in letters(6)]
    server.reset(all_tokens=True)
    exact = scored(engine := load(server), prompts)
    assert "reasoning_off" not in engine.description
    server.reset(all_tokens=True, opens="<think>", switch=switch)
    scores = scored(engine := load(server), prompts)
    assert engine.description["reasoning_off"]
    assert np.array_equal(scores.logits, exact.logits)
    written = dict(engine.write(prompts, repeats=1, seeds=range(len(prompts))))
    assert not any("<think>" in text for texts in written.values() for text in texts)
    server.reset(all_tokens=True, opens="<think>")
    assert not load(server).able.reasoning_off


def test_what_a_server_failed_on_ends_in_a_pause_and_not_in_can_not(server, load):
    server.reset(breaks_on=lambda path, body: bool(body.get("echo")))
    engine = load(server)
    with pytest.raises(
        PassingError, match=r"fails \(HTTP status 500\) when it is asked for the log-probabilities of a text"
    ):
        engine.prepare(texts(2))
    engine.prepare(letters(2))  # letters need no echo
    server.reset(breaks_on=lambda path, body: path == "/completions")
    with pytest.raises(PassingError, match=r"fails \(HTTP status 500\) when it is asked for completions"):
        load(server).prepare(letters(2))


def test_an_unknown_model_is_named_with_those_there_are(server):
    with pytest.raises(InputError, match="has no model 'llama-400b'; it has pocket-3m"):
        ServerEngine.load("llama-400b", servers=[server.url], patience=SOON)


@pytest.fixture(scope="module")
def other():
    with loopback_server("pocket-1m") as second:
        second.name = MODEL
        yield second


def test_several_servers_of_one_model_share_the_work(server, truth):
    with loopback_server() as second:
        engine = ServerEngine.load(MODEL, servers=[server.url, second.url], patience=SOON)
        with closing(engine):
            scores = scored(engine, letters())
            assert engine.client.flight.limit == 64
        assert np.abs(scores.logits - truth["letters"].logits).max() < 1e-4
        requests = server.texts + second.texts
        assert set(requests) >= {prompt.text for prompt in letters()}
        assert min(sum(server.texts.values()), sum(second.texts.values())) > 5


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "do not hold the same weights; only servers of the same model and kind share the work"),
        ({"most": 5}, "do not give the same log-probabilities"),
        ({"kind": "another"}, "are of the kind 'loopback' and 'another'"),
    ],
)
def test_servers_that_are_not_alike_do_not_share_the_work(server, other, changes, says):
    other.reset(**changes)
    with pytest.raises(InputError, match=says):
        ServerEngine.load(MODEL, servers=[server.url, other.url], patience=SOON)


def test_a_server_that_is_gone_is_left_out_only_where_a_run_continues(server):
    servers = [server.url, "http://127.0.0.1:9"]
    gone = replace(SOON, gone_s=0.1)
    with pytest.raises(ServerError, match=r"127\.0\.0\.1:9/v1 can't be reached"):
        ServerEngine.load(MODEL, servers=servers, patience=gone)
    with closing(ServerEngine.load(MODEL, servers=servers, patience=gone, all_needed=False)) as engine:
        assert engine.client.urls == (server.url,)


@pytest.mark.parametrize(
    ("entry", "answers", "version", "quantisation"),
    [
        ({}, {"/version": {"version": "0.32.0"}}, "0.32.0", ""),
        ({"root": "org/Llama-70B-AWQ"}, {"/version": {"version": "0.32.0"}}, "0.32.0", "AWQ"),
        ({"meta": {"size": 4_500, "n_params": 8_000}}, {"/props": {"build_info": "b9", "model_path": "m-Q4_K_M.gguf"}},
         "b9", "Q4_K_M, 4.5 bits a weight"),
        ({}, {"/api/version": {"version": "0.20"}, "/api/show": {"details": {"quantization_level": "Q8_0"}}}, "0.20",
         "Q8_0"),
        ({}, {"/server_info": {"version": "0.5.23", "quantization": "fp8"}}, "0.5.23", "fp8"),
        ({}, {"/api/v0/models": {"data": [{"id": MODEL, "quantization": "4bit"}]}}, "", "4bit"),
        ({}, {"/version": ["odd"], "/props": {"build_info": None}}, "", ""),
    ],
)  # fmt: skip
def test_version_and_quantisation_where_they_are_told(server, entry, answers, version, quantisation):
    server.reset(beside={"/version": {}, **answers})
    with ServerClient([server.url], patience=SOON) as client:
        assert version_and_quantisation(client, server.url, MODEL, entry) == (version, quantisation)


def test_written_answers_are_as_many_as_asked_for_and_are_asked_at_once(server, load):
    server.reset(delay_s=0.05)
    engine = load(server)
    prompts = [Prompt(str(i), text, 2) for i, text in enumerate(("The river", "A dog", "It rains"))]
    texts_written = dict(engine.write(prompts, repeats=5, seeds=[3, 4, 5]))
    assert [len(texts_written[i]) for i in range(3)] == [5, 5, 5]
    assert len(set(texts_written[0])) > 1
    assert server.most_in_flight > 5  # of several prompts at the same time
    assert dict(engine.write(prompts[1:2], repeats=5, seeds=[4])) == {0: texts_written[1]}
    assert engine.joins([cloze_prompt(questions(1)[0])]) is False
