"""The reader computes what transformers computes, and its gradients lead the same way."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import LlamaForCausalLM

from pocket_world.begin import begin
from pocket_world.model import new_config
from pocket_world.packed import seen_by
from pocket_world.reader import read
from pocket_world.recipes import RECIPES


@pytest.fixture
def small(tokenizer) -> LlamaForCausalLM:
    torch.manual_seed(5)
    made = LlamaForCausalLM(new_config(RECIPES["pocket-1m"], tokenizer))
    begin(made)
    # A model that writes little hides what its heads read.
    for layer in made.model.layers:
        layer.self_attn.o_proj.weight.data *= 10
        layer.mlp.down_proj.weight.data *= 10
    return made


def test_states_are_those_of_transformers(small: LlamaForCausalLM, tokenizer) -> None:
    tokens = torch.randint(0, len(tokenizer), (3, 45))
    with torch.no_grad():
        expected = small.model(tokens).last_hidden_state
        exact = read(small, tokens, precision=torch.float32)[0]
        found = read(small, tokens)[0]
    torch.testing.assert_close(exact, expected, rtol=1e-3, atol=1e-3)
    assert found.dtype == torch.float32
    alike = cosine_similarity(found, expected, dim=-1)
    assert alike.min() > 0.95
    assert alike.mean() > 0.998


def test_middle_states_are_those_after_their_layer(small: LlamaForCausalLM) -> None:
    tokens = torch.randint(0, 500, (2, 20))
    with torch.no_grad():
        last, middle = read(small, tokens, precision=torch.float32, middle=(2, 2, 3))
        states = small.model(tokens, output_hidden_states=True).hidden_states
        answer, option, verdict = middle
        torch.testing.assert_close(answer, small.model.norm(states[2]), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(option, answer.flip(-1))
        torch.testing.assert_close(verdict, small.model.norm(states[3]), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(last, states[-1], rtol=1e-3, atol=1e-3)
    assert read(small, tokens)[1] == []


def test_a_token_sees_what_it_may_see_alone(small: LlamaForCausalLM) -> None:
    tokens = torch.randint(0, 500, (1, 24))
    documents = torch.tensor([[0] * 10 + [1] * 14])
    with torch.no_grad():
        together, _ = read(small, tokens, precision=torch.float32, sees=seen_by(documents))
        apart = [read(small, tokens[:, part], precision=torch.float32)[0] for part in (slice(0, 10), slice(10, 24))]
    torch.testing.assert_close(together, torch.cat(apart, 1), rtol=1e-3, atol=1e-3)


def test_states_of_a_shipped_model(model, tokenizer) -> None:
    tokens = torch.tensor([tokenizer.encode("Question: What is the capital of France?\nA. Rome\nB. Paris\nAnswer:")])
    with torch.no_grad():
        states = model.model(tokens).last_hidden_state
        assert cosine_similarity(read(model, tokens)[0], states, dim=-1).min() > 0.99


def test_no_row_sees_its_future(small: LlamaForCausalLM) -> None:
    tokens = torch.randint(0, 500, (2, 20))
    changed = tokens.clone()
    changed[:, 12:] += 1
    with torch.no_grad():
        before, after = read(small, tokens)[0], read(small, changed)[0]
    torch.testing.assert_close(before[:, :12], after[:, :12])
    assert not torch.allclose(before[:, 12:], after[:, 12:])


def test_gradients_are_those_of_transformers(small: LlamaForCausalLM) -> None:
    tokens = torch.randint(0, 500, (2, 20))
    aim = torch.randn(2, 20, small.config.hidden_size)
    found = {}
    for name, states in (("own", read(small, tokens)[0]), ("theirs", small.model(tokens).last_hidden_state)):
        small.zero_grad()
        (states * aim).sum().backward()
        found[name] = {key: weights.grad.clone() for key, weights in small.named_parameters()}
    for key, gradient in found["theirs"].items():
        alike = cosine_similarity(found["own"][key].flatten(), gradient.flatten(), dim=0)
        assert alike > 0.98, (key, alike)
