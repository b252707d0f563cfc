"""A person's question put to a warm model exactly as a finished run put its own: the run's strategy, form, format,
demonstrations and precision. Before the first one the engine checks itself as a run does, and is asked a few of the
run's calibration questions: what it says of them now must be what the run recorded, or that calibration is not its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError, SelfCheckError
from core.inference.engine import Engine
from core.inference.models import ModelSource, resolve
from core.records import Prompt, Question
from core.runs import store
from core.runs.answering.answers import ModelAnswer
from core.runs.answering.custom_question import OwnQuestion
from core.runs.answering.download import watched
from core.runs.answering.model_cache import Kept, Shelf
from core.runs.answering.state import Stage
from core.runs.prompts import make_prompt
from core.runs.spec import RunSpec
from core.tasks.rotation import answers_only

COMPARED = 3
"""Calibration questions that are asked again."""
TIMES_TOLERANCE = 3
SMALLEST_TOLERANCE = 1e-3
"""How far an answer may be from the one recorded: other processors add in another order."""

Tell = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run asks: its spec, its task as its questions name it, its demonstrations, and a few of its calibration
    questions with the logits (COMPARED, k) it recorded."""

    spec: RunSpec
    task: str
    demonstrations: tuple[Question, ...]
    compared: tuple[Question, ...]
    recorded: npt.NDArray[np.float32]


def manner(run_id: str) -> Manner:
    """How a finished run asks; :class:`InputError` where it has not ended well, or was not asked by Hedge."""
    record = store.read_record(run_id)
    if record.state != "done":
        raise InputError(f"run {record.run_id} is {record.state}; a set needs the calibration of a finished run")
    if record.spec.origin != "hedge":
        raise InputError(
            f"run {record.run_id} was imported, so how its questions were put is not known; choose a run of Hedge's own"
        )
    return _manner(record.run_id, record.ended or 0.0)


@lru_cache(maxsize=4)
def _manner(run_id: str, ended: float) -> Manner:
    """``ended`` makes a repeated run another one."""
    rows = store.read_questions(run_id).to_pylist()
    asked = {role: [_question(row) for row in rows if row["role"] == role] for role in ("demonstration", "calibration")}
    calibration = asked["calibration"]
    if not calibration:
        raise InputError(f"run {run_id} has no calibration questions; choose another run")
    picked = [calibration[i] for i in sorted({round(i) for i in np.linspace(0, len(calibration) - 1, COMPARED)})]
    scored = store.read_logits(run_id)
    at = {name: i for i, name in enumerate(scored.ids)}
    return Manner(
        spec=store.read_record(run_id).spec,
        task=calibration[0].task,
        demonstrations=tuple(asked["demonstration"]),
        compared=tuple(picked),
        recorded=scored.logits[[at[question.id] for question in picked]],
    )


def _question(row: dict[str, Any]) -> Question:
    return Question(
        id=row["id"],
        task=row["task"],
        group=row["group"],
        context=row["context"],
        question=row["question"],
        options=tuple(row["options"]),
        label=row["label"],
    )


def answer(own: OwnQuestion, shelf: Shelf, tell: Tell) -> ModelAnswer:
    """Answer one question; ``tell(stage, **what)`` hears how far it is.

    Raises a :class:`~core.errors.HedgeError` where it can't be answered.
    """
    asked_at = time.time()
    by = manner(own.run_id)
    source = resolve(own.model)
    kept, loading_s = _warm(own.model, source, by.spec.dtype, shelf, tell)
    question = own.as_question(by.task)
    if by.spec.asks_texts:
        question = answers_only(question)
    prompt = make_prompt(by.spec, question, by.demonstrations)
    is_same = own.model == by.spec.model or source.location == by.spec.model
    _check(kept, prompt, by, tell, compare=is_same)
    tell("answering")
    start = time.perf_counter()
    scored, prompt, dropped = _score(kept.engine, prompt, own.model)
    milliseconds = 1000 * (time.perf_counter() - start)
    check = kept.check
    return ModelAnswer(
        own=own,
        options=question.options,
        logits=tuple(float(value) for value in scored[0]),
        letter_mass=scored[1],
        milliseconds=milliseconds,
        loading_s=loading_s,
        prompt=prompt.text,
        device=str(kept.engine.description.get("device", "")),
        rung=check.rung if check else "",
        recorded_difference=kept.difference if is_same else math.nan,
        tolerance=_tolerance(kept),
        dropped=dropped,
        asked_at=asked_at,
    )


