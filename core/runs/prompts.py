"""The prompts of a run: its questions with their roles, and the prompt of each question."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.errors import InputError
from core.models.model_sources import canonical
from core.models.server_address import TIMEOUT_S
from core.questions import bank, catalogue
from core.questions.catalogue import TaskData
from core.questions.prompting.forms import TEXT_FORMS, form_prompt
from core.questions.rotation import answers_only, reorderings, rotations
from core.questions.split import Draw, draw, with_other_orders
from core.records import LETTERS, MOST_OPTIONS, Prompt, Question
from core.runs.spec import HOW, SERVED, RunSpec


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
    picks: int = 0
    batch_size: int | None = None
    device: str = ""
    seed: int = 0
    calibration_share: float = 0.5
    servers: tuple[str, ...] = ()
    key_variable: str = ""
    price_read: float = 0.0
    price_written: float = 0.0
    budget: float | None = None
    timeout_s: float = TIMEOUT_S

    def specs(self, *, named: Callable[[str], str] = canonical) -> list[RunSpec]:
        """The runs, the models outermost; the questions of a person's file are pinned.

        Only letters are asked in other orders and with written answers, because the other forms have neither.

        ``named`` gives the name under which a spec keeps a model. Raises :class:`InputError` for a missing model or
        file, and for invalid values.
        """
        # A server has loaded its model already, in whatever precision, and under a name of its own.
        dtypes = (SERVED,) if self.servers else self.dtypes
        choices = (self.models, self.tasks, self.strategies, dtypes, self.forms, self.formats, self.shots)
        common = {
            name: getattr(self, name) for name in ("system", "samples", "seed", "calibration_share", "servers", *HOW)
        }
        specs = [
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
                picks=self.picks,
                shots=shots,
                **common,
            )
            for model, task, strategy, dtype, form, prompt_format, shots in itertools.product(*choices)
        ]
        return [pinned(spec) for spec in specs]


def pinned(spec: RunSpec) -> RunSpec:
    """The spec with the fingerprint of its questions if they are in a file, which may change. A changed file then makes
    another run, so a run never continues with other questions.
    """
    if not catalogue.is_file(spec.task):
        return spec
    return replace(spec, fingerprint=bank.fingerprint(_data(spec).questions))


def _data(spec: RunSpec) -> TaskData:
    """The task's questions that can be asked so: a decision is not limited to 26 letters."""
    return catalogue.load(spec.task, most=MOST_OPTIONS if spec.decisions else len(LETTERS))


def load_data(spec: RunSpec) -> TaskData:
    """All questions of the spec's task.

    Raises :class:`InputError` if there are none, or if they are not those of the run.
    """
    data = _data(spec)
    if spec.fingerprint and not spec.is_imported and bank.fingerprint(data.questions) != spec.fingerprint:
        raise InputError(f"the questions of {spec.task} have changed since this run was asked for; launch a new one")
    return data


def draw_questions(spec: RunSpec, data: TaskData | None = None) -> Draw:
    """The questions that ``spec`` asks for, with their roles. Raises :class:`InputError` if that is not possible.
    ``data`` is the result of :func:`load_data`, if the caller has it already.
    """
    data = data or load_data(spec)
    (last,) = _last_draw
    if last is None or last[0] != spec or last[1] is not data:
        last = spec, data, _drawn(spec, data)
        _last_draw[:] = [last]
    return last[2]


_last_draw: list[tuple[RunSpec, TaskData, Draw] | None] = [None]
"""The result is cached, because a launch draws the questions twice: to check the run and to execute it."""


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
    if (spec.orders or spec.rotations) and (ordered := next((q for q in drawn.questions if q.ordered), None)):
        raise InputError(
            f"the options of question {ordered.id!r} are ordered levels, which are asked in their order alone; leave "
            "out rotations and orders"
        )
    if spec.orders:
        return with_other_orders(drawn, lambda question: reorderings(question, seed=spec.seed))
    return with_other_orders(drawn, rotations) if spec.rotations else drawn


def make_prompt(spec: RunSpec, question: Question, demonstrations: Sequence[Question]) -> Prompt:
    """The prompt of one question as ``spec`` asks for it."""
    return form_prompt(
        question,
        form=spec.form,
        strategy=spec.strategy,
        demonstrations=demonstrations,
        prompt_format=spec.prompt_format,
        system=spec.system,
    )


def prompts(spec: RunSpec, drawn: Draw) -> list[Prompt]:
    """All prompts of a run, the longest first, so that memory runs out early or not at all and batches have similar
    lengths."""
    shown = drawn.demonstrations
    run_prompts = [make_prompt(spec, question, shown) for question in drawn.scored]
    return sorted(run_prompts, key=lambda p: (-len(p.text), p.question_id))
