"""Tables from anywhere: one row per question, one column per option, and the right option.

Cells of options are probabilities (or per cent), log-probabilities or logits, as a person says or as recognised. A
column of lists is as good as a column per option (:mod:`core.tables.list_columns`). A row may leave its last options
empty: it has fewer. The right option is named by its column, its letter, its number or its text. Where columns name the
run (``model``, ``task`` …), rows with different ones are different runs. Rows with the same ``cluster``
belong together (:mod:`core.conformal.clusters`). ``ordered`` is true where the options are levels, in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.errors import InputError, Undecided
from core.exchange.array_sides import side_of, without_side
from core.exchange.build_run import check_row, check_split, counted_once, split
from core.exchange.imported import ImportedRun, fingerprint, fingerprint_of
from core.exchange.joined_subjects import named_by_folder
from core.exchange.option_columns import class_names
from core.exchange.picks import (
    FREQUENCIES,
    SAMPLES,
    UNREAD,
    are_frequencies,
    check_not_counts,
    sampled,
    samples_of,
    shares_of,
    tallied,
)
from core.exchange.table_columns import (
    ASKED,
    BANK,
    HENDRYCKS,
    PRECISION,
    RUN_COLUMNS,
    Columns,
    naming,
    recognise,
    resolved,
    roles_in,
)
from core.exchange.table_values import COUNTS, LISTED, OptionCells, logits_of, option_cells
from core.questions.identity import cluster_name
from core.questions.option_names import OF_CLASSES, are_classes
from core.records import (
    DONT_KNOW,
    NONE_OF_ABOVE,
    OPTION_NAMES,
    BoolArray,
    FloatArray,
    IntArray,
    LogitArray,
    OptionLogits,
    Question,
    Role,
)
from core.runs.caveats import COLUMN
from core.runs.spec import RunSpec
from core.tables.cells import flags
from core.tables.field_names import LABEL_NAMES, PICK_NAMES, RIGHT_NAMES, ROLES, TRAINING, first
from core.tables.labels import Labels, read_labels
from core.tables.list_columns import widened
from core.tables.read_as import kind_words, line, repeats
from core.tables.safe_read import check_count, shown
from core.tables.tabular import Sheet, meant, open_sheets

ORIGIN = "table"
ANSWER = re.compile(r"answer|label|gold|correct|target|truth", re.IGNORECASE)
"""What the name of a column may have if it says the right option, or whether a model took it."""


def read(paths: Sequence[Path], *, columns: Columns | None = None) -> list[ImportedRun]:
    """Read tables; without ``columns`` they are recognised by name. Raises :class:`InputError` that names the file, the
    line, what was expected and what was found."""
    return [run for path in paths for run in _read_file(path, columns)]


def read_sides(paths: Sequence[Path], *, columns: Columns | None = None) -> list[ImportedRun]:
    """The runs of tables with the same columns, where one calibrates and another tests, as their names say. Raises
    :class:`InputError` as :func:`read` does."""
    parts = [widened(tallied(open_sheets(path)[0])) for path in paths]
    parts = [part.part(np.ones(part.table.num_rows, dtype=np.bool_), part.names) for part in parts]  # with their lines
    named = replace(columns, split="split") if columns and not columns.partial else columns
    ids = (named if named and not named.partial else recognise(parts[0])).id
    again = bool(ids) and bool(set(parts[0].texts(ids)).intersection(*(part.texts(ids) for part in parts[1:])))
    tables = []
    for part in parts:
        side = side_of(part.path.stem)
        table = part.table.append_column("split", pa.array(["train" if side == "training" else side] * len(part.table)))
        if again:  # each table counts its rows from the first
            at = table.column_names.index(ids)
            table = table.set_column(at, ids, pa.array([f"{side} {name}" for name in part.texts(ids)]))
        tables.append(table)
    name = without_side(paths[0].stem) or paths[0].parent.name
    try:
        whole = replace(
            parts[0],
            path=paths[0].with_name(f"{name}{paths[0].suffix}"),
            table=pa.concat_tables(tables, promote_options="permissive"),
            lines=tuple(line for part in parts for line in part.lines or ()),
        )
        runs = _read_sheet(whole, named, fingerprint_of(*paths))
    except pa.ArrowException as error:
        raise InputError(f"{paths[0]}: expected the same kinds of columns in {paths[-1].name}, found others") from error
    except InputError:
        for path in paths:  # whose own sentence names it
            _read_file(path, columns)
        raise
    file = ", ".join(path.name for path in paths)
    return [replace(run, provenance=run.provenance | {"file": file}) for run in runs]


# ---------------------------------------------------------------- one file


def _read_file(path: Path, columns: Columns | None) -> list[ImportedRun]:
    finger = fingerprint_of(path)
    sheets = [part for sheet in open_sheets(path) for part in _by_figures(widened(tallied(sheet)))]
    if len(sheets) > 1:  # a workbook has other sheets beside its tables of questions
        sheets = [sheet for sheet in sheets if columns is not None or _recognised(sheet)] or sheets[:1]
    return [run for sheet in sheets for run in _read_sheet(sheet, columns, finger)]


def _by_figures(sheet: Sheet) -> list[Sheet]:
    """The sheet, or that of the runs with probabilities and that of the runs with logits if Hedge exported both."""
    if not {*RUN_COLUMNS, "p_A", "logit_A"} <= set(sheet.names):
        return [sheet]
    parts = []
    for own, other in (("p_", "logit_"), ("logit_", "p_")):
        rows = np.array([cell not in (None, "") for cell in sheet.table[f"{own}A"].to_pylist()])
        parts.append(sheet.part(rows, [name for name in sheet.names if not name.startswith(other)]))
    return parts


def _recognised(sheet: Sheet) -> bool:
    try:
        recognise(sheet)
    except InputError:
        return False
    return True


def _read_sheet(sheet: Sheet, columns: Columns | None, finger: str) -> list[ImportedRun]:
    check_count(sheet.table.num_rows, sheet.path)
    if sheet.short:
        raise InputError(sheet.short)
    given, columns = columns, resolved(sheet, columns) if columns else recognise(sheet)
    if given and (given.options or given.label or given.values):  # another meaning of the columns makes other data
        finger = fingerprint(finger.encode(), _said(columns).encode())
    ours = set(RUN_COLUMNS) <= set(sheet.names)
    texts = _Texts.of(sheet, columns, ours)
    cells, read, logits, probabilities, drawn = _figures(sheet, columns, texts, given.values if given else "")
    counts, labels = cells.counts, read.labels
    columns = replace(columns, values=cells.kind)
    mass = sheet.numbers(columns.mass) if columns.mass else np.full(len(counts), np.nan)
    if not columns.mass and (cells.kind == "next-token probabilities" or cells.bounds is not None):
        mass = cells.listed_mass
    if read.is_given:
        finger = fingerprint(finger.encode(), read.form.encode())
    named = naming(sheet, columns, ours=ours)
    trained = _trained(sheet, columns, texts, len(labels))
    keys = list(zip(*(sheet.texts(name) for name in named.values()), strict=True)) or [()] * len(labels)
    rows_of: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(keys):
        rows_of.setdefault(key, []).append(i)
    hendrycks = HENDRYCKS.match(columns.options[0])
    about_all = {"model": hendrycks["model"]} if hendrycks else named_by_folder(sheet.path)
    runs = []
    for key, all_rows in rows_of.items():
        rows = [i for i in all_rows if cells.usable[i] and not trained[i]]
        if not rows:
            continue
        about = {
            name: meant(value) if ours and sheet.kind in ("csv", "xlsx") else value
            for name, value in zip(named, key, strict=True)
        }
        spec = _spec(about | about_all, sheet, sheet.path, finger, rows[0])
        is_single = ours and not (PRECISION in sheet.names and sheet.texts(PRECISION)[rows[0]])  # Hedge computed it
        figures = logits.astype(np.float32) if is_single else logits, probabilities
        answered = [i for i in rows if drawn[i] != 0]
        run = _run(sheet, columns, spec, np.array(answered), figures, counts, labels, texts, mass)
        more: dict[str, Any] = {"lacks": [name for name in ("model", "task") if not (about | about_all).get(name)]}
        if probabilities is not None and are_frequencies(
            cells.values[answered], drawn[answered], counted=cells.kind == COUNTS
        ):
            unread = int(sheet.numbers(UNREAD)[answered].sum()) if UNREAD in sheet.names else 0
            run = sampled(run, drawn[answered], unread=unread, left_out=len(rows) - len(answered))
        if not run.spec.picks and not any(about.get(name) for name in ASKED) and are_classes(run.questions):
            more[OF_CLASSES] = True
        more |= _exported(sheet, about, rows[0]) if ours else {}
        unlisted = int((~cells.usable & ~trained)[all_rows].sum())
        if cells.bounds is not None:
            more["bounded_questions"] = int(cells.bounds[rows].any(axis=1).sum())
            more["counts"] = {"without a letter": unlisted}
        left_out = {"of training": int(trained[all_rows].sum()), "without a listed letter": unlisted}
        read_as = _read_as(sheet, run, read, cells, answered, left_out)
        runs.append(replace(run, provenance=run.provenance | more, read_as=read_as))
    if not runs:
        raise InputError(f"{sheet.path}: expected the figure of a letter in each row, found none in any")
    return runs


def _trained(sheet: Sheet, columns: Columns, texts: _Texts, n: int) -> BoolArray:
    """Which rows a model was fitted to (n,). Raises :class:`InputError` if it was fitted to all of them."""
    trained = np.array([word.lower() in TRAINING for word in texts.roles] or [False] * n)
    if trained.all():
        raise InputError(
            f"{sheet.path}: expected rows that calibrate or test in {columns.split!r}, found only training rows, which "
            "do neither; leave out that column if no model was fitted to them"
        )
    return trained


def _exported(sheet: Sheet, about: dict[str, str], row: int) -> dict[str, Any]:
    """What an export of Hedge says of a run beside its figures."""
    more: dict[str, Any] = {"bank": {"name": about[BANK]}} if about.get(BANK) else {}
    if "run" in sheet.names:
        more["exported_run"] = sheet.texts("run")[row]
    if COLUMN in sheet.names and (caveats := sheet.texts(COLUMN)[row]):
        more[COLUMN] = meant(caveats) if sheet.kind in ("csv", "xlsx") else caveats
    return more


def _read_as(
    sheet: Sheet, run: ImportedRun, read: Labels, cells: OptionCells, rows: Sequence[int], left_out: dict[str, int]
) -> str:
    """How a run's rows were read, in one line."""
    values = kind_words(cells.kind)
    bounded = int(cells.bounds[rows].any(axis=1).sum()) if cells.bounds is not None else 0
    if bounded:
        values += f" (some letters are not listed in {bounded:,} rows, and have upper bounds)"
    repeated = 0
    if run.provenance["texts"] and len({question.question for question in run.questions}) < len(run.questions):
        keys = [(question.context, question.question, question.options, question.label) for question in run.questions]
        repeated = repeats(list(zip(keys, map(bytes, cells.values[rows]), strict=True)))
    encoding = f"in {sheet.encoding}" if sheet.encoding else ""
    return line(run.questions, read.words, values, encoding, repeated=repeated, left_out=left_out)


