"""Which columns of a table are the options' figures and their texts, seen by their names and by what is in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.conformal.probabilities import sum_within
from core.errors import InputError
from core.records import LETTERS, MOST_OPTIONS, OPTION_NAMES, FloatArray
from core.tables.safe_read import shown
from core.tables.tabular import Sheet

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
OF_CLASS = re.compile(
    r"^(?P<words>.*?(?:(?<![a-z])pr?|prob|proba|probs|probability|probabilities|logit|logits|score|conf))"
    r"(?:[_ .:-]+|[(\[])"
)
"""The words before the name of a class: ``p_cat``, ``prob_sport``."""
MOST_BLOCKS = 50
"""The most blocks of columns side by side that are tried."""
TOKEN_COLUMNS = 2
"""A table with at least this many columns of other tokens lists the most probable tokens, not only options."""


@dataclass(frozen=True, slots=True)
class OptionColumns:
    """The options' columns in their order, what the words around their letters say of their cells, and their texts."""

    options: tuple[str, ...]
    kind: str
    texts: tuple[str, ...] = ()


def option_columns(
    sheet: Sheet, numeric: Sequence[str], texts: Sequence[str], *, known: Sequence[str], label: str
) -> OptionColumns | None:
    """The options among the columns of numbers; ``texts`` are the columns of texts, ``known`` those with another
    meaning, ``label`` the right option's, if it is known. Raises :class:`InputError` for more options than are read,
    and where other columns seem to belong to them."""
    best = _best(numeric) or _of_shares(sheet, numeric)
    free = [name for name in numeric if name not in known]
    others = [name for name in free if best is None or name not in best[1]]
    named = _classes(sheet, free, label) if label and others else ()
    same = best is not None and named == best[1]  # which may have texts beside them
    if named and not same and (best is None or len(best[1]) < len(named) or not _are_named(sheet, label, best[1])):
        _check_number(sheet, named)
        return OptionColumns(named, _said(_around(named[0])))
    if best is None:
        numbered = _numbered_classes(sheet, free, label) if label else ()
        return OptionColumns(numbered, "") if numbered else None
    kind, options = best
    _check_number(sheet, options)
    wide = text_columns(texts, len(options))
    if wide:
        return OptionColumns(options, kind, wide)
    fewer = text_columns(texts)
    if fewer and _are_tokens(sheet, options, len(fewer), others):
        cells = np.nan_to_num(_cells(sheet, options), nan=0.0)
        shares = ((cells >= 0) & (cells <= 1)).all()
        return OptionColumns(options[: len(fewer)], "next-token probabilities" if shares else kind, fewer)
    if label and not wide and (own := _summing(sheet, options)):
        return OptionColumns(own, kind)
    if label and others and not fewer:
        _check_complete(sheet, options, others)
    return OptionColumns(options, kind)


def text_columns(names: Sequence[str], k: int = 0) -> tuple[str, ...]:
    """The columns of the options' texts, those of ``option`` in their name first: k of them, or as many as there are;
    none if there are not k, or two."""
    fitting = [
        (words, run[: k or MOST_OPTIONS])
        for words, run in _runs(names)
        if len(run) >= (k or 2) and KIND_WORDS[-1][1].match(words.replace("\0", "").lower())
    ]
    return max(fitting, key=lambda pair: (len(pair[1]), "option" in pair[0].lower()), default=("", ()))[1]


def class_names(options: Sequence[str]) -> list[str]:
    """The columns' names without the words that all of them begin with: the names of classes.

    >>> class_names(["p_cat", "p_dog"]), class_names(["cat", "dog"])
    (['cat', 'dog'], ['cat', 'dog'])
    """
    words = {_around(name) for name in options}
    begin = len(words.pop()) if len(words) == 1 else 0
    return [_inner(name, begin) for name in options]


def _inner(name: str, begin: int) -> str:
    """A name behind its first words, and inside the brackets that they open: ``P(cat)``."""
    inside = begin and name[begin - 1] in "([" and name[-1:] in ")]"
    return name[begin : -1 if inside else None]


def named_classes(sheet: Sheet, numeric: Sequence[str], label: str) -> tuple[str, ...]:
    """The columns of numbers named after classes, if each row's label names one of these classes; else none."""
    classes = _classes(sheet, numeric, label)
    return classes if classes and set(sheet.texts(label)) <= {*classes, *class_names(classes)} else ()


