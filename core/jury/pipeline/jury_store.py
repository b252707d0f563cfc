"""Juries on disk: a folder each, ``HEDGE_HOME/juries/<id>/``, with ``jury.json`` and ``judgements.parquet``.

``judgements.parquet`` is the tidy table (:data:`core.jury.judgements.COLUMNS`); ``jury.json`` has the jury's name,
where it comes from, when, and the table's digest. Those that ship with Hedge lie in ``assets/juries``.
"""

import hashlib
import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from core import access
from core.access import UserRole, quotas
from core.errors import InputError
from core.jury.judgements import Judgements, from_table
from core.models.model_fingerprint import short
from core.models.replaced_weights import NOT_RECORDED
from core.settings import ASSETS, settings
from core.storage.kinds import check_kinds
from core.storage.sealed import DamagedError, check_files, damage, digests_of, read_json, write_json
from core.storage.tables import DamagedTableError, read_table, write_table

SCHEMA_VERSION = 2
"""2: with digests, which an older Hedge can't read; it says so in a sentence."""
RECORD = "jury.json"
TABLE = "judgements.parquet"
MADE_HERE = "made with Hedge"
"""The origin of a jury that Hedge made, which no import has."""


@dataclass(frozen=True, slots=True)
class JuryRecord:
    """``jury.json``: ``origin`` says what made it, ``notes`` what a person should know of that, a sentence each.
    ``weights`` are the fingerprints of its models by their names, as far as they were recorded."""

    jury_id: str
    name: str
    origin: str
    jurors: tuple[str, ...]
    answers: int
    created: float
    notes: tuple[str, ...] = ()
    launched_by: str = ""
    """The person who imported it or had it made; empty for the person at this machine."""
    weights: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The digest of its table by the file's name; empty in older versions."""

    def __post_init__(self) -> None:
        check_kinds(self)

    @property
    def weights_note(self) -> str:
        """The weights of its models in a sentence; empty for a jury that was imported or ships with Hedge."""
        if not self.weights:
            return f"{NOT_RECORDED.capitalize()}." if self.origin == MADE_HERE and not ships(self.jury_id) else ""
        return f"Weights: {', '.join(f'{name} {short(digest)}' for name, digest in self.weights.items())}."

    @property
    def sentences(self) -> tuple[str, ...]:
        """Its notes, and its weights in a sentence."""
        return tuple(filter(None, (*self.notes, self.weights_note)))


def folders() -> tuple[Path, ...]:
    """The folders of juries: the person's own, then those that ship with Hedge."""
    return settings().home / "juries", ASSETS / "juries"


def ships(jury_id: str) -> bool:
    """Whether a jury ships with Hedge. Raises :class:`InputError` if there is none."""
    return folder_of(jury_id).parent == folders()[1]


def _way_out(folder: Path) -> str:
    return "install Hedge again" if folder.parent == folders()[1] else "import the jury or make it again"


def jury_ids() -> list[str]:
    """All juries, sorted by id."""
    names: set[str] = set()
    for parent in folders():
        if parent.is_dir():
            names |= {path.name for path in parent.iterdir() if _is_jury(path)}
    return sorted(names)


def _is_jury(folder: Path) -> bool:
    """Whether a folder holds a jury, also one that has lost a file."""
    return not folder.name.startswith(".") and any((folder / name).is_file() for name in (RECORD, TABLE))


def folder_of(jury_id: str) -> Path:
    """The folder of a jury, by its id or a unique beginning of it. Raises :class:`InputError` if there is none."""
    if not jury_id or "/" in jury_id or "\\" in jury_id or jury_id.startswith("."):
        raise InputError(f"{jury_id!r} is not a jury; `hedge jury list` lists all juries")
    matching = [name for name in jury_ids() if name.startswith(jury_id)]
    exact = [name for name in matching if name == jury_id] or matching
    if len(exact) != 1:
        what = f"begins {len(matching)} juries' names; give more of it" if matching else "is not a jury"
        raise InputError(f"{jury_id!r} {what}; `hedge jury list` lists all juries")
    return next(parent / exact[0] for parent in folders() if _is_jury(parent / exact[0]))


