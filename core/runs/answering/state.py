"""How far the answer to a question is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

Stage = Literal["waiting", "starting", "downloading", "loading", "checking", "answering", "answered", "failed"]
STAGES: tuple[Stage, ...] = get_args(Stage)
ENDED: tuple[Stage, ...] = ("answered", "failed")


@dataclass(frozen=True, slots=True)
class AnswerState:
    """``ahead`` questions stand before a waiting one; ``done_bytes`` of ``total_bytes`` of a download are here (0:
    not known); ``seconds`` since the stage began, or that the model took to load once it has answered. ``message``
    is the sentence of a failure.
    """

    answer_id: str
    stage: Stage
    message: str = ""
    ahead: int = 0
    done_bytes: int = 0
    total_bytes: int = 0
    seconds: float = 0.0

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.stage in ENDED

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> AnswerState:
        """What :meth:`to_json` wrote; other keys are left out."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})
