"""Which dropped files are read together, and by which reader."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from core.errors import HedgeError, InputError, Undecided
from core.exchange import (
    array_sides,
    column_mappings,
    decision_index,
    judged_pairs,
    juries,
    llm_uncertainty_bench,
    lm_eval,
    lm_eval_results,
    run_folder,
    score_arrays,
    table,
)
from core.exchange.dropped import marks
from core.exchange.dropped.files import DroppedFile, Refusal
from core.exchange.dropped.found import ALL_TABLES, FoundFile, Header, TableHeader
from core.exchange.dropped.kind import SheetView
from core.exchange.dropped.kinds import KINDS
from core.exchange.imported import ImportedRun
from core.exchange.juries import ReadJury
from core.exchange.picks import tallied
from core.exchange.table_columns import Columns, can_be_mapped, recognise, resolved, suggested
from core.tables.field_names import SPLIT_NAMES
from core.tables.list_columns import widened
from core.tables.safe_read import json_list
from core.tables.tabular import Sheet, open_sheets

UNKNOWN = "unknown"
"""The folder of files that come without one; tools name their folders after models."""
At = Callable[[DroppedFile], None]
Together = TypeVar("Together", bound=tuple[DroppedFile, ...])
KEPT_ROWS = 1_000
"""Rows of a table that are kept once it is read."""


@dataclass(frozen=True, slots=True)
class DroppedGroup:
    """Files that are read together, and the function that does."""

    names: tuple[str, ...]
    read: Callable[[], list[ImportedRun] | ReadJury]
    key: str
    """Tells groups apart: their paths, and what a person said about their columns."""
    paths: tuple[Path, ...] = ()
    title: str = "results"
    """What the files are, in words."""


@dataclass(slots=True)
class Sorted:
    """The groups of a drop, and what needs no more reading."""

    groups: list[DroppedGroup] = field(default_factory=list)
    elsewhere: list[FoundFile] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    tables: list[TableHeader] = field(default_factory=list)


def grouped(
    kinds: Mapping[DroppedFile, str],
    mappings: Mapping[Header, Columns],
    *,
    refusal: Callable[[str, HedgeError], Refusal],
    at: Callable[[DroppedFile], None] = lambda file: None,
) -> Sorted:
    """The files by how they are read; ``refusal`` makes one of a file's name and an error.

    ``at`` is called with each file that is opened for that, before it is.
    """
    done = Sorted()
    files_by_kind: dict[str, list[DroppedFile]] = {}
    for file, kind in kinds.items():
        files_by_kind.setdefault(kind, []).append(file)
    _model_folders(files_by_kind, done)
    _runs_of_hedge(files_by_kind, done)
    _numpy_archives(files_by_kind, mappings, done)
    _alone(files_by_kind, done)
    _harness(files_by_kind, done)
    _decision_index(files_by_kind, done)
    _benchmark(files_by_kind, done, at)
    _arrays(files_by_kind, mappings, done, at)
    _juries(files_by_kind, done, at)
    _judged_pairs(files_by_kind.pop("pairs", []), done, at)
    tables: dict[Header, list[DroppedFile]] = {}
    for file in [*files_by_kind.pop("table", []), *files_by_kind.pop("workbook", [])]:
        at(file)
        try:
            _table(file, mappings, done, tables)
        except HedgeError as error:
            done.refused.append(refusal(file.name, error))
    groups = [group for header, files in tables.items() for group in _table_groups(header, files, mappings)]
    order = {file.path: place for place, file in enumerate(kinds)}
    done.groups += sorted(groups, key=lambda group: order[group.paths[0]])
    banks = [
        *files_by_kind.pop("questions", []),
        *(recognised.file for recognised in done.elsewhere if recognised.kind == "questions"),
    ]
    done.elsewhere = [recognised for recognised in done.elsewhere if recognised.kind != "questions"]
    for file in banks:
        at(file)
        try:
            done.elsewhere.append(_bank(file))
        except HedgeError as error:
            done.refused.append(refusal(file.name, error))
    for file in files_by_kind.get("choices", []):
        at(file)
        if marks.may_ask_choices(open_sheets(file.path)[0]):
            with suppress(HedgeError):
                done.elsewhere.append(_bank(file))
    for kind, files in files_by_kind.items():
        done.elsewhere += [FoundFile(file, kind) for file in files]
    return done


def _bank(file: DroppedFile) -> FoundFile:
    """A question bank that a run can ask. Raises :class:`InputError` for one that no task reads."""
    from core.exchange.dropped.question_files import read_as  # reads in a process that imports this module

    try:
        return FoundFile(file, "questions", read_as(file.path, file.name)[1])
    except Undecided:
        return FoundFile(file, "questions", undecided=True)


def _model_folders(files_by_kind: dict[str, list[DroppedFile]], done: Sorted) -> None:
    """A folder with a model's configuration is one thing, whatever else is in it."""
    for config in files_by_kind.pop("model", []):
        folder = config.path.parent
        beside = [
            (kind, file) for kind in ("weights", "config", "text", "summary") for file in files_by_kind.get(kind, [])
        ]
        for kind, file in beside:
            if file.path.parent == folder and folder.name != UNKNOWN:
                files_by_kind[kind].remove(file)
        done.elsewhere.append(FoundFile(config, "model"))


