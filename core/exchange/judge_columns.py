"""A table with a column for each judge, beside a column that says what is right: a jury in one sheet.

A row is an answer, which judges call right or wrong or give a probability of being right, or a pair of answers,
with the better one named. All cells of a column decide what it holds.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.errors import InputError
from core.jury.judgements import Judgements
from core.records import FloatArray
from core.tables.cells import value_of
from core.tables.field_names import (
    CLUSTER_NAMES,
    ID_NAMES,
    JUDGED_NAMES,
    JUROR_NAMES,
    QUESTION_NAMES,
    TRUTH_NAMES,
    VERDICT_NAMES,
    first,
    matching,
    plain_name,
)
from core.tables.read_as import counted
from core.tables.safe_read import shown
from core.tables.tabular import Sheet, as_number, meant

SURE_VERDICTS = ("ptrue", "verdict", "judgement", "judgment")
"""Names of verdicts that hold nothing else."""
Meaning = Literal["verdicts", "probabilities", "pairs", ""]
"""What a column's cells are; "" for anything else."""
PAIRED = re.compile(r"^(answer|response|output|completion|candidate|reply|model)(a|b|1|2)$")
"""The names of columns with the two answers of a pair, by their letters and digits."""
NAMED_JUDGE = re.compile(
    r"gpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|command|grok|prometheus|skywork|judge|juror|rater|"
    r"annotator|evaluator|grader|reviewer"
)
PERSON = re.compile(r"judge|juror|rater|annotator|evaluator|grader|reviewer")
OPTION_OF_MODEL = re.compile(r"[_ .-](choice_?)?[A-J]$")
"""What the name of a model's figure for an option ends with, as ``llama_A``."""
MEASURE = re.compile(
    r"conf|prob|^p(true|false)?$|score|entropy|margin|acc|loss|perplex|length|token|time|seed|temperature|index|idx|rank|"
    r"similarity|bleu|rouge|f1|weight|agreement|subset|category|source|turn|split|part|row|number"
)
"""Names of columns that are no judge's, unless they name one too."""
SIDE = re.compile(
    r"[_ ]*(verdicts?|judge?ments?|labels?|p_?true|prob(ability)?|winner|preference|decision|vote)$", re.I
)
"""What a judge's name may end with."""
CONFIDENCE = re.compile(r"[_ .-]*conf(idence)?$", re.I)
"""What the name of a judge's confidence in its own verdicts ends with."""
FALSE_SIDE = re.compile(r"(p_?false|prob(ability)?_?false)$", re.I)
TRUE = ("true", "1", "correct", "right", "yes", "y", "pass", "passed", "supported", "valid", "accurate", "good")
FALSE = ("false", "0", "incorrect", "wrong", "no", "n", "fail", "failed", "unsupported", "invalid", "inaccurate", "bad")
FIRST = ("a", "1", "first", "a>b", "a>>b", "model_a", "response_a", "answer_a", "[[a]]", "output_1", "left")
SECOND = ("b", "2", "second", "b>a", "b>>a", "model_b", "response_b", "answer_b", "[[b]]", "output_2", "right")
TIED = ("tie", "c", "both", "equal", "draw", "a=b", "[[c]]", "tie (bothbad)", "tie (both bad)", "0", "neither")
MISSING = ("", "nan", "none", "null", "n/a", "na", "<na>", "-")
LOOKED_AT = 50
"""Rows that are looked at before all are."""
OPTION_LIKE = re.compile(r"^(p|prob|probability|logit|logprob|score|option|choice|class)?(\d{1,3}|[a-z])$")


@dataclass(frozen=True, slots=True)
class JudgeColumns:
    """Which column says what is right ("": none), which are judges, and what their cells are."""

    truth: str
    judges: tuple[str, ...]
    pairs: bool


