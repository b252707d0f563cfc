"""A run on disk: one folder with ``run.json``, ``questions.parquet``, ``logits.parquet`` and ``log.txt``.

Runs that ship share their questions (:mod:`~core.runs.shared_questions`).

Logits arrive in chunks. A chunk is written whole to ``chunks/``, synced and renamed into place, so a killed worker
loses at most its current chunk. When all chunks are there, they become ``logits.parquet``, with one row group for each
chunk. ``progress.json`` holds the progress of a running run and is deleted at its end.

All files carry digests (:mod:`core.storage.sealed`), and ``run.json`` names those of a run's files once it is done.

``run.json`` carries the schema version; older ones are migrated on opening (:data:`MIGRATIONS`), newer ones
are refused.
"""

import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from os.path import isdir, isfile, islink, lexists
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import InputError, UnreadableRunError, plain, shown_value
from core.models import letter_mass
from core.models.letter_mass import LetterMass
from core.questions.identity import question_clusters
from core.questions.option_names import ORDERED
from core.records import OptionLogits, Question, Role
from core.runs.record_kinds import PROVENANCE, check_provenance
from core.runs.shared_questions import FILE, FOLDER, LINK, questions_file
from core.runs.spec import RunSpec
from core.settings import ASSETS, settings
from core.storage import record_tables, tables
from core.storage.kinds import check_kinds
from core.storage.record_tables import check_columns, logits_table, option_logits
from core.storage.sealed import (
    DamagedError,
    checked_digest,
    content_of,
    damage,
    digest_of,
    digests_of,
    read_json,
    write_json,
)
from core.storage.tables import DamagedTableError, check_table, read_table, write_table

SCHEMA_VERSION = 1
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each schema version, the function that migrates ``run.json`` to the next one."""

State = Literal["queued", "running", "done", "failed", "paused", "cancelled"]
STATE_WORDS: dict[str, str] = {
    "done": "finished",
    "running": "running",
    "queued": "waiting",
    "failed": "failed",
    "paused": "paused",
    "cancelled": "cancelled",
}
"""Each state as readers see it, on pages and in a terminal. In files and in JSON it is the state itself."""
RECORD = "run.json"
LOGITS = "logits.parquet"
BARE = "bare.parquet"
WRITTEN_TABLE = "written.parquet"
WRITTEN = "written.jsonl"
"""The written answers of a running run, in ``chunks/``."""
WHOLE_ID = re.compile(r"-[0-9a-f]{10}\Z")
"""How a whole run id ends. It is not the beginning of another one, which an import could choose."""
DEFAULTS = re.compile(r"(?:(?:(?:-base)?-0shot)?-float32)?-[0-9a-f]{10}\Z")
"""The end of a run id that has nothing but defaults: no instruction, no examples, by letter, in 32 bits."""
REMAINS = (RECORD, FILE, LINK, LOGITS, "progress.json", "log.txt", "chunks")
"""What a folder of ``runs/`` without a readable ``run.json`` has of a run."""
LONGEST_NAME = 255
"""Bytes of a folder's name."""
LATEST = 1e11
"""Seconds since the epoch that a calendar can show."""
DELETE = "delete the run"
CLASSROOM = "classroom"
"""The origin of a run that was a class."""
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
        """The number of questions with letters for which the server gave only an upper bound."""
        return int(self.provenance.get("bounded_questions", 0))

    @property
    def bounded_because(self) -> str:
        """Why figures of such a run are ranges, as a clause."""
        if self.spec.decisions:
            return f"some probabilities of run {self.run_id} were rounded to 0"
        return f"the server of run {self.run_id} gave only an upper bound of some letters"

    @property
    def ordered(self) -> bool:
        """Whether the options of all questions are ordered levels."""
        return bool(self.provenance.get(ORDERED))

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

    Raises :class:`InputError` if there is none. A unique beginning of the id is enough. Where several ids begin so, the
    settings left out have their defaults: ``pocket-8m-qa`` is ``pocket-8m-qa-base-0shot-float32-…``.
    """
    odd = not run_id.isprintable() or "/" in run_id or run_id.startswith(".")
    if not run_id or odd or len(run_id.encode()) > LONGEST_NAME:
        raise InputError(f"{run_id[:80]!r} is not a run id; `hedge runs` lists all runs")
    for parent in runs_folders():
        if _stamp(f"{parent}/{run_id}") is not None:
            return parent / run_id
    matches = [] if WHOLE_ID.search(run_id) else [name for name in run_ids() if name.startswith(run_id)]
    plain = [name for name in matches if DEFAULTS.fullmatch(name, len(run_id))]
    if len(plain) > 1:
        plain = [record.run_id for record in readable() if record.run_id in plain and record.spec.draws_by_default]
    if len(matches) == 1 or len(plain) == 1:
        return folder_of((plain or matches)[0])
    if matches:
        raise InputError(f"{run_id!r} begins {len(matches)} run ids ({', '.join(matches[:3])} …); give more of it")
    raise InputError(f"there is no run {run_id!r}; `hedge runs` lists all runs")


def run_ids() -> list[str]:
    """All run ids, sorted, the person's own and the bundled ones."""
    return list(run_stamps())