def _runs_of_hedge(files_by_kind: dict[str, list[DroppedFile]], done: Sorted) -> None:
    folders = {file.path.parent: file for file in files_by_kind.pop("run", [])}
    for folder, file in folders.items():
        done.groups.append(_group([file], partial(_single, run_folder.read, folder)))
    for file in files_by_kind.pop("run parts", []):
        if file.path.parent not in folders:
            done.refused.append(
                Refusal(file.name, f"it is part of a run of Hedge; import the whole folder, with {run_folder.RECORD}")
            )


def _alone(files_by_kind: dict[str, list[DroppedFile]], done: Sorted) -> None:
    """Kinds whose files are each a run of their own."""
    for name, kind in KINDS.items():
        if kind.read is not None:
            for file in files_by_kind.pop(name, []):
                read = partial(_in_folder, file, kind.read, file.path)
                done.groups.append(replace(_group([file], read), title=kind.title))


def _group(
    files: Sequence[DroppedFile], read: Callable[[], list[ImportedRun] | ReadJury], *more: object
) -> DroppedGroup:
    paths = tuple(file.path for file in files)
    return DroppedGroup(tuple(file.name for file in files), read, repr((*paths, *more)), paths)


def _single(read: Callable[..., ImportedRun], *given: Any, **more: Any) -> list[ImportedRun]:
    return [read(*given, **more)]


def _in_folder(
    file: DroppedFile, read: Callable[..., ImportedRun | list[ImportedRun]], *given: Any, **more: Any
) -> list[ImportedRun]:
    """The runs that ``read`` gives, where a model that is named by the file's folder is lacking if there is none."""
    runs = read(*given, **more)
    is_named = file.path.parent.name not in (UNKNOWN, "")
    return [
        replace(
            run, provenance=run.provenance | {"lacks": [name for name in run.provenance["lacks"] if name != "model"]}
        )
        if is_named and "model" in run.provenance.get("lacks", ()) and run.spec.model != UNKNOWN
        else run
        for run in (runs if isinstance(runs, list) else [runs])
    ]


def _samples(file: DroppedFile, results: Sequence[Path]) -> list[ImportedRun]:
    if lm_eval_results.is_write_out(file.path):
        return lm_eval.read(file.path, results)
    return _in_folder(file, lm_eval.read, file.path, results)


def _of_one_run(pairs: Sequence[Together]) -> list[list[Together]]:
    """Files that are read together, such as scores and labels, where those of one run stand together: one calibrates
    and another tests."""
    by_name: dict[tuple[Path, str], list[Together]] = {}
    for pair in pairs:
        stem = score_arrays.stem(pair[0].path)
        by_name.setdefault((pair[0].path.parent, array_sides.without_side(stem)), []).append(pair)
    together: list[list[Together]] = []
    for same_run in by_name.values():
        sides = [array_sides.side_of(score_arrays.stem(files[0].path)) for files in same_run]
        is_one = {"calibration", "test"} <= set(sides) and "" not in sides and len(set(sides)) == len(sides)
        together += [same_run] if is_one else [[pair] for pair in same_run]
    return together


