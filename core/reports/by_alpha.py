"""Coverage and mean set size at every alpha, for several runs."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.conformal.alpha import ALPHAS, THOUSAND
from core.conformal.coverage import Ties, beta_binomial_band
from core.conformal.curve import alpha_curve
from core.conformal.probabilities import top_options
from core.conformal.scores import score as score_of
from core.conformal.scores import true_scores
from core.conformal.tuning import tune
from core.errors import InputError
from core.reports.evaluation import Evaluation
from core.reports.repeated import standing_test_rows

STEP = 5
"""Thousandths of alpha between two points of a line."""


def by_alpha(
    runs: Sequence[Evaluation],
    names: Sequence[str],
    alpha: int,
    score: str,
    *,
    method: str = "exact",
    empty: str = "allow",
) -> pd.DataFrame:
    """A row for each run and alpha, at every fifth thousandth and at ``alpha`` itself.

    Columns ``name``, ``alpha``, ``target`` (1 − alpha), ``coverage``, ``low`` and ``high`` (the 95% band in which
    coverage lies if the guarantee holds, given the run's ties), ``mean_set_size`` and ``k``. Raises :class:`InputError`
    for a run without calibration or without test questions.
    """
    alphas = np.unique(np.append(ALPHAS[STEP - 1 :: STEP], alpha))
    frames = []
    for run, name in zip(runs, names, strict=True):
        tuned = tune(score, run.option_probabilities, run.labels, run.calibration, seed=run.spec.seed)
        own, m = tuned.calibration, len(run.test)
        if len(own) == 0 or m == 0:
            raise InputError(f"run {run.run_id} has {len(own)} calibration and {m} test questions; both are needed")
        scores = score_of(score, run.option_probabilities, seed=run.spec.seed, parameters=tuned.parameters)
        curve = alpha_curve(
            true_scores(scores[own], run.labels[own]),
            scores[run.test],
            run.labels[run.test],
            alphas=alphas,
            method=method,
            empty=empty,
            test_top=top_options(run.probabilities[run.test]),
        )
        stand = standing_test_rows(run, run.test)
        ties = None
        if method == "exact":
            ties = Ties.of(*(true_scores(scores[rows], run.labels[rows]) for rows in (own, stand)))
        bands = np.array([beta_binomial_band(len(own), len(stand), int(level), ties=ties) for level in alphas])
        frames.append(
            pd.DataFrame(
                {
                    "name": name,
                    "alpha": alphas / THOUSAND,
                    "target": 1 - alphas / THOUSAND,
                    "coverage": curve.coverage,
                    "low": bands[:, 0],
                    "high": bands[:, 1],
                    "mean_set_size": curve.mean_set_size,
                    "k": run.k,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
