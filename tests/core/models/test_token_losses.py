import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from core.errors import InputError
from core.models.budget import Budget
from core.models.decoder import Decoder
from core.models.memory import geometry
from core.models.token_losses import Scored, TokenLosses
from tests.core.models.architectures import SETTINGS, VOCABULARY, tiny
from tests.parameters import rest_nightly


def scorer(model, dtype="float32"):
    decoder = Decoder(model)
    return TokenLosses(decoder, Budget(decoder.device, geometry(model)), dtype=dtype)


def sequences(seed=0):
    rng = np.random.default_rng(seed)
    return [
        Scored(tuple(int(t) for t in rng.integers(3, VOCABULARY, n)), first)
        for n, first in ((2, 1), (40, 1), (40, 39), (25, 10), (7, 3))
    ]


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[1::3]))
def test_losses_equal_the_models_own(model_type):
    model, test_sequences = tiny(model_type), sequences()
    token_losses = scorer(model)
    check = token_losses.self_check(test_sequences)
    assert (check.rung, check.refused) == ("padded rows", ())
    losses = dict(token_losses.score(test_sequences))
    for i, sequence in enumerate(test_sequences):
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([sequence.tokens])).logits[0, :-1]
        truth = torch.nn.functional.cross_entropy(logits, torch.tensor(sequence.tokens[1:]), reduction="none")
        assert losses[i] == pytest.approx(truth[sequence.first - 1 :].numpy(), abs=1e-4)


def sharing(seed=0, shared=40):
    """Sequences that begin alike for ``shared`` tokens, before the first that is scored."""
    rng = np.random.default_rng(seed)
    begin = tuple(int(t) for t in rng.integers(3, VOCABULARY, shared))
    ends = [tuple(int(t) for t in rng.integers(3, VOCABULARY, n)) for n in (1, 9, 30, 17, 4)]
    return [Scored((*begin, i + 3, *end), shared + 1) for i, end in enumerate(ends)]


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[1::3]))
def test_what_all_begin_with_is_computed_once_or_refused(model_type):
    model, test_sequences = tiny(model_type), sharing()
    token_losses = scorer(model)
    token_losses.prepare(test_sequences)
    check = token_losses.self_check(test_sequences)
    assert check.rung == "prefix cache" if not check.refused else check.refused[0].startswith("prefix cache: ")
    assert check.passed
    losses = dict(token_losses.score(test_sequences))
    for i, sequence in enumerate(test_sequences):
        assert losses[i] == pytest.approx(token_losses._alone(sequence), abs=1e-4)


def test_a_llama_shares_and_a_wrong_cache_is_refused(monkeypatch):
    test_sequences = sharing()
    token_losses = scorer(tiny("llama"))
    token_losses.prepare(test_sequences)
    assert token_losses.prefix.tokens == test_sequences[0].tokens[:40]
    assert token_losses.self_check(test_sequences).rung == "prefix cache"
    token_losses.prepare(test_sequences)
    monkeypatch.setattr("core.models.token_losses.after", lambda prefix, rows, width, device: None)
    check = token_losses.self_check(test_sequences)
    if check.rung == "prefix cache":  # positions are counted by the cache too
        monkeypatch.setattr(token_losses.prefix, "tokens", token_losses.prefix.tokens[:-1])
        check = token_losses.self_check(test_sequences)
    assert check.rung == "padded rows"
    assert check.refused[0].startswith("prefix cache: ")
    truth = [token_losses._alone(sequence) for sequence in test_sequences]
    for i, losses in token_losses.score(test_sequences):
        assert losses == pytest.approx(truth[i], abs=1e-4)


def test_a_short_beginning_is_not_kept():
    token_losses = scorer(tiny("llama"))
    token_losses.prepare(sharing(shared=10))
    assert token_losses.prefix is None


def test_a_planted_fault_goes_one_by_one(monkeypatch):
    token_losses, test_sequences = scorer(tiny("llama")), sequences()
    truth = {i: token_losses._alone(sequence) for i, sequence in enumerate(test_sequences)}
    monkeypatch.setattr(token_losses.decoder, "tokens", lambda rows: torch.ones(len(rows), max(map(len, rows))).long())
    check = token_losses.self_check(test_sequences)
    assert check.rung == "one by one"
    assert "padded rows: differs by" in check.refused[0]
    for i, losses in token_losses.score(test_sequences):
        assert np.array_equal(losses, truth[i])


def test_unchecked_goes_one_by_one(monkeypatch):
    token_losses = scorer(tiny("llama"))
    monkeypatch.setattr(token_losses, "_together", None)
    assert len(dict(token_losses.score(sequences()))) == 5


@pytest.mark.parametrize(("tokens", "first"), [((1, 2), 0), ((1,), 1), ((1, 2), 2)])
def test_a_token_needs_one_before_it(tokens, first):
    with pytest.raises(InputError, match="at least one token before"):
        Scored(tokens, first)


def test_a_story_is_likelier_than_its_words_shuffled(real_models):
    folder = real_models / "tinystories-656k"
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    story = "Once upon a time there was a little girl named Lily. She loved to play outside with her friends."
    shuffled = " ".join(np.random.default_rng(0).permutation(story.split()))
    token_losses, test_sequences = scorer(model), [Scored(tuple(tokenizer.encode(text))) for text in (story, shuffled)]
    assert token_losses.self_check(test_sequences).passed
    losses = dict(token_losses.score(test_sequences))
    assert np.exp(losses[0].mean()) < 60
    assert np.exp(losses[1].mean()) > 600
