"""Tables from anywhere: one row per question, one column per option, and the right option.

Cells of options are probabilities (or per cent), log-probabilities or logits; which of them is told or recognised. A
column of lists is as good as a column per option (:mod:`core.exchange.list_columns`). A row may leave its last options
empty: it has fewer. The right option is named by its column, its letter, its number or its text. Where columns name the
run (``model``, ``task`` …), rows with different ones are different runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.errors import InputError
from core.exchange.build_run import check_not_flat, check_row, counted_once, split
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.list_columns import widened
from core.exchange.safe_read import shown
from core.exchange.tabular import Sheet, as_number, meant, open_sheets
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, FloatArray, IntArray, OptionLogits, Question, Role
from core.runs.spec import RunSpec

ORIGIN = "table"
VALUES = ("probabilities", "next-token probabilities", "percentages", "log-probabilities", "logits")
"""What cells can be. Next-token probabilities are those of the options' letters among all tokens: they sum to less than
1, their sum is the letter mass, and they are divided by it."""
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
LABEL_NAMES = (
    *("label", "answer", "gold", "target", "truth", "correct", "y", "answer_key", "answerkey", "correct_answer"),
    *("right_answer", "correct_option", "gold_label", "gold_index", "gold_idx", "label_idx", "label_index"),
    *("answer_idx", "answer_index", "ground_truth", "true_label", "y_true", "reference"),
)
RIGHT_NAMES = ("correct", "is_correct", "acc", "accuracy", "right")
"""Columns that may say whether the model was right, which is not which option is."""
PICK_NAMES = (
    *("prediction", "pred", "predicted", "model_answer", "response", "output", "pick", "choice", "model_output"),
    *("predicted_answer", "predicted_label", "pred_label", "generated_text", "completion", "extracted_answer"),
)
ID_NAMES = ("id", "qid", "question_id", "doc_id", "sample_id", "item_id", "example_id", "instance_id")
TEXT_NAMES = ("question", "text", "prompt", "query", "stem", "question_text", "input")
GROUP_NAMES = ("group", "subject", "category", "topic")
SPLIT_NAMES = ("split", "role", "set", "fold", "part")
MODEL_NAMES = ("model", "model_name", "model_id")
TASK_NAMES = ("task", "task_name", "dataset", "benchmark")
KIND_WORDS = (
    ("log-probabilities", re.compile(r"log[_ -]?p(rob(s|abilit(y|ies))?)?(?![a-z])|log[_ -]?lik(elihood)?s?|\blls?\b")),
    ("logits", re.compile(r"logits?")),
    ("percentages", re.compile(r"per[_ -]?cent|pct")),
    ("probabilities", re.compile(r"prob|softmax|(?<![a-z])p(?![a-z])|conf")),
    ("", re.compile(r"^[_ .:()-]*(score|class|option|opt|choice|ans|answer)?s?[_ .:()-]*$")),
)
"""What the words around an option's letter or number say of its cells, the first that fit; "" says nothing."""
NUMERIC_OF = 50
"""Rows that are looked at to tell columns of numbers from columns of texts."""
HENDRYCKS = re.compile(r"^(?P<model>.+)_choice[A-Z]_probs$")
"""A column of the results of MMLU's own evaluation, which has the question, its options and its answer without names
before it (columns 0 to 5)."""


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
        raise InputError(f"{path} is not a mapping of columns in JSON ({error})") from error


