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
    model, asked = tiny(model_type), sequences()
    made = scorer(model)
    check = made.self_check(asked)
    assert (check.rung, check.refused) == ("padded rows", ())
    found = dict(made.score(asked))
    for i, one in enumerate(asked):
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([one.tokens])).logits[0, :-1]
        truth = torch.nn.functional.cross_entropy(logits, torch.tensor(one.tokens[1:]), reduction="none")
        assert found[i] == pytest.approx(truth[one.first - 1 :].numpy(), abs=1e-4)


def sharing(seed=0, shared=40):
    """Sequences that begin alike for ``shared`` tokens, before the first that is scored."""
    rng = np.random.default_rng(seed)
    begin = tuple(int(t) for t in rng.integers(3, VOCABULARY, shared))
    ends = [tuple(int(t) for t in rng.integers(3, VOCABULARY, n)) for n in (1, 9, 30, 17, 4)]
    return [Scored((*begin, i + 3, *end), shared + 1) for i, end in enumerate(ends)]


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[1::3]))
def test_what_all_begin_with_is_computed_once_or_refused(model_type):
    model, asked = tiny(model_type), sharing()
    made = scorer(model)
    made.prepare(asked)
    check = made.self_check(asked)
    assert check.rung == "prefix cache" if not check.refused else check.refused[0].startswith("prefix cache: ")
    assert check.passed
    found = dict(made.score(asked))
    for i, one in enumerate(asked):
        assert found[i] == pytest.approx(made._alone(one), abs=1e-4)


def test_a_llama_shares_and_a_wrong_cache_is_refused(monkeypatch):
    asked = sharing()
    made = scorer(tiny("llama"))
    made.prepare(asked)
    assert made.prefix.tokens == asked[0].tokens[:40]
    assert made.self_check(asked).rung == "prefix cache"
    made.prepare(asked)
    monkeypatch.setattr("core.models.token_losses.after", lambda prefix, rows, width, device: None)
    check = made.self_check(asked)
    if check.rung == "prefix cache":  # positions are counted by the cache too
        monkeypatch.setattr(made.prefix, "tokens", made.prefix.tokens[:-1])
        check = made.self_check(asked)
    assert check.rung == "padded rows"
    assert check.refused[0].startswith("prefix cache: ")
    truth = [made._alone(one) for one in asked]
    for i, losses in made.score(asked):
        assert losses == pytest.approx(truth[i], abs=1e-4)


def test_a_short_beginning_is_not_kept():
    made = scorer(tiny("llama"))
    made.prepare(sharing(shared=10))
    assert made.prefix is None


def test_a_planted_fault_goes_one_by_one(monkeypatch):
    made, asked = scorer(tiny("llama")), sequences()
    truth = {i: made._alone(one) for i, one in enumerate(asked)}
    monkeypatch.setattr(made.decoder, "tokens", lambda rows: torch.ones(len(rows), max(map(len, rows))).long())
    check = made.self_check(asked)
    assert check.rung == "one by one"
    assert "padded rows: differs by" in check.refused[0]
    for i, losses in made.score(asked):
        assert np.array_equal(losses, truth[i])


def test_unchecked_goes_one_by_one(monkeypatch):
    made = scorer(tiny("llama"))
    monkeypatch.setattr(made, "_together", None)
    assert len(dict(made.score(sequences()))) == 5


@pytest.mark.parametrize(("tokens", "first"), [((1, 2), 0), ((1,), 1), ((1, 2), 2)])
def test_a_token_needs_one_before_it(tokens, first):
    with pytest.raises(InputError, match="at least one token before"):
        Scored(tokens, first)


def test_a_story_is_likelier_than_its_words_shuffled(real_models):
    folder = real_models / "tinystories-656k"
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    story = "Once upon a time there was a little girl named Lily. She loved to play outside with her friends."
    shuffled = " ".join(np.random.default_rng(0).permutation(story.split()))
    made, asked = scorer(model), [Scored(tuple(tokenizer.encode(text))) for text in (story, shuffled)]
    assert made.self_check(asked).passed
    found = dict(made.score(asked))
    assert np.exp(found[0].mean()) < 60
    assert np.exp(found[1].mean()) > 600
