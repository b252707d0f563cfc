"""What a pocket model knows of lettered questions on the way to the letter, by its recipe's middle layers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from core.models.perplexity import conversations
from core.records import DONT_KNOW, NONE_OF_ABOVE, Question
from pocket_world import bank, checkpoint
from pocket_world.batches import TokenBatch, batch
from pocket_world.contamination import Guard
from pocket_world.documents import EXPECTED_TASKS, RIGHT, WRONG, lettered
from pocket_world.evaluate import Share, letter_ids
from pocket_world.model import new_config, set_epsilon
from pocket_world.reader import read
from pocket_world.recipes import Recipe
from pocket_world.stream import Stream
from pocket_world.tokens import published_tokenizer
from pocket_world.train import TOKENIZER

QUESTIONS = 300
"""So many of each task are asked, of training and of the bank."""

_SEED = 5


@dataclass(frozen=True, slots=True)
class Known:
    """Shares of questions, and in ``option`` of options. Where the recipe has no such middle layer they count nothing.

    ``answer``: where the question ends, the first middle layer expects the right option rather than a wrong one, among
    those whose first tokens differ. ``option``: where an option ends, the second knows its first token. ``verdict``:
    the third finds the right option the likeliest to be right. ``letter``: its letter is the likeliest.
    """

    answer: Share
    option: Share
    verdict: Share
    letter: Share


def known(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    questions: Sequence[Question],
    *,
    middle: Sequence[int],
) -> Known:
    """What the layers ``middle`` of a model know of questions that are asked without demonstrations."""
    hits: dict[str, list[bool]] = {"answer": [], "option": [], "verdict": [], "letter": []}
    letters = letter_ids(tokenizer)
    yes, no = (tokenizer.encode(verdict)[0] for verdict in (RIGHT, WRONG))
    for question in questions:
        data = batch([lettered([question])], tokenizer)
        with torch.inference_mode():
            last, states = read(model, data.tokens[:, :-1], precision=torch.float32, middle=middle)
            logits = [model.lm_head(one[0]) for one in states]
            due = int((data.weights[0] == 1).nonzero()[0, 0]) - 1
            said = model.lm_head(last[0, due])[letters]
        hits["letter"].append(int(said.argmax()) == question.label)
        ends, tokens = _options(data, question)
        asked = _places(data, 0)
        if logits and len(asked) and len(tokens.unique()) == len(tokens):
            hits["answer"].append(int(logits[0][asked[0], tokens].argmax()) == question.label)
        if len(logits) > 1:
            hits["option"] += (logits[1][ends].argmax(-1) == tokens).tolist()
        if len(logits) > 2:
            hits["verdict"].append(int((logits[2][ends, yes] - logits[2][ends, no]).argmax()) == question.label)
    return Known(**{name: Share(sum(found), len(found)) for name, found in hits.items()})


def _places(data: TokenBatch, number: int) -> torch.Tensor:
    return data.expected_weights[number, 0].nonzero().flatten()


def _options(data: TokenBatch, question: Question) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the options end that say something of their own, and their first tokens."""
    own = [place for place, option in enumerate(question.options) if option not in (DONT_KNOW, NONE_OF_ABOVE)]
    ends = _places(data, 1)[own]
    return ends, data.expected[1, 0, ends]


def table(recipe: Recipe, *, work: Path, published: Path) -> str:
    """A Markdown table of what a model knows: the one in training in the folder ``work``, else the published one.

    Raises :class:`InputError` where there is none, or where the training is of another recipe.
    """
    model, tokenizer = _model(recipe, work, published)
    every = bank.questions()
    stream = Stream(Guard.of(every, conversations.bundled()), tasks=recipe.tasks)
    lines = ["| task | of | answer | options | verdict | letter |", "| --- | --- | --- | --- | --- | --- |"]
    for task in EXPECTED_TASKS:
        rng = random.Random(f"{_SEED}|{task}")
        of_training = [stream.question(rng, task) for _ in range(QUESTIONS)]
        of_bank = rng.sample([question for question in every if question.task == task], QUESTIONS)
        for name, questions in (("training", of_training), ("bank", of_bank)):
            found = known(model, tokenizer, questions, middle=recipe.middle)
            shares = (found.answer, found.option, found.verdict, found.letter)
            lines.append(f"| {task} | {name} | {' | '.join(f'{one.value:.0%}' if one.n else '–' for one in shares)} |")
    return "\n".join(lines)


def _model(recipe: Recipe, work: Path, published: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    if not checkpoint.exists(work):
        tokenizer = published_tokenizer(published)
        return LlamaForCausalLM.from_pretrained(published, dtype=torch.float32).eval(), tokenizer
    state = checkpoint.read(work)
    checkpoint.check_recipe(state, recipe, work)
    tokenizer = published_tokenizer(work / TOKENIZER)
    model = LlamaForCausalLM(new_config(recipe, tokenizer)).eval()
    model.load_state_dict(state["model"])
    set_epsilon(model, state["epsilon"])
    return model, tokenizer
