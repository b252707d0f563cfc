"""All caveats of a run as it is viewed, and how places show them: as texts, or as a mark with a footnote.

:mod:`core.runs.caveats` says what a caveat is, and finds those that ``run.json`` knows. They travel in
``Evaluation.recorded``, so that no function can form a figure of a run without them (:func:`of_run`).
"""

import math
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
NO_NLL = "frequencies have none"
"""In place of the NLL of a run of frequencies."""
UNLIKE_SAMPLES = 0.1
"""By how much the mean numbers of samples of the two sides may differ, as a share of the larger one."""
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
    if run.samples is not None:
        return (*caveats, *_of_frequencies(run))
    true = run.log_probabilities[run.test, labels]
    if infinite := int(np.isneginf(true).sum()):
        caveats.append(
            Caveat(
                "infinite",
                f"{infinite:,} of {m:,} test questions give the truth a probability of 0, so the NLL is infinite (∞).",
            )
        )
    return tuple(caveats)


def _of_frequencies(run: Evaluation) -> Caveats:
    """The effect of frequencies of picks on figures.

    With the chance (1 − p)^s, none of s samples picks a true option of probability p, and its loss is infinite. So the
    expected NLL is infinite for every s, and a run of frequencies has no NLL. The size of the noise in the Brier score
    is known (:func:`core.calibration.metrics.brier_sampling_noise`). The option that is picked most often owes this to
    chance too, so on average its frequency is above its probability.
    """
    samples, m = np.asarray(run.samples), len(run.test)
    if not m or not len(run.calibration):
        return ()
    p, labels = run.probabilities[run.test], run.labels[run.test]
    caveats = []
    noise = metrics.brier_sampling_noise(p, samples[run.test])
    score = metrics.brier(p, labels)
    of_brier = f"Of the Brier score of {score:.3f}, about {noise:.3f} is noise of the samples. "
    unpicked = int((p[np.arange(m), labels] == 0).sum())
    caveats.append(
        Caveat(
            "frequencies",
            f"{'' if math.isnan(noise) else of_brier}The most frequent option looks more probable than it is, which is "
            "part of each calibration error. There is no NLL: it would be infinite, as options without a pick can be "
            f"right ({unpicked:,} of {m:,} test questions).",
        )
    )
    own, other = (float(samples[rows].mean()) for rows in (run.calibration, run.test))
    if abs(own - other) > UNLIKE_SAMPLES * max(own, other):
        caveats.append(
            Caveat(
                "frequencies",
                f"Calibration questions have {own:.1f} samples on average and test questions {other:.1f}, so their "
                "scores can't be compared, and the coverage is not guaranteed.",
                "Take as many samples of all questions.",
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
    caveats = of_run(run, method=method)
    return footnote_of((*caveats, Caveat("repeated", IN_THE_LAB)) if run.clusters is not None else caveats)


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
