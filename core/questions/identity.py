"""The identity of questions: what makes two questions, or two sets of questions, the same wherever they are asked.

A question's identity is a hash of its context, its text, its answers and which of them is right. The order of the
options does not count, so that a question asked under another rotation is the same one; nor do closing options that are
no answers, which a form may leave out. The id does not count either: another bank may have it for another question.

Of questions that were published without their texts only labels are known. They are identified by their source: the
source, the task, the whole table of ids and right letters, and the id. So two results share questions where a source
published both with the very same answers, and never with anything else.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.conformal.clusters import joined, within
from core.records import DONT_KNOW, NONE_OF_ABOVE, NOT_PUBLISHED, IntArray, Question

BYTES = 12


Row = tuple[str, str, str, Sequence[str], int, str]
"""A question as its id, context, text, options, label and role (:data:`core.records.Role`)."""


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """Where questions come from: the ``origin`` of their run, its ``task``, and whether their texts are known."""

    origin: str
    task: str
    texts: bool

    def identities(self, rows: Sequence[Row]) -> dict[str, str]:
        """Identities by id. Rows that repeat a question in another rotation are not part of the table of answers."""
        if self.texts and not any(unpublished(row[3]) for row in rows):
            return {
                name: identity(context, question, options, label) for name, context, question, options, label, _ in rows
            }
        labels = labels_digest((row[0], len(row[3]), row[4]) for row in rows if row[5] != "rotation")
        return {row[0]: identity_by_place(self.origin, self.task, labels, row[0]) for row in rows}

    def test_digest(self, rows: Sequence[Row]) -> str:
        """The digest of the set of test questions."""
        named = self.identities(rows)
        return set_digest(named[row[0]] for row in rows if row[5] == "test")


def identity(context: str, question: str, options: Sequence[str], label: int) -> str:
    """The identity of a question with texts, 24 hexadecimal digits; ``label`` is the place of the right option.

    >>> identity("", "1 + 1?", ["2", "3"], 0) == identity("", "1 + 1?", ["3", "2", "None of the above"], 1)
    True
    >>> identity("", "1 + 1?", ["2", "3"], 0) == identity("", "1 + 1?", ["2", "4"], 0)
    False
    """
    answers = sorted([option.strip() for option in options if option not in (DONT_KNOW, NONE_OF_ABOVE)])
    return _digest([context.strip(), question.strip(), options[label].strip(), *answers])


MISSING = ("", "nan", "none", "null", "na", "n/a")


def cluster_name(cell: object) -> str:
    """The name of a cluster in a cell of a file; empty if the cell is missing.

    >>> cluster_name(3), cluster_name(3.0), cluster_name(" p1 "), cluster_name(None), cluster_name(float("nan"))
    ('3', '3', 'p1', '', '')
    """
    text = str(cell).strip()
    return "" if text.lower() in MISSING else text.removesuffix(".0")


def question_clusters(questions: Sequence[Question], roles: Sequence[str]) -> IntArray | None:
    """The number of the question that each row asks, (n,): rows with the same identity, or with the same ``cluster``,
    ask one question. None if no two rows that calibrate or test do. Questions without a published text are never the
    same."""
    texts_of_questions = [(q.context.strip(), q.question.strip()) for q in questions]
    times = Counter(texts_of_questions)
    texts = [
        identity(q.context, q.question, q.options, q.label)
        if times[text] > 1 and any(text) and not unpublished(q.options)
        else None
        for q, text in zip(questions, texts_of_questions, strict=True)
    ]
    clusters = joined(texts, [q.cluster or None for q in questions])
    scored = np.flatnonzero([role in ("calibration", "test") for role in roles])
    return None if within(clusters, scored) is None else clusters


def unpublished(options: Sequence[str]) -> bool:
    """Whether a question's answers were published without their texts."""
    return NOT_PUBLISHED in options


def labels_digest(rows: Iterable[tuple[str, int, int]]) -> str:
    """The identity of a whole table of answers: rows of id, number of options and right option, in any order."""
    return _digest(sorted(f"{name}\x1f{options}\x1f{label}" for name, options, label in rows))


def identity_by_place(source: str, task: str, labels: str, name: str) -> str:
    """The identity of a question without texts: ``labels`` is the digest of the table that it stands in."""
    return _digest([source, task, labels, name])


def set_digest(identities: Iterable[str]) -> str:
    """A hash of a set of questions, 24 hexadecimal digits. The order does not count."""
    return _digest(sorted(identities))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=BYTES).hexdigest()
