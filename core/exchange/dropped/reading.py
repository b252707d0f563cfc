"""Reads dropped files, those that belong together as one: into runs, a jury, a hint to another page, or a refusal.

Pages and commands use :class:`~core.exchange.dropped.apart.DropApart`, which does this in a process with limits.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from core.errors import HedgeError, Undecided, UndecidedCounts
from core.exchange import below_chance, lm_eval, run_folder
from core.exchange.dropped.files import DroppedFile, Gathered, Refusal, gather
from core.exchange.dropped.found import FoundJury, FoundRun, Header, Reading
from core.exchange.dropped.grouping import DroppedGroup, Sorted, grouped
from core.exchange.dropped.kinds import KINDS, MEANT, UNCLEAR
from core.exchange.dropped.recognition import kind_of
from core.exchange.imported import ImportedRun
from core.exchange.juries import ReadJury
from core.exchange.lm_eval_results import date_of
from core.exchange.table_columns import Columns
from core.questions.rows import no_collection

LOG = logging.getLogger(__name__)
Progress = Callable[[int, int, str], None]
"""Called with how many steps are done, how many there are, and the name of the next file."""
Kinds = dict[Path, str | Refusal]
Result = list[ImportedRun] | ReadJury | Refusal


def gathered_once(
    paths: Sequence[Path],
    *,
    scratch: Path,
    name: Callable[[Path], str] = str,
    at: Callable[[Path, str], None] = lambda path, name: None,
) -> Gathered:
    """The files of a drop (:func:`~.files.gather`), each content once under each name."""
    gathered = gather(paths, scratch=scratch, name=name, at=at)
    runs = {file.path.parent for file in gathered.files if file.path.name == run_folder.RECORD}
    runs &= {file.path.parent for file in gathered.files if file.path.name == run_folder.LOGITS}
    beside = [file for file in gathered.files if file.path.parent in runs and file.path.name in run_folder.BESIDE]
    files, twice = _without_copies([file for file in gathered.files if file not in beside])
    return Gathered(tuple(files), (*gathered.refused, *twice))


def find_kind(file: DroppedFile, files: Iterable[DroppedFile]) -> str | Refusal:
    """The kind of a file (:data:`~.kinds.KINDS`), or why it has none."""
    try:
        with no_collection():
            return kind_of(file.path)
    except HedgeError as error:
        return refusal(file.name, error, files)
    except MemoryError:
        raise
    except Exception:
        return _odd(file.name, "results")


def with_meaning(files: Iterable[DroppedFile], kinds: Kinds, meant: Mapping[str, str]) -> Kinds:
    """The kinds, with what a person said of tables by their files' names, or of all by the name "": ``questions`` or
    ``results``."""
    tables = {UNCLEAR, *MEANT.values()}
    meanings = {
        file.path: MEANT[word]
        for file in files
        if kinds.get(file.path) in tables and (word := meant.get(file.name, meant.get("", "")))
    }
    return {**kinds, **meanings}


def sorted_files(
    files: Sequence[DroppedFile],
    kinds: Kinds,
    mappings: Mapping[Header, Columns],
    *,
    at: Callable[[DroppedFile], None] = lambda file: None,
) -> Sorted:
    """The files of known kinds in groups, and the refusals of the others."""
    opened: list[DroppedFile] = []

    def opens(file: DroppedFile) -> None:
        opened.append(file)
        at(file)

    try:
        done = grouped(
            {file: kind for file in files if isinstance(kind := kinds[file.path], str)},
            mappings,
            refusal=lambda name, error: refusal(name, error, files),
            at=opens,
        )
    except MemoryError:
        raise
    except Exception:
        if not opened:
            raise
        odd = opened[-1]
        kind = kinds[odd.path]
        title = KINDS[kind].title if isinstance(kind, str) else ""
        return sorted_files(files, kinds | {odd.path: _odd(odd.name, title)}, mappings, at=at)
    done.refused[:0] = [kind for file in files if isinstance(kind := kinds[file.path], Refusal)]
    return done


def group_step(n: int, groups: Sequence[object], files: Sequence[object]) -> int:
    """How many of a drop's steps are done before group ``n``: finding the kinds is the first half of them."""
    return len(files) + n * len(files) // max(len(groups), 1)


