"""An imported run, whole in memory, and how it is written to the store."""

import hashlib
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from core import access
from core.access import UserRole, quotas
from core.conformal.probabilities import option_shares
from core.errors import InputError
from core.models import letter_mass
from core.questions import bank_names
from core.questions.option_names import ORDERED, of_order
from core.records import DONT_KNOW, NONE_OF_ABOVE, NOT_PUBLISHED, LogitArray, OptionLogits, Question, Role
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import settings
from core.tables.safe_read import check_readable

OURS = ("launched_by", "imported", "spent", letter_mass.NAME, ORDERED)
"""What only Hedge says of a run, whatever the process that read its file has sent."""


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """The questions with their roles, the logits of those that were scored, and where they come from.

    ``read_as`` says in one line how the file was read, for the person who imports it; it is not kept.
    """

    spec: RunSpec
    questions: tuple[Question, ...]
    roles: tuple[Role, ...]
    scored: OptionLogits
    provenance: dict[str, Any] = field(default_factory=dict)
    read_as: str = ""

    def __post_init__(self) -> None:
        ids = {question.id for question in self.questions}
        if len(self.roles) != len(self.questions) or len(ids) != len(self.questions):
            raise InputError(
                f"{len(self.questions)} questions with {len(ids)} ids and {len(self.roles)} roles make no run; every "
                "question needs one id and one role"
            )
        if not ids.issuperset(self.scored.ids) or len(set(self.scored.ids)) < len(self.scored.ids):
            raise InputError("a run needs logits of its own questions, at most once each; some are of no question")


def renamed(run: ImportedRun, *, model: str = "", task: str = "") -> ImportedRun:
    """The run under another model's or task's name; an empty one leaves it as it is. Raises :class:`InputError` for a
    name that a run can't have."""
    old = run.spec.task
    spec = replace(run.spec, model=model or run.spec.model, task=task or old)
    if spec.task == old:
        return replace(run, spec=spec)
    questions = tuple(
        replace(question, task=spec.task, group=spec.task if question.group == old else question.group)
        for question in run.questions
    )
    # A table that names neither task nor bank is in the bank of its file's name, which the new name replaces.
    unnamed = "bank" not in run.provenance and "task" in run.provenance.get("lacks", ())
    follows = {"bank": {"name": spec.task}} if unnamed or run.provenance.get("bank") == {"name": old} else {}
    return replace(run, spec=spec, questions=questions, provenance=run.provenance | follows)


@access.needs(UserRole.LAUNCHER, "import results")
def save(runs: Iterable[ImportedRun]) -> list[str]:
    """Write the runs and return their ids: all of them or, after an error, none. The same data are written once. Raises
    :class:`InputError` for a run that is not marked as imported, and if other data are stored under its id."""
    wanted = list(runs)
    for run in wanted:
        if not run.spec.is_imported:
            raise InputError(f"run {run.spec.run_id} is not marked as imported; only Hedge's own workers compute runs")
        _check_stored(run)
    quotas.check_disk(sum(run.scored.logits.nbytes for run in wanted))
    parts: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        for run in wanted:
            folder = settings().runs / run.spec.run_id
            if folder not in parts and not is_stored(run):
                parts[folder] = folder.with_name(f".{folder.name}.part")
                _write(parts[folder], run)
        for folder, part in parts.items():
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
            placed.append(folder)
    except BaseException:
        for folder in [*parts.values(), *placed]:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return [run.spec.run_id for run in wanted]


def is_stored(run: ImportedRun) -> bool:
    """Whether the store has this run already."""
    return (settings().runs / run.spec.run_id / "run.json").exists()


def _check_stored(run: ImportedRun) -> None:
    if not is_stored(run):
        return
    run_id = run.spec.run_id
    labels = store.read_questions(run_id, columns=["id", "label", "role"])
    stored = list(zip(*(labels[name].to_pylist() for name in ("id", "label", "role")), strict=True))
    rows = [(question.id, question.label, role) for question, role in zip(run.questions, run.roles, strict=True)]
    scored = store.read_logits(run_id)
    if (
        store.read_record(run_id).spec != run.spec
        or stored != rows
        or scored.ids != run.scored.ids
        or not same_figures(run.scored, scored)
    ):
        raise InputError(f"other data are stored as {run_id} already; delete that run first, then import this one")


def same_figures(read: OptionLogits, stored: OptionLogits) -> bool:
    """Whether two records of the same questions hold the same figures, in their order. Earlier versions kept all
    figures as logits in float32; they are compared in that precision."""
    if read.logits.shape != stored.logits.shape:
        return False
    if read.probabilities is not None and stored.probabilities is not None:
        return bool(np.array_equal(option_shares(read)[0], option_shares(stored)[0]))
    precision = min(read.logits.dtype, stored.logits.dtype)
    return bool(np.array_equal(read.logits.astype(precision), stored.logits.astype(precision), equal_nan=True))


def is_coarser(read: OptionLogits, stored: OptionLogits) -> bool:
    """Whether the stored figures are those of an earlier version, rounded to float32, and the file has all digits."""
    coarse = stored.probabilities is None and stored.logits.dtype == np.float32
    return coarse and (read.probabilities is not None or read.logits.dtype != np.float32)


def _write(part: Path, run: ImportedRun) -> None:
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    store.write_questions(part, run.questions, run.roles)
    store.write_logits(part, run.scored)
    now = time.time()
    bank = bank_names.bank_record(run.spec, run.provenance, run.questions, run.roles)
    theirs = {key: value for key, value in run.provenance.items() if key not in OURS}
    theirs |= _letter_mass(run) | of_order(run.questions)
    provenance = theirs | {"imported": True, "bank": bank} | access.launched()
    store.write_record(part, RunRecord(run.spec, "done", created=now, ended=now, provenance=provenance))
    store.log(part, f"imported from {run.spec.origin}")


def _letter_mass(run: ImportedRun) -> dict[str, Any]:
    tests = {question.id for question, role in zip(run.questions, run.roles, strict=True) if role == "test"}
    return letter_mass.noted(run.scored, np.flatnonzero([name in tests for name in run.scored.ids]))


def fingerprint(*contents: bytes) -> str:
    """A hash of the files' contents, sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()[:16]


def fingerprint_of(*paths: Path) -> str:
    """Sixteen hexadecimal digits of the content of files, read piece by piece."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def read_bytes(path: Path) -> bytes:
    """A file's content. Raises :class:`InputError` if it can't be read or is too large to be."""
    check_readable(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def logits_dtype(logits: LogitArray) -> str:
    """The coarsest of the half precisions that holds every value exactly, else float32. A model's logits say in which
    precision its head ran: float16 values survive a trip through float16."""
    finite = logits[np.isfinite(logits)].astype(np.float32)
    with np.errstate(over="ignore"):
        if np.array_equal(finite.astype(np.float16).astype(np.float32), finite):
            return "float16"
    if not (finite.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"
    return "float32"


def not_published(n: int) -> tuple[str, ...]:
    """Option texts of a question whose texts were not published: nameless, and of six the last two are E and F."""
    extra = [DONT_KNOW, NONE_OF_ABOVE] if n == 6 else []
    return tuple([NOT_PUBLISHED] * (n - len(extra)) + extra)


def check_unique(ids: Sequence[Any], path: Path) -> None:
    """:class:`InputError` where an id stands twice."""
    seen: set[Any] = set()
    for name in ids:
        if name in seen:
            raise InputError(f"{path}: id {name} stands twice; every question needs one result")
        seen.add(name)
