"""A run on disk: one folder with ``run.json``, ``questions.parquet``, ``logits.parquet`` and ``log.txt``.

Runs that ship share their questions (:mod:`~core.runs.shared_questions`).

Logits arrive in chunks. A chunk is written whole to ``chunks/``, synced and renamed into place, so a killed worker
loses at most its current chunk. When all chunks are there, they become ``logits.parquet``, with one row group for each
chunk. ``progress.json`` holds the progress of a running run and is deleted at its end.

All files carry digests (:mod:`core.files.sealed`), and ``run.json`` names those of a run's files once it is done.

``run.json`` carries the schema version; older ones are migrated on opening (:data:`MIGRATIONS`), newer ones
are refused.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from os.path import isdir, isfile
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from core import letter_mass, record_tables
from core.errors import InputError, plain
from core.files import tables
from core.files.sealed import DamagedError, digest_of, digests_of, read_json, write_json
from core.files.tables import checked_digest, read_table, write_table
from core.letter_mass import LetterMass
from core.record_tables import logits_table, option_logits
from core.records import OptionLogits, Question, Role
from core.runs.shared_questions import FILE, FOLDER, questions_file
from core.runs.spec import RunSpec
from core.settings import ASSETS, settings
from core.tasks.identity import question_clusters

SCHEMA_VERSION = 1
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each schema version, the function that migrates ``run.json`` to the next one."""

State = Literal["queued", "running", "done", "failed", "paused", "cancelled"]
LOGITS = "logits.parquet"
BARE = "bare.parquet"
WRITTEN_TABLE = "written.parquet"
WRITTEN = "written.jsonl"
"""The written answers of a run that is at work, in ``chunks/``."""
WHOLE_ID = re.compile(r"-[0-9a-f]{10}\Z")
"""How a whole run id ends. It is not the beginning of another one, which an import could choose."""
LONGEST_NAME = 255
"""Bytes of a folder's name."""
CANCELLED = "Cancelled; resume it to continue with what is missing."
ENDED: tuple[State, ...] = ("done", "failed", "paused", "cancelled")
"""States in which nothing more happens unless a person resumes the run. A ``paused`` one waits for something outside
Hedge: its server, or a larger budget."""
RESUMABLE: tuple[State, ...] = ("failed", "paused", "cancelled")


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running run. ``rate`` is in questions per second; ``remaining_s`` is None until a rate is
    known."""

    done: int
    total: int
    stage: str
    rate: float | None = None
    remaining_s: float | None = None
    worker: str = ""
    updated: float = 0.0


@dataclass(frozen=True, slots=True)
class RunRecord:
    """``run.json``: the spec, the state and where the results come from.

    Times are seconds since the epoch. ``files`` has the digests of the files of a run that is done, by their names.
    """

    spec: RunSpec
    state: State
    created: float
    message: str = ""
    started: float | None = None
    ended: float | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The run's id, which is its folder's name."""
        return self.spec.run_id

    @property
    def is_computed(self) -> bool:
        """Whether Hedge computed the run. One that was imported, also by an older version, names nobody to ask."""
        return not (self.spec.is_imported or self.provenance.get("imported"))

    @property
    def launched_by(self) -> str:
        """The name of the person who launched or imported the run; empty for the person at this machine."""
        return str(self.provenance.get("launched_by", ""))

    @property
    def bounded(self) -> int:
        """The number of questions with letters of which the server gave only an upper bound."""
        return int(self.provenance.get("bounded_questions", 0))

    @property
    def letter_mass(self) -> LetterMass | None:
        """The letter mass of the run's test questions if it is small; None if it is not, or if nothing was noted."""
        return LetterMass.from_json(self.provenance.get(letter_mass.NAME))

    @property
    def has_no_answer(self) -> bool:
        """Whether the letters have so little probability that the run has no figures."""
        return self.letter_mass is not None and self.letter_mass.is_no_answer

    @property
    def at_budget(self) -> bool:
        """Whether the run paused at its budget, and has no larger one yet."""
        reached, budget = self.provenance.get("budget_reached"), self.spec.budget
        return self.state == "paused" and reached is not None and budget is not None and budget <= reached

    @property
    def spent(self) -> tuple[int, int]:
        """The tokens that servers have read and written for the run so far."""
        read, written = self.provenance.get("spent", (0, 0))
        return int(read), int(written)


