"""The name of a row of figures in charts and tables: its run, and its task with the bank of questions."""

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from core.questions.bank_names import task_title
from core.reports.caveats import marked
from core.reports.titles import DEFAULTS, setting_title
from core.runs.caveats import COLUMN


def short_names(rows: pd.DataFrame) -> pd.Series:
    """A name for each row's run: its model, and the settings that are not at their defaults, as in a run's title.

    A name is marked if any of its runs has caveats, so that it stays the same name on every task.
    """
    names = _unmarked(rows)
    flawed = set(names[rows[COLUMN] != ""]) if COLUMN in rows else set()
    return names.map(lambda name: marked(name, name in flawed)) if flawed else names


def _unmarked(rows: pd.DataFrame) -> pd.Series:
    settings = [name for name in ("strategy", "shots", "form", "dtype") if name in rows]

    def name(row: pd.Series) -> str:
        changed = [key for key in settings if row[key] not in ("", getattr(DEFAULTS, key))]
        return " · ".join([str(row["model"]), *(setting_title(key, row[key]) for key in changed)])

    return rows.apply(name, axis=1)


def full_names(rows: pd.DataFrame) -> list[str]:
    """A name for each row, with its task, and marked if its own run has caveats; no two are alike."""
    caveats = rows[COLUMN] if COLUMN in rows else [""] * len(rows)
    names = [marked(name, text) for name, text in zip(_unmarked(rows), caveats, strict=True)]
    return unique(f"{name} · {task}" for name, task in zip(names, task_titles(rows), strict=True))


def unique(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return numbered


def told_apart(names: Sequence[str]) -> list[str]:
    """The names without the parts that all of them share, where a figure has little room beside its marks.

    >>> told_apart(["pocket-1m · by letter · 32-bit  Summaries", "pocket-1m · by text · 32-bit  Summaries"])
    ['by letter', 'by text']
    >>> told_apart(["pocket-1m · by text"])
    ['pocket-1m · by text']
    """
    if len(set(names)) < 2:
        return list(names)
    parts = [re.split(r" · |  ", name) for name in names]
    shared = set.intersection(*map(set, parts))
    short = [" · ".join(part for part in name_parts if part not in shared) for name_parts in parts]
    return short if len(set(short)) == len(set(names)) and all(short) else list(names)


def task_titles(rows: pd.DataFrame) -> list[str]:
    """Each row's ``task`` and ``bank`` in words: ``Question answering · MMLU``."""
    return [task_title(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True)]
