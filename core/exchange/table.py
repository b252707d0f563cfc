"""Tables from anywhere: one row per question, one column per option, and the right option.

Cells of options are probabilities, log-probabilities or logits; which of them is told or recognised. A row may leave
its last options empty: it has fewer. The right option is named by its column, its letter or its number. Where columns
name the run (``model``, ``task`` …), rows with different ones are different runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.exchange.build_run import check_not_flat, check_row, counted_once, split
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.safe_read import shown
from core.exchange.tabular import Sheet, meant, open_sheet
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, FloatArray, IntArray, OptionLogits, Question, Role
from core.runs.spec import RunSpec

ORIGIN = "table"
VALUES = ("probabilities", "log-probabilities", "logits")
SUM_WITHIN = 0.01
"""How far the sum of a row's probabilities may be from 1. They are often rounded."""
RUN_COLUMNS = ("model", "task", "strategy", "shots", "dtype", "form", "prompt_format", "seed")
"""Columns that say of which run a row is."""
BANK = "bank"
"""The column that names the bank of its questions; tables that Hedge wrote before there were banks lack it."""
ROLES: dict[str, Role] = {
    **dict.fromkeys(("calibration", "calibrate", "calib", "cal", "validation", "valid", "val", "dev"), "calibration"),
    **dict.fromkeys(("test", "testing", "evaluation", "eval"), "test"),
    **dict.fromkeys(("demonstration", "demo", "train", "training"), "demonstration"),
    "rotation": "rotation",
}
"""From a word in the split's column to what a question is for."""
LABEL_NAMES = ("label", "answer", "gold", "target", "truth", "correct", "y")
ID_NAMES = ("id", "qid", "question_id", "doc_id")
TEXT_NAMES = ("question", "text", "prompt", "query")
GROUP_NAMES = ("group", "subject", "category", "topic")
SPLIT_NAMES = ("split", "role", "set", "fold")
PREFIX = re.compile(
    r"^(?P<kind>p|prob|probability|logit|logits|logp|logprob|lp|loglik|score|class|option)?[_ .-]?$", re.I
)
KIND_OF_PREFIX = {
    **dict.fromkeys(("p", "prob", "probability"), "probabilities"),
    **dict.fromkeys(("logit", "logits"), "logits"),
    **dict.fromkeys(("logp", "logprob", "lp", "loglik"), "log-probabilities"),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The meaning of each column; "" for a column that is not there.

    ``options`` in their order; ``values`` what their cells are ("": recognised); ``label`` the right option,
    ``label_from`` the number of the first one where it is a number (None: recognised); ``texts`` the options' texts,
    a column each, or none; ``mass`` the share of the next-token probability that fell on the letters; ``extra`` says
    that the last two options are “I don't know” and “None of the above”.
    """

    options: tuple[str, ...]
    label: str
    values: str = ""
    label_from: int | None = None
    id: str = ""
    text: str = ""
    context: str = ""
    group: str = ""
    split: str = ""
    mass: str = ""
    texts: tuple[str, ...] = ()
    extra: bool = False

    def to_json(self) -> dict[str, Any]:
        """The choices as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Columns:
        """The choices that :meth:`to_json` wrote; :class:`InputError` for others."""
        known = {one.name for one in fields(cls)}
        if not isinstance(values, dict) or set(values) - known or not {"options", "label"} <= set(values):
            raise InputError(f"a mapping of columns has 'options', 'label' and may have more of {', '.join(known)}")
        made: dict[str, Any] = dict(values)
        for name in {"options", "texts"} & set(made):
            made[name] = tuple(made[name])
        return cls(**made)


def read(
    paths: Sequence[Path], *, columns: Columns | None = None, model: str = "", task: str = ""
) -> list[ImportedRun]:
    """Read tables; without ``columns`` they are recognised by name.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    return [run for path in paths for run in _read_file(path, columns, model, task)]


def read_mapping(path: Path) -> Columns:
    """A mapping of columns from a JSON file."""
    try:
        return Columns.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: expected a mapping of columns in JSON, found otherwise ({error})") from error


def recognise(sheet: Sheet, *, label: str = "") -> Columns:
    """Which column is what, by their names. Raises :class:`InputError` if no options or no label are seen."""
    names = sheet.names
    lower = {name.lower(): name for name in reversed(names)}

    def first(candidates: Sequence[str]) -> str:
        return next((lower[name] for name in candidates if name in lower), "")

    found = _option_columns(names)
    label = label or first(LABEL_NAMES)
    if found is None or not label:
        missing = "a column an option (A, B … or p_A, p_B …)" if found is None else "a column 'label'"
        raise InputError(
            f"{sheet.path}, line 1: expected {missing}, found {shown(', '.join(names))}; say which is which"
        )
    kind, options = found
    texts = tuple(f"option_{letter}" for letter in LETTERS[: len(options)])
    return Columns(
        options=options,
        label=label,
        values=kind,
        id=first(ID_NAMES),
        text=first(TEXT_NAMES),
        context=first(("context",)),
        group=first(GROUP_NAMES),
        split=first(SPLIT_NAMES),
        mass=first(("letter_mass",)),
        texts=texts if set(texts) <= set(names) else (),
    )


def _option_columns(names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The longest run of columns ``<prefix>A, <prefix>B …`` or ``<prefix>0, <prefix>1 …``, and what the prefix says."""
    prefixes = {re.sub(r"([A-Za-z]|\d+)$", "", name) for name in names}
    best: tuple[str, tuple[str, ...]] | None = None
    for prefix in sorted(prefixes):
        if not (seen := PREFIX.match(prefix)):
            continue
        kind = (seen["kind"] or "").lower()
        if kind == "option" and any(PREFIX.match(other) and other.lower() != prefix.lower() for other in prefixes):
            continue  # the options' texts
        for marks in (LETTERS, LETTERS.lower(), [str(i) for i in range(26)], [str(i) for i in range(1, 27)]):
            run: list[str] = []
            for mark in marks:
                if f"{prefix}{mark}" not in names:
                    break
                run.append(f"{prefix}{mark}")
            if len(run) >= 2 and (best is None or len(run) > len(best[1])):
                best = KIND_OF_PREFIX.get(kind, ""), tuple(run)
    return best


# ---------------------------------------------------------------- one file


def _read_file(path: Path, columns: Columns | None, model: str, task: str) -> list[ImportedRun]:
    sheet = open_sheet(path)
    columns = _known(sheet, columns) if columns else recognise(sheet)
    values, counts = _options(sheet, columns)
    kind = columns.values or recognised_values(values)
    if kind not in VALUES:
        raise InputError(f"unknown kind of values {kind!r}; choose from {', '.join(VALUES)}")
    columns = replace(columns, values=kind)
    logits = _logits(sheet, values, counts, kind)
    labels = _labels(sheet, columns, counts)
    ours = set(RUN_COLUMNS) <= set(sheet.names)
    of_run = [name for name in RUN_COLUMNS if name in sheet.names and not {"model": model, "task": task}.get(name)]
    of_run += [BANK] if ours and BANK in sheet.names else []
    named = [name for name in of_run if name not in {*columns.options, columns.label, columns.text, columns.group}]
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(zip(*(sheet.texts(name) for name in named), strict=True)):
        groups.setdefault(key, []).append(i)
    texts = _Texts.of(sheet, columns, ours)
    finger = fingerprint_of(path)
    told = {name: value for name, value in (("model", model), ("task", task)) if value}
    runs = []
    for key, rows in (groups or {(): list(range(len(labels)))}).items():
        about = {
            name: meant(value) if ours and sheet.kind == "csv" else value
            for name, value in zip(named, key, strict=True)
        }
        spec = _spec(about | told, sheet, path, finger, rows[0])
        run = _run(sheet, columns, spec, np.array(rows), logits, counts, labels, texts)
        bank = {"bank": {"name": about[BANK]}} if about.get(BANK) else {}
        runs.append(replace(run, provenance=run.provenance | bank))
    return runs


def _known(sheet: Sheet, columns: Columns) -> Columns:
    named = [*columns.options, *columns.texts, columns.label, columns.id, columns.text, columns.context]
    for name in [*named, columns.group, columns.split, columns.mass]:
        if name and name not in sheet.names:
            raise InputError(
                f"{sheet.path}, line 1: expected the column {name!r}, found {shown(', '.join(sheet.names))}"
            )
    if not 2 <= len(columns.options) <= len(LETTERS) or len(set(columns.options)) != len(columns.options):
        raise InputError(
            f"expected from 2 to {len(LETTERS)} different columns of options, found {len(columns.options)}"
        )
    if not columns.label or columns.label in columns.options:
        raise InputError(f"expected a column with the right option beside the options, found {columns.label!r}")
    if columns.texts and len(columns.texts) != len(columns.options):
        raise InputError(f"expected as many columns of texts as of options, found {len(columns.texts)}")
    return columns


def _options(sheet: Sheet, columns: Columns) -> tuple[FloatArray, IntArray]:
    """The cells of the options (n, k), NaN behind each row's last, and how many each row has (n,)."""
    values = np.stack([sheet.numbers(name) for name in columns.options], axis=1)
    there = ~np.isnan(values)
    counts = there.sum(axis=1)
    gaps = (there != (np.arange(values.shape[1]) < counts[:, None])).any(axis=1)
    if gaps.any():
        row = int(np.argmax(gaps))
        empty = columns.options[int(np.argmin(there[row]))]
        raise InputError(f"{sheet.where(row)}: expected options without gaps, found {empty!r} empty before others")
    if (counts < 2).any():
        row = int(np.argmax(counts < 2))
        raise InputError(f"{sheet.where(row)}: expected at least 2 options, found {counts[row]}")
    if np.isposinf(values).any():
        row = int(np.argmax(np.isposinf(values).any(axis=1)))
        raise InputError(f"{sheet.where(row)}: expected numbers, found infinity")
    return values, counts.astype(np.int64)


def recognised_values(values: FloatArray) -> str:
    """What the cells of options (n, k) are: probabilities, where most rows are; log-probabilities; else logits."""
    real = np.where(np.isnan(values), 0.0, values)
    sums = real.sum(axis=1)
    within = ((real >= 0) & (real <= 1 + SUM_WITHIN)).all(axis=1)
    if (within & (abs(sums - 1) <= SUM_WITHIN)).mean() > 0.5:
        return "probabilities"
    with np.errstate(over="ignore"):
        mass = np.where(np.isnan(values), 0.0, np.exp(np.where(np.isnan(values), 0.0, values))).sum(axis=1)
    if (mass <= 1 + SUM_WITHIN).all():
        return "log-probabilities"
    return "logits"


def _logits(sheet: Sheet, values: FloatArray, counts: IntArray, kind: str) -> npt.NDArray[np.float32]:
    there = ~np.isnan(values)
    if kind == "probabilities":
        bad = (np.where(there, values, 0) < 0).any(axis=1) | (np.where(there, values, 0) > 1 + SUM_WITHIN).any(axis=1)
        sums = np.where(there, values, 0).sum(axis=1)
        bad |= abs(sums - 1) > SUM_WITHIN
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{sheet.where(row)}: expected probabilities from 0 to 1 with sum 1, found {_listed(values[row])} with "
                f"sum {sums[row]:.6g}"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values)
    elif kind == "log-probabilities":
        bad = (np.where(there, values, -1) > SUM_WITHIN).any(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"{sheet.where(row)}: expected log-probabilities up to 0, found {_listed(values[row])}")
    filled = np.where(there, values, -np.inf)
    with np.errstate(over="ignore"):
        logits = filled.astype(np.float32)
    bad = ~np.isfinite(logits).any(axis=1) | np.isposinf(logits).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{sheet.where(row)}: expected numbers of which one is finite, found {_listed(values[row])}")
    check_not_flat(logits, sheet.path)
    return logits