def run_stamps() -> dict[str, int]:
    """When the ``run.json`` of each run was written, in nanoseconds since the epoch; by run id, sorted.

    It is 0 for a run that has other files and no ``run.json``. Of two runs with the same id the person's own
    counts, as in :func:`folder_of`.
    """
    # As text: pages ask this at every click, and a path object costs more than the look at the disk.
    stamps: dict[str, int] = {}
    for parent in map(str, runs_folders()):
        if isdir(parent):
            for name in os.listdir(parent):
                if name not in stamps and (stamp := _stamp(f"{parent}/{name}")) is not None:
                    stamps[name] = stamp
    return dict(sorted(stamps.items()))


def _stamp(folder: str) -> int | None:
    """When the ``run.json`` of a folder was written, 0 if only other files of a run lie there; None if it is no run."""
    try:
        about = os.stat(f"{folder}/{RECORD}")
        if stat.S_ISREG(about.st_mode):
            return about.st_mtime_ns
    except NotADirectoryError:
        return None
    except OSError:  # being deleted, or damaged
        pass
    if os.path.basename(folder).startswith("."):
        return None
    try:
        return 0 if islink(folder) or not set(REMAINS).isdisjoint(os.listdir(folder)) else None
    except PermissionError:
        return 0
    except OSError:
        return None


def is_bundled(run_id: str) -> bool:
    """Whether the run ships with Hedge (and so can't be changed)."""
    # As text: pages ask this of every run, and a path object costs more than the look at the disk.
    own, bundled = f"{settings().home}/runs", f"{ASSETS}/runs"
    if "/" not in run_id:
        if isfile(f"{own}/{run_id}/run.json"):
            return False
        if not lexists(f"{own}/{run_id}") and isfile(f"{bundled}/{run_id}/run.json"):
            return True
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

    Raises :class:`UnreadableRunError` if it can't be read, or is not what was written.
    """
    return _record(folder_of(run_id))


def readable() -> Iterator[RunRecord]:
    """The records of all runs; those that can't be read are left out."""
    for run_id in run_ids():
        with suppress(InputError):  # damaged, or deleted meanwhile
            yield read_record(run_id)


_records: dict[str, tuple[tuple[int, ...], RunRecord]] = {}
"""How the ``run.json`` of each folder looked when it was last read, and the record in it: a run's tables are read one
after the other, and its record takes as long as a small table."""
SETTLED_NS = 5 * 10**7
"""A file that changed at least this long before it is read will have another time if it changes again: file systems
note times in steps of up to 10 ms."""