def recognise(sheet: Sheet, *, label: str = "") -> Columns:
    """Which column is what, by their names. Raises :class:`InputError` if no options or no label are seen."""
    names = sheet.names
    lower = {name.strip().lower(): name for name in reversed(names)}

    def first(candidates: Sequence[str]) -> str:
        return next((lower[name] for name in candidates if name in lower), "")

    numeric = [name for name in names if _is_numeric(sheet, name)]
    found = _option_columns(numeric)
    if (
        found
        and HENDRYCKS.match(found[1][0])
        and [str(i) for i in range(len(found[1]) + 2)] == names[: len(found[1]) + 2]
    ):
        k = len(found[1])
        return Columns(found[1], label or str(k + 1), found[0], text="0", texts=tuple(names[1 : k + 1]))
    label = label or next((lower[n] for n in LABEL_NAMES if n in lower and not _says_right(sheet, lower[n])), "")
    if found is None or not label:
        raise InputError(_lacking(sheet, found is None, first(PICK_NAMES)))
    kind, options = found
    return Columns(
        options=options,
        label=label,
        values=kind,
        id=first(ID_NAMES),
        text=first(TEXT_NAMES),
        context=first(("context",)),
        group=first(GROUP_NAMES),
        split=_split_column(sheet, first(SPLIT_NAMES)),
        mass=first(("letter_mass",)),
        texts=_text_columns(
            [name for name in names if name not in numeric or name.startswith("option_")], len(options)
        ),
    )


def looks_scored(sheet: Sheet) -> bool:
    """Whether a table has columns of numbers that may be those of options."""
    return _option_columns([name for name in sheet.names if _is_numeric(sheet, name)]) is not None


def text_columns(sheet: Sheet) -> tuple[str, ...]:
    """The columns that hold the options' texts; none if there are not two of them."""
    texts = [name for name in sheet.names if name.startswith("option_") or not _is_numeric(sheet, name)]
    return _text_columns(texts, 2)


def _lacking(sheet: Sheet, no_options: bool, pick: str) -> str:
    """The sentence on a table whose options or whose label are not seen."""
    where, columns = f"{sheet.path}, line 1", shown(", ".join(sheet.names))
    if no_options and pick:
        return (
            f"{where}: expected the probability (or logit) of every option, found only the model's pick in {pick!r}; a "
            "pick alone can't form sets"
        )
    missing = "a column an option (A, B … or p_A, p_B …)" if no_options else "a column 'label'"
    return f"{where}: expected {missing}, found {columns}; say which is which"


def _is_numeric(sheet: Sheet, name: str) -> bool:
    """Whether most of the first cells of a column that are there are numbers."""
    part = sheet.table[name].slice(0, NUMERIC_OF)
    if pa.types.is_floating(part.type) or pa.types.is_integer(part.type):
        return True
    cells = [cell for cell in part.to_pylist() if cell not in (None, "")]
    percent = any(str(cell).strip().endswith("%") for cell in cells)
    return bool(cells) and 2 * sum(as_number(cell, percent=percent) is not None for cell in cells) >= len(cells)


def _says_right(sheet: Sheet, name: str) -> bool:
    """Whether a column says that the model was right, which is not which option is right."""
    if name.strip().lower() not in RIGHT_NAMES:
        return False
    words = {"true", "false", "1", "0", "1.0", "0.0", "yes", "no", "correct", "incorrect", ""}
    return {cell.lower() for cell in sheet.texts(name)} <= words


def _split_column(sheet: Sheet, name: str) -> str:
    """A split's column; none where it has no word of a split at all, or one alone, which divides nothing."""
    words = set(sheet.texts(name)) if name else set()
    known = {role for word in words if (role := ROLES.get(word.lower()))}
    return name if len(words) > 1 and known else ""


def _marks(name: str) -> Iterator[tuple[str, int, str]]:
    """Every way to read a name as a letter or a number (from 0) between other words: the words with a place for it."""
    for found in re.finditer(
        r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|(?<=[a-z])[A-Z](?![A-Za-z])|(?<!\d)\d{1,2}(?!\d)", name
    ):
        mark = found[0]
        words = f"{name[: found.start()]}\0{name[found.end() :]}"
        if mark.isdigit():
            yield f"0{words}", int(mark), mark
            yield f"1{words}", int(mark) - 1, mark
        else:
            yield f"{'A' if mark.isupper() else 'a'}{words}", LETTERS.index(mark.upper()), mark


