"""Fixtures for the tests of the pocket world: the training text, and the shipped model."""

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.models.perplexity import conversations
from core.settings import ASSETS
from pocket_world import bank
from pocket_world.contamination import Guard
from pocket_world.stream import Stream
from pocket_world.tokens import published_tokenizer

MODEL = ASSETS / "models" / "pocket-1m"


@pytest.fixture(scope="session")
def stream() -> Stream:
    return Stream(Guard.of(bank.questions(), conversations.bundled()), tasks=bank.BANK_TASKS)


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerBase:
    return published_tokenizer(MODEL)


@pytest.fixture(scope="session")
def model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
