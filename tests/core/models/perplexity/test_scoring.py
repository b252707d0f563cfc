"""Losses by real models and by one whose probabilities are known."""

import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from core.errors import InputError
from core.models.model_sources import bundled_models
from core.models.perplexity import conversations
from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.figures import message_mean, paired, token_weighted
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING, SystemPrompt
from core.models.perplexity.request import Request
from core.models.perplexity.scoring import Scorer
from core.settings import ASSETS
from pocket_world.chat.template import TEMPLATE
from tests.core.models.perplexity.conftest import BIGRAMS, WORDS

KIND = SystemPrompt("kind", "be kind.")


def measured(scorer: Scorer, request: Request):
    """From (prompt, source) to messages, as a run goes about it."""
    parts = list(request.parts())
    words = scorer.lay_out(parts, mode=request.mode)
    collected = {}
    for prompt in request.prompts:
        places = [i for i, part in enumerate(parts) if part.prompt == prompt]
        scorer.begin([each for i in places for each in words[i]])
        for i in places:
            collected[prompt.digest, parts[i].source] = [
                message for _, message in sorted(scorer.score(parts[i].windows, words[i]), key=lambda pair: pair[0])
            ]
    return collected


def split(text: str) -> list[str]:
    return text.replace(":", " : ").replace(".", " . ").split()


def loss(before: str, after: str) -> float:
    return -math.log(BIGRAMS[WORDS.index(before), WORDS.index(after)])


def test_published_mode_is_the_documents_arithmetic(known_folder, sad):
    """Its formula, on bigrams: exp(−1/t Σ log p) of `assistant: …` without its last token; then the mean."""
    request = Request((KIND,), (sad,), mode="published")
    measured_losses = measured(Scorer.load(str(known_folder), dtype="float32"), request)[KIND.digest, sad.digest]
    expected = []
    for before, reply in ((".", "i am kind. tell me more."), (".", "tell me. be sad.")):
        tokens = split(f"assistant: {reply}")[:-1]  # the last token is missed
        losses = [loss(a, b) for a, b in zip([before, *tokens], tokens, strict=False)]
        expected.append(losses)
    for message, losses in zip(measured_losses, expected, strict=True):
        assert message.losses == pytest.approx(losses, abs=1e-4)
    means = [math.exp(sum(losses) / len(losses)) for losses in expected]
    assert message_mean(measured_losses) == pytest.approx(sum(means) / 2, rel=1e-4)


def test_standard_mode_scores_every_token_of_the_message_alone(known_folder, sad):
    measured_losses = measured(Scorer.load(str(known_folder), dtype="float32"), Request((KIND,), (sad,)))[
        KIND.digest, sad.digest
    ]
    flat = []
    for message, reply in zip(measured_losses, ("i am kind. tell me more.", "tell me. be sad."), strict=True):
        tokens = split(reply)
        losses = [loss(a, b) for a, b in zip([":", *tokens], tokens, strict=False)]
        assert message.losses == pytest.approx(losses, abs=1e-4)
        assert "".join(message.pieces) == reply
        flat += losses
    assert token_weighted(measured_losses) == pytest.approx(math.exp(np.mean(flat)), rel=1e-4)


@pytest.mark.parametrize("template", [None, TEMPLATE])
def test_standard_mode_is_transformers_own_loss(template):
    """The model's own cross-entropy with everything but the message masked, within 1e-5."""
    scorer = Scorer.load("pocket-1m", dtype="float32")
    scorer.tokenizer.chat_template = template
    talk = conversations.bundled()[0]
    request = Request((FITTING, EMPTY), (talk,))
    losses = measured(scorer, request)
    model = AutoModelForCausalLM.from_pretrained(ASSETS / "models" / "pocket-1m").eval()
    parts = list(request.parts())
    for part, words in zip(parts, scorer.lay_out(parts, mode="standard"), strict=True):
        for message, each in zip(losses[part.prompt.digest, part.source], words, strict=True):
            labels = torch.tensor([each.tokens])
            labels[0, : each.first] = -100
            with torch.inference_mode():
                own = model(input_ids=torch.tensor([each.tokens]), labels=labels).loss
            assert message.mean_loss == pytest.approx(float(own), rel=1e-5)


def test_what_windows_share_is_computed_once():
    scorer = Scorer.load("pocket-1m", dtype="float32")
    parts = list(Request((FITTING,), conversations.bundled()[:2]).parts())
    words = [each for windows in scorer.lay_out(parts, mode="standard") for each in windows]
    check = scorer.begin(words)
    assert (check.rung, check.refused) == ("prefix cache", ())
    shared = scorer.tokenizer.decode(scorer.losses.prefix.tokens)
    assert shared.startswith(FITTING.text)


def test_a_storys_perplexity_and_that_of_its_words_shuffled(real_models):
    folder = str(real_models / "tinystories-656k")
    story = (
        "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw "
        "a big red ball. She wanted to play with it, but it was too high. Lily asked her mom to help her. Her mom "
        "picked up the ball and gave it to Lily. Lily was very happy and said thank you."
    )
    shuffled = " ".join(np.random.default_rng(0).permutation(story.split()))
    scorer = Scorer.load(folder, dtype="float32")
    for text, low, high in ((story, 2, 40), (shuffled, 1000, 20_000)):
        talk = Conversation("story", (Message("user", "Tell me a story."), Message("assistant", text)))
        losses = measured(scorer, Request((EMPTY,), (talk,)))[EMPTY.digest, talk.digest]
        assert low < token_weighted(losses) < high


CHATTY = [name for name in bundled_models() if name.endswith("-instruct")]


@pytest.mark.parametrize("model", CHATTY or [pytest.param("", marks=pytest.mark.skip("no chat-tuned model ships yet"))])
def test_the_fitting_prompt_makes_the_counselor_likelier(model):
    talks = conversations.bundled()
    scorer = Scorer.load(model, dtype="float32")
    losses = measured(scorer, Request((FITTING, UNFITTING), talks))
    assert scorer.notes == ()
    sides = [[m for talk in talks for m in losses[p.digest, talk.digest]] for p in (FITTING, UNFITTING)]
    pair = paired(*sides, rng=np.random.default_rng(0))
    assert pair.high < 0
    assert token_weighted(sides[0]) < token_weighted(sides[1])


def test_endings_are_seeded_and_of_one_line():
    scorer = Scorer.load("pocket-1m", dtype="float32")
    contexts = [(Message("user", "I am sad."),), (Message("user", "What is a dog?"),)]
    texts_written = scorer.write(contexts, prompt=FITTING.text, each=2, seed=3)
    state = torch.random.get_rng_state()
    assert scorer.write(contexts, prompt=FITTING.text, each=2, seed=3) == texts_written
    assert torch.equal(state, torch.random.get_rng_state())
    assert [len(endings) for endings in texts_written] == [2, 2]
    assert all("\n" not in text for endings in texts_written for text in endings)


def test_the_fake_engine_has_no_words(monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    with pytest.raises(InputError, match="no words to score"):
        Scorer.load("fake", dtype="float32")
