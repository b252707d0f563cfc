"""Logits of models in half precision are float32: letters no longer tie because a logit was rounded."""

import pytest
import torch

from core.models.model_loading import load_model
from core.models.model_sources import resolve
from core.models.output_head import _on_device, give_float32

TOKENS = torch.tensor([[5, 9, 300, 41, 77, 12]])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_logits_are_those_of_the_states_without_a_last_rounding(dtype):
    model, _ = load_model(resolve("pocket-1m"), dtype=dtype)
    with torch.inference_mode():
        rounded = model(TOKENS, use_cache=False).logits
        states = model.model(TOKENS, use_cache=False).last_hidden_state
        give_float32(model)
        got = model(TOKENS, use_cache=False).logits
        exact = states.double() @ model.get_output_embeddings().weight.double().T
    assert rounded.dtype == getattr(torch, dtype)
    assert got.dtype == torch.float32
    assert float((got - exact).abs().max()) < 1e-4
    assert float((rounded - exact).abs().max()) > 1e-3


def test_a_model_in_float32_and_another_kind_of_head_stay_as_they_are(tiny_model):
    model, _ = load_model(resolve(str(tiny_model)), dtype="float32")
    give_float32(model)
    assert "forward" not in vars(model.get_output_embeddings())
    model, _ = load_model(resolve(str(tiny_model)), dtype="bfloat16")
    model.get_output_embeddings().__class__ = type("Other", (torch.nn.Linear,), {})
    give_float32(model)
    assert "forward" not in vars(model.get_output_embeddings())


def test_a_device_without_such_a_product_gets_it_in_slices(monkeypatch):
    """This processor has none, as Apple's GPUs; slices together are the whole."""
    monkeypatch.setattr("core.models.output_head.SLICE", 7)
    states, weight = torch.randn(2, 3, 16).bfloat16(), torch.randn(20, 16).bfloat16()
    assert torch.allclose(_on_device(states, weight), states.float() @ weight.float().T, atol=1e-5)
