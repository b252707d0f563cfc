"""Judgements of jurors from files: the published CSV, text with labels beside it, or one tidy table.

``published``  a CSV a juror and part, ``jury_logits_<juror>_<calib|test>.csv``: question, answer, accurate_judgement
               (Correct or Incorrect) and logits, which is the text of ``[[p_true, p_false]]``
``text``       a text file a juror: a line an answer, fields between tabs, the question first, the answer after it where
               there is one, then p_true or ``[[p_true, p_false]]``; what is right is joined from a table by question
``tidy``       one CSV, Parquet or JSON-lines table: question, answer, juror, p_true, label, and maybe p_false, id,
               part, cluster
``columns``    one table with a column for each judge, beside one with what is right (:mod:`.judge_columns`)

Nothing is evaluated: a field is a number or JSON, or it is refused with its file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InputError
from core.exchange import judge_columns
from core.jury.judgements import FIRST, NEEDED, SECOND, Judgements, check_columns, check_jury, from_table, joined, truth
from core.records import FloatArray
from core.tables.encodings import read_text
from core.tables.field_names import first
from core.tables.read_as import counted
from core.tables.safe_read import check_size, shown
from core.tables.tabular import Sheet, meant, open_sheet

FILE_NAME = re.compile(r"^(?:jury_)?(?:logits_)?(?:qlora_)?(?P<juror>.+?)(?:_(?P<part>calib|calibration|test))?$")
PARTS = {"calib": "calibration", "calibration": "calibration", "test": "test", None: ""}
LABEL_COLUMNS = ("label", "correctness", "accurate_judgement", "correct")
TIED = ("tie", "tied", "½", "0.5", "equal", "draw", "both", "neither")
"""Labels that count half for each side."""
NAMED = 3
"""The most questions without a label that a note lists."""

if TYPE_CHECKING:  # heavy, and needed for tidy tables alone
    import pandas as pd

Row = tuple[str, str, str, bool, float, float]


@dataclass(frozen=True, slots=True)
class ReadJury:
    """The judgements that were read, notes for the person who imports them, and a name if the source gives one."""

    judgements: Judgements
    notes: tuple[str, ...] = ()
    name: str = ""


def read(paths: Sequence[Path], *, labels: Path | None = None, single: bool = False) -> ReadJury:
    """The jury of files of one format, recognised by their endings and columns.

    ``labels`` is the table with what is right, which text files need. ``single`` admits one juror alone.
    Raises :class:`InputError` that names the file and line, what was expected and what was found.
    """
    parsed = _read(paths, labels, single=single)
    if not single:
        check_jury(parsed.judgements)
    return parsed


def _read(paths: Sequence[Path], labels: Path | None, *, single: bool) -> ReadJury:
    if not paths:
        raise InputError("there are no files of judgements; give at least one")
    texts = [path for path in paths if path.suffix.lower() == ".txt"]
    if texts:
        other = next((path for path in paths if path not in texts), None)
        if labels is None and other is not None and len(paths) == len(texts) + 1:
            labels, other = other, None
        if other is not None:
            raise InputError(f"{other}: expected text files alone beside one table of labels, found several tables")
        return _texts(texts, labels)
    sheets = [open_sheet(path) for path in paths]
    if all("logits" in sheet.names for sheet in sheets):
        return _published(sheets)
    if len(sheets) == 1:
        sheets = [judge_columns.unfolded(sheets[0])]
    single = single and not is_tidy(sheets[0].names)
    if len(sheets) == 1 and (columns := judge_columns.judge_columns(sheets[0], single=single)):
        return ReadJury(*judge_columns.read(sheets[0], columns))
    if len(sheets) == 1:
        judgements, known, _ = labelled(sheets[0])
        decided = np.isin(known, (0, 1))
        if not decided.any():
            raise InputError(f"{sheets[0].path}: expected what is right in label, found nothing decided")
        left = len(decided) - int(decided.sum())
        note = f"{counted(left, 'answer is', 'answers are')} left out, because label names no side."
        return ReadJury(judgements.rows(decided), (note,)) if left else ReadJury(judgements)
    odd = next(sheet for sheet in sheets if "logits" not in sheet.names)
    raise InputError(
        f"{odd.path}: expected a column logits, as the published files have, or one tidy table alone, found the "
        f"columns {', '.join(odd.names)}"
    )


def is_tidy(names: Sequence[str]) -> bool:
    """Whether a table with these columns has a row for each verdict."""
    return set(NEEDED) <= set(names) or bool(judge_columns.long_columns(names))


def tidy(sheet: Sheet) -> pd.DataFrame:
    """A tidy table's columns, with the texts that were made harmless for a spreadsheet as they were."""
    import pandas as pd

    columns = {name: sheet.table[name].to_pylist() for name in sheet.names}
    texts = {name: name for name in {"question", "answer", "juror", "id", "cluster"} & set(columns)}
    if not set(NEEDED) <= set(columns):
        theirs = judge_columns.long_columns(sheet.names)
        columns |= {name: columns[own] for name, own in theirs.items()}
        texts |= {name: own for name, own in theirs.items() if name in ("question", "answer", "juror")}
    else:
        theirs = {"p_true": "p_true", "label": "label"}
    if theirs:
        columns["label"] = judge_columns.by_letter(sheet.texts(theirs["label"]))
        pairs = "first" in columns["label"] or "second" in columns["label"]
        columns["p_true"] = [judge_columns.verdict(cell, pairs=pairs) for cell in sheet.texts(theirs["p_true"])]
        confidence = first(sheet.names, ("confidence", "conf", "judge_confidence", "verdict_confidence"))
        if theirs["p_true"] != "p_true" and confidence and set(columns["p_true"]) <= {"0.0", "0.5", "1.0"}:
            sides = np.array(columns["p_true"], dtype=np.float64)
            columns["p_true"] = judge_columns.with_confidence(sheet, confidence, sides, range(len(sides))).tolist()
    for name, own in texts.items():
        columns[name] = [meant(cell) for cell in sheet.texts(own, as_is=True)]
    return pd.DataFrame(columns, dtype=object)  # texts of Arrow are slow to loop over


