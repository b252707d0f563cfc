"""Generations: answers that the model writes in its own words, and the option that each of them names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from core.inference.engine import Engine
from core.prompting.written import find_answer
from core.records import Prompt, Question
from core.runs import store


def write_answers(
    engine: Engine,
    asked: Sequence[tuple[Question, Prompt]],
    folder: Path,
    *,
    repeats: int,
    seed: int,
    tell: Callable[[int], None],
) -> None:
    """Let the model write ``repeats`` sampled answers to each question, and write down which option each names.

    ``tell`` is called with the number of questions that are done.
    """
    rows = []
    for number, (question, prompt) in enumerate(asked):
        for repeat, text in enumerate(engine.write(prompt, repeats=repeats, seed=seed + number)):
            rows.append((question.id, repeat, text, find_answer(text, question.options)))
        tell(number + 1)
    ids, numbers, texts, answers = zip(*rows, strict=True)
    columns = {"id": ids, "repeat": numbers, "text": texts, "answer": answers}
    store.write_written(folder, pa.table({name: list(values) for name, values in columns.items()}))
