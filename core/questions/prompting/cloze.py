"""Cloze prompts: the question without its options; each option's text is what may follow (Robinson & Wingate 2022).

An option's raw score is Σ log p of its tokens after the prompt, and of nothing else. Two prompts ask for it: ``cloze``
ends in ``Answer:``, ``continuation`` is the bare text that the options carry on, for models that never saw a question
with an answer. A run leaves out the closing options that are no answers.

Long and common texts are more or less likely whatever the question is, which the normalisations
(:data:`NORMALISATIONS`) take off. All of them come from what one run keeps: the raw scores, each option's tokens, and
what its text scores on its own, asked once for each distinct text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.questions.prompting.strategies import CONTEXT_NAMES, assemble
from core.records import FloatArray, LogitArray, Prompt, Question

INSTRUCTION = "Answer each question below in a few words."
ANSWER = "Answer:"

CARRIED_ON = ("ci", "drs", "ds")
"""Tasks that ask the same of every question, so that its context alone is the text to carry on."""

NORMALISATIONS = {
    "raw": "Raw: Σ log p of the option's tokens",
    "tokens": "LN: raw / number of tokens",
    "characters": "raw / number of characters",
    "bytes": "raw / number of bytes",
    "unconditional": "UN: raw − Σ log p of the option after a bare “Answer:”",
    "mutual": "raw − Σ log p of the option at the beginning of a text",
}
"""From a normalisation's name to what it is. ``characters``, ``bytes`` and ``mutual`` are the ``acc_norm``,
``acc_bytes`` and ``acc_mutual_info`` of lm-evaluation-harness."""

BARE = {"unconditional": ANSWER, "mutual": ""}
"""From a normalisation to the prompt after which an option's text is scored on its own."""


@dataclass(frozen=True, slots=True)
class OptionTexts:
    """What is known about n questions' k option texts beside their raw scores: their tokens, characters and bytes, and
    by the names of :data:`BARE` their scores on their own; all (n, k). Places behind a question's options hold 1 and
    0."""

    tokens: FloatArray
    characters: FloatArray
    bytes: FloatArray
    alone: dict[str, FloatArray]


def normalised(raw: LogitArray, texts: OptionTexts, *, by: str) -> FloatArray:
    """Scores (n, k) by one of the :data:`NORMALISATIONS`; higher is better, -inf where there is no option. Raises
    :class:`InputError` for an unknown name, and where the run did not score the texts on their own."""
    if by not in NORMALISATIONS:
        raise InputError(f"unknown normalisation {by!r}; choose from {', '.join(NORMALISATIONS)}")
    scores = raw.astype(np.float64)
    if by in BARE:
        if by not in texts.alone:
            raise InputError(f"this run did not score its options on their own, so there is no {by} normalisation")
        return scores - texts.alone[by]
    if by == "raw":
        return scores
    lengths: FloatArray = getattr(texts, by)
    return scores / lengths


def cloze_text(question: Question) -> str:
    """The question without its options, up to and with ``Answer:``."""
    lines = []
    if question.context:
        lines.append(f"{CONTEXT_NAMES.get(question.task, 'Context')}: {question.context}")
    return "\n".join([*lines, f"Question: {question.question}", ANSWER])


def continuation_text(question: Question) -> str:
    """The text that the options carry on: the context, then the question where the question says more."""
    question_text = "" if question.context and question.task in CARRIED_ON else question.question
    return "\n".join(part for part in (question.context, question_text) if part)


def option_text(option: str) -> str:
    """An option's text as it follows a prompt.

    >>> option_text("Paris ")
    ' Paris'
    """
    return f" {option.strip()}"


def cloze_prompt(question: Question, *, strategy: str = "base", demonstrations: Sequence[Question] = ()) -> Prompt:
    """The cloze prompt of one question; both instructed strategies say the same thing here, for no letters are asked
    for.

    Raises :class:`InputError` if an option's text is empty.

    >>> q = Question("1", "qa", "sums", "", "What is 1 + 1?", ("2", "3"), 0)
    >>> cloze_prompt(q).text, cloze_prompt(q).continuations
    ('Question: What is 1 + 1?\\nAnswer:', (' 2', ' 3'))
    """
    return assemble(
        question,
        opening="" if strategy == "base" else INSTRUCTION,
        shown=[f"{cloze_text(example)}{option_text(example.options[example.label])}" for example in demonstrations],
        question_text=cloze_text(question),
        continuations=_continuations(question),
    )


def continuation_prompt(
    question: Question, *, strategy: str = "base", demonstrations: Sequence[Question] = ()
) -> Prompt:
    """The text that the options carry on; it holds no instruction, so the strategy changes nothing.

    Raises :class:`InputError` if an option's text is empty.

    >>> q = Question("1", "local", "", "", "The dog wagged its", ("tail", "moon"), 0)
    >>> continuation_prompt(q).text, continuation_prompt(q).continuations
    ('The dog wagged its', (' tail', ' moon'))
    """
    return assemble(
        question,
        opening="",
        shown=[
            f"{continuation_text(example)}{option_text(example.options[example.label])}" for example in demonstrations
        ],
        question_text=continuation_text(question),
        continuations=_continuations(question),
    )


def bare_prompt(option: str, *, by: str, chat: bool = False, joined: bool = False) -> Prompt:
    """What asks for the text of one option on its own: a bare ``Answer:``, or nothing.

    ``joined`` lets the colon be scored with the option. Where a tokenizer joins the two, in some options and not in
    others, only so do all of them score the same stretch of text; elsewhere it would add the same to all.

    >>> bare_prompt(" Paris", by="unconditional", joined=True).continuations
    (': Paris',)
    """
    text = BARE[by]
    seam = text[-1:] if joined else ""
    return Prompt(option, text.removesuffix(seam), 1, continuations=(f"{seam}{option}",), chat=chat and bool(text))


def _continuations(question: Question) -> tuple[str, ...]:
    for place, option in enumerate(question.options):
        if not option.strip():
            raise InputError(
                f"option {place + 1} of question {question.id!r} has no text, so it has no likelihood; write one, or "
                "score the letters (--form letters)"
            )
    return tuple(option_text(option) for option in question.options)