def judge_columns(sheet: Sheet, *, single: bool = False, labelled: bool = True) -> JudgeColumns | None:
    """The columns of a table that has one for each of two or more judges, None for any other table. ``single`` admits
    one judge, and a table that is not ``labelled`` may lack what is right. Raises :class:`InputError` where two columns
    may be what is right."""
    fewest = 1 if single else 2
    _check_single(sheet)
    truths = matching(sheet.names, TRUTH_NAMES)
    if sheet.table.num_rows < 2:
        return None
    has_pairs = sum(bool(PAIRED.match(plain_name(name))) for name in sheet.names) >= 2
    if not has_pairs and not first(sheet.names, JUDGED_NAMES):
        return None
    texts = {*matching(sheet.names, (*QUESTION_NAMES, *JUDGED_NAMES, *ID_NAMES, *CLUSTER_NAMES))}
    candidates = [name for name in sheet.names if name not in {*texts, *truths} and _may_judge(name)]
    _check_points(sheet, [name for name in candidates if NAMED_JUDGE.search(plain_name(name))])
    if single and not any(_meaning(_head(sheet, name)) for name in candidates):
        candidates = [name for name in matching(sheet.names, VERDICT_NAMES) if name not in truths]
    if len(candidates) < fewest or sum(bool(_meaning(_head(sheet, name))) for name in candidates) < fewest:
        return None
    if labelled and not truths:
        _check_truth(sheet, candidates)
        return None
    meanings = {name: _meaning(sheet.texts(name)) for name in (*truths, *candidates)}
    decided = [name for name in truths if meanings[name] in ("verdicts", "pairs")]
    judges = [name for name in candidates if meanings[name]]
    if (labelled and not decided) or len(judges) < fewest:
        return None
    pairs = has_pairs and _may_be_pairs(sheet.texts((*decided, *judges)[0]))
    if not pairs and any(meanings[name] == "pairs" for name in (*decided[:1], *judges)):
        return None  # letters of options, as far as anyone can tell
    if not pairs and len(judges) > 1 and _share_one(sheet, judges):
        return None  # shares of options
    if len(decided) > 1 and len({tuple(cell.lower() for cell in sheet.texts(name)) for name in decided}) > 1:
        raise InputError(
            f"{sheet.path}: the columns {shown(decided[0])} and {shown(decided[1])} may both say what is right, and "
            "differ; leave out or rename the one that does not"
        )
    if pairs and _words(sheet, (*decided[:1], *judges)) <= {"0", "1", *MISSING}:
        raise InputError(
            f"{sheet.path}: 1 may mean that the first answer of a pair is better, or 0 and 1 may be the better answer "
            "counted from 0; write A and B in their place"
        )
    if pairs:
        judges = [name for name in judges if meanings[name] != "probabilities" and _may_be_pairs(sheet.texts(name))]
    return JudgeColumns(decided[0] if decided else "", tuple(judges), pairs) if len(judges) >= fewest else None


def _check_single(sheet: Sheet) -> None:
    """:class:`InputError` for the verdicts of one judge on pairs, as RewardBench and JudgeBench keep them."""
    names = set(sheet.names)
    if {"results", "subset", "text_chosen", "text_rejected"} <= names or {"judge_name", "judgments", "label"} <= names:
        raise InputError(
            f"{sheet.path}: it has the verdicts of one judge on pairs of answers; a jury needs two or more judges, "
            "such as a table with response_a, response_b, a column for each judge and one that says what is right"
        )


def _check_points(sheet: Sheet, named: Sequence[str]) -> None:
    """:class:`InputError` where two or more columns with the names of judges hold points and no verdicts."""
    points = [name for name in named if _are_points(_head(sheet, name))]
    if len(points) >= 2:
        raise InputError(
            f"{sheet.path}: its judges ({', '.join(map(shown, points[:3]))}) give points; a jury needs verdicts such "
            "as yes and no, or the probability that an answer is right"
        )


def _are_points(cells: Sequence[str]) -> bool:
    numbers = [as_number(cell, percent=False) for cell in cells]
    values = [value for value in numbers if value is not None and not math.isnan(value)]
    whole = len(values) == len(numbers) and bool(values) and all(0 <= value <= 100 for value in values)
    return whole and max(values) > 2


