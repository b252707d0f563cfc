"""Published figures, shown next to Hedge's own and marked as published (``assets/published``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pandas as pd

from core.errors import InputError
from core.reports.report import Report
from core.runs.banks import FINISHED
from core.settings import ASSETS
from core.tasks import DATA_SETS, finished


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table: its file, its title, its source, and a ``note`` for the reader."""

    file: str
    title: str
    printed: str
    note: str


SOURCES = {
    "ye-2024": PublishedTable(
        "ye-2024.csv",
        "Ye et al. 2024",
        "arXiv 2401.12794; github.com/smartyfh/LLM-Uncertainty-Bench",
        "Means of three prompting strategies, set size also of LAC and APS, with six options at alpha 0.1.",
    ),
    "bluq": PublishedTable(
        "bluq.csv",
        "BLUQ",
        "the tables of its README",
        "By LAC at alpha 0.1. Most of these runs read the wrong token of padded batches and so seem to guess.",
    ),
}
"""Every published table by name."""

OPTIONS = 6
BANKS = {
    "ye-2024": {task: FINISHED[PurePath(file).stem] for task, file in finished.FILES.items()},
    "bluq": {task: f"BLUQ {DATA_SETS[task]}" for task in finished.FILES},
}
"""A table → the bank of each of its tasks' questions."""


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """A model's row on one task as Ye et al. 2024 print it: accuracy and UAcc in percent, set size in options."""

    accuracy: float
    mean_set_size: float
    uacc: float


def as_ye_2024(made: Sequence[Report]) -> PublishedFigures:
    """The figures of a model's runs on one task, one a prompting strategy, summed in the order in which the authors do.

    A mean over strategies comes first, for LAC and for APS, then the mean of the two. The order decides where a figure
    lies halfway between two that can be printed. ``made`` are reports with ``method="paper"`` and ``empty="top1"``.
    """
    sizes = [np.mean([of.scores[name].mean_set_size for of in made]) for name in ("lac", "aps")]
    uaccs = [100 * np.mean([of.scores[name].uacc for of in made]) for name in ("lac", "aps")]
    return PublishedFigures(
        float(100 * np.mean([of.accuracy for of in made])),
        float((sizes[0] + sizes[1]) / 2),
        float((uaccs[0] + uaccs[1]) / 2),
    )


def published(name: str) -> pd.DataFrame:
    """``model``, ``task``, ``bank``, ``accuracy`` (a share), ``uacc``, ``mean_set_size``, ``k`` and ``source``; NaN if
    nothing is printed.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in SOURCES:
        raise InputError(f"unknown published table {name!r}; choose from {', '.join(SOURCES)}")
    source = SOURCES[name]
    table = pd.read_csv(ASSETS / "published" / source.file)
    uacc = table["uacc"] / 100 if "uacc" in table else np.nan
    bank = table["task"].map(BANKS[name])
    return table.assign(accuracy=table["accuracy"] / 100, uacc=uacc, bank=bank, k=OPTIONS, source=source.title)