# ---------------------------------------------------------------- names that count


def _marks(name: str) -> Iterator[tuple[str, int]]:
    """Every way to read a name as a letter or a number (from 0) between other words: the words with a place for it."""
    for match in re.finditer(
        r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|(?<=[a-z])[A-Z](?![A-Za-z])|(?<![A-Za-z])[A-C][A-Z](?![A-Za-z])"
        r"|(?<!\d)\d{1,4}(?!\d)",
        name,
    ):
        mark = match[0]
        words = f"{name[: match.start()]}\0{name[match.end() :]}"
        if mark.isdecimal():
            yield f"0{words}", int(mark)
            yield f"1{words}", int(mark) - 1
        elif mark in OPTION_NAMES:
            yield f"A{words}", OPTION_NAMES.index(mark)
        elif len(mark) == 1:
            yield f"a{words}", LETTERS.index(mark.upper())


def _runs(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names that differ in a letter or number alone, which run from the first on; with the words around it."""
    places_by_words: dict[str, dict[int, str]] = {}
    for name in names:
        for words, place in _marks(name):
            places_by_words.setdefault(words, {}).setdefault(place, name)
    for words, places in places_by_words.items():
        k = next(i for i in range(len(places) + 1) if i not in places)
        if k >= 2:
            yield words[1:], tuple(places[i] for i in range(k))


def _said(words: str) -> str:
    lower = words.replace("\0", "_").lower()
    return next((kind for kind, pattern in KIND_WORDS if pattern.search(lower)), "")


def _best(names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """What the words around the options' letters say, and their columns. Of several, those that say what they are come
    first, then the longest, then the first."""
    best: tuple[tuple[bool, int], str, tuple[str, ...]] | None = None
    for words, run in _runs(names):
        lower = words.replace("\0", "_").lower()
        kind = next((kind for kind, pattern in KIND_WORDS if pattern.search(lower)), None)
        if kind is not None and (best is None or (kind != "", len(run)) > best[0]):
            best = (kind != "", len(run)), kind, run
    return best[1:] if best else None


def _of_shares(sheet: Sheet, names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The columns that differ in a letter or number alone and sum to 1 in most rows, whatever the words around it."""
    runs = sorted((run for _, run in _runs(names)), key=len, reverse=True)
    return next((("probabilities", run) for run in runs if _sums(sheet, run).mean() > 0.5), None)


def _check_number(sheet: Sheet, options: Sequence[str]) -> None:
    if len(options) > MOST_OPTIONS:
        raise InputError(
            f"{sheet.path}, line 1: expected at most {MOST_OPTIONS} options, found {len(options)} columns of them, "
            f"{shown(options[0])} to {shown(options[-1])}; in a notebook, hedge.sets takes up to 1,000"
        )


# ---------------------------------------------------------------- names of classes


def _around(name: str) -> str:
    match = OF_CLASS.match(name.lower())
    return name[: match.end()] if match else ""


def _classes(sheet: Sheet, names: Sequence[str], label: str) -> tuple[str, ...]:
    """The columns named after classes, if each row's label names one of these classes; else none. Those that begin with
    the same words (``p_``) belong together; their label may also be a number. Without such words, those that stand side
    by side do, if each row of them sums to 1 or 100."""
    cells = set(sheet.texts(label))
    by_words: dict[str, list[str]] = {}
    for name in names:
        by_words.setdefault(_around(name), []).append(name)
    for words, group in sorted(by_words.items(), key=lambda pair: not pair[0]):
        named = cells <= {_inner(name, len(words)) for name in group} or cells <= set(group)
        if words and len(group) >= 2 and (named or (all(map(str.isdecimal, cells)) and _are_shares(sheet, group))):
            return tuple(group)
        if named and not words and len(cells) >= 1 and (block := _side_by_side(sheet, group, cells)):
            return block
    return ()


def _numbered_classes(sheet: Sheet, names: Sequence[str], label: str) -> tuple[str, ...]:
    """The most columns side by side whose rows sum to 1, where the label is the number of one; none if there are not
    three of them."""
    cells = set(sheet.texts(label))
    if not all(map(str.isdecimal, cells)):
        return ()
    least = max(3, max((int(cell[:9]) for cell in cells), default=0))
    places = [i for i, name in enumerate(sheet.names) if name in set(names)]
    blocks = [(a, b) for a in places for b in places if b - a + 1 >= least and set(range(a, b + 1)) <= set(places)]
    for a, b in sorted(blocks, key=lambda block: block[0] - block[1])[:MOST_BLOCKS]:
        if _are_shares(sheet, sheet.names[a : b + 1]):
            return tuple(sheet.names[a : b + 1])
    return ()


def _side_by_side(sheet: Sheet, group: Sequence[str], named: set[str]) -> tuple[str, ...]:
    """The columns around those that are named which stand side by side and sum to 1: the most of them."""
    places = {sheet.names.index(name) for name in group}
    low = min(sheet.names.index(name) for name in named)
    high = max(sheet.names.index(name) for name in named)
    first, last = low, high
    while first - 1 in places:
        first -= 1
    while last + 1 in places:
        last += 1
    if not places.issuperset(range(first, last + 1)) or last - first > MOST_OPTIONS + 20:
        return ()
    blocks = [(a, b) for a in range(first, low + 1) for b in range(high, last + 1) if b > a]
    for a, b in sorted(blocks, key=lambda block: block[0] - block[1])[:MOST_BLOCKS]:
        if _are_shares(sheet, sheet.names[a : b + 1]):
            return tuple(sheet.names[a : b + 1])
    return ()


def _are_shares(sheet: Sheet, names: Sequence[str]) -> bool:
    """Whether most rows of these columns sum to 1 or 100."""
    return bool(_sums(sheet, names).mean() > 0.5 or _sums(sheet, names, total=100).mean() > 0.5)


def _are_named(sheet: Sheet, label: str, options: Sequence[str]) -> bool:
    """Whether the label may mean these options: it names no columns, or only these."""
    cells = set(sheet.texts(label))
    return not cells <= set(sheet.names) or cells <= set(options)


# ---------------------------------------------------------------- columns that are left over


def _cells(sheet: Sheet, names: Sequence[str]) -> FloatArray:
    try:
        return np.stack([sheet.numbers(name) for name in names], axis=1)
    except InputError:  # cells of words, which the reader of the values names
        return np.full((sheet.table.num_rows, len(names)), np.nan)


def _sums(sheet: Sheet, names: Sequence[str], *, total: float = 1.0) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each row's cells are shares that sum to 1, or to another total (n,)."""
    cells = np.nan_to_num(_cells(sheet, names), nan=0.0).clip(-1, 2 * total)  # no sum is too large for a float
    whole: np.ndarray[tuple[int], np.dtype[np.bool_]] = (cells >= 0).all(axis=1) & (
        abs(cells.sum(axis=1) - total) <= sum_within(cells / total) * total
    )
    return whole


def _are_tokens(sheet: Sheet, options: Sequence[str], k: int, others: Sequence[str]) -> bool:
    """Whether the columns behind the first k are other tokens and no options: questions have k texts, and the cells of
    these columns are missing in places, or the table has columns of more tokens."""
    behind = _cells(sheet, options[k:])
    if np.isnan(behind).any() and not np.isnan(behind).all():
        return True
    tokens = [name for name in others if np.isnan(_cells(sheet, [name])).any()]
    return len(tokens) >= TOKEN_COLUMNS


def _summing(sheet: Sheet, options: tuple[str, ...]) -> tuple[str, ...]:
    """The first of the columns, if they alone sum to 1 in every row, and the others behind them are left over from
    something else; none otherwise."""
    if _are_shares(sheet, options):
        return ()
    return next((options[:k] for k in range(len(options) - 1, 1, -1) if _sums(sheet, options[:k]).all()), ())


def _check_complete(sheet: Sheet, options: Sequence[str], others: Sequence[str]) -> None:
    """Raise :class:`InputError` where the options sum to 1 only together with a column that is not an option."""
    if _are_shares(sheet, options):
        return
    for name in others:
        if (_sums(sheet, [*options, name])).all():
            raise InputError(
                f"{sheet.path}, line 1: expected options whose probabilities sum to 1, found that {options[0]} to "
                f"{options[-1]} do so only together with {shown(name)}; say which are options with --options, or in "
                "the form of the columns"
            )
