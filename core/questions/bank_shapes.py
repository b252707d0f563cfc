"""The shapes of question banks: which field of a file holds which part of a question.

The names of the fields stand in :mod:`core.tables.field_names`. All rows of a field decide what it holds. A
bank has texts of questions, options and right answers. Numbers as options are no results of a model unless they behave
like probabilities, log-probabilities or logits over the whole file.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.errors import InputError
from core.records import LETTERS
from core.storage.json_text import loads
from core.tables.cells import LONGEST_CELL, value_of
from core.tables.field_names import (
    CONTEXT_BEGINNINGS,
    CONTEXT_NAMES,
    HYPOTHESIS_NAMES,
    LABEL_NAMES,
    OPTION_BEGINNINGS,
    OPTIONS_NAMES,
    PICK_NAMES,
    QUESTION_NAMES,
    WRONG_BEGINNINGS,
    WRONG_NAMES,
    first,
    matching,
    plain_name,
)
from core.tables.json_table import Columns
from core.tables.tabular import Sheet, as_number

Texts = tuple[str, ...]

CONTINUATION = "How does it most sensibly go on?"
"""The question about a text whose continuations are the options."""
HYPOTHESIS = "Does the context support this statement? {}"
CAUSE_OR_EFFECT = {"cause": "What was the cause of this?", "effect": "What happened as a result of this?"}
"""The questions of COPA in words."""
ANSWER_WORDS = (
    ("yes", "no"),
    ("true", "false"),
    ("yes", "no", "maybe"),
    ("entailment", "neutral", "contradiction"),
    ("entailment", "not_entailment"),
    ("supports", "refutes", "not enough info"),
)
"""Answers that name their own options, where a file has no options."""
RIGHT_TEXT_NAMES = (
    *("correct_answer", "right_answer", "best_answer", "answer", "gold_answer", "correct", "correct_option"),
)
"""The right answer's text, beside fields of wrong answers."""
FLAGS = ("iscorrect", "correct", "isanswer", "right", "isright", "istrue")
"""In an object for each option, the key that says whether it is right."""
MARK_KEYS = ("label", "key", "letter", "id", "optionid", "index", "option", "choice", "aid")
TEXT_KEYS = ("text", "value", "content", "option", "choice", "answer", "optiontext", "choicetext", "body", "atext")
INDEX_NAMES = re.compile(r"^(unnamed: ?\d+|index|)$", re.IGNORECASE)
"""The names of a column that counts rows."""
ASKED = tuple(plain_name(name) for name in QUESTION_NAMES)
FIGURE_NAMES = re.compile(
    r"prob|logit|log_?p|softmax|likelihood|log_?lik|^lls?$|confidence|(^|_)(p|score)_?([a-z]|\d{1,2})$|^p_\w+$|^scores?$",
    re.I,
)
"""Names of columns of a model's figures."""
OPTIONS_FOLLOW = re.compile(r"^(?:answer )?(?:choices|options)\s*:\s*", re.IGNORECASE)
SEPARATORS = re.compile(r"[\[{|;\n]|\b[Aa]\s?[).:]")
"""What separates options in one text, other than commas."""
MARK = re.compile(r"^[(\[]?([A-Za-z])(?:\s?[).:、．\]]|\s[-–])\s*(?=\S)", re.DOTALL)
"""The letter in front of an option's text: "(A) …", "A. …", "a) …", "A - …"."""
FIRST_OPTION = re.compile(r"(?<=\s)(?:[(（]A[)）]|A[).:、．])\s*\S")
"""Where options begin in a text that holds the question before them."""
ANSWER_FOLLOWS = re.compile(r"\s+Answer:?\s*$", re.IGNORECASE)
OPTIONS_ANNOUNCED = re.compile(r"\s*(?:answer )?(?:choices|options)\s*:?\s*$", re.IGNORECASE)
IN_TURN_NAME = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|\d{1,2}|(?<=[a-z])[A-Z](?![A-Za-z])")
"""What names of columns may differ in: a letter alone, or a number."""
PLACE = re.compile(r"[(\[]?(?:[A-Za-z]|\d{1,2})[)\].]?")
"""What may be the letter or number of an option."""
NUMBER_MARK = re.compile(r"^(?:[(\[](?=\d+[)\]]))?(\d{1,2})(?:[)\]]|\s?[.:、．](?!\d))\s*(?=\S)", re.DOTALL)
"""The number in front of an option's text: "(1) …", "1. …", "1) …"."""


