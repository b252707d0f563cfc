"""What a model in training can do at a step: a line of its loss curve."""

from __future__ import annotations

import random
from collections.abc import Sequence

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from core.records import Question
from pocket_world.bank import BANK_TASKS
from pocket_world.batches import batch, share_right
from pocket_world.binding import binding_question
from pocket_world.evaluate import accuracy, letter_probabilities
from pocket_world.matching import listed_document, phrases_document
from pocket_world.progress import LossRow, StageProgress
from pocket_world.recipes import Recipe
from pocket_world.text_loss import held_out_loss
from pocket_world.world import world

CHECK_QUESTIONS = 200

CHECK_TEXT = 8
"""A check reads every such piece of held-out prose."""


def loss_row(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    recipe: Recipe,
    progress: StageProgress,
    *,
    questions: Sequence[Question],
    values: Sequence[str],
) -> LossRow:
    """Accuracies on fresh binding questions and on the first of ``questions`` of each task; held-out prose.

    In stages without binding questions, lists of ``values`` or of phrases take their place. The model is left in
    evaluation mode.
    """

    def share(asked: Sequence[Question]) -> float:
        return accuracy(letter_probabilities(model, tokenizer, asked), asked).value

    rng = random.Random(f"{recipe.seed}|check|{progress.stage}|{progress.step}")
    model.eval()
    if progress.stage == "everything":
        binding = share([binding_question(world(), rng) for _ in range(CHECK_QUESTIONS)])
    else:
        make = listed_document if progress.stage == "matching" else phrases_document
        documents = [make(values, rng) for _ in range(CHECK_QUESTIONS)]
        binding = share_right(model, batch(documents, tokenizer))
    return {
        "stage": progress.stage,
        "step": progress.step,
        "tokens": progress.tokens,
        "seconds": round(progress.seconds, 1),
        "loss": progress.losses / progress.counted,
        "binding": binding,
        "perplexity": held_out_loss(model, tokenizer, chat=recipe.chat, every=CHECK_TEXT).perplexity,
        "tasks": {task: share([one for one in questions if one.task == task][:CHECK_QUESTIONS]) for task in BANK_TASKS},
    }
