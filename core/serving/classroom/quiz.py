"""The questions of a class, and a model's answers to them: those of a run of a model that ships with Hedge, or a
lecturer's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from core.conformal.probabilities import softmax
from core.errors import InputError
from core.questions import bank_names
from core.records import FloatArray, LogitArray, OptionLogits, Question, added_options
from core.runs import store
from core.runs.spec import RunSpec

MODELS = ("pocket-8m-humble", "pocket-8m", "pocket-3m", "pocket-3m-instruct", "pocket-1m")
TASKS = ("qa", "rc", "ci", "drs", "ds")
LEAST, MOST = 4, 40
"""The fewest and the most questions of a quiz."""


@dataclass(frozen=True, slots=True)
class Quiz:
    """n questions in the order in which they are asked. The first ``calibration`` of them calibrate, the rest test.

    ``logits`` are the recorded ones of ``model``, a row with an entry for each option, from the run ``run_id``. There
    are none for a class without a model (both names are empty) and until its run has finished.
    """

    task: str
    bank: str
    model: str
    run_id: str
    calibration: int
    questions: tuple[Question, ...]
    logits: tuple[tuple[float, ...], ...]
    offers_added: bool = False
    """Whether people are offered "I don't know" and "None of the above" too, as in classes of earlier versions. Neither
    is ever right, so they are the model's alone."""

    @property
    def has_answers(self) -> bool:
        """Whether the model's answers are known."""
        return bool(self.logits)

    def offered(self, question: Question) -> tuple[str, ...]:
        """The options of a question that people are offered: the first ones of the model's."""
        return question.options[: len(question.options) - (0 if self.offers_added else added_options(question.options))]

    @property
    def k(self) -> int:
        """The largest number of options that people are offered."""
        return max(len(self.offered(question)) for question in self.questions)

    @property
    def model_logits(self) -> FloatArray:
        """The model's logits (n, k); −∞ stands for an option that a question lacks."""
        rows = np.full((len(self.questions), max(map(len, self.logits))), -np.inf)
        for row, own in zip(rows, self.logits, strict=True):
            row[: len(own)] = own
        return rows

    @property
    def probabilities(self) -> FloatArray:
        """The model's option probabilities, (n, k); NaN stands for an option that a question lacks."""
        logits = self.model_logits
        lengths = np.array([len(row) for row in self.logits])
        return np.where(np.arange(logits.shape[1]) < lengths[:, None], softmax(logits), np.nan)

    def of_model(self, model: str, run_id: str) -> Quiz:
        """The quiz with the run of a model beside it, whose answers are not known yet."""
        return replace(self, model=model, run_id=run_id)

    def answered(self, logits: tuple[tuple[float, ...], ...]) -> Quiz:
        """The quiz with the model's answers."""
        return replace(self, logits=logits)

    def to_json(self) -> dict[str, Any]:
        """The quiz as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Quiz:
        """The quiz that :meth:`to_json` wrote, in this version or an earlier one."""
        questions = tuple(Question(**row | {"options": tuple(row["options"])}) for row in values["questions"])
        logits = tuple(map(tuple, values["logits"]))
        return cls(**{"offers_added": True, **values, "questions": questions, "logits": logits})


def draw(task: str, *, model: str = MODELS[0], n: int = 12, calibration: int = 6, seed: int = 0) -> Quiz:
    """A quiz of ``n`` random questions of a bundled run of ``model``, in random order, so that they are exchangeable.

    Raises :class:`InputError` for an unknown model or task, or a number of questions that can't be.
    """
    if task not in TASKS or model not in MODELS:
        raise InputError(f"a class takes a task of {', '.join(TASKS)} and a model of {', '.join(MODELS)}")
    check_sizes(n, calibration)
    run_id = RunSpec(model=model, task=task).run_id
    rows = [row for row in store.read_questions(run_id).to_pylist() if row["role"] in ("calibration", "test")]
    k = max(len(row["options"]) for row in rows)
    rows = [row for row in rows if len(row["options"]) == k]
    picked = np.random.default_rng(seed).permutation(len(rows))[:n]
    questions = tuple(_question(rows[i]) for i in picked)
    scored = store.read_logits(run_id)
    place = {name: i for i, name in enumerate(scored.ids)}
    logits = tuple(tuple(scored.logits[place[q.id]].tolist()) for q in questions)
    bank = bank_names.bank_name(RunSpec(model=model, task=task))
    return Quiz(task, bank, model, run_id, calibration, questions, logits)


def check_sizes(n: int, calibration: int, *, most: int = MOST) -> None:
    """Raise :class:`InputError` unless a quiz may have ``n`` questions and the first ``calibration`` may calibrate."""
    if not LEAST <= n <= most or not 2 <= calibration <= n - 2:
        raise InputError(
            f"a quiz has from {LEAST} to {most} questions, and at least 2 calibrate and at least 2 test, got {n} "
            f"and {calibration}"
        )


def scored(quiz: Quiz) -> OptionLogits:
    """The model's recorded logits (n, k) of the quiz's questions as the record that a run stores."""
    return _record(quiz, quiz.model_logits.astype(np.float32), None)


def asked(quiz: Quiz) -> tuple[Question, ...]:
    """The questions with the options that people are offered."""
    return tuple(replace(question, options=quiz.offered(question)) for question in quiz.questions)


def given(quiz: Quiz, probabilities: FloatArray) -> OptionLogits:
    """People's probabilities (n, k) of the quiz's questions as the record that a run stores."""
    probabilities = np.nan_to_num(probabilities)  # an option that a question lacks has none
    with np.errstate(divide="ignore"):
        return _record(quiz, np.log(probabilities).astype(np.float32), probabilities)


def _record(quiz: Quiz, logits: LogitArray, probabilities: FloatArray | None) -> OptionLogits:
    mass = np.full(len(logits), np.nan, dtype=np.float32)
    return OptionLogits(tuple(q.id for q in quiz.questions), logits, mass, probabilities=probabilities)


def _question(row: Mapping[str, Any]) -> Question:
    values = {name: row[name] for name in ("id", "task", "group", "context", "question", "label")}
    return Question(**values, options=tuple(row["options"]))
