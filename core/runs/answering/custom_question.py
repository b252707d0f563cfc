"""A question that a person typed, with its options, to be answered as a finished run's questions were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import InputError
from core.records import DONT_KNOW, NONE_OF_ABOVE, Question

FEWEST_OPTIONS = 2
MOST_OPTIONS = 10
"""Options of a person's own; "I don't know" and "None of the above" may be added to them."""

LONGEST = {"question": 10_000, "context": 50_000, "option": 2_000}
"""Characters."""

SHOWN = 40


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """What is asked of ``model``, in the way of the finished run ``run_id``.

    ``options`` are a person's own; ``extra`` adds "I don't know" and "None of the above" behind them. Raises
    :class:`InputError`, one sentence, for anything that can't be asked.
    """

    model: str
    run_id: str
    question: str
    options: tuple[str, ...]
    context: str = ""
    extra: bool = True

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("choose a model to ask")
        if not self.run_id.strip():
            raise InputError("choose a run whose calibration forms the set")
        if not self.question.strip():
            raise InputError("the question is empty; type one")
        for name, text in (("question", self.question), ("context", self.context)):
            _check_text(f"the {name}", text, LONGEST[name])
        check_options(self.options, extra=self.extra)

    @property
    def all_options(self) -> tuple[str, ...]:
        """The options as they are asked, in the order of their letters."""
        return (*self.options, DONT_KNOW, NONE_OF_ABOVE) if self.extra else self.options

    @property
    def answer_id(self) -> str:
        """Sixteen hexadecimal digits of what is asked; the same question again has the same."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def as_question(self, task: str) -> Question:
        """As one of the task's questions. Its label says nothing: nobody knows the truth."""
        return Question(self.answer_id, task, "", self.context, self.question, self.all_options, 0)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self) | {"options": list(self.options)}

    @classmethod
    def from_json(cls, values: Any) -> OwnQuestion:
        """What :meth:`to_json` wrote; anything else is an :class:`InputError`."""
        kinds = {"model": str, "run_id": str, "question": str, "options": list, "context": str, "extra": bool}
        if not isinstance(values, dict) or set(values) != set(kinds):
            raise InputError(f"a question consists of {', '.join(kinds)}; something else was found")
        for name, kind in kinds.items():
            if not isinstance(values[name], kind):
                raise InputError(f"a question's {name} must be of type {kind.__name__}")
        if not all(isinstance(option, str) for option in values["options"]):
            raise InputError("every option must be a text")
        return cls(**(values | {"options": tuple(values["options"])}))


def check_options(options: Sequence[str], *, extra: bool) -> None:
    """Raise :class:`InputError` unless these are two to ten different options of a fair length."""
    count = len(options)
    if count < FEWEST_OPTIONS:
        raise InputError(f"a question needs at least {FEWEST_OPTIONS} options, a line each; there {_are(count)}")
    if count > MOST_OPTIONS:
        raise InputError(f"at most {MOST_OPTIONS} options can be asked, there are {count}; leave {count - 10} out")
    seen: dict[str, int] = {}
    for place, option in enumerate(options, start=1):
        if not option.strip():
            raise InputError(f"option {place} is empty; type it or take its line out")
        _check_text(f"option {place}", option, LONGEST["option"])
        said = " ".join(option.split())
        if said in seen:
            raise InputError(f"options {seen[said]} and {place} are both “{_shown(said)}”; give every option once")
        if extra and said in (DONT_KNOW, NONE_OF_ABOVE):
            raise InputError(f"option {place} is “{said}”, which is added already; take it out or switch that off")
        seen[said] = place


def _check_text(name: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise InputError(f"{name} has {len(text):,} characters, of which at most {longest:,} can be asked; shorten it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} holds a broken character at place {error.start + 1}; type it again") from error


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