def _runs(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names that differ in a letter or number alone, which run from the first on; with the words around it."""
    found: dict[str, dict[int, str]] = {}
    for name in names:
        for words, place, _ in _marks(name):
            found.setdefault(words, {}).setdefault(place, name)
    for words, places in found.items():
        k = next((i for i in range(len(LETTERS) + 1) if i not in places), len(LETTERS))
        if k >= 2:
            yield words[1:], tuple(places[i] for i in range(k))


def _option_columns(names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The columns of the options, and what the words around their letters say of their cells.

    Of several, those that say what they are come first, then the longest, then the first.
    """
    best: tuple[tuple[bool, int], str, tuple[str, ...]] | None = None
    for words, run in _runs(names):
        said = words.replace("\0", "_").lower()
        kind = next((kind for kind, pattern in KIND_WORDS if pattern.search(said)), None)
        if kind is not None and (best is None or (kind != "", len(run)) > best[0]):
            best = (kind != "", len(run)), kind, run
    return best[1:] if best else None


def _text_columns(names: Sequence[str], k: int) -> tuple[str, ...]:
    """The columns of the options' texts, those of ``option`` in their name first; none if there are not k of them."""
    fitting = [
        (words, run[:k])
        for words, run in _runs(names)
        if len(run) >= k and KIND_WORDS[-1][1].match(words.replace("\0", "").lower())
    ]
    return max(fitting, key=lambda one: "option" in one[0].lower(), default=("", ()))[1]


# ---------------------------------------------------------------- one file


def _read_file(path: Path, columns: Columns | None, model: str, task: str) -> list[ImportedRun]:
    finger = fingerprint_of(path)
    found = [widened(sheet) for sheet in open_sheets(path)]
    if len(found) > 1:  # a workbook has other sheets beside its tables of questions
        found = [sheet for sheet in found if columns is not None or _recognised(sheet)] or found[:1]
    return [run for sheet in found for run in _read_sheet(sheet, columns, model, task, finger)]


def _recognised(sheet: Sheet) -> bool:
    try:
        recognise(sheet)
    except InputError:
        return False
    return True


def _read_sheet(sheet: Sheet, columns: Columns | None, model: str, task: str, finger: str) -> list[ImportedRun]:
    told_values = columns.values if columns else ""
    columns = _known(sheet, columns) if columns else recognise(sheet)
    values, counts = _options(sheet, columns)
    kind = told_values or _refined(columns.values, recognised_values(values))
    if kind not in VALUES:
        raise InputError(f"unknown kind of values {kind!r}; choose from {', '.join(VALUES)}")
    columns = replace(columns, values=kind)
    mass = sheet.numbers(columns.mass) if columns.mass else np.full(len(values), np.nan)
    if kind == "next-token probabilities" and not columns.mass:
        mass = np.where(np.isnan(values), 0, values).sum(axis=1)
    logits = _logits(sheet, values, counts, kind)
    ours = set(RUN_COLUMNS) <= set(sheet.names)
    texts = _Texts.of(sheet, columns, ours)
    labels = _labels(sheet, columns, counts, texts.options)
    named = _naming(sheet, columns, ours=ours, told={"model": model, "task": task})
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
        run = _run(sheet, columns, spec, np.array(rows), logits, counts, labels, texts, mass)
        more: dict[str, Any] = {"lacks": [name for name in ("model", "task") if not (about | told).get(name)]}
        if about.get(BANK):
            more["bank"] = {"name": about[BANK]}
        if ours and "run" in sheet.names:
            more["exported_run"] = sheet.texts("run")[rows[0]]
        runs.append(replace(run, provenance=run.provenance | more))
    return runs


def _naming(sheet: Sheet, columns: Columns, *, ours: bool, told: dict[str, str]) -> dict[str, str]:
    """The columns that say of which run a row is, by what they say; those that are told otherwise are left out."""
    lower = {name.strip().lower(): name for name in reversed(sheet.names)}
    wanted = {name: (name,) for name in RUN_COLUMNS} | {"model": MODEL_NAMES, "task": TASK_NAMES}
    wanted |= {BANK: (BANK,)} if ours else {}
    found = {
        what: next((lower[name] for name in names if name in lower), "")
        for what, names in wanted.items()
        if not told.get(what)
    }
    taken = {*columns.options, columns.label, columns.text, columns.group, columns.split, ""}
    return {what: name for what, name in found.items() if name not in taken}


def _refined(said: str, seen: str) -> str:
    """What the cells are, by what the columns' names say and what the cells look like.

    Names can't tell probabilities, per cent and next-token probabilities apart, nor logits from log-probabilities; the
    cells can.
    """
    shares = ("probabilities", "next-token probabilities", "percentages")
    if said == "probabilities" and seen in shares:
        return seen
    return said or seen


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
    """What the cells of options (n, k) are: probabilities or per cent, where most rows sum to 1 or 100; next-token
    probabilities, where every row sums to less; log-probabilities; else logits."""
    real = np.where(np.isnan(values), 0.0, values)
    sums = real.sum(axis=1)
    within = ((real >= 0) & (real <= 1 + SUM_WITHIN)).all(axis=1)
    if (within & (abs(sums - 1) <= SUM_WITHIN)).mean() > 0.5:
        return "probabilities"
    if ((real >= 0).all(axis=1) & (abs(sums - 100) <= 100 * SUM_WITHIN)).mean() > 0.5:
        return "percentages"
    if (within & (sums <= 1 + SUM_WITHIN) & (sums > 0)).all():
        return "next-token probabilities"
    with np.errstate(over="ignore"):
        mass = np.where(np.isnan(values), 0.0, np.exp(np.where(np.isnan(values), 0.0, values))).sum(axis=1)
    if (mass <= 1 + SUM_WITHIN).all():
        return "log-probabilities"
    return "logits"


def _logits(sheet: Sheet, values: FloatArray, counts: IntArray, kind: str) -> npt.NDArray[np.float32]:
    there = ~np.isnan(values)
    if kind == "percentages":
        values = values / 100
    if kind in ("probabilities", "percentages"):
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
    elif kind == "next-token probabilities":
        bad = (np.where(there, values, 0) < 0).any(axis=1) | (np.where(there, values, 0).sum(axis=1) > 1 + SUM_WITHIN)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{sheet.where(row)}: expected next-token probabilities from 0 to 1 with a sum up to 1, found "
                f"{_listed(values[row])}"
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


def _labels(sheet: Sheet, columns: Columns, counts: IntArray, texts: Sequence[Sequence[str]]) -> IntArray:
    """The right options (n,), counted from 0; ``texts`` are those of the options, a list a column, or none."""
    cells = [cell.removesuffix(".0") for cell in sheet.texts(columns.label)]
    numbers = _all_numbers(cells)
    start = _label_from(columns, cells, counts)
    labels = np.empty(len(cells), dtype=np.int64)
    known: dict[str, int | None] = {}
    for row, cell in enumerate(cells):
        if cell not in known:
            known[cell] = _marked(cell, columns.options, start)
        at = known[cell]
        if at is None or not 0 <= at < counts[row] or (texts and not numbers):
            own = [column[row].strip() for column in texts[: counts[row]]]
            at = own.index(cell) if own.count(cell) == 1 else at
        if at is None:
            raise InputError(
                f"{sheet.where(row)}: expected the right option in {columns.label!r} as a letter, a number, the name "
                f"of its column or its text, found {shown(cell)}"
            )
        labels[row] = at
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


def _all_numbers(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-?\d{1,9}", cell) for cell in set(cells))


def _marked(cell: str, options: Sequence[str], start: int) -> int | None:
    """The option (from 0) that a label's cell names by its column, its letter or its number; None for any other."""
    if cell in options:
        return options.index(cell)
    bare = cell.strip("()[]. ")
    if len(bare) == 1 and bare.upper() in LETTERS:
        return LETTERS.index(bare.upper())
    return int(cell) - start if re.fullmatch(r"-?\d{1,9}", cell) else None


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
    logits: npt.NDArray[np.float32],
    counts: IntArray,
    labels: IntArray,
    texts: _Texts,
    mass: FloatArray,
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
    return ImportedRun(
        spec=spec,
        questions=tuple(questions),
        roles=_roles(sheet, columns, questions, picked, texts),
        scored=OptionLogits(
            tuple(q.id for q in questions), np.ascontiguousarray(logits[rows, :k]), mass[rows].astype(np.float32)
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