IN_TURN = "right answers put at A, B, C … in turn"


class RowOptions(NamedTuple):
    """The options of a row: their texts, the marks that the file gives them, and the place of the right one, if the
    options say it themselves."""

    texts: Texts
    marks: Texts = ()
    right: int = -1


@dataclass(slots=True)
class Options:
    """The options of all rows, as :class:`RowOptions` has them for one; ``marks`` and ``rights`` are empty if no row
    has any. ``names`` are their fields, ``remark`` what else was done to them."""

    texts: list[Texts]
    marks: list[Texts] = field(default_factory=list)
    rights: list[int] = field(default_factory=list)
    names: tuple[str, ...] = ()
    remark: str = ""

    @classmethod
    def of_rows(cls, rows: Sequence[RowOptions], names: tuple[str, ...] = (), remark: str = "") -> Options:
        marks = [row.marks for row in rows] if any(row.marks for row in rows) else []
        rights = [row.right for row in rows] if any(row.right >= 0 for row in rows) else []
        return cls([row.texts for row in rows], marks, rights, names, remark)


@dataclass(slots=True)
class Parts:
    """The parts of a bank's questions, with an entry for each row: ``answers`` are the fields that may name the right
    options, and ``columns`` all fields. ``remarks`` say what was done to the rows."""

    questions: list[str]
    contexts: list[str]
    options: Options
    answers: Columns
    columns: Columns
    remarks: tuple[str, ...] = ()


# ---------------------------------------------------------------- the file as fields


def with_header(columns: Columns) -> Columns:
    """The fields of a bank without a header (MMLU's CSV): its question, its options and the letter of the right one;
    columns with names are returned as they are."""
    names = list(columns)
    if len(names) < 4 or matching(names, (*QUESTION_NAMES, *LABEL_NAMES, *OPTIONS_NAMES)):
        return columns
    begin = int(not names[0].strip() or names[0].strip().isdecimal())
    last = [names[-1], *columns[names[-1]]]
    marks = {str(cell).strip() for cell in last}
    is_letter = all(len(mark) == 1 and "A" <= mark <= "J" for mark in marks)
    k = len(names) - 2 - begin
    if not is_letter or not 2 <= k <= 10 or len(names[begin]) < 2:
        return columns
    wanted = ["question", *LETTERS[:k], "answer"]
    return {name: [old, *columns[old]] for name, old in zip(wanted, names[begin:], strict=True)}


def flattened(columns: Columns) -> Columns:
    """The fields with nested questions as fields of their own, and a row for each question of a passage."""
    fields = dict(columns)
    for name, cells in columns.items():
        inner = [value_of(cell) for cell in cells[:1]]
        nested = isinstance(inner[0], dict) if inner else False
        if nested and (matching(inner[0], QUESTION_NAMES) and (len(columns) == 1 or plain_name(name) in ASKED)):
            rows = [row if isinstance(row := value_of(cell), dict) else {} for cell in fields.pop(name)]
            fields |= {
                str(key): [row.get(key) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)
            }
            break
    lists = first(fields, ("questions", "qas"))
    if lists:
        return _a_row_a_question(fields, lists)
    return fields


def _a_row_a_question(columns: Columns, name: str) -> Columns:
    """A row for each question of rows that hold lists of questions, as RACE has them for a passage."""
    n = len(columns[name])
    rows: list[dict[str, Any]] = []
    beside = [key for key in columns if key != name]
    for i in range(n):
        cell = value_of(columns[name][i])
        if not isinstance(cell, list):
            return columns
        own = {key: value_of(columns[key][i]) for key in beside}
        whole = {key: value for key, value in own.items() if not (isinstance(value, list) and len(value) == len(cell))}
        passage = str(own.get("id") or own.get("example_id") or i + 1)
        for j, item in enumerate(cell):
            row = {**whole, "cluster": own.get("cluster") or passage}
            row |= {"answer" if key == "answers" else key: own[key][j] for key in beside if key not in whole}
            row |= item if isinstance(item, dict) else {"question": item}
            if whole.get("id"):
                row["id"] = item.get("id") if isinstance(item, dict) and item.get("id") else f"{passage}-{j + 1}"
            rows.append(row)
    names = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in names}