def _check_truth(sheet: Sheet, candidates: Sequence[str]) -> None:
    """:class:`InputError` for the verdicts of named judges without what is right."""
    judges = [name for name in candidates if NAMED_JUDGE.search(plain_name(name)) and _meaning(sheet.texts(name))]
    if len(judges) >= 2:
        raise InputError(
            f"{sheet.path}: it has the verdicts of {', '.join(map(shown, judges[:3]))} and no column that says what is "
            "right, such as 'human'; a jury is measured against that"
        )


def unfolded(sheet: Sheet) -> Sheet:
    """The table with a column for each judge of a column of objects, such as ``judges: {"gpt4": true}``."""
    for name in matching(sheet.names, ("judges", "judgements", "judgments", "verdicts", "votes", "jurors")):
        cells = [value_of(cell) for cell in sheet.table[name].to_pylist()]
        if all(isinstance(cell, dict) and cell for cell in cells) and len({tuple(sorted(cell)) for cell in cells}) == 1:
            table = sheet.table.drop_columns([name])
            for judge in cells[0]:
                if judge not in table.column_names:
                    table = table.append_column(str(judge), [[str(cell[judge]) for cell in cells]])
            return replace(sheet, table=table)
    return sheet


def read(sheet: Sheet, columns: JudgeColumns) -> tuple[Judgements, tuple[str, ...]]:
    """The judgements of such a table, and notes. Rows without a verdict on what is right are left out. Raises
    :class:`InputError` for a missing verdict of a judge on an answer that is not a pair."""
    labels = labels_of(sheet, columns)
    decided_rows = np.flatnonzero((labels == 0) | (labels == 1)).tolist()
    if not decided_rows:
        raise InputError(f"{sheet.path}: expected what is right in {shown(columns.truth)}, found nothing decided")
    judged = judgements_of(sheet, columns, decided_rows)
    notes = notes_about(judged, columns.truth)
    if len(decided_rows) < len(labels):
        left = counted(len(labels) - len(decided_rows), "row is", "rows are")
        notes.insert(1, f"{left} left out, because {columns.truth} names no side.")
    return judged, tuple(notes)


def notes_about(judged: Judgements, truth: str) -> list[str]:
    """Sentences about the columns that were read, with ``truth`` the one that says what is right ("": none), and about
    verdicts that are ½."""
    right = f"{truth} is what is right" if truth else "No column says what is right"
    who = "judges are" if len(judged.jurors) > 1 else "judge is"
    notes = [f"{right}; the {who} {', '.join(judged.jurors)}."]
    if ties := int((judged.p_true == 0.5).sum()):
        half = counted(ties, "tie or missing verdict has", "ties and missing verdicts have")
        notes.append(f"{half} the probability ½, which counts half for each side.")
    return notes


def labels_of(sheet: Sheet, columns: JudgeColumns) -> FloatArray:
    """What is right in each row, (n,): 1 for right or the first answer, 0 for wrong or the second, ½ for a tie, NaN
    where nothing says it."""
    cells = sheet.texts(columns.truth) if columns.truth else [""] * sheet.table.num_rows
    return np.array([_side(cell, columns.pairs) for cell in cells], dtype=np.float64)


def judgements_of(sheet: Sheet, columns: JudgeColumns, rows: Sequence[int]) -> Judgements:
    """The judgements of these rows. An answer whose label is neither 0 nor 1 has the label False."""
    p_true = np.array([_probabilities(sheet, name, rows, columns) for name in columns.judges]).T
    ids = _texts(sheet, first(sheet.names, ID_NAMES), rows)
    clusters = _texts(sheet, first(sheet.names, CLUSTER_NAMES), rows)
    return Judgements(
        jurors=_names(columns.judges),
        ids=tuple(ids) if all(ids) and len(set(ids)) == len(ids) else tuple(str(row + 1) for row in rows),
        questions=tuple(_texts(sheet, first(sheet.names, QUESTION_NAMES), rows)),
        answers=tuple(_answers(sheet, rows, pairs=columns.pairs)),
        labels=labels_of(sheet, columns)[rows] == 1,
        p_true=p_true,
        p_false=1 - p_true,
        parts=("",) * len(rows),
        pairwise=columns.pairs,
        cluster_names=tuple(clusters) if all(clusters) else (),
    )


