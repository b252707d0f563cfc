"""Cached run data that every page reads: the list of all runs, one run's record, its arrays, its size on disk."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import streamlit as st

from app.caches.per_run import PerRun
from app.caches.per_run import RunKey as RunKey
from core import access
from core.access import UserRole
from core.errors import HedgeError, InputError, UnreadableRunError
from core.reports import evaluation as evaluations
from core.reports import kept_calibration
from core.reports.evaluation import Evaluation
from core.runs import store
from core.runs.caveats import Caveats, of_run_record
from core.runs.store import ENDED, RunRecord
from core.storage import disk

EVERY_RUN = 1024
"""Enough entries for things that runs share, such as their sets of questions or their prompts."""


ASK = "ask the administrator of this server to repair it"


@dataclass(frozen=True, slots=True)
class UnreadableRun:
    """A run that can't be read: what is wrong and the way out, as in :class:`~core.errors.UnreadableRunError`.

    ``owner`` is the name of the person who launched it; empty if that can't be read either.
    """

    run_id: str
    reason: str
    way_out: str
    deletable: bool
    owner: str

    @property
    def may_delete(self) -> bool:
        """Whether the way out is to delete the run, and the person may do it."""
        return self.deletable and access.owns(self.owner)

    def __str__(self) -> str:
        mine = self.may_delete or (not self.deletable and access.may(UserRole.LAUNCHER))
        return f"Run {self.run_id} {self.reason}; {self.way_out if mine else ASK}."


@dataclass(frozen=True)
class Runs:
    """All runs, the latest first, and those that can't be read."""

    records: tuple[RunRecord, ...]
    problems: tuple[UnreadableRun, ...]

    @cached_property
    def finished(self) -> tuple[RunRecord, ...]:
        """The runs that ended successfully and answered questions, and therefore have figures."""
        return tuple(record for record in self.answered if not record.bounded)

    @cached_property
    def ranges(self) -> tuple[RunRecord, ...]:
        """The runs in which only upper bounds of some letters are known. Their figures are ranges."""
        return tuple(record for record in self.answered if record.bounded)

    @cached_property
    def answered(self) -> tuple[RunRecord, ...]:
        """The :attr:`finished` runs, and those whose figures are :attr:`ranges`."""
        return tuple(record for record in self._asked if not record.has_no_answer)

    @cached_property
    def without_answer(self) -> tuple[RunRecord, ...]:
        """The runs that ended, but whose letters have so little probability that there are no figures."""
        return tuple(record for record in self._asked if record.has_no_answer)

    @cached_property
    def _asked(self) -> tuple[RunRecord, ...]:
        return tuple(record for record in self.records if record.state == "done" and record.spec.answers)

    @cached_property
    def unfinished(self) -> tuple[RunRecord, ...]:
        """The runs that are not done: they wait, are running, or have ended badly."""
        return tuple(record for record in self.records if record.state != "done")

    @cached_property
    def under_way(self) -> tuple[RunRecord, ...]:
        """The runs that are waiting or running."""
        return tuple(record for record in self.records if record.state not in ENDED)


@dataclass(frozen=True, slots=True)
class _LastRuns:
    """The list of the last call, and when each ``run.json`` of these folders had been written by then."""

    folders: tuple[Path, ...]
    stamps: dict[str, int]
    runs: Runs


_last_runs: list[_LastRuns] = []
"""At most one. A list that is exchanged whole, because several threads ask."""


def run_key(run_id: str) -> RunKey:
    """The current version of a run. Raises :class:`InputError` if there is no such run."""
    path = store.folder_of(run_id) / "run.json"
    try:
        return RunKey(path.parent.name, path.stat().st_mtime_ns)
    except OSError as error:
        store.read_record(run_id)  # says what is wrong with a run that is still there
        raise InputError(f"run {run_id!r} no longer exists; choose another one") from error


def runs() -> Runs:
    """All runs. The list of the last call is returned again if no run has come, gone or changed since."""
    stamps = store.run_stamps()
    folders = store.runs_folders()
    for last in _last_runs:
        # A run that could not be read may be readable now, and its file the same.
        if last.folders == folders and last.stamps == stamps and not last.runs.problems:
            return last.runs
    current = _read_runs(stamps)
    for last in _last_runs:
        if last.runs == current:
            current = last.runs
    _last_runs[:] = [_LastRuns(folders, stamps, current)]
    return current


def _read_runs(stamps: Mapping[str, int]) -> Runs:
    records, problems = [], []
    for run_id in set(_aside) - set(stamps):
        _aside.pop(run_id, None)
    for run_id, stamp in stamps.items():
        seen, unreadable = _aside.get(run_id, ((), None))
        if unreadable is None or seen != _look(run_id):
            try:
                records.append(_record(RunKey(run_id, stamp)))
                _aside.pop(run_id, None)
                continue
            except UnreadableRunError as error:
                unreadable = _set_aside(error)
            except HedgeError:  # deleted meanwhile
                continue
        problems.append(unreadable)
    records.sort(key=lambda record: (record.ended or record.created, record.run_id), reverse=True)
    return Runs(tuple(records), tuple(problems))


