"""The three claims of Ye et al. 2024 (arXiv 2401.12794, abstract), tested on runs of several models.

Certainty is the mean set size: the larger, the less certain. A model's figures are means over its runs on the tasks
that all models have, so that an easy task does not count for a model. "Higher accuracy, lower certainty" asks for a
*positive* correlation of accuracy with set size; one published tool marks a negative one as support.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

SUPPORTED, CONTRADICTED = "supported", "contradicted"
FEWEST_MODELS = 4
"""Models below which an interval of a correlation is all of −1 to 1."""
EXACT_UP_TO = 8
CONFIDENCE = 0.95
MODEL_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s*([BbMmKk])(?![A-Za-z0-9])")
TUNED_WORDS = ("instruct", "chat", "it", "sft", "dpo", "rlhf", "zephyr", "vicuna")
UNIT = {"k": 1e3, "m": 1e6, "b": 1e9}


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's, Spearman's and Kendall's coefficient of n pairs, with their p-values, and Spearman's 95 % interval
    (Fisher's z with Bonett and Wright's variance). NaN where one side does not vary or there are fewer than 3."""

    n: int
    pearson: float
    pearson_p: float
    spearman: float
    spearman_p: float
    kendall: float
    kendall_p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as its paper states it, what was measured for it on ``n`` models (or pairs), and the verdict.

    ``figure`` with its interval ``low … high`` is named by ``measure``; above 0 it speaks for the claim. ``points``
    has what is drawn: ``model``, ``x``, ``y``.
    """

    name: str
    statement: str
    measure: str
    n: int
    figure: float
    low: float
    high: float
    p_value: float
    verdict: str
    points: pd.DataFrame


def correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """How two rows of figures go together."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n = len(a)
    nan = math.nan
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(n, nan, nan, nan, nan, nan, nan, nan, nan)
    from scipy import stats  # heavy, and no page may load it before it is needed

    pearson, kendall = stats.pearsonr(a, b), stats.kendalltau(a, b)
    rho = float(stats.spearmanr(a, b).statistic)
    low, high = _spearman_interval(rho, n)
    return Correlation(
        n,
        float(pearson.statistic),
        float(pearson.pvalue),
        rho,
        _spearman_p(a, b, rho),
        float(kendall.statistic),
        float(kendall.pvalue),
        low,
        high,
    )


def _spearman_interval(rho: float, n: int) -> tuple[float, float]:
    if n < FEWEST_MODELS:
        return -1.0, 1.0
    bounded = min(max(rho, -1 + 1e-9), 1 - 1e-9)
    reach = float(ndtri((1 + CONFIDENCE) / 2)) * math.sqrt((1 + bounded**2 / 2) / (n - 3))
    return math.tanh(math.atanh(bounded) - reach), math.tanh(math.atanh(bounded) + reach)


def _spearman_p(a: np.ndarray, b: np.ndarray, rho: float) -> float:
    """Two-sided; over all orders of up to 8 pairs, by Student's t beyond."""
    from scipy import stats

    if len(a) > EXACT_UP_TO:
        return float(stats.spearmanr(a, b).pvalue)
    ranks_a, ranks_b = stats.rankdata(a), stats.rankdata(b)
    centred = ranks_a - ranks_a.mean()
    orders = np.array(list(itertools.permutations(ranks_b - ranks_b.mean())))
    values = orders @ centred / math.sqrt(float((centred**2).sum() * ((ranks_b - ranks_b.mean()) ** 2).sum()))
    return float((abs(values) >= abs(rho) - 1e-12).mean())


def parameters_of(model: str) -> float | None:
    """A model's parameters as its name says them; None where it doesn't.

    >>> parameters_of("Qwen2-0.5B-Instruct"), parameters_of("SmolLM-135M"), parameters_of("phi-2")
    (500000000.0, 135000000.0, None)
    """
    found = MODEL_SIZE.search(re.sub(r"[_/-]", " ", model))
    return float(found[1]) * UNIT[found[2].lower()] if found else None


def base_of(model: str) -> str | None:
    """The base model's name of an instruction-tuned one, as their names go; None for others.

    >>> base_of("Qwen2-0.5B-Instruct"), base_of("gemma-2-9b-it"), base_of("Qwen2-0.5B")
    ('Qwen2-0.5B', 'gemma-2-9b', None)
    """
    parts = re.split(r"([-_])", model)
    kept = [part for part in parts if part.lower() not in TUNED_WORDS]
    if len(kept) == len(parts):
        return None
    return re.sub(r"[-_]{2,}", "-", "".join(kept)).strip("-_") or None


