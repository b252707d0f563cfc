"""Builds one run from imported rows: any number of options, and a split if the source has none.

Questions may have different numbers of options: the shorter ones keep theirs, and their row of logits is filled up
with −∞, which is the logit of no option at all (:attr:`core.reports.evaluation.Evaluation.real`).
"""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.conformal.clusters import joined
from core.errors import InputError
from core.exchange.imported import ImportedRun, fingerprint_of
from core.questions.identity import question_clusters
from core.questions.near_duplicates import clusters, likeness
from core.questions.rotation import asked_again
from core.records import MOST_OPTIONS, OPTION_NAMES, FloatArray, LogitArray, OptionLogits, Question, Role, added_options
from core.runs.spec import RunSpec
from core.tables.read_as import line

LARGEST_LOGIT = float(np.finfo(np.float32).max)
COMPARED = 30_000
"""Up to this many questions, all pairs are compared for near duplicates. With more, only equal questions are found."""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A question with the log-likelihoods of its options in natural logarithms, and where it was found."""

    question: Question
    logits: tuple[float, ...]
    where: str
    letter_mass: float = float("nan")


def check_row(where: str, options: int, label: int, texts: Sequence[str] = ()) -> None:
    """:class:`InputError` where there are not 2 to 100 options, or the truth is another or an added one."""
    if not 2 <= options <= MOST_OPTIONS:
        raise InputError(f"{where}: expected from 2 to {MOST_OPTIONS} options, found {options}")
    if not 0 <= label < options:
        raise InputError(
            f"{where}: expected a label that is one of the {options} options, found number {label} (counted from 0)"
        )
    if label >= options - added_options(texts):
        raise InputError(
            f"{where}: expected an answer as the truth, found {OPTION_NAMES[label]} “{texts[label]}”, which never is "
            "one"
        )


def assemble(path: Path, rows: Sequence[ScoredRow], spec: RunSpec, provenance: dict[str, Any]) -> ImportedRun:
    """The run of a file's rows, which have no split of their own. A spec without a fingerprint gets the file's."""
    if not rows:
        raise InputError(f"{path}: expected questions with options, found none")
    seen: dict[str, str] = {}
    for row in rows:
        if row.question.id in seen:
            raise InputError(
                f"{row.where}: expected every question once, found id {row.question.id!r} again (first: "
                f"{seen[row.question.id]})"
            )
        seen[row.question.id] = row.where
    logits = padded([row.logits for row in rows])
    check_not_flat(logits, path)
    questions = tuple(row.question for row in rows)
    mass = np.array([row.letter_mass for row in rows], dtype=np.float32)
    return ImportedRun(
        spec=spec if spec.fingerprint else replace(spec, fingerprint=fingerprint_of(path)),
        questions=questions,
        roles=split(questions, path=path),
        scored=OptionLogits(tuple(q.id for q in questions), logits, mass),
        provenance={"file": path.name} | provenance,
        read_as=line(questions),
    )


def padded(rows: Sequence[Sequence[float]]) -> FloatArray:
    """Rows of any length as one array (n, k), filled up with −∞."""
    k = max(len(row) for row in rows)
    filled = np.full((len(rows), k), -np.inf)
    for i, row in enumerate(rows):
        filled[i, : len(row)] = row
    return in_range(filled)


def in_range(logits: FloatArray) -> FloatArray:
    """Logits of any shape as they are kept: one below −3.4e38 rules its option out, and one above 3.4e38 is infinite,
    which is refused."""
    bounded = np.where(logits < -LARGEST_LOGIT, -np.inf, logits)
    return np.where(bounded > LARGEST_LOGIT, np.inf, bounded)


def check_not_flat(values: LogitArray, path: Path) -> None:
    """:class:`InputError` where every question's options are all alike: that is no model's output."""
    logits = values.astype(np.float32)
    real = np.isfinite(logits)
    highest = np.where(real, logits, -np.inf).max(axis=1)
    lowest = np.where(real, logits, np.inf).min(axis=1)
    if (highest == lowest).all() and (real.sum(axis=1) > 1).all():
        raise InputError(
            f"{path}: expected options that differ in their figures, found all equal in each of {len(logits)} "
            "questions; no set can be formed of them"
        )


def split(questions: Sequence[Question], *, path: Path, texts: bool = True) -> tuple[Role, ...]:
    """Half calibrate, half test; questions alike stay together (``texts`` False: there are no texts to compare).

    A question that is asked a second time with its options in another order is a ``rotation``, in no split.

    The order is that of a hash of each question's id, so two imports of the same questions are split alike.
    """
    keys = [hashlib.sha256(q.id.encode()).digest() for q in questions]
    if not texts:
        together = _numbers(q.cluster or i for i, q in enumerate(questions))
    elif len(questions) <= COMPARED:
        together = clusters(questions)
    else:
        joint = joined([likeness(q) for q in questions], [q.cluster or None for q in questions])
        together = list(range(len(questions))) if joint is None else joint.tolist()
    members: dict[int, list[int]] = {}
    for row, cluster in enumerate(together):
        members.setdefault(cluster, []).append(row)
    wanted = len(questions) // 2
    roles: list[Role] = ["test"] * len(questions)
    taken = 0
    for rows in sorted(members.values(), key=lambda rows: min(keys[row] for row in rows)):
        if taken + len(rows) <= wanted:
            taken += len(rows)
            for row in rows:
                roles[row] = "calibration"
    if not 0 < taken < len(questions):
        raise InputError(
            f"{path}: expected at least two questions that differ, one to calibrate and one to test, found "
            f"{len(members)} among {len(questions)}"
        )
    return counted_once(roles, questions) if texts else tuple(roles)


def _numbers(names: Iterable[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


def check_split(questions: Sequence[Question], roles: Sequence[Role], path: Path) -> None:
    """:class:`InputError` if every question that calibrates is also one that tests, so that none would be left."""
    clusters = question_clusters(questions, roles)
    if clusters is None:
        return
    sides = {
        side: {int(clusters[i]) for i, role in enumerate(roles) if role == side} for side in ("calibration", "test")
    }
    if sides["calibration"] and sides["calibration"] <= sides["test"]:
        raise InputError(
            f"{path}: expected questions that calibrate and do not test, found each of the {len(sides['calibration'])} "
            "on both sides of the split; leave out the column with the split, and Hedge splits by question"
        )


def counted_once(roles: Sequence[Role], questions: Sequence[Question]) -> tuple[Role, ...]:
    """The roles, where a question that is asked again in another order of its options is a ``rotation``."""
    pairs = zip(roles, asked_again(questions), strict=True)
    return tuple("rotation" if again and role != "demonstration" else role for role, again in pairs)