def _look(path: Path) -> tuple[int, ...]:
    """What differs after a file has been replaced or changed."""
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _record(folder: Path) -> RunRecord:
    try:
        look = _look(folder / RECORD)
        known, record = _records.get(str(folder), ((), None))
        if record is not None and known == look:
            return record
        now = time.time_ns()
        record = _checked(folder, read_json(folder / RECORD))
        if now - look[-1] > SETTLED_NS:
            _records[str(folder)] = (look, record)
        return record
    except UnreadableRunError:
        raise
    except InputError as error:
        raise _damaged(folder, RECORD, DamagedError(f"it has a spec that can't be used ({error})")) from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise _damaged(folder, RECORD, error) from error


def _checked(folder: Path, values: dict[str, Any]) -> RunRecord:
    """The record in the fields of ``run.json``. Raises many errors for fields that are missing or of other kinds."""
    if values["id"] != folder.name:
        raise DamagedError(f"it is that of the run {plain(str(values['id']))[:LONGEST_NAME]}")
    version = values.get("schema")
    if not isinstance(version, int):
        raise DamagedError("it lacks the field schema")
    if version > SCHEMA_VERSION or _has_newer_spec(values):
        raise UnreadableRunError.for_run(folder.name, "was written by a newer Hedge", "update Hedge")
    while version < SCHEMA_VERSION:
        values = MIGRATIONS[version](values)
        version = values["schema"]
    spec = RunSpec.from_json(values["spec"])
    if spec.run_id != folder.name:
        raise DamagedError(f"it is that of the run {spec.run_id}")
    check_provenance(values["provenance"])
    # None is what older versions wrote for what they did not know.
    known = {name: value for name, value in values["provenance"].items() if value is not None or name not in PROVENANCE}
    own = {each.name: values.get(each.name) for each in fields(RunRecord)}
    record = RunRecord(**own | {"spec": spec, "provenance": known, "files": values.get("files") or {}})
    check_kinds(record)
    if record.state not in get_args(State):
        raise DamagedError(f"it has the unknown state {shown_value(record.state)}")
    for name in ("created", "started", "ended"):
        if not 0 <= (values.get(name) or 0) < LATEST:
            raise DamagedError(f"it has a time in the field {name} that no calendar has")
    return record


def _has_newer_spec(values: Mapping[str, Any]) -> bool:
    """Whether the spec of a record has all fields that this Hedge knows, and others."""
    return isinstance(values.get("spec"), dict) and {each.name for each in fields(RunSpec)} < set(values["spec"])


@contextmanager
def reading(run_id: str, name: str) -> Iterator[None]:
    """Raise :class:`UnreadableRunError` if the body can't use what a file of a run holds.

    Only a file without a digest may hold anything. A failure on another file is a fault of Hedge and raised unchanged.
    """
    try:
        yield
    except UnreadableRunError:
        raise
    except (InputError, LookupError, TypeError, ValueError, AttributeError, OSError, pa.ArrowException) as error:
        if not isinstance(error, (InputError, DamagedError, OSError)) and _digest(run_id, name):
            raise
        raise _damaged(folder_of(run_id), name, error) from error


def _damaged(folder: Path, name: str, error: Exception) -> UnreadableRunError:
    """What is wrong with a file of a run, and the way out."""
    if isinstance(error, DamagedTableError):
        reason = error.reason
    elif isinstance(error, InputError) and not isinstance(error.__cause__, DamagedError):
        reason = f"can't be used ({str(error).partition(';')[0]})"
    else:
        reason = damage(error.__cause__ if isinstance(error.__cause__, DamagedError) else error)
    reason = reason.removeprefix("it ")
    return UnreadableRunError.for_run(folder.name, f"is damaged, because its {name} {reason}", _way_out(folder, name))