def _numpy_archives(
    files_by_kind: dict[str, list[DroppedFile]], mappings: Mapping[Header, Columns], done: Sorted
) -> None:
    start = _label_from(mappings)
    for file in files_by_kind.pop("npz", []):
        group = _group([file], partial(_in_folder, file, score_arrays.read_npz, file.path, label_from=start), start)
        done.groups.append(replace(group, title=KINDS["npz"].title))


def _label_from(mappings: Mapping[Header, Columns]) -> int | None:
    """The number of the first option, as a person said of all files; None if nobody did."""
    return mappings[ALL_TABLES].label_from if ALL_TABLES in mappings else None


def _harness(files_by_kind: dict[str, list[DroppedFile]], done: Sorted) -> None:
    results = files_by_kind.pop("results", [])
    paths = [file.path for file in results]
    samples = files_by_kind.pop("lm-eval", [])
    for file in samples:
        done.groups.append(_group([file], partial(_samples, file, paths), *paths))
    folders = {file.path.parent for file in samples}
    for file in results:
        if file.path.parent not in folders:
            done.refused.append(
                Refusal(
                    file.name,
                    "it holds means over all questions; import its samples_….jsonl too, which lm-eval writes with "
                    "--log_samples",
                )
            )


def _decision_index(files_by_kind: dict[str, list[DroppedFile]], done: Sorted) -> None:
    """Results of the Decision Index, each with all rows of the suite, which say what is right."""
    results, suites = files_by_kind.pop("decision index", []), files_by_kind.pop("decision suite", [])
    for file in results if suites else []:
        read = partial(_in_folder, file, decision_index.read, file.path, [suite.path for suite in suites])
        done.groups.append(replace(_group([file, *suites], read), title=KINDS["decision index"].title))
    if not suites:
        sentence = "it does not say which options are right; import the suite's selected-rows.jsonl.gz too"
        done.refused += [Refusal(file.name, sentence) for file in results]
    if not results:
        sentence = "it holds questions with their right options; import the results.jsonl of a model too"
        done.refused += [Refusal(file.name, sentence) for file in suites]


def _benchmark(files_by_kind: dict[str, list[DroppedFile]], done: Sorted, at: At) -> None:
    """LLM-Uncertainty-Bench: results, and the answers of their data sets."""
    answers = files_by_kind.pop("answers", [])
    by_data = {re.sub(r"\.labels$", "", file.path.stem): file for file in reversed(answers)}
    by_data |= {file.path.stem: file for file in answers if not file.path.stem.endswith(".labels")}
    used: set[DroppedFile] = set()
    read: dict[str, llm_uncertainty_bench.Answers] = {}

    def read_run(file: DroppedFile, labels: DroppedFile, data: str) -> list[ImportedRun]:
        if data not in read:
            read[data] = llm_uncertainty_bench.read_answers(labels.path, data)
        return [llm_uncertainty_bench.read_run(file.path, read[data], data=data)]

    for file in files_by_kind.pop("bench", []):
        data = llm_uncertainty_bench.data_set(file.path)
        known = [name for name in by_data if name in llm_uncertainty_bench.TASK_OF]
        if not data and len(known) == 1:
            data = known[0]
        labels = by_data.get(data)
        if labels is not None:
            used.add(labels)
            done.groups.append(_group([file], partial(read_run, file, labels, data), labels.path))
        elif data:
            done.refused.append(
                Refusal(
                    file.name,
                    f"it has no answers; import {data}.json or {data}.labels.json of the same publication too",
                )
            )
        else:
            done.refused.append(
                Refusal(
                    file.name,
                    "its name does not say the data set; import the answers of that one data set too, such as "
                    "mmlu_10k.json",
                )
            )
    for file in answers:
        if file not in used and not any(_same_data(file, other) for other in used):
            at(file)
            if _is_bank(file):
                done.elsewhere.append(FoundFile(file, "questions"))
            else:
                done.refused.append(
                    Refusal(file.name, "it holds answers alone; import the results (.pkl) that belong to them too")
                )


