"""The files that were dropped in this window. They are written to disk once, read once, and deleted with the window or
at the next drop."""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st

from core.errors import HedgeError, InputError
from core.exchange.dropped.apart import DropApart
from core.exchange.dropped.found import FoundRun, Header, Reading, in_shared_tasks
from core.exchange.dropped.grouping import UNKNOWN
from core.exchange.imported import ImportedRun
from core.exchange.joined_subjects import by_benchmark, joined_by_benchmark
from core.exchange.table_columns import Columns
from core.reports.imported_figures import ImportedFigures, figures, stored_as
from core.runs.spec import RunSpec
from core.storage.names import cut_name

KEPT_KEY = "dropped_files"
MEANINGS_KEY = "table_meanings"
Progress = Callable[[float, str], None]


class _Scratch:
    """A folder of its own that is deleted when nothing refers to it any more, or the server ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hedge-upload-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(slots=True)
class DroppedFiles:
    """The files of one drop, what was read from them, and the figures of the runs."""

    digest: str
    scratch: _Scratch
    drop: DropApart
    reading: Reading = field(default_factory=Reading)
    mappings: dict[Header, Columns] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    figures: dict[int, ImportedFigures | str] = field(default_factory=dict)
    stored: dict[int, str] = field(default_factory=dict)
    known_runs: list[ImportedRun] = field(default_factory=list)
    """The runs whose figures are known, so that their ``id`` stays theirs."""
    _joined: tuple[tuple[RunSpec, ...], list[FoundRun]] | None = None

    def read(self, mappings: Mapping[Header, Columns], meant: Mapping[str, str], progress: Progress) -> None:
        """Read everything that is not read yet."""
        self.mappings, self.meant = dict(mappings), dict(meant)
        self.reading = in_shared_tasks(
            self.drop.read(
                mappings=self.mappings,
                meant=self.meant,
                progress=lambda done, total, name: progress(0.8 * done / max(total, 1), name),
            )
        )
        for n, run in enumerate(self.reading.runs):
            if id(run.run) not in self.figures:
                progress(0.8 + 0.2 * n / len(self.reading.runs), run.name)
                self._compute(run)

    def joined(self, runs: Sequence[FoundRun]) -> list[FoundRun]:
        """The runs, where those of one model on subjects of one benchmark are one, with their figures.

        Raises :class:`~core.errors.InputError` where a model has two runs of one subject.
        """
        specs = tuple(found_run.run.spec for found_run in runs)
        if self._joined is None or self._joined[0] != specs:
            self._joined = specs, []
            for members in by_benchmark([found_run.run for found_run in runs]):
                names = [found_run.name for found_run in runs if any(found_run.run is member for member in members)]
                (run,) = joined_by_benchmark(members)
                name = names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
                self._joined[1].append(FoundRun(run, name))
                self._compute(self._joined[1][-1])
        return self._joined[1]

    def _compute(self, run: FoundRun) -> None:
        self.known_runs.append(run.run)
        try:
            self.figures[id(run.run)] = figures(run.run)
        except HedgeError as error:
            self.figures[id(run.run)] = str(error)
        self.stored[id(run.run)] = stored_as(run.run)


def meanings() -> dict[str, str]:
    """What a person said that dropped files have, by their names: ``questions`` or ``results``."""
    by_name: dict[str, str] = st.session_state.get(MEANINGS_KEY, {})
    return by_name


def dropped(files: Sequence[Any], mappings: Mapping[Header, Columns], progress: Progress) -> DroppedFiles:
    """What was read from the uploaded files, which is reused if they are the same as before."""
    digest = hashlib.sha256(repr([(file.name, file.size, file.file_id) for file in files]).encode()).hexdigest()[:12]
    files_of_drop: DroppedFiles | None = st.session_state.get(KEPT_KEY)
    if files_of_drop is None or files_of_drop.digest != digest:
        forget()
        scratch = _Scratch()
        paths = _written(files, scratch.path / "files")
        (scratch.path / "unpacked").mkdir()
        drop = DropApart(list(paths), scratch=scratch.path / "unpacked", name=paths.__getitem__)
        files_of_drop = DroppedFiles(digest, scratch, drop)
        files_of_drop.read(mappings, {}, progress)
    elif files_of_drop.mappings != mappings or files_of_drop.meant != meanings():
        files_of_drop.read(mappings, meanings(), progress)
    st.session_state[KEPT_KEY] = files_of_drop
    return files_of_drop


def forget() -> None:
    """Delete what was dropped before."""
    st.session_state.pop(KEPT_KEY, None)
    st.session_state.pop(MEANINGS_KEY, None)


def _written(files: Sequence[Any], folder: Path) -> dict[Path, str]:
    """The path of each file, and the name under which a person knows it. Files without a folder are put into one whose
    name says so, because tools name a run's folder after its model.
    """
    names: dict[Path, str] = {}
    for file in files:
        parts_given = [
            part for part in PurePosixPath(file.name.replace("\\", "/")).parts if part not in ("..", "/", ".")
        ]
        parts = [cut_name(part) for part in parts_given]
        place = 1
        path = folder.joinpath("1", UNKNOWN, *parts)
        while path in names:  # browsers give a dropped folder's files without the folder
            place += 1
            path = folder.joinpath(str(place), UNKNOWN, *parts)
        names[path] = "/".join(parts_given) + (f" ({place})" if place > 1 else "")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.getbuffer())
        except OSError as error:  # a full disk
            raise InputError(f"{'/'.join(parts_given)} can't be saved for reading: {error.strerror}") from error
    return names
