"""A run on disk: one folder with ``run.json``, ``questions.parquet``, ``logits.parquet`` and ``log.txt``.

Logits arrive in chunks. A chunk is written whole to ``chunks/``, synced and renamed into place, so a killed
worker loses at most the chunk it was in; when the last one is there they become ``logits.parquet``, one row
group a chunk. ``progress.json`` says how far a running run is and vanishes with its end.

``run.json`` carries the schema version; older ones are migrated on opening (:data:`MIGRATIONS`), newer ones
are refused.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from os.path import isfile
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from core.errors import InputError
from core.files import tables
from core.files.atomic import write_atomically
from core.files.parquet_columns import number_rows, numbers, text_lists, texts
from core.files.tables import read_table, write_table
from core.records import OptionLogits, Question, Role
from core.runs.spec import RunSpec
from core.settings import ASSETS, settings

SCHEMA_VERSION = 1
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each schema version, the function that migrates ``run.json`` to the next one."""

State = Literal["queued", "running", "done", "failed", "cancelled"]
BARE = "bare.parquet"
CANCELLED = "Cancelled; resume it to continue with what is missing."
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running run is; ``rate`` in questions per second, ``remaining_s`` None until a rate is known."""

    done: int
    total: int
    stage: str
    rate: float | None = None
    remaining_s: float | None = None
    worker: str = ""
    updated: float = 0.0


@dataclass(frozen=True, slots=True)
class RunRecord:
    """``run.json``: the spec, the state and where the results come from. Times are seconds since the epoch."""

    spec: RunSpec
    state: State
    created: float
    message: str = ""
    started: float | None = None
    ended: float | None = None
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The run's id, which is its folder's name."""
        return self.spec.run_id

    @property
    def bounded(self) -> int:
        """The number of questions with letters of which the server gave only an upper bound."""
        return int(self.provenance.get("bounded_questions", 0))

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
    if not run_id or "/" in run_id or run_id.startswith("."):
        raise InputError(f"{run_id!r} is not a run id; `python -m core runs` lists all runs")
    for parent in runs_folders():
        if (parent / run_id / "run.json").is_file():
            return parent / run_id
    found = [name for name in run_ids() if name.startswith(run_id)]
    if len(found) == 1:
        return folder_of(found[0])
    if found:
        raise InputError(f"{run_id!r} begins {len(found)} run ids ({', '.join(found[:3])} …); give more of it")
    raise InputError(f"there is no run {run_id!r}; `python -m core runs` lists all runs")


def run_ids() -> list[str]:
    """All run ids, sorted, the person's own and the bundled ones."""
    return list(run_stamps())


def run_stamps() -> dict[str, int]:
    """When the ``run.json`` of each run was written, in nanoseconds since the epoch; by run id, sorted.

    Of two runs with the same id the person's own counts, as in :func:`folder_of`.
    """
    found: dict[str, int] = {}
    for parent in runs_folders():
        if parent.is_dir():
            for name in os.listdir(parent):
                if name not in found:
                    with suppress(FileNotFoundError, NotADirectoryError):  # being deleted, or no run at all
                        found[name] = os.stat(parent / name / "run.json").st_mtime_ns
    return dict(sorted(found.items()))


def is_bundled(run_id: str) -> bool:
    """Whether the run ships with Hedge (and so can't be changed)."""
    own, bundled = map(str, runs_folders())
    # As text: pages ask this of every run, and a path object costs more than the look at the disk.
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
    """Replace ``run.json`` atomically."""
    values = {"schema": SCHEMA_VERSION, "id": record.run_id, **asdict(record)}
    write_atomically(folder / "run.json", json.dumps(values, indent=1, sort_keys=True).encode())


