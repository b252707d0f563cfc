"""Which finished runs the Overview shows: its filters, and the settings that it begins with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.runs import store
from core.runs.banks import bank_name, task_title
from core.runs.spec import RunSpec, short_task
from core.runs.store import RunRecord
from core.tasks import POCKET_BANK, TASKS

ALL = "all"
"""The value of a filter that keeps every run."""
SOURCES = (ALL, "shipped", "yours")
"""Runs that ship with Hedge, and a person's own."""
SETTINGS = ("strategy", "form", "dtype")
"""The settings that have a filter: fields of :class:`RunSpec`."""
DEFAULTS = RunSpec(model="any", task="any")


def task_key(task: str, bank: str) -> str:
    """The short name of a task in a link: the task, with its bank unless that is the one that ships with Hedge.

    >>> task_key("qa", "pocket bank"), task_key("qa@hub", "MMLU"), task_key("/data/mine.csv", "mine")
    ('qa', 'qa@MMLU', 'mine')
    """
    name = short_task(task)
    return name if bank in (POCKET_BANK, name) else f"{name}@{bank}"


def record_task_key(record: RunRecord) -> str:
    """The :func:`task_key` of a stored run."""
    return task_key(record.spec.task, bank_name(record.spec, record.provenance))


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A choice of runs. An empty tuple keeps every model or task.

    ``strategy``, ``form`` and ``dtype`` are a value of :class:`RunSpec`, :data:`ALL`, or "" for what the page begins
    with (:func:`resolved`). ``source`` is one of :data:`SOURCES`.
    """

    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    strategy: str = ""
    form: str = ""
    dtype: str = ""
    source: str = ALL

    def keeps(self, record: RunRecord) -> bool:
        """Whether the run is among those chosen. A setting that is "" keeps every run."""
        spec = record.spec
        return (
            (not self.models or spec.model_name in self.models)
            and (not self.tasks or record_task_key(record) in self.tasks)
            and all(getattr(self, name) in ("", ALL, getattr(spec, name)) for name in SETTINGS)
            and (self.source == ALL or store.is_bundled(record.run_id) == (self.source == "shipped"))
        )


def resolved(chosen: RunFilter, records: Iterable[RunRecord]) -> RunFilter:
    """The filter with every setting that is "" replaced by its default in :class:`RunSpec`.

    Where no run has these defaults, by :data:`ALL`: somebody whose runs are all in another precision then sees them.
    """
    left_open = [name for name in SETTINGS if not getattr(chosen, name)]

    def filled(values: dict[str, str]) -> RunFilter:
        of = {name: values.get(name, getattr(chosen, name)) for name in SETTINGS}
        return RunFilter(chosen.models, chosen.tasks, **of, source=chosen.source)

    by_default = filled({name: getattr(DEFAULTS, name) for name in left_open})
    if any(by_default.keeps(record) for record in records):
        return by_default
    return filled(dict.fromkeys(left_open, ALL))


def with_filtered_at_defaults(spec: RunSpec, active: RunFilter) -> RunSpec:
    """The spec with its default for every setting that the filter fixes to one value.

    All runs that the filter keeps have that value, so nothing is left to say of it.
    """
    fixed = [name for name in SETTINGS if getattr(active, name) not in ("", ALL)]
    return replace(spec, **{name: getattr(DEFAULTS, name) for name in fixed})


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer: the values that some run has. ``tasks`` maps a :func:`task_key` to its title."""

    models: tuple[str, ...]
    tasks: dict[str, str]
    strategy: tuple[str, ...]
    form: tuple[str, ...]
    dtype: tuple[str, ...]
    has_own: bool


def choices(records: Sequence[RunRecord]) -> Choices:
    """The values of the filters among finished runs, tasks in the order of :data:`core.tasks.TASKS`."""
    tasks = {}
    for record in records:
        bank = bank_name(record.spec, record.provenance)
        tasks[task_key(record.spec.task, bank)] = task_title(record.spec.task, bank)
    return Choices(
        models=tuple(sorted({record.spec.model_name for record in records}, key=name_order)),
        tasks={key: tasks[key] for key in sorted(tasks, key=task_order)},
        strategy=_values(records, "strategy"),
        form=_values(records, "form"),
        dtype=_values(records, "dtype"),
        has_own=any(not store.is_bundled(record.run_id) for record in records),
    )


def _values(records: Sequence[RunRecord], name: str) -> tuple[str, ...]:
    """The values of a setting, its default first."""
    found = {str(getattr(record.spec, name)) for record in records}
    return tuple(sorted(found, key=lambda value: (value != getattr(DEFAULTS, name), value)))


def task_order(key: str) -> tuple[int, str]:
    """Sorts task keys: the known tasks in their own order, the bank that ships first, then the others by name."""
    known = list(TASKS)
    name, at, _ = key.partition("@")
    if name not in known:
        return 2 * len(known), key
    return known.index(name) + len(known) * bool(at), key


def name_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts names so that a number counts as a number.

    >>> sorted(["pocket-13m", "pocket-3m", "pocket-3m-instruct"], key=name_order)
    ['pocket-3m', 'pocket-3m-instruct', 'pocket-13m']
    """
    parts = re.findall(r"\d+|\D+", name.lower())
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)
