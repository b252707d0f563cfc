"""What the tests of the pocket world share: the bank, a guard and the shipped model, each made once."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerBase

from core.pocket import bank
from core.pocket.bank import BankQuestion
from core.pocket.contamination import Guard
from core.pocket.stream import Stream
from core.settings import ASSETS

MODEL = ASSETS / "models" / "pocket-1m"


@pytest.fixture(scope="session")
def made() -> tuple[BankQuestion, ...]:
    return bank.make()


@pytest.fixture(scope="session")
def stream() -> Stream:
    return Stream(Guard.of(bank.questions()))


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(MODEL)


@pytest.fixture(scope="session")
def model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