def claims(runs: pd.DataFrame, *, sizes: dict[str, float] | None = None) -> list[Claim]:
    """The three claims on a table with ``model``, ``task``, ``accuracy`` and ``mean_set_size``, a row a run.

    ``sizes`` are the parameters of models whose names do not say them.
    """
    models = model_means(runs)
    known = {name: (sizes or {}).get(name) or parameters_of(name) for name in models["model"]}
    sized = models.assign(parameters=models["model"].map(known)).dropna(subset="parameters")
    return [
        _of_correlation(
            "accuracy",
            "LLMs with higher accuracy may exhibit lower certainty.",
            "Spearman's ρ of accuracy and mean set size",
            models,
            "accuracy",
        ),
        _of_correlation(
            "scale",
            "Larger-scale LLMs may display greater uncertainty compared to their smaller counterparts.",
            "Spearman's ρ of parameters and mean set size",
            sized,
            "parameters",
        ),
        _of_tuning(runs),
    ]


def model_means(runs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and mean set size of each model, over the tasks that all of them have (all tasks where none is shared).

    Runs of one model on one task (strategies, dtypes, shots) count as their mean.
    """
    cells = runs.groupby(["model", "task"], as_index=False)[["accuracy", "mean_set_size"]].mean()
    of_all = cells.groupby("task")["model"].nunique()
    shared = of_all[of_all == cells["model"].nunique()].index
    kept = cells[cells["task"].isin(shared)] if len(shared) else cells
    return kept.groupby("model", as_index=False)[["accuracy", "mean_set_size"]].mean()


def _verdict(low: float, high: float, p_value: float, n: int, noun: str) -> str:
    """By the interval and the p-value both: with few models one of them alone is easily had."""
    if p_value < 1 - CONFIDENCE and low > 0:
        return SUPPORTED
    if p_value < 1 - CONFIDENCE and high < 0:
        return CONTRADICTED
    return f"can't tell with {n} {noun}{'' if n == 1 else 's'}"


def _of_correlation(name: str, statement: str, measure: str, models: pd.DataFrame, column: str) -> Claim:
    found = correlation(models[column].tolist(), models["mean_set_size"].tolist())
    points = pd.DataFrame({"model": models["model"], "x": models[column], "y": models["mean_set_size"]})
    if found.n < FEWEST_MODELS or math.isnan(found.spearman):
        low, high = -1.0, 1.0
    else:
        low, high = found.low, found.high
    verdict = _verdict(low, high, found.spearman_p, found.n, "model")
    return Claim(
        name,
        statement,
        measure,
        found.n,
        found.spearman,
        low,
        high,
        found.spearman_p,
        verdict,
        points.reset_index(drop=True),
    )


def _of_tuning(runs: pd.DataFrame) -> Claim:
    """Tuned less base, a pair a model and task; pairs of one model are no independent ones, so models count."""
    cells = runs.groupby(["model", "task"], as_index=False)["mean_set_size"].mean()
    rows = []
    size = {(name, task): value for name, task, value in cells.itertuples(index=False, name=None)}
    for (name, task), tuned in size.items():
        base = base_of(name)
        if base is not None and (base, task) in size:
            rows.append({"model": name, "task": task, "x": size[base, task], "y": tuned})
    points = pd.DataFrame(rows, columns=["model", "task", "x", "y"])
    changes = (points["y"] - points["x"]).groupby(points["model"]).mean() if len(points) else pd.Series(dtype=float)
    n = len(changes)
    mean, low, high, p = math.nan, -math.inf, math.inf, math.nan
    if n:
        mean = float(changes.mean())
    if n > 1:
        spread = float(changes.std(ddof=1)) / math.sqrt(n)
        reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * spread
        low, high = mean - reach, mean + reach
        p = 2 * float(stdtr(n - 1, -abs(mean) / spread)) if spread else float(mean == 0)
    return Claim(
        "tuning",
        "Instruction-finetuning tends to increase the uncertainty of LLMs.",
        "Mean set size, tuned less base model",
        n,
        mean,
        low,
        high,
        p,
        _verdict(low, high, p, n, "pair"),
        points,
    )