def runs_folders() -> tuple[Path, ...]:
    """The folders that are searched for runs: the person's own, then the bundled one."""
    return settings().runs, ASSETS / "runs"


def folder_of(run_id: str) -> Path:
    """The folder of an existing run.

    Raises :class:`InputError` if there is none. A unique beginning of the id is enough.
    """
    odd = not run_id.isprintable() or "/" in run_id or run_id.startswith(".")
    if not run_id or odd or len(run_id.encode()) > LONGEST_NAME:
        raise InputError(f"{run_id[:80]!r} is not a run id; `hedge runs` lists all runs")
    for parent in runs_folders():
        if (parent / run_id / "run.json").is_file():
            return parent / run_id
    found = [] if WHOLE_ID.search(run_id) else [name for name in run_ids() if name.startswith(run_id)]
    if len(found) == 1:
        return folder_of(found[0])
    if found:
        raise InputError(f"{run_id!r} begins {len(found)} run ids ({', '.join(found[:3])} …); give more of it")
    raise InputError(f"there is no run {run_id!r}; `hedge runs` lists all runs")


def run_ids() -> list[str]:
    """All run ids, sorted, the person's own and the bundled ones."""
    return list(run_stamps())


def run_stamps() -> dict[str, int]:
    """When the ``run.json`` of each run was written, in nanoseconds since the epoch; by run id, sorted.

    Of two runs with the same id the person's own counts, as in :func:`folder_of`.
    """
    # As text: pages ask this at every click, and a path object costs more than the look at the disk.
    found: dict[str, int] = {}
    for parent in map(str, runs_folders()):
        if isdir(parent):
            for name in os.listdir(parent):
                if name not in found:
                    with suppress(FileNotFoundError, NotADirectoryError):  # being deleted, or not a run at all
                        about = os.stat(f"{parent}/{name}/run.json")
                        if stat.S_ISREG(about.st_mode):
                            found[name] = about.st_mtime_ns
    return dict(sorted(found.items()))


def is_bundled(run_id: str) -> bool:
    """Whether the run ships with Hedge (and so can't be changed)."""
    # As text: pages ask this of every run, and a path object costs more than the look at the disk.
    own, bundled = f"{settings().home}/runs", f"{ASSETS}/runs"
    if "/" not in run_id:
        for folder in (own, bundled):
            if isfile(f"{folder}/{run_id}/run.json"):
                return folder == bundled
    return str(folder_of(run_id).parent) == bundled


# ---------------------------------------------------------------- run.json


def create(record: RunRecord) -> Path:
    """Make the folder of a new run and write its ``run.json``; an existing folder keeps its chunks."""
    folder = settings().runs / record.run_id
    folder.mkdir(parents=True, exist_ok=True)
    write_record(folder, record)
    return folder


def write_record(folder: Path, record: RunRecord) -> None:
    """Replace ``run.json`` atomically. The first that says the run is done names the digests of its files."""
    if record.state == "done" and not record.files:
        record = replace(record, files=digests_of(folder.glob("*.parquet")))
    values = {"schema": SCHEMA_VERSION, "id": record.run_id, **asdict(record)}
    write_json(folder / "run.json", dict(sorted(values.items())), indent=1)


def read_record(run_id: str) -> RunRecord:
    """``run.json`` of a run, migrated if its schema is older.

    Raises :class:`InputError` if it can't be read, or is not what was written.
    """
    return _record(folder_of(run_id))


def _record(folder: Path) -> RunRecord:
    path = folder / "run.json"
    try:
        values = read_json(path)
        if values["id"] != folder.name:
            raise DamagedError(f"it is of the run {str(values['id'])[:LONGEST_NAME]!r}")
        version = values["schema"]
        if version > SCHEMA_VERSION:
            raise InputError(f"{path} has schema {version}, this Hedge reads up to {SCHEMA_VERSION}; update Hedge")
        while version < SCHEMA_VERSION:
            values = MIGRATIONS[version](values)
            version = values["schema"]
        if values["state"] not in get_args(State):
            raise InputError(f"{path} has the unknown state {values['state']!r}; delete the run and repeat it")
        kept = {each.name: values[each.name] for each in fields(RunRecord) if each.name != "files"}
        spec, files = RunSpec.from_json(values["spec"]), dict(values.get("files", {}))
        return RunRecord(**kept | {"spec": spec, "files": files})
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise InputError(f"{path} can't be read ({error}); delete the run and repeat it") from error


