"""Which questions a run asks, as numbers that are searched without reading any texts.

A mark stands for a question with its id, the order of its options, and whether it is tested: a set is shown by its
letters, so the same question in another order is another one here. Marks are kept on disk (:mod:`core.reports.kept`),
once for all runs with the same questions, in 8 bytes for each question.
"""

import functools
import hashlib
import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.questions.identity import QuestionSource, identity, unpublished
from core.records import Question
from core.reports import kept
from core.reports.question_identity import QuestionFile, asked_questions, identities, named_rows
from core.runs import store
from core.runs.shared_questions import FILE

KIND = "question_marks"

Marks = npt.NDArray[np.uint64]


def marks(run_id: str) -> Marks:
    """The marks of a run's questions, rising and read-only.

    Raises :class:`~core.errors.UnreadableRunError` for a run whose file of questions is missing or damaged.
    """
    questions = asked_questions(run_id)
    with store.reading(questions.run_id, FILE):
        return _marks(questions.file, questions.source)


def mark_of(run_id: str, question: Question, *, tested: bool) -> int:
    """The mark that a question of a run has in the runs that test it, or in those that use it for something else."""
    source = asked_questions(run_id).source
    if source.texts and not unpublished(question.options):
        name = identity(question.context, question.question, question.options, question.label)
    else:
        name = identities(run_id)[question.id]
    return _mark(question.id, name, question.options, tested=tested)


def holds(marks: Marks, mark: int) -> bool:
    """Whether a mark is among others."""
    place = int(np.searchsorted(marks, np.uint64(mark)))
    return place < len(marks) and int(marks[place]) == mark


@functools.lru_cache(maxsize=1024)
def _marks(file: QuestionFile, source: QuestionSource) -> Marks:
    known = [file.content, source.origin, source.task, str(source.texts)]
    name = hashlib.blake2b(json.dumps(known).encode(), digest_size=16).hexdigest()
    state = kept.state(*known)
    if stored := kept.read(KIND, name, state):
        own: Marks = stored[1]["marks"]
        return own
    rows = named_rows(file, source)
    own = np.fromiter((_mark(row[0], name, row[3], tested=row[5] == "test") for row, name in rows), np.uint64)
    own.sort()
    own.setflags(write=False)
    kept.write(KIND, name, state, {}, {"marks": own})
    return own


def _mark(question_id: str, identity: str, options: Sequence[str], *, tested: bool) -> int:
    known = json.dumps([question_id, identity, list(options), tested]).encode()
    return int.from_bytes(hashlib.blake2b(known, digest_size=8).digest(), "little")
