"""Which column of a table is what: the options, the right one, and what else a row says, seen by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import InputError
from core.exchange import table_lacks
from core.exchange.option_columns import OptionColumns, class_names, named_classes, option_columns
from core.exchange.option_columns import text_columns as text_option_columns
from core.records import MOST_OPTIONS
from core.tables import field_names
from core.tables.safe_read import reason, shown
from core.tables.tabular import Sheet

RUN_COLUMNS = ("model", "task", "strategy", "shots", "dtype", "form", "prompt_format", "seed")
"""Columns that name the run of a row."""
ASKED = ("strategy", "form")
"""Those that say how a model was asked. They are empty in the rows of a classifier, which was not."""
BANK = "bank"
"""The column that names the bank of its questions; tables that Hedge wrote before there were banks lack it."""
PRECISION = "precision"
"""The column of a run whose logits a source gave in double precision. Tables of other runs lack it."""
FLAGGED = {"1", "1.0", "true", "yes"}
"""What a flag says of rows that it is set for."""
PASSAGE_NAMES = tuple(name for name in field_names.CONTEXT_NAMES if name not in field_names.TEXT_NAMES)
"""A question's context in a table of results, where ``text`` and ``input`` may be a whole prompt."""
LOOKED_AT = 50
"""Rows in which columns that name classes are looked for before all rows are."""
NUMBER = r"^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?i:nan|inf|infinity)$"
PERCENTAGE = r"^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*%$"
MISSING = r"^(?i:none|null|n/?a|-)?$"
"""Cells that are numbers, and cells that say nothing, for Arrow's regular expressions."""
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
    ``cluster`` belong together; ``ordered`` says whether options are ordered levels. ``partial``: a person named only
    these, and the others are recognised in each table.
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
    ordered: str = ""
    partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """The choices as JSON values."""
        values = {name: value for name, value in asdict(self).items() if name != "partial"}
        return values if self.ordered else {name: value for name, value in values.items() if name != "ordered"}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Columns:
        """The choices that :meth:`to_json` wrote; :class:`InputError` for others."""
        known = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or set(values) - known or not {"options", "label"} <= set(values):
            raise InputError(f"a mapping of columns has 'options', 'label' and may have more of {', '.join(known)}")
        arguments: dict[str, Any] = dict(values)
        for name in {"options", "texts"} & set(arguments):
            arguments[name] = tuple(arguments[name])
        return cls(**arguments)


def read_mapping(path: Path) -> Columns:
    """A mapping of columns from a JSON file."""
    try:
        return Columns.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a mapping of columns in JSON ({reason(error)})") from error


def recognise(sheet: Sheet, *, label: str = "") -> Columns:
    """Which column is what, by their names. Raises :class:`InputError` if no options or no label are seen."""
    names = sheet.names
    numeric = _numeric(sheet)
    label = label or _label(sheet)
    if hendrycks := _hendrycks(names, numeric):
        k = len(hendrycks)
        return Columns(hendrycks, label or str(k + 1), "probabilities", text="0", texts=tuple(names[1 : k + 1]))
    known = _others(sheet, (label,))
    options = _options(sheet, numeric, known, label)
    one_figure = options is None or len(options.options) == 2  # of each row, which may seem a binary classifier's
    if one_figure and row_an_option(sheet):
        raise InputError(
            f"{sheet.path}, line 1: expected a row for each question and a column for each option, found a row for "
            "each option"
        )
    if options is None or not label:
        raise InputError(_lacking(sheet, options is None, field_names.first(names, field_names.PICK_NAMES)))
    return replace(known, options=options.options, label=label, values=options.kind, texts=options.texts)


def resolved(sheet: Sheet, named: Columns) -> Columns:
    """Which column is what in a table whose columns a person named, all of them or some (``partial``). Raises
    :class:`InputError` for a column that is not there, and as :func:`recognise` does."""
    if not named.partial:
        return checked(sheet, named)
    if not named.options:
        seen = recognise(sheet, label=named.label)
        return checked(sheet, replace(seen, values=named.values or seen.values, label_from=named.label_from))
    known = _others(sheet, (*named.options, named.label))
    texts = text_option_columns(_words(sheet, named.options), len(named.options))
    return checked(
        sheet,
        replace(
            known,
            options=named.options,
            label=named.label,
            values=named.values,
            label_from=named.label_from,
            texts=texts if len(texts) == len(named.options) and not set(texts) & {*named.options} else (),
        ),
    )


def suggested(sheet: Sheet) -> Columns:
    """What can be seen of a table whose options or label can't, for a person to complete."""
    label = _label(sheet)
    return replace(_others(sheet, (label,)), label=label)


