"""What a row of figures is called in charts and tables: its run, and its task with the bank of questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from core.runs.banks import labelled, task_title


def short_names(rows: pd.DataFrame) -> pd.Series:
    """A name for each row's run: its model, and what else tells it from the others."""
    settings = [name for name in ("strategy", "shots", "dtype", "form") if name in rows]
    of_one = rows.groupby(["model", "task", "bank"])
    more = [name for name in settings if of_one[name].nunique().max() > 1]

    def name(row: pd.Series) -> str:
        said = [f"{row[key]} shots" if key == "shots" else str(row[key]) for key in more]
        return " · ".join([str(row["model"]), *said])

    return rows.apply(name, axis=1)


def full_names(rows: pd.DataFrame) -> list[str]:
    """A name for each row, with its task; no two are alike."""
    return unique(short_names(rows) + "  " + task_labels(rows))


def unique(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def told_apart(names: Sequence[str]) -> list[str]:
    """The names without the parts that all of them share, where a figure has little room beside its marks.

    >>> told_apart(["pocket-1m · base · float32  qa", "pocket-1m · task · float32  qa"])
    ['base', 'task']
    >>> told_apart(["pocket-1m · base"])
    ['pocket-1m · base']
    """
    if len(set(names)) < 2:
        return list(names)
    parts = [re.split(r" · |  ", name) for name in names]
    shared = set.intersection(*map(set, parts))
    short = [" · ".join(part for part in one if part not in shared) for one in parts]
    return short if len(set(short)) == len(set(names)) and all(short) else list(names)


def task_labels(rows: pd.DataFrame) -> list[str]:
    """Each row's ``task`` and ``bank``, short: ``qa · pocket bank``."""
    return [labelled(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True)]


def task_titles(rows: pd.DataFrame) -> list[str]:
    """Each row's ``task`` and ``bank`` in words: ``Question answering · pocket bank``."""
    return [task_title(task, bank) for task, bank in zip(rows["task"], rows["bank"], strict=True)]
