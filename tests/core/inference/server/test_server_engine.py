"""The server engine equals the transformers engine where the server tells all, and says so where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError, SelfCheckError
from core.inference.models import resolve
from core.inference.server.client import Patience
from core.inference.server.engine import ServerEngine
from core.inference.transformers_engine import TransformersEngine
from core.prompting.cloze import cloze_prompt
from core.prompting.strategies import prompt
from core.records import Prompt, joined
from core.tasks import bank

SOON = Patience(connect_s=2, answer_s=2, gone_s=3, tries=4, first_pause_s=0.01, longest_pause_s=0.05)
MODEL = "pocket-3m"


def questions(n=24, task="qa"):
    return bank.load(task)[:n]


def letters(n=24, **changes):
    return [prompt(question, **changes) for question in questions(n)]


def texts(n=8):
    return [cloze_prompt(question) for question in questions(n)]


@pytest.fixture
def load():
    engines = []

    def loaded(server):
        engines.append(ServerEngine.load(MODEL, servers=[server.url], patience=SOON))
        return engines[-1]

    yield loaded
    for engine in engines:
        engine.close()


def scored(engine, asked):
    engine.prepare(asked)
    check = engine.self_check(asked)
    assert check.passed
    return joined(list(engine.score(asked)), [one.question_id for one in asked], k=max(one.k for one in asked))


@pytest.fixture(scope="module")
def truth():
    engine = TransformersEngine.load(resolve(MODEL), dtype="float32")
    return {name: scored(engine, asked) for name, asked in (("letters", letters()), ("texts", texts()))}


@pytest.mark.parametrize("behaviour", [{"all_tokens": True}, {"most": 5}, {"most": 20}, {"most": 1}])
def test_letters_equal_the_transformers_engine(server, load, truth, behaviour):
    """All tokens are listed, or the letters that are not are asked for as texts."""
    server.reset(**behaviour)
    found = scored(engine := load(server), letters())
    assert found.bounded is None
    assert np.abs(found.logits - truth["letters"].logits).max() < 1e-4
    assert found.top_tokens == truth["letters"].top_tokens
    assert engine.description["letter_spelling"] == " {}"
    assert np.abs(found.letter_mass - truth["letters"].letter_mass).max() < 1e-4


@pytest.mark.parametrize("most", [1, 5, 20])
def test_bounds_hold_the_truth(server, load, truth, most):
    server.reset(most=most, echo=False)
    found = scored(engine := load(server), letters())
    exact = truth["letters"].logits
    bounded = found.bounded if found.bounded is not None else np.zeros(exact.shape, bool)
    assert most == 20 or bounded.any()
    assert (found.logits[bounded] >= exact[bounded] - 1e-5).all()
    assert np.abs(found.logits - exact)[~bounded].max() < 1e-4
    assert engine.description["bounded_questions"] == bounded.any(axis=1).sum()


def test_texts_equal_the_transformers_engine(server, load, truth):
    found = scored(load(server), texts())
    assert np.abs(found.logits - truth["texts"].logits).max() < 1e-4
    assert np.array_equal(found.option_tokens, truth["texts"].option_tokens)


def test_texts_of_any_characters_equal_the_transformers_engine(server, load):
    """Tokens of single bytes have no spelling."""
    asked = [
        Prompt(f"q{i}", f"{before}\nAnswer:", 3, continuations=(" naïve café", " 東京 ☃", " plain"))
        for i, before in enumerate(["Question: Où est l’été?", "Question: Where? 🙂", "Question: plain"])
    ]
    exact = scored(TransformersEngine.load(resolve(MODEL), dtype="float32"), asked)
    found = scored(load(server), asked)
    assert np.abs(found.logits - exact.logits).max() < 1e-4
    assert np.array_equal(found.option_tokens, exact.option_tokens)


def test_chat_has_the_servers_template(server, load):
    asked = letters(6)
    asked = [type(one)(one.question_id, one.text, one.k, chat=True, system="Be brief.") for one in asked]
    server.reset(all_tokens=True)
    engine = load(server)
    found = scored(engine, asked)
    assert found.bounded is None
    description = engine.description
    assert (description["endpoint"], description["template"]) == ("chat", "the server's own")
    tokens = [" A", " B", " C", " D", " E", " F"] if description["letter_spelling"] == " {}" else list("ABCDEF")
    places = [server.pieces.index(token) for token in tokens]
    for one, row in zip(asked, found.logits, strict=True):
        text = f"<user>Be brief.\n{one.text}<assistant>"
        exact = server.log_p(tuple(server.tokenizer(text)["input_ids"]))[-1][places]
        assert np.abs(row - exact.numpy()).max() < 1e-4


def test_what_the_server_tells_is_kept(server, load):
    description = load(server).description
    assert description["server_kind"] == "loopback"
    assert description["server_version"] == "1.2.3"
    assert description["context"] == 512
    assert description["servers"] == [server.url]


@pytest.mark.parametrize(
    ("behaviour", "asked", "error", "says"),
    [
        ({"echo": False}, texts, InputError, "does not give the log-probabilities of a text"),
        ({"completions": False}, letters, InputError, "--format chat"),
        ({"logprobs": False}, letters, InputError, "gives no log-probabilities of next tokens"),
        ({"completions": False, "chat": False}, letters, InputError, "gives no log-probabilities of next tokens"),
    ],
)
def test_what_a_server_can_not_do_is_said_in_a_sentence(server, load, behaviour, asked, error, says):
    server.reset(**behaviour)
    with pytest.raises(error, match=says):
        load(server).prepare(asked(4))


@pytest.mark.parametrize("asked", [letters, texts])
def test_equal_scores_of_every_option_are_refused(server, load, asked):
    engine = load(server)
    asked = asked(4)
    engine.prepare(asked)
    server.behaviour.equal = True
    with pytest.raises(SelfCheckError, match=r"gives every (token|option) the same score"):
        engine.self_check(asked)


def test_an_unknown_model_is_named_with_those_there_are(server):
    with pytest.raises(InputError, match="has no model 'llama-400b'; it has pocket-3m"):
        ServerEngine.load("llama-400b", servers=[server.url], patience=SOON)


def test_written_answers_are_as_many_as_asked_for(server, load):
    engine = load(server)
    said = engine.write(letters(1)[0], repeats=5, seed=3)
    assert len(said) == 5
    assert len(set(said)) > 1
    assert said == engine.write(letters(1)[0], repeats=5, seed=3)
    assert engine.joins([cloze_prompt(questions(1)[0])]) is False