def _label(sheet: Sheet) -> str:
    """The column with the right option: by its name, or because it alone names classes; empty if none is seen."""
    named = (name for name in field_names.matching(sheet.names, field_names.LABEL_NAMES) if not says_right(sheet, name))
    return next(named, "") or field_names.first(sheet.names, field_names.CLASS_LABEL_NAMES) or _naming(sheet)


def _naming(sheet: Sheet) -> str:
    """The one column whose cells name columns of probabilities; empty if there is no such column, if there are several,
    and if its cells are the likeliest classes, as a classifier's own answers are."""
    numeric = [name for name in sheet.names if _is_numeric(sheet, name)]
    beginning = replace(sheet, table=sheet.table.slice(0, LOOKED_AT), lines=None, nested={})
    picks = field_names.matching(sheet.names, field_names.PICK_NAMES)
    seen = [
        name
        for name in sheet.names
        if name not in picks and named_classes(beginning, [other for other in numeric if other != name], name)
    ]
    if len(seen) != 1:
        return ""
    classes = named_classes(sheet, [other for other in numeric if other != seen[0]], seen[0])
    if not classes:
        return ""
    likeliest = np.stack([sheet.numbers(name) for name in classes], axis=1).argmax(axis=1).tolist()
    own = class_names(classes)
    cells = sheet.texts(seen[0])
    return "" if all(cell in (own[j], classes[j]) for cell, j in zip(cells, likeliest, strict=True)) else seen[0]


def _others(sheet: Sheet, taken: Sequence[str]) -> Columns:
    """The columns that say something of a question beside its options and its answer."""
    free = [name for name in sheet.names if name not in taken]
    text = field_names.first(free, field_names.TEXT_NAMES)
    passages = field_names.matching([name for name in free if name != text], PASSAGE_NAMES)
    return Columns(
        (),
        "",
        id=field_names.first(free, field_names.ID_NAMES),
        text=text,
        context=next((name for name in passages if not _is_numeric(sheet, name)), ""),
        group=field_names.first(free, field_names.GROUP_NAMES),
        split=_split_column(sheet, field_names.first(free, field_names.SPLIT_NAMES)) or _other_split(sheet, free),
        mass=field_names.first(free, ("letter_mass",)),
        cluster=field_names.first(free, field_names.CLUSTER_NAMES),
        ordered=field_names.first(free, field_names.ORDERED_NAMES),
    )


def _options(sheet: Sheet, numeric: Sequence[str], known: Columns, label: str) -> OptionColumns | None:
    others = [known.id, known.text, known.context, known.group, known.split, known.mass, known.cluster, known.ordered]
    others.append(label)
    return option_columns(sheet, numeric, _words(sheet, numeric), known=others, label=label)


def _words(sheet: Sheet, numeric: Sequence[str]) -> list[str]:
    """The columns that may hold the options' texts."""
    return [name for name in sheet.names if name not in numeric or name.startswith("option_")]


def _hendrycks(names: Sequence[str], numeric: Sequence[str]) -> tuple[str, ...]:
    """The options of results of MMLU's own evaluation; none of other tables."""
    options = tuple(name for name in numeric if HENDRYCKS.match(name))
    models = {match["model"] for name in options if (match := HENDRYCKS.match(name))}
    before = [str(i) for i in range(len(options) + 2)]
    return options if len(models) == 1 and len(options) >= 2 and names[: len(before)] == before else ()


def figure_columns(sheet: Sheet) -> OptionColumns | None:
    """The columns of numbers that may be those of options."""
    return _options(sheet, _numeric(sheet), Columns((), ""), "")


def looks_scored(sheet: Sheet) -> bool:
    """Whether a table has columns of numbers that may be those of options."""
    return figure_columns(sheet) is not None


def can_be_mapped(sheet: Sheet) -> bool:
    """Whether a person could say which columns are the options: some have figures, in a row for each question."""
    return not row_an_option(sheet) and table_lacks.can_be_named(sheet, _numeric(sheet))


def text_columns(sheet: Sheet) -> tuple[str, ...]:
    """The columns that hold the options' texts; none if there are not two of them."""
    return text_option_columns(_words(sheet, _numeric(sheet)))


def _numeric(sheet: Sheet) -> list[str]:
    return [name for name in sheet.names if _is_numeric(sheet, name)]


def _lacking(sheet: Sheet, no_options: bool, pick: str) -> str:
    """The sentence on a table whose options or whose label are not seen."""
    where = f"{sheet.path}, line 1"
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
    numeric = _numeric(sheet)
    return f"{sheet.path}: {table_lacks.sentence(sheet, numeric, no_options=no_options)}"


