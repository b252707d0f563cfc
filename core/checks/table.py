"""A verification as text, one row at a time."""

from __future__ import annotations

from collections.abc import Sequence

from core.checks.outcome import STATES, CheckResult
from core.checks.plan import PlannedCheck
from core.checks.report import Verification


def name_width(rows: Sequence[PlannedCheck]) -> int:
    """The width of the column of names."""
    return max((len(row.name) for row in rows), default=0)


def line(result: CheckResult, *, width: int) -> str:
    """One row: state, name, seconds and sentence."""
    seconds = f"{result.seconds:6.1f} s" if result.seconds else " " * 8
    return f"{result.state:<9}  {result.name:<{width}}  {seconds}  {result.says}"


def summary(found: Verification) -> str:
    """How many rows came to what, on which machine."""
    counts = ", ".join(f"{found.count(state)} {state}" for state in STATES if found.count(state))
    machine = found.machine
    gpus = ", ".join(f"{gpu['name']} ({gpu['memory_gib']:g} GiB)" for gpu in machine["gpus"]) or "no GPU"
    return (
        f"{counts} in {found.seconds:.0f} s on {machine['host']}: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB, {gpus}; Hedge {machine['hedge']}, torch "
        f"{machine['packages'].get('torch', 'none')}"
    )
