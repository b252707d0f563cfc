"""Free answers of a pocket model to the short-answer questions: the likeliest next token, again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.pocket import trivia
from core.pocket.tokens import published_tokenizer
from core.settings import ASSETS

PATH = ASSETS / "trivia" / "answers.jsonl"
LONGEST = 12
"""Tokens of an answer at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A free answer, and whether it is the question's or one of its aliases."""

    question_id: str
    answer: str
    correct: bool


def answer(model: str, questions: Sequence[trivia.ShortQuestion] | None = None) -> list[Answer]:
    """The answers of a shipped model to ``questions``, by default all of them."""
    folder = ASSETS / "models" / model
    if not folder.is_dir():
        raise InputError(f"no model {model!r} in {folder.parent}; train it first")
    questions = trivia.make() if questions is None else questions
    loaded = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    said = generate(loaded, published_tokenizer(folder), [f"Question: {one.question}\nAnswer:" for one in questions])
    return [Answer(one.id, text, trivia.right(text, one)) for one, text in zip(questions, said, strict=True)]


def generate(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[str], *, rows: int = 64
) -> list[str]:
    """What the model says greedily after each prompt, up to its end token, a new line or ``LONGEST`` tokens."""
    encoded = [tokenizer.encode(prompt) for prompt in prompts]
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place]))
    said = [""] * len(prompts)
    for start in range(0, len(order), rows):
        places = order[start : start + rows]
        for place, text in zip(places, _batch(model, tokenizer, [encoded[place] for place in places]), strict=True):
            said[place] = text
    return said


def write(answers: Sequence[Answer], path: Path = PATH) -> None:
    """Write answers as JSON lines, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in answers]
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    temporary.replace(path)


def _batch(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, encoded: list[list[int]]) -> list[str]:
    """Rows are padded behind what they hold, and each grows at its own end."""
    ends = [len(row) for row in encoded]
    width = max(ends) + LONGEST
    tokens = torch.tensor([row + [0] * (width - len(row)) for row in encoded])
    rows, last = torch.arange(len(encoded)), torch.tensor(ends)
    for _ in range(LONGEST):
        with torch.inference_mode():
            hidden = model.model(input_ids=tokens[:, : int(last.max())]).last_hidden_state[rows, last - 1]
            tokens[rows, last] = model.lm_head(hidden).argmax(-1)
        last = last + 1
    stop = tokenizer.eos_token_id
    spoken = [row[end : end + LONGEST].tolist() for row, end in zip(tokens, ends, strict=True)]
    cut = [row[: row.index(stop)] if stop in row else row for row in spoken]
    return [tokenizer.decode(row).partition("\n")[0].strip() for row in cut]