def check_computed(record: RunRecord) -> None:
    """Raise :class:`InputError` for an imported run, of which nobody knows how its questions were put."""
    if not record.is_computed:
        raise InputError(
            f"run {record.run_id} was imported, so how its questions were put is not known; choose a run of Hedge's own"
        )


def check_same(spec: RunSpec) -> None:
    """Raise :class:`InputError` if the stored run with this spec's id is not the run that the spec asks for."""
    record = read_record(spec.run_id)
    if record.spec != spec or record.is_computed == spec.is_imported:
        what = "an imported run" if not record.is_computed else "another run"
        raise InputError(
            f"{what} is stored as {record.run_id}, where this one would be; delete that run first, or take another seed"
        )


def update_record(run_id: str, **changes: Any) -> RunRecord:
    """Change fields of ``run.json``; bundled runs are refused."""
    if is_bundled(run_id):
        raise InputError(f"run {run_id!r} ships with Hedge and can't be changed; launch one of your own")
    record = replace(read_record(run_id), **changes)
    write_record(folder_of(run_id), record)
    return record


def note(run_id: str, **provenance: Any) -> None:
    """Add to what ``run.json`` says of where the results come from."""
    update_record(run_id, provenance=read_record(run_id).provenance | provenance)


def end(run_id: str, state: State, message: str = "", **provenance: Any) -> None:
    """Record how a run ended."""
    folder = folder_of(run_id)
    clear_progress(folder)  # first, because on a full disk its few bytes make room for the record of how the run ended
    known = read_record(run_id).provenance | provenance
    update_record(run_id, state=state, message=message, ended=time.time(), provenance=known)
    log(folder, f"{state}{': ' + message if message else ''}")


# ---------------------------------------------------------------- progress and log


def write_progress(folder: Path, progress: Progress) -> None:
    """Replace ``progress.json`` atomically, with a timestamp."""
    write_json(folder / "progress.json", asdict(progress) | {"updated": time.time()}, lasting=False)


def read_progress(run_id: str) -> Progress | None:
    """The progress that the worker last wrote; None if no worker executes the run, or if it can't be read."""
    try:
        return Progress(**read_json(folder_of(run_id) / "progress.json"))
    except (FileNotFoundError, ValueError, TypeError):  # a power cut may have left it empty; the next one is right
        return None


def clear_progress(folder: Path) -> None:
    """Delete the progress of a run that has ended."""
    (folder / "progress.json").unlink(missing_ok=True)


def log(folder: Path, line: str) -> None:
    """Append a line to ``log.txt``, with a UTC timestamp."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
    with (folder / "log.txt").open("a", encoding="utf-8") as file:
        file.write(f"{stamp} {plain(line, one_line=True)}\n")


def read_log(run_id: str, *, lines: int = 200) -> list[str]:
    """The last lines of ``log.txt``."""
    path = folder_of(run_id) / "log.txt"
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:] if path.exists() else []


# ---------------------------------------------------------------- questions and logits


def questions_path(run_id: str) -> Path:
    """The file with a run's questions, which bundled runs share (:mod:`~core.runs.shared_questions`)."""
    return questions_file(folder_of(run_id))


def write_questions(folder: Path, questions: Sequence[Question], roles: Sequence[Role]) -> None:
    """Write ``questions.parquet`` in one step; ``roles`` has one entry for each question."""
    clusters = question_clusters(questions, roles)
    _write_file(folder, FILE, record_tables.questions_table(questions, roles, clusters))


def read_questions(run_id: str, *, columns: Sequence[str] | None = None) -> pa.Table:
    """``questions.parquet`` (:func:`~core.record_tables.questions_table`), or only some of its columns.

    The texts take much longer to read than the other columns.
    """
    return read_file(run_id, FILE, columns=columns)


