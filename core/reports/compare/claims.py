"""The three claims of Ye et al. 2024 (arXiv 2401.12794, abstract), tested on runs of several models.

Certainty is the mean set size: the larger, the less certain. A model's figures are means over its runs in the cells
that all models have, so that an easy task does not count for a model; a cell is a task with its test questions
and its number of options. Models that share no cell are not compared. "Higher accuracy, lower certainty" asks
for a *positive* correlation of accuracy with set size; one published tool marks a negative one as support.

Two of the claims say what *may* be the case. One instance is enough for such a claim, and no correlation contradicts
it: a negative correlation is a tendency in the other direction. An instance is named if there is one. Only "tends
to" can be contradicted.
"""

import functools
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from core.records import FloatArray
from core.reports.caveats import MARK, marked
from core.reports.compare.shared_questions import groups
from core.runs.caveats import COLUMN

SUPPORTED, CONTRADICTED = "supported", "contradicted"
OTHER_WAY, STRONG_OTHER_WAY = "a tendency in the other direction", "a strong tendency in the other direction"
STRONG = 0.7
"""A coefficient at least this far from 0 is called strong."""
NOTHING_SHARED = (
    "can't tell, because these models were not tested on the same questions with the same number of options"
)
CELL = ("task", "questions", "k")
"""The columns in which two runs must agree for their figures to be comparable. A table may have only the task."""
FEWEST_MODELS = 5
"""With fewer models than this, the interval of a correlation is the whole range from −1 to 1."""
FEWEST_PAIRS = 2
"""With fewer pairs of a tuned and a base model than this, their mean difference has no interval."""
DRAWS = 4000
"""Samples of n pairs from which the distribution of Spearman's ρ is simulated."""
STEPS = 12
"""Bisection steps in the search for an end of the interval, starting from −1 to 1."""
EXACT_UP_TO = 8
CONFIDENCE = 0.95
MODEL_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s*([BbMmKk])(?![A-Za-z0-9])")
TUNED_WORDS = ("instruct", "chat", "it", "sft", "dpo", "rlhf", "zephyr", "vicuna")
UNIT = {"k": 1e3, "m": 1e6, "b": 1e9}


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's coefficient of n pairs, its p-value and its 95% interval (:func:`_spearman_interval`). NaN if one side
    does not vary or there are fewer than 3."""

    n: int
    spearman: float
    p_value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PublishedClaim:
    """A claim as its paper states it, what was measured for it on ``n`` models (or pairs), and the verdict.

    ``measure`` names the ``figure``, whose interval is ``low … high``; a figure above 0 supports the claim. ``points``
    holds the points of the plot: ``model``, ``x``, ``y``. ``instance`` is a sentence that names two models for which
    the claim is true as measured. It is empty if the claim is a general one, or if there are no such models. ``caveat``
    names the models whose runs have caveats; they count, and are marked in ``points``.
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
    instance: str = ""
    caveat: str = ""

    @property
    def tested(self) -> bool:
        """Whether there are enough models, or pairs, for a verdict."""
        return not math.isnan(self.figure) and self.n >= (FEWEST_PAIRS if self.name == "tuning" else FEWEST_MODELS)


def correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """The correlation of two rows of figures."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n = len(a)
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(n, math.nan, math.nan, math.nan, math.nan)
    from scipy import stats  # heavy, and no page may load it before it is needed

    rho = float(stats.spearmanr(a, b).statistic)
    return Correlation(n, rho, _spearman_p(a, b, rho), *_spearman_interval(rho, n))


@functools.lru_cache(maxsize=1024)
def _spearman_interval(rho: float, n: int) -> tuple[float, float]:
    """The interval of the population's ρ under which a sample's ρ this high, or this low, has a mid-p value of 2.5% or
    more. The distribution of the ρ of n pairs is simulated with seeded normal pairs. Bonett and Wright's interval
    (2000), which treats atanh of ρ as normal, is too short if there are few pairs and they are nearly in order: at n =
    8 and ρ = .97 it contains the truth in 84 of 100 samples, and at ρ = 1 it has no width.
    """
    if n < FEWEST_MODELS:
        return -1.0, 1.0
    rng = np.random.default_rng([n, 0x5EA2])
    first, noise = rng.standard_normal((2, DRAWS, n))
    ranks = first.argsort(axis=1).argsort(axis=1)

    def law(correlation: float) -> FloatArray:
        second = correlation * first + math.sqrt(1 - correlation**2) * noise
        apart = ((ranks - second.argsort(axis=1).argsort(axis=1)) ** 2).sum(axis=1)
        return np.asarray(1 - 6 * apart / (n * (n * n - 1)), dtype=np.float64)

    def tail(correlation: float, side: int) -> float:
        """The one-sided mid-p value of ``rho``: with sign 1 for values this high or higher, with −1 for values this low
        or lower."""
        beyond = side * (law(correlation) - rho)
        return float((beyond > 1e-9).mean() + (abs(beyond) <= 1e-9).mean() / 2)

    return _end(lambda r: tail(r, 1), -1), _end(lambda r: tail(r, -1), 1)


def _end(p_value: Callable[[float], float], sign: int) -> float:
    """The population's ρ at the interval's lower (sign −1) or upper end, where the p-value falls to 2.5%."""
    out, within = float(sign), float(-sign)
    if p_value(out) >= (1 - CONFIDENCE) / 2:
        return out
    for _ in range(STEPS):
        middle = (out + within) / 2
        if p_value(middle) < (1 - CONFIDENCE) / 2:
            out = middle
        else:
            within = middle
    # Spearman's ρ of normal pairs (Pearson 1907), from their correlation.
    return 6 / math.pi * math.asin(out / 2)


def _spearman_p(a: np.ndarray, b: np.ndarray, rho: float) -> float:
    """Two-sided p-value: over all permutations of up to 8 pairs, by Student's t for more."""
    from scipy import stats

    if len(a) > EXACT_UP_TO:
        return float(stats.spearmanr(a, b).pvalue)
    ranks_a, ranks_b = stats.rankdata(a), stats.rankdata(b)
    centred = ranks_a - ranks_a.mean()
    orders = np.array(list(itertools.permutations(ranks_b - ranks_b.mean())))
    values = orders @ centred / math.sqrt(float((centred**2).sum() * ((ranks_b - ranks_b.mean()) ** 2).sum()))
    return float((abs(values) >= abs(rho) - 1e-12).mean())


def parameters_of(model: str) -> float | None:
    """The number of a model's parameters according to its name; None if the name does not say it.

    >>> parameters_of("Qwen2-0.5B-Instruct"), parameters_of("SmolLM-135M"), parameters_of("phi-2")
    (500000000.0, 135000000.0, None)
    """
    match = MODEL_SIZE.search(re.sub(r"[_/-]", " ", model))
    return float(match[1]) * UNIT[match[2].lower()] if match else None


def base_of(model: str) -> str | None:
    """The name of the base model of an instruction-tuned one, by the usual naming; None for other models.

    >>> base_of("Qwen2-0.5B-Instruct"), base_of("gemma-2-9b-it"), base_of("Qwen2-0.5B")
    ('Qwen2-0.5B', 'gemma-2-9b', None)
    """
    parts = re.split(r"([-_])", model)
    rest = [part for part in parts if part.lower() not in TUNED_WORDS]
    if len(rest) == len(parts):
        return None
    return re.sub(r"[-_]{2,}", "-", "".join(rest)).strip("-_") or None


def families(models: Sequence[str]) -> dict[str, list[str]]:
    """The models whose names begin alike, by what they have in common; only where these are several.

    >>> families(["Qwen2-0.5B", "Qwen2-7B-Instruct", "phi-2"])
    {'Qwen2': ['Qwen2-0.5B', 'Qwen2-7B-Instruct']}
    """
    by_name: dict[str, list[str]] = {}
    for model in models:
        words = re.split(r"[-_ ]", base_of(model) or model)
        name_words = [word for word in words if not MODEL_SIZE.fullmatch(word)]
        by_name.setdefault("-".join(name_words), []).append(model)
    return {name: members for name, members in by_name.items() if len(members) > 1}