@access.needs(UserRole.LAUNCHER, "import juries")
def save(
    judgements: Judgements,
    *,
    name: str,
    origin: str,
    notes: Sequence[str] = (),
    weights: Mapping[str, str] | None = None,
) -> str:
    """Write a jury, whole or not at all, and return its id; the same judgements and name are written once."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "jury"
    table = judgements.table()
    # Who made it belongs to its identity, so that no import takes the place of a jury that Hedge makes.
    content = json.dumps([origin == MADE_HERE, name, list(judgements.jurors), table.to_csv(index=False)])
    jury_id = f"{slug}-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    parent = folders()[0]
    quotas.check_disk()
    if (parent / jury_id / RECORD).is_file():
        with suppress(InputError):  # a damaged one is written again
            read(jury_id)
            return jury_id
    part = parent / f".{jury_id}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    write_table(part / TABLE, pa.Table.from_pandas(table, preserve_index=False))
    record = JuryRecord(jury_id, name, origin, judgements.jurors, len(judgements), time.time(), tuple(notes))
    values = {"schema_version": SCHEMA_VERSION, **asdict(record)}
    del values["launched_by"]
    values["weights"] = {model: digest for model, digest in (weights or {}).items() if digest}
    values |= access.launched() | {"files": digests_of([part / TABLE])}
    write_json(part / RECORD, values, indent=1)
    shutil.rmtree(parent / jury_id, ignore_errors=True)
    part.rename(parent / jury_id)
    return jury_id


def read_record(jury_id: str) -> JuryRecord:
    """A jury's record. Raises :class:`InputError` if there is none, it is damaged, or a newer Hedge wrote it."""
    path = folder_of(jury_id) / RECORD
    try:
        values = read_json(path)
        if values["jury_id"] != path.parent.name:
            raise DamagedError(f"it is of the jury {str(values['jury_id'])[:80]!r}")
        version = values.pop("schema_version")
        if version > SCHEMA_VERSION:
            raise InputError(f"{path} was written by a newer Hedge (schema {version}); update this one")
        values |= {"jurors": tuple(values["jurors"]), "notes": tuple(values["notes"])}
        return JuryRecord(**values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} can't be read ({damage(error)}); {_way_out(path.parent)}") from error


def checked_record(jury_id: str) -> JuryRecord:
    """A jury's record. Raises :class:`InputError` if the record or the table is missing or damaged."""
    record = read_record(jury_id)
    folder = folder_of(record.jury_id)
    try:
        check_files(folder, record.files)
    except DamagedError as error:
        raise InputError(f"{folder} is damaged ({error}); {_way_out(folder)}") from error
    return record


def read(jury_id: str) -> Judgements:
    """A jury's judgements. Raises :class:`InputError` if they can't be read."""
    path = folder_of(jury_id) / TABLE
    checked_record(path.parent.name)
    try:
        return from_table(read_table(path).to_pandas(), where=str(path))
    except DamagedTableError as error:
        raise InputError(f"{path} is damaged ({error.reason}); {_way_out(path.parent)}") from error
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:  # of a table without a digest
        raise InputError(f"{path} is damaged ({damage(error)}); {_way_out(path.parent)}") from error


@access.needs(UserRole.LAUNCHER, "delete juries")
def delete(jury_id: str) -> None:
    """Delete a jury of the person's own; :class:`InputError` for one that ships with Hedge."""
    folder = folder_of(jury_id)
    if ships(folder.name):
        raise InputError(f"jury {folder.name!r} ships with Hedge and can't be deleted")
    try:
        owner = read_record(folder.name).launched_by
    except InputError:  # damaged, so nobody knows who imported it
        owner = ""
    access.check_owner(owner, "delete this jury", subject=folder.name)
    shutil.rmtree(folder)
