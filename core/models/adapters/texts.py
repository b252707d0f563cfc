"""Texts to adapt to and to be judged on: a prompt that is read, and an answer whose tokens count.

A set is bundled (``trivia``, ``bank``, ``conversations``), a data set of the hub by the documents' names, or a person's
file: JSON, JSON lines, CSV or Parquet with ``prompt`` and ``answer`` (or ``instruction``, ``input``, ``output``), or
plain text, whose paragraphs count whole.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from core.errors import InputError
from core.models.token_ids import token_ids
from core.questions import bank
from core.questions.prompting.strategies import prompt
from core.questions.rows import read_dataset, read_file
from core.questions.trivia import shipped_rows
from core.settings import ASSETS
from core.storage.names import named

IGNORED = -100
"""The label of a token that the model reads but that is not judged."""

HUB = {
    "alpaca": "tatsu-lab/alpaca",
    "alpaca_gpt4": "vicgalle/alpaca-gpt4",
    "code_alpaca": "sahil2801/CodeAlpaca-20k",
    "dolly": "databricks/databricks-dolly-15k",
    "oasst1": "OpenAssistant/oasst1",
    "gpteacher": "teknium/GPTeacher-General-Instruct",
}
"""The documents' instruction sets by hub id."""
BUNDLED = ("trivia", "bank", "conversations")
PROMPTS = ("instruction", "prompt", "question")
ANSWERS = ("output", "response", "answer", "completion")
INPUTS = ("input", "context")
TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Text:
    """``prompt`` is read and may be empty; only the tokens of ``answer`` count."""

    prompt: str
    answer: str


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The tokens of a text and how many of them at its beginning are read and do not count, at least 1."""

    tokens: tuple[int, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Batch:
    """``tokens``, ``labels`` (-100 where a token is not judged) and ``mask`` (0 for padding), all (rows, width)."""

    tokens: torch.Tensor
    labels: torch.Tensor
    mask: torch.Tensor


def load_texts(name: str) -> list[Text]:
    """The texts of a set.

    Raises :class:`InputError` for an unknown name, and for data that are not there or not as they should be.
    """
    if name in BUNDLED:
        return {"trivia": _trivia, "bank": _bank, "conversations": _conversations}[name]()
    if name in HUB:
        return _instructions(read_dataset(HUB[name], configuration=None, split="train"), HUB[name])
    path = named(name)
    if not path.suffix:
        raise InputError(f"unknown texts {name!r}; choose from {', '.join((*BUNDLED, *HUB))}, or give a file")
    if path.suffix.lower() == ".txt":
        return _plain(path)
    return _instructions(read_file(path), str(path))


def split(texts: Sequence[Text], *, seed: int, share: float = TEST_SHARE) -> tuple[list[Text], list[Text]]:
    """Training and test texts, drawn by the seed; equal texts are on one side.

    Raises :class:`InputError` if a side would be empty.
    """
    if not 0 < share < 1:
        raise InputError(f"the test share must lie in (0, 1), got {share:g}")
    unique = list(dict.fromkeys(texts))
    random.Random(f"{seed}|texts").shuffle(unique)
    held = round(share * len(unique))
    if not 0 < held < len(unique):
        raise InputError(f"{len(unique)} different texts can't be split into training and test; give more")
    return unique[held:], unique[:held]


def tokenize(texts: Sequence[Text], tokenizer: Any, *, context: int) -> list[Tokenized]:
    """Texts as tokens, whole strings at once; too long ones lose the beginning of their prompt, then their end.

    Raises :class:`InputError` if no text has a token to judge.
    """
    rows = []
    for text in texts:
        before = token_ids(tokenizer, [text.prompt])[0] if text.prompt else ()
        (whole,) = token_ids(tokenizer, [text.prompt + text.answer])
        if not text.prompt:
            first = 1
        else:  # where both begin alike is the prompt; a token that straddles the seam belongs to the answer
            first = next(
                (i for i, (a, b) in enumerate(zip(before, whole, strict=False)) if a != b), min(len(before), len(whole))
            )
        drop = max(0, min(first - 1, len(whole) - context))
        tokens, first = whole[drop:][:context], max(1, first - drop)
        if first < len(tokens):
            rows.append(Tokenized(tokens, first))
    if not rows:
        raise InputError("no text has a token to judge: each text needs one token to read and one to predict")
    return rows


def batch_of(rows: Sequence[Tokenized], device: Any = "cpu") -> Batch:
    """Rows padded on the right with token 0."""
    width = max(len(row.tokens) for row in rows)
    tokens = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), IGNORED, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        n = len(row.tokens)
        tokens[i, :n] = torch.tensor(row.tokens)
        labels[i, row.first : n] = tokens[i, row.first : n]
        mask[i, :n] = 1
    return Batch(tokens.to(device), labels.to(device), mask.to(device))


def batches(rows: Sequence[Tokenized], size: int, device: Any = "cpu") -> list[Batch]:
    """Rows in their order, ``size`` a batch."""
    return [batch_of(rows[start : start + size], device) for start in range(0, len(rows), size)]


def _trivia() -> list[Text]:
    return [Text(f"Question: {row['question']}\nAnswer:", f" {row['answer']['value']}") for row in shipped_rows()]


def _bank() -> list[Text]:
    questions = [question for name in bank.available() for question in bank.load(name)]
    return [Text(prompt(question).text, f" {question.letter}") for question in questions]


def _conversations() -> list[Text]:
    """Each turn of the counselor, with the turns before it as its prompt."""
    texts = []
    for path in sorted((ASSETS / "conversations").glob("*.txt")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for i, line in enumerate(lines[1:], start=1):
            if line.startswith("assistant:"):
                texts.append(
                    Text("\n".join(lines[max(0, i - 4) : i]) + "\nassistant:", line.removeprefix("assistant:"))
                )
    return texts


def _plain(path: Path) -> list[Text]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read: {error}") from error
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    if not paragraphs:
        raise InputError(f"{path} holds no text")
    return [Text("", part) for part in paragraphs]


def _instructions(rows: Sequence[dict[str, Any]], where: str) -> list[Text]:
    first = rows[0]
    prompt_name, answer_name = (next((name for name in names if name in first), None) for names in (PROMPTS, ANSWERS))
    if prompt_name is None or answer_name is None:
        if "text" in first:
            return [Text("", str(row["text"])) for row in rows if str(row["text"]).strip()]
        raise InputError(
            f"{where}: expected {' or '.join(PROMPTS)} and {' or '.join(ANSWERS)}, found {', '.join(map(str, first))}"
        )
    extra = next((name for name in INPUTS if name in first), None)
    texts = []
    for number, row in enumerate(rows, start=1):
        instruction, answer = row.get(prompt_name), row.get(answer_name)
        if not instruction or answer is None:
            raise InputError(f"{where}, row {number}: expected {prompt_name} and {answer_name}, found {str(row)[:80]}")
        body = "\n".join(str(part).strip() for part in (instruction, row.get(extra) if extra else "") if part)
        texts.append(Text(f"### Instruction:\n{body}\n\n### Response:\n", str(answer)))
    return texts
