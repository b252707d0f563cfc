"""The results of a class as tables: a row for each person, one for the class and one for its model.

People give each option a share, so an answer is a whole distribution. Its option is the one with the largest share, its
confidence is that share, and it is right by 1 if that option is, or by 1/r if r options have the largest share and one
of them is right. The Brier score of an answer is ``Σ (p − y)²`` over the options, where p is a share as a probability
and y is 1 for the right option and 0 for the others (Brier 1950, doi 10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2).
It lies between 0, for 100% on the right option, and 2, for 100% on a wrong one; equal shares of k options score
1 − 1/k. A person's Brier score is the mean over the questions that he or she answered; a lower one is better. A model
that may also choose "I don't know" and "None of the above" is scored over these too.

Only questions whose answer has been shown are in the tables, and names are only if they are asked for.
"""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from core import access
from core.access import UserRole
from core.calibration.metrics import brier
from core.conformal.probabilities import top_shares
from core.exchange.workbook import workbook
from core.exchange.writing import to_csv
from core.records import LETTERS, FloatArray
from core.serving.classroom import class_figures
from core.serving.classroom.class_run import answers_table
from core.serving.classroom.class_state import TRUTH_KNOWN
from core.serving.classroom.lecture import led
from core.serving.classroom.live_class import LiveClass

FORMATS = ("xlsx", "csv")
"""A workbook with the results, the questions and the shares of every answer, or the results alone."""
RIGHT, CLASS = "right answer", "class"
"""The rows that belong to no seat, before that of the model."""


@access.needs(UserRole.LAUNCHER, "export a class")
def results_file(code: str, form: str, *, names: bool = False) -> bytes:
    """The results of a class as a file in one of :data:`FORMATS`."""
    live = led(code)
    with live.lock:
        results = _arrow(results_table(live, names=names))
        if form == "csv":
            return to_csv(results)
        questions = questions_table(live)
        answers = answers_table(code, names=names)
        shown = answers[answers["question"].isin(questions["id"])]
        return workbook({"results": results, "questions": _arrow(questions), "answers": _arrow(shown)})


def _arrow(table: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(table, preserve_index=False)


def known(live: LiveClass) -> int:
    """The number of questions whose answer has been shown."""
    return 0 if live.phase == "lobby" else live.position + (live.phase in TRUTH_KNOWN)


def results_table(live: LiveClass, *, names: bool = False) -> pd.DataFrame:
    """A row for each seat that has answered, then one for the class's mean shares and one for the model.

    ``answers`` counts the answered questions and ``right`` the right ones of them; ``accuracy`` is the share of these,
    ``mean_confidence`` the mean confidence and ``brier`` the mean Brier score. Then each question has an ``answer``
    (the option's text; several, if their shares are equal), a ``confidence`` and whether it is ``right``. The first row
    has the right answers.
    """
    quiz, n = live.quiz, known(live)
    right = {f"answer {i}": question.options[question.label] for i, question in enumerate(quiz.questions[:n], start=1)}
    rows: list[dict[str, Any]] = [{"seat": RIGHT, **right}]
    seats = live.all_shares()
    for seat, own in sorted(seats.items()):
        name = {"name": live.seats[seat].name} if names else {}
        rows.append({"seat": str(seat), **name, **_row(live, class_figures.mean_shares([own], quiz) / 100, n)})
    rows.append({"seat": CLASS, **_row(live, class_figures.mean_shares(list(seats.values()), quiz) / 100, n)})
    if quiz.has_answers:
        rows.append({"seat": quiz.model, **_row(live, quiz.probabilities, n)})
    summary = ["seat", *(["name"] if names else []), "answers", "right", "accuracy", "mean_confidence", "brier"]
    by_question = [f"{what} {i}" for i in range(1, n + 1) for what in ("answer", "confidence", "right")]
    return pd.DataFrame(rows, columns=[*summary, *by_question])


def _row(live: LiveClass, p: FloatArray, n: int) -> dict[str, Any]:
    """The figures of probabilities (n, k) on the first ``n`` questions; a row of NaN is one without an answer."""
    p, labels = p[:n], class_figures.labels(live.quiz)[:n]
    answered = np.flatnonzero(~np.isnan(p).all(axis=1))
    filled = np.nan_to_num(p)
    top, shares = filled.max(axis=1, initial=0.0), top_shares(filled)
    row: dict[str, Any] = {"answers": len(answered)}
    if not len(answered):
        return row
    right = shares[np.arange(n), labels]
    row |= {
        "right": float(right[answered].sum()),
        "accuracy": float(right[answered].mean()),
        "mean_confidence": float(top[answered].mean()),
        "brier": brier(filled[answered], labels[answered]),
    }
    for i in answered:
        options = live.quiz.questions[i].options
        chosen = [text for text, share in zip(options, shares[i], strict=False) if share > 0]
        row |= {
            f"answer {i + 1}": " or ".join(chosen),
            f"confidence {i + 1}": float(top[i]),
            f"right {i + 1}": float(right[i]),
        }
    return row


def questions_table(live: LiveClass) -> pd.DataFrame:
    """A row for each question whose answer has been shown, with what it was for, its text and its options."""
    quiz = live.quiz
    rows = [
        {
            "number": i + 1,
            "id": question.id,
            "role": "calibration" if i < quiz.calibration else "test",
            "context": question.context,
            "question": question.question,
            "right": question.letter,
            **dict(zip(LETTERS, question.options, strict=False)),
        }
        for i, question in enumerate(quiz.questions[: known(live)])
    ]
    k = max(len(question.options) for question in quiz.questions)
    return pd.DataFrame(rows, columns=["number", "id", "role", "context", "question", "right", *LETTERS[:k]])
