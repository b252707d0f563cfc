"""The origin of exported figures: runs, models, tasks, alpha, the version of Hedge, the date, intervals.

Every export contains the same record: as text next to a figure, in a file's metadata, on a workbook's last sheet, above
a LaTeX table, and at the top of the offline report.
"""

import functools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from core import __version__
from core.conformal.scores import SCORES
from core.questions.bank_names import task_title
from core.reports.caveats import in_one, of_run
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import offered_alike
from core.reports.evaluation import Evaluation
from core.reports.repeated import sides_of
from core.reports.titles import details
from core.settings import ROOT

INTERVALS = (
    "95%: Clopper–Pearson for accuracy; with the random draw of calibration and test questions for set size and UAcc; "
    "of the error beyond chance for ECE; for coverage the band in which it lies if the guarantee holds"
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The facts that a reader needs to repeat a figure. ``facts`` are pairs of a name and its value."""

    facts: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """One line for each fact."""
        return "\n".join(f"{what}: {value}" for what, value in self.facts)

    def table(self) -> pa.Table:
        """The facts as a table with the columns ``what`` and ``value``."""
        return pa.table({"what": [what for what, _ in self.facts], "value": [value for _, value in self.facts]})

    def of(self, what: str) -> str:
        """The value of a fact; "" if it is not given."""
        return next((value for name, value in self.facts if name == what), "")


def of_runs(runs: Sequence[Evaluation], rule: SetRule, *, alike: bool = True) -> Provenance:
    """The provenance of figures of ``runs`` whose sets are formed by ``rule``, on common options unless ``alike`` is
    False."""
    runs = offered_alike(runs) if alike else runs
    facts = [
        ("Made by", made_by()),
        ("Date", today()),
        ("Models", ", ".join(dict.fromkeys(run.spec.model for run in runs))),
        ("Tasks", ", ".join(dict.fromkeys(task_title(run.spec.task, run.bank) for run in runs))),
        ("alpha", f"{rule.alpha / 1000:g}"),
        ("Scores", ", ".join(SCORES[name].title for name in rule.scores)),
        ("Threshold", f"{rule.method}; empty sets: {rule.empty}"),
        ("Intervals", INTERVALS),
    ]
    facts += [
        (
            f"Run {i}" if len(runs) > 1 else "Run",
            f"{run.run_id} ({details(run.spec, classes=run.classes)}; {sides_of(run)}{_left_out(run)}{_weights(run)})",
        )
        for i, run in enumerate(runs, start=1)
    ]
    facts += [
        (f"Caveats of run {i}" if len(runs) > 1 else "Caveats", text)
        for i, run in enumerate(runs, start=1)
        if (text := in_one(of_run(run, method=rule.method)))
    ]
    return Provenance(tuple(facts))


def _left_out(run: Evaluation) -> str:
    return f"; without {' and '.join(run.letters_left_out)}, which other runs lack" if run.letters_left_out else ""


def _weights(run: Evaluation) -> str:
    """The whole fingerprint of the model's files, by which somebody else can tell whether theirs are the same."""
    whole = run.spec.model_fingerprint
    return f"; the model's fingerprint is {whole}" if whole else ""


def made_by() -> str:
    """Hedge's version, and the commit where Hedge runs from a checkout: ``Hedge 0.1.0 (commit 0123456789)``."""
    return f"Hedge {__version__}" + (f" (commit {commit()})" if commit() else "")


@functools.cache
def commit() -> str:
    """The commit that is checked out, marked if files differ from it; "" without a checkout or without git."""
    if not (ROOT / ".git").exists():
        return ""
    command = ("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def today() -> str:
    """Today's date in UTC, as ``2026-11-22``."""
    return datetime.now(UTC).date().isoformat()
