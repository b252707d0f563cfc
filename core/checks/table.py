"""A verification as text, one row at a time."""

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


def summary(verification: Verification) -> str:
    """How many rows came to what, on which machine."""
    counts = ", ".join(f"{verification.count(state)} {state}" for state in STATES if verification.count(state))
    machine = verification.machine
    gpus = ", ".join(f"{gpu['name']} ({gpu['memory_gib']:g} GiB)" for gpu in machine["gpus"]) or "no GPU"
    return (
        f"{counts} in {verification.seconds:.0f} s on {machine['host']}: {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory_gib']:g} GiB, {gpus}; Hedge {machine['hedge']}, torch "
        f"{machine['packages'].get('torch', 'none')}"
    )
