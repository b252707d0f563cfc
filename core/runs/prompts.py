"""The prompts of a run: its questions with their roles, and the prompt of each question."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from core.errors import InputError
from core.inference.models import canonical
from core.prompting.cloze import cloze_prompt, continuation_prompt
from core.prompting.strategies import opened, prompt
from core.records import Prompt, Question, Role
from core.runs.spec import HOW, SERVED, TEXT_FORMS, RunSpec
from core.tasks import bank, catalogue
from core.tasks.catalogue import TaskData
from core.tasks.rotation import answers_only, reorderings, rotations
from core.tasks.split import Draw, draw


@dataclass(frozen=True, slots=True)
class Combination:
    """A form's choices: one run for each combination of the values in the tuples."""

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    strategies: tuple[str, ...] = ("base",)
    dtypes: tuple[str, ...] = ("float32",)
    forms: tuple[str, ...] = ("letters",)
    formats: tuple[str, ...] = ("plain",)
    shots: tuple[int, ...] = (0,)
    samples: int | None = None
    rotations: bool = False
    orders: bool = False
    system: str = ""
    repeats: int = 0
    batch_size: int | None = None
    seed: int = 0
    calibration_share: float = 0.5
    servers: tuple[str, ...] = ()
    key_variable: str = ""
    price_read: float = 0.0
    price_written: float = 0.0
    budget: float | None = None

    def specs(self, *, named: Callable[[str], str] = canonical) -> list[RunSpec]:
        """The runs, the models outermost; the questions of a person's file are pinned.

        Orders of the options and written answers are asked of the letters alone, because the other forms have neither.

        ``named`` gives the name under which a spec keeps a model. Raises :class:`InputError` for a model or a file that
        is not there, and for values that no run can have.
        """
        # A server has loaded its model already, in whatever precision, and under a name of its own.
        dtypes = (SERVED,) if self.servers else self.dtypes
        asked = (self.models, self.tasks, self.strategies, dtypes, self.forms, self.formats, self.shots)
        kept = {
            name: getattr(self, name) for name in ("system", "samples", "seed", "calibration_share", "servers", *HOW)
        }
        made = [
            RunSpec(
                model=model if self.servers else named(model),
                task=catalogue.canonical(task),
                strategy=strategy,
                dtype=dtype,
                form=form,
                prompt_format=prompt_format,
                rotations=self.rotations and form not in TEXT_FORMS,
                orders=self.orders and form not in TEXT_FORMS,
                repeats=0 if form in TEXT_FORMS else self.repeats,
                shots=shots,
                **kept,
            )
            for model, task, strategy, dtype, form, prompt_format, shots in itertools.product(*asked)
        ]
        return [pinned(spec) for spec in made]

    def words(self) -> tuple[str, ...]:
        """The same for the command line, after ``python -m core run``; what is left to its default is not said.

        >>> Combination(models=("m",), tasks=("qa", "rc"), shots=(2,), rotations=True).words()
        ('--model', 'm', '--task', 'qa', 'rc', '--shots', '2', '--rotations')
        """
        said: list[str] = ["--model", *self.models, "--task", *self.tasks]
        for choice in fields(self)[2:]:
            value = getattr(self, choice.name)
            if value != choice.default:
                said.append(FLAGS.get(choice.name, f"--{choice.name.replace('_', '-')}"))
                said += map(str, value if isinstance(value, tuple) else () if value is True else (value,))
        return tuple(said)


FLAGS = {
    "servers": "--server",
    "strategies": "--strategy",
    "dtypes": "--dtype",
    "forms": "--form",
    "formats": "--format",
}
"""The command-line options of choices whose option is not called as they are."""


def pinned(spec: RunSpec) -> RunSpec:
    """The spec with the fingerprint of its questions where these lie in a file, which may change.

    A changed file is then another run, and a run never continues questions other than those it was asked for.
    """
    if not catalogue.is_file(spec.task):
        return spec
    return replace(spec, fingerprint=bank.fingerprint(catalogue.load(spec.task).questions))


def load_data(spec: RunSpec) -> TaskData:
    """All questions of the spec's task.

    Raises :class:`InputError` if there are none, or where they are not those that the run was asked for.
    """
    data = catalogue.load(spec.task)
    if spec.fingerprint and spec.origin == "hedge" and bank.fingerprint(data.questions) != spec.fingerprint:
        raise InputError(f"the questions of {spec.task} have changed since this run was asked for; launch a new one")
    return data


def draw_questions(spec: RunSpec, data: TaskData | None = None) -> Draw:
    """The questions that ``spec`` asks for, with their roles. Raises :class:`InputError` if it can't be.

    ``data`` is what :func:`load_data` gave, where somebody has asked already.
    """
    data = data or load_data(spec)
    (last,) = _last_draw
    if last is None or last[0] != spec or last[1] is not data:
        last = spec, data, _drawn(spec, data)
        _last_draw[:] = [last]
    return last[2]


_last_draw: list[tuple[RunSpec, TaskData, Draw] | None] = [None]
"""A launch checks a run before it executes it, and both draw its questions."""


def _drawn(spec: RunSpec, data: TaskData) -> Draw:
    drawn = draw(
        data.questions,
        samples=spec.samples,
        shots=spec.shots,
        calibration_share=spec.calibration_share,
        seed=spec.seed,
        reserved=data.demonstrations,
    )
    if spec.asks_texts:  # after the draw, so that a question has the same role in every form
        drawn = Draw(tuple(answers_only(q) for q in drawn.questions), drawn.roles, drawn.alike)
    if spec.orders:
        return _asked_again(drawn, lambda question: reorderings(question, seed=spec.seed))
    return _asked_again(drawn, rotations) if spec.rotations else drawn


def make_prompt(spec: RunSpec, question: Question, demonstrations: Sequence[Question]) -> Prompt:
    """The prompt of one question as ``spec`` asks for it."""
    made = BUILD[spec.form](question, strategy=spec.strategy, demonstrations=demonstrations)
    if spec.prompt_format == "chat":
        return replace(made, chat=True, system=spec.system)
    return opened(made, spec.system) if spec.system else made


BUILD: dict[str, Callable[..., Prompt]] = {
    "letters": prompt,
    "cloze": cloze_prompt,
    "continuation": continuation_prompt,
}
"""The function that makes the prompts of each form."""


def prompts(spec: RunSpec, drawn: Draw) -> list[Prompt]:
    """All prompts of a run, the longest first: memory runs out early or not at all, and batches are of like length."""
    shown = drawn.demonstrations
    made = [make_prompt(spec, question, shown) for question in drawn.scored]
    return sorted(made, key=lambda p: (-len(p.text), p.question_id))


def _asked_again(drawn: Draw, others: Callable[[Question], list[Question]]) -> Draw:
    """Every test question once more for each other order of its options; these are in no split."""
    asked = zip(drawn.questions, drawn.roles, strict=True)
    turned = [other for question, role in asked if role == "test" for other in others(question)]
    added: list[Role] = ["rotation"] * len(turned)
    return Draw((*drawn.questions, *turned), (*drawn.roles, *added), drawn.alike)
