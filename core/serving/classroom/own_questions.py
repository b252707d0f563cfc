"""A class with a lecturer's own questions, and a model's run of them.

The run goes through the engine as any other, under the same questions as the class, and the class takes its answers
when it has finished. Until then, and without a model, the class is shown alone.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core import access
from core.errors import AccessError, InputError
from core.exchange.dropped import question_files
from core.questions import local_file
from core.questions.local_file import BankFile
from core.questions.quiz_row import short
from core.questions.rotation import asked_again
from core.records import LETTERS, Question
from core.runs import engine, store
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.serving.classroom.live_class import LiveClass
from core.serving.classroom.quiz import LEAST, MOST, Quiz, check_sizes

LONGEST_QUESTION, LONGEST_OPTION = 1500, 300
"""The most characters of a question with its context, and of an option, that a phone shows."""
TYPED = "own-questions"
"""The name of a task whose questions were typed."""


def read_file(path: Path, name: str) -> BankFile:
    """The questions of an uploaded bank that a person calls ``name``, in any form that Hedge reads. Call it in a
    process with limits (:func:`core.exchange.dropped.apart.apart`).

    Raises :class:`InputError` that names what can't be read.
    """
    stem = task_name(name)
    with question_files.named(path, name), question_files.named(path.with_name(f"{stem}.jsonl"), name):
        return local_file.read_path(path, stem=stem)


def task_name(name: str) -> str:
    """The name of the task for the questions of a file.

    >>> task_name("Week 1: cells.gift"), task_name("?!.csv")
    ('Week-1-cells', 'own-questions')
    """
    return re.sub(r"[^\w-]+", "-", Path(name).stem).strip("-_")[:60] or TYPED


def own_quiz(questions: Sequence[Question], *, name: str, n: int, calibration: int, seed: int) -> Quiz:
    """A quiz of ``n`` random ones of these questions, in random order, so that they are exchangeable.

    Raises :class:`InputError` for too few questions, one that a phone can't show, or one that is there twice.
    """
    if len(questions) < LEAST:
        raise InputError(f"a class needs at least {LEAST} questions, got {len(questions)}; write more")
    check_sizes(n, calibration, most=min(MOST, len(questions)))
    for question in questions:
        if len(question.options) > len(LETTERS):
            raise InputError(
                f"the question {short(question.question)!r} has {len(question.options)} options, and phones show up to "
                f"{len(LETTERS)}; leave options out"
            )
        _check_length("question", f"{question.context}{question.question}", LONGEST_QUESTION, question)
        for option in question.options:
            _check_length("option", option, LONGEST_OPTION, question)
    for question, is_again in zip(questions, asked_again(questions), strict=True):
        if is_again:
            raise InputError(f"the question {short(question.question)!r} is there twice; keep one of them")
    picked = np.random.default_rng(seed).permutation(len(questions))[:n]
    drawn = tuple(questions[i] for i in picked)
    return Quiz(name, name, "", "", calibration, drawn, (), offers_added=True)


def _check_length(what: str, text: str, most: int, question: Question) -> None:
    if len(text) > most:
        where = "" if what == "question" else f" of {short(question.question)!r}"
        raise InputError(
            f"the {what} {short(text)!r}{where} has {len(text):,} characters, and a phone shows up to {most:,}; "
            "shorten it"
        )


def with_model(quiz: Quiz, model: str) -> Quiz:
    """The quiz, with a run of ``model`` on its questions in the queue.

    Raises :class:`~core.errors.HedgeError` if such a run can't be submitted.
    """
    if access.mode() == "public":
        raise AccessError("a public server starts no runs, so a class there has no model for its own questions")
    with tempfile.TemporaryDirectory(prefix="hedge-class-") as folder:
        path = Path(folder) / f"{quiz.task}.jsonl"
        path.write_text(local_file.canonical(quiz.questions))
        task = question_files.keep(path, path.name)
    spec = RunSpec(model=model, task=task, calibration_share=quiz.calibration / len(quiz.questions))
    return quiz.of_model(spec.model_name, engine.submit(spec))


def take_answers(live: LiveClass) -> RunStatus | None:
    """Give the class the answers of its model's run if that has finished. Returns the status of a run that has not, and
    None where nothing is waited for.

    Raises :class:`InputError` if the run was deleted.
    """
    quiz = live.quiz
    if not quiz.run_id or quiz.has_answers:
        return None
    now = engine.status(quiz.run_id)
    if now.state != "done":
        return now
    scored = store.read_logits(quiz.run_id)
    place = {name: i for i, name in enumerate(scored.ids)}
    if missing := [question for question in quiz.questions if question.id not in place]:
        raise InputError(f"{quiz.model} has no answer to {short(missing[0].question)!r}, so the class is shown alone")
    rows = [scored.logits[place[question.id], : len(question.options)] for question in quiz.questions]
    live.take_answers(tuple(tuple(row.tolist()) for row in rows))
    return None