def _same_data(file: DroppedFile, other: DroppedFile) -> bool:
    return re.sub(r"\.labels$", "", file.path.stem) == re.sub(r"\.labels$", "", other.path.stem)


def _is_bank(file: DroppedFile) -> bool:
    try:
        return SheetView(open_sheets(file.path)[0]).is_bank
    except InputError:
        return False


def _arrays(
    files_by_kind: dict[str, list[DroppedFile]], mappings: Mapping[Header, Columns], done: Sorted, at: At
) -> None:
    """Scores and labels as two npy files, which find each other by their names, or as the only two of a folder."""
    scores: list[DroppedFile] = []
    labels: list[DroppedFile] = []
    for file in files_by_kind.pop("npy", []):
        at(file)
        try:
            array = score_arrays.load_npy(file.path)
        except InputError:
            done.refused.append(Refusal(file.name, "expected a whole array of numbers, found none; fetch it again"))
            continue
        if score_arrays.holds_scores(array):
            scores.append(file)
        elif array.ndim == 1 and array.dtype.kind in "iuf":
            labels.append(file)
        else:
            done.refused.append(
                Refusal(
                    file.name,
                    f"expected scores of options, (n, k), or labels, (n,), found the shape {array.shape} of type "
                    f"{array.dtype}",
                )
            )
    free = list(labels)
    start = _label_from(mappings)
    pairs: list[tuple[DroppedFile, DroppedFile]] = []
    for file in scores:
        beside = [other for other in free if other.path.parent == file.path.parent]
        fitting = [other for other in beside if score_arrays.stem(other.path) == score_arrays.stem(file.path)]
        if not fitting and len(beside) == 1 and len([s for s in scores if s.path.parent == file.path.parent]) == 1:
            fitting = beside
        if fitting:
            free.remove(fitting[0])
            pairs.append((file, fitting[0]))
        else:
            name = score_arrays.stem(file.path) or file.path.stem
            done.refused.append(
                Refusal(file.name, f"it has no labels; import an array of labels too, such as {name}_labels.npy")
            )
    for together in _of_one_run(pairs):
        files = [file for pair in together for file in pair]
        read = score_arrays.read_pair if len(together) == 1 else score_arrays.read_sides
        paths = [file.path for file in files]
        done.groups.append(_group(files, partial(_single, read, *paths, label_from=start), start))
    done.refused += [
        Refusal(file.name, "it holds labels, and no scores with such a name were imported with it") for file in free
    ]


def _juries(files_by_kind: dict[str, list[DroppedFile]], done: Sorted, at: At) -> None:
    texts, labels = files_by_kind.pop("jury text", []), files_by_kind.pop("jury labels", [])
    if texts and len(labels) == 1:
        truth = labels.pop()
        done.groups.append(
            _group([*texts, truth], lambda: juries.read([file.path for file in texts], labels=truth.path))
        )
    elif texts:
        done.refused += [
            Refusal(file.name, "it does not say what is right; import a table with question and label too")
            for file in texts
        ]
    published: dict[Path, list[DroppedFile]] = {}
    for file in files_by_kind.pop("jury", []):
        at(file)
        names = {name.strip().lower() for name in open_sheets(file.path)[0].names}
        if "juror" in names or "logits" not in names:
            done.groups.append(_group([file], partial(juries.read, [file.path])))
        else:
            published.setdefault(file.path.parent, []).append(file)
    for files in published.values():
        done.groups.append(_group(files, partial(juries.read, [file.path for file in files])))
    done.refused += [
        Refusal(file.name, "it says which answers are right, but has no juror's verdict; a jury's own files say it too")
        for file in labels
    ]


