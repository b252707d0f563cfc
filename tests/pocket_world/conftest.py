"""What the tests of the pocket world share: the bank, a guard and the shipped model, each made once."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerBase

from core.settings import ASSETS
from pocket_world import bank
from pocket_world.bank import BankQuestion
from pocket_world.contamination import Guard
from pocket_world.stream import Stream

MODEL = ASSETS / "models" / "pocket-1m"


made_bank = cache(bank.make)
"""A task's bank, made once in a process: it takes seconds."""


@pytest.fixture(scope="session")
def made() -> tuple[BankQuestion, ...]:
    return made_bank("qa")


@pytest.fixture(scope="session")
def stream() -> Stream:
    return Stream(Guard.of(bank.questions()))


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(MODEL)


@pytest.fixture(scope="session")
def model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