def read_group(group: DroppedGroup, files: Iterable[DroppedFile]) -> Result:
    """What a group holds, or why it can't be read."""
    try:
        with no_collection():
            parsed = group.read()
        return parsed if isinstance(parsed, ReadJury) else [below_chance.noted(run) for run in parsed]
    except HedgeError as error:
        return refusal(group.names[0], error, files)
    except MemoryError:
        raise
    except Exception:
        return _odd(group.names[0], group.title)


def _odd(name: str, title: str) -> Refusal:
    """The refusal of a file whose values no reader of its format understands."""
    LOG.info("%s can't be read", name, exc_info=True)
    return Refusal(name, f"expected {title}, found another form; it may be damaged or of another version")


def assembled(done: Sorted, read: Mapping[str, Result], *, refused: Sequence[Refusal]) -> Reading:
    """What was found, in the order of the groups; ``refused`` before there were any comes first."""
    refusals = [*refused, *done.refused]
    runs: list[FoundRun] = []
    juries: list[FoundJury] = []
    for group in done.groups:
        parsed = read[group.key]
        if isinstance(parsed, Refusal):
            refusals.append(parsed)
        elif isinstance(parsed, ReadJury):
            juries.append(FoundJury(parsed, group.names))
        else:
            runs += [FoundRun(run, group.names[0]) for run in parsed]
    runs, earlier = _newest(runs)
    refusals += earlier
    return Reading(tuple(runs), tuple(juries), tuple(done.elsewhere), tuple(refusals), tuple(done.tables))


def _newest(runs: Sequence[FoundRun]) -> tuple[list[FoundRun], list[Refusal]]:
    """The runs, where of several evaluations of one task in a model's folder the newest counts, by lm-eval's dates."""
    dated: dict[tuple[object, ...], list[tuple[str, FoundRun]]] = {}
    for found_run in runs:
        date = date_of(Path(found_run.name))
        if date and found_run.run.spec.origin == lm_eval.ORIGIN and not found_run.lacks:
            ids = frozenset(question.id for question in found_run.run.questions)
            key = (replace(found_run.run.spec, fingerprint=""), Path(found_run.name).parent, ids)
            dated.setdefault(key, []).append((date, found_run))
    earlier: dict[str, Refusal] = {}
    for several in dated.values():
        newest = max(several, key=lambda pair: pair[0])[1]
        for _, found_run in several:
            if found_run is not newest:
                sentence = f"it is an earlier evaluation of the same task than {Path(newest.name).name}, which counts"
                earlier[found_run.name] = Refusal(found_run.name, f"{sentence}; import it by itself to have both")
    return [found_run for found_run in runs if found_run.name not in earlier], list(earlier.values())


def refusal(name: str, error: HedgeError, files: Iterable[DroppedFile]) -> Refusal:
    """The error with every file under the name that a person knows, and without the name at its beginning. Raises
    :class:`MemoryError` where that is the cause, whatever the reader took it for (pyarrow's is an ArrowException too):
    the process has reached its limit."""
    if isinstance(error.__cause__, MemoryError):
        raise MemoryError from error
    text = " ".join(filter(None, map(str.strip, str(error).split("\n"))))
    for file in sorted(files, key=lambda file: -len(str(file.path))):
        text = text.replace(str(file.path), file.name)
    text = re.sub(rf"^{re.escape(name)}(: |, )", "", text)
    for folder in sorted({file.path.parent for file in files}, key=lambda folder: -len(str(folder))):
        text = text.replace(f"{folder}/", "").replace(str(folder), "this folder")
    text = re.sub(rf"^{re.escape(name)} (?=is |has |can't )", "it ", text)
    doubt: Literal["", "start", "counts"] = "start" if isinstance(error, Undecided) else ""
    return Refusal(name, text, "counts" if isinstance(error, UndecidedCounts) else doubt)


def _without_copies(files: Sequence[DroppedFile]) -> tuple[list[DroppedFile], list[Refusal]]:
    """The files, each content once under each name; and those that are there again."""
    by_size: dict[tuple[str, int], list[tuple[DroppedFile, bytes]]] = {}
    once, again = [], []
    for file in files:
        size = file.path.stat().st_size
        same = by_size.setdefault((file.path.suffix, size), [])
        digest = _digest(file.path) if same else b""
        first = next((earlier for earlier, other in same if digest == (other or _digest(earlier.path))), None)
        if first is not None and size > 0 and file.path.name == first.path.name:
            again.append(Refusal(file.name, f"it is the same as {first.name}, which counts once"))
        else:
            once.append(file)
            same.append((file, digest))
    return once, again


def _digest(path: Path) -> bytes:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
