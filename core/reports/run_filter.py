"""The runs that a list shows: the filters of the Overview and of every choice of runs."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from core.questions import POCKET_BANK, TASKS, short_task
from core.questions.bank_names import bank_name
from core.reports.titles import (
    FORM_TITLES,
    PRECISION_TITLES,
    STRATEGY_TITLES,
    record_details,
    record_task_title,
    record_title,
    shots_title,
)
from core.runs import store
from core.runs.spec import SERVED, RunSpec
from core.runs.store import STATE_WORDS, RunRecord

SETTINGS = ("strategy", "shots", "form", "dtype")
"""The settings that have a filter: fields of :class:`RunSpec`."""
SOURCE_TITLES = {"shipped": "Shipped with Hedge", "launched": "Yours", "imported": "Imported"}
"""Where a run is from → its title."""
DEFAULTS = RunSpec(model="any", task="any")
MOST_WORDS = 8
"""The words of a search that count."""


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


def source(record: RunRecord) -> str:
    """Where a run is from: a key of :data:`SOURCE_TITLES`."""
    if store.is_bundled(record.run_id):
        return "shipped"
    return "launched" if record.is_computed else "imported"


def is_own(record: RunRecord) -> bool:
    """Whether a person launched or imported the run."""
    return source(record) != "shipped"


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A choice of runs: the values that are kept of each property. An empty tuple keeps every value."""

    models: tuple[str, ...] = ()
    """Models' short names."""
    tasks: tuple[str, ...] = ()
    """A :func:`task_key` for each task and bank."""
    strategy: tuple[str, ...] = ()
    shots: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    dtype: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Keys of :data:`SOURCE_TITLES`."""
    states: tuple[str, ...] = ()
    """Keys of :data:`STATE_WORDS`."""

    def keeps(self, record: RunRecord) -> bool:
        """Whether the filter keeps the run."""
        return all(
            not (allowed := getattr(self, name)) or value(record) in allowed for name, value in PROPERTIES.items()
        )


PROPERTIES: dict[str, Callable[[RunRecord], str]] = {
    "models": lambda record: record.spec.model_name,
    "tasks": record_task_key,
    "strategy": lambda record: record.spec.strategy,
    "shots": lambda record: str(record.spec.shots),
    "form": lambda record: record.spec.form,
    "dtype": lambda record: record.spec.dtype,
    "sources": source,
    "states": lambda record: record.state,
}
"""A field of :class:`RunFilter` → the run's value, which the filter keeps or not."""


def resolved(chosen: RunFilter, left_open: Collection[str], records: Iterable[RunRecord]) -> RunFilter:
    """The filter, with the default of :class:`RunSpec` for every setting that is ``left_open``. If no run has these
    defaults, such a setting keeps every value, so that a person whose runs all have another precision sees them.
    """
    by_default = replace(chosen, **{name: (str(getattr(DEFAULTS, name)),) for name in left_open})
    records = list(records)
    if "dtype" in left_open and any(record.spec.servers for record in records):
        # A person does not choose the precision of a model on a server, so it does not count as another setting.
        by_default = replace(by_default, dtype=(*by_default.dtype, SERVED))
    if any(by_default.keeps(record) for record in records):
        return by_default
    return replace(chosen, **dict.fromkeys(left_open, ()))


def with_filtered_at_defaults(spec: RunSpec, active: RunFilter) -> RunSpec:
    """The spec, with the default for every setting that has only one value in the filter. All runs that the filter
    keeps have that value, so titles need not say it.
    """
    fixed = [name for name in SETTINGS if len(getattr(active, name)) == 1]
    return replace(spec, **{name: getattr(DEFAULTS, name) for name in fixed})


def offered(records: Sequence[RunRecord]) -> dict[str, dict[str, str]]:
    """The choices of the filters: for each field of :class:`RunFilter`, the values that some run has, with their
    titles."""
    present = {name: {value(record) for record in records} for name, value in PROPERTIES.items()}
    tasks = {record_task_key(record): record_task_title(record) for record in records}
    return {
        "models": {name: name for name in sorted(present["models"], key=name_order)},
        "tasks": {key: tasks[key] for key in sorted(present["tasks"], key=task_order)},
        "strategy": _titled("strategy", present),
        "shots": {value: shots_title(int(value)) for value in sorted(present["shots"], key=int)},
        "form": _titled("form", present),
        "dtype": _titled("dtype", present),
        "sources": _titled("sources", present),
        "states": _titled("states", present),
    }


TITLES = {
    "strategy": STRATEGY_TITLES,
    "form": FORM_TITLES,
    "dtype": PRECISION_TITLES,
    "sources": SOURCE_TITLES,
    "states": STATE_WORDS,
}
"""A field of :class:`RunFilter` → the title of each of its values, in their order."""


def _titled(name: str, present: dict[str, set[str]]) -> dict[str, str]:
    known = {value: title for value, title in TITLES[name].items() if value in present[name]}
    return known | {value: value for value in sorted(present[name] - set(known))}


def matching(records: Iterable[RunRecord], words: str) -> list[RunRecord]:
    """The runs whose title, settings, source, state or id contain every one of the ``words``, in any order and case."""
    searched = words.lower().split()[:MOST_WORDS]
    return [record for record in records if not searched or _has(record, searched)]


def _has(record: RunRecord, words: Sequence[str]) -> bool:
    parts = (
        record_title(record),
        record_details(record),
        SOURCE_TITLES[source(record)],
        STATE_WORDS[record.state],
        record.run_id,
    )
    text = " ".join(parts).lower()
    return all(word in text for word in words)


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
