"""Imports an entry of the shelf: fetches its files, checks them, imports them, and recomputes published figures.

Nothing is read before every chosen file is here and has its hash, and nothing is imported unless all of it can be read:
an error or a cancellation leaves the store as it was. Downloaded files stay in the cache.
"""

import json
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core import access
from core.access import UserRole, quotas
from core.errors import InputError, UnreachableError
from core.exchange.dropped.apart import DropApart, default_limits
from core.exchange.dropped.found import FoundJury, Reading, named, refusals
from core.exchange.imported import ImportedRun, save
from core.questions import recipes
from core.records import LETTERS
from core.reports.imported_figures import stored_as
from core.shelf import cache, downloads, hub
from core.shelf.entries import Entry, ShelfFile, size_of
from core.shelf.progress import DownloadProgress
from core.shelf.recompute import ImportedResults, RecomputedFigure, recompute
from core.storage import file_lock

LOCK = "bring.lock"
MEMORY_GB = 4.0
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of an entry: runs and juries by id, those that were here before, and the published figures."""

    entry: Entry
    runs: tuple[str, ...]
    existed: tuple[str, ...]
    juries: tuple[str, ...]
    figures: tuple[RecomputedFigure, ...]
    fetched: int
    refused: tuple[tuple[str, str], ...] = ()


@access.needs(UserRole.LAUNCHER, "import results")
def bring(
    entry: Entry,
    *,
    only: str = "",
    where: Mapping[str, Collection[str]] | None = None,
    progress: DownloadProgress | None = None,
) -> Brought:
    """Import the files of ``entry`` that :meth:`Entry.chosen` gives, all of them if nothing narrows them. Raises
    :class:`InputError` with one sentence if a file can't be downloaded or read, :class:`~core.errors.RunCancelled` if a
    person cancelled; neither leaves anything half imported."""
    download = progress or DownloadProgress()
    files = entry.chosen(only, where=where)
    download.total = size_of(files)
    quotas.check_disk(size_of([file for file in files if not _is_here(file)]))
    with _alone(), tempfile.TemporaryDirectory(prefix="hedge-shelf-") as folder:
        try:
            fetched = [(file, _fetched(file, download)) for file in files]
        except UnreachableError as error:
            raise UnreachableError(f"{error}; {_here_of(files)}") from error
        download.begin(entry.title, "importing")
        laid = Path(folder) / entry.name
        scratch = Path(folder) / "unpacked"
        scratch.mkdir()
        for file, path in fetched:
            cache.laid_out(path, laid / file.path)
        results = [laid / file.path for file, _ in fetched if not file.published]
        # Files of the shelf are larger than uploads, and most of them have a known hash.
        reading = DropApart(
            results,
            scratch=scratch,
            name=lambda path: path.relative_to(laid).as_posix(),
            limits=default_limits(memory_gb=MEMORY_GB, seconds=SECONDS),
        ).read()
        runs = _runs(entry, reading, [file.path for file, _ in fetched])
        download.begin(entry.title, "recomputing")
        imported = ImportedResults(
            runs=runs,
            juries=[found_jury.jury for found_jury in reading.juries],
            files={file.path: path for file, path in fetched},
        )
        figures = recompute(entry.figures, entry.figure_options, imported)
        download.check()
        before = [stored_as(run) for run in runs]
        save(run for run, name in zip(runs, before, strict=True) if not name)
        juries = tuple(_keep(entry, found_jury) for found_jury in reading.juries)
    return Brought(
        entry=entry,
        runs=tuple(name or run.spec.run_id for run, name in zip(runs, before, strict=True)),
        existed=tuple(name for name in before if name),
        juries=juries,
        figures=figures,
        fetched=download.fetched,
        refused=tuple((name, sentence) for sentence, names in refusals(reading) for name in names),
    )


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time: two would write to the same unfinished download."""
    held = file_lock.take(cache.folder() / LOCK)
    if held is None:
        raise InputError("another download of the shelf is in progress in this HEDGE_HOME; wait for it, or cancel it")
    with held:
        yield


FETCHERS: dict[str, Callable[[ShelfFile, DownloadProgress], Path]] = {
    "git": downloads.fetch,
    "url": downloads.fetch,
    "hub": hub.fetch,
}


def _fetched(file: ShelfFile, progress: DownloadProgress) -> Path:
    progress.begin(file.path)
    return recipe_labels(file) if file.kind == "recipe" else FETCHERS[file.kind](file, progress)


RECIPE_ROWS = 10_000


def recipe_labels(file: ShelfFile) -> Path:
    """Write the answers of a task whose published options were shuffled by a seed: the texts do not matter for it. The
    right letters follow from the number of rows alone (:mod:`core.questions.recipes`), so nothing is downloaded; the
    questions' texts are then not there."""
    if file.address not in recipes.HALUEVAL:
        raise InputError(
            f"{file.path}: only {' and '.join(recipes.HALUEVAL)} have answers that a recipe gives, got {file.address!r}"
        )
    about, right, wrong = recipes.HALUEVAL[file.address]
    rows = [{about: str(i), right: f"right {i}", wrong: f"wrong {i}"} for i in range(RECIPE_ROWS)]
    questions = recipes.build(file.address, rows, place=file.path).questions
    labels = [{"id": i, "answer": LETTERS[question.label]} for i, question in enumerate(questions)]
    address = f"recipe:{file.address}:{RECIPE_ROWS}"
    part = cache.part_path(address)
    part.write_text(json.dumps({"labels": labels}), encoding="utf-8")
    return cache.keep(part, address, sha256=file.sha256, name=file.path)


def _runs(entry: Entry, reading: Reading, paths: Sequence[str]) -> list[ImportedRun]:
    """The runs under the entry's names. Raises :class:`InputError` if a file of the entry can't be read. Files inside
    its archives may be anything."""
    refused = [(name, sentence) for sentence, names in refusals(reading) for name in names]
    refused += [(name, "its columns do not say what they are") for table in reading.unmapped for name in table.names]
    own = next((table for table in refused if table[0] in paths), None)
    if own is None and not reading.runs and not reading.juries:
        own = refused[0] if refused else (entry.title, "no results were found in its files")
    if own is not None:
        raise InputError(f"{own[0]}: {own[1]}; nothing was imported")
    return [
        replace(
            run,
            spec=replace(run.spec, prompt_format=entry.prompt_format or run.spec.prompt_format),
            provenance=run.provenance | {"shelf": entry.name, "lacks": []},
        )
        for run in (
            named(found_run, model=entry.model if "model" in found_run.lacks else "") for found_run in reading.runs
        )
    ]


def _keep(entry: Entry, found_jury: FoundJury) -> str:
    from core.jury.pipeline import jury_store

    name = f"{entry.title}: {found_jury.jury.name or ', '.join(found_jury.jury.judgements.jurors)}"[:60]
    return jury_store.save(
        found_jury.jury.judgements, name=name, origin=f"from the shelf: {entry.title}", notes=found_jury.jury.notes
    )


def _here_of(files: Sequence[ShelfFile]) -> str:
    """How much of what was asked for needs no network."""
    count = here(files)
    if not count:
        return "none of its files is here yet"
    return f"{count} of its {len(files)} files {'is' if count == 1 else 'are'} here already and can be imported alone"


def here(files: Sequence[ShelfFile]) -> int:
    """How many of these files are in the cache, so that they need no network."""
    return sum(map(_is_here, files))


def _is_here(file: ShelfFile) -> bool:
    place = f"hub:{file.address}/{file.path}" if file.kind == "hub" else file.address
    return file.kind == "recipe" or cache.is_here(place, file.sha256)
