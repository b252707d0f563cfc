"""A run at one temperature: the figures that the live slider computes in the browser, computed in Python.

The temperature changes the option probabilities of calibration and test questions alike. Thresholds are computed again,
so the coverage guarantee is the same at every temperature and only the sets change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core.calibration.bins import ECE_BINS, edges, place, top_label
from core.calibration.errors import top_errors
from core.calibration.metrics import log_losses
from core.calibration.recalibration import tempered
from core.conformal.probabilities import log_softmax, softmax
from core.conformal.scores import score, true_scores
from core.conformal.threshold import exact
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.evaluation import Evaluation
from core.reports.frames import sample_for_lab
from core.reports.report import DEFAULT_SCORES

HUNDRED = 100
COLDEST, HOTTEST = 20, 500
"""The slider's temperatures, in hundredths."""


@dataclass(frozen=True, slots=True)
class TemperedSets:
    """Conformal sets of one score at one temperature and alpha."""

    threshold: float
    coverage: float
    mean_set_size: float


@dataclass(frozen=True, slots=True)
class Tempered:
    """Figures of the test questions at a temperature.

    ``nll_infinite`` questions give the truth probability 0, which makes ``nll`` infinite; frequencies of picks have no
    NLL (NaN). ``counts``, ``confidence`` and ``accuracies`` are by bin (NaN if it is empty), ``sets`` by score.
    """

    temperature: float
    accuracy: float
    nll: float
    nll_infinite: int
    ece: float
    mce: float
    over: float
    under: float
    counts: IntArray
    confidence: FloatArray
    accuracies: FloatArray
    sets: dict[str, TemperedSets]


def check_hundredths(temperature: int) -> int:
    """The temperature in hundredths. Raises :class:`InputError` if it is not one of the slider's."""
    if not COLDEST <= temperature <= HOTTEST:
        raise InputError(
            f"a temperature must be between {COLDEST / HUNDRED:.2f} and {HOTTEST / HUNDRED:.2f}, got "
            f"{temperature / HUNDRED:.2f}"
        )
    return temperature


def dial_rows(run: Evaluation) -> pa.Table:
    """The slider's data: calibration and test questions in file order, sampled as in the alpha lab.

    Columns ``l0 … l(k−1)``, log-probabilities in nats (−inf for a probability of 0, NaN for an option that a question
    lacks), ``y``, ``own`` (1 if the run calibrates), and for frequencies of picks ``frequency``, which is 1.
    """
    run = sample_for_lab(run)
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    logs = run.lacking(run.log_probabilities)[rows]
    columns = {f"l{j}": np.ascontiguousarray(logs[:, j]) for j in range(run.k)}
    own = np.isin(rows, run.calibration).astype(np.uint8)
    frequency = {} if run.samples is None else {"frequency": np.ones(len(rows), np.uint8)}
    return pa.table(columns | {"y": run.labels[rows].astype(np.int32), "own": own} | frequency)


def at_temperature(
    run: Evaluation, temperature: int, alpha: int, *, bins: int = ECE_BINS, by: str = "width"
) -> Tempered:
    """The run at ``temperature`` hundredths and ``alpha`` thousandths."""
    logits = tempered(run.log_probabilities, check_hundredths(temperature) / HUNDRED)
    p = softmax(logits)
    asked, labels = p[run.test], run.labels[run.test]
    top = top_label(asked, labels)
    errors = top_errors(top, bins=bins, by=by)
    index = place(top.confidence, edges(top.confidence, bins=bins, by=by))
    counts = np.bincount(index, minlength=bins)
    some = np.where(counts > 0, counts, np.nan)
    losses = log_losses(log_softmax(logits[run.test]), labels)
    if run.samples is not None:
        losses = np.full_like(losses, np.nan)
    sets = {}
    for name in DEFAULT_SCORES:
        values = score(name, run.lacking(p), seed=run.spec.seed)
        limit = exact(true_scores(values[run.calibration], run.labels[run.calibration]), alpha)
        members = values[run.test] <= limit
        held = members[np.arange(len(labels)), labels]
        sets[name] = TemperedSets(limit, float(held.mean()), float(members.sum(axis=1).mean()))
    return Tempered(
        temperature=temperature / HUNDRED,
        accuracy=float(top.correct.mean()),
        nll=float(losses.mean()),
        nll_infinite=int(np.isinf(losses).sum()),
        ece=errors.ece,
        mce=errors.mce,
        over=errors.over,
        under=errors.under,
        counts=counts,
        confidence=np.bincount(index, weights=top.confidence, minlength=bins) / some,
        accuracies=np.bincount(index, weights=top.correct, minlength=bins) / some,
        sets=sets,
    )