def labelled(sheet: Sheet) -> tuple[Judgements, FloatArray, tuple[str, ...]]:
    """The judgements of a tidy table; the label of each answer, (n,): 1 for right or the first answer, 0 for wrong or
    the second, ½ for a tie, NaN where no row says it; and the jurors in the order of the rows. An answer whose label is
    neither 0 nor 1 has the label False in the judgements. Raises :class:`InputError` for an answer with two labels."""
    table = tidy(sheet)
    check_columns(table.columns, str(sheet.path))
    cells = [str(cell).strip() for cell in table["label"]]
    keys: list[tuple[str, str, str, int]] = []
    seen: dict[tuple[str, str, str, str], int] = {}
    parts = [str(cell) for cell in table["part"]] if "part" in table else [""] * len(table)
    for part, question, answer, juror in zip(parts, *(table[n] for n in ("question", "answer", "juror")), strict=True):
        judged_by = (part, str(question), str(answer), str(juror))
        seen[judged_by] = seen.get(judged_by, -1) + 1
        keys.append((*judged_by[:3], seen[judged_by]))
    known: dict[tuple[str, str, str, int], str] = {}
    for row, (key, cell) in enumerate(zip(keys, cells, strict=True)):
        if cell.lower() in judge_columns.MISSING:
            continue
        if (known.setdefault(key, cell).lower() in TIED) != (cell.lower() in TIED):
            raise InputError(
                f"{sheet.where(row)}: expected the label {shown(known[key])}, which the answer has in another row, "
                f"found {shown(cell)}; an answer has one label"
            )
    tied = {key for key, cell in known.items() if cell.lower() in TIED}
    decided = [cell.lower() for key, cell in known.items() if key not in tied]
    empty = SECOND if decided and set(decided) <= {FIRST, SECOND} else "False"
    own = [
        known.get(key, "") if cell.lower() in judge_columns.MISSING else cell
        for key, cell in zip(keys, cells, strict=True)
    ]
    table["label"] = [empty if key not in known or key in tied else cell for key, cell in zip(keys, own, strict=True)]
    jurors = list(dict.fromkeys(map(str, table["juror"])))
    judgements = from_table(table, where=str(sheet.path))
    own_keys = [key for key, juror in zip(keys, table["juror"], strict=True) if str(juror) == jurors[0]]
    labels = judgements.labels.astype(np.float64)
    labels[[key in tied for key in own_keys]] = 0.5
    labels[[key not in known for key in own_keys]] = np.nan
    return judgements, labels, tuple(jurors)


def juror_and_part(path: Path) -> tuple[str, str]:
    """The juror that a file is of, and which part, from its name.

    >>> juror_and_part(Path("jury_logits_qlora_llama13b_calib.csv"))
    ('llama13b', 'calibration')
    """
    named = FILE_NAME.match(path.stem)
    if named is None:
        return path.stem, ""
    return named["juror"], PARTS[named["part"]]


def probabilities(cell: str) -> tuple[float, float]:
    """p_true and p_false of a cell: a number, or the text of ``[p, p]`` or ``[[p, p]]``; read as JSON, never evaluated.

    >>> probabilities("[[0.75, 0.25]]")
    (0.75, 0.25)
    """
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        value = None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list) and len(value) == 2:
        pair = value
    elif isinstance(value, (int, float)):
        pair = [value, 1 - value]
    else:
        raise InputError(f"expected [[p_true, p_false]], found {shown(cell)}")
    if not all(isinstance(p, (int, float)) and not isinstance(p, bool) and 0 <= p <= 1 for p in pair):
        raise InputError(f"expected probabilities in [0, 1], found {shown(cell)}")
    return float(pair[0]), float(pair[1])


