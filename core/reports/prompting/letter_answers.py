"""Answers to prompts that ask for a letter: how often the answer is not a letter, and what the model writes instead. A
repeated run gives the same scores. Sampled answers vary, and are shown next to the scores.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.calibration.metrics import correct
from core.conformal.clusters import within
from core.conformal.coverage import clustered_share_interval
from core.questions.prompting.written import is_unfinished
from core.records import LETTERS
from core.reports.evaluation import evaluate, load, read_answers
from core.runs import store


@dataclass(frozen=True, slots=True)
class Invalid:
    """The answers that a model would write when it is asked for a letter, on n test questions with their options in the
    original order.

    ``rate`` is the share whose most probable next token is no letter of an option, with its 95% interval (NaN if the
    run does not say), ``letter_mass`` the mean share of the probability on the letters; ``instead`` the most frequent
    such tokens and how often each came.
    """

    n: int
    rate: float
    low: float
    high: float
    letter_mass: float
    instead: tuple[tuple[str, int], ...]


def invalid_answers(run_id: str, *, most: int = 10) -> Invalid:
    """Count the answers of a run that are not a letter of an option.

    A token counts as a letter if it is one of the question's letters; spaces around it are ignored.
    """
    answers = read_answers(run_id)
    run, scored = evaluate(answers), answers.scored
    mass = scored.letter_mass[run.test]
    mean = float(mass.mean()) if np.isfinite(mass).all() else math.nan
    if scored.top_tokens is None:
        return Invalid(len(run.test), math.nan, math.nan, math.nan, mean, ())
    counts: dict[str, int] = {}
    invalid = np.zeros(len(run.test))
    for place, row in enumerate(run.test):
        token = scored.top_tokens[row]
        if len(token.strip()) != 1 or token.strip() not in LETTERS[: int(run.option_counts[row])]:
            counts[token] = counts.get(token, 0) + 1
            invalid[place] = 1
    wrong = sum(counts.values())
    low, high = clustered_share_interval(invalid, within(run.clusters, run.test))
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    return Invalid(len(run.test), wrong / len(run.test), low, high, mean, tuple(listed))


@dataclass(frozen=True, slots=True)
class Spread:
    """Sampled answers compared with the scores: ``accuracy`` of each repeat over the n test questions (an answer that
    is not found is wrong), ``not_found`` the share of all answers in which no option could be found, ``unfinished`` the
    share of those that ended while a reasoning model still thought aloud, ``agreement`` the mean share of a question's
    repeats that gave its most frequent answer, ``scored`` the accuracy of the letters."""

    n: int
    accuracy: tuple[float, ...]
    not_found: float
    unfinished: float
    agreement: float
    scored: float

    @property
    def deviation(self) -> float:
        """The standard deviation of accuracy between repeats; NaN for fewer than two."""
        return float(np.std(self.accuracy, ddof=1)) if len(self.accuracy) > 1 else math.nan


def spread(run_id: str) -> Spread | None:
    """The written answers of a run and how much they differ between repeats; None for a run without written answers."""
    written = store.read_written(run_id)
    if written is None:
        return None
    run = load(run_id)
    places = {str(run.ids[row]): i for i, row in enumerate(run.test)}
    answers = np.full((len(run.test), max(written["repeat"].to_pylist()) + 1), -1)
    for row in written.to_pylist():
        answers[places[row["id"]], row["repeat"]] = row["answer"]
    right = answers == run.labels[run.test][:, None]
    modes = [np.unique(row, return_counts=True)[1].max() / len(row) for row in answers]
    return Spread(
        n=len(answers),
        accuracy=tuple(float(share) for share in right.mean(axis=0)),
        not_found=float((answers < 0).mean()),
        unfinished=float(np.mean([is_unfinished(text) for text in written["text"].to_pylist()])),
        agreement=float(np.mean(modes)),
        scored=float(correct(run.probabilities[run.test], run.labels[run.test]).mean()),
    )
