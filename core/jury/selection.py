"""Which judge may speak for people: the confidence from which its verdicts agree with the labels often enough.

The promise and its proof are those of :mod:`core.conformal.selective`. A judge's confidence is the probability that it
gave to its verdict; a tie is never a verdict. Below its threshold the next judge is asked, and after the last one a
person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.conformal.clusters import kish_number
from core.conformal.draws import one_each
from core.conformal.selective import SelectiveAnswers, SelectiveResult, selective
from core.errors import InputError
from core.jury.experiment import Protocol, sides
from core.jury.judgements import PARTS, Judgements
from core.records import IntArray
from core.tables.read_as import counted

HALF = 0.5
FEW = 0.05
"""If all labels calibrate, repeats that could raise the variance of a share of all answers by at most this part count
as independent, as in the published figures. The promise is then approximate: if all repeats are among the most certain
answers, it fails in 14% of draws at delta 0.1."""


@dataclass(frozen=True, slots=True)
class JudgedSides:
    """The answers that calibrate and those that judge the threshold, with sentences about them (``notes``).

    ``in_sample`` says that all labels calibrate, so that the judged ones are the same.
    """

    judges: tuple[str, ...]
    calibration: SelectiveAnswers
    judged: SelectiveAnswers
    in_sample: bool
    pairwise: bool
    notes: tuple[str, ...]

    def selected(self, alpha: int, delta: int) -> SelectiveResult:
        """The judges' thresholds at alpha and delta thousandths, if they are asked one after another."""
        return selective(self.calibration, self.judged, alpha, delta, in_sample=self.in_sample)

    def alone(self, judge: int) -> JudgedSides:
        """The same answers with one judge, by its place."""
        calibration, judged = (side.of(judge) for side in (self.calibration, self.judged))
        return replace(self, judges=(self.judges[judge],), calibration=calibration, judged=judged)


def in_order(judgements: Judgements, judges: Sequence[str]) -> Judgements:
    """The judgements of these jurors in this order; of all in their own order if none is named. Raises
    :class:`InputError` for an unknown juror and one that is named twice."""
    for name in judges:
        if name not in judgements.jurors:
            raise InputError(f"there is no juror {name[:80]!r}; choose from {', '.join(judgements.jurors)}")
        if list(judges).count(name) > 1:
            raise InputError(f"juror {name!r} is named twice; a judge is asked once")
    return judgements.by([judgements.jurors.index(name) for name in judges]) if judges else judgements


def judged_sides(judgements: Judgements, *, share: float | None = None, seed: int = 0) -> JudgedSides:
    """Divide the answers into those that calibrate and those that judge.

    ``share`` of them calibrates, at random by the seed; with 1 all do, and the figures are in sample. None: as the
    source's own parts say, and a half if there are none. Answers of one question are not independent: no question is on
    both sides, and one random answer of each counts; with share 1, all do if there are only :data:`FEW` repeats. Raises
    :class:`InputError` for a share outside (0, 1], a seed as :class:`~core.jury.experiment.Protocol` does, and a side
    without answers.
    """
    if share is not None and not 0 < share <= 1:
        raise InputError(f"the calibration share must lie in (0, 1], got {share}; with 1, all labels calibrate")
    Protocol(seeds=(seed,))  # checks the seed
    clusters, notes = judgements.clusters, list[str]()
    counting = _counting(judgements, seed, notes, whole=share == 1)
    if share == 1:
        calibrates = judges = counting
    elif share is None and set(PARTS[:2]) <= set(judgements.parts):
        part = np.array(judgements.parts)
        calibrates, judges = (counting[part[counting] == name] for name in PARTS[:2])
        if clusters is not None:
            calibrates = calibrates[~np.isin(clusters[calibrates], clusters[judges])]
        without = len(part) - int(np.isin(part, PARTS[:2]).sum())
        unused = f"; {counted(without, 'that has', 'that have')} no part {'is' if without == 1 else 'are'} not used"
        notes.append(f"The source's own parts say which of them calibrate{unused * bool(without)}.")
    else:
        calibrates, judges = sides(counting, round((share or HALF) * len(counting)), seed, clusters)
    if not len(calibrates) or not len(judges):
        raise InputError(
            " ".join([*notes, counted(len(calibrates), "answer calibrates", "answers calibrate")])
            + f" and {counted(len(judges), 'judges', 'judge')}; both sides need at least one, so give more labels, or "
            "another calibration share"
        )
    answers = SelectiveAnswers(
        np.where(judgements.verdicts == 0.5, 0.0, judgements.top),  # a tie is no verdict
        np.abs(judgements.verdicts - judgements.labels[:, None]),
    )
    if ties := int((judgements.verdicts == 0.5).sum()):
        what = counted(ties, "tie of equal probabilities is", "ties of equal probabilities are")
        notes.append(f"{what} no verdict: the next judge or a person is asked.")
    return JudgedSides(
        judgements.jurors,
        answers.rows(calibrates),
        answers.rows(judges),
        share == 1,
        judgements.pairwise,
        tuple(notes),
    )


def _counting(judgements: Judgements, seed: int, notes: list[str], *, whole: bool) -> IntArray:
    """The rows that count if the ``whole`` jury calibrates or a part, and a note where questions are repeated."""
    n, clusters = len(judgements), judgements.clusters
    rows: IntArray = np.arange(n)
    if clusters is None:
        return rows
    single = rows[one_each(rows, clusters, seed=seed)]
    what, unit = "pairs" if judgements.pairwise else "answers", "cluster" if judgements.cluster_names else "question"
    few = whole and (1 + FEW) * kish_number(clusters, n) >= n
    how = (
        f"so few repeats of a {unit} count as independent, and the promise is approximate"
        if few
        else f"one random {what[:-1]} of each counts, because {what} of one {unit} are not independent"
    )
    notes.append(f"{n:,} {what}, {len(single):,} {unit}{'s' * (len(single) != 1)}: {how}.")
    return rows if few else single