def _figures(
    sheet: Sheet, columns: Columns, texts: _Texts, kind_named: str
) -> tuple[OptionCells, Labels, LogitArray, FloatArray | None, FloatArray]:
    """The options' cells, the labels, the logits and the probabilities that the cells become, and how many picks they
    are made of (NaN: none). Where a label names an option whose log-probability is missing, missing letters are options
    that are not listed."""
    cells = option_cells(sheet, columns, values_kind=kind_named)
    if cells.kind == "logits" and not kind_named and not columns.values:
        check_not_counts(cells.values, sheet.path)
    for _ in range(2):
        probabilities: FloatArray | None
        drawn = np.full(len(cells.values), np.nan)
        if cells.kind == COUNTS:
            logits, probabilities, drawn = shares_of(cells.values, sheet.where)
        else:
            logits, probabilities = logits_of(sheet, cells.values, cells.counts, cells.kind)
            if probabilities is not None and (name := first(sheet.names, SAMPLES)):
                drawn = sheet.numbers(name)
            elif probabilities is not None and FREQUENCIES.search(columns.options[0]):
                drawn = samples_of(cells.values, sheet.path)
        try:
            return cells, _labels(sheet, columns, cells.counts, texts, logits), logits, probabilities, drawn
        except Undecided:
            raise
        except InputError:
            if cells.kind not in LISTED or cells.bounds is not None or (cells.counts == len(columns.options)).all():
                raise
            cells = option_cells(sheet, columns, values_kind=kind_named, whole=True)
    raise AssertionError("the second round returns or raises")


