"""Answer or pass, for a run and for the judges of a jury: who answers from which confidence, in words and as a table.

The thresholds and the promise are those of :mod:`core.conformal.selective`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.calibration.metrics import correct
from core.conformal.draws import SPLIT, first_part
from core.conformal.selective import (
    GRID,
    SelectiveAnswers,
    SelectiveResult,
    SelectiveStage,
    least_passed,
    selective,
)
from core.errors import InputError
from core.jury.selection import JudgedSides
from core.reports.caveats import in_one, of_run
from core.reports.evaluation import Evaluation
from core.reports.repeated import questions_of, standing
from core.reports.report import finite
from core.reports.scored_sets import form
from core.runs.caveats import COLUMN
from core.tables.read_as import counted

DELTA = 100
"""How often the promise may fail where nobody chooses, in thousandths."""


@dataclass(frozen=True, slots=True)
class RunSides:
    """The questions of a run that calibrate and those that judge the threshold, with sentences about them.

    By set size, the confidence is k + 1 minus the size, and 0 for an empty set: the largest size that is answered is
    k + 1 minus the threshold (``k`` is 0 by confidence).
    """

    calibration: SelectiveAnswers
    judged: SelectiveAnswers
    k: int
    notes: tuple[str, ...]

    def selected(self, alpha: int, delta: int) -> SelectiveResult:
        """The threshold at alpha and delta thousandths."""
        return selective(self.calibration, self.judged, alpha, delta)


def run_sides(
    run: Evaluation, *, by: str = "confidence", sets_alpha: int = 100, score: str = "lac", empty: str = "allow"
) -> RunSides:
    """The sides of a run. An answer is its top option.

    By confidence, the calibration questions calibrate and the test questions judge, one row of each question. By set
    size, the calibration questions already form the sets (at ``sets_alpha`` thousandths, by ``score``), so a random
    half of the test questions calibrates and the other half judges. Raises :class:`InputError` by set size if there is
    a single test question.
    """
    calibration, judged, k, notes = run.calibration, standing(run, run.test), 0, []
    if len(judged) < len(run.test):
        notes.append(
            f"{len(run.test):,} test rows, {counted(questions_of(run, run.test), 'question')}: one random row of each "
            "counts, because rows of one question are not independent."
        )
    wrong = 1 - correct(run.probabilities, run.labels)
    sure = run.probabilities.max(axis=1)
    if by == "set-size":
        k = run.k
        sizes = np.zeros(len(wrong))
        sizes[run.test] = form(run, score, sets_alpha, empty=empty).members.sum(axis=1)
        sure = np.where(sizes > 0, k + 1 - sizes, 0.0)
        if len(judged) < 2:
            raise InputError(
                "by set size, half of the test questions calibrate, and this run has only one; answer by confidence"
            )
        drawn = first_part(judged, len(judged) // 2, seed=run.spec.seed, purpose=SPLIT)
        calibration, judged = judged[drawn], judged[~drawn]
        notes.append(
            "The calibration questions form the sets, so a random half of the test questions calibrates this rule and "
            "the other half judges it."
        )
    answers = SelectiveAnswers(sure[:, None], wrong[:, None])
    return RunSides(answers.rows(calibration), answers.rows(judged), k, tuple(notes))


def threshold_words(threshold: float | None, k: int = 0) -> str:
    """From where a question is answered, as a cell or a clause: a confidence, rounded up, or a set size.

    >>> threshold_words(0.9131), threshold_words(4.0, 4), threshold_words(3.0, 4), threshold_words(None)
    ('0.9131', '1 option', '1 to 2 options', 'never')
    """
    if threshold is None:
        return "never"
    if k:
        most = round(k + 1 - threshold)
        return "1 option" if most == 1 else f"1 to {most} options"
    decimals = 4 if threshold < 0.999 else 8
    rounded = round(threshold, decimals)
    if rounded < threshold:
        rounded = round(rounded + 10**-decimals, decimals)
    return np.format_float_positional(rounded, trim="-")


def headline(result: SelectiveResult, *, what: str = "questions", verdicts: bool = False) -> str:
    """The answer in a sentence: the share that is answered and how often it is wrong, or that no threshold will do.
    ``verdicts`` are not right or wrong, they agree with the label."""
    if not result.answered:
        return (
            "No threshold keeps this promise"
            if all(stage.threshold is None for stage in result.stages)
            else f"The threshold keeps this promise, but none of the judged {what} reaches it"
        )
    sure = f"with confidence {_confidence(result)}"
    if verdicts:
        bound = "" if result.in_sample else f" (at least {1 - result.error_high:.1%} {sure})"
        agree = f"{1 - result.error:.1%} of these agree with people{bound}"
        return f"{result.share:.1%} of the {what} get a verdict, and {agree}"
    bound = "" if result.in_sample else f" (at most {result.error_high:.1%} {sure})"
    return f"{result.share:.1%} of the {what} are answered, and {result.error:.1%} of the answers are wrong{bound}"


def promise_words(result: SelectiveResult, *, what: str = "questions", verdicts: bool = False) -> str:
    """What is promised, in a sentence."""
    alpha = result.alpha / 1000
    kept = (
        f"at least {1 - alpha:.1%} of the verdicts agree with people"
        if verdicts
        else f"at most {alpha:.1%} of the answers are wrong"
    )
    return (
        f"The promise: with confidence {_confidence(result)}, {kept}, for {what} like the "
        f"{counted(result.n_calibration, 'that calibrates', 'that calibrate')}, if alpha and delta were chosen "
        "beforehand."
    )


def why_not(stage: SelectiveStage, alpha: int, *, k: int = 0) -> str:
    """Why a judge has no threshold, in a sentence; empty if it has one. By set size, ``k`` is not 0."""
    if stage.threshold is not None:
        return ""
    if not stage.n_calibration:
        return "No calibration answer reaches it."
    if stage.n_calibration < stage.fewest:
        return (
            f"At alpha {alpha / 1000:g} a threshold needs at least {counted(stage.fewest, 'labelled answer')}, even if "
            f"all are right, and {counted(stage.n_calibration, 'calibrates', 'calibrate')}."
        )
    if stage.first is None:
        return "All sets are empty." if k else "No answer has a confidence."
    if stage.first_answered < stage.fewest:
        return (
            f"Only {counted(stage.first_answered, 'calibration answer reaches', 'calibration answers reach')} the "
            f"strictest threshold, and it needs {stage.fewest:,}, even if all are right."
        )
    return (
        f"Already at the strictest threshold, {stage.first_wrong:,} of "
        f"{counted(stage.first_answered, 'calibration answer')} {'is' if stage.first_wrong == 1 else 'are'} wrong."
    )


def stage_notes(stage: SelectiveStage, alpha: int, *, alone: bool = True, k: int = 0) -> list[str]:
    """Sentences about a judge: why it has no threshold, a confidence that says nothing, and, of one that is ``alone``,
    the least share to pass."""
    notes = [why_not(stage, alpha, k=k)]
    if stage.levels == 1 < stage.n_calibration and stage.first is not None:
        same = "sets have the same size" if k else "answers have the same confidence"
        notes.append(f"All its {same}, so it can only answer all questions or none.")
    least = least_passed(stage.base_error, alpha / 1000)
    if least > 0 and alone:
        notes.append(
            f"If it answered everything, about {stage.base_error:.1%} would be wrong, so about {least:.1%} must be "
            "passed at least."
        )
    return [note for note in notes if note]


def _confidence(result: SelectiveResult) -> str:
    return f"{1 - result.delta / 1000:.1%}".replace(".0%", "%")


def judge_rows(result: SelectiveResult, names: Sequence[str], *, k: int = 0) -> pd.DataFrame:
    """A row for each judge in order: its ``threshold`` (for set sizes the largest size; NaN: none), what it
    ``decides`` as a share of all judged questions, and the share of its answers that is ``wrong``; at the end what goes
    to people. Each row has the promise, ``alpha`` and ``delta``."""
    rows: list[dict[str, Any]] = [
        {
            "judge": name,
            "threshold": np.nan if stage.threshold is None else k + 1 - stage.threshold if k else stage.threshold,
            "calibrates": stage.n_calibration,
            "reached": stage.reached,
            "answered": stage.answered,
            "decides": stage.answered / result.n_judged,
            "wrong": stage.wrong / stage.answered if stage.answered else np.nan,
            "base_error": stage.base_error,
        }
        for name, stage in zip(names, result.stages, strict=True)
    ]
    left = result.n_judged - result.answered
    rows.append({"judge": "people", "reached": left, "answered": left, "decides": result.passed})
    return pd.DataFrame(rows).assign(alpha=result.alpha / 1000, delta=result.delta / 1000)


def to_json(result: SelectiveResult, names: Sequence[str], *, k: int = 0, notes: Sequence[str] = ()) -> dict[str, Any]:
    """The result as plain values; what is not defined is null."""
    alpha = result.alpha
    stages = [
        {
            "judge": name,
            **asdict(stage),
            "largest_set": None if not k or stage.threshold is None else round(k + 1 - stage.threshold),
            "least_passed": least_passed(stage.base_error, alpha / 1000),
            "notes": stage_notes(stage, alpha, alone=len(names) == 1, k=k),
        }
        for name, stage in zip(names, result.stages, strict=True)
    ]
    values: dict[str, Any] = {
        **asdict(result),
        "alpha": alpha / 1000,
        "delta": result.delta / 1000,
        "stages": stages,
        "share_answered": result.share,
        "share_wrong": result.error,
        "share_passed": result.passed,
        "notes": [*notes, *_in_sample(result)],
    }
    plain: dict[str, Any] = finite(values)
    return plain


def pass_rows(runs: Sequence[Evaluation], alpha: int, delta: int = DELTA) -> pd.DataFrame:
    """From which confidence runs may answer, a row for each run: what :func:`judge_rows` has of its ``run``, the
    ``error_high`` of its answers at confidence 1 − ``delta``, the share that must be passed at least, ``least_passed``,
    and the caveats of the run. ``alpha`` and ``delta`` are in thousandths."""
    rows = []
    for run in runs:
        result = run_sides(run).selected(alpha, delta)
        row = judge_rows(result, [run.run_id]).iloc[0].rename({"judge": "run", "decides": "share_answered"})
        least = least_passed(result.stages[0].base_error, alpha / 1000)
        more = {"error_high": result.error_high, "least_passed": least, COLUMN: in_one(of_run(run))}
        rows.append(row.to_dict() | more)
    return pd.DataFrame(rows)


def jury_json(sides: JudgedSides, alpha: int, delta: int) -> dict[str, Any]:
    """The judges of a jury, each ``alone`` by its name, and ``in_turn`` if there are several."""
    alone = [sides.alone(place) for place in range(len(sides.judges))]
    values = {
        "alone": {one.judges[0]: to_json(one.selected(alpha, delta), one.judges) for one in alone},
        "in_turn": to_json(sides.selected(alpha, delta), sides.judges) if len(alone) > 1 else None,
        "pairwise": sides.pairwise,
        "notes": list(sides.notes),
    }
    return values


def jury_text(sides: JudgedSides, alpha: int, delta: int) -> str:
    """The same as text: each judge alone, and the judges in turn."""
    what = "pairs" if sides.pairwise else "answers"
    lines = []
    for place, name in enumerate(sides.judges):
        one = sides.alone(place)
        lines += [
            f"{name}, alone",
            *(f"  {line}" for line in text_lines(one.selected(alpha, delta), what=what, verdicts=True)),
        ]
    if len(sides.judges) > 1:
        result = sides.selected(alpha, delta)
        lines += [f"In turn: {', then '.join(sides.judges)}, then people"]
        for name, stage in zip(sides.judges, result.stages, strict=True):
            start = "never" if stage.threshold is None else f"from confidence {threshold_words(stage.threshold)}"
            lines.append(f"  {name}: {stage.answered / result.n_judged:.1%}, {start}")
            lines += [f"    {note}" for note in stage_notes(stage, alpha, alone=False)]
        lines += [f"  people: {result.passed:.1%}"]
        lines += [f"  {line}" for line in text_lines(result, what=what, verdicts=True)]
    return "\n".join([*lines, *sides.notes])


def text_lines(result: SelectiveResult, *, what: str = "questions", k: int = 0, verdicts: bool = False) -> list[str]:
    """The answer as lines of text: the headline, the threshold, the promise, the notes."""
    lines = [f"{headline(result, what=what, verdicts=verdicts)}."]
    if len(result.stages) == 1:
        (stage,) = result.stages
        if stage.threshold is not None:
            lines.append(
                f"Answer {'if the set has' if k else 'from confidence'} {threshold_words(stage.threshold, k)}."
            )
        lines += stage_notes(stage, result.alpha, k=k)
    lines.append(promise_words(result, what=what, verdicts=verdicts))
    return [*lines, *_in_sample(result)]


def _in_sample(result: SelectiveResult) -> list[str]:
    """Sentences about a result for which all labels calibrate: what its shares are of, and a way to a threshold for a
    judge that is hardly ever as certain as the first one."""
    notes = []
    if result.in_sample and result.answered:
        notes.append("All labels calibrate, so the shares are of the same answers and flatter a little.")
    unsure = any(stage.first_answered < stage.fewest <= stage.n_calibration for stage in result.stages)
    if result.in_sample and unsure:
        notes.append(
            f"If all labels calibrate, thresholds begin at confidence {GRID[0]:g}. With a smaller calibration share, "
            "they begin where enough answers are."
        )
    return notes
