"""Judging tokens: every figure against a naive pass, sampling by the seed, memory that stays within bounds."""

import numpy as np
import pytest
import torch
from torch import nn

from core.errors import InputError
from core.models import decoder
from core.models.adapters.inject import inject, inject_lora
from core.models.adapters.judged import SPARE, draw_tokens, judge
from core.models.adapters.layer import layers_of
from core.models.adapters.texts import Tokenized
from tests.core.models.adapters.conftest import tiny

RNG = np.random.default_rng(0)
TEXTS = [Tokenized(tuple(RNG.integers(1, 64, n).tolist()), int(RNG.integers(1, n - 1))) for n in (3, 9, 12, 5, 30, 7)]


def naive(model, texts):
    """Each text alone through the model's own call."""
    rows = []
    with torch.no_grad():
        for text in texts:
            p = model(input_ids=torch.tensor([text.tokens])).logits[0].softmax(-1).double()
            for at in range(text.first, len(text.tokens)):
                q, y = p[at - 1], text.tokens[at]
                rows.append((float(q.max()), float(q.argmax() == y), float(q[y]), float(-(q * q.log()).sum())))
    return np.array(sorted(rows))


@pytest.mark.parametrize("rows", [1, 4])
def test_every_figure_is_that_of_a_naive_pass(model, rows):
    judged = judge(model, TEXTS, rows=rows)
    got = np.array(sorted(zip(judged.confidence, judged.correct, np.exp(-judged.loss), judged.entropy, strict=True)))
    assert got == pytest.approx(naive(model, TEXTS), abs=1e-5)
    assert judged.epistemic == pytest.approx(np.zeros(len(judged)), abs=1e-6)


def test_pieces_of_the_vocabulary_change_nothing(model, monkeypatch):
    whole = judge(model, TEXTS)
    monkeypatch.setitem(decoder.VOCABULARY_BYTES, "cpu", 64 * 4 * 5 * 2)  # two tokens at a time
    pieces = judge(model, TEXTS)
    assert pieces.loss == pytest.approx(whole.loss, abs=1e-6)


def test_a_loss_is_not_cut_where_the_probability_is_too_small_for_a_number():
    model = tiny()
    with torch.no_grad():
        model.lm_head.weight.mul_(1e5)
    judged = judge(model, TEXTS)
    expected = []
    with torch.no_grad():
        for text in TEXTS:
            logs = model(input_ids=torch.tensor([text.tokens])).logits[0].double().log_softmax(-1)
            expected += [-float(logs[at - 1, text.tokens[at]]) for at in range(text.first, len(text.tokens))]
    assert max(expected) > 200  # exp(−200) is 0 in float32
    assert np.sort(judged.loss) == pytest.approx(np.sort(expected), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("kind", ["lora", "ard-lora"])
def test_an_adapter_is_judged_with_its_effect(kind):
    model = tiny()
    if kind == "lora":
        adapted = inject_lora(model, rank=2, alpha=4).get_base_model()
        weights = [w for name, w in adapted.named_parameters() if "lora_B" in name]
    else:
        inject(model, rank=2, alpha=4)
        adapted, weights = model, [layer.B for layer in layers_of(model).values()]
    for weight in weights:
        nn.init.normal_(weight)
    judged = judge(adapted, TEXTS)
    assert np.sort(judged.confidence) == pytest.approx(naive(adapted, TEXTS)[:, 0], abs=1e-5)
    assert not np.allclose(np.sort(judged.loss), np.sort(judge(tiny(), TEXTS).loss))


def test_passes_part_the_uncertainty():
    model = tiny()
    inject(model, rank=4, alpha=16)
    for layer in layers_of(model).values():
        nn.init.normal_(layer.B)
    judged = judge(model, TEXTS, passes=40)
    assert judged.entropy == pytest.approx(judged.aleatoric + judged.epistemic, abs=1e-5)
    assert (judged.epistemic > 0).mean() > 0.9
    assert judge(model, TEXTS, passes=3, seed=1).loss.tolist() == judge(model, TEXTS, passes=3, seed=1).loss.tolist()
    # The mean of softmaxes, drawn by hand for one text.
    torch.manual_seed(0)
    for layer in layers_of(model).values():
        layer.sampling = True
    token_ids = torch.tensor([TEXTS[0].tokens])
    with torch.no_grad():
        drawn = [model(input_ids=token_ids).logits[0].softmax(-1) for _ in range(400)]
    expected = torch.stack(drawn).mean(0)[len(TEXTS[0].tokens) - 2, TEXTS[0].tokens[-1]]
    many = judge(model, TEXTS[:1], passes=400)
    assert np.exp(-many.loss[-1]) == pytest.approx(float(expected), rel=0.15)


def test_passes_of_a_model_without_latents_are_refused(model):
    with pytest.raises(InputError, match="only an ARD-LoRA"):
        judge(model, TEXTS, passes=2)
    with pytest.raises(InputError, match="count from 0"):
        judge(model, TEXTS, passes=-1)


def test_tokens_are_drawn_by_the_seed_from_texts_that_hold_enough():
    texts = [Tokenized(tuple(range(20)), 5) for _ in range(200)]
    drawn = draw_tokens(texts, 30, seed=4)
    assert drawn == draw_tokens(texts, 30, seed=4) != draw_tokens(texts, 30, seed=5)
    assert sum(len(places) for _, places in drawn) == 30
    assert all(5 <= at < 20 for _, places in drawn for at in places)
    assert len(drawn) <= SPARE * 30 / 15 + 1  # it stopped early
    assert sum(len(places) for _, places in draw_tokens(texts, 10**6, seed=0)) == 3000
    with pytest.raises(InputError, match="at least one token"):
        draw_tokens(texts, 0, seed=0)


def test_progress_is_told(model):
    heard = []
    judge(model, TEXTS, rows=2, report=lambda done, total: heard.append((done, total)))
    assert heard[-1][0] == heard[-1][1] == sum(len(text.tokens) - text.first for text in TEXTS)