def _said(columns: Columns) -> str:
    """The columns as text, for a fingerprint; fields that came later are left out where they say nothing."""
    return repr(columns).replace(", cluster=''", "").replace(", ordered=''", "").replace(", partial=False", "")


def _labels(sheet: Sheet, columns: Columns, counts: IntArray, texts: _Texts, logits: LogitArray) -> Labels:
    """The right option of each row."""
    taken = {columns.label, columns.id, columns.text, columns.context, columns.split, *columns.options, *columns.texts}
    answers = {*LABEL_NAMES, *PICK_NAMES, *RIGHT_NAMES}
    highest = logits.max(axis=1, keepdims=True)
    single = (logits == highest).sum(axis=1) == 1
    labels = read_labels(
        sheet.texts(columns.label),
        counts,
        texts=[own[:k] for own, k in zip(zip(*texts.options, strict=True), counts.tolist(), strict=True)]
        if texts.options
        else (),
        names=_names(sheet, columns),
        start=columns.label_from,
        where=sheet.where,
        column=columns.label,
        beside={
            name: sheet.texts(name)
            for name in sheet.names
            if name not in taken and (name.strip().lower() in answers or ANSWER.search(name))
        },
        picks=np.where(single, logits.argmax(axis=1), -1),
    )
    if columns.extra and (bad := labels.labels >= len(columns.options) - 2).any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{sheet.where(row)}: expected one of {len(columns.options) - 2} options that can be right, found "
            f"{shown(sheet.texts(columns.label)[row])}"
        )
    return labels


