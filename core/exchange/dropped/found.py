"""What is found in dropped files: runs, juries, files for other pages, refusals, and tables with their headers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.exchange.dropped.files import DroppedFile, Refusal
from core.exchange.dropped.kinds import KINDS, UNCLEAR
from core.exchange.imported import ImportedRun, renamed
from core.exchange.juries import ReadJury
from core.exchange.shared_tasks import with_shared_tasks, with_stored_tasks
from core.exchange.table_columns import Columns
from core.tables.tabular import Sheet

Header = tuple[str, ...]
"""The names of a table's columns, which tables of the same kind share."""
ALL_TABLES: Header = ()
"""The header under which a person says something of all tables and arrays."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that was read, the name of its file, and which of model and task it does not say."""

    run: ImportedRun
    name: str

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the file does not say; it has a stand-in in the run's spec."""
        return tuple(self.run.provenance.get("lacks", ()))


@dataclass(frozen=True, slots=True)
class FoundJury:
    """A jury that was read, and the names of its files."""

    jury: ReadJury
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that becomes no run, its kind, which says where it goes (:data:`~.kinds.KINDS`), and how it is read.

    ``undecided``: a person has to say whether the numbers of its right options count from 0 or from 1.
    """

    file: DroppedFile
    kind: str
    read_as: str = ""
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class TableHeader:
    """Tables with the same columns: their names, which column is what (None: a person has to say), their first rows,
    and what is seen of the columns in any case."""

    header: Header
    names: tuple[str, ...]
    columns: Columns | None
    first: Sheet
    seen: Columns


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that was found in a drop."""

    runs: tuple[FoundRun, ...] = ()
    juries: tuple[FoundJury, ...] = ()
    elsewhere: tuple[FoundFile, ...] = ()
    refused: tuple[Refusal, ...] = ()
    tables: tuple[TableHeader, ...] = ()

    @property
    def unmapped(self) -> tuple[TableHeader, ...]:
        """Tables whose columns a person has to name."""
        return tuple(table for table in self.tables if table.columns is None)


def named(found_run: FoundRun, *, model: str = "", task: str = "") -> ImportedRun:
    """The run under another model's or task's name; an empty one leaves it as it is. Raises :class:`InputError` for a
    name that a run can't have."""
    return renamed(found_run.run, model=model, task=task)


def in_shared_tasks(reading: Reading) -> Reading:
    """The same, where runs with the same questions are in one task (:mod:`core.exchange.shared_tasks`)."""
    runs = with_stored_tasks(with_shared_tasks([found_run.run for found_run in reading.runs]))
    return replace(
        reading, runs=tuple(FoundRun(run, found_run.name) for run, found_run in zip(runs, reading.runs, strict=True))
    )


def refusals(reading: Reading, *, unclear: bool = True) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason why files become nothing, with the names of those files. Without ``unclear``, files that a person is
    asked about are left out."""
    names_by_sentence: dict[str, list[str]] = {}
    for refusal in reading.refused:
        if refusal.undecided and not unclear:
            continue
        names_by_sentence.setdefault(refusal.sentence, []).append(refusal.name)
    for bank_or_other in reading.elsewhere:
        if not KINDS[bank_or_other.kind].place and (bank_or_other.kind != UNCLEAR or unclear):
            names_by_sentence.setdefault(KINDS[bank_or_other.kind].sentence, []).append(bank_or_other.file.name)
    for sentence, names in names_by_sentence.items():
        yield sentence, tuple(names)
