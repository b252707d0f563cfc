"""One test question of a run with its prediction set, small enough for a card."""

from dataclasses import dataclass

import numpy as np

from core.conformal.scores import score
from core.conformal.tuning import tune
from core.records import FloatArray
from core.reports.evaluation import Evaluation
from core.runs import store

LONGEST_QUESTION, LONGEST_OPTION = 90, 30
"""Characters of a question and of an option that fit on a card."""
SET_SIZE = 2
"""The set size that shows best what a set is: neither one option nor all."""


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A test question of a run, by its ``id``. ``probabilities`` and ``scores`` (k,) are those of its options.

    ``label`` is the true one (0-based). ``short`` says that its texts fit on a card and that it has no context.
    """

    id: str
    question: str
    options: tuple[str, ...]
    probabilities: FloatArray
    scores: FloatArray
    label: int
    short: bool

    def members(self, threshold: float) -> list[bool]:
        """Which options are in the set at a threshold, (k,)."""
        return [bool(inside) for inside in self.scores <= threshold]


def example_question(run: Evaluation, name: str, threshold: float) -> ExampleQuestion:
    """The first test question with short texts, a true option in its set and :data:`SET_SIZE` options in it.

    ``name`` is the score and ``threshold`` its threshold, at which the question is chosen. If there is no such
    question, one with short texts is preferred to one with such a set, and of long texts the shortest is taken.
    """
    tuned = tune(name, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
    scores = score(name, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters)
    texts = {
        row["id"]: row
        for row in store.read_questions(run.run_id).select(["id", "context", "question", "options"]).to_pylist()
    }

    def wanted(row: int) -> tuple[bool, bool, int]:
        question, inside = texts[str(run.ids[row])], scores[row] <= threshold
        letters = max(len(option) for option in question["options"])
        long = bool(question["context"]) or len(question["question"]) > LONGEST_QUESTION or letters > LONGEST_OPTION
        fits = bool(inside[run.labels[row]]) and int(inside.sum()) == SET_SIZE
        return long, not fits, len(question["context"]) + len(question["question"]) + letters if long else 0

    row = min((int(row) for row in run.test), key=wanted)
    text, k = texts[str(run.ids[row])], int(run.option_counts[row])
    return ExampleQuestion(
        text["id"],
        text["question"],
        tuple(text["options"]),
        np.array(run.probabilities[row, :k]),
        np.array(scores[row, :k]),
        int(run.labels[row]),
        not wanted(row)[0],
    )