# ---------------------------------------------------------------- one run


@dataclass(frozen=True, slots=True)
class _Texts:
    """The words of a table's rows, a list a column, and what they fall back to."""

    ids: list[str]
    questions: list[str]
    contexts: list[str]
    groups: list[str]
    options: list[list[str]]
    roles: list[str]
    clusters: list[str]
    ordered: list[bool]

    @classmethod
    def of(cls, sheet: Sheet, columns: Columns, ours: bool) -> _Texts:
        """``ours``: the table is an export of Hedge, whose texts are kept (in CSV they were made harmless)."""

        def column(name: str) -> list[str]:
            cells = sheet.texts(name, as_is=ours) if name else []
            return [meant(cell) for cell in cells] if ours and sheet.kind in ("csv", "xlsx") else cells

        ids = column(columns.id) or [str(i + 1) for i in range(sheet.table.num_rows)]
        empty = next((i for i, name in enumerate(ids) if not name), None)
        if empty is not None:
            raise InputError(f"{sheet.where(empty)}: expected an id in {columns.id!r}, found an empty cell")
        return cls(
            ids=ids,
            questions=column(columns.text),
            contexts=column(columns.context),
            groups=column(columns.group),
            options=[column(name) for name in columns.texts],
            roles=roles_in(sheet, columns) if columns.split else [],
            clusters=[cluster_name(cell) for cell in column(columns.cluster)],
            ordered=flags(column(columns.ordered), columns.ordered, sheet.where),
        )


def _spec(about: dict[str, str], sheet: Sheet, path: Path, finger: str, row: int) -> RunSpec:
    try:
        numbers = {name: int(about[name]) for name in ("shots", "seed") if about.get(name)}
        words = {name: about[name] for name in ("strategy", "dtype", "form", "prompt_format") if about.get(name)}
        return RunSpec(
            model=about.get("model") or path.stem,
            task=about.get("task") or path.stem,
            origin=ORIGIN,
            fingerprint=finger,
            **numbers,  # type: ignore[arg-type]
            **words,  # type: ignore[arg-type]
        )
    except (InputError, ValueError) as error:
        raise InputError(f"{sheet.where(row)}: the columns that name the run can't be used ({error})") from error