def _way_out(folder: Path, name: str) -> str:
    """What to do if a file of a run is damaged."""
    if folder.parent == ASSETS / "runs":
        return "install Hedge again"
    if name == RECORD:
        return f"{DELETE} and repeat it, or import it again"
    record = _record(folder)
    if record.is_computed:
        return f"{DELETE} and repeat it"
    return f"{DELETE} and save the class again" if record.spec.origin == CLASSROOM else f"{DELETE} and import it again"


def check_files(record: RunRecord, *, whole: bool = True) -> tuple[str, ...]:
    """The files of a run that is done. Raises :class:`UnreadableRunError` if one is missing or damaged.

    An older file has no digest. Of such a one only what says where its columns are is read; and, unless ``whole``, of a
    large file, too, because hashing the large files of all runs takes long. Reading its columns checks it.
    """
    folder = folder_of(record.run_id)
    paths = []
    for name in _checked_names(record):
        with reading(record.run_id, name):
            path = questions_file(folder) if name == FILE else folder / name
            digest = path.stem if path.parent == FOLDER else record.files.get(name, "")
            check_table(path, digest, whole=whole)
            paths.append(str(path))
    return tuple(paths)


def _checked_names(record: RunRecord) -> Iterable[str]:
    if record.state != "done":
        return ()
    return record.files or ((FILE, LOGITS) if record.spec.answers else ())


def check_computed(record: RunRecord) -> None:
    """Raise :class:`InputError` for an imported run, because nobody knows how its questions were put."""
    if not record.is_computed:
        raise InputError(
            f"run {record.run_id} was imported, so how its questions were put is not known; choose a run of Hedge's own"
        )


def check_same(spec: RunSpec, record: RunRecord) -> None:
    """Raise :class:`InputError` if the stored run with this spec's id is not the run that the spec asks for."""
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
        return _progress(read_json(folder_of(run_id) / "progress.json"))
    except (OSError, ValueError, TypeError):  # a power cut may have left it empty; the next one is right
        return None


def _progress(values: Mapping[str, Any]) -> Progress:
    """Raises :class:`TypeError` or :class:`ValueError` for values of other kinds."""
    progress = Progress(**values)
    check_kinds(progress)
    numbers = (progress.done, progress.total, progress.updated, progress.rate or 0, progress.remaining_s or 0)
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a number of the progress is none")
    return progress


def clear_progress(folder: Path) -> None:
    """Delete the progress of a run that has ended."""
    with suppress(IsADirectoryError, PermissionError):  # whatever lies there in its place stays
        (folder / "progress.json").unlink(missing_ok=True)


def log(folder: Path, line: str) -> None:
    """Append a line to ``log.txt``, with a UTC timestamp."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
    path = folder / "log.txt"
    if os.path.lexists(path) and not path.is_file():  # writing into a pipe would never end
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{stamp} {plain(line, one_line=True)}\n")


def read_log(run_id: str, *, lines: int = 200) -> list[str]:
    """The last lines of ``log.txt``."""
    try:
        content = content_of(folder_of(run_id) / "log.txt")
    except (OSError, DamagedError):
        return []
    return content.decode(errors="replace").splitlines()[-lines:]


# ---------------------------------------------------------------- questions and logits


def questions_path(run_id: str) -> Path:
    """The file with a run's questions, which bundled runs share (:mod:`~core.runs.shared_questions`)."""
    return questions_file(folder_of(run_id))


def write_questions(folder: Path, questions: Sequence[Question], roles: Sequence[Role]) -> None:
    """Write ``questions.parquet`` in one step; ``roles`` has one entry for each question."""
    clusters = question_clusters(questions, roles)
    _write_file(folder, FILE, record_tables.questions_table(questions, roles, clusters))


def read_questions(run_id: str, *, columns: Sequence[str] | None = None) -> pa.Table:
    """``questions.parquet`` (:func:`~core.storage.record_tables.questions_table`), or only some of its columns.

    The texts take much longer to read than the other columns.
    """
    return read_file(run_id, FILE, columns=columns)