def _listed(row: FloatArray) -> str:
    return ", ".join(f"{value:g}" for value in row if not np.isnan(value))


def _labels(sheet: Sheet, columns: Columns, counts: IntArray) -> IntArray:
    """The right options (n,), counted from 0."""
    cells = sheet.texts(columns.label)
    cells = [cell.removesuffix(".0") for cell in cells]
    start = _label_from(columns, cells, counts)
    known: dict[str, int] = {}
    for cell in dict.fromkeys(cells):
        if cell in columns.options:
            known[cell] = columns.options.index(cell)
        elif len(cell) == 1 and cell.upper() in LETTERS:
            known[cell] = LETTERS.index(cell.upper())
        elif re.fullmatch(r"-?\d{1,9}", cell):
            known[cell] = int(cell) - start
        else:
            row = cells.index(cell)
            raise InputError(
                f"{sheet.where(row)}: expected the right option in {columns.label!r} as a letter, a number or the name "
                f"of its column, found {shown(cell)}"
            )
    labels = np.array([known[cell] for cell in cells], dtype=np.int64)
    bad = (labels < 0) | (labels >= counts)
    if columns.extra:
        bad |= labels >= len(columns.options) - 2
    if bad.any():
        row = int(np.argmax(bad))
        can = int(counts[row]) - 2 * columns.extra
        raise InputError(
            f"{sheet.where(row)}: expected one of {can} options that can be right (A to {LETTERS[can - 1]}, or numbers "
            f"from {start}), found {shown(cells[row])}"
        )
    return labels


