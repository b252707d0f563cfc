"""Question banks from outside, kept in ``HEDGE_HOME/questions`` so that a run can ask them."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from core import access, quotas
from core.access import UserRole
from core.errors import HedgeError, InputError
from core.exchange.dropped.apart import apart
from core.files.names import cut_name
from core.settings import settings
from core.tables.tabular import open_sheet
from core.tasks import catalogue, finished
from core.tasks.rows import READERS, read_file

ENDING = {"csv": ".csv", "parquet": ".parquet", "json": ".json", "jsonl": ".jsonl"}
"""From what a table is to the ending by which :mod:`core.tasks.rows` knows it."""


@access.needs(UserRole.LAUNCHER, "bring questions in")
def keep(path: Path, name: str) -> str:
    """Copy a question bank and return the task that asks it; the same file is kept once.

    Raises :class:`InputError` if no task can be made of it: it says what a row is expected to have.
    """
    quotas.check_disk(path.stat().st_size)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    plain = cut_name(re.sub(r"[^\w.-]+", "-", Path(name).stem).strip("-."), most=80) or "questions"
    ending = Path(name).suffix.lower()
    if ending not in READERS:
        ending = ENDING.get(apart(_sheet_kind, path, name=name), ".csv")
    folder = settings().home / "questions" / digest  # a folder each, so that a bank keeps its name
    target = folder / f"{plain}{ending}"
    made_here = not target.exists()
    if made_here:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        quotas.note_kept(folder)
    try:
        return apart(task_of, target, name, name=name)
    except InputError:
        if made_here:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _sheet_kind(path: Path) -> str:
    return open_sheet(path).kind


def task_of(path: Path, name: str) -> str:
    """The first task that reads a file's questions: the file itself, or a data set's shape that it has."""
    failed: HedgeError | None = None
    for task in _candidates(path):
        try:
            catalogue.load(task)
        except HedgeError as error:
            failed = failed or error
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):  # of another data set's shape
            continue
        else:
            return task
    raise InputError(str(failed or f"{path}: expected question, options and label").replace(str(path), name))


def _candidates(path: Path) -> Sequence[str]:
    data = {Path(file).stem: task for task, file in finished.FILES.items()}
    likely = data.get(path.stem) or ("csqa" if re.search(r"common|csqa", path.stem, re.I) else "arc")
    if finished.is_finished(read_file(path)):
        return [f"{data.get(path.stem, 'qa')}@{path}"]
    return [str(path), *dict.fromkeys(f"{task}@{path}" for task in (likely, *catalogue.HUB))]
