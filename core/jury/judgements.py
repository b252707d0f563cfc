"""Judgements: what each juror said about each answer, and whether the answer was right.

A juror's judgement is a probability of True and a probability of False. Its verdict is the larger one. If both are
equal within rounding, the judgement is a tie and counts half for each side, so that its sides can be swapped. The
published experiment reads a tie as False (:attr:`Judgements.half_ties`).

A jury may also judge pairs of answers. Then True means that the first answer of the pair is better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from core.conformal.clusters import numbered
from core.conformal.probabilities import GRID
from core.errors import InputError
from core.records import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:  # pandas is slow to import and not needed to list names
    import pandas as pd

NEEDED = ("question", "answer", "juror", "p_true", "label")
"""The columns that a tidy table of judgements must have."""
COLUMNS = ("id", "question", "answer", "juror", "p_true", "p_false", "label", "part")
"""The columns of the tidy table, which has one row per answer and juror. ``p_false``, ``id`` and ``part`` may be
missing. A further column, ``cluster``, may name what an answer belongs to, such as its question or passage."""
PARTS = ("calibration", "test", "")
FIRST, SECOND = "first", "second"
"""Labels of a table of pairs: which of the two answers is better."""
PAIR = re.compile(r"(?i)pair\b\W*\d*")
"""A placeholder for the text of an answer, such as "pair 3", in a table of pairs without the texts of the answers."""
Cell = TypeVar("Cell")
SLACK = 1e-3
"""The largest allowed difference between p_true + p_false and 1."""
TIE = 1 / GRID
"""The probabilities of True and False are equal if they differ by no more than this, which is rounding
(:func:`core.conformal.probabilities.on_grid`)."""
DECIMALS = 15


@dataclass(frozen=True, slots=True)
class Judgements:
    """n answers judged by j jurors.

    ``labels`` (n,) says whether each answer is right. ``p_true`` and ``p_false`` (n, j) are in [0, 1] and sum to 1
    within 1e-3. ``parts`` (n,) is the source's purpose for each row, ``"calibration"`` or ``"test"``, or ``""`` if it
    gives none. If ``pairwise``, a row is a pair of answers, and True means that the first one is better.
    ``cluster_names`` (n,) name what each answer belongs to; without them (empty), answers of one question belong
    together. ``verdicts`` (n, j) are 1 for True, 0 for False, and ½ for a tie, or 0 for a tie without ``half_ties``.

    Raises :class:`InputError` for no juror, repeated names of jurors, no rows, or invalid probabilities.
    """

    jurors: tuple[str, ...]
    ids: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    labels: BoolArray
    p_true: FloatArray
    p_false: FloatArray
    parts: tuple[str, ...]
    pairwise: bool = False
    cluster_names: tuple[str, ...] = ()
    half_ties: bool = True
    verdicts: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        n, j = len(self.ids), len(self.jurors)
        if j < 1:
            raise InputError("a jury needs at least two jurors, got 0 (none)")
        if len(set(self.jurors)) < j:
            twice = next(name for name in self.jurors if self.jurors.count(name) > 1)
            raise InputError(f"juror {twice!r} occurs twice; give every juror its own name")
        if n == 0:
            raise InputError("a jury needs at least one answer to judge, got none")
        for name, values in (("p_true", self.p_true), ("p_false", self.p_false)):
            if values.shape != (n, j):
                raise InputError(
                    f"{name} has shape {values.shape}; expected ({n}, {j}), an answer a row, a juror a column"
                )
            bad = ~((values >= 0) & (values <= 1))
            if bad.any():
                row, juror = (int(i[0]) for i in np.nonzero(bad))
                raise InputError(
                    f"{name} must lie in [0, 1], where 0.9 is 90%, got {values[row, juror]} of juror "
                    f"{self.jurors[juror]!r} for answer {self.ids[row]!r}"
                )
        gap = abs(self.p_true + self.p_false - 1)
        if (gap > SLACK).any():
            row, juror = (int(i[0]) for i in np.nonzero(gap > SLACK))
            raise InputError(
                f"p_true and p_false must sum to 1, got {self.p_true[row, juror]} and {self.p_false[row, juror]} of "
                f"juror {self.jurors[juror]!r} for answer {self.ids[row]!r}"
            )
        if not len(self.questions) == len(self.answers) == len(self.labels) == len(self.parts) == n:
            raise InputError("questions, answers, labels and parts must be as many as the answers' ids")
        if self.cluster_names and len(self.cluster_names) != n:
            raise InputError(f"there are {len(self.cluster_names)} clusters of {n} answers; give one for each answer")
        verdicts = np.asarray(self.p_true > self.p_false, dtype=np.float64)
        if self.half_ties:
            verdicts[np.abs(self.p_true - self.p_false) <= TIE] = 0.5
        object.__setattr__(self, "verdicts", verdicts)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def top(self) -> FloatArray:
        """The probability of each juror's own verdict, (n, j)."""
        return np.maximum(self.p_true, self.p_false)

    @property
    def right(self) -> FloatArray:
        """Whether each juror's verdict is right, (n, j): 1 or 0, and ½ for a tie."""
        return 1 - np.abs(self.verdicts - self.labels[:, None])

    @property
    def disagreed(self) -> BoolArray:
        """Whether the jurors do not all give the same verdict on an answer, (n,). A tie is no verdict."""
        return np.asarray((self.verdicts > 0).any(axis=1) & (self.verdicts < 1).any(axis=1), dtype=np.bool_)

    @property
    def clusters(self) -> IntArray | None:
        """The number of what each answer belongs to, (n,); None if every answer belongs to another question."""
        return _numbered(self.cluster_names or self.questions)

    def rows(self, chosen: IntArray | BoolArray) -> Judgements:
        """Only the chosen answers, by index or mask, in that order. Raises :class:`InputError` if there are none."""
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        pick = places.tolist()
        return Judgements(
            self.jurors,
            tuple(map(self.ids.__getitem__, pick)),
            tuple(map(self.questions.__getitem__, pick)),
            tuple(map(self.answers.__getitem__, pick)),
            self.labels[places],
            self.p_true[places],
            self.p_false[places],
            tuple(map(self.parts.__getitem__, pick)),
            self.pairwise,
            tuple(map(self.cluster_names.__getitem__, pick)) if self.cluster_names else (),
            self.half_ties,
        )

    def without(self, juror: int) -> Judgements:
        """The jury without one juror. Raises :class:`InputError` if only one juror would be left."""
        rest = [i for i in range(len(self.jurors)) if i != juror]
        return check_jury(self.by(rest))

    def by(self, chosen: Sequence[int]) -> Judgements:
        """The judgements of some of the jurors, by their places, in this order."""
        return replace(
            self,
            jurors=tuple(self.jurors[i] for i in chosen),
            p_true=self.p_true[:, list(chosen)],
            p_false=self.p_false[:, list(chosen)],
        )

    def table(self) -> pd.DataFrame:
        """The tidy table (:data:`COLUMNS`), with one row per answer and juror.

        It has a column ``pairwise`` if the rows are pairs of answers or could be mistaken for pairs.
        """
        import pandas as pd

        n, j = self.p_true.shape
        each = {"id": self.ids, "question": self.questions, "answer": self.answers}
        columns: dict[str, object] = {
            name: np.repeat(np.array(values, dtype=object), j) for name, values in each.items()
        }
        columns["juror"] = np.tile(np.array(self.jurors, dtype=object), n)
        columns["p_true"], columns["p_false"] = self.p_true.ravel(), self.p_false.ravel()
        columns["label"] = np.repeat(self.labels, j)
        columns["part"] = np.repeat(np.array(self.parts, dtype=object), j)
        table = pd.DataFrame(columns)[list(COLUMNS)]
        if self.cluster_names:
            table["cluster"] = np.repeat(np.array(self.cluster_names, dtype=object), j)
        return table.assign(pairwise=self.pairwise) if self.pairwise or _named_as_pairs(self.answers) else table


