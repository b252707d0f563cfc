"""The kind of a question, and the run whose calibration fits a typed question best.

A run's guarantee is about questions like those that calibrated it: as many options, asked in the same way of the same
model, and of the same sort. A typed question is never drawn from a run's bank, but its run can be chosen so that as
little as possible differs, and the rest can be named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import HedgeError
from core.models.model_sources import DTYPES
from core.questions import TASKS
from core.records import added_options
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """The kind of a question, as a person sees it. It has ``options`` options in all. The last ``closing`` of them are
    "I don't know" and "None of the above". ``has_context`` says whether a text stands before it.
    """

    options: int
    closing: int
    has_context: bool

    @property
    def own(self) -> int:
        """The number of options that are answers."""
        return self.options - self.closing


def kind_of_run(run_id: str) -> QuestionKind:
    """The kind of a run's questions: the largest number of options, and a context if most questions have one.

    Raises :class:`~core.errors.InputError` if the run can't be read.
    """
    table = store.read_questions(run_id)
    options = max(table["options"].to_pylist(), key=len)
    contexts = [bool(text.strip()) for text in table["context"].to_pylist()]
    return QuestionKind(len(options), added_options(options), 2 * sum(contexts) > len(contexts))


def best_run(
    records: Sequence[RunRecord],
    kind_of: Callable[[str], QuestionKind],
    *,
    model: str,
    typed: int | None,
    extra: bool,
    has_context: bool,
    prefer: str,
) -> RunRecord:
    """The run whose questions differ least from a typed one.

    A run of ``model`` comes first, then one that has contexts or has none, as the question does, then one with as many
    options: ``typed`` of them (``None``: not known yet), besides "I don't know" and "None of the above" where the run
    offers these and ``extra`` keeps them. Among the remaining runs, ``prefer`` comes first, then one that is asked by
    text, because a small model knows the options' texts better than their letters, then the plainest way of asking: as
    plain text, without examples or instruction, in full precision.

    ``records`` are finished runs, at least one; one that can't be read comes last.
    """

    def difference(record: RunRecord) -> tuple[object, ...]:
        spec = record.spec
        try:
            kind = kind_of(record.run_id)
        except HedgeError:
            return (2,)
        return (
            kind.has_context != has_context,
            typed is not None and typed != (kind.own if extra else kind.options),
            record.run_id != prefer,
            not spec.asks_texts,
            *_plainness(spec),
        )

    return min([candidate for candidate in records if candidate.spec.asked_model == model] or records, key=difference)


def _plainness(spec: RunSpec) -> tuple[object, ...]:
    """Smaller for a run that asks its questions in a plainer way; more questions come before fewer."""
    tasks = list(TASKS)
    return (
        spec.prompt_format != "plain",
        spec.shots,
        bool(spec.system),
        spec.strategy != "base",
        DTYPES.index(spec.dtype) if spec.dtype in DTYPES else 0,
        spec.form,
        tasks.index(spec.task) if spec.task in tasks else len(tasks),
        -(spec.samples or 10**9),
        spec.seed,
    )
