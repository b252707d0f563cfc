"""Files of a label budget: judgements with labels for some answers, and the answers that people are to label.

The judgements are a tidy table as for a jury (:mod:`core.exchange.juries`), but labels may be missing and one judge is
enough. A draw is a table with a row for each drawn answer, in the order of the draw: ``place``, ``id``, ``question``,
``answer``, ``label`` (empty, for people to fill in) and ``draw``, which records the draw in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.exchange import juries
from core.exchange.judge_columns import (
    MISSING,
    by_letter,
    judge_columns,
    judgements_of,
    labels_of,
    notes_about,
    unfolded,
)
from core.exchange.juries import TIED
from core.exchange.writing import to_csv, write
from core.jury.judgements import FIRST, SECOND, truth
from core.jury.label_draw import JudgedAnswers, LabelDraw, LabelSample, drawn_sample, sample_of
from core.tables.field_names import TRUTH_NAMES, first
from core.tables.safe_read import shown
from core.tables.tabular import Sheet, meant, open_sheet


def read_judged(path: Path) -> JudgedAnswers:
    """The answers of a file with their judges, and the labels that it has. Raises :class:`InputError` that names the
    file and what is wrong."""
    wide = unfolded(open_sheet(path))
    sheet = wide
    if not first(sheet.names, ("label", *TRUTH_NAMES)):
        sheet = replace(sheet, table=sheet.table.append_column("label", [[""] * sheet.table.num_rows]))
    if not juries.is_tidy(sheet.names):
        if columns := judge_columns(wide, single=True, labelled=False):
            judgements = judgements_of(wide, columns, range(wide.table.num_rows))
            notes = tuple(notes_about(judgements, columns.truth))
            return JudgedAnswers(judgements, labels_of(wide, columns), judgements.jurors, notes)
        parsed = juries.read([path], single=True)
        return JudgedAnswers.of(parsed.judgements, parsed.notes)
    return JudgedAnswers(*juries.labelled(sheet))


def label(cell: str) -> float:
    """A label from a cell: 1 for right or the first answer, 0 for wrong or the second, ½ for a tie, NaN for none.

    >>> label("First"), label("tie"), label("no"), label("")
    (1.0, 0.5, 0.0, nan)
    """
    word = cell.strip().lower()
    if word in MISSING:
        return float("nan")
    if word in TIED:
        return 0.5
    try:
        return float(word == FIRST if word in (FIRST, SECOND) else truth(word))
    except InputError:
        raise InputError(
            f"expected a label such as right or wrong, first or second, or tie, found {shown(cell)}"
        ) from None


def read_labels(path: Path, judged: JudgedAnswers, *, seed: int = 0, declared: bool = False) -> LabelSample:
    """The labels of a file: those of a recorded draw, or a table with the columns id and label.

    Labels without a draw are a random sample only if the person ``declared`` it, or if all answers have one. Raises
    :class:`InputError` that names the file and the line.
    """
    sheet = open_sheet(path)
    needed = ("place", "id", "label", "draw") if "draw" in sheet.names else ("id", "label")
    lacking = [name for name in needed if name not in sheet.names]
    if lacking:
        raise InputError(f"{path}: expected the columns {', '.join(needed)}, found no {', '.join(lacking)}")
    labels = []
    for row, cell in enumerate(by_letter(sheet.texts("label"))):
        try:
            labels.append(label(cell))
        except InputError as error:
            raise InputError(f"{sheet.where(row)}: {error}") from None
    ids = [meant(name) for name in sheet.texts("id", as_is=True)]
    places = _places(sheet, ids, judged)
    try:
        if "draw" not in sheet.names:
            values = np.full(len(judged), np.nan)
            values[places] = labels
            return sample_of(replace(judged, labels=values), seed=seed, declared=declared)
        draw = _draw(sheet)
        order = judged.order(draw.seed)
        draw.check(judged)
        numbers = sheet.numbers("place").tolist()
        for row, number in enumerate(numbers):
            if not (1 <= number <= len(judged) and number == int(number)):
                cell = shown(sheet.texts("place")[row])
                raise InputError(f"{sheet.where(row)}: expected a place from 1 to {len(judged)}, found {cell}")
            place = int(number)
            if order[place - 1] != places[row]:
                raise InputError(
                    f"{sheet.where(row)}: expected answer {shown(judged.judgements.ids[order[place - 1]])} at place "
                    f"{place} of the draw, found {shown(ids[row])}; keep place and id as they were drawn"
                )
        return drawn_sample(judged, draw, dict(zip(map(int, numbers), labels, strict=True)), declared=declared)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _places(sheet: Sheet, ids: Sequence[str], judged: JudgedAnswers) -> list[int]:
    """The place of each row's answer among the judged ones."""
    by_id = {name: place for place, name in enumerate(judged.judgements.ids)}
    places: dict[int, int] = {}
    for row, name in enumerate(ids):
        place = by_id.get(name, by_id.get(name.strip()))
        if place is None:
            raise InputError(f"{sheet.where(row)}: expected the id of a judged answer, found {shown(name)}")
        if place in places:
            raise InputError(f"{sheet.where(row)}: expected each answer once, found {shown(name)} twice")
        places[place] = row
    return list(places)


def _draw(sheet: Sheet) -> LabelDraw:
    records = list(dict.fromkeys(sheet.texts("draw")))
    if len(records) != 1:
        raise InputError(
            f"expected the record of one draw in every row, found {len(records)} ({', '.join(map(shown, records[:2]))})"
        )
    return LabelDraw.parse(records[0])


def write_draw(judged: JudgedAnswers, n: int, path: Path, *, seed: int, date: str) -> LabelDraw:
    """Draw n answers at random and write the table for people to label. Raises :class:`InputError` for an n that is not
    from 1 to the number of answers, or for a file that exists."""
    import pyarrow as pa

    if not 1 <= n <= len(judged):
        raise InputError(f"the number of labels must be from 1 to {len(judged):,}, got {n:,}")
    if path.exists():
        raise InputError(f"{path} exists already, and its labels would be lost; choose another name with --out")
    draw = LabelDraw(seed, len(judged), judged.digest, date)
    chosen, of = judged.order(seed)[:n].tolist(), judged.judgements
    columns = {
        "place": list(range(1, n + 1)),
        "id": [of.ids[place] for place in chosen],
        "question": [of.questions[place] for place in chosen],
        "answer": [of.answers[place] for place in chosen],
        "label": [""] * n,
        "draw": [draw.text] * n,
    }
    write(path.parent, path.name, to_csv(pa.table(columns)))
    return draw
