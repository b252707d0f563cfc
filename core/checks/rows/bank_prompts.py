"""The prompts that checks score: questions of the bundled bank, asked as runs ask them."""

from collections.abc import Sequence
from dataclasses import replace

from core.records import Prompt
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec

TASK = "qa"
WAYS = (("letters", 0), ("letters", 5), ("cloze", 5))
"""(form, shots): one token an option without and with a shared beginning, and options of several tokens."""


def way_title(form: str, shots: int) -> str:
    """A way of asking in words.

    >>> way_title("cloze", 5)
    'by text, 5 shots'
    """
    return f"by {'letter' if form == 'letters' else 'text'}, {shots} shots"


def asked(form: str, shots: int, *, questions: int) -> list[Prompt]:
    """This many questions of a task, asked in one way."""
    spec = RunSpec(model="pocket-3m", task=TASK, samples=questions, form=form, shots=shots)
    return list(prompts(spec, draw_questions(spec)))


def repeated(found: Sequence[Prompt], questions: int) -> list[Prompt]:
    """This many prompts; if there are fewer, the same ones again under other ids."""
    return [
        replace(found[i % len(found)], question_id=f"{found[i % len(found)].question_id}#{i}") for i in range(questions)
    ]
