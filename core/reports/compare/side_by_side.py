"""Several runs compared: the sizes of their sets, when sets are large, and what a setting changes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.calibration.metrics import correct
from core.reports.evaluation import Evaluation
from core.reports.scored_sets import form
from core.runs import store

SETTINGS = ("strategy", "shots", "dtype", "form")
FIGURES = ("accuracy", "coverage", "mean_set_size", "uacc", "ece_excess", "ece_low", "ece_high", "ece", "ece_luck")
GIGA = 1e9


def size_shares(runs: Sequence[Evaluation], names: Sequence[str], alpha: int, score: str) -> pd.DataFrame:
    """``name``, ``size`` (0 … k) and ``share`` of the test questions' sets of that size."""
    rows = []
    for run, name in zip(runs, names, strict=True):
        sizes = form(run, score, alpha).members.sum(axis=1)
        shares = np.bincount(sizes, minlength=run.k + 1) / len(sizes)
        rows += [{"name": name, "size": size, "share": float(share)} for size, share in enumerate(shares)]
    return pd.DataFrame(rows)


def sizes_when_right(runs: Sequence[Evaluation], names: Sequence[str], alpha: int, score: str) -> pd.DataFrame:
    """``name``, and the mean set size where the top option is ``right`` and where it is ``wrong`` (NaN for none)."""
    rows = []
    for run, name in zip(runs, names, strict=True):
        sizes = form(run, score, alpha).members.sum(axis=1)
        right = correct(run.probabilities[run.test], run.labels[run.test]) == 1
        means = {
            "right": float(sizes[right].mean()) if right.any() else np.nan,
            "wrong": float(sizes[~right].mean()) if not right.all() else np.nan,
        }
        rows.append({"name": name, **means})
    return pd.DataFrame(rows)


def contrast(rows: pd.DataFrame, setting: str) -> pd.DataFrame:
    """The figures of runs that differ only in ``setting``, one row per run, with runs that belong together adjacent.

    ``rows`` are those of :func:`core.reports.compare.benchmark.run_rows`; the columns ``prompts_a_second`` and
    ``model_gb`` are added if the runs have recorded them. Runs without a partner are left out.
    """
    same = ["model", "task", "bank", "score", *(name for name in SETTINGS if name != setting)]
    grouped = rows.groupby(same, sort=False)[setting].transform("nunique")
    varied = rows[grouped > 1]
    if varied.empty:
        return pd.DataFrame(columns=[*same, setting, *FIGURES, "prompts_a_second", "model_gb"])
    varied = varied.sort_values([*same, setting], kind="stable")
    costs = pd.DataFrame([_costs(name) for name in varied["run"]], index=varied.index)
    return pd.concat([varied[[*same, setting, *FIGURES]], costs], axis=1).reset_index(drop=True)


BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.5}


def _costs(run_id: str) -> dict[str, float]:
    """Speed and size of the weights, from the run's provenance."""
    record = store.read_record(run_id)
    seconds = record.provenance.get("scoring_seconds")
    parameters = (record.provenance.get("engine") or {}).get("parameters")
    scored = record.provenance.get("scored")  # in these seconds, by one device; older runs do not say it
    prompts = scored["questions"] if scored else store.read_logits(run_id).logits.shape[0] if seconds else 0
    return {
        "prompts_a_second": prompts / seconds if seconds else np.nan,
        "model_gb": parameters * BYTES[record.spec.dtype] / GIGA if parameters else np.nan,
    }
