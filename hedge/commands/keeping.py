"""The commands that keep a copy of everything and restore it."""

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from core.serving import backup as backups
from core.storage.names import named
from hedge.commands.answer import CommandResult

WAITED = "runs that were waiting or running are"


def backup(arguments: Namespace) -> CommandResult:
    """Write a backup."""
    target = named(arguments.file)
    with _bar() as progress:
        description = backups.back_up(target, progress=progress)
    text = f"{target}: {_files(description)}, {target.stat().st_size / 1e6:,.1f} MB"
    return CommandResult({"file": str(target), **asdict(description)}, text)


def restore_backup(arguments: Namespace) -> CommandResult:
    """Restore a backup."""
    source = named(arguments.file)
    with _bar() as progress:
        restored, cancelled, aside = backups.restore(source, replace=arguments.replace, progress=progress)
    day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(restored.created))
    lines = [f"restored {_files(restored)} of {day} UTC"]
    if cancelled:
        what, them = ("run that was waiting or running is", "it") if len(cancelled) == 1 else (WAITED, "them")
        lines.append(f"{len(cancelled)} {what} cancelled; `hedge resume {shlex.join(cancelled)}` continues {them}")
    if aside:
        lines.append(f"what was there before is in {aside}; delete it when you no longer need it")
    values = {**asdict(restored), "cancelled": cancelled, "aside": str(aside) if aside else None}
    return CommandResult(values, "\n".join(lines))


def _files(description: backups.Backup) -> str:
    return f"{description.files:,} file{'' if description.files == 1 else 's'} of {description.bytes / 1e6:,.1f} MB"


@contextmanager
def _bar() -> Iterator[backups.Progress]:
    """A progress bar on a terminal."""
    from tqdm import tqdm

    with tqdm(unit="B", unit_scale=True, disable=not sys.stderr.isatty(), leave=False) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update
