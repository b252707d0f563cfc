"""Repeated picks: what a model answered when it was asked every question several times.

Reasoning models and servers without probabilities give only answers. The share of k answers that name an option then
stands for its probability (Yang and Liu 2025, arXiv 2508.05544). A table holds the answers in one of these ways:

- a row for each sample: the question's id or text stands in several rows, with an answer in each;
- a column for each sample: ``pick_1``, ``pick_2`` …;
- all answers of a question in one cell: a list, ``ABAAC``, ``A,B,A``, or an object of counts (``{"A": 3, "B": 2}``);
- a column of counts for each option (``votes_A`` …), which :mod:`core.exchange.table_columns` recognises.

:func:`tallied` turns the first three into the last. An answer that names no option is counted and does not count as a
pick. A question without any pick is left out. Where each question has one answer, nothing is changed: a single answer
is no frequency.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.conformal.probabilities import frequencies
from core.errors import InputError, UndecidedCounts
from core.exchange.build_run import split
from core.exchange.imported import ImportedRun
from core.exchange.table_columns import looks_scored, row_an_option, says_right, text_columns
from core.questions.prompting.written import NOT_FOUND, read_pick
from core.records import LETTERS, OPTION_NAMES, FloatArray, IntArray, LogitArray, OptionLogits, Question
from core.runs.caveats import PICKS, picked
from core.runs.spec import MAX_FOREIGN_PICKS, RunSpec
from core.tables.cells import value_of
from core.tables.field_names import (
    ID_NAMES,
    LABEL_NAMES,
    MODEL_NAMES,
    PICK_NAMES,
    QUESTION_NAMES,
    TASK_NAMES,
    first,
    matching,
    plain_name,
)
from core.tables.labels import read_labels
from core.tables.list_columns import listed, widened
from core.tables.safe_read import shown
from core.tables.tabular import Sheet

UNREAD = "picks_without_an_option"
"""The column of a tallied table that counts the answers that name no option."""
SAMPLES = ("samples", "n_samples", "num_samples")
"""Columns that say how many picks the frequencies of a row are made of."""
LEFT_OUT = "without an answer"
"""How a run counts the questions without any pick that were left out."""
SAMPLE_NAMES = (
    *("sample", "sample_idx", "sample_index", "sample_number", "seed", "repeat", "repetition", "epoch", "run", "draw"),
    *("attempt", "trial", "iteration", "rollout", "generation", "replicate", "try", "completion_id", "sample_id"),
)
"""Columns that number the samples of a question."""
OF_SAMPLES = (
    *("pick", "sample", "response", "prediction", "pred", "predicted", "vote", "run", "generation", "completion"),
    *("attempt", "trial", "epoch", "repeat", "seed", "output", "draw", "rollout", "model_answer", "model_pick"),
    *("model_output", "model_response", "predicted_answer", "extracted_answer", "sampled_answer", "sample_answer"),
)
"""The words before a sample's number in the name of its column, or in the plural the name of a column of lists."""
OF_OPTIONS_TOO = ("answer", "ans", "choice")
"""Words that may also stand before the number of an option: columns of samples only where rows repeat an answer."""
COUNT_LISTS = ("counts", "vote_counts", "votes", "pick_counts", "answer_counts", "tally", "histogram")
TEMPERATURES = ("temperature", "temp")
NUMBER = re.compile(r"\d{1,3}(?:\.0)?")
LETTERS_ALONE = re.compile(r"[A-Z?*_.-]{2,}")
NUMBERED = re.compile(r"(?P<begin>[^\d]*?)[\s_.-]*\d{1,4}[\s_.-]*(?P<end>[^\d]*)")
"""A name with one number, as ``pick_1`` and ``seed_1_pred``."""
PARTS = re.compile(r"[,;|/\s]+")
EXACT_WITHIN = 1e-6
MOST_INFERRED = 1_000
FREQUENCIES = re.compile(r"freq", re.IGNORECASE)
"""What the name of an option's column says if it holds frequencies of picks."""

Cells = list[tuple[str, int]]
"""Answers as text, with how often each was given."""