def family_words(models: Sequence[str]) -> str:
    """A sentence on models that belong to one family by their names; "" if none do.

    >>> family_words(["Qwen2-0.5B", "Qwen2-7B", "phi-2"])
    '2 of the 3 models share a family by their names (Qwen2: 2). They are not independent, so the true intervals are \
wider and the true p-values larger.'
    """
    model_families = families(list(dict.fromkeys(models)))
    if not model_families:
        return ""
    many = sum(map(len, model_families.values()))
    named = ", ".join(f"{name}: {len(members)}" for name, members in model_families.items())
    return (
        f"{many} of the {len(set(models))} models share a family by their names ({named}). They are not independent, "
        "so the true intervals are wider and the true p-values larger."
    )


def claims(runs: pd.DataFrame, *, sizes: dict[str, float] | None = None) -> list[PublishedClaim]:
    """The three claims on a table with ``model``, ``task``, ``accuracy`` and ``mean_set_size``, one row per run, and
    where it has them the rest of :data:`CELL` and the caveats of the run.

    ``sizes`` are the parameters of models whose names do not say them.
    """
    models = model_means(runs)
    known = {name: (sizes or {}).get(name) or parameters_of(name) for name in models["model"]}
    sized = models.assign(parameters=models["model"].map(known)).dropna(subset="parameters")
    shared = len(models) == runs["model"].nunique()
    all_claims = [
        _of_correlation(
            "accuracy",
            "LLMs with higher accuracy may exhibit lower certainty.",
            "Spearman's ρ of accuracy and mean set size",
            models,
            "accuracy",
            _more_accurate,
            shared=shared,
        ),
        _of_correlation(
            "scale",
            "Larger-scale LLMs may display greater uncertainty compared to their smaller counterparts.",
            "Spearman's ρ of parameters and mean set size",
            sized,
            "parameters",
            _larger,
            shared=shared,
        ),
        _of_tuning(runs),
    ]
    flawed = set(runs.loc[runs[COLUMN] != "", "model"]) if COLUMN in runs else set()
    return [_with_caveat(claim, flawed) for claim in all_claims] if flawed else all_claims


def _with_caveat(claim: PublishedClaim, flawed: set[str]) -> PublishedClaim:
    """The claim with a mark on those of its models whose runs have caveats."""
    counted = [name for name in dict.fromkeys(claim.points["model"]) if name in flawed]
    if not counted:
        return claim
    points = claim.points.assign(model=[marked(name, name in flawed) for name in claim.points["model"]])
    return replace(claim, points=points, caveat=f"{MARK} This counts runs with caveats, of {', '.join(counted)}.")


def with_shared_questions(runs: pd.DataFrame) -> pd.DataFrame:
    """The table with one name for sets of ``questions`` that are nearly the same, of runs that are compared with each
    other (:func:`core.reports.compare.shared_questions.groups`)."""
    named = dict(zip(runs["run"], runs["questions"], strict=True))
    same = {name: named[names[0]] for names in groups(list(named)) for name in names}
    return runs.assign(questions=runs["run"].map(same))


