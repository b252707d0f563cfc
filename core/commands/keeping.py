"""The commands that keep a copy of everything and bring it back."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from core import backup as backups
from core.commands.answer import CommandResult
from core.files.names import named


def backup(arguments: Namespace) -> CommandResult:
    """Write a backup."""
    target = named(arguments.file)
    with _bar() as progress:
        made = backups.back_up(target, progress=progress)
    text = f"{target}: {_files(made)}, {target.stat().st_size / 1e6:,.1f} MB; {_database(made)}"
    return CommandResult({"file": str(target), **asdict(made)}, text)


def restore_backup(arguments: Namespace) -> CommandResult:
    """Restore a backup."""
    source = named(arguments.file)
    with _bar() as progress:
        said, aside = backups.restore(
            source, replace=arguments.replace, database=not arguments.without_database, progress=progress
        )
    day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(said.created))
    lines = [f"restored {_files(said)} of {day} UTC; {_database(said, restored=not arguments.without_database)}"]
    if aside:
        lines.append(f"what was there before is in {aside}; delete it when you no longer need it")
    return CommandResult({**asdict(said), "aside": str(aside) if aside else None}, "\n".join(lines))


def _files(of: backups.Backup) -> str:
    return f"{of.files:,} file{'' if of.files == 1 else 's'} of {of.bytes / 1e6:,.1f} MB"


def _database(of: backups.Backup, *, restored: bool = True) -> str:
    if of.database == "none":
        return "there was no run database yet"
    return f"with the run database ({of.database})" if restored else "without the run database"


@contextmanager
def _bar() -> Iterator[backups.Progress]:
    """A progress bar on a terminal."""
    from tqdm import tqdm

    with tqdm(unit="B", unit_scale=True, disable=not sys.stderr.isatty(), leave=False) as bar:

        def told(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield told