# ---------------------------------------------------------------- a table of picks as a table of counts


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers in each row of a table, and the columns that hold them."""

    cells: list[Cells]
    columns: tuple[str, ...]


def tallied(sheet: Sheet) -> Sheet:
    """The table with a row for each question and a column of counts for each option, if it holds several picks of each
    question; any other table as it is. Raises :class:`InputError` where rows of one question contradict each other."""
    answers = _answers(sheet)
    if answers is None:
        return sheet
    rest = widened(replace(sheet, table=sheet.table.drop_columns(list(answers.columns))))
    groups = _grouped(sheet)
    if len(groups) < 2 or max(sum(n for i in rows for _, n in answers.cells[i]) for rows in groups) < 2:
        return sheet
    _check_temperature(sheet)
    label = _label_column(rest, groups)
    rows = [same[0] for same in groups]
    cells = [_joined_cells(sheet, same, answers) for same in groups]
    names = text_columns(rest)
    columns = [rest.texts(name) for name in names]
    texts = [tuple(column[i] for column in columns if column[i]) for i in rows]
    picks, labels, k = _read(rest, rows, cells, label, texts)
    own = np.array([len(row) for row in texts]) if names else np.full(len(rows), k)
    counts = np.zeros((len(rows), k), dtype=np.int64)
    unread = np.zeros(len(rows), dtype=np.int64)
    for i, same in enumerate(picks):
        for place, n in same:
            if place == NOT_FOUND:
                unread[i] += n
            else:
                counts[i, place] += n
    if counts.sum(axis=1).max() < 2:
        example = next((cell for same in cells for cell, _ in same if cell), "")
        raise InputError(
            f"{sheet.path}: expected answers that name an option, found one in {counts.sum():,} of "
            f"{counts.sum() + unread.sum():,}; the first answer is {shown(example)}"
        )
    return _table_of(rest, rows, _constant(rest, groups), label, labels, counts, own, unread)


def _answers(sheet: Sheet) -> _Answers | None:
    """The answers in each row; None for a table that has none, or that has figures of options."""
    if (answers := _numbered(sheet) or _lists(sheet)) is not None:
        return answers
    candidates = matching(sheet.names, PICK_NAMES)
    labels = [name for name in matching(sheet.names, LABEL_NAMES) if not says_right(sheet, name)]
    if (not candidates and len(labels) < 2) or looks_scored(sheet) or row_an_option(sheet) in candidates:
        return None
    if not _repeating(sheet, _key_names(sheet)) or looks_scored(widened(sheet)):
        return None
    if not candidates:
        groups = _grouped(sheet)
        candidates = [name for name in labels if not _is_constant(sheet.texts(name), groups)]
    named = {name: sheet.texts(name) for name in candidates}
    if not named:
        return None
    name = max(
        named, key=lambda candidate: sum(read_pick(cell, ANY_OPTION) != NOT_FOUND for cell in named[candidate][:50])
    )
    return _Answers([[(cell, 1)] for cell in named[name]], (name,))


ANY_OPTION = ("",) * len(LETTERS)
"""Options whose texts are not known."""


def _numbered(sheet: Sheet) -> _Answers | None:
    """The answers of a column for each sample."""
    stems: dict[str, list[str]] = defaultdict(list)
    for name in sheet.names:
        if parts := NUMBERED.fullmatch(name.strip()):
            stems[plain_name(parts["begin"]) + "\0" * bool(parts["end"]) + plain_name(parts["end"])].append(name)
    known, doubtful = ({plain_name(word) for word in words} for words in (OF_SAMPLES, OF_OPTIONS_TOO))
    for stem, names in stems.items():
        single = stem.removesuffix("s") if stem.endswith("s") and stem[:-1] in known else stem
        words = set(single.split("\0"))
        if len(names) < 2 or not words <= known | doubtful:
            continue
        rows = list(zip(*(sheet.texts(name) for name in names), strict=True))
        if words & doubtful and not _repeat_themselves(rows):
            continue
        if not _are_counts(rows) and _look_like_picks(sheet, rows):
            return _Answers([[(cell, 1) for cell in row] for row in rows], tuple(names))
    return None


def _repeat_themselves(rows: Sequence[Sequence[str]]) -> bool:
    """Whether most rows have an answer twice, as samples have and texts of options do not."""
    twice = sum(len({cell for cell in row if cell}) < sum(map(bool, row)) for row in rows)
    return 2 * twice > len(rows)


def _are_counts(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows of whole numbers all have the same sum, as counts have and picks do not."""
    if not all(NUMBER.fullmatch(cell) for row in rows for cell in row):
        return False
    return len(rows) > 1 and len({sum(int(float(cell)) for cell in row) for row in rows}) == 1