def model_means(runs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and mean set size of each model, over the cells that all of them have; no row where none is shared.

    Runs of one model in one cell (strategies, dtypes) count as their mean.
    """
    cell = _cell(runs)
    cells = runs.groupby(["model", *cell], as_index=False)[["accuracy", "mean_set_size"]].mean()
    shared = cells[cells.groupby(cell)["model"].transform("nunique") == runs["model"].nunique()]
    return shared.groupby("model", as_index=False)[["accuracy", "mean_set_size"]].mean()


def _cell(runs: pd.DataFrame) -> list[str]:
    return [name for name in CELL if name in runs]


def _verdict(low: float, high: float, p_value: float, n: int, noun: str, *, against: str = CONTRADICTED) -> str:
    """The verdict by the interval and the p-value together. With few models, one of them alone proves little."""
    if p_value < 1 - CONFIDENCE and low > 0:
        return SUPPORTED
    if p_value < 1 - CONFIDENCE and high < 0:
        return against
    if not n:
        return f"can't be tested without a {noun}"
    return f"can't tell with {n} {noun}{'' if n == 1 else 's'}"


def _of_correlation(
    name: str,
    statement: str,
    measure: str,
    models: pd.DataFrame,
    column: str,
    sentence: Callable[[dict[str, Any], dict[str, Any]], str],
    *,
    shared: bool,
) -> PublishedClaim:
    """A claim that something may be the case. ``sentence`` gives a sentence about the rows of two models. The first of
    them is an instance of the claim."""
    measured = correlation(models[column].tolist(), models["mean_set_size"].tolist())
    points = pd.DataFrame({"model": models["model"], "x": models[column], "y": models["mean_set_size"]})
    low, high = (-1.0, 1.0) if math.isnan(measured.spearman) else (measured.low, measured.high)
    against = STRONG_OTHER_WAY if measured.spearman <= -STRONG else OTHER_WAY
    verdict = _verdict(low, high, measured.p_value, measured.n, "model", against=against)
    pair = _instance(models, column)
    return PublishedClaim(
        name,
        statement,
        measure,
        measured.n,
        measured.spearman,
        low,
        high,
        measured.p_value,
        verdict if shared else NOTHING_SHARED,
        points.reset_index(drop=True),
        sentence(*pair) if pair else "",
    )


def _instance(models: pd.DataFrame, column: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Of all pairs in which one model has a higher ``column`` and larger sets than the other, the pair whose sets
    differ most."""
    rows = [{str(name): value for name, value in row.items()} for row in models.to_dict("records")]
    best, widest = None, 0.0
    for a, b in itertools.permutations(rows, 2):
        wider = a["mean_set_size"] - b["mean_set_size"]
        if a[column] > b[column] and wider > widest:
            best, widest = (a, b), wider
    return best


def _more_accurate(a: dict[str, Any], b: dict[str, Any]) -> str:
    return (
        f"An instance in these figures: {a['model']} is right more often than {b['model']} ({a['accuracy']:.1%}, "
        f"{b['accuracy']:.1%}) and its sets are larger ({a['mean_set_size']:.2f}, {b['mean_set_size']:.2f})."
    )


def _larger(a: dict[str, Any], b: dict[str, Any]) -> str:
    return (
        f"An instance in these figures: {a['model']} is larger than {b['model']} and so are its sets "
        f"({a['mean_set_size']:.2f}, {b['mean_set_size']:.2f})."
    )


def _of_tuning(runs: pd.DataFrame) -> PublishedClaim:
    """The tuned minus the base model, with one pair per model and cell. Pairs of one model are not independent, so
    models are counted."""
    cell = _cell(runs)
    cells = runs.groupby(["model", *cell], as_index=False)["mean_set_size"].mean()
    rows = []
    size = {(name, tuple(setting)): value for name, *setting, value in cells.itertuples(index=False, name=None)}
    for (name, setting), tuned in size.items():
        base = base_of(name)
        if base is not None and (base, setting) in size:
            rows.append({"model": name, **dict(zip(cell, setting, strict=True)), "x": size[base, setting], "y": tuned})
    points = pd.DataFrame(rows, columns=["model", *cell, "x", "y"])
    changes = (points["y"] - points["x"]).groupby(points["model"]).mean() if len(points) else pd.Series(dtype=float)
    n = len(changes)
    mean, low, high, p = math.nan, -math.inf, math.inf, math.nan
    if n:
        mean = float(changes.mean())
    if n >= FEWEST_PAIRS:
        spread = float(changes.std(ddof=1)) / math.sqrt(n)
        reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * spread
        low, high = mean - reach, mean + reach
        p = 2 * float(stdtr(n - 1, -abs(mean) / spread)) if spread else float(mean == 0)
    return PublishedClaim(
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
