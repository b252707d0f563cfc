"""All caveats of a run as it is viewed, and how places show them: as texts, or as a mark with a footnote.

:mod:`core.runs.caveats` says what a caveat is, and finds those that ``run.json`` knows. They travel in
``Evaluation.recorded``, so that no function can form a figure of a run without them (:func:`of_run`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from core.calibration import metrics
from core.conformal.alpha import THOUSAND, Alpha
from core.conformal.published import top_ties_of
from core.conformal.threshold import rank
from core.reports.evaluation import Evaluation
from core.reports.repeated import IN_THE_LAB, questions_of, repeat_notes
from core.runs.caveats import Caveat, Caveats

MARK = "†"
"""Stands behind the name of a run that has caveats, where there is no room for them."""
FEWEST = 100
"""With fewer calibration or test questions, a run has few of them."""
NAMED = 4
"""The footnotes that are shown where there is little room."""


def few_questions(n: int, m: int, *, alpha: Alpha = 0) -> Caveats:
    """A caveat on ``n`` calibration and ``m`` test questions, if they are few, or too few for ``alpha`` thousandths."""
    if min(n, m) >= FEWEST and (not alpha or rank(n, alpha) <= n):
        return ()
    smallest = -(-THOUSAND // (n + 1)) / THOUSAND
    return (
        Caveat(
            "few",
            f"Only {n:,} calibration and {m:,} test question{'s' if m != 1 else ''}: intervals are wide, and below "
            f"alpha {smallest:.3f}, every option stays in every set.",
            "Take more questions.",
        ),
    )


def of_run(run: Evaluation, *, method: str = "exact") -> Caveats:
    """All caveats of a run as it is viewed. ``method`` is the threshold's, which decides ties.

    Probabilities that are only bounds say nothing of ties and of the NLL.
    """
    caveats = (*run.recorded, *_of_questions(run))
    if any(caveat.kind == "bounded" for caveat in caveats):
        return caveats
    return (*caveats, *_of_probabilities(run, method))


def _of_questions(run: Evaluation) -> Caveats:
    caveats = [Caveat("repeated", sentence) for sentence in repeat_notes(run)]
    least = int(run.option_counts.min(initial=run.k))
    if least < run.k:
        caveats.append(
            Caveat(
                "options",
                f"Questions have from {least} to {run.k} options. No set holds an option that its question lacks, and "
                f"UAcc uses k = {run.k}.",
            )
        )
    return (*few_questions(len(run.calibration), questions_of(run, run.test)), *caveats)


def _of_probabilities(run: Evaluation, method: str) -> Caveats:
    probabilities, labels, m = run.probabilities[run.test], run.labels[run.test], len(run.test)
    caveats = []
    if m and (ties := metrics.top_ties(probabilities, labels)).n:
        order = top_ties_of(method)
        accuracy = metrics.accuracy(probabilities, labels, ties=order)
        caveats.append(
            Caveat(
                "ties",
                f"On {ties.n:,} of {m:,} test questions two or more options are equally and most probable; the {order} "
                f"of them counts as the model's choice{'' if order == 'later' else ', as in the published tool'}. "
                f"Accuracy is {accuracy:.3f}; it would be {ties.lost:.3f} with every tie lost and {ties.won:.3f} with "
                "every tie won.",
            )
        )
    true = run.log_probabilities[run.test, labels]
    if infinite := int(np.isneginf(true).sum()):
        caveats.append(
            Caveat(
                "infinite",
                f"{infinite:,} of {m:,} test questions give the truth a probability of 0, so the NLL is infinite (∞).",
            )
        )
    return tuple(caveats)


# ---------------------------------------------------------------- how they are shown


def texts(caveats: Iterable[Caveat]) -> tuple[str, ...]:
    """Each caveat as text."""
    return tuple(caveat.text for caveat in caveats)


def in_one(caveats: Iterable[Caveat]) -> str:
    """All caveats of a run as one text, for a cell of a table; empty if there are none."""
    return " ".join(texts(caveats))


def footnote_of(caveats: Iterable[Caveat]) -> str:
    """The caveats of the only run that is shown, behind their mark; empty if there are none."""
    text = in_one(caveats)
    return f"{MARK} {text}" if text else ""


def lab_footnote_of(run: Evaluation, *, method: str = "exact") -> str:
    """The caveats of a run whose lab is shown (:func:`footnote_of`)."""
    found = of_run(run, method=method)
    return footnote_of((*found, Caveat("repeated", IN_THE_LAB)) if run.clusters is not None else found)


def marked(name: str, caveats: object) -> str:
    """The name of a run, with a mark if it has caveats.

    >>> marked("pocket-1m", ()), marked("pocket-1m", "Prompts were cut.")
    ('pocket-1m', 'pocket-1m †')
    """
    return f"{name} {MARK}" if caveats else name


def footnotes(named: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Lines that explain the marks: for each run with caveats its name and their text. Runs with the same text share a
    line.

    >>> footnotes([("a", "Cut."), ("b", ""), ("c", "Cut.")])
    ('† a, c: Cut.',)
    """
    by_text: dict[str, list[str]] = {}
    for name, text in named:
        if text and name not in by_text.setdefault(text, []):
            by_text[text].append(name)
    return tuple(f"{MARK} {', '.join(names)}: {text}" for text, names in by_text.items())


def first_footnotes(named: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The first :data:`NAMED` of :func:`footnotes`, and a line that counts the others."""
    lines = footnotes(named)
    more = len(lines) - NAMED
    return (*lines[:NAMED], *[f"{MARK} {more:,} more like these; open the runs to read them."] * (more > 0))