def check_jury(judgements: Judgements) -> Judgements:
    """The judgements, if they are of at least two jurors. Raises :class:`InputError` otherwise."""
    if len(judgements.jurors) < 2:
        raise InputError(f"a jury needs at least two jurors, got 1 ({judgements.jurors[0]})")
    return judgements


@lru_cache(maxsize=4)  # 8 bytes per answer; the splits of an experiment number the same answers
def _numbered(names: tuple[str, ...]) -> IntArray | None:
    """The number of each name, (n,), read-only; an empty name has one of its own. None if all differ."""
    clusters = numbered([name.strip() or place for place, name in enumerate(names)])
    if clusters is not None:
        clusters.setflags(write=False)
    return clusters


def joined(
    jurors: Sequence[tuple[str, Sequence[tuple[str, str, str, bool, float, float]]]],
    *,
    ids: Sequence[str] = (),
    pairwise: bool = False,
    clusters: Sequence[str] = (),
) -> Judgements:
    """Join the judgements of several jurors, given as one list of rows per juror.

    A row is (part, question, answer, label, p_true, p_false). Rows of different jurors belong to the same answer if
    part, question and answer are equal; repeated ones are matched in their order. The order is that of the first juror.
    ``ids`` (n,) name the first juror's rows; without them the rows are numbered from 1. ``clusters`` (n,) name what
    the first juror's rows belong to. Raises :class:`InputError` if
    jurors judged different answers or have different labels for the same answer.
    """
    tables = []
    for name, rows in jurors:
        seen: dict[tuple[str, str, str], int] = {}
        table: dict[tuple[str, str, str, int], tuple[bool, float, float]] = {}
        for part, question, answer, label, p_true, p_false in rows:
            key = (part, question, answer)
            seen[key] = seen.get(key, -1) + 1
            table[(*key, seen[key])] = (label, p_true, p_false)
        tables.append((name, table))
    if not tables:
        raise InputError("a jury needs at least two jurors, got 0 (none)")
    first, start = tables[0]
    for name, table in tables[1:]:
        _same_rows(first, start, name, table)
    keys = list(start)
    return Judgements(
        tuple(name for name, _ in tables),
        tuple(ids) or tuple(str(place) for place in range(1, len(keys) + 1)),
        tuple(key[1] for key in keys),
        tuple(key[2] for key in keys),
        np.array([start[key][0] for key in keys], dtype=np.bool_),
        np.array([[table[key][1] for _, table in tables] for key in keys], dtype=np.float64).reshape(len(keys), -1),
        np.array([[table[key][2] for _, table in tables] for key in keys], dtype=np.float64).reshape(len(keys), -1),
        tuple(key[0] for key in keys),
        pairwise,
        tuple(clusters),
    )