def _look_like_picks(sheet: Sheet, rows: Sequence[Sequence[str]]) -> bool:
    """Whether cells may name options: letters, texts, or small whole numbers, unless 1 may say right and 0 wrong."""
    cells = {cell for row in rows for cell in row if cell}
    if not cells or {cell.lower() for cell in cells} <= {"true", "false"}:
        return False
    numeric = [cell for cell in cells if re.fullmatch(r"[-+]?\d*\.?\d+(?:e[-+]?\d+)?", cell, re.IGNORECASE)]
    if len(numeric) < len(cells) / 2:
        return True
    if not all(NUMBER.fullmatch(cell) for cell in numeric):
        return False
    labels = {cell for name in matching(sheet.names, LABEL_NAMES)[:1] for cell in sheet.texts(name)}
    return {int(float(cell)) for cell in numeric} != {0, 1} or labels <= {"0", "1", "A", "B", "a", "b"}


def _lists(sheet: Sheet) -> _Answers | None:
    """The answers of a column with all of a question in each cell."""
    known = {plain_name(f"{word}s") for word in OF_SAMPLES} | {plain_name(word) for word in (*PICK_NAMES, *COUNT_LISTS)}
    doubtful = {plain_name(f"{word}s") for word in OF_OPTIONS_TOO}
    for name in sheet.names:
        plain = plain_name(name)
        if plain not in known | doubtful:
            continue
        rows = _parted(sheet.table[name].to_pylist(), is_count=plain in {plain_name(counts) for counts in COUNT_LISTS})
        if rows is None or (plain in doubtful and not _repeat_themselves([[c for c, _ in row] for row in rows])):
            continue
        if _look_like_picks(sheet, [[cell for cell, _ in row] for row in rows]):
            return _Answers(rows, (name,))
    return None


def _parted(cells: Sequence[Any], *, is_count: bool) -> list[Cells] | None:
    """The answers in each cell of a column; None if its cells hold one answer each, or something else."""
    filled = [cell for cell in cells if cell not in (None, "")]
    if not filled:
        return None
    rows: list[Cells] | None = None
    if all(isinstance(cell, str) and LETTERS_ALONE.fullmatch(cell.strip()) for cell in filled):
        rows = [[(letter, 1) for letter in (cell or "").strip()] for cell in cells]
    else:
        items = [_counted(cell) or (None if isinstance(cell, dict) else listed(cell)) for cell in cells]
        if all(item is not None for item in items) and any(isinstance(item, (list, dict)) and item for item in items):
            rows = [_of_items(item, is_count=is_count) for item in items]  # type: ignore[arg-type]
        elif all(isinstance(cell, str) and _is_series(cell) for cell in filled):
            rows = [[(part, 1) for part in PARTS.split((cell or "").strip()) if part] for cell in cells]
    return rows if rows and max(map(len, rows)) > 0 else None


def _counted(cell: Any) -> dict[str, int] | None:
    """A cell as an object of counts by option; None for others."""
    cell = value_of(cell)
    if not isinstance(cell, dict):
        return None
    counts = {str(key): n for key, n in cell.items() if n is not None}
    if counts and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts.values()):
        return counts
    return None


def _of_items(item: dict[str, int] | list[Any], *, is_count: bool) -> Cells:
    if isinstance(item, dict):
        return [(key, _limited(n)) for key, n in item.items() if n]
    if is_count and all(isinstance(n, int) for n in item) and len(item) <= len(OPTION_NAMES):
        return [(OPTION_NAMES[place], _limited(n)) for place, n in enumerate(item) if n]
    return [(_said(answer), 1) for answer in item]


def _limited(n: int) -> int:
    if not 0 <= n <= MAX_FOREIGN_PICKS:
        raise InputError(f"expected from 0 to {MAX_FOREIGN_PICKS:,} picks of an option, found {n}")
    return n


