"""The initial heads attend where they are meant to, before any training."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaForCausalLM

from pocket_world.begin import begin
from pocket_world.model import new_config
from pocket_world.recipes import RECIPES


@pytest.fixture
def begun(tokenizer) -> LlamaForCausalLM:
    torch.manual_seed(3)
    made = LlamaForCausalLM(new_config(RECIPES["pocket-1m"], tokenizer))
    made.set_attn_implementation("eager")
    begin(made)
    return made.eval()


def attention(model: LlamaForCausalLM, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Attention (heads, queries, keys) of each layer."""
    with torch.no_grad():
        return [layer[0] for layer in model.model(tokens[None], output_attentions=True).attentions]


@pytest.fixture
def twice() -> torch.Tensor:
    """Tokens of which each stands twice, 20 places apart."""
    return torch.cat([torch.randperm(1000, generator=torch.Generator().manual_seed(5))[:20] + 10] * 2)


def test_a_head_of_the_first_layer_attends_to_the_previous_token(begun: LlamaForCausalLM, twice: torch.Tensor) -> None:
    first = attention(begun, twice)[0]
    assert first[2].diagonal(-1).mean() > 0.7  # of all 40 places


def test_an_induction_head_in_each_further_layer(begun: LlamaForCausalLM, twice: torch.Tensor) -> None:
    """It attends to what followed the same token before; what other heads write dims it in later layers."""
    found = [
        [float(layer[2][20:38].diagonal(place).mean()) for place in (-1, 0, 1, 2)]
        for layer in attention(begun, twice)[1:]
    ]
    for before, same, followed, behind in found[:2]:
        assert followed > max(0.15, 1.2 * before, 1.2 * same, 1.2 * behind)
    assert all(followed > 0.05 for _, _, followed, _ in found)  # 1 / 30 by chance


def test_half_of_the_heads_attend_to_the_same_token(begun: LlamaForCausalLM, twice: torch.Tensor) -> None:
    for layer in attention(begun, twice):
        for head in (0, 1):
            before, same, behind = (layer[head][20:39].diagonal(place).mean() for place in (-1, 0, 1))
            assert same > max(0.05, before, behind)
