"""Tables from anywhere: one row per question, one column per option, and the right option.

Cells of options are probabilities (or per cent), log-probabilities or logits; which of them is told or recognised. A
column of lists is as good as a column per option (:mod:`core.tables.list_columns`). A row may leave its last options
empty: it has fewer. The right option is named by its column, its letter, its number or its text. Where columns name the
run (``model``, ``task`` …), rows with different ones are different runs. Rows with the same ``cluster``
belong together (:mod:`core.clusters`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.build_run import check_row, check_split, counted_once, split
from core.exchange.imported import ImportedRun, fingerprint, fingerprint_of
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
    BANK,
    HENDRYCKS,
    PRECISION,
    ROLES,
    RUN_COLUMNS,
    Columns,
    checked,
    naming,
    recognise,
)
from core.exchange.table_values import COUNTS, VALUES, logits_of, option_cells, recognised_values, refined
from core.records import (
    DONT_KNOW,
    NONE_OF_ABOVE,
    OPTION_NAMES,
    FloatArray,
    IntArray,
    LogitArray,
    OptionLogits,
    Question,
    Role,
)
from core.runs.caveats import COLUMN
from core.runs.spec import RunSpec
from core.tables.field_names import LABEL_NAMES, PICK_NAMES, RIGHT_NAMES, first
from core.tables.labels import Labels, read_labels
from core.tables.list_columns import widened
from core.tables.safe_read import check_count, shown
from core.tables.tabular import Sheet, meant, open_sheets
from core.tasks.identity import cluster_name

ORIGIN = "table"
ANSWER = re.compile(r"answer|label|gold|correct|target|truth", re.IGNORECASE)
"""What the name of a column may have if it says the right option, or whether a model took it."""


def read(
    paths: Sequence[Path], *, columns: Columns | None = None, model: str = "", task: str = ""
) -> list[ImportedRun]:
    """Read tables; without ``columns`` they are recognised by name.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    return [run for path in paths for run in _read_file(path, columns, model, task)]


# ---------------------------------------------------------------- one file


def _read_file(path: Path, columns: Columns | None, model: str, task: str) -> list[ImportedRun]:
    finger = fingerprint_of(path)
    if columns:  # another meaning of the columns makes other data
        finger = fingerprint(finger.encode(), repr(columns).replace(", cluster=''", "").encode())
    found = [part for sheet in open_sheets(path) for part in _by_figures(widened(tallied(sheet)))]
    if len(found) > 1:  # a workbook has other sheets beside its tables of questions
        found = [sheet for sheet in found if columns is not None or _recognised(sheet)] or found[:1]
    return [run for sheet in found for run in _read_sheet(sheet, columns, model, task, finger)]


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


def _read_sheet(sheet: Sheet, columns: Columns | None, model: str, task: str, finger: str) -> list[ImportedRun]:
    check_count(sheet.table.num_rows, sheet.path)
    told_values = columns.values if columns else ""
    columns = checked(sheet, columns) if columns else recognise(sheet)
    values, counts = option_cells(sheet, columns)
    kind = told_values or refined(columns.values, recognised_values(values))
    if kind not in VALUES:
        raise InputError(f"unknown kind of values {kind!r}; choose from {', '.join(VALUES)}")
    columns_say, columns = columns.values, replace(columns, values=kind)
    mass = sheet.numbers(columns.mass) if columns.mass else np.full(len(values), np.nan)
    if kind == "next-token probabilities" and not columns.mass:
        mass = np.where(np.isnan(values), 0, values).sum(axis=1)
    drawn = np.full(len(values), np.nan)
    probabilities: FloatArray | None
    if kind == COUNTS:
        logits, probabilities, drawn = shares_of(values, sheet.where)
    else:
        if kind == "logits" and not told_values and not columns_say:
            check_not_counts(values, sheet.path)
        logits, probabilities = logits_of(sheet, values, counts, kind)
        if probabilities is not None and (name := first(sheet.names, SAMPLES)):
            drawn = sheet.numbers(name)
        elif probabilities is not None and FREQUENCIES.search(columns.options[0]):
            drawn = samples_of(values, sheet.path)
    ours = set(RUN_COLUMNS) <= set(sheet.names)
    texts = _Texts.of(sheet, columns, ours)
    read_as = _labels(sheet, columns, counts, texts, logits)
    labels = read_as.labels
    named = naming(sheet, columns, ours=ours, told={"model": model, "task": task})
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(zip(*(sheet.texts(name) for name in named.values()), strict=True)):
        groups.setdefault(key, []).append(i)
    hendrycks = HENDRYCKS.match(columns.options[0])
    told = {"model": hendrycks["model"]} if hendrycks else {}
    told |= {name: value for name, value in (("model", model), ("task", task)) if value}
    runs = []
    for key, rows in (groups or {(): list(range(len(labels)))}).items():
        about = {
            name: meant(value) if ours and sheet.kind in ("csv", "xlsx") else value
            for name, value in zip(named, key, strict=True)
        }
        spec = _spec(about | told, sheet, sheet.path, finger, rows[0])
        is_single = ours and not (PRECISION in sheet.names and sheet.texts(PRECISION)[rows[0]])  # Hedge computed it
        figures = logits.astype(np.float32) if is_single else logits, probabilities
        answered = [i for i in rows if drawn[i] != 0]
        run = _run(sheet, columns, spec, np.array(answered), figures, counts, labels, texts, mass)
        more: dict[str, Any] = {"lacks": [name for name in ("model", "task") if not (about | told).get(name)]}
        if probabilities is not None and are_frequencies(values[answered], drawn[answered], counted=kind == COUNTS):
            unread = int(sheet.numbers(UNREAD)[answered].sum()) if UNREAD in sheet.names else 0
            run = sampled(run, drawn[answered], unread=unread, left_out=len(rows) - len(answered))
        if about.get(BANK):
            more["bank"] = {"name": about[BANK]}
        if ours and "run" in sheet.names:
            more["exported_run"] = sheet.texts("run")[rows[0]]
        if ours and COLUMN in sheet.names and (caveats := sheet.texts(COLUMN)[rows[0]]):
            more[COLUMN] = meant(caveats) if sheet.kind in ("csv", "xlsx") else caveats
        runs.append(replace(run, provenance=run.provenance | more))
    return runs


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
        names=columns.options,
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
            roles=column(columns.split),
            clusters=[cluster_name(cell) for cell in column(columns.cluster)],
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
    named = _option_names(columns)
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


def _option_names(columns: Columns) -> list[str]:
    """The names of options without texts: their columns' names, or their letters."""
    plain = all(len(re.sub(r"^.*[_ .-]", "", name)) <= 2 for name in columns.options)
    names = [f"option {letter}" for letter in OPTION_NAMES[: len(columns.options)]] if plain else list(columns.options)
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
        raise InputError(
            f"{sheet.path}: expected questions that calibrate and questions that test in {columns.split!r}, found only "
            f"{', '.join(sorted(set(roles)))}"
        )
    kept = counted_once(roles, questions) if texts.questions else tuple(roles)
    check_split(questions, kept, sheet.path)
    return kept
