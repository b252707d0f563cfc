"""What a run asks: its questions with their roles, and the prompt of each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError
from core.inference.models import canonical
from core.prompting.cloze import cloze_prompt
from core.prompting.strategies import prompt
from core.records import Prompt, Question, Role
from core.runs.spec import RunSpec
from core.tasks import bank, catalogue
from core.tasks.catalogue import TaskData
from core.tasks.rotation import answers_only, rotations
from core.tasks.split import Draw, draw


def combinations(
    *,
    models: Sequence[str],
    tasks: Sequence[str],
    strategies: Sequence[str],
    dtypes: Sequence[str],
    forms: Sequence[str],
    formats: Sequence[str],
    shots: int,
    samples: int | None,
    rotations: bool,
    batch_size: int | None,
    seed: int,
    calibration_share: float,
) -> list[RunSpec]:
    """A spec for each combination of what was asked for, models outermost; a file's questions are pinned.

    Raises :class:`InputError` for a model or a file that is not there, and for values that no run can have.
    """
    made = [
        RunSpec(
            model=canonical(model),
            task=catalogue.canonical(task),
            strategy=strategy,
            dtype=dtype,
            form=form,
            prompt_format=prompt_format,
            rotations=rotations,
            batch_size=batch_size,
            shots=shots,
            samples=samples,
            seed=seed,
            calibration_share=calibration_share,
        )
        for model, task, strategy, dtype, form, prompt_format in itertools.product(
            models, tasks, strategies, dtypes, forms, formats
        )
    ]
    return [pinned(spec) for spec in made]


def pinned(spec: RunSpec) -> RunSpec:
    """The spec with the fingerprint of its questions where these lie in a file, which may change.

    A changed file is then another run, and a run never goes on with questions other than those it was asked for.
    """
    if not catalogue.is_file(spec.task):
        return spec
    return replace(spec, fingerprint=bank.fingerprint(catalogue.load(spec.task).questions))


def load_data(spec: RunSpec) -> TaskData:
    """All questions of the spec's task.

    Raises :class:`InputError` where there are none, or where they are not those that the run was asked for.
    """
    data = catalogue.load(spec.task)
    if spec.fingerprint and spec.origin == "hedge" and bank.fingerprint(data.questions) != spec.fingerprint:
        raise InputError(f"the questions of {spec.task} have changed since this run was asked for; launch a new one")
    return data


def draw_questions(spec: RunSpec, data: TaskData | None = None) -> Draw:
    """The questions that ``spec`` asks for, with their roles; :class:`InputError` where it can't be.

    ``data`` is what :func:`load_data` gave, where somebody has asked already.
    """
    data = data or load_data(spec)
    questions = [answers_only(q) for q in data.questions] if spec.form == "cloze" else data.questions
    drawn = draw(
        questions,
        samples=spec.samples,
        shots=spec.shots,
        calibration_share=spec.calibration_share,
        seed=spec.seed,
        reserved=data.demonstrations,
    )
    return _with_rotations(drawn) if spec.rotations else drawn


def make_prompt(spec: RunSpec, question: Question, demonstrations: Sequence[Question]) -> Prompt:
    """The prompt of one question as ``spec`` asks for it."""
    build = cloze_prompt if spec.form == "cloze" else prompt
    made = build(question, strategy=spec.strategy, demonstrations=demonstrations)
    return replace(made, chat=spec.prompt_format == "chat")


def prompts(spec: RunSpec, drawn: Draw) -> list[Prompt]:
    """All prompts of a run, the longest first: memory runs out early or not at all, and batches are of like length."""
    made = [make_prompt(spec, question, drawn.demonstrations) for question in drawn.scored]
    return sorted(made, key=lambda p: (-len(p.text), p.question_id))


def _with_rotations(drawn: Draw) -> Draw:
    """Every test question once more for each other rotation of its options; these are in no split."""
    asked = zip(drawn.questions, drawn.roles, strict=True)
    turned = [other for question, role in asked if role == "test" for other in rotations(question)]
    added: list[Role] = ["rotation"] * len(turned)
    return Draw((*drawn.questions, *turned), (*drawn.roles, *added))