def _run(
    sheet: Sheet,
    columns: Columns,
    spec: RunSpec,
    rows: IntArray,
    figures: tuple[LogitArray, FloatArray | None],
    counts: IntArray,
    labels: IntArray,
    texts: _Texts,
    mass: FloatArray,
) -> ImportedRun:
    picked = rows.tolist()
    logits, probabilities = figures
    seen: dict[str, int] = {}
    for i in picked:
        if (first := seen.setdefault(texts.ids[i], i)) != i:
            raise InputError(
                f"{sheet.where(i)}: expected every id once, found {shown(texts.ids[i])} again "
                f"(first: {sheet.where(first)})"
            )
    is_whole = bool((counts[rows] == len(columns.options)).all())
    named = _option_names(columns, numbered=is_whole and not texts.questions)
    shared = {k: tuple(named[:k]) for k in range(2, len(named) + 1)}
    k = int(counts[rows].max())
    questions = []
    for i in picked:
        own = tuple(column[i] for column in texts.options[: counts[i]]) if texts.options else shared[int(counts[i])]
        if texts.options:
            check_row(
                sheet.where(i) if own[labels[i]] in (DONT_KNOW, NONE_OF_ABOVE) else "", len(own), int(labels[i]), own
            )
        questions.append(
            Question(
                id=texts.ids[i],
                task=spec.task,
                group=(texts.groups[i] if texts.groups else "") or spec.task,
                context=texts.contexts[i] if texts.contexts else "",
                question=texts.questions[i] if texts.questions else f"question {texts.ids[i]} (the table has no texts)",
                options=own,
                label=int(labels[i]),
                cluster=texts.clusters[i] if texts.clusters else "",
                ordered=bool(texts.ordered) and texts.ordered[i],
            )
        )
    return ImportedRun(
        spec=spec,
        questions=tuple(questions),
        roles=_roles(sheet, columns, questions, picked, texts),
        scored=OptionLogits(
            tuple(q.id for q in questions),
            logits[rows, :k].copy(),
            mass[rows].astype(np.float32),
            probabilities=None if probabilities is None else probabilities[rows, :k].copy(),
        ),
        provenance={"file": sheet.path.name, "columns": columns.to_json(), "texts": bool(texts.questions)},
    )


def _names(sheet: Sheet, columns: Columns) -> Sequence[str]:
    """The names by which the labels may call the options' columns: without the words before them, if they do so."""
    own, cells = class_names(columns.options), set(sheet.texts(columns.label))
    return own if cells <= set(own) and not all(map(str.isdecimal, cells)) else columns.options


def _option_names(columns: Columns, *, numbered: bool) -> list[str]:
    """The names of options without texts: those of their columns, without words as ``p_`` before all, or letters. Where
    no question has a text or fewer options, ``numbered`` columns are a classifier's, whose classes are numbers."""
    numbers = [number[0] for name in columns.options if (number := re.search(r"\d+$", name))]
    if numbered and not columns.extra and len(set(numbers)) == len(columns.options):
        return numbers
    marks = [re.sub(r"^.*[_ .-]", "", name) for name in columns.options]
    words = {name.removesuffix(mark) for name, mark in zip(columns.options, marks, strict=True)}
    plain = len(words) == 1 and all(len(mark) <= 2 or mark.isdecimal() for mark in marks)
    letters = [f"option {letter}" for letter in OPTION_NAMES[: len(columns.options)]]
    names = letters if plain else class_names(columns.options)
    return [*names[:-2], DONT_KNOW, NONE_OF_ABOVE] if columns.extra else names


def _roles(
    sheet: Sheet, columns: Columns, questions: Sequence[Question], rows: Sequence[int], texts: _Texts
) -> tuple[Role, ...]:
    if not columns.split:
        return split(questions, path=sheet.path, texts=bool(texts.questions))
    roles = []
    for i in rows:
        role = ROLES.get(texts.roles[i].lower())
        if role is None:
            raise InputError(
                f"{sheet.where(i)}: expected calibration or test in {columns.split!r}, found {shown(texts.roles[i])}"
            )
        roles.append(role)
    if not {"calibration", "test"} <= set(roles):
        if any(word.lower() in TRAINING for word in texts.roles) and len(set(roles)) == 1:
            return split(questions, path=sheet.path, texts=bool(texts.questions))
        raise InputError(
            f"{sheet.path}: expected questions that calibrate and questions that test in {columns.split!r}, found only "
            f"{', '.join(sorted(set(roles)))}"
        )
    counted = counted_once(roles, questions) if texts.questions else tuple(roles)
    check_split(questions, counted, sheet.path)
    return counted
