"""Answers on disk: ``HEDGE_HOME/answers/<id>.json``, the latest few hundred, so that a link can show one again."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.runs import store
from core.runs.answering.custom_question import OwnQuestion
from core.settings import settings

KEPT = 500
ID = re.compile(r"^[0-9a-f]{16}$")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said of a question.

    ``options`` (k,) are those that were asked, ``logits`` (k,) their unnormalised log-probabilities; ``letter_mass``
    the share of all probability that fell on the letters (NaN for texts). ``milliseconds`` it took to answer,
    ``loading_s`` to load the model (0: it was warm).

    ``recorded_difference`` is the largest difference in log-probability between what the model says now of a few of
    the run's own calibration questions and what the run recorded (NaN where another model calibrated), ``tolerance``
    what it may be. ``dropped`` counts the demonstrations that had to go so that the prompt fits.
    """

    own: OwnQuestion
    options: tuple[str, ...]
    logits: tuple[float, ...]
    letter_mass: float
    milliseconds: float
    loading_s: float
    prompt: str
    device: str
    rung: str
    recorded_difference: float
    tolerance: float
    dropped: int
    asked_at: float

    @property
    def answer_id(self) -> str:
        """The question's."""
        return self.own.answer_id

    @property
    def is_as_recorded(self) -> bool:
        """Whether the model still answers the run's questions as the run recorded it; True where nobody could look."""
        return math.isnan(self.recorded_difference) or self.recorded_difference <= self.tolerance


def write(answer: ModelAnswer) -> None:
    """Keep an answer, and forget the oldest beyond the latest 500."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    values = asdict(answer) | {"own": answer.own.to_json()}
    for name in ("letter_mass", "recorded_difference"):
        values[name] = None if math.isnan(values[name]) else values[name]
    values["logits"] = [None if math.isinf(value) else value for value in answer.logits]
    store.write_atomically(folder / f"{answer.answer_id}.json", json.dumps(values).encode(), sync=False)
    kept = sorted(folder.glob("*.json"), key=_written)
    for path in kept[: max(0, len(kept) - KEPT)]:
        path.unlink(missing_ok=True)


def read(answer_id: str) -> ModelAnswer:
    """The answer of that id; :class:`InputError` where it is none, is gone or can't be read."""
    if not ID.match(answer_id):
        raise InputError(f"{answer_id[:40]!r} is no answer's id; ask the question again")
    try:
        values: dict[str, Any] = json.loads((_folder() / f"{answer_id}.json").read_bytes())
        return ModelAnswer(
            **values
            | {
                "own": OwnQuestion.from_json(values["own"]),
                "options": tuple(values["options"]),
                "logits": tuple(-math.inf if value is None else float(value) for value in values["logits"]),
                "letter_mass": _number(values["letter_mass"]),
                "recorded_difference": _number(values["recorded_difference"]),
            }
        )
    except FileNotFoundError as error:
        raise InputError(f"the answer {answer_id} is not here (any more); ask the question again") from error
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"the answer {answer_id} can't be read ({error}); ask the question again") from error


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _folder() -> Path:
    return settings().home / "answers"


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another answerer has just forgotten it
        return 0.0
