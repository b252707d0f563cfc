"""Which column of a table is what: the options, the right one, and what else a row says, seen by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.errors import InputError
from core.records import LETTERS, MOST_OPTIONS, Role
from core.tables.field_names import (
    CLUSTER_NAMES,
    GROUP_NAMES,
    ID_NAMES,
    LABEL_NAMES,
    MODEL_NAMES,
    OPTION_NAMES,
    PICK_NAMES,
    RIGHT_NAMES,
    SPLIT_NAMES,
    TASK_NAMES,
    TEXT_NAMES,
)
from core.tables.safe_read import reason, shown
from core.tables.tabular import Sheet, as_number

RUN_COLUMNS = ("model", "task", "strategy", "shots", "dtype", "form", "prompt_format", "seed")
"""Columns that say of which run a row is."""
BANK = "bank"
"""The column that names the bank of its questions; tables that Hedge wrote before there were banks lack it."""
PRECISION = "precision"
"""The column of a run whose logits a source gave in double precision. Tables of other runs lack it."""
ROLES: dict[str, Role] = {
    **dict.fromkeys(("calibration", "calibrate", "calib", "cal", "validation", "valid", "val", "dev"), "calibration"),
    **dict.fromkeys(("test", "testing", "evaluation", "eval"), "test"),
    **dict.fromkeys(("demonstration", "demo", "train", "training"), "demonstration"),
    "rotation": "rotation",
}
"""From a word in the split's column to what a question is for."""
KIND_WORDS = (
    ("negative log-probabilities", re.compile(r"nll|neg(ative)?[_ -]?log|(?<![a-z])loss")),
    ("log-probabilities", re.compile(r"log[_ -]?p(rob(s|abilit(y|ies))?)?(?![a-z])|log[_ -]?lik(elihood)?s?|\blls?\b")),
    ("logits", re.compile(r"logits?")),
    ("percentages", re.compile(r"per[_ -]?cent|pct")),
    (
        "counts",
        re.compile(
            r"^[_ .:()-]*+(?:(?:n|num|number|of|option|answer|choice|vote|pick|sample)s?[_ .:()-]+)*"
            r"(?:n|votes?|counts?|picks?|tally|tallies)[_ .:()-]*$"
        ),
    ),
    ("probabilities", re.compile(r"prob|freq|softmax|(?<![a-z])p(?![a-z])|conf")),
    ("", re.compile(r"^[_ .:()-]*+(score|class|option|opt|choice|ans|answer)?s?[_ .:()-]*$")),
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
    that the last two options are “I don't know” and “None of the above”; rows of one
    ``cluster`` belong together.
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
    cluster: str = ""

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


def read_mapping(path: Path) -> Columns:
    """A mapping of columns from a JSON file."""
    try:
        return Columns.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a mapping of columns in JSON ({reason(error)})") from error


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
    label = label or next((lower[n] for n in LABEL_NAMES if n in lower and not says_right(sheet, lower[n])), "")
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
        cluster=first(CLUSTER_NAMES),
        texts=_text_columns(
            [name for name in names if name not in numeric or name.startswith("option_")], len(options)
        ),
    )


def looks_scored(sheet: Sheet) -> bool:
    """Whether a table has columns of numbers that may be those of options."""
    return _option_columns([name for name in sheet.names if _is_numeric(sheet, name)]) is not None


def can_be_mapped(sheet: Sheet) -> bool:
    """Whether a person could say which columns are the options: some have numbers, in a row for each question."""
    return not _row_an_option(sheet) and sum(_is_numeric(sheet, name) for name in sheet.names) >= 2


def text_columns(sheet: Sheet) -> tuple[str, ...]:
    """The columns that hold the options' texts; none if there are not two of them."""
    texts = [name for name in sheet.names if name.startswith("option_") or not _is_numeric(sheet, name)]
    return _text_columns(texts, 2)


def option_text_columns(sheet: Sheet) -> tuple[str, ...]:
    """All columns that hold the options' texts; none if there are not two of them."""
    texts = [name for name in sheet.names if name.startswith("option_") or not _is_numeric(sheet, name)]
    return next((found for k in range(min(len(texts), MOST_OPTIONS), 1, -1) if (found := _text_columns(texts, k))), ())


def _lacking(sheet: Sheet, no_options: bool, pick: str) -> str:
    """The sentence on a table whose options or whose label are not seen."""
    where, columns = f"{sheet.path}, line 1", shown(", ".join(sheet.names))
    if no_options and _row_an_option(sheet):
        return f"{where}: expected a row for each question and a column for each option, found a row for each option"
    if no_options and pick and not sheet.texts(pick)[0].startswith(("{", "[")):
        return (
            f"{where}: expected the probability (or logit) of every option, found only the model's pick in {pick!r}; a "
            "pick alone can't form sets, but several picks of each question can: a row for each, or pick_1, pick_2 …"
        )
    empty = [name for name in sheet.names if sheet.kind == "xlsx" and sheet.table[name].null_count == len(sheet.table)]
    if no_options and len(empty) >= 2:
        return (
            f"{where}: expected numbers in the columns {shown(', '.join(empty))}, found no values; if their cells hold "
            "formulas, open the workbook in a spreadsheet and save it, so that it has their values"
        )
    missing = "a column for each option (A, B … or p_A, p_B …)" if no_options else "a column 'label'"
    way_out = "; say which is which" if can_be_mapped(sheet) else ""
    return f"{where}: expected {missing}, found {columns}{way_out}"


def _row_an_option(sheet: Sheet) -> bool:
    """Whether a table has a row for each option of a question: ids come again, each time with another option."""
    lower = {name.strip().lower(): name for name in reversed(sheet.names)}
    ids = next((lower[name] for name in (*ID_NAMES, *TEXT_NAMES) if name in lower), "")
    option = next((lower[name] for name in OPTION_NAMES if name in lower), "")
    if not ids or not option:
        return False
    rows = list(zip(sheet.texts(ids), sheet.texts(option), strict=True))
    return len(set(rows)) == len(rows) >= 2 * len(set(sheet.texts(ids)))


def _is_numeric(sheet: Sheet, name: str) -> bool:
    """Whether most of the first cells of a column that are there are numbers."""
    part = sheet.table[name].slice(0, NUMERIC_OF)
    if pa.types.is_floating(part.type) or pa.types.is_integer(part.type):
        return True
    cells = [cell for cell in part.to_pylist() if cell not in (None, "")]
    percent = any(str(cell).strip().endswith("%") for cell in cells)
    return bool(cells) and 2 * sum(as_number(cell, percent=percent) is not None for cell in cells) >= len(cells)


def says_right(sheet: Sheet, name: str) -> bool:
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
        if mark.isdecimal():
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


def naming(sheet: Sheet, columns: Columns, *, ours: bool, told: dict[str, str]) -> dict[str, str]:
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


def checked(sheet: Sheet, columns: Columns) -> Columns:
    named = [*columns.options, *columns.texts, columns.label, columns.id, columns.text, columns.context]
    for name in [*named, columns.group, columns.split, columns.mass, columns.cluster]:
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
