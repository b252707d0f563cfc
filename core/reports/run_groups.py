"""Runs for a list to choose from: grouped by their questions; and the runs that share their questions with a given
one."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields

from core.errors import HedgeError
from core.reports.compare.shared_questions import nearly_alike
from core.reports.question_identity import question_set
from core.reports.run_filter import is_own
from core.reports.titles import differences, reading_order, record_task_title
from core.runs.spec import RunSpec
from core.runs.store import RunRecord


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs with one task and bank, all of them a person's own or all of them shipped."""

    title: str
    own: bool
    records: tuple[RunRecord, ...]


def grouped(records: Iterable[RunRecord]) -> list[RunGroup]:
    """The runs by task and bank, in the order of a list.

    ``records`` are the latest first. A person's own runs come first, the latest of each group first and the group with
    the latest run first. Those that ship follow, ordered by task and then by model.
    """
    own: list[RunRecord] = []
    others: list[RunRecord] = []
    for record in records:
        (own if is_own(record) else others).append(record)
    shipped = sorted(others, key=reading_order)
    groups: dict[tuple[bool, str], list[RunRecord]] = defaultdict(list)
    for yours, these in ((True, own), (False, shipped)):
        for record in these:
            groups[yours, record_task_title(record)].append(record)
    return [RunGroup(title, yours, tuple(these)) for (yours, title), these in groups.items()]


def setting_words(record: RunRecord, title: str) -> str:
    """The words of a run's ``title`` besides its model and its task; empty if nothing.

    ``title`` is one of :func:`core.reports.titles.record_titles`, which also says what tells two runs apart.
    """
    start = f"{record.spec.model_name} · {record_task_title(record)}"
    return title.removeprefix(start).removeprefix(" · ")


def sharing_questions(first: RunRecord, records: Sequence[RunRecord], without: Collection[str] = ()) -> list[RunRecord]:
    """The runs that were tested on nearly the same questions as ``first``, without ``first`` and those ``without``.

    Runs that differ from it in fewer settings come first, whatever their model is; the model is not counted as one.
    A run whose questions can't be read is left out.
    """
    first_questions = _questions(first)
    if not first_questions:
        return []
    left_out = {first.run_id, *without}
    others = [record for record in records if record.run_id not in left_out]
    alike = {first_questions: True}
    for record in others:
        questions = _questions(record)
        if questions not in alike:
            alike[questions] = bool(questions) and nearly_alike(first.run_id, record.run_id)
    matching = [record for record in others if alike[_questions(record)]]
    return sorted(
        matching,
        key=lambda record: (_apart(record.spec, first.spec), len(differences(record.spec)), reading_order(record)),
    )


def _questions(record: RunRecord) -> str:
    try:
        return question_set(record.run_id)
    except (HedgeError, OSError):
        return ""


OTHERWISE = ("model", "model_fingerprint", "task", "fingerprint")
"""Fields of a spec that are not counted as settings."""


def _apart(spec: RunSpec, other: RunSpec) -> int:
    compared = (field.name for field in fields(RunSpec) if field.name not in OTHERWISE)
    return sum(getattr(spec, name) != getattr(other, name) for name in compared)