def _said(item: Any) -> str:
    """An answer as text; of an object, its field for the answer."""
    if isinstance(item, dict):
        name = first(map(str, item), (*PICK_NAMES, "answer", "text", "content", "letter"))
        item = item.get(name)
    return "" if item is None else str(item).strip()


def _is_series(cell: str) -> bool:
    """Whether a text is letters or numbers with the same mark between them, as ``A, B, A`` is."""
    parts = [part for part in PARTS.split(cell.strip()) if part]
    return len(parts) > 1 and all(re.fullmatch(r"[A-Za-z?-]|\d{1,2}", part) for part in parts)


# ---------------------------------------------------------------- which rows ask the same question


def _key_names(sheet: Sheet) -> list[str]:
    """The columns that may say which question a row asks, the first that repeats first."""
    return [*matching(sheet.names, ID_NAMES), *matching(sheet.names, QUESTION_NAMES)]


def _repeating(sheet: Sheet, names: Iterable[str]) -> str:
    """The first of these columns in which most values stand in several rows; empty if there is none."""
    runs = _runs(sheet)
    for name in names:
        values = Counter(zip(runs, sheet.texts(name), strict=True))
        if sum(n for n in values.values() if n > 1) > len(runs) / 2:
            return name
    return ""


def _runs(sheet: Sheet) -> list[tuple[str, ...]]:
    """What tells the run of a row: models and tasks are not mixed."""
    names = [name for wanted in (MODEL_NAMES, TASK_NAMES) if (name := first(sheet.names, wanted))]
    columns = [sheet.texts(name) for name in names]
    return list(zip(*columns, strict=True)) if columns else [()] * sheet.table.num_rows


def _grouped(sheet: Sheet) -> list[list[int]]:
    """The rows of each question of each run, in the order of the table."""
    name = _repeating(sheet, _key_names(sheet))
    if not name:
        return [[row] for row in range(sheet.table.num_rows)]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(_runs(sheet), sheet.texts(name), strict=True)):
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _check_temperature(sheet: Sheet) -> None:
    name = first(sheet.names, TEMPERATURES)
    values = sorted(set(sheet.texts(name))) if name else []
    if len(values) > 1:
        raise InputError(
            f"{sheet.path}: expected samples at one temperature, found {shown(', '.join(values))} in {name!r}; each "
            "temperature is a run of its own, so split the file"
        )


def _joined_cells(sheet: Sheet, rows: Sequence[int], answers: _Answers) -> Cells:
    """The answers of the rows of one question. A row that stands there again, with the number of its sample, counts
    once."""
    numbered = first(sheet.names, SAMPLE_NAMES)
    if not numbered or len(rows) == 1:
        return [cell for row in rows for cell in answers.cells[row]]
    numbers = sheet.table[numbered]
    seen: dict[str, int] = {}
    single = []
    for row in rows:
        name = str(numbers[row].as_py())
        if (again := seen.setdefault(name, row)) == row:
            single.append(row)
        elif answers.cells[again] != answers.cells[row]:
            raise InputError(
                f"{sheet.where(row)}: expected every sample of a question once, found {numbered} {shown(name)} again "
                f"with another answer (first: {sheet.where(again)})"
            )
    return [cell for row in (single if len(single) > 1 else rows) for cell in answers.cells[row]]


def _is_constant(cells: Sequence[str], groups: Iterable[Sequence[int]]) -> bool:
    return all(cells[row] == cells[rows[0]] for rows in groups for row in rows)


def _constant(sheet: Sheet, groups: Sequence[Sequence[int]]) -> list[str]:
    """The columns that say the same in all rows of a question, without those that number samples."""
    numbering = set(matching(sheet.names, SAMPLE_NAMES)) - set(matching(sheet.names, ID_NAMES))
    names = [name for name in sheet.names if name not in numbering]
    if all(len(rows) == 1 for rows in groups):
        return names
    return [name for name in names if _is_constant(sheet.texts(name), groups)]


