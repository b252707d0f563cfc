"""Multiple-choice prompts: three strategies, with or without demonstrations.

``base`` gives no instruction, ``shared`` the same instruction for every task, ``task`` one that names the
task's kind. The structure is that of Ye et al. 2024 (arXiv 2401.12794): the instruction first, then the
demonstrations with their answers, then, where there were any, a closing sentence, then the question. The words
are Hedge's own. A prompt ends in ``Answer:``, so that the next token is a letter behind a space.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError
from core.records import LETTERS, MOST_ASKED, Prompt, Question

SHARED_INSTRUCTION = (
    "Each question below comes with lettered options. Exactly one option is right. "
    "Answer with the letter of that option."
)

TASK_INSTRUCTIONS = {
    "qa": "The questions below test what you know about the world. Answer with the letter of the right option.",
    "rc": "Read the passage and answer the question about it with the letter of the right option.",
    "ci": "A situation is described. Answer with the letter of the option that most sensibly carries it on.",
    "drs": "A dialogue is given. Answer with the letter of the reply that fits it and is true to it.",
    "ds": "A document is given. Answer with the letter of the summary that is true to it and complete.",
}

BETWEEN = "\n\n"
CLOSING = "Now answer the next question in the same way."

STRATEGIES = ("base", "shared", "task")


def instruction(strategy: str, task: str) -> str:
    """The instruction that opens a prompt; empty for ``base``. A task without one of its own uses the shared one."""
    if strategy not in STRATEGIES:
        raise InputError(f"unknown strategy {strategy!r}; choose from {', '.join(STRATEGIES)}")
    if strategy == "base":
        return ""
    return TASK_INSTRUCTIONS.get(task, SHARED_INSTRUCTION) if strategy == "task" else SHARED_INSTRUCTION


CONTEXT_NAMES = {"rc": "Passage", "ci": "Situation", "drs": "Dialogue", "ds": "Document"}


def question_text(question: Question) -> str:
    """One question with its lettered options, up to and with ``Answer:``."""
    lines = []
    if question.context:
        lines.append(f"{CONTEXT_NAMES.get(question.task, 'Context')}: {question.context}")
    lines.append(f"Question: {question.question}")
    lines += [f"{letter}. {option}" for letter, option in zip(LETTERS, question.options, strict=False)]
    return "\n".join([*lines, "Answer:"])


def prompt(question: Question, *, strategy: str = "base", demonstrations: Sequence[Question] = ()) -> Prompt:
    """The prompt of one question.

    >>> q = Question("1", "qa", "sums", "", "What is 1 + 1?", ("2", "3"), 0)
    >>> print(prompt(q).text)
    Question: What is 1 + 1?
    A. 2
    B. 3
    Answer:
    """
    shown = [f"{question_text(example)} {example.letter}" for example in demonstrations]
    return assemble(
        question, opening=instruction(strategy, question.task), shown=shown, question_text=question_text(question)
    )


def opened(prompt: Prompt, opening: str) -> Prompt:
    """The prompt with a text of one's own in front of all."""
    front = f"{opening.strip()}{BETWEEN}"
    by = len(front)
    return replace(
        prompt,
        text=front + prompt.text,
        demonstrations=tuple((start + by, end + by) for start, end in prompt.demonstrations),
        context=(prompt.context[0] + by, prompt.context[1] + by),
    )


def assemble(
    question: Question, *, opening: str, shown: Sequence[str], question_text: str, continuations: tuple[str, ...] = ()
) -> Prompt:
    """A prompt of its parts, which knows where those lie that a model with a short context can miss."""
    if len(question.options) > len(LETTERS):
        raise InputError(f"question {question.id!r} has {len(question.options)} options, but {MOST_ASKED}")
    text = f"{opening}{BETWEEN}" if opening else ""
    spans = []
    for part in shown:
        spans.append((len(text), len(text) + len(part) + len(BETWEEN)))
        text += part + BETWEEN
    if opening and shown:
        # The closing sentence goes with the last demonstration.
        text += CLOSING + BETWEEN
        spans[-1] = (spans[-1][0], len(text))
    start = len(text) + question_text.index(question.context) if question.context else 0
    return Prompt(
        question_id=question.id,
        text=text + question_text,
        k=len(question.options),
        continuations=continuations,
        demonstrations=tuple(spans),
        context=(start, start + len(question.context)),
    )