# ---------------------------------------------------------------- what is asked


def parts(columns: Columns) -> Parts:
    """The parts of each row's question. Raises :class:`InputError` that says what the fields lack."""
    columns = flattened({name: cells for name, cells in columns.items() if any(not is_missing(cell) for cell in cells)})
    names = [name for name in columns if not INDEX_NAMES.match(name.strip())]
    columns = {name: columns[name] for name in names}
    if len(set(map(str, columns.get("id", ())))) == 1 < len(columns["id"]):  # that of a passage with all the questions
        columns |= {"cluster": columns.get("cluster") or columns.pop("id")}
    if not names:
        raise InputError("it holds no questions")
    may_ask = [name for name in matching(names, QUESTION_NAMES) if _is_text(columns[name])]
    question_column = next((name for name in may_ask if not _is_number(columns[name])), next(iter(may_ask), ""))
    context = _context(columns, question_column)
    context = context or ("" if question_column else _joined_context(columns))
    hypothesis = next((name for name in matching(names, HYPOTHESIS_NAMES) if name != context), "")
    taken = {question_column, context, hypothesis}
    options = _options(columns, taken)
    questions = _questions(columns, question_column, context, hypothesis)
    if questions and (options is None or _are_letters(options)) and (inside := _in_questions(questions)):
        questions, options = inside
    taken |= set(options.names) if options else set()
    answers = {name: columns[name] for name in matching(names, LABEL_NAMES) if name not in taken}
    if options is None:
        options = _own_words(columns, answers, question_column or hypothesis)
    if questions is None:
        raise InputError(f"expected a question, found the columns {listed(names)}")
    contexts = _stripped(columns[context]) if context else [""] * len(questions)
    source = f"context from {context[:40]!r}" if context and context != "context" else ""
    return Parts(questions, contexts, options, answers, columns, tuple(filter(None, [source, options.remark])))


def _is_text(cells: Sequence[Any]) -> bool:
    return 2 * sum(isinstance(cell, str) and bool(cell.strip()) for cell in cells) >= len(cells)


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace").strip()
    if isinstance(cell, list):  # paragraphs, or turns of a dialogue
        return "\n".join(_text(part) for part in cell).strip()
    if isinstance(cell, dict):
        return _text(next((cell[key] for key in ("contexts", "text", "passage") if key in cell), ""))
    return "" if cell is None else str(cell).strip()


def _stripped(cells: Sequence[Any]) -> list[str]:
    try:
        return [cell.strip() for cell in cells]
    except AttributeError:
        return [_text(cell) for cell in cells]


def _context(columns: Columns, question_column: str) -> str:
    """The field of what questions are about; a prompt that repeats the question is none."""
    for name in matching(columns, CONTEXT_NAMES):
        cells = columns[name]
        if name == question_column or (isinstance(cells[0], (int, float)) and _is_number(cells)):
            continue
        if not question_column:
            return name
        pairs = [(_text(cell), _text(q)) for cell, q in zip(cells[:1000], columns[question_column][:1000], strict=True)]
        if 2 * sum(bool(text) and question in text for text, question in pairs) <= len(pairs):
            return name
    return ""


def _joined_context(columns: Columns) -> str:
    """The name of a new field that joins the sentences of a story, if these are fields of their own."""
    for begin in CONTEXT_BEGINNINGS:
        parts_of_it = [name for name in columns if re.fullmatch(rf"{plain_name(begin)}\d", plain_name(name))]
        if len(parts_of_it) > 1:
            cells = zip(*(_stripped(columns[name]) for name in sorted(parts_of_it, key=plain_name)), strict=True)
            columns[parts_of_it[0]] = [" ".join(texts).strip() for texts in cells]
            return parts_of_it[0]
    return ""


