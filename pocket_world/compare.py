"""A pocket model that was trained again from its beginning, beside the one that ships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM

from core.errors import InputError
from core.records import Question
from pocket_world.bank import BANK_TASKS
from pocket_world.evaluate import Share, accuracy, letter_probabilities
from pocket_world.text_loss import held_out_loss
from pocket_world.tokens import published_tokenizer


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """Accuracy by letter, zero shots, by task; and the perplexity a token of held-out prose."""

    letters: dict[str, Share]
    perplexity: float

    @property
    def mean(self) -> float:
        """The mean accuracy over the tasks, 0 to 1."""
        return sum(share.value for share in self.letters.values()) / len(self.letters)


def figures_of(folder: Path, questions: Sequence[Question], *, chat: bool = False) -> ModelFigures:
    """What the model in a folder reaches on these questions. Raises :class:`InputError` if no model is there."""
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} holds no model; `python -m pocket_world make` writes one at the end")
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = published_tokenizer(folder)
    probabilities = letter_probabilities(model, tokenizer, questions)
    places = {task: [i for i, question in enumerate(questions) if question.task == task] for task in BANK_TASKS}
    letters = {
        task: accuracy(probabilities[chosen], [questions[i] for i in chosen])
        for task, chosen in places.items()
        if chosen
    }
    return ModelFigures(letters, held_out_loss(model, tokenizer, chat=chat).perplexity)


def compared(shipped: ModelFigures, again: ModelFigures) -> str:
    """Both as a Markdown table, with their differences."""
    shares = [(task, share.value, again.letters[task].value) for task, share in shipped.letters.items()]
    rows = [
        (name, f"{before:.1%}", f"{after:.1%}", f"{100 * (after - before):+.1f} points")
        for name, before, after in (*shares, ("mean by letter", shipped.mean, again.mean))
    ]
    change = again.perplexity / shipped.perplexity - 1
    rows.append(("perplexity a token", f"{shipped.perplexity:.1f}", f"{again.perplexity:.1f}", f"{change:+.1%}"))
    lines = [("", "ships", "again", "difference"), ("---",) * 4, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