def _warm(model: str, source: ModelSource, dtype: str, shelf: Shelf, tell: Tell) -> tuple[Kept, float]:
    """The loaded model, and the seconds it took to load it."""
    key = (model, dtype)
    if key in shelf:
        return shelf.get(key), 0.0
    start = time.perf_counter()
    tell("loading")

    def told(done: int, total: int) -> None:
        stage: Stage = "downloading" if done < total else "loading"
        tell(stage, done_bytes=done, total_bytes=total)

    with watched(source, told):
        kept = shelf.get(key)
    return kept, time.perf_counter() - start


def _check(kept: Kept, prompt: Prompt, by: Manner, tell: Tell, *, compare: bool) -> None:
    """Choose the engine's way of scoring for prompts of this kind, once, and see what it says of the run's own."""
    kind = (by.spec.run_id, prompt.k, compare)
    if kept.checked == kind:
        return
    tell("checking")
    kept.checked = ()
    engine = kept.engine
    others = [make_prompt(by.spec, one, by.demonstrations) for one in by.compared]
    # Prepared for one prompt alone: what several have in common the next question may not begin with.
    engine.prepare(others[:1])
    check = engine.self_check([*others, prompt])
    if not check.passed:
        raise SelfCheckError(
            f"fast and one-by-one scoring of {check.questions} questions differ by {check.largest_difference:.3g} in "
            f"log-probability, more than {check.tolerance:g}; this model's scores can't be trusted here"
        )
    kept.check = check
    kept.difference = _difference(engine, others, by.recorded) if compare else math.nan
    kept.checked = kind


def _difference(engine: Engine, prompts: Sequence[Prompt], recorded: npt.NDArray[np.float32]) -> float:
    """The largest difference in log-probability between now and then."""
    now = {name: row for batch in engine.score(prompts) for name, row in zip(batch.ids, batch.logits, strict=True)}
    said = np.array([now[prompt.question_id] for prompt in prompts], dtype=np.float64)
    same = said == recorded  # two that are both minus infinity differ by no number
    return float(np.abs(np.where(same, 0.0, said - np.where(same, 0.0, recorded))).max())


def _tolerance(kept: Kept) -> float:
    return max(SMALLEST_TOLERANCE, TIMES_TOLERANCE * kept.check.tolerance) if kept.check else SMALLEST_TOLERANCE


def _score(engine: Engine, prompt: Prompt, model: str) -> tuple[tuple[npt.NDArray[np.float32], float], Prompt, int]:
    """The prompt's logits and letter mass, the prompt as it was asked, and how many demonstrations it lost.

    A run may cut a long context; a person's own question is asked whole or not at all.
    """
    before = engine.description
    scored = next(iter(engine.score([prompt])))
    after = engine.description
    dropped = int(after.get("dropped_demonstrations", 0) - before.get("dropped_demonstrations", 0))
    if after.get("truncated_prompts", 0) > before.get("truncated_prompts", 0):
        if dropped == len(prompt.demonstrations) and not _fits_alone(engine, prompt):
            raise InputError(
                f"the question with its context and options is longer than the {after['context']} tokens that {model} "
                "reads at once; shorten it"
            )
        prompt = _without(prompt, dropped)
    return (scored.logits[0], float(scored.letter_mass[0])), prompt, dropped


def _fits_alone(engine: Engine, prompt: Prompt) -> bool:
    """Whether a prompt that lost all its demonstrations fits then, with nothing of its context cut."""
    if not prompt.demonstrations:
        return False
    alone = replace(_without(prompt, len(prompt.demonstrations)), question_id=f"{prompt.question_id}-alone")
    before = engine.description["truncated_prompts"]
    list(engine.score([alone]))
    return bool(engine.description["truncated_prompts"] == before)


def _without(prompt: Prompt, dropped: int) -> Prompt:
    """The prompt without its first demonstrations."""
    start, end = prompt.demonstrations[0][0], prompt.demonstrations[dropped - 1][1]

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        return span[0] - (end - start), span[1] - (end - start)

    return replace(
        prompt,
        text=prompt.text[:start] + prompt.text[end:],
        demonstrations=tuple(moved(span) for span in prompt.demonstrations[dropped:]),
        context=moved(prompt.context),
    )
