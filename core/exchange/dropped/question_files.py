"""Question banks from outside, kept in ``HEDGE_HOME/questions`` so that a run can ask them."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core import access
from core.access import UserRole, quotas
from core.errors import HedgeError, InputError, Undecided
from core.exchange.dropped.apart import apart
from core.questions import catalogue, finished, local_file
from core.questions.recipes import HALUEVAL
from core.questions.rows import ending_of, no_collection
from core.records import DONT_KNOW
from core.settings import settings
from core.storage.names import cut_name
from core.tables.tabular import open_columns, open_sheet

ENDING = {"csv": ".csv", "parquet": ".parquet", "json": ".json", "jsonl": ".jsonl", "quiz": ".txt"}
"""From what a file is to the ending by which :mod:`core.questions.rows` knows it."""


@access.needs(UserRole.LAUNCHER, "import questions")
def keep(path: Path, name: str, labels_from: int | None = None) -> str:
    """Copy a question bank and return the task that asks it; the same file is kept once.

    Where a person says ``labels_from``, the number of the first option, the questions are kept with letters as answers,
    so that every worker reads them the same way.

    Raises :class:`InputError` if no task can be made of it: it says what a row is expected to have; and
    :class:`~core.errors.Undecided` if numbers of right options could count from 0 or from 1.
    """
    quotas.check_disk(path.stat().st_size)
    digest = hashlib.sha256(path.read_bytes())
    if labels_from is not None:
        digest.update(f"labels from {labels_from}".encode())
    folder = settings().home / "questions" / digest.hexdigest()[:8]  # a folder each, so that a bank keeps its name
    ending = ending_of(name)
    plain = Path(name).name.removesuffix(Path(name).name[-len(ending) :]) if ending else Path(name).stem
    plain = cut_name(re.sub(r"[^\w.-]+", "-", plain).strip("-."), most=80) or "questions"
    if labels_from is not None:
        target = folder / f"{plain}.jsonl"
        return _kept(target, name, apart(_canonical, path, plain, labels_from, name, name=name).encode())
    if not ending:
        ending = ENDING.get(apart(_form, path, name, name=name), ".csv")
    return _kept(folder / f"{plain}{ending.lower()}", name, path)


def _kept(target: Path, name: str, content: Path | bytes) -> str:
    """Write a bank where it is not there yet, or is damaged, and return the task that asks it."""
    made_here = not _is_whole(target)
    if made_here:
        target.parent.mkdir(parents=True, exist_ok=True)
        catalogue.digest_file(target).unlink(missing_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            shutil.copyfile(content, target)
        quotas.note_kept(target.parent)
    try:
        task = apart(read_as, target, name, name=name)[0]
    except InputError:
        if made_here:
            shutil.rmtree(target.parent, ignore_errors=True)
        raise
    if made_here:
        catalogue.keep_bank_digest(target)
    return task


def _is_whole(target: Path) -> bool:
    """Whether a bank is there as it was kept; one of an older version, which has no digest, is kept again."""
    try:
        catalogue.check_bank(target)
    except InputError:
        return False
    return target.exists() and catalogue.digest_file(target).exists()


def _form(path: Path, name: str) -> str:
    with named(path, name):
        return "quiz" if local_file.is_quiz(path) else open_sheet(path).kind


@contextmanager
def named(path: Path, name: str) -> Iterator[None]:
    """Name the file in errors as a person knows it."""
    try:
        yield
    except Undecided as error:
        raise Undecided(str(error).replace(str(path), name)) from None
    except HedgeError as error:
        raise InputError(str(error).replace(str(path), name)) from None


def _canonical(path: Path, stem: str, labels_from: int, name: str) -> str:
    with named(path, name), named(path.with_name(f"{stem}.jsonl"), name):
        return local_file.canonical(local_file.read_path(path, stem=stem, labels_from=labels_from).questions)


def read_as(path: Path, name: str) -> tuple[str, str]:
    """The task that asks a file's questions (the file itself, a finished file, or rows of HaluEval; only its
    recipe makes questions), and in one line how it is read."""
    with named(path, name), no_collection():
        if local_file.is_quiz(path):
            return str(path), local_file.read_path(path).read_as
        columns, encoding = open_columns(path)
        first = {field: cells[0] for field, cells in columns.items() if cells}
        task = next((f"{task}@{path}" for task, keys in HALUEVAL.items() if set(keys) <= first.keys()), str(path))
        data = {Path(file).stem: task for task, file in finished.FILES.items()}
        if finished.is_finished([first]) and (path.stem in data or DONT_KNOW in first["choices"].values()):
            task = f"{data.get(path.stem, 'qa')}@{path}"
        own = task == str(path)
        own_file = local_file.read(columns, path=path, encoding=encoding) if own else None
        return task, (own_file or catalogue.load(task)).read_as
