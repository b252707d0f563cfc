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


def prompts_for(form: str, shots: int, *, questions: int) -> list[Prompt]:
    """The prompts of ``questions`` questions, in one form and with ``shots`` shots."""
    spec = RunSpec(model="pocket-3m", task=TASK, samples=questions, form=form, shots=shots)
    return list(prompts(spec, draw_questions(spec)))


def repeated(prompts: Sequence[Prompt], questions: int) -> list[Prompt]:
    """``questions`` prompts: the given ones, repeated under other ids as often as needed."""
    return [
        replace(prompts[i % len(prompts)], question_id=f"{prompts[i % len(prompts)].question_id}#{i}")
        for i in range(questions)
    ]
