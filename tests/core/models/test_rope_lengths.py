"""Models whose rotary frequencies depend on the length of the whole text: every path gives what the model's own call
gives for each text alone, whatever else is in the batch, in the cache or came before."""

import copy
import functools

import numpy as np
import pytest
import torch

from core.models import paths
from core.models.adapters.judged import judge
from core.models.adapters.texts import Tokenized
from core.models.budget import Budget
from core.models.decoder import Decoder
from core.models.memory import geometry
from core.models.path_selection import WRONG_PATH, ladder, shared_part
from core.models.prefix import Prefix
from core.models.rope_lengths import ropes_of_length
from core.models.rows import TokenRow
from core.models.token_losses import Scored, TokenLosses
from tests.core.models.architectures import SETTINGS, VOCABULARY, tiny
from tests.core.models.zoo import DYNAMIC, LLAMA, LONGROPE, LONGROPE_GEMMA, LONGROPE_SCALED, ROPE_LIMIT, build

SHORT_CONTEXT = {"max_position_embeddings": ROPE_LIMIT}
MODELS = {
    "longrope": ("phi3", LLAMA | LONGROPE),
    "longrope with scales": ("phimoe", LLAMA | LONGROPE_SCALED | {"num_local_experts": 2, "num_experts_per_tok": 1}),
    "longrope in one layer": ("gemma3_text", LONGROPE_GEMMA),
    "dynamic": ("llama", LLAMA | SHORT_CONTEXT | {"rope_parameters": DYNAMIC}),
    "dynamic of another type": ("falcon", SETTINGS["falcon"] | SHORT_CONTEXT | {"rope_parameters": DYNAMIC}),
}


@functools.cache
def fresh(name: str):
    return build(*MODELS[name])


def ids(rng, n: int) -> tuple[int, ...]:
    return tuple(int(token) for token in rng.integers(3, VOCABULARY, n))


def rows(lengths, options, *, shared: int) -> list[TokenRow]:
    rng = np.random.default_rng(3)
    prefix = ids(rng, shared)
    return [TokenRow(prefix + ids(rng, n - shared), tuple(ids(rng, m) for m in options)) for n in lengths]


@torch.inference_mode()
def truth(name: str, token_rows: list[TokenRow]) -> list[list[float]]:
    """Σ log p of each option by transformers alone, each text by a model that has read no other."""
    sums = []
    for row in token_rows:
        sums.append([])
        for option in row.options:
            model = copy.deepcopy(fresh(name))
            logits = model(input_ids=torch.tensor([row.context + option[:-1]]), use_cache=False).logits[0]
            log_p = torch.log_softmax(logits, dim=-1)[len(row.context) - 1 :]
            sums[-1].append(sum(float(log_p[i, token]) for i, token in enumerate(option)))
    return sums


AROUND = (ROPE_LIMIT - 4, ROPE_LIMIT - 1, ROPE_LIMIT, ROPE_LIMIT + 1, ROPE_LIMIT + 30, ROPE_LIMIT + 31)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", [(1, 1, 1), (1, 2, 5, 9)], ids=["letters", "texts"])
def test_every_path_is_right_on_both_sides_of_the_limit(name, options):
    """The beginning that all rows share ends below the limit, and some options cross it."""
    token_rows = rows(AROUND, options, shared=ROPE_LIMIT - 8)
    right = np.array(truth(name, token_rows))
    decoder = Decoder(copy.deepcopy(fresh(name)))
    prefix = Prefix(decoder, token_rows[0].context[: ROPE_LIMIT - 8])
    rungs = ladder(decoder, letters=options == (1, 1, 1), prefix=True)[:-1]
    assert len(rungs) > 1
    tried = 0
    for rung in rungs:
        given, used = shared_part(rung, token_rows, prefix)
        try:
            got = rung.compute(given, used)
        except WRONG_PATH:  # the model does not take one windowed mask for all layers
            assert "windowed" in rung.name
        else:
            tried += 1
            assert np.abs(np.array(got) - right).max() < 1e-4, rung.name
    assert tried > 1
    assert np.abs(np.array(paths.one_by_one(decoder, token_rows[::-1])) - right[::-1]).max() < 1e-4


@pytest.mark.parametrize("name", MODELS)
def test_losses_are_right_on_both_sides_of_the_limit(name):
    rng = np.random.default_rng(5)
    begin = ids(rng, ROPE_LIMIT - 6)
    test_sequences = [Scored(begin + ids(rng, n + 1 - len(begin)), len(begin)) for n in AROUND]
    decoder = Decoder(copy.deepcopy(fresh(name)))
    losses = TokenLosses(decoder, Budget(decoder.device, geometry(decoder.model)), dtype="float32")
    losses.prepare(test_sequences)
    assert losses.self_check(test_sequences).rung == "prefix cache"
    for i, scored_losses in losses.score(test_sequences):
        with torch.inference_mode():
            logits = copy.deepcopy(fresh(name))(input_ids=torch.tensor([test_sequences[i].tokens[:-1]])).logits[0]
        wanted = torch.nn.functional.cross_entropy(logits, torch.tensor(test_sequences[i].tokens[1:]), reduction="none")
        assert scored_losses == pytest.approx(wanted[test_sequences[i].first - 1 :].numpy(), abs=1e-4)


def test_the_beginning_is_kept_once_for_each_side():
    decoder = Decoder(copy.deepcopy(fresh("longrope")))
    prefix = Prefix(decoder, (5,) * 33, [34, 36])
    assert prefix.lengths == (36,)
    cache = prefix.cache([ROPE_LIMIT + 5, 36, ROPE_LIMIT + 6])
    assert prefix.lengths == (36, ROPE_LIMIT + 6)
    keys = cache.layers[0].keys
    assert len(keys) == 3
    assert torch.equal(keys[0], keys[2])
    assert not torch.allclose(keys[0], keys[1])
    many = Prefix(Decoder(copy.deepcopy(fresh("dynamic"))), (5,) * 33, range(50, 60))
    assert len(many.lengths) == 4
    assert len(many.cache([70, 71, 72, 73, 74]).layers[0].keys) == 5


def test_other_models_are_left_as_they_are():
    for name in ("llama", "gemma3_text", "gpt2", "phi3"):
        model = tiny(name)
        assert ropes_of_length(model) == []
        assert Decoder(model).regime(10**6) == ()


@pytest.mark.parametrize("name", ["longrope", "dynamic"])
def test_tokens_are_judged_alike_alone_and_together(name):
    rng = np.random.default_rng(7)
    texts = [Tokenized(ids(rng, n), 1) for n in AROUND]
    together, alone = (judge(copy.deepcopy(fresh(name)), texts, rows=rows) for rows in (8, 1))
    assert together.loss == pytest.approx(alone.loss, abs=1e-4)
    with torch.inference_mode():
        logits = copy.deepcopy(fresh(name))(input_ids=torch.tensor([texts[0].tokens])).logits[0, :-1]
    right = torch.nn.functional.cross_entropy(logits, torch.tensor(texts[0].tokens[1:]), reduction="none")
    # The longest text comes first, so the shortest one is at the end.
    assert together.loss[-len(right) :] == pytest.approx(right.numpy(), abs=1e-4)
