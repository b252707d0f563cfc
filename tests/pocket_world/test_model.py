"""The shipped models load, and pocket-1m answers the bank: better than chance, worse than knowing it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from core.settings import ASSETS
from pocket_world import bank
from pocket_world.evaluate import Share, accuracy, letter_probabilities
from pocket_world.tokens import published_tokenizer

SHIPPED = sorted(path for path in (ASSETS / "models").iterdir() if path.name.startswith("pocket-"))


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_shipped_model(folder: Path) -> None:
    shipped = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    millions = int(re.fullmatch(r"pocket-(\d+)m(?:-instruct)?", folder.name)[1])
    parameters = sum(weights.numel() for weights in shipped.parameters())
    assert 0.85 * millions <= parameters / 1e6 <= 1.55 * millions
    assert shipped.config.max_position_embeddings >= 512
    assert shipped.config.tie_word_embeddings
    assert {weights.dtype for weights in shipped.parameters()} == {torch.float32}
    assert not list(folder.glob("*.bin"))
    assert (folder / "model.safetensors").exists()
    tokenizer = published_tokenizer(folder)
    assert shipped.config.vocab_size == len(tokenizer)
    assert bool(tokenizer.chat_template) == folder.name.endswith("-instruct")


def test_all_models_together_are_small() -> None:
    assert sum(path.stat().st_size for folder in SHIPPED for path in folder.iterdir()) <= 40 * 2**20


def test_accuracy_on_a_fixed_sample(model, tokenizer) -> None:
    """Of the tasks that can be worked out from their text; chance is 25 %, and 1.96 √(0.25 · 0.75 / 200) is 6 %."""
    for task in ("rc", "drs", "ds"):
        asked = [question for question in bank.questions() if question.task == task]
        questions = random.Random(300).sample(asked, 200)
        probabilities = letter_probabilities(model, tokenizer, questions)
        share = accuracy(probabilities, questions)
        assert 0.31 <= share.value <= 0.9, (task, share)
        assert probabilities.sum(axis=1).mean() > 0.95


def test_padding_changes_nothing(model, tokenizer, made) -> None:
    questions = [entry.question for entry in made[:40]]
    together = letter_probabilities(model, tokenizer, questions)
    alone = letter_probabilities(model, tokenizer, questions, rows=1)
    assert abs(together - alone).max() < 1e-4


def test_wilson_by_hand() -> None:
    # p = 0.5, n = 4, z² = 3.8415: middle (0.5 + 0.4802) / 1.9604 = 0.5, spread sqrt(0.2401 + 0.2306) / 1.9604 = 0.35
    low, high = Share(2, 4).interval
    assert abs(low - 0.150) < 1e-3
    assert abs(high - 0.850) < 1e-3
    assert Share(0, 0).interval == (0.0, 1.0)
