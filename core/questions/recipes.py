"""The published recipes: rows of a hub data set to the questions of a task.

Five tasks of Ye et al. 2024 (arXiv 2401.12794): 10,000 questions each (MMLU: 2,500 from each of its four
categories), options A to D, then "I don't know" and "None of the above"; a question that already has a "none of the
above" is left out. Dialogues and documents (HaluEval) come with the right answer, the hallucinated one and the right
answers of two other items, drawn and shuffled as the published files were. And two tasks of Robinson & Wingate 2022,
with their own options alone.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.questions.rows import Row
from core.questions.subjects import CATEGORY_OF
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, Question

SIZE = 10_000
PER_CATEGORY = 2_500
SEED = 42
NONE = re.compile(r"\b(none|neither) of (the|these)\b.*", re.IGNORECASE)

QUESTIONS = {
    "ci": "How does it most sensibly go on?",
    "drs": "Which reply fits the dialogue and is true?",
    "ds": "Which summary says what the document says?",
}
"""The question to ask if the data set has none of its own."""


@dataclass(frozen=True, slots=True)
class Built:
    """Questions, and how many rows were left out for which reason."""

    questions: tuple[Question, ...]
    left_out: dict[str, int]


def build(task: str, rows: Sequence[Row], *, place: str) -> Built:
    """The questions of ``task`` from rows of its data set; ``place`` is named where a row is not as expected.
    Deterministic: the same rows give the same questions. Raises :class:`InputError` for rows of another shape."""
    try:
        return RECIPES[task](task, rows)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        keys = sorted(rows[0]) if rows else []
        raise InputError(
            f"{place} does not have the rows of task {task!r} ({type(error).__name__}: {error}); found the keys {keys}"
        ) from error


def _mmlu(task: str, rows: Sequence[Row]) -> Built:
    questions = [
        _six(task, i, group=row["subject"], question=row["question"], options=row["choices"], label=int(row["answer"]))
        for i, row in enumerate(rows)
    ]
    sound, left_out = _sound(questions)
    categories: dict[str, list[Question]] = {}
    for question in sound:
        categories.setdefault(CATEGORY_OF[question.group], []).append(question)
    drawn = [question for name in sorted(categories) for question in _drawn(categories[name], PER_CATEGORY)]
    return Built(tuple(sorted(drawn, key=_number)), left_out)


def _cosmos(task: str, rows: Sequence[Row]) -> Built:
    questions = [
        _six(
            task,
            i,
            context=row["context"],
            question=row["question"],
            options=[row[f"answer{j}"] for j in range(4)],
            label=int(row["label"]),
        )
        for i, row in enumerate(rows)
        if int(row["label"]) >= 0
    ]
    sound, left_out = _sound(questions)
    return Built(tuple(sorted(_drawn(sound, SIZE), key=_number)), left_out)


def _hellaswag(task: str, rows: Sequence[Row]) -> Built:
    questions = [
        _six(
            task,
            i,
            group=row.get("activity_label", ""),
            context=_plain(row["ctx"]),
            options=[_plain(ending) for ending in row["endings"]],
            label=int(row["label"]),
        )
        for i, row in enumerate(rows)
        if str(row["label"]).strip()
    ]
    sound, left_out = _sound(questions)
    return Built(tuple(sorted(_drawn(sound, SIZE), key=_number)), left_out)


def _halueval(task: str, rows: Sequence[Row]) -> Built:
    """As published: two other items drawn each (never the item itself), then the four options shuffled. With 10,000
    rows the labels are those of the published files, all of them."""
    context, right, wrong = HALUEVAL[task]
    numbers = random.Random(SEED)
    questions = []
    for i, row in enumerate(rows[:SIZE]):
        others = [_another(numbers, i, len(rows)) for _ in range(2)]
        options = [row[right], row[wrong], *(rows[other][right] for other in others)]
        order = list(range(4))
        numbers.shuffle(order)
        questions.append(_six(task, i, context=row[context], options=[options[j] for j in order], label=order.index(0)))
    return Built(tuple(questions), {})


HALUEVAL = {
    "drs": ("dialogue_history", "right_response", "hallucinated_response"),
    "ds": ("document", "right_summary", "hallucinated_summary"),
}
"""Task → the keys of what it is about, of the right and of the hallucinated answer."""


def _another(numbers: random.Random, i: int, n: int) -> int:
    if n < 2:
        raise ValueError("at least two rows are needed, to draw other answers from")
    while (place := numbers.randint(0, n - 1)) == i:
        pass
    return place


def _choices(task: str, rows: Sequence[Row]) -> Built:
    """ARC and CommonsenseQA, as on the hub (lists of labels and texts) or in the published note (a stem with choices).
    Options may be labelled by letters or numbers; a few questions have another number of options than most."""
    questions = []
    for row in rows:
        stem, texts, labels = _listed(row)
        if str(row["answerKey"]).strip():
            at = labels.index(str(row["answerKey"]))
            questions.append(
                Question(str(row["id"]), task, row.get("question_concept", ""), "", stem, tuple(texts), at)
            )
    return Built(tuple(questions), {})


def _listed(row: Row) -> tuple[str, list[str], list[str]]:
    question = row["question"]
    if isinstance(question, dict):
        listed = question["choices"]
        return question["stem"], [choice["text"] for choice in listed], [str(choice["label"]) for choice in listed]
    return question, list(row["choices"]["text"]), [str(label) for label in row["choices"]["label"]]


RECIPES: dict[str, Callable[[str, Sequence[Row]], Built]] = {
    "qa": _mmlu,
    "rc": _cosmos,
    "ci": _hellaswag,
    "drs": _halueval,
    "ds": _halueval,
    "arc": _choices,
    "csqa": _choices,
}
"""Task → what makes its questions."""


def _six(
    task: str, i: int, *, options: Sequence[str], label: int, group: str = "", context: str = "", question: str = ""
) -> Question:
    """A question of four options, with the two that are never the truth behind them."""
    if len(options) != 4 or not 0 <= label < 4:
        raise ValueError(f"row {i} has {len(options)} options and label {label}, expected 4 and one of 0 to 3")
    texts = tuple(str(option).strip() for option in options)
    text = question.strip() or QUESTIONS[task]
    return Question(f"{task}-{i}", task, group, context.strip(), text, (*texts, DONT_KNOW, NONE_OF_ABOVE), label)


def _sound(questions: Sequence[Question]) -> tuple[list[Question], dict[str, int]]:
    """Those with one right answer and no "none of the above" of their own."""
    rest = [q for q in questions if not any(NONE.search(option) for option in q.options[:4])]
    sound = [q for q in rest if q.options.count(q.options[q.label]) == 1]
    counts = {
        "with a none of the above": len(questions) - len(rest),
        "with the right answer twice": len(rest) - len(sound),
    }
    return sound, {reason: count for reason, count in counts.items() if count}


def _drawn(questions: Sequence[Question], most: int) -> list[Question]:
    order = np.random.default_rng(SEED).permutation(len(questions))
    return [questions[i] for i in order[:most]]


def _number(question: Question) -> int:
    return int(question.id.rsplit("-", 1)[-1])


MARK = re.compile(r"\[[^\]]*\]")


def _plain(text: str) -> str:
    """HellaSwag without the marks that its how-to articles left in it."""
    marked, end, rest = text.rpartition("]")  # only before it, because each "[" would search for its "]" and find none
    return " ".join(f"{re.sub(MARK, ' ', marked + end)}{rest}".split())


def letter_index(text: str) -> int:
    """The position of an answer letter; -1 if it is not a letter."""
    return LETTERS.find(text) if len(text) == 1 else -1