def _label_column(sheet: Sheet, groups: Sequence[Sequence[int]]) -> str:
    names = [name for name in matching(sheet.names, LABEL_NAMES) if not says_right(sheet, name)]
    if not names:
        raise InputError(
            f"{sheet.path}, line 1: expected a column with the right option beside the picks, such as 'label', found "
            f"{shown(', '.join(sheet.names))}"
        )
    name = next((name for name in names if _is_constant(sheet.texts(name), groups)), "")
    if name:
        return name
    cells = sheet.texts(names[0])
    row = next(row for rows in groups for row in rows if cells[row] != cells[rows[0]])
    raise InputError(
        f"{sheet.where(row)}: expected one right option for all samples of a question, found {shown(cells[row])} in "
        f"{names[0]!r} after another"
    )


# ---------------------------------------------------------------- what the answers name


def _read(
    sheet: Sheet, rows: Sequence[int], cells: Sequence[Cells], label: str, texts: Sequence[tuple[str, ...]]
) -> tuple[list[list[tuple[int, int]]], IntArray, int]:
    """The options that the answers of each question name (-1: none) with how often, the right ones (n,), and k."""
    known = any(texts)
    if known and min(map(len, texts)) < 2:
        row = min(range(len(texts)), key=lambda i: len(texts[i]))
        raise InputError(f"{sheet.where(rows[row])}: expected at least 2 options, found {len(texts[row])}")
    right = [sheet.texts(label)[row].removesuffix(".0") for row in rows]
    given = Counter(cell for answers in cells for cell, _ in answers if cell)
    numeric = 2 * sum(n for cell, n in given.items() if NUMBER.fullmatch(cell)) > sum(given.values())
    if numeric and known:
        hits = sum(cell in own for answers, own in zip(cells, texts, strict=True) for cell, _ in answers)
        numeric = 2 * hits < sum(map(len, cells))  # the options are numbers themselves
    start = _start(sheet, given if numeric else Counter(), right, texts) if numeric else None
    options = [own if known else ANY_OPTION for own in texts]
    picks = [
        [(_place(cell, own, start), n) for cell, n in answers] for answers, own in zip(cells, options, strict=True)
    ]
    most = max((place for answers in picks for place, _ in answers), default=0)
    if known:
        counts = np.array([len(own) for own in texts])
    else:
        numbers = [int(cell) for cell in right if re.fullmatch(r"\d{1,3}", cell)]
        beyond = max(numbers, default=0) + (0 in numbers) if numbers else 0
        letters = [LETTERS.index(cell.strip("()[]. ").upper()) for cell in right if _is_letter(cell)]
        counts = np.full(len(rows), max(most + 1, beyond, max(letters, default=0) + 1, 2))
    majority = np.array(
        [max(answers, key=lambda pair: pair[1])[0] if answers else -1 for answers in map(_summed, picks)]
    )
    labels = read_labels(
        right,
        counts,
        texts=texts if known else (),
        start=start if all(NUMBER.fullmatch(cell) for cell in right) else None,
        where=lambda i: sheet.where(rows[i]),
        column=label,
        picks=majority,
    ).labels
    return picks, labels, int(counts.max())


def _is_letter(cell: str) -> bool:
    return len(cell.strip("()[]. ")) == 1 and cell.strip("()[]. ").upper() in LETTERS


