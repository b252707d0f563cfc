"""What changes when only the order of the options does.

Computed from a run whose test questions were also asked in all other rotations of their options. With all rotations
every option stands under every letter once, so a model without a preference picks each letter equally often, whatever
the truth is: its rates differ from that by the letter bias alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.conformal.scores import score, true_scores
from core.conformal.sets import prediction_sets
from core.conformal.threshold import threshold
from core.records import LETTERS, BoolArray, FloatArray
from core.reports.evaluation import Evaluation
from core.tasks.rotation import origin, places


@dataclass(frozen=True, slots=True)
class SetStability:
    """How a score's sets fare under rotation, each compared with the set of the order as written: ``same`` is the
    share that is the same set of options, ``overlap`` the mean of |A ∩ B| / |A ∪ B| (1 for two empty sets)."""

    same: float
    overlap: float


@dataclass(frozen=True, slots=True)
class OptionOrder:
    """``questions`` asked in ``orders`` orders each.

    ``letter_rates`` say how often a letter was chosen over all orders, among the letters whose options move;
    ``letter_bias`` is half the sum of their distances from equal rates, from 0 to 1 − 1/m. ``plurality`` is the share
    of orders that choose a question's most chosen option, averaged (1: order never matters; Robinson & Wingate 2022).
    ``changed`` is the share of questions whose choice is not the same in all orders.
    """

    questions: int
    orders: int
    letter_rates: dict[str, float]
    letter_bias: float
    plurality: float
    changed: float
    sets: dict[str, SetStability]


def option_order(run: Evaluation, alpha: int, *, scores: tuple[str, ...]) -> OptionOrder | None:
    """The figures at ``alpha`` thousandths; None for a run that asked every question in one order alone.

    Thresholds come from the calibration questions, which are asked as they are written.
    """
    rows, turns = _orders(run)
    if rows.size == 0:
        return None
    m = rows.shape[1]
    back = np.array([[places(j, int(turn), m) for j in range(run.k)] for turn in turns])
    letters = run.probabilities[rows].argmax(axis=2)
    chosen = np.take_along_axis(np.broadcast_to(back, (*rows.shape, run.k)), letters[..., None], axis=2)[..., 0]
    counts = np.stack([(chosen == option).sum(axis=1) for option in range(run.k)], axis=1)
    moving = letters[letters < m]
    rates = np.bincount(moving, minlength=m)[:m] / max(len(moving), 1)
    return OptionOrder(
        questions=len(rows),
        orders=m,
        letter_rates={letter: float(rate) for letter, rate in zip(LETTERS, rates, strict=False)},
        letter_bias=float(np.abs(rates - 1 / m).sum() / 2) if len(moving) else 0.0,
        plurality=float((counts.max(axis=1) / m).mean()),
        changed=float((counts.max(axis=1) < m).mean()),
        sets={name: _stability(run, name, alpha, rows, back) for name in scores},
    )


def _orders(run: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Rows (questions, m) of the questions that were asked in all m orders, unturned first, and the turns (m,)."""
    found: dict[str, dict[int, int]] = {}
    for row, name in enumerate(run.ids.tolist()):
        first, turn = origin(name)
        found.setdefault(first, {})[turn] = row
    test = {str(run.ids[row]) for row in run.test}
    asked: Mapping[str, dict[int, int]] = {name: rows for name, rows in found.items() if name in test and len(rows) > 1}
    m = max((len(rows) for rows in asked.values()), default=0)
    whole = [[rows[turn] for turn in range(m)] for rows in asked.values() if set(rows) == set(range(m))]
    return np.array(whole, dtype=np.int64), np.arange(m)


def _stability(run: Evaluation, name: str, alpha: int, rows: np.ndarray, back: np.ndarray) -> SetStability:
    values = score(name, run.option_probabilities, seed=run.spec.seed)
    q = threshold(true_scores(values[run.calibration], run.labels[run.calibration]), alpha)
    members = _turned_back(_members(values, rows, q), back)
    first, others = members[:, :1], members[:, 1:]
    union = (first | others).sum(axis=2)
    overlap = np.where(union == 0, 1.0, (first & others).sum(axis=2) / np.maximum(union, 1))
    return SetStability(same=float((first == others).all(axis=2).mean()), overlap=float(overlap.mean()))


def _members(values: FloatArray, rows: np.ndarray, q: float) -> BoolArray:
    sets = prediction_sets(values[rows.ravel()], q)
    members: BoolArray = sets.members.reshape(*rows.shape, -1)
    return members


def _turned_back(members: BoolArray, back: np.ndarray) -> BoolArray:
    """Members (questions, m, k) by place to members by option."""
    by_option = np.zeros_like(members)
    for turn in range(members.shape[1]):
        by_option[:, turn, back[turn]] = members[:, turn]
    return by_option
