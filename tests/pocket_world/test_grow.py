"""A grown model computes what the small one did, and learns with all of its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import LlamaForCausalLM

from core.errors import InputError
from pocket_world.begin import comparing_heads
from pocket_world.grow import grow, layer_places
from pocket_world.model import new_config
from pocket_world.recipes import RECIPES


def config(tokenizer, **sizes: int):
    small = {"hidden": 32, "layers": 2, "heads": 2, "intermediate": 48}
    return new_config(replace(RECIPES["pocket-1m"], **(small | sizes)), tokenizer)


def test_logits_stay(tokenizer) -> None:
    torch.manual_seed(3)
    small = LlamaForCausalLM(config(tokenizer)).eval()
    large = grow(small, config(tokenizer, hidden=48, layers=5, heads=3, intermediate=80)).eval()
    tokens = torch.randint(0, len(tokenizer), (3, 40))
    with torch.inference_mode():
        torch.testing.assert_close(large(tokens).logits, small(tokens).logits, rtol=1e-4, atol=1e-5)


def test_the_shipped_model_grows_into_the_next_recipe(model, tokenizer) -> None:
    large = grow(model, new_config(RECIPES["pocket-3m"], tokenizer)).eval()
    tokens = torch.tensor([tokenizer.encode("Question: What is the capital of France?\nA. Rome\nB. Paris\nAnswer:")])
    with torch.inference_mode():
        torch.testing.assert_close(large(tokens).logits, model(tokens).logits, rtol=1e-3, atol=1e-3)


def test_gradients_reach_what_writes(tokenizer) -> None:
    torch.manual_seed(3)
    large = grow(LlamaForCausalLM(config(tokenizer)), config(tokenizer, hidden=64, layers=3, heads=4, intermediate=96))
    large(torch.randint(0, 99, (2, 12)), labels=torch.randint(0, 99, (2, 12))).loss.backward()
    for name, weights in large.named_parameters():
        if "o_proj" in name or "down_proj" in name:
            assert weights.grad.abs().sum() > 0, name


def test_half_of_the_heads_of_a_new_layer_compare_what_is_expected(tokenizer) -> None:
    torch.manual_seed(3)
    large = grow(LlamaForCausalLM(config(tokenizer)), config(tokenizer, layers=3))
    new = next(place for place in range(3) if place not in layer_places(2, 3))
    for place, layer in enumerate(large.model.layers):
        backwards = layer.self_attn.q_proj.weight.flip(-1) == layer.self_attn.k_proj.weight
        assert bool(backwards[:16].all()) == (place == new)
        assert not backwards[16:].any()


def test_a_place_attends_to_where_its_token_is_expected() -> None:
    torch.manual_seed(3)
    width, size = 32, 128
    embeddings = torch.randn(200, size) * torch.linspace(3, 0.3, size)
    queries, keys = torch.zeros(size, size), torch.zeros(size, size)
    comparing_heads(queries, keys, embeddings, width)
    expected = embeddings[:20]
    own = expected.flip(-1) + embeddings[20:40]
    for head in range(2):
        rows = slice(width * head, width * (head + 1))
        logits = (own @ queries[rows].T) @ (expected @ keys[rows].T).T
        assert (logits.argmax(-1) == torch.arange(20)).float().mean() > 0.7
    assert not queries[2 * width :].any()


def test_layers_keep_their_order() -> None:
    assert layer_places(4, 4) == [0, 1, 2, 3]
    assert layer_places(6, 8) == [0, 1, 3, 4, 5, 7]


@pytest.mark.parametrize("sizes", [{"layers": 1}, {"hidden": 64, "heads": 2}, {"hidden": 16, "heads": 1}])
def test_what_can_not_grow_is_refused(tokenizer, sizes: dict[str, int]) -> None:
    small = LlamaForCausalLM(config(tokenizer))
    with pytest.raises(InputError, match="grow"):
        grow(small, config(tokenizer, **sizes))