def _summed(picks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    sums: Counter[int] = Counter()
    for place, n in picks:
        sums[place] += n * (place != NOT_FOUND)
    return [(place, n) for place, n in sums.items() if n]


def _start(sheet: Sheet, given: Iterable[str], right: Sequence[str], texts: Sequence[tuple[str, ...]]) -> int | None:
    """Whether numbers of options count from 0 or from 1, by those of all answers and all right options; None if
    nothing says it."""
    numbers = {int(float(cell)) for cell in (*given, *right) if NUMBER.fullmatch(cell)}
    if 0 in numbers:
        return 0
    k = max(map(len, texts), default=0)
    # Without texts, an option 0 that is never right and never picked would be no option.
    if not k or max(numbers) >= k:
        return 1
    raise InputError(
        f"{sheet.path}: the picks are numbers from {min(numbers)} to {max(numbers)} of {k} options, which may count "
        "from 0 or from 1; give them as letters"
    )


@lru_cache(maxsize=100_000)
def _place(cell: str, options: tuple[str, ...], start: int | None) -> int:
    """The option that an answer names; numbers count from ``start`` (None: an answer is no number)."""
    if start is not None and NUMBER.fullmatch(cell):
        place = int(float(cell)) - start
        return place if 0 <= place < len(options) else NOT_FOUND
    return read_pick(cell, options)


def _table_of(
    sheet: Sheet,
    rows: Sequence[int],
    columns_kept: Sequence[str],
    label: str,
    labels: IntArray,
    counts: IntArray,
    own: IntArray,
    unread: IntArray,
) -> Sheet:
    mask = np.zeros(sheet.table.num_rows, dtype=np.bool_)
    mask[list(rows)] = True
    order = np.argsort(np.argsort(rows))  # part() keeps the order of the table
    begin = next(name for name in ("votes", "picks", "counts of votes") if f"{name}_A" not in sheet.names)
    part = sheet.part(mask, columns_kept)
    columns = {name: part.table[name] for name in columns_kept}
    at = np.empty(len(rows), dtype=np.int64)
    at[order] = np.arange(len(rows))
    columns[label] = pa.array([OPTION_NAMES[labels[i]] for i in at])
    for place in range(counts.shape[1]):
        columns[f"{begin}_{OPTION_NAMES[place]}"] = pa.array(counts[at, place], mask=own[at] <= place)
    columns[UNREAD] = pa.array(unread[at])
    return replace(part, table=pa.table(columns))


# ---------------------------------------------------------------- counts as frequencies


def shares_of(values: FloatArray, where: Callable[[int], str]) -> tuple[LogitArray, FloatArray, FloatArray]:
    """Logits and frequencies (n, k), and the numbers of samples (n,), of counts (n, k) with NaN where an option is
    lacking. A row without any pick has 0 samples and equal frequencies, and must be left out. Raises
    :class:`InputError` for what is no count, and where each question has one pick."""
    filled = np.where(np.isnan(values), 0.0, values)
    bad = ((filled < 0) | (filled != np.rint(filled)) | (filled > MAX_FOREIGN_PICKS)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{where(row)}: expected counts of picks, found {shown(', '.join(f'{value:g}' for value in filled[row]))}; "
            "frequencies need columns p_A, p_B … and a column 'samples' with their number"
        )
    counts = filled.astype(np.int64)
    if counts.sum(axis=1).max(initial=0) < 2:
        raise InputError(
            f"{where(0)}: expected several picks of each question, found one pick; a pick alone can't form sets"
        )
    empty = counts.sum(axis=1) == 0
    shares, drawn = frequencies(np.where(empty[:, None], ~np.isnan(values), counts))
    with np.errstate(divide="ignore"):
        return np.log(shares).astype(np.float32), shares, np.where(empty, 0.0, drawn)


def samples_of(values: FloatArray, path: Path) -> FloatArray:
    """The number of samples (n,) of frequencies (n, k) that do not say it: the smallest one that gives all of them.
    Raises :class:`InputError` if there is none up to :data:`MOST_INFERRED`."""
    for m in range(2, MOST_INFERRED + 1):
        samples = np.full(len(values), float(m))
        if are_frequencies(values, samples, counted=False):
            return samples
    raise InputError(
        f"{path}: expected frequencies that are shares of a number of samples, found others; add a column 'samples' "
        "with their number, or call the columns p_A, p_B … if they are probabilities"
    )


def check_not_counts(values: FloatArray, path: Path) -> None:
    """Raise :class:`InputError` where cells of options that nobody named are whole numbers, and may count picks."""
    filled = np.where(np.isnan(values), 0.0, values)
    if (filled >= 0).all() and (filled == np.rint(filled)).all() and filled.max(initial=0) > 1:
        sums = filled.sum(axis=1)
        raise UndecidedCounts(
            f"{path}: the options' columns hold whole numbers that sum to {sums.min():g} to {sums.max():g}, which may "
            "be counts of picks or scores; say --values counts or --values logits, or call the columns votes_A, "
            "votes_B … or logit_A, logit_B …"
        )


def are_frequencies(values: FloatArray, samples: FloatArray, *, counted: bool) -> bool:
    """Whether values (n, k) are ``counted`` picks, or shares of ``samples`` (n,) picks as far as their digits say."""
    if counted:
        return True
    if not (np.isfinite(samples).all() and (samples >= 1).all() and (samples == np.rint(samples)).all()):
        return False
    picks = np.where(np.isnan(values), 0.0, values) * samples[:, None]
    whole = np.abs(picks - np.rint(picks)) <= EXACT_WITHIN * samples[:, None]
    return bool(whole.all() and (np.rint(picks).sum(axis=1) == samples).all() and samples.max() > 1)


def sampled(run: ImportedRun, samples: FloatArray, *, unread: int, left_out: int) -> ImportedRun:
    """The run whose probabilities are shares of ``samples`` (n,) picks, each made the exact fraction.

    ``unread`` answers beside them name no option, and ``left_out`` questions have no pick.
    """
    counts = np.rint(np.asarray(run.scored.probabilities) * samples[:, None]).astype(np.int64)
    shares, drawn = frequencies(counts)
    return replace(
        run,
        spec=replace(run.spec, picks=max(2, int(drawn.max()))),
        scored=replace(run.scored, probabilities=shares, samples=drawn),
        provenance=run.provenance | described(drawn, unread, left_out),
    )


def counts_of_array(
    values: npt.NDArray[Any], labels: npt.NDArray[Any], *, name: str, path: Path
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Counts (n, k), and labels (n,) from 0, of an array of whole numbers (n, k) that counts the picks of each option,
    or of one (n, samples) that lists the picks of each question, with negative numbers for none. Raises
    :class:`InputError` if neither the name of the array nor its numbers say which of them it is."""
    plain = plain_name(name)
    lists = {plain_name(f"{word}{end}") for word in (*OF_SAMPLES, *OF_OPTIONS_TOO) for end in ("", "s")}
    if plain not in {plain_name(counts) for counts in COUNT_LISTS}:
        sums = values.sum(axis=1)
        if plain in lists:
            known = np.concatenate([values[values >= 0], labels])
            start = int(known.min(initial=0) > 0)
            k = max(2, int(known.max(initial=0)) + 1 - start)
            if k > len(OPTION_NAMES):
                raise InputError(f"{path}: expected picks as numbers of options, found {int(known.max())} in {name!r}")
            counts = np.stack([(values == option + start).sum(axis=1) for option in range(k)], axis=1)
            return counts.astype(np.float64), labels - start
        if not (len(sums) > 1 and values.min(initial=0) >= 0 and (sums == sums[0]).all()):
            raise InputError(
                f"{path}: expected probabilities, found whole numbers in {name!r}; call the array 'counts' if they "
                "count the picks of each option, or 'picks' if they are the picks of each sample"
            )
    return values.astype(np.float64), labels


def described(samples: IntArray, unread: int, left_out: int) -> dict[str, Any]:
    """What ``run.json`` says of the samples of a run's questions, and of those left out because they have none."""
    counts = {"counts": {LEFT_OUT: left_out}} if left_out else {}
    return {PICKS: picked(samples, unread=unread)} | counts


def assembled(
    path: Path, rows: Sequence[tuple[Question, Sequence[int]]], spec: RunSpec, provenance: dict[str, Any]
) -> ImportedRun:
    """The run of questions with the options that a model picked, each time it was asked (-1: none)."""
    answered = [(question, picks) for question, picks in rows if any(place != NOT_FOUND for place in picks)]
    if not answered:
        raise InputError(f"{path}: expected answers that name an option, found none in {len(rows)} questions")
    k = max(len(question.options) for question, _ in answered)
    values = np.full((len(answered), k), np.nan)
    for i, (question, picks) in enumerate(answered):
        tally = Counter(picks)
        values[i, : len(question.options)] = [tally[place] for place in range(len(question.options))]
    logits, shares, samples = shares_of(values, lambda row: f"{path}, question {answered[row][0].id!r}")
    questions = tuple(question for question, _ in answered)
    mass = np.full(len(questions), np.nan, dtype=np.float32)
    scored = OptionLogits(tuple(question.id for question in questions), logits, mass, probabilities=shares)
    run = ImportedRun(spec, questions, split(questions, path=path), scored, provenance)
    unread = sum(place == NOT_FOUND for _, picks in answered for place in picks)
    return sampled(run, samples, unread=unread, left_out=len(rows) - len(answered))