def read_record(run_id: str) -> RunRecord:
    """``run.json`` of a run, migrated where it is of an older schema."""
    path = folder_of(run_id) / "run.json"
    try:
        values = json.loads(path.read_bytes())
        version = values["schema"]
        if version > SCHEMA_VERSION:
            raise InputError(f"{path} has schema {version}, this Hedge reads up to {SCHEMA_VERSION}; update Hedge")
        while version < SCHEMA_VERSION:
            values = MIGRATIONS[version](values)
            version = values["schema"]
        if values["state"] not in get_args(State):
            raise InputError(f"{path} has the unknown state {values['state']!r}; delete the run and repeat it")
        kept = {each.name: values[each.name] for each in fields(RunRecord)}
        return RunRecord(**kept | {"spec": RunSpec.from_json(values["spec"])})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} can't be read ({error}); delete the run and repeat it") from error


def update_record(run_id: str, **changes: Any) -> RunRecord:
    """Change fields of ``run.json``; bundled runs are refused."""
    if is_bundled(run_id):
        raise InputError(f"run {run_id!r} ships with Hedge and can't be changed; launch one of your own")
    record = replace(read_record(run_id), **changes)
    write_record(folder_of(run_id), record)
    return record


def end(run_id: str, state: State, message: str = "", **provenance: Any) -> None:
    """Write down how a run ended."""
    folder = folder_of(run_id)
    clear_progress(folder)  # first, for on a full disk its few bytes make room for how the run ended
    known = read_record(run_id).provenance | provenance
    update_record(run_id, state=state, message=message, ended=time.time(), provenance=known)
    log(folder, f"{state}{': ' + message if message else ''}")


# ---------------------------------------------------------------- progress and log


def write_progress(folder: Path, progress: Progress) -> None:
    """Replace ``progress.json`` atomically, with a timestamp."""
    values = asdict(progress) | {"updated": time.time()}
    write_atomically(folder / "progress.json", json.dumps(values).encode(), lasting=False)


def read_progress(run_id: str) -> Progress | None:
    """The progress that the worker last wrote; None if no worker executes the run."""
    try:
        return Progress(**json.loads((folder_of(run_id) / "progress.json").read_bytes()))
    except FileNotFoundError:
        return None


def clear_progress(folder: Path) -> None:
    """Delete the progress of a run that has ended."""
    (folder / "progress.json").unlink(missing_ok=True)


