"""The command that tries on this machine what runs need of it."""

import sys
from argparse import Namespace
from pathlib import Path

from core.checks import report, table
from core.checks.outcome import CheckResult
from core.checks.plan import PlannedCheck, planned, selected
from core.checks.runner import verify as verified
from core.errors import InputError
from core.models.devices.slots import slots
from hedge.commands.answer import CommandResult


def verify(arguments: Namespace) -> CommandResult:
    """Make the checks and print each row as it ends. The exit status is 1 if one failed.

    Ctrl+C and SIGTERM end the check that is being made; the rows before it are printed and written to the file.
    """
    if not arguments.minutes > 0:
        raise InputError(f"--minutes must be above 0, got {arguments.minutes:g}")
    file = Path(arguments.json) if isinstance(arguments.json, str) else None
    arguments.json = arguments.json is True
    rows = selected(planned(slots()), arguments.only)
    out = sys.stderr if arguments.json else sys.stdout
    width = table.name_width(rows)
    terminal = sys.stderr.isatty()

    def begin(row: PlannedCheck) -> None:
        if terminal:
            print(f"trying     {row.name:<{width}}", end="\r", file=sys.stderr, flush=True)

    def ended(row_result: CheckResult) -> None:
        print(table.line(row_result, width=width), file=out, flush=True)

    verification = verified(rows, minutes=arguments.minutes, on_begin=begin, on_row=ended)
    if file:
        report.write(verification, file)
    if not (arguments.only or verification.stopped):
        report.keep(verification)
    if verification.stopped:
        raise KeyboardInterrupt
    return CommandResult(verification.to_json(), table.summary(verification), 1 if verification.count("failed") else 0)