def row_an_option(sheet: Sheet) -> str:
    """The column of the option where a table has a row for each option of a question: ids come again, each time with
    another option; empty for another table."""
    lower = {name.strip().lower(): name for name in reversed(sheet.names)}
    ids = next((lower[name] for name in (*field_names.ID_NAMES, *field_names.TEXT_NAMES) if name in lower), "")
    option = next((lower[name] for name in field_names.OPTION_NAMES if name in lower), "")
    if not ids or not option:
        return ""
    rows = list(zip(sheet.texts(ids), sheet.texts(option), strict=True))
    return option if len(set(rows)) == len(rows) >= 2 * len(set(sheet.texts(ids))) else ""


def _is_numeric(sheet: Sheet, name: str) -> bool:
    """Whether most cells of a column that are there are numbers. All rows count: the first ones may have no cell."""
    column = sheet.table[name]
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type):
        return True
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        cells = pc.utf8_trim_whitespace(column.drop_null())
        cells = cells.filter(pc.invert(pc.match_substring_regex(cells, MISSING)))
        percent = pc.any(pc.ends_with(cells, "%")).as_py()
        plain = pc.sum(pc.match_substring_regex(cells, PERCENTAGE if percent else NUMBER)).as_py() or 0
        return len(cells) > 0 and 2 * plain >= len(cells)
    return False


def says_right(sheet: Sheet, name: str) -> bool:
    """Whether a column says that the model was right, which is not which option is right."""
    if name.strip().lower() not in field_names.RIGHT_NAMES:
        return False
    words = {"true", "false", "1", "0", "1.0", "0.0", "yes", "no", "correct", "incorrect", ""}
    return {cell.lower() for cell in sheet.texts(name)} <= words


def _split_column(sheet: Sheet, name: str) -> str:
    """A split's column; none where it has no word of a split at all, or one alone, which divides nothing. A column that
    has only words of training says that no row may calibrate or test."""
    words = {word.lower() for word in sheet.texts(name)} if name else set()
    divides = len(words) > 1 and any(word in field_names.TRAINING or word in field_names.ROLES for word in words)
    return name if divides or (words and words <= field_names.TRAINING) else ""


def _other_split(sheet: Sheet, names: Sequence[str]) -> str:
    """The column that says which rows trained the model, if its name is not that of a split: it has no other words than
    those of splits, or is a flag; empty if there is none."""
    for name in names:
        begin = str(sheet.table[name][0]).lower() if sheet.table.num_rows else ""
        if begin in field_names.TRAINING or begin in field_names.ROLES:
            words = {word.lower() for word in sheet.texts(name)}
            if len(words) > 1 and words & field_names.TRAINING and words <= {*field_names.TRAINING, *field_names.ROLES}:
                return name
    name = field_names.first(names, field_names.TRAIN_FLAGS)
    words = {word.lower() for word in sheet.texts(name)} if name else set()
    return name if len(words) == 2 and words <= {*FLAGGED, "0", "0.0", "false", "no"} else ""


def roles_in(sheet: Sheet, columns: Columns) -> list[str]:
    """What the split's column says of each row, in words: a flag says which rows are of training."""
    cells = sheet.texts(columns.split)
    if field_names.first([columns.split], field_names.TRAIN_FLAGS):
        return ["train" if cell.lower() in FLAGGED else "test" for cell in cells]
    return list(cells)


def naming(sheet: Sheet, columns: Columns, *, ours: bool) -> dict[str, str]:
    """The columns that name the run of a row, by what they name."""
    lower = {name.strip().lower(): name for name in reversed(sheet.names)}
    wanted = {name: (name,) for name in RUN_COLUMNS} | {
        "model": field_names.MODEL_NAMES,
        "task": field_names.TASK_NAMES,
    }
    wanted |= {BANK: (BANK,)} if ours else {}
    columns_by_meaning = {
        what: next((lower[name] for name in names if name in lower), "") for what, names in wanted.items()
    }
    taken = {*columns.options, columns.label, columns.text, columns.group, columns.split, ""}
    return {what: name for what, name in columns_by_meaning.items() if name not in taken}


def checked(sheet: Sheet, columns: Columns) -> Columns:
    named = [*columns.options, *columns.texts, columns.label, columns.id, columns.text, columns.context]
    for name in [*named, columns.group, columns.split, columns.mass, columns.cluster, columns.ordered]:
        if name and name not in sheet.names:
            raise InputError(
                f"{sheet.path}, line 1: expected the column {name!r}, found {shown(', '.join(sheet.names))}"
            )
    if not 2 <= len(columns.options) <= MOST_OPTIONS or len(set(columns.options)) != len(columns.options):
        raise InputError(
            f"expected from 2 to {MOST_OPTIONS} different columns of options, found {len(columns.options)}"
        )
    if not columns.label or columns.label in columns.options:
        raise InputError(f"expected a column with the right option beside the options, found {columns.label!r}")
    if columns.texts and len(columns.texts) != len(columns.options):
        raise InputError(f"expected as many columns of texts as of options, found {len(columns.texts)}")
    return columns