# ---------------------------------------------------------------- the published files


def _published(sheets: Sequence[Sheet]) -> ReadJury:
    jurors: dict[str, list[Row]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for sheet in sheets:
        juror, part = juror_and_part(sheet.path)
        if (juror, part) in seen:
            raise InputError(
                f"{sheet.path}: expected one file of juror {juror!r} for each part, found {seen[juror, part].name} too"
            )
        seen[juror, part] = sheet.path
        jurors.setdefault(juror, []).extend(_rows(sheet, part))
    return ReadJury(joined(list(jurors.items())))


def _rows(sheet: Sheet, part: str) -> Iterable[Row]:
    lacking = [name for name in ("question", "answer") if name not in sheet.names]
    label = next((name for name in LABEL_COLUMNS if name in sheet.names), None)
    if lacking or label is None:
        raise InputError(
            f"{sheet.path}: expected the columns question, answer, accurate_judgement and logits, found "
            f"{', '.join(sheet.names)}"
        )
    cells = (sheet.texts(name, as_is=True) for name in ("question", "answer", label, "logits"))
    for row, (question, answer, correct, logits) in enumerate(zip(*cells, strict=True)):
        try:
            yield part, question, answer, truth(correct), *probabilities(logits)
        except InputError as error:
            raise InputError(f"{sheet.where(row)}: {error}") from None


# ---------------------------------------------------------------- text files with labels beside them


@dataclass(frozen=True, slots=True)
class _Line:
    question: str
    answer: str
    p_true: float
    p_false: float


def _texts(paths: Sequence[Path], labels: Path | None) -> ReadJury:
    if labels is None:
        raise InputError(
            f"{paths[0]}: text files say nothing of what is right; give a table with question and label beside them"
        )
    known = _labels(open_sheet(labels))
    jurors: dict[str, list[Row]] = {}
    notes = []
    for path in paths:
        juror, part = juror_and_part(path)
        lines = _lines(path)
        rows: list[Row] = []
        left = []
        for line in lines:
            label = known(line.question, line.answer)
            if label is None:
                left.append(line.question)
            else:
                rows.append((part, line.question, line.answer, label, line.p_true, line.p_false))
        notes.append(_joined_note(path, len(rows), len(lines), left, labels))
        if not rows:
            raise InputError(
                f"{path}: expected questions that {labels.name} has too, found none among {len(lines)} lines"
            )
        jurors.setdefault(juror, []).extend(rows)
    return ReadJury(joined(list(jurors.items())), tuple(notes))


def _joined_note(path: Path, rows: int, lines: int, left: Sequence[str], labels: Path) -> str:
    sentence = f"{path.name}: {rows:,} of {lines:,} lines were joined with {labels.name} by their question"
    if not left:
        return f"{sentence}."
    examples = ", ".join(shown(question) for question in left[:NAMED])
    return f"{sentence}; left out: {examples}{' …' if len(left) > NAMED else ''}."


def _lines(path: Path) -> list[_Line]:
    check_size(path)
    text, _ = read_text(path)
    lines = []
    for place, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {place}"
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in (2, 3) or not fields[0]:
            raise InputError(
                f"{where}: expected a question, maybe its answer, and [[p_true, p_false]] between tabs, found "
                f"{shown(line)}"
            )
        try:
            lines.append(_Line(fields[0], fields[1] if len(fields) == 3 else "", *probabilities(fields[-1])))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    if not lines:
        raise InputError(f"{path}: expected lines of judgements, found none")
    return lines


def _labels(sheet: Sheet) -> Callable[[str, str], bool | None]:
    """What finds the label of a question and answer; None if there is none, or equal questions differ in it."""
    label = next((name for name in LABEL_COLUMNS if name in sheet.names), None)
    if "question" not in sheet.names or label is None:
        raise InputError(
            f"{sheet.path}: expected the columns question and label (or correctness), found {', '.join(sheet.names)}"
        )
    by_question: dict[str, set[bool]] = {}
    by_answer: dict[tuple[str, str], set[bool]] = {}
    answers = sheet.texts("answer") if "answer" in sheet.names else [""] * sheet.table.num_rows
    for row, (question, answer, cell) in enumerate(
        zip(sheet.texts("question"), answers, sheet.texts(label), strict=True)
    ):
        try:
            right = truth(cell)
        except InputError as error:
            raise InputError(f"{sheet.where(row)}: {error}") from None
        by_question.setdefault(_key(question), set()).add(right)
        by_answer.setdefault((_key(question), _key(answer)), set()).add(right)

    def find(question: str, answer: str) -> bool | None:
        rights = by_answer.get((_key(question), _key(answer))) if answer else None
        rights = rights or by_question.get(_key(question), set())
        return next(iter(rights)) if len(rights) == 1 else None

    return find


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