def log(folder: Path, line: str) -> None:
    """Append a line to ``log.txt``, with a UTC timestamp."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
    with (folder / "log.txt").open("a", encoding="utf-8") as file:
        file.write(f"{stamp} {line}\n")


def read_log(run_id: str, *, lines: int = 200) -> list[str]:
    """The last lines of ``log.txt``."""
    path = folder_of(run_id) / "log.txt"
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:] if path.exists() else []


# ---------------------------------------------------------------- questions and logits


def write_questions(folder: Path, questions: Sequence[Question], roles: Sequence[Role]) -> None:
    """Write ``questions.parquet`` in one step; ``roles`` has one entry a question."""
    table = pa.table(
        {
            "id": texts([q.id for q in questions]),
            "task": texts([q.task for q in questions]),
            "group": texts([q.group for q in questions]),
            "context": texts([q.context for q in questions]),
            "question": texts([q.question for q in questions]),
            "options": text_lists([q.options for q in questions]),
            "label": numbers(np.array([q.label for q in questions], np.int16)),
            "role": texts(roles),
        }
    )
    write_table(folder / "questions.parquet", table)


def read_questions(run_id: str, *, columns: Sequence[str] | None = None) -> pa.Table:
    """``questions.parquet``: id, task, group, context, question, options, label, role; or only some of these columns.

    The texts take much longer to read than the other columns.
    """
    return read_table(folder_of(run_id) / "questions.parquet", columns=columns)


def write_chunk(folder: Path, index: int, scored: OptionLogits) -> None:
    """Write one finished chunk of logits; writing it again replaces it."""
    tables.write_chunk(folder, index, _logits_table(scored))


def write_logits(folder: Path, scored: OptionLogits) -> None:
    """Write ``logits.parquet`` whole, for results that come all at once."""
    write_table(folder / "logits.parquet", _logits_table(scored))


def write_part(folder: Path, index: int, scored: OptionLogits) -> None:
    """Write what a try that stops has of a chunk."""
    tables.write_part(folder, index, _logits_table(scored))


def read_part(folder: Path, index: int) -> OptionLogits | None:
    """What an earlier try had of a chunk that it did not finish; None if it had nothing."""
    table = tables.read_part(folder, index)
    return None if table is None else _scored(table)


def read_logits(run_id: str) -> OptionLogits:
    """``logits.parquet`` of a run that has ended well."""
    return _scored(read_table(folder_of(run_id) / "logits.parquet"))


def _scored(table: pa.Table) -> OptionLogits:
    n = table.num_rows
    flat = table["logits"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    counts = None
    if "option_tokens" in table.column_names:
        counts = table["option_tokens"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(n, -1)
    bounded = None
    if "bounded" in table.column_names:
        flags = table["bounded"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        bounded = flags.reshape(n, -1).astype(np.bool_)
    return OptionLogits(
        ids=tuple(table["id"].to_pylist()),
        logits=flat.reshape(n, -1).astype(np.float32, copy=False),
        letter_mass=table["letter_mass"].to_numpy().astype(np.float32, copy=False),
        option_tokens=counts,
        top_tokens=tuple(table["top_token"].to_pylist()) if "top_token" in table.column_names else None,
        bounded=bounded,
    )


def write_bare(folder: Path, scores: Mapping[str, OptionLogits]) -> None:
    """Write ``bare.parquet``: each distinct option text, and what it scores on its own after which bare prompt (a name
    of :data:`core.prompting.cloze.BARE`)."""
    scored_after = [
        pa.table(
            {
                "by": texts([name] * len(scored.ids)),
                "text": texts(scored.ids),
                "log_p": numbers(scored.logits[:, 0].astype(np.float32)),
            }
        )
        for name, scored in scores.items()
    ]
    write_table(folder / BARE, *scored_after)


def read_bare(run_id: str) -> dict[str, dict[str, float]]:
    """By bare prompt, what each option text scores on its own; nothing for a run that did not ask."""
    path = folder_of(run_id) / BARE
    found: dict[str, dict[str, float]] = {}
    if path.is_file():
        table = read_table(path)
        for by, text, log_p in zip(*(table[name].to_pylist() for name in ("by", "text", "log_p")), strict=True):
            found.setdefault(by, {})[text] = log_p
    return found


def bare_prompts(run_id: str) -> list[str]:
    """The bare prompts after which the run scored its option texts, as in :func:`read_bare`."""
    path = folder_of(run_id) / BARE
    names: list[str] = read_table(path, columns=["by"])["by"].unique().to_pylist() if path.is_file() else []
    return names


def write_written(folder: Path, rows: Sequence[tuple[str, int, str, int]]) -> None:
    """Write ``written.parquet``, the answers that the model wrote: ``id``, ``repeat``, ``text``, ``answer`` (-1 if
    none was found in the text)."""
    columns = zip(("id", "repeat", "text", "answer"), zip(*rows, strict=True), strict=True)
    write_table(folder / "written.parquet", pa.table({name: list(values) for name, values in columns}))


def read_written(run_id: str) -> pa.Table | None:
    """The answers that the model wrote; None for a run without written answers."""
    path = folder_of(run_id) / "written.parquet"
    return read_table(path) if path.is_file() else None


def _logits_table(scored: OptionLogits) -> pa.Table:
    columns = {
        "id": texts(scored.ids),
        "logits": number_rows(scored.logits.astype(np.float32)),
        "letter_mass": numbers(scored.letter_mass.astype(np.float32)),
    }
    if scored.option_tokens is not None:
        columns["option_tokens"] = number_rows(scored.option_tokens.astype(np.int32))
    if scored.bounded is not None:
        columns["bounded"] = number_rows(scored.bounded.astype(np.int32))
    if scored.top_tokens is not None:
        columns["top_token"] = texts(scored.top_tokens)
    return pa.table(columns)
