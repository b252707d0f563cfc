"""The names of exported files: ``hedge_pocket-8m_summaries_alpha-0.10_sets.xlsx``."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.reports.titles import differences, spec_task_title
from core.runs.spec import RunSpec

LONGEST = 60
"""The characters of one part of a name."""


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a file: models, tasks and ``alpha`` in thousandths. A field that does not apply is empty."""

    models: Sequence[str] = ()
    tasks: Sequence[str] = ()
    alpha: int | None = None

    def file_name(self, what: str, ending: str) -> str:
        """The name of a file that holds ``what`` (:func:`file_name`)."""
        return file_name(what, ending, models=self.models, tasks=self.tasks, alpha=self.alpha)


def file_name(
    what: str, ending: str, *, models: Sequence[str] = (), tasks: Sequence[str] = (), alpha: int | None = None
) -> str:
    """A file's name: Hedge, the models, the tasks, ``alpha`` in thousandths, and what the file holds.

    Several models or tasks are counted. A part that is not given is left out.

    >>> file_name("sets", "xlsx", models=["pocket-8m"], tasks=["Summaries"], alpha=100)
    'hedge_pocket-8m_summaries_alpha-0.10_sets.xlsx'
    >>> file_name("figures", "zip", models=["a", "b", "a"], tasks=["Summaries"])
    'hedge_2-models_summaries_figures.zip'
    """
    at = "" if alpha is None else f"alpha-{alpha_text(alpha)}"
    return "_".join(filter(None, (_about(models, tasks), at, slug(what)))) + f".{ending}"


def about_runs(specs: Sequence[tuple[RunSpec, str]], *, alpha: int | None = None) -> About:
    """The subject of a file about runs, each given by its spec and its questions' bank.

    A single run's model is named with its settings that are not at their defaults.
    """
    return About(_models(specs), [spec_task_title(*spec) for spec in specs], alpha)


def of_runs(what: str, ending: str, specs: Sequence[tuple[RunSpec, str]], *, alpha: int | None = None) -> str:
    """The name of a file about runs (:func:`about_runs`)."""
    return about_runs(specs, alpha=alpha).file_name(what, ending)


def stem(specs: Sequence[tuple[RunSpec, str]]) -> str:
    """The beginning of the names of files about runs, before alpha."""
    return _about(_models(specs), [spec_task_title(*spec) for spec in specs])


def _about(models: Sequence[str], tasks: Sequence[str]) -> str:
    parts = ["hedge", _one_or_counted(models, "models"), _one_or_counted(tasks, "tasks")]
    return "_".join(filter(None, map(slug, parts)))


def _models(specs: Sequence[tuple[RunSpec, str]]) -> list[str]:
    if len(specs) != 1:
        return [spec.model_name for spec, _ in specs]
    return [" ".join([spec.model_name, *differences(spec)]) for spec, _ in specs]


def alpha_text(alpha: int) -> str:
    """Alpha with two digits, or three where the third is not 0.

    >>> alpha_text(100), alpha_text(125)
    ('0.10', '0.125')
    """
    return f"{alpha / 1000:.2f}" if alpha % 10 == 0 else f"{alpha / 1000:.3f}"


def slug(text: str) -> str:
    """The text in lower case, with letters, digits, dots and dashes only.

    >>> slug("Question answering · MMLU 10k"), slug("../x: y")
    ('question-answering-mmlu-10k', 'x-y')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")[:LONGEST].rstrip("-.")


def _one_or_counted(names: Sequence[str], what: str) -> str:
    distinct = list(dict.fromkeys(names))
    return distinct[0] if len(distinct) == 1 else f"{len(distinct)} {what}" if distinct else ""