def _judged_pairs(files: Sequence[DroppedFile], done: Sorted, at: At) -> None:
    """Judges of pairs: all evaluators of a set, all annotators of a model, and PandaLM's judges with its pairs."""
    by_folder: dict[tuple[judged_pairs.Format, Path], list[DroppedFile]] = {}
    for file in files:
        at(file)
        form = judged_pairs.format_of(json_list(file.path))
        if form is not None:
            above = 3 if form == "LLMBar" else 1 if form == "AlpacaEval" else 0
            folders = file.path.parents
            by_folder.setdefault((form, folders[min(above, len(folders) - 1)]), []).append(file)
    judges = [file for (form, _), same_folder in by_folder.items() for file in same_folder if form == "PandaLM judge"]
    for (form, _), same_folder in by_folder.items():
        paths = [file.path for file in same_folder]
        if form in judged_pairs.JURY_READERS:
            done.groups.append(_group(same_folder, partial(judged_pairs.JURY_READERS[form], paths)))
        elif form == "PandaLM":
            done.groups.append(_group(same_folder, partial(judged_pairs.read_annotators, paths[0]), "annotators"))
            if judges:
                read = partial(judged_pairs.read_pandalm, paths[0], [file.path for file in judges])
                done.groups.append(_group([*same_folder, *judges], read, "judges"))
    if not any(form == "PandaLM" for form, _ in by_folder):
        done.refused += [Refusal(file.name, "it has no pairs; import testset-v1.json too") for file in judges]


# ---------------------------------------------------------------- tables


def _table(
    file: DroppedFile, mappings: Mapping[Header, Columns], done: Sorted, readable: dict[Header, list[DroppedFile]]
) -> None:
    """Note a table's columns. A table whose columns are known is added to ``readable``."""
    sheet, columns, error = _first_sheet(file, mappings)
    header = tuple(sheet.names)
    if columns is None and error is not None and ("pick alone" in str(error) or not can_be_mapped(sheet)):
        raise error
    same = next((i for i, known in enumerate(done.tables) if known.header == header), None)
    if same is None:
        kept_rows = pa.Table.from_pylist(sheet.table.slice(0, KEPT_ROWS).to_pylist(), schema=sheet.table.schema)
        done.tables.append(
            TableHeader(header, (file.name,), columns, replace(sheet, table=kept_rows), columns or suggested(sheet))
        )
    else:
        done.tables[same] = replace(done.tables[same], names=(*done.tables[same].names, file.name))
    if columns is not None:
        readable.setdefault(header, []).append(file)


def _table_groups(
    header: Header, files: Sequence[DroppedFile], mappings: Mapping[Header, Columns]
) -> Iterator[DroppedGroup]:
    """The runs of tables with the same columns: of one each, or of one that calibrates and another that tests."""
    columns = _told(header, mappings)
    has_sides = not any(name.strip().lower() in SPLIT_NAMES for name in header)
    together = _of_one_run([(file,) for file in files]) if has_sides else [[(file,)] for file in files]
    for same_run in together:
        paths = [file.path for (file,) in same_run]
        read = partial(table.read if len(same_run) == 1 else table.read_sides, paths, columns=columns)
        yield _group([file for (file,) in same_run], read, columns)


def _told(header: Header, mappings: Mapping[Header, Columns]) -> Columns | None:
    """What a person said of tables with this header, or of all tables, now or earlier; None if nothing."""
    return mappings.get(header) or mappings.get(ALL_TABLES) or column_mappings.recall(header)


def _first_sheet(
    file: DroppedFile, mappings: Mapping[Header, Columns]
) -> tuple[Sheet, Columns | None, InputError | None]:
    """The first sheet whose columns are known, or the first of all."""
    sheets = [widened(tallied(sheet)) for sheet in open_sheets(file.path)]
    failed: InputError | None = None
    for sheet in sheets:
        header = tuple(sheet.names)
        named = _told(header, mappings)
        try:
            return sheet, (resolved(sheet, named) if named and named.partial else named) or recognise(sheet), None
        except InputError as error:
            failed = failed or error
    return sheets[0], None, failed