def write_chunk(folder: Path, index: int, scored: OptionLogits) -> None:
    """Write one finished chunk of logits; writing it again replaces it."""
    tables.write_chunk(folder, index, logits_table(scored))


def write_part(folder: Path, index: int, scored: OptionLogits) -> None:
    """Write the finished part of a chunk when a try stops."""
    tables.write_part(folder, index, logits_table(scored))


def read_part(folder: Path, index: int, **look: Any) -> OptionLogits | None:
    """The part of a chunk that an earlier try had finished; None if there is none (:func:`tables.read_part`)."""
    table = tables.read_part(folder, index, **look)
    return None if table is None else option_logits(table)


def write_logits(folder: Path, scored: OptionLogits) -> None:
    """Write the whole ``logits.parquet``, for results that arrive all at once."""
    _write_file(folder, LOGITS, logits_table(scored))


def keep_logits(folder: Path, ids: Sequence[str]) -> None:
    """Keep only the logits of these questions in ``logits.parquet``."""
    tables.keep_rows(folder / LOGITS, "id", ids)


def read_logits(run_id: str) -> OptionLogits:
    """``logits.parquet`` of a successfully finished run."""
    table = read_file(run_id, LOGITS)
    try:
        return option_logits(table)
    except (KeyError, ValueError, TypeError, AttributeError, pa.ArrowException) as error:  # of a file without a digest
        raise InputError(
            f"{folder_of(run_id) / LOGITS} is damaged ({type(error).__name__}); delete the run and repeat it"
        ) from error


def write_bare(folder: Path, scores: Mapping[str, OptionLogits]) -> None:
    """Write ``bare.parquet``: what each distinct option text scores on its own, after which bare prompt."""
    _write_file(folder, BARE, *record_tables.bare_tables(scores))


def read_bare(run_id: str) -> dict[str, dict[str, float]]:
    """The score of each option text on its own, by bare prompt; empty for a run that did not compute them."""
    return record_tables.bare_scores(read_file(run_id, BARE)) if _has(run_id, BARE) else {}


def bare_prompts(run_id: str) -> list[str]:
    """The bare prompts after which the run scored its option texts, as in :func:`read_bare`."""
    if not _has(run_id, BARE):
        return []
    names: list[str] = read_file(run_id, BARE, columns=["by"])["by"].unique().to_pylist()
    return names


def write_written(folder: Path, rows: Sequence[tuple[str, int, str, int]]) -> None:
    """Write ``written.parquet``, the answers that the model wrote (:func:`~core.record_tables.written_table`)."""
    _write_file(folder, WRITTEN_TABLE, record_tables.written_table(rows))


def read_written(run_id: str) -> pa.Table | None:
    """The answers that the model wrote; None for a run without written answers."""
    return read_file(run_id, WRITTEN_TABLE) if _has(run_id, WRITTEN_TABLE) else None


def read_file(run_id: str, name: str, *, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file of a run, or only these columns of it. Of a run that is done it must be the file that the run was
    finished with; else :class:`InputError` is raised."""
    path = questions_path(run_id) if name == FILE else folder_of(run_id) / name
    return read_table(path, columns=columns, digest=_digest(run_id, name))


def _write_file(folder: Path, name: str, *parts: pa.Table) -> None:
    """Write a Parquet file of a run. If the run is done, its record knows the new file's digest."""
    write_table(folder / name, *parts)
    if (folder / "run.json").is_file() and (record := _record(folder)).state == "done":
        write_record(folder, replace(record, files=record.files | {name: digest_of(folder / name)}))


def questions_digest(run_id: str) -> str:
    """The digest of a run's questions, which equal questions share.

    Raises :class:`InputError` as :func:`read_file`.
    """
    return checked_digest(questions_path(run_id), _digest(run_id, FILE))


def _digest(run_id: str, name: str) -> str:
    """The digest that a file of a run must have; empty if none was kept."""
    if name == FILE and (shared := questions_path(run_id)).parent == FOLDER:
        return shared.stem
    return read_record(run_id).files.get(name, "")


def _has(run_id: str, name: str) -> bool:
    return name in read_record(run_id).files or (folder_of(run_id) / name).is_file()