def _label_from(columns: Columns, cells: Sequence[str], counts: IntArray) -> int:
    """Where numbers count from: told, or 1 if they run up to the number of options and are never 0."""
    if columns.label_from is not None:
        return columns.label_from
    if set(cells) & set(columns.options) or not all(cell.isdigit() for cell in set(cells)):
        return 0
    numbers = np.array([int(cell[:9]) for cell in cells])
    return int((numbers >= 1).all() and (numbers <= counts).all() and (numbers == counts).any())


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

    @classmethod
    def of(cls, sheet: Sheet, columns: Columns, ours: bool) -> _Texts:
        """``ours``: the table is an export of Hedge, whose texts are kept (in CSV they were made harmless)."""

        def column(name: str) -> list[str]:
            cells = sheet.texts(name, as_is=ours) if name else []
            return [meant(cell) for cell in cells] if ours and sheet.kind == "csv" else cells

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
        raise InputError(
            f"{sheet.where(row)}: expected columns that name the run, found otherwise ({error})"
        ) from error


def _run(
    sheet: Sheet,
    columns: Columns,
    spec: RunSpec,
    rows: IntArray,
    logits: npt.NDArray[np.float32],
    counts: IntArray,
    labels: IntArray,
    texts: _Texts,
) -> ImportedRun:
    picked = rows.tolist()
    seen: dict[str, int] = {}
    for i in picked:
        if (first := seen.setdefault(texts.ids[i], i)) != i:
            raise InputError(
                f"{sheet.where(i)}: expected every id once, found {texts.ids[i]!r} again (first: {sheet.where(first)})"
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
            )
        )
    mass = sheet.numbers(columns.mass)[rows] if columns.mass else np.full(len(rows), np.nan)
    return ImportedRun(
        spec=spec,
        questions=tuple(questions),
        roles=_roles(sheet, columns, questions, picked, texts),
        scored=OptionLogits(
            tuple(q.id for q in questions), np.ascontiguousarray(logits[rows, :k]), mass.astype(np.float32)
        ),
        provenance={"file": sheet.path.name, "columns": columns.to_json(), "texts": bool(texts.questions)},
    )


def _option_names(columns: Columns) -> list[str]:
    """The names of options without texts: their columns' names, or their letters."""
    plain = all(len(re.sub(r"^.*[_ .-]", "", name)) <= 2 for name in columns.options)
    names = [f"option {letter}" for letter in LETTERS[: len(columns.options)]] if plain else list(columns.options)
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
    return counted_once(roles, questions) if texts.questions else tuple(roles)