def _same_rows(
    first: str,
    start: dict[tuple[str, str, str, int], tuple[bool, float, float]],
    name: str,
    table: dict[tuple[str, str, str, int], tuple[bool, float, float]],
) -> None:
    for owner, here, other, there in ((first, start, name, table), (name, table, first, start)):
        lacking = next((key for key in here if key not in there), None)
        if lacking is not None:
            raise InputError(
                f"jurors must judge the same answers, but {other!r} ({len(there)} answers) lacks one that {owner!r} "
                f"({len(here)}) has: {lacking[1][:60]!r} answered {lacking[2].strip()[:40]!r}; give the same answers "
                "for every juror"
            )
    unlike = next((key for key in start if start[key][0] != table[key][0]), None)
    if unlike is not None:
        raise InputError(
            f"jurors {first!r} and {name!r} differ in whether {unlike[2].strip()[:40]!r} is right for "
            f"{unlike[1][:60]!r}; an answer has one label"
        )


def from_table(table: pd.DataFrame, *, where: str = "the table") -> Judgements:
    """Judgements from a tidy table of any number of jurors.

    The table needs the columns question, answer, juror, p_true and label; without the column p_false it is 1 − p_true.
    A column cluster names what each answer belongs to (a question, a passage); rows of one name are one unit.
    The rows are pairs of answers if a column pairwise says so in every row. Without that column they are pairs if the
    labels are "first" and "second", or if every answer matches :data:`PAIR`. Raises :class:`InputError`, starting with
    ``where``, for missing columns, cells or labels, and as :func:`joined` does.
    """
    check_columns(table.columns, where)
    p_true = _numbers(table["p_true"], where)
    p_false = _numbers(table["p_false"], where) if "p_false" in table.columns else np.round(1 - p_true, DECIMALS)
    by_place = {str(cell).strip().lower() for cell in table["label"]} <= {FIRST, SECOND}
    labels = _each(_first if by_place else truth, table["label"], where)
    flags = _each(truth, table["pairwise"], where) if "pairwise" in table.columns else []
    pairwise = all(flags) if flags else by_place or _named_as_pairs(map(str, table["answer"]))
    parts = _each(_part, table.get("part", [""] * len(table)), where)
    jurors: dict[str, list[tuple[str, str, str, bool, float, float]]] = {}
    names: dict[str, list[str]] = {}
    clusters: dict[str, list[str]] = {}
    none = [""] * len(table)
    columns = (table["question"], table["answer"], table["juror"], table.get("id", none), table.get("cluster", none))
    for row, (question, answer, juror, name, cluster) in enumerate(zip(*columns, strict=True)):
        judgement = (parts[row], str(question), str(answer), labels[row], float(p_true[row]), float(p_false[row]))
        jurors.setdefault(str(juror), []).append(judgement)
        names.setdefault(str(juror), []).append(_text(name))
        clusters.setdefault(str(juror), []).append(_text(cluster))
    first = names[next(iter(names))] if names else []
    unique = first if all(first) and len(set(first)) == len(first) else ()
    belongs = clusters[next(iter(clusters))] if clusters else []
    if any(belongs) and not all(belongs):
        raise InputError(
            f"{where}: expected a cluster in every row of column cluster, found none for answer "
            f"{belongs.index('') + 1}; fill it in, or leave out the column"
        )
    return joined(list(jurors.items()), ids=unique, pairwise=pairwise, clusters=belongs if any(belongs) else ())