def _questions(columns: Columns, question_column: str, context: str, hypothesis: str) -> list[str] | None:
    if question_column:
        texts = _stripped(columns[question_column])
        if {text.lower() for text in set(texts)} <= set(CAUSE_OR_EFFECT):
            return [CAUSE_OR_EFFECT[text.lower()] for text in texts]
        if hypothesis:
            return [f"{text}\n{_text(cell)}".strip() for text, cell in zip(texts, columns[hypothesis], strict=True)]
        return texts
    if hypothesis:
        return [HYPOTHESIS.format(_text(cell)) if _text(cell) else "" for cell in columns[hypothesis]]
    return [CONTINUATION if _text(cell) else "" for cell in columns[context]] if context else None


def _are_letters(options: Options) -> bool:
    return all(texts == tuple(LETTERS[: len(texts)]) for texts in options.texts)


def _in_questions(questions: list[str]) -> tuple[list[str], Options] | None:
    """Questions and options of texts that hold both, as the answer sheet of an exam does; None if any holds none."""
    texts, options = [], []
    for whole in questions:
        begin = FIRST_OPTION.search(whole)
        pieces = split_text(ANSWER_FOLLOWS.sub("", whole[begin.start() :]).strip()) if begin else ()
        if begin is None or not whole[: begin.start()].strip() or len(pieces) < 2 or not all(pieces):
            return None
        texts.append(OPTIONS_ANNOUNCED.sub("", whole[: begin.start()]).strip())
        options.append(pieces)
    return (texts, Options(options, remark="options from the questions")) if texts and all(texts) else None


def listed(names: Iterable[str]) -> str:
    text = ", ".join(" ".join(str(name).split())[:60] for name in list(names)[:20])
    return text if len(text) <= 300 else text[:299] + "…"


# ---------------------------------------------------------------- options


def _options(columns: Columns, taken: set[str]) -> Options | None:
    """The options of each row; None if no fields hold any."""
    names = [name for name in columns if name not in taken]
    for name in matching(names, OPTIONS_NAMES):
        options = options_of_cells(columns[name], name)
        if options is not None:
            return options
    own = option_columns(columns, names)
    if own:
        return Options(list(zip(*(_stripped(columns[name]) for name in own), strict=True)), names=own)
    single = (options_of_cells(columns[name], name, least=1) for name in matching(names, OPTIONS_NAMES))
    return _right_and_wrong(columns, names) or next(filter(None, single), None) or _in_turn(columns, names)


def _in_turn(columns: Columns, names: Sequence[str]) -> Options | None:
    """Options in columns with any names that differ in a letter from A on, or a number from 0 or 1 on, if there is one
    such set of them and a field of answers names one of its columns in every row."""
    runs: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        for match in IN_TURN_NAME.finditer(name):
            around = (name[: match.start()].lower(), name[match.end() :].lower())
            runs.setdefault(around, {}).setdefault(match[0].upper(), name)
    sets = set()
    for places in runs.values():
        for marks in (LETTERS, [str(i) for i in range(100)], [str(i) for i in range(1, 100)]):
            run = tuple(places[mark] for mark in itertools.takewhile(places.__contains__, marks))
            if len(run) >= 2 and len(run) == len(places) and not any(_is_number(columns[name]) for name in run):
                sets.add(run)
    if len(sets) != 1:
        return None
    (own,) = sets
    texts = list(zip(*(_stripped(columns[name]) for name in own), strict=True))
    answers = (columns[name] for name in matching(names, LABEL_NAMES) if name not in own)
    return Options(texts, names=own) if any(_are_in(cells, texts, own) for cells in answers) else None


def _are_in(cells: Sequence[Any], texts: Sequence[Texts], own: Texts) -> bool:
    """Whether each row's answer may name one of its options: by a letter, a number, its column or its text."""
    given = [(_text(cell), row) for cell, row in zip(cells, texts, strict=True) if not is_missing(cell)]
    return bool(given) and all(PLACE.fullmatch(cell) or cell in own or cell in row for cell, row in given)


def option_columns(columns: Columns, names: Iterable[str]) -> tuple[str, ...]:
    """The columns of the options, in order; texts come before numbers. None if there are not two of them."""
    sets = option_runs(names)
    texts = (run for run in sets if not all(_is_number(columns[name]) for name in run))
    return next(texts, next(iter(sets), ()))