def long_columns(names: Sequence[str]) -> dict[str, str]:
    """The columns of a table with a row for each verdict: from the name in a tidy table of judgements to its own. Empty
    if one of them is missing."""
    wanted = {
        "question": QUESTION_NAMES,
        "answer": JUDGED_NAMES,
        "juror": JUROR_NAMES,
        "p_true": VERDICT_NAMES,
        "label": ("label", *TRUTH_NAMES),
    }
    columns = {meant_name: first(names, candidates) for meant_name, candidates in wanted.items()}
    if plain_name(columns["p_true"]) in SURE_VERDICTS:  # then answers may have an id in place of their texts
        columns["question"] = columns["question"] or first(names, ID_NAMES)
        columns["answer"] = columns["answer"] or columns["question"]
    return columns if all(columns.values()) else {}


def by_letter(cells: Sequence[str]) -> list[str]:
    """Labels that name the better answer of a pair (A and B, model_a and model_b), as "first" and "second"; all others
    as they are. Digits may mean something else."""
    words = [cell.strip().lower() for cell in cells]
    other = {"1", "2", "output_1", "output_2", "left", "right"}
    firsts, seconds = {*FIRST} - other, {*SECOND} - other
    named = {*words} - {*MISSING, *TIED}
    if not named or not named <= firsts | seconds:
        return list(cells)
    return [
        "first" if word in firsts else "second" if word in seconds else cell
        for word, cell in zip(words, cells, strict=True)
    ]


def verdict(cell: str, *, pairs: bool = False) -> str:
    """A verdict's cell as a probability: 1, 0 or ½ for a word, a share for percent, any other as it is."""
    value = as_number(cell, percent=cell.endswith("%"))
    for of_pairs in (pairs, False):
        value = _side(cell, of_pairs) if value is None else value
    return cell if value is None else str(value)


def with_confidence(sheet: Sheet, name: str, sides: FloatArray, rows: Sequence[int]) -> FloatArray:
    """The probabilities of True of verdicts 1, 0 and ½, (n,), with the confidence in each that a column has in these
    rows. Raises :class:`InputError` for one that is not from 0.5 to 1."""
    confidence: FloatArray = sheet.numbers(name)[rows]
    bad = (sides != 0.5) & ~((confidence >= 0.5) & (confidence <= 1))
    if bad.any():
        row = rows[int(bad.argmax())]
        raise InputError(
            f"{sheet.where(row)}: expected in {shown(name)} the confidence in a verdict, from 0.5 to 1, found "
            f"{shown(sheet.texts(name)[row])}; write it so, or leave out the column to use the verdicts alone"
        )
    return np.asarray(np.where(sides == 0.5, 0.5, np.where(sides == 1, confidence, np.round(1 - confidence, 15))))


def _may_judge(name: str) -> bool:
    plain = plain_name(name)
    if CONFIDENCE.search(name) or FALSE_SIDE.search(name) or PAIRED.match(plain) or OPTION_LIKE.match(plain):
        return False
    if OPTION_OF_MODEL.search(name) and not PERSON.search(plain):
        return False
    return bool(NAMED_JUDGE.search(plain)) or not MEASURE.search(plain)


def _head(sheet: Sheet, name: str) -> list[str]:
    return ["" if cell is None else str(cell) for cell in sheet.table[name].slice(0, LOOKED_AT).to_pylist()]


def _words(sheet: Sheet, names: Sequence[str]) -> set[str]:
    return {cell.lower().removesuffix(".0") for name in names for cell in sheet.texts(name)}


