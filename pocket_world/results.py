"""The figures of a model's recorded runs, as a section of its card."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.conformal.probabilities import top_options
from core.reports.evaluation import Evaluation, load
from core.reports.report import report
from pocket_world.bank import BANK_TASKS
from pocket_world.evaluate import Share
from pocket_world.record import recorded_specs

HEADING = "## Recorded runs"

_ABOUT = """\
From `python -m pocket_world record`; `python -m core run` with the same words repeats each. Accuracy over all questions
with its 95 % Wilson interval; the later of equally probable options counts as the answer. Prediction sets at alpha 0.1,
calibrated on one half and tested on the other: mean size, coverage, and the 95 % band of coverage where the guarantee
of 90 % holds.
"""

_COLUMNS = (
    "task",
    "form",
    "strategy",
    "shots",
    "dtype",
    "n",
    "accuracy",
    "LAC size",
    "coverage",
    "APS size",
    "coverage",
    "band",
)


def add_results(model: str, folder: Path) -> None:
    """Write the section on recorded runs, those of all tasks, into the card in ``folder``, in place of an older one."""
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0].rstrip()
    rows = [_row(load(spec.run_id)) for spec in recorded_specs(model, BANK_TASKS)]
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    card.write_text(f"{text}\n\n{HEADING}\n\n{_ABOUT}\n{table}\n", encoding="utf-8", newline="\n")


def _row(run: Evaluation) -> tuple[str, ...]:
    found = report(run, 100)
    right = Share(int((top_options(run.probabilities) == run.labels).sum()), int(np.size(run.labels)))
    lac, aps = found.scores["lac"], found.scores["aps"]
    return (
        found.task,
        found.form,
        found.strategy,
        str(run.spec.shots),
        found.dtype,
        f"{right.n:,}",
        f"{right.value:.1%} ({right.interval[0]:.1%} to {right.interval[1]:.1%})",
        f"{lac.mean_set_size:.2f}",
        f"{lac.coverage:.1%}",
        f"{aps.mean_set_size:.2f}",
        f"{aps.coverage:.1%}",
        "{:.1%} to {:.1%}".format(*lac.coverage_band),
    )