def read_question(run_id: str, question_id: str) -> Question:
    """One question of a run; no more than its row is held. Raises :class:`InputError` if the run does not ask it."""
    with reading(run_id, FILE):
        _, row = tables.read_row(questions_path(run_id), "id", question_id, digest=_digest(run_id, FILE))
        if row.num_rows:
            check_columns(FILE, row)
            values = row.to_pylist()[0]
            names = ("id", "task", "group", "context", "question", "options", "label")
            more = {"options": tuple(values["options"]), "ordered": values.get("ordered") is True}
            return Question(**{name: values[name] for name in names} | more)
    raise InputError(f"run {run_id} has no question {question_id[:80]!r}; choose one that it asked")


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
    with reading(run_id, LOGITS):
        return option_logits(table)


def read_answer(run_id: str, question_id: str) -> tuple[int, OptionLogits]:
    """One row of ``logits.parquet`` of a successfully finished run, and its place there. Raises :class:`InputError` if
    the run has no answer to the question."""
    with reading(run_id, LOGITS):
        digest = _digest(run_id, LOGITS)
        place, row = tables.read_row(folder_of(run_id) / LOGITS, "id", question_id, digest=digest)
        if row.num_rows:
            check_columns(LOGITS, row)
            return place, option_logits(row)
    raise InputError(f"run {run_id} has no answer to a question {question_id[:80]!r}; choose one that it asked")


def tested_ids(run_id: str) -> pa.StringArray:
    """The ids of a finished run's test questions, in the order of its answers."""
    questions = read_questions(run_id, columns=["id", "role"])
    answers = read_file(run_id, LOGITS, columns=["id"])["id"]
    if not answers.equals(questions["id"]):
        questions = questions.take(pc.index_in(answers, questions["id"]))
    tested = questions.filter(pc.equal(questions["role"], "test"))["id"]
    return pc.cast(tested, pa.string()).combine_chunks()


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
    """Write ``written.parquet``, the answers that the model wrote
    (:func:`~core.storage.record_tables.written_table`).
    """
    _write_file(folder, WRITTEN_TABLE, record_tables.written_table(rows))


def read_written(run_id: str) -> pa.Table | None:
    """The answers that the model wrote; None for a run without written answers."""
    return read_file(run_id, WRITTEN_TABLE) if _has(run_id, WRITTEN_TABLE) else None


def read_file(run_id: str, name: str, *, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file of a run, or only these columns of it. Of a run that is done it must be the file that the run was
    finished with; else :class:`UnreadableRunError` is raised."""
    with reading(run_id, name):
        path = questions_path(run_id) if name == FILE else folder_of(run_id) / name
        digest = _digest(run_id, name)
        table = read_table(path, columns=columns, digest=digest)
        if not digest:
            check_columns(name, table, columns)
        return table


def _write_file(folder: Path, name: str, *parts: pa.Table) -> None:
    """Write a Parquet file of a run. If the run is done, its record knows the new file's digest."""
    write_table(folder / name, *parts)
    if (folder / "run.json").is_file() and (record := _record(folder)).state == "done":
        write_record(folder, replace(record, files=record.files | {name: digest_of(folder / name)}))


def checked_questions(run_id: str) -> tuple[Path, str]:
    """The file with a run's questions, and its digest, which equal questions share.

    Raises :class:`InputError` as :func:`read_file`.
    """
    with reading(run_id, FILE):
        folder = folder_of(run_id)
        path = questions_file(folder)
        kept = path.stem if path.parent == FOLDER else _record(folder).files.get(FILE, "")
        return path, checked_digest(path, kept)


def _digest(run_id: str, name: str) -> str:
    """The digest that a file of a run must have; empty if none was kept."""
    folder = folder_of(run_id)
    if name == FILE and (shared := questions_file(folder)).parent == FOLDER:
        return shared.stem
    return _record(folder).files.get(name, "")


def _has(run_id: str, name: str) -> bool:
    return name in read_record(run_id).files or (folder_of(run_id) / name).is_file()
