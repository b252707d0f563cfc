import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def tiny(*, seed: int = 0, vocabulary: int = 64, layers: int = 2) -> LlamaForCausalLM:
    """A Llama of a few thousand random weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=64,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture
def model() -> LlamaForCausalLM:
    return tiny()