def option_runs(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Names of options' fields, each time two or more in order: ``A`` to ``D``, ``option_a``, ``opa``, ``choice1``,
    ``ans0`` …; the letters alone come before other names."""
    runs: dict[str, dict[int, str]] = {}
    for name in names:
        plain = plain_name(name)
        if numbered := re.fullmatch(r"(.*?)(\d{1,2})", plain):
            begin, place = f"{numbered[1]}#", int(numbered[2])
        elif plain:
            begin, place = f"{plain[:-1]}@", ord(plain[-1]) - ord("a")
        else:
            continue
        if 0 <= place < 100:
            runs.setdefault(begin, {}).setdefault(place, name)
    sets: list[tuple[str, ...]] = []
    for begin in ("@", *(f"{plain_name(begin)}{kind}" for begin in OPTION_BEGINNINGS for kind in "@#")):
        places = runs.get(begin, {})
        start = 1 if begin.endswith("#") and 0 not in places else 0
        run = tuple(places[place] for place in itertools.takewhile(places.__contains__, itertools.count(start)))
        sets += [run] if len(run) >= 2 else []
    return sets


def _right_and_wrong(columns: Columns, names: Sequence[str]) -> Options | None:
    """Options from a right answer's text and wrong answers (SciQ, GPQA). The right answers take A, B, C … in turn."""
    right = next((name for name in matching(names, RIGHT_TEXT_NAMES) if _is_text(columns[name])), "")
    others = [name for name in names if name != right]
    list_name = first(others, WRONG_NAMES)
    begins = tuple(plain_name(begin) for begin in WRONG_BEGINNINGS)
    numbered = sorted(
        (int(numbered_name[2]), name)
        for name in others
        if (numbered_name := re.fullmatch(r"(.*?)(\d{1,2})", plain_name(name))) and numbered_name[1] in begins
    )
    own = tuple(name for _, name in numbered) or tuple(matching(others, WRONG_BEGINNINGS)[:1])
    if not right or not (list_name or own):
        return None
    if list_name:
        own = (list_name,)
        cells = [value_of(cell) for cell in columns[list_name]]
        wrong = [cell if isinstance(cell, list) else re.split(r"\s*[;|]\s*", _text(cell)) for cell in cells]
    else:
        wrong = [list(row) for row in zip(*(columns[name] for name in own), strict=True)]
    answers = {text for text in _stripped(columns[right]) if text}
    if answers and all(PLACE.fullmatch(text) for text in answers) and not _are_places(wrong):
        return None  # the place of the right answer, and not its text
    rows = []
    for i, (text, others_of_row) in enumerate(zip(_stripped(columns[right]), wrong, strict=True)):
        texts = (text, *(other for cell in others_of_row if (other := _text(cell))))
        rows.append(RowOptions(with_first_at(texts, i), right=i % len(texts) if text else -1))
    return Options.of_rows(rows, (right, *own), IN_TURN)


def _are_places(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether all options are single letters or numbers, as the right answer beside them is."""
    return all(PLACE.fullmatch(text) for row in rows for cell in row if (text := _text(cell)))


def with_first_at(texts: Texts, row: int) -> Texts:
    """The options with the first one at the place of the row: A in row 0, B in row 1, … and A again."""
    place = row % max(len(texts), 1)
    return (*texts[1 : place + 1], *texts[:1], *texts[place + 1 :])


def _own_words(columns: Columns, answers: Columns, question_column: str) -> Options:
    """Options of questions whose answers name them: yes and no, or whether a statement follows."""
    for cells in [] if len(answers) > 1 else answers.values():  # a label beside an answer may say whether it is right
        given = {str(cell).strip().lower() for cell in cells if not is_missing(cell)}
        words = next((options for options in ANSWER_WORDS if given and given <= set(options)), ())
        if words and question_column:
            places = {word: place for place, word in enumerate(words)}
            if words == ("true", "false") and all(isinstance(cell, bool) or cell is None for cell in cells):
                words = ("yes", "no")
            texts = tuple(word.replace("_", " ").capitalize() for word in words)
            return Options.of_rows(
                [RowOptions(texts, right=places.get(str(cell).strip().lower(), -1)) for cell in cells]
            )
    raise InputError(
        "expected options: a list, or a column for each option (A, B … or option_a, option_b …), found the columns "
        f"{listed(columns)}"
    )


# ---------------------------------------------------------------- options in one field


def options_of_cells(cells: Sequence[Any], name: str = "", *, least: int = 2) -> Options | None:
    """The options of a field's cells; None if the field holds something else in any row that is not empty, or if no row
    has the ``least`` number of options."""
    cells = _parsed_at_once(cells)
    try:
        if all(type(cell) is list for cell in cells):
            texts = [tuple(map(str.strip, cell)) for cell in cells]
            return Options(texts, names=(name,)) if max(map(len, texts), default=0) >= least else None
    except TypeError:
        pass
    if pieces := _split_at_commas(cells):
        return Options(pieces, names=(name,), remark="options split at commas")
    rows = [RowOptions(()) if is_missing(cell) else _options_of(cell) for cell in cells]
    known = [row for row in rows if row is not None]
    if len(known) < len(rows) or not any(len(row.texts) >= least for row in known):
        return None
    rights = {row.right for row in known if row.texts}
    if rights == {0} and len(known) > 1:  # TruthfulQA has the right one first
        known = [
            RowOptions(with_first_at(row.texts, i), right=i % max(len(row.texts), 1)) for i, row in enumerate(known)
        ]
        return Options.of_rows(known, (name,), IN_TURN)
    return Options.of_rows(known, (name,))


def _split_at_commas(cells: Sequence[Any]) -> list[Texts]:
    """The options of texts with commas between them, if all rows have as many and nothing else separates them."""
    if not all(isinstance(cell, str) and "," in cell and not SEPARATORS.search(cell) for cell in cells):
        return []
    pieces = [tuple(piece.strip() for piece in cell.split(",")) for cell in cells]
    return pieces if len(set(map(len, pieces))) == 1 and all(map(all, pieces)) else []


def _parsed_at_once(cells: Sequence[Any]) -> Sequence[Any]:
    """Cells that are lists in JSON as lists; other cells as they are."""
    if not all(isinstance(cell, str) and cell.startswith("[") for cell in cells):
        return cells
    try:
        lists: list[Any] = loads(f"[{','.join(cells)}]")
    except ValueError:
        return cells
    return lists if len(lists) == len(cells) else cells


def _options_of(cell: Any) -> RowOptions | None:
    if isinstance(cell, str) and isinstance(cell := value_of(cell), str):
        texts = () if cell.lstrip()[:1] in ("[", "{") else split_text(cell)
        return RowOptions(texts) if texts else None
    if isinstance(cell, dict):
        return _of_object(cell)
    if isinstance(cell, (list, tuple)):
        if cell and all(isinstance(item, dict) for item in cell):
            return _of_objects(cell)
        if cell and all(isinstance(item, (list, tuple)) and len(item) == 2 for item in cell):
            return RowOptions(tuple(_text(text) for _, text in cell), tuple(_text(mark) for mark, _ in cell))
        if any(isinstance(item, (list, dict)) for item in cell):
            return None
        return RowOptions(tuple(_text(item) for item in cell))
    return None


def _of_object(cell: dict[Any, Any]) -> RowOptions | None:
    """Options as the hub has them (lists of texts and labels), by their marks, or as texts that are right or not."""
    lower = {plain_name(str(key)): value for key, value in cell.items()}
    texts = next(
        (lower[key] for key in ("text", "texts", "choices", "options") if isinstance(lower.get(key), list)), None
    )
    if texts is not None:
        given: list[Any] = next((lower[key] for key in ("label", "labels") if isinstance(lower.get(key), list)), [])
        marks = tuple(str(mark).strip() for mark in given) if len(given) == len(texts) else ()
        plain = tuple(_text(text) for text in texts)
        if len(marks) > 1 and sorted(marks) == [*["0"] * (len(marks) - 1), "1"]:  # TruthfulQA
            return RowOptions(plain, right=marks.index("1"))
        return RowOptions(plain, marks)
    values = list(cell.values())
    if any(isinstance(value, (list, dict)) for value in values) or len(cell) < 2:
        return None
    keys = tuple(str(key).strip() for key in cell)
    lettered = all(key.upper() == letter for key, letter in zip(keys, LETTERS, strict=False))
    if not lettered and all(isinstance(value, (bool, int, float)) and value in (0, 1) for value in values):
        return RowOptions(keys, right=[int(value) for value in values].index(1)) if values.count(1) == 1 else None
    pairs = list(zip(keys, values, strict=True))
    if all(re.fullmatch(r"[A-Za-z]|\d{1,2}", key) for key in keys):  # in the order of the marks, and not of the file
        pairs.sort(
            key=lambda pair: (pair[0].isdecimal(), int(pair[0]) if pair[0].isdecimal() else ord(pair[0].upper()))
        )
    while len(pairs) > 2 and is_missing(pairs[-1][1]):
        pairs.pop()  # Parquet gives every row the keys of all rows
    return RowOptions(tuple(_text(value) for _, value in pairs), tuple(key for key, _ in pairs))


def _of_objects(cells: Sequence[dict[Any, Any]]) -> RowOptions | None:
    """Options as objects with a text, and maybe a mark and whether it is right."""
    if len(cells) > 1 and all(len(cell) == 1 for cell in cells):
        together = {key: value for cell in cells for key, value in cell.items()}
        return _of_object(together) if len(together) == len(cells) else None  # [{"A": "Paris"}, {"B": "Oslo"}]
    lower = [{plain_name(str(key)): value for key, value in cell.items()} for cell in cells]
    text = next((key for key in TEXT_KEYS if all(isinstance(item.get(key), (str, int, float)) for item in lower)), "")
    mark = next((key for key in MARK_KEYS if key != text and key in lower[0]), "")
    if not text:
        return None
    flag = next((key for key in FLAGS if key in lower[0]), "")
    flags = [str(item.get(flag)).lower() in ("true", "1") for item in lower] if flag else []
    marks = tuple(_text(item.get(mark)) for item in lower) if mark else ()
    return RowOptions(
        tuple(_text(item[text]) for item in lower), marks, flags.index(True) if flags.count(True) == 1 else -1
    )


def split_text(text: str) -> Texts:
    """The options of one text with marks ("A. Paris B. Oslo", "a ) 38 , b ) 27"), or with a line or a bar between
    them; empty if it has no options.

    >>> split_text("a ) 38 , b ) 27.5 , c ) 30"), split_text("A. Paris\\nB. Oslo"), split_text("Paris | Oslo")
    (('38', '27.5', '30'), ('Paris', 'Oslo'), ('Paris', 'Oslo'))
    """
    if len(text) > LONGEST_CELL:
        return ()
    text = OPTIONS_FOLLOW.sub("", text.strip())
    begin, ends, at = [], [], 0
    for letter in LETTERS:
        mark_at = re.compile(rf"(?:^|[\s,;，；])[(（]?[{letter}{letter.lower()}]\s?[).:、．）：]\s*").search(text, at)
        if mark_at is None or (letter == "A" and mark_at.start() > 0):
            break
        begin.append(mark_at.end())
        ends.append(mark_at.start())
        at = mark_at.end()
    if len(begin) >= 2:
        pieces = [text[start:end] for start, end in zip(begin, [*ends[1:], len(text)], strict=True)]
        return tuple(piece.strip().rstrip(",;，；").strip() for piece in pieces)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) >= 2 and all(re.match(rf"{LETTERS[i]} \S", line) for i, line in enumerate(lines[:26])):
        return tuple(line[2:].strip() for line in lines)
    for mark in ("\n", "|", ";"):
        pieces = [piece.strip() for piece in text.split(mark)]
        if len(pieces) >= 2 and all(pieces):
            return tuple(pieces)
    return ()


def without_marks(texts: Texts) -> Texts:
    """The options without the letters or numbers that all of them begin with, in order.

    >>> without_marks(("(A) Paris", "(B) Oslo")), without_marks(("A. Paris", "Oslo"))
    (('Paris', 'Oslo'), ('A. Paris', 'Oslo'))
    >>> without_marks(("1. Paris", "2. Oslo")), without_marks(("1:30", "2:30"))
    (('Paris', 'Oslo'), ('1:30', '2:30'))
    """
    numbered = texts[0].lstrip("([")[:1] == "1"
    marks = [(NUMBER_MARK if numbered else MARK).match(text) for text in texts]
    names = [mark[1].upper() for mark in marks if mark]
    if not names or names != [str(i + 1) if numbered else LETTERS[i] for i in range(len(texts))]:
        return texts
    return tuple(text[mark.end() :].strip() for text, mark in zip(texts, marks, strict=True) if mark)


# ---------------------------------------------------------------- banks and results


def is_missing(cell: Any) -> bool:
    """Whether a cell holds nothing."""
    if cell is None or cell == "":
        return True
    if isinstance(cell, float):
        return math.isnan(cell)
    return isinstance(cell, str) and not cell.strip()


def _is_number(cells: Sequence[Any]) -> bool:
    return all(as_number(cell, percent=False) is not None for cell in cells[:1000])


def looks_like_bank(sheet: Sheet) -> bool:
    """Whether a table is a question bank: it has questions, options and right answers, and no model's figures or picks.
    Options that are numbers are figures only if they behave like those of a model in the whole table."""
    columns = with_header(cells_of(sheet))
    try:
        bank = parts(columns)
    except InputError:
        return False
    if not (bank.answers or bank.options.rights or matching(columns, LABEL_NAMES)):
        return False
    used = {*bank.options.names, *matching(columns, OPTIONS_NAMES)}
    others = [name for name in columns if name not in used]
    if matching(others, PICK_NAMES) or any(_holds_figures(name, columns[name]) for name in others):
        return False
    numeric = [name for name in others if _is_number(columns[name])]
    letters = option_columns(columns, numeric)  # of a model's tokens, beside the options' texts
    figures = list(zip(*(_stripped(columns[name]) for name in letters), strict=True))
    return (not behave_like_scores(bank.options.texts) or named_by_text(bank)) and not behave_like_scores(figures)


def _holds_figures(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column holds a model's figures, by its name and its first cells."""
    if not FIGURE_NAMES.search(name.strip()):
        return False
    there = [value_of(cell) for cell in cells[:50] if not is_missing(cell)]
    if all(isinstance(cell, list) and sorted(map(str, cell))[:-1] == ["0"] * (len(cell) - 1) for cell in there):
        return False  # 1 for the right option, and 0 for the others
    return bool(there) and all(
        isinstance(cell, (list, dict)) or as_number(cell, percent=str(cell).strip().endswith("%")) is not None
        for cell in there
    )


def named_by_text(bank: Parts) -> bool:
    """Whether a field of answers has the text of one of its row's options in every row, as no model's figures have."""
    for cells in bank.answers.values():
        given = [
            (_text(cell), row) for cell, row in zip(cells, bank.options.texts, strict=True) if not is_missing(cell)
        ]
        if given and all(cell in row for cell, row in given) and not all(PLACE.fullmatch(cell) for cell, _ in given):
            return True
    return False


def behave_like_scores(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the options of all rows are numbers as a model gives them: rows that have the same sum (probabilities,
    votes), none above 0 (log-probabilities), or most with many decimals (logits)."""
    numbers = []
    for row in rows:
        values = [as_number(text, percent=text.endswith("%")) for text in row if text]
        if any(value is None or math.isnan(value) for value in values):
            return False
        numbers.append([float(value) for value in values if value is not None])
    if not numbers or not any(numbers):
        return False
    sums = sorted(sum(row) for row in numbers)
    middle = sums[len(sums) // 2]
    same = sum(abs(total - middle) <= 0.02 * abs(middle) for total in sums)
    varied = len(sums) > 2 and len({tuple(sorted(row)) for row in numbers}) > 1
    whole = varied or abs(middle - 1) <= 0.02
    if middle > 50 and all(value.is_integer() for row in numbers for value in row):
        whole = whole and 2 * sum(total == middle for total in sums) >= len(sums)  # votes, and no years
    if whole and middle > 0 and min(min(row, default=0.0) for row in numbers) >= 0 and same >= 0.95 * len(sums):
        return True
    flat = [text for row in rows for text in row if text]
    many = sum(len(text.partition(".")[2]) >= 4 for text in flat) >= 0.5 * len(flat)
    below = max(max(row, default=0.0) for row in numbers) <= 0 and any("." in text for text in flat)
    return many or below


def cells_of(sheet: Sheet) -> Columns:
    """The cells of a table's columns as Python values, with the lists and objects of JSON as they are."""
    return {name: sheet.nested.get(name) or sheet.table[name].to_pylist() for name in sheet.names}
