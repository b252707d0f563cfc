"""Runs whose rows repeat questions, or belong together: which rows stand for the questions, and how reports say so.

All test rows count in a mean, and one question is one unit in its interval. Where a figure needs questions that are
independent, as the lab's redrawn splits do, one random row stands for each question.
"""

from dataclasses import replace

import numpy as np

from core.conformal.clusters import kish_number, within
from core.conformal.draws import ONE_EACH, first_part, one_each
from core.records import IntArray
from core.reports.evaluation import Evaluation

IN_THE_LAB = "The lab shows one random row of each question, because its redrawn splits need independent questions."


def counted(rows: int, questions: int) -> str:
    """How many rows ask how many questions, as a phrase beside a figure.

    >>> counted(250, 50), counted(1, 1)
    ('250 rows, 50 questions', '1 row, 1 question')
    """
    return f"{rows:,} row{'s' if rows != 1 else ''}, {questions:,} question{'s' if questions != 1 else ''}"


def standing(run: Evaluation, rows: IntArray) -> IntArray:
    """One seeded row of each question among ``rows``, in their order; all of them if no question is repeated."""
    return one_of_each(run.clusters, rows, seed=run.spec.seed)


def one_of_each(clusters: IntArray | None, rows: IntArray, *, seed: int) -> IntArray:
    """As :func:`standing`, with the ``clusters`` of all rows."""
    own = within(clusters, rows)
    return rows if own is None else rows[one_each(rows, own, seed=seed)]


def standing_test_rows(run: Evaluation, rows: IntArray) -> IntArray:
    """As :func:`standing`, and as many rows as ``rows`` are worth in a band of coverage
    (:func:`core.conformal.clusters.kish_number`): fewer than the questions where some of these have more rows than
    others."""
    return band_rows(run.clusters, rows, seed=run.spec.seed)


def band_rows(clusters: IntArray | None, rows: IntArray, *, seed: int) -> IntArray:
    """As :func:`standing_test_rows`, with the ``clusters`` of all rows."""
    own = one_of_each(clusters, rows, seed=seed)
    worth = kish_number(within(clusters, rows), len(rows))
    return own if worth >= len(own) else own[first_part(own, worth, seed=seed, purpose=ONE_EACH)]


def questions_of(run: Evaluation, rows: IntArray) -> int:
    """How many questions the rows ask."""
    clusters = within(run.clusters, rows)
    return len(rows) if clusters is None else int(clusters.max()) + 1


def one_row_each(run: Evaluation) -> Evaluation:
    """The run with one row of each question: the same run if none is repeated."""
    if run.clusters is None:
        return run
    return replace(run, test=standing(run, run.test), clusters=None)


def tested(m: int, questions: int) -> str:
    """The size of a test side whose m rows ask ``questions`` questions.

    >>> tested(50, 50), tested(250, 50)
    ('50 test questions', 'a test side of 250 rows, 50 questions')
    """
    return f"{m:,} test questions" if questions == m else f"a test side of {counted(m, questions)}"


def sides(n: int, m: int, questions: int) -> str:
    """The sizes of both sides of a split, whose m test rows ask ``questions`` questions.

    >>> sides(50, 50, 50), sides(50, 250, 50)
    ('50 calibration and 50 test questions', '50 calibration questions and a test side of 250 rows, 50 questions')
    """
    if questions == m:
        return f"{n:,} calibration and {m:,} test questions"
    return f"{n:,} calibration questions and {tested(m, questions)}"


def tested_by(run: Evaluation) -> str:
    """The size of a run's test side, as a phrase (:func:`tested`)."""
    return tested(len(run.test), questions_of(run, run.test))


def sides_of(run: Evaluation) -> str:
    """The sizes of both sides of a run's split, as a phrase (:func:`sides`)."""
    return sides(len(run.calibration), len(run.test), questions_of(run, run.test))


def repeat_notes(run: Evaluation) -> tuple[str, ...]:
    """Sentences on rows that repeat questions; none for a run without such rows."""
    if run.clusters is None:
        return ()
    m, questions = len(run.test), questions_of(run, run.test)
    n = len(run.calibration)
    notes = []
    if questions < m:
        notes.append(
            f"Rows repeat questions or belong together: the test side has {counted(m, questions)}. Every row counts in "
            "a figure, and each question counts as one in its interval and in its p-value."
        )
    repeats = len(np.intersect1d(run.clusters[run.left_out], run.clusters[run.test]))
    if len(run.left_out):
        again = len(run.left_out) - int(np.isin(run.clusters[run.left_out], run.clusters[run.test]).sum())
        if again:
            notes.append(
                f"The calibration side has {counted(n + again, n)}. One random row of each calibrates, because the "
                "guarantee does not hold for repeated rows."
            )
    if repeats:
        what, it = ("question is", "its") if repeats == 1 else ("questions are", "their")
        notes.append(
            f"{repeats:,} {what} on both sides of the split; {it} calibration rows are left out, so that no tested "
            "question calibrates."
        )
    return tuple(notes)