def _meaning(cells: Sequence[str]) -> Meaning:
    words = {cell.strip().lower().removesuffix(".0") for cell in cells} - set(MISSING)
    if not words:
        return ""
    if words <= {*TRUE, *FALSE}:
        return "verdicts"
    if words <= {*FIRST, *SECOND, *TIED}:
        return "pairs"
    numbers = [as_number(word, percent=word.endswith("%")) for word in words]
    return "probabilities" if all(value is not None and 0 <= value <= 1 for value in numbers) else ""


def _may_be_pairs(cells: Sequence[str]) -> bool:
    return {cell.lower().removesuffix(".0") for cell in cells} <= {*FIRST, *SECOND, *TIED, *MISSING}


def _share_one(sheet: Sheet, judges: Sequence[str]) -> bool:
    """Whether the judges' numbers of each row sum to 1, as those of options do."""
    values = [[as_number(cell, percent=False) for cell in sheet.texts(name)] for name in judges]
    if any(value is None for column in values for value in column):
        return False
    sums: FloatArray = np.array(values, dtype=np.float64).sum(axis=0)
    return bool((np.abs(sums - 1) < 0.02).all())


def _side(cell: str, pairs: bool) -> float | None:
    """1 for right or the first answer, 0 for wrong or the second, ½ for a tie, None for none of these."""
    word = cell.strip().lower().removesuffix(".0")
    for words, value in ((FIRST, 1.0), (SECOND, 0.0), (TIED, 0.5)) if pairs else ((TRUE, 1.0), (FALSE, 0.0)):
        if word in words:
            return value
    return None


def _probabilities(sheet: Sheet, name: str, rows: Sequence[int], columns: JudgeColumns) -> FloatArray:
    cells = sheet.texts(name)
    shares = []
    for row in rows:
        side = _side(cells[row], columns.pairs)
        if side is None and not columns.pairs:
            side = as_number(cells[row], percent=cells[row].endswith("%"))
        if side is None and columns.pairs:
            side = 0.5
        if side is None or math.isnan(side):
            raise InputError(
                f"{sheet.where(row)}: expected the verdict of {shown(name)} on every answer, found "
                f"{shown(cells[row])}; fill it in, or leave out the row"
            )
        shares.append(side)
    sides: FloatArray = np.array(shares, dtype=np.float64)
    stem = plain_name(SIDE.sub("", name))
    own = [each for each in sheet.names if CONFIDENCE.search(each) and plain_name(CONFIDENCE.sub("", each)) == stem]
    if own and np.isin(sides, (0, 0.5, 1)).all():
        return with_confidence(sheet, own[0], sides, rows)
    return sides


def _texts(sheet: Sheet, name: str, rows: Sequence[int]) -> list[str]:
    cells = sheet.texts(name, as_is=True) if name else []
    return [meant(cells[row]) if cells else "" for row in rows]


def _names(judges: Sequence[str]) -> tuple[str, ...]:
    """The judges without what their columns' names end with, unless two would have the same.

    >>> _names(["gpt4_verdict", "claude_verdict"]), _names(["a_label", "a_vote"])
    (('gpt4', 'claude'), ('a_label', 'a_vote'))
    """
    short = tuple(SIDE.sub("", name).strip(" _-") or name for name in judges)
    return short if len(set(short)) == len(short) else tuple(judges)


def _answers(sheet: Sheet, rows: Sequence[int], *, pairs: bool) -> list[str]:
    if not pairs:
        return _texts(sheet, first(sheet.names, JUDGED_NAMES), rows)
    answer_columns = [name for name in sheet.names if PAIRED.match(plain_name(name))]
    longest = [name for name in answer_columns if not plain_name(name).startswith("model")] or answer_columns
    firsts, seconds = (_texts(sheet, name, rows) for name in sorted(longest, key=plain_name)[:2])
    return [f"First: {a}\n\nSecond: {b}" for a, b in zip(firsts, seconds, strict=True)]