def check_columns(names: Collection[str], where: str) -> None:
    """Raise :class:`InputError`, starting with ``where``, if a tidy table with these columns lacks one."""
    lacking = [name for name in NEEDED if name not in names]
    if lacking:
        raise InputError(
            f"{where}: expected the columns question, answer, juror, p_true and label, found no {', '.join(lacking)}"
        )


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell)


def _each(read: Callable[[object], Cell], cells: Iterable[object], where: str) -> list[Cell]:
    read_cells = []
    for row, cell in enumerate(cells, start=1):
        try:
            read_cells.append(read(cell))
        except InputError as error:
            raise InputError(f"{where}, row {row}: {error}") from None
    return read_cells


def _named_as_pairs(answers: Iterable[str]) -> bool:
    return all(PAIR.fullmatch(text.strip()) for text in answers)


def _first(cell: object) -> bool:
    return str(cell).strip().lower() == FIRST


def in_words(text: str, *, pairwise: bool) -> str:
    """A text that has verdicts in it, for readers: of pairs of answers, True is First and False is Second.

    >>> in_words("True if more jurors say True than False.", pairwise=True)
    'First if more jurors say First than Second.'
    """
    return text.replace("True", FIRST.title()).replace("False", SECOND.title()) if pairwise else text


def one_sided(judgements: Judgements) -> str:
    """A clause that says which label all answers (n ≥ 1) have, for a sentence.

    >>> p = np.full((2, 2), 0.5)
    >>> one_sided(Judgements(("a", "b"), ("1", "2"), ("", ""), ("", ""), np.array([True, True]), p, p, ("", "")))
    'all 2 answers are right'
    """
    n, label = len(judgements), bool(judgements.labels[0])
    if judgements.pairwise:
        return f"in {'the only pair' if n == 1 else f'all {n} pairs'} the {FIRST if label else SECOND} answer is better"
    return f"{'the only answer is' if n == 1 else f'all {n} answers are'} {'right' if label else 'wrong'}"


def truth(cell: object) -> bool:
    """Whether an answer is right, read from a cell: True or False, 1 or 0, Correct or Incorrect, Right or Wrong, Yes or
    No.

    Raises :class:`InputError` for any other text and for an empty cell.
    """
    word = str(cell).strip().lower().removesuffix(".0")
    if word in ("true", "1", "correct", "right", "yes"):
        return True
    if word in ("false", "0", "incorrect", "wrong", "no"):
        return False
    if word in ("", "nan", "none", "<na>"):
        raise InputError(
            "expected a label that says whether the answer is right, found nothing; every answer needs a label"
        )
    if word in ("tie", "tied", "draw", "equal"):
        raise InputError(
            f"expected a label that decides, found {str(cell)[:40]!r}; leave out ties, or let `hedge jury estimate` "
            "count them half"
        )
    raise InputError(f"expected True or False (or Correct, Incorrect; of pairs, A and B), found {str(cell)[:40]!r}")


def _part(cell: object) -> str:
    word = str(cell).strip().lower()
    word = "" if word in ("none", "nan", "<na>") else word
    part = {"calib": "calibration"}.get(word, word)
    if part not in PARTS:
        raise InputError(
            f"expected part calibration or test, found {word[:40]!r}; rename the parts, or leave out the column "
            "to split the answers at random"
        )
    return part


def _numbers(column: pd.Series[Any], where: str) -> FloatArray:
    import pandas as pd

    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise InputError(
            f"{where}, row {row + 1}: expected {column.name} as a number from 0 to 1, found "
            f"{str(column.iloc[row])[:40]!r}"
        )
    return values
