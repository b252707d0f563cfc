"""Figures that others have published, to stand beside our own, marked as theirs (``assets/published``)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from core.errors import InputError
from core.settings import ASSETS


@dataclass(frozen=True, slots=True)
class Source:
    """A published table: its file, its title and where it was printed; ``note`` is what a reader has to know."""

    file: str
    title: str
    printed: str
    note: str


SOURCES = {
    "ye-2024": Source(
        "ye-2024.csv",
        "Ye et al. 2024",
        "arXiv 2401.12794; github.com/smartyfh/LLM-Uncertainty-Bench",
        "Means of three prompting strategies, set size also of LAC and APS, with six options at alpha 0.1.",
    ),
    "bluq": Source(
        "bluq.csv",
        "BLUQ",
        "the tables of its README",
        "By LAC at alpha 0.1. Most of these runs read the wrong token of padded batches and so seem to guess.",
    ),
}
"""Every published table by name."""

OPTIONS = 6


def published(name: str) -> pd.DataFrame:
    """``model``, ``task``, ``accuracy`` (a share), ``mean_set_size`` (NaN where not printed), ``k`` and ``source``.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in SOURCES:
        raise InputError(f"unknown published table {name!r}; choose from {', '.join(SOURCES)}")
    source = SOURCES[name]
    table = pd.read_csv(ASSETS / "published" / source.file)
    return table.assign(accuracy=table["accuracy"] / 100, k=OPTIONS, source=source.title)