_aside: dict[str, tuple[tuple[object, ...], UnreadableRun]] = {}
"""The runs that could not be read, and how their files looked then."""


def set_aside(error: UnreadableRunError) -> bool:
    """From now on list a run as unreadable, until one of its files changes, because a page has failed to read it.

    Returns False if it is listed so already, and for a run that is gone.
    """
    known = _aside.get(error.run_id)
    if not error.run_id or (known and known[0] == _look(error.run_id)):
        return False
    _set_aside(error)
    _last_runs.clear()
    return True


_times: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
"""The files of each run that could be read, and when they had been written then."""


_next_look = [0.0]
"""When the files are looked at again, at the earliest."""


def look_again() -> None:
    """Read the runs again whose files have changed since they were checked. Each page does so once when it runs.

    Looking at the files of very many runs takes a while, so at most a tenth of the time is spent on it.
    """
    begun = time.monotonic()
    if begun < _next_look[0]:
        return
    for record in runs().records:
        paths, times = _times.get(record.run_id, ((), ()))
        if times != _times_of(paths):
            try:
                _check(record)
            except UnreadableRunError as error:
                set_aside(error)
    ended = time.monotonic()
    _next_look[0] = ended + 9 * (ended - begun)


def _check(record: RunRecord) -> None:
    """Raise :class:`UnreadableRunError` if a run's files are missing or damaged. Of large ones it is noticed when their
    figures are read."""
    paths = store.check_files(record, whole=False)
    _times[record.run_id] = (paths, _times_of(paths))


def _times_of(paths: tuple[str, ...]) -> tuple[int, ...]:
    try:
        return tuple([os.stat(path).st_mtime_ns for path in paths])
    except OSError:
        return (0,)


def _set_aside(error: UnreadableRunError) -> UnreadableRun:
    owner = ""
    with suppress(InputError):
        owner = store.read_record(error.run_id).launched_by
    unreadable = UnreadableRun(error.run_id, error.reason, error.way_out, error.deletable, owner)
    _aside[error.run_id] = (_look(error.run_id), unreadable)
    return unreadable


def _look(run_id: str) -> tuple[object, ...]:
    """How a run's files look: the name, the size and the time of change of each."""
    try:
        paths = {*store.folder_of(run_id).iterdir(), store.questions_path(run_id)}
        looks = {str(path): path.lstat() for path in paths if os.path.lexists(path)}
        return tuple(sorted((path, about.st_size, about.st_mtime_ns) for path, about in looks.items()))
    except (OSError, HedgeError) as error:
        return (type(error).__name__,)


def record(run_id: str) -> RunRecord:
    """The record of one run. Raises :class:`InputError` if there is no such run."""
    return _record(run_key(run_id))


def evaluation(run_id: str) -> Evaluation:
    """A finished run's arrays, read-only. Raises :class:`InputError` for any other run."""
    return load_evaluation(run_key(run_id))


def compared_evaluation(run_id: str) -> Evaluation:
    """A compared run's arrays, read-only. Raises :class:`InputError` for a run that has not ended successfully."""
    return load_compared(run_key(run_id))


def caveats(run_id: str) -> Caveats:
    """What a reader of a finished run's figures must know. Raises :class:`InputError` for any other run."""
    return _caveats(run_key(run_id))


def disk_use(run_id: str) -> int:
    """The size of a run's folder in bytes."""
    return _disk_use(run_key(run_id))


def version(run_id: str) -> str:
    """A name for the current version of the run. It changes when the run is repeated."""
    key = run_key(run_id)
    return f"{key.run_id}:{key.stamp}"


# 1.2 kB per entry: 20 MB when full. Every page looks up all runs several times each time it runs, and Streamlit's cache
# takes longer to look one up than all the rest.
def _read_whole(key: RunKey) -> RunRecord:
    record = store.read_record(key.run_id)
    _check(record)
    return record


_record = PerRun(_read_whole, most=16_384)


# 0.3 MB per entry, at most 0.5 MB: 10 MB in all. A view needs one run, or the two or three of a shift.
@st.cache_resource(max_entries=32, show_spinner="Reading the run …")
def load_evaluation(key: RunKey) -> Evaluation:
    """The arrays of one version of a finished run."""
    return evaluations.load(key.run_id)


# The arrays of one version of a finished run, for pages that show several runs. 0.3 MB per entry, at most 0.5 MB: 21 MB
# in all. A view needs at most the 24 compared runs. Separate from load_evaluation, so that a comparison does not evict
# the run that a person is looking at; and a PerRun, which can be asked in the background too.
load_compared = PerRun(lambda key: evaluations.load(key.run_id), most=64)


def _read_caveats(key: RunKey) -> Caveats:
    record = _record(key)
    if record.has_no_answer:
        return of_run_record(record)
    return kept_calibration.caveats(key.run_id, with_bounds=bool(record.bounded))


_caveats = PerRun(_read_caveats, most=4096)  # some sentences per entry, mostly none


# One number per entry, for the same runs as _record.
_disk_use = PerRun(lambda key: disk.disk_use(store.folder_of(key.run_id)), most=16_384)
