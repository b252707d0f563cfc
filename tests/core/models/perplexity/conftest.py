"""A model whose every probability is known: a Llama that is a bigram table, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.models.perplexity.conversations import Conversation, Message

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

WORDS = ["<unk>", "<bos>", "assistant", "user", ":", ".", "be", "kind", "rude", "i", "am", "sad", "tell", "me", "more"]
BIGRAMS = np.random.default_rng(0).dirichlet(np.full(len(WORDS), 0.4), size=len(WORDS)) * 0.97 + 0.03 / len(WORDS)
"""p(next word | word), rows add up to 1."""


def known_model() -> LlamaForCausalLM:
    """One layer that adds nothing: the hidden state of a word is √V · one-hot, and the head holds log p / √V."""
    import torch  # not above, so that the tests of this room that load no model are collected without it
    from transformers import LlamaConfig, LlamaForCausalLM

    v = len(WORDS)
    config = LlamaConfig(
        vocab_size=v,
        hidden_size=v + 1,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=256,
        rms_norm_eps=0.0,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.fill_(1.0)
        model.model.embed_tokens.weight[:, :v] = torch.eye(v)
        model.lm_head.weight[:, :v] = torch.tensor(np.log(BIGRAMS).T / np.sqrt(v + 1), dtype=torch.float32)
    return model


@pytest.fixture(scope="session")
def known_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The known model with a tokenizer of whole words."""
    from tests.core.models.conftest import save_tokenizer

    folder = tmp_path_factory.mktemp("models") / "known"
    known_model().save_pretrained(folder)
    save_tokenizer(folder, WORDS)
    return folder


@pytest.fixture
def sad() -> Conversation:
    """Five messages; two are scored."""
    said = (
        ("assistant", "tell me more."),
        ("user", "i am sad."),
        ("assistant", "i am kind. tell me more."),
        ("user", "be kind."),
        ("assistant", "tell me. be sad."),
    )
    return Conversation("sad", tuple(Message(role, text) for role, text in said))
