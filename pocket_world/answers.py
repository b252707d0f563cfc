"""Free answers of a pocket model to the short-answer questions: the likeliest next token, again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.models.generation import Generator
from core.settings import ASSETS
from pocket_world import trivia
from pocket_world.tokens import published_tokenizer

LONGEST = 12
"""Tokens of an answer at most."""


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """A free answer, and whether it is the question's or one of its aliases."""

    question_id: str
    answer: str
    correct: bool


def answer(model: str, questions: Sequence[trivia.PocketShortQuestion] | None = None) -> list[FreeAnswer]:
    """The answers of a shipped model to ``questions``, by default all of them."""
    folder = ASSETS / "models" / model
    if not folder.is_dir():
        raise InputError(f"no model {model!r} in {folder.parent}; train it first")
    questions = trivia.make() if questions is None else questions
    loaded = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    said = generate(loaded, published_tokenizer(folder), [f"Question: {one.question}\nAnswer:" for one in questions])
    return [FreeAnswer(one.id, text, trivia.right(text, one)) for one, text in zip(questions, said, strict=True)]


def generate(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[str], *, rows: int = 64
) -> list[str]:
    """What the model says greedily after each prompt, up to its end token, a new line or ``LONGEST`` tokens."""
    said = dict(Generator(model, tokenizer, longest=LONGEST, rows=rows).answers(prompts))
    return [said[place] for place in range(len(prompts))]


def path_of(model: str) -> Path:
    """Where the answers of a shipped model lie."""
    return ASSETS / "trivia" / f"answers-{model}.jsonl"


def read(path: Path) -> list[FreeAnswer]:
    """Answers that were written before; InputError where there are none."""
    if not path.is_file():
        raise InputError(f"there are no answers in {path}; `python -m pocket_world answer` writes them")
    return [FreeAnswer(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def write(answers: Sequence[FreeAnswer], path: Path) -> None:
    """Write answers as JSON lines, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in answers]
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    temporary.replace(path)
