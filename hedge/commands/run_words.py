"""A form's choices as the words of ``hedge run``, so that a person can copy the command."""

from dataclasses import fields

from core.models.devices.slots import default_dtype
from core.runs.prompts import Combination

OPTIONS = {
    "models": "--model",
    "tasks": "--task",
    "timeout_s": "--timeout",
    "servers": "--server",
    "strategies": "--strategy",
    "dtypes": "--dtype",
    "forms": "--form",
    "formats": "--format",
}
"""The options of choices whose option is not called as they are."""


def run_words(choices: Combination) -> tuple[str, ...]:
    """The words after ``hedge run`` that ask for the same runs; what is left to its default is not said.

    >>> run_words(Combination(models=("m",), tasks=("qa", "rc"), shots=(2,), rotations=True))
    ('--model', 'm', '--task', 'qa', 'rc', '--shots', '2', '--rotations')
    """
    words: list[str] = []
    for choice in fields(choices):
        value = getattr(choices, choice.name)
        if value != choice.default or (choice.name == "dtypes" and default_dtype() not in value):
            words.append(OPTIONS.get(choice.name, f"--{choice.name.replace('_', '-')}"))
            words += map(str, value if isinstance(value, tuple) else () if value is True else (value,))
    return tuple(words)
