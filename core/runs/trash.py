"""The bin, from which a deleted run can be restored for a week, and the disk space that runs take.

A deleted run's folder is moved as a whole to ``HEDGE_HOME/bin/<run id>@<seconds since the epoch>``. Nothing else
changes, so restoring it means moving it back.
"""

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core import access
from core.access import UserRole
from core.errors import HedgeError, InputError
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import settings
from core.storage.disk import disk_use
from core.storage.json_text import loads
from core.storage.kept_files import kept_of
from core.storage.sealed import content_of

KEEP_S = 7 * 24 * 3600.0
"""How long the agent leaves a deleted run in the bin."""


@dataclass(frozen=True, slots=True)
class TrashedRun:
    """A deleted run, with the time of its deletion (seconds since the epoch) and the bytes that it takes."""

    run_id: str
    deleted: float
    folder: Path

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return disk_use(self.folder)

    @property
    def record(self) -> RunRecord | None:
        """The run's record; None if it is damaged."""
        try:
            values = loads(content_of(self.folder / "run.json"))
            spec, provenance = RunSpec.from_json(values["spec"]), dict(values["provenance"])
            return RunRecord(spec, values["state"], values["created"], provenance=provenance)
        except (HedgeError, OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    @property
    def launched_by(self) -> str:
        """The name of the person who launched the run; empty for a person at this machine or a damaged record."""
        try:
            return str(loads(content_of(self.folder / "run.json"))["provenance"].get("launched_by", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return ""


def binned() -> list[TrashedRun]:
    """The runs in the bin, the latest first."""
    runs = []
    for folder in (settings().home / "bin").glob("*@*"):
        run_id, _, stamp = folder.name.rpartition("@")
        if run_id and stamp.isdecimal():
            runs.append(TrashedRun(run_id, int(stamp) / 1000, folder))
    return sorted(runs, key=lambda each: -each.deleted)


def put_in_bin(folder: Path) -> TrashedRun:
    """Move a run's folder to the bin. The caller makes sure that no process executes the run."""
    deleted = time.time()
    target = settings().home / "bin" / f"{folder.name}@{int(deleted * 1000)}"
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(target)
    return TrashedRun(folder.name, deleted, target)


@access.needs(UserRole.LAUNCHER, "restore runs")
def restore(run_id: str) -> str:
    """Restore a deleted run, the last one if several were deleted with this id; a unique beginning of its id is enough.
    Returns its id. Raises :class:`~core.errors.InputError` if it is not in the bin, or if a new run has this id.
    """
    known = binned()
    names = {each.run_id for each in known if each.run_id.startswith(run_id)} if run_id else set()
    name = run_id if run_id in names else next(iter(names), "")
    if len(names) > 1 and run_id not in names:
        raise InputError(f"{run_id!r} begins {len(names)} ids of deleted runs; give more of it")
    if not name:
        raise InputError(f"there is no deleted run {run_id!r}; `hedge bin` lists them")
    newest = next(each for each in known if each.run_id == name)
    access.check_owner(newest.launched_by, "restore this run", subject=name)
    target = settings().runs / name
    if target.exists():
        raise InputError(f"run {name} was made again since it was deleted; delete that one first")
    target.parent.mkdir(parents=True, exist_ok=True)
    newest.folder.rename(target)
    return name


@access.needs(UserRole.ADMINISTRATOR, "empty the bin")
def empty_bin(*, older_than_s: float = 0.0) -> list[str]:
    """Delete for good what was put into the bin longer ago than this; returns the run ids."""
    old = [each for each in binned() if time.time() - each.deleted >= older_than_s]
    for each in old:
        shutil.rmtree(each.folder, ignore_errors=True)
        for path in kept_of(each.run_id):
            with suppress(OSError):
                path.unlink()
    return [each.run_id for each in old]
